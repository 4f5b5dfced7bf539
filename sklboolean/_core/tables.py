"""Tables from outside: scikit-learn's checks, and what they leave unchecked.

scipy trusts the index arrays of a sparse table, and so do compiled loops: one index
beyond the table reads and writes anywhere. Every table of a user passes here.
"""

from contextlib import contextmanager, suppress

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

__all__ = ["check_sparse_size", "check_stored", "checked_data", "checked_table"]

LARGEST_INDEX = 2**31 - 1  # compiled loops hold 32-bit indices
# Others have no index arrays, only those that come when they are turned into these.
INDEXED = ("coo", "csr", "csc", "bsr")


def check_sparse_size(X, name="X"):
    """Refuse what compiled loops cannot number."""
    if max(X.shape) > LARGEST_INDEX:
        raise ValueError(
            f"{name} has the shape {X.shape}, but a sparse table has at most "
            f"{LARGEST_INDEX} rows and features. Give rows in chunks to partial_fit or "
            "predict, and hash features into fewer, for example with FeatureHasher."
        )


def checked_table(X, name="X", **options):
    """Check the table of a function: ``check_array`` after `check_stored`."""
    check_kind(X, name)
    check_stored(X, name)
    with plain_words(name):
        checked = check_array(as_array(X), input_name=name, **options)
        return as_stored(checked, X, name)


def checked_data(estimator, X, y="no_validation", **options):
    """Check the table and labels of an estimator: ``validate_data`` likewise."""
    check_kind(X, "X")
    check_stored(X, "X")
    with plain_words("X"):
        checked = validate_data(estimator, as_array(X), y, **options)
        if isinstance(checked, tuple):
            return as_stored(checked[0], X, "X"), checked[1]
        return as_stored(checked, X, "X")


def as_array(X):
    """Return lists as an array: of objects only in arrays check_array makes numbers."""
    return np.asarray(X) if isinstance(X, list | tuple) else X


def as_stored(checked, X, name):
    """Return a checked table, trimmed, whose index arrays were looked at."""
    if checked.dtype.kind == "O":  # for a learner of text, say
        with suppress(TypeError, ValueError):
            checked.astype(np.float64)  # an OverflowError is not suppressed
    if sparse.issparse(X) and X.format not in INDEXED:
        check_stored(checked, name)
    return trimmed(checked)


def trimmed(X):
    """Return a table without entries past the last row: scipy allows room for more."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    n_stored = X.indptr[-1]
    if len(X.data) == len(X.indices) == n_stored:
        return X
    parts = X.data[:n_stored], X.indices[:n_stored], X.indptr
    return type(X)(parts, shape=X.shape)


def check_kind(X, name):
    """Refuse times and structures, which would be read as numbers."""
    for place, dtype in dtypes_of(X, name):
        is_time = getattr(dtype, "is_temporal", bool)()  # so polars says it
        if is_time or getattr(dtype, "kind", "") in ("m", "M", "V"):
            raise ValueError(
                f"{place} holds {dtype}, which is no number. Turn it into Boolean "
                "columns first, for example by comparing it with dates."
            )


def dtypes_of(X, name):
    """Return pairs of a place and its dtype: a data frame has one for each column."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        places = (f"Column {column!r} of {name}" for column in X.columns)
        return zip(places, X.dtypes, strict=True)
    return [(name, getattr(X, "dtype", None))]


def check_stored(X, name):
    """Refuse a sparse table that is too large or whose indices point outside it."""
    if not sparse.issparse(X) or X.ndim != 2:
        return
    check_sparse_size(X, name)
    if X.format == "coo":
        parts = zip(X.coords, X.shape, strict=True)
        sound = all(_point_inside(part, side, len(X.data)) for part, side in parts)
    elif X.format in INDEXED:
        sound = _is_compressed(X)
    else:
        return
    if not sound:
        raise ValueError(
            f"The index arrays of the sparse {name} do not fit its shape {X.shape} or "
            "each other; X.check_format() says more. Build it anew from its entries."
        )


def _point_inside(indices, side, n_stored):
    """Return whether there is an index for each entry, none of them outside."""
    if indices.ndim != 1 or len(indices) != n_stored or indices.dtype.kind not in "iu":
        return False
    # Read without a sign, negative ones are beyond any side: one pass serves.
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    return not n_stored or unsigned.max() < side


def _is_compressed(X):
    """Return whether rows (or columns) of CSR, CSC and BSR lie in what is stored."""
    height, width = X.blocksize if X.format == "bsr" else (1, 1)
    sides = X.shape[0] // height, X.shape[1] // width
    n_major, n_minor = reversed(sides) if X.format == "csc" else sides
    indptr = X.indptr
    if indptr.shape != (n_major + 1,) or indptr.dtype.kind not in "iu" or indptr[0]:
        return False
    n_stored = indptr[-1]
    if np.any(indptr[1:] < indptr[:-1]) or n_stored > min(len(X.indices), len(X.data)):
        return False
    return _point_inside(X.indices[:n_stored], n_minor, n_stored)


@contextmanager
def plain_words(name):
    """Say what to do about text, and about integers that no float holds."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{name} holds a number beyond float64: {error}.") from error
    except ValueError as error:
        said = str(error)
        if "could not convert" not in said and "bytes/strings" not in said:
            raise
        raise ValueError(
            f"{error}. Features and targets must be numbers: encode text first, for "
            "example with OneHotEncoder."
        ) from error
