"""Boosting by majority for real values: agreement up to delta, and the median."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.meta import reading
from sklboolean._core.validation import (
    check_integer,
    check_real,
    is_auto,
    readable_errors,
    validate_data_strict,
)
from sklboolean.boosting._game_rounds import max_gamma, min_rounds
from sklboolean.boosting._majority_game import check_edge
from sklboolean.boosting._parameters import (
    check_rounds,
    check_training,
    draws_rows,
    least_share,
    real_targets,
    weighed_rows,
)
from sklboolean.boosting._rounds import Policy, WeakLearnerError, play_rounds
from sklboolean.boosting._tolerance import ROUNDING, AgreementLearner, check_regressor

FIRST_EDGE = 0.25  # at least, for delta="auto"
CAUTION = 0.7  # of measured edges; later rounds are harder than earlier ones
MAX_ROUNDS = 501  # of a game whose length was not given


class BoostByMajorityRegressor(RegressorMixin, BaseEstimator):
    """Predict by the median of regressors that are mostly right, up to delta.

    A regressor is right about an example if it errs by at most delta. Each round the
    examples are weighed by how much a vote of the next regressor may still decide
    about them: little where most are right already, and little where so many are
    wrong that the example is as good as lost. That is why gross errors in y do little
    harm.

    Parameters
    ----------
    estimator : regressor or None, default=None
        The weak learner; clones of it are fitted. None: a decision tree of depth 7 with
        ``criterion="absolute_error"``, which gross errors do not attract. For many rows
        ``criterion="squared_error"`` is faster; for fewer than 200 take less depth.
    n_estimators : "auto" or int, default="auto"
        Number of rounds, odd; fewer are played if all is decided before. "auto": as
        many as gamma and `target_error` ask for; if gamma is "auto" too, at most 501.
    gamma : "auto" or float, default="auto"
        Every regressor is expected to be right about 1/2 + gamma of the weight, above 0
        and below 0.5. "auto" with a number of rounds: the gamma for which that number
        leaves `target_error`. "auto" without: 0.7 of the first edge, and when the
        promise was too much, so that the average potential reaches `target_error`, 0.7
        of the mean of the last 15 edges, with a new number of rounds.
    delta : "auto" or float, default="auto"
        The tolerance, at least 0. "auto": the least with which the first regressor is
        right about 1/2 + gamma / 0.7 of its training weight, and about 3/4 at least.
    target_error : float or None, default=None
        Share of the training weight that may end further than delta from the median,
        above 0 and below 0.5. None: less than any example has, which is ``1 /
        n_samples`` without `sample_weight`. If there are gross errors, twice their
        share is better, with a number for `n_estimators`.
    variant : {"auto", "reweight", "resample"}, default="auto"
        Pass the weights to the estimator, or draw rows with them. "auto": pass them if
        its ``fit`` takes ``sample_weight``.
    n_samples_weak : int or None, default=None
        Rows to draw for each regressor. None: as many as there are. Has no effect where
        weights are passed.
    on_weak_failure : {"replan", "abort", "raise"}, default="replan"
        What to do when a regressor is right about at most half of the weight. "replan":
        drop it, and go on with a gamma, and for ``n_estimators="auto"`` a number of
        rounds, from the last 15 edges; end if their mean is not positive. "abort": end
        the round with a fair coin in its place. "raise": raise a ValueError.
    max_tries : int, default=1
        Fits in a round until one has the edge that the plan relies on; the best counts.
        More help when rows are drawn.
    random_state : int, RandomState instance or None, default=None
        For drawing rows, and seeds of the regressors.
    verbose : int, default=0
        1 prints a line for each round.

    Attributes
    ----------
    estimators_ : list of regressors
        The fitted regressors.
    estimator_edges_ : ndarray of shape (n_estimators,), dtype float64
        The share of the round's weight that each was right about, less 1/2.
    potentials_ : ndarray of shape (`n_rounds_`,), dtype float64
        The average potential before each round: a bound on the share of the weight that
        is lost in the end, if the edges to come are at least gamma.
    gammas_ : ndarray of shape (`n_rounds_`,), dtype float64
        The gamma of the plan in which each round was played. NaN, as the potential, if
        a plan had to wait for the first edge.
    k_ : int
        Number of rounds of the last plan; 0 if none had been made when the game ended.
    n_rounds_ : int
        Rounds played.
    n_aborted_ : int
        Rounds of these with a coin in place of a regressor.
    delta_ : float
        The tolerance.
    train_error_ : float
        Share of the training weight further than `delta_` from the prediction.
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
    A median of which more than half are within delta of a number is so itself, also
    when it is the mean of two. So if every regressor is right about 1/2 + gamma of the
    weight of its round, then all but a share of `target_error` of the training weight
    is within delta of the prediction (Theorem 2.2.1). A learner whose expected error is
    below d on every distribution keeps that promise for ``delta = d / (1/2 - gamma)``,
    by Markov's inequality (2.22); "auto" measures the quantile instead, on the rows
    that the first regressor was trained with, so that it is too small for one that
    memorises them. Agreement includes an error of just delta.

    Where weights are passed on, weights that are integers equal repeated rows.

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
    >>> model.train_error_
    0.0
    """

    def __init__(
        self, estimator=None, *, n_estimators="auto", gamma="auto", delta="auto",
        target_error=None, variant="auto", n_samples_weak=None,
        on_weak_failure="replan", max_tries=1, random_state=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gamma = gamma
        self.delta = delta
        self.target_error = target_error
        self.variant = variant
        self.n_samples_weak = n_samples_weak
        self.on_weak_failure = on_weak_failure
        self.max_tries = max_tries
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        base = get_tags(self._base()).input_tags
        tags.input_tags.sparse = base.sparse
        tags.input_tags.allow_nan = base.allow_nan
        return tags

    def fit(self, X, y, sample_weight=None):
        """Play the majority game with the weak learner.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; sparse or with NaN where the estimator takes that.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            What each example counts, finite and at least 0; a factor of its weight in
            every round. None: 1.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            For bad data and parameters, and for an estimator that is no better than a
            coin. What was fitted before is kept.

        Warns
        -----
        ConvergenceWarning
            If `target_error` was not reached.
        """
        with restore_on_error(self):
            base, (gamma, k) = self._base(), self._checked_parameters()
            X, y = self._validated(X, y, y_numeric=True)
            X, y, values, _ = weighed_rows(base, X, real_targets(y), sample_weight)
            target = self._checked_target(y, values)
            learner = self._learner(base, X, y, values, gamma)
            self._publish(self._play(learner, values, target, gamma, k), learner)
        self._warn_if_short_of(target)
        return self

    def predict(self, X):
        """Return the median of the regressors' predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as for ``fit``.

        Returns
        -------
        predictions : ndarray of shape (n_samples,), dtype float64
            Of an even number of regressors the mean of the two in the middle.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        with readable_errors("X"):
            return np.median([model.predict(X) for model in self.estimators_], axis=0)

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
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        predictions = []
        for model in self.estimators_:
            with readable_errors("X"):
                predictions.append(model.predict(X))
            yield np.median(predictions, axis=0)

    def _base(self):
        tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=7)
        return tree if self.estimator is None else self.estimator

    def _validated(self, X, y="no_validation", **options):
        return validate_data_strict(self, X, y, **reading(self._base()), **options)

    def _checked_parameters(self):
        """Check what needs no data; return gamma and the rounds, None for "auto"."""
        check_regressor(self._base())
        check_training(self)
        check_integer(self.verbose, "verbose", 0)
        if not is_auto(self.delta, "delta"):
            check_real(self.delta, "delta", 0)
        gamma = None if is_auto(self.gamma, "gamma") else check_edge(self.gamma)
        if is_auto(self.n_estimators, "n_estimators"):
            return gamma, None
        return gamma, check_rounds(self.n_estimators)

    def _checked_target(self, y, values):
        if self.target_error is not None:
            error = check_real(self.target_error, "target_error", 0, strict=True)
            if error >= 0.5:
                raise ValueError(
                    f"target_error must be below 0.5, which a coin has; got {error}."
                )
            return float(error)
        return float(np.clip(least_share(y, values), ROUNDING, 0.25))

    def _learner(self, base, X, y, values, gamma):
        total = float(len(y) if values is None else values.sum())
        delta = None if is_auto(self.delta, "delta") else float(self.delta)
        first_edge = max(FIRST_EDGE, (gamma or 0) / CAUTION)
        return AgreementLearner(
            base, X, y, total, delta, min(1.0, 0.5 + first_edge),
            resample=draws_rows(self.variant, base), n_draws=self.n_samples_weak,
        )  # fmt: skip

    def _play(self, learner, values, target, gamma, k):
        """Return the game that the weak learner has played."""
        if k is not None:
            max_rounds, gamma = k, gamma or max_gamma(k, target)
        else:
            max_rounds = max(MAX_ROUNDS, min_rounds(gamma, target) if gamma else 0)
        policy = Policy(k, target, gamma, recent=15, caution=CAUTION, stop_early=False)
        failure = "drop" if self.on_weak_failure == "replan" else self.on_weak_failure
        codes = np.ones(len(learner.y), dtype=np.int8)  # agreement, for all
        try:
            game = play_rounds(
                learner, codes, values, policy, check_random_state(self.random_state),
                max_rounds=max_rounds, max_tries=self.max_tries, on_failure=failure,
                report=self._report,
            )  # fmt: skip
        except WeakLearnerError as error:
            raise ValueError(f"{error} A larger delta helps too.") from error
        if not game.hypotheses:
            raise ValueError(
                f"estimator is right about {0.5 + game.failed_edge:.3g} of the weight "
                "at best, no better than a coin: take a stronger estimator, or a "
                "larger delta."
            )
        return game

    def _report(self, game):
        if self.verbose:
            print(
                f"[{type(self).__name__}] round {game.board.n_rounds} of "
                f"{game.k or '?'}: edge {game.rounds['followed'][-1]:.3f}, "
                f"training error {game.board.error():.3g}"
            )

    def _publish(self, game, learner):
        board, rounds = game.board, {k: np.array(v) for k, v in game.rounds.items()}
        self.estimators_ = game.hypotheses
        self.estimator_edges_ = rounds["edge"][~np.isnan(rounds["edge"])]
        self.potentials_, self.gammas_ = rounds["potential"], rounds["gamma"]
        self.k_ = game.k
        self.n_rounds_, self.n_aborted_ = board.n_rounds, board.n_aborted
        self.delta_ = learner.delta
        predictions = [model.predict(learner.X) for model in game.hypotheses]
        wrong = np.abs(learner.y - np.median(predictions, axis=0)) > learner.delta
        self.train_error_ = float(np.average(wrong, weights=board.values))

    def _warn_if_short_of(self, target_error):
        if self.train_error_ >= target_error:
            warnings.warn(
                f"{self.train_error_:.3g} of the training weight is further than "
                f"delta={self.delta_:.6g} from the prediction; below target_error="
                f"{target_error:.3g} was asked for. Take a larger delta, a stronger "
                "estimator, or a larger target_error with a number for n_estimators.",
                ConvergenceWarning,
                stacklevel=3,
            )
