"""From what the members of a committee say to one array: shares or probabilities."""

from collections.abc import Mapping, Set

import numpy as np

from sklboolean._core.validation import comparable_labels


def vote_shares(votes, *, classes=None, member_weights=None):
    """Count the votes for each class.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_samples)
        The label that each member gives to each row: numbers, bools or strings.
    classes : array-like of shape (n_classes,), default=None
        All labels, in the order of the columns. None: the labels among the votes,
        sorted.
    member_weights : array-like of shape (n_members,), default=None
        How much each vote counts. None: all the same.

    Returns
    -------
    shares : ndarray of shape (n_samples, n_classes), dtype float64
        Share of the votes for each class. Each row sums to 1.

    Raises
    ------
    ValueError
        For votes that are not a table or hold no member, a label that is not among
        the classes, and weights that are negative, not finite or all 0.

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
            "votes must hold a row of labels for each member; it has shape "
            f"{votes.shape}."
        )
    weights = check_member_weights(member_weights, len(votes))
    with comparable_labels(votes, "votes"):
        labels, codes = np.unique(votes, return_inverse=True)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("votes must not hold NaN.")
    classes = labels if classes is None else np.asarray(classes)
    columns = _columns_of(labels, classes, "votes")[codes.reshape(votes.shape)]
    shares = np.zeros((votes.shape[1], len(classes)))
    rows = np.arange(votes.shape[1])
    # Whole numbers until the division: equal counts are equal shares.
    for weight, chosen in zip(weights, columns, strict=True):
        shares[rows, chosen] += weight
    return shares / weights.sum()


def align_probabilities(probabilities, member_classes, classes):
    """Lay the probabilities of members with classes of their own side by side.

    Parameters
    ----------
    probabilities : sequence of n_members array-likes
        What ``predict_proba`` of each member gives: shape (n_samples, its classes).
    member_classes : sequence of n_members array-likes
        The labels of its columns, ``classes_`` of each member.
    classes : array-like of shape (n_classes,)
        All labels.

    Returns
    -------
    aligned : ndarray of shape (n_members, n_samples, n_classes), dtype float64
        A class that a member does not know has probability 0.

    Raises
    ------
    ValueError
        For no members, for probabilities that are none or whose shape does not fit,
        and for a label that is not among the classes.

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
            "probabilities and member_classes must have an entry for each member, "
            f"at least one; they have {sizes[0]} and {sizes[1]}."
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
                f"{name} must have shape {(n_samples, len(columns))}, a column for "
                f"each of its classes; it has {table.shape}."
            )
        aligned[k][:, columns] = table
    return aligned


def check_distributions(table, name, n_axes):
    """Return distributions over the last axis as float64, or say what is wrong.

    Sums may be off by the square root of the precision; they are put right.
    """
    table = np.asarray(table)
    single = table.dtype in (np.float16, np.float32)
    tolerance = np.sqrt(np.finfo(table.dtype if single else np.float64).eps)
    table = as_reals(table, name)
    if table.ndim != n_axes or not table.shape[-1] or (n_axes == 3 and not len(table)):
        axes = (
            "(n_members, n_samples, n_classes)"
            if n_axes == 3
            else "(n_samples, n_classes)"
        )
        raise ValueError(f"{name} must have shape {axes}; it has {table.shape}.")
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
    """Return the weights of the members, all 1 for None, or say what is wrong."""
    if member_weights is None:
        return np.ones(n_members)
    weights = as_reals(member_weights, "member_weights")
    if weights.shape != (n_members,):
        raise ValueError(
            f"member_weights must have shape ({n_members},); it has {weights.shape}."
        )
    if not (np.all(weights >= 0) and 0 < weights.sum() < np.inf):
        raise ValueError(
            "member_weights must be finite, not negative and not all zero."
        )
    return weights


def _length(parts):
    """Return the number of parts in an order: a dict and a set have none."""
    try:
        return 0 if isinstance(parts, Mapping | Set) else len(parts)
    except TypeError:
        return 0


def as_reals(numbers, name):
    """Return an array of float64, or say that there are no numbers."""
    try:
        numbers = np.asarray(numbers)
        if numbers.dtype.kind not in "biufO":
            raise TypeError(f"it holds {numbers.dtype}")
        return numbers.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must hold real numbers: {error}.") from error


def _columns_of(labels, classes, name):
    """Return the column of each label."""
    if labels.ndim != 1 or classes.ndim != 1:
        raise ValueError(f"classes and labels of {name} must be lists of labels.")
    # Python's own equality: 1, 1.0 and True are one label, strings of any width too.
    try:
        column_of = {label: column for column, label in enumerate(classes.tolist())}
        unknown = [label for label in labels.tolist() if label not in column_of]
    except TypeError as error:
        raise ValueError(
            f"classes and the labels of {name} must be plain labels such as numbers or "
            "strings, not lists or dicts."
        ) from error
    if len(column_of) < len(classes):
        raise ValueError("classes must not hold a label twice.")
    if unknown:
        raise ValueError(
            f"{name} hold the label {unknown[0]!r}, which is not among the classes "
            f"{classes.tolist()}."
        )
    return np.array([column_of[label] for label in labels.tolist()], dtype=np.intp)
