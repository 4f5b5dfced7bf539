"""The posterior of a Gaussian process: exact, or in the span of some samples."""

from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dtrtri

from sklboolean.kernels._evidence import JITTER, LOG_2PI, factor_covariance
from sklboolean.kernels._relevance_weights import LevelPairs

SAMPLES_AT_A_TIME = 1024
KEPT_VALUES = 2**24


# A posterior has the mean K(x, basis) @ coef and the variance k(x, x) - |K(x, basis) @
# removed|^2 (+ |K(x, basis) @ added|^2 of a projected process).
# `ExactProcess`: the basis is all samples, coef = (K + noise / w)^-1 m.
# `ProjectedProcess`: functions are phi(x) @ beta with phi(x) = K(x, basis) root^-1,
# root' root = K(basis, basis) + JITTER, and beta normal. Blocks of samples are summed
# up into normal equations of shape (n_basis, n_basis), so memory does not grow with the
# samples.
@dataclass(frozen=True)
class Posterior:
    """The posterior means and variances of a Gaussian process.

    Attributes
    ----------
    coef : ndarray of shape (n_basis, n_targets), float64
        The mean at a sample is its kernel with the basis times this.
    means : ndarray of shape (n_distinct, n_targets), float64
        At the training samples.
    log_evidence : float
    variances : ndarray of shape (n_distinct,), float64, or None
        At the training samples.
    removed, added : ndarray of shape (n_basis, n_basis), float64, or None
        The variance at a sample with kernel values k is the kernel of the sample with
        itself, less the sum of squares of ``k @ removed``, plus that of ``k @ added``.
    """

    coef: np.ndarray
    means: np.ndarray
    log_evidence: float
    variances: np.ndarray | None = None
    removed: np.ndarray | None = None
    added: np.ndarray | None = None

    def leave_one_out(self, number, targets, removed, noise):
        """Compute the mean at each sample without it.

        Parameters
        ----------
        number : ndarray of shape (n_samples,), int
            The distinct sample of each sample.
        targets : ndarray of shape (n_samples, n_targets), float64
        removed : ndarray of shape (n_samples,), float64
            The weight that is left out: of several copies one.
        noise : float

        Returns
        -------
        means : ndarray of shape (n_samples, n_targets), float64
            The normal posterior divided by the likelihood of what is left out.
        """
        removed = (removed * self.variances[number])[:, None]
        return (noise * self.means[number] - removed * targets) / (noise - removed)


class ExactProcess:
    """A Gaussian process with the covariance of all samples.

    Parameters
    ----------
    K : ndarray of shape (n_distinct, n_distinct), float64
        The kernel, up to the diagonal.
    """

    def __init__(self, K):
        self.K = K

    def posterior(self, samples, noise, *, with_variances=True):
        """Compute the posterior by a Cholesky factor.

        Parameters
        ----------
        samples : DistinctSamples
        noise : float
            The variance of a target of weight 1.
        with_variances : bool

        Returns
        -------
        posterior : Posterior
            Its basis is the samples.
        """
        factor, coef, log_evidence = factor_covariance(self.K.copy(), samples, noise)
        # By the identity K C^-1 m = m - noise C^-1 m, without another product by K.
        own_noise = noise / samples.weights
        means = samples.means - own_noise[:, None] * coef
        if not with_variances:
            return Posterior(coef, means, log_evidence)
        inverse = dtrtri(factor, overwrite_c=True)[0]
        variances = np.einsum("ij,ij->i", inverse, inverse)
        variances = own_noise - own_noise**2 * variances
        return Posterior(coef, means, log_evidence, variances, inverse)


