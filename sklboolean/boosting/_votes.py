"""Vote counts on samples with known labels: states, round weights and margins.

Several classes can be games of two classes, each with votes of its own.
"""

# The state of a sample is r, its correct votes, or 2 r + t with several classes, where
# t counts votes for wrong classes other than the strongest. Weights and potentials
# depend on the state only: they are computed once for each state that occurs, and
# looked up. The counts are int64 of shape (n_samples,); wrong votes int32 (n_samples,
# n_classes).

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sklboolean.boosting._majority_game import (
    binomial_cdf,
    log_binomial_pmf,
    relative_to_largest,
    relative_weights,
    rounds_for_error,
)
from sklboolean.boosting._stump import quantize_weights

# Weights are multiples of this part of the largest. Sums of millions of them are exact,
# and a sample of weight 2 equals two samples.
STEPS = 2.0**26
MOST_PAIR_FEATURES = 2**20


@dataclass(frozen=True)
class RoundWeights:
    """The weights of a round: a weight for each state, times the sample weights.

    Attributes
    ----------
    table : ndarray of shape (n_states,), float64
        The heaviest state that occurs has 1.
    states : ndarray of shape (n_samples,), int64
        The state of each sample.
    sample_weight : ndarray of shape (n_samples,), float64, or None
        None: all alike.
    mean : float
        Mean weight in the units of `majority_weights`, t_i of the thesis; 0 where it
        underflows.
    divergence : float
        Kullback-Leibler divergence, in nats, of the weighted samples from the samples
        as they are given.
    acceptance : float
        Share of the samples, by weight, that a filter with these weights accepts.
    potential : float
        Average potential before the round.
    """

    table: np.ndarray
    states: np.ndarray
    sample_weight: np.ndarray | None
    mean: float = 1.0
    divergence: float = 0.0
    acceptance: float = 1.0
    potential: float = np.nan

    def of_samples(self, *, quantized=False):
        """Compute the weight of each sample.

        Parameters
        ----------
        quantized : bool
            Round the weights of states to 15 bits. The result is int16 without sample
            weights. With them it is float64, so that a sample of weight 2 equals two
            samples to the last bit.

        Returns
        -------
        weights : ndarray of shape (n_samples,)
        """
        table = quantize_weights(self.table) if quantized else self.table
        weights = table.take(self.states)
        return weights if self.sample_weight is None else weights * self.sample_weight


