"""Boost by majority: a vote of weak hypotheses, each trained where the vote is open."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from sklboolean._core.base import fit_slope, restore_on_error
from sklboolean._core.meta import draw_seed, reading
from sklboolean._core.validation import encode_classes, validate_data_strict
from sklboolean.boosting._parameters import (
    check_parameters,
    folds_of,
    game_options,
    is_linear,
    policy_for,
    weighed_rows,
)
from sklboolean.boosting._policies import held_out_margins, were_tested
from sklboolean.boosting._rounds import EDGE_TOLERANCE, play_rounds
from sklboolean.boosting._streaming import StreamMixin
from sklboolean.boosting._stump import BooleanStump
from sklboolean.boosting._voting import VotingMixin
from sklboolean.boosting._weak_learners import StumpLearner, make_learner


class BoostByMajority(StreamMixin, VotingMixin, ClassifierMixin, BaseEstimator):
    """Majority vote of weak hypotheses, each trained on what the vote still decides.

    Unlike boosters that minimise a convex loss it gives up on examples that most
    hypotheses get wrong, so that mislabelled ones do not draw all the weight. Every
    hypothesis has one vote.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner. None: `BooleanStump`, over columns of bits.
    n_estimators : int or "auto", default=101
        Number of rounds, odd. "auto": as many as the target error on the training rows
        needs; for labels without noise.
    gamma : float, "auto" or "measured", default="auto"
        Accuracy above 1/2 that is assumed of every hypothesis. "measured": the mean of
        the last edges. "auto": with a number of rounds, chosen by cross-validation
        among four policies; with ``n_estimators="auto"``, measured and planned again
        when the plan fails; 0.1 on streams.
    target_error : float or None, default=None
        Error that the rounds are planned for. None: less than one training row, or 0.1
        on streams.
    variant : {"auto", "reweight", "resample"}, default="auto"
        How the weak learner is shown a distribution. "auto": by weights where it takes
        ``sample_weight``.
    n_samples_weak : int or None, default=None
        Rows to draw for "resample"; None: as many as there are. On streams the rows
        that train a hypothesis; None: 200.
    holdout : float or None, default=None
        Share of the rows, drawn anew in each round, on which a hypothesis is judged and
        not trained.
    on_weak_failure : {"abort", "replan", "raise"}, default="abort"
        What to do when a hypothesis has no edge: count a coin for the round, plan the
        rest with the edges measured, or stop with an error. With a number for
        ``gamma``, "replan" and "raise" take edges below it as failures too. Streams
        cannot be planned anew.
    max_tries : int, default=1
        Tries in a round, for weak learners with chance in them.
    max_estimators : int, default=2001
        Most rounds for ``n_estimators="auto"``.
    filter : {"practical", "theory"}, default="practical"
        On streams: "theory" keeps the bounds of the thesis, "practical" spends a
        hundredth of the rows or fewer.
    delta : float, default=0.1
        On streams with "theory": probability of failure allowed.
    reliability : float, default=1.0
        On streams with "theory": probability with which the weak learner has its edge.
    cv : int, splitter or iterable, default=3
        Folds for choosing among policies and for ``probability``.
    probability : bool, default=False
        Fit a sigmoid with one parameter to held-out votes.
    random_state : int, RandomState instance or None, default=None
        For the weak learner, resampling, holding out and folds.
    n_jobs : int or None, default=None
        Folds that are played, and chunks of a stream that are scored, at the same time.
    verbose : int, default=0
        1 prints every tenth round, 2 every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimators_ : list of classifiers
        The hypotheses; one vote each.
    estimator_edges_ : ndarray of shape (n_estimators,), float64
        Weighted accuracy of each in its round, less 1/2. Empty when no hypothesis had
        an edge and the best one stands alone.
    estimator_rounds_ : ndarray of shape (n_estimators,), int
        The round of each.
    n_rounds_ : int
        Rounds played.
    n_aborted_ : int
        Rounds that ended without a hypothesis.
    k_ : int
        Rounds of the last plan.
    plans_ : list of (int, int, float)
        Round, number of rounds and gamma of every plan.
    gammas_ : ndarray of shape (n_rounds,)
        Edge assumed in each round; NaN before the first plan.
    required_edges_ : ndarray of shape (n_rounds,)
        Edge that would have been enough for the target error (Lemma 2.4.1): far below
        gamma, or negative, where a round hardly mattered.
    divergences_ : ndarray of shape (n_rounds,)
        Kullback-Leibler divergence of the round's distribution from the training rows,
        in nats.
    acceptance_rates_ : ndarray of shape (n_rounds,)
        Share of the rows that a filter would have let pass.
    potentials_ : ndarray of shape (n_rounds,)
        Average potential before each round: the training error to be expected.
    training_error_ : float
        Share of the training rows, by weight, that the vote gets wrong.
    policy_ : str
        What was assumed: "exact", "given", "measured", or the policy chosen.
    policy_scores_ : dict or None
        Held-out accuracy of the policies that were tried.
    n_seen_ : ndarray of shape (n_rounds,), int, or None
        On streams: rows of each round begun.
    n_accepted_ : ndarray of shape (n_rounds,), int, or None
        Those that passed the filter.
    n_rejected_ : ndarray of shape (n_rounds,), int, or None
        Those that did not.
    stop_reason_ : str
        "rounds", "decided" (the vote is settled for every row), "right" (target error
        reached), "no edge", "max_rounds", or on streams "exhausted" (it ended before
        the rounds) and "" (it may go on).
    compression_indices_ : list of ndarrays or None
        Distinct rows drawn in each round, for "resample".
    calibration_slope_ : float
        Slope of the sigmoid; None unless ``probability``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        When the first hypothesis reaches the target error alone, when hypotheses are
        linear, when ``max_estimators`` or the end of a stream ends the game, and when
        no hypothesis has an edge, so that the best one stands alone.

    See Also
    --------
    sklboolean.theory.min_rounds : Rounds for an edge and an error.
    OnlineBoostByMajority : For streams, over learners with ``partial_fit``.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, chapter 2, Figure 2.3 and
    Theorem 2.2.1; several labels: section 2.4.2.

    Examples
    --------
    >>> from sklboolean import BoostByMajority
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe(return_X_y=True, as_frame=True)
    >>> booster = BoostByMajority(random_state=0).fit(X, y)
    >>> booster.score(X, y) > 0.97
    True
    >>> booster.estimators_[0].rule_
    '0 if middle-middle=o else 1'
    """

    def __init__(
        self, estimator=None, *, n_estimators=101, gamma="auto", target_error=None,
        variant="auto", n_samples_weak=None, holdout=None, on_weak_failure="abort",
        max_tries=1, max_estimators=2001, filter="practical",  # noqa: A002
        delta=0.1, reliability=1.0, cv=3, probability=False, random_state=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.gamma = gamma
        self.target_error = target_error
        self.variant = variant
        self.n_samples_weak = n_samples_weak
        self.holdout = holdout
        self.on_weak_failure = on_weak_failure
        self.max_tries = max_tries
        self.max_estimators = max_estimators
        self.filter = filter
        self.delta = delta
        self.reliability = reliability
        self.cv = cv
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _base(self):
        return BooleanStump() if self.estimator is None else self.estimator

    def fit(self, X, y, sample_weight=None):
        """Boost the weak learner on a table.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, as the weak learner takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            What each row counts.

        Returns
        -------
        self : object
            The fitted booster.

        Raises
        ------
        ValueError
            For bad parameters and data, for a weak learner of two labels that is worse
            than chance, and for one without an edge with ``on_weak_failure="raise"``.
            What was learned before is kept.
        """
        with restore_on_error(self):
            check_parameters(self)
            base = self._base()
            X, y = validate_data_strict(self, X, y, **reading(base))
            n_samples = len(y)
            X, y, values, kept = weighed_rows(base, X, y, sample_weight)
            self.classes_, codes = encode_classes(y)
            if len(self.classes_) < 2**15:
                codes = codes.astype(np.int16)  # as stumps predict: quick to compare
            table = base, X, self.classes_, codes, values
            rng = check_random_state(self.random_state)
            options = game_options(self, base)
            folds = folds_of(self.cv, kept, n_samples)
            self.policy_, policy, self.policy_scores_, margins = policy_for(
                self, table, folds, rng, options
            )
            learner = make_learner(*table, **options["resampling"])
            game = play_rounds(
                learner, codes, values, policy, rng, report=self._report,
                **options["playing"],
            )  # fmt: skip
            self._publish(learner, game, policy, kept)
            self._warn(learner, game, policy)
            self.calibration_slope_ = None
            if self.probability:
                if margins is None:
                    (margins,) = held_out_margins(
                        table, [policy], folds, draw_seed(rng), n_jobs=self.n_jobs,
                        **options,
                    )  # fmt: skip
                rows = were_tested(margins)
                counts = None if values is None else values[rows]
                self.calibration_slope_ = fit_slope(margins[rows], codes[rows], counts)
        return self

    def _report(self, game):
        n = game.board.n_rounds
        if self.verbose > 1 or (self.verbose and n % 10 == 0):
            print(
                f"[BoostByMajority] round {n} of {game.k or '?'}: "
                f"edge {game.rounds['edge'][-1]:.4f}, gamma {game.gamma:.4f}, "
                f"training error {game.board.error():.4f}"
            )

    def _publish(self, learner, game, policy, kept):
        if not game.hypotheses:
            self._settle_for_failure(game, policy)
        board, rounds = game.board, {k: np.array(v) for k, v in game.rounds.items()}
        names = getattr(self, "feature_names_in_", None)
        self.estimators_ = [learner.publish(h, names) for h in game.hypotheses]
        is_stumps = isinstance(learner, StumpLearner)
        self._stumps = learner.as_array(game.hypotheses) if is_stumps else None
        self._columns = [None] * len(game.hypotheses)
        if not is_stumps and learner.pairwise:
            self._columns = [
                kept if rows is None else kept[rows] for _h, rows in game.hypotheses
            ]
        self.estimator_rounds_ = np.flatnonzero(~np.isnan(rounds["edge"]))
        self.estimator_edges_ = rounds["edge"][self.estimator_rounds_]
        self.n_rounds_, self.n_aborted_ = board.n_rounds, board.n_aborted
        self.k_, self.plans_ = game.k, game.plans
        self.gammas_, self.required_edges_ = rounds["gamma"], rounds["required"]
        self.divergences_ = rounds["divergence"]
        self.acceptance_rates_ = rounds["acceptance"]
        self.potentials_ = rounds["potential"]
        self.training_error_, self.stop_reason_ = board.error(), game.stopped
        self.n_seen_ = self.n_accepted_ = self.n_rejected_ = None
        vars(self).pop("_stream", None)
        self.compression_indices_ = None
        if learner.resample:
            self.compression_indices_ = [kept[rows] for rows in learner.drawn]

    def _settle_for_failure(self, game, policy):
        """Keep one hypothesis without an edge, or say that there is nothing to keep."""
        n_classes = len(self.classes_)
        # On a few rows held out bad luck may look like it.
        is_worse = policy.holdout is None and game.failed_edge < -EDGE_TOLERANCE
        if n_classes == 2 and is_worse:
            raise ValueError(
                "The weak learner was right on less than half of the weight in every "
                f"round: its best edge is {game.failed_edge:.3g}. Take a stronger one."
            )
        way_out = "a stronger estimator"
        if n_classes > 2:
            way_out += ", or scikit-learn's OneVsRestClassifier around this booster"
        warnings.warn(
            "No hypothesis was right on more than half of the weight, so there is "
            f"nothing to boost: the best one stands alone. Take {way_out}.",
            UserWarning,
            stacklevel=4,
        )
        game.hypotheses.append(game.best_failure)

    def _warn(self, learner, game, policy):
        first_edge = game.rounds["edge"][0]  # NaN compares false
        if 0.5 - first_edge < policy.target_error:
            message = (
                "The first hypothesis alone reaches the target error: the estimator is "
                "not weak, and boosting adds little. Limit its depth, say."
            )
        elif not isinstance(learner, StumpLearner) and is_linear(self.estimators_[0]):
            message = (
                "The hypotheses are linear: a vote of few of them hardly goes beyond "
                "one. Trees of small depth, or BooleanStump, gain more."
            )
        elif game.stopped == "max_rounds" and self.n_estimators == "auto":
            message = (
                f"After max_estimators={self.max_estimators} rounds the training "
                f"error is {self.training_error_:.3g}, and the plan asks for {game.k}. "
                "Labels may be noisy: give a number of rounds, n_estimators=101 say."
            )
        else:
            return
        warnings.warn(message, UserWarning, stacklevel=3)
