"""Measures of disagreement among the members of a committee, and of information.

`vote_shares` counts votes, and `align_probabilities` arranges the probabilities of
members that may know different classes. The measures take one or the other and return
one number per sample. Every entropy is in bits.
"""

from collections.abc import Mapping, Set
from math import log2
from numbers import Real

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr, rel_entr, xlog1py
from sklearn.utils import check_random_state

from sklboolean._core.labels import comparable_labels
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import as_reals


def vote_shares(votes, *, classes=None, member_weights=None) -> np.ndarray:
    """Compute the share of the votes for each class.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_samples)
        The label that each member predicts for each sample: numbers, bools or
        strings.
    classes : array-like of shape (n_classes,), default=None
        All labels, in the order of the columns. None: the sorted labels that occur in
        ``votes``.
    member_weights : array-like of shape (n_members,), default=None
        Weight of each member's vote, at least 0. None: equal weights.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_classes), dtype float64
        Share of the votes for each class. The shares of a sample sum to 1.

    Raises
    ------
    ValueError
        If ``votes`` is not two-dimensional or has no member, if a label is not among
        the classes, or if weights are negative, not finite or all 0.

    Examples
    --------
    >>> from sklboolean.active_learning import vote_shares
    >>> votes = [["spam", "ham"], ["spam", "spam"], ["spam", "ham"], ["ham", "ham"]]
    >>> vote_shares(votes, classes=["ham", "spam"])
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    votes = np.asarray(votes)
    if votes.ndim != 2 or not len(votes):
        raise ValueError(
            "votes must have shape (n_members, n_samples) with at least one member; "
            f"its shape is {votes.shape}."
        )
    weights = check_member_weights(member_weights, len(votes))
    with comparable_labels(votes, "votes"):
        labels, codes = np.unique(votes, return_inverse=True)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("votes must not contain NaN.")
    classes = labels if classes is None else np.asarray(classes)
    columns = _columns_of(labels, classes, "votes")[codes.reshape(votes.shape)]
    shares = np.zeros((votes.shape[1], len(classes)))
    samples = np.arange(votes.shape[1])
    # Integers until the division, so that equal counts give equal shares.
    for weight, chosen in zip(weights, columns, strict=True):
        shares[samples, chosen] += weight
    return shares / weights.sum()


def align_probabilities(probabilities, member_classes, classes) -> np.ndarray:
    """Arrange the probabilities of members that were trained on different classes.

    Parameters
    ----------
    probabilities : sequence of n_members array-likes
        ``predict_proba`` of each member, of shape (n_samples, n_classes of the member).
    member_classes : sequence of n_members array-likes
        ``classes_`` of each member: the labels of its columns.
    classes : array-like of shape (n_classes,)
        All labels.

    Returns
    -------
    aligned : ndarray of shape (n_members, n_samples, n_classes), dtype float64
        A class that a member was not trained on gets probability 0.

    Raises
    ------
    ValueError
        If there is no member, if an entry is not a distribution or has another shape,
        or if a label is not among the classes.

    Examples
    --------
    >>> from sklboolean.active_learning import align_probabilities
    >>> align_probabilities([[[0.5, 0.5]], [[1.0]]], [["a", "b"], ["b"]], ["a", "b"])
    array([[[0.5, 0.5]],
           [[0. , 1. ]]])
    """
    classes = np.atleast_1d(classes)
    sizes = [_length(probabilities), _length(member_classes)]
    if not sizes[0] or sizes[0] != sizes[1]:
        raise ValueError(
            "probabilities and member_classes must have one entry per member and at "
            f"least one entry; they have {sizes[0]} and {sizes[1]}."
        )
    n_samples = _length(next(iter(probabilities)))
    aligned = np.zeros((len(probabilities), n_samples, len(classes)))
    members = zip(probabilities, member_classes, strict=True)
    for k, (table, labels) in enumerate(members):
        name = f"probabilities[{k}]"
        table = check_distributions(table, name, 2)
        columns = _columns_of(np.asarray(labels), classes, f"member_classes[{k}]")
        if table.shape != (n_samples, len(columns)):
            raise ValueError(
                f"{name} must have shape {(n_samples, len(columns))}, one column per "
                f"class of the member; its shape is {table.shape}."
            )
        aligned[k][:, columns] = table
    return aligned


def check_distributions(table, name, n_axes):
    """Validate distributions over the last axis and normalise them in float64.

    Sums may differ from 1 by the square root of the precision of the input.
    """
    table = np.asarray(table)
    single = table.dtype in (np.float16, np.float32)
    tolerance = np.sqrt(np.finfo(table.dtype if single else np.float64).eps)
    table = as_reals(table, name)
    if table.ndim != n_axes or not table.shape[-1] or (n_axes == 3 and not len(table)):
        axes = "n_members, " * (n_axes == 3) + "n_samples, n_classes"
        raise ValueError(
            f"{name} must have shape ({axes}); its shape is {table.shape}."
        )
    # Written so that NaN fails too.
    if not np.all(table >= 0):
        raise ValueError(f"{name} must not be negative or NaN.")
    sums = table.sum(axis=-1, keepdims=True)
    wrong = np.argwhere(~(np.abs(sums[..., 0] - 1) <= tolerance))
    if len(wrong):
        where = tuple(wrong[0].tolist())
        raise ValueError(
            f"{name} must sum to 1 over the classes; the sum at "
            f"{where[0] if len(where) == 1 else where} is {sums[where][0]}."
        )
    return table / sums


def check_member_weights(member_weights, n_members):
    """Validate the weights of the members; None gives ones."""
    if member_weights is None:
        return np.ones(n_members)
    weights = as_reals(member_weights, "member_weights")
    if weights.shape != (n_members,):
        raise ValueError(
            f"member_weights must have shape ({n_members},); its shape is "
            f"{weights.shape}."
        )
    if not (np.all(weights >= 0) and 0 < weights.sum() < np.inf):
        raise ValueError(
            "member_weights must be finite, not negative and not all zero."
        )
    return weights


def _length(parts):
    """Count the entries of a sequence; 0 for dicts and sets, which have no order."""
    try:
        return 0 if isinstance(parts, Mapping | Set) else len(parts)
    except TypeError:
        return 0


def _columns_of(labels, classes, name):
    """Find the column of each label among the classes."""
    if labels.ndim != 1 or classes.ndim != 1:
        raise ValueError(f"classes and the labels of {name} must be one-dimensional.")
    # Equality as in Python: 1, 1.0 and True are the same label, and the width of a
    # string does not matter.
    try:
        column_of = {label: column for column, label in enumerate(classes.tolist())}
        unknown = [label for label in labels.tolist() if label not in column_of]
    except TypeError as error:
        raise ValueError(
            f"classes and the labels of {name} must be plain labels such as numbers or "
            "strings, not lists or dicts."
        ) from error
    if len(column_of) < len(classes):
        raise ValueError("classes must not contain a label twice.")
    if unknown:
        raise ValueError(
            f"{name} contains the label {unknown[0]!r}, which is not among the classes "
            f"{classes.tolist()}."
        )
    return np.array([column_of[label] for label in labels.tolist()], dtype=np.intp)


def vote_entropy(shares) -> np.ndarray:
    """Compute the entropy of the votes on each sample.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`.

    Returns
    -------
    entropies : ndarray of shape (n_samples,), dtype float64
        In bits: 0 if all members agree, ``lg n_classes`` if the votes are uniform.

    Raises
    ------
    ValueError
        If the shares of a sample are not a distribution.

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


def consensus_entropy(probabilities, *, member_weights=None) -> np.ndarray:
    """Compute the entropy of the mean probabilities of the members on each sample.

    Parameters
    ----------
    probabilities : array-like of shape (n_members, n_samples, n_classes)
        Probabilities of each member, from :func:`align_probabilities`.
    member_weights : array-like of shape (n_members,), default=None
        Weights of the mean, at least 0. None: equal weights.

    Returns
    -------
    entropies : ndarray of shape (n_samples,), dtype float64
        In bits. High where members disagree and where all members are uncertain.

    Raises
    ------
    ValueError
        If ``probabilities`` are not distributions, or if weights are negative, not
        finite or all 0.

    Examples
    --------
    >>> from sklboolean.active_learning import consensus_entropy
    >>> consensus_entropy([[[1.0, 0.0]], [[0.0, 1.0]]])
    array([1.])
    """
    probabilities = check_distributions(probabilities, "probabilities", 3)
    weights = check_member_weights(member_weights, len(probabilities))
    return _entropies(_consensus(probabilities, weights))


def kl_to_consensus(probabilities, *, member_weights=None) -> np.ndarray:
    """Compute the mean divergence of the members from their consensus on each sample.

    Parameters
    ----------
    probabilities : array-like of shape (n_members, n_samples, n_classes)
        Probabilities of each member, from :func:`align_probabilities`.
    member_weights : array-like of shape (n_members,), default=None
        Weights of the consensus and of the mean, at least 0. None: equal weights.

    Returns
    -------
    divergences : ndarray of shape (n_samples,), dtype float64
        Kullback-Leibler divergence in bits. 0 where all members predict the same
        probabilities, however uncertain they are. Always finite: the consensus gives a
        positive probability to every class that a member considers possible.

    Raises
    ------
    ValueError
        If ``probabilities`` are not distributions, or if weights are negative, not
        finite or all 0.

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
        # Where the consensus is 0, so is the member, or its weight is negligible.
        terms = np.where(consensus > 0, rel_entr(member, consensus), 0)
        divergences += weight * terms.sum(axis=1)
    return np.maximum(divergences / np.log(2), 0)


def variation_ratio(shares) -> np.ndarray:
    """Compute the share of the votes against the majority class on each sample.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`.

    Returns
    -------
    ratios : ndarray of shape (n_samples,), dtype float64
        From 0, if all members agree, to ``1 - 1 / n_classes``.

    Raises
    ------
    ValueError
        If the shares of a sample are not a distribution.

    Examples
    --------
    >>> from sklboolean.active_learning import variation_ratio
    >>> variation_ratio([[0.25, 0.75], [0.0, 1.0]])
    array([0.25, 0.  ])
    """
    return 1 - check_distributions(shares, "shares", 2).max(axis=1)


def pairwise_disagreement(shares) -> np.ndarray:
    """Compute the probability that two random members disagree on each sample.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`.

    Returns
    -------
    probabilities : ndarray of shape (n_samples,), dtype float64
        For two members drawn independently, with replacement: ``2 F (1 - F)`` if a
        share F votes for one of two classes. For two *different* members out of n,
        multiply by ``n / (n - 1)``.

    Raises
    ------
    ValueError
        If the shares of a sample are not a distribution.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.6.1: the
    probability that Query by Committee queries the label.

    Examples
    --------
    >>> from sklboolean.active_learning import pairwise_disagreement
    >>> pairwise_disagreement([[0.25, 0.75], [0.0, 1.0]])
    array([0.375, 0.   ])
    """
    shares = np.sort(check_distributions(shares, "shares", 2), axis=1)
    return np.sum(shares * (1 - shares), axis=1)


def margin_of_votes(shares) -> np.ndarray:
    """Compute the margin between the two classes with most votes on each sample.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        Share of the votes for each class, from :func:`vote_shares`, or probabilities.

    Returns
    -------
    margins : ndarray of shape (n_samples,), dtype float64
        From 0, for a tie, to 1, if all members agree. Query the sample with the
        smallest margin.

    Raises
    ------
    ValueError
        If the shares of a sample are not a distribution.

    Examples
    --------
    >>> from sklboolean.active_learning import margin_of_votes
    >>> margin_of_votes([[0.25, 0.75, 0.0], [0.4, 0.2, 0.4]])
    array([0.5, 0. ])
    """
    shares = np.sort(check_distributions(shares, "shares", 2), axis=1)
    second = shares[:, -2] if shares.shape[1] > 1 else 0
    return shares[:, -1] - second


def top_scores(scores, n, random_state=None) -> np.ndarray:
    """Select the samples with the highest scores; ties are broken at random.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Higher is better. Must not be NaN.
    n : int
        Number of samples to select, at least 0. All are selected if there are fewer.
    random_state : int, RandomState instance or None, default=None
        Breaks ties. Pass an int for reproducible results.

    Returns
    -------
    indices : ndarray of shape (min(n, n_samples),), dtype intp
        Indices of the selected samples, best first.

    Raises
    ------
    ValueError
        If ``scores`` is not one number per sample, or if ``n`` is negative.

    Examples
    --------
    >>> from sklboolean.active_learning import top_scores
    >>> top_scores([0.1, 0.9, 0.5, 0.3], 2, random_state=0)
    array([1, 2])
    """
    scores = as_reals(scores, "scores")
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError("scores must be one number per sample, and not NaN.")
    n = min(check_integer(n, "n", 0), len(scores))
    if not n:
        return np.zeros(0, dtype=np.intp)
    # All scores above the n-th largest are taken; of those equal to it random ones.
    worst = np.partition(scores, len(scores) - n)[len(scores) - n]
    rng = check_random_state(random_state)
    better = rng.permutation(np.flatnonzero(scores > worst))
    ties = rng.permutation(np.flatnonzero(scores == worst))
    chosen = np.concatenate([better, ties[: n - len(better)]])
    return chosen[np.argsort(-scores[chosen], kind="stable")]


def _consensus(probabilities, weights):
    return np.tensordot(weights / weights.sum(), probabilities, axes=1)


def _entropies(distributions):
    # Sorted, so that the same shares in another order give exactly the same entropy.
    bits = entr(np.sort(distributions, axis=1)).sum(axis=1) / np.log(2)
    return np.minimum(bits, np.log2(distributions.shape[1]))


def expected_information_gain(probabilities) -> np.ndarray:
    """Compute the expected information gain H(F) of binary labels.

    Parameters
    ----------
    probabilities : array-like of any shape
        For each sample, the probability F that its label is positive, from 0 to 1:
        the share of the version space that predicts the positive class.

    Returns
    -------
    gains : ndarray of the same shape, dtype float64
        ``-F lg F - (1 - F) lg (1 - F)``, in bits.

    Raises
    ------
    ValueError
        If a probability is outside [0, 1].

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, equation 3.2.

    Examples
    --------
    >>> from sklboolean.active_learning import expected_information_gain
    >>> expected_information_gain([0.0, 0.25, 0.5])
    array([0.        , 0.81127812, 1.        ])
    """
    probabilities = as_reals(probabilities, "probabilities")
    # Written so that NaN fails too.
    if not np.all((probabilities >= 0) & (probabilities <= 1)):
        raise ValueError("probabilities must be between 0 and 1.")
    # Use the rarer label: both labels then give the same value, and 1 - F is exact.
    rarer = np.minimum(probabilities, 1 - probabilities)
    return (entr(rarer) - xlog1py(1 - rarer, -rarer)) / np.log(2)


def label_entropy(shares) -> float:
    """Compute the mean entropy of the label of a random sample.

    Parameters
    ----------
    shares : array-like of shape (n_samples, n_classes)
        The posterior probability of each label for each sample. Shares of votes are
        an estimate of it.

    Returns
    -------
    entropy : float
        In bits. It bounds the error of the best prediction from below and above
        (:func:`bayes_error_bounds`). The information gained about the concept does
        not.

    Raises
    ------
    ValueError
        If there is no sample, or if the shares of a sample are not a distribution.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.7.

    Examples
    --------
    >>> from sklboolean.active_learning import label_entropy
    >>> label_entropy([[0.5, 0.5], [0.0, 1.0]])
    0.5
    """
    entropies = vote_entropy(shares)
    if not len(entropies):
        raise ValueError("shares must contain at least one sample.")
    return float(np.mean(entropies))


def bayes_error_bounds(entropy, *, n_classes=2) -> tuple[float, float]:
    """Compute bounds on the error of the best prediction from the label entropy.

    Parameters
    ----------
    entropy : float
        The mean entropy of a label in bits, from :func:`label_entropy`.
    n_classes : int, default=2
        Number of classes, at least 2.

    Returns
    -------
    lower : float
        For two classes ``H^-1(entropy)``: the error of at most 1/2 whose binary
        entropy is ``entropy``. For more classes, the bound of Fano's inequality.
    upper : float
        ``entropy / 2``, or the error of random guessing if that is smaller.

    Raises
    ------
    ValueError
        If ``entropy`` is not between 0 and ``lg n_classes``.

    References
    ----------
    Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
    Learning. PhD thesis, University of California, Santa Cruz, section 3.7.

    M. E. Hellman, J. Raviv (1970). Probability of Error, Equivocation, and the
    Chernoff Bound. IEEE Transactions on Information Theory 16(4): more than two labels.

    Examples
    --------
    >>> from sklboolean.active_learning import bayes_error_bounds
    >>> lower, upper = bayes_error_bounds(0.5)
    >>> round(lower, 4), upper
    (0.11, 0.25)
    """
    n_classes = check_integer(n_classes, "n_classes", 2)
    if not isinstance(entropy, Real):
        raise TypeError(f"entropy must be a number; got {entropy!r}.")
    most, blind = log2(n_classes), 1 - 1 / n_classes
    # Rounding may put a mean of entropies above the maximum.
    if not 0 <= entropy <= most * (1 + 1e-9):
        raise ValueError(
            f"entropy must be between 0 and lg {n_classes} bits; got {entropy}."
        )

    def excess(exponent):
        # Fano: with error e the entropy is at most H(e) + e lg(n_classes - 1).
        error = 2.0**-exponent
        return expected_information_gain(error) + error * log2(n_classes - 1) - entropy

    if entropy >= most:
        return blind, blind
    # Solve for the exponent, so that small errors keep their leading digits.
    first, last = -np.log2(blind), 1074.0
    lower = 0.0 if excess(last) >= 0 else 2.0 ** -brentq(excess, first, last)
    return float(min(lower, blind)), float(min(entropy / 2, blind))
