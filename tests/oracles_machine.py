"""Slow twins of the combination machine: sums over all inputs and hidden states."""

from itertools import product

import numpy as np
import oracles_density
from oracles_density import hidden_rows

from sklboolean.density.hidden_states import Weights


def draw_weights(seed, m, n, *, tree=False, scale=1.0):
    """A machine with random weights, and with a random forest."""
    rng = np.random.default_rng(seed)
    parents, couplings = None, None
    if tree:
        # A forest: each column hangs on one that was placed before it, or on none.
        parents, order = np.full(n, -1), rng.permutation(n)
        for place, column in enumerate(order):
            parent = rng.integers(-1, place)
            parents[column] = order[parent] if parent >= 0 else -1
        couplings = np.where(parents < 0, 0.0, scale * rng.normal(size=n))
    return Weights(
        scale * rng.normal(size=(m, n)),
        scale * rng.normal(size=m),
        scale * rng.normal(size=n),
        parents,
        couplings,
    )


def all_inputs(n):
    """All rows of signs; the first bit is the slowest to change."""
    return np.array(list(product([-1, 1], repeat=n)), dtype=np.int8).reshape(-1, n)


def joint_log_weights(weights, max_active=None):
    """Log of the unnormalised p(x, h), an axis for inputs and one for hidden states."""
    m, n = weights.components.shape
    inputs, states = all_inputs(n).astype(float), hidden_rows(m, max_active)
    return inputs, states, oracles_density.joint_log_weights(weights, inputs, states).T


def distribution(weights, max_active=None):
    """Probabilities of all inputs in the order of ``all_inputs``."""
    scores = joint_log_weights(weights, max_active)[2]
    joint = np.exp(scores - scores.max())
    return joint.sum(axis=1) / joint.sum()


def agreeing(signs):
    """Which of all inputs agree with the known bits of a row."""
    inputs = all_inputs(len(signs))
    return ((signs == 0) | (inputs == signs)).all(axis=1)


def conditional(probabilities, signs):
    """The distribution of all inputs given the known bits of a row."""
    kept = np.where(agreeing(signs), probabilities, 0.0)
    return kept / kept.sum()
