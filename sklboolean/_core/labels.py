"""Checks of labels, and the numbers of their classes."""

# Labels become ``classes``, sorted, and ``codes``, the place of each label among them,
# intp of shape (n_samples,). Models know codes only. Labels of any type that can be
# sorted are welcome; those of later calls must be among the first ones.

from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal
from math import isfinite
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from sklboolean._core.damage import require

NOT_NUMBERS = (str, bytes, date, timedelta)
# Integers within so wide a range are counted, not sorted.
MOST_COUNTED = 2**16


@contextmanager
def comparable_labels(y, name="y", classes=()):
    """Rewrite errors about labels that cannot be sorted or compared."""
    try:
        yield
    except (TypeError, ArithmeticError) as error:
        raise ValueError(
            f"{name} holds labels of the type {_type_names(y, classes)}, which have no "
            "order. Give all labels one type, for example str."
        ) from error


def _type_names(y, classes=()):
    labels = [*np.ravel(y).tolist(), *np.ravel(classes).tolist()]
    return " and ".join(sorted({type(label).__name__ for label in labels}))


def plain_labels(y):
    """Make an array of numpy of Booleans and numbers in other containers.

    Of nullable Booleans and integers scikit-learn makes floats, and it refuses arrays
    of objects that are no text. Decimals become integers if all are whole. What numpy
    cannot hold exactly, text and data with gaps are returned as they are.
    """
    if isinstance(y, str) and y != "no_validation":
        raise ValueError(f"y is {y!r}. Give an array with a target for each sample.")
    if y is None or isinstance(y, str) or sparse.issparse(y):
        return y
    # Of a list of strings and NaN numpy would make strings.
    values = np.asarray(y, dtype=None if hasattr(y, "dtype") else object)
    if values.dtype.kind != "O":
        return values
    labels = _plain_array(values.ravel().tolist())
    return y if labels is None else labels.reshape(values.shape)


def _plain_array(labels):
    """Make an array of Booleans, or of numbers that it holds exactly; else None."""
    types = {type(label) for label in labels}
    if types & {bool, np.bool_}:
        return np.array(labels, dtype=bool) if types <= {bool, np.bool_} else None
    if not types or not all(issubclass(kind, Real | Decimal) for kind in types):
        return None
    if Decimal in types:
        if any(isinstance(label, Decimal) and label.is_nan() for label in labels):
            return None
        is_whole = all(isfinite(label) and label % 1 == 0 for label in labels)
        as_number = int if is_whole else float
        labels = list(map(as_number, labels))
    numbers = np.array(labels)
    return numbers if numbers.tolist() == labels else None


def refuse_text(y):
    """Refuse targets of a regressor that are text or dates."""
    values = np.asarray(y)
    if values.dtype.kind in "biufc":
        return
    for value in values.ravel().tolist():
        if isinstance(value, NOT_NUMBERS):
            raise ValueError(
                f"y holds {value!r}, but a regressor needs numbers. Turn y into "
                "numbers, or fit a classifier to labels."
            )


def target_type(y):
    """Determine scikit-learn's type of a target, for example "binary"."""
    # type_of_target casts floats to integers, which may overflow.
    with comparable_labels(y), np.errstate(invalid="ignore"):
        kind = type_of_target(y, input_name="y")
    if kind == "unknown":
        raise ValueError(
            f"Unknown label type: y holds labels of the type {_type_names(y)}. Give "
            "text, Booleans, or integers of 64 bits."
        )
    return kind


def check_classes(y):
    """Refuse a target that does not hold classes."""
    kind = target_type(y)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: y is {kind}, a classifier needs classes. "
            "Use a regressor, or cut y into classes first."
        )


def distinct_labels(y, name="y"):
    """Find the distinct labels, sorted."""
    if sparse.issparse(y):
        raise ValueError(f"{name} must be a list or an array of labels, not sparse.")
    with comparable_labels(y, name):
        return np.unique(y)


