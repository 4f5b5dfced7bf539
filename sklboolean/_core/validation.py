"""The one door for data: every table that users give is checked here.

Errors name the argument, the column or sample, and the fix.
"""

# What a user passes goes through these steps, in this order:
#
# 1. `_plain_data`: an array that nothing would change is returned as it is. Most
#    predictions end here, after a microsecond.
# 2. `check_stored`: what scikit-learn would convert without a word, or refuse in words
#    of numpy, is refused first: dicts, masked arrays, dates, damaged sparse matrices.
# 3. ``validate_data`` of scikit-learn, inside contexts that add the name of the column.
# 4. Sparse results are trimmed and checked again; NaN and infinity are named.
# 5. `as_boolean`: numbers become words of 64 bits by ``binarize``, sparse matrices CSR
#    arrays of the true entries. Behind this line nothing is checked again.

import sys
import warnings
from contextlib import suppress
from copy import copy
from itertools import zip_longest

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, get_tags, validation
from sklearn.utils.validation import check_array, validate_data

from sklboolean._core.bits import (
    PackedBits,
    always_true,
    not_boolean_message,
    pack_dense,
)
from sklboolean._core.data_errors import column_of, named_columns, readable_errors
from sklboolean._core.labels import plain_labels, refuse_text
from sklboolean._core.parameters import check_binarize, check_n_jobs
from sklboolean._core.sparse_structure import (
    check_sparse,
    check_sparse_size,
    check_sparse_structure,
    without_duplicates,
)


def check_is_fitted(estimator):
    """Check that an estimator is fitted, as scikit-learn does, which asks for tags."""
    if "n_features_in_" not in vars(estimator):
        validation.check_is_fitted(estimator)


def check_array_strict(X, name="X", *, ensure_all_finite=True, **options):
    """Check the data of a function: ``check_array`` and what it leaves unchecked."""
    # Finite numbers are checked at the end, where the column can be named.
    X_array = check_stored(X, name)
    options |= {"input_name": name, "ensure_all_finite": False}
    dtype = options.get("dtype", "numeric")
    with named_columns(X_array, name, dtype), readable_errors(name):
        data = check_array(X_array, **options)
        data = check_sparse(data, X, name) if sparse.issparse(data) else data
    check_finite(data, X, name, ensure_all_finite)
    return data


def validate_data_strict(
    estimator, X, y="no_validation", *, for_others=False, **options
):
    """Check the data of an estimator: ``validate_data`` and what it leaves unchecked.

    With ``for_others`` the data are passed on to estimators of other packages. A sparse
    matrix then has no duplicate entries, because scikit-learn's trees write all entries
    of a column into a buffer of one entry for each sample.
    """
    check_n_jobs(getattr(estimator, "n_jobs", None))
    y = _plain_target(estimator, y, options.get("y_numeric"))
    plain = _plain_data(estimator, X, y, **options)
    if plain is not None:
        return plain if isinstance(y, str) else (plain, y)
    dtype = options.get("dtype", "numeric")
    try:
        X_array = check_stored(X, "X")
        with named_columns(X_array, "X", dtype), readable_errors("X"):
            checked = _validate_named(estimator, X_array, y, **options)
            data, *labels = checked if isinstance(checked, tuple) else (checked,)
            if sparse.issparse(data):
                data = check_sparse(data, X, "X")
                data = without_duplicates(data) if for_others else data
            elif data.dtype.kind == "O":  # may hold an integer beyond float64
                with suppress(TypeError, ValueError):  # text
                    data.astype(np.float64)
    except (TypeError, ValueError) as error:
        if not options.get("reset", True) and hasattr(X, "columns"):
            # A column that the fit did not have comes before what it holds.
            validate_data(estimator, X, reset=False, skip_check_array=True)
        check_labelled(y)
        if "contains NaN" in str(error) or "contains infinity" in str(error):
            find_not_finite(X_array, X, **options)
        raise
    if not labels:
        return data
    if labels[0].dtype.kind not in "biu":
        check_labelled(y)
    return data, labels[0]


def _plain_target(estimator, y, is_numeric):
    """Refuse a missing y, and text for numbers, before the columns of X are read."""
    y = plain_labels(y)
    if is_numeric:
        refuse_text(y)
    if y is None and get_tags(estimator).target_tags.required:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None. Give a label or a number for each sample."
        )
    return y


