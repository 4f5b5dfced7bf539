"""Anomalies: samples that a density model finds improbable."""

# `surprises_of` compares the likelihood of a sample with those of all samples that
# differ from it in one column only: minus the log of the share that the value of that
# column has.

import numpy as np
from scipy.special import logsumexp
from sklearn.base import OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.formulas import feature_names_of
from sklboolean._core.parameters import check_real
from sklboolean._core.validation import take_samples
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import check_sample_weight, checked_weights
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._base import (
    BinaryDensityMixin,
    UsesDensityMixin,
    apply_in_blocks,
)
from sklboolean.density._frame_bits import FrameBits
from sklboolean.density._tree import ChowLiuTree
from sklboolean.preprocessing._frames import frame_like, is_frame, read_columns


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


def surprises_of(log_density, signs, values):
    """Compute how improbable each value of a sample is, given its other values.

    Parameters
    ----------
    log_density : callable
        Computes the log-likelihood of each of some samples.
    signs : ndarray of shape (n_samples, n_features)
        0 where a bit is missing.
    values : list of (ndarray, ndarray)
        For each column its features, and their signs for each value that it can have.

    Returns
    -------
    surprises : ndarray of shape (n_samples, n_columns), dtype float64
        In nats; NaN where a value is not known.
    """
    surprises = np.full((len(signs), len(values)), np.nan)
    for j, (features, of_values) in enumerate(values):
        is_known = (signs[:, features] != 0).all(axis=1)
        known_signs = signs[is_known]
        logs = np.empty((len(known_signs), len(of_values)))
        for k, value in enumerate(of_values):
            other = known_signs.copy()
            other[:, features] = value
            logs[:, k] = log_density(other)
        is_own = (known_signs[:, None, features] == of_values).all(axis=2)
        own_logs = np.where(is_own, logs, -np.inf)
        surprises[is_known, j] = logsumexp(logs, axis=1) - logsumexp(own_logs, axis=1)
    return surprises


