"""Boosting by majority for real values: agreement up to delta, and the median."""

# Correct means: the error is at most delta. So a regressor is a hypothesis with two
# outcomes, and the rounds are those of `boost` with one class, "correct". If more than
# half of the regressors are correct on a sample, their median is within delta of its
# target (thesis, section 2.4.3). delta is fixed by the first regressor unless given.

from functools import partial

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.formula import Members
from sklboolean._core.meta import validation_options
from sklboolean._core.packed_partitions import PartitionsMixin
from sklboolean._core.parameters import check_integer, check_real, is_auto
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import readable_errors, validate_data_strict, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights
from sklboolean.boosting._boosting import Schedule, WeakLearnerError, boost
from sklboolean.boosting._cross_validated_schedule import CrossValidatedSchedule
from sklboolean.boosting._majority_game import (
    check_edge,
    max_gamma,
    min_rounds,
    odd_rounds,
)
from sklboolean.boosting._schedules import BoostingSchedule, InSchedule, schedule_of
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.boosting._weak_learners import (
    ROUNDING,
    RegressorWeakLearner,
    check_regressor,
    drop_zero_weight,
    least_share,
    number_of_draws,
)

FIRST_EDGE = 0.25  # at least, for delta="auto"
CAUTION = 0.7  # factor of measured edges: later rounds are harder than earlier ones
MOST_TRIED = 32  # features at a split of the default tree, or a third of more
MAX_ROUNDS = 101  # of a game of no fixed length
IN_SCHEDULE = InSchedule(BoostingSchedule)