def validate_data_or_bits(estimator, X, y="no_validation", **options):
    """Check the data of an estimator that also takes `PackedBits`, and returns them."""
    if not isinstance(X, PackedBits):
        return validate_data_strict(estimator, X, y, **options)
    # Only names, width and labels are checked: the array takes no memory.
    stand_in = np.broadcast_to(np.False_, X.shape).view(_NamedArray)
    stand_in.feature_names = X.feature_names
    checked = validate_data_strict(estimator, stand_in, y, **options)
    return X if isinstance(y, str) else (X, checked[1])


class _NamedArray(np.ndarray):
    """An array whose columns have names, as those of a `NamedCsr`."""

    feature_names = None


def _validate_named(estimator, X, y, *, reset=True, **options):
    """Call `validate_data`, which sees names of data frames only."""
    has_names = sparse.issparse(X) or isinstance(X, _NamedArray)
    names = getattr(X, "feature_names", None) if has_names else None
    if names is None or len(names) != X.shape[1]:
        return validate_data(estimator, X, y, reset=reset, **options)
    if reset:
        checked = validate_data(estimator, X, y, **options)
        estimator.feature_names_in_ = names
        return checked
    fitted = getattr(estimator, "feature_names_in_", names)
    if not np.array_equal(fitted, names):
        pairs = zip_longest(fitted, names)
        before, now = next(pair for pair in pairs if pair[0] != pair[1])
        raise ValueError(
            f"The feature names should match those that were passed during fit, but "
            f"X has {now!r} in the place of {before!r}."
        )
    # ``validate_data`` compares names of data frames only, and warns where it sees
    # none.
    nameless = copy(estimator)
    vars(nameless).pop("feature_names_in_", None)
    return validate_data(nameless, X, y, reset=False, **options)


def _plain_data(estimator, X, y, *, reset=True, dtype="numeric", order=None, **options):
    """Return the array of ``X`` where `validate_data` has nothing to change, or None.

    That is an array for an estimator without column names, or, in a prediction, a data
    frame of few samples with the columns of the fit: finite, of a dtype that is kept,
    and ``y`` of integers or bools. All others are checked by `validate_data`, which
    takes 50 to 200 microseconds, of data frames milliseconds; this takes one.
    """
    fitted = vars(estimator)
    if not reset and has_fitted_names(estimator, X) and X.shape[0] <= FEW_SAMPLES:
        X = _array_of_few(X)
    elif "feature_names_in_" in fitted:
        return None
    if not (_is_plain(X, dtype, order) and _is_plain_target(y, X.shape[:1])):
        return None
    if not reset:
        return X if fitted.get("n_features_in_") == X.shape[1] else None
    # Rarer demands, such as a number of samples.
    if not options.keys() <= {"accept_sparse", "ensure_all_finite"}:
        return None
    estimator.n_features_in_ = X.shape[1]
    return X


def has_fitted_names(estimator, X):
    """Test whether a data frame has the column names of the fit, in their order.

    It takes a few microseconds, of a fitted estimator; `validate_data` takes
    milliseconds.
    """
    names = vars(estimator).get("feature_names_in_")
    shape = getattr(X, "shape", ())
    # A lazy frame of Dask cannot say its number of samples.
    is_known = len(shape) == 2 and isinstance(shape[0], int)
    if names is None or not is_known or not hasattr(X, "columns"):
        return False
    of_X = X.column_names if hasattr(X, "column_names") else X.columns
    of_X = of_X.tolist() if hasattr(of_X, "tolist") else list(of_X)
    return of_X == names.tolist()


