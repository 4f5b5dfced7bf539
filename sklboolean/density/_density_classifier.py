"""Classification by Bayes' rule, with a density model for each class."""

# Steps of `fit`:
# 1. Merge equal samples of a class, and divide the distinct samples among N_FOLDS
#    folds.
# 2. For each candidate, fit a density to each class of the other folds and score the
#    held-out samples: log prior + log density, (n_samples, n_classes).
# 3. `fit_calibration`: a slope and intercepts that minimise the log loss of these
#    scores, with priors. The candidate with the smallest loss is chosen.
# 4. Fit its densities to all samples of each class.
#
# Invariant: the folds depend on the set of samples, not on their order.

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import TableScoreMixin, restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.calibration import places_in_class
from sklboolean._core.damage import labels_of
from sklboolean._core.deprecation import jobs_of_context, old_parameters
from sklboolean._core.labels import encode_classes
from sklboolean._core.parallel import in_threads
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import labelled_weights
from sklboolean.density._base import UsesDensityMixin
from sklboolean.density._bernoulli_mixture import BernoulliMixture
from sklboolean.density._tree import ChowLiuTree

DEFAULTS = (ChowLiuTree(), ChowLiuTree(alpha=10.0), BernoulliMixture(1, alpha=1.0))
N_FOLDS = 4
N_SCORED = 500  # held-out samples that are enough to calibrate
LOWEST = -700.0  # log-odds that calibrate; the exponential is above 0
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def fold_shares(codes, weights):
    """Divide distinct samples among folds.

    A sample of weight 4 or more is in all folds, as its copies would be: new data have
    it too. The only sample of a class is in none.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
        Class numbers. The samples are in an order that says nothing about them.
    weights : ndarray of shape (n_samples,), float64
        Numbers of copies, above 0.

    Returns
    -------
    shares : ndarray of shape (n_samples, N_FOLDS), float64
        Part of the weight by which a sample is held out.
    """
    counts, rank = np.bincount(codes), places_in_class(codes)
    shares = (rank[:, None] % N_FOLDS == np.arange(N_FOLDS)).astype(np.float64)
    shares[counts[codes] == 1] = 0.0
    many = weights >= N_FOLDS
    shares[many] = (weights[many] // N_FOLDS / weights[many])[:, None]
    return shares


def fit_calibration(scores, codes, weights):
    """Fit the A > 0 and b of softmax(A scores + b) that have the smallest log loss.

    The prior of A is two imagined samples of typical scores, one classified correctly
    and one not. That of each b is normal with mean 0 and variance 0.1.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Held-out scores. Finite.
    codes : ndarray of shape (n_samples,), int
        Class numbers.
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    slope : float
    intercepts : ndarray of shape (n_classes,), dtype float64
    loss : float
        Mean log loss of the samples.
    """
    truth = np.eye(scores.shape[1])[codes] * weights[:, None]
    centred = scores - scores.mean(axis=1, keepdims=True)
    typical = float((weights @ np.abs(centred)).mean() / weights.sum())
    # Scores that are all equal have no scale: divide by 1.
    typical = typical if typical > np.finfo(np.float64).tiny else 1.0
    centred /= typical

    def objective(parameters):
        slope, intercepts = parameters[0], parameters[1:]
        logs = log_softmax(slope * centred + intercepts, axis=1)
        residuals = np.exp(logs) * weights[:, None] - truth
        value = 2 * np.logaddexp(slope / 2, -slope / 2) + 5 * (intercepts**2).sum()
        gradient = np.append(np.tanh(slope / 2), 10 * intercepts)
        gradient += np.append((residuals * centred).sum(), residuals.sum(axis=0))
        return value - (truth * logs).sum(), gradient

    start = np.append(1.0, np.zeros(scores.shape[1]))
    bounds = [(1e-6, None)] + [(None, None)] * scores.shape[1]
    slope, *intercepts = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds
    ).x
    logs = log_softmax(slope * centred + intercepts, axis=1)
    loss = -float((truth * logs).sum() / weights.sum())
    return float(slope / typical), np.array(intercepts), loss


