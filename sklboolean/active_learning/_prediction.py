"""Labels and probabilities from a committee, or from what was fitted in the end."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.validation import validate_data_strict
from sklboolean.active_learning._parameters import (
    table_reading,
    takes_nan,
    takes_sparse,
    uses_version_space,
)


def _gives_probabilities(learner):
    final = learner.final_estimator
    if final is not None and not hasattr(final, "predict_proba"):
        raise AttributeError(f"{final!r}, the final_estimator, has no predict_proba.")
    return True


class CommitteePredictionMixin:
    """Prediction by `QueryByCommittee`, once it knows labels of two classes."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not uses_version_space(self)
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.allow_nan = takes_nan(self)
        return tags

    def __sklearn_is_fitted__(self):
        """Return whether there is a committee: labels of two classes are known."""
        return hasattr(self, "classes_")

    def _read(self, X, *, reset=False):
        return validate_data_strict(self, X, reset=reset, **table_reading(self))

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of the final estimator where there is one; else of the committee's mean
            probabilities, or of one member with ``prediction="gibbs"``.
        """
        check_is_fitted(self)
        if self.estimator_ is not None:
            return self.estimator_.predict(self._read(X))
        return self.classes_[self._probabilities(X).argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X):
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Mean of the members' probabilities, or of their votes where they have none;
            the posterior of a version space; 0 and 1 with ``prediction="gibbs"``.
        """
        check_is_fitted(self)
        return self._probabilities(X)

    def decision_function(self, X):
        """Return the score of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            Two classes: the probability of the second less that of the first. More:
            the probabilities. A final estimator that has scores gives its own.
        """
        check_is_fitted(self)
        if hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(self._read(X))
        probabilities = self._probabilities(X)
        if len(self.classes_) > 2:
            return probabilities
        return probabilities[:, 1] - probabilities[:, 0]

    def _probabilities(self, X):
        X = self._read(X)
        known = self.classes_
        if self.estimator_ is not None:
            table = np.zeros((X.shape[0], len(known)))
            columns = np.searchsorted(known, self.estimator_.classes_)
            table[:, columns] = self.estimator_.predict_proba(X)
            return table
        session = self._session
        if self.prediction == "gibbs":
            random = check_random_state(session.gibbs_seed)
            codes = session.committee.one_of(X, known, random)
            return np.eye(len(known))[codes]
        opinions = session.committee.opinions(X, known, with_probabilities=True)
        return opinions.consensus