def _array_of_few(X):
    """Make a data frame of few samples an array, where it can become one."""
    if hasattr(X, "rows") and len(X) == 1:  # polars converts column by column
        bits = np.array(X.rows())
        if bits.dtype == bool:
            return bits
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def _is_plain(X, dtype, order):
    """Test for an array with samples and features, finite, of a dtype that is kept."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "biuf":
        return False
    if dtype is KEPT_DTYPES:
        is_kept = X.dtype in KEPT_DTYPES
    else:
        is_kept = dtype is None or dtype == "numeric" or X.dtype == dtype
    if not (is_kept and X.size) or (order == "C" and not X.flags.c_contiguous):
        return False
    if X.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _is_plain_target(y, shape):
    """Test for no target, or for an array of integers or bools."""
    return isinstance(y, str) or (
        type(y) is np.ndarray and y.shape == shape and y.dtype.kind in "biu"
    )


def check_stored(X, name):
    """Check dtypes and sparse structure before conversion; make lists an array."""
    if holds_dicts(X):
        what = "dict" if isinstance(X, dict) else "list of dicts"
        raise ValueError(
            f"{name} is a {what}. Make it a data frame: pandas.DataFrame([sample]) of "
            "one sample that is a dict, pandas.DataFrame(samples) of a list of them."
        )
    if isinstance(X, PackedBits):
        raise ValueError(
            f"{name} is a BitTable, whose bits only estimators of packed bits read. "
            "Pass arrays: those of table.batches(), one after the other, or "
            "X, y, sample_weight = next(table.batches(len(table))) if they fit into "
            "memory."
        )
    if isinstance(X, np.ma.MaskedArray) and X.mask.any():
        raise ValueError(
            f"{name} is a masked array, whose mask would be ignored. Fill it, for "
            "example by X.astype(float).filled(np.nan), and encode it with "
            "BooleanEncoder, or impute it."
        )
    if hasattr(X, "fetchnumpy"):
        raise ValueError(f"{name} is a relation of DuckDB. Pass {name}.df().")
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    # A categorical column is as good as the type of its levels.
    dtypes = list(X.dtypes) if is_frame else [getattr(X, "dtype", None)]
    for number, dtype in enumerate(dtypes):
        dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
        is_time = getattr(dtype, "is_temporal", bool)()  # polars
        if is_time or getattr(dtype, "kind", "") in ("m", "M", "V"):
            where = f"C{column_of(X, number)[1:]} of {name}" if is_frame else name
            raise ValueError(
                f"{where} holds {dtype}, which is not numeric. Encode it first, for "
                "example with BooleanEncoder, which compares it with dates."
            )
    if sparse.issparse(X):
        check_sparse_structure(X, name)
    return array_of_rows(X, name) if isinstance(X, list | tuple) else X


def array_of_rows(rows, name):
    """Make a list of rows an array."""
    try:
        return np.asarray(rows)
    except ValueError as error:
        raise ValueError(
            f"{name} is a list whose rows have different lengths, or columns that hold "
            "lists. Give each row one value for each column."
        ) from error


def holds_dicts(X):
    """Test for a sample, or a list of samples, that a web service received as JSON."""
    return (isinstance(X, dict) and not sparse.issparse(X)) or (
        isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)
    )


def find_not_finite(X_array, X, *, dtype="numeric", ensure_all_finite=True, **_options):
    """Convert data again in which NaN or infinity was found, and name the place."""
    options = {"accept_sparse": "csr", "dtype": dtype, "ensure_all_finite": False}
    check_finite(check_array(X_array, **options), X, "X", ensure_all_finite)


def check_finite(table, given, name="X", ensure_all_finite=True):
    """Refuse NaN and infinity in checked data; ``given`` has the column names."""
    if not ensure_all_finite:
        return
    try:
        assert_all_finite(table, allow_nan=ensure_all_finite == "allow-nan")
        return
    except ValueError as error:
        # scikit-learn's message is about the whole table; find the first column.
        has_nan = "NaN" in str(error)
    is_refused = is_missing if has_nan else np.isinf
    if sparse.issparse(table):
        entries = table.tocoo()
        column = entries.coords[1][is_refused(entries.data)].min()
    else:
        column = np.flatnonzero(is_refused(table).any(axis=0))[0]
    what = "infinity"
    fix = "Replace it by numbers, or make the column Boolean by a threshold."
    if has_nan:
        what = "NaN"
        fix = (
            "Encode missing values, for example with BooleanEncoder, or impute them: "
            "Boolean columns with BernoulliMixture.impute, others with SimpleImputer."
        )
    column_name = column_of(given, column)
    raise ValueError(f"Input {name} contains {what} in {column_name}. {fix}") from None


def check_labelled(y, where=True):
    """Refuse missing labels: None, NaN and pandas' NA.

    ``where`` marks the samples that must have a label.
    """
    if isinstance(y, str) or y is None:
        return
    # numpy would turn NaN in a list of strings into a string.
    with named_columns(y, "y", None):
        labels = np.ravel(np.asarray(y, dtype=None if hasattr(y, "dtype") else object))
    if labels.dtype.kind not in "fO":
        return
    rows = np.flatnonzero(is_missing(labels) & where)
    if len(rows):
        raise ValueError(
            f"Input y contains missing values (NaN or None) in {len(rows)} of its "
            f"{len(labels)} samples, the first in sample {rows[0]}. Leave them out, or "
            "let QueryByCommittee query their labels."
        ) from None


def is_missing(values):
    """Test which values of an array are None, NaN or pandas' NA."""
    if values.dtype.kind != "O":
        return np.isnan(values)
    return np.frompyfunc(is_none, 1, 1)(values).astype(bool)


