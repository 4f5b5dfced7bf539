"""Labels and probabilities from scores: what the classifiers share."""

import numpy as np
from sklearn.utils.metaestimators import available_if

from sklboolean._core.calibration import probabilities

__all__ = ["ScorePredictionMixin"]


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


class ScorePredictionMixin:
    """``predict`` and ``predict_proba`` from ``decision_function``.

    A fitted learner has ``classes_`` and, with ``probability=True``, the ``slope_`` of
    its sigmoid, for scores divided by ``score_bound_`` where it has one.
    """

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            As for ``decision_function``.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
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
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            As for ``decision_function``.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes), dtype float64
            The sigmoid, or with more than two classes the softmax, of ``slope_``
            times score: the largest is that of the predicted class.
        """
        scores = self.decision_function(X)
        return probabilities(scores / getattr(self, "score_bound_", 1.0), self.slope_)
