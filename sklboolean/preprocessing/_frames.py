"""Columns of data frames, tables and arrays, as numbers or as codes of levels.

Each kind of container is read through its own methods, so none of them is imported
before a user brings one. Text is coded by the container, which is several times as fast
as comparing Python strings.
"""

from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from sklboolean._core.validation import check_stored, is_missing, readable_errors

NO_DATES = (
    "which is a date or a duration. Turn it into numbers first, for example the year, "
    "the month, the weekday or the days since an event."
)


class Column(NamedTuple):
    """One column of a data set: numbers, or codes of levels.

    Parameters
    ----------
    name : str or int
        Its name, or its number where columns have no names.
    kind : {"boolean", "number", "category"}
        What its type says.
    numbers : ndarray of shape (n_samples,), dtype float64, or None
        NaN where a value is missing. None for categories.
    is_integer : bool
        Whether the type holds integers or Booleans only.
    codes : ndarray of shape (n_samples,), int, or None
        Number of the level of each sample, -1 where it is missing.
    levels : list or None
        Distinct values in any order. Not all need occur.
    is_declared : bool
        Whether the type of the column says that it is a category.
    """

    name: object
    kind: str
    numbers: np.ndarray | None = None
    is_integer: bool = False
    codes: np.ndarray | None = None
    levels: list | None = None
    is_declared: bool = False

    def missing(self):
        """Mark the samples whose value is missing."""
        return self.codes < 0 if self.numbers is None else np.isnan(self.numbers)

    def as_category(self):
        """Code the distinct numbers as levels."""
        if self.numbers is None:
            return self
        known = ~np.isnan(self.numbers)
        levels, found = np.unique(self.numbers[known], return_inverse=True)
        codes = np.full(len(known), -1)
        codes[known] = found
        as_python = int if self.is_integer else float
        levels = [as_python(level) for level in levels.tolist()]
        return self._replace(kind="category", numbers=None, codes=codes, levels=levels)


