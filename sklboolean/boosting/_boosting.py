"""The rounds of boost-by-majority on training data.

The schedule fixes what is assumed of the weak hypotheses. The state holds the votes,
the hypotheses and a record of every round. Held-out samples may end boosting early.
"""

# A round, until `BoostingState.is_over`:
# 1. `plan` sets k, the number of rounds, and gamma, the edge that is assumed.
# 2. `MajorityVotes.weights` weighs the samples by their states.
# 3. `fit_weak_hypothesis` fits a hypothesis to these weights and judges it.
# 4. One without an edge is a fair coin, another plan, or an error (`has_failed`).
# 5. `add_round` records the round and counts the votes.
# Invariant (thesis, Lemma 2.2.2): while edges are at least gamma, the average potential
# does not rise. Before the first round it is the error that is planned for, after the
# last one the training error. Edges are float64 and exact up to rounding, hence
# EDGE_TOLERANCE. `play_compiled` plays all rounds at once, with the same bits.

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from sklboolean._core.calibration import calibrated_loss
from sklboolean.boosting._majority_game import max_gamma
from sklboolean.boosting._votes import MajorityVotes, class_scores, samples_of_game
from sklboolean.boosting._weak_learners import take_samples

SMALLEST_GAMMA, SMALLEST_PLANNED_GAMMA, LARGEST_GAMMA = 1e-3, 0.01, 0.49
# An edge that is gamma up to rounding is large enough.
EDGE_TOLERANCE = 1e-12
# Consecutive rounds without a hypothesis that end a game of no fixed length: it would
# not end otherwise.
PATIENCE = 20


class WeakLearnerError(ValueError):
    """The weak learner does not have the edge that was required."""


@dataclass(frozen=True)
class Schedule:
    """Assumptions about the weak hypotheses, and when boosting stops.

    Attributes
    ----------
    n_rounds : int or None
        Rounds of the game, odd. None: as many as the target error needs.
    target_error : float
        Share of the samples, by weight, that the vote may get wrong.
    gamma : float or None
        The edge assumed of every hypothesis. None: ``caution`` times the mean of the
        ``recent`` last edges. It is updated in every round when ``n_rounds`` is fixed.
        Otherwise it is measured once, and again when the average potential reaches the
        target error.
    holdout : float or None
        Share of the samples, drawn anew in each round, on which a hypothesis is judged
        and not trained.
    follow_holdout : bool
        Whether gamma follows the edges on held-out samples, or those on training
        samples.
    recent : int
    caution : float
    required_edge : float
        A smaller edge is a failure, unless failures are aborted.
    stop_early : bool
        Whether a game of no fixed length ends as soon as the error of the vote is below
        the target, not when its schedule ends: the rounds between widen margins.
    max_rounds : int
        Boosting stops after so many rounds when the schedule needs more.
    max_tries : int
        Number of fits in a round. More help only if fits are random.
    weak_failure : {"abort", "replan", "drop", "raise"}
        After a failure count a coin for the round; do that and plan the remaining
        rounds anew; plan anew and repeat the round; or raise an error.
    """

    n_rounds: int | None
    target_error: float
    gamma: float | None = None
    holdout: float | None = None
    follow_holdout: bool = True
    recent: int = 20
    caution: float = 1.0
    required_edge: float = 0.0
    stop_early: bool = True
    max_rounds: int = 2001
    max_tries: int = 1
    weak_failure: str = "abort"


class Trial(NamedTuple):
    """A weak hypothesis, judged.

    Attributes
    ----------
    hypothesis : object
        As the weak learner returns it.
    predicted : ndarray of shape (n_samples,), int
    edge : float
        On the samples that judge.
    followed : float
        On the samples whose edge gamma follows.
    """

    hypothesis: object
    predicted: np.ndarray
    edge: float
    followed: float

    def has_edge(self):
        """Test whether it is better than a coin, by more than rounding."""
        return self.edge > EDGE_TOLERANCE


