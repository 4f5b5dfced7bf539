"""Columns of data frames, tables and arrays, as numbers or as codes of levels.

Each kind of container is read through its own methods, so none of them is imported
before a user brings one. Text is coded by the container, which is several times as fast
as comparing Python strings.
"""

# Whatever the container, a column becomes a `Column`: float64 numbers with NaN for
# missing values, or integer codes into a list of levels with -1 for missing ones. The
# steps:
#
# 1. `as_table` refuses lazy frames, and makes tables of exports and arrays of lists.
# 2. The names and the width are compared with those of the fit.
# 3. A reader for each package turns one column into numbers or codes (READERS).
# 4. `_number_column` and `_level_column` decide what the values are: integers beyond
#    2**53 are kept exactly, levels that are all numbers become numbers, dates and
#    nested values are refused.
#
# Errors of any package become a ValueError that names the column.

from collections import Counter
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from sklboolean._core.validation import (
    array_of_rows,
    check_stored,
    has_fitted_names,
    holds_dicts,
    is_missing,
    named_columns,
    readable_errors,
)

NO_DATES = (
    "which is a date, a time, a duration or a period. Turn it into numbers first, for "
    "example the year, the month, the weekday or the days since an event, or put "
    "skrub's DatetimeEncoder before this step."
)
NESTED = (tuple, list, dict, set, frozenset, np.ndarray, bytearray, memoryview)
PLAIN_TYPES = {str, int, float, bool}
PLAIN_VALUES = PLAIN_TYPES | {type(None)}
# Float64 merges integers beyond.
LARGEST_EXACT = 2**53


class Column(NamedTuple):
    """One column of a data set: numbers, or codes of levels.

    Parameters
    ----------
    name : str or int
        Its name, or its number where columns have no names.
    kind : {"boolean", "number", "category", "ordered"}
        What its type says.
    numbers : ndarray of shape (n_samples,), dtype float64, or None
        NaN where a value is missing. Of int64 or uint64 for integers beyond 2**53,
        where ``codes`` tell what is missing. None for categories, and for numbers that
        no such array can hold apart.
    is_integer : bool
        Whether the type holds integers or Booleans only.
    codes : ndarray of shape (n_samples,), int, or None
        Number of the level of each sample, -1 where it is missing.
    levels : list or None
        Distinct values; in their order for "ordered". Not all need occur.
    is_declared : bool
        Whether the type of the column says that it is a category.
    decimals : int or None
        Largest number of decimal places, if it holds values of type Decimal.
    dtype : str
        Name of its type in a data frame, where `column_types` read it.
    """

    name: object
    kind: str
    numbers: np.ndarray | None = None
    is_integer: bool = False
    codes: np.ndarray | None = None
    levels: list | None = None
    is_declared: bool = False
    decimals: int | None = None
    dtype: str = ""

    def missing(self):
        """Mark the samples whose value is missing."""
        return np.isnan(self.numbers) if self.codes is None else self.codes < 0

    def is_empty(self):
        """Test whether all values are missing in a column without a type."""
        return self.numbers is None and not self.levels

    def as_category(self):
        """Code the distinct numbers as levels."""
        if self.codes is not None:
            kind = "ordered" if self.kind == "ordered" else "category"
            return self._replace(kind=kind, numbers=None)
        has_value = ~np.isnan(self.numbers)
        levels, level_of_value = np.unique(self.numbers[has_value], return_inverse=True)
        codes = np.full(len(has_value), -1)
        codes[has_value] = level_of_value
        as_python = int if self.is_integer else float
        levels = [as_python(level) for level in levels.tolist()]
        return self._replace(kind="category", numbers=None, codes=codes, levels=levels)

    def python_value(self, value):
        """Convert a level or a number to the type of the values of the column."""
        if self.kind == "boolean":
            return bool(value)
        if self.kind != "number":
            return value
        if self.decimals is not None:
            return Decimal(f"{value:.{self.decimals}f}")
        return round(value) if self.is_integer else float(value)


