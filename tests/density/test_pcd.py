"""Persistent contrastive divergence against exact gradients."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from oracles.density import all_joint_log_weights, draw_weights
from scipy.special import softmax

from sklboolean.density._maximum_likelihood import (
    edge_means,
    make_table,
    mean_log_likelihood,
)
from sklboolean.density._partition_function import partition_moments
from sklboolean.density._pcd import (
    fit_epoch,
    fit_pcd,
    gibbs_step,
    pcd_step,
    sample_moments,
    start_chains,
)

ONCE = 1e-6


def learning(**given):
    settings = {"alpha": 0.0, "momentum": 0.0, "batch_size": 5, "visible_bias": True}
    settings |= {"learning_rate": 0.1, "max_iter": 20, "report": None}
    return SimpleNamespace(**(settings | given))


def exact_states(weights, n_chains, rng):
    _, states, scores = all_joint_log_weights(weights)
    probabilities = softmax(scores.ravel()).reshape(scores.shape).sum(axis=0)
    return states[rng.choice(len(states), size=n_chains, p=probabilities)]


def hoeffding(n_chains, n_means):
    """What a mean of numbers from -1 to 1 is off by once in 1 / ONCE."""
    return np.sqrt(2 * np.log(2 * n_means / ONCE) / n_chains)


def rows_of(seed, n_samples, n):
    return (
        np.random.default_rng(seed).choice([-1, 1], size=(n_samples, n)).astype(np.int8)
    )


@pytest.mark.parametrize("tree", [False, True])
def test_chains_in_equilibrium_have_the_moments_of_the_machine(tree):
    weights, rng = draw_weights(1, 3, 5, tree=tree), np.random.default_rng(0)
    states = exact_states(weights, 40000, rng)
    found, after = gibbs_step(weights, states, rng)
    exact = partition_moments(weights)[1]
    bound = hoeffding(40000, 3 + 5 + 15 + 5 + 3)
    for estimate, moment in zip(found, exact, strict=True):
        if moment is not None:
            assert np.abs(estimate - moment).max() < bound
    # The states they move on to are from the machine again.
    assert np.abs(after.mean(axis=0) - exact.hidden).max() < bound


@pytest.mark.parametrize("tree", [False, True])
def test_step_in_equilibrium_goes_along_the_gradient(tree):
    weights, signs = draw_weights(2, 3, 5, tree=tree), rows_of(0, 30, 5)
    chains = start_chains(weights, signs, True, np.random.RandomState(7), 40000)
    states = exact_states(weights, 40000, np.random.default_rng(0))
    chains = replace(chains, states=states)
    coordinates, alpha = chains.coordinates, 0.3
    shares = np.full(30, 1 / 30)
    options = learning(alpha=alpha)
    found = pcd_step(chains, signs.astype(float), shares, options, 0.5)
    table = make_table(signs)
    edges = edge_means(table, weights.parents) if tree else None
    gradient = mean_log_likelihood(weights, table, edges)[1]
    exact = coordinates.to_gradient(gradient)
    exact -= alpha * coordinates.penalised(chains.vector)
    # In the coordinates, too, all moments are means of numbers from -1 to 1.
    bound = 0.5 * hoeffding(40000, len(exact))
    assert np.abs(found.vector - chains.vector - 0.5 * exact).max() < bound


def test_moments_of_rows_are_those_of_repeated_rows():
    weights, signs = draw_weights(3, 2, 4, tree=True), rows_of(1, 3, 4).astype(float)
    shares, repeated = np.array([0.5, 0.0, 0.5]), signs[[0, 2]]
    once = sample_moments(weights, signs, shares)[0]
    twice = sample_moments(weights, repeated, np.full(2, 0.5))[0]
    for a, b in zip(once, twice, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-15)


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("visible_bias", [False, True])
def test_chunks_of_whole_batches_do_not_matter(tree, visible_bias):
    weights, signs = draw_weights(4, 3, 6, tree=tree), rows_of(2, 33, 6)
    if not visible_bias:
        weights = weights.replace(visible_bias=np.zeros(6))
    settings = learning(momentum=0.5, visible_bias=visible_bias)
    start = start_chains(weights, signs, visible_bias, np.random.RandomState(11), 8)
    sample_weight = np.random.default_rng(0).uniform(size=33)

    def learn(chains, first, last):
        here = slice(first, last)
        return fit_epoch(
            chains, signs[here], sample_weight[here], settings, lambda batch: 0.1
        )

    whole = learn(start, 0, 33)
    parts = learn(start, 0, 10)
    parts = learn(pickle.loads(pickle.dumps(parts)), 10, 25)
    parts = learn(parts, 25, 33)
    for name in ("vector", "velocity", "average", "states", "n_steps", "seed"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
    assert whole.n_steps == 7
    assert np.abs(whole.vector - start.vector).max() > 0


def test_average_is_that_of_the_last_third():
    weights, signs = draw_weights(5, 2, 4), rows_of(3, 600, 4)
    chains = start_chains(weights, signs, True, np.random.RandomState(0), 8)
    settings, vectors = learning(batch_size=1), []
    for row in range(600):
        here = slice(row, row + 1)
        chains = fit_epoch(chains, signs[here], np.ones(1), settings, lambda batch: 0.1)
        vectors.append(chains.vector)
    # The share of step t is that of t (t + 1) ... (t + 6).
    shares = np.prod(np.arange(1, 601)[:, None] + np.arange(7.0), axis=1)
    shares /= shares.sum()
    np.testing.assert_allclose(chains.average, shares @ vectors, rtol=1e-9)
    assert shares[400:].sum() > 0.95


def test_a_weight_of_two_is_a_row_that_is_seen_twice():
    # A batch of one row: the step is twice as long, in the same direction.
    weights, signs = draw_weights(6, 2, 4, tree=True), rows_of(4, 1, 4)
    chains = start_chains(weights, signs, True, np.random.RandomState(0), 8)
    once, twice = (
        fit_epoch(chains, signs, np.array([w]), learning(alpha=0.1), lambda _: 0.1)
        for w in (1.0, 2.0)
    )
    moved = twice.vector - chains.vector
    np.testing.assert_allclose(moved, 2 * (once.vector - chains.vector), atol=1e-14)


def test_the_unit_of_weights_does_not_matter():
    weights, signs = draw_weights(9, 2, 4), rows_of(6, 30, 4)
    given_weights, settings = np.arange(30) % 4, learning(max_iter=3)
    one, two = (
        fit_pcd(
            weights, signs, unit * given_weights, settings, np.random.RandomState(0)
        )
        for unit in (1.0, 2.0)
    )
    np.testing.assert_array_equal(one.vector, two.vector)


def test_epochs_climb_to_the_maximum():
    # Penalised: the maximum is unique up to the order of units and easy to reach.
    signs = np.repeat(np.array([[-1, -1, 1], [1, 1, 1], [1, 1, -1]], np.int8), 40, 0)
    weights = draw_weights(7, 1, 3, scale=0.1)
    settings = learning(alpha=0.1, batch_size=40, max_iter=800)
    rng = np.random.RandomState(0)
    chains = fit_pcd(weights, signs, np.ones(120), settings, rng)
    coordinates, table = chains.coordinates, make_table(signs)
    exact = mean_log_likelihood(chains.params, table)[1]
    slope = coordinates.to_gradient(exact)
    slope -= 0.1 * coordinates.penalised(chains.average)
    # The mean of 500 chains over 800 steps or so, of which one in ten is independent,
    # has a standard error of 1 / 200: four of them.
    assert np.abs(slope).max() < 0.02


def test_steps_that_are_too_long_are_an_error():
    weights, signs = draw_weights(8, 2, 4), rows_of(5, 50, 4)
    chains = start_chains(weights, signs, True, np.random.RandomState(0), 8)
    settings = learning(alpha=1e3, learning_rate=1e3)
    with pytest.raises(ValueError, match=r"learning_rate=1000.0 is too large"):
        fit_epoch(chains, signs, np.ones(50), settings, lambda _: 1e3)