class MajorityVotes:
    """Votes of hypotheses on samples whose labels are known.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
        The class of each sample.
    n_classes : int
    sample_weight : ndarray of shape (n_samples,), float64, or None
        Above 0. None: all alike.

    Attributes
    ----------
    correct : ndarray of shape (n_samples,), int64
        Number of correct votes.
    n_rounds, n_votes, n_aborted : int
        Number of rounds, of hypotheses, and of rounds without one.
    """

    def __init__(self, codes, n_classes, sample_weight=None):
        self.codes, self.sample_weight = codes, sample_weight
        self.n_rounds = self.n_votes = self.n_aborted = 0
        self.correct = np.zeros(len(codes), dtype=np.int64)
        self.wrong = None
        if n_classes > 2:
            # Wrong votes by class, and the largest number of them for each sample.
            self.wrong = np.zeros((len(codes), n_classes), dtype=np.int32)
            self.most_wrong = np.zeros(len(codes), dtype=np.int64)

    def copy(self):
        """Copy the counts."""
        return deepcopy(self)

    def add(self, predicted):
        """Count the votes of a hypothesis; None is a round without a hypothesis."""
        self.count_round(predicted is not None)
        if predicted is None:
            return
        hits = predicted == self.codes
        self.correct += hits
        if self.wrong is not None:
            misses = np.flatnonzero(~hits)
            votes = self.wrong[misses, predicted[misses]] + 1
            self.wrong[misses, predicted[misses]] = votes
            self.most_wrong[misses] = np.maximum(self.most_wrong[misses], votes)

    def count_round(self, has_hypothesis):
        """Count a round, not its votes."""
        self.n_rounds += 1
        self.n_votes += has_hypothesis
        self.n_aborted += not has_hypothesis

    def of_classes(self, samples):
        """Count the votes for each class on some samples, a slice."""
        codes, correct = self.codes[samples], self.correct[samples]
        if self.wrong is not None:
            votes = self.wrong[samples].astype(np.int64)
        else:
            votes = np.repeat(self.n_votes - correct[:, np.newaxis], 2, axis=1)
        votes[np.arange(len(codes)), codes] = correct
        return votes

    def error(self):
        """Compute the share of the samples, by weight, that the vote gets wrong.

        A tie is wrong.
        """
        if self.wrong is None:
            wrong = 2 * self.correct <= self.n_votes
        else:
            wrong = self.correct <= self.most_wrong
        if self.sample_weight is None:
            return float(np.count_nonzero(wrong) / len(wrong))
        return float(self.sample_weight[wrong].sum() / self.sample_weight.sum())

    def states(self):
        """Number the state of each sample.

        Returns
        -------
        states : ndarray of shape (n_samples,), int64
        unit : int
            ``unit * states`` are the levels ``2 r + t`` of the majority game. With two
            classes r itself is the state, without a copy.
        """
        if self.wrong is None:
            return self.correct, 2
        other_votes = self.n_votes - self.correct - self.most_wrong
        return 2 * self.correct + other_votes, 1

    def state_counts(self):
        """Compute the weight of the samples in each state."""
        return np.bincount(self.states()[0], weights=self.sample_weight)

    def level_shares(self, counts=None):
        """Compute the levels that occur, the coins included, and their shares.

        The coin of a round without a hypothesis raises the level by 2 or 0. ``counts``
        are the samples in each state, None: now.
        """
        unit = 2 if self.wrong is None else 1
        if counts is None:
            counts = self.state_counts()
        if self.n_aborted:
            # The number of heads is binomial: its distribution is folded into the
            # levels.
            coins = np.zeros(2 // unit * self.n_aborted + 1)
            heads = np.arange(self.n_aborted + 1)
            coins[:: 2 // unit] = np.exp(log_binomial_pmf(heads, self.n_aborted, 0.0))
            counts = np.convolve(counts, coins)
        occur = np.flatnonzero(counts)
        return unit * occur, counts[occur] / counts[occur].sum()

    def potential(self, k, gamma):
        """Compute the average potential when the game lasts k rounds."""
        levels, shares = self.level_shares()
        missing = (k - levels) // 2
        return float(shares @ binomial_cdf(missing, k - self.n_rounds, gamma))

    def rounds_needed(self, gamma, error):
        """Compute the least odd k for which the average potential is below an error."""
        return rounds_for_error(self.n_rounds, gamma, error, *self.level_shares())

    def weights(self, k, gamma, *, measured=True):
        """Compute the `RoundWeights` of the next round of k; k=0 weighs all alike.

        ``measured=False`` leaves out the divergence, the acceptance and the potential.
        """
        if not k:
            states = np.zeros(len(self.codes), dtype=np.int64)
            return RoundWeights(np.ones(1), states, self.sample_weight)
        counts = self.state_counts()
        weights = self.weights_of_states(counts, k, gamma, measured=measured)
        return replace(weights, states=self.states()[0])

    def weights_of_states(self, counts, k, gamma, *, measured=True):
        """Compute the same, without ``states``, from the samples in each state."""
        unit = 2 if self.wrong is None else 1
        occur = np.flatnonzero(counts)
        levels, shares = unit * occur, counts[occur] / counts[occur].sum()
        relative, log_largest = relative_weights(
            k, self.n_rounds, gamma, levels, self.n_aborted
        )
        table = np.zeros(len(counts))
        acceptance = float(shares @ relative)
        if acceptance == 0:  # all is decided, or what is open has no weight
            return RoundWeights(table, None, self.sample_weight)
        # Weights that rounding makes 0 are below 2**-27 of the largest.
        table[occur] = np.rint(STEPS * relative) / STEPS
        mean = float(np.exp(log_largest)) * acceptance
        weights = RoundWeights(
            table, None, self.sample_weight, mean, np.nan, acceptance
        )
        if not measured:
            return weights
        if self.n_aborted:
            lost_levels, lost_shares = self.level_shares(counts)
        else:
            lost_levels, lost_shares = levels, shares
        missing = (k - lost_levels) // 2
        lost = binomial_cdf(missing, k - self.n_rounds, gamma)
        return replace(
            weights,
            divergence=divergence_of(shares, relative, acceptance),
            potential=float(lost_shares @ lost),
        )

    def weights_of_rounds(self, counts, k, gammas):
        """Compute the same, without ``table``, of many rounds of two classes at once.

        Parameters
        ----------
        counts : ndarray of shape (n_rounds, n_states)
            Samples in each state before each round. None was without a hypothesis.
        k : int
        gammas : ndarray of shape (n_rounds,)

        Returns
        -------
        weights : list of RoundWeights
        """
        rounds, states = np.nonzero(counts)
        missing, n_left, gammas = (k - 2 * states) // 2, k - rounds, gammas[rounds]
        logs = log_binomial_pmf(missing, n_left - 1, gammas)
        lost = binomial_cdf(missing, n_left, gammas)
        numbers = counts[rounds, states]
        ends, weights = np.searchsorted(rounds, np.arange(len(counts) + 1)), []
        for of_round in map(slice, ends[:-1], ends[1:]):
            shares = numbers[of_round] / numbers[of_round].sum()
            relative, log_largest = relative_to_largest(logs[of_round])
            acceptance = float(shares @ relative)
            mean = float(np.exp(log_largest)) * acceptance
            divergence = divergence_of(shares, relative, acceptance)
            potential = float(shares @ lost[of_round])
            facts = mean, divergence, acceptance, potential
            weights.append(RoundWeights(None, None, self.sample_weight, *facts))
        return weights


def divergence_of(shares, relative, acceptance):
    """Compute the Kullback-Leibler divergence of weighted states from their shares."""
    has_weight = relative > 0
    drawn = shares[has_weight] * relative[has_weight] / acceptance
    divergence = float(drawn @ np.log(relative[has_weight] / acceptance))
    return max(0.0, divergence)


def vote_margins(votes):
    """Compute the scores of an ensemble, from -1 to 1.

    Parameters
    ----------
    votes : ndarray of shape (n_samples, n_classes), int

    Returns
    -------
    margins : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        Two classes: share of votes for the second minus share for the first. A tie is a
        vote for the second class and is given as the smallest float above 0. More
        classes: share for each class minus share against it.
    """
    n_votes = np.maximum(1, votes.sum(axis=1))
    if votes.shape[1] > 2:
        n_votes = n_votes[:, np.newaxis]
        return 2 * votes / n_votes - 1
    margins = (votes[:, 1] - votes[:, 0]) / n_votes
    return np.where(margins == 0, np.nextafter(0.0, 1.0), margins)


class ClassGame(NamedTuple):
    """A game of two classes: the code of either; None stands for all other classes."""

    first: int | None
    second: int


def class_games(n_classes, multi_class, n_features):
    """List what may decide between several classes: games of two classes.

    Parameters
    ----------
    n_classes : int
    multi_class : {"auto", "ovo", "ovr", "joint"}
        One class against each other one, against the rest, or a single game. "auto":
        the first two, but "ovr" alone where all pairs have more than a million features
        together, because each round compares all features.
    n_features : int

    Returns
    -------
    choices : list of (list of ClassGame, or None for a single game)
        The quick one first.
    """
    if n_classes == 2 or multi_class == "joint":
        return [None]
    one_by_one = [ClassGame(*pair) for pair in combinations(range(n_classes), 2)]
    is_slow = len(one_by_one) * n_features > MOST_PAIR_FEATURES
    if multi_class == "ovo":
        return [one_by_one]
    against_rest = [ClassGame(None, code) for code in range(n_classes)]
    if multi_class == "ovr" or is_slow:
        return [against_rest]
    return [against_rest, one_by_one]


def samples_of_game(codes, game):
    """Find the samples of a game of two classes.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
    game : ClassGame

    Returns
    -------
    samples : ndarray of int
        Their numbers.
    codes : ndarray of int16
        1 for those of its second class, else 0.
    """
    samples = np.arange(len(codes))
    if game.first is not None:
        samples = np.flatnonzero((codes == game.first) | (codes == game.second))
    return samples, (codes[samples] == game.second).astype(np.int16)


def class_scores(votes, games=None):
    """Compute the score of each class from the votes of all games.

    Parameters
    ----------
    votes : ndarray of shape (n_samples, 2 * n_games), int
        For each game the votes for its first class and those for its second.
    games : list of ClassGame or None
        None: the columns are the votes for each class in a single game.

    Returns
    -------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes), float64
        From -1 to 1. One class against the rest: the margin of its game. One against
        one: the mean of ``z / sqrt(1 + z**2)`` over the other classes, where z is the
        margin times the root of the number of votes: its standard deviations from a
        vote of fair coins. So a clear win counts as 1, however clear it is.
    """
    if games is None:
        return vote_margins(votes)
    scores = np.zeros((len(votes), games[-1].second + 1))
    for i, (first, second) in enumerate(games):
        votes_of_game = votes[:, 2 * i : 2 * i + 2]
        n_votes = max(1, int(votes_of_game[0].sum())) if len(votes_of_game) else 1
        margins = (votes_of_game[:, 1] - votes_of_game[:, 0]) / n_votes
        if first is None:
            scores[:, second] = margins
        else:
            z = np.sqrt(n_votes) * margins
            won = z / np.sqrt(1 + z * z) / (scores.shape[1] - 1)
            scores[:, second] += won
            scores[:, first] -= won
    return scores