def read_columns(estimator, X, *, reset):
    """Check a data set for an estimator and read its columns.

    Parameters
    ----------
    estimator : object
        Gets, or is compared by, ``n_features_in_`` and ``feature_names_in_``.
    X : pandas or polars data frame, pyarrow table, or array-like
        Of shape (n_samples, n_features). Other objects that export the Arrow stream
        or array interface, such as record batches and DuckDB relations, are tables too.
    reset : bool
        Whether this is the fit.

    Returns
    -------
    columns : list of Column

    Raises
    ------
    ValueError
        For dates, infinity, values that cannot be compared, and what is no table.
    """
    X = as_table(X)
    if is_frame(X):
        _refuse_dates(X)
        # Equal names need no check, which would take longer than reading a row.
        if reset or not has_fitted_names(estimator, X):
            _check_names(X)
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        _check_size(X.shape, estimator)
        names, series = list(X.columns), [X]
        if hasattr(X, "iloc"):
            series = [X.iloc[:, j] for j in range(len(names))]
        elif hasattr(X, "get_columns"):
            series = X.get_columns()
        else:
            names, series = X.column_names, X.columns
        read = _reader_of(series[0])
        return [_read_column(read, *pair) for pair in zip(names, series, strict=True)]
    if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        raise ValueError(f"Column 0 of X holds {X.dtype}, {NO_DATES}")
    X = check_stored(X, "X")
    with named_columns(X, "X", None), readable_errors("X"):
        X = validate_data(
            estimator, X, reset=reset, dtype=None, ensure_all_finite=False
        )
    return [_read_column(_read_array, j, X[:, j]) for j in range(X.shape[1])]


def as_table(X):
    """Make a data frame, a table of pyarrow or an array of what can become one.

    Masked values become None. Lists of mixed values become arrays of objects, where
    numpy would make numbers text and large integers floats.
    """
    if hasattr(X, "collect_schema") and not hasattr(X, "get_columns"):
        raise ValueError("X is a lazy data frame: pass X.collect().")
    if hasattr(X, "compute") and hasattr(X, "columns"):
        raise ValueError(
            "X is a lazy data frame: pass X.compute(), or its partitions to "
            "fit_partitions."
        )
    if isinstance(X, np.ma.MaskedArray):
        values = X.data.astype(object)
        values[np.ma.getmaskarray(X)] = None
        return values
    if isinstance(X, list | tuple) and not holds_dicts(X):
        kind = array_of_rows(X, "X").dtype.kind
        return np.asarray(X, dtype=object) if kind in "USOf" else X
    is_export = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    is_known = any(hasattr(X, name) for name in ("iloc", "get_columns"))
    if is_export and not is_known and len(getattr(X, "shape", "xy")) == 2:
        import pyarrow

        return pyarrow.table(X)
    return X


def row_of(X):
    """List the values of a data frame or table of one row."""
    if hasattr(X, "iloc"):
        return X.to_numpy(dtype=object)[0].tolist()
    if hasattr(X, "row"):
        return X.row(0)
    return [column[0].as_py() for column in X.columns]


def read_value(name, value):
    """Read one value as a column of one sample."""
    cell = np.empty(1, dtype=object)
    cell[0] = value
    return _read_column(_read_array, name, cell)


def is_frame(X):
    """Test whether X is a data frame of pandas or polars, or a table of pyarrow."""
    return hasattr(X, "columns") and hasattr(X, "shape") and len(X.shape) == 2


