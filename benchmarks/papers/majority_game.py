"""The majority game, boosting by sub-sampling and by filtering: Freund, chapter 2.

    python benchmarks/papers/majority_game.py [--quick]

Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
Learning. PhD thesis, University of California, Santa Cruz.

* (2.2) and Corollary 2.2.3: rounds that the game takes, beside the formula.
* Theorem 2.2.1, Lemma 2.2.2 and section 2.2.1: the game between several weightors and
  choosers. Against boost-by-majority none takes more than the binomial tail.
* Theorem 2.3.1, B_Samp: rounds until a sample is learned without an error, against
  hypotheses that are chosen by an adversary and against stumps.
* B_Filt (Figure 2.4): the share of rows that pass the filter in each round, beside its
  expectation over all rows that there are, and the rounds that are aborted.

What a theorem says is asserted. (For practical filters, and for the rows of a stream
over several seeds, see `bench_boosting.py`.)
"""

import argparse
import sys
from itertools import pairwise
from math import e, log, pi, sqrt
from pathlib import Path

import numpy as np
from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table
from bench_boosting import CHUNK, all_rows, draw_chunks, majority

from sklboolean import BoostByMajority, FilteringBoostByMajority
from sklboolean.boosting import BoostingSchedule, FilteringSchedule
from sklboolean.theory import (
    filter_sample_bound,
    majority_potentials,
    majority_weights,
    min_rounds,
    play_majority_game,
)

ROUNDING = 1e-12
# Features that vote in the target, and an edge a little below 1 / 2v, which the best of
# v such features has on any distribution.
MAJORITIES = {"2 of 3": (3, 0.15), "3 of 5": (5, 0.09), "4 of 7": (7, 0.065)}


# -- rounds ---------------------------------------------------------------------------