def is_none(value):
    """Test whether a value is None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA, signalling NaN of decimal
        return True
    except ValueError:  # an array
        return False


# bool and small integers stay small; anything else numeric becomes float64.
KEPT_DTYPES = [
    np.float64, np.float32, np.bool_, np.uint8, np.int8, np.int16, np.uint16,
    np.int32, np.uint32, np.int64, np.uint64,
]  # fmt: skip

FEW_SAMPLES = 64  # of a data frame, which need not be read column by column
ENOUGH_ROWS = 20  # to say that a column is above a threshold in every row
RAW = 10.0  # numbers of columns that are always above 0, such as ages
ENOUGH_TO_REFUSE = 200  # samples of which no column differs


def as_boolean(X, binarize=0.0, name="X"):
    """Convert checked data into packed words or a CSR matrix of the true entries.

    Parameters
    ----------
    X : ndarray, sparse array or PackedBits of shape (n_samples, n_features)
        Numeric, finite.
    binarize : float >= 0 or None
        A value above it is true; None demands zeros and ones.
    name : str
        Name of the data in messages.

    Returns
    -------
    table : ndarray of uint64 words, or csr_array of bool with canonical format
    """
    binarize = None if binarize is None else float(binarize)
    if isinstance(X, PackedBits):
        if binarize is not None and binarize >= 1 and not X.is_binarized:
            raise ValueError(
                f"binarize={binarize:g} would make all features false, because {name} "
                "holds bits. Set binarize=0.0 or None."
            )
        return X.words
    if not sparse.issparse(X):
        return pack_dense(X, binarize, name)
    check_sparse_size(X, name)
    # Two entries of one cell are added up before they are compared with the threshold.
    X = without_duplicates(sparse.csr_array(X))
    if binarize is None:
        not_bits = np.flatnonzero((X.data != 0) & (X.data != 1))
        if len(not_bits):
            column, value = X.indices[not_bits[0]], X.data[not_bits[0]]
            raise ValueError(not_boolean_message(name, column, value))
    # In float64, as dense tables are compared.
    values = X.data if X.data.dtype.kind in "bui" else X.data.astype(np.float64)
    true = values > (binarize or 0.0)
    if true.all():
        X = sparse.csr_array((true, X.indices, X.indptr), shape=X.shape)
    else:
        # Copies: dropping entries works in place, and these are the user's arrays.
        arrays = true, X.indices.copy(), X.indptr.copy()
        X = sparse.csr_array(arrays, shape=X.shape)
        X.eliminate_zeros()
    return X


def check_boolean_array(X, name, binarize=0.0):
    """Check the data of a function (not an estimator) and make them Boolean.

    Returns
    -------
    table : ndarray of uint64 words, or csr_array
    n_features : int
    """
    if not isinstance(X, PackedBits):
        X = check_array_strict(
            X, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES, name=name
        )
    return as_boolean(X, binarize, name), X.shape[1]


def validate_boolean(estimator, X, y="no_validation", *, reset=True, **options):
    """Check ``X`` (and ``y``) for an estimator and make ``X`` Boolean.

    ``options`` are those of scikit-learn's ``validate_data``.

    Returns
    -------
    table : ndarray of uint64 words, or csr_array
    y : ndarray of shape (n_samples,), only when ``y`` was given
    """
    check_binarize(estimator.binarize)
    options |= {"reset": reset, "accept_sparse": ["csr", "csc"], "dtype": KEPT_DTYPES}
    checked = validate_data_or_bits(estimator, X, y, **options)
    only_X = isinstance(y, str) and y == "no_validation"
    X, y = (checked, None) if only_X else checked
    table = as_boolean(X, estimator.binarize)
    if isinstance(X, np.ndarray):
        always = always_true(table, X.shape[1]) if reset else None
        warn_of_lost_columns(estimator, X, always, estimator.binarize)
    return table if only_X else (table, y)


def warn_of_lost_columns(estimator, X, always, binarize):
    """Warn of columns of which ``binarize`` loses all, or hides much.

    Ages and codes starting at 1 are above it in every sample though their values
    differ, so they become constant. When no other column is left and samples are many,
    this is an error. Of standardised columns and other signed numbers only the sign is
    left, by default.

    Parameters
    ----------
    estimator : object
        Has ``feature_names_in_`` where columns have names.
    X : ndarray of shape (n_samples, n_features)
        Dense data. Sparse matrices are sparse because of zeros.
    always : ndarray of shape (n_features,), dtype bool, or None
        Columns that are true in every sample of a fit. None in a prediction, where only
        columns between 0 and 1 are reported: a ClassifierChain fits on labels, and may
        pass probabilities later.
    binarize : float or None
        The threshold.
    """
    if always is None:
        _warn_of_probabilities(estimator, X, binarize)
        return
    # First, signed numbers of which only the sign is left.
    if X.dtype.kind in "fi" and binarize == 0 and X.size and X.min() < 0:
        lowest = X.min(axis=0)
        # Columns of -1 and 1 lose nothing, and another threshold was chosen.
        cut = np.flatnonzero(((X <= 0) & (X != lowest) & (lowest < 0)).any(axis=0))
        if len(cut):
            warn_user(
                f"{_first_of(cut, estimator, X)} holds real numbers. Only whether they "
                "are above binarize=0.0 is used; a rule prints the column's name for "
                "it. Encode them with BooleanEncoder, which chooses thresholds and "
                "prints them, or set binarize=None if X should hold zeros and ones."
            )
    # In a few samples, or a small first chunk, counts may be above 0 by chance.
    if len(X) < ENOUGH_ROWS or not always.any():
        return
    columns = np.flatnonzero(always)
    lost = columns[np.any(X[:, columns] != X[0, columns], axis=0)]
    if not len(lost):
        return
    all_lost = "No column is left to learn from. " if len(lost) == X.shape[1] else ""
    message = (
        f"{_first_of(lost, estimator, X)} is above binarize={binarize} in "
        f"every sample though its values differ, so it becomes constant. {all_lost}"
        "Encode numbers and categories with BooleanEncoder, which chooses thresholds "
        "and names them, or set binarize=1.0 for codes 1 and 2."
    )
    if all_lost and len(X) >= ENOUGH_TO_REFUSE:
        raise ValueError(message)
    warn_user(message)


def _first_of(columns, estimator, X):
    names = getattr(estimator, "feature_names_in_", np.arange(X.shape[1]))
    others = f" (and {len(columns) - 1} more)" if len(columns) > 1 else ""
    return f"Column {names[columns[0]]!s}{others}"


def _warn_of_probabilities(estimator, X, binarize):
    if X.dtype.kind != "f" or binarize != 0 or len(X) < ENOUGH_ROWS:
        return
    # Columns of bits need no more than a look at the first sample.
    columns = np.flatnonzero((X[0] > 0) & (X[0] < 1))
    columns = columns[((X[:, columns] > 0) & (X[:, columns] < 1)).all(axis=0)]
    if len(columns):
        warn_user(
            f"{_first_of(columns, estimator, X)} holds numbers between 0 and 1 only, "
            "such as probabilities, and binarize=0.0 makes all of them true. Encode "
            "them with BooleanEncoder; in a ClassifierChain set chain_method='predict'."
        )


def count_samples(X):
    """Count the samples of data that are not checked yet."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take_samples(X, samples):
    """Select samples of a data frame, an array, a sparse matrix or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[samples]
    if hasattr(X, "column_names"):
        return X.take(np.arange(len(X))[samples])
    if sparse.issparse(X):
        return X.tocsr()[samples]
    if isinstance(X, list | tuple):  # an array would make text of numbers beside text
        return [X[i] for i in np.arange(len(X))[samples]]
    return (X if hasattr(X, "shape") else np.asarray(X))[samples]


def warn_of_raw_numbers(estimator, X):
    """Warn of columns such as ages and incomes, for a model that multiplies them."""
    low, high = X.min(axis=0), X.max(axis=0)
    raw = np.flatnonzero((0 < low) & (low < high) & (high >= RAW))
    if len(X) >= ENOUGH_ROWS and len(raw):
        warn_user(
            f"{_first_of(raw, estimator, X)} holds numbers from {low[raw[0]]:g} to "
            f"{high[raw[0]]:g}, which outweigh bits as they are. Encode them with "
            "BooleanEncoder, or scale them, for example with StandardScaler."
        )


def warn_user(message, category=UserWarning, *, in_folds=True):
    """Warn at the line of the user's code that called the package.

    ``in_folds=False`` is silent inside a cross-validation of scikit-learn, whose folds
    may be odd where the data are not.
    """
    # Go up to the first frame that is not in one of these packages.
    frame, level = sys._getframe(1), 2
    inner = ("sklboolean", "sklearn", "joblib", "contextlib")
    folds = "sklearn.model_selection", "sklearn.calibration"
    while frame.f_back:
        name = frame.f_globals.get("__name__", "")
        if name.split(".")[0] not in inner:
            break
        if not in_folds and name.startswith(folds):
            return
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def as_reals(numbers, name):
    """Convert to float64; a ValueError names the argument if that is impossible."""
    try:
        numbers = np.asarray(numbers)
        if numbers.dtype.kind not in "biufO":
            raise TypeError(f"its dtype is {numbers.dtype}")
        return numbers.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must contain real numbers: {error}.") from error
