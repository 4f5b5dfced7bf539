"""Weights of conjunctions make the decisions of sums over all support samples."""

import numpy as np
import pytest
from scipy import sparse

from sklboolean import KernelPerceptron
from sklboolean._core.bits import pack_dense
from sklboolean.kernels import (
    ConjunctionKernel,
    _conjunction_weights,
    _dual_model,
)
from sklboolean.kernels._conjunction_weights import ConjunctionWeights
from sklboolean.kernels._dual_training import ConjunctionRun
from sklboolean.kernels._evaluators import CountEvaluator, SampleLayout

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
    kinds, train = [], ConjunctionRun.train

    def watched(run, *arguments):
        kinds.append(type(run))
        return train(run, *arguments)

    monkeypatch.setattr(ConjunctionRun, "train", watched)
    return kinds


@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize(
    ("monotone", "lengths"),
    [
        (False, (0, 1)),
        (False, (1, 1)),
        (True, (0, 1)),
        (True, (1, 2)),
        (True, (1, 3)),
        (True, (2, 3)),
    ],
)
def test_weights_of_conjunctions_are_sums_of_kernel_rows(monotone, lengths, constant):
    X, _ = samples(600, 70)
    Z, _ = samples(300, 70, seed=1)
    kernel = ConjunctionKernel(
        min_literals=lengths[0], max_literals=lengths[1], monotone=monotone,
        normalize=False,
    )  # fmt: skip
    evaluator = CountEvaluator(kernel.formula(70, 70).plus(constant), 70)
    rows = SampleLayout(pack_dense(X), 70, as_sparse=False).rows
    own, others = rows(pack_dense(X)), rows(pack_dense(Z))
    coefficients = np.random.default_rng(2).integers(-5, 6, (3, 600))
    sums = ConjunctionWeights(evaluator, 3)
    sums.add(own, coefficients)
    expected = coefficients @ (kernel(X, Z) + constant)
    assert (sums.scores(others) == expected).all()
    assert (sums.scores(others, n_jobs=2) == expected).all()


def test_weights_suit_few_conjunctions_of_many_samples():
    X, _ = samples(6000, 70)

    def suits(max_literals, n_samples, monotone=True):
        kernel = ConjunctionKernel(
            max_literals=max_literals, monotone=monotone, normalize=False
        )
        evaluator = CountEvaluator(kernel.formula(70, 70), 70)
        rows = SampleLayout(pack_dense(X), 70, as_sparse=False).rows
        return ConjunctionWeights.suits(evaluator, rows(pack_dense(X[:n_samples])))

    assert suits(1, 10)
    assert suits(1, 10, monotone=False)
    # About 21 features are true: 230 conjunctions of two, 1600 of three; 2 words.
    assert not suits(2, 600)
    assert suits(2, 6000)
    assert not suits(3, 6000)
    assert not suits(2, 6000, monotone=False)


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
        {"max_literals": 2, "margin": 1.0},
        {"kernel": ConjunctionKernel(min_literals=1, max_literals=3, normalize=False)},
    ],
    ids=str,
)
def test_fits_are_those_of_kept_scores(n_classes, options, runs, monkeypatch):
    monkeypatch.setattr(_conjunction_weights, "ADDITIONS", 100)
    X, y = samples(700, 40, n_classes)
    options = {"max_literals": 1, "max_iter": 2, "random_state": 0, **options}
    model = KernelPerceptron(**options).fit(X[:400], y[:400])
    model.partial_fit(X[400:], y[400:])
    assert runs
    of_sparse = KernelPerceptron(**options).fit(sparse.csr_array(X[:400]), y[:400])
    of_sparse.partial_fit(sparse.csr_array(X[400:]), y[400:])
    del runs[:]
    monkeypatch.setattr(ConjunctionWeights, "suits", lambda evaluator, rows: False)
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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_within_rounding_are_exact(n_classes, monkeypatch):
    monkeypatch.setattr(_conjunction_weights, "ADDITIONS", 100)
    X, y = samples(200, 12, n_classes)
    weights = 1.0 + np.random.default_rng(1).integers(0, 2**16, 200) / 2**16
    model = KernelPerceptron(max_literals=3, random_state=0, average=None)
    dual = model.fit(X, y, weights)._state.model
    assert dual.conjunction_weights is not None
    support, queries = dual._lay_out(pack_dense(X[:20]))
    for i in range(20):
        query = queries.take(slice(i, i + 1))
        expected = dual.evaluator.exact_scores(support, dual.coef, query)
        assert dual._exact_values(support, query) == expected
    expected = dual.scores(pack_dense(X), 1)
    # All samples are near another class now, and are scored by parts.
    monkeypatch.setattr(dual, "is_certified", True)
    monkeypatch.setattr(_dual_model, "CLEAR", 1e30)
    np.testing.assert_allclose(dual.scores(pack_dense(X), 1), expected, rtol=1e-14)
