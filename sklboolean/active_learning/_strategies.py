"""Which rows to ask for: scores of candidates, ties by lot, batches of unlike rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from sklboolean.active_learning._disagreement import (
    consensus_entropy,
    kl_to_consensus,
    margin_of_votes,
    pairwise_disagreement,
    top_scores,
    vote_entropy,
)
from sklboolean.active_learning._votes import vote_shares

# A batch is chosen among this many times as many of the best candidates.
CANDIDATES_PER_ROW = 4


@dataclass
class Opinions:
    """What a committee thinks of some rows.

    Attributes
    ----------
    n_classes : int
    votes : ndarray of shape (n_members, n_samples), int, or None
        Class numbers. None for a version space, a committee without end.
    posterior : ndarray of shape (n_samples, n_classes) or None
        Of a version space: the share of its hypotheses for each class.
    probabilities : ndarray of shape (n_members, n_samples, n_classes) or None
        None where members are sure of themselves: they vote, no more.
    scores : ndarray of shape (n_samples,) or None
        Of a version space of halfspaces: the mean of w.x.
    """

    n_classes: int
    votes: np.ndarray | None = None
    posterior: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    scores: np.ndarray | None = None

    @cached_property
    def shares(self):
        """Return the share of votes of each class: shape (n_samples, n_classes)."""
        if self.votes is None:
            return self.posterior
        return vote_shares(self.votes, classes=np.arange(self.n_classes))

    @cached_property
    def consensus(self):
        """Return the mean probability of each class: shape (n_samples, n_classes)."""
        if self.probabilities is None:
            return self.shares
        return self.probabilities.mean(axis=0)

    @cached_property
    def differing(self):
        """Return the probability that two members differ, for each row."""
        chance = pairwise_disagreement(self.shares)
        if self.votes is not None:  # two different ones
            chance = np.minimum(1, chance * (len(self.votes) / (len(self.votes) - 1)))
        return chance

    def differ(self, coins):
        """Draw two members for each row and return where they differ.

        Parameters
        ----------
        coins : ndarray of shape (n_samples, 2)
            Uniform in [0, 1). A Gibbs hypothesis gives the second class where its
            coin is below the posterior.
        """
        if self.votes is None:
            first, second = (coins < self.posterior[:, 1:2]).T
            return first != second
        n_members, rows = len(self.votes), np.arange(self.votes.shape[1])
        first = (coins[:, 0] * n_members).astype(np.intp)
        step = 1 + (coins[:, 1] * (n_members - 1)).astype(np.intp)
        return self.votes[first, rows] != self.votes[(first + step) % n_members, rows]


def _divergence(opinions, _random):
    # Members that are sure diverge from their consensus by the entropy of their votes.
    if opinions.probabilities is None:
        return vote_entropy(opinions.shares)
    return kl_to_consensus(opinions.probabilities)


def _label_entropy(opinions, _random):
    if opinions.probabilities is None:
        return vote_entropy(opinions.shares)
    return consensus_entropy(opinions.probabilities)


def _margin(opinions, _random):
    if opinions.scores is not None:
        return -np.abs(opinions.scores)
    return -margin_of_votes(opinions.consensus)


def _filter(opinions, random):
    return opinions.differ(random.random_sample((len(opinions.shares), 2)))


STRATEGIES = {
    "disagreement": _filter,
    "vote_entropy": lambda opinions, _random: vote_entropy(opinions.shares),
    "kl": _divergence,
    "label_entropy": _label_entropy,
    "most_split": lambda opinions, _random: opinions.differing,
    "margin": _margin,
}
NEED_PROBABILITIES = ("kl", "label_entropy", "margin")


def choose_rows(scores, X, n, random, kernel=None):
    """Return the best candidate, or a batch of good ones far from one another.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Higher is better.
    X : ndarray or sparse array of shape (n_samples, n_features)
        The candidates.
    n : int
        How many.
    random : RandomState
        Breaks ties.
    kernel : callable or None
        What measures distance: k(x, x) + k(z, z) - 2 k(x, z). None: x.z, which on
        Boolean rows makes it the Hamming distance.

    Returns
    -------
    rows : ndarray of shape (min(n, n_samples),), int
        Farthest first among the best candidates, from the best one on.
    """
    if n == 1 or n >= len(scores):
        return top_scores(scores, n, random)
    best = top_scores(scores, CANDIDATES_PER_ROW * n, random)
    squared = _squared_distances(X[best], kernel)
    chosen, nearest = [0], squared[0].copy()
    while len(chosen) < n:
        nearest[chosen] = -1  # after duplicates of chosen rows, which are at 0
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, squared[chosen[-1]])
    return best[chosen]


def _squared_distances(rows, kernel):
    if kernel is not None:
        gram = np.asarray(kernel(rows, rows), dtype=np.float64)
        norms = np.diag(gram)
        return norms[:, None] + norms - 2 * gram
    if not sparse.issparse(rows) and rows.dtype.kind not in "buif":
        return (rows[:, None] != rows).sum(axis=2).astype(np.float64)
    if rows.dtype.kind == "f" and not sparse.issparse(rows):
        rows = np.nan_to_num(rows)
    return euclidean_distances(rows, squared=True)
