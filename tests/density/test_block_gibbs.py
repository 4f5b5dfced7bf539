"""Block Gibbs draws against the distribution over all inputs and hidden states."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.density import (
    all_inputs,
    all_joint_log_weights,
    distribution,
    draw_weights,
)
from scipy.special import softmax

from sklboolean.density._conditionals import draw_hidden, draw_inputs
from sklboolean.density._pcd import gibbs_chain
from sklboolean.density._rbm_params import hidden_posteriors

N_HALVINGS = 40

machines = st.builds(
    draw_weights,
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 5),
    tree=st.booleans(),
    scale=st.sampled_from([0.1, 1.0, 5.0, 100.0]),
)


def drawn_probabilities(weights, states):
    """With which probability all inputs are drawn for hidden states.

    Of each input all numbers below some point draw 1: the point is found by halving,
    while the numbers of the other inputs, 0 or 1, force their values.
    """
    inputs = np.tile(all_inputs(len(weights.visible_bias)), (len(states), 1))
    n_inputs = len(inputs) // len(states)
    given_states = np.repeat(states, n_inputs, axis=0)
    forced = np.where(inputs > 0, 0.0, 1.0)
    probabilities = np.ones(len(inputs))
    for column in range(inputs.shape[1]):
        low, high = np.zeros(len(inputs)), np.ones(len(inputs))
        for _ in range(N_HALVINGS):
            numbers, middle = forced.copy(), (low + high) / 2
            numbers[:, column] = middle
            source = SimpleNamespace(random=lambda shape, numbers=numbers: numbers)
            true = draw_inputs(weights, given_states, source)[:, column] > 0
            low, high = np.where(true, middle, low), np.where(true, high, middle)
        probabilities *= np.where(inputs[:, column] > 0, high, 1 - high)
    return probabilities.reshape(len(states), n_inputs)


@given(machines)
@settings(max_examples=20)
def test_inputs_are_drawn_with_their_conditional_probabilities(weights):
    _, states, scores = all_joint_log_weights(weights)
    expected = softmax(scores, axis=0).T
    found = drawn_probabilities(weights, states)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(machines)
@settings(max_examples=20)
def test_a_step_leaves_the_distribution_as_it_is(weights):
    inputs, states, _ = all_joint_log_weights(weights)
    active = hidden_posteriors(inputs @ weights.components.T + weights.hidden_bias)[1]
    of_units = np.where(states[None] == 1, active[:, None], 1 - active[:, None])
    moves = of_units.prod(axis=2) @ drawn_probabilities(weights, states)
    expected = distribution(weights)
    np.testing.assert_allclose(expected @ moves, expected, atol=1e-9)


@pytest.mark.parametrize("coupling", [-1000.0, 1000.0])
def test_huge_weights_that_disagree_are_drawn_without_nan(coupling):
    # Six children force their root one way, six the other: 0 wins, the root is even.
    weights = draw_weights(0, 1, 13).replace(
        components=np.zeros((1, 13)),
        visible_bias=np.r_[0.0, np.full(6, 1e5), np.full(6, -1e5)],
        parents=np.r_[-1, np.zeros(12, dtype=int)],
        couplings=np.r_[0.0, np.full(12, coupling)],
    )
    states = np.zeros((4000, 1))
    signs = draw_inputs(weights, states, np.random.default_rng(0))
    assert (signs[:, 1:] == np.sign(weights.visible_bias[1:])).all()
    # Hoeffding: a mean of 4000 fair signs leaves +-0.09 once in 10 ** 6.
    assert abs(signs[:, 0].mean()) < 0.09


def test_hidden_units_follow_their_probabilities():
    means = np.tile([0.0, 0.2, 1.0], (20000, 1))
    drawn = draw_hidden(means, np.random.default_rng(0)).mean(axis=0)
    # Hoeffding: once in 10 ** 6 a mean of 20000 bits is off by more than 0.02.
    np.testing.assert_allclose(drawn, [0.0, 0.2, 1.0], atol=0.02)
    assert list(drawn[[0, 2]]) == [0.0, 1.0]


def test_chains_started_anywhere_reach_the_distribution():
    weights = draw_weights(3, 3, 4, tree=True, scale=0.5)
    states = gibbs_chain(weights, np.ones((20000, 3)), 30, np.random.default_rng(0))
    _, all_states, scores = all_joint_log_weights(weights)
    expected = softmax(scores.ravel()).reshape(scores.shape).sum(axis=0)
    numbers = np.array([4, 2, 1])
    found = np.bincount((states @ numbers).astype(int), minlength=8) / len(states)
    order = (all_states @ numbers).astype(int)
    # Hoeffding: once in 10 ** 6, for eight states.
    bound = np.sqrt(np.log(2 * 8 / 1e-6) / (2 * 20000))
    assert np.abs(found[order] - expected).max() < bound
