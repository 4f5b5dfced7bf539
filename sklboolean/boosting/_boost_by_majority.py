"""Boost by majority: a vote of weak hypotheses, trained on what it still decides."""

# `fit` in steps:
# 1. Check the parameters: a `Schedule`, or a `CrossValidatedSchedule` to complete it.
# 2. Check and encode the samples; hold some out for early stopping (`_read`).
# 3. Choose schedule, weak learner and games of classes on held-out samples (`_choose`).
# 4. Play one game (`_play`), or one for each pair or class (`_play_games`).
# 5. Fit the slope of the probabilities to votes that did not train on a sample.
# The weak learner holds the training samples; what depends on votes is in the state of
# `boost`. So a game of some classes is the same code over a part of the learner.

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import targets_of
from sklboolean._core.deprecation import Gone, old_attribute, old_parameters
from sklboolean._core.held_out import stratified_split
from sklboolean._core.labels import encode_classes
from sklboolean._core.long_fits import warn_of_long_fit
from sklboolean._core.memory import MemoryCost
from sklboolean._core.meta import draw_seed, validation_options
from sklboolean._core.packed_partitions import PackedPartitionsMixin
from sklboolean._core.parallel import in_jobs
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean._core.progress import CallbackSupportMixin, Progress, with_callbacks
from sklboolean._core.validation import (
    validate_data_or_bits,
    validate_data_strict,
    warn_user,
)
from sklboolean._core.weights import labelled_weights
from sklboolean.boosting._base import BaseMajorityVote
from sklboolean.boosting._boosting import EDGE_TOLERANCE, Schedule, Validation, boost
from sklboolean.boosting._conjunction_stump import ConjunctionStump
from sklboolean.boosting._cross_validated_schedule import (
    Choice,
    CrossValidatedSchedule,
    folds_of_training,
)
from sklboolean.boosting._games import (
    GameData,
    HeldOutVotes,
    calibration_share,
    held_out_margins,
    label_quality,
    tests_of_games,
)
from sklboolean.boosting._majority_game import check_edge, odd_rounds
from sklboolean.boosting._schedules import BoostingSchedule, InSchedule, schedule_of
from sklboolean.boosting._stump import BooleanStump
from sklboolean.boosting._votes import MajorityVotes, class_games
from sklboolean.boosting._weak_learners import (
    ClassifierWeakLearner,
    ConjunctionWeakLearner,
    StumpWeakLearner,
    bits_of_samples,
    check_classifier,
    drop_zero_weight,
    is_stump,
    least_share,
    number_of_draws,
    take_samples,
)

N_CALIBRATION = 1000  # samples of a game that is played for calibration only
MAX_ROUNDS = 2001  # of a game of no fixed length
N_ITER_NO_CHANGE = 20
VALIDATION_SHARE = 0.1
FASTER = "BooleanGradientBoostingClassifier, or multi_class='ovr' for many classes"
IN_SCHEDULE = InSchedule(BoostingSchedule)


def patience_in_early_stopping(_name, value, params):
    """Set ``early_stopping`` to this number of rounds instead."""
    if params["early_stopping"]:
        params["early_stopping"] = value


