"""Columns of data frames, tables and arrays, as numbers or as codes of levels.

Each kind of container is read through its own methods, so none of them is imported
before a user brings one. Text is coded by the container, which is several times as fast
as comparing Python strings.
"""

# Whatever the container, a column becomes a `Column`: float64 numbers with NaN for
# missing values, or integer codes into a list of levels with -1 for missing ones. Dates
# are numbers that keep their times, lists of tags know the samples that hold each tag.
# The steps:
#
# 1. `as_table` refuses lazy frames, and makes tables of exports and arrays of lists.
# 2. The names and the width are compared with those of the fit.
# 3. A reader for each package turns one column into numbers or codes (READERS).
# 4. `_number_column` and `_level_column` decide what the values are: integers beyond
#    2**53 are kept exactly, levels that are all numbers, or all dates, become these,
#    other nested values are refused.
#
# Errors of any package become a ValueError that names the column.

from collections import Counter
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from itertools import dropwhile
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from sklboolean._core.data_errors import column_names
from sklboolean._core.validation import (
    array_of_rows,
    check_stored,
    has_fitted_names,
    holds_dicts,
    is_missing,
    is_none,
    named_columns,
    readable_errors,
)
from sklboolean.preprocessing._times import DAY, read_objects, read_times, spans_of

