"""Base of the Gaussian process classifier and regressor."""

# A fit, in steps:
# 1. `Frame.lay_out` groups features into columns, and finds the levels of each.
# 2. Samples of equal levels are merged (`DistinctSamples`).
# 3. `maximize_evidence` chooses weights, relevances and noise on N_EVIDENCE of them.
# 4. `LearnedKernel.process` makes the process of all samples, exact or projected.
# 5. The subclass computes the posterior: by least squares, or by Newton's method.
# Shapes: means (n_samples, n_targets); one target for regression and two classes.

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.utils import check_random_state

from sklboolean._core.bits import as_words, unpack_words
from sklboolean._core.damage import require, require_shape
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.memory import check_free
from sklboolean._core.parameters import check_integer
from sklboolean._core.progress import CallbackSupportMixin
from sklboolean._core.validation import check_is_fitted, validate_boolean
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights
from sklboolean.kernels._evidence import (
    DistinctSamples,
    Hyperparameters,
    maximize_evidence,
)
from sklboolean.kernels._frame_columns import Frame, FrameColumns, Levels
from sklboolean.kernels._gaussian_posterior import (
    SAMPLES_AT_A_TIME,
    ExactProcess,
    ProjectedProcess,
)
from sklboolean.kernels._relevance_kernel import RelevanceKernel
from sklboolean.kernels._relevance_weights import (
    LevelPairs,
    RelevanceWeights,
    column_values,
)

N_EVIDENCE = 500  # distinct samples on which the relevances are learned, in n**3
MAX_EXACT = 2000  # distinct samples of an exact process, whose pairs take 8 bytes
N_BASIS = 1000  # distinct samples that span the process of more
NEGLIGIBLE = 1e-12
MOST_SIMILARITIES = 2**22  # of a part of the background


def samples_in_use(weights):
    """Find the samples in use, and their weights.

    A sample of less than 1e-12 of the largest weight is left out, as one of weight 0.
    """
    used = np.flatnonzero(weights > NEGLIGIBLE * weights.max())
    return used, weights[used]


