"""The one door through which data enters the package."""

import warnings
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils import check_scalar
from sklearn.utils.multiclass import type_of_target

from sklboolean._core.bits import always_true, not_boolean_message, pack_dense
from sklboolean._core.tables import (
    check_sparse_size,
    checked_data,
    checked_table,
    without_duplicates,
)

__all__ = [
    "as_boolean",
    "check_binarize",
    "check_boolean_array",
    "check_choice",
    "check_integer",
    "check_real",
    "check_two_classes",
    "comparable",
    "distinct_labels",
    "encode_classes",
    "given_classes",
    "is_auto",
    "is_same",
    "kind_of_labels",
    "known_classes",
    "unchanged_on_error",
    "validate_boolean",
    "warn_of_lost_columns",
]

# bool and small integers stay small; anything else numeric becomes float64.
KEPT_DTYPES = [
    np.float64, np.float32, np.bool_, np.uint8, np.int8, np.int16, np.uint16,
    np.int32, np.uint32, np.int64, np.uint64,
]  # fmt: skip

ENOUGH_ROWS = 20  # to say that a column is above a threshold in every row


def check_integer(value, name, minimum=None, maximum=None):
    """Return an integer parameter or raise an error that names it."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, not the bool {value}.")
    return int(check_scalar(value, name, Integral, min_val=minimum, max_val=maximum))


def check_real(value, name, minimum=None, *, strict=False):
    """Return a finite real parameter or raise an error that names it.

    ``strict`` excludes ``minimum`` itself.
    """
    check_scalar(value, name, Real)
    try:
        finite = np.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        raise ValueError(f"{name} must be finite in float64; got {value}.")
    if minimum is not None and (value < minimum or (strict and value == minimum)):
        relation = "greater than" if strict else "at least"
        raise ValueError(f"{name} must be {relation} {minimum}; got {value}.")
    return value


def is_same(one, other):
    """Return whether two parameters are equal; what cannot be compared is not."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and np.array_equal(one, other)
    try:
        return one is other or bool(one == other)
    except (TypeError, ValueError):  # lists of arrays, and pandas' NA
        return False


def check_choice(value, name, choices):
    """Return a parameter that is one of a few, or raise an error that lists them."""
    if not any(is_same(value, choice) for choice in choices):
        raise ValueError(f"{name} must be one of {list(choices)}; got {value!r}.")
    return value


def is_auto(value, name):
    """Return whether a parameter is "auto"; no other string will do."""
    if isinstance(value, str) and value != "auto":
        raise ValueError(f'{name} must be "auto" or a number; got {value!r}.')
    return isinstance(value, str)


def check_binarize(binarize):
    """Check the threshold that makes features Boolean."""
    if binarize is not None:
        check_real(binarize, "binarize", 0.0)


def as_boolean(X, binarize=0.0, name="X"):
    """Turn a checked table into packed words or a CSR table of true entries.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_rows, n_features)
        Numeric, finite.
    binarize : float >= 0 or None
        A value above it is true; None demands zeros and ones.
    name : str
        What errors call the table.

    Returns
    -------
    table : ndarray of uint64 words, or csr_array of bool with canonical format
    """
    binarize = None if binarize is None else float(binarize)
    if not sparse.issparse(X):
        return pack_dense(X, binarize, name)
    check_sparse_size(X, name)
    X = without_duplicates(sparse.csr_array(X))
    if binarize is None:
        odd = np.flatnonzero((X.data != 0) & (X.data != 1))
        if len(odd):
            column, value = X.indices[odd[0]], X.data[odd[0]]
            raise ValueError(not_boolean_message(name, column, value))
    # In float64, as dense tables are compared.
    values = X.data if X.data.dtype.kind in "bui" else X.data.astype(np.float64)
    true = values > (binarize or 0.0)
    if true.all():
        X = sparse.csr_array((true, X.indices, X.indptr), shape=X.shape)
    else:
        # Copies: dropping entries works in place, and these are the user's arrays.
        parts = true, X.indices.copy(), X.indptr.copy()
        X = sparse.csr_array(parts, shape=X.shape)
        X.eliminate_zeros()
    return X


def check_boolean_array(X, name, binarize=0.0):
    """Check the table of a function (not an estimator) and make it Boolean.

    Returns
    -------
    table : ndarray of uint64 words, or csr_array
    n_features : int
    """
    X = checked_table(X, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES, name=name)
    return as_boolean(X, binarize, name), X.shape[1]


def validate_boolean(estimator, X, y="no_validation", *, reset=True):
    """Check ``X`` (and ``y``) for an estimator and make ``X`` Boolean.

    Returns
    -------
    table : ndarray of uint64 words, or csr_array
    y : ndarray of shape (n_rows,), only when ``y`` was given
    """
    check_binarize(estimator.binarize)
    checked = checked_data(
        estimator, X, y, reset=reset, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES
    )
    only_X = isinstance(y, str) and y == "no_validation"
    X, y = (checked, None) if only_X else checked
    table = as_boolean(X, estimator.binarize)
    if reset and not sparse.issparse(table):
        warn_of_lost_columns(estimator, X, always_true(table, X.shape[1]))
    return table if only_X else (table, y)


