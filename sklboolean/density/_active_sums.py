"""Sums over the hidden states of a row with at most k active units."""

import numpy as np
from scipy.special import logsumexp


def log_active_sums(activations, max_active):
    """Return the log of the sum of exp(h.a) over states with few active units.

    The sum is e_0 + ... + e_k, elementary symmetric sums of exp(a).

    Parameters
    ----------
    activations : ndarray of shape (n_samples, m)
    max_active : int

    Returns
    -------
    log_sums : ndarray of shape (n_samples,)
    means : ndarray of shape (n_samples, m)
        The probability that each unit is active: the gradient.
    """
    n_samples, m = activations.shape
    upto = np.full((m + 1, max_active + 1, n_samples), -np.inf)
    upto[:, 0] = 0.0
    for i in range(m):
        upto[i + 1, 1:] = np.logaddexp(upto[i, 1:], upto[i, :-1] + activations[:, i])
    log_sums = logsumexp(upto[m], axis=0)
    # Walk back: rest[k] is the log sum over units after i, at most k of them active.
    rest = np.zeros((max_active + 1, n_samples))
    means = np.empty((n_samples, m))
    for i in range(m - 1, -1, -1):
        if max_active:
            with_i = logsumexp(upto[i, :-1] + rest[-2::-1], axis=0) + activations[:, i]
            means[:, i] = np.exp(with_i - log_sums)
            rest[1:] = np.logaddexp(rest[1:], rest[:-1] + activations[:, i])
        else:
            means[:, i] = 0.0
    return log_sums, means
