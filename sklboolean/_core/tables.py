"""Tables from outside: scikit-learn's checks, and what they leave unchecked.

scipy trusts the index arrays of a sparse table, and so do compiled loops: one index
beyond the table reads and writes anywhere. Every table of a user passes here, and so
do labels. What scikit-learn refuses is refused with the place and a way out.
"""

from contextlib import contextmanager, suppress

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array, validate_data

__all__ = [
    "LARGEST_INDEX",
    "check_finite",
    "check_labelled",
    "check_sparse_size",
    "check_stored",
    "checked_data",
    "checked_table",
    "column_of",
    "is_missing",
    "plain_words",
    "without_duplicates",
]

LARGEST_INDEX = 2**31 - 1  # compiled loops hold 32-bit indices
ENCODE_TEXT = "encode text first, for example with OneHotEncoder"
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
    options |= {"input_name": name, "ensure_all_finite": False}
    with plain_words(name):
        table = as_read(check_array(as_array(X), **options), X, name)
    check_finite(table, X, name)
    return table


def checked_data(estimator, X, y="no_validation", *, for_others=False, **options):
    """Check the table and labels of an estimator: ``validate_data`` likewise.

    A table ``for_others`` is read by estimators of other packages too: it has no entry
    twice, because scikit-learn's trees write all entries of a column where they have
    room for its rows.
    """
    check_kind(X, "X")
    check_stored(X, "X")
    try:
        with plain_words("X"):
            checked = validate_data(estimator, as_array(X), y, **options)
            table, *labels = checked if isinstance(checked, tuple) else (checked,)
            table = as_read(table, X, "X")
            table = without_duplicates(table) if for_others else table
    except (TypeError, ValueError) as error:
        check_labelled(y)
        if "contains NaN" in str(error) or "contains infinity" in str(error):
            find_not_finite(X, **options)
        raise
    if not labels:
        return table
    if labels[0].dtype.kind not in "biu":
        check_labelled(y)
    return table, labels[0]


def as_array(X):
    """Return lists as an array: of objects only in arrays check_array makes numbers."""
    return np.asarray(X) if isinstance(X, list | tuple) else X


def find_not_finite(X, *, dtype="numeric", ensure_all_finite=True, **_options):
    """Read a table once more in which something was found, and say where it is."""
    options = {"accept_sparse": "csr", "dtype": dtype, "ensure_all_finite": False}
    check_finite(check_array(as_array(X), **options), X, "X", ensure_all_finite)


def as_read(checked, X, name):
    """Return a checked table, trimmed, whose index arrays were looked at."""
    if checked.dtype.kind == "O":  # for a learner of text, say
        with suppress(TypeError, ValueError):
            checked.astype(np.float64)  # an OverflowError is not suppressed
    if sparse.issparse(X) and X.format not in INDEXED:
        check_stored(checked, name)
    return trimmed(checked)


def without_duplicates(X):
    """Return a table with one entry for a place; the user's arrays stay."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def trimmed(X):
    """Return a table without entries past the last row: scipy allows room for more."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    n_stored = X.indptr[-1]
    if len(X.data) == len(X.indices) == n_stored:
        return X
    parts = X.data[:n_stored], X.indices[:n_stored], X.indptr
    return type(X)(parts, shape=X.shape)


def check_finite(table, given, name="X", ensure_all_finite=True):
    """Refuse NaN and infinity in a checked table; ``given`` knows its column names."""
    if not ensure_all_finite:
        return
    try:
        assert_all_finite(table, allow_nan=ensure_all_finite == "allow-nan")
        return
    except ValueError as error:
        has_nan = "NaN" in str(error)
    odd = is_missing if has_nan else np.isinf
    if sparse.issparse(table):
        entries = table.tocoo()
        column = entries.coords[1][odd(entries.data)].min()
    else:
        column = np.flatnonzero(odd(table).any(axis=0))[0]
    what = "infinity"
    way_out = "Put numbers in its place, or make the column Boolean by a threshold."
    if has_nan:
        what = "NaN"
        way_out = (
            "Make the missing value one of its own, for example with OneHotEncoder, or "
            "fill it in: Boolean columns with BernoulliMixture.impute, others with "
            "SimpleImputer."
        )
    place = column_of(given, column)
    raise ValueError(f"Input {name} contains {what} in {place}. {way_out}") from None


def column_of(given, number):
    """Return what to call a column: by its name when the table has names."""
    if _is_frame(given):
        return f"column {list(given.columns)[number]!r}"
    return f"column {number}"


def check_labelled(y, where=True):
    """Refuse labels that are missing although there must be some.

    None, NaN and pandas' NA are none; ``where`` says which rows must have one.
    """
    if isinstance(y, str) or y is None:
        return
    # Of a list numpy makes one type: next to words NaN would become a word.
    labels = np.ravel(np.asarray(y, dtype=None if hasattr(y, "dtype") else object))
    if labels.dtype.kind not in "fO":
        return
    rows = np.flatnonzero(is_missing(labels) & where)
    if len(rows):
        raise ValueError(
            f"Input y contains missing values (NaN or None), the first of {len(rows)} "
            f"in row {rows[0]}. Leave out such rows, or have them labelled: "
            "QueryByCommittee asks for labels, and its parameter unlabeled says how y "
            "marks a gap."
        ) from None


def is_missing(values):
    """Return where values of an array are None, NaN or pandas' NA."""
    if values.dtype.kind != "O":
        return np.isnan(values)
    return np.frompyfunc(_is_none, 1, 1)(values).astype(bool)


def _is_none(value):
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA, signalling NaN of decimal
        return True
    except ValueError:  # an array
        return False


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
    if _is_frame(X):
        places = (f"Column {column!r} of {name}" for column in X.columns)
        return zip(places, X.dtypes, strict=True)
    return [(name, getattr(X, "dtype", None))]


def _is_frame(X):
    return hasattr(X, "columns") and hasattr(X, "dtypes")


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
    """Say what to do about text, pandas' NA, and integers that no float holds."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{name} holds a number beyond float64: {error}.") from error
    except TypeError as error:
        if "NAType" not in str(error):
            raise
        raise ValueError(
            f"{name} holds pandas' NA among objects. Give columns a type for numbers, "
            "for example by X.convert_dtypes()."
        ) from error
    except ValueError as error:
        said = str(error)
        is_of_text = "could not convert" in said or "bytes/strings" in said
        if not is_of_text or ENCODE_TEXT in said:  # said by a learner inside another
            raise
        raise ValueError(
            f"{error}. Features and targets must be numbers: {ENCODE_TEXT}."
        ) from error
