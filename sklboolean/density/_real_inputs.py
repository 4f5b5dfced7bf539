"""The machine with real inputs (Freund, section 4.2.2): its sums over hidden states.

log p*(x, h) = h.(W x + theta) + b.x - |x|^2 / 2. Given h the inputs are independent and
normal, with means b + W'h and variances 1. Integrated over x, equation 4.8, a hidden
state has log-weight h.c + h'J h / 2 and a constant, with c = theta + W b and J = W W':
pairs of units are all that is left of the inputs, however many there are.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from sklboolean._core.parallel import each_slice
from sklboolean.density._halves import halve
from sklboolean.density._hidden_states import Moments

BLOCK_STATES = 2**16  # stay in the cache


def log_base(rows):
    """Return -|x|^2 / 2 of each row: what real inputs have and signs have not."""
    return -0.5 * np.einsum("ij,ij->i", rows, rows)


class PairEnergies(NamedTuple):
    """Log-weights of all hidden states, as pairs of one state of each half of them."""

    left: np.ndarray  # (n_left, units of the second half), states
    right: np.ndarray  # (n_right, units of the first half)
    limits: np.ndarray  # (n_left,), a left state goes with so many right states
    left_logs: np.ndarray  # (n_left,), with the constant
    right_logs: np.ndarray  # (n_right,)
    crossed: np.ndarray  # (n_left, units of the first half), fields of left states

    def logs(self, first, last):
        """Return the log-weights of the left states [first, last), by right state."""
        logs = self.crossed[first:last] @ self.right.T
        logs += self.left_logs[first:last, None] + self.right_logs
        n_right = len(self.right)
        if self.limits.min() < n_right:
            logs[np.arange(n_right) >= self.limits[first:last, None]] = -np.inf
        return logs

    def states(self, left, right):
        """Return hidden states by the numbers of their halves."""
        return np.hstack([self.right[right], self.left[left]])

    def blocks(self):
        """Return the ends of blocks of left states."""
        rows = max(1, BLOCK_STATES // len(self.right))
        return [*range(0, len(self.left), rows), len(self.left)]


def pair_energies(weights, max_active=None):
    """Integrate out the inputs of a machine.

    Parameters
    ----------
    weights : Weights
        Without a tree.
    max_active : int or None
        Only hidden states with at most so many active units.

    Returns
    -------
    energies : PairEnergies
    """
    components, hidden_bias, visible_bias = weights[:3]
    m, n = components.shape
    left, right, limits = halve(m, max_active)
    units = right.shape[1]
    biases = hidden_bias + components @ visible_bias
    pairs = components @ components.T
    crossed = left @ pairs[units:, :units]
    left_logs = left @ biases[units:]
    left_logs += ((left @ pairs[units:, units:]) * left).sum(axis=1) / 2
    left_logs += (visible_bias @ visible_bias + n * np.log(2 * np.pi)) / 2
    right_logs = right @ biases[:units]
    right_logs += ((right @ pairs[:units, :units]) * right).sum(axis=1) / 2
    return PairEnergies(left, right, limits, left_logs, right_logs, crossed)


def log_partition(weights, max_active=None, n_jobs=None):
    """Return the log of the integral over all inputs, summed over all hidden states.

    Parameters
    ----------
    weights : Weights
    max_active : int or None
    n_jobs : int or None
        Threads. The result does not depend on it.

    Returns
    -------
    log_z : float
    """
    return partition_moments(weights, max_active, n_jobs)[0]


def partition_moments(weights, max_active=None, n_jobs=None):
    """Return the log of the integral, and its gradient.

    Parameters
    ----------
    weights, max_active, n_jobs
        See `log_partition`.

    Returns
    -------
    log_z : float
    moments : Moments
        E x = b + W' E h and E h x' = E h b' + E hh' W, since E(x | h) = b + W'h.
    """
    energies = pair_energies(weights, max_active)
    left, right, ends = energies.left, energies.right, energies.blocks()
    units, m = right.shape[1], len(weights.hidden_bias)
    sums = np.empty(len(ends) - 1)
    blocks = np.empty((len(sums), m, m))

    def add(first, last):
        for block in range(first, last):
            logs = energies.logs(ends[block], ends[block + 1])
            top = logs.max()
            shares = np.exp(logs - top, out=logs)
            total = shares.sum()
            sums[block] = top + np.log(total)
            ours, seen = left[ends[block] : ends[block + 1]], shares @ right
            # E hh' of the block; its diagonal is E h.
            means = blocks[block]
            means[:units, :units] = (right.T * shares.sum(axis=0)) @ right
            means[units:, units:] = (ours.T * shares.sum(axis=1)) @ ours
            means[units:, :units] = ours.T @ seen
            means[:units, units:] = means[units:, :units].T
            means /= total

    each_slice(add, len(sums), n_jobs, step=1)
    pairs = np.tensordot(softmax(sums), blocks, axes=1)
    hidden = np.diag(pairs).copy()
    components, visible_bias = weights.components, weights.visible_bias
    return float(logsumexp(sums)), Moments(
        hidden,
        visible_bias + hidden @ components,
        np.outer(hidden, visible_bias) + pairs @ components,
        None,
    )
