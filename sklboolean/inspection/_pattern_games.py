"""Shapley values of sums of conjunctions, from counts of patterns.

A conjunction tests some columns. Of a sample it only matters which of these tests it
fails: its pattern. Let a sample x be explained against a sample z, and let A be the
columns whose tests only x passes, B those that only z passes. In the game of Shapley,
the conjunction holds for a coalition S, whose columns are of x, if S contains A and
nothing of B, and no test is failed by both. In the share ``p = 1 / C(a + b, a)`` of all
orders A comes before B, where a and b are the sizes of A and B. A column of A has the
value ``p / a`` and one of B ``-p / b``. So the values of all samples against any number
of others need the patterns of both, and their weights.

The interaction of the columns i and j is the mean, over the coalitions S of the other
columns, of ``f(S + i + j) - f(S + i) - f(S + j) + f(S)``. The weight of S is
``|S|! (n - |S| - 2)! / (n - 1)!``. Of a conjunction this is not 0 for one S alone, A
without i and j. So two columns of A interact by ``(a + b) p / (a (a - 1))``, two of B
by ``(a + b) p / (b (b - 1))``, and one of each by ``-(a + b) p / (a b)``. Half of it
goes to (i, j) and half to (j, i).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import comb

# Rows of patterns are float64 arrays of zeros and ones, so that counts of tests are
# products of matrices. ``gains[i, j]`` is the value of a column of A for pattern i
# against pattern j of the others, ``losses[i, j]`` that of a column of B; the sum over
# the others is a product with their shares. Conjunctions of few columns have few
# patterns: all are tabled once, and a sample looks up its own.

MOST_TABLED = 6  # columns of a conjunction of which all patterns are tabled
MOST_PAIRS = 2**22  # of patterns at once


@dataclass(frozen=True)
class Patterns:
    """The patterns of one conjunction that matter.

    Attributes
    ----------
    rows : ndarray of shape (n_patterns, n_columns), float64
        Ones where a pattern of the explained samples fails the test of a column.
    codes : ndarray of shape (n_samples,), int
        The pattern of each sample.
    other_rows : ndarray of shape (n_other_patterns, n_columns), float64
        Patterns of the samples against which they are explained.
    shares : ndarray of shape (n_other_patterns,)
        Weight of each of those; they add up to 1.
    is_tabled : bool
        All patterns are there, in the order of `tabled_rows`.
    """

    rows: np.ndarray
    codes: np.ndarray
    other_rows: np.ndarray
    shares: np.ndarray
    is_tabled: bool

    @classmethod
    def count(cls, misses, other_misses, weights):
        """Count patterns.

        Parameters
        ----------
        misses : list of n_columns ndarrays of shape (n_samples,), bool
            Which samples fail the test of each column.
        other_misses : list of n_columns ndarrays of shape (n_others,), bool
            The same of the samples against which they are explained.
        weights : ndarray of shape (n_others,) or None
            They add up to 1. None: all are equal.
        """
        n_columns, n_others = len(misses), len(other_misses[0])
        is_tabled = n_columns <= MOST_TABLED
        if is_tabled:
            codes, rows = _pattern_codes(misses), tabled_rows(n_columns)
            same = other_misses is misses
            others = codes if same else _pattern_codes(other_misses)
            other_rows = rows
        else:
            codes, rows = distinct_rows(np.column_stack(misses))
            others, other_rows = distinct_rows(np.column_stack(other_misses))
            rows, other_rows = rows.astype(np.float64), other_rows.astype(np.float64)
        shares = np.bincount(others, weights, minlength=len(other_rows))
        shares = shares / n_others if weights is None else shares
        return cls(rows, codes, other_rows, shares, is_tabled)

    def satisfied_share(self):
        """Compute the share of the others that satisfy the conjunction."""
        return self.shares @ ~self.other_rows.any(axis=1)

    def values(self):
        """Compute the values of the columns for each pattern of the samples.

        Returns
        -------
        values : ndarray of shape (n_patterns, n_columns)
        """
        others, shares = self.other_rows, self.shares
        weighted = others * shares[:, None]
        return np.concatenate(
            [
                # A column of A: the other fails its test. A column of B: the sample
                # does.
                gains @ weighted + rows * (losses @ shares)[:, None]
                for rows, (gains, losses) in self._pairs(pair_values)
            ]
        )

    def interactions(self):
        """Compute the interactions of pairs of columns for each pattern.

        Returns
        -------
        interactions : ndarray of shape (n_patterns, n_pairs)
            Pairs are in the order of ``itertools.combinations``.
        """
        others, shares = self.other_rows, self.shares
        first, second = np.triu_indices(others.shape[1], 1)
        weighted = others * shares[:, None]
        # Others that fail the tests of both columns, with their shares.
        both = weighted[:, first] * others[:, second]
        blocks = []
        for rows, (gains, losses, mixed) in self._pairs(pair_interactions):
            mixed = mixed @ weighted
            # Both columns in A, both in B, and one in each.
            block = gains @ both
            block += rows[:, first] * rows[:, second] * (losses @ shares)[:, None]
            block += mixed[:, first] * rows[:, second]
            block += mixed[:, second] * rows[:, first]
            blocks.append(block)
        return np.concatenate(blocks)

    def _pairs(self, function):
        """Yield some patterns of the samples, and a function of them and the others."""
        if self.is_tabled:
            yield self.rows, tabled_pairs(self.rows.shape[1], function)
            return
        n_at_once = max(1, MOST_PAIRS // len(self.other_rows))
        for start in range(0, len(self.rows), n_at_once):
            rows = self.rows[start : start + n_at_once]
            yield rows, function(rows, self.other_rows)


def pair_orders(rows, other_rows):
    """Compute the share of orders in which each pair of patterns fails no test.

    Returns
    -------
    shares : ndarray of shape (n_patterns, n_other_patterns)
        Of the orders of A and B, those in which A comes first; 0 where both samples
        fail the test of a column.
    sizes, other_sizes : ndarrays that broadcast to this shape
        Of A, the columns that only the first sample passes, and of B.
    """
    # No test is failed by both.
    passes = rows @ other_rows.T == 0
    sizes, other_sizes = other_rows.sum(axis=1), rows.sum(axis=1)[:, None]
    return passes / comb(sizes + other_sizes, sizes), sizes, other_sizes


def pair_values(rows, other_rows):
    """Compute the value of a column for each pair of patterns.

    Returns
    -------
    gains, losses : ndarrays of shape (n_patterns, n_other_patterns)
        Of a column that only the first sample passes, and of one that only the second
        passes. 0 where both fail the test of a column.
    """
    shares, sizes, other_sizes = pair_orders(rows, other_rows)
    return shares / np.maximum(sizes, 1), -shares / np.maximum(other_sizes, 1)


def pair_interactions(rows, other_rows):
    """Compute half of the interaction of two columns for each pair of patterns.

    Returns
    -------
    gains, losses, mixed : ndarrays of shape (n_patterns, n_other_patterns)
        Where only the first sample passes both tests, where only the second passes
        both, and where each passes one. 0 where both fail the test of a column.
    """
    shares, sizes, other_sizes = pair_orders(rows, other_rows)
    halves = shares * (sizes + other_sizes) / 2
    gains = halves / np.maximum(sizes * (sizes - 1), 1)
    losses = halves / np.maximum(other_sizes * (other_sizes - 1), 1)
    return gains, losses, -halves / np.maximum(sizes * other_sizes, 1)


@lru_cache(maxsize=MOST_TABLED + 1)
def tabled_rows(n_columns):
    """List all patterns: bit k of their number is a miss of column k."""
    codes = np.arange(2**n_columns)[:, None]
    return (codes >> np.arange(n_columns) & 1).astype(np.float64)


@lru_cache(maxsize=2 * MOST_TABLED + 2)
def tabled_pairs(n_columns, function):
    """Compute a function of all pairs of `tabled_rows`."""
    return function(tabled_rows(n_columns), tabled_rows(n_columns))


def _pattern_codes(misses):
    """Write the misses of up to 8 columns as the bits of one number."""
    codes = misses[0].view(np.uint8)
    for bit, missed in enumerate(misses[1:], start=1):
        codes = codes | missed.view(np.uint8) << np.uint8(bit)
    return codes


def distinct_rows(bits):
    """Number the distinct rows of a Boolean array.

    Returns
    -------
    codes : ndarray of shape (n_samples,), int
    rows : ndarray of shape (n_distinct, n_columns), bool
        Row ``codes[i]`` of it is row i.
    """
    # Rows as fixed-size binary values: one sort finds the equal ones.
    keys = np.ascontiguousarray(np.packbits(bits, axis=1))
    keys = keys.view(f"V{keys.shape[1]}").ravel()
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    return codes.ravel(), bits[first]
