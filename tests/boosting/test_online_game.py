from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import Perceptron, relative_weight

from sklboolean.boosting._majority_game import majority_weights
from sklboolean.boosting._online_boost_by_majority import (
    BitGame,
    OnlineGame,
    OnlineState,
    online_weights,
)

edges = st.fractions(Fraction(1, 100), Fraction(49, 100), max_denominator=100)
odd = st.integers(0, 4).map(lambda half: 2 * half + 1)


class Scripted:
    """A learner whose votes are given; it keeps the weights that it is shown."""

    def __init__(self, votes):
        self.votes_to_come, self.weights = votes, []

    def vote_and_learn(self, rows, signs, weights):
        self.weights.extend(weights.tolist())
        votes, self.votes_to_come = np.split(self.votes_to_come, [len(rows)])
        return votes


@given(odd, edges)
def test_weights_are_chances_that_the_vote_decides(k, gamma):
    for i in range(k):
        expected = [float(relative_weight(k, i, r, gamma)) for r in range(i + 1)]
        weights = online_weights(k, i, float(gamma), np.arange(i + 1))
        assert_allclose(weights, expected, rtol=1e-12)


@given(odd, edges, st.integers(1, 12), st.data())
def test_every_row_meets_the_weights_of_its_own_game(k, gamma, n_samples, data):
    vote = st.integers(-1, 1)
    votes = data.draw(
        st.lists(
            st.lists(vote, min_size=n_samples, max_size=n_samples),
            min_size=k,
            max_size=k,
        )
    )
    votes = np.array(votes, dtype=np.int8)
    sign_lists = st.lists(
        st.sampled_from([-1, 1]), min_size=n_samples, max_size=n_samples
    )
    signs = np.array(data.draw(sign_lists), dtype=np.int8)
    values = np.arange(1.0, n_samples + 1)
    learners = [Scripted(row) for row in votes]
    game = OnlineGame(learners, float(gamma), None)
    cut = data.draw(st.integers(0, n_samples))
    counted = []
    for part in (slice(0, cut), slice(cut, n_samples)):
        rows = np.zeros((len(signs[part]), 1))
        counted.append(game.learn(rows, signs[part], values[part]))
    expected = np.zeros((n_samples, k))
    for t in range(n_samples):
        right = 0
        for i in range(k):
            expected[t, i] = values[t] * float(relative_weight(k, i, right, gamma))
            right += votes[i, t] == signs[t]  # an abstention is an error
    shown = np.array([learner.weights for learner in learners]).T
    assert_allclose(shown, expected, rtol=1e-12)
    hits = votes.T == signs[:, np.newaxis]
    sums, n_correct = np.concatenate(counted, axis=1)
    assert_array_equal(n_correct, hits.sum(axis=1))
    assert_array_equal(sums, votes.sum(axis=0))
    assert game.n_samples == n_samples
    assert_array_equal(game.n_shown, np.count_nonzero(expected, axis=0))
    totals = expected.sum(axis=0)
    shares = np.divide((expected * hits).sum(axis=0), totals, where=totals > 0,
                       out=np.full(k, 0.5))  # fmt: skip
    assert_allclose(game.edges(), shares - 0.5, atol=1e-12)


