"""Second derivatives of a loss over columns of bits: rounded, counted once and kept."""

# How a matrix of n coefficients is counted:
# 1. `round` turns the curvature of each sample into a whole multiple of a unit, about
#    2**15 units in all, and writes the multiples as binary digits: of each digit a bit
#    for each sample.
# 2. `among` counts, for each new pair of coefficients and each digit, the samples that
#    satisfy both columns and have the digit: popcounts of ANDs, shifted by the digit.
# 3. Pairs of two outputs of softmax enter with a minus sign, those of one output with
#    a plus sign. So the matrix is that of a sum of squares, and not below 0.
#
# Invariant: `matrix[i, j]`, for i and j below `counted.shape[1]`, holds the count of
# coefficients `counted[:, i]` and `counted[:, j]` for the multiples that were rounded
# last. The time grows with the digits, not with the size of the curvatures.

import numpy as np

from sklboolean._core._popcount import count_ones
from sklboolean._core.bits import BitColumns, BitRows, binary_digits, count_common
from sklboolean._core.parallel import each_slice
from sklboolean.rules._bit_columns import add_counts, add_multiples, keep_samples

# What the multiples of all samples add up to, about. Fewer make a step less exact, and
# it takes no longer with more samples.
MULTIPLES = 2**15
# Columns that are counted at a time, and words of samples of these.
BLOCK, WORDS = 128, 2**12
# Nanoseconds to pack a word of a column, and words of digits, for all pairs of columns,
# up to which nothing is packed.
PACK, FEW = 5, 2**18
# Words to pack, and pairs of columns times words to count, that one thread is done with
# before another has started.
PACKED_FOR_THREADS, PAIRED_FOR_THREADS = 2**13, 2**18


