"""Query strategies: scores of the candidates, and the choice of a batch.

To add a strategy, write a function ``(predictions, X, rng) -> scores`` and add it to
``STRATEGIES``.
"""

# Votes are int arrays of shape (n_members, n_samples), probabilities (n_members,
# n_samples, n_classes). A version space has no list of members: its posterior stands
# for the shares of all votes, and two members are two independent draws from it.

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

# A batch of n is chosen among this many times n of the best candidates.
CANDIDATES_PER_SAMPLE = 4


@dataclass
class CommitteePredictions:
    """Predictions of a committee for some samples.

    A query strategy scores samples by them. A version space is a committee with
    infinitely many members: it has ``posterior`` in place of ``votes``. So has a single
    classifier with probabilities.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    votes : ndarray of shape (n_members, n_samples), int, or None, default=None
        Class index that each member predicts. None if there is a posterior.
    posterior : ndarray of shape (n_samples, n_classes) or None, default=None
        Posterior predictive distribution of a version space, or the probabilities of a
        single classifier. None for several classifiers.
    probabilities : ndarray of shape (n_members, n_samples, n_classes) or None, \
default=None
        Probabilities of each member. None if they were not requested, or if a member
        has no ``predict_proba``.
    scores : ndarray of shape (n_samples,) or None, default=None
        Mean scores of a version space of halfspaces.

    Attributes
    ----------
    vote_shares : ndarray of shape (n_samples, n_classes)
        Share of the votes for each class; the posterior of a version space.
    consensus : ndarray of shape (n_samples, n_classes)
        Mean of the probabilities of the members; ``vote_shares`` without them.
    disagreement : ndarray of shape (n_samples,)
        Probability that two different random members disagree.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.active_learning import CommitteePredictions
    >>> predictions = CommitteePredictions(2, votes=np.array([[0, 1], [0, 0], [0, 1]]))
    >>> predictions.disagreement.round(2)
    array([0.  , 0.67])
    """

    n_classes: int
    votes: np.ndarray | None = None
    posterior: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    scores: np.ndarray | None = None

    @cached_property
    def vote_shares(self):
        """Share of the votes for each class: shape (n_samples, n_classes)."""
        if self.votes is None:
            return self.posterior
        samples = np.arange(self.votes.shape[1])
        counts = np.zeros((len(samples), self.n_classes))
        for codes in self.votes:
            counts[samples, codes] += 1
        return counts / len(self.votes)

    @cached_property
    def consensus(self):
        """Mean probability of each class: shape (n_samples, n_classes)."""
        if self.probabilities is None:
            return self.vote_shares
        return self.probabilities.mean(axis=0)

    def consensus_parts(self) -> np.ndarray:
        """Compute the part of each member in the consensus.

        Returns
        -------
        parts : ndarray of shape (n_members, n_samples, n_classes)
            They add up to ``consensus``. A posterior has a part for each class, with
            its probability and zeros.
        """
        if self.votes is None:
            shares = self.posterior[:, np.newaxis, :] * np.eye(self.n_classes)
            return shares.transpose(1, 0, 2)
        shares = self.probabilities
        if shares is None:
            shares = np.eye(self.n_classes)[self.votes]
        return shares / len(self.votes)

    def parts_of_score(self, members, classes):
        """List what each member adds to the scores of the classes.

        Parameters
        ----------
        members : list of classifiers
            Not used where there is a posterior: a version space has no list of members.
        classes : sequence of n_classes labels
            Names of the classes.

        Returns
        -------
        parts : list of (classifier or str, str, ndarray)
            A member or the posterior of a class, the empty text, and its part, of
            shape (n_samples, n_classes).
        """
        if self.votes is None:  # a version space has no list of members
            members = [f"posterior of {label}" for label in classes]
        shares = self.consensus_parts()
        if self.n_classes == 2:  # the score is the difference of the probabilities
            shares = shares - shares[:, :, ::-1]
        return [
            (member, "", share) for member, share in zip(members, shares, strict=True)
        ]

    @cached_property
    def disagreement(self):
        """Probability that two different members disagree: shape (n_samples,)."""
        probability = pairwise_disagreement(self.vote_shares)
        if self.votes is None:
            return probability
        n_members = len(self.votes)
        return np.minimum(1, probability * (n_members / (n_members - 1)))

    def draw_disagreement(self, coins) -> np.ndarray:
        """Draw two members for each sample, and test if they disagree.

        Parameters
        ----------
        coins : ndarray of shape (n_samples, 2)
            Uniform in [0, 1). A hypothesis drawn from a posterior predicts the last
            class where its coin is below the posterior of this class.

        Returns
        -------
        disagree : ndarray of shape (n_samples,), dtype bool
            True where the two members predict different classes.
        """
        if self.votes is None:
            reached = np.cumsum(self.posterior[:, :0:-1], axis=1)
            first, second = ((coin[:, None] >= reached).sum(axis=1) for coin in coins.T)
            return first != second
        n_members, samples = len(self.votes), np.arange(self.votes.shape[1])
        first = (coins[:, 0] * n_members).astype(np.intp)
        second = first + 1 + (coins[:, 1] * (n_members - 1)).astype(np.intp)
        votes = self.votes
        return votes[first, samples] != votes[second % n_members, samples]


