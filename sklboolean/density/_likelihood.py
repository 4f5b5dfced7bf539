"""Likelihood of a table under a machine, and its gradient (Freund, 4.10 to 4.15).

The gradient of the mean log-likelihood is the difference of two sets of moments: those
of the inputs with the hidden units that they excite, and those of the machine itself.
"""

from typing import NamedTuple

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.density import _real_inputs as real_inputs
from sklboolean.density._active_sums import log_active_sums
from sklboolean.density._hidden_states import Moments, partition_moments

BLOCK_ROWS = 2048  # activations of a block stay in the cache
MAX_FACTORS = 512  # of at most 2 each: their product is far from overflow


class Table(NamedTuple):
    """Rows of signs, or of real numbers, each distinct row once."""

    signs: np.ndarray  # (n_distinct, n), float64, -1 or 1
    shares: np.ndarray  # (n_distinct,), sum 1
    visible: np.ndarray  # (n,), means of the inputs
    real: bool = False
    log_base: float = 0.0  # the mean of -|x|^2 / 2, for real numbers


def make_table(signs, sample_weight=None):
    """Merge equal rows; what is summed over rows is the same in any order of them.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n), dtype int8 or float64
        -1 or 1; real numbers in float64.
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    table : Table
    """
    real = signs.dtype == np.float64
    # Both zeros are one number.
    words = signs + 0.0 if real else np.packbits(signs > 0, axis=1)
    keys = words.view(np.dtype((np.void, words.itemsize * words.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(inverse.ravel(), sample_weight, len(first))
    # A weight of zero is a row that is not there.
    first, counts = first[counts > 0], counts[counts > 0]
    rows, shares = signs[first].astype(np.float64), counts / counts.sum()
    log_base = float(shares @ real_inputs.log_base(rows)) if real else 0.0
    return Table(rows, shares, shares @ rows, real, log_base)


def edge_means(table, parents):
    """Return the mean product of each input and its parent; 0 at roots."""
    products = np.zeros(len(parents))
    for start in range(0, len(table.signs), BLOCK_ROWS):
        rows = table.signs[start : start + BLOCK_ROWS]
        shares = table.shares[start : start + BLOCK_ROWS]
        products += np.einsum("i,ij,ij->j", shares, rows, rows[:, parents])
    return np.where(parents < 0, 0.0, products)


def hidden_posteriors(activations, max_active=None):
    """Sum out the hidden units, which are independent given the inputs.

    Parameters
    ----------
    activations : ndarray of shape (n_samples, m)
        W x + theta.
    max_active : int or None
        Only states with at most so many active units: then units are not independent.

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
        Log of the product of 1 + exp(activation) in Freund's equation 4.4.
    means : ndarray of shape (n_samples, m)
        Probability that a unit is active: the gradient.
    """
    if max_active is not None and max_active < activations.shape[1]:
        return log_active_sums(activations, max_active)
    small = np.exp(-np.abs(activations))
    factors = 1 + small
    # One logarithm for many units.
    starts = np.arange(0, activations.shape[1], MAX_FACTORS)
    products = np.multiply.reduceat(factors, starts, axis=1)
    log_sums = np.maximum(activations, 0).sum(axis=1) + np.log(products).sum(axis=1)
    return log_sums, np.where(activations >= 0, 1.0, small) / factors


def log_numerators(weights, signs, max_active=None):
    """Return the log of the unnormalised probability of each row without missing bits.

    Parameters
    ----------
    weights : Weights
    signs : ndarray of shape (n_samples, n)
        -1 or 1.
    max_active : int or None

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    log_sums = np.empty(len(signs))
    for start in range(0, len(signs), BLOCK_ROWS):
        rows = signs[start : start + BLOCK_ROWS].astype(np.float64)
        activations = rows @ weights.components.T + weights.hidden_bias
        found = hidden_posteriors(activations, max_active)[0]
        found += rows @ weights.visible_bias
        if weights.parents is not None:
            # A root finds itself as parent; its coupling is 0.
            found += (rows * rows[:, weights.parents]) @ weights.couplings
        log_sums[start : start + BLOCK_ROWS] = found
    return log_sums


def _hidden_moments(weights, table, max_active, n_jobs):
    """Return the means of the log sums over units, of h, and of the products h x."""
    m, n = weights.components.shape
    n_blocks = -(-len(table.signs) // BLOCK_ROWS)
    # Blocks do not depend on the threads, nor does the order in which they are added.
    value, hidden = np.empty(n_blocks), np.empty((n_blocks, m))
    products = np.empty((n_blocks, m, n))

    def look_at(first, last):
        for block in range(first, last):
            here = slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS)
            rows, shares = table.signs[here], table.shares[here]
            activations = rows @ weights.components.T + weights.hidden_bias
            log_sums, means = hidden_posteriors(activations, max_active)
            means *= shares[:, None]
            value[block] = shares @ log_sums
            hidden[block] = means.sum(axis=0)
            products[block] = means.T @ rows

    each_slice(look_at, n_blocks, n_jobs, step=1)
    return value.sum(), hidden.sum(axis=0), products.sum(axis=0)


def mean_log_likelihood(weights, table, edges=None, max_active=None, n_jobs=None):
    """Return the mean log-likelihood of a table, its gradient and log Z.

    Parameters
    ----------
    weights : Weights
    table : Table
    edges : ndarray of shape (n,) or None
        ``edge_means`` of the table, for a tree.
    max_active : int or None
    n_jobs : int or None
        Threads.

    Returns
    -------
    value : float
    gradient : Moments
        By hidden biases, visible biases, components and couplings.
    log_z : float
    """
    value, hidden, products = _hidden_moments(weights, table, max_active, n_jobs)
    sum_states = real_inputs.partition_moments if table.real else partition_moments
    log_z, moments = sum_states(weights, max_active, n_jobs)
    value += weights.visible_bias @ table.visible + table.log_base - log_z
    if edges is not None:
        value += weights.couplings @ edges
    gradient = Moments(
        hidden - moments.hidden,
        table.visible - moments.visible,
        products - moments.products,
        None if edges is None else edges - moments.edges,
    )
    return float(value), gradient, log_z