def _check_names(X):
    """Refuse column names that do not tell columns apart, or of several types."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    name, count = max(Counter(names).items(), key=lambda item: item[1], default=("", 1))
    if count > 1:
        raise ValueError(
            f"X has {count} columns named {name!r}. Give each column its own name."
        )
    texts = [name for name in names if isinstance(name, str)]
    if texts and len(texts) < len(names):
        other = next(name for name in names if not isinstance(name, str))
        raise ValueError(
            f"X has a column named {texts[0]!r} and one named {other!r}, which is not "
            "text. Set X.columns = X.columns.astype(str)."
        )


def _refuse_dates(X):
    for name, dtype in zip(X.columns, getattr(X, "dtypes", ()), strict=False):
        is_time = getattr(dtype, "is_temporal", bool)()  # polars
        is_time = is_time or hasattr(dtype, "freq")  # periods of pandas
        if is_time or getattr(dtype, "kind", "") in ("m", "M"):
            raise ValueError(f"Column {name!r} of X holds {dtype}, {NO_DATES}")


def _check_size(shape, estimator):
    for size, word in zip(shape, ("sample", "feature"), strict=True):
        if not size:
            raise ValueError(
                f"Found array with 0 {word}(s) (shape={shape}) while a minimum of 1 is "
                f"required by {type(estimator).__name__}."
            )


def _read_column(read, name, values):
    """Read one column; every error is a ValueError that names it."""
    where = f"Column {name!r} of X"
    try:
        with readable_errors(where):
            column = read(name, values)
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and where in str(error):
            raise
        raise ValueError(
            f"{where} holds values that are neither numbers nor text, such as lists. "
            f"Turn them into numbers or text first. ({error})"
        ) from error
    if column.numbers is not None and np.isinf(column.numbers).any():
        raise ValueError(
            f"Input X contains infinity in column {name!r}. Replace it by a number "
            "beyond every threshold, or by NaN if it stands for a missing value."
        )
    return column


def _read_pandas(name, series):
    dtype = series.dtype
    if dtype.kind in "biuf":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return _number_column(name, numbers, dtype.kind, series.tolist)
    if dtype.kind == "c":
        raise ValueError(f"Column {name!r} of X: Complex data not supported.")
    if hasattr(dtype, "categories"):
        codes, levels = series.cat.codes.to_numpy(), series.cat.categories.tolist()
        return _declared_column(name, codes, levels, dtype.ordered)
    # Objects and text: pandas codes missing values as -1.
    codes, levels = series.factorize()
    return _level_column(name, codes, levels.tolist())


def _read_polars(name, series):
    import polars

    dtype = series.dtype
    if dtype.is_float() or dtype.is_integer() or dtype == polars.Boolean:
        kind = "b" if dtype == polars.Boolean else "f"
        kind = "i" if dtype.is_integer() else kind
        numbers = series.cast(polars.Float64).to_numpy()
        return _number_column(name, numbers, kind, series.to_list)
    if dtype == polars.Null:
        return Column(name, "category", codes=np.full(len(series), -1), levels=[])
    if dtype == polars.Enum:
        codes = series.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        return _declared_column(name, codes, dtype.categories.to_list(), True)
    if dtype not in (polars.String, polars.Categorical):
        values = series.to_list()
        return _read_array(name, np.fromiter(values, object, count=len(values)))
    text = series.cast(polars.String)
    # An Enum of the levels that occur has their codes.
    levels = text.unique().drop_nulls().to_list()
    codes = text.cast(polars.Enum(levels)).to_physical().cast(polars.Int64)
    codes = codes.fill_null(-1).to_numpy()
    if dtype == polars.String:
        return Column(name, "category", codes=codes, levels=levels)
    return _declared_column(name, codes, levels)


def _read_arrow(name, chunked):
    import pyarrow
    from pyarrow import types

    if types.is_temporal(chunked.type):
        raise ValueError(f"Column {name!r} of X holds {chunked.type}, {NO_DATES}")
    if types.is_boolean(chunked.type):
        numbers = chunked.cast(pyarrow.int8()).cast(pyarrow.float64()).to_numpy()
        return _number_column(name, numbers, "b")
    is_integer = types.is_integer(chunked.type)
    if is_integer or types.is_floating(chunked.type):
        numbers = chunked.cast(pyarrow.float64(), safe=False).to_numpy()
        kind = "i" if is_integer else "f"
        return _number_column(name, numbers, kind, chunked.to_pylist)
    values = chunked.combine_chunks()
    if types.is_null(chunked.type):
        return Column(name, "category", codes=np.full(len(chunked), -1), levels=[])
    is_declared = types.is_dictionary(chunked.type)
    if not is_declared:
        values = values.dictionary_encode()
    codes = values.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy()
    levels = values.dictionary.to_pylist()
    if is_declared:
        return _declared_column(name, codes, levels, chunked.type.ordered)
    return _level_column(name, codes, levels)


def _read_array(name, values):
    if values.dtype.kind in "biuf":
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        return _number_column(name, numbers, values.dtype.kind, values.tolist)
    # Equal values share a code; their first one is the level.
    index = {}
    codes = [index.setdefault(value, len(index)) for value in values.tolist()]
    return _level_column(name, np.array(codes), list(index))


READERS = (("iloc", _read_pandas), ("rechunk", _read_polars), ("chunks", _read_arrow))


def _reader_of(series):
    return next(reader for attribute, reader in READERS if hasattr(series, attribute))


def _number_column(name, numbers, kind, list_values=None):
    """Make a column of numbers; integers beyond 2**53 are read once more, exactly."""
    is_integer = kind in "biu"
    if is_integer and np.fmax.reduce(np.abs(numbers), initial=0.0) >= LARGEST_EXACT:
        values = list_values()
        return _read_array(name, np.fromiter(values, object, count=len(values)))
    return Column(name, "boolean" if kind == "b" else "number", numbers, is_integer)


def _declared_column(name, codes, levels, is_ordered=False):
    """Make a column of a type that says that it is a category."""
    codes, levels = _check_levels(name, codes, levels)
    kind = "ordered" if is_ordered else "category"
    return Column(name, kind, codes=codes, levels=levels, is_declared=True)


def _level_column(name, codes, levels):
    """Make a column of codes; levels that are all numbers make it one of numbers."""
    codes, levels = _check_levels(name, codes, levels)
    # From here on only the distinct values are looked at.
    are_numbers = all(isinstance(v, Real | Decimal | np.bool_) for v in levels)
    if not levels or not are_numbers:
        return Column(name, "category", codes=codes, levels=levels)
    if all(isinstance(level, bool | np.bool_) for level in levels):
        return Column(name, "boolean", np.array([*levels, np.nan])[codes], True)
    are_integers = all(isinstance(level, Integral | np.bool_) for level in levels)
    decimals = [v for v in levels if isinstance(v, Decimal) and v.is_finite()]
    places = max([0, *(-v.as_tuple().exponent for v in decimals)]) if decimals else None
    numbers = np.array([*map(float, levels), np.nan])
    if are_integers and np.nanmax(np.abs(numbers)) >= LARGEST_EXACT:
        exact = np.array([*levels, levels[0]])
        if exact.dtype.kind in "iu":
            return Column(name, "number", exact[codes], True, codes, levels)
    if len(np.unique(numbers[:-1])) < len(levels):
        return Column(name, "number", None, are_integers, codes, levels)
    return Column(name, "number", numbers[codes], are_integers, decimals=places)


def _check_levels(name, codes, levels):
    """Drop levels that are missing values, decode bytes, and refuse other objects."""
    # Renumber the levels behind those that are missing values.
    missing = is_missing(np.fromiter(levels, dtype=object, count=len(levels)))
    if missing.any():
        new_codes = np.where(missing, -1, np.cumsum(~missing) - 1)
        codes = np.append(new_codes, -1)[codes]
        levels = [v for v, gone in zip(levels, missing, strict=True) if not gone]
    unusual_types = set(map(type, levels)) - PLAIN_TYPES
    for level in levels if unusual_types else ():
        end = getattr(level, "left", level)  # of an interval
        is_time = isinstance(end, date | time | timedelta | np.datetime64)
        # Periods of pandas have a frequency.
        if is_time or isinstance(end, np.timedelta64) or hasattr(end, "freqstr"):
            raise ValueError(f"Column {name!r} of X holds {level!r}, {NO_DATES}")
        if isinstance(level, NESTED) or not _is_value(level):
            raise TypeError(f"{type(level).__name__}")
    if bytes in unusual_types:
        levels = [v.decode() if isinstance(v, bytes) else v for v in levels]
    return codes, levels


def _is_value(level):
    """Test whether equal levels compare equal, also after they were stored."""
    is_plain = not isinstance(level, complex | np.complexfloating | type)
    return is_plain and (
        isinstance(level, Enum) or type(level).__eq__ is not object.__eq__
    )


@lru_cache(maxsize=16)
def _pandas_names(names):
    """Make the names of columns once: pandas takes longer than one sample does."""
    import pandas

    return pandas.Index(names, dtype=object)


def frame_like(X, features, names):
    """Make features a data frame of the package of X.

    Parameters
    ----------
    X : data frame or table
        A pandas data frame gives its index, too; a table of pyarrow gives an array.
    features : ndarray of shape (n_samples, n_features_out)
    names : tuple of n_features_out str

    Returns
    -------
    frame : data frame or ndarray
        The one of pandas is a single block that shares the memory of ``features``.
    """
    if hasattr(X, "iloc"):
        import pandas

        columns = _pandas_names(names)
        return pandas.DataFrame(features, index=X.index, columns=columns, copy=False)
    if hasattr(X, "get_columns"):
        import polars

        try:
            # Of one sample polars reads a list faster than columns of an array.
            is_one = len(features) == 1 and features.dtype == bool
            rows = features.tolist() if is_one else features
            return polars.DataFrame(rows, schema=list(names), orient="row")
        except UnicodeEncodeError as error:
            raise ValueError(
                f"A column cannot be named {error.object!r} in polars: the level is "
                "not valid Unicode. Replace it in X."
            ) from error
    # scikit-learn's set_output cannot make a data frame of a table of pyarrow.
    return features


def column_types(X, columns):
    """Take the values out of the columns of X, and name their types in a frame.

    A category keeps the levels that its type declares.
    """
    X, dtypes = as_table(X), [""] * len(columns)
    if is_frame(X):
        dtypes = X.schema.types if hasattr(X, "column_names") else X.dtypes
    return [
        column._replace(
            numbers=None,
            codes=None,
            levels=column.levels if column.is_declared else None,
            dtype=str(dtype),
        )
        for column, dtype in zip(columns, dtypes, strict=True)
    ]


def fill_missing(X, columns, missing, values, fitted):
    """Copy a data set with its missing values filled in.

    A column keeps its type if that can hold the new values. Otherwise, and where the
    column holds nothing, it gets the type that the fit saw.

    Parameters
    ----------
    X : data frame, table or array-like
        As `read_columns` takes it.
    columns : list of Column
        Its columns.
    missing : ndarray of shape (n_samples, n_features), dtype bool
        Cells that are missing.
    values : ndarray of shape (n_incomplete, n_features)
        Values for the samples with missing cells; only those of these cells are used.
    fitted : list of Column
        Those of the fit, as `column_types` returns them.

    Returns
    -------
    filled : object
        Of the type of X; an ndarray for arrays and lists, and if the fit saw such.

    Raises
    ------
    ValueError
        For a column in which a gap is left.
    """
    X, is_gap = as_table(X), missing[missing.any(axis=1)]
    values = values.astype(object)
    for j, (column, of_fit) in enumerate(zip(columns, fitted, strict=True)):
        like = of_fit
        if not missing[:, j].all():
            is_integer = column.is_integer or of_fit.is_integer
            like = column._replace(is_integer=is_integer)
        values[:, j] = [like.python_value(value) for value in values[:, j]]
    if not (is_frame(X) and of_fit.dtype):
        # A column without a known value has the type of what is filled in.
        are_numbers = all(
            column.numbers is not None
            or (missing[:, j].all() and all(isinstance(v, Real) for v in values[:, j]))
            for j, column in enumerate(columns)
        )
        filled = np.array(X, dtype=np.float64 if are_numbers else object)
        filled[missing] = values[is_gap]
        return filled
    # One column at a time; those without gaps are shared with X.
    filler = next(filler for attribute, filler in FILLERS if hasattr(X, attribute))
    X = X[:]
    for j in np.flatnonzero(missing.any(axis=0)):
        new_values = values[is_gap[:, j], j].tolist()
        X = _fill_column(filler, X, int(j), missing[:, j], new_values, fitted[j])
    return X


def _fill_column(filler, X, j, is_gap, new_values, of_fit):
    """Fill the gaps of a column in the first type in which none is left."""
    take, make, put = filler
    series = take(X, j)
    cells = (series.to_list if hasattr(series, "to_list") else series.to_pylist)()
    for sample, value in zip(np.flatnonzero(is_gap).tolist(), new_values, strict=True):
        cells[sample] = value
    # None: its own type. Last comes the type that the package gives the values.
    types = [None] * (not is_gap.all()) + [of_fit, Column(of_fit.name, "category")]
    for like in types:
        try:
            filled = make(series, cells, like)
            read = _reader_of(filled)
            if not _read_column(read, of_fit.name, filled).missing().any():
                return put(X, j, filled)
            error = f"a missing value is left in {filled.dtype}"
        except Exception as reason:  # of pandas, polars or pyarrow
            error = reason
    raise ValueError(
        f"Column {of_fit.name!r} of X cannot hold {new_values[0]!r}, which is filled "
        f"in ({error}). Convert it to the type that it had in fit."
    )


def _pandas_series(series, cells, like):
    import pandas

    dtype = series.dtype if like is None else like.dtype or None
    if like is not None and like.levels is not None:
        dtype = pandas.CategoricalDtype(like.levels, like.kind == "ordered")
    if hasattr(dtype, "categories") and not {*cells} <= {*dtype.categories}:
        raise ValueError(f"its categories are {dtype.categories.tolist()}")
    return pandas.Series(cells, series.index, dtype, series.name)


def _put_pandas(X, j, series):
    X.isetitem(j, series)
    return X


def _put_polars(X, j, series):
    return X.replace_column(j, series)


def _polars_series(series, cells, like):
    import polars

    dtype = series.dtype if like is None else getattr(polars, like.dtype, None)
    if like is not None and like.levels is not None:
        is_ordered = like.kind == "ordered"
        dtype = polars.Enum(like.levels) if is_ordered else polars.Categorical
    return polars.Series(series.name, cells, dtype=dtype)


def _arrow_array(chunked, cells, like):
    import pyarrow

    dtype = chunked.type if like is None else like.dtype or None
    if like is None and pyarrow.types.is_dictionary(dtype):
        array = pyarrow.array(cells, dtype.value_type).dictionary_encode().cast(dtype)
    elif like is not None and like.levels is not None:
        array = pyarrow.array(cells).dictionary_encode()
    else:
        array = pyarrow.array(cells, dtype)
    return pyarrow.chunked_array([array])


def _put_arrow(X, j, chunked):
    return X.set_column(j, X.schema.field(j).with_type(chunked.type), chunked)


# For each package: its data frames have this attribute; a column becomes a list of
# Python values; a list becomes a column, of the type of an earlier one or of a
# `Column`; a data frame gets a column.
FILLERS = (
    ("iloc", (lambda X, j: X.iloc[:, j], _pandas_series, _put_pandas)),
    ("get_columns", (lambda X, j: X.to_series(j), _polars_series, _put_polars)),
    ("schema", (lambda X, j: X.column(j), _arrow_array, _put_arrow)),
)
