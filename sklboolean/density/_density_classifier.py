"""Classification by Bayes' rule, with a density model for each class."""

import numpy as np
from joblib import Parallel, delayed
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.labels import encode_classes
from sklboolean._core.validation import KEPT_DTYPES, validate_data_strict
from sklboolean._core.weights import checked_weights
from sklboolean.density._tree import ChowLiuTree


class DensityClassifier(ClassifierMixin, BaseEstimator):
    """Classifier by Bayes' rule, with a density model for each class.

    The probability of a class is proportional to its share of the training samples
    times the likelihood of the sample among those of the class. With a ``ChowLiuTree``
    it is a naive Bayes classifier whose bits depend on each other; missing bits are
    summed out where the model can do so.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Density model with ``score_samples``; a clone of it is fitted to each class.
        None: ``ChowLiuTree()``. A larger model needs thousands of samples of each
        class.
    n_jobs : int or None, default=None
        Number of classes to fit in parallel. The result does not depend on it.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted density of each class.
    class_log_prior_ : ndarray of shape (n_classes,), dtype float64
        Log of the share of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.naive_bayes.BernoulliNB : The same with independent bits.

    References
    ----------
    Friedman, Geiger, Goldszmidt. "Bayesian Network Classifiers". Machine Learning 29,
    1997, section 4.2: a Chow-Liu tree for each class.

    Examples
    --------
    >>> from sklboolean import DensityClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 10
    >>> y = [0, 1, 1, 0] * 10
    >>> DensityClassifier().fit(X, y).predict([[0, 1], [1, 1]])
    array([1, 0])
    """

    def __init__(self, estimator=None, *, n_jobs=None):
        self.estimator = estimator
        self.n_jobs = n_jobs

    def _density(self):
        return ChowLiuTree() if self.estimator is None else self.estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._density()).input_tags
        return tags

    def fit(self, X, y, sample_weight=None):
        """Fit the density of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples as the density model accepts them.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The state before the call is kept.
        """
        with restore_on_error(self):
            X, y = self._read(X, y)
            weights = checked_weights(sample_weight, len(y), divides=True)
            known = np.flatnonzero(weights > 0)
            X, weights = X[known], weights[known]
            classes, codes = encode_classes(y[known], min_classes=1)
            members = [np.flatnonzero(codes == k) for k in range(len(classes))]
            given = [{"sample_weight": weights[own]} for own in members]
            if sample_weight is None:
                given = [{}] * len(classes)
            self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(clone(self._density()).fit)(X[own], **more)
                for own, more in zip(members, given, strict=True)
            )
            totals = np.bincount(codes, weights)
            self.classes_ = classes
            self.class_log_prior_ = np.log(totals / totals.sum())
        return self

    def _read(self, X, y="no_validation"):
        tags = get_tags(self).input_tags
        return validate_data_strict(
            self,
            X,
            y,
            reset=not isinstance(y, str),
            accept_sparse=["csr"] if tags.sparse else False,
            dtype=KEPT_DTYPES,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )

    def predict_log_proba(self, X):
        """Compute the log-probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; NaN is a missing bit where the density model learns with them.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            In nats, in the order of ``classes_``.
        """
        check_is_fitted(self)
        X = self._read(X)
        scores = [density.score_samples(X) for density in self.estimators_]
        return log_softmax(np.column_stack(scores) + self.class_log_prior_, axis=1)

    def predict_proba(self, X):
        """Compute the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``predict_log_proba``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Each row sums to 1.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """Predict the most probable class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``predict_log_proba``.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels among ``classes_``.
        """
        codes = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[codes]
