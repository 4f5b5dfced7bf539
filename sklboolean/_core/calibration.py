"""One-parameter sigmoids: scores to probabilities without moving the threshold."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

__all__ = ["fit_slope", "probabilities"]


def fit_slope(scores, codes, weights=None):
    """Fit A > 0 so that sigmoid(A f), or softmax(A f), has the least log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Held-out scores.
    codes : ndarray of shape (n_rows,), int
        Class numbers.
    weights : ndarray of shape (n_rows,) or None
        What each row counts; None: 1.

    Returns
    -------
    slope : float
        With a prior of two imagined rows, one right and one wrong, so that perfectly
        separated scores give a finite slope. 1 when all scores are 0.
    """
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.ones(len(scores)) if weights is None else weights
    typical = float(np.average(np.abs(scores).T, axis=-1, weights=weights).mean())
    # A tie is given as the smallest float, which is no scale.
    if not typical > np.finfo(np.float64).tiny:
        return 1.0
    scaled = scores / typical
    signs = np.where(codes == 1, 1.0, -1.0)

    def loss(log_slope):
        slope = np.exp(log_slope)
        imagined = np.logaddexp(0, -slope) + np.logaddexp(0, slope)
        if scores.ndim == 1:
            return weights @ np.logaddexp(0, -slope * signs * scaled) + imagined
        right = log_softmax(slope * scaled, axis=1)[np.arange(len(codes)), codes]
        return imagined - weights @ right

    result = minimize_scalar(loss, bounds=(-12, 12), method="bounded")
    return float(np.exp(result.x) / typical)


def probabilities(scores, slope):
    """Return class probabilities, shape (n_rows, n_classes).

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
    slope : float
    """
    if scores.ndim == 1:
        return np.column_stack([expit(-slope * scores), expit(slope * scores)])
    return softmax(slope * scores, axis=1)
