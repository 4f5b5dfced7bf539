"""Boosting by majority for any meaning of "right": a game, and who plays it.

The game knows no data. Each round it weighs the examples; a weak learner that is shown
them with these weights returns a hypothesis and says about which of them it is right.
"""

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from sklboolean.boosting.game import average_potential, state_weights
from sklboolean.boosting.game_rounds import max_gamma, min_rounds, rounds_from_states

__all__ = [
    "MajorityGame",
    "check_finite_sum",
    "fit_under_weights",
    "is_auto",
    "n_draws_for",
    "play_rounds",
]

RELIED_SHARE = 0.7  # of measured edges; later rounds are harder than earlier ones
RECENT_ROUNDS = 15
MAX_ROUNDS = 501  # of a game whose length was not given
WEIGHT_BITS = 26


class MajorityGame:
    """Where a game over examples stands, and the plan for its rest.

    Parameters
    ----------
    values : ndarray of shape (n_samples,), dtype float64
        What each example counts, above 0.
    target_error : float
        The share of the value that may be lost is to stay below this; in (0, 0.5).
    gamma : float or None
        The edge to rely on. None: what is measured, or what `k` rounds need.
    k : int or None
        Number of rounds, odd. None: as many as `gamma` and `target_error` ask for.

    Attributes
    ----------
    correct_votes : ndarray of shape (n_samples,), dtype int64
        How many hypotheses are right about each example.
    n_rounds, n_aborted : int
        Rounds played, and those of them that ended without a hypothesis.
    hypotheses, edges : list
        The hypotheses, and the share of the weight that each was right about, less 1/2.
    tried_edges : list of float
        The same for every round and every plan that a try led to, failed ones included.
    potentials, gammas : list of float
        For each round the average potential after it and the edge that was relied on.
    """

    def __init__(self, values, target_error, gamma=None, k=None):
        self.values, self.target_error = values, target_error
        self.grows = k is None
        self.replans = gamma is None and k is None
        if gamma is None and k is not None:
            gamma = max_gamma(k, target_error)
        elif k is None and gamma is not None:
            k = min_rounds(gamma, target_error)
        self.gamma, self.k = gamma, k
        self.correct_votes = np.zeros(len(values), dtype=np.int64)
        self.n_rounds = self.n_aborted = 0
        self.hypotheses, self.edges, self.potentials, self.gammas = [], [], [], []
        self.tried_edges = []

    def weights(self):
        """Return what each example weighs now; all 0 when the game is over.

        Their total is that of the values, but for a factor below 2. Their factors are
        multiples of 2**-26 of the largest: with values that are integers sums are
        exact, so that a value of 3 and three examples of value 1 do not differ.
        """
        if self.n_rounds == 0:
            return self.values.copy()
        if self.n_rounds == self.k:
            return np.zeros(len(self.values))
        weights, _ = state_weights(
            self.k, self.n_rounds, self.gamma, self.correct_votes,
            n_aborted=self.n_aborted,
        )  # fmt: skip
        rounded = np.ldexp(np.rint(np.ldexp(weights, WEIGHT_BITS)), -WEIGHT_BITS)
        weights = rounded * self.values
        # A power of two changes no comparison of sums. That of 0 is 2**0.
        (_, exponents) = np.frexp([self.values.sum(), weights.sum()])
        return np.ldexp(weights, exponents[0] - exponents[1])

    def potential(self, k=None):
        """Return the average potential, for another length of the game if given."""
        return average_potential(
            k or self.k, self.n_rounds, self.gamma, self.correct_votes,
            n_aborted=self.n_aborted, values=self.values,
        )  # fmt: skip

    def add(self, hypothesis, right, edge):
        """End a round with a hypothesis; None aborts it: its vote is a fair coin."""
        self.n_rounds += 1
        if hypothesis is None:
            self.n_aborted += 1
        else:
            self.correct_votes += right
            self.hypotheses.append(hypothesis)
            self.edges.append(edge)

    def plan(self):
        """Plan the rest of the game from the edges of late; return whether one can.

        Sound in every state: Lemma 2.2.2 holds wherever the rest starts.
        """
        edge = float(np.mean(self.tried_edges[-RECENT_ROUNDS:]))
        if edge <= 0:
            return False
        self.gamma = RELIED_SHARE * edge
        if self.grows:
            error = self.target_error / 2
            self.k = max(MAX_ROUNDS, self.n_rounds | 1)
            if self.potential() < error:
                self.k = rounds_from_states(
                    self.n_rounds, self.gamma, error, self.correct_votes,
                    n_aborted=self.n_aborted, values=self.values,
                )  # fmt: skip
        return True