@dataclass(frozen=True)
class ProcessState:
    """A fitted process.

    Attributes
    ----------
    columns : FrameColumns
        Those that are not constant.
    weights : RelevanceWeights
    basis : Levels
        The samples that the mean is a sum over.
    coef : ndarray of shape (n_basis, n_targets), float64
    removed, added : ndarray of shape (n_basis, n_basis), float64, or None
        As in `Posterior`. None: no variances are kept.
    """

    columns: FrameColumns
    weights: RelevanceWeights
    basis: Levels
    coef: np.ndarray
    removed: np.ndarray | None = None
    added: np.ndarray | None = None

    def means(self, bits, n_jobs=None, *, with_variances=False):
        """Compute the posterior means of samples, and their variances or None."""
        require_shape(
            self.weights.relevances, (len(self.columns.features),), "relevances"
        )
        require(self.coef.size, "coef is empty")
        means = np.empty((len(bits), self.coef.shape[1]))
        variances = (
            np.full(len(bits), self.weights.diagonal) if with_variances else None
        )
        for first in range(0, len(bits), SAMPLES_AT_A_TIME):
            block_slice = slice(first, first + SAMPLES_AT_A_TIME)
            levels = self.columns.levels(bits[block_slice])
            pairs = LevelPairs(self.columns, levels, self.basis)
            K = pairs.matrix(self.weights, n_jobs)
            means[block_slice] = K @ self.coef
            if with_variances:
                variances[block_slice] -= ((K @ self.removed) ** 2).sum(axis=1)
                if self.added is not None:
                    variances[block_slice] += ((K @ self.added) ** 2).sum(axis=1)
        return means, variances

    def _relevant_similarities(self, bits):
        """Multiply similarities with the basis by relevances, for each column.

        Returns
        -------
        u : ndarray of shape (n_samples, n_columns, n_basis), float64
        """
        levels = self.columns.levels(bits)
        tables = self.columns.similarities(levels, self.basis)
        u = np.empty((len(bits), len(tables), self.basis.codes.shape[1]))
        for j, a in enumerate(self.weights.relevances):
            u[:, j] = a * tables[j][np.ix_(levels.codes[j], self.basis.codes[j])]
        return u

    def column_values(self, bits, others, shares, owners, n_owners):
        """Compute Shapley values of owners of columns in posterior means.

        Parameters
        ----------
        bits : ndarray of shape (n_samples, n_features), uint8
        others : ndarray of shape (n_others, n_features), uint8
            The background.
        shares : ndarray of shape (n_others,), float64
        owners : ndarray of shape (n_columns,), int
        n_owners : int

        Returns
        -------
        values : ndarray of shape (n_samples, n_owners, n_targets), float64
        """
        n_columns, n_basis = self.basis.codes.shape
        values = np.zeros((len(bits), n_owners, self.coef.shape[1]))

        def sums(bits):
            u = self._relevant_similarities(bits)
            return self.weights.sums_by_owner(u, owners, n_owners)

        # The similarities of a part of the background take (n_others, n_columns,
        # n_basis), and its sums a small multiple.
        step = max(1, MOST_SIMILARITIES // max(1, n_columns * n_basis))
        for first in range(0, len(others), step):
            background_slice = slice(first, first + step)
            background = sums(others[background_slice])
            for k in range(len(bits)):
                own = sums(bits[k : k + 1])[:, 0]
                values[k] += (
                    column_values(
                        self.weights, own, background, shares[background_slice]
                    )
                    @ self.coef
                )
        return values


@dataclass(frozen=True)
class LearnedKernel:
    """The kernel of the largest evidence, and the samples.

    Attributes
    ----------
    frame : Frame
    samples : DistinctSamples
    number : ndarray of shape (n_samples,), int
        The distinct sample of each sample.
    order : ndarray of shape (n_distinct,), int
        A random order of the distinct samples.
    chosen : ndarray of int
        The distinct samples of which the evidence was taken.
    basis : ndarray of int
        The distinct samples that span the process; all: it is exact.
    hyperparameters : Hyperparameters
    """

    frame: Frame
    samples: DistinctSamples
    number: np.ndarray
    order: np.ndarray
    chosen: np.ndarray
    basis: np.ndarray
    hyperparameters: Hyperparameters

    def process(self, weights, n_jobs):
        """Make the process of all samples with a kernel."""
        columns, levels = self.frame.columns, self.samples.levels
        if len(self.basis) == len(self.samples):
            return ExactProcess(LevelPairs(columns, levels).matrix(weights, n_jobs))
        basis = levels.take(self.basis)
        return ProjectedProcess(columns, levels, basis, weights, n_jobs)


class GaussianProcess(CallbackSupportMixin, VersionedEstimator):
    """Base of the classifier and the regressor: kernel, evidence and posterior."""

    _unit = 1.0  # of posterior means
    _seconds = 1.3e-4  # of a fit, for each distinct sample and target
    _faster = "ConjunctionRegressor or BooleanGradientBoostingRegressor"

    def __init__(
        self, *, feature_groups=None, max_iter=15, binarize=0.0, random_state=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.feature_groups = feature_groups
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
        check_integer(self.max_iter, "max_iter", 0)

    def _bits(self, X, y="no_validation", *, reset=True, **options):
        """Check the samples and unpack them."""
        checked = validate_boolean(self, X, y, reset=reset, **options)
        table, y = (checked, None) if isinstance(y, str) else checked
        n_samples, n_features = table.shape[0], self.n_features_in_
        what = f"{n_samples} samples of {n_features} features, a byte each,"
        remedy = "Select features, or use BooleanSVC, which keeps X sparse."
        check_free(n_samples * n_features, what, remedy)
        bits = unpack_words(as_words(table), n_features)
        return bits if y is None else (bits, y)

    def _learn_kernel(self, bits, targets, weights, progress):
        """Choose the kernel by its evidence.

        Parameters
        ----------
        bits : ndarray of shape (n_samples, n_features), uint8
        targets : ndarray of shape (n_samples, n_targets), float64
            Standardised.
        weights : ndarray of shape (n_samples,), float64
            Above 0.
        progress : Progress

        Returns
        -------
        learned : LearnedKernel
        """
        rng = check_random_state(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        frame = Frame.lay_out(self.feature_groups, names, bits)
        samples, number = DistinctSamples.merge(frame.levels, targets, weights)
        warn_of_long_fit(
            self, self._seconds * len(samples) * targets.shape[1], self._faster
        )
        order = rng.permutation(len(samples))
        chosen = np.sort(order[:N_EVIDENCE])

        def report(value):
            return progress.step(partial("objective {:.6g}".format, value))

        logs, self.n_iter_ = maximize_evidence(
            frame.columns, samples.take(chosen), self.max_iter, report
        )
        hyperparameters = Hyperparameters.from_logs(logs)
        basis = np.arange(len(samples))
        if len(samples) > MAX_EXACT:
            basis = np.sort(order[:N_BASIS])
        return LearnedKernel(
            frame, samples, number, order, chosen, basis, hyperparameters
        )

    def _set_fitted_attributes(self, learned, weights, coef, *factors):
        frame, levels = learned.frame, learned.samples.levels
        self._state = ProcessState(
            frame.columns, weights, levels.take(learned.basis), coef, *factors
        )
        self.columns_ = np.array(frame.labels, dtype=object)
        self.relevances_ = frame.of_all_columns(weights.relevances)
        shares = frame.of_all_columns(weights.shares())
        shares /= max(shares.sum(), np.finfo(float).tiny)
        self.feature_importances_ = frame.of_features(shares)
        self.length_weights_ = weights.lengths
        columns = {"feature_groups": frame.groups, "is_threshold": frame.is_threshold}
        lengths = {"length_weights": weights.lengths, "base": weights.base}
        self.kernel_ = RelevanceKernel(
            relevances=self.relevances_, binarize=self.binarize, **columns, **lengths
        )

    def _means(self, X, **options):
        check_is_fitted(self)
        bits = self._bits(X, reset=False)
        return self._state.means(bits, self.n_jobs, **options)

    def column_values(self, X, background, sample_weight=None, *, owners=None):
        """Compute exact Shapley values of the columns.

        The value of a column is what it adds to the score or the prediction when the
        columns of the sample, in random order, replace those of a random sample of the
        background. The time grows with the number of pairs of samples, times the number
        of training samples: 10 samples against 100 take seconds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.
        background : {array-like, sparse matrix} of shape (n_others, n_features)
            Samples to compare with, such as some of the training data.
        sample_weight : array-like of shape (n_others,), default=None
            Weights of the background. None: 1.
        owners : array-like of int of shape (n_columns,), default=None
            A number from 0 for each of ``columns_``. Columns of one number, such as the
            thresholds and the months of a date, are replaced together and have one
            value. None: each column has its own.

        Returns
        -------
        values : ndarray of shape (n_samples, n_owners, n_outputs), dtype float64
            In the order of the owners, or of ``columns_``. Those of a sample add up to
            its score less the mean score of the background. Two classes and regressors
            have one output.
        """
        check_is_fitted(self)
        bits, others = (self._bits(samples, reset=False) for samples in (X, background))
        shares = checked_weights(sample_weight, len(others))
        varies = self.relevances_ > 0
        owners = np.arange(len(varies)) if owners is None else np.asarray(owners)
        is_number = owners.dtype.kind in "iu" and owners.shape == varies.shape
        if not is_number or owners.min() < 0:
            raise ValueError(
                f"owners must hold a number from 0 for each of the {len(varies)} "
                f"columns_; got {owners!r}."
            )
        return self._unit * self._state.column_values(
            bits, others, shares / shares.sum(), owners[varies], owners.max() + 1
        )