@dataclass
class BoostingState:
    """Votes, hypotheses and a record of every round.

    Attributes
    ----------
    votes : MajorityVotes
    schedule : Schedule
    hypotheses : list
        As the weak learner returns them.
    best_failure : object
        Of the hypotheses without an edge the one with the largest: it is used when no
        round had a better one.
    failed_edge : float
        Its edge.
    k, gamma : int, float
        The present plan; k is 0 before the first.
    plans : list of (int, int, float)
        Round, k and gamma of every plan that fixed k.
    record : dict of lists
        One number for each round: "edge" (NaN when aborted), "followed" (the edge that
        gamma may follow, of rounds that were dropped too), "gamma", "required",
        "divergence", "acceptance", "potential" (before the round).
    termination : str or None
        Why boosting stopped: "all_rounds", "no_weight_left", "target_error", "no_edge",
        "max_rounds", "early_stopping".
    """

    votes: MajorityVotes
    schedule: Schedule
    hypotheses: list = field(default_factory=list)
    best_failure: object = None
    failed_edge: float = -np.inf
    k: int = 0
    gamma: float = 0.0
    plans: list = field(default_factory=list)
    record: dict = field(default_factory=partial(defaultdict, list))
    termination: str | None = None
    n_failures: int = 0

    def is_over(self):
        """Decide whether boosting ends before the next round, and set the reason."""
        schedule, votes = self.schedule, self.votes
        is_planned = schedule.n_rounds is not None
        if self.termination is not None:
            return True
        if self.k and votes.n_rounds >= self.k and (is_planned or schedule.gamma):
            self.termination = "all_rounds"
        elif not is_planned and votes.n_votes:
            is_due = schedule.stop_early or 0 < self.k <= votes.n_rounds
            if is_due and votes.error() < schedule.target_error:
                self.termination = "target_error"
        if self.termination is None:
            if not is_planned and self.n_failures >= PATIENCE:
                self.termination = "no_edge"
            elif votes.n_rounds >= schedule.max_rounds:
                self.termination = "max_rounds"
        return self.termination is not None

    def plan(self):
        """Set the number of rounds and the edge assumed of the rounds to come."""
        schedule, votes = self.schedule, self.votes
        # A given number of rounds: gamma is given, or follows the edges of each round.
        if schedule.n_rounds is not None:
            if not self.plans:
                self.k = schedule.n_rounds
                self.gamma = schedule.gamma or max_gamma(self.k, 0.2)
                self.plans.append((0, self.k, self.gamma))
            elif schedule.gamma is None:
                self.gamma, _edge = self.measured_gamma()
        # A given edge: as many rounds as the target error needs, planned once.
        elif schedule.gamma is not None:
            if not self.plans:
                self.gamma = schedule.gamma
                self.k = votes.rounds_needed(self.gamma, schedule.target_error)
                self.plans.append((0, self.k, self.gamma))
        # Before the first vote all samples weigh alike, whatever the plan will be.
        elif votes.n_votes and (
            not self.k
            or votes.n_rounds >= self.k
            or votes.potential(self.k, self.gamma) >= schedule.target_error
        ):
            self.replan()

    def replan(self):
        """Plan the remaining rounds from the present states, with the measured edge.

        Lemma 2.2.2, that the average potential does not rise, holds from any state.
        Half of the target error leaves room for smaller edges.
        """
        (self.gamma, _edge), self.k = self.measured_gamma(), self.schedule.n_rounds
        if self.k is None:
            error = self.schedule.target_error / 2
            self.k = self.votes.rounds_needed(self.gamma, error)
        self.plans.append((self.votes.n_rounds, self.k, self.gamma))

    def measured_gamma(self):
        """Compute the edge to assume from those of the last rounds; return both.

        In a game of no fixed length only edges above 0 count: a plan for an edge of 0
        would never end.
        """
        edges = np.array(self.record["followed"][-self.schedule.recent :])
        smallest = SMALLEST_GAMMA
        if self.schedule.n_rounds is None:
            edges, smallest = edges[edges > 0], SMALLEST_PLANNED_GAMMA
        edge = float(np.mean(edges)) if len(edges) else 0.0
        return min(max(self.schedule.caution * edge, smallest), LARGEST_GAMMA), edge

    def drop_round(self, followed):
        """Leave a round to another plan; stop if no edge is to be expected."""
        self.record["followed"].append(followed)
        _gamma, edge = self.measured_gamma()
        if edge > 0:
            self.replan()
        else:
            self.termination = "no_edge"

    def has_failed(self, trial):
        """Decide whether an edge is too small, and note the best without an edge.

        Raises
        ------
        WeakLearnerError
            With ``weak_failure="raise"``.
        """
        schedule, edge = self.schedule, trial.edge
        required = 0.0
        if schedule.weak_failure != "abort":
            required = schedule.required_edge
        failed = not trial.has_edge() or edge < required - EDGE_TOLERANCE
        if failed and schedule.weak_failure == "raise":
            raise WeakLearnerError(
                f"In round {self.votes.n_rounds} the weak learner has the edge "
                f"{edge:.3g}, but {required or 'more than 0'} is required. Use a "
                "stronger estimator, a smaller gamma, or weak_failure='abort' or "
                "'replan'."
            )
        if self.failed_edge < edge and not trial.has_edge():
            self.best_failure, self.failed_edge = trial.hypothesis, edge
        return failed

    def add_round(self, weights, trial):
        """Record a round and count its votes."""
        self.record_round(weights, trial)
        self.votes.add(trial.predicted if trial.has_edge() else None)

    def record_round(self, weights, trial):
        """Record what happened in a round, before its votes are counted."""
        k, error, required = self.k, self.schedule.target_error, np.nan
        has_edge = trial.has_edge()
        if k:
            # Lemma 2.4.1: shortfalls weigh as much as the samples that the round
            # decides. Where their weight underflows any edge is enough.
            weight = weights.mean * k
            shortfall = error * (1 - error) / weight if weight > 0 else np.inf
            required = self.gamma - shortfall
        facts = {
            "edge": trial.edge if has_edge else np.nan,
            "followed": trial.followed,
            "gamma": self.gamma if k else np.nan,
            "required": required,
            "divergence": weights.divergence,
            "acceptance": weights.acceptance,
            "potential": weights.potential,
        }
        for name, fact in facts.items():
            self.record[name].append(float(fact))
        self.n_failures = 0 if has_edge else self.n_failures + 1
        if has_edge:
            self.hypotheses.append(trial.hypothesis)

    def play_compiled(self, learner, rng, *, measured):
        """Play all rounds in compiled code, where it can; record those of a report."""
        if not (learner.returns_edge and learner.plays(self.schedule)):
            return
        self.plan()
        played = learner.play(self.schedule, self.gamma, rng, counted=measured)
        n_rounds, (edges, *_, gammas), known = len(played.hypotheses), played.record, []
        # Without the coins of aborted rounds all rounds are measured together.
        if measured and (edges > EDGE_TOLERANCE).all():
            counts = played.counts[:n_rounds]
            known = self.votes.weights_of_rounds(counts, self.k, gammas)
        # Up to the last state that occurs.
        n_states = (np.arange(1, self.k + 3) * (played.counts > 0)).max(axis=1)
        rounds = zip(played.hypotheses, *played.record.tolist(), strict=True)
        for i, (hypothesis, *edges, self.gamma) in enumerate(rounds):
            trial = Trial(hypothesis, None, *edges)
            if known:
                self.record_round(known[i], trial)
            elif measured:
                counts = played.counts[i, : n_states[i]]
                weights = self.votes.weights_of_states(counts, self.k, self.gamma)
                self.record_round(weights, trial)
            elif trial.has_edge():
                self.hypotheses.append(hypothesis)
            self.votes.count_round(trial.has_edge())
        # The loop of `boost` resumes here, and finds that the game is over.
        self.votes.correct[:] = played.right
        self.best_failure, self.failed_edge = played.best_failure
        if self.votes.n_rounds < self.k:
            self.termination = "no_weight_left"


