"""Batches of samples with labels and weights, from files, tables and iterables."""

# A source becomes an iterator of (X, y or None, sample_weight or None) in three steps:
# `_as_iterable` makes an iterable of whatever it is, `_read_batches` opens files and
# slices tables, `open_batches` takes out the columns of labels and weights. Nothing is
# read before it is asked for, and a batch is dropped before the next one is made.

from pathlib import Path

import numpy as np

from sklboolean._core.partitions import is_empty, load, split_collections

# Columns of 2**16 bytes would compete for the same lines of the processor's cache.
BATCH_SIZE = 2**16 + 64
CSV_TYPES = (
    " The first part of a .csv file tells the types of its columns. Give them: pass "
    "pyarrow.csv.open_csv(path, convert_options=pyarrow.csv.ConvertOptions("
    "column_types={column: type}))."
)


def open_batches(source, label, weight, batch_size):
    """Yield (X, y or None, sample_weight or None) from any source.

    Parameters
    ----------
    source : path, table or iterable
        As `BitTable.write` takes it.
    label, weight : str or None
        Columns of tables that hold them.
    batch_size : int
        Samples of a batch of files and tables.
    """
    for batch in _read_batches(source, batch_size):
        batch = batch if isinstance(batch, tuple) else (batch,)
        if not 1 <= len(batch) <= 3:
            raise ValueError(
                "A batch must be X, (X, y) or (X, y, sample_weight); got a tuple of "
                f"length {len(batch)}."
            )
        X, y, sample_weight = (*batch, None, None)[:3]
        if is_empty(X):  # as a partition of a filtered frame may be
            continue
        if label is not None:
            X, y = split_column(X, label)
        if weight is not None:
            X, sample_weight = split_column(X, weight)
        yield X, y, sample_weight


def can_be_read_again(source):
    """Test whether a second pass over a source yields its batches again."""
    return not hasattr(source, "__next__")


def _read_batches(source, batch_size):
    """Yield the batches of a source."""
    for batch in _as_iterable(source, batch_size):
        if isinstance(batch, str | Path):
            yield from _read_file(Path(batch), batch_size)
        elif hasattr(batch, "schema") and hasattr(batch, "num_rows"):
            yield from _slices(batch, batch_size)
        elif hasattr(batch, "__len__"):
            yield batch
        else:
            raise ValueError(
                f"A batch is a {type(batch).__name__}. Pass tables, arrays, or tuples "
                "(X, y) and (X, y, sample_weight)."
            )


def _as_iterable(source, batch_size):
    """Make an iterable of files, tables and batches."""
    if isinstance(source, str | Path):
        return [source]
    if isinstance(source, tuple):  # one batch, or frames or arrays of Dask
        partitions = split_collections(source)
        is_batch = partitions is source and _is_pair(source)
        return [source] if is_batch else map(load, partitions)
    # A container is known by what it can do; no package is imported to ask for its
    # type.
    for attribute, read in READERS:
        if hasattr(source, attribute):
            return read(source, batch_size)
    if getattr(source, "ndim", 0) == 2:
        return [source]
    if isinstance(source, dict) or not hasattr(source, "__iter__"):
        raise ValueError(
            f"source is a {type(source).__name__}, which holds no batches. Pass the "
            "path of a file, a table or frame, a relation of DuckDB such as "
            "connection.sql(query), or a list of batches."
        )
    return source


def _read_stream(source, _batch_size):
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(source)


# How containers are read that have a method; the first that fits.
READERS = (
    # A frame of Dask.
    ("to_delayed", lambda source, _: map(load, split_collections((source,)))),
    # A frame of pandas.
    ("iloc", lambda source, _: [source]),
    # A lazy frame of polars.
    ("collect_batches", lambda source, size: source.collect_batches(chunk_size=size)),
    # A frame of polars, whose export dies of some names.
    ("iter_slices", lambda source, size: source.iter_slices(size)),
    ("__arrow_c_stream__", _read_stream),
    # An opened Parquet file.
    ("iter_batches", lambda source, size: source.iter_batches(size)),
    # A scanner and a data set of pyarrow.
    ("to_reader", lambda source, _: source.to_reader()),
    ("to_batches", lambda source, size: source.to_batches(batch_size=size)),
)