@old_parameters(
    gamma=IN_SCHEDULE, target_error=IN_SCHEDULE, sampling=IN_SCHEDULE,
    n_samples_weak=IN_SCHEDULE, holdout=IN_SCHEDULE, weak_failure=IN_SCHEDULE,
    max_tries=IN_SCHEDULE, max_estimators=IN_SCHEDULE,
    n_iter_no_change=patience_in_early_stopping,
    validation_fraction=Gone(0.1, "Leave it out."),
    # Attributes of stored models.
    policy_="schedule_", policy_scores_="schedule_scores_", plans_="schedule_history_",
)  # fmt: skip
class BoostByMajority(CallbackSupportMixin, PackedPartitionsMixin, BaseMajorityVote):
    """Majority vote of weak hypotheses, each trained on what the vote still decides.

    Unlike boosters that minimise a convex loss it gives up on samples that most
    hypotheses misclassify, so that mislabelled samples do not attract all the weight.
    Every hypothesis has one vote.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner; clones of it are fitted. None: `BooleanStump`. Where a
        `CrossValidatedSchedule` holds out samples, and X is not very sparse, also
        `ConjunctionStump`, which is taken when its held-out accuracy is larger by more
        than a standard error. Both are compiled.
    n_estimators : int or "auto", default=101
        Number of rounds. The next odd number is used for an even one, with a warning,
        because votes could be tied. More rounds allow smaller edges. "auto": as many as
        the target error on the training samples needs; for labels without noise.
    schedule : BoostingSchedule, CrossValidatedSchedule or "auto", default="auto"
        What is assumed of the hypotheses, and how they are fitted: the edge ``gamma``,
        the target error, weights or drawn samples, what happens when one fails. "auto":
        `BoostingSchedule` with its defaults. It compares several edges on held-out
        samples.
    multi_class : {"auto", "ovo", "ovr", "joint"}, default="auto"
        How more than two classes are boosted. "ovo": a game of two classes for each
        pair of them, as in scikit-learn's ``OneVsOneClassifier``. "ovr": a game of each
        class against the rest. "joint": one game, in which each hypothesis must
        classify more than half of the weight correctly; for strong weak learners.
        "auto": where a `CrossValidatedSchedule` holds out samples the one with the
        larger held-out accuracy; of more than five classes "ovo" is tried with the
        schedule and the estimator that are best for "ovr", to save time. Without such
        samples "ovo".
        "ovr" also where the number of pairs of classes times that of features exceeds
        a million, as with 20 classes of texts, because "ovo" would be slow.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by which the sample weights are multiplied. "balanced":
        in inverse proportion to the weight of the class in the training data. None: 1.
    early_stopping : bool or int, default=False
        Whether to hold out a tenth of the samples of each class, and to stop when the
        log-loss of the vote on them has not fallen for this number of rounds. True: 20.
        It saves rounds of an expensive weak learner. The schedule guards against wrong
        labels without it.
    random_state : int, RandomState instance or None, default=None
        Seed of the weak learner, of drawn and held-out samples, and of folds.
    n_jobs : int or None, default=None
        Number of folds, or of games between classes, that are boosted at the same
        time, as in joblib. Stumps on fewer than 2**26 entries of X are boosted one
        after the other: threads would wait for each other.
    verbose : int, default=0
        1 prints a line for every tenth round, 2 for every round. With several games,
        one line for each game.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimator_ : classifier
        The weak learner, unfitted.
    multi_class_ : {"ovo", "ovr", "joint"}
        How several classes were boosted; "joint" with two classes.
    estimators_ : list of classifiers
        The fitted hypotheses, with one vote each. With "ovo" and "ovr" the fitted
        boosters of the games, in the order of their classes; the attributes from here
        to ``training_error_``, and ``termination_condition_``, are theirs.
    estimator_edges_ : ndarray of shape (n_estimators,), float64
        Weighted accuracy of each in its round, minus 1/2. Empty when no hypothesis had
        an edge and the best of them is used alone.
    estimator_rounds_ : ndarray of shape (n_estimators,), int
        The round of each.
    n_rounds_ : int
        Number of rounds played.
    n_aborted_ : int
        Number of rounds that ended without a hypothesis.
    k_ : int
        Number of rounds of the last plan.
    schedule_history_ : list of (int, int, float)
        Round, number of rounds and gamma of every plan.
    gammas_ : ndarray of shape (n_rounds,)
        Edge assumed in each round; NaN before the first plan.
    required_edges_ : ndarray of shape (n_rounds,)
        Edge that would have been sufficient for the target error (Lemma 2.4.1). It is
        far below gamma, or negative, where a round hardly mattered, and ``-inf`` where
        its mean weight underflows.
    divergences_ : ndarray of shape (n_rounds,)
        Kullback-Leibler divergence of the round's distribution from the training
        samples, in nats.
    acceptance_rates_ : ndarray of shape (n_rounds,)
        Share of the samples that a filter would have accepted.
    potentials_ : ndarray of shape (n_rounds,)
        Average potential before each round: the expected training error.
    training_error_ : float
        Share of the training samples, by weight, that the vote misclassifies.
    schedule_ : str
        How gamma was set: "given", "measured", "replanned" (for
        ``n_estimators="auto"``), or what a `CrossValidatedSchedule` chose.
    schedule_scores_ : dict or None
        Held-out accuracy of the candidates that were compared.
    termination_condition_ : str
        Why boosting stopped. "all_rounds": the plan was completed. "no_weight_left":
        no remaining vote can change a sample's majority. "target_error": the training
        error is below ``target_error``. "no_edge": 20 consecutive hypotheses had no
        edge. "max_rounds": ``max_estimators`` was reached. "early_stopping": the
        held-out log-loss no longer fell. "callback": a callback stopped the fit.
    validation_scores_ : ndarray of shape (`n_rounds_`,), float64, or None
        Log-loss of the vote on held-out samples after each round, calibrated on them
        and negated; None unless ``early_stopping``.
    compression_indices_ : list of ndarrays or None
        Distinct samples drawn in each round, where samples are drawn.
    label_quality_ : ndarray of shape (n_samples,), float64, or None
        How far votes that were not trained on a sample are for its label, from -1 to 1.
        Samples with the smallest are most likely mislabelled. NaN for samples of weight
        0 and those that no fold tests. None unless a `CrossValidatedSchedule` holds out
        samples.
    calibration_slope_ : float
        Slope of the sigmoid of ``predict_proba``, fitted to held-out votes: those of a
        `CrossValidatedSchedule`, those on the samples of ``early_stopping``, or else
        those of one more game that a part of the samples plays.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    UserWarning
        When the first hypothesis alone reaches the target error, when hypotheses are
        linear, when ``max_estimators`` ends boosting, and when no hypothesis has an
        edge, so that the best of them is used alone.

    See Also
    --------
    sklboolean.boosting.CrossValidatedSchedule : Chooses what is assumed of hypotheses.
    FilteringBoostByMajority : For more samples than memory holds.
    OnlineBoostByMajority : For streams, with weak learners that have ``partial_fit``.
    sklboolean.theory.min_rounds : Number of rounds for an edge and an error.

    Notes
    -----
    :doc:`/experiments/majority_game` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

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
    '0 if not top-left=x and not middle-middle=x and not bottom-right=x else 1'
    """

    policy_ = old_attribute("policy_", "schedule_")
    policy_scores_ = old_attribute("policy_scores_", "schedule_scores_")
    plans_ = old_attribute("plans_", "schedule_history_")

    def __init__(
        self, estimator=None, *, n_estimators=101, schedule="auto", multi_class="auto",
        class_weight=None, early_stopping=False, random_state=None, n_jobs=None,
        verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.schedule = schedule
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None) -> "BoostByMajority":
        """Boost the weak learner on training data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `BitTable`
            Features, as the weak learner takes them.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes or more. None: those of a `BitTable`.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Numbers of copies of the samples, at least 0. Where their mean is below 1,
            they are divided by it. None: 1.

        Returns
        -------
        self : object
            The fitted booster.

        Raises
        ------
        ValueError
            For bad parameters and data, for a weak learner of two labels that is worse
            than chance, and for one without an edge with ``weak_failure="raise"``. The
            booster then keeps its former state.

        Warns
        -----
        UserWarning
            Before a fit that is expected to take longer than a minute of one core.
        """
        y, sample_weight = targets_of(self, X, y, sample_weight)
        with restore_on_error(self):
            schedule, chooser = self._check_params()
            progress = Progress(self, "round", None, X, y, every=10)
            options = validation_options(self._weak_estimator())
            reads_bits = is_stump(self._weak_estimator())
            validate = validate_data_or_bits if reads_bits else validate_data_strict
            X, y = validate(self, X, y, **options)
            rng = check_random_state(self.random_state)
            data = self._read(X, y, sample_weight, rng)
            if reads_bits:  # the time of other weak learners is not known
                seconds = 5.5e-5 * len(y) * (1 + X.shape[1] / 400)
                warn_of_long_fit(self, seconds * (len(self.classes_) - 1), FASTER)
            choice = self._choose(data, schedule, chooser, rng, len(y))
            self.estimator_, self._games = choice.learner.estimator, choice.games
            self.schedule_, self.schedule_scores_ = choice.name, choice.scores
            data, schedule = replace(data, learner=choice.learner), choice.schedule
            if self._games is None:
                self._warn(self._play(data, schedule, rng, progress))
            else:
                self._play_games(data, schedule, rng, progress)
            votes = self._held_out_votes(data, choice.margins, X)
            self.label_quality_ = None
            if choice.margins is not None:
                self.label_quality_ = label_quality(votes, len(y))
            if not votes:
                votes = [self._calibration_votes(data, schedule, rng)]
            self.calibration_slope_ = votes[-1].slope()
            progress.finish()
        return self

    @property
    def _memory(self):
        """Memory of a fit; only that of features alone has a bound."""
        has_stumps = type(self._weak_estimator()) is BooleanStump
        return MemoryCost(2**26, 170, 3.0, 90) if has_stumps else None

    def _bits_of(self, X):
        """Check samples and make them Boolean, for stumps; others need the values."""
        base = self._weak_estimator()
        if not is_stump(base):
            return None
        X = validate_data_or_bits(self, X, **validation_options(base))
        return bits_of_samples(self, base, X)

    def _read(self, X, y, sample_weight, rng):
        """Encode checked data, and hold out samples for ``early_stopping``."""
        base = self._weak_estimator()
        self.classes_, codes = encode_classes(y)
        weights = None
        if not (sample_weight is None and self.class_weight is None):
            weights = labelled_weights(
                sample_weight, codes, self.classes_, self.class_weight
            )
        if len(self.classes_) < 2**15:
            codes = codes.astype(np.int16)  # as stumps predict: quick to compare
        X, codes, weights, index = drop_zero_weight(base, X, codes, weights)
        learner = self._make_learner(base, X, codes, weights)
        if self._patience() is None:
            return GameData(learner, index)
        train, held_out = stratified_split(codes, 1 - VALIDATION_SHARE, rng)
        validation, learner = self._hold_out(learner, train, held_out)
        return GameData(learner, index[train], validation, index[held_out])

    def _make_learner(self, base, X, codes, weights):
        """Make the weak learner of checked training samples."""
        n_draws = number_of_draws(base, self._given_schedule())
        if not is_stump(base):
            return ClassifierWeakLearner(
                base, X, codes, self.classes_, weights, n_draws
            )
        kind = StumpWeakLearner
        if type(base) is ConjunctionStump:
            kind = ConjunctionWeakLearner
        bits = bits_of_samples(self, base, X)
        return kind(base, bits, codes, self.classes_, weights, n_draws, X.shape[1])

    def _hold_out(self, learner, train, held_out):
        """Return a `Validation` of some samples, and the weak learner of the others."""
        if not len(held_out):
            raise ValueError(
                f"early_stopping holds out no sample of {len(train)}, because no class "
                "has two. Set early_stopping=False."
            )
        weights = learner.sample_weight
        weights = None if weights is None else weights[held_out]
        samples = take_samples(learner.estimator, learner.X, held_out, train)
        validation = Validation(
            samples, learner.codes[held_out], learner.n_classes, weights,
            self._patience(),
        )  # fmt: skip
        return validation, learner.take(train, learner.codes[train], self.classes_)

    def _choose(self, data, schedule, chooser, rng, n_samples):
        """Complete the schedule; with a chooser choose it, the learner and the games.

        ``n_samples`` counts those of weight 0 too, as folds may name them.
        """
        learner = data.learner
        # None: less than the weight of a single sample, so that the vote is right on
        # all.
        target = schedule.target_error
        if not target:
            target = min(0.5, least_share(len(learner.codes), learner.sample_weight))
        schedule = replace(schedule, target_error=target)
        games = class_games(len(self.classes_), self.multi_class, self.n_features_in_)
        if chooser is None:
            return Choice(learner, games[-1], self.schedule_, schedule)
        # Conjunctions need panels of bits: of very sparse samples only stumps are
        # tried.
        learners = [learner]
        if self.estimator is None and len(learner.columns.panels):
            conjunctions = ConjunctionWeakLearner(
                ConjunctionStump(), learner.X, learner.codes, self.classes_,
                learner.sample_weight, learner.n_draws, learner.n_features,
            )  # fmt: skip
            learners.append(conjunctions)
        folds = folds_of_training(chooser.cv, data.train_index, n_samples)
        return chooser._choose(learners, schedule, games, rng, folds, self.n_jobs)

    def _play(self, data, schedule, rng, progress=None):
        """Play a game, and set the attributes of this booster; return its state.

        Without ``progress`` it is one of several games.
        """
        learner = data.learner
        votes = MajorityVotes(learner.codes, learner.n_classes, learner.sample_weight)
        report = None
        if progress is not None and not progress.is_silent():
            report = partial(self._report, progress, data)
        state = boost(learner, votes, schedule, rng, report, data.validation)
        if not state.hypotheses:
            if progress is not None:
                self._check_best_failure(state)
            state.hypotheses.append(state.best_failure)
        self._set_fitted_attributes(data, state)
        self.validation_scores_ = data.validation_scores()
        return state

    def _play_games(self, data, schedule, rng, progress):
        """Play a game for each of ``_games``, several at the same time."""
        tasks = [(data, game, schedule, draw_seed(rng)) for game in self._games]
        n_jobs = self.n_jobs if data.learner.fills_threads else 1
        boosters = in_jobs(self._fit_game, tasks, n_jobs, require=data.learner.require)
        self.estimators_ = []
        progress.count("game", len(self._games))
        for booster in boosters:
            self.estimators_.append(booster)
            error = booster.training_error_
            progress.step(partial("training error {:.4f}".format, error))
        self.multi_class_ = "ovr" if self._games[0].first is None else "ovo"
        self._columns, self._stumps = [None] * len(self.estimators_), None
        if self.estimators_[0]._stumps is not None:
            tests = [booster._stumps for booster in self.estimators_]
            # Stumps of all games vote in one pass over the bits of new samples.
            self._stumps = tests_of_games(tests)

    def _fit_game(self, data, game, schedule, seed):
        """Return the booster of a game of two classes."""
        data = data.of_game(game)
        booster = clone(self).set_params(random_state=seed)
        booster.classes_ = data.learner.classes
        booster.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            booster.feature_names_in_ = self.feature_names_in_
        booster.schedule_, booster.schedule_scores_ = self.schedule_, None
        booster.estimator_ = data.learner.estimator
        booster._games = None
        booster._play(data, schedule, check_random_state(seed))
        return booster

    def _held_out_votes(self, data, margins, X):
        """Collect the votes on samples that did not train: of folds, of the vote."""
        votes = []
        if margins is not None:
            votes.append(HeldOutVotes(data.train_index, margins, data.learner))
        if data.validation is not None:
            index = data.validation_index
            votes.append(HeldOutVotes(index, self._margins(X[index]), data.validation))
        return votes

    def _calibration_votes(self, data, schedule, rng):
        """Hold votes of games that other samples play: a quarter, or at least 500."""
        learner, codes = data.learner, data.learner.codes
        share = calibration_share(len(codes))
        train, test = stratified_split(codes, share, rng)
        # Fewer samples may be too hard for the weak learner: failures do not end this
        # game.
        schedules = [replace(schedule, weak_failure="abort")]
        folds, seed = [(train, test[:N_CALIBRATION])], draw_seed(rng)
        (margins,) = held_out_margins(
            learner, self._games, schedules, folds, seed, self.n_jobs
        )
        return HeldOutVotes(data.train_index, margins, learner)

    def _given_schedule(self):
        """Check the parameter ``schedule``, and return it as an object."""
        schedule = schedule_of(self.schedule, BoostingSchedule)
        if self.n_estimators == "auto" or isinstance(schedule, CrossValidatedSchedule):
            return schedule
        if not isinstance(schedule.gamma, str) or schedule.gamma != "auto":
            return schedule
        fields = schedule.get_params(deep=False)
        del fields["gamma"], fields["max_estimators"]
        return CrossValidatedSchedule(**fields)

    def _check_params(self):
        """Check the parameters and set ``schedule_``.

        Returns
        -------
        schedule : Schedule
        chooser : CrossValidatedSchedule or None
            It completes the schedule.
        """
        check_classifier(self._weak_estimator())
        n_rounds = gamma = None
        if self.n_estimators != "auto":
            n_rounds = odd_rounds(self.n_estimators)
        check_choice(self.multi_class, "multi_class", ("auto", "ovo", "ovr", "joint"))
        self._patience()
        options = schedule_of(self.schedule, BoostingSchedule)._checked("abort")
        schedule = self._given_schedule()
        if isinstance(schedule, CrossValidatedSchedule):
            if n_rounds is None:
                raise ValueError(
                    "schedule=CrossValidatedSchedule() needs a number of rounds, but "
                    "n_estimators is 'auto'. Set n_estimators=101, for example."
                )
            return Schedule(n_rounds, max_rounds=n_rounds, **options), schedule
        options["max_rounds"] = n_rounds or schedule.max_estimators or MAX_ROUNDS
        if not isinstance(schedule.gamma, str):
            self.schedule_, gamma = "given", schedule.gamma
            options["required_edge"] = check_edge(gamma)
        elif (
            check_choice(schedule.gamma, "gamma", ("auto", "measured")) and not n_rounds
        ):
            # A bold start costs rounds when it fails, a timid one costs them always.
            self.schedule_ = "replanned"
            options |= {"recent": 15, "caution": 0.7}
        else:
            self.schedule_ = "measured"
        return Schedule(n_rounds, gamma=gamma, **options), None

    def _patience(self):
        """Check ``early_stopping``; return the number of rounds, or None."""
        if isinstance(self.early_stopping, (bool, np.bool_)):
            return N_ITER_NO_CHANGE if self.early_stopping else None
        return check_integer(self.early_stopping, "early_stopping", 1)

    def _report(self, progress, data, state):
        """Report a round; return whether a callback stops the fit."""
        progress.n_steps = state.k
        return progress.step(
            lambda: (
                f"edge {state.record['edge'][-1]:.4f}, gamma {state.gamma:.4f}, "
                f"training error {state.votes.error():.4f}"
            ),
            lambda model: model._set_fitted_attributes(data, state),
        )

    def _set_fitted_attributes(self, data, state):
        learner, train_index = data.learner, data.train_index
        votes, hypotheses = state.votes, state.hypotheses
        self.multi_class_ = "joint"
        self._stumps, self._columns = None, [None] * len(hypotheses)
        if isinstance(learner, StumpWeakLearner):
            self.estimators_ = [
                learner.estimator._fitted_copy(stump, self) for stump in hypotheses
            ]
            self._stumps = learner.tests(hypotheses)
        else:
            self.estimators_ = [model for model, _samples in hypotheses]
            if learner.pairwise:
                self._columns = [
                    train_index if samples is None else train_index[samples]
                    for _model, samples in hypotheses
                ]
        record, edges = state.record, np.array(state.record["edge"])
        self.estimator_rounds_ = np.flatnonzero(~np.isnan(edges))
        self.estimator_edges_ = edges[self.estimator_rounds_]
        self.n_rounds_, self.n_aborted_ = votes.n_rounds, votes.n_aborted
        self.k_, self.schedule_history_ = state.k, state.plans
        self.gammas_ = np.array(record["gamma"])
        self.required_edges_ = np.array(record["required"])
        self.divergences_ = np.array(record["divergence"])
        self.acceptance_rates_ = np.array(record["acceptance"])
        self.potentials_ = np.array(record["potential"])
        self.training_error_ = votes.error()
        self.termination_condition_ = state.termination
        self.compression_indices_ = None
        if learner.n_draws is not None:
            self.compression_indices_ = [
                train_index[samples] for samples in learner.drawn
            ]

    def _check_best_failure(self, state):
        """Warn of one hypothesis without an edge, or raise an error if it is bad."""
        n_classes = len(self.classes_)
        # On a few held-out samples this may be bad luck.
        is_worse = state.schedule.holdout is None
        is_worse &= state.failed_edge < -EDGE_TOLERANCE
        if n_classes == 2 and is_worse:
            raise ValueError(
                "The weak learner was right on less than half of the weight in every "
                f"round: its best edge is {state.failed_edge:.3g}. Use a stronger one."
            )
        fix = "a stronger estimator"
        if n_classes > 2:
            fix += ", or multi_class='ovo'"
        warn_user(
            "No hypothesis was right on more than half of the weight, so there is "
            f"nothing to boost: the best one is used alone. Use {fix}."
        )

    def _warn(self, state):
        first_edge = state.record["edge"][0]  # comparisons with NaN are false
        if 0.5 - first_edge < state.schedule.target_error:
            message = (
                "The first hypothesis alone reaches the target error: the estimator is "
                "not weak, and boosting adds little. Limit its depth, for example."
            )
        elif hasattr(self.estimators_[0], "coef_") and self._columns[0] is None:
            message = (
                "The hypotheses are linear: a vote of few of them hardly exceeds a "
                "single one. Trees of small depth, or BooleanStump, gain more."
            )
        elif state.termination == "max_rounds":
            message = (
                f"After max_estimators={state.schedule.max_rounds} rounds the training "
                f"error is {self.training_error_:.3g}, and the plan needs {state.k} "
                "rounds. Labels may be noisy: give a number of rounds, for example "
                "n_estimators=101."
            )
        else:
            return
        warn_user(message)
