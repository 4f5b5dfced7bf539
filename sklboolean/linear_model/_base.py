"""The scikit-learn side of the on-line linear learners."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin, fit_slope, restore_on_error
from sklboolean._core.partitions import Layout, open_partitions
from sklboolean._core.validation import (
    check_real,
    encode_classes,
    given_classes,
    known_classes,
)
from sklboolean.linear_model._fitting import (
    REMEMBERED_SCORES,
    Fitter,
    check_shared_parameters,
    class_weights,
)
from sklboolean.linear_model._partitions import check_mixable, learn_partitions
from sklboolean.linear_model._tables import read_table

SMALLEST = np.nextafter(0.0, 1.0)


def _learns_in_parts(learner):
    if learner.class_weight == "balanced":
        raise AttributeError(
            "partial_fit is not available with class_weight='balanced'; give a dict."
        )
    return True


def as_decision(scores):
    """Return the only column of scores as a vector; several columns as they are."""
    return scores[:, 0] if scores.shape[1] == 1 else scores


def add_epochs(earlier, mistakes, part):
    """Append the mistakes of new epochs; the parts of a stream are one epoch."""
    if part and earlier:
        return [*earlier[:-1], earlier[-1] + mistakes[0]]
    return [*earlier, *mistakes]


class OnlineLinearClassifier(DecisionClassifierMixin, ClassifierMixin, BaseEstimator):
    """Common methods; a learner adds its parameters and `_loop_parameters`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        """Learn from rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; zeros and ones are kept as bits.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.

        Returns
        -------
        self : object
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data. What was learned before is kept.
        """
        with restore_on_error(self):
            resume = self.warm_start and hasattr(self, "classes_")
            known = self.classes_ if resume else None
            fitter = self._open(X, y, known, resume, part=False)
            scores = fitter.held_out_scores() if self.probability else None
            if self.probability and scores is None:
                raise ValueError(
                    "probability=True needs at least two rows of each class, to hold "
                    "some out."
                )
            state = fitter.open_state(self._state if resume else None)
            state, progress = fitter.fit(state)
            self._publish(fitter, state, progress, resume, part=False)
            self.n_iter_ = len(progress.mistakes)
            self.slope_, self._recent = None, None
            if scores is not None:
                self.slope_ = fit_slope(as_decision(scores), fitter.codes)
        return self

    @available_if(_learns_in_parts)
    def partial_fit(self, X, y, classes=None):
        """Learn from more rows, in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; zeros and ones are kept as bits.
        y : array-like of shape (n_samples,)
            Labels among ``classes``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; needed in the first call.

        Returns
        -------
        self : object
            The fitted learner. As for ``fit``, errors leave it as it was.
        """
        with restore_on_error(self):
            resume = hasattr(self, "classes_")
            known = known_classes(self, classes)
            fitter = self._open(X, y, known, resume, part=True)
            self._recent = self._recent if resume else None
            slope = None
            if self.probability:
                slope = self._progressive_slope(fitter, resume)
            state = fitter.open_state(self._state if resume else None)
            progress = fitter.train(state, np.arange(len(fitter.codes)), 1, False)
            self._publish(fitter, state, progress, resume, part=True)
            self.slope_ = slope
            self.n_iter_ = self.n_iter_ if resume else 1
        return self

    def fit_partitions(self, partitions, classes=None):
        """Learn from rows that stand in several places, by parameter mixing.

        In each epoch every partition is learned from the same weights, in its own
        order, as one joblib task; then the weights are mixed. One partition gives
        what ``fit`` gives with ``shuffle=False``, and the model depends neither on
        ``n_jobs`` nor on joblib's backend.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) as for ``fit``, callables that load and return one, or
            objects with such a method ``compute``, as Dask's delayed ones. Callables
            are loaded where the task runs, once for each epoch, the first one once
            before; arrays are sent.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; a partition may lack some. None: they are
            collected first, which loads each partition once more.

        Returns
        -------
        self : object
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data, with the number of the partition. What was
            learned before is kept.

        Notes
        -----
        The shares of the mix are in proportion to the updates in each partition. Sums
        are mixed by the arithmetic mean, Winnow's factors by the geometric mean. On
        separable rows the mistake bound of the perceptron then holds for the mistakes
        weighted by these shares (McDonald, Hall, Mann 2010, Theorem 3). With
        ``average="mean"`` the mean is over all examples of all partitions, each with
        the hypothesis that its partition had after it.

        References
        ----------
        McDonald, Hall, Mann. "Distributed Training Strategies for the Structured
        Perceptron". NAACL 2010, Figure 3 and Theorem 3.
        """
        with restore_on_error(self):
            check_shared_parameters(self)
            check_mixable(self)
            resume = self.warm_start and hasattr(self, "classes_")
            classes = given_classes(self, classes, resume)
            self.classes_, fitter, layout, state, progress = learn_partitions(
                self,
                open_partitions(partitions),
                classes,
                Layout.of(self) if resume else None,
                self._state if resume else None,
            )
            layout.publish(self)
            self._publish(fitter, state, progress, resume, part=False)
            self.n_iter_ = len(progress.mistakes)
            self.slope_, self._recent = None, None
        return self

    def _open(self, X, y, known, resume, *, part):
        check_shared_parameters(self)
        table, y = read_table(self, X, y, reset=not resume)
        self.classes_, codes = encode_classes(y, known)
        weights = class_weights(self, self.classes_, None if part else y)
        parameters, initial = self._loop_parameters(table)
        parameters["joint"] = self.multi_class == "joint" and len(weights) > 2
        return Fitter(self, parameters, initial, table, codes, weights)

    def _progressive_slope(self, fitter, resume):
        """Fit the slope to scores given before the rows are learned."""
        if not resume:
            scores = fitter.held_out_scores()
            if scores is None:
                return 1.0
            return fit_slope(as_decision(scores), fitter.codes)
        X, codes = fitter.table.values(), fitter.codes
        scores = X @ self._dense_coef().T + self.intercept_
        n_seen = self.t_ + len(codes)
        if self._recent is not None:
            scores = np.concatenate([self._recent[0], scores])
            codes = np.concatenate([self._recent[1], codes])
        # Half of the stream at most: the scores of a beginner say little.
        n_kept = min(REMEMBERED_SCORES, n_seen // 2 + 1)
        self._recent = scores[-n_kept:], codes[-n_kept:]
        return fit_slope(as_decision(self._recent[0]), self._recent[1])

    def _publish(self, fitter, state, progress, resume, *, part):
        if not resume:
            self.mistakes_per_epoch_, self.n_updates_ = [], 0
        self.mistakes_per_epoch_ = add_epochs(
            self.mistakes_per_epoch_, progress.mistakes, part
        )
        self.n_mistakes_ = sum(self.mistakes_per_epoch_)
        self.n_updates_ += sum(progress.updates)
        self._state = state
        self.t_ = state.values["t"]
        self.coef_, self.intercept_ = fitter.hypothesis(state)
        self.raw_coef_, self.raw_intercept_ = fitter.hypothesis(state, last=True)

    def _dense_coef(self):
        return self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_

    def decision_function(self, X):
        """Return the score of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            Two classes: above 0 for the second one; a score of 0 is given as the
            smallest float above it. More: the largest is that of the predicted class.
        """
        check_is_fitted(self)
        X = read_table(self, X, reset=False).values()
        scores = np.asarray(X @ self._dense_coef().T) + self.intercept_
        if scores.shape[1] > 1:
            return scores
        return np.where(scores[:, 0] == 0, SMALLEST, scores[:, 0])

    def sparsify(self):
        """Store ``coef_`` as a CSR array.

        Returns
        -------
        self : object
            The fitted learner.
        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_array(self.coef_)
        return self

    def densify(self):
        """Store ``coef_`` as an ndarray again.

        Returns
        -------
        self : object
            The fitted learner.
        """
        check_is_fitted(self)
        self.coef_ = self._dense_coef()
        return self

    def prune(self, threshold):
        """Set to 0 the published weights of small format_large_int.

        Learning goes on from the weights as they were.

        Parameters
        ----------
        threshold : float
            Weights of at most this format_large_int go, after averaging.

        Returns
        -------
        self : object
            The fitted learner.
        """
        check_is_fitted(self)
        check_real(threshold, "threshold", 0.0)
        dense = self._dense_coef()
        pruned = np.where(np.abs(dense) <= threshold, 0.0, dense)
        was_sparse = sparse.issparse(self.coef_)
        self.coef_ = sparse.csr_array(pruned) if was_sparse else pruned
        return self
