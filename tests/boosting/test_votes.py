"""The vote counts against every row counted apart, in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import RowByRow

from sklboolean.boosting._stump import quantize_weights
from sklboolean.boosting._votes import MajorityVotes

edges = st.fractions(Fraction(1, 20), Fraction(9, 20), max_denominator=20)
UNIT = 2.0**-26


@st.composite
def drawn_counts(draw, max_rounds=6):
    """Vote counts after some rounds, some of them aborted, and its slow twin."""
    n_samples, n_classes = draw(st.integers(1, 6)), draw(st.integers(2, 4))
    labels = st.lists(
        st.integers(0, n_classes - 1), min_size=n_samples, max_size=n_samples
    )
    codes = np.array(draw(labels))
    counts = st.lists(st.integers(1, 9), min_size=n_samples, max_size=n_samples)
    values = draw(st.none() | counts.map(lambda v: np.array(v, dtype=np.float64)))
    vote_counts = MajorityVotes(codes, n_classes, values)
    exact = RowByRow(codes, n_classes, values)
    for votes in draw(st.lists(st.none() | labels, max_size=max_rounds)):
        for each in (vote_counts, exact):
            each.add(None) if votes is None else each.add(np.array(votes))
    return vote_counts, exact


def odd_above(data, n_rounds):
    return (n_rounds + data.draw(st.integers(1, 4))) | 1


@given(drawn_counts())
def test_states_and_error_are_those_of_the_votes(pair):
    vote_counts, exact = pair
    states, unit = vote_counts.states()
    levels = []
    for row in range(len(vote_counts.codes)):
        right, wrong = exact.state(row)
        levels.append(2 * right + sum(wrong[:-1]))
    assert_array_equal(unit * states, levels)
    assert vote_counts.n_rounds == exact.n_rounds
    assert vote_counts.n_aborted == exact.n_aborted
    assert vote_counts.n_votes == exact.n_rounds - exact.n_aborted
    assert_allclose(vote_counts.error(), float(exact.error()), rtol=1e-14)


@given(drawn_counts(), edges, st.data())
def test_potential_is_the_mean_chance_of_loss(pair, gamma, data):
    vote_counts, exact = pair
    k = (vote_counts.n_rounds + data.draw(st.integers(0, 4))) | 1
    expected = exact.mean(exact.potentials(k, gamma))
    assert_allclose(vote_counts.potential(k, float(gamma)), float(expected), rtol=1e-11)


@given(drawn_counts(), edges, st.data())
def test_round_weighs_what_a_vote_changes(pair, gamma, data):
    vote_counts, exact = pair
    k = odd_above(data, vote_counts.n_rounds)
    weights = exact.weights(k, gamma)
    round_weights = vote_counts.weights(k, float(gamma))
    values = (
        np.ones(len(vote_counts.codes))
        if vote_counts.sample_weight is None
        else vote_counts.sample_weight
    )
    if not any(weights):
        assert not round_weights.table.any()
        assert not round_weights.of_samples().any()
        return
    relative = np.array([float(w / max(weights)) for w in weights])
    # Multiples of 2**-26 of the heaviest state that occurs, the nearest ones.
    table = round_weights.table
    assert table.max() == 1
    assert_array_equal(table * 2**26, np.rint(table * 2**26))
    given_weights = round_weights.of_samples() / values
    assert np.abs(given_weights - relative).max() <= UNIT / 2 + 1e-11
    mean, potential = exact.mean(weights), exact.mean(exact.potentials(k, gamma))
    assert_allclose(round_weights.mean, float(mean), rtol=1e-10)
    assert_allclose(round_weights.acceptance, float(mean / max(weights)), rtol=1e-10)
    assert_allclose(round_weights.potential, float(potential), rtol=1e-10)
    # sum p ln(p / q) over the rows, with p = q w / mean.
    shares = [v / sum(exact.values) for v in exact.values]
    divergence = sum(
        float(q * w / mean) * math.log(float(w / mean))
        for q, w in zip(shares, weights, strict=True)
        if w
    )
    assert round_weights.divergence >= 0
    assert_allclose(round_weights.divergence, divergence, atol=1e-10)


@given(drawn_counts(), edges, st.data())
def test_quantized_weights_are_those_of_the_states_times_values(pair, gamma, data):
    vote_counts, _exact = pair
    weights = vote_counts.weights(odd_above(data, vote_counts.n_rounds), float(gamma))
    assume(weights.table.any())
    of_states = quantize_weights(weights.table).take(weights.states)
    expected = (
        of_states
        if vote_counts.sample_weight is None
        else of_states * vote_counts.sample_weight
    )
    assert_array_equal(weights.of_samples(quantized=True), expected)
    assert weights.of_samples(quantized=True).dtype == (
        np.int16 if vote_counts.sample_weight is None else float
    )


@given(drawn_counts(max_rounds=4), st.sampled_from([Fraction(3, 10), Fraction(2, 5)]))
def test_rounds_needed_are_the_fewest_odd_ones(pair, gamma):
    vote_counts, exact = pair
    error = Fraction(19937, 100_000)  # none of these potentials equals it
    k = vote_counts.n_rounds | 1
    while exact.mean(exact.potentials(k, gamma)) >= error:
        k += 2
    assert vote_counts.rounds_needed(float(gamma), float(error)) == k


@pytest.mark.parametrize("n_classes", [2, 3])
def test_row_of_value_two_equals_two_rows_to_the_last_bit(n_classes):
    rng = np.random.default_rng(0)
    codes, values = rng.integers(0, n_classes, 40), rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), values)
    weighted = MajorityVotes(codes, n_classes, values.astype(np.float64))
    repeated = MajorityVotes(codes[rows], n_classes)
    for i in range(8):
        predicted = np.where(rng.random(40) < 0.6, codes, rng.integers(0, n_classes))
        if i == 3:
            weighted.add(None)
            repeated.add(None)
        else:
            weighted.add(predicted)
            repeated.add(predicted[rows])
        one, two = weighted.weights(11, 0.1), repeated.weights(11, 0.1)
        assert_array_equal(one.table, two.table)
        assert_array_equal(one.table[one.states][rows], two.of_samples())
        assert one.of_samples().sum() == two.of_samples().sum()
        assert (one.divergence, one.acceptance) == (two.divergence, two.acceptance)
        assert (one.mean, one.potential) == (two.mean, two.potential)
        assert weighted.error() == repeated.error()
        assert weighted.potential(11, 0.1) == repeated.potential(11, 0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_do_not_depend_on_what_is_measured(n_classes):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_classes, 50)
    vote_counts = MajorityVotes(codes, n_classes)
    for i in range(8):
        vote_counts.add(None if i == 3 else rng.integers(0, n_classes, 50))
        full, short = (
            vote_counts.weights(13, 0.1),
            vote_counts.weights(13, 0.1, measured=False),
        )
        assert_array_equal(short.of_samples(), full.of_samples())
        assert short.mean == full.mean
        assert np.isnan(short.potential)


def test_even_weights_are_the_values():
    vote_counts = MajorityVotes(np.array([0, 1, 1]), 2, np.array([1.0, 3.0, 2.0]))
    assert_array_equal(vote_counts.weights(0, 0.0).of_samples(), [1, 3, 2])
    assert_array_equal(
        MajorityVotes(np.array([0, 1, 1]), 2).weights(0, 0.0).of_samples(), [1, 1, 1]
    )
    even = vote_counts.weights(0, 0.0)
    assert (even.divergence, even.acceptance) == (0, 1)


def test_before_the_first_round_all_rows_weigh_alike():
    vote_counts = MajorityVotes(np.array([0, 1, 2, 2]), 3)
    first = vote_counts.weights(7, 0.1)
    assert_array_equal(first.of_samples(), np.ones(4))
    assert first.divergence == 0
    assert first.acceptance == 1


def test_half_of_the_votes_is_a_loss():
    vote_counts = MajorityVotes(np.array([0, 1]), 2)
    vote_counts.add(np.array([0, 0]))
    vote_counts.add(np.array([1, 1]))
    assert vote_counts.error() == 1
    vote_counts.add(np.array([0, 0]))
    assert vote_counts.error() == 0.5
