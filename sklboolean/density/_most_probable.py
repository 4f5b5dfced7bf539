"""The jointly most probable completion of rows in which bits are missing.

With the hidden units summed out this is a search among all completions. Few missing
bits are tried one and all; of many, the hidden units' likeliest explanations are the
starts of ascents that flip one bit at a time.
"""

import warnings

import numpy as np

from sklboolean.density._conditionals import (
    complete_at_random,
    complete_by_means,
    known_log_odds,
    log_sums_of_known,
    probabilities_of_missing,
)

ALL_TRIED = 12  # missing bits: 4096 completions
N_DRAWS = 16  # starts besides the means


def _climb(weights, signs, free, max_active):
    """Flip the free bit of greatest gain in each row until none gains."""
    signs, moving = signs.copy(), np.arange(len(signs))
    while len(moving):
        gains = -signs[moving] * known_log_odds(weights, signs[moving], max_active)
        gains[~free[moving]] = 0.0
        best = gains.argmax(axis=1)
        # Rounding must not send a row in circles.
        up = gains[np.arange(len(moving)), best] > 1e-9
        moving, best = moving[up], best[up]
        signs[moving, best] *= -1
    return signs


def most_probable(weights, signs, max_active=None):
    """Return rows with the most probable values of all missing bits together.

    Parameters
    ----------
    weights : Weights
    signs : ndarray of shape (n_samples, n), dtype int8
        0 where a bit is missing.
    max_active : int or None

    Returns
    -------
    signs : ndarray of shape (n_samples, n), dtype int8
        Exact for rows with up to 12 missing bits. Of more, no single bit could be
        changed for the better.

    Warns
    -----
    UserWarning
        If more bits are missing in some row.
    """
    filled, n_missing = signs.copy(), (signs == 0).sum(axis=1)
    for k in np.unique(n_missing[n_missing > 0]):
        rows = np.flatnonzero(n_missing == k)
        free = signs[rows] == 0
        if k <= ALL_TRIED:
            best = probabilities_of_missing(weights, signs[rows], max_active)
            bits = best.argmax(axis=1)[:, None] >> np.arange(k)[::-1] & 1
            filled[rows[:, None], np.nonzero(free)[1].reshape(-1, k)] = 2 * bits - 1
        else:
            filled[rows] = _best_ascent(weights, signs[rows], free, max_active)
    n_inexact = np.count_nonzero(n_missing > ALL_TRIED)
    if n_inexact:
        warnings.warn(
            f"In {n_inexact} rows more than {ALL_TRIED} bits are missing, too many to "
            "compare all completions; a good one is given, perhaps not the most "
            "probable. method='mean' and 'sample' are exact.",
            UserWarning,
            stacklevel=5,
        )
    return filled


def _best_ascent(weights, signs, free, max_active):
    means = complete_by_means(weights, signs, max_active)
    rng = np.random.RandomState(0)  # the same completion each time
    copies = np.tile(signs, (N_DRAWS, 1))
    drawn = complete_at_random(weights, copies, rng, max_active)
    starts = np.concatenate([np.where(means >= 0, 1, -1).astype(np.int8), drawn])
    tops = _climb(weights, starts, np.tile(free, (N_DRAWS + 1, 1)), max_active)
    scores = log_sums_of_known(weights, tops, max_active).reshape(N_DRAWS + 1, -1)
    tops = tops.reshape(N_DRAWS + 1, *signs.shape)
    return tops[scores.argmax(axis=0), np.arange(len(signs))]