def rounds_row(gamma, epsilon):
    """Return the cells on the number of rounds: exact, and by the corollary."""
    k = min_rounds(gamma, epsilon)
    tails = [binom.cdf(n // 2, n, 0.5 + gamma) for n in (k - 2, k)]
    assert k == 1 or tails[0] >= epsilon > tails[1], "not the least number of rounds"
    formula = log(1 / epsilon) / (2 * gamma**2)
    # An even number of votes may be tied, and the corollary's may be even.
    assert k <= formula + 2, "Corollary 2.2.3: more rounds than the formula"
    return gamma, f"{epsilon:g}", k, f"{formula:.1f}", f"{formula / k:.2f}"


# -- the game -------------------------------------------------------------------------


def weigh_exponentially(k, i, gamma, values):
    """Weigh as AdaBoost would if all hypotheses had this edge."""
    return values * ((0.5 - gamma) / (0.5 + gamma)) ** np.arange(i + 1.0)


def mark_at_random(rng):
    """Return a chooser that marks any fractions that have just the weight asked for."""

    def mark(k, i, gamma, values, weights):
        fractions, asked = rng.random(i + 1), 0.5 + gamma
        weight = weights @ fractions
        if weight >= asked:
            return fractions * (asked / weight)
        return 1 - (1 - fractions) * ((1 - asked) / (1 - weight))

    return mark


def mark_more(rng):
    """Return a chooser that marks more than it must, at random."""

    def mark(k, i, gamma, values, weights):
        fractions = mark_at_random(rng)(k, i, gamma, values, weights)
        return 1 - (1 - fractions) * rng.random()

    return mark


def game_losses(k, gamma, n_random, weightors):
    """Return losses by weightor and chooser, with the theorems asserted."""
    choosers = {name: [name] for name in ("iid", "richest", "poorest", "adversarial")}
    rngs = [np.random.default_rng(seed) for seed in range(n_random)]
    choosers["random"] = [mark_at_random(rng) for rng in rngs]
    choosers["random, more"] = [mark_more(rng) for rng in rngs]
    tail, losses = binom.cdf(k // 2, k, 0.5 + gamma), {}
    for name, weightor in weightors.items():
        for title, players in choosers.items():
            games = [
                play_majority_game(weightor, player, k=k, gamma=gamma)
                for player in players
            ]
            loss = losses[name, title] = max(loss for loss, _ in games)
            if name == "majority":
                rise = max(np.diff(potentials).max() for _, potentials in games)
                assert rise <= ROUNDING, "Lemma 2.2.2: the potential rises"
                assert loss <= tail + ROUNDING, "Theorem 2.2.1: too much is lost"
            if title == "iid":
                assert abs(loss - tail) <= ROUNDING, "section 2.2.1: not the tail"
    return tail, losses


# -- boosting on a sample -------------------------------------------------------------


def marks_of_adversary(order, weights, gamma):
    """Mark points in an order until they have ``1/2 + gamma`` of the weight."""
    before = np.append(0.0, np.cumsum(weights[order])[:-1]) / weights.sum()
    marked = np.zeros(len(weights), dtype=bool)
    marked[order] = before < 0.5 + gamma - ROUNDING
    return marked


def sample_game(n_points, gamma, order_of, rng):
    """Play the game of B_Samp on points that cannot be divided.

    Returns
    -------
    k : int
        Rounds of Theorem 2.3.1.
    first : int
        Rounds after which the vote so far is right about all points, and stays so.
    decided : int
        Rounds after which no vote to come can change that.
    """
    k = min_rounds(gamma, 1 / n_points)
    right, potential = np.zeros(n_points, dtype=int), 1.0
    first = decided = k
    for i in range(k):
        weights = majority_weights(k, i, gamma)[right]
        if not weights.any():
            decided = i
            break
        order = order_of(right, rng)
        right += marks_of_adversary(order, weights, gamma)
        after = majority_potentials(k, i + 1, gamma)[right].mean()
        assert after <= potential + ROUNDING, "Lemma 2.2.2: the potential rises"
        potential = after
        if (2 * right <= i + 1).any():
            first = i + 2
    assert (right > k // 2).all(), "Theorem 2.3.1: a training error is left"
    return k, min(first, k), decided


def by_marks(sign):
    """Return an order of points: by their marks so far, ties at random."""
    return lambda right, rng: np.lexsort((rng.random(len(right)), sign * right))


ADVERSARIES = {
    "richest first": by_marks(-1),
    "poorest first": by_marks(1),
    "at random": lambda right, rng: rng.permutation(len(right)),
}


def stump_game(n_voters, gamma, sampling, n_samples, seed):
    """Boost stumps on a majority of features; return the same numbers."""
    rng, k = np.random.default_rng(seed), min_rounds(gamma, 1 / n_samples)
    X = rng.integers(2, size=(n_samples, 20), dtype=np.uint8)
    y = majority(X, n_voters)
    booster = BoostByMajority(
        n_estimators=k,
        schedule=BoostingSchedule(
            gamma=gamma,
            sampling=sampling,
            n_samples_weak=200,
            weak_failure="raise",
            max_tries=100,
        ),
        random_state=seed,
    ).fit(X, y)
    assert booster.termination_condition_ in ("all_rounds", "no_weight_left")
    # The premise of the theorem; and what it says.
    assert booster.estimator_edges_.min() >= gamma - ROUNDING
    assert (booster.predict(X) == y).all(), "Theorem 2.3.1: a training error is left"
    wrong = [(vote != y).any() for vote in booster.staged_predict(X)]
    first = 1 + max(np.flatnonzero(wrong), default=-1) + 1
    return k, min(first, k), booster.n_rounds_


def sample_rows(n_points, gamma, n_seeds):
    """Yield cells on B_Samp: who chooses, points, gamma, k, rounds needed."""
    for name, order_of in ADVERSARIES.items():
        games = [
            sample_game(n_points, gamma, order_of, np.random.default_rng(seed))
            for seed in range(n_seeds)
        ]
        yield f"adversary, {name}", n_points, gamma, *spans(games)
    for concept, (n_voters, edge) in MAJORITIES.items():
        for sampling in ("weight", "resample"):
            games = [
                stump_game(n_voters, edge, sampling, n_points, seed)
                for seed in range(n_seeds)
            ]
            yield f"stumps, {concept}, {sampling}", n_points, edge, *spans(games)


def spans(games):
    """Return the k of some games, and the ranges of their other two numbers."""
    ks, *others = zip(*games, strict=True)
    assert len(set(ks)) == 1
    assert max(map(max, others)) <= ks[0]
    return ks[0], *(f"{min(found)} to {max(found)}" for found in others)


# -- boosting on a stream -------------------------------------------------------------


def filter_stream(n_voters, gamma, epsilon, delta, seed, n_weak=200):
    """Run B_Filt; return one row of numbers for each of its rounds, and the booster.

    Each row holds the largest weight, the mean weight t_i over all rows that there are,
    rows seen and accepted, and whether the round was aborted.
    """
    bound = filter_sample_bound(
        gamma, epsilon, delta, n_weak_samples=n_weak, weak_learner_success_rate=1
    )
    booster = FilteringBoostByMajority(
        schedule=FilteringSchedule(
            mode="theory",
            gamma=gamma,
            target_error=epsilon,
            delta=delta,
            n_samples_weak=n_weak,
        ),
        random_state=seed,
    )
    booster.fit_stream(draw_chunks(n_voters, seed, 1 + bound // CHUNK), classes=[0, 1])
    X, k = all_rows(), booster.k_
    y = majority(X, n_voters)
    assert k == min_rounds(gamma / 2, epsilon**2)
    assert booster.n_seen_.sum() <= bound, "Theorem 2.3.9: too many rows"
    assert (booster.predict(X) != y).mean() < epsilon, "Theorem 2.3.7: error too large"
    right, made, rows = np.zeros(len(y), dtype=int), 0, []
    counts = zip(booster.n_seen_, booster.n_accepted_, strict=True)
    for i, (seen, accepted) in enumerate(counts):
        # Coins of the rounds aborted so far count by the mean over their outcomes.
        table = majority_weights(k, i, gamma / 2, n_aborted=i - made)
        aborted = i not in booster.estimator_rounds_
        rows.append((table.max(), table[right].mean(), seen, accepted, aborted))
        if not aborted:
            right += booster.estimators_[made].predict(X) == y
            made += 1
    rows = np.array(rows)
    largest, mean, seen, accepted, aborted = rows.T
    aborted = aborted == 1
    justified = mean < epsilon * (1 - epsilon) / (k * gamma)
    # Lemma 2.3.5 allows others with probability delta / 2, all rounds together.
    assert justified[aborted].all(), "Lemma 2.3.5: an abort that is not justified"
    later = k - np.arange(k - 1) - 1
    assert (largest[:-1] <= sqrt(8 / (3 * pi)) * e ** (1 / 12) / np.sqrt(later)).all()
    # Rows until so many are accepted: a negative binomial variable.
    share = np.minimum(mean / largest, 1)[~aborted]
    deviation = np.sqrt(accepted[~aborted] * (1 - share)) / share
    scores = (seen[~aborted] - accepted[~aborted] / share) / np.maximum(deviation, 1)
    assert np.abs(scores).max() < 5, "(2.14): other shares are accepted than expected"
    return rows, justified, scores, bound


def filter_table(concept, epsilon, delta, seed, n_parts=8):
    """Return cells of parts of a run of B_Filt, and those of the run."""
    n_voters, _ = MAJORITIES[concept]
    gamma = 1 / (2 * n_voters)
    rows, justified, scores, bound = filter_stream(
        n_voters, gamma, epsilon, delta, seed
    )
    k, parts = len(rows), []
    limit = epsilon * (1 - epsilon) / (k * gamma)
    edges = np.linspace(0, k, n_parts + 1).astype(int)
    for low, high in pairwise(edges):
        largest, mean, seen, accepted, aborted = rows[low:high].T
        expected = mean / largest
        parts.append(
            (
                f"{low + 1} to {high}",
                f"{expected.max():.4f}", f"{expected.min():.4f}",
                *shares(expected, accepted / seen, aborted == 0),
                f"{(limit / largest).mean():.4f}", int(justified[low:high].sum()),
                int(aborted.sum()), f"{seen.sum():.3g}",
            )
        )  # fmt: skip
    total = rows[:, 2].sum()
    whole = (
        concept, k, int(rows[:, 4].sum()), int(justified.sum()),
        f"{np.abs(scores).max():.1f}", f"{total:.3g}", f"{bound:.3g}",
    )  # fmt: skip
    return parts, whole


def shares(expected, measured, kept):
    """Return the mean shares accepted in rounds that were not aborted, as cells."""
    if not kept.any():
        return "", ""
    return f"{expected[kept].mean():.4f}", f"{measured[kept].mean():.4f}"


# -- what is printed ------------------------------------------------------------------


def print_rounds(gammas, epsilons):
    columns = ["gamma", "epsilon", "k", "formula", "formula / k"]
    rows = [rounds_row(gamma, epsilon) for gamma in gammas for epsilon in epsilons]
    print_table("Rounds: (2.2) and Corollary 2.2.3", columns, rows)


def print_games(k, gamma, n_random):
    weightors = {name: name for name in ("majority", "uniform")}
    weightors["exponential"] = weigh_exponentially
    tail, losses = game_losses(k, gamma, n_random, weightors)
    names = dict.fromkeys(title for _, title in losses)
    rows = [
        [title, *(f"{losses[name, title]:.3g}" for name in weightors)]
        for title in names
    ]
    title = f"Loss in {k} rounds, gamma = {gamma}; the tail is {tail:.3g}"
    print_table(title, ["chooser", *weightors], rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    quick = parser.parse_args(arguments).quick
    print_header("The majority game and boosting by majority")
    gammas, epsilons = (0.2, 0.1, 0.05, 0.01), (0.1, 0.01, 1e-4, 1e-7)
    print_rounds(gammas[::2] if quick else gammas, epsilons)
    for k, gamma in [(21, 0.2)] if quick else [(21, 0.2), (101, 0.1), (1001, 0.05)]:
        print_games(k, gamma, 2 if quick else 10)
    rows = list(sample_rows(100, 0.2, 1) if quick else sample_rows(1000, 0.1, 10))
    columns = ["hypotheses", "m", "gamma", "k", "no error after", "decided after"]
    print_table("B_Samp: rounds to no training error", columns, rows)
    columns = [
        "rounds", "most expected", "least", "expected, not aborted", "accepted",
        "justified below", "justified", "aborted", "seen",
    ]  # fmt: skip
    runs = [("2 of 3", 0.3)] if quick else [("2 of 3", 0.1), ("3 of 5", 0.3)]
    wholes = []
    for concept, epsilon in runs:
        parts, whole = filter_table(concept, epsilon, 0.1, 0, 4 if quick else 8)
        title = f"B_Filt, {concept}, epsilon = {epsilon}, delta = 0.1: shares accepted"
        print_table(title, columns, parts)
        wholes.append(whole)
    columns = "concept,k,aborted,justified,largest deviation,seen,bound".split(",")
    print_table("B_Filt: whole runs", columns, wholes)


if __name__ == "__main__":
    sys.exit(main())
