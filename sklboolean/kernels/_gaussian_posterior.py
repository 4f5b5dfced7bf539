"""The posterior of a Gaussian process: exact, or in the span of some samples."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dtrtri

from sklboolean.kernels._evidence import JITTER, LOG_2PI
from sklboolean.kernels._relevance_weights import LevelPairs

SAMPLES_AT_A_TIME = 1024


@dataclass(frozen=True)
class Posterior:
    """The posterior means and variances of a Gaussian process.

    Attributes
    ----------
    coef : ndarray of shape (n_basis, n_targets), float64
        The mean at a sample is its kernel with the basis times this.
    means : ndarray of shape (n_distinct, n_targets), float64
        At the training samples.
    variances : ndarray of shape (n_distinct,), float64
        At the training samples.
    log_evidence : float
    removed, added : ndarray of shape (n_basis, n_basis), float64, or None
        The variance at a sample with kernel values k is the kernel of the sample with
        itself, less the sum of squares of ``k @ removed``, plus that of ``k @ added``.
    """

    coef: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    log_evidence: float
    removed: np.ndarray
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


def exact_posterior(columns, samples, weights, noise, n_jobs=None):
    """Compute the posterior by the Cholesky factor of the whole covariance.

    Parameters
    ----------
    columns : FrameColumns
    samples : DistinctSamples
    weights : RelevanceWeights
    noise : float
    n_jobs : int or None
        Threads that evaluate the kernel.

    Returns
    -------
    posterior : Posterior
        Its basis is the samples.
    """
    K = LevelPairs(columns, samples.levels).matrix(weights, n_jobs)
    diagonal, n_targets = np.diag_indices(len(K)), samples.means.shape[1]
    own_noise = noise / samples.weights
    K[diagonal] += own_noise + JITTER
    factor = cholesky(K.T, overwrite_a=True, check_finite=False)
    coef = cho_solve((factor, False), samples.means, check_finite=False)
    log_evidence = samples.log_of_copies(noise) - 0.5 * (
        (samples.means * coef).sum()
        + n_targets * (2 * np.log(factor[diagonal]).sum() + len(K) * LOG_2PI)
    )
    inverse = dtrtri(factor, overwrite_c=True)[0]
    variances = own_noise - own_noise**2 * np.einsum("ij,ij->i", inverse, inverse)
    means = samples.means - own_noise[:, None] * coef
    return Posterior(coef, means, variances, float(log_evidence), inverse)


def normal_equations(samples, blocks, n_basis):
    """Sum up weighted products of kernel values with each other and with the targets.

    Parameters
    ----------
    samples : DistinctSamples
    blocks : iterable of (slice, ndarray of shape (n_block, n_basis))
        Numbers of samples and their kernel with the basis.
    n_basis : int

    Returns
    -------
    products : ndarray of shape (n_basis, n_basis), float64
    right : ndarray of shape (n_basis, n_targets), float64
    """
    upper = np.zeros((n_basis, n_basis), order="F")
    right = np.zeros((n_basis, samples.means.shape[1]))
    for part, block in blocks:
        roots = np.sqrt(samples.weights[part, None])
        block *= roots
        upper = blas.dsyrk(1.0, block.T, beta=1.0, c=upper, overwrite_c=True)
        right += block.T @ (roots * samples.means[part])
    return np.triu(upper) + np.triu(upper, 1).T, right


def projected_posterior(columns, samples, weights, noise, basis, n_jobs=None):
    """Compute the posterior of functions in the span of the kernel at a few samples.

    Time is proportional to the samples, and memory to the square of the basis. The
    process is that of a finite linear model, so leaving a sample out is exact.

    Parameters
    ----------
    columns : FrameColumns
    samples : DistinctSamples
    weights : RelevanceWeights
    noise : float
    basis : ndarray of shape (n_basis,), int
        Numbers of the samples that span the functions.
    n_jobs : int or None

    Returns
    -------
    posterior : Posterior

    References
    ----------
    Quinonero-Candela, Rasmussen. "A Unifying View of Sparse Approximate Gaussian
    Process Regression". Journal of Machine Learning Research 6, 2005, section 4 (subset
    of regressors).
    """
    m, n, n_targets = len(basis), len(samples), samples.means.shape[1]
    basis_levels = samples.levels.take(basis)
    K = LevelPairs(columns, basis_levels).matrix(weights, n_jobs)
    K[np.diag_indices(m)] += JITTER * weights.diagonal
    root = cholesky(K.T, overwrite_a=True, check_finite=False)

    def blocks():
        for first in range(0, n, SAMPLES_AT_A_TIME):
            part = slice(first, first + SAMPLES_AT_A_TIME)
            pairs = LevelPairs(columns, samples.levels.take(part), basis_levels)
            yield part, pairs.matrix(weights, n_jobs)

    products, right = normal_equations(samples, blocks(), m)
    # In coordinates in which the functions have independent weights of variance 1.
    whitened = products
    for _ in range(2):
        whitened = solve_triangular(root, whitened, trans="T", check_finite=False).T
    whitened[np.diag_indices(m)] += noise
    factor = cholesky(whitened, overwrite_a=True, check_finite=False)
    white_right = solve_triangular(root, right, trans="T", check_finite=False)
    white_coef = cho_solve((factor, False), white_right, check_finite=False)
    coef = solve_triangular(root, white_coef, check_finite=False)
    removed = dtrtri(root, overwrite_c=True)[0]
    added = np.sqrt(noise) * removed @ dtrtri(factor)[0]
    means, variances = np.empty(samples.means.shape), np.empty(n)
    for part, block in blocks():
        means[part] = block @ coef
        spread = block @ added
        variances[part] = np.einsum("ij,ij->i", spread, spread)
    squares = (samples.weights @ samples.means**2).sum() - (
        white_right * white_coef
    ).sum()
    log_determinant = 2 * np.log(np.diag(factor)).sum() + (n - m) * np.log(noise)
    log_determinant -= np.log(samples.weights).sum()
    log_evidence = samples.log_of_copies(noise) - 0.5 * (
        squares / noise + n_targets * (log_determinant + n * LOG_2PI)
    )
    return Posterior(coef, means, variances, float(log_evidence), removed, added)
