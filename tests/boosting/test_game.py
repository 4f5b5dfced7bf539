from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import (
    HALF,
    binomial,
    potential,
    potential_of_votes,
    weight,
    with_one_more,
)

from sklboolean.boosting._game_states import average_potential, state_weights
from sklboolean.boosting._majority_game import (
    majority_potentials,
    majority_weights,
    missing_votes,
)

edges = st.fractions(Fraction(1, 100), Fraction(49, 100), max_denominator=100)
odd_rounds = st.integers(0, 8).map(lambda half: 2 * half + 1)


@settings(deadline=None)
@given(odd_rounds, edges)
def test_closed_forms_are_the_recursions(k, gamma):
    for i in range(k):
        expected = [float(weight(k, i, r, gamma)) for r in range(i + 1)]
        assert_allclose(majority_weights(k, i, gamma), expected, rtol=1e-12)
    for i in range(k + 1):
        expected = [float(potential(k, i, r, gamma)) for r in range(i + 1)]
        assert_allclose(majority_potentials(k, i, gamma), expected, rtol=1e-12)


@settings(deadline=None)
@given(odd_rounds, edges)
def test_weight_is_what_a_vote_changes(k, gamma):
    for i in range(k):
        after = majority_potentials(k, i + 1, gamma)
        weights = majority_weights(k, i, gamma)
        assert_allclose(weights, after[:-1] - after[1:], rtol=1e-9, atol=1e-15)


@settings(deadline=None)
@given(st.integers(0, 4).map(lambda half: 2 * half + 1), edges, st.integers(1, 3))
def test_several_labels_need_two_counts_only(k, gamma, n_wrong):
    """Whatever votes there are, r and t tell the potential, and the weight."""
    states = {(0, (0,) * n_wrong)}
    for i in range(k + 1):
        for right, wrong in states:
            exact = potential_of_votes(k, right, wrong, gamma)
            t = sum(wrong[:-1])
            table = majority_potentials(k, i, gamma, other_votes=t)
            assert len(table) == i - t + 1
            assert_allclose(table[right], float(exact), rtol=1e-12)
            if i < k:
                worst = max(
                    potential_of_votes(k, right, with_one_more(wrong, label), gamma)
                    for label in range(n_wrong)
                )
                best = potential_of_votes(k, right + 1, wrong, gamma)
                table = majority_weights(k, i, gamma, other_votes=t)
                assert_allclose(table[right], float(worst - best), rtol=1e-12)
        states = {(right + 1, wrong) for right, wrong in states} | {
            (right, with_one_more(wrong, label))
            for right, wrong in states
            for label in range(n_wrong)
        }


def test_formula_for_several_labels_as_printed_forgets_undecided_examples():
    """Equation (2.21) takes t from k but not from i: why we depart from it."""
    k, i, r, t, gamma = 9, 6, 2, 2, Fraction(1, 10)
    exponent = (k - t) // 2 - r
    assert binomial(k - t - i - 1, exponent, HALF + gamma) == 0
    assert majority_weights(k, i, gamma, other_votes=t)[r] > 0.4


@settings(deadline=None)
@given(odd_rounds, edges, st.data())
def test_coins_of_aborted_rounds_are_averaged(k, gamma, data):
    i = data.draw(st.integers(0, k))
    n_aborted = data.draw(st.integers(0, i))
    states = range(i - n_aborted + 1)

    def mean(exact, r):
        return sum(
            binomial(n_aborted, heads, HALF) * exact(k, i, r + heads, gamma)
            for heads in range(n_aborted + 1)
        )

    for tabulate, exact in [
        (majority_weights, weight), (majority_potentials, potential),
    ]:  # fmt: skip
        if tabulate is majority_weights and i == k:
            continue
        expected = [float(mean(exact, r)) for r in states]
        table = tabulate(k, i, gamma, n_aborted=n_aborted)
        assert_allclose(table, expected, rtol=1e-11)
        logs = tabulate(k, i, gamma, n_aborted=n_aborted, log=True)
        assert_allclose(np.exp(logs), expected, rtol=1e-11)
    for r in states:
        averaged = average_potential(k, i, gamma, np.array([r]), n_aborted=n_aborted)
        assert_allclose(averaged, float(mean(potential, r)), rtol=1e-11)


