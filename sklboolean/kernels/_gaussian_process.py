"""What the Gaussian processes over conjunctions of columns share."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import as_words, unpack_words
from sklboolean._core.parameters import check_integer
from sklboolean._core.progress import CallbackSupportMixin
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import relative_weights
from sklboolean.kernels._evidence import (
    DistinctSamples,
    Hyperparameters,
    maximize_evidence,
)
from sklboolean.kernels._frame_columns import Frame, FrameColumns, Levels
from sklboolean.kernels._gaussian_posterior import (
    SAMPLES_AT_A_TIME,
    exact_posterior,
    projected_posterior,
)
from sklboolean.kernels._relevance_weights import LevelPairs, RelevanceWeights

MOST_BITS = 2**33


@dataclass(frozen=True)
class ProcessState:
    """A fitted process.

    Attributes
    ----------
    columns : FrameColumns
        Those that are not constant.
    weights : RelevanceWeights
    noise : float
    basis : Levels
        The samples that the mean is a sum over.
    coef : ndarray of shape (n_basis, n_targets), float64
    removed, added : ndarray of shape (n_basis, n_basis), float64, or None
        As in `Posterior`. None: no variances are kept.
    """

    columns: FrameColumns
    weights: RelevanceWeights
    noise: float
    basis: Levels
    coef: np.ndarray
    removed: np.ndarray | None = None
    added: np.ndarray | None = None

    def means(self, bits, n_jobs=None, *, with_variances=False):
        """Compute the posterior means of samples, and their variances or None."""
        means = np.empty((len(bits), self.coef.shape[1]))
        variances = (
            np.full(len(bits), self.weights.diagonal) if with_variances else None
        )
        for first in range(0, len(bits), SAMPLES_AT_A_TIME):
            part = slice(first, first + SAMPLES_AT_A_TIME)
            levels = self.columns.levels(bits[part])
            pairs = LevelPairs(self.columns, levels, self.basis)
            K = pairs.matrix(self.weights, n_jobs)
            means[part] = K @ self.coef
            if with_variances:
                variances[part] -= ((K @ self.removed) ** 2).sum(axis=1)
                if self.added is not None:
                    variances[part] += ((K @ self.added) ** 2).sum(axis=1)
        return means, variances


class GaussianProcess(CallbackSupportMixin, BaseEstimator):
    """Base of the classifier and the regressor: kernel, evidence and posterior."""

    def __init__(
        self, *, feature_groups=None, n_evidence=300, max_exact=5000, n_components=1000,
        max_iter=30, binarize=0.0, random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.feature_groups = feature_groups
        self.n_evidence = n_evidence
        self.max_exact = max_exact
        self.n_components = n_components
        self.max_iter = max_iter
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_params(self):
        check_integer(self.n_evidence, "n_evidence", 2)
        check_integer(self.max_exact, "max_exact", 0)
        check_integer(self.n_components, "n_components", 1)
        check_integer(self.max_iter, "max_iter", 0)

    def _bits(self, X, y="no_validation", *, reset=True, **options):
        """Check the samples and unpack them."""
        checked = validate_boolean(self, X, y, reset=reset, **options)
        table, y = (checked, None) if isinstance(y, str) else checked
        n_samples, n_features = table.shape[0], self.n_features_in_
        if n_samples * n_features > MOST_BITS:
            raise ValueError(
                f"X has {n_samples} samples of {n_features} features, which take "
                f"{n_samples * n_features >> 30} GiB as bytes; at most "
                f"{MOST_BITS >> 30} GiB are used. Select features, give fewer samples, "
                "or use BooleanSVC, which keeps X sparse."
            )
        bits = unpack_words(as_words(table), n_features)
        return bits if y is None else (bits, y)

    def _fit_process(self, bits, targets, weights, progress):
        """Choose the kernel by its evidence and compute the posterior.

        Parameters
        ----------
        bits : ndarray of shape (n_samples, n_features), uint8
        targets : ndarray of shape (n_samples, n_targets), float64
        weights : ndarray of shape (n_samples,), float64
            Above 0. Where their mean is below 1, they are divided by it.
        progress : Progress

        Returns
        -------
        left_out : ndarray of shape (n_samples, n_targets), float64
            The posterior mean at each sample without it, of the standardised targets.
        """
        rng = check_random_state(self.random_state)
        weights = relative_weights(weights)
        targets = self._standardize(targets, weights)
        names = getattr(self, "feature_names_in_", None)
        frame = Frame.lay_out(self.feature_groups, names, bits)
        samples, number = DistinctSamples.merge(frame.levels, targets, weights)
        order = rng.permutation(len(samples))
        logs, self.n_iter_ = maximize_evidence(
            frame.columns, samples.take(np.sort(order[: self.n_evidence])),
            self.max_iter,
            lambda value: progress.step(partial("objective {:.6g}".format, value)),
        )  # fmt: skip
        parts = Hyperparameters.from_logs(logs)
        model = frame.columns, samples, parts.weights, parts.noise
        basis = np.arange(len(samples))
        if len(samples) <= self.max_exact:
            posterior = exact_posterior(*model, n_jobs=self.n_jobs)
        else:
            basis = np.sort(order[: self.n_components])
            posterior = projected_posterior(*model, basis, n_jobs=self.n_jobs)
        self._set_fitted_attributes(frame, samples.levels.take(basis), parts, posterior)
        one = np.minimum(weights, 1.0)
        return posterior.leave_one_out(number, targets, one, parts.noise)

    def _standardize(self, targets, weights):
        """Subtract the mean of each target, and divide all by one deviation."""
        total = weights.sum()
        self._target_mean = weights @ targets / total
        targets = targets - self._target_mean
        self._target_scale = float(np.sqrt((weights @ targets**2 / total).mean()))
        self._target_scale = self._target_scale or 1.0
        return targets / self._target_scale

    def _set_fitted_attributes(self, frame, basis, parts, posterior):
        factors = (None, None)
        if self._keeps_variances:
            factors = posterior.removed, posterior.added
        self._state = ProcessState(
            frame.columns, parts.weights, parts.noise, basis, posterior.coef, *factors
        )
        self.columns_ = np.array(frame.labels, dtype=object)
        self.relevances_ = frame.of_all_columns(parts.weights.relevances)
        shares = frame.of_all_columns(parts.weights.shares())
        shares /= max(shares.sum(), np.finfo(float).tiny)
        self.feature_importances_ = frame.of_features(shares)
        self.length_weights_ = parts.weights.lengths
        self.noise_ = parts.noise
        self.evidence_ = posterior.log_evidence

    def _means(self, X, **options):
        check_is_fitted(self)
        bits = self._bits(X, reset=False)
        return self._state.means(bits, self.n_jobs, **options)
