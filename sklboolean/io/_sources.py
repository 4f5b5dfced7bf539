"""Batches of samples with labels and weights, from files, tables and iterables."""

# A source becomes an iterator of (X, y or None, sample_weight or None) in three steps:
# `_as_iterable` makes an iterable of whatever it is, `_read_batches` opens files, here
# or in an object store, and slices tables, `open_batches` takes out the columns of
# labels and weights. Nothing is read before it is asked for, and a batch is dropped
# before the next one is made.

import re
from pathlib import Path

import numpy as np

from sklboolean._core.data_errors import column_names
from sklboolean._core.partitions import is_empty, load, split_collections, take_column
from sklboolean._core.validation import warn_user

# Columns of 2**16 bytes would compete for the same lines of the processor's cache.
BATCH_SIZE = 2**16 + 64
# What a .csv file does not tell.
OPEN_CSV = "Pass pyarrow.csv.open_csv(path, {})."
TYPES = OPEN_CSV.format(
    "convert_options=pyarrow.csv.ConvertOptions(column_types={column: type})"
)
DELIMITER = "parse_options=pyarrow.csv.ParseOptions(delimiter={!r})"
NOT_UTF8 = "not in UTF-8. " + OPEN_CSV.format(
    "read_options=pyarrow.csv.ReadOptions(encoding=name)"
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
        if _is_file(batch):
            yield from _read_file(batch, batch_size)
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
    if _is_file(source):
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


def _is_file(source):
    """Test for a path, a URI, or a pair of a file system and a path."""
    if not isinstance(source, tuple):
        return isinstance(source, str | Path)
    if len(source) != 2 or not isinstance(source[1], str | Path):
        return False
    # A file system of pyarrow, or of fsspec.
    return hasattr(source[0], "open_input_file") or hasattr(source[0], "protocol")


def _read_file(source, batch_size):
    """Yield the batches of a file; what cannot be read is an error that names it."""
    uri = str(source[-1] if isinstance(source, tuple) else source)
    path = re.sub(r"(?<=://)[^/]*@|\?.*", "", uri) if "://" in uri else uri
    match = re.search(r"\.(parquet|csv)(\.gz|\.bz2|\.zst)?$", path)
    if match is None or (match[1] == "parquet" and match[2]):
        raise ValueError(
            f"{path} is neither a .parquet nor a .csv file (or .csv.gz, .csv.bz2, "
            ".csv.zst). Pass the files of a folder as a list or as "
            "pyarrow.dataset.dataset(folder), and others as batches."
        )
    read = {"parquet": _read_parquet, "csv": _read_csv}[match[1]]
    try:
        for batch in read(*_locate(source), batch_size):
            yield from _slices(batch, batch_size)
    except FileNotFoundError:
        raise
    except (ValueError, OSError, ImportError) as error:  # of pyarrow, of a store
        said = f"{path} cannot be read: {str(error).rstrip('.')}."
        if "conversion error" in said:
            said += f" The first part of the file tells the types of columns. {TYPES}"
        raise ValueError(said) from error


def _locate(source):
    """Return the file system of pyarrow that holds a file, and the path there."""
    from pyarrow import fs

    if isinstance(source, tuple):
        store, path = source
    elif "://" not in str(source):
        return fs.LocalFileSystem(), str(source)
    else:
        if source.startswith(("gs:", "gcs:")) and "retry_limit" not in source:
            # By default it tries for a quarter of an hour.
            source += "&?"["?" not in source] + "retry_limit_seconds=60"
        try:
            return fs.FileSystem.from_uri(source)
        except ValueError:  # a store that only fsspec knows
            from fsspec.core import url_to_fs

            store, path = url_to_fs(source)
    if not hasattr(store, "open_input_file"):
        store = fs.PyFileSystem(fs.FSSpecHandler(store))
    return store, str(path)


def _read_csv(store, path, _batch_size):
    """Yield the batches of a text file.

    A missing number may be written as NA or null. Those words are texts in a column of
    texts, where only the empty text is missing, as in pandas.
    """
    from pyarrow import csv, string, types

    with store.open_input_stream(path) as file:
        _check_text(file.read(2**16))
    with csv.open_csv(store.open_input_stream(path)) as reader:
        schema = reader.schema
    if "" in schema.names:
        warn_user(
            f"Column {schema.names.index('')} of {path} has no name. pandas writes an "
            "index so: write the file by to_csv(path, index=False)."
        )
    for field in schema:
        if types.is_binary(field.type):
            raise ValueError(f"column {field.name!r} is {NOT_UTF8}")
    # A column that begins with such words may hold texts.
    empty = [field.name for field in schema if types.is_null(field.type)]
    options = csv.ConvertOptions(column_types=dict.fromkeys(empty, string()))
    with csv.open_csv(store.open_input_stream(path), convert_options=options) as reader:
        for batch in reader:
            yield _mark_missing(batch, empty, options.null_values)


def _check_text(head):
    """Refuse the first bytes of what is no text with commas."""
    line = head.partition(b"\n")[0].decode(errors="replace")
    if b"\0" in head or "\ufffd" in line:
        raise ValueError(f"it is {NOT_UTF8}")
    other = re.search(r"[;\t|]", line)
    if other and "," not in line:
        advice = OPEN_CSV.format(DELIMITER.format(other[0]))
        raise ValueError(f"its first line has no comma, but {other[0]!r}. {advice}")


def _mark_missing(batch, empty, words):
    """Make empty texts missing, and a column without any value one of no type."""
    import pyarrow
    from pyarrow import compute, types

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if types.is_string(column.type):
            column = compute.if_else(compute.equal(column, ""), None, column)
        if name in empty:
            texts = column.drop_null().unique().to_pylist()
            if not texts:
                column = pyarrow.nulls(len(column))
            if value := next((text for text in texts if text not in words), None):
                raise ValueError(
                    f"column {name!r} begins without a value, and {value!r} comes "
                    f"later. {TYPES}"
                )
        columns.append(column)
    return pyarrow.table(columns, names=batch.schema.names)


def _read_parquet(store, path, batch_size):
    from pyarrow import parquet

    with parquet.ParquetFile(store.open_input_file(path)) as file:
        yield from file.iter_batches(batch_size)


def select_columns(X, names):
    """Take the columns that a model knows by name; what it misses is its error."""
    present = column_names(X)
    if names is None or present is None:
        return X
    shared = [name for name in names if name in present]
    if not shared or shared == present:
        return X
    return X.select(shared) if hasattr(X, "select") else X[shared]


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
    X, column = take_column(X, name)
    return X, np.asarray(column.to_numpy())
