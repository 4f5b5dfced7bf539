"""Where labels come from: a hidden answer book, or an oracle that is asked."""

from numbers import Real

import numpy as np
from sklearn.utils import column_or_1d

from sklboolean._core.validation import (
    check_finite_sum,
    check_labelled,
    check_sample_weight,
    is_missing,
    target_type,
    validate_data_strict,
)
from sklboolean.active_learning._parameters import (
    check_weighable,
    table_reading,
    uses_version_space,
)


def is_unlabeled(y, unlabeled):
    """Return where an array holds the mark of a missing label: bool, same shape."""
    if unlabeled is None:
        if y.dtype.kind != "O":
            return np.zeros(y.shape, dtype=bool)
        return np.array([label is None for label in y], dtype=bool)
    if isinstance(unlabeled, float | np.floating) and np.isnan(unlabeled):
        return is_missing(y) if y.dtype.kind in "fO" else np.zeros(y.shape, dtype=bool)
    if isinstance(unlabeled, str) != (y.dtype.kind in "UST") and y.dtype.kind != "O":
        return np.zeros(y.shape, dtype=bool)
    return np.asarray(y == unlabeled, dtype=bool)


def split_labels(y, unlabeled, classes):
    """Tell labels from missing ones.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    unlabeled : object
        The mark of a missing label.
    classes : ndarray or None
        All labels, when the user gave them.

    Returns
    -------
    y : ndarray of shape (n_samples,)
    known : ndarray of shape (n_samples,), bool

    Raises
    ------
    ValueError
        When the mark may be a class: y holds it and one label more.
    """
    y = np.asarray(y)
    if y.dtype.kind != "O":
        y = column_or_1d(y, warn=True)
    elif y.ndim != 1:
        raise ValueError(f"y must have one label for each row; its shape is {y.shape}.")
    known = ~is_unlabeled(y, unlabeled)
    check_labelled(y, known)
    labels = y[known]
    if labels.dtype.kind == "O" and len(labels):
        labels = check_labels(np.array(labels.tolist()))
        full = np.zeros(len(y), dtype=labels.dtype)
        full[known] = labels
        y = full
    mark_is_class = classes is not None and is_unlabeled(classes, unlabeled).any()
    one_more = classes is None and len(np.unique(labels)) == 1 and not known.all()
    is_nan = isinstance(unlabeled, Real) and np.isnan(unlabeled)
    # Words and missing values are no class by accident; a number can be.
    if mark_is_class or (one_more and not is_nan and isinstance(unlabeled, Real)):
        raise ValueError(
            f"unlabeled={unlabeled!r} may be a class here: y holds {unlabeled!r} and "
            f"{labels[:1].tolist() or 'nothing else'}. Mark missing labels with what "
            "is no class, or pass classes= to say that it is none."
        )
    return y, known


def check_labels(labels):
    """Refuse what is no class label."""
    kind = target_type(labels)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: y is {kind}, a classifier needs classes. "
            "Use a regressor, or cut y into classes first."
        )
    return labels


def read_labelled(learner, X, y, oracle, classes, *, reset=True):
    """Return the checked table, the labels, and where there are any."""
    options = table_reading(learner) | {"reset": reset}
    if y is None and oracle is not None:
        X = validate_data_strict(learner, X, **options)
        return X, np.zeros(X.shape[0]), np.zeros(X.shape[0], dtype=bool)
    if y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is "
            "None: there are no labels. Give y (an answer book, of which only the rows "
            "asked for are read), or oracle=; or use query and teach."
        )
    if not is_unlabeled(np.asarray(y), learner.unlabeled).any():
        X, y = validate_data_strict(learner, X, y, **options)
        has_label = np.ones(len(y), dtype=bool)
    else:
        X = validate_data_strict(learner, X, **options)
        y, has_label = split_labels(y, learner.unlabeled, classes)
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {len(y)}.")
    if oracle is None and not has_label.any():
        raise ValueError(
            "y holds no label: there is nothing to learn from. Give labels to some "
            "rows, or an oracle."
        )
    if oracle is not None and has_label.all():
        raise ValueError(
            "All rows are labelled, so that there is nothing to ask the oracle: "
            "mark missing labels in y with `unlabeled`, or leave y out."
        )
    return X, y, has_label


def read_weights(learner, sample_weight, n_samples):
    """Return the weights of rows, 1 unless they are given."""
    if sample_weight is None:
        return np.ones(n_samples)
    check_weighable(learner)
    weights = check_finite_sum(check_sample_weight(sample_weight, n_samples))
    odd = weights[weights != np.floor(weights)]
    if uses_version_space(learner) and len(odd):
        raise ValueError(
            "A version space takes sample_weight as repeated rows, in whole numbers; "
            f"got {odd[0]:g}. A committee of classifiers takes any."
        )
    return weights


class AnswerBook:
    """Labels that are known to the experimenter; only what is asked for is read."""

    def __init__(self, y, first=0):
        self.y, self.first = y, first

    def __call__(self, indices):
        """Return the labels of rows."""
        return self.y[indices - self.first]


class Oracle:
    """A function of rows and their indices that gives labels.

    Parameters
    ----------
    function : callable
        ``function(rows, indices)`` returns a label for each row.
    X : array-like
        The table as the user gave it, so that a person can read its rows.
    classes : ndarray or None
        All labels, where they are known.
    unlabeled : object
        What is no answer.
    first : int
        Index of the first row of X in the stream.
    """

    def __init__(self, function, X, classes, unlabeled, first=0):
        if not callable(function):
            raise TypeError(
                "oracle must be a function of rows and their indices; got "
                f"{function!r}."
            )
        self.function, self.X, self.classes = function, X, classes
        self.unlabeled, self.first = unlabeled, first

    def __call__(self, indices):
        """Ask for the labels of rows, and check the answer.

        Raises
        ------
        RuntimeError
            When the oracle fails; it says which row it was asked about.
        ValueError
            For answers of another shape and labels that are none.
        """
        asked = f"row {indices[0]}" if len(indices) == 1 else f"rows {indices.tolist()}"
        try:
            answer = self.function(rows_of(self.X, indices - self.first), indices)
        except Exception as error:
            raise RuntimeError(
                f"The oracle failed on {asked}: {type(error).__name__}: {error}. The "
                "answers before it are kept, in query_indices_ and query_labels_."
            ) from error
        labels = np.asarray(answer)
        if labels.shape == () and len(indices) == 1:
            labels = labels.reshape(1)
        if labels.shape != (len(indices),):
            raise ValueError(
                f"The oracle must return {len(indices)} labels, for {asked}; it gave "
                f"shape {labels.shape}. The answers before it are kept."
            )
        if labels.dtype.kind == "O" and not any(label is None for label in labels):
            labels = np.array(labels.tolist())
        odd = is_unlabeled(labels, self.unlabeled) | is_unlabeled(labels, np.nan)
        if self.classes is not None and not odd.any():
            odd = ~np.isin(labels, self.classes, kind="sort")
        if odd.any():
            wanted = "a label"
            if self.classes is not None:
                wanted = f"one of {self.classes.tolist()}"
            raise ValueError(
                f"The oracle answered {labels[odd].tolist()[0]!r} for row "
                f"{indices[odd][0]}; {wanted} was expected. The answers before "
                "it are kept."
            )
        return labels


def rows_of(X, indices):
    """Return rows of a table as the user gave it: a frame, an array, sparse, a list."""
    if hasattr(X, "iloc"):
        return X.iloc[indices]
    if hasattr(X, "shape"):
        return X[indices]
    return [X[i] for i in indices]
