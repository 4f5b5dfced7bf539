"""Bayes' rule, and anomalies, against their definitions."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    DensityClassifier,
    DensityOutlierDetector,
    GaussianCombinationMachine,
)

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
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.class_log_prior_).sum(), 1)


def test_one_component_is_naive_bayes():
    X, y = BITS[:500], LABELS[:500]
    mixture = BernoulliMixture(1, alpha=1.0, tol=1e-9)
    ours = DensityClassifier(mixture).fit(X, y)
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
    np.testing.assert_allclose(nothing[0], [np.mean(~y), np.mean(y)])
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