NO_TIME = (
    "which is a time of day, a period, an interval, a category of dates, or a date "
    "beside other values. Make all of the column dates or durations, for example by "
    "pandas.to_datetime or .dt.to_timestamp(), or numbers."
)
DATE, ZONED, DURATION, TAGS = "date", "date in UTC", "duration", "tags"
# Kinds that only the type of a column says, and what such a column holds.
BY_TYPE = {
    DATE: "dates without a time zone",
    ZONED: "dates with a time zone",
    DURATION: "durations",
    TAGS: "lists of text",
}
TIMES = (date, np.datetime64), (timedelta, np.timedelta64)
LISTS = (tuple, list, set, frozenset, np.ndarray)
NESTED = (*LISTS, dict, bytearray, memoryview)
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
    kind : {"boolean", "number", "category", "ordered"} or a key of ``BY_TYPE``
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
    times : ndarray of shape (n_samples,), datetime64[us], or None
        Times of dates, in UTC, rounded down.
    tags : tuple of ndarray of int
        Of lists of text the samples that hold each level.
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
    times: np.ndarray | None = None
    tags: tuple = ()

    def missing(self):
        """Mark the samples whose value is missing."""
        return np.isnan(self.numbers) if self.codes is None else self.codes < 0

    def is_empty(self):
        """Test whether all values are missing in a column without a type."""
        return self.numbers is None and not self.levels

    def counts(self, weights):
        """Sum up the weights of the samples of each level."""
        if self.kind == TAGS:
            return [float(weights[samples].sum()) for samples in self.tags]
        # Missing values have the code -1.
        counts = np.bincount(self.codes + 1, weights, len(self.levels) + 1)
        return counts[1:].tolist()

    def check_kind(self, kind, where):
        """Refuse a type that says another kind than that of ``where``."""
        kinds = {self.kind, kind}
        if len(kinds) > 1 and kinds & {*BY_TYPE} and not self.missing().all():
            here, there = (BY_TYPE.get(k, "numbers or text") for k in (self.kind, kind))
            raise ValueError(
                f"Column {self.name!r} of X holds {here}, but {where} {there}. Convert "
                "it: pandas.to_datetime makes dates of text, .dt.tz_localize gives "
                "them a time zone, and .dt.tz_convert(None) takes it."
            )

    def measured_from(self, origin, column_at):
        """Replace the numbers of dates by the days since a date.

        Parameters
        ----------
        origin : float or (str, int) or None
            Microseconds since 1970, or the name and the number of a column. None: the
            numbers stay.
        column_at : callable
            Reads the column of a number.
        """
        if origin is None or self.missing().all():
            return self
        if self.kind not in (DATE, ZONED):
            raise ValueError(
                f"reference holds the column {self.name!r}, which holds "
                f"{BY_TYPE.get(self.kind, 'numbers or text')}, not dates. Convert it, "
                "for example by pandas.to_datetime."
            )
        if isinstance(origin, tuple):
            other = column_at(origin[1])
            other.check_kind(self.kind, f"reference[{self.name!r}] must hold")
            origin = other.numbers if other.kind == self.kind else np.nan
        return self._replace(numbers=(self.numbers - origin) / DAY)

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
        Samples of shape (n_samples, n_features). Other objects that export the Arrow
        stream or array interface, such as record batches and DuckDB relations, are
        tables too.
    reset : bool
        Whether this is the fit.

    Returns
    -------
    columns : list of Column

    Raises
    ------
    ValueError
        For infinity, values that cannot be compared, and what is no table.
    """
    X = as_table(X)
    if is_frame(X):
        # Equal names need no check, which would take longer than reading a row.
        if reset or not has_fitted_names(estimator, X):
            X = with_names(X)
            validate_data(estimator, X, reset=reset, skip_check_array=True)
        _check_size(X.shape, estimator)
        names, series = list(X.columns), [X]
        if hasattr(X, "iloc"):
            series = [X.iloc[:, j] for j in range(len(names))]
        elif hasattr(X, "get_columns"):
            series = X.get_columns()
        else:
            names, series = X.column_names, X.columns
        return [read_series(*pair) for pair in zip(names, series, strict=True)]
    if getattr(getattr(X, "dtype", None), "kind", "") not in ("m", "M"):
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
            "X is a lazy data frame: pass X.compute(), or its partitions, one after "
            "the other."
        )
    if isinstance(X, np.ma.MaskedArray):
        values = X.data.astype(object)
        values[np.ma.getmaskarray(X)] = None
        return values
    if isinstance(X, list | tuple) and not holds_dicts(X):
        array = array_of_rows(X, "X")
        if array.ndim > 2:
            raise ValueError("X has columns of lists: make it a data frame.")
        return np.asarray(X, dtype=object) if array.dtype.kind in "USOf" else X
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
    cell = np.fromiter([value], object, count=1)
    return _read_column(_read_array, name, cell)


def is_frame(X):
    """Test whether X is a data frame of pandas or polars, or a table of pyarrow."""
    return hasattr(X, "columns") and hasattr(X, "shape") and len(X.shape) == 2


def name_text(name):
    """Write the name of a column, such as a year or a tuple of levels, as text."""
    return "_".join(map(str, name)) if isinstance(name, tuple) else str(name)


def with_names(X):
    """Make the names of a data frame text, but those that only count its columns."""
    names = column_names(X)
    are_texts = all(isinstance(name, str) for name in names)
    if not are_texts and names != [*range(len(names))]:
        names = [*map(name_text, names)]
        X = X.set_axis(_pandas_names(tuple(names)), axis=1)
    name, count = max(Counter(names).items(), key=lambda item: item[1], default=("", 1))
    if count > 1:
        raise ValueError(
            f"X has {count} columns named {name!r}. Give each column its own name."
        )
    return X


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
    if hasattr(dtype, "pyarrow_dtype") and dtype.kind not in "biufU":
        return _read_arrow(name, series.array.__arrow_array__())
    if dtype.kind in "mM":
        is_zoned = hasattr(dtype, "tz")
        values = series.dt.tz_convert(None) if is_zoned else series
        return _time_column(name, *read_times(values.to_numpy()), is_zoned)
    if hasattr(dtype, "freq"):
        raise ValueError(f"Column {name!r} of X holds {dtype}, {NO_TIME}")
    if dtype.kind in "biuf":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return _number_column(name, numbers, dtype.kind, series.tolist)
    if dtype.kind == "c":
        raise ValueError(f"Column {name!r} of X: Complex data not supported.")
    if hasattr(dtype, "categories"):
        codes, levels = series.cat.codes.to_numpy(), series.cat.categories.tolist()
        return _declared_column(name, codes, levels, dtype.ordered)
    if dtype.kind == "O" and _are_lists(series):
        return _list_column(name, series)
    # Objects and text: pandas codes missing values as -1.
    codes, levels = series.factorize()
    return _level_column(name, codes, levels.tolist())


def _read_polars(name, series):
    import polars

    dtype = series.dtype
    if dtype.is_float() or dtype.is_integer() or dtype == polars.Boolean:
        kind = "f" if dtype.is_float() else "i" if dtype.is_integer() else "b"
        numbers = series.cast(polars.Float64).to_numpy()
        return _number_column(name, numbers, kind, series.to_list)
    if dtype in (polars.Date, polars.Datetime, polars.Duration):
        is_zoned = getattr(dtype, "time_zone", None) is not None
        return _time_column(name, *read_times(series.to_numpy()), is_zoned)
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
        is_interval = types.is_interval(chunked.type)
        values = spans_of(chunked) if is_interval else chunked.to_numpy()
        if values.dtype.kind not in "mM":
            raise ValueError(f"Column {name!r} of X holds {chunked.type}, {NO_TIME}")
        is_zoned = getattr(chunked.type, "tz", None) is not None
        return _time_column(name, *read_times(values), is_zoned)
    if types.is_boolean(chunked.type):
        numbers = chunked.cast(pyarrow.int8()).cast(pyarrow.float64()).to_numpy()
        return _number_column(name, numbers, "b")
    is_integer = types.is_integer(chunked.type)
    if is_integer or types.is_floating(chunked.type):
        numbers = chunked.cast(pyarrow.float64(), safe=False).to_numpy()
        kind = "i" if is_integer else "f"
        return _number_column(name, numbers, kind, chunked.to_pylist)
    if types.is_nested(chunked.type):
        values = np.fromiter(chunked.to_pylist(), object, count=len(chunked))
        return _read_array(name, values)
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
    if values.dtype.kind in "mM":
        return _time_column(name, *read_times(values))
    if values.dtype.kind == "O" and _are_lists(values):
        return _list_column(name, values)
    # Equal values share a code; their first one is the level.
    index = {}
    codes = [index.setdefault(value, len(index)) for value in values.tolist()]
    return _level_column(name, np.array(codes), list(index))


READERS = (("iloc", _read_pandas), ("rechunk", _read_polars), ("chunks", _read_arrow))


def read_series(name, series):
    """Read a column of a data frame."""
    read = next(reader for attribute, reader in READERS if hasattr(series, attribute))
    return _read_column(read, name, series)


def _number_column(name, numbers, kind, list_values=None):
    """Make a column of numbers; integers beyond 2**53 are read once more, exactly."""
    is_integer = kind in "biu"
    if is_integer and np.fmax.reduce(np.abs(numbers), initial=0.0) >= LARGEST_EXACT:
        values = list_values()
        return _read_array(name, np.fromiter(values, object, count=len(values)))
    return Column(name, "boolean" if kind == "b" else "number", numbers, is_integer)


def _declared_column(name, codes, levels, is_ordered=False):
    """Make a column of a type that says that it is a category."""
    codes, levels = _check_levels(name, *_drop_missing(codes, levels))
    kind = "ordered" if is_ordered else "category"
    return Column(name, kind, codes=codes, levels=levels, is_declared=True)


def _time_column(name, numbers, times, is_zoned=False):
    """Make a column of dates or durations of what `read_times` returns."""
    if times.dtype.kind == "m":
        return Column(name, DURATION, numbers)
    return Column(name, ZONED if is_zoned else DATE, numbers, times=times)


def _are_lists(values):
    """Test whether the first value that is not missing is a list."""
    return isinstance(next(dropwhile(is_none, values), None), LISTS)


def _list_column(name, lists):
    """Make a column of lists of text, of which None is no tag."""
    places, is_gap = {}, np.zeros(len(lists), dtype=bool)
    for sample, tags in enumerate(lists):
        if isinstance(tags, LISTS):
            for tag in {*tags} - {None}:
                places.setdefault(tag, []).append(sample)
        else:
            is_gap[sample] = is_none(tags)
            if not is_gap[sample]:
                raise TypeError(f"{tags!r} beside lists")
    if not all(isinstance(tag, str) for tag in places):
        raise TypeError("lists of other things than text")
    levels = sorted(map(str, places))
    tags = tuple(np.array(places[level], dtype=np.intp) for level in levels)
    return Column(name, TAGS, codes=-1 * is_gap, levels=levels, tags=tags)


def _level_column(name, codes, levels):
    """Make a column of codes; levels of numbers or of dates make it one of these."""
    codes, levels = _drop_missing(codes, levels)
    if not levels or not any(all(isinstance(v, t) for v in levels) for t in TIMES):
        return _plain_column(name, *_check_levels(name, codes, levels))
    numbers, times, is_zoned = read_objects(levels)
    # Code -1, a missing value, takes the last entry.
    times = np.append(times, times.dtype.type("NaT"))[codes]
    return _time_column(name, np.append(numbers, np.nan)[codes], times, is_zoned)


def _decimal_places(levels):
    """Count the decimal places of Decimals; None if there are none."""
    decimals = [v for v in levels if isinstance(v, Decimal) and v.is_finite()]
    exponents = [v.as_tuple().exponent for v in decimals]
    return max(0, -min(exponents)) if exponents else None


def _plain_column(name, codes, levels):
    """Make a column of codes; levels that are all numbers make it one of numbers."""
    # From here on only the distinct values are looked at.
    are_numbers = all(isinstance(v, Real | Decimal | np.bool_) for v in levels)
    if not levels or not are_numbers:
        return Column(name, "category", codes=codes, levels=levels)
    if all(isinstance(level, bool | np.bool_) for level in levels):
        return Column(name, "boolean", np.array([*levels, np.nan])[codes], True)
    are_integers = all(isinstance(level, Integral | np.bool_) for level in levels)
    places = _decimal_places(levels)
    numbers = np.array([*map(float, levels), np.nan])
    if are_integers and np.nanmax(np.abs(numbers)) >= LARGEST_EXACT:
        exact = np.array([*levels, levels[0]])
        if exact.dtype.kind in "iu":
            return Column(name, "number", exact[codes], True, codes, levels)
    if places is not None:  # thresholds of floats serve them, and levels are exact
        exact = {"codes": codes, "levels": levels, "decimals": places}
        return Column(name, "number", numbers[codes], **exact)
    if len(np.unique(numbers[:-1])) < len(levels):
        return Column(name, "number", None, are_integers, codes, levels)
    return Column(name, "number", numbers[codes], are_integers)


def _drop_missing(codes, levels):
    """Renumber the levels behind those that are missing values."""
    missing = is_missing(np.fromiter(levels, dtype=object, count=len(levels)))
    if missing.any():
        new_codes = np.where(missing, -1, np.cumsum(~missing) - 1)
        codes = np.append(new_codes, -1)[codes]
        levels = [v for v, gone in zip(levels, missing, strict=True) if not gone]
    return codes, levels


def _check_levels(name, codes, levels):
    """Decode bytes, and refuse other objects."""
    unusual_types = set(map(type, levels)) - PLAIN_TYPES
    for level in levels if unusual_types else ():
        end = getattr(level, "left", level)  # of an interval
        is_time = isinstance(end, date | time | timedelta | np.datetime64)
        # Periods of pandas have a frequency.
        if is_time or isinstance(end, np.timedelta64) or hasattr(end, "freqstr"):
            raise ValueError(f"Column {name!r} of X holds {level!r}, {NO_TIME}")
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