def log_of(fraction):
    """ln of a positive Fraction whose parts may be beyond float64."""
    bits = fraction.numerator.bit_length() - fraction.denominator.bit_length()
    return float(np.log(float(fraction / Fraction(2) ** bits))) + bits * np.log(2.0)


@pytest.mark.parametrize(
    "gamma", [Fraction(1, 100), Fraction(3, 10), Fraction(49, 100)]
)
def test_small_potentials_keep_their_digits(gamma):
    k, i = 2001, 1000
    table = majority_potentials(k, i, gamma)
    terms = [binomial(k - i, j, HALF + gamma) for j in range(k // 2 + 1)]
    exact = [float(total) for total in accumulate(terms)][::-1]
    assert min(table[table > 0]) < 1e-290
    normal = np.array(exact) > 1e-300
    assert_allclose(table[normal], np.array(exact)[normal], rtol=1e-11)


@pytest.mark.parametrize("n_aborted", [0, 150])
def test_logarithms_are_right_where_numbers_underflow(n_aborted):
    k, i, gamma = 1401, 201, Fraction(31, 64)
    missing = missing_votes(k, np.arange(i - n_aborted + 1))
    logs = majority_weights(k, i, gamma, n_aborted=n_aborted, log=True)
    sums = majority_potentials(k, i, gamma, n_aborted=n_aborted, log=True)
    assert np.exp(logs[0]) == 0.0
    for r in (0, 17, i - n_aborted):
        s = int(missing[r])
        chances = [
            (binomial(n_aborted, heads, HALF), s - heads)
            for heads in range(n_aborted + 1)
        ]
        exact = sum(c * binomial(k - i - 1, left, HALF + gamma) for c, left in chances)
        assert_allclose(logs[r], log_of(exact), rtol=1e-12)
        terms = [binomial(k - i, j, HALF + gamma) for j in range(s + 1)]
        tails = [*accumulate(terms, initial=0)]
        exact = sum(c * tails[max(left + 1, 0)] for c, left in chances)
        assert_allclose(sums[r], log_of(exact), rtol=1e-12)


def test_coins_lose_no_digits_for_long_games():
    """The two recursions meet, and the probabilities sum to 1."""
    k, i, gamma, n_aborted = 20_001, 12_000, 0.03, 9_000
    logs = majority_weights(k, i, gamma, n_aborted=n_aborted, log=True)
    heads = np.arange(n_aborted + 1)
    coins = majority_weights(2 * n_aborted + 1, n_aborted, 1e-300, log=True)[::-1]
    assert_allclose(np.exp(coins).sum(), 1.0, rtol=1e-10)
    for r in (0, 1000, 2500, 3000):
        left = missing_votes(k, r) - heads
        possible = (left >= 0) & (left <= k - i - 1)
        votes = majority_weights(2 * (k - i - 1) + 1, k - i - 1, gamma, log=True)[::-1]
        terms = coins[possible] + votes[left[possible]]
        assert_allclose(logs[r], np.logaddexp.reduce(terms), rtol=1e-10)


# Weights of examples


@settings(deadline=None)
@given(odd_rounds, edges, st.data())
def test_examples_are_weighed_by_their_states(k, gamma, data):
    i = data.draw(st.integers(0, k - 1))
    n_aborted = data.draw(st.integers(0, i))
    states = data.draw(
        st.lists(
            st.tuples(st.integers(0, i), st.integers(0, i)).filter(
                lambda votes: sum(votes) <= i - n_aborted
            ),
            min_size=1,
        )
    )
    right, other = np.array(states).T
    weights, log_largest = state_weights(
        k, i, gamma, right, other_votes=other, n_aborted=n_aborted
    )
    expected = [
        majority_weights(k, i, gamma, other_votes=t, n_aborted=n_aborted)[r]
        for r, t in states
    ]
    assert_allclose(weights * np.exp(log_largest), expected, rtol=1e-11, atol=1e-300)
    assert weights.max() == (1.0 if max(expected) > 0 else 0.0)
    values = data.draw(st.permutations(range(1, len(states) + 1)))
    expected = [
        majority_potentials(k, i, gamma, other_votes=t, n_aborted=n_aborted)[r]
        for r, t in states
    ]
    averaged = average_potential(
        k, i, gamma, right, other_votes=other, n_aborted=n_aborted, values=values
    )
    assert_allclose(averaged, np.average(expected, weights=values), rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint64])
def test_small_integers_do_not_overflow(dtype):
    right = np.arange(101)
    expected, _ = state_weights(1001, 100, 0.1, right)
    weights, _ = state_weights(1001, 100, 0.1, right.astype(dtype))
    assert_array_equal(weights, expected)
    assert_array_equal(right, np.arange(101))
    assert state_weights(1001, 100, 0.1, right.tolist())[0].sum() == expected.sum()


@pytest.mark.parametrize("n_aborted", [0, 30_000])
def test_long_games_have_finite_weights(n_aborted):
    k = 100_001
    for i in (n_aborted, 60_000, k - 1):
        right = np.linspace(0, i - n_aborted, 51).astype(int)
        weights, log_largest = state_weights(k, i, 0.2, right, n_aborted=n_aborted)
        assert np.isfinite(weights).all()
        assert weights.max() == 1.0
        assert log_largest <= 0


def test_distant_states_keep_their_weight():
    """The scale is set by the states that occur, not by those between them."""
    weights, log_largest = state_weights(100_001, 50_000, 0.1, np.array([0, 1]))
    assert np.exp(log_largest) == 0.0
    assert weights.max() == 1.0
    assert weights.min() > 0.0


def test_weights_are_zero_when_all_is_decided_and_only_then():
    weights, log_largest = state_weights(5, 4, 0.1, np.array([0, 1, 3, 4]))
    assert_array_equal(weights, np.zeros(4))
    assert log_largest == -np.inf
    weights, _ = state_weights(5, 4, 0.1, np.array([0, 1, 2, 3]))
    assert_array_equal(weights, [0, 0, 1, 0])
    weights, log_largest = state_weights(5, 2, 0.1, np.zeros(0, dtype=int))
    assert weights.shape == (0,)
    assert log_largest == -np.inf


def add_votes(votes, chosen, labels):
    votes[np.arange(len(votes)), np.where(chosen, 0, labels)] += 1


def count_states(votes):
    """Right votes, and those for wrong labels but the strongest; label 0 is right."""
    wrong = votes[:, 1:]
    return votes[:, 0], wrong.sum(axis=1) - wrong.max(axis=1)


@pytest.mark.parametrize("n_labels", [2, 3, 5])
@pytest.mark.parametrize("order", ["random", "richest", "poorest", "lightest"])
def test_potential_of_examples_never_rises(n_labels, order):
    """Lemma 2.2.2 on single examples, with hypotheses that barely keep the promise."""
    rng = np.random.default_rng(n_labels)
    k, gamma, n_samples = 61, 0.12, 40
    votes = np.zeros((n_samples, n_labels), dtype=int)
    values = rng.integers(1, 5, n_samples)
    states = {"correct_votes": votes[:, 0]}
    before = average_potential(k, 0, gamma, **states, values=values)
    for i in range(k):
        right, other = count_states(votes)
        weights, _ = state_weights(k, i, gamma, right, other_votes=other)
        weights = weights * values
        if not weights.any():
            break
        keys = {
            "random": rng.random(n_samples), "richest": -right, "poorest": right,
            "lightest": weights,
        }[order]  # fmt: skip
        ranked = np.argsort(keys, kind="stable")
        marked = np.cumsum(weights[ranked]) - weights[ranked]
        chosen = np.zeros(n_samples, dtype=bool)
        chosen[ranked] = marked < (0.5 + gamma) * weights.sum()
        if i % 3:  # errors concentrate on the strongest wrong label
            labels = 1 + votes[:, 1:].argmax(axis=1)
        else:
            labels = rng.integers(1, n_labels, n_samples)
        add_votes(votes, chosen, labels)
        right, other = count_states(votes)
        after = average_potential(
            k, i + 1, gamma, right, other_votes=other, values=values
        )
        assert after <= before + 1e-12
        before = after
    right, wrong = votes[:, 0], votes[:, 1:].max(axis=1)
    # Decided early, the game goes on as it likes: the leaders cannot be overtaken.
    lost = np.average(right - wrong <= 0, weights=values)
    assert before == pytest.approx(lost, abs=1e-12)


# Bad arguments


@pytest.mark.parametrize("tabulate", [majority_weights, majority_potentials])
def test_bad_games_are_named(tabulate):
    for gamma in (0, 0.5, -0.1, 1, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"^gamma must be"):
            tabulate(5, 2, gamma)
    with pytest.raises(ValueError, match=r"^k must be odd.*got 4, use 5"):
        tabulate(4, 2, 0.1)
    with pytest.raises(ValueError, match=r"^k == 0, must be >= 1"):
        tabulate(0, 0, 0.1)
    with pytest.raises(
        ValueError, match=r"^i must be at most the number of rounds k=5"
    ):
        tabulate(5, 6, 0.1)
    with pytest.raises(ValueError, match=r"^i == -1, must be >= 0"):
        tabulate(5, -1, 0.1)
    with pytest.raises(ValueError, match=r"^other_votes == 3, must be <= 2"):
        tabulate(5, 2, 0.1, other_votes=3)
    with pytest.raises(ValueError, match=r"^other_votes == 2, must be <= 1"):
        tabulate(5, 2, 0.1, other_votes=2, n_aborted=1)
    with pytest.raises(ValueError, match=r"^n_aborted == 3, must be <= 2"):
        tabulate(5, 2, 0.1, n_aborted=3)
    for arguments in [(5.0, 2, 0.1), (5, "2", 0.1), (5, 2, None), (True, 0, 0.1)]:
        with pytest.raises(TypeError, match=r"must be an"):
            tabulate(*arguments)


def test_after_the_last_round_there_are_no_weights():
    with pytest.raises(ValueError, match=r"^i must be below the number of rounds k=5"):
        majority_weights(5, 5, 0.1)
    with pytest.raises(ValueError, match=r"^i must be below"):
        state_weights(5, 5, 0.1, np.array([3]))
    assert_array_equal(majority_potentials(5, 5, 0.1), [1, 1, 1, 0, 0, 0])


def test_bad_votes_are_named():
    for votes in ([0.5], [True], ["1"]):
        with pytest.raises(TypeError, match=r"^correct_votes must hold integers"):
            state_weights(5, 2, 0.1, np.array(votes))
    with pytest.raises(ValueError, match=r"^correct_votes must not be negative"):
        state_weights(5, 2, 0.1, np.array([-1]))
    with pytest.raises(ValueError, match=r"^other_votes must not be negative"):
        state_weights(5, 2, 0.1, np.array([1]), other_votes=-1)
    for right, other, n_aborted in [(3, 0, 0), (2, 1, 0), (2, 0, 1)]:
        with pytest.raises(ValueError, match=r"must be at most .* has one vote"):
            average_potential(
                5, 2, 0.1, np.array([right]), other_votes=other, n_aborted=n_aborted
            )
    with pytest.raises(ValueError, match=r"^values must be above 0"):
        average_potential(5, 2, 0.1, np.array([1, 2]), values=np.zeros(2))
