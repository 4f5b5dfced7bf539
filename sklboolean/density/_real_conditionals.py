"""Marginals, means and draws of real inputs that are missing, all exact.

Known inputs excite the hidden units, what is missing is a machine of its own, and given
a hidden state missing inputs are normal. Rows that miss the same inputs share its sums.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from sklboolean.density._hidden_states import Weights
from sklboolean.density._likelihood import hidden_posteriors
from sklboolean.density._real_inputs import log_base, pair_energies

TABLE = 2**21  # numbers of a table of rows and hidden states
SAFE = 1e-250


class Group(NamedTuple):
    """Rows that miss the same inputs."""

    rows: np.ndarray  # their numbers
    missing: np.ndarray  # the columns
    weights: Weights  # of the machine of the missing inputs, with mean hidden biases
    biases: np.ndarray  # (n_samples, m), what is added to them in each row
    known: np.ndarray  # (n_samples,), what the known inputs add to the logarithm


def _groups(weights, rows):
    gaps = np.isnan(rows)
    patterns, inverse = np.unique(gaps, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    for number, gap in enumerate(patterns):
        here = np.flatnonzero(inverse == number)
        seen = rows[np.ix_(here, ~gap)]
        biases = weights.hidden_bias + seen @ weights.components[:, ~gap].T
        # Seen from their mean, rows excite the same states about as strongly.
        centre = biases.mean(axis=0)
        machine = weights._replace(
            components=weights.components[:, gap],
            hidden_bias=centre,
            visible_bias=weights.visible_bias[gap],
        )
        known = seen @ weights.visible_bias[~gap] + log_base(seen)
        yield Group(here, np.flatnonzero(gap), machine, biases - centre, known)


def _posteriors(group, max_active):
    """Return the log-sum over the states of each row, and the means of its units."""
    if not len(group.missing):
        activations = group.biases + group.weights.hidden_bias
        return hidden_posteriors(activations, max_active)
    energies = pair_energies(group.weights, max_active)
    left, right = energies.left, energies.right
    logs = energies.logs(0, len(left))
    top = logs.max()
    scaled = np.exp(logs - top)
    log_sums, means = np.empty(len(group.rows)), np.empty_like(group.biases)
    step = max(1, TABLE // (len(left) + len(right)))
    for start in range(0, len(log_sums), step):
        here = slice(start, start + step)
        left_logs, right_logs = _halves(energies, group.biases[here])
        left_top, right_top = left_logs.max(axis=1), right_logs.max(axis=1)
        ours = np.exp(left_logs - left_top[:, None])
        theirs = np.exp(right_logs - right_top[:, None])
        left_shares, right_shares = ours * (theirs @ scaled.T), theirs * (ours @ scaled)
        sums = right_shares.sum(axis=1)
        # Terms below e^-708 of the three maxima are lost: they must not matter.
        safe = sums > SAFE
        divisors = np.where(safe, sums, 1.0)
        log_sums[here] = np.log(divisors) + top + left_top + right_top
        means[here] = (
            np.hstack([right_shares @ right, left_shares @ left]) / divisors[:, None]
        )
        for i in np.flatnonzero(~safe):
            own = logs + left_logs[i][:, None] + right_logs[i]
            highest = own.max()
            shares = np.exp(own - highest)
            total = shares.sum()
            log_sums[start + i] = highest + np.log(total)
            by_unit = shares.sum(axis=0) @ right, shares.sum(axis=1) @ left
            means[start + i] = np.concatenate(by_unit) / total
    return log_sums, means


def _halves(energies, biases):
    """Return what hidden biases add to left and to right states, by row."""
    units = energies.right.shape[1]
    return biases[:, units:] @ energies.left.T, biases[:, :units] @ energies.right.T


def log_sums_of_known(weights, rows, max_active=None, n_jobs=None):
    """Return the log of the integral over all completions of each row.

    Parameters
    ----------
    weights : Weights
    rows : ndarray of shape (n_samples, n), dtype float64
        NaN where an input is missing.
    max_active, n_jobs : int or None

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    """
    log_sums = np.empty(len(rows))
    for group in _groups(weights, rows):
        log_sums[group.rows] = group.known + _posteriors(group, max_active)[0]
    return log_sums


def complete_by_means(weights, rows, max_active=None, n_jobs=None):
    """Return rows with the conditional mean of each missing input."""
    filled = rows.copy()
    for group in _groups(weights, rows):
        hidden, machine = _posteriors(group, max_active)[1], group.weights
        means = machine.visible_bias + hidden @ machine.components
        filled[np.ix_(group.rows, group.missing)] = means
    return filled


def _draw_states(energies, biases, rng):
    """Return a hidden state for each row."""
    logs = energies.logs(0, len(energies.left))
    distinct, which = np.unique(biases, axis=0, return_inverse=True)
    numbers, which = np.empty(len(biases), dtype=np.int64), which.ravel()
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(distinct) + 1))
    left_logs, right_logs = _halves(energies, distinct)
    for i in range(len(distinct)):
        same = order[ends[i] : ends[i + 1]]
        shares = softmax(logs + left_logs[i][:, None] + right_logs[i])
        numbers[same] = rng.choice(shares.size, size=len(same), p=shares.ravel())
    return energies.states(*np.unravel_index(numbers, logs.shape))


def complete_at_random(weights, rows, rng, max_active=None):
    """Return rows with missing inputs drawn from their joint conditional density."""
    filled = rows.copy()
    for group in _groups(weights, rows):
        if not len(group.missing):
            continue
        machine = group.weights
        states = _draw_states(pair_energies(machine, max_active), group.biases, rng)
        means = machine.visible_bias + states @ machine.components
        filled[np.ix_(group.rows, group.missing)] = rng.normal(means)
    return filled
