"""Base classes of the estimators, calibration of their scores, and atomic fits."""

from contextlib import contextmanager

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.utils.metaestimators import available_if


def fit_slope(scores, codes, weights=None):
    """Fit A > 0 so that sigmoid(A f), or softmax(A f), has the least log loss.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Held-out scores.
    codes : ndarray of shape (n_samples,), int
        Class numbers.
    weights : ndarray of shape (n_samples,) or None
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
    """Return class probabilities, shape (n_samples, n_classes).

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
    slope : float
    """
    if scores.ndim == 1:
        return np.column_stack([expit(-slope * scores), expit(slope * scores)])
    return softmax(slope * scores, axis=1)


def _gives_probabilities(learner):
    if not learner.probability:
        raise AttributeError(
            "predict_proba is available when probability=True is set before fit."
        )
    if getattr(learner, "slope_", 0.0) is None:
        raise AttributeError(
            "predict_proba is not available after a stream, of which no rows are kept "
            "to learn a slope from: call fit, or use CalibratedClassifierCV."
        )
    return True


class DecisionClassifierMixin:
    """``predict`` and ``predict_proba`` from ``decision_function``.

    A fitted learner has ``classes_`` and, with ``probability=True``, the ``slope_`` of
    its sigmoid, for scores divided by ``score_bound_`` where it has one.
    """

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``decision_function``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Among ``classes_``.
        """
        scores = self.decision_function(X)
        codes = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes.astype(np.intp)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``decision_function``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            The sigmoid, or with more than two classes the softmax, of ``slope_``
            times score: the largest is that of the predicted class.
        """
        scores = self.decision_function(X)
        return probabilities(scores / getattr(self, "score_bound_", 1.0), self.slope_)


@contextmanager
def restore_on_error(estimator):
    """Put an estimator back as it was when fitting it fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # At one stroke: a second Ctrl-C may come any time.
        estimator.__dict__ = before
        raise
