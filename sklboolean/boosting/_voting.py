"""Margins and labels from one vote for each fitted hypothesis."""

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin
from sklboolean._core.meta import reading
from sklboolean._core.validation import as_boolean, validate_data_strict
from sklboolean.boosting._votes import add_votes, vote_margins
from sklboolean.boosting._weak_learners import as_codes, stump_votes


class VotingMixin(DecisionClassifierMixin):
    """Prediction by a model with ``estimators_``, ``classes_`` and a ``_base()``.

    ``_stumps`` is the table of its hypotheses where all of them are stumps, None
    otherwise; ``_columns`` has for each hypothesis the columns of a kernel matrix that
    it was trained on, None for all.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base()).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.pairwise = inner.pairwise
        tags.input_tags.allow_nan = inner.allow_nan
        return tags

    def _read(self, X):
        check_is_fitted(self)
        return validate_data_strict(self, X, reset=False, **reading(self._base()))

    def _codes(self, X):
        """Yield the class that each hypothesis predicts for each row."""
        for estimator, columns in zip(self.estimators_, self._columns, strict=True):
            part = X if columns is None else X[:, columns]
            yield as_codes(estimator.predict(part), self.classes_)

    def decision_function(self, X):
        """Return the margin of the vote.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            From -1 to 1. Two classes: share of votes for the second less share for the
            first; an even vote is given as the smallest float above 0. More: share for
            each class less share against it.
        """
        X = self._read(X)
        n_classes = len(self.classes_)
        if self._stumps is not None:
            table = as_boolean(X, self._base().binarize)
            return vote_margins(stump_votes(self._stumps, table, n_classes))
        votes = np.zeros((X.shape[0], n_classes), dtype=np.int64)
        for codes in self._codes(X):
            add_votes(votes, codes)
        return vote_margins(votes)

    def staged_decision_function(self, X):
        """Yield the margin of the vote after each hypothesis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            As from ``decision_function``.
        """
        X = self._read(X)
        votes = np.zeros((X.shape[0], len(self.classes_)), dtype=np.int64)
        for codes in self._codes(X):
            add_votes(votes, codes)
            yield vote_margins(votes)

    def staged_predict(self, X):
        """Yield the labels after each hypothesis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        labels : ndarray of shape (n_samples,)
            As from ``predict``.
        """
        for margins in self.staged_decision_function(X):
            codes = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
            yield self.classes_[codes.astype(np.intp)]
