"""The evidence of a Gaussian process, and the kernel that maximises it.

Targets are the values of a Gaussian process at samples, plus noise. Samples with the
same levels are one sample whose weight is the number of copies: the likelihood is a
function of their mean, their weight and the sum of squares about the mean.
"""

# For means m of distinct samples with weights w, noise s and kernel K, the covariance
# is C = K + diag(s / w) + JITTER, and for each target
# log evidence = -(m' C^-1 m + log det C + n log 2 pi) / 2 + what copies add.
# Its derivative by a parameter p of the kernel is sum_ij F_ij dK_ij / dp with F = (c c'
# - n_targets C^-1) / 2 and c = C^-1 m, shape (n_distinct, n_targets) (Rasmussen,
# Williams 2006, equation 5.9). F is symmetric, so one half of it is read.
# `maximize_evidence` climbs in logarithms, with a normal prior on each: first with one
# relevance for all columns, then with one for each (L-BFGS-B).

from dataclasses import dataclass, replace
from math import comb

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize

from sklboolean.kernels._frame_columns import FrameColumns, Levels
from sklboolean.kernels._relevance_weights import LevelPairs, RelevanceWeights

JITTER = 1e-6
ISOTROPIC_ITERATIONS = 12
LOG_2PI = np.log(2 * np.pi)


@dataclass(frozen=True)
class DistinctSamples:
    """Samples merged by their levels.

    Attributes
    ----------
    levels : Levels
    weights : ndarray of shape (n_distinct,), float64
        Sums of weights, above 0.
    means : ndarray of shape (n_distinct, n_targets), float64
        Weighted means of the targets.
    squares : ndarray of shape (n_distinct,), float64
        Weighted sums of squares about the means, over all targets.
    """

    levels: Levels
    weights: np.ndarray
    means: np.ndarray
    squares: np.ndarray

    @classmethod
    def merge(cls, levels, targets, weights):
        """Merge samples; return also the number of each sample among the distinct.

        The distinct samples are sorted by their levels, so that their order does not
        depend on that of the samples.
        """
        codes, first, number = np.unique(
            levels.codes, axis=1, return_index=True, return_inverse=True
        )
        number, m = number.ravel(), len(first)
        sums = np.bincount(number, weights, m)
        means = [np.bincount(number, weights * t, m) / sums for t in targets.T]
        means = np.column_stack(means)
        squares = ((targets - means[number]) ** 2).sum(axis=1)
        squares = np.bincount(number, weights * squares, m)
        merged = Levels(np.ascontiguousarray(codes), levels.patterns)
        return cls(merged, sums, means, squares), number

    def __len__(self):
        return len(self.weights)

    def take(self, samples):
        """Select distinct samples."""
        arrays = self.weights, self.means, self.squares
        return DistinctSamples(self.levels.take(samples), *(a[samples] for a in arrays))

    def target(self, k):
        """Select one target; the sums of squares are left out."""
        return replace(
            self, means=self.means[:, k : k + 1], squares=np.zeros(len(self))
        )

    def log_of_copies(self, noise):
        """Compute what copies of a sample add to the evidence beyond their mean."""
        n_targets = self.means.shape[1]
        copies = (self.weights - 1).sum() * (LOG_2PI + np.log(noise))
        copies += np.log(self.weights).sum()
        return -(n_targets * copies + self.squares.sum() / noise) / 2


@dataclass(frozen=True)
class Hyperparameters:
    """The kernel and the variance of the noise, as a vector of logarithms.

    The vector holds the five weights, the base, the noise and the relevances.
    """

    weights: RelevanceWeights
    noise: float

    @classmethod
    def from_logs(cls, logs):
        """Read a vector of logarithms."""
        values = np.exp(logs)
        weights = RelevanceWeights(values[:5], float(values[5]), values[7:])
        return cls(weights, float(values[6]))


def prior(n_columns):
    """Describe the prior of the logarithms: normal, about where they start.

    Returns
    -------
    start, scale, low, high : ndarrays of shape (7 + n_columns,), float64
        The mean and standard deviation of each logarithm, and its bounds.
    """
    pairs, triples = (max(1, comb(n_columns, length)) for length in (2, 3))
    p = max(1, n_columns)
    values = [0.1, 0.4 / p, 0.3 / pairs, 0.15 / triples, 0.15, 2 / np.sqrt(p), 0.5]
    start = np.concatenate([np.log(values), np.zeros(n_columns)])
    scale = np.array([4.0] * 5 + [1.5, 2.0] + [0.5] * n_columns)
    low = np.concatenate([start[:5] - 12, [-8, -8], np.full(n_columns, -7.0)])
    high = np.concatenate([start[:5] + 8, [5, 4], np.full(n_columns, 3.0)])
    return start, scale, low, high


