from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import (
    HALF,
    binomial,
    potential,
    potential_of_votes,
    tail,
    weight,
    with_one_more,
)

from sklboolean.boosting._majority_game import (
    majority_potentials,
    majority_weights,
    max_gamma,
    min_rounds,
    relative_weights,
)
from sklboolean.boosting._votes import MajorityVotes

edges = st.fractions(Fraction(1, 100), Fraction(49, 100), max_denominator=100)


def missing_votes(k, r):
    """The most further correct votes with which a sample is still lost."""
    return k // 2 - r


def votes_in_states(i, right, other=None, *, n_aborted=0, values=None):
    """Votes after i rounds, with so many correct ones and others for wrong labels."""
    right = np.asarray(right)
    weights = None if values is None else np.asarray(values, dtype=np.float64)
    votes = MajorityVotes(np.zeros(len(right), int), 2 if other is None else 3, weights)
    votes.n_rounds, votes.n_votes = i, i - n_aborted
    votes.n_aborted, votes.correct = n_aborted, right
    if other is not None:
        votes.most_wrong = i - n_aborted - right - other
    return votes


def state_weights(k, i, gamma, right, *, other_votes=0, n_aborted=0):
    """The weights of samples relative to the heaviest of them."""
    levels = 2 * right + other_votes
    return relative_weights(k, i, float(gamma), levels, n_aborted)


odd_rounds = st.integers(0, 8).map(lambda half: 2 * half + 1)


@given(odd_rounds, edges)
def test_closed_forms_are_the_recursions(k, gamma):
    for i in range(k):
        expected = [float(weight(k, i, r, gamma)) for r in range(i + 1)]
        assert_allclose(majority_weights(k, i, gamma), expected, rtol=1e-12)
    for i in range(k + 1):
        expected = [float(potential(k, i, r, gamma)) for r in range(i + 1)]
        assert_allclose(majority_potentials(k, i, gamma), expected, rtol=1e-12)


@given(odd_rounds, edges)
def test_weight_is_what_a_vote_changes(k, gamma):
    for i in range(k):
        after = majority_potentials(k, i + 1, gamma)
        weights = majority_weights(k, i, gamma)
        assert_allclose(weights, after[:-1] - after[1:], rtol=1e-9, atol=1e-15)


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
        votes = votes_in_states(i, np.array([r]), n_aborted=n_aborted)
        averaged = votes.potential(k, float(gamma))
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
        probabilities = [
            (binomial(n_aborted, heads, HALF), s - heads)
            for heads in range(n_aborted + 1)
        ]
        exact = sum(
            c * binomial(k - i - 1, left, HALF + gamma) for c, left in probabilities
        )
        assert_allclose(logs[r], log_of(exact), rtol=1e-12)
        terms = [binomial(k - i, j, HALF + gamma) for j in range(s + 1)]
        tails = [*accumulate(terms, initial=0)]
        exact = sum(c * tails[max(left + 1, 0)] for c, left in probabilities)
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
    votes = votes_in_states(i, right, other, n_aborted=n_aborted, values=values)
    averaged = votes.potential(k, float(gamma))
    assert_allclose(averaged, np.average(expected, weights=values), rtol=1e-11)


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
    before = votes_in_states(0, votes[:, 0], values=values).potential(k, float(gamma))
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
        after = votes_in_states(i + 1, right, other, values=values)
        after = after.potential(k, float(gamma))
        assert after <= before + 1e-12
        before = after
    right, wrong = votes[:, 0], votes[:, 1:].max(axis=1)
    # Decided early, the game goes on as it likes: the leaders cannot be overtaken.
    lost = np.average(right - wrong <= 0, weights=values)
    assert before == pytest.approx(lost, abs=1e-12)


# Bad games


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
    assert_array_equal(majority_potentials(5, 5, 0.1), [1, 1, 1, 0, 0, 0])


# Rounds for an edge, and the edge for a number of rounds


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


@given(
    states,
    st.integers(6, 20),
    st.integers(0, 3),
    st.floats(0.05, 0.45),
    st.floats(0.02, 0.9),
)
def test_plan_from_any_state_is_the_shortest(states, i, n_aborted, gamma, error):
    right, other = np.array(states).T
    i += n_aborted
    values = np.arange(1, len(states) + 1)
    votes = votes_in_states(i, right, other, n_aborted=n_aborted, values=values)
    k = i | 1
    while votes.potential(k, float(gamma)) >= error:
        k += 2
    assert votes.rounds_needed(gamma, error) == k


def test_plan_is_found_where_the_potential_falls_and_rises_again():
    i, gamma = 100, 0.02
    right = np.repeat([40, 62], [2, 100])
    rounds = np.arange(i + 1, 3001, 2)
    votes = votes_in_states(i, right)
    potentials = np.array([votes.potential(k, gamma) for k in rounds])
    turns = np.flatnonzero(np.diff(np.sign(np.diff(potentials))))
    assert len(turns) >= 3
    for error in [*potentials[turns] * (1 + 1e-6), 0.03, 0.01, potentials[-2]]:
        k = rounds[np.argmax(potentials < error)]
        assert votes.rounds_needed(gamma, error) == k


def test_good_vote_needs_no_more_rounds():
    assert votes_in_states(5, [3, 4, 5]).rounds_needed(0.1, 0.1) == 5
    assert votes_in_states(5, [2, 4, 5]).rounds_needed(0.1, 0.5) == 5
    assert votes_in_states(0, [0]).rounds_needed(0.1, 0.5) == 1


# Bad arguments of rounds and edges


def test_bad_rounds_and_edges_are_named():
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
