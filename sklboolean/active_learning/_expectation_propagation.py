"""Expectation propagation: the halfspaces that agree with the labels as one Gaussian.

Each label stands for a step, right with probability 1 - eta on its side and eta on the
other; the posterior of a normal prior under n steps is replaced by the Gaussian whose
marginals agree, label by label, with those of the exact step under all the other
approximations. Its mean is the Bayes point machine. Deterministic.

References
----------
.. [1] Minka, "A family of algorithms for approximate Bayesian inference", PhD thesis,
   MIT, 2001.
.. [2] Herbrich, Graepel and Campbell, "Bayes point machines", JMLR 1, 2001.
"""

import math

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.blas import dsymv, dsyr
from scipy.special import erfcx, ndtr

from sklboolean.active_learning._interior import interior_direction, meets_cone

SQRT_2 = math.sqrt(2.0)
SQRT_2PI = math.sqrt(2.0 * math.pi)
SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
# Beyond this many deviations the tail's variance cancels; its series has 8 digits.
FAR = -70.0
# Sweeps end when no site moves its marginal mean by this share of its deviation, nor
# its variance by this share of itself: an order below the method's own error.
TOLERANCE = 1e-3
NEGLIGIBLE = TOLERANCE / 10
MAX_SWEEPS = 50


def tilted_moments(mean, variance, sign, eta):
    """Return the mean and variance of a normal variable under a noisy step.

    Parameters
    ----------
    mean, variance : float
        Of the normal law, before the label.
    sign : 1.0 or -1.0
        The label.
    eta : float
        Probability that the label was flipped, below 1/2.

    Returns
    -------
    mean, variance : float
        Of the density proportional to ``(eta + (1 - 2 eta) [sign * f > 0])`` times the
        normal one.
    """
    deviation = math.sqrt(variance)
    z = sign * mean / deviation
    if eta == 0.0 and z < FAR:
        # The excess over the bound is exponential to first order.
        shrink = (1.0 - 6.0 / z**2 + 50.0 / z**4) / z**2
        excess = (1.0 - 2.0 / z**2 + 10.0 / z**4) / -z
        return sign * deviation * excess, variance * shrink
    if eta == 0.0:
        # phi(z) / Phi(z) with what the two have in common taken out.
        ratio = SQRT_2_OVER_PI / erfcx(-z / SQRT_2)
    else:
        step = 1.0 - 2.0 * eta
        ratio = step * math.exp(-0.5 * z * z) / (SQRT_2PI * (eta + step * ndtr(z)))
    shrink = 1.0 - ratio * (ratio + z)
    return mean + sign * deviation * ratio, variance * shrink


