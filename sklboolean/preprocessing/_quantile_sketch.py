"""Distinct numbers with their counts, from batches; beyond a size a sample of them."""

# Cuts at quantiles of all samples are found exactly in three passes over partitions:
#
# 1. Sketches of the partitions give about ``LIMIT`` numbers that divide the samples.
# 2. `Cells` between them: every partition counts the samples of each.
# 3. Ranks at the ends of the cells are exact now, so it is known in which cells the
#    quantiles and their neighbours are. These are open: their numbers are listed.
#    Others need only counts. Two cells in ``LIMIT`` are open for each quantile.
#
# Invariant: ends of cells are numbers of samples, so a quantile, the numbers beside it
# and the counts of all samples up to them are those of all samples in one place.

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# Most values of one weight. The error is about log2(n / LIMIT) / LIMIT of n samples.
# A sketch of samples has values of about ``N_WEIGHTS`` weights, and so many exact ones
# take no more room.
LIMIT, N_WEIGHTS = 8192, 4


class Cells(NamedTuple):
    """Consecutive intervals of numbers, each with its upper end.

    Parameters
    ----------
    ends : ndarray of shape (n_cells,)
        Ascending, up to infinity or the largest integer.
    are_open : ndarray of shape (n_cells,), dtype bool
        The cells of which all numbers are listed. The others have one number, their
        end, for all their samples.
    are_last : bool
        Whether no further pass follows, so labels are counted, too.
    """

    ends: np.ndarray
    are_open: np.ndarray
    are_last: bool

    @classmethod
    def between(cls, numbers):
        """Make about ``LIMIT`` closed cells that end at some of ascending numbers."""
        ends = _to_the_top(numbers[:: max(1, len(numbers) // LIMIT)])
        are_open = np.zeros(len(ends), dtype=bool)
        are_open[[0, -1]] = True
        return cls(ends, are_open, False)

    @classmethod
    def at_quantiles(cls, sketch, n_intervals):
        """Open the cells around the quantiles, and at both ends.

        Parameters
        ----------
        sketch : QuantileSketch
            Sketch of the numbers that `placed` returns for the cells of `between`.
        n_intervals : int
        """
        n_at_most = np.cumsum(sketch.counts)
        quantiles = np.arange(1, n_intervals) * (n_at_most[-1] / n_intervals)
        cells = np.searchsorted(n_at_most[:-1], quantiles).clip(1, len(n_at_most) - 2)
        ends = _to_the_top(sketch.values)
        are_open = np.zeros(len(ends), dtype=bool)
        # A quantile may be the end of its cell, and is cut from the number above then.
        are_open[cells], are_open[cells + 1], are_open[[0, -2, -1]] = True, True, True
        # Closed cells side by side become one; some stay, as there must be more numbers
        # than intervals.
        is_end = are_open | np.append(are_open[1:], True)
        is_end[:: max(1, len(ends) // (2 * n_intervals))] = True
        return cls(ends[is_end], are_open[is_end], True)

    def placed(self, numbers):
        """Replace the numbers of closed cells by the ends of the cells."""
        numbers = numbers.astype(self.ends.dtype, copy=False)
        cells = np.searchsorted(self.ends, numbers)
        return np.where(self.are_open[cells], numbers, self.ends[cells])


@dataclass(frozen=True)
class QuantileSketch:
    """Ascending distinct numbers, each with the number of samples that it stands for.

    Sketches of batches are merged in any order. Columns of up to ``N_WEIGHTS * LIMIT``
    distinct numbers stay exact, and so does a single batch. Otherwise numbers of equal
    weight are paired with their neighbours, and one of each pair takes the weight of
    both.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Ascending.
    counts : ndarray of shape (n_values,), dtype float64
        Sum of the weights of the samples of each value.
    error : float
        The number of samples at most t is known for every t up to this error.
    n_rounds : int
        How often values were paired.
    is_complete : bool
        Whether values are never paired, as those of `Cells`.

    References
    ----------
    Manku, Rajagopalan, Lindsay. "Approximate Medians and other Quantiles in One Pass
    and with Limited Memory". SIGMOD 1998: the collapse of buffers of equal weight.
    """

    values: np.ndarray
    counts: np.ndarray
    error: float = 0.0
    n_rounds: int = 0
    is_complete: bool = False

    def __getstate__(self):
        # Counts of samples are sent in few bytes.
        most = int(self.counts.max(initial=0))
        small = self.counts.astype(np.min_scalar_type(min(most, 2**32)))
        is_same = np.array_equal(small, self.counts)
        return vars(self) | {"counts": small if is_same else self.counts}

    def __setstate__(self, state):
        vars(self).update(state, counts=state["counts"].astype(np.float64, copy=False))

    @classmethod
    def of(cls, numbers, weights, samples=(slice(None),), cells=None):
        """Sum up the weights, above 0, of distinct numbers of some of the samples.

        Parameters
        ----------
        numbers, weights : ndarray of shape (n_samples,)
        samples : sequence of slice or ndarray of bool
        cells : Cells or None
            None: all numbers are kept.

        Returns
        -------
        sketches : list of QuantileSketch
        """
        numbers = numbers if cells is None else cells.placed(numbers)
        # All are sorted once.
        values, index = np.unique(numbers, return_inverse=True)
        sketches = []
        for chosen in samples:
            counts = np.bincount(index[chosen], weights[chosen], minlength=len(values))
            has_any = counts > 0
            of_chosen = values[has_any], counts[has_any]
            sketches.append(cls(*of_chosen, is_complete=cells is not None))
        return sketches

    def n_at_most(self, bounds):
        """Count the samples at most each of several numbers."""
        ends = np.append(0.0, np.cumsum(self.counts))
        return ends[np.searchsorted(self.values, bounds, side="right")]

    def merge(self, other):
        """Sum two sketches; None where no type of arrays tells their numbers apart."""
        first, second = self.compressed(), other.compressed()
        both = with_one_type(first.values, second.values)
        if both is None:
            return None
        both = np.concatenate(both)
        values, index = np.unique(both, return_inverse=True)
        of_both = np.concatenate([first.counts, second.counts])
        counts = np.bincount(index, of_both, minlength=len(values))
        n_rounds = first.n_rounds + second.n_rounds
        error, is_complete = first.error + second.error, first.is_complete
        return QuantileSketch(values, counts, error, n_rounds, is_complete)

    @property
    def is_large(self):
        """Whether only a sample of the numbers is kept, or is sent."""
        return self.error > 0 or len(self.values) > N_WEIGHTS * LIMIT

    def compressed(self):
        """Pair the values of each weight that more than ``LIMIT`` values have.

        Up to ``N_WEIGHTS * LIMIT`` values are kept as they are.

        Each power of 2 in a count is a weight. A pair hands over one weight, so no
        number of samples at most t changes by more: the pairs do not overlap.
        """
        # A count is a sum of powers of 2, and the values that have one power form a
        # buffer of that weight. Pairs hand their weight to the next power, so each
        # value goes through all.
        values, counts = self.values, self.counts.copy()
        error, n_rounds, weight = self.error, self.n_rounds, 1.0
        if self.is_complete or len(values) <= N_WEIGHTS * LIMIT:
            return self
        while (counts % weight).any():  # weights that are no whole numbers
            weight /= 2
        while weight <= counts.max():
            holders = np.flatnonzero(counts // weight % 2)
            if len(holders) > LIMIT:
                pairs = holders[: len(holders) // 2 * 2].reshape(-1, 2)
                counts[pairs[:, n_rounds % 2]] += weight
                counts[pairs[:, 1 - n_rounds % 2]] -= weight
                error, n_rounds = error + weight, n_rounds + 1
            weight *= 2
        is_left = counts > 0
        return QuantileSketch(values[is_left], counts[is_left], error, n_rounds)


def _to_the_top(numbers):
    """Append a number that none exceeds."""
    is_real = numbers.dtype.kind == "f"
    return np.append(numbers, np.inf if is_real else np.iinfo(numbers.dtype).max)


def with_one_type(first, second):
    """Give two arrays of numbers one type that tells them apart, or return None."""
    if first.dtype == second.dtype:
        return first, second
    numbers = [*first.tolist(), *second.tolist()]
    # Whole numbers of two types are compared as integers, if one type holds all.
    if all(number == int(number) for number in numbers):
        exact = np.array([*map(int, numbers)] or [0])
        if exact.dtype.kind in "iu":
            return exact[: len(first)], exact[len(first) :]
    first, second = first.astype(np.float64), second.astype(np.float64)
    n_floats = len(np.union1d(first, second))
    return (first, second) if n_floats == len(set(numbers)) else None
