"""Anomalies: samples that a density model finds improbable."""

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.parameters import check_real
from sklboolean._core.validation import KEPT_DTYPES, validate_data_strict
from sklboolean._core.weights import checked_weights
from sklboolean.density._base import UsesDensityMixin
from sklboolean.density._tree import ChowLiuTree


def weighted_quantile(values, weights, share):
    """Compute the value below which a share of samples is, by linear interpolation.

    With whole weights it is ``numpy.quantile`` of the values, each repeated as often as
    its weight says. A value of weight 0 does not count.
    """
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    values, weights = values[order], weights[order]
    ends = np.cumsum(weights)
    places = np.stack([ends - weights, ends - np.minimum(weights, 1.0)], axis=1)
    return float(np.interp(share * places[-1, 1], places.ravel(), values.repeat(2)))


class DensityOutlierDetector(UsesDensityMixin, OutlierMixin, BaseEstimator):
    """Detector of samples that are improbable under a density model.

    The score of a sample is its log-likelihood: exactly how improbable it is. Samples
    below a threshold, which a given share of the training samples is, are anomalies.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Density model with ``score_samples``. None: ``ChowLiuTree()``, which cannot
        learn anomalies by heart. A larger model needs thousands of samples, or
        ``alpha="auto"``.
    contamination : float, default=0.1
        Expected share of anomalies among the training samples, above 0 and at most 0.5:
        so many of them are below the threshold.

    Attributes
    ----------
    estimator_ : estimator
        The fitted density model.
    offset_ : float
        Threshold of ``score_samples``, in nats: ``decision_function`` subtracts it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.ensemble.IsolationForest : Anomalies as samples that are easy to separate.

    References
    ----------
    Bishop. "Novelty Detection and Neural Network Validation". IEE Proceedings - Vision,
    Image and Signal Processing 141, 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import DensityOutlierDetector
    >>> X = np.repeat([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], [50, 50, 3], axis=0)
    >>> detector = DensityOutlierDetector(contamination=0.03).fit(X)
    >>> detector.predict([[0, 0, 1, 1], [0, 1, 0, 1]])
    array([ 1, -1])
    """

    def __init__(self, estimator=None, *, contamination=0.1):
        self.estimator = estimator
        self.contamination = contamination

    def _default_density(self):
        return ChowLiuTree()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._density()).input_tags
        return tags

    def fit(self, X, y=None, sample_weight=None):
        """Fit the density model and the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples as the density model accepts them.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the samples, at least 0, for the density model and the
            threshold. A sample of weight 2 counts as two samples.

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
            share = check_real(self.contamination, "contamination", 0.0, strict=True)
            if share > 0.5:
                raise ValueError(
                    f"contamination must be at most 0.5; got {self.contamination}."
                )
            X = self._read(X, reset=True)
            weights = checked_weights(sample_weight, X.shape[0])
            given = {} if sample_weight is None else {"sample_weight": weights}
            density = clone(self._density()).fit(X, **given)
            scores = density.score_samples(X)
            self.estimator_ = density
            self.offset_ = weighted_quantile(scores, weights, share)
        return self

    def _read(self, X, *, reset=False):
        tags = get_tags(self).input_tags
        return validate_data_strict(
            self,
            X,
            reset=reset,
            accept_sparse=["csr"] if tags.sparse else False,
            dtype=KEPT_DTYPES,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )

    def score_samples(self, X):
        """Compute the log-likelihood of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out, where the density model learns
            with missing bits.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            In nats; the lower, the more of an anomaly.
        """
        check_is_fitted(self)
        return self.estimator_.score_samples(self._read(X))

    def decision_function(self, X):
        """Compute how far the log-likelihood of each sample is above the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``score_samples``.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            In nats; negative for anomalies.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        """Predict whether samples are anomalies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``score_samples``.

        Returns
        -------
        labels : ndarray of shape (n_samples,), dtype int64
            -1 for anomalies, 1 for other samples.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)
