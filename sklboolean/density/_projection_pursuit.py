"""Hidden units one by one: projection pursuit (Freund, section 4.3.6).

The inputs are taken for real numbers. A hidden unit makes a Gaussian a mixture of
itself and of a copy that is shifted by w. EM finds the unit; the rows that it claims
are shifted back, and what is left is searched for the next one. The time is linear in
the number of units. The weights found are those of units that know nothing of one
another: they give directions, lengths and biases are learned afterwards.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

STARTS = 5  # for a unit: EM finds a local maximum, and not all are worth it
SHORT = 4  # iterations of each start (Freund, section 4.4, needs no more)
LONG = 40  # iterations of the best one
TOL = 1e-5  # nats for a row
NOISE = 0.1  # of the first weights, besides half a row
FEWEST = 5  # rows that a unit must stand for
PATIENCE = 3  # units in a row that explain nothing
FRACTION = 0.2  # of the rows, held out to count units
MAX_COPIES = 2**20  # rows of whole weight that are written out


class Unit(NamedTuple):
    """One hidden unit over real numbers x.

    p(h, x) ~ exp(h (bias + w.x) - |x + shift w|^2 / 2): rows lie around -shift w, and
    around (1 - shift) w if the unit is active. The thesis has shift 0. In centred rows
    shift is E(h): one unit tells two clusters apart, wherever their mean is.
    """

    weights: np.ndarray  # (n,)
    bias: float
    shift: float = 0.0


def rows_of(table, n_samples):
    """Return rows and their weights; a row of whole weight is so many rows.

    Each of equal rows is shifted back by its own coin, and a row of weight 2 counts as
    two rows.

    Parameters
    ----------
    table : Table
    n_samples : float
        Rows that the table stands for.

    Returns
    -------
    rows : ndarray of shape (n, n_features)
    weights : ndarray of shape (n,)
    """
    weights = table.shares * n_samples
    copies = np.rint(weights)
    if n_samples > MAX_COPIES or not np.allclose(weights, copies, rtol=1e-9, atol=0):
        return table.signs, weights
    rows = np.repeat(table.signs, copies.astype(np.int64), axis=0)
    return rows, np.ones(len(rows))


def unit_of(weights, share, centred):
    """Return the unit with given weights and E(h) (equation 4.24)."""
    shift = float(share) if centred else 0.0
    bias = logit(share) - weights @ weights * (0.5 - shift)
    return Unit(weights, float(bias), shift)


def log_gains(rows, unit):
    """Return what a unit adds to the log-density of each row over the Gaussian.

    Without shift the log of (1 + exp(bias + w.x)) / (1 + exp(bias + |w|^2 / 2)),
    equation 4.6 with one unit.
    """
    weights, bias, shift = unit
    projections, square = rows @ weights, weights @ weights
    gains = np.logaddexp(0.0, projections + bias)
    gains -= shift * (projections + shift * square / 2)
    return gains - np.logaddexp(0.0, bias + square * (0.5 - shift))


def em_step(rows, row_weights, unit, centred=False):
    """Return the unit after an iteration of EM (equations 4.23 and 4.24).

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n)
    row_weights : ndarray of shape (n_samples,)
    unit : Unit
    centred : bool, default=False
        The weighted mean of the rows is 0, and the unit shall leave it there.

    Returns
    -------
    unit : Unit
        At least as likely.
    active : float
        E(h) N, the rows that the unit stood for.
    """
    n_samples = row_weights.sum()
    active = row_weights * expit(rows @ unit.weights + unit.bias)
    n_active = active.sum()
    if n_active <= 0:
        return unit, 0.0  # it explains no row at all
    # A unit that is always or never active would have an infinite bias.
    edge = min(0.5 / n_samples, 0.5)
    share = np.clip(n_active / n_samples, edge, 1 - edge)
    shift = share if centred else 0.0
    # Least squares for both centres; the sum of x over the other rows is the negative.
    scale = (1 - shift) ** 2 * n_active + shift**2 * (n_samples - n_active)
    weights = active @ rows / scale
    return unit_of(weights, share, centred), float(n_active)


def _climb(rows, row_weights, unit, n_iter, centred):
    """Return the unit after some iterations, its mean gain and the rows it claims."""
    total, gain, n_active = row_weights.sum(), -np.inf, 0.0
    for _ in range(n_iter):
        unit, n_active = em_step(rows, row_weights, unit, centred)
        before, gain = gain, row_weights @ log_gains(rows, unit) / total
        if gain - before < TOL:
            break
    return unit, gain, n_active


def find_unit(rows, row_weights, rng, centred=False):
    """Return the best unit of several short ascents, and its mean gain in nats.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n)
    row_weights : ndarray of shape (n_samples,)
    rng : RandomState
    centred : bool, default=False

    Returns
    -------
    unit : Unit or None
        None if no unit stands for five rows.
    gain : float
    """
    tries = []
    for row in rng.randint(len(rows), size=STARTS):
        weights = 0.5 * rows[row] + rng.normal(scale=NOISE, size=rows.shape[1])
        start = unit_of(weights, 0.5, centred)
        tries.append(_climb(rows, row_weights, start, SHORT, centred))
    # A unit that stands for a few rows remembers them, however likely it makes them.
    tries = [found for found in tries if found[2] >= FEWEST]
    for found in sorted(tries, key=lambda found: -found[1]):
        unit, gain, n_active = _climb(rows, row_weights, found[0], LONG, centred)
        if n_active >= FEWEST:
            return unit, gain
    return None, 0.0


def remove_structure(rows, unit, rng):
    """Shift rows back that a unit claims, each with the probability that it is active.

    If the rows come from the unit, they then come from the Gaussian alone.
    """
    active = rng.uniform(size=len(rows)) < expit(rows @ unit.weights + unit.bias)
    return rows - (active - unit.shift)[:, None] * unit.weights


def _mean(rows, row_weights, centred):
    return row_weights @ rows / row_weights.sum() if centred else 0.0


def pursue(rows, row_weights, n_components, rng, centred=False):
    """Find hidden units one after the other.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n)
        Real numbers.
    row_weights : ndarray of shape (n_samples,)
    n_components : int
    rng : RandomState
    centred : bool, default=False
        Take the mean of the rows away first: it is what visible biases explain.

    Returns
    -------
    units : list of Unit
        Of the centred rows; fewer than `n_components` if no more are found.
    """
    units, failures = [], 0
    while len(units) < n_components and failures < PATIENCE:
        rows = rows - _mean(rows, row_weights, centred)
        unit, gain = find_unit(rows, row_weights, rng, centred)
        if unit is None or gain <= 0:
            failures += 1
            continue
        units.append(unit)
        rows = remove_structure(rows, unit, rng)
    return units


def count_units(rows, row_weights, most, rng, centred=False):
    """Return the number of hidden units that rows not searched gain from.

    A fifth of the rows is carried through the same removals, and the search ends when
    three units in a row explain nothing of it. The threshold of BIC is far too strict.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n)
    row_weights : ndarray of shape (n_samples,)
    most : int
    rng : RandomState
    centred : bool, default=False

    Returns
    -------
    n_components : int
        From 1 to `most`.
    """
    order = rng.permutation(len(rows))
    apart, here = np.split(order, [round(FRACTION * len(rows))])
    rows_apart, weights_apart = rows[apart], row_weights[apart]
    rows, row_weights = rows[here], row_weights[here]
    useful = searched = 0
    while searched < most and searched - useful < PATIENCE and len(apart):
        mean = _mean(rows, row_weights, centred)
        rows, rows_apart = rows - mean, rows_apart - mean
        unit, _ = find_unit(rows, row_weights, rng, centred)
        searched += 1
        if unit is None:
            continue
        if weights_apart @ log_gains(rows_apart, unit) > 0:
            useful = searched
        rows = remove_structure(rows, unit, rng)
        rows_apart = remove_structure(rows_apart, unit, rng)
    return max(useful, 1)