class Curvatures:
    """The matrix of second derivatives by coefficients of columns, for some outputs.

    Each sample has a curvature of the difference of the scores of two outputs, or of
    the score of one, for each of some pairs. Curvatures are rounded to whole multiples
    of a unit. Their running sum stays within a half unit of the exact one, so that
    errors cancel. The matrix is that of weights not below 0, which keeps a model of the
    loss convex. It is kept from step to step: only coefficients that are new are
    counted, each pair of them with the samples of its outputs.

    Parameters
    ----------
    pairs : list of pairs of int
        Two outputs; twice the same for the score of one.
    n_jobs : int or None

    Attributes
    ----------
    work : int
        Nanoseconds that a core takes to count: a third of the pairs of coefficients,
        times words of 64 samples, for each binary digit of the multiples. And to round
        and to pack.
    """

    def __init__(self, pairs, n_jobs=1):
        self.pairs, self.n_jobs, self.reference, self.work = pairs, n_jobs, None, 0
        # Row and column i of the matrix are of the coefficient counted[:, i]: its
        # output and its column.
        self.counted, self.matrix = np.zeros((2, 0), dtype=np.int64), np.zeros((0, 0))

    def among(self, columns, active):
        """Return the matrix of some coefficients, for the curvatures rounded last.

        Parameters
        ----------
        columns : ndarray of shape (n_columns, n_words), uint64
        active : ndarray of shape (2, n_active), int64
            Outputs and columns.

        Returns
        -------
        matrix : ndarray of shape (n_active, n_active)
        """
        outputs = [k for pair in self.pairs for k in pair]
        first = np.array([[min(outputs)], [0]])
        # The row of each coefficient in the matrix.
        row_of = np.full((1 + max(outputs) - min(outputs), len(columns)), -1)
        row_of[tuple(self.counted - first)] = np.arange(self.counted.shape[1])
        rows = row_of[tuple(active - first)]
        is_new = rows < 0
        if is_new.any():
            n_known, n_new = self.counted.shape[1], np.count_nonzero(is_new)
            rows[is_new] = np.arange(n_known, n_known + n_new)
            self._make_room(n_new)
            self._count(columns, active[:, is_new])
        return self.matrix[rows].take(rows, axis=1) * self.unit

    def keep(self, columns):
        """Forget the columns but these, ascending; the others move up."""
        places = np.flatnonzero(np.isin(self.counted[1], columns))
        outputs, old = self.counted[:, places]
        self.counted = np.stack([outputs, np.searchsorted(columns, old)])
        self.matrix = np.ascontiguousarray(self.matrix[np.ix_(places, places)])

    def has_moved(self, values, share):
        """Test whether curvatures are further than this share from those rounded."""
        if self.reference is None:
            return True
        moved = np.abs(values - self.reference).sum()
        return moved > share * self.reference.sum()

    def round(self, values):
        """Write the multiples of each two outputs as binary digits.

        Parameters
        ----------
        values : ndarray of shape (n_pairs, 64 * n_words), float64
            The curvature of each sample, not below 0.
        """
        # Digits for the sum of all pairs of a sample, each rounded up by 1 at most.
        unit, n_words = values.sum() / MULTIPLES or 1.0, values.shape[1] // 64
        n_digits = int(values.sum(axis=0).max() / unit + len(values)).bit_length()
        blocks = {(k, k) for pair in self.pairs for k in pair} | set(self.pairs)
        self.digits = {
            block: np.empty((n_digits, n_words), dtype=np.uint64)
            for block in sorted(blocks)
        }
        total, last = np.zeros((2, len(values), 1))
        for first in range(0, n_words, WORDS):
            block = values[:, 64 * first : 64 * (first + WORDS)]
            sums = np.cumsum(np.hstack([total, block]), axis=1)[:, 1:]
            running = np.floor(sums / unit + 0.5)
            multiples = np.diff(running, prepend=last, axis=1).astype(np.int64)
            total, last = sums[:, -1:], running[:, -1:]
            for (a, b), digits in self.digits.items():
                has_both = [{a, b} <= set(pair) for pair in self.pairs]
                summed = multiples[has_both].sum(axis=0)
                digits[:, first : first + WORDS] = binary_digits(summed, n_digits)
        self.work += 10 * values.shape[1] * len(self.digits)
        self.unit = values.sum() / max(last.sum(), 1)
        self.reference = values
        self.counted = self.counted[:, :0]

    def _make_room(self, n_new):
        """Set the entries of new coefficients, behind those that are known, to 0."""
        n_known = self.counted.shape[1]
        size = n_known + n_new
        if size > len(self.matrix):
            matrix = np.zeros((max(size, 3 * n_known // 2),) * 2)
            matrix[:n_known, :n_known] = self.matrix[:n_known, :n_known]
            self.matrix = matrix
        self.matrix[n_known:size, :size] = self.matrix[:size, n_known:size] = 0.0

    def _count(self, columns, new):
        """Count pairs of coefficients of which one is new."""
        n_known = self.counted.shape[1]
        self.counted = np.hstack([self.counted, new])
        for (a, b), digits in self.digits.items():
            rows, others = (np.flatnonzero(self.counted[0] == k) for k in (a, b))
            old, new = np.split(rows, [np.searchsorted(rows, n_known)])
            if a == b:
                self._count_block(columns, new, others, len(old), digits, 1.0)
            else:
                added = others[np.searchsorted(others, n_known) :]
                for block in ((new, others), (old, added)):
                    self._count_block(columns, *block, len(others), digits, -1.0)

    def _count_block(self, columns, rows, others, first, digits, sign):
        """Count pairs: of row i with the others before place ``first + i + 1``."""
        if not len(rows) or not len(others):
            return
        n_pairs = len(rows) * min(first + len(rows) // 2, len(others))
        # Few pairs: all digits of a pair at a time, from the columns as they are.
        if n_pairs * digits.size < FEW:
            places = np.ascontiguousarray(self.counted[1])
            add_multiples(
                columns, places, rows, others, first, digits, sign, self.matrix
            )
            self.work += n_pairs * digits.size
            return
        # Many: samples without the digit are left out first, which leaves fewer words.
        # Rows of the same output are the last of the others.
        n_apart, row = (len(rows), 0) if first >= len(others) else (0, first)
        chosen = self.counted[1, np.concatenate([rows[:n_apart], others])]
        # The multiples of all samples add up to less than 2**31.
        totals = np.zeros((len(rows), len(others)), dtype=np.int32)
        for start in range(0, columns.shape[1], WORDS):
            for exponent, digit in enumerate(digits[:, start : start + WORDS]):
                kept = keep_true(columns, chosen, start, digit, self.n_jobs)
                rows_of = kept.take(slice(row, row + len(rows)))
                right = BitColumns.from_rows(kept.take(slice(n_apart, None)))

                def count(i, last, rows_of=rows_of, right=right, exponent=exponent):
                    end = min(first + last, len(others))
                    pairs = rows_of.take(slice(i, last)), right.part(0, end)
                    totals[i:last, :end] += count_common(*pairs) << exponent

                small = n_pairs * rows_of.words.shape[1] < PAIRED_FOR_THREADS
                each_slice(count, len(rows), self.n_jobs, small=small, step=BLOCK)
                self.work += n_pairs * rows_of.words.shape[1] // 3
                self.work += PACK * len(chosen) * len(digit)
        add_counts(totals, rows, others, first, sign, self.matrix)


def keep_true(columns, chosen, start, samples, n_jobs=1):
    """Pack the bits of the samples that are marked, as `BitRows`.

    Those of some columns; the marks are of their words from ``start`` on.
    """
    n = np.empty(1, dtype=np.int32)
    count_ones(samples[None, :], n)
    packed = np.empty((len(chosen), -(-int(n[0]) // 64)), dtype=np.uint64)

    def keep(first, last):
        part = chosen[first:last], start, samples, packed[first:last]
        keep_samples(columns, *part)

    small = len(chosen) * len(samples) < PACKED_FOR_THREADS
    each_slice(keep, len(chosen), n_jobs, small=small)
    return BitRows.from_words(packed, int(n[0]))
