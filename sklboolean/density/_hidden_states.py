"""The sum over all hidden states of the combination machine, and its gradient.

The machine has inputs x in {-1, +1}^n and hidden units h in {0, 1}^m with
log p*(x, h) = h.(W x + theta) + b.x + sum over tree edges of J_c x_c x_parent(c).
Given h the inputs are independent, or form a forest: 2^m sums are all that is needed.
"""

from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sklboolean._core.parallel import each_slice
from sklboolean.density import _log_space as log_space
from sklboolean.density._halves import (
    SLABS,
    build_tables,
    halve,
    log_weights,
    ordinary,
    sum_tables,
    unit_states,
)

TABLE = 1 << 22  # states whose log weights are kept at once
SAFE = 1e-250
BYTES_KEPT = 2 * 16 + 8 + 8 * SLABS  # two tables, left means, right means of slabs


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


def _exchanged(weights):
    """Return the machine whose hidden units are our inputs, and a constant.

    With x = 2u - 1 the sum over h of one unit is e^a 2cosh(a), a half its activation:
    inputs that are summed over become hidden units, and units become columns. Means of
    columns are 2 P(h_i = 1) - 1.
    """
    components, hidden_bias, visible_bias = weights[:3]
    columns = (hidden_bias - components.sum(1)) / 2
    exchanged = Weights(components.T, 2 * visible_bias + components.sum(0), columns)
    return exchanged, columns.sum() - visible_bias.sum()


def _inputs_are_fewer(weights, max_active):
    m, n = weights.components.shape
    return n < m and weights.parents is None and (max_active is None or max_active >= m)


def _tables(weights, max_active=None):
    """Return the two halves of the states and their tables, None if out of range."""
    components, hidden_bias, visible_bias, parents, couplings = weights
    left, right, limits = halve(len(hidden_bias), max_active)
    units = right.shape[1]
    left_fields = left @ components[units:] + visible_bias / 2
    right_fields = right @ components[:units] + visible_bias / 2
    if not ordinary(left_fields, right_fields, hidden_bias, parents, couplings):
        return left, right, limits, None
    tables = build_tables(
        (left_fields, left @ hidden_bias[units:]),
        (right_fields, right @ hidden_bias[:units]),
        limits,
        parents,
        couplings,
    )
    return left, right, limits, tables


