"""Losses of boosted trees: their slopes and curvatures by the scores."""

# Scores have shape (n_samples, n_outputs). A loss gives, for each sample,
#
#     ``values``       l(t, s), at least 0, of shape (n_samples,)
#     ``derivatives``  the slopes dl/ds and curvatures d2l/ds2 or a bound on them, each
#                      of shape (n_samples, n_outputs)
#     ``start``        the constant scores of the least loss, of shape (n_outputs,)
#
# Of two classes the first two are compiled (tree_sums.h), and `GrowingTree` calls them.
#
# Friedman. "Greedy Function Approximation: A Gradient Boosting Machine". Annals of
# Statistics 29, 2001, section 4.

import numpy as np
from scipy.special import xlogy

# The largest step of a tree where a loss grows like an exponential.
LARGEST_STEP = 2.0
# Where all samples have one label the start is a finite score.
SMALLEST_SHARE = 1e-6


class LogisticLoss:
    """Log-loss of two classes; targets are 0 and 1, scores are log-odds."""

    n_outputs, bound, refits = 1, np.inf, False

    def start(self, targets, weights):
        """Compute the log-odds of class 1."""
        share = np.average(targets, weights=weights)
        share = np.clip(share, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
        return np.array([np.log(share / (1 - share))])


class SoftmaxLoss:
    """Log-loss of several classes; targets are class numbers."""

    bound, refits = np.inf, False

    def __init__(self, n_classes):
        self.n_outputs = n_classes

    def start(self, targets, weights):
        """Compute the logarithm of the share of each class."""
        shares = np.bincount(targets, weights, minlength=self.n_outputs) / weights.sum()
        return np.log(np.maximum(shares, SMALLEST_SHARE))

    def values(self, targets, scores):
        """Compute the log-loss of each sample."""
        of_target = np.take_along_axis(scores, targets[:, None], axis=1)[:, 0]
        largest, _, sums = self._shares(scores)
        return (largest + np.log(sums))[:, 0] - of_target

    def derivatives(self, targets, scores):
        """Compute the slopes, and bounds of the curvatures, by each score.

        p (1 - p) leaves out that the scores of one sample move together, which the
        factor K / (K - 1) makes up for.
        """
        _, shares, sums = self._shares(scores)
        slopes = shares / sums
        curvatures = slopes * (1 - slopes) * self.n_outputs / (self.n_outputs - 1)
        slopes[np.arange(len(targets)), targets] -= 1
        return slopes, curvatures

    @staticmethod
    def _shares(scores):
        """Compute the probabilities up to a factor, in half the time of scipy.softmax.

        Returns
        -------
        largest : ndarray of shape (n_samples, 1), float64
            The largest score of each sample.
        shares : ndarray of shape (n_samples, n_outputs), float64
            ``exp(scores - largest)``.
        sums : ndarray of shape (n_samples, 1), float64
        """
        largest = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - largest)
        return largest, shares, shares.sum(axis=1, keepdims=True)


class SquaredLoss:
    """Half of the squared error."""

    n_outputs, bound, refits = 1, np.inf, False

    def start(self, targets, weights):
        """Compute the mean."""
        return np.array([np.average(targets, weights=weights)])

    def values(self, targets, scores):
        """Compute half of the squared error of each sample."""
        return (scores[:, 0] - targets) ** 2 / 2

    def derivatives(self, targets, scores):
        """Compute the slopes; curvatures are 1."""
        return scores - targets[:, None], np.ones_like(scores)


class QuantileLoss:
    """The pinball loss, whose least is at a quantile; half the absolute error at .5."""

    n_outputs, bound, refits = 1, np.inf, True

    def __init__(self, level):
        self.level = level

    def start(self, targets, weights):
        """Compute the quantile."""
        return np.array([self.leaf_value(targets, weights)])

    def values(self, targets, scores):
        """Compute the pinball loss of each sample."""
        errors = targets - scores[:, 0]
        return np.maximum(self.level * errors, (self.level - 1) * errors)

    def derivatives(self, targets, scores):
        """Compute the slopes; curvatures are 1, since leaves are fitted again."""
        slopes = np.where(targets[:, None] > scores, -self.level, 1 - self.level)
        return slopes, np.ones_like(scores)

    def leaf_value(self, residuals, weights):
        """Compute the weighted quantile of the residuals of a leaf, a lower one."""
        order = np.argsort(residuals, kind="stable")
        mass = np.cumsum(weights[order])
        return residuals[order[np.searchsorted(mass, self.level * mass[-1])]]


class PoissonLoss:
    """Half of the Poisson deviance; scores are logarithms."""

    n_outputs, bound, refits = 1, LARGEST_STEP, False

    def start(self, targets, weights):
        """Compute the logarithm of the mean."""
        return np.array([np.log(np.average(targets, weights=weights))])

    def values(self, targets, scores):
        """Compute the loss of each sample."""
        least = targets - xlogy(targets, targets)
        return np.exp(scores[:, 0]) - targets * scores[:, 0] - least

    def derivatives(self, targets, scores):
        """Compute the slopes and curvatures by the score."""
        means = np.exp(scores)
        return means - targets[:, None], means