def _is_pair(source):
    """Test whether a tuple is one batch: a table, and labels of one dimension."""
    if len(source) < 2 or len(getattr(source[0], "shape", ())) != 2:
        return False
    y = source[1]
    return len(y.shape) == 1 if hasattr(y, "shape") else not isinstance(y, str | tuple)


def _slices(table, batch_size):
    """Yield parts of a table of pyarrow."""
    import pyarrow

    table = pyarrow.table(table)
    for first in range(0, table.num_rows, batch_size):
        yield table.slice(first, batch_size)


def _read_file(path, batch_size):
    """Yield the batches of a file; what cannot be read is an error that names it."""
    readers = {".csv": _open_csv, ".parquet": _open_parquet}
    if path.suffix not in readers:
        raise ValueError(
            f"{path} is neither a .parquet nor a .csv file. Pass the files of a folder "
            "as a list or as pyarrow.dataset.dataset(folder), and others as batches."
        )
    try:
        for batch in readers[path.suffix](path, batch_size):
            yield from _slices(batch, batch_size)
    except FileNotFoundError:
        raise
    except (ValueError, OSError) as error:  # of pyarrow
        said = f"{path} cannot be read: {str(error).rstrip('.')}."
        raise ValueError(said + CSV_TYPES * (path.suffix == ".csv")) from error


def _open_csv(path, batch_size):
    """Open a text file, in which empty texts are missing values as in pandas."""
    from pyarrow import csv

    options = csv.ConvertOptions(strings_can_be_null=True)
    return csv.open_csv(path, convert_options=options)


def _open_parquet(path, batch_size):
    from pyarrow import parquet

    return parquet.ParquetFile(path).iter_batches(batch_size)


def as_frame(X):
    """Make a table of pyarrow a data frame of pandas.

    Integers with gaps become floats, as in pandas; those that floats would merge keep
    their type.
    """
    if not hasattr(X, "column_names"):
        return X
    try:
        frame = X.to_pandas()
    except Exception as error:
        if X.num_columns > 1:
            for number in range(X.num_columns):
                as_frame(X.select([number]))
        field = X.schema.field(0)
        raise ValueError(
            f"Column {field.name!r} of X holds {field.type}, which pandas cannot hold "
            f"({error}). Convert it, or leave it out."
        ) from error
    # pandas makes floats of integers with gaps, which merges those beyond 2**53.
    for number, column in enumerate(X.columns):
        if column.null_count and frame.dtypes.iloc[number].kind == "f":
            exact = _exact_integers(column, frame.iloc[:, number])
            frame.isetitem(number, exact)
    return frame


def _exact_integers(column, floats):
    """Read integers with gaps exactly where floats would merge some."""
    from pyarrow import types

    largest = np.fmax.reduce(np.abs(floats.to_numpy()), initial=0.0)
    if not types.is_integer(column.type) or largest < 2**53:
        return floats
    import pandas

    is_signed = types.is_signed_integer(column.type)
    dtype = pandas.Int64Dtype() if is_signed else pandas.UInt64Dtype()
    return column.to_pandas(types_mapper=lambda _: dtype)


def split_column(X, name):
    """Take the column of labels or weights out of a frame or table, as an array."""
    X, column = take_column(X, name, "for labels or weights")
    return X, np.asarray(column.to_numpy())


def take_column(X, name, purpose):
    """Take one column out of a frame or table."""
    names = X.column_names if hasattr(X, "column_names") else getattr(X, "columns", ())
    if name not in list(names):
        raise ValueError(
            f"The data have no column {name!r} {purpose}. They have {list(names)}."
        )
    if hasattr(X, "iloc"):
        return X.drop(columns=name), X[name]
    if hasattr(X, "get_columns"):
        return X.drop(name), X[name]
    return X.drop_columns([name]), X.column(name)
