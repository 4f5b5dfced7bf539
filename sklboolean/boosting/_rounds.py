"""The rounds of boost-by-majority on a table: plan, weigh, learn, judge, count."""

from dataclasses import dataclass, field

import numpy as np

from sklboolean.boosting._board import Board
from sklboolean.boosting._game_rounds import max_gamma

SMALLEST_GAMMA, SMALLEST_PLANNED_GAMMA, LARGEST_GAMMA = 1e-3, 0.01, 0.49
# An edge that is gamma but for rounding keeps the promise.
EDGE_TOLERANCE = 1e-12
# Rounds without a hypothesis, one after the other, that end a game without a fixed
# length: it would go on for ever.
PATIENCE = 20


class WeakLearnerError(ValueError):
    """The weak learner does not do what was promised for it."""


@dataclass(frozen=True)
class Policy:
    """What is assumed of the weak hypotheses to come.

    Attributes
    ----------
    n_rounds : int or None
        Rounds of the game, odd. None: as many as the target error needs.
    target_error : float
        Share of the value that the vote may get wrong.
    gamma : float or None
        The edge assumed of every hypothesis. None: ``caution`` times the mean of the
        ``recent`` last edges, followed in every round when ``n_rounds`` is fixed;
        otherwise planned once, and again when the average potential reaches the target.
    holdout : float or None
        Share of the rows, drawn in each round, that a hypothesis is judged on and not
        trained on.
    follow_holdout : bool
        Whether gamma follows the edges on rows held out, not those on training rows.
    recent : int
    caution : float
    promised : float
        Edge below which a hypothesis has failed, where failures are not aborted.
    stop_early : bool
        Whether a game without a fixed length ends as soon as the vote is right enough,
        not when its plan does: the rounds between widen margins.
    """

    n_rounds: int | None
    target_error: float
    gamma: float | None = None
    holdout: float | None = None
    follow_holdout: bool = True
    recent: int = 20
    caution: float = 1.0
    promised: float = 0.0
    stop_early: bool = True


@dataclass
class Game:
    """A game on a table: its board, its hypotheses, and a record of every round.

    Attributes
    ----------
    board : Board
    hypotheses : list
        As the learner gives them.
    best_failure : object
        The hypothesis of largest edge among those without one: what is left when no
        round had a better one.
    k, gamma : int, float
        The present plan.
    plans : list of (int, int, float)
        Round, k and gamma of every plan that fixed k.
    rounds : dict of lists
        By name, one float for each round: "edge" (NaN when aborted), "followed" (the
        edge that gamma may follow, of tries that were dropped too), "gamma",
        "required", "divergence", "acceptance", "potential" (before the round).
    """

    board: Board
    hypotheses: list = field(default_factory=list)
    best_failure: object = None
    failed_edge: float = -np.inf
    k: int = 0
    gamma: float = 0.0
    plans: list = field(default_factory=list)
    rounds: dict = field(default_factory=dict)
    stopped: str = ""

    def note(self, **facts):
        """Append facts about a round to the records."""
        for name, value in facts.items():
            self.rounds.setdefault(name, []).append(float(value))


def play_rounds(
    learner, codes, values, policy, rng, *, max_rounds, max_tries=1,
    on_failure="abort", report=None,
):  # fmt: skip
    """Play the majority game on a table.

    Parameters
    ----------
    learner : StumpLearner, EstimatorLearner or AgreementLearner
    codes : ndarray of shape (n_samples,), int
    values : ndarray of shape (n_samples,), float64, or None
        What each row counts, above 0.
    policy : Policy
    rng : RandomState
    max_rounds : int
        Where to stop when the plan asks for more.
    max_tries : int
        Tries of the weak learner in a round; one without chance gains nothing by them.
    on_failure : {"abort", "replan", "drop", "raise"}
        Count a coin for the round; that, and plan the rest anew; plan anew and play the
        round again; or stop with an error.
    report : callable or None
        ``report(game)`` after each round.

    Returns
    -------
    game : Game
        ``stopped`` tells why it ended: "rounds", "decided", "right", "no edge" or
        "max_rounds".

    Raises
    ------
    WeakLearnerError
        With ``on_failure="raise"``.
    """
    game = Game(Board(codes, len(learner.classes), values))
    board, n_failures = game.board, 0
    while not (game.stopped or is_over(game, policy, n_failures)):
        if board.n_rounds >= max_rounds:
            game.stopped = "max_rounds"
            break
        plan(game, policy)
        weights = board.weigh(game.k, game.gamma) if game.k else board.even_weights()
        if not weights.table.any():
            game.stopped = "decided"
            break
        hypothesis, predicted, edge, followed = best_try(
            learner, codes, weights, rng, policy, max_tries, game.gamma
        )
        promised = policy.promised if on_failure != "abort" else 0.0
        failed = edge <= EDGE_TOLERANCE or edge < promised - EDGE_TOLERANCE
        if failed and on_failure == "raise":
            raise WeakLearnerError(
                f"In round {board.n_rounds} the weak learner's edge is {edge:.3g}, and "
                f"{promised or 'more than 0'} was promised. Take a stronger estimator, "
                "a smaller gamma, or on_weak_failure='abort' or 'replan'."
            )
        if game.failed_edge < edge <= EDGE_TOLERANCE:
            game.best_failure, game.failed_edge = hypothesis, edge
        if failed and on_failure == "drop":
            drop(game, policy, followed)
            continue
        note_round(game, weights, policy, edge, followed)
        if edge > EDGE_TOLERANCE:
            n_failures = 0
            game.hypotheses.append(hypothesis)
            board.add(predicted)
        else:
            n_failures += 1
            board.abort()
        if failed and on_failure == "replan":
            replan(game, policy)
        if report is not None:
            report(game)
    return game


