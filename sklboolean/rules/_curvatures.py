"""Second derivatives of a loss over columns of bits: rounded, counted once and kept."""

import numpy as np

from sklboolean._core._popcount import count_ones
from sklboolean._core.bits import BitColumns, BitRows, count_common, pack_dense
from sklboolean.rules._bit_columns import add_counts, keep_samples

# Binary digits of a sample's curvature: at least, at most, and what their number times
# the number of words of a column comes to between these. Few samples get more digits.
LEAST_DIGITS, MOST_DIGITS, DIGIT_WORDS = 2, 12, 1024
# Share of the curvatures that may have moved before they are counted again.
MAX_CHANGE = 0.1
# Columns that are counted at a time, and words of samples of these.
BLOCK, WORDS = 128, 2**12


class Curvatures:
    """The matrix of sums of curvatures over the samples that two columns share.

    Curvatures are rounded to whole multiples of a unit. Their running sum stays within
    a half unit of the exact one, so that errors cancel. The matrix is that of weights
    not below 0, which keeps a model of the loss convex. It is kept from step to step:
    only columns that are new are counted.

    Attributes
    ----------
    work : int
        Nanoseconds that a core takes to count: a third of the pairs of columns, times
        words of 64 samples, times digits.
    """

    def __init__(self):
        # Row and column k of the matrix are of the column known[k].
        self.reference, self.matrix, self.work = None, np.zeros((0, 0)), 0
        self.known = np.zeros(0, dtype=np.int64)

    def among(self, columns, active, values, *, renew=False):
        """Return the matrix of some columns.

        Parameters
        ----------
        columns : ndarray of shape (n_columns, n_words), uint64
        active : ndarray of shape (n_active,), int64
        values : ndarray of shape (64 * n_words,), float64
            The curvature of each sample, not below 0.
        renew : bool
            Whether to count again even if the curvatures have hardly moved.

        Returns
        -------
        matrix : ndarray of shape (n_active, n_active)
        """
        if renew or self._is_stale(values):
            self._round(values)
        new = np.setdiff1d(active, self.known)
        if len(new):
            self._make_room(len(new))
            self._count(columns, new)
        order = np.argsort(self.known)
        places = order[np.searchsorted(self.known, active, sorter=order)]
        return self.matrix[places].take(places, axis=1)

    def keep(self, kept):
        """Forget the columns that are not kept, ascending; the others move up."""
        places = np.flatnonzero(np.isin(self.known, kept))
        self.known = np.searchsorted(kept, self.known[places])
        self.matrix = np.ascontiguousarray(self.matrix[np.ix_(places, places)])

    def _is_stale(self, values):
        if self.reference is None:
            return True
        moved = np.abs(values - self.reference).sum()
        return moved > MAX_CHANGE * self.reference.sum()

    def _round(self, values):
        n_digits = DIGIT_WORDS // max(len(values) // 64, 1)
        n_digits = min(max(n_digits, LEAST_DIGITS), MOST_DIGITS)
        unit = values.max() / (2**n_digits - 1.01) or 1.0
        self.digits = np.empty((n_digits, len(values) // 64), dtype=np.uint64)
        total, last = 0.0, 0.0
        for first in range(0, self.digits.shape[1], WORDS):
            part = values[64 * first : 64 * (first + WORDS)]
            sums = np.cumsum(np.r_[total, part])[1:]
            running = np.floor(sums / unit + 0.5)
            multiples = np.diff(running, prepend=last).astype(np.int64)
            digits = multiples >> np.arange(n_digits)[:, None] & 1
            words = pack_dense(digits.astype(np.uint8))
            self.digits[:, first : first + WORDS] = words
            total, last = sums[-1], running[-1]
        self.unit = values.sum() / max(last, 1)
        self.reference = values
        self.known = self.known[:0]

    def _make_room(self, n_new):
        """Set the sums of new columns, behind those that are known, to 0."""
        n_known = len(self.known)
        size = n_known + n_new
        if size > len(self.matrix):
            matrix = np.zeros((max(size, 3 * n_known // 2),) * 2)
            matrix[:n_known, :n_known] = self.matrix[:n_known, :n_known]
            self.matrix = matrix
        self.matrix[n_known:size, :size] = self.matrix[:size, n_known:size] = 0.0

    def _count(self, columns, new):
        n_known = len(self.known)
        self.known = np.r_[self.known, new]
        for first in range(0, columns.shape[1], WORDS):
            part = slice(first, first + WORDS)
            digits = np.ascontiguousarray(self.digits[:, part])
            self._count_part(columns[self.known, part], digits, n_known)
        n_pairs = len(new) * (n_known + len(new) // 2)
        self.work += n_pairs * columns.shape[1] * len(self.digits) // 3

    def _count_part(self, chosen, digits, n_known):
        """Count words of the samples of chosen columns, the first of them known."""
        places, n_samples = np.arange(len(chosen)), np.empty(len(digits), np.int32)
        count_ones(digits, n_samples)
        for place, n in enumerate(n_samples.tolist()):
            packed = np.empty((len(chosen), -(-n // 64)), np.uint64)
            keep_samples(chosen, digits[place], packed)
            rows = BitRows.from_words(packed, n)
            right = BitColumns.from_rows(rows)
            for first in range(n_known, len(chosen), BLOCK):
                last = min(first + BLOCK, len(chosen))
                counts = count_common(
                    rows.take(slice(first, last)), right.part(0, last)
                )
                add_counts(counts, places, first, self.unit * 2**place, self.matrix)