def read_columns(estimator, X, *, reset):
    """Check a data set for an estimator and read its columns.

    Parameters
    ----------
    estimator : object
        Gets, or is compared by, ``n_features_in_`` and ``feature_names_in_``.
    X : pandas or polars data frame, pyarrow table, or array-like
        Of shape (n_samples, n_features).
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
    if hasattr(X, "collect_schema") and not hasattr(X, "get_columns"):
        raise ValueError("X is a lazy data frame: pass X.collect().")
    if is_frame(X):
        if hasattr(X, "dtypes"):
            _refuse_dates(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        _check_size(X.shape, estimator)
        names, series = list(X.columns), [X]
        if hasattr(X, "iloc"):
            series = [X.iloc[:, j] for j in range(len(names))]
        elif hasattr(X, "get_columns"):
            series = X.get_columns()
        else:
            names, series = X.column_names, X.columns
        read = next(
            reader for attribute, reader in READERS if hasattr(series[0], attribute)
        )
        return [_column(read, *pair) for pair in zip(names, series, strict=True)]
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "USO":
        X = np.asarray(X, dtype=object)  # numpy would turn numbers beside text to text
    X = check_stored(X, "X")
    X = validate_data(
        estimator, X, reset=reset, dtype=None, ensure_all_finite=False
    )  # fmt: skip
    return [_column(_read_array, j, X[:, j]) for j in range(X.shape[1])]


def is_frame(X):
    """Test whether X is a data frame of pandas or polars, or a table of pyarrow."""
    return hasattr(X, "columns") and hasattr(X, "shape") and len(X.shape) == 2


def _refuse_dates(X):
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        is_time = getattr(dtype, "is_temporal", bool)()  # polars
        if is_time or getattr(dtype, "kind", "") in ("m", "M"):
            raise ValueError(f"Column {name!r} of X holds {dtype}, {NO_DATES}")


def _check_size(shape, estimator):
    for size, word in zip(shape, ("sample", "feature"), strict=True):
        if not size:
            raise ValueError(
                f"Found array with 0 {word}(s) (shape={shape}) while a minimum of 1 is "
                f"required by {type(estimator).__name__}."
            )


def _column(read, name, values):
    try:
        with readable_errors(f"Column {name!r} of X"):
            column = read(name, values)
    except TypeError as error:
        raise ValueError(
            f"Column {name!r} of X holds values that are neither numbers nor text, "
            "such as lists. Turn them into numbers or text first."
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
        return _numbers(name, numbers, dtype.kind)
    if dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    if hasattr(dtype, "categories"):
        return Column(
            name, "category", codes=series.cat.codes.to_numpy(),
            levels=series.cat.categories.tolist(), is_declared=True,
        )  # fmt: skip
    codes, levels = series.factorize()
    return _levels(name, codes, levels.tolist())


def _read_polars(name, series):
    import polars

    if series.dtype.is_numeric() or series.dtype == polars.Boolean:
        kind = "b" if series.dtype == polars.Boolean else "f"
        kind = "i" if series.dtype.is_integer() else kind
        return _numbers(name, series.cast(polars.Float64).to_numpy(), kind)
    if series.dtype == polars.Object:
        return _read_array(name, series.to_numpy())
    if series.dtype == polars.Null:
        return Column(name, "category", codes=np.full(len(series), -1), levels=[])
    if series.dtype.is_nested():
        raise TypeError(f"{series.dtype}")
    text = series.cast(polars.String)
    levels = text.unique().drop_nulls().to_list()
    codes = text.cast(polars.Enum(levels)).to_physical().cast(polars.Int64)
    return Column(
        name, "category", codes=codes.fill_null(-1).to_numpy(), levels=levels,
        is_declared=series.dtype != polars.String,
    )  # fmt: skip


def _read_arrow(name, chunked):
    import pyarrow
    from pyarrow import types

    if types.is_temporal(chunked.type):
        raise ValueError(f"Column {name!r} of X holds {chunked.type}, {NO_DATES}")
    if types.is_boolean(chunked.type):
        numbers = chunked.cast(pyarrow.int8()).cast(pyarrow.float64()).to_numpy()
        return _numbers(name, numbers, "b")
    is_integer = types.is_integer(chunked.type)
    if is_integer or types.is_floating(chunked.type) or types.is_decimal(chunked.type):
        numbers = chunked.cast(pyarrow.float64(), safe=False).to_numpy()
        return _numbers(name, numbers, "i" if is_integer else "f")
    if types.is_nested(chunked.type):
        raise TypeError(f"{chunked.type}")
    values = chunked.combine_chunks()
    if types.is_null(chunked.type):
        return Column(name, "category", codes=np.full(len(chunked), -1), levels=[])
    is_declared = types.is_dictionary(chunked.type)
    if not is_declared:
        values = values.dictionary_encode()
    codes = values.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy()
    column = _levels(name, codes, values.dictionary.to_pylist(), values_are_levels=True)
    return column._replace(is_declared=is_declared)


def _read_array(name, values):
    if values.dtype.kind in "biuf":
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        return _numbers(name, numbers, values.dtype.kind)
    index = {}
    codes = [index.setdefault(value, len(index)) for value in values.tolist()]
    return _levels(name, np.array(codes), list(index))


READERS = (("iloc", _read_pandas), ("rechunk", _read_polars), ("chunks", _read_arrow))


def _numbers(name, numbers, kind):
    return Column(
        name, "boolean" if kind == "b" else "number", numbers, is_integer=kind in "biu"
    )


def _levels(name, codes, levels, *, values_are_levels=False):
    """Make a column of codes; levels that are all numbers make it one of numbers."""
    missing = is_missing(np.fromiter(levels, dtype=object, count=len(levels)))
    if missing.any():
        place = np.where(missing, -1, np.cumsum(~missing) - 1)
        codes = np.append(place, -1)[codes]
        levels = [v for v, gone in zip(levels, missing, strict=True) if not gone]
    for level in levels:
        if isinstance(level, date | time | timedelta | np.datetime64 | np.timedelta64):
            raise ValueError(f"Column {name!r} of X holds {level!r}, {NO_DATES}")
    are_numbers = all(isinstance(v, Real | Decimal | np.bool_) for v in levels)
    if values_are_levels or not levels or not are_numbers:
        return Column(name, "category", codes=codes, levels=levels)
    kinds = {np.asarray(level).dtype.kind for level in levels}
    numbers = np.array([*map(float, levels), np.nan])[codes]
    is_boolean = kinds == {"b"}
    return Column(
        name, "boolean" if is_boolean else "number", numbers, kinds <= set("biu")
    )


def frame_like(X, features, names):
    """Make features a data frame of the package of X.

    Parameters
    ----------
    X : data frame or table
        A pandas data frame gives its index, too; a table of pyarrow gives an array.
    features : ndarray of shape (n_samples, n_features_out)
    names : ndarray of shape (n_features_out,)

    Returns
    -------
    frame : data frame or ndarray
        The one of pandas is a single block that shares the memory of ``features``.
    """
    if hasattr(X, "iloc"):
        import pandas

        return pandas.DataFrame(features, index=X.index, columns=names, copy=False)
    if hasattr(X, "get_columns"):
        import polars

        return polars.DataFrame(features, schema=names.tolist(), orient="row")
    # scikit-learn's set_output cannot make a data frame of a table of pyarrow.
    return features


def fill_missing(X, columns, missing, incomplete, values):
    """Copy a data set with its missing values filled in.

    Parameters
    ----------
    X : data frame, table or array-like
        As `read_columns` takes it.
    columns : list of Column
        Its columns.
    missing : ndarray of shape (n_samples, n_features), dtype bool
        Cells that are missing.
    incomplete : ndarray of shape (n_incomplete,), int
        Samples with missing cells.
    values : ndarray of shape (n_incomplete, n_features)
        Values for these samples; only those of missing cells are used.

    Returns
    -------
    filled : object
        Of the type of X; an ndarray for arrays and lists.
    """
    if not is_frame(X):
        are_numbers = all(column.numbers is not None for column in columns)
        filled = np.array(X, dtype=np.float64 if are_numbers else object)
        filled[incomplete] = np.where(missing[incomplete], values, filled[incomplete])
        return filled
    fill = next(fill for attribute, fill in FILLERS if hasattr(X, attribute))
    for j, column in enumerate(columns):
        places = np.flatnonzero(missing[:, j])
        if len(places):
            found = values[np.searchsorted(incomplete, places), j].tolist()
            if column.kind == "boolean":
                found = [bool(value) for value in found]
            elif column.is_integer:
                found = [round(value) for value in found]
            X = fill(X, j, places, found)
    return X


def _fill_pandas(X, j, places, found):
    series = X.iloc[:, j].copy()
    series.iloc[places] = found
    X = X.copy(deep=False)
    X.isetitem(j, series)
    return X


def _fill_polars(X, j, places, found):
    import polars

    values = X.to_series(j)
    dtype, name = values.dtype, values.name
    values = values.to_list()
    for place, value in zip(places.tolist(), found, strict=True):
        values[place] = value
    series = polars.Series(name, values, dtype=dtype)
    return X.clone().replace_column(j, series)


def _fill_arrow(X, j, places, found):
    import pyarrow

    values, field = X.column(j).to_pylist(), X.schema.field(j)
    for place, value in zip(places.tolist(), found, strict=True):
        values[place] = value
    if pyarrow.types.is_dictionary(field.type):
        array = pyarrow.array(values, field.type.value_type)
        return X.set_column(j, field, array.dictionary_encode().cast(field.type))
    return X.set_column(j, field, pyarrow.array(values, field.type))


FILLERS = (
    ("iloc", _fill_pandas),
    ("get_columns", _fill_polars),
    ("schema", _fill_arrow),
)