class GaussianPosterior:
    """The Gaussian approximation, one site for each label.

    Parameters
    ----------
    eta : float
        Probability that a label was flipped.
    """

    def __init__(self, eta):
        self.eta = eta
        self.rows = np.empty((0, 0))
        self.signs = np.empty(0)
        self.precisions = np.empty(0)
        self.shifts = np.empty(0)
        self.mean_weights = np.empty(0)
        self.covariance = np.empty((0, 0), order="F")
        self.n_sweeps = 0
        self.n_skipped = 0
        self.change = 0.0

    def learn(self, coordinates, residual, positive):
        """Condition on one more label.

        Parameters
        ----------
        coordinates : ndarray of shape (rank,)
            Of a row of length 1.
        residual : float
            Its squared distance from the span; above 0 it adds a dimension.
        positive : bool

        Returns
        -------
        possible : bool
            False, and nothing is learned, when no halfspace agrees with all labels.
        """
        sign = 1.0 if positive else -1.0
        if residual == 0 and self.eta == 0 and not self._is_possible(coordinates, sign):
            return False
        if residual > 0:
            # Labels before said nothing about the new dimension: prior, independent.
            rank = len(self.mean_weights) + 1
            covariance = np.zeros((rank, rank), order="F")
            covariance[:-1, :-1] = self.covariance
            covariance[-1, -1] = 1.0
            self.covariance = covariance
            self.mean_weights = np.append(self.mean_weights, 0.0)
            self.rows = np.pad(self.rows, ((0, 0), (0, 1)))
            coordinates = np.append(coordinates, np.sqrt(residual))
        self.rows = np.vstack([self.rows, coordinates])
        self.signs = np.append(self.signs, sign)
        self.precisions = np.append(self.precisions, 0.0)
        self.shifts = np.append(self.shifts, 0.0)
        self._update(len(self.signs) - 1)
        return True

    def _is_possible(self, row, sign):
        """Look along the line on which the mean would move, then everywhere."""
        signed_rows = np.vstack([self.signs[:, None] * self.rows, sign * row])
        spread = dsymv(1.0, self.covariance, row)
        if meets_cone(signed_rows, self.mean_weights, sign * spread):
            return True
        return interior_direction(signed_rows) is not None

    def settle(self):
        """Sweep until nothing moves, after the last label of a block."""
        self.n_sweeps = self.n_skipped = 0
        for _ in range(MAX_SWEEPS):
            self.change = 0.0
            for site in range(len(self.signs)):
                self.change = max(self.change, self._update(site))
            self.n_sweeps += 1
            if self.change < TOLERANCE:
                break
        self._recompute()

    def _update(self, site):
        """Match one site's marginal to its label; return how far it moved."""
        row = self.rows[site]
        spread = dsymv(1.0, self.covariance, row)
        variance = float(row @ spread)
        mean = float(row @ self.mean_weights)
        precision, shift = self.precisions[site], self.shifts[site]
        # The cavity: the marginal without this site.
        left = 1.0 - precision * variance
        if not (variance > 0.0 and left > 0.0):
            self.n_skipped += 1
            return 0.0
        cavity_variance = variance / left
        cavity_mean = (mean - shift * variance) / left
        new_mean, new_variance = tilted_moments(
            cavity_mean, cavity_variance, self.signs[site], self.eta
        )
        if not new_variance > 0.0:
            self.n_skipped += 1
            return 0.0
        moved = max(
            abs(new_mean - mean) / math.sqrt(variance),
            abs(new_variance - variance) / variance,
        )
        if moved < NEGLIGIBLE:  # a warm start leaves most sites where they are
            return moved
        change = 1.0 / new_variance - 1.0 / variance
        self.precisions[site] = precision + change
        self.shifts[site] = new_mean / new_variance - cavity_mean / cavity_variance
        # One marginal set to its new moments sets the others by regression on it.
        self.mean_weights += (new_mean - mean) / variance * spread
        factor = (new_variance - variance) / variance**2
        self.covariance = dsyr(factor, spread, a=self.covariance, overwrite_a=True)
        return moved

    def _recompute(self):
        """Rebuild the moments from the sites: rank-one updates pile up rounding."""
        if not len(self.mean_weights):  # older LAPACK wrappers refuse empty matrices
            return
        weighted = self.rows * self.precisions[:, None]
        precision = self.rows.T @ weighted
        precision.flat[:: len(precision) + 1] += 1.0
        self.factor = np.linalg.cholesky(precision)
        solution = cho_solve(
            (self.factor, True),
            np.column_stack([np.eye(len(precision)), self.rows.T @ self.shifts]),
            check_finite=False,
        )
        self.covariance = np.asfortranarray(solution[:, :-1])
        self.mean_weights = solution[:, -1].copy()

    def acceptance(self, placed):
        """Return the probability that a halfspace of the posterior says yes."""
        coordinates = placed.coordinates
        means = self.mean_weights @ coordinates
        spread = np.einsum("ij,ij->j", self.covariance @ coordinates, coordinates)
        variances = placed.residuals + np.maximum(spread, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            yes = ndtr(means / np.sqrt(variances))
        return np.where(variances > 0, yes, means >= 0)

    def draw(self, n_draws, random):
        """Return weight vectors of the Gaussian, (rank, n_draws)."""
        rank = len(self.mean_weights)
        noise = random.normal(size=(rank, n_draws))
        if not rank:
            return noise
        noise = solve_triangular(self.factor.T, noise, check_finite=False)
        return self.mean_weights[:, None] + noise

    def mean(self):
        """Return the mean weight vector, (rank,)."""
        return self.mean_weights

    def report(self):
        """Say how the last sweeps ended.

        Returns
        -------
        report : dict
            ``n_sweeps``, ``converged``, ``last_change`` (in deviations) and
            ``n_skipped``, updates left out for want of a cavity.
        """
        return {
            "sampler": "ep",
            "n_sweeps": self.n_sweeps,
            "converged": bool(self.change < TOLERANCE),
            "last_change": float(self.change),
            "n_skipped": self.n_skipped,
        }
