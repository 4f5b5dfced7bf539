"""One-parameter sigmoids: scores to probabilities without moving the threshold."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax

__all__ = ["fit_slope", "probabilities"]


def fit_slope(scores, codes):
    """Fit A > 0 so that sigmoid(A f), or softmax(A f), has the least log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Held-out scores of magnitude about 1 or less.
    codes : ndarray of shape (n_rows,), int
        Class numbers.

    Returns
    -------
    slope : float
        With a prior of two imagined rows, one right and one wrong, so that perfectly
        separated scores give a finite slope.
    """
    scores = np.asarray(scores, dtype=np.float64)
    typical = float(np.mean(np.abs(scores)))
    if not typical > 0:
        return 1.0
    if scores.ndim == 1:
        leads = np.where(codes == 1, scores, -scores)

        def loss(log_slope):
            slope = np.exp(log_slope)
            imagined = slope * typical
            return (
                np.logaddexp(0, -slope * leads).sum()
                + np.logaddexp(0, -imagined)
                + np.logaddexp(0, imagined)
            )

    else:

        def loss(log_slope):
            slope = np.exp(log_slope)
            right = log_softmax(slope * scores, axis=1)[np.arange(len(codes)), codes]
            return -right.sum() + 2 * np.logaddexp(0, slope * typical)

    center = -np.log(typical)
    result = minimize_scalar(loss, bounds=(center - 12, center + 12), method="bounded")
    return float(np.exp(result.x))


def probabilities(scores, slopes):
    """Return class probabilities, shape (n_rows, n_classes).

    Parameters
    ----------
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
    slopes : ndarray of shape (1,) or (n_classes,)
        One slope for several classes means the softmax; one for each means a sigmoid
        for each, scaled to add up to 1.
    """
    if scores.ndim == 1:
        return np.column_stack([expit(-slopes[0] * scores), expit(slopes[0] * scores)])
    if len(slopes) == 1:
        return softmax(slopes[0] * scores, axis=1)
    # The sigmoids may all underflow: scale their logarithms.
    return softmax(log_expit(slopes * scores), axis=1)