def _disagreement(predictions, _X, rng):
    coins = rng.random_sample((len(predictions.vote_shares), 2))
    return predictions.draw_disagreement(coins)


def _vote_entropy(predictions, _X, _rng):
    return vote_entropy(predictions.vote_shares)


def _kl(predictions, _X, _rng):
    # Without probabilities, the divergence from the consensus is the vote entropy.
    if predictions.probabilities is None:
        return vote_entropy(predictions.vote_shares)
    return kl_to_consensus(predictions.probabilities)


def _label_entropy(predictions, _X, _rng):
    if predictions.probabilities is None:
        return vote_entropy(predictions.vote_shares)
    return consensus_entropy(predictions.probabilities)


def _pairwise_disagreement(predictions, _X, _rng):
    return predictions.disagreement


def _margin(predictions, _X, _rng):
    if predictions.scores is not None:
        return -np.abs(predictions.scores)
    return -margin_of_votes(predictions.consensus)


STRATEGIES = {
    "disagreement": _disagreement,
    "vote_entropy": _vote_entropy,
    "kl": _kl,
    "label_entropy": _label_entropy,
    "pairwise_disagreement": _pairwise_disagreement,
    "margin": _margin,
}
# These use votes only: members then call ``predict``, which is faster.
VOTES_ONLY = (_disagreement, _vote_entropy, _pairwise_disagreement)


def choose_samples(scores, X, n, rng, kernel=None):
    """Choose the best candidate, or a batch of good candidates far from each other.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Higher is better.
    X : ndarray or sparse array of shape (n_samples, n_features)
        The candidates.
    n : int
        Size of the batch.
    rng : RandomState
        Breaks ties.
    kernel : callable or None
        Defines the squared distance k(x, x) + k(z, z) - 2 k(x, z). None: the Euclidean
        distance; for Boolean samples its square is the Hamming distance.

    Returns
    -------
    indices : ndarray of shape (min(n, n_samples),), int
        The best candidate, then the farthest one among the good candidates, and so on.
    """
    if n == 1 or n >= len(scores):
        return top_scores(scores, n, rng)
    best = top_scores(scores, CANDIDATES_PER_SAMPLE * n, rng)
    squared = _squared_distances(X[best], kernel)
    chosen, nearest = [0], squared[0].copy()
    while len(chosen) < n:
        nearest[chosen] = -1  # below duplicates of chosen samples, which are at 0
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, squared[chosen[-1]])
    return best[chosen]


def _squared_distances(X, kernel):
    if kernel is not None:
        gram = np.asarray(kernel(X, X), dtype=np.float64)
        norms = np.diag(gram)
        return norms[:, None] + norms - 2 * gram
    if not sparse.issparse(X) and X.dtype.kind not in "buif":
        return (X[:, None] != X).sum(axis=2).astype(np.float64)
    if X.dtype.kind == "f" and not sparse.issparse(X):
        X = np.nan_to_num(X)
    return euclidean_distances(X, squared=True)