def is_over(game, policy, n_failures):
    """Tell whether the game has ended, and say why in ``game.stopped``."""
    board = game.board
    if game.k and board.n_rounds >= game.k and (policy.n_rounds or policy.gamma):
        game.stopped = "rounds"
    elif policy.n_rounds is None and board.n_votes:
        is_due = policy.stop_early or 0 < game.k <= board.n_rounds
        if is_due and board.error() < policy.target_error:
            game.stopped = "right"
    if not game.stopped and policy.n_rounds is None and n_failures >= PATIENCE:
        game.stopped = "no edge"
    return bool(game.stopped)


def plan(game, policy):
    """Set the length of the game and the edge assumed of the rounds to come."""
    board = game.board
    if policy.n_rounds is not None:
        if not game.plans:
            game.gamma = policy.gamma or max_gamma(policy.n_rounds, 0.2)
            set_plan(game, policy.n_rounds)
        elif policy.gamma is None:
            game.gamma = measured_gamma(game, policy)
    elif policy.gamma is not None:
        if not game.plans:
            game.gamma = policy.gamma
            set_plan(game, board.rounds_needed(game.gamma, policy.target_error))
    # Before the first vote all rows weigh alike, whatever the plan will be.
    elif board.n_votes and (
        not game.k
        or board.n_rounds >= game.k
        or board.potential(game.k, game.gamma) >= policy.target_error
    ):
        replan(game, policy)


def replan(game, policy):
    """Plan the rest of the game from the states it is in, with the edge measured.

    Lemma 2.2.2, that the average potential does not rise, holds from any state. Half of
    the target error leaves room for edges that fall short.
    """
    game.gamma = measured_gamma(game, policy)
    if policy.n_rounds is None:
        set_plan(game, game.board.rounds_needed(game.gamma, policy.target_error / 2))
    else:
        set_plan(game, policy.n_rounds)


def drop(game, policy, followed):
    """Leave a round to another plan; end the game if no edge is to be expected."""
    game.note(followed=followed)
    if recent_edge(game, policy) > 0:
        replan(game, policy)
    else:
        game.stopped = "no edge"


def set_plan(game, k):
    """Note a plan."""
    game.k = k
    game.plans.append((game.board.n_rounds, k, game.gamma))


def measured_gamma(game, policy):
    """Return the edge to assume, from those of the last rounds."""
    gamma = policy.caution * recent_edge(game, policy)
    smallest = SMALLEST_GAMMA if policy.n_rounds else SMALLEST_PLANNED_GAMMA
    return min(max(gamma, smallest), LARGEST_GAMMA)


def recent_edge(game, policy):
    """Return the mean of the last edges; of a plan without an end, of those above 0.

    A plan for edges of nothing would be for ever, and all of its rounds dear.
    """
    edges = np.array(game.rounds["followed"][-policy.recent :])
    if policy.n_rounds is None:
        edges = edges[edges > 0]
    return float(np.mean(edges)) if len(edges) else 0.0


def best_try(learner, codes, weights, rng, policy, max_tries, gamma):
    """Return the first hypothesis with an edge of gamma, or the best of all tries.

    Returns
    -------
    hypothesis : object
    predicted : ndarray of shape (n_samples,), int
    edge : float
        On the rows that judge.
    followed : float
        On the rows that gamma follows.
    """
    if policy.holdout is None and learner.knows_edges:
        # Its weights are its own rounding of these: so is the edge. No chance in it.
        hypothesis = learner.fit(None, rng, weights)
        edge = hypothesis.edge
        return hypothesis, learner.codes_of(hypothesis), edge, edge
    best, rows, start = None, weights.rows(), len(learner.drawn)
    for attempt in range(max_tries):
        trained, judging = rows, rows
        shown = weights
        if policy.holdout is not None:
            is_held = rng.random_sample(len(rows)) < policy.holdout
            parts = np.where(is_held, 0.0, rows), np.where(is_held, rows, 0.0)
            # Rows too few to be parted judge what they have trained.
            if parts[0].any() and parts[1].any():
                (trained, judging), shown = parts, None
        hypothesis = learner.fit(trained, rng, shown)
        predicted = learner.codes_of(hypothesis)
        right = predicted == codes
        edge = followed = edge_of(judging, right)
        if not policy.follow_holdout:
            followed = edge_of(trained, right)
        if best is None or edge > best[2]:
            best = hypothesis, predicted, edge, followed
            kept = learner.drawn[start + attempt : start + attempt + 1]
        if edge >= gamma - EDGE_TOLERANCE:
            break
    learner.drawn[start:] = kept
    return best


def edge_of(weights, right):
    """Return the share of the weight in the right rows, less 1/2."""
    # Not a BLAS product: its threads cost more than a hundred thousand additions.
    return float(np.einsum("i,i->", weights, right) / weights.sum()) - 0.5


def note_round(game, weights, policy, edge, followed):
    """Record a round before its vote is counted."""
    k, error, required = game.k, policy.target_error, np.nan
    if k:
        # Lemma 2.4.1: shortfalls weigh as much as the rows that the round decides.
        required = game.gamma - error * (1 - error) / (weights.mean * k)
    game.note(
        edge=edge if edge > EDGE_TOLERANCE else np.nan,
        followed=followed,
        gamma=game.gamma if k else np.nan,
        required=required,
        divergence=weights.divergence,
        acceptance=weights.acceptance,
        potential=weights.potential,
    )
