"""Markov chains over the halfspaces that agree with the labels.

A halfspace is a weight vector w; a row x with sign y is right where ``y w.x > 0``. The
thesis draws w uniformly from the unit ball cut by these constraints (section 3.6.3).
Answers depend on the direction of w only, and the directions of a standard normal w
have the same law: so the radius can be drawn anew at any time, and one population
serves both samplers. With a flip rate eta a hypothesis weighs
``(1 - eta)**n_right * eta**n_wrong``.

Arrays hold one chain in each column.

References
----------
.. [1] Freund, "Data Filtering and Distribution Modeling Algorithms for Machine
   Learning", PhD thesis, UC Santa Cruz, 1993, chapter 3.
.. [2] Gessner, Kanjilal and Hennig, "Integrals over Gaussians under linear domain
   constraints", AISTATS 2020: elliptical slices cut by linear constraints.
"""

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

TINY = 1e-300


def normal_radii(weights, random):
    """Give each direction the radius of a standard normal vector, in place.

    Parameters
    ----------
    weights : ndarray of shape (rank, n_chains)
    random : numpy.random.Generator

    Returns
    -------
    factors : ndarray of shape (n_chains,)
        What the columns were multiplied by.
    """
    return _set_radii(
        weights, np.sqrt(random.chisquare(len(weights), weights.shape[1]))
    )


def ball_radii(weights, random):
    """Give each direction the radius of a uniform point of the unit ball, in place.

    Parameters
    ----------
    weights : ndarray of shape (rank, n_chains)
    random : numpy.random.Generator

    Returns
    -------
    factors : ndarray of shape (n_chains,)
        What the columns were multiplied by.
    """
    return _set_radii(weights, random.random(weights.shape[1]) ** (1 / len(weights)))


def _set_radii(weights, radii):
    factors = radii / np.linalg.norm(weights, axis=0)
    weights *= factors
    return factors


def draw_on_line(breaks, flips, lower, upper, penalty, random):
    """Draw a point of each line whose density is exp(-penalty * number wrong).

    Parameters
    ----------
    breaks : ndarray of shape (n_breaks, n_chains)
        Where a label turns right or wrong, between ``lower`` and ``upper``.
    flips : ndarray of shape (n_breaks, n_chains)
        What crossing a break upwards adds to the number wrong: -1, 0 or 1.
    lower, upper : ndarray of shape (n_chains,)
        Ends of the lines.
    penalty : float >= 0
    random : numpy.random.Generator

    Returns
    -------
    points : ndarray of shape (n_chains,)
    """
    order = np.argsort(breaks, axis=0)
    inner = np.take_along_axis(breaks, order, axis=0)
    edges = np.concatenate([lower[None], inner, upper[None]])
    # How many are wrong at the lower end makes no difference.
    wrong = np.cumsum(np.take_along_axis(flips, order, axis=0), axis=0)
    wrong = np.concatenate([np.zeros_like(lower, dtype=int)[None], wrong])
    lengths = np.diff(edges, axis=0)
    fewest = np.min(wrong, axis=0, where=lengths > 0, initial=len(breaks))
    # Segments of length 0 may have fewer wrong still: they must not overflow.
    mass = lengths * np.exp(-penalty * np.maximum(wrong - fewest, 0))
    total = np.cumsum(mass, axis=0)
    target = random.random(len(lower)) * total[-1]
    segment = np.argmax(total > target, axis=0)
    chains = np.arange(len(lower))
    first, length = edges[segment, chains], lengths[segment, chains]
    return first + length * random.random(len(lower))


