"""The dual perceptron of a kernel of single features, by one weight for each feature.

Such a kernel is ``a0 + a1 * count``, so a score is a sum of weights over the true
features of a sample. An update changes the weights, and not the scores of all other
samples, which are computed when it is their turn. All sums are integers that float64
holds, so decisions are those of `DualRun`.
"""

# Invariant: `FeatureWeights` holds, for each score, sum_i c_i K(x_i, z) = constants +
# weights @ z of all samples added so far, in shape (n_scores, n_bits), n_bits a
# multiple of 64. A block of samples is scored by one matrix product with its unpacked
# bits.

import numpy as np

from sklboolean._core.bits import unpack_words
from sklboolean.kernels._dual_training import BLOCK, DualRun


class FeatureWeights:
    """Sums of kernel rows, ``sum_i c_i K(x_i, z)``, as weights of the features of z.

    Parameters
    ----------
    evaluator : CountEvaluator
    rows : BitRows
        Samples as those that are added and scored.
    n_scores : int
    """

    def __init__(self, evaluator, rows, n_scores):
        table, n_bits = evaluator.table, 64 * rows.words.shape[1]
        self.a0, self.a1 = table.newton[:2]
        self.counts_same, self.n_features = table.count == "same", rows.n_features
        self.weights, self.constants = np.zeros((n_scores, n_bits)), np.zeros(n_scores)

    @staticmethod
    def suits(evaluator, rows):
        """Whether a kernel adds up single features, which rows have all packed."""
        newton = getattr(evaluator.table, "newton", None)
        return newton is not None and not any(newton[2:]) and rows.rest is None

    def add(self, rows, coefficients):
        """Add samples with coefficients, shape (n_scores, n_samples).

        Of the features that x and z have in common, or lack in common, there are
        ``n_features - |x| - |z| + 2 |x and z|``.
        """
        for first in range(0, len(rows), BLOCK):
            block = rows.take(slice(first, first + BLOCK))
            self._add_block(block, coefficients[:, first : first + BLOCK].astype(float))

    def _add_block(self, rows, coefficients):
        common, totals = coefficients @ self.bits(rows), coefficients.sum(axis=1)
        counts = 0.0
        if self.counts_same:
            counts = self.n_features * totals - coefficients @ rows.ones
            common = 2 * common - totals[:, np.newaxis]
        self.weights += self.a1 * common
        self.constants += self.a0 * totals + self.a1 * counts

    def scores(self, rows):
        """Compute the sums for each row, shape (n_scores, n_samples)."""
        blocks = [
            self.weights @ self.bits(rows.take(slice(first, first + BLOCK))).T
            for first in range(0, len(rows), BLOCK)
        ]
        return np.concatenate(blocks, axis=1) + self.constants[:, np.newaxis]

    def bits(self, rows):
        """Unpack rows into float64."""
        return unpack_words(rows.words, self.weights.shape[1]).astype(np.float64)


class FeatureRun(DualRun):
    """One training call of one perceptron that keeps weights of features."""

    @classmethod
    def is_exact(cls, evaluator, rows, total):
        """Whether updates of a total size can be kept as weights of features.

        Parts of a sum are at most four times what the largest kernel value makes.
        """
        is_sum = FeatureWeights.suits(evaluator, rows)
        return is_sum and evaluator.table.is_exact_in_float64(4 * total)

    def _prepare(self, max_iter):
        """Add up the support samples of earlier calls."""
        self.slack, n_old = 0.0, self.n_old
        self.sums = FeatureWeights(self.evaluator, self.rows, self.rule.n_scores)
        self.sums.add(self.rows.take(slice(n_old)), self.coef[:, :n_old])
        self.new_rows = self.rows.take(slice(n_old, None)) if n_old else self.rows

    def _run_epoch(self, order, last):
        """Run the perceptron over all new samples, in the given order."""
        scores = np.empty((self.rule.n_scores, len(order)))
        for first in range(0, len(order), BLOCK):
            numbers = order[first : first + BLOCK]
            block_rows = self.new_rows.take(numbers)
            scores[:, first : first + BLOCK] = self.sums.scores(block_rows)
            deltas = self._run_block(block_rows, numbers, scores, first, first)
            touched = np.flatnonzero(deltas.any(axis=0))
            self.sums.add(block_rows.take(touched), deltas[:, touched])