def _sorted_classes(y):
    """Find the sorted labels, and the place of each label among them."""
    # Counting takes one pass over the labels; sorting takes several.
    if y.dtype.kind in "biu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low <= MOST_COUNTED and high < 2**63:
            places = y.astype(np.int64) - low
            occur = np.bincount(places) > 0
            classes = (np.flatnonzero(occur) + low).astype(y.dtype)
            return classes, (np.cumsum(occur) - 1)[places]
    # Quicker than ``return_inverse``, which sorts the numbers of the samples.
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)


def encode_classes(y, classes=None, *, min_classes=2):
    """Find the sorted classes and the index of each label.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    classes : ndarray or None
        Classes known from an earlier call. Other labels are an error.
    min_classes : int
        1 where a constant prediction is allowed.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_samples,), intp

    Raises
    ------
    ValueError
        For a continuous or multi-output target, for fewer than ``min_classes`` classes,
        and for labels outside ``classes``.
    """
    # Integers and bools are classes: no need to test each of them.
    if y.dtype.kind not in "biu" or y.ndim != 1:
        check_classes(y)
    if classes is None:
        with comparable_labels(y):
            classes, codes = _sorted_classes(y)
        if len(classes) < min_classes:
            listed = f"only one class, {classes.tolist()[0]!r}" if len(classes) else ""
            raise ValueError(f"y holds {listed or 'no labels'}; two are needed.")
        return classes, codes
    require(len(classes), "classes_ is empty")
    with comparable_labels(y, classes=classes):
        # Labels behind the last class are compared with the first, and differ.
        codes = np.searchsorted(classes, y)
        codes[codes == len(classes)] = 0
        unknown = classes[codes] != y
    if np.any(unknown):
        raise ValueError(
            f"y holds the label {y[unknown].tolist()[0]!r}, which is not among the "
            f"classes {classes.tolist()} given in the first call."
        )
    return classes, codes


def target_rows(codes, n_classes):
    """Mark the samples of the second of two classes, or those of each of more.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int
    n_classes : int

    Returns
    -------
    targets : ndarray of shape (1, n_samples) or (n_classes, n_samples), bool
    """
    return codes == np.arange(n_classes)[n_classes == 2 :, None]


def check_two_classes(y, known=None):
    """Refuse labels of more than two classes."""
    n_classes = len(distinct_labels(y) if known is None else known)
    if n_classes > 2 and (known is not None or target_type(y) == "multiclass"):
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass, with {n_classes} classes: wrap the classifier in "
            "scikit-learn's OneVsRestClassifier."
        )


def known_classes(estimator, classes):
    """Determine the classes of a ``partial_fit``: its argument or the earlier ones."""
    classes = distinct_classes(classes)
    if not hasattr(estimator, "classes_"):
        if classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: all labels "
                "that can occur."
            )
        return classes
    if classes is not None and not np.array_equal(classes, estimator.classes_):
        raise ValueError(
            f"classes={classes.tolist()} is not the same as in the first call: "
            f"{estimator.classes_.tolist()}."
        )
    return estimator.classes_


def margins_of_labels(margins, codes):
    """Compute the margin of the given label over the best other one, halved.

    Parameters
    ----------
    margins : ndarray of shape (n_samples,) or (n_samples, n_classes)
    codes : ndarray of shape (n_samples,), int

    Returns
    -------
    quality : ndarray of shape (n_samples,), float64
        Above 0 where the given label has the largest score.
    """
    if margins.ndim == 1:
        return np.where(codes == 1, margins, -margins)
    samples, others = np.arange(len(codes)), margins.copy()
    others[samples, codes] = -np.inf
    return (margins[samples, codes] - others.max(axis=1)) / 2


def distinct_classes(classes):
    """Check classes that are given in advance; None: those of the labels."""
    if classes is None:
        return None
    classes = distinct_labels(classes, "classes")
    if len(classes) < 2:
        listed = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "none"
        raise ValueError(f"classes holds {listed}; give two.")
    return classes