def move_on_ellipse(weights, margins, signed_rows, penalty, random):
    """Make one step of elliptical slice sampling without rejections, in place.

    Through w and an independent normal vector v runs an ellipse, w cos t + v sin t; the
    normal law is uniform in t, and each label allows one half of it.

    Parameters
    ----------
    weights : ndarray of shape (rank, n_chains)
        Normal, restricted to the labels.
    margins : ndarray of shape (n_samples, n_chains)
        ``signed_rows @ weights``, kept up to date.
    signed_rows : ndarray of shape (n_samples, rank)
    penalty : float
        ln((1 - eta) / eta): infinite where no label may be wrong.
    random : numpy.random.Generator
    """
    other = random.standard_normal(weights.shape)
    across = signed_rows @ other
    if np.isinf(penalty):
        # Half circles that all hold t = 0 meet in an interval.
        ratios = across / margins
        lower = np.arctan(ratios.max(axis=0, initial=-np.inf)) - np.pi / 2
        upper = np.arctan(ratios.min(axis=0, initial=np.inf)) + np.pi / 2
        angles = lower + (upper - lower) * random.random(len(lower))
    else:
        first = np.arctan2(-margins, across) % np.pi
        rising = np.where(margins < 0, -1, 1)
        lower = np.zeros(weights.shape[1])
        angles = draw_on_line(
            np.concatenate([first, first + np.pi]),
            np.concatenate([rising, -rising]),
            lower, lower + 2 * np.pi, penalty, random,
        )  # fmt: skip
    cosines, sines = np.cos(angles), np.sin(angles)
    _move(weights, margins, cosines, sines, other, across, np.isinf(penalty))


def move_in_ball(weights, margins, signed_rows, penalty, random):
    """Make one step of hit-and-run in the unit ball, in place.

    Parameters
    ----------
    weights : ndarray of shape (rank, n_chains)
        Uniform in the ball, restricted to the labels.
    margins, signed_rows, penalty, random
        As in `move_on_ellipse`.
    """
    other = random.standard_normal(weights.shape)
    other /= np.linalg.norm(other, axis=0)
    across = signed_rows @ other
    middle = -np.einsum("ij,ij->j", weights, other)
    gap = 1.0 - np.einsum("ij,ij->j", weights, weights)
    half = np.sqrt(np.maximum(middle**2 + gap, 0.0))
    lower, upper = middle - half, middle + half
    if np.isinf(penalty):
        ratios = across / margins
        # Rows that bound no side leave the ball's own end.
        lower = np.maximum(lower, -1 / ratios.max(axis=0, initial=TINY))
        upper = np.minimum(upper, -1 / ratios.min(axis=0, initial=-TINY))
        steps = lower + (upper - lower) * random.random(len(lower))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            breaks = -margins / across
        # Rows that are on one side all along the chord turn at its lower end.
        inside = (breaks > lower) & (breaks < upper)
        breaks = np.where(inside, breaks, lower)
        flips = np.where(across > 0, -1, 1)
        steps = draw_on_line(breaks, flips, lower, upper, penalty, random)
    ones = np.ones(len(steps))
    _move(weights, margins, ones, steps, other, across, np.isinf(penalty))


def _move(weights, margins, keep, add, other, across, strict):
    new_margins = keep * margins + add * across
    if strict:
        # A step to the very end of the interval may round to the wrong side: stay.
        stay = np.min(new_margins, axis=0, initial=np.inf) <= 0
        if stay.any():
            keep, add = np.where(stay, 1.0, keep), np.where(stay, 0.0, add)
            new_margins = keep * margins + add * across
    margins[...] = new_margins
    weights *= keep
    weights += add * other


def draw_beyond(bounds, right, random):
    """Draw standard normal numbers above ``-bounds`` where ``right``, else below.

    Parameters
    ----------
    bounds : ndarray of shape (n,)
    right : ndarray of shape (n,), bool
    random : numpy.random.Generator

    Returns
    -------
    numbers : ndarray of shape (n,)
    """
    sides = np.where(right, 1.0, -1.0)
    # 1 - random() lies in (0, 1]: its logarithm is finite.
    log_tail = log_ndtr(sides * bounds) + np.log(1.0 - random.random(len(bounds)))
    return -sides * ndtri_exp(log_tail)


def systematic_indices(weights, random):
    """Draw as many indices as there are weights, each as often as its weight says.

    Index i is drawn floor or ceil of n * weight_i times.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        At least 0, not all 0.
    random : numpy.random.Generator

    Returns
    -------
    indices : ndarray of shape (n,), intp, ascending
    """
    total = np.cumsum(weights)
    points = (random.random() + np.arange(len(weights))) / len(weights) * total[-1]
    indices = np.searchsorted(total, points, side="right")
    # The last point may round up to the total.
    return np.minimum(indices, np.flatnonzero(weights)[-1])
