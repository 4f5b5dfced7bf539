"""Slow twins of projection pursuit, by the definition of the real-valued machine."""

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal


def centres(unit):
    """Return the means of the two Gaussians: silent and active."""
    return -unit.shift * unit.weights, (1 - unit.shift) * unit.weights


def share_active(unit):
    """Return E(h): the weight of the active Gaussian."""
    silent, active = centres(unit)
    # Integral of exp(h bias + h w.x - |x + shift w|^2 / 2), up to a common factor.
    return expit(unit.bias + (active @ active - silent @ silent) / 2)


def log_density(rows, unit):
    """Return the log-density of rows as a mixture of two Gaussians."""
    share = share_active(unit)
    parts = [
        np.log(weight) + np.atleast_1d(multivariate_normal(centre).logpdf(rows))
        for weight, centre in zip((1 - share, share), centres(unit), strict=True)
    ]
    return logsumexp(parts, axis=0)


def complete_log_likelihood(rows, row_weights, active, unit):
    """Return the log-likelihood of rows whose hidden unit is active to some degree.

    LL(theta, w | S') of section 4.3.6, with the errata: both Gaussians at full length.
    """
    share = share_active(unit)
    silent, shifted = centres(unit)
    total = 0.0
    for row, weight, degree in zip(rows, row_weights, active, strict=True):
        own = multivariate_normal(shifted).logpdf(row) + np.log(share)
        other = multivariate_normal(silent).logpdf(row) + np.log(1 - share)
        total += weight * (degree * own + (1 - degree) * other)
    return total


def joint_log_density(rows, units):
    """Return the log-density of units without shift together (equations 4.5, 4.6)."""
    m = len(units)
    weights = np.array([unit.weights for unit in units])
    biases = np.array([unit.bias for unit in units])
    states = np.arange(2**m)[:, None] >> np.arange(m) & 1
    means = states @ weights
    log_z = logsumexp(states @ biases + (means**2).sum(axis=1) / 2)
    gaussian = multivariate_normal(np.zeros(weights.shape[1])).logpdf(rows)
    return gaussian + np.logaddexp(0, rows @ weights.T + biases).sum(axis=1) - log_z