class DensityOutlierDetector(UsesDensityMixin, OutlierMixin, VersionedEstimator):
    """Detector of samples that are improbable under a density model.

    The score of a sample is its log-likelihood: exactly how improbable it is. Samples
    below a threshold, which a given share of the training samples is, are anomalies.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Density model with ``score_samples``. None: ``ChowLiuTree()``, which has too few
        parameters to fit single anomalies. A larger model needs thousands of samples,
        or ``alpha="auto"``. If its ``feature_groups`` is None, the features of each
        category of a data frame become a group.
    contamination : float, default=0.1
        Expected share of anomalies among the training samples, above 0 and at most 0.5:
        so many of them are below the threshold.
    encoder : BooleanEncoder or None, default=None
        Set its ``n_bins``, ``kinds`` or ``max_categories``. Its ``missing`` and
        ``complement`` are set to "propagate" and False. None: one with ``n_bins=8`` for
        data frames, if the model has ``feature_groups``; other data are the features.

    Attributes
    ----------
    encoder_ : BooleanEncoder or None
        The fitted encoder. None: X holds the features.
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

    Notes
    -----
    A missing value is summed out: it is neither usual nor unusual. A level that the
    training data did not have is as improbable as one of n + 1 samples, n being the
    total weight of the training samples, whatever the other values are.

    References
    ----------
    Bishop. "Novelty Detection and Neural Network Validation". IEE Proceedings - Vision,
    Image and Signal Processing 141, 1994.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklboolean import DensityOutlierDetector
    >>> rows = [["cat", True], ["dog", True], ["fish", False]] * 20 + [["fish", True]]
    >>> pets = pd.DataFrame(rows, columns=["animal", "has fur"])
    >>> detector = DensityOutlierDetector(contamination=0.02).fit(pets)
    >>> detector.predict(pets[-3:])
    array([ 1,  1, -1])
    >>> detector.surprises(pets[-3:]).round(1)
        animal  has fur
    58     0.7      0.0
    59     0.0      0.1
    60     3.6      2.9
    """

    encoder_ = None  # 0.1.0 had none

    def __init__(self, estimator=None, *, contamination=0.1, encoder=None):
        self.estimator = estimator
        self.contamination = contamination
        self.encoder = encoder

    def _default_density(self):
        return ChowLiuTree()

    def fit(self, X, y=None, sample_weight=None) -> "DensityOutlierDetector":
        """Fit the density model and the threshold.

        Parameters
        ----------
        X : data frame, or {array-like, sparse matrix} of shape (n_samples, n_features)
            A data frame of pandas or polars, or a table of pyarrow, with columns of any
            kind; or samples as the density model accepts them.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0, for the density model and the
            threshold. Where their mean is below 1, they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The state before the call is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            limits = {"minimum": 0.0, "maximum": 0.5, "strict": True}
            share = check_real(self.contamination, "contamination", **limits)
            density = self._density()
            is_binary = "feature_groups" in density.get_params()
            self.encoder_ = None
            if self.encoder is not None or (is_frame(X) and is_binary):
                read_columns(self, X, reset=True)
                if sample_weight is not None:
                    weights = check_sample_weight(sample_weight, len(X))
                    shown = np.flatnonzero(weights)
                    X, sample_weight = take_samples(X, shown), weights[shown]
                self.encoder_ = FrameBits.fit_encoder(self.encoder, X)
                density = FrameBits(self.encoder_).with_groups(density)
            features, _ = self._read(X, reset=True)
            weights = checked_weights(sample_weight, features.shape[0])
            fit_params = {} if sample_weight is None else {"sample_weight": weights}
            density = clone(density).fit(features, **fit_params)
            self.estimator_ = density
            self._log_new = -float(np.log1p(weights.sum()))
            scores = density.score_samples(features)
            self.offset_ = weighted_quantile(scores, weights, share)
        return self

    def _read(self, X, *, reset=False):
        """Return the features, and which values are new levels; None: no encoder."""
        if self.encoder_ is not None:
            columns = read_columns(self, X, reset=False)
            frame_bits = FrameBits(self.encoder_)
            bits = frame_bits.encode(X)
            is_new = [
                np.isnan(bits[:, features]).any(axis=1) & ~column.missing()
                for column, (features, _) in zip(
                    columns, frame_bits.columns, strict=True
                )
            ]
            return bits, np.column_stack(is_new)
        return self._read_features(X, reset=reset), None

    def score_samples(self, X) -> np.ndarray:
        """Compute the log-likelihood of each sample.

        Parameters
        ----------
        X : data frame, or {array-like, sparse matrix} of shape (n_samples, n_features)
            A missing value is summed out, where the density model learns with missing
            bits.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            In nats; the lower, the more of an anomaly.
        """
        check_is_fitted(self)
        features, is_new = self._read(X)
        scores = self.estimator_.score_samples(features)
        return scores if is_new is None else scores + self._log_new * is_new.sum(axis=1)

    def surprises(self, X):
        """Compute how improbable each value is, given the other values of its sample.

        The column with the largest surprise is the most unusual one of a sample.

        Parameters
        ----------
        X : data frame, or {array-like, sparse matrix} of shape (n_samples, n_features)
            As for ``score_samples``.

        Returns
        -------
        surprises : data frame or ndarray of shape (n_samples, n_features)
            In nats: minus the logarithm of the probability of the interval or level,
            given all other known values of the sample, which is as exact as
            ``score_samples``. NaN where the value is missing. The features of a group
            share the surprise of their value. For a data frame of pandas or polars with
            its columns, else dtype float64.

        Raises
        ------
        ValueError
            If the density model is not one of Boolean features.
        """
        check_is_fitted(self)
        density, features, is_new = self.estimator_, *self._read(X)
        density = getattr(density, "best_estimator_", density)
        if not isinstance(density, BinaryDensityMixin):
            raise ValueError(
                "surprises needs a density of Boolean features, such as ChowLiuTree(); "
                f"got {self.estimator!r}."
            )
        signs = density._read(features)
        if is_new is None:
            attributes = density._attributes or Attributes(np.arange(signs.shape[1]))
            values = [
                (attributes.columns_of(k), attributes.value_signs(k))
                for k in range(len(attributes.sizes))
            ]
        else:
            values = FrameBits(self.encoder_).value_signs()

        def of_block(block):
            return surprises_of(density._log_density, block, values)

        surprises = apply_in_blocks(of_block, signs)
        if is_new is None:
            return surprises[:, attributes.of_column]
        surprises[is_new] = -self._log_new
        return frame_like(X, surprises, tuple(feature_names_of(self.encoder_)))

    def decision_function(self, X) -> np.ndarray:
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

    def predict(self, X) -> np.ndarray:
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
