"""ConjunctionRegressor: L1 least squares over all conjunctions."""

import numpy as np
from sklearn.base import RegressorMixin

from sklboolean._core.base import TableScoreMixin
from sklboolean._core.bits import as_words
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.memory import MemoryCost
from sklboolean._core.progress import with_callbacks
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import checked_weights
from sklboolean.rules._column_generation import ConjunctionSum
from sklboolean.rules._conjunction_model import OLD_PARAMETERS, ConjunctionModel
from sklboolean.rules._held_out_path import TrainingSamples


@old_parameters(**OLD_PARAMETERS)
class ConjunctionRegressor(TableScoreMixin, RegressorMixin, ConjunctionModel):
    """Linear regression over all conjunctions, with an L1 penalty.

    The prediction for a sample is an intercept plus a weight for each conjunction that
    it satisfies. The L1 penalty makes nearly all weights 0. The model minimizes ::

        C * sum of squared errors / 2
        + sum of price(c) * abs(weight of c)

    over all conjunctions c of up to ``max_literals`` literals. See
    `ConjunctionLogisticRegression` for the prices, and for how the optimum is found and
    proved.

    Parameters
    ----------
    C : float, array-like of float or "auto", default="auto"
        Weight of the loss: smaller values give fewer conjunctions. From several values
        the one with the least held-out squared error is chosen. "auto": of .03, .1, .3,
        1, 3, 10 and 30, divided by the standard deviation of y.
    cv : int, splitter, iterable of (train, test) or None, default=None
        Number of folds of the cross-validation that chooses C, or the splits. None: 5
        folds below 1000 samples; of more samples a quarter is held out once.
    max_literals : int, default=3
        Maximum number of literals in a conjunction.
    monotone : bool, default=False
        Whether conjunctions consist of true features only. False: negated features too.
    literal_cost : float, default=1.1
        Factor of the penalty for each further literal, at least 1. Raise it for shorter
        conjunctions.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a
        conjunction. For one-hot columns: the attribute. None: the levels of one column
        of `BooleanEncoder`, found by their names, share a label.
    monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
        1 for a column whose growth must not lower the prediction,
        -1 where it must not raise it, else 0. A dict maps names of the columns before a
        `BooleanEncoder`. Where age has 1, conjunctions with ``age > 40`` have weights
        of at least 0, those with ``age <= 40`` of at most 0, and none has conditions of
        both kinds. An array has an entry for each feature, which becomes true.
    max_conditions : int or None, default=None
        Maximum number of conjunctions. A larger model loses those of the smallest
        effect, a fifth at a time, and the weights of the others are fitted again.
        ``edit_losses_`` has the loss before and after. Set it for a model that fits on
        a page. None: no limit.
    tol : float, default=1e-3
        Accepted optimality gap, as a fraction of the objective.
    work_limit : float or None, default=5.0
        Work for each path of values of C, and for the fit with the chosen one; 1 takes
        about a second on one core. With more than 20,000 samples it is the work for
        each 20,000. Work is counted, so the result does not depend on the speed of the
        machine. If the limit ends a path while the held-out loss still falls, there is
        a warning. If it ends the last fit, a ``ConvergenceWarning`` gives the remaining
        gap. An exact search by tables that would exceed it is not begun; the searches
        are inexact then. With more than some 460 features, of which a threshold's two
        count as one, a proof takes long; it may take a tenth of this besides, without a
        warning. None: no limit.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out samples that choose C. With a fixed C it is not used.
    n_jobs : int or None, default=None
        Number of parallel jobs for folds and for the branches of the exact search. The
        result does not depend on it.
    verbose : int, default=0
        1 prints a line for each C and each part that is held out.

    Attributes
    ----------
    conjunctions_ : list of tuples of (feature, value) pairs
        Conjunctions with a weight, largest absolute weight first.
    conjunction_coef_ : ndarray of shape (n_conjunctions,)
        Their weights.
    intercept_ : float
        Prediction for a sample that satisfies no conjunction.
    coverages_ : ndarray of shape (n_conjunctions,), dtype int64
        Number of training samples that satisfy each conjunction.
    C_ : float
        The C of the model.
    Cs_ : ndarray of shape (n_path,)
        Values of C up to ``C_``, the last one.
    coef_path_ : ndarray of shape (n_path, n_conjunctions)
        Weights of the conjunctions of the model for each of ``Cs_``: those before the
        last in models of the first part of the samples that chose C.
    scores_ : ndarray of shape (n_folds, n_Cs) or None
        Minus half the mean held-out squared error of each C, as a fraction of the
        variance of y; -inf for values that were left out after the loss had risen
        twice, or once by three standard errors, or time was up. None if C was not
        chosen.
    held_out_scores_ : ndarray of shape (n_samples,) or None
        The prediction for each sample of a model with ``C_`` that did not see it; NaN
        for samples of no test set. None if C was not chosen, or
        conjunctions were left out.
    objective_ : float
        The objective above.
    optimality_gap_ : float
        The objective minus a lower bound on that of any model over conjunctions of up
        to ``max_literals`` literals, by duality.
    is_optimal_ : bool
        Whether the gap is at most ``tol`` times the objective.
    edit_losses_ : tuple of (float, float) or None
        Mean squared error on the samples of the last edit, before and after it: see
        ``without``; or on the training samples, before and after ``max_conditions``
        left out conjunctions. Otherwise None.
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
    ConjunctionLogisticRegression : The same for classes.

    Notes
    -----
    The property ``rules_`` holds the weights as a list of `Rule`, with texts.

    References
    ----------
    Wei, Dash, Gao, Gunluk. "Generalized Linear Rule Models". ICML 2019, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import ConjunctionRegressor
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 5))
    >>> y = 3.0 * (X[:, 0] & X[:, 1]) - X[:, 2]
    >>> print(ConjunctionRegressor(C=10).fit(X, y).to_text())
    prediction:
     -0.001696
        +2.991  x0 and x1
       -0.9978  x2
     +0.003236  x0
     +0.003076  x1
    """

    # In units of the standard deviation of y.
    _default_Cs = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
    _faster = "BooleanGradientBoostingRegressor, or a lower C or work_limit"
    _memory_of_one_C = MemoryCost(2**26, 130, 4.0, 0)

    def __init__(
        self, C="auto", *, cv=None, max_literals=3, monotone=False, literal_cost=1.1,
        feature_groups=None, monotonic_cst=None, max_conditions=None, tol=1e-3,
        work_limit=5.0, binarize=0.0, random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.C = C
        self.cv = cv
        self.max_literals = max_literals
        self.monotone = monotone
        self.literal_cost = literal_cost
        self.feature_groups = feature_groups
        self.monotonic_cst = monotonic_cst
        self.max_conditions = max_conditions
        self.tol = tol
        self.work_limit = work_limit
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn's data of real numbers depend on one feature. Its sign, which is
        # all that is read, explains less than the half that is demanded.
        tags.regressor_tags.poor_score = True
        return tags

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "ConjunctionRegressor":
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Boolean features.
        y : array-like of shape (n_samples,), default=None
            Real targets. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : ConjunctionRegressor
            The fitted regressor.

        Raises
        ------
        ValueError
            For invalid parameters and data. An earlier fit is kept.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        return self._learn(X, y, sample_weight)

    def _training_samples(self, X, y, sample_weight, *, reset=True):
        most = self._most_conjunctions(X, y)
        bits, y = validate_boolean(self, X, y, reset=reset, y_numeric=True)
        weights = checked_weights(sample_weight, len(y))
        y = np.asarray(y, dtype=np.float64)
        # Targets of mean 0 and deviation 1: no overflow, and one grid for C. Powers
        # of two do not round what y differs from a large mean by.
        exponent = int(np.frexp(np.abs(y).max())[1])
        y = np.ldexp(y, -exponent)
        mean = np.average(y, weights=weights)
        spread = np.sqrt(np.average((y - mean) ** 2, weights=weights))
        targets = ((y - mean) / (spread or 1.0))[None, :]
        strata = np.zeros(len(y), dtype=np.intp)
        samples = TrainingSamples(
            as_words(bits), weights, targets, strata, "squared", most
        )
        unit = float(np.ldexp(spread, exponent)) or 1.0
        return samples, (unit, float(np.ldexp(mean, exponent)))

    def _set_units(self, unit, mean):
        """Go back from standardized targets to those of y."""
        state = self._state
        state = ConjunctionSum(
            state.conjunctions,
            state.coefficients * unit,
            state.intercepts * unit + mean,
        )
        self._set_model(state, self.coverages_)
        self.coef_path_ = self.coef_path_[:, 0] * unit
        if self.held_out_scores_ is not None:
            self.held_out_scores_ = self.held_out_scores_ * unit + mean
        self.C_, self.Cs_ = self.C_ / unit, self.Cs_ / unit
        self.objective_ *= unit
        self.optimality_gap_ *= unit

    @staticmethod
    def _held_out_loss(scores, targets):
        return (scores[:, 0] - targets[:, 0]) ** 2 / 2

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
        return self._scores(X)[:, 0]