def _blocks(left, right, limits, size=4096):
    """Yield the states as blocks of rows, left state by left state."""
    rows = max(1, size // len(right))
    for first in range(0, len(left), rows):
        chosen = range(first, min(first + rows, len(left)))
        yield np.vstack(
            [
                np.hstack([right[: limits[i]], np.tile(left[i], (limits[i], 1))])
                for i in chosen
            ]
        )


def log_partition(weights, max_active=None, n_jobs=None):
    """Return the log of the sum over all inputs and hidden states.

    Parameters
    ----------
    weights : Weights
    max_active : int or None
        Only hidden states with at most so many active units.
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    log_z : float
    """
    if _inputs_are_fewer(weights, max_active):
        exchanged, constant = _exchanged(weights)
        return log_partition(exchanged, n_jobs=n_jobs) + float(constant)
    *states, tables = _tables(weights, max_active)
    if tables is not None:
        return sum_tables(tables, gradient=False, n_jobs=n_jobs)
    parts = [
        logsumexp(log_space.log_sums(weights, block)[0]) for block in _blocks(*states)
    ]
    return float(logsumexp(parts))


def partition_moments(weights, max_active=None, n_jobs=None):
    """Return the log of the sum over all states, and its gradient.

    Parameters
    ----------
    weights, max_active, n_jobs
        See `log_partition`.

    Returns
    -------
    log_z : float
    moments : Moments
    """
    if _inputs_are_fewer(weights, max_active):
        exchanged, constant = _exchanged(weights)
        log_z, moments = partition_moments(exchanged, n_jobs=n_jobs)
        visible = 2 * moments.hidden - 1
        products = (visible - moments.visible[:, None]) / 2 + moments.products.T
        hidden = (1 + moments.visible) / 2
        return log_z + float(constant), Moments(hidden, visible, products, None)
    left, right, limits, tables = _tables(weights, max_active)
    if tables is None:
        return _moments_by_logs(weights, left, right, limits)
    log_z, (left_shares, left_means), right_sums, edges = sum_tables(
        tables, n_jobs=n_jobs
    )
    right_shares, right_means = (part[: len(right)] for part in right_sums)
    hidden = np.concatenate([right_shares @ right, left_shares @ left])
    products = np.vstack([right.T @ right_means, left.T @ left_means])
    edges = None if weights.parents is None else edges
    return log_z, Moments(hidden, left_means.sum(0), products, edges)


def _moments_by_logs(weights, left, right, limits):
    m, n = weights.components.shape
    blocks = [left, right, limits]
    sums = (
        logsumexp(log_space.log_sums(weights, part)[0]) for part in _blocks(*blocks)
    )
    log_z = float(logsumexp(list(sums)))
    hidden, visible, products = np.zeros(m), np.zeros(n), np.zeros((m, n))
    edges = None if weights.parents is None else np.zeros(n)
    for states in _blocks(*blocks):
        log_weights, seen = log_space.log_sums(weights, states)
        shares = np.exp(log_weights - log_z)
        inputs, pairs = log_space.means(weights, seen)
        hidden += shares @ states
        visible += shares @ inputs
        products += (shares[:, None] * states).T @ inputs
        if edges is not None:
            edges += shares @ pairs
    return log_z, Moments(hidden, visible, products, edges)


def _half_log_weights(weights, states, tables, first, last):
    """Return log weights of left states [first, last) beside all right states."""
    left, right, limits = states
    if tables is not None:
        return log_weights(tables, first, last, len(right))
    logs = np.full((last - first, len(right)), -np.inf)
    logs[np.arange(len(right)) < limits[first:last, None]] = np.concatenate(
        [
            log_space.log_sums(weights, block)[0]
            for block in _blocks(left[first:last], right, limits[first:last])
        ]
    )
    return logs


def state_log_weights(weights):
    """Return the log of the sum over all inputs, for each hidden state.

    Unit i is active in state s where bit i of s is set: ``s >> i & 1``.

    Parameters
    ----------
    weights : Weights

    Returns
    -------
    log_weights : ndarray of shape (2**m,)
    """
    *states, tables = _tables(weights)
    return _half_log_weights(weights, states, tables, 0, len(states[0])).reshape(-1)


def log_marginals(weights, hidden_biases, max_active=None, n_jobs=None):
    """Return the log of the sum over all states, for many vectors of hidden biases.

    Rows with the same missing inputs are one call: ``weights`` holds the missing inputs
    only, and the observed ones are part of the biases.

    Parameters
    ----------
    weights : Weights
        Its own hidden bias is not used.
    hidden_biases : ndarray of shape (n_samples, m)
    max_active, n_jobs
        See `log_partition`.

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    m, n = weights.components.shape
    n_samples = len(hidden_biases)
    if not n_samples:
        return np.empty(0)
    everything = max_active is None or max_active >= m
    if everything and 2**n * m * n_samples <= 2**m * (n + n_samples):
        return _marginals_by_inputs(weights, hidden_biases, n_jobs)
    weights = weights._replace(hidden_bias=np.zeros(m))
    *states, tables = _tables(weights, max_active)
    left, right, _ = states
    units, rows = right.shape[1], max(1, TABLE // len(right))
    log_sums = np.full(n_samples, -np.inf)
    for first in range(0, len(left), rows):
        last = min(first + rows, len(left))
        logs = _half_log_weights(weights, states, tables, first, last)
        top = logs.max()
        scaled = np.exp(logs - top)

        def add(begin, end, first=first, logs=logs, top=top, scaled=scaled):
            biases, here = hidden_biases[begin:end], slice(begin, end)
            ours = biases[:, units:] @ left[first : first + rows].T
            theirs = biases[:, :units] @ right.T
            ours_top, theirs_top = ours.max(1), theirs.max(1)
            sums = np.exp(ours - ours_top[:, None]) @ scaled
            sums = (sums * np.exp(theirs - theirs_top[:, None])).sum(1)
            # Terms below e^-708 of the three maxima are lost: they must not matter.
            safe = sums > SAFE
            part = np.log(np.where(safe, sums, 1.0)) + top + ours_top + theirs_top
            for i in np.flatnonzero(~safe):
                part[i] = logsumexp(logs + ours[i][:, None] + theirs[i])
            log_sums[here] = np.logaddexp(log_sums[here], part)

        small = n_samples < 1024
        each_slice(add, n_samples, n_jobs, multiple=256, small=small, step=256)
    return log_sums


def _marginals_by_inputs(weights, hidden_biases, n_jobs):
    """The same where few inputs are missing: rows and inputs are the two halves."""
    exchanged, _ = _exchanged(weights._replace(hidden_bias=hidden_biases[0]))
    n_samples, m = hidden_biases.shape
    states = unit_states(len(weights.visible_bias))
    right_logs = states @ exchanged.hidden_bias - weights.visible_bias.sum()
    if weights.parents is not None:
        signs = 2 * states - 1
        right_logs += (signs * signs[:, weights.parents]) @ np.where(
            weights.parents < 0, 0.0, weights.couplings
        )
    right_fields = states @ exchanged.components
    fields = (hidden_biases - weights.components.sum(1)) / 2
    compiled = ordinary(fields, right_fields, right_logs)
    rows = max(1, TABLE // max(len(states), 1 if compiled else len(states) * m))
    log_sums = np.empty(n_samples)

    def fill(begin, end):
        ours = fields[begin:end]
        logs = ours.sum(1)
        if compiled:
            limits = np.full(len(ours), len(states), dtype=np.int64)
            tables = build_tables((ours, logs), (right_fields, right_logs), limits)
            logs = log_weights(tables, 0, len(ours), len(states))
        else:
            columns = log_space.log_cosh2(ours[:, None] + right_fields).sum(2)
            logs = logs[:, None] + right_logs + columns
        log_sums[begin:end] = logsumexp(logs, axis=1)

    small = n_samples * len(states) * m < 1 << 22
    each_slice(fill, n_samples, n_jobs, small=small, step=rows)
    return log_sums


def work_of(n, m, max_active=None, tree=False):
    """Return how many multiplications and bytes an exact gradient takes.

    Parameters
    ----------
    n, m : int
        Inputs and hidden units.
    max_active : int or None
    tree : bool
        Inputs form a tree: hidden states are enumerated even where inputs are fewer.

    Returns
    -------
    multiplications, n_bytes : int
    """
    if max_active is not None and max_active < m:
        n_states = sum(comb(m, k) for k in range(max_active + 1))
        n_kept = sum(comb((m + 1) // 2, k) for k in range(max_active + 1))
        return n_states * n, BYTES_KEPT * n_kept * n
    units, columns = (m, n) if tree or m <= n else (n, m)
    return 2**units * columns, BYTES_KEPT * 2 ** ((units + 1) // 2) * columns
