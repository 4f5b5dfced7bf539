"""The sum over all hidden states of the combination machine, and its gradient.

The machine has inputs x in {-1, +1}^n and hidden units h in {0, 1}^m with
log p*(x, h) = h.(W x + theta) + b.x + sum over tree edges of J_c x_c x_parent(c).
Given h the inputs are independent, or form a forest: 2^m sums are all that is needed.
"""

from itertools import chain, combinations
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sklboolean.density import log_space

__all__ = [
    "Moments",
    "Weights",
    "log_active_sums",
    "log_marginals",
    "log_partition",
    "partition_moments",
    "state_log_weights",
    "work_of",
]

BLOCK = 4096


class Weights(NamedTuple):
    """Weights of a machine with m hidden units and n inputs, float64."""

    components: np.ndarray  # (m, n)
    hidden_bias: np.ndarray  # (m,)
    visible_bias: np.ndarray  # (n,)
    parents: np.ndarray | None = None  # (n,) int64, -1 for the root of a tree
    couplings: np.ndarray | None = None  # (n,), 0 at roots


class Moments(NamedTuple):
    """Expectations under the machine: the gradient of the log of the sum."""

    hidden: np.ndarray  # (m,) E h_i
    visible: np.ndarray  # (n,) E x_j
    products: np.ndarray  # (m, n) E h_i x_j
    edges: np.ndarray | None  # (n,) E x_c x_parent(c), 0 at roots


def _state_blocks(m, max_active):
    """Yield the hidden states as blocks of rows of 0 and 1."""
    if max_active is None or max_active >= m:
        for first in range(0, 2**m, BLOCK):
            codes = np.arange(first, min(first + BLOCK, 2**m), dtype=np.int64)
            yield (codes[:, None] >> np.arange(m) & 1).astype(float)
        return
    active = chain.from_iterable(
        combinations(range(m), k) for k in range(max_active + 1)
    )
    rows = []
    for units in active:
        row = np.zeros(m)
        row[list(units)] = 1
        rows.append(row)
        if len(rows) == BLOCK:
            yield np.array(rows)
            rows = []
    if rows:
        yield np.array(rows)


def log_partition(weights, max_active=None, n_jobs=None):
    """Return the log of the sum over all inputs and hidden states.

    Parameters
    ----------
    weights : Weights
    max_active : int or None
        Only hidden states with at most so many active units.
    n_jobs : int or None
        Threads.
    """
    return logsumexp(
        [
            logsumexp(log_space.log_sums(weights, states)[0])
            for states in _state_blocks(len(weights.hidden_bias), max_active)
        ]
    )


def partition_moments(weights, max_active=None, n_jobs=None):
    """Return the log of the sum over all states, and the moments: its gradient."""
    log_z = log_partition(weights, max_active, n_jobs)
    m, n = weights.components.shape
    hidden, visible, products = np.zeros(m), np.zeros(n), np.zeros((m, n))
    edges = None if weights.parents is None else np.zeros(n)
    for states in _state_blocks(m, max_active):
        log_weights, seen = log_space.log_sums(weights, states)
        shares = np.exp(log_weights - log_z)
        inputs, pairs = log_space.means(weights, seen)
        hidden += shares @ states
        visible += shares @ inputs
        products += (shares[:, None] * states).T @ inputs
        if edges is not None:
            edges += shares @ pairs
    return log_z, Moments(hidden, visible, products, edges)


def state_log_weights(weights):
    """Return the log of the sum over all inputs, for each hidden state.

    Unit i is active in state s where bit i of s is set: ``s >> i & 1``.

    Returns
    -------
    log_weights : ndarray of shape (2**m,)
    """
    blocks = _state_blocks(len(weights.hidden_bias), None)
    return np.concatenate([log_space.log_sums(weights, states)[0] for states in blocks])


def log_marginals(weights, hidden_biases, max_active=None, n_jobs=None):
    """Return the log of the sum over all states, for many vectors of hidden biases.

    Rows with the same missing inputs are one call: ``weights`` holds the missing inputs
    only, and the observed ones are part of the biases.

    Parameters
    ----------
    weights : Weights
        Its own hidden bias is not used.
    hidden_biases : ndarray of shape (n_rows, m)

    Returns
    -------
    log_sums : ndarray of shape (n_rows,)
    """
    free = weights._replace(hidden_bias=np.zeros_like(weights.hidden_bias))
    total = np.full(len(hidden_biases), -np.inf)
    for states in _state_blocks(hidden_biases.shape[1], max_active):
        log_weights = log_space.log_sums(free, states)[0]
        for row, biases in enumerate(hidden_biases):
            total[row] = np.logaddexp(
                total[row], logsumexp(log_weights + states @ biases)
            )
    return total


def log_active_sums(activations, max_active):
    """Return the log of the sum of exp(h.a) over states with few active units.

    The sum is e_0 + ... + e_k, elementary symmetric sums of exp(a).

    Parameters
    ----------
    activations : ndarray of shape (n_rows, m)
    max_active : int

    Returns
    -------
    log_sums : ndarray of shape (n_rows,)
    means : ndarray of shape (n_rows, m)
        The probability that each unit is active: the gradient.
    """
    n_rows, m = activations.shape
    upto = np.full((m + 1, max_active + 1, n_rows), -np.inf)
    upto[:, 0] = 0.0
    for i in range(m):
        upto[i + 1, 1:] = np.logaddexp(upto[i, 1:], upto[i, :-1] + activations[:, i])
    log_sums = logsumexp(upto[m], axis=0)
    # Walk back: rest[k] is the log sum over units after i, at most k of them active.
    rest = np.zeros((max_active + 1, n_rows))
    means = np.empty((n_rows, m))
    for i in range(m - 1, -1, -1):
        if max_active:
            with_i = logsumexp(upto[i, :-1] + rest[-2::-1], axis=0) + activations[:, i]
            means[:, i] = np.exp(with_i - log_sums)
            rest[1:] = np.logaddexp(rest[1:], rest[:-1] + activations[:, i])
        else:
            means[:, i] = 0.0
    return log_sums, means


def work_of(n, m, max_active=None):
    """Return how many multiplications and bytes an exact gradient takes.

    Returns
    -------
    multiplications, n_bytes : int
    """
    if max_active is None or max_active >= m:
        n_states, n_kept = 2 ** min(n, m), 2 ** ((min(n, m) + 1) // 2)
    else:
        n_states = sum(comb(m, k) for k in range(max_active + 1))
        n_kept = sum(comb((m + 1) // 2, k) for k in range(max_active + 1))
    return n_states * max(n, m), 32 * n_kept * max(n, m)
