"""Sums of rows of a kernel of short conjunctions, as one weight for each conjunction.

Such a kernel is ``a0 + a1 C(s, 1) + a2 C(s, 2) + a3 C(s, 3)`` of the number s of
features that two samples share. So a sum of its rows is a sum of weights over the
conjunctions that a sample satisfies, and its time does not grow with the rows.
"""

# Invariant: `weights`, of shape (n_scores, n_weights), hold what makes the sum
# sum_i c_i K(x_i, z) of all samples x_i added so far (`conjunction_weights.h`).

from fractions import Fraction
from math import comb

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.kernels._dual import FIRST_WEIGHT, WeightedRows

# The most weights, of 8 bytes, and the additions of a sample that weights may take for
# each word of all samples: as long as the others, of which few may need an update.
MOST_WEIGHTS, ADDITIONS = 2**22, 1 / 16
# Samples scored by a thread before another has started, and between two looks for an
# interrupt.
SAMPLES_FOR_THREADS, SAMPLES_AT_A_TIME = 2**12, 2**16


class ConjunctionWeights:
    """Sums of kernel rows, ``sum_i c_i K(x_i, z)``, as weights of conjunctions of z.

    Parameters
    ----------
    evaluator : CountEvaluator
    n_scores : int
    """

    def __init__(self, evaluator, n_scores):
        table, n = evaluator.table, evaluator.n_features
        features = np.arange(n + 1)
        self.choose = np.zeros((4, n + 1), dtype=np.int64)
        self.choose[0] = 1
        for k in range(1, longest_of(table) + 1):
            self.choose[k] = self.choose[k - 1] * (features - k + 1) // k
        unit = 1 << table.scale
        self.factors = [float(Fraction(factor, unit)) for factor in table.newton]
        self.counts_same = table.count == "same"
        n_weights = FIRST_WEIGHT + n_conjunctions(table, n)
        self.weights = np.zeros((n_scores, n_weights))

    @staticmethod
    def suits(evaluator, rows, *, of_integers=True, pairs=1.0):
        """Whether weights of conjunctions are few, and quicker than pairs of samples.

        Kernels of single features always are. ``of_integers`` is False where the
        kernel may have a decay; ``pairs`` is the share of all pairs of samples that are
        added up without weights.
        """
        table = evaluator.table
        if getattr(table, "newton", None) is None or rows.rest is not None:
            return False
        if of_integers and table.scale:
            return False
        if not any(table.newton[2:]):
            return True
        n_weights = n_conjunctions(table, rows.n_features)
        if table.count == "same" or n_weights > MOST_WEIGHTS:
            return False
        most = pairs * ADDITIONS * len(rows) * rows.words.size
        return n_additions(table, rows) <= most

    def of(self, rows):
        """Join samples with the weights, which compiled loops read and change."""
        arrays = self.weights, self.choose, self.factors, self.counts_same
        return WeightedRows(*arrays, rows.words)

    def add(self, rows, coefficients):
        """Add samples with coefficients, shape (n_scores, n_samples)."""
        self.of(rows).add(np.ascontiguousarray(coefficients, dtype=np.float64))

    def scores(self, rows, n_jobs=1):
        """Compute the sums for each sample, shape (n_scores, n_samples)."""
        scores = np.empty((len(rows), len(self.weights)))

        def fill(first, last):
            self.of(rows.take(slice(first, last))).scores(scores[first:last])

        small = len(rows) < SAMPLES_FOR_THREADS
        each_slice(fill, len(rows), n_jobs, small=small, step=SAMPLES_AT_A_TIME)
        return scores.T


def n_conjunctions(table, n_features):
    """Count the conjunctions of so many features, up to the longest of a kernel."""
    return sum(comb(n_features, k) for k in range(1, longest_of(table) + 1))


def n_additions(table, rows):
    """Count the conjunctions that the samples satisfy, added up over the samples."""
    values, repeats = np.unique(rows.ones, return_counts=True)
    return np.dot([n_conjunctions(table, int(ones)) for ones in values], repeats)


def longest_of(table):
    """Find the longest conjunctions of a kernel, of one literal at least."""
    return max(1, 0, *np.flatnonzero(table.newton).tolist())
