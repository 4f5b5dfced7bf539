"""BooleanGradientBoostingRegressor: boosted trees for numbers."""

import numpy as np
from sklearn.base import RegressorMixin

from sklboolean._core.base import TableScoreMixin, restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.parameters import check_choice, check_real
from sklboolean._core.progress import Progress, with_callbacks
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import checked_weights
from sklboolean.boosting._gradient_boosting import GradientBoosting
from sklboolean.boosting._tree_losses import PoissonLoss, QuantileLoss, SquaredLoss

LARGEST_TARGET = 1e100
LOSSES = ("squared_error", "absolute_error", "poisson", "quantile")


class BooleanGradientBoostingRegressor(
    TableScoreMixin, RegressorMixin, GradientBoosting
):
    """Boosted small trees on Boolean features for numbers: a sum of conjunctions.

    As `BooleanGradientBoostingClassifier`, for one of four losses.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "poisson", "quantile"}, \
default="squared_error"
        What the trees lower. "poisson": the deviance of counts, for predictions above
        0, whose logarithm is the sum. "quantile": the pinball loss at ``quantile``.
    quantile : float, default=0.5
        Level of the quantile, above 0 and below 1; for ``loss="quantile"``.
    learning_rate : float, default=0.1
        Factor of the values of the leaves, above 0.
    max_iter : int, default=1000
        Maximum number of trees.
    max_leaf_nodes : int, default=10
        Maximum number of leaves of a tree, at least 2.
    min_samples_leaf : int, default=10
        Minimum number of training samples in a leaf.
    l2_regularization : float, default=5.0
        Added to the curvature of the loss in each leaf, at least 0.
    max_features : float, default=0.2
        Share of the features that may split a leaf, drawn anew for each; above 0.
    n_iter_no_change : int or None, default=30
        Training ends when the held-out loss has not fallen for so many rounds, and the
        model keeps the trees up to the least loss. None: no samples are held out, and
        there are ``max_iter`` rounds.
    validation_fraction : float, default=0.15
        Share of the samples that is held out.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1 for a column whose growth must not lower the prediction,
        -1 where it must not raise it, else 0. A dict maps names of the columns before a
        `BooleanEncoder`, or of features. An array has an entry for each feature, which
        becomes true.
    interaction_cst : {"pairwise", "no_interactions"}, iterable of sets or None, \
default=None
        Sets of columns that may meet in a tree's path, by the names of columns before
        the encoder, or by numbers of features. Columns that no set names are one more
        set. "pairwise": any two columns; "no_interactions": each column by itself.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out samples and the features of each tree. Pass an int for
        reproducible results.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    verbose : int, default=0
        1 prints a line for every 50 rounds, 2 for each.

    Attributes
    ----------
    n_iter_ : int
        Number of rounds of the model.
    validation_loss_ : ndarray of shape (n_rounds,) or None
        Mean loss of the held-out samples after each round that was played, half of the
        error and of the deviance. None if none are held out.
    feature_importances_ : ndarray of shape (`n_features_in_`,), dtype float64
        Share of each feature in the gains of all splits.
    n_samples_fit_ : int
        Number of training samples with weight.
    feature_counts_ : ndarray of shape (`n_features_in_`,), dtype int64
        Number of them in which each feature is true, for `inspection.monitor`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    BooleanGradientBoostingClassifier : The same for classes, with the references.
    ConjunctionRegressor : Few conjunctions, with a proof of optimality.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.boosting import BooleanGradientBoostingRegressor
    >>> X = np.random.default_rng(0).integers(0, 2, (400, 5))
    >>> y = 3.0 * (X[:, 0] & X[:, 1]) - X[:, 2]
    >>> model = BooleanGradientBoostingRegressor(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 3)
    1.0
    """

    def __init__(
        self, loss="squared_error", *, quantile=0.5, learning_rate=0.1, max_iter=1000,
        max_leaf_nodes=10, min_samples_leaf=10, l2_regularization=5.0, max_features=0.2,
        n_iter_no_change=30, validation_fraction=0.15, monotonic_cst=None,
        interaction_cst=None, binarize=0.0, random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BooleanGradientBoostingRegressor":
        """Fit the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Targets; at least 0, and not all 0, for ``loss="poisson"``. None: those of a
            `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : BooleanGradientBoostingRegressor
            The fitted regressor.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            params, loss = self._check_params(), self._loss()
            progress = Progress(self, "round", self.max_iter, X, y, every=50)
            samples, y = validate_boolean(self, X, y, y_numeric=True)
            targets = y.astype(np.float64)
            if np.abs(targets).max() > LARGEST_TARGET:
                raise ValueError(
                    f"y must be between {-LARGEST_TARGET:g} and {LARGEST_TARGET:g}, so "
                    "that sums of squares are numbers. Divide it by its largest entry."
                )
            weights = checked_weights(sample_weight, len(targets))
            if self.loss == "poisson" and not (
                (targets >= 0).all() and (targets @ weights) > 0
            ):
                raise ValueError(
                    "loss='poisson' needs y of at least 0, and a target above 0 with "
                    f"weight; the smallest is {targets.min():g}. Use "
                    "loss='squared_error'."
                )
            strata = np.zeros(len(targets), dtype=np.intp)
            self._boost(samples, targets, weights, strata, loss, params, progress)
        return self

    def _loss(self):
        check_choice(self.loss, "loss", LOSSES)
        check_real(self.quantile, "quantile", 0, strict=True, below=1)
        if self.loss == "quantile":
            return QuantileLoss(float(self.quantile))
        if self.loss == "absolute_error":
            return QuantileLoss(0.5)
        return PoissonLoss() if self.loss == "poisson" else SquaredLoss()

    def predict(self, X) -> np.ndarray:
        """Predict the target of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        predictions : ndarray of shape (n_samples,), dtype float64
        """
        scores = self._scores(X)[:, 0]
        return np.exp(scores) if self.loss == "poisson" else scores
