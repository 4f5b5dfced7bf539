"""Bayes' rule, and anomalies, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    DensityClassifier,
    DensityOutlierDetector,
    GaussianCombinationMachine,
)
from sklboolean._core.calibration import fit_slope
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
    powers = joint**model.calibration_slope_
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(axis=1))
    model.calibration_slope_ = 1.0
    exact = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), exact, rtol=1e-10)


@pytest.mark.parametrize("density", [ChowLiuTree(), BernoulliMixture(2, alpha=1.0)])
def test_calibrated_probabilities_have_the_smaller_loss(density):
    # The bits of digits depend on each other far beyond a tree.
    model = DensityClassifier(density).fit(BITS[:900], LABELS[:900])
    calibrated = log_loss(LABELS[900:], model.predict_proba(BITS[900:]))
    model.calibration_slope_ = 1.0
    exact = log_loss(LABELS[900:], model.predict_proba(BITS[900:]))
    assert calibrated < 0.8 * exact
    model.calibration_slope_ = fit_slope(
        model._scores(model.estimators_, BITS[900:]), LABELS[900:]
    )
    least = log_loss(LABELS[900:], model.predict_proba(BITS[900:]))
    assert calibrated < 1.05 * least


def test_the_slope_depends_on_samples_only():
    X, y = BITS[:300].astype(float), LABELS[:300] % 3
    slope = DensityClassifier().fit(X, y).calibration_slope_
    order = np.random.default_rng(0).permutation(300)
    for other in (X[order], X[order].astype(bool), np.negative(-X[order])):
        again = DensityClassifier().fit(other, y[order]).calibration_slope_
        assert again == pytest.approx(slope, rel=1e-9)
    again = DensityClassifier().fit(X, y, sample_weight=np.ones(300))
    assert again.calibration_slope_ == pytest.approx(slope, rel=1e-9)


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


def test_impossible_samples_have_no_probability():
    X = np.repeat([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 1]], 8, axis=0)
    y = np.repeat([0, 1, 0, 1], 8)
    model = DensityClassifier(Seen()).fit(X, y)
    assert np.isfinite(model.calibration_slope_)
    np.testing.assert_array_equal(model.predict_proba(X), np.eye(2)[y])


def test_one_component_is_naive_bayes():
    X, y = BITS[:500], LABELS[:500]
    mixture = BernoulliMixture(1, alpha=1.0, tol=1e-9)
    ours = DensityClassifier(mixture).fit(X, y)
    ours.calibration_slope_ = 1.0
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


def test_weights_repeat_samples_and_classes_without_weight_are_unknown():
    X, y = BITS[:200], LABELS[:200]
    counts = np.where(y == 3, 0, np.arange(200) % 3)
    one = DensityClassifier().fit(X, y, sample_weight=counts)
    two = DensityClassifier(n_jobs=2).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    assert 3 not in one.classes_
    np.testing.assert_allclose(one.predict_log_proba(X), two.predict_log_proba(X))


def test_missing_bits_are_summed_out_and_real_columns_accepted():
    X, y = BITS[:300, :6].astype(float), LABELS[:300] > 4
    model = DensityClassifier(BernoulliMixture(2, random_state=0)).fit(X, y)
    nothing = model.predict_proba(np.full((1, 6), np.nan))
    powers = np.array([np.mean(~y), np.mean(y)]) ** model.calibration_slope_
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