class Validation:
    """Held-out samples, on which the vote of a booster is scored after each round.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        As ``votes`` of the weak learner takes it.
    codes : ndarray of shape (n_samples,), int
        The class of each sample.
    n_classes : int
    sample_weight : ndarray of shape (n_samples,), float64, or None
    n_iter_no_change : int
        Boosting stops after so many rounds without a larger score.

    Attributes
    ----------
    scores : list of float
        Negated log-loss of the calibrated vote after each round.
    """

    def __init__(self, X, codes, n_classes, sample_weight, n_iter_no_change):
        self.X, self.codes, self.sample_weight = X, codes, sample_weight
        self.votes = np.zeros((len(codes), n_classes), dtype=np.int64)
        self.n_iter_no_change, self.scores = n_iter_no_change, []

    def of_game(self, game, estimator, columns):
        """Make the validation of a game of two classes; None without samples of it.

        ``columns`` are the samples that train the game, as for `take_samples`.
        """
        samples, codes = samples_of_game(self.codes, game)
        if not len(samples):
            return None
        X = take_samples(estimator, self.X, samples, columns)
        weights = self.sample_weight
        weights = None if weights is None else weights[samples]
        return Validation(X, codes, 2, weights, self.n_iter_no_change)

    def count(self, learner, hypotheses):
        """Count the votes of new hypotheses; return whether boosting should stop."""
        if hypotheses:
            self.votes += learner.votes(hypotheses, self.X)
        weights = self.sample_weight
        weights = np.ones(len(self.codes)) if weights is None else weights
        loss = calibrated_loss(class_scores(self.votes), self.codes, weights)
        self.scores.append(-loss)
        n_since = len(self.scores) - 1 - int(np.argmax(self.scores))
        return n_since >= self.n_iter_no_change


