"""Classification by Bayes' rule, with a density model for each class."""

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.calibration import fit_slope, held_out_parts
from sklboolean._core.labels import encode_classes
from sklboolean._core.validation import KEPT_DTYPES, validate_data_strict
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import UsesDensityMixin
from sklboolean.density._tree import ChowLiuTree

# Samples that are scored for calibration: of the second densities, and others.
N_OWN, N_OTHERS = 200, 500
LOWEST = -700.0  # log-odds that calibrate; the exponential is above 0
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class DensityClassifier(UsesDensityMixin, ClassifierMixin, BaseEstimator):
    """Classifier by Bayes' rule, with a density model for each class.

    The probability of a class is proportional to its share of the training samples
    times the likelihood of the sample among those of the class. With a ``ChowLiuTree``
    it is a naive Bayes classifier whose bits depend on each other; missing bits are
    summed out where the model can do so.

    Densities know less than they claim: multiplied over many features, their errors
    make Bayes' rule far too certain. So the log-probabilities are multiplied by a
    slope, ``calibration_slope_``, before they are normalized. It is fitted to samples
    that densities of another quarter of the samples score. The predicted class has the
    largest probability with any slope.

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
    calibration_slope_ : float
        Slope of the log-probabilities. 1: Bayes' rule as it stands, also where no
        sample is left to calibrate with.
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

    def _default_density(self):
        return ChowLiuTree()

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
            given = None if sample_weight is None else weights
            self.estimators_ = self._fit_densities(X, codes, given)
            totals = np.bincount(codes, weights)
            self.classes_ = classes
            self.class_log_prior_ = np.log(totals / totals.sum())
            self.calibration_slope_ = self._held_out_slope(X, codes, weights, given)
        return self

    def _fit_densities(self, X, codes, weights):
        """Fit a density to each class; weights None: without them."""
        members = [np.flatnonzero(codes == k) for k in range(codes.max() + 1)]
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(clone(self._density()).fit)(
                X[own], **({} if weights is None else {"sample_weight": weights[own]})
            )
            for own in members
        )

    def _held_out_slope(self, X, codes, weights, given):
        """Fit the slope to scores of densities of a quarter of each class.

        Their log-odds are multiplied by the ratio of the mean log-odds of both on
        samples that both were fitted to. Equal samples count as one with the sum of
        their weights, so that the slope does not depend on order.
        """
        keys = sample_keys(X) + codes.astype(np.uint64) * MULTIPLIER
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        codes, weights = codes[first], np.bincount(group, weights)
        training, testing = held_out_parts(codes, weights)
        own, others = np.flatnonzero(training), np.flatnonzero(testing)[:N_OTHERS]
        if not len(others):
            return 1.0
        if given is None:  # copies instead of weights
            copies = np.repeat(own, training[own].astype(np.intp))
            second = self._fit_densities(X[first[copies]], codes[copies], None)
        else:
            second = self._fit_densities(X[first[own]], codes[own], training[own])
        own = own[:N_OWN]
        scale = self._log_odds(self.estimators_, X[first[own]]).mean()
        second_scale = self._log_odds(second, X[first[own]]).mean()
        scores = self._log_odds(second, X[first[others]])
        if max(scale, second_scale) < -np.finfo(np.float64).tiny:
            scores *= scale / second_scale
        weights = testing[others]
        return fit_slope(scores, codes[others], weights / min(1.0, weights.mean()))

    def _log_odds(self, densities, X):
        """Compute the log-odds of each class to the most probable one, at most 0."""
        scores = self._scores(densities, X)
        return np.maximum(scores - scores.max(axis=1, keepdims=True), LOWEST)

    def _scores(self, densities, X):
        """Compute the logarithm of prior times density for each class."""
        scores = [density.score_samples(X) for density in densities]
        return np.column_stack(scores) + self.class_log_prior_

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
        scores = self._joint_scores(X)
        return log_softmax(self.calibration_slope_ * scores, axis=1)

    def _joint_scores(self, X):
        check_is_fitted(self)
        return self._scores(self.estimators_, self._read(X))

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
        codes = self._joint_scores(X).argmax(axis=1)
        return self.classes_[codes]


def sample_keys(X):
    """Make a number of 64 bits of each sample, the same for dense and sparse ones."""
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    keys, numbers = np.zeros(X.shape[0], dtype=np.uint64), np.random.default_rng(0)
    for j in range(X.shape[1]):
        if sparse.issparse(columns):
            part = slice(*columns.indptr[j : j + 2])
            values, rows = columns.data[part], columns.indices[part]
        else:
            values, rows = columns[:, j], slice(None)
        # Adding 0 makes one zero of two.
        bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
        mixed = (bits ^ bits >> np.uint64(32)) * numbers.integers(
            2**64, dtype=np.uint64
        )
        keys[rows] += mixed ^ mixed >> np.uint64(29)
    return keys
