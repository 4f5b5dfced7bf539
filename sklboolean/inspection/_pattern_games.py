"""Shapley values of sums of conjunctions, from counts of patterns.

A conjunction tests some columns. Of a sample it only matters which of these tests it
fails: its pattern. Let a sample x be explained against a sample z, and let A be the
columns whose tests only x passes, B those that only z passes. In the game of Shapley,
the conjunction holds for a coalition S, whose columns are of x, if S contains A and
nothing of B, and no test is failed by both. A column of A then has the value
``1 / (a C(a + b, a))`` and one of B ``-1 / (b C(a + b, a))``, where a and b are the
sizes of A and B. So the values of all samples against any number of others need the
patterns of both, and their weights.
"""

from functools import lru_cache

import numpy as np
from scipy.special import comb

MOST_TABLED = 6  # columns of a conjunction of which all patterns are tabled
MOST_PAIRS = 2**22  # of patterns at once
WIDEST = 2**16  # codes are renumbered before they exceed it


def pair_values(misses, other_misses):
    """Compute the value of a column for each pair of patterns.

    Parameters
    ----------
    misses : ndarray of shape (n_patterns, n_columns), float64
        Ones where a pattern of the explained samples fails the test of a column.
    other_misses : ndarray of shape (n_other_patterns, n_columns), float64
        The same of the samples against which they are explained.

    Returns
    -------
    gains, losses : ndarrays of shape (n_patterns, n_other_patterns)
        Of a column that only the first sample passes, and of one that only the second
        passes. 0 where both fail the test of a column.
    """
    passes = misses @ other_misses.T == 0
    only_first = np.broadcast_to(other_misses.sum(axis=1), passes.shape)
    only_second = np.broadcast_to(misses.sum(axis=1)[:, None], passes.shape)
    shares = passes / comb(only_first + only_second, only_first)
    return shares / np.maximum(only_first, 1), -shares / np.maximum(only_second, 1)


@lru_cache(maxsize=MOST_TABLED + 1)
def tabled_values(n_columns):
    """Compute `pair_values` of all patterns: bit k of a code is a miss of column k."""
    codes = np.arange(2**n_columns)[:, None]
    misses = (codes >> np.arange(n_columns) & 1).astype(np.float64)
    return misses, *pair_values(misses, misses)


def values_by_pattern(misses, gains, losses, other_misses, shares):
    """Compute the values of the columns for each pattern: (n_patterns, n_columns)."""
    first = gains @ (other_misses * shares[:, None])
    return first + misses * (losses @ shares)[:, None]


def conjunction_values(misses, other_misses, weights):
    """Compute the Shapley values of one conjunction.

    Parameters
    ----------
    misses : list of n_columns ndarrays of shape (n_samples,), bool
        Which samples fail the test of each column.
    other_misses : list of n_columns ndarrays of shape (n_others,), bool
        The same of the samples against which they are explained.
    weights : ndarray of shape (n_others,) or None
        They add up to 1. None: all are equal.

    Returns
    -------
    values : ndarray of shape (n_patterns, n_columns)
    codes : ndarray of shape (n_samples,), int
        The pattern of each sample.
    mean : float
        Share of the others that satisfy the conjunction.
    """
    n_columns, n_others = len(misses), len(other_misses[0])
    if n_columns <= MOST_TABLED:
        codes = _pattern_codes(misses)
        others = codes if other_misses is misses else _pattern_codes(other_misses)
        shares = np.bincount(others, weights, minlength=2**n_columns)
        shares = shares / n_others if weights is None else shares
        rows, gains, losses = tabled_values(n_columns)
        values = values_by_pattern(rows, gains, losses, rows, shares)
        return values, codes, shares[0]
    codes, rows = distinct_rows(np.column_stack(misses))
    others, other_rows = distinct_rows(np.column_stack(other_misses))
    rows, other_rows = rows.astype(np.float64), other_rows.astype(np.float64)
    shares = np.bincount(others, weights, minlength=len(other_rows))
    shares = shares / n_others if weights is None else shares
    n_at_once = max(1, MOST_PAIRS // len(other_rows))
    parts = [rows[k : k + n_at_once] for k in range(0, len(rows), n_at_once)]
    values = [
        values_by_pattern(part, *pair_values(part, other_rows), other_rows, shares)
        for part in parts
    ]
    return np.concatenate(values), codes, shares @ (other_rows.sum(axis=1) == 0)


def _pattern_codes(misses):
    """Write the misses of up to 8 columns as the bits of one number."""
    codes = misses[0].view(np.uint8)
    for place, missed in enumerate(misses[1:], start=1):
        codes = codes | missed.view(np.uint8) << np.uint8(place)
    return codes


def distinct_rows(bits):
    """Number the distinct rows of a Boolean array.

    Returns
    -------
    codes : ndarray of shape (n_samples,), int
    rows : ndarray of shape (n_distinct, n_columns), bool
        Row ``codes[i]`` of it is row i.
    """
    codes, n_codes = np.zeros(len(bits), dtype=np.int64), 1
    for column in bits.T:
        codes = 2 * codes + column
        n_codes *= 2
        if n_codes > WIDEST:
            codes, n_codes = _renumber(codes, n_codes)
    codes, n_codes = _renumber(codes, n_codes)
    places = np.empty(n_codes, dtype=np.intp)
    places[codes] = np.arange(len(bits))
    return codes, bits[places]


def _renumber(codes, n_codes):
    """Number the codes that occur, without gaps."""
    occurs = np.zeros(n_codes, dtype=bool)
    occurs[codes] = True
    numbers = np.cumsum(occurs) - 1
    return numbers[codes], int(numbers[-1]) + 1
