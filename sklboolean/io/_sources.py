"""Batches of samples with labels and weights, from files, tables and iterables."""

from pathlib import Path

import numpy as np

from sklboolean._core.partitions import is_empty, load, split_collections

# Columns of 2**16 bytes would compete for the same lines of the processor's cache.
BATCH_SIZE = 2**16 + 64


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
    for batch in _tables(source, batch_size):
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


def _tables(source, batch_size):
    """Yield the batches of a source."""
    if isinstance(source, str | Path):
        source = _open_file(Path(source), batch_size)
    elif hasattr(source, "to_delayed"):  # a frame of Dask
        source = map(load, split_collections((source,)))
    elif isinstance(source, tuple):  # of frames or arrays of Dask
        source = map(load, split_collections(source))
    elif hasattr(source, "collect_batches"):  # a lazy frame of polars
        source = source.collect_batches(chunk_size=batch_size)
    elif hasattr(source, "iloc") or getattr(source, "ndim", 0) == 2:
        source = [source]
    elif hasattr(source, "iter_slices"):  # polars, whose export dies of some names
        source = source.iter_slices(batch_size)
    elif hasattr(source, "__arrow_c_stream__"):
        import pyarrow

        source = pyarrow.RecordBatchReader.from_stream(source)
    elif hasattr(source, "to_batches"):  # a data set of pyarrow
        source = source.to_batches(batch_size=batch_size)
    for batch in source:
        if hasattr(batch, "schema") and hasattr(batch, "num_rows"):
            import pyarrow

            table = pyarrow.table(batch)
            for first in range(0, table.num_rows, batch_size):
                yield table.slice(first, batch_size)
        else:
            yield batch


def _open_file(path, batch_size):
    if path.suffix == ".csv":
        from pyarrow import csv

        return csv.open_csv(path)
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.ParquetFile(path).iter_batches(batch_size)
    raise ValueError(
        f"{path} is neither a .parquet nor a .csv file. Pass batches, such as frames."
    )


def as_frame(X):
    """Make a table of pyarrow a data frame of pandas."""
    if not hasattr(X, "column_names"):
        return X
    try:
        return X.to_pandas()
    except Exception as error:
        if X.num_columns > 1:
            for number in range(X.num_columns):
                as_frame(X.select([number]))
        field = X.schema.field(0)
        raise ValueError(
            f"Column {field.name!r} of X holds {field.type}, which pandas cannot hold "
            f"({error}). Convert it, or leave it out."
        ) from error


def split_column(X, name, purpose="for labels or weights"):
    """Take one column out of a frame or table."""
    names = X.column_names if hasattr(X, "column_names") else getattr(X, "columns", ())
    if name not in list(names):
        raise ValueError(
            f"The data have no column {name!r} {purpose}. They have {list(names)}."
        )
    if hasattr(X, "iloc"):
        return X.drop(columns=name), X[name].to_numpy()
    if hasattr(X, "get_columns"):
        return X.drop(name), X[name].to_numpy()
    values = X.column(name).to_numpy()
    return X.drop_columns([name]), np.asarray(values)
