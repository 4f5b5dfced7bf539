"""The machine with real inputs by definition: a mixture with 2**m normal components."""

from itertools import product

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def hidden_states(m, max_active=None):
    states = np.array(list(product([0.0, 1.0], repeat=m)))
    return states if max_active is None else states[states.sum(1) <= max_active]


def log_unnormalised(weights, x, max_active=None):
    """log p*(x), one hidden state after the other (Freund, equation 4.5)."""
    energies = [
        h @ (weights.components @ x + weights.hidden_bias)
        for h in hidden_states(len(weights.hidden_bias), max_active)
    ]
    return logsumexp(energies) + weights.visible_bias @ x - x @ x / 2


def mixture(weights, max_active=None):
    """Return log Z, and states, log-shares and means of the normal components."""
    states = hidden_states(len(weights.hidden_bias), max_active)
    means = np.array([weights.visible_bias + h @ weights.components for h in states])
    # exp(mean.x - |x|^2 / 2) integrates to (2 pi)^(n/2) exp(|mean|^2 / 2).
    n = len(weights.visible_bias)
    logs = [
        h @ weights.hidden_bias + mean @ mean / 2 + n / 2 * np.log(2 * np.pi)
        for h, mean in zip(states, means, strict=True)
    ]
    log_z = logsumexp(logs)
    return log_z, states, logs - log_z, means


def conditional(weights, x, max_active=None):
    """Condition on the known inputs of a row.

    Returns
    -------
    log_density : float
        Of the known inputs, the others integrated out.
    shares : ndarray of shape (n_states,)
        Probabilities of hidden states.
    means : ndarray of shape (n_states, n_missing)
        Of missing inputs.
    """
    _, _, log_shares, means = mixture(weights, max_active)
    known = ~np.isnan(x)
    logs = log_shares.copy()
    if known.any():
        logs += [multivariate_normal.logpdf(x[known], mean[known]) for mean in means]
    log_density = logsumexp(logs)
    return log_density, np.exp(logs - log_density), means[:, ~known]