@old_parameters(
    gamma=IN_SCHEDULE, target_error=IN_SCHEDULE, sampling=IN_SCHEDULE,
    n_samples_weak=IN_SCHEDULE, weak_failure=IN_SCHEDULE, max_tries=IN_SCHEDULE,
)  # fmt: skip
class BoostByMajorityRegressor(
    PartitionsMixin, CallbackSupportMixin, RegressorMixin, VersionedEstimator
):
    """Predict by the median of regressors that are mostly correct up to delta.

    A regressor is correct on a sample if its error is at most delta. In each round a
    sample weighs as much as the vote of the next regressor may still decide about it:
    little where most regressors are correct already, and little where so many are wrong
    that the sample is as good as lost. That is why gross errors in y do little harm.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The weak learner; clones of it are fitted. None: a decision tree of depth 7 with
        ``criterion="absolute_error"``, which is robust to gross errors. Each of its
        splits looks at a third of the features, but at 32 at least. Without gross
        errors ``criterion="squared_error"`` is as good and 30 times as fast; for fewer
        than 200 samples use a smaller depth.
    n_estimators : "auto" or int, default="auto"
        Number of rounds. The next odd number is used for an even one, with a warning.
        Fewer are played if all is decided before. "auto": as many as gamma and
        `target_error` need; if gamma is "auto" too, at most 101: with gross errors in y
        more rounds only fit them.
    schedule : BoostingSchedule or "auto", default="auto"
        The edge ``gamma`` that is assumed of every regressor: it is correct on 1/2 +
        gamma of the weight; the target error, weights or drawn samples, and what
        happens when a regressor fails. "auto": `BoostingSchedule` with its defaults.
    delta : "auto" or float, default="auto"
        The tolerance in units of y, at least 0. "auto": the least with which the first
        regressor is correct on 1/2 + gamma / 0.7 of its training weight, and on at
        least 3/4.
    random_state : int, RandomState instance or None, default=None
        Seed of drawn samples and of the regressors.
    verbose : int, default=0
        1 prints a line for each round.

    Attributes
    ----------
    estimators_ : list of regressors
        The fitted regressors.
    estimator_edges_ : ndarray of shape (n_estimators,), dtype float64
        The share of the round's weight on which each was correct, minus 1/2.
    potentials_ : ndarray of shape (`n_rounds_`,), dtype float64
        The average potential before each round: a bound on the share of the weight that
        is lost in the end, if the edges to come are at least gamma.
    gammas_ : ndarray of shape (`n_rounds_`,), dtype float64
        The gamma of the plan in which each round was played. NaN, as the potential, if
        a plan had to wait for the first edge.
    k_ : int
        Number of rounds of the last plan; 0 if none had been made when boosting ended.
    n_rounds_ : int
        Number of rounds played.
    n_aborted_ : int
        Number of these with a coin in place of a regressor.
    delta_ : float
        The tolerance.
    training_error_ : float
        Share of the training weight further than `delta_` from the prediction.
    termination_condition_ : str
        Why boosting stopped. "all_rounds": the plan was completed. "no_weight_left":
        no remaining vote can change a sample's majority. "target_error": the share of
        the weight that is lost is below ``target_error``. "no_edge": no edge is to be
        expected. "max_rounds": 101 rounds were played. "callback": a callback stopped
        the fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.ensemble.AdaBoostRegressor : A weighted median, with weights that grow
        exponentially.
    sklearn.ensemble.GradientBoostingRegressor : With ``loss="absolute_error"`` robust
        too, and often more accurate.

    Notes
    -----
    If more than half of some predictions are within delta of a number, then so is their
    median, also when it is the mean of two. So if every regressor is correct on 1/2 +
    gamma of the weight of its round, then all but a share of `target_error` of the
    training weight is within delta of the prediction (Theorem 2.2.1). A regressor whose
    expected error is below d on every distribution has that edge for ``delta = d / (1/2
    - gamma)``, by Markov's inequality (2.22). "auto" measures the quantile instead, on
    the samples that the first regressor was trained with, so that it is too small for
    one that memorises them. An error of exactly delta is correct.

    Where weights are passed on, weights that are integers equal repeated samples.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, section 2.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_friedman1
    >>> from sklboolean import BoostByMajorityRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> model = BoostByMajorityRegressor(delta=2.0, random_state=0).fit(X, y)
    >>> bool(np.all(np.abs(y - model.predict(X)) <= 2.0))
    True
    >>> model.training_error_
    0.0
    """

    def __init__(
        self, estimator=None, *, n_estimators="auto", schedule="auto", delta="auto",
        random_state=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.schedule = schedule
        self.delta = delta
        self.random_state = random_state
        self.verbose = verbose

    def _weak_estimator(self, n_features=0):
        if self.estimator is None:
            tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=7)
            if n_features > MOST_TRIED:
                tree.set_params(max_features=max(MOST_TRIED, n_features // 3))
            return tree
        return self.estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._weak_estimator()).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags

    @with_callbacks
    def fit(self, X, y, sample_weight=None) -> "BoostByMajorityRegressor":
        """Boost the weak learner on training data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; sparse or with NaN where the estimator takes that.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            For bad data and parameters, and for an estimator that is no better than a
            coin. The booster then keeps its former state.

        Warns
        -----
        ConvergenceWarning
            If `target_error` was not reached.
        """
        with restore_on_error(self):
            params, gamma, n_rounds, delta = self._check_params()
            progress = Progress(self, "round", None, X, y)
            base = self._weak_estimator()
            X, y = validate_data_strict(
                self, X, y, y_numeric=True, **validation_options(base)
            )
            base = self._weak_estimator(X.shape[1])
            weights = None
            if sample_weight is not None:
                weights = checked_weights(sample_weight, len(y))
            X, y, weights, _kept = drop_zero_weight(base, X, y, weights)
            schedule = self._plan(params, gamma, n_rounds, weights, len(y))
            # The tolerance is such that the first regressor has more than the assumed
            # edge.
            first_edge = max(FIRST_EDGE, (gamma or 0) / CAUTION)
            total = float(len(y) if weights is None else weights.sum())
            n_draws = number_of_draws(base, params)
            learner = RegressorWeakLearner(
                base, X, y, total, delta, min(1.0, 0.5 + first_edge), n_draws
            )
            # All samples have one class: that a regressor is correct.
            votes = MajorityVotes(np.ones(len(y), dtype=np.int8), 2, weights)
            rng = check_random_state(self.random_state)
            report = partial(self._report, progress, learner)
            try:
                state = boost(learner, votes, schedule, rng, report)
            except WeakLearnerError as error:
                raise ValueError(f"{error} A larger delta helps too.") from error
            self._set_fitted_attributes(learner, state)
            progress.finish()
        target_error = schedule.target_error
        if self.training_error_ >= target_error:
            warn_user(
                f"{self.training_error_:.3g} of the training weight is further than "
                f"delta={self.delta_:.6g} from the prediction, but less than "
                f"target_error={target_error:.3g} is required. Use a larger delta, a "
                "stronger estimator, or a larger target_error with a number for "
                "n_estimators.",
                ConvergenceWarning,
            )
        return self

    def _check_params(self):
        """Check what needs no data; return the schedule, gamma, rounds and delta.

        The last three are None for "auto".
        """
        check_regressor(self._weak_estimator())
        check_integer(self.verbose, "verbose", 0)
        params = schedule_of(self.schedule, BoostingSchedule)
        if isinstance(params, CrossValidatedSchedule) or params.holdout is not None:
            raise ValueError(
                "A regressor takes no CrossValidatedSchedule and no holdout; got "
                f"schedule={params!r}. Set BoostingSchedule(holdout=None), for example."
            )
        params._checked("replan")
        gamma = n_rounds = delta = None
        if not is_auto(self.delta, "delta"):
            delta = float(check_real(self.delta, "delta", 0))
        if not is_auto(params.gamma, "gamma"):
            gamma = check_edge(params.gamma)
        if not is_auto(self.n_estimators, "n_estimators"):
            n_rounds = odd_rounds(self.n_estimators)
        return params, gamma, n_rounds, delta

    def _plan(self, params, gamma, n_rounds, weights, n_samples):
        """Make the `Schedule` of checked parameters."""
        options = params._checked("replan")
        target = params.target_error
        if target is None:
            least = least_share(n_samples, weights)
            target = np.clip(least, ROUNDING, 0.25)
        elif target >= 0.5:
            raise ValueError(
                f"target_error must be below 0.5, the error of a coin; got {target}."
            )
        max_rounds = n_rounds or params.max_estimators or MAX_ROUNDS
        if n_rounds is not None:
            gamma = gamma or max_gamma(n_rounds, target)
        elif gamma is not None and params.max_estimators is None:
            max_rounds = max(MAX_ROUNDS, min_rounds(gamma, target))
        if options["weak_failure"] == "replan":
            options["weak_failure"] = "drop"
        options |= {"target_error": float(target), "max_rounds": max_rounds}
        options |= {"recent": 15, "caution": CAUTION, "stop_early": False}
        return Schedule(n_rounds, gamma=gamma, **options)

    def _report(self, progress, learner, state):
        """Report a round; return whether a callback stops the fit."""
        progress.n_steps = state.k
        return progress.step(
            lambda: (
                f"edge {state.record['followed'][-1]:.3f}, "
                f"training error {state.votes.error():.3g}"
            ),
            lambda model: model._set_fitted_attributes(learner, state),
        )

    def _set_fitted_attributes(self, learner, state):
        if not state.hypotheses:
            raise ValueError(
                f"estimator is correct on {0.5 + state.failed_edge:.3g} of the weight "
                "at best, no better than a coin: use a stronger estimator, or a larger "
                "delta."
            )
        votes = state.votes
        record = {name: np.array(numbers) for name, numbers in state.record.items()}
        self.estimators_ = state.hypotheses
        self.estimator_edges_ = record["edge"][~np.isnan(record["edge"])]
        self.potentials_, self.gammas_ = record["potential"], record["gamma"]
        self.k_, self.termination_condition_ = state.k, state.termination
        self.n_rounds_, self.n_aborted_ = votes.n_rounds, votes.n_aborted
        self.delta_ = learner.delta
        predictions = [model.predict(learner.X) for model in self.estimators_]
        wrong = np.abs(learner.y - np.median(predictions, axis=0)) > learner.delta
        self.training_error_ = float(np.average(wrong, weights=votes.sample_weight))

    def predict(self, X) -> np.ndarray:
        """Predict the median of the regressors' predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Returns
        -------
        predictions : ndarray of shape (n_samples,), dtype float64
            Of an even number of regressors the mean of the two in the middle.
        """
        return np.median(list(self._predictions(X)), axis=0)

    def staged_predict(self, X):
        """Yield the predictions of the first regressor, the first two, and so on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Yields
        ------
        predictions : ndarray of shape (n_samples,), dtype float64
            The last are those of ``predict``.
        """
        predictions = []
        for prediction in self._predictions(X):
            predictions.append(prediction)
            yield np.median(predictions, axis=0)

    def _formula(self):
        def predictions(X):
            return zip(self.estimators_, self._predictions(X), strict=True)

        return Members("predictions", predictions)

    def _predictions(self, X):
        """Yield the predictions of each regressor."""
        check_is_fitted(self)
        options = validation_options(self._weak_estimator())
        X = validate_data_strict(self, X, reset=False, **options)
        for model in self.estimators_:
            with readable_errors("X"):
                prediction = model.predict(X)
            yield prediction
