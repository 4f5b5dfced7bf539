"""Block Gibbs draws: all inputs given the hidden units, and all units given the inputs.

Given the units the inputs are independent, or a forest: one pass up and one down draw
them all exactly. Given the inputs the units are independent.
"""

from typing import NamedTuple

import numpy as np

from sklboolean.density._forest import draw_signs
from sklboolean.density.likelihood import hidden_posteriors
from sklboolean.density.log_space import fields, topological

__all__ = ["Forest", "draw_hidden", "draw_inputs", "forest_of", "mix"]


class Forest(NamedTuple):
    """The edges between inputs, in the order in which they are drawn."""

    order: np.ndarray  # (n,), parents before their children
    parents: np.ndarray  # (n,), -1 for a root


def forest_of(weights):
    """Return the forest of a machine; without a tree each input is a root."""
    n = len(weights.visible_bias)
    if weights.parents is None:
        return Forest(np.arange(n, dtype=np.intp), np.full(n, -1, dtype=np.intp))
    order = topological(weights.parents).astype(np.intp)
    return Forest(order, weights.parents.astype(np.intp))


def draw_inputs(weights, states, rng, forest=None):
    """Draw inputs given hidden states.

    Parameters
    ----------
    weights : Weights
    states : ndarray of shape (n_rows, m)
        0 or 1.
    rng : Generator or RandomState
    forest : Forest or None
        Of the weights, where there are many draws.

    Returns
    -------
    signs : ndarray of shape (n_rows, n), dtype float64
    """
    forest = forest_of(weights) if forest is None else forest
    seen = fields(weights, states)
    n = seen.shape[1]
    couplings = np.zeros(n) if weights.couplings is None else weights.couplings
    signs, chances = np.empty_like(seen), rng.random(seen.shape)
    links = np.exp(np.maximum(-2 * np.abs(couplings), -300.0))
    ratios = np.exp(np.maximum(-2 * np.abs(seen), -300.0))
    room = np.empty((2, n))
    draw_signs(seen, ratios, chances, *forest, couplings, links, *room, signs)
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
