"""An ensemble of regressors of different kinds, over one encoding of a data frame."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from sklboolean._core.base import TableScoreMixin, restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.parameters import check_n_jobs, check_real
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.weights import checked_weights, relative_weights
from sklboolean.boosting import BooleanGradientBoostingRegressor
from sklboolean.ensemble._ensemble import (
    MOST_FOR_TRIPLES,
    BooleanEnsemble,
    check_pairs,
    draw_folds,
    take,
    tree_models,
    without,
)
from sklboolean.ensemble._pool import RegressorPool
from sklboolean.ensemble._pooling import prediction_weights
from sklboolean.kernels import BooleanGaussianProcessRegressor
from sklboolean.rules import ConjunctionRegressor

# Of more samples there is no Gaussian process.
MOST_FOR_PROCESS = 5000


class Predictions:
    """Predictions, the scores that a pool of regressors adds up."""

    @staticmethod
    def of_samples(model, X):
        """Predict samples."""
        return np.asarray(model.predict(X), dtype=np.float64)

    @staticmethod
    def of_scores(model, scores):
        """Return the predictions that the model has for held-out samples."""
        return scores


class BooleanEnsembleRegressor(TableScoreMixin, RegressorMixin, BooleanEnsemble):
    """The regressor to try first on a data frame: models of several kinds, one call.

    As `BooleanEnsembleClassifier`, for numbers. The data are encoded once. On the bits
    are trained a `ConjunctionRegressor`, four models of boosted trees, and up to 5000
    samples a `BooleanGaussianProcessRegressor`. Their predictions are added up with
    weights that minimize the squared error of held-out samples.

    Parameters
    ----------
    estimators : list of (str, regressor) pairs or None, default=None
        Names and models, which get the sparse Boolean features. Every ``random_state``
        is set. None: "conjunctions", "trees" and "process", those above.
    encoder : BooleanEncoder or None, default=None
        Encodes the data, with ``sparse_output=True``. None: ``BooleanEncoder()``.
        Trees and Gaussian processes also get the thresholds of 32 quantiles, of more
        than 2000 samples of 128, if its ``n_bins`` is "auto". Sparse X is not
        encoded: its values above 0 are true.
    monotonic_cst : dict, array-like of shape (n_columns,) or None, default=None
        1 for a column whose growth must not lower the prediction, -1 where it must not
        raise it, else 0. A dict maps names of columns of X. The models are then those
        of conjunctions and boosted trees, or ``estimators`` that have this parameter.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the models.
    n_jobs : int or None, default=None
        Number of models that are trained at the same time. The result does not depend
        on it.
    verbose : int, default=0
        1 prints a line for each model.

    Attributes
    ----------
    encoder_ : BooleanEncoder or None
        The fitted encoder; None after sparse X or a `BitTable`.
    estimators_ : list of regressors
        The fitted models, by default in the order above.
    weights_ : ndarray of shape (n_estimators,), float64
        The factor of the prediction of each model, above 0.
    intercept_ : float
        Is added to their sum.
    held_out_errors_ : ndarray of shape (n_held_out,), float64
        Absolute errors of the pool for held-out samples, ascending.
    n_samples_fit_ : int
        Number of training samples with weight.
    feature_counts_ : ndarray of shape (n_features,), dtype int64
        Number of them in which each feature of ``encoder_`` is
        true, for `inspection.monitor`.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    BooleanEnsembleClassifier : The same for classes, with notes and references.
    inspection.distill : A formula for the ensemble, where it has a Gaussian process.

    Notes
    -----
    The weights w minimize ``S / (2 s**2) + 5 * sum(w - m * log(w))``. S is the sum of
    the squared errors of held-out samples, both sides without their means, and s**2
    the least mean squared error of a model alone. The modes m of the prior add up to 1,
    and a model called "process" has four times that of others.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import BooleanEnsembleRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(18, 80, 90), rng.integers(0, 3, 90)])
    >>> y = np.where((X[:, 0] > 40) & (X[:, 1] != 2), 10.0, 2.0)
    >>> model = BooleanEnsembleRegressor(random_state=0).fit(X, y)
    >>> model.predict([[70, 0], [20, 0]]).round(1)
    array([10.,  2.])
    """

    _member_method = "predict"

    def __init__(
        self, estimators=None, *, encoder=None, monotonic_cst=None, random_state=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.estimators = estimators
        self.encoder = encoder
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanEnsembleRegressor":
        """Encode the samples and train the models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            A data frame or array of numbers, categories and missing values, as for
            `BooleanEncoder`, or Boolean features.
        y : array-like of shape (n_samples,), default=None
            Targets. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: those of a `BitTable`, else 1.

        Returns
        -------
        self : BooleanEnsembleRegressor
            The fitted regressor.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            check_n_jobs(self.n_jobs)
            progress = Progress(self, "model", None, X, y)
            X, y, is_coarse = self._encode_training_data(X, y, sample_weight)
            targets = y.astype(np.float64)
            weights = relative_weights(checked_weights(sample_weight, len(targets)))
            used = np.flatnonzero(weights)
            fine, targets, weights = take(X, used), targets[used], weights[used]
            X = without(fine, ~is_coarse)
            rng = check_random_state(self.random_state)
            folds = draw_folds(np.zeros(len(targets), dtype=np.intp), rng)
            named = self._models(int(is_coarse.sum()), folds)
            names, self.estimators_, predictions = self._fit_members(
                named, X, fine, targets, None if sample_weight is None else weights,
                folds, rng, Predictions, progress,
            )  # fmt: skip
            tested = np.concatenate([test for _, test in folds])
            self.weights_, self.intercept_, errors = prediction_weights(
                predictions, targets[tested], weights[tested],
                1.0 + 3.0 * np.isin(names, "process"),
            )  # fmt: skip
            self.held_out_errors_ = np.sort(np.abs(errors))
            progress.finish()
        return self

    @property
    def _pool(self):
        pool = RegressorPool(self.estimators_, self.weights_, self.intercept_)
        pool.reads_values = self.encoder_ is None
        return pool

    def _models(self, n_features, folds):
        """List the names of the models with the models."""
        if self.estimators is not None:
            return self._directed(check_pairs(self.estimators, self._member_method))
        n_samples = sum(map(len, folds[0]))
        longest = 3 if n_features <= MOST_FOR_TRIPLES else 2
        conjunctions = ConjunctionRegressor(cv=folds, max_literals=longest)
        models = [("conjunctions", conjunctions)]
        models += tree_models(BooleanGradientBoostingRegressor)
        if n_samples <= MOST_FOR_PROCESS and self.monotonic_cst is None:
            models.append(("process", BooleanGaussianProcessRegressor()))
        return self._directed(models)

    def predict(self, X) -> np.ndarray:
        """Predict the target of each sample.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As for ``fit``.

        Returns
        -------
        predictions : ndarray of shape (n_samples,), dtype float64
        """
        X = self._encode(X)
        return self._pool.predict(X)

    def predict_interval(self, X, coverage=0.9) -> np.ndarray:
        """Predict an interval for the target of each sample.

        All intervals have the same width, by the absolute errors of held-out samples.
        If new samples are drawn like those of training, the mean coverage is close to
        the one that is asked for (split conformal prediction; the models are trained on
        more samples than those that gave the errors).

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            As for ``fit``.
        coverage : float, default=0.9
            Share of the targets that the intervals should hold, above 0 and below 1.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2), dtype float64
            The lower and the upper end.

        Raises
        ------
        ValueError
            For a coverage that so few held-out samples cannot state.

        References
        ----------
        J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman. "Distribution-Free
        Predictive Inference for Regression". JASA 113, 2018, section 2.2.
        """
        center = self.predict(X)
        check_real(coverage, "coverage", 0, strict=True)
        n_errors = len(self.held_out_errors_)
        rank = int(np.ceil((n_errors + 1) * coverage))
        if rank > n_errors:
            raise ValueError(
                f"coverage must be at most {n_errors / (n_errors + 1):.3g}, because "
                f"{n_errors} samples were held out; got {coverage}."
            )
        width = self.held_out_errors_[rank - 1]
        return np.column_stack([center - width, center + width])