@old_parameters(n_jobs=jobs_of_context)
class DensityClassifier(
    UsesDensityMixin, TableScoreMixin, ClassifierMixin, VersionedEstimator
):
    """Classifier by Bayes' rule, with a density model for each class.

    The probability of a class is proportional to its share of the training samples
    times the likelihood of the sample among those of the class. With a ``ChowLiuTree``
    it is a naive Bayes classifier whose bits depend on each other; missing bits are
    summed out where the model can do so.

    The errors of a density multiply over many features, which makes Bayes' rule far too
    certain. So the log-probabilities are multiplied by a slope,
    ``calibration_slope_``, and those of each class are shifted by an intercept, before
    they are normalized. These are fitted to held-out samples, which densities of the
    other samples score. The default density is the one whose calibrated probabilities
    of the held-out samples are best.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Density model with ``score_samples``; a clone of it is fitted to each class.
        None: held-out samples choose ``ChowLiuTree()``, ``ChowLiuTree(alpha=10)`` or
        independent bits, ``BernoulliMixture(1, alpha=1)``. A larger model needs
        thousands of samples of each class.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted density of each class whose samples have weight.
    class_log_prior_ : ndarray of shape (n_classes,), dtype float64
        Log of the share of each class: -inf for one whose samples have no weight.
    calibration_slope_ : float
        Slope of the log-probabilities. With 1, and intercepts of 0, Bayes' rule as it
        stands, also where no sample is left to calibrate with.
    calibration_intercepts_ : ndarray of shape (n_classes,), dtype float64
        Constant added to the log-probability of each class after that, in nats.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.naive_bayes.BernoulliNB : The same with independent bits.

    Notes
    -----
    Classes are fitted in parallel by ``joblib.parallel_config(n_jobs=2)``, on which no
    result depends.

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

    calibration_intercepts_ = 0.0  # 0.1.0 had none

    def __init__(self, estimator=None):
        self.estimator = estimator

    def _default_density(self):
        return DEFAULTS[0]

    def fit(self, X, y=None, sample_weight=None) -> "DensityClassifier":
        """Fit the density of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples as the density model accepts them.
        y : array-like of shape (n_samples,), default=None
            Labels. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

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
            X, y = self._read_features(X, y, reset=True)
            self.classes_, codes = encode_classes(y, min_classes=1)
            weights = labelled_weights(sample_weight, codes, self.classes_)
            used = np.flatnonzero(weights)
            X, codes, weights = X[used], codes[used], weights[used]
            totals = np.bincount(codes, weights, minlength=len(self.classes_))
            with np.errstate(divide="ignore"):  # a class without weight
                self.class_log_prior_ = np.log(totals / totals.sum())
            _, codes = np.unique(codes, return_inverse=True)
            is_weighted = sample_weight is not None
            density = self._calibrate(X, codes, weights, is_weighted)
            passed_weights = weights if is_weighted else None
            self.estimators_ = self._fit_densities(density, X, codes, passed_weights)
        return self

    def _fit_densities(self, density, X, codes, weights):
        """Fit a density to each class; weights None: without them."""
        members = [np.flatnonzero(codes == k) for k in range(codes.max() + 1)]

        def fit(index):
            options = {} if weights is None else {"sample_weight": weights[index]}
            return clone(density).fit(X[index], **options)

        return list(in_threads(fit, ((index,) for index in members)))

    def _calibrate(self, X, codes, weights, is_weighted):
        """Choose the density whose calibrated scores of held-out samples are best.

        Equal samples count as one with the sum of their weights, so that the result
        does not depend on order.
        """
        density, best = self._density(), np.inf
        self.calibration_slope_ = 1.0
        self.calibration_intercepts_ = np.zeros(len(self.classes_))
        keys = sample_keys(X) + codes.astype(np.uint64) * MULTIPLIER
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        X, codes, weights = X[first], codes[first], np.bincount(group, weights)
        shares = fold_shares(codes, weights)
        if not shares.any():
            return density
        candidates = DEFAULTS if self.estimator is None else (density,)
        for candidate in candidates:
            held_out = self._score_folds(
                candidate, X, codes, weights, shares, is_weighted
            )
            slope, intercepts, loss = fit_calibration(*held_out)
            if loss < best:
                density, best = candidate, loss
                self.calibration_slope_ = slope
                self.calibration_intercepts_[self._has_weight()] = intercepts
        return density

    def _score_folds(self, density, X, codes, weights, shares, is_weighted):
        """Score samples by densities of the others: their scores, classes, weights."""
        scored = []
        for share in shares.T:
            if sum(len(fold[1]) for fold in scored) >= N_SCORED:
                break
            held_out, training = np.flatnonzero(share), weights * (1 - share)
            if not len(held_out):  # each class has fewer samples than folds
                continue
            used = np.flatnonzero(training)
            passed_weights = training[used] if is_weighted else None
            if not is_weighted:  # copies instead of weights
                used = np.repeat(used, np.rint(training[used]).astype(np.intp))
            densities = self._fit_densities(
                density, X[used], codes[used], passed_weights
            )
            odds = self._log_odds(densities, X[held_out])
            scored.append((odds, codes[held_out], (weights * share)[held_out]))
        return tuple(map(np.concatenate, zip(*scored, strict=True)))

    def _log_odds(self, densities, X):
        """Compute the log-odds of each class to the most probable one, at most 0."""
        scores = np.maximum(self._scores(densities, X), np.finfo(np.float64).min / 4)
        return np.maximum(scores - scores.max(axis=1, keepdims=True), LOWEST)

    def _scores(self, densities, X):
        """Compute the logarithm of prior times density for each class with weight."""
        scores = [density.score_samples(X) for density in densities]
        return np.column_stack(scores) + self.class_log_prior_[self._has_weight()]

    def _has_weight(self):
        return np.isfinite(self.class_log_prior_)

    def predict_log_proba(self, X) -> np.ndarray:
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
        return log_softmax(self._calibrated_scores(X), axis=1)

    def _calibrated_scores(self, X):
        check_is_fitted(self)
        scores = self._scores(self.estimators_, self._read_features(X))
        of_classes = np.full((len(scores), len(self.classes_)), -np.inf)
        of_classes[:, self._has_weight()] = self.calibration_slope_ * scores
        return of_classes + self.calibration_intercepts_

    def predict_proba(self, X) -> np.ndarray:
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

    def predict(self, X) -> np.ndarray:
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
        codes = self._calibrated_scores(X).argmax(axis=1)
        return labels_of(self.classes_, codes)


def sample_keys(X):
    """Make a number of 64 bits of each sample, the same for dense and sparse ones."""
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    keys, numbers = np.zeros(X.shape[0], dtype=np.uint64), np.random.default_rng(0)
    for j in range(X.shape[1]):
        if sparse.issparse(columns):
            entries = slice(*columns.indptr[j : j + 2])
            values, rows = columns.data[entries], columns.indices[entries]
        else:
            values, rows = columns[:, j], slice(None)
        # Adding 0 makes one zero of two.
        bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
        mixed = (bits ^ bits >> np.uint64(32)) * numbers.integers(
            2**64, dtype=np.uint64
        )
        keys[rows] += mixed ^ mixed >> np.uint64(29)
    return keys
