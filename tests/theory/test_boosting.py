from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import ceil, exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from sklboolean.boosting._majority_game import relative_weights
from sklboolean.theory import (
    filter_sample_bound,
    majority_gate_size,
    majority_weights,
    min_rounds,
    subsample_bound,
)

accuracies = st.floats(0.02, 0.49)


# Sampling


@given(accuracies, st.floats(1e-3, 0.9), st.floats(1e-6, 0.9), st.integers(1, 1000))
def test_sample_outnumbers_the_votes_that_agree_by_chance(
    gamma, epsilon, delta, n_weak_samples
):
    """Inequality (2.13): few sequences of examples, and many left to test them."""
    bound = subsample_bound(gamma, epsilon, delta, n_weak_samples=n_weak_samples)
    for n_samples in (bound, bound + 1, 2 * bound, 100 * bound):
        n_used = min_rounds(gamma, 1 / n_samples) * n_weak_samples
        log_chance = n_used * log(n_samples) + (n_samples - n_used) * log(1 - epsilon)
        assert log_chance <= log(delta / 2)


def test_each_part_of_the_sample_bound_counts():
    assert subsample_bound(0.49, 0.99, 0.9, n_weak_samples=1) == 208
    assert subsample_bound(0.49, 0.5, 1e-200, n_weak_samples=1) == ceil(
        4 * (log(2) + 200 * log(10))
    )
    a = 10 / (0.1 * 0.25**2)
    assert subsample_bound(0.25, 0.1, 0.05, n_weak_samples=10) == ceil(
        16 * a * log(a) ** 2
    )


# Filtering


def examples_of_the_filter(gamma, epsilon, delta, n_weak_samples, rate):
    """What Figure 2.4 may draw until all its rounds have ended or aborted."""
    k = min_rounds(gamma / 2, epsilon**2)
    n_hypotheses = ceil(log(4 * k / delta) / rate)
    n_tests = ceil(8 / gamma**2 * log(2 * n_hypotheses * 2 * k / delta))
    # Either event that makes the choice fail has probability delta / 4k at most.
    allowed = delta / (4 * k) * (1 + 1e-9)
    assert (1 - rate) ** n_hypotheses <= allowed
    assert n_hypotheses * exp(-2 * n_tests * (gamma / 4) ** 2) <= allowed

    n_accepted, n_drawn = n_hypotheses * n_weak_samples + n_tests, 0
    for i in range(k):
        factor = k * gamma * majority_weights(k, i, gamma / 2).max()
        factor /= epsilon * (1 - epsilon)
        patience = 4 * log(16 * k * factor / delta)
        n_drawn += 2 * factor * max(n_accepted, patience)
    return n_drawn


@given(
    st.floats(0.1, 0.49),
    st.floats(0.05, 0.5),
    st.floats(1e-6, 0.9),
    st.integers(1, 1000),
    st.floats(0.05, 1.0),
)
def test_filter_draws_no_more_than_the_bound(gamma, epsilon, delta, n_weak, rate):
    n_drawn = examples_of_the_filter(gamma, epsilon, delta, n_weak, rate)
    bound = filter_sample_bound(
        gamma, epsilon, delta, n_weak_samples=n_weak, weak_learner_success_rate=rate
    )
    # The bound counts 2 sqrt(k) for the sum of 1 / sqrt(j), and no weight is larger.
    assert n_drawn <= bound <= 4 * n_drawn


# Majority gates


@given(
    st.integers(1, 10**6),
    st.fractions(Fraction(1, 10**4), 1, max_denominator=10**4),
)
def test_gates_are_the_least_odd_number_above_the_bound(n_features, correlation):
    n_gates = majority_gate_size(n_features, correlation)
    with localcontext(prec=60):
        bound = Fraction(2 * Decimal(2).ln()) * n_features / correlation**2
    assert n_gates % 2 == 1
    assert n_gates - 2 < bound < n_gates


def distribution_free_correlation(agreements):
    """min over distributions of max over functions of E[f h], by linear programming."""
    n_functions, n_samples = agreements.shape
    solution = linprog(
        np.append(np.zeros(n_samples), 1.0),
        A_ub=np.hstack([agreements, -np.ones((n_functions, 1))]),
        b_ub=np.zeros(n_functions),
        A_eq=np.append(np.ones(n_samples), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0, None)] * n_samples + [(None, None)],
    )
    return solution.fun


