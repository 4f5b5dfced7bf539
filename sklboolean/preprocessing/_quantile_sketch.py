"""Distinct numbers with their counts, from batches; beyond a size a sample of them."""

from dataclasses import dataclass

import numpy as np

# Most values of one weight. The error is about log2(n / LIMIT) / LIMIT of n samples.
LIMIT = 8192


@dataclass(frozen=True)
class QuantileSketch:
    """Ascending distinct numbers, each with the number of samples that it stands for.

    Sketches of batches are merged in any order. Columns of up to ``LIMIT`` distinct
    numbers stay exact, and so does a single batch. Otherwise numbers of equal weight
    are paired with their neighbours, and one of each pair takes the weight of both.

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

    References
    ----------
    Manku, Rajagopalan, Lindsay. "Approximate Medians and other Quantiles in One Pass
    and with Limited Memory". SIGMOD 1998: the collapse of buffers of equal weight.
    """

    values: np.ndarray
    counts: np.ndarray
    error: float = 0.0
    n_rounds: int = 0

    @classmethod
    def of(cls, numbers, weights, samples=(slice(None),)):
        """Sum up the weights, above 0, of distinct numbers of some of the samples.

        Parameters
        ----------
        numbers, weights : ndarray of shape (n_samples,)
        samples : sequence of slice or ndarray of bool

        Returns
        -------
        sketches : list of QuantileSketch
        """
        # All are sorted once.
        values, index = np.unique(numbers, return_inverse=True)
        sketches = []
        for chosen in samples:
            counts = np.bincount(index[chosen], weights[chosen], minlength=len(values))
            has_any = counts > 0
            sketches.append(cls(values[has_any], counts[has_any]))
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
        return QuantileSketch(values, counts, first.error + second.error, n_rounds)

    def compressed(self):
        """Pair the values of each weight that more than ``LIMIT`` values have.

        Each power of 2 in a count is a weight. A pair hands over one weight, so no
        number of samples at most t changes by more: the pairs do not overlap.
        """
        # A count is a sum of powers of 2, and the values that have one power form a
        # buffer of that weight. Pairs hand their weight to the next power, so each
        # value goes through all.
        values, counts = self.values, self.counts.copy()
        error, n_rounds, weight = self.error, self.n_rounds, 1.0
        if len(values) <= LIMIT:
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
