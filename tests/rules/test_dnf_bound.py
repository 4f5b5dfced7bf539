"""The linear program bounds the cost of every DNF, by definition."""

import numpy as np
import pytest
from oracles.rules import every_dnf_cost, relaxed_dnf_cost

from sklboolean._core.bits import pack_dense
from sklboolean.rules._dnf_bound import DNFProblem, relax
from sklboolean.rules._gain_search import GainParams


def params(max_literals, monotone):
    return GainParams.check(
        max_literals=max_literals, monotone=monotone, literal_cost=1, width=64
    )


def noisy(seed, n_samples=40, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features)).astype(np.uint8)
    positive = (X[:, 0] & X[:, 1]).astype(bool) ^ (rng.random(n_samples) < 0.25)
    return X, positive, rng


def bound_of(X, positive, weights, price, *, max_literals=2, monotone=False):
    problem = DNFProblem(pack_dense(X), X.shape[1], positive, weights, price)
    settings = params(max_literals, monotone)
    search = settings.conjunction_search(problem.X, X.shape[1])
    return relax(problem, search, settings).bound


@pytest.mark.parametrize("price", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_dnf_costs_less_than_the_bound(seed, price):
    X, positive, rng = noisy(seed, n_samples=30, n_features=4)
    weights = rng.integers(1, 4, len(X)).astype(float)
    # Without negations there are 10 conjunctions, and 2 ** 11 DNFs.
    options = {"max_literals": 2, "negations": False}
    best = min(every_dnf_cost(X, positive, weights, price, **options))
    bound = bound_of(X, positive, weights, price, monotone=True)
    assert bound <= best * (1 + 1e-9)
    relaxed = relaxed_dnf_cost(X, positive, weights, price, **options)
    if price in (0.0, 1.0):
        # Costs are whole numbers.
        relaxed = np.ceil(relaxed - 1e-6)
    assert bound == pytest.approx(relaxed, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_the_value_of_the_program_over_all_conjunctions(seed):
    X, positive, rng = noisy(seed, n_samples=80, n_features=6)
    weights = rng.random(len(X))
    bound = bound_of(X, positive, weights, 0.2, max_literals=3)
    relaxed = relaxed_dnf_cost(
        X, positive, weights, 0.2, max_literals=3, negations=True
    )
    assert bound == pytest.approx(relaxed, rel=1e-4)
    assert bound <= relaxed + 1e-9


def test_the_cost_of_a_dnf():
    X, positive, rng = noisy(0)
    weights = rng.random(len(X))
    one, other = ((0, True),), ((0, True), (1, False))
    counts = X[:, 0] + (X[:, 0] & (1 - X[:, 1]))
    expected = sum(
        w * ((n == 0) if wanted else n)
        for w, n, wanted in zip(weights, counts, positive, strict=True)
    )
    problem = DNFProblem(pack_dense(X), X.shape[1], positive, weights, 0.5, 2.0)
    # Three literals and two rules.
    assert problem.cost([one, other]) == pytest.approx(expected + 1.5 + 4.0)
    assert problem.cost([()]) == pytest.approx(weights[~positive].sum())