def factor_covariance(K, samples, noise):
    """Factor the covariance of the means of samples, in place of their kernel.

    Parameters
    ----------
    K : ndarray of shape (n_distinct, n_distinct), float64
        The kernel, up to the diagonal.
    samples : DistinctSamples
    noise : float
        The variance of a target of weight 1.

    Returns
    -------
    factor : ndarray of shape (n_distinct, n_distinct), float64
        Upper triangular.
    coef : ndarray of shape (n_distinct, n_targets), float64
        The inverse of the covariance times the means.
    log_evidence : float

    Raises
    ------
    LinAlgError
        If the covariance is not positive definite within rounding.
    """
    diagonal = np.diag_indices(len(K))
    K[diagonal] += noise / samples.weights + JITTER
    factor = cholesky(K.T, overwrite_a=True, check_finite=False)
    coef = cho_solve((factor, False), samples.means, check_finite=False)
    log_determinant = 2 * np.log(factor[diagonal]).sum()
    log_evidence = samples.log_of_copies(noise) - 0.5 * (
        (samples.means * coef).sum()
        + samples.means.shape[1] * (log_determinant + len(K) * LOG_2PI)
    )
    return factor, coef, float(log_evidence)


class Evidence:
    """The logarithm of the evidence of samples, as a function of the hyperparameters.

    Parameters
    ----------
    columns : FrameColumns
    samples : DistinctSamples
    """

    def __init__(self, columns: FrameColumns, samples):
        self.samples = samples
        self.pairs = LevelPairs(columns, samples.levels)

    def value_and_gradient(self, logs):
        """Compute the evidence and its derivatives for the logarithms."""
        hyperparameters, samples = Hyperparameters.from_logs(logs), self.samples
        n_targets, noise = samples.means.shape[1], hyperparameters.noise
        K = self.pairs.matrix(hyperparameters.weights)
        factor, coef, value = factor_covariance(K, samples, noise)
        # LAPACK's inverse in place of a solve: half the work, for one triangle.
        inverse = dpotri(factor, overwrite_c=True)[0].T  # up to the diagonal
        factors = (coef @ coef.T - n_targets * inverse) / 2
        kernel_part = self.pairs.gradient(hyperparameters.weights, factors)
        copies = (samples.weights - 1).sum() * n_targets - samples.squares.sum() / noise
        noise_part = noise * (np.diag(factors) / samples.weights).sum() - copies / 2
        return value, np.insert(kernel_part, 6, noise_part)


def maximize_evidence(columns, samples, max_iter, report):
    """Find the hyperparameters of the largest evidence times prior.

    First all columns have the same relevance. From there each has its own.

    Parameters
    ----------
    columns : FrameColumns
    samples : DistinctSamples
    max_iter : int
        Maximum number of steps of the second part.
    report : callable
        Called after each step with the objective; True stops.

    Returns
    -------
    logs : ndarray of shape (7 + n_columns,), float64
    n_steps : int
    """
    evidence = Evidence(columns, samples)
    start, scale, low, high = prior(len(columns.features))
    logs, everything = start.copy(), np.arange(len(start))
    n_done, stopped = 0, []

    def objective(values, free):
        trial = logs.copy()
        trial[free] = values
        distance = (trial - start) / scale
        try:
            value, gradient = evidence.value_and_gradient(trial)
        # A step too far: the line search comes back.
        except LinAlgError:
            return 1e100, np.zeros(len(free))
        value -= (distance**2).sum() / 2
        return -value, (distance / scale - gradient)[free]

    def step(intermediate_result):
        if report(-intermediate_result.fun):
            stopped.append(True)
            raise StopIteration

    stages = (everything[:7], ISOTROPIC_ITERATIONS), (everything, max_iter)
    for free, n_steps in stages:
        if not stopped and n_steps:
            bounds = list(zip(low[free], high[free], strict=True))
            options = {"bounds": bounds, "options": {"maxiter": n_steps}}
            how = {"method": "L-BFGS-B", "jac": True, "callback": step}
            result = minimize(objective, logs[free], args=(free,), **how, **options)
            logs[free] = result.x
            n_done += result.nit
    return logs, n_done
