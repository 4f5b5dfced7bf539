"""Estimates of log Z against sums over all inputs and hidden states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.density import all_joint_log_weights, draw_weights
from scipy.special import logsumexp, softmax

from sklboolean.density._conditionals import draw_inputs
from sklboolean.density._pcd import (
    N_AIS_CHAINS,
    anneal,
    estimate_log_partition,
    log_mean_exp,
    path_to,
)
from sklboolean.density._rbm_params import hidden_posteriors

SIGMAS = 5  # an error beyond it comes once in a million


def exact_log_partition(weights):
    return logsumexp(all_joint_log_weights(weights)[2])


def exact_draws(weights, n_samples, rng):
    """Independent inputs, and the probabilities of the hidden units given them."""
    inputs, _, scores = all_joint_log_weights(weights)
    probabilities = softmax(scores.ravel()).reshape(scores.shape).sum(axis=1)
    signs = inputs[rng.choice(len(inputs), size=n_samples, p=probabilities)]
    means = hidden_posteriors(signs @ weights.components.T + weights.hidden_bias)[1]
    return signs, means


def error_of(log_weights):
    """Standard error of the log of a mean of weights."""
    weights = np.exp(log_weights - log_weights.max())
    return weights.std(ddof=1) / (weights.mean() * np.sqrt(len(weights)))


def path_of(weights, rng):
    return path_to(weights, *exact_draws(weights, 2000, rng))


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=20)
def test_the_line_begins_without_units_and_ends_at_the_machine(seed, tree):
    weights = draw_weights(seed, 3, 4, tree=tree)
    path = path_of(weights, np.random.default_rng(seed))
    expected = exact_log_partition(path.at(0.0))
    assert path.log_first() == pytest.approx(expected, rel=1e-12)
    assert not path.at(0.0).components.any()
    for name, part in vars(weights).items():
        if part is not None:
            np.testing.assert_array_equal(getattr(path.at(1.0), name), part)


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_unbiased_in_both_directions(seed, tree):
    rng, n_chains = np.random.default_rng(seed), 40000
    weights = draw_weights(seed, 3, 4, tree=tree, scale=0.7)
    path, exact = path_of(weights, rng), exact_log_partition(weights)
    betas = np.array([0.0, 0.3, 0.7, 1.0])
    start = draw_inputs(path.first, np.zeros((n_chains, 3)), rng)
    forward = anneal(path, start, betas, rng)
    ratio = log_mean_exp(forward)
    assert abs(path.log_first() + ratio - exact) < SIGMAS * error_of(forward)
    start = exact_draws(weights, n_chains, rng)[0]
    backward = anneal(path, start, betas[::-1], rng)
    ratio = log_mean_exp(backward)
    assert abs(path.log_first() - ratio - exact) < SIGMAS * error_of(backward)
    # Jensen: the mean of the logarithms is too low, on the way back too high.
    assert (
        forward.mean() + path.log_first() < exact < path.log_first() - backward.mean()
    )


def test_mean_of_large_exponentials():
    values = np.log([1.0, 2.0, 4.0, 5.0])
    assert log_mean_exp(values + 1000) == pytest.approx(1000 + np.log(3))


@pytest.mark.parametrize("tree", [False, True])
def test_estimates_agree_with_the_sum(tree):
    weights = draw_weights(5, 6, 8, tree=tree, scale=0.5)
    exact, states = exact_log_partition(weights), np.zeros((3, 6))
    found = estimate_log_partition(weights, states, 0, n_temperatures=100)
    # The errors of as many chains along a path to the same machine.
    rng, betas = np.random.default_rng(1), np.linspace(0.0, 1.0, 101)
    path = path_of(weights, rng)
    first = draw_inputs(path.first, np.zeros((N_AIS_CHAINS, 6)), rng)
    last = exact_draws(weights, N_AIS_CHAINS, rng)[0]
    forward = error_of(anneal(path, first, betas, rng))
    reverse = error_of(anneal(path, last, betas[::-1], rng))
    assert max(forward, reverse) < 0.05
    assert abs(found[0] - exact) < SIGMAS * forward
    assert abs(found[1] - exact) < SIGMAS * reverse
    again = estimate_log_partition(weights, states, 0, n_temperatures=100)
    assert again == found
