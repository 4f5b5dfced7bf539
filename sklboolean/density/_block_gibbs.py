"""Block Gibbs draws: all inputs given the hidden units, and all units given the inputs.

Given the units the inputs are independent, or a forest: one pass up and one down draw
them all exactly. Given the inputs the units are independent.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from sklboolean.density._forest import draw_signs
from sklboolean.density._likelihood import hidden_posteriors
from sklboolean.density._log_space import fields, log_sums, topological

LARGEST = 600.0  # log-odds; exp(-600) is a normal number
CELLS_AT_A_TIME = 2**24


class Forest(NamedTuple):
    """The edges between inputs, in the order in which they are drawn."""

    order: np.ndarray  # (n,), parents before their children
    parents: np.ndarray  # (n,), -1 for a root


def forest_of(weights):
    """Return the forest of a machine, or None without a tree."""
    if weights.parents is None:
        return None
    order = topological(weights.parents).astype(np.intp)
    return Forest(order, weights.parents.astype(np.intp))


def draw_inputs(weights, states, rng, forest=None):
    """Draw inputs given hidden states.

    Parameters
    ----------
    weights : Weights
    states : ndarray of shape (n_samples, m)
        0 or 1.
    rng : Generator or RandomState
    forest : Forest or None
        Of the weights, where there are many draws.

    Returns
    -------
    signs : ndarray of shape (n_samples, n), dtype float64
    """
    chances = rng.random((len(states), len(weights.visible_bias)))
    if weights.parents is None:
        return np.where(chances < expit(2 * fields(weights, states)), 1.0, -1.0)
    forest = forest_of(weights) if forest is None else forest
    seen, links = fields(weights, states), 2 * np.abs(weights.couplings)
    # What children may tell their parent, at most.
    child = forest.parents >= 0
    pull = np.bincount(forest.parents[child], links[child], len(links))
    if (2 * np.abs(seen).max(axis=0) + pull).max() > LARGEST:
        return _draw_by_logarithms(weights, states, chances, forest)
    signs, room = np.empty_like(seen), np.empty((2, seen.shape[1]))
    ratios, strengths = np.exp(-2 * np.abs(seen)), np.exp(-links)
    # A part of the rows at a time: an interrupt is seen after it.
    for part in gen_batches(len(seen), max(1, CELLS_AT_A_TIME // seen.shape[1])):
        draw_signs(
            seen[part], ratios[part], chances[part], *forest, weights.couplings,
            strengths, *room, signs[part],
        )  # fmt: skip
    return signs


def _draw_by_logarithms(weights, states, chances, forest):
    """Draw inputs whose odds are beyond what a double holds."""
    seen, signs = log_sums(weights, states)[1], np.empty_like(chances)
    for bit in forest.order:
        field, parent = seen[:, bit], forest.parents[bit]
        if parent >= 0:
            field = field + weights.couplings[bit] * signs[:, parent]
        signs[:, bit] = np.where(chances[:, bit] < expit(2 * field), 1.0, -1.0)
    return signs


def draw_hidden(means, rng):
    """Draw hidden units, 0 or 1, with given probabilities of being active."""
    return (rng.random(means.shape) < means).astype(np.float64)


def mix(weights, states, n_steps, rng):
    """Return hidden states after so many steps of block Gibbs sampling."""
    forest = forest_of(weights)
    for _ in range(n_steps):
        signs = draw_inputs(weights, states, rng, forest)
        activations = signs @ weights.components.T + weights.hidden_bias
        states = draw_hidden(hidden_posteriors(activations)[1], rng)
    return states
