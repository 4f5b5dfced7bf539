"""How much the members of a committee disagree on each row.

Votes are counted once, into shares (`vote_shares`); probabilities of members with
classes of their own are laid side by side once (`align_probabilities`). The measures
take one or the other and answer with a number for each row. Every entropy is in bits.
"""

import numpy as np
from scipy.special import entr, rel_entr

from sklboolean._core.validation import check_integer
from sklboolean.active_learning._votes import (
    as_reals,
    check_distributions,
    check_member_weights,
)


def vote_entropy(shares):
    """Return the entropy of the votes on each row.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`.

    Returns
    -------
    entropies : ndarray of shape (n_samples,), dtype float64
        Bits: 0 when all agree, ``lg n_classes`` when the votes are spread evenly.

    Raises
    ------
    ValueError
        If a row of ``shares`` is not a distribution.

    References
    ----------
    I. Dagan, S. P. Engelson (1995). Committee-Based Sampling For Training
    Probabilistic Classifiers. ICML, section 4.

    Examples
    --------
    >>> from sklboolean.active_learning import vote_entropy
    >>> vote_entropy([[0.5, 0.5], [0.0, 1.0]])
    array([1., 0.])
    """
    return _entropies(check_distributions(shares, "shares", 2))


def consensus_entropy(probabilities, *, member_weights=None):
    """Return the entropy of the members' mean probabilities on each row.

    Parameters
    ----------
    probabilities : array-like of shape (n_members, n_samples, n_classes)
        Probabilities of each member, from :func:`align_probabilities`.
    member_weights : array-like of shape (n_members,), default=None
        Weights of the mean. None: all the same.

    Returns
    -------
    entropies : ndarray of shape (n_samples,), dtype float64
        Bits. It is high where members differ, and where all are unsure.

    Raises
    ------
    ValueError
        If ``probabilities`` holds something else than distributions, or for weights
        that are negative, not finite or all 0.

    Examples
    --------
    >>> from sklboolean.active_learning import consensus_entropy
    >>> consensus_entropy([[[1.0, 0.0]], [[0.0, 1.0]]])
    array([1.])
    """
    probabilities = check_distributions(probabilities, "probabilities", 3)
    weights = check_member_weights(member_weights, len(probabilities))
    return _entropies(_consensus(probabilities, weights))


def kl_to_consensus(probabilities, *, member_weights=None):
    """Return the mean divergence of the members from their consensus on each row.

    Parameters
    ----------
    probabilities : array-like of shape (n_members, n_samples, n_classes)
        Probabilities of each member, from :func:`align_probabilities`.
    member_weights : array-like of shape (n_members,), default=None
        Weights of the consensus and of the mean. None: all the same.

    Returns
    -------
    divergences : ndarray of shape (n_samples,), dtype float64
        Kullback-Leibler divergence in bits: 0 where all members say the same, however
        unsure they are. It is always finite, since the consensus gives a probability
        to whatever a member does.

    Raises
    ------
    ValueError
        If ``probabilities`` holds something else than distributions, or for weights
        that are negative, not finite or all 0.

    References
    ----------
    A. K. McCallum, K. Nigam (1998). Employing EM and Pool-Based Active Learning for
    Text Classification. ICML, equation 4.

    Examples
    --------
    >>> from sklboolean.active_learning import kl_to_consensus
    >>> kl_to_consensus([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]])
    array([1., 0.])
    """
    probabilities = check_distributions(probabilities, "probabilities", 3)
    weights = check_member_weights(member_weights, len(probabilities))
    consensus = _consensus(probabilities, weights)
    divergences = np.zeros(len(consensus))
    for member, weight in zip(probabilities, weights / weights.sum(), strict=True):
        # Where the consensus is 0 the member is, or it weighs next to nothing.
        terms = np.where(consensus > 0, rel_entr(member, consensus), 0)
        divergences += weight * terms.sum(axis=1)
    return np.maximum(divergences / np.log(2), 0)


