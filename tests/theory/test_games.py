from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles.boosting import HALF, mark_in_order, play, tail

from sklboolean.theory import play_majority_game

CHOOSERS = ["iid", "richest", "poorest", "adversarial"]
odd_rounds = st.integers(0, 6).map(lambda half: 2 * half + 1)
edges = st.fractions(Fraction(1, 50), Fraction(9, 20), max_denominator=50)


@given(odd_rounds, edges, st.randoms(use_true_random=False))
def test_the_weights_make_all_exact_choosers_equal(k, gamma, random):
    """In fractions: the potential stays what it is, whoever marks."""

    def in_order(order_of):
        return lambda i, weights: mark_in_order(
            order_of(i), weights, (HALF + gamma) * bool(sum(weights))
        )

    choosers = [
        lambda i, weights: [HALF + gamma] * (i + 1),
        in_order(lambda i: range(i + 1)),
        in_order(lambda i: range(i, -1, -1)),
        in_order(lambda i: random.sample(range(i + 1), i + 1)),
    ]
    for chooser in choosers:
        assert play(k, gamma, chooser) == [tail(k, gamma)] * (k + 1)


def mark_at_random(seed):
    rng = np.random.default_rng(seed)

    def chooser(k, i, gamma, values, weights):
        order = [r for r in rng.permutation(i + 1) if weights[r] > 0]
        fractions = mark_in_order(order, weights, 0.5 + gamma)
        return np.clip(np.array(fractions, dtype=float), 0.0, 1.0)  # rounding

    return chooser


@pytest.mark.parametrize("chooser", [*CHOOSERS, mark_at_random(0), mark_at_random(1)])
@pytest.mark.parametrize(("k", "gamma"), [(1, 0.3), (21, 0.2), (101, 0.05), (301, 0.1)])
def test_the_loss_is_the_binomial_tail(chooser, k, gamma):
    loss, potentials = play_majority_game("majority", chooser, k=k, gamma=gamma)
    expected = float(tail(k, Fraction(gamma)))
    assert potentials.shape == (k + 1,)
    assert_allclose(potentials, expected, rtol=1e-9)
    assert loss == potentials[-1]


@pytest.mark.parametrize("weightor", ["majority", "uniform"])
def test_more_marks_lower_the_potential(weightor):
    def mark_more(k, i, gamma, values, weights):
        return np.linspace(1.0, 0.5 + gamma, i + 1)

    loss, potentials = play_majority_game(weightor, mark_more, k=21, gamma=0.1)
    assert (np.diff(potentials) <= 1e-15).all()
    assert loss < float(tail(21, Fraction(1, 10)))


def weigh_exponentially(k, i, gamma, values):
    return values * np.exp(-2 * gamma * np.arange(i + 1))


@pytest.mark.parametrize("weightor", ["uniform", weigh_exponentially])
def test_no_weightor_does_better(weightor):
    """Section 2.2.1: independent marks lose the tail, and the adversary no less."""
    k, gamma = 51, 0.1
    expected = float(tail(k, Fraction(gamma)))
    loss, _ = play_majority_game(weightor, "iid", k=k, gamma=gamma)
    assert_allclose(loss, expected, rtol=1e-9)
    loss, potentials = play_majority_game(weightor, "adversarial", k=k, gamma=gamma)
    assert (np.diff(potentials) >= -1e-12).all()
    assert loss > 1.5 * expected


def test_a_decided_game_is_over():
    def mark_all(k, i, gamma, values, weights):
        return np.ones(i + 1)

    loss, potentials = play_majority_game("majority", mark_all, k=9, gamma=0.1)
    assert loss == 0.0
    assert (potentials[5:] == 0.0).all()
    assert potentials[4] > 0.0


def test_bad_players_are_named():
    def play_with(weightor="majority", chooser="iid", k=5, gamma=0.1):
        return play_majority_game(weightor, chooser, k=k, gamma=gamma)

    with pytest.raises(ValueError, match=r"^weightor must be one of"):
        play_with("uniformly")
    with pytest.raises(ValueError, match=r"^chooser must be one of"):
        play_with(chooser=None)
    for weights in ([1.0, 2.0], [-1.0], [0.0], [np.nan], [np.inf]):
        with pytest.raises(
            ValueError, match=r"^weightor must return 1 weights after 0"
        ):
            play_with(lambda *state, weights=weights: weights)
    for fractions in ([1.0, 1.0], [-0.1], [1.1], [np.nan]):
        with pytest.raises(
            ValueError, match=r"^chooser must return 1 fractions from 0 to 1 after 0"
        ):
            play_with(chooser=lambda *state, fractions=fractions: fractions)
    with pytest.raises(ValueError, match=r"^chooser must mark at least 0.6"):
        play_with(chooser=lambda *state: [0.59])
    with pytest.raises(ValueError, match=r"^k must be odd"):
        play_with(k=6)
    with pytest.raises(ValueError, match=r"^gamma must be"):
        play_with(gamma=0.5)
