"""The combination machine by definition: every input with every hidden state."""

import numpy as np
from scipy.special import logsumexp


def every_row(n, low=0.0):
    """All 2^n rows, bit i of the row number in column i; a false bit is ``low``."""
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return np.where(bits == 1, 1.0, low)


def hidden_rows(m, max_active=None):
    states = every_row(m)
    return states if max_active is None else states[states.sum(1) <= max_active]


def joint_log_weights(weights, X, H):
    """log p*(x, h), of shape (len(H), len(X)), one term after the other."""
    total = np.zeros((len(H), len(X)))
    for i, row in enumerate(weights.components):
        total += np.outer(H[:, i], X @ row + weights.hidden_bias[i])
    total += X @ weights.visible_bias
    if weights.parents is not None:
        for child, parent in enumerate(weights.parents):
            if parent >= 0:
                total += weights.couplings[child] * X[:, child] * X[:, parent]
    return total


def enumerate_machine(weights, max_active=None):
    """Return log Z, E h, E x, E h x and E x_child x_parent by 2^n times 2^m terms."""
    m, n = weights.components.shape
    X, H = every_row(n, -1.0), hidden_rows(m, max_active)
    logs = joint_log_weights(weights, X, H)
    log_z = logsumexp(logs)
    shares = np.exp(logs - log_z)
    edges = None
    if weights.parents is not None:
        pairs = np.where(weights.parents < 0, 0.0, X * X[:, weights.parents])
        edges = shares.sum(0) @ pairs
    return log_z, shares.sum(1) @ H, shares.sum(0) @ X, H.T @ shares @ X, edges
