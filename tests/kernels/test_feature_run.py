"""Weights of single features make the decisions of sums over all support samples."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sklboolean import KernelPerceptron
from sklboolean._core.bits import pack_dense
from sklboolean.kernels import ConjunctionKernel
from sklboolean.kernels._evaluators import CountEvaluator, SampleLayout
from sklboolean.kernels._feature_run import FeatureRun, FeatureWeights

SINGLE = ConjunctionKernel(min_literals=1, max_literals=1, normalize=False)


def samples(n_samples, n_features, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, n_features)) < 0.3).astype(np.uint8)
    scores = X @ rng.normal(size=(n_features, n_classes)) + rng.gumbel(
        size=(n_samples, n_classes)
    )
    return X, scores.argmax(axis=1)


@pytest.fixture
def runs(monkeypatch):
    """The kinds of the runs of fits."""
    kinds, train = [], FeatureRun.train

    def watched(run, *arguments):
        kinds.append(type(run))
        return train(run, *arguments)

    monkeypatch.setattr(FeatureRun, "train", watched)
    return kinds


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize("min_literals", [0, 1])
def test_weights_of_features_are_sums_of_kernel_rows(monotone, constant, min_literals):
    X, _ = samples(600, 70)
    Z, _ = samples(300, 70, seed=1)
    kernel = ConjunctionKernel(
        max_literals=1, min_literals=min_literals, monotone=monotone, normalize=False
    )
    evaluator = CountEvaluator(kernel.formula(70, 70).plus(constant), 70)
    rows = SampleLayout(pack_dense(X), 70, as_sparse=False).rows
    own, others = rows(pack_dense(X)), rows(pack_dense(Z))
    assert FeatureWeights.suits(evaluator, own)
    coefficients = np.random.default_rng(2).integers(-5, 6, (3, 600))
    sums = FeatureWeights(evaluator, own, 3)
    sums.add(own, coefficients)
    expected = coefficients @ (kernel(X, Z) + constant)
    assert (sums.scores(others) == expected).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"monotone": False},
        {"multi_class": "joint", "margin": 0.5},
        {"margin": 0.3},
        {"class_weight": {0: 0.7, 1: 2.0}, "kernel": SINGLE},
        {"average": "voted", "n_orders": 0},
    ],
    ids=str,
)
def test_fits_are_those_of_kept_scores(n_classes, options, runs, monkeypatch):
    X, y = samples(700, 40, n_classes)
    options = {"max_literals": 1, "max_iter": 2, "random_state": 0, **options}
    model = KernelPerceptron(**options).fit(X[:400], y[:400])
    model.partial_fit(X[400:], y[400:])
    assert runs
    of_sparse = KernelPerceptron(**options).fit(sparse.csr_array(X[:400]), y[:400])
    of_sparse.partial_fit(sparse.csr_array(X[400:]), y[400:])
    del runs[:]
    monkeypatch.setattr(FeatureWeights, "suits", lambda evaluator, rows: False)
    kept = KernelPerceptron(**options).fit(X[:400], y[:400])
    kept.partial_fit(X[400:], y[400:])
    assert not runs
    for other in (model, of_sparse):
        np.testing.assert_array_equal(other.support_, kept.support_)
        np.testing.assert_array_equal(other.dual_coef_, kept.dual_coef_)
        np.testing.assert_allclose(
            other.decision_function(X), kept.decision_function(X), rtol=1e-12
        )
        np.testing.assert_allclose(
            other.predict_proba(X), kept.predict_proba(X), rtol=1e-9
        )


def test_sums_that_float64_may_round_are_kept_by_sample(runs):
    X, y = samples(300, 40)
    weights = np.full(300, 2.0**23)
    KernelPerceptron(SINGLE, random_state=0).fit(X, y, weights)
    assert not runs
    KernelPerceptron(SINGLE, random_state=0).fit(X, y)
    assert runs
    del runs[:]
    pairs = clone(SINGLE).set_params(max_literals=2)
    KernelPerceptron(pairs, random_state=0).fit(X, y)
    assert not runs