def warn_of_lost_columns(estimator, X, always):
    """Warn of columns above ``binarize`` in every row though their values differ.

    Ages and codes from 1 on are such columns: nothing is left of them.

    Parameters
    ----------
    estimator : object
        Has ``binarize``, and ``feature_names_in_`` where columns have names.
    X : ndarray of shape (n_rows, n_features)
        Sparse tables are left alone: zeros are why they are sparse.
    always : ndarray of shape (n_features,), dtype bool
        Which columns are true in every row.
    """
    columns = np.flatnonzero(always)
    lost = [column for column in columns if np.any(X[:, column] != X[0, column])]
    # Of a few rows, or a small first chunk, counts may be above 0 by chance.
    if not lost or len(X) < ENOUGH_ROWS:
        return
    names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1]))
    others = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    warnings.warn(
        f"Column {names[lost[0]]!s}{others} is above binarize={estimator.binarize} in "
        "every row though its values differ: nothing is left of them. Cut a quantity "
        "into ranges, for example with KBinsDiscretizer; encode codes with "
        "OneHotEncoder, or set binarize=1.0 for codes 1 and 2.",
        stacklevel=2,
    )


@contextmanager
def comparable(y, name="y", classes=()):
    """Say so when labels cannot be put in order, or not beside the classes."""
    try:
        yield
    except (TypeError, ArithmeticError) as error:
        labels = [*np.ravel(y).tolist(), *np.ravel(classes).tolist()]
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"{name} holds labels of the type {' and '.join(kinds)}, which have no "
            "order. Give all labels one type, for example str."
        ) from error


def kind_of_labels(y):
    """Return scikit-learn's name for a target: "binary", "continuous" and so on."""
    # Whether floats are whole numbers is asked by a cast, which large ones overflow.
    with comparable(y), np.errstate(invalid="ignore"):
        return type_of_target(y, input_name="y", raise_unknown=True)


def distinct_labels(y, name="y"):
    """Return the different labels, sorted."""
    if sparse.issparse(y):
        raise ValueError(f"{name} must be a list or an array of labels, not sparse.")
    with comparable(y, name):
        return np.unique(y)


def encode_classes(y, classes=None, *, min_classes=2):
    """Return the sorted classes and the index of each label.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    classes : ndarray or None
        The classes known from an earlier call; labels outside them are an error.
    min_classes : int
        1 where a constant is an answer too.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n_rows,), intp

    Raises
    ------
    ValueError
        For a continuous or multi-output target, for fewer than ``min_classes`` classes,
        and for labels outside ``classes``.
    """
    # Integers and bools are classes: no need to look at each of them.
    kind = "multiclass"
    if y.dtype.kind not in "biu" or y.ndim != 1:
        kind = kind_of_labels(y)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: y is {kind}, a classifier needs classes. "
            "Use a regressor, or cut y into classes first."
        )
    if classes is None:
        with comparable(y):
            classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < min_classes:
            one = f"only one class, {classes.tolist()[0]!r}" if len(classes) else ""
            raise ValueError(f"y holds {one or 'no labels'}; two are needed.")
        return classes, codes
    with comparable(y, classes=classes):
        codes = np.searchsorted(classes, y)
        codes[codes == len(classes)] = 0
        unknown = classes[codes] != y
    if np.any(unknown):
        raise ValueError(
            f"y holds the label {y[unknown].tolist()[0]!r}, which is not among the "
            f"classes {classes.tolist()} given in the first call."
        )
    return classes, codes


def check_two_classes(y, known=None):
    """Refuse labels of more than two classes, before they are encoded."""
    n_classes = len(distinct_labels(y) if known is None else known)
    if n_classes > 2 and (known is not None or kind_of_labels(y) == "multiclass"):
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass, with {n_classes} classes: wrap the learner in scikit-learn's "
            "OneVsRestClassifier."
        )


def known_classes(estimator, classes):
    """Return the classes of a ``partial_fit``, from its argument or the first call."""
    classes = _distinct_classes(classes)
    if not hasattr(estimator, "classes_"):
        if classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: all labels "
                "that can occur."
            )
        return classes
    return _classes_again(estimator, classes)


def given_classes(estimator, classes, goes_on):
    """Return the classes of a fit over partitions; None where labels will tell them."""
    classes = _distinct_classes(classes)
    return _classes_again(estimator, classes) if goes_on else classes


def _distinct_classes(classes):
    if classes is None:
        return None
    classes = distinct_labels(classes, "classes")
    if len(classes) < 2:
        held = f"only one class, {classes.tolist()[0]!r}" if len(classes) else "none"
        raise ValueError(f"classes holds {held}; give two.")
    return classes


def _classes_again(estimator, classes):
    if classes is not None and not np.array_equal(classes, estimator.classes_):
        raise ValueError(
            f"classes={classes.tolist()} is not the same as in the first call: "
            f"{estimator.classes_.tolist()}."
        )
    return estimator.classes_


@contextmanager
def unchanged_on_error(estimator):
    """Put an estimator back as it was when fitting it fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # At one stroke: a second Ctrl-C may come any time.
        estimator.__dict__ = before
        raise
