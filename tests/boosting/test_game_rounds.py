from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles.boosting import tail

from sklboolean.boosting._game_rounds import max_gamma, min_rounds, rounds_from_states
from sklboolean.boosting._game_states import average_potential
from sklboolean.boosting._majority_game import majority_potentials


@settings(deadline=None)
@given(
    st.fractions(Fraction(1, 10), Fraction(49, 100), max_denominator=100),
    st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=1000),
)
def test_least_number_of_rounds_is_returned(gamma, error):
    k = 1
    while tail(k, gamma) >= error:
        k += 1
    if tail(k, gamma) < error * (1 - Fraction(1, 10**12)):  # or floats may differ
        assert min_rounds(gamma, error) == k
        assert k % 2 == 1


def test_a_vote_more_may_harm():
    gamma = Fraction(1, 10)
    for k in range(1, 40, 2):
        assert tail(k + 1, gamma) > tail(k, gamma) > tail(k + 2, gamma)


@pytest.mark.parametrize(("gamma", "m", "k"), [(0.1, 10**4, 339), (0.1, 10**6, 553)])
def test_rounds_of_the_field(gamma, m, k):
    assert min_rounds(gamma, 1 / m) == k
    assert k < np.log(m) / (2 * gamma**2)


def tail_in_decimals(k, gamma):
    """The same tail, each term from the one before, to 40 digits."""
    with localcontext(prec=40):
        right = Decimal("0.5") + Decimal(gamma)
        odds = right / (1 - right)
        term = total = (1 - right) ** k
        for j in range(k // 2):
            term = term * odds * (k - j) / (j + 1)
            total += term
        return float(total)


@pytest.mark.parametrize("k", [1, 3, 101, 10_001, 1_000_001])
def test_long_games_are_exact(k):
    gamma = 1.2 / np.sqrt(k) if k > 3 else 0.3
    error = tail_in_decimals(k, gamma)
    assert_allclose(majority_potentials(k, 0, gamma), [error], rtol=1e-10)
    assert_allclose(max_gamma(k, error), gamma, rtol=1e-10)
    assert min_rounds(gamma, error * (1 + 1e-9)) == k
    assert min_rounds(gamma, error * (1 - 1e-9)) == k + 2


@settings(deadline=None)
@given(st.integers(0, 500_000), st.floats(1e-6, 0.49))
def test_edge_and_rounds_are_inverse(half, error):
    k = 2 * half + 1
    gamma = max_gamma(k, error)
    assert_allclose(majority_potentials(k, 0, gamma), [error], rtol=1e-9)
    assert min_rounds(gamma * (1 + 1e-8), error) <= k
    if gamma < 0.4:
        assert min_rounds(gamma * (1 - 1e-6), error) >= k


# Plans that begin in the middle


states = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda v: sum(v) <= 6),
    min_size=1,
    max_size=8,
)


@settings(deadline=None)
@given(
    states,
    st.integers(6, 20),
    st.integers(0, 3),
    st.floats(0.05, 0.45),
    st.floats(0.02, 0.9),
)
def test_plan_from_any_state_is_the_shortest(states, i, n_aborted, gamma, error):
    right, other = np.array(states).T
    seen = {"correct_votes": right, "other_votes": other, "n_aborted": n_aborted}
    i += n_aborted
    values = np.arange(1, len(states) + 1)
    k = i | 1
    while average_potential(k, i, gamma, **seen, values=values) >= error:
        k += 2
    assert rounds_from_states(i, gamma, error, **seen, values=values) == k


def test_plan_is_found_where_the_potential_falls_and_rises_again():
    i, gamma = 100, 0.02
    right = np.repeat([40, 62], [2, 100])
    rounds = np.arange(i + 1, 3001, 2)
    potentials = np.array([average_potential(k, i, gamma, right) for k in rounds])
    turns = np.flatnonzero(np.diff(np.sign(np.diff(potentials))))
    assert len(turns) >= 3
    for error in [*potentials[turns] * (1 + 1e-6), 0.03, 0.01, potentials[-2]]:
        k = rounds[np.argmax(potentials < error)]
        assert rounds_from_states(i, gamma, error, right) == k


def test_good_vote_needs_no_more_rounds():
    assert rounds_from_states(5, 0.1, 0.1, np.array([3, 4, 5])) == 5
    assert rounds_from_states(5, 0.1, 0.5, np.array([2, 4, 5])) == 5
    assert rounds_from_states(0, 0.1, 0.5, np.array([0])) == 1


# Bad arguments


def test_bad_arguments_are_named():
    for gamma in (0, 0.5, -1, np.nan):
        with pytest.raises(ValueError, match=r"^gamma must be"):
            min_rounds(gamma, 0.1)
    for error in (0, 1, -1, np.nan):
        with pytest.raises(ValueError, match=r"^error must be"):
            min_rounds(0.1, error)
    for error in (0, 0.5, 1, np.inf):
        with pytest.raises(ValueError, match=r"^error must be"):
            max_gamma(11, error)
    with pytest.raises(ValueError, match=r"^k must be odd.*got 10, use 11"):
        max_gamma(10, 0.1)
    with pytest.raises(TypeError, match=r"^k must be an"):
        max_gamma(10.5, 0.1)
    with pytest.raises(TypeError, match=r"^gamma must be an"):
        min_rounds("0.1", 0.1)


def test_what_no_game_or_no_float_can_do_is_said():
    with pytest.raises(ValueError, match=r"^gamma=1e-08 must be larger"):
        min_rounds(1e-8, 1e-3)
    with pytest.raises(ValueError, match=r"^error=1e-30 must not be so close to 0"):
        max_gamma(1, 1e-30)
    assert 0.49 < max_gamma(31, 1e-30) < 0.5