@pytest.mark.parametrize("gamma", [1e-6, 0.02, 0.3, 0.499999])
@pytest.mark.parametrize("k", [63, 1001, 10_001])
def test_weights_stay_numbers_for_many_learners(k, gamma):
    for i in (0, 1, k // 3, k // 2, k - 2, k - 1):
        states = np.arange(i + 1)
        weights = online_weights(k, i, gamma, states)
        assert np.isfinite(weights).all()
        assert weights.min() >= 0
        assert weights.max() == 1.0
        logs = majority_weights(k, i, gamma, log=True)
        assert_allclose(weights, np.exp(logs - logs.max()), rtol=1e-9)


def test_binomial_of_sixty_three_learners_is_no_integer_overflow():
    """C(62, 31) times 31 exceeds 2**63; exact fractions tell what is right."""
    k, gamma = 63, Fraction(1, 10)
    p, q = Fraction(3, 5), Fraction(2, 5)
    probabilities = []
    for r in range(2):
        missing, n_left = k // 2 - r, k - 2
        binomial = Fraction(1)
        for step in range(missing):
            binomial = binomial * (n_left - step) / (step + 1)
        probabilities.append(binomial * p**missing * q ** (n_left - missing))
    expected = [float(each / max(probabilities)) for each in probabilities]
    weights = online_weights(k, 1, float(gamma), np.arange(2))
    assert_allclose(weights, expected, rtol=1e-12)


def test_rejection_frequencies_of_every_learner():
    """Given the votes, the number of rows shown is a sum of independent coins."""
    rng = np.random.default_rng(0)
    k, n, gamma = 9, 20_000, 0.1
    votes = rng.choice(np.array([-1, 1], dtype=np.int8), (k, n))
    signs = np.ones(n, dtype=np.int8)
    learners = [Scripted(row) for row in votes]
    game = OnlineGame(learners, gamma, seed=1)
    game.learn(np.zeros((n, 1)), signs, np.ones(n))
    right = np.cumsum(votes > 0, axis=0) - (votes > 0)
    for i in range(k):
        p = online_weights(k, i, gamma, right[i])
        assert set(learners[i].weights) <= {0.0, 1.0}
        spread = np.sqrt((p * (1 - p)).sum()) + 1e-9
        assert abs(game.n_shown[i] - p.sum()) < 5 * spread


# The default learner


@given(st.integers(1, 5), st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_bit_perceptron_is_the_averaged_perceptron(n_features, n_samples, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features))
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n_samples)
    weights = (
        rng.integers(0, 4, n_samples) / 4
    )  # exact in binary, so that ties are ties
    # A single learner is given all samples with their own weights.
    game, oracle = BitGame(n_features + 1, 1, 0.1, None), Perceptron(n_features + 1)
    ((_, rows),) = OnlineState([game]).parts(X, 1)
    assert_array_equal(rows, np.hstack([X, np.ones((n_samples, 1))]))
    votes, n_correct = game.learn(rows, signs, weights)
    expected, signed = [], 2 * rows.astype(int) - 1
    for row, sign, weight in zip(signed.tolist(), signs, weights, strict=True):
        expected.append(oracle.vote(row))
        oracle.learn(row, int(sign), Fraction(weight))
    assert_array_equal(votes, expected)
    assert_array_equal(n_correct, votes == signs)
    assert_array_equal(game.votes(rows), [oracle.vote(row) for row in signed.tolist()])
    average = np.array(oracle.total, dtype=float) / max(weights.sum(), 1e-300)
    (learner,) = game.estimators
    assert_allclose([*learner.coef_, learner.intercept_], average, atol=1e-12)


class OneBit:
    """An averaged perceptron as a learner that the booster asks by itself."""

    def __init__(self, n_columns):
        self.oracle = Perceptron(n_columns)

    def vote_and_learn(self, rows, signs, weights):
        votes = []
        for row, sign, weight in zip(rows.tolist(), signs, weights, strict=True):
            votes.append(self.oracle.vote(row))
            if weight:
                self.oracle.learn(row, int(sign), Fraction(weight))
        return np.array(votes, dtype=np.int8)


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("k", [1, 7])
def test_compiled_game_is_the_game_of_single_learners(k, seed):
    rng = np.random.default_rng(k)
    rows = np.where(rng.integers(0, 2, (60, 5)), 1, -1).astype(np.int8)
    signs = np.where(rows[:, :3].sum(axis=1) > 0, 1, -1).astype(np.int8)
    signs[::7] *= -1
    weights = rng.integers(0, 8, 60) / 4
    compiled = BitGame(5, k, 0.125, seed)
    plain = OnlineGame([OneBit(5) for _ in range(k)], 0.125, seed)
    for part in (slice(0, 20), slice(20, 60)):
        for one, other in zip(
            compiled.learn(rows[part], signs[part], weights[part]),
            plain.learn(rows[part], signs[part], weights[part]),
            strict=True,
        ):
            assert_array_equal(one, other)
    assert_array_equal(compiled.n_shown, plain.n_shown)
    assert_array_equal(compiled.weights_shown, plain.weights_shown)
    assert_array_equal(compiled.edges(), plain.edges())
