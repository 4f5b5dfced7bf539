"""How boosting by majority filters a stream: its plan, and what each round accepts."""

from dataclasses import dataclass
from math import ceil, log

import numpy as np

from sklboolean._core.validation import check_choice, check_integer, check_real
from sklboolean.boosting._binomials import log_exactly
from sklboolean.boosting._game_rounds import min_rounds
from sklboolean.boosting._majority_game import check_edge

# Rows that train a hypothesis, unless the user says how many.
N_SAMPLES_WEAK = 200


@dataclass(frozen=True)
class FilterPlan:
    """What is fixed before the first row is seen.

    Attributes
    ----------
    n_rounds : int
        Rounds of the game, odd.
    edge : float
        The edge for which the game weighs.
    required_edge : float
        The edge on test rows with which a hypothesis passes.
    n_candidates, n_train, n_test : int
        A batch of accepted rows trains so many hypotheses, each on rows of its own, and
        tests them on the rest.
    max_tries : int
        Batches in a round.
    patience : float
        A round is aborted when a row is rejected and rows seen for each one accepted
        are more than this times the weight of the heaviest state.
    delta : float
        Probability of failure allowed.
    """

    n_rounds: int
    edge: float
    required_edge: float
    n_candidates: int
    n_train: int
    n_test: int
    max_tries: int
    patience: float
    delta: float

    @property
    def batch_size(self):
        """Return how many rows are kept at most."""
        return self.n_candidates * self.n_train + self.n_test


def plan_filter(
    mode, gamma, epsilon, delta, *, reliability=1.0, n_samples_weak=None, max_tries=1
):
    """Plan to boost on a stream until the error is small.

    Parameters
    ----------
    mode : {"theory", "practical"}
    gamma : float
        What weak hypotheses are right about beyond one half, above 0 and below 0.5.
    epsilon : float
        The error allowed, above 0 and below 0.5.
    delta : float
        The probability of failure allowed, above 0 and below 1.
    reliability : float
        With which probability the weak learner keeps its promise, above 0, at most 1.
        Only the theory asks for it.
    n_samples_weak : int or None
        Rows that train a hypothesis; in practice as many test it. None: 200.
    max_tries : int
        In practice: batches from which a hypothesis with an edge may come in a round.

    Returns
    -------
    plan : FilterPlan

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If an argument is out of range.
    """
    check_choice(mode, "mode", ["theory", "practical"])
    gamma = check_edge(gamma)
    epsilon = check_share(epsilon, "epsilon", 0.5, "a coin errs half of the time")
    delta = check_share(delta, "delta", 1, "failure must stay possible and improbable")
    if check_real(reliability, "reliability", 0, strict=True) > 1:
        raise ValueError(
            f"reliability must be at most 1; got {reliability}. It is the probability "
            "that the weak learner succeeds."
        )
    n_train = N_SAMPLES_WEAK
    if n_samples_weak is not None:
        n_train = check_integer(n_samples_weak, "n_samples_weak", 1)
    max_tries = check_integer(max_tries, "max_tries", 1)
    if mode == "practical":
        # Half of the error is for the game and half for rounds that are aborted, k of
        # them at most: each costs gamma times the mean weight (Lemma 2.3.8), and ends
        # when that is likely to be below epsilon / 2k.
        k = min_rounds(gamma, epsilon / 2)
        return FilterPlan(
            k, gamma, gamma / 2, 1, n_train, n_train, max_tries,
            2 * k * gamma / epsilon, delta,
        )  # fmt: skip
    # Figure 2.4. The edge is halved because B_Rel, Figure A.1, promises no more, and
    # gamma stays whole in the abort rule.
    k = min_rounds(gamma / 2, epsilon**2)
    n_candidates = ceil(log(4 * k / delta) / reliability)
    n_test = ceil(8 / gamma**2 * log(4 * k * n_candidates / delta))
    return FilterPlan(
        k, gamma / 2, gamma / 2, n_candidates, n_train, n_test, 1,
        2 * k * gamma / (epsilon * (1 - epsilon)), delta,
    )  # fmt: skip


def check_share(value, name, limit, reason):
    """Return a number above 0 and below a limit as a float."""
    share = float(check_real(value, name))
    if not 0 < share < limit:
        raise ValueError(
            f"{name} must be above 0 and below {limit}; got {value}: {reason}."
        )
    return share


@dataclass(frozen=True)
class RoundFilter:
    """What one round lets pass, and when it gives up.

    Attributes
    ----------
    table : ndarray of shape (n_states,), float64
        The probability of acceptance for each state, as `Board` numbers states.
    patience : float
        Rows to see for each accepted one, at most, at least 1.
    n_lenient : float
        So many rows count as accepted from the start.
    """

    table: np.ndarray
    patience: float
    n_lenient: float

    def rejects_too_many(self, n_seen, n_accepted):
        """Tell whether to abort after a rejected row: the rule of Figure 2.4."""
        return n_seen > self.patience * np.maximum(n_accepted, self.n_lenient)


def open_filter(plan, n_rounds, n_aborted, n_classes):
    """Return the `RoundFilter` of the next round.

    Weights are relative to the heaviest state that can occur in the round (Figure 2.4),
    whether it does or not: what passes must not depend on what else is seen. Fair coins
    stand for aborted rounds, and weights are means over their outcomes.
    """
    n_votes = n_rounds - n_aborted
    unit = 2 if n_classes == 2 else 1
    states = np.arange(2 // unit * n_votes + 1)
    missing = (plan.n_rounds - unit * states) // 2
    logs = log_exactly(missing, plan.n_rounds - n_rounds - 1, plan.edge, n_aborted)
    # Of levels 2r + t all can occur but that of one vote short of all: there t is 0.
    # As k is odd, just as many votes are missing at the level below.
    largest = logs.max()
    # Below 1 even the first round, which accepts all, would be aborted.
    patience = max(1.0, plan.patience * float(np.exp(largest)))
    n_lenient = 4 * log(8 * plan.n_rounds * patience / plan.delta)
    return RoundFilter(np.exp(logs - largest), patience, n_lenient)


def random_words(seed, purpose, start, n_words):
    """Return random 64-bit words by their numbers, whichever were drawn before.

    Parameters
    ----------
    seed, purpose : int
        Each pair has a sequence of its own.
    start, n_words : int
        The number of the first word, and how many.
    """
    # A counter in each step of the generator gives four words.
    blocks, skipped = divmod(start, 4)
    key = np.array([seed, purpose], dtype=np.uint64)
    return (
        np.random.Philox(key=key)
        .advance(blocks)
        .random_raw(n_words + skipped)[skipped:]
    )