class ProjectedProcess:
    """A Gaussian process of functions in the span of the kernel at a few samples.

    Time is proportional to the samples, and memory to the square of the basis. The
    process is that of a finite linear model, so leaving a sample out is exact.

    Parameters
    ----------
    columns : FrameColumns
    levels : Levels
        Those of the samples.
    basis : Levels
        Those of the samples that span the functions.
    weights : RelevanceWeights
    n_jobs : int or None
        Threads that evaluate the kernel.

    References
    ----------
    Quinonero-Candela, Rasmussen. "A Unifying View of Sparse Approximate Gaussian
    Process Regression". Journal of Machine Learning Research 6, 2005, section 4 (subset
    of regressors).
    """

    def __init__(self, columns, levels, basis, weights, n_jobs=None):
        self.columns, self.levels, self.basis = columns, levels, basis
        self.weights, self.n_jobs = weights, n_jobs
        K = LevelPairs(columns, basis).matrix(weights, n_jobs)
        K[np.diag_indices(len(K))] += JITTER * weights.diagonal
        self.root = cholesky(K.T, overwrite_a=True, check_finite=False)
        self._keep_blocks()

    def _keep_blocks(self):
        """Keep the kernel of few samples with the basis for several posteriors."""
        self.kept = None
        if self.levels.codes.shape[1] * len(self.root) <= KEPT_VALUES:
            self.kept = list(self._blocks())

    def _blocks(self):
        """Yield blocks of samples and their kernel with the basis."""
        if self.kept is not None:
            yield from self.kept
            return
        for first in range(0, self.levels.codes.shape[1], SAMPLES_AT_A_TIME):
            block_slice = slice(first, first + SAMPLES_AT_A_TIME)
            pairs = LevelPairs(self.columns, self.levels.take(block_slice), self.basis)
            yield block_slice, pairs.matrix(self.weights, self.n_jobs)

    def part(self, numbers):
        """The process of some of the samples, on the same basis."""
        other = copy(self)
        other.levels = self.levels.take(numbers)
        other._keep_blocks()
        return other

    def means(self, coef):
        """Compute the means at all samples."""
        return np.concatenate([block @ coef for _, block in self._blocks()])

    def _normal_equations(self, samples):
        """Sum up weighted products of kernel values, and of them with the targets."""
        upper = np.zeros(self.root.shape, order="F")
        right = np.zeros((len(self.root), samples.means.shape[1]))
        for block_slice, block in self._blocks():
            roots = np.sqrt(samples.weights[block_slice, None])
            block = block * roots
            upper = blas.dsyrk(1.0, block.T, beta=1.0, c=upper, overwrite_c=True)
            right += block.T @ (roots * samples.means[block_slice])
        return np.triu(upper) + np.triu(upper, 1).T, right

    def posterior(self, samples, noise, *, with_variances=True):
        """Compute the posterior, as `ExactProcess` does.

        Raises
        ------
        ValueError
            If weights are so large that the equations are not positive definite within
            rounding.
        """
        whitened, right = self._normal_equations(samples)
        # In coordinates in which the functions have independent weights of variance 1.
        for _ in range(2):
            whitened = solve_triangular(self.root, whitened, trans="T").T
        right = solve_triangular(self.root, right, trans="T")
        whitened[np.diag_indices(len(whitened))] += noise
        try:
            factor = cholesky(whitened, overwrite_a=True)
        except LinAlgError as error:
            raise ValueError(
                "sample_weight is too large for the precision of float64. Divide it by "
                "a number."
            ) from error
        white_coef = cho_solve((factor, False), right)
        coef = solve_triangular(self.root, white_coef)
        log_evidence = samples.log_of_copies(noise) + log_density(
            samples, noise, (right * white_coef).sum(), factor
        )
        if not with_variances:
            return Posterior(coef, self.means(coef), log_evidence)
        removed = dtrtri(self.root)[0]
        added = np.sqrt(noise) * removed @ dtrtri(factor)[0]
        means, variances = np.empty(samples.means.shape), np.empty(len(samples))
        for block_slice, block in self._blocks():
            means[block_slice] = block @ coef
            variances[block_slice] = ((block @ added) ** 2).sum(axis=1)
        return Posterior(coef, means, log_evidence, variances, removed, added)


def log_density(samples, noise, explained, factor):
    """Compute the log density of the means under a projected process.

    Parameters
    ----------
    samples : DistinctSamples
    noise : float
    explained : float
        Sum of squares that the posterior mean explains.
    factor : ndarray of shape (n_basis, n_basis), float64
        Triangular root of the normal equations in whitened coordinates, noise included.
    """
    n, n_targets = samples.means.shape
    squares = (samples.weights @ samples.means**2).sum() - explained
    log_determinant = 2 * np.log(np.diag(factor)).sum()
    log_determinant += (n - len(factor)) * np.log(noise) - np.log(samples.weights).sum()
    both = squares / noise + n_targets * (log_determinant + n * LOG_2PI)
    return float(-0.5 * both)