def play_rounds(game, learn, *, on_weak_failure="replan", max_tries=1, report=None):
    """Play a game until all is decided or nothing can be relied on.

    Parameters
    ----------
    game : MajorityGame
        Changed in place.
    learn : callable
        ``learn(weights)`` returns a hypothesis and a bool array, the examples about
        which it is right.
    on_weak_failure : {"abort", "replan", "raise"}, default="replan"
        What to do when every try of a round is no better than a coin: let a coin vote,
        plan the rest anew without a vote, or raise.
    max_tries : int, default=1
        Tries of a round; the first that is better than a coin ends it.
    report : callable or None, default=None
        Called with the game after each round.

    Raises
    ------
    ValueError
        If the first hypothesis is no better than a coin while a plan needs its edge, if
        a later one is and `on_weak_failure` is "raise", or if none is better.
    """
    while (weights := game.weights()).any():
        hypothesis, right, edge = _first_success(learn, weights, max_tries)
        game.tried_edges.append(edge)
        if edge <= 0:
            if game.gamma is None or on_weak_failure == "raise":
                raise ValueError(_too_weak(f"in round {game.n_rounds + 1}", edge))
            if on_weak_failure == "replan":
                if game.plan():
                    continue
                break
            hypothesis = None
        game.add(hypothesis, right, edge)
        if game.gamma is None:
            game.plan()
        game.gammas.append(game.gamma)
        game.potentials.append(game.potential())
        if report is not None:
            report(game)
        if game.replans and game.potentials[-1] >= game.target_error:
            if not game.plan():
                break
    if not game.hypotheses:
        raise ValueError(_too_weak("at best", max(game.tried_edges)))


def _first_success(learn, weights, max_tries):
    """Try until a hypothesis is better than a coin; return the best of the tries."""
    best = None, None, -np.inf
    for _ in range(max_tries):
        hypothesis, right = learn(weights)
        edge = float(weights[right].sum() / weights.sum()) - 0.5
        if edge > best[2]:
            best = hypothesis, right, edge
        if edge > 0:
            break
    return best


def _too_weak(when, edge):
    return (
        f"estimator is right about {0.5 + edge:.3g} of the weight {when}, no better "
        "than a coin: take a stronger estimator, or a larger delta if it has one; from "
        'the second round on on_weak_failure="replan" goes on.'
    )


def fit_under_weights(base, X, y, weights, rng, n_draws=None):
    """Fit a clone of an estimator to weighted rows.

    Parameters
    ----------
    base : estimator
        Not changed. Every ``random_state`` in it is drawn from `rng`.
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Targets.
    weights : ndarray of shape (n_samples,), dtype float64
        At least 0, one above. Rows of weight 0 are left out.
    rng : RandomState
        Source of randomness.
    n_draws : int or None, default=None
        Draw so many rows with these weights instead of passing the weights on.

    Returns
    -------
    model : estimator
        The fitted clone.
    """
    model = clone(base)
    names = sorted(model.get_params(deep=True))
    names = [n for n in names if n == "random_state" or n.endswith("__random_state")]
    if names:
        model.set_params(**{n: rng.randint(np.iinfo(np.int32).max) for n in names})
    if n_draws is None:
        rows = np.flatnonzero(weights)
        return model.fit(X[rows], y[rows], sample_weight=weights[rows])
    rows = rng.choice(len(weights), n_draws, p=weights / weights.sum())
    return model.fit(X[rows], y[rows])


def n_draws_for(base, variant, n_samples_weak, n_samples):
    """Return how many rows a weak learner is to draw; None if it takes weights."""
    takes_weights = has_fit_parameter(base, "sample_weight")
    if variant == "reweight" and not takes_weights:
        raise ValueError(
            'variant="reweight" needs an estimator whose fit takes sample_weight; that '
            f'of {type(base).__name__} does not. Use variant="resample" or "auto".'
        )
    if variant == "resample" or not takes_weights:
        return n_samples_weak or n_samples
    return None


def is_auto(value, name):
    """Return whether a parameter is "auto"; no other string will do."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f'{name} must be "auto" or a number; got {value!r}.')
    return isinstance(value, str)


def check_finite_sum(values):
    """Return what examples count, if it can be added up."""
    with np.errstate(over="ignore"):
        total = values.sum()
    if not np.isfinite(total):
        raise ValueError(
            "sample_weight must have a finite sum; divide it by its largest entry."
        )
    return values
