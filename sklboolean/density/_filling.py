"""Data frames with their missing values filled in, of the types that they had."""

import numpy as np

from sklboolean.preprocessing._frames import Column, as_table, is_frame, read_series


def column_types(X, columns):
    """Take the values out of the columns of X, and name their types in a frame.

    A category keeps the levels that its type declares.
    """
    X, dtypes = as_table(X), [""] * len(columns)
    if is_frame(X):
        dtypes = X.schema.types if hasattr(X, "column_names") else X.dtypes
    types = []
    for column, dtype in zip(columns, dtypes, strict=True):
        empty = column._replace(numbers=None, codes=None, dtype=str(dtype))
        types.append(empty if column.is_declared else empty._replace(levels=None))
    return types


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
        It has the type of X; an ndarray for arrays and lists, and if the fit saw such.

    Raises
    ------
    ValueError
        For a column in which a gap is left.
    """
    X, is_gap = as_table(X), missing[missing.any(axis=1)]
    values = values.astype(object)
    for j, (column, of_fit) in enumerate(zip(columns, fitted, strict=True)):
        is_integer = column.is_integer or of_fit.is_integer
        is_empty = missing[:, j].all()
        like = of_fit if is_empty else column._replace(is_integer=is_integer)
        values[:, j] = [like.python_value(value) for value in values[:, j]]
    if not (is_frame(X) and of_fit.dtype):
        are_numbers = all(each.kind in ("boolean", "number") for each in fitted)
        filled = np.array(X, dtype=np.float64 if are_numbers else object)
        filled[missing] = values[is_gap]
        return filled
    # One column at a time; those without gaps are shared with X.
    take, make, put = next(each for name, *each in FILLERS if hasattr(X, name))
    X = X[:]
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        new_values = values[is_gap[:, j], j].tolist()
        column = _filled(make, take(X, j), missing[:, j], new_values, fitted[j])
        X = put(X, j, column)
    return X


def _filled(make, series, is_gap, new_values, of_fit):
    """Fill the gaps of a column in the first type in which none is left."""
    cells = (series.to_list if hasattr(series, "to_list") else series.to_pylist)()
    for sample, value in zip(np.flatnonzero(is_gap).tolist(), new_values, strict=True):
        cells[sample] = value
    # None: its own type. Last comes the type that the package gives the values.
    types = [None] * (not is_gap.all()) + [of_fit, Column(of_fit.name, "category")]
    for like in types:
        try:
            filled = make(series, cells, like)
            if not read_series(of_fit.name, filled).missing().any():
                return filled
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
    if like is not None and like.levels is not None:
        return pyarrow.chunked_array([pyarrow.array(cells).dictionary_encode()])
    return pyarrow.chunked_array([pyarrow.array(cells, dtype)])


def _put_arrow(X, j, chunked):
    return X.set_column(j, X.schema.field(j).with_type(chunked.type), chunked)


# For each package: its data frames have this attribute; a column becomes a list of
# Python values; a list becomes a column, of the type of an earlier one or of a
# `Column`; a data frame gets a column.
FILLERS = (
    ("iloc", lambda X, j: X.iloc[:, j], _pandas_series, _put_pandas),
    (
        "rows",
        lambda X, j: X[:, j],
        _polars_series,
        lambda X, *at: X.replace_column(*at),
    ),
    ("schema", lambda X, j: X.column(j), _arrow_array, _put_arrow),
)