def variation_ratio(shares):
    """Return the share of the votes that are not for the winner, on each row.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`.

    Returns
    -------
    ratios : ndarray of shape (n_samples,), dtype float64
        From 0, when all agree, to ``1 - 1 / n_classes``.

    Raises
    ------
    ValueError
        If a row of ``shares`` is not a distribution.

    Examples
    --------
    >>> from sklboolean.active_learning import variation_ratio
    >>> variation_ratio([[0.25, 0.75], [0.0, 1.0]])
    array([0.25, 0.  ])
    """
    return 1 - check_distributions(shares, "shares", 2).max(axis=1)


def pairwise_disagreement(shares):
    """Return the probability that two random members differ, on each row.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`.

    Returns
    -------
    probabilities : ndarray of shape (n_samples,), dtype float64
        Of two members drawn independently, perhaps the same one: ``2 F (1 - F)`` when
        a share F votes for one of two classes. For two *different* members of n it is
        ``n / (n - 1)`` times that.

    Raises
    ------
    ValueError
        If a row of ``shares`` is not a distribution.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.6.1: the
    probability that Query by Committee asks for the label.

    Examples
    --------
    >>> from sklboolean.active_learning import pairwise_disagreement
    >>> pairwise_disagreement([[0.25, 0.75], [0.0, 1.0]])
    array([0.375, 0.   ])
    """
    shares = np.sort(check_distributions(shares, "shares", 2), axis=1)
    return np.sum(shares * (1 - shares), axis=1)


def margin_of_votes(shares):
    """Return how far the winner is ahead of the second, on each row.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`; probabilities will
        do as well.

    Returns
    -------
    margins : ndarray of shape (n_samples,), dtype float64
        From 0, for a tie, to 1, when all agree. The least margin is the row to query.

    Raises
    ------
    ValueError
        If a row of ``shares`` is not a distribution.

    Examples
    --------
    >>> from sklboolean.active_learning import margin_of_votes
    >>> margin_of_votes([[0.25, 0.75, 0.0], [0.4, 0.2, 0.4]])
    array([0.5, 0. ])
    """
    shares = np.sort(check_distributions(shares, "shares", 2), axis=1)
    second = shares[:, -2] if shares.shape[1] > 1 else 0
    return shares[:, -1] - second


def top_scores(scores, n, random):
    """Return the rows with the highest scores; ties fall by lot.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Higher is better. Not NaN.
    n : int
        How many rows; all of them where there are fewer.
    random : numpy.random.RandomState
        Draws the lots. The same state gives the same rows.

    Returns
    -------
    rows : ndarray of shape (min(n, n_samples),), dtype intp
        Indices of the rows, best first.

    Raises
    ------
    ValueError
        For scores that are not one number for each row, or a negative ``n``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.active_learning import top_scores
    >>> top_scores([0.1, 0.9, 0.5, 0.3], 2, np.random.RandomState(0))
    array([1, 2])
    """
    scores = as_reals(scores, "scores")
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError("scores must be one number for each row, none of them NaN.")
    n = min(check_integer(n, "n", 0), len(scores))
    if not n:
        return np.zeros(0, dtype=np.intp)
    worst = np.partition(scores, len(scores) - n)[len(scores) - n]
    better = random.permutation(np.flatnonzero(scores > worst))
    ties = random.permutation(np.flatnonzero(scores == worst))
    chosen = np.concatenate([better, ties[: n - len(better)]])
    return chosen[np.argsort(-scores[chosen], kind="stable")]


def _consensus(probabilities, weights):
    return np.tensordot(weights / weights.sum(), probabilities, axes=1)


def _entropies(distributions):
    # Sorted: the same shares in another order are a tie to the last bit.
    bits = entr(np.sort(distributions, axis=1)).sum(axis=1) / np.log(2)
    return np.minimum(bits, np.log2(distributions.shape[1]))
