"""Predictions of a committee with labels: its mean, a final estimator, or both."""

# The committee predicts by the mean of its members. A final estimator that was given
# predicts instead of it; the perceptron of "auto" has half of the vote.

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from sklboolean._core.damage import labels_of
from sklboolean._core.formula import Members, formula_of
from sklboolean._core.packed_partitions import PartitionsMixin, answer_lazily
from sklboolean._core.validation import validate_data_strict
from sklboolean.linear_model import AveragedPerceptron


def _has_predict_proba(model):
    final = model._given_final()
    if final is not None and not hasattr(final, "predict_proba"):
        raise AttributeError(f"{final!r}, the final_estimator, has no predict_proba.")
    return True


class QueryPredictionMixin(PartitionsMixin):
    """Predictions of `QueryByCommittee`, and what they are made of.

    For estimators with ``final_estimator``, ``classes_``, ``committee_`` and
    ``estimator_``.
    """

    def predict(self, X) -> np.ndarray:
        """Predict the label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Predicted by the final estimator if one was given; else by the mean
            probabilities.
        """
        X = self._check_X(X)
        if self._decides_alone():
            return self.estimator_.predict(X)
        return labels_of(self.classes_, self._probabilities(X).argmax(axis=1))

    @available_if(_has_predict_proba)
    @answer_lazily
    def predict_proba(self, X) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Mean of the probabilities of the members, or of their votes if they have
            none; the posterior of a version space. Those of the final estimator if one
            was given; with "auto" the mean of both.
        """
        return self._probabilities(self._check_X(X))

    def decision_function(self, X) -> np.ndarray:
        """Compute the decision scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            For two classes, the probability of the second minus that of the first. For
            more, the probabilities. The scores of the final estimator if it has any.
        """
        X = self._check_X(X)
        if self._decides_alone() and hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(X)
        probabilities = self._probabilities(X)
        if len(self.classes_) > 2:
            return probabilities
        return probabilities[:, 1] - probabilities[:, 0]

    def _check_X(self, X):
        if not hasattr(self, "classes_"):
            state = vars(self).get("_state")
            labels_so_far = "no labels"
            if state is not None and state.n_labels:
                labels_so_far = f"labels of one class only, {state.y.tolist()[0]!r}"
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has "
                f"{labels_so_far}, and prediction needs two classes. Call fit, or "
                "teach labels of a second class."
            )
        return validate_data_strict(self, X, reset=False, **self._validation_options())

    def _decides_alone(self):
        """Whether a final estimator was given, which predicts without the committee."""
        return self.estimator_ is not None and self._given_final() is not None

    def _probabilities(self, X):
        if self.estimator_ is None:
            return self._committee_predictions(X).consensus
        of_final = np.zeros((X.shape[0], len(self.classes_)))
        columns = np.searchsorted(self.classes_, self.estimator_.classes_)
        of_final[:, columns] = self.estimator_.predict_proba(X)
        if self._decides_alone():
            return of_final
        return (of_final + self._committee_predictions(X).consensus) / 2

    def _committee_predictions(self, X):
        committee = self._state.committee
        return committee.predict(X, self.classes_, with_probabilities=True)

    def _formula(self):
        if self._decides_alone():
            return formula_of(self.estimator_)
        return Members("votes", self._votes)

    def _votes(self, X):
        """List each member, no game, and what its vote adds to the scores."""
        X = self._check_X(X)
        predictions = self._committee_predictions(X)
        votes = predictions.parts_of_score(self.committee_, self.classes_)
        if self.estimator_ is None:
            return votes
        of_final = self._probabilities(X) - predictions.consensus / 2
        if len(self.classes_) == 2:
            of_final = of_final - of_final[:, ::-1]
        halves = [(member, game, shares / 2) for member, game, shares in votes]
        return [(self.estimator_, "", of_final), *halves]

    def _given_final(self):
        """Return the final estimator that was given, or None."""
        final = self.final_estimator
        return None if isinstance(final, str) and final == "auto" else final

    def _new_final(self, X):
        """Make the classifier that predicts, alone or with the committee, or None."""
        if self.final_estimator is not self._given_final():
            uses_linear = self.committee is None and has_bits(X)
            return AveragedPerceptron() if uses_linear else None
        return None if self.final_estimator is None else clone(self.final_estimator)


def has_bits(X):
    """Test whether all features are zeros and ones."""
    values = X.data if sparse.issparse(X) else X
    return values.dtype.kind in "buif" and bool(((values == 0) | (values == 1)).all())
