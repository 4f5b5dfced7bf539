"""Bayes' rule, and anomalies, against their definitions."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from sklboolean import (
    BernoulliMixture,
    BooleanEncoder,
    ChowLiuTree,
    DensityClassifier,
    DensityOutlierDetector,
    GaussianCombinationMachine,
)
from sklboolean.density._density_classifier import fit_calibration, fold_shares
from sklboolean.density._outlier_detector import weighted_quantile

digits = load_digits()
BITS, LABELS = (digits.data > 7).astype(np.uint8), digits.target


def test_probabilities_follow_bayes_rule():
    X, y = BITS[:400, 10:20], LABELS[:400]
    model = DensityClassifier(ChowLiuTree(alpha=2.0)).fit(X, y)
    joint = np.column_stack(
        [
            np.mean(y == k)
            * np.exp(ChowLiuTree(alpha=2.0).fit(X[y == k]).score_samples(X))
            for k in range(10)
        ]
    )
    powers = joint**model.calibration_slope_ * np.exp(model.calibration_intercepts_)
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), powers.argmax(axis=1))
    model.calibration_slope_, model.calibration_intercepts_ = 1.0, np.zeros(10)
    exact = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), exact, rtol=1e-10)


@pytest.mark.parametrize("density", [ChowLiuTree(), BernoulliMixture(2, alpha=1.0)])
def test_calibrated_probabilities_have_the_smaller_loss(density):
    # The bits of digits depend on each other far beyond a tree.
    model = DensityClassifier(density).fit(BITS[:900], LABELS[:900])
    calibrated = log_loss(LABELS[900:], model.predict_proba(BITS[900:]))
    exact = model._scores(model.estimators_, BITS[900:])
    slopes = np.linspace(0.2, 1.0, 41)
    least = min(
        log_loss(LABELS[900:], softmax(slope * exact, axis=1)) for slope in slopes
    )
    assert calibrated < 0.8 * log_loss(LABELS[900:], softmax(exact, axis=1))
    assert calibrated < 1.1 * least


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 1e3]))
def test_calibration_is_the_optimum_of_its_definition(seed, scale):
    rng = np.random.default_rng(seed)
    codes, weights = rng.integers(0, 3, 30), rng.random(30) + 0.1
    scores = scale * (rng.normal(size=(30, 3)) + np.eye(3)[codes])
    slope, intercepts, loss = fit_calibration(scores, codes, weights)
    centred = scores - scores.mean(axis=1, keepdims=True)
    typical = np.average(np.abs(centred).mean(axis=1), weights=weights)

    def losses(slope, intercepts):
        logs = log_softmax(slope * scores + intercepts, axis=1)
        return -logs[np.arange(30), codes]

    def objective(slope, intercepts):
        imagined = -np.log(expit([slope * typical, -slope * typical])).sum()
        prior = imagined + (intercepts**2).sum() / (2 * 0.1)
        return weights @ losses(slope, intercepts) + prior

    assert loss == pytest.approx(np.average(losses(slope, intercepts), weights=weights))
    best = objective(slope, intercepts)
    for change in (0.97, 1.03):
        assert objective(slope * change, intercepts) > best - 1e-6
    for k in range(3):
        for change in (-0.03, 0.03):
            shifted = intercepts + change * (np.arange(3) == k)
            assert objective(slope, shifted) > best - 1e-6


def test_the_slope_depends_on_samples_only():
    X, y = BITS[:300].astype(float), LABELS[:300] % 3
    slope = DensityClassifier().fit(X, y).calibration_slope_
    order = np.random.default_rng(0).permutation(300)
    for other in (X[order], X[order].astype(bool), np.negative(-X[order])):
        again = DensityClassifier().fit(other, y[order]).calibration_slope_
        assert again == pytest.approx(slope, rel=1e-9)
    again = DensityClassifier().fit(X, y, sample_weight=np.ones(300))
    assert again.calibration_slope_ == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("density", [None, BernoulliMixture(1)])
def test_the_scale_of_small_weights_changes_nothing(density):
    X, y, ones = BITS[:200], LABELS[:200] % 3, np.ones(200)
    one = DensityClassifier(density).fit(X, y, sample_weight=ones)
    same = DensityClassifier(density).fit(X, y, sample_weight=ones / 200)
    np.testing.assert_allclose(same.predict_proba(X), one.predict_proba(X), rtol=1e-5)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 3))
def test_each_copy_is_held_out_once_at_most_and_each_class_is_learned(counts, n):
    codes, weights = np.arange(len(counts)) % n, np.array(counts, dtype=float)
    held_out = fold_shares(codes[: len(counts)], weights) * weights[:, None]
    assert (held_out == np.rint(held_out)).all()
    assert (held_out.sum(axis=1) <= weights).all()
    left = weights[:, None] - held_out
    present = np.unique(codes)
    for k in present:
        assert (left[codes == k].sum(axis=0) > 0).all()
    several = np.bincount(codes)[codes] > 1
    assert (held_out[several].sum(axis=1) >= 1).all()


def test_one_sample_of_each_class_leaves_bayes_rule():
    model = DensityClassifier().fit([[0, 1], [1, 0]], [0, 1])
    assert model.calibration_slope_ == 1.0


class Seen(BaseEstimator):
    """A density of 1 where a sample was seen, else 0."""

    def fit(self, X):
        self.seen_ = {tuple(row) for row in X}
        return self

    def score_samples(self, X):
        return np.array([0.0 if tuple(row) in self.seen_ else -np.inf for row in X])


@pytest.mark.parametrize("n_classes", [2, 5, 20])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_classes_of_few_samples(n_classes, n):
    """Fewer samples of each class than folds: some folds hold out nothing."""
    y = np.repeat(np.arange(n_classes), n)
    X = np.random.default_rng(n).random((len(y), 12)) < 0.5
    probabilities = DensityClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.mean(probabilities.argmax(axis=1) == y) > 0.5


def test_impossible_samples_have_no_probability():
    X = np.repeat([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 1]], 8, axis=0)
    y = np.repeat([0, 1, 0, 1], 8)
    model = DensityClassifier(Seen()).fit(X, y)
    assert np.isfinite(model.calibration_slope_)
    np.testing.assert_array_equal(model.predict_proba(X), np.eye(2)[y])


def test_one_component_is_naive_bayes():
    X, y = BITS[:500], LABELS[:500]
    mixture = BernoulliMixture(1, alpha=1.0)
    ours = DensityClassifier(mixture).fit(X, y)
    ours.calibration_slope_, ours.calibration_intercepts_ = 1.0, np.zeros(10)
    theirs = BernoulliNB(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8
    )


def test_trees_beat_independent_bits():
    train, test = slice(0, 1200), slice(1200, None)
    tree = DensityClassifier().fit(BITS[train], LABELS[train])
    naive = BernoulliNB().fit(BITS[train], LABELS[train])
    assert tree.score(BITS[test], LABELS[test]) > 0.02 + naive.score(
        BITS[test], LABELS[test]
    )


@pytest.mark.filterwarnings("ignore:All samples of")
def test_weights_repeat_samples_and_classes_without_weight_have_no_probability():
    X, y = BITS[:200], LABELS[:200]
    counts = np.where(y == 3, 0, np.arange(200) % 3)
    one = DensityClassifier().fit(X, y, sample_weight=counts)
    with parallel_config(n_jobs=2):
        repeated = np.repeat(X, counts, 0), np.repeat(y, counts)
        two = DensityClassifier().fit(*repeated)
    logs = one.predict_log_proba(X)
    assert (logs[:, one.classes_ == 3] == -np.inf).all()
    known = np.isin(one.classes_, two.classes_)
    np.testing.assert_allclose(logs[:, known], two.predict_log_proba(X))


def test_missing_bits_are_summed_out_and_real_columns_accepted():
    X, y = BITS[:300, :6].astype(float), LABELS[:300] > 4
    model = DensityClassifier(BernoulliMixture(2, random_state=0)).fit(X, y)
    nothing = model.predict_proba(np.full((1, 6), np.nan))
    powers = np.array([np.mean(~y), np.mean(y)]) ** model.calibration_slope_
    powers *= np.exp(model.calibration_intercepts_)
    np.testing.assert_allclose(nothing[0], powers / powers.sum())
    real = np.random.default_rng(0).normal(size=(300, 3)) + 3 * y[:, None]
    density = GaussianCombinationMachine(1, max_iter=20, random_state=0)
    assert DensityClassifier(density).fit(real, y).score(real, y) > 0.95


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_as_many_anomalies_as_expected(share):
    detector = DensityOutlierDetector(contamination=share).fit(BITS)
    scores = detector.score_samples(BITS)
    np.testing.assert_array_equal(scores, detector.estimator_.score_samples(BITS))
    np.testing.assert_array_equal(
        detector.decision_function(BITS), scores - detector.offset_
    )
    assert np.mean(detector.predict(BITS) == -1) == pytest.approx(share, abs=0.001)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12).filter(any),
    st.sampled_from([0.02, 0.25, 0.5]),
)
def test_threshold_of_weights_is_that_of_repeated_samples(counts, share):
    values = np.random.default_rng(len(counts)).integers(0, 5, len(counts)) / 3
    expected = np.quantile(np.repeat(values, counts), share)
    threshold = weighted_quantile(values, np.array(counts, dtype=float), share)
    assert threshold == pytest.approx(expected, abs=1e-12)
    light = weighted_quantile(values, np.array(counts) / 1e3, share)
    assert values.min() <= light <= values.max()


def test_samples_of_weight_0_do_not_move_the_threshold():
    weights = np.where(LABELS < 5, 1.0, 0.0)
    weighted = DensityOutlierDetector().fit(BITS, sample_weight=weights)
    without = DensityOutlierDetector().fit(BITS[LABELS < 5])
    assert weighted.offset_ == pytest.approx(without.offset_)
    share = np.mean(weighted.predict(BITS[LABELS < 5]) == -1)
    assert share == pytest.approx(0.1, abs=0.002)


def test_anomalies_are_found_better_than_by_isolation():
    normal, other = BITS[np.isin(LABELS, [0, 1, 2])], BITS[LABELS == 7][:60]
    X = np.concatenate([normal, other])
    truth = np.arange(len(X)) >= len(normal)
    tree = DensityOutlierDetector().fit(normal[::2])
    forest = IsolationForest(random_state=0).fit(normal[::2])
    ours, theirs = (
        roc_auc_score(truth, -model.decision_function(X)) for model in (tree, forest)
    )
    assert ours > max(0.97, theirs)


@pytest.mark.parametrize("share", [0.0, 0.6, "auto"])
def test_a_wrong_contamination_is_refused(share):
    with pytest.raises((ValueError, TypeError), match="contamination must be"):
        DensityOutlierDetector(contamination=share).fit(BITS[:20])


def customers(n_samples, seed):
    """A data frame with columns of all kinds and gaps."""
    rng = np.random.default_rng(seed)
    member = rng.random(n_samples) < 0.5
    frame = pd.DataFrame(
        {
            "city": np.where(member, "Rome", rng.choice(["Oslo", "Bern"], n_samples)),
            "age": rng.integers(20, 60, n_samples) + 20.0 * member,
            "member": member.astype(float),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], n_samples), ["S", "M", "L"], ordered=True
            ),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.1)


@settings(max_examples=4)
@given(st.integers(0, 1000))
def test_surprises_are_those_of_all_values_of_a_column(seed):
    """P(value | the others): the likelihood beside those of all other values."""
    frame = customers(40, seed)
    mixture = BernoulliMixture(2, alpha=0.5, random_state=0)
    detector = DensityOutlierDetector(mixture, encoder=BooleanEncoder(n_bins=3))
    found = detector.fit(frame).surprises(frame[:4])
    for column in frame:
        values = frame[column].dropna().unique()
        for i in range(4):
            if pd.isna(frame[column][i]):
                assert np.isnan(found[column][i])
                continue
            rows = frame.iloc[[i] * (1 + len(values))].reset_index(drop=True)
            rows.loc[1:, column] = values
            bits = detector.encoder_.transform(rows)
            scores = np.exp(detector.score_samples(rows))
            distinct = np.nan_to_num(bits, nan=2.0)
            _, first = np.unique(distinct, axis=0, return_index=True)
            expected = np.log(scores[first].sum() / scores[0])
            assert found[column][i] == pytest.approx(expected, abs=1e-9)


TOGETHER = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [3]]


@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1]])
def test_surprises_of_features(groups):
    X = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]] * 5)
    detector = DensityOutlierDetector(ChowLiuTree(feature_groups=groups)).fit(X)
    found, tree = detector.surprises(X[:4]), detector.estimator_
    for j, features in enumerate(TOGETHER if groups else [[0], [1], [2], [3]]):
        hidden = X[:4].astype(float)
        hidden[:, features] = np.nan
        expected = tree.score_samples(hidden) - tree.score_samples(X[:4])
        np.testing.assert_allclose(found[:, j], expected, atol=1e-12)


def test_frames_of_all_packages_and_new_levels():
    frame = customers(60, 0)
    detector = DensityOutlierDetector(contamination=0.1).fit(frame)
    scores = detector.score_samples(frame)
    assert np.mean(detector.predict(frame) == -1) == pytest.approx(0.1, abs=0.02)
    table = pa.Table.from_pandas(frame)
    for other in (pl.from_pandas(frame), table):
        np.testing.assert_allclose(detector.score_samples(other), scores)
    assert isinstance(detector.surprises(pl.from_pandas(frame)), pl.DataFrame)
    assert isinstance(detector.surprises(table), np.ndarray)
    new = frame[:1].assign(city="Lima", age=30.0)
    hidden = new.assign(city=None)
    with pytest.warns(UserWarning, match="Lima"):
        score = detector.score_samples(new)
    surprise = detector.surprises(new)["city"]
    fall = detector.score_samples(hidden) - score
    np.testing.assert_allclose([*fall, *surprise], np.log(61))


def test_surprises_need_a_density_of_bits():
    X = np.random.default_rng(0).normal(size=(30, 2))
    density = GaussianCombinationMachine(1, max_iter=3, random_state=0)
    detector = DensityOutlierDetector(density).fit(X)
    with pytest.raises(ValueError, match="density of Boolean features"):
        detector.surprises(X)