def boost(
    learner, votes, schedule, rng, report=None, validation=None, *, measured=True
):
    """Boost a weak learner by majority.

    Parameters
    ----------
    learner : WeakLearner
    votes : MajorityVotes
        Votes of the training samples, without any vote.
    schedule : Schedule
    rng : RandomState
    report : callable or None
        ``report(state)`` is called after each round; it returns whether to stop.
    validation : Validation or None
        It ends boosting early.
    measured : bool
        Whether to compute the divergence, the acceptance and the potential of each
        round, which only reports need.

    Returns
    -------
    state : BoostingState

    Raises
    ------
    WeakLearnerError
        With ``weak_failure="raise"``.
    """
    state = BoostingState(votes, schedule)
    if report is None and validation is None:
        state.play_compiled(learner, rng, measured=measured)
    while not state.is_over():
        state.plan()
        weights = votes.weights(state.k, state.gamma, measured=measured)
        if not weights.table.any():
            state.termination = "no_weight_left"
            break
        trial = fit_weak_hypothesis(
            learner, votes.codes, weights, schedule, state.gamma, rng
        )
        has_failed = state.has_failed(trial)
        if has_failed and schedule.weak_failure == "drop":
            state.drop_round(trial.followed)
            continue
        state.add_round(weights, trial)
        if has_failed and schedule.weak_failure == "replan":
            state.replan()
        if report is not None and report(state):
            state.termination = "callback"
        if validation is not None:
            new = [trial.hypothesis] if trial.has_edge() else []
            if validation.count(learner, new):
                state.termination = "early_stopping"
    return state


def fit_weak_hypothesis(learner, codes, weights, schedule, gamma, rng):
    """Fit the first hypothesis with an edge of gamma, or the best of all tries.

    Parameters
    ----------
    learner : WeakLearner
    codes : ndarray of shape (n_samples,), int
    weights : RoundWeights
    schedule : Schedule
    gamma : float
    rng : RandomState

    Returns
    -------
    trial : Trial
    """
    holdout = schedule.holdout
    if holdout is None and learner.returns_edge:
        # The learner rounds the weights itself, and its edge is exact for these. There
        # is no randomness, so one try is enough.
        hypothesis = learner.fit(None, rng, weights)
        edge = hypothesis.edge
        return Trial(hypothesis, learner.predict_codes(hypothesis), edge, edge)

    # What is fitted to rounded weights is judged by them: sums of integers are quick.
    all_samples = weights.of_samples(quantized=learner.returns_edge)
    best, start = None, len(learner.drawn)
    for attempt in range(schedule.max_tries):
        trained = judging = all_samples
        shown = weights
        if holdout is not None:
            uniform = rng.randint(2**16, size=len(all_samples), dtype=np.uint16)
            is_held = uniform < 2**16 * holdout
            divided = all_samples * ~is_held, all_samples * is_held
            # Samples too few to be divided judge the hypothesis that they trained.
            if divided[0].any() and divided[1].any():
                (trained, judging), shown = divided, None
        hypothesis = learner.fit(trained, rng, shown)
        predicted = learner.predict_codes(hypothesis)
        right = predicted == codes
        # Not BLAS products: their threads cost more than a hundred thousand additions.
        edge = followed = float((judging * right).sum() / judging.sum()) - 0.5
        if not schedule.follow_holdout:
            followed = float((trained * right).sum() / trained.sum()) - 0.5
        if best is None or edge > best.edge:
            best = Trial(hypothesis, predicted, edge, followed)
            drawn_for_best = learner.drawn[start + attempt : start + attempt + 1]
        if edge >= gamma - EDGE_TOLERANCE:
            break
    learner.drawn[start:] = drawn_for_best
    return best
