"""Errors about data in words: of which column, and what to do."""

import re
from contextlib import contextmanager

from scipy import sparse
from sklearn.utils.validation import check_array

ENCODE_TEXT = "encode text first, for example with BooleanEncoder"


@contextmanager
def readable_errors(name):
    """Rewrite errors about text, pandas' NA and integers beyond float64."""
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
        if not is_of_text or ENCODE_TEXT in said:  # raised by a nested estimator
            raise
        said = re.sub(r"np\.str_\((.*)\)", r"\1", said)
        raise ValueError(
            f"{said}. Features and targets must be numbers: {ENCODE_TEXT}."
        ) from error


def column_names(X):
    """List the names of the columns of a frame or table; None for an array."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else [*names]


def column_of(given, number):
    """Name a column, by its name in a data frame and else by its number."""
    names = column_names(given)
    label = int(number) if names is None else names[number]
    return f"column {label!r}"


def check_n_features(n_features, expected, owner, subject="X has"):
    """Raise a ValueError unless samples have as many features as their reader."""
    if n_features != expected:
        raise ValueError(f"{subject} {n_features} features, but {owner} {expected}.")


@contextmanager
def named_columns(X, name, dtype):
    """Add the name of the first column that cannot be read to errors about a table.

    All errors of what reads it become ValueError or TypeError.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # also of pandas, polars or pyarrow
        column_name = _unreadable_column(X, dtype)
        is_plain = isinstance(error, ValueError | TypeError)
        if is_plain and (column_name is None or column_name[1:] in str(error)):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        where = name if column_name is None else f"{column_name} of {name}"
        raise kind(f"{where}: {error}") from error


def _unreadable_column(X, dtype):
    """Find the first column that is no column of numbers, or None."""
    if sparse.issparse(X) or len(getattr(X, "shape", ())) != 2:
        return None
    for number in range(X.shape[1]):
        column_name = f"C{column_of(X, number)[1:]}"
        try:
            if hasattr(X, "iloc"):
                column = X.iloc[:, [number]]
            elif hasattr(X, "column_names"):
                column = X.select([number])
            else:
                column = X[:, [number]]
            check_array(
                column, dtype=dtype, ensure_all_finite=False, ensure_min_samples=0
            )
        except Exception:
            return column_name
    return None