def represent(target, functions, gamma, n_gates):
    """Pick functions, one for each gate, that agree best with f as it is weighed."""
    right, picked = np.zeros(len(target), dtype=int), []
    for i in range(n_gates):
        weights, _ = relative_weights(n_gates, i, gamma, 2 * right)
        best = (functions * target @ weights).argmax()
        picked.append(functions[best])
        right += functions[best] == target
    return np.array(picked)


ROWS = np.array(list(product([-1, 1], repeat=5)))
LITERALS = np.vstack([ROWS.T, -ROWS.T])
CONSTANT = -np.ones(len(ROWS), dtype=int)
PAIRS = np.array([ROWS[:, a] * ROWS[:, b] for a in range(5) for b in range(a)])


@pytest.mark.parametrize(
    ("target", "functions", "correlation"),
    [
        (np.sign(ROWS.sum(axis=1)), LITERALS, 1 / 5),
        (np.sign(ROWS @ [3, 2, 2, 1, 1]), LITERALS, 1 / 9),
        (ROWS[:, 2], LITERALS, 1.0),
        (np.where((ROWS == 1).all(axis=1), 1, -1), [*LITERALS, CONSTANT], 1 / 9),
        (np.sign(ROWS[:, 0] + PAIRS[2] + PAIRS[9]), [*LITERALS, *PAIRS], 1 / 3),
    ],
    ids=["majority", "threshold", "literal", "conjunction", "product"],
)
def test_function_is_a_majority_of_so_many_others(target, functions, correlation):
    assert abs(target).min() == 1
    functions = np.array(functions)
    found = distribution_free_correlation(functions * target)
    assert found == pytest.approx(correlation)
    n_gates = majority_gate_size(5, correlation)
    gamma = min(correlation, 1 - 1e-9) / 2
    gates = represent(target, functions, gamma, n_gates)
    assert len(gates) == n_gates
    votes = gates.sum(axis=0)
    assert (votes * target > 0).all()
    # Lemma 2.2.6: with fewer functions than 1 / D no majority is f.
    assert n_gates >= 1 / correlation
    assert min_rounds(gamma, 2.0**-5) <= n_gates


# Bad arguments


@pytest.mark.parametrize("bound", [subsample_bound, filter_sample_bound])
def test_bad_argument_is_named(bound):
    for bad in (0, 0.5, -0.1, np.nan, None, "0.1"):
        with pytest.raises(ValueError, match=r"^gamma must be"):
            bound(bad, 0.1, 0.1, n_weak_samples=5)
    for bad in (0, 1, -0.1, np.nan, None):
        with pytest.raises(ValueError, match=r"^epsilon must be"):
            bound(0.1, bad, 0.1, n_weak_samples=5)
        with pytest.raises(ValueError, match=r"^delta must be"):
            bound(0.1, 0.1, bad, n_weak_samples=5)
    for bad in (0, 2.5, None):
        with pytest.raises(ValueError, match=r"^n_weak_samples must be"):
            bound(0.1, 0.1, 0.1, n_weak_samples=bad)


def test_bad_reliability_gates_and_accuracy_are_named():
    for bad in (0, 1.1, np.nan):
        with pytest.raises(ValueError, match=r"^weak_learner_success_rate must be"):
            filter_sample_bound(
                0.1, 0.1, 0.1, n_weak_samples=5, weak_learner_success_rate=bad
            )
    with pytest.raises(ValueError, match=r"^epsilon must be at most 0.5"):
        filter_sample_bound(0.1, 0.6, 0.1, n_weak_samples=5)
    for bad in (0, 2.5, None):
        with pytest.raises(ValueError, match=r"^n_features must be"):
            majority_gate_size(bad, 0.1)
    for bad in (0, 1.1, np.nan, None):
        with pytest.raises(ValueError, match=r"^correlation must be"):
            majority_gate_size(5, bad)
    assert majority_gate_size(1, 1) == 3
