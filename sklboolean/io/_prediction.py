"""Predictions of a fitted model in batches, from any source to a Parquet file."""

# Batches are read, predicted and written one by one to a draft (`_draft.py`), which
# becomes the target when all is written; a failure leaves no file.

import tracemalloc
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np

from sklboolean._core.bits import PackedBits
from sklboolean._core.memory import as_bytes
from sklboolean._core.parameters import check_integer
from sklboolean._core.partitions import take_column
from sklboolean._core.progress import Progress
from sklboolean._core.validation import count_samples, take_samples
from sklboolean.io._draft import Draft
from sklboolean.io._sources import BATCH_SIZE, as_frame, open_batches, select_columns

N_PROBE = 512  # samples of a prediction that measures memory


def predict_to_parquet(
    model, source, target, *, keep=(), batch_size=BATCH_SIZE, memory_limit=None,
    verbose=0,
) -> int:  # fmt: skip
    """Predict in batches, and write the predictions to a Parquet file.

    The file has its name only when it is complete. It has the column ``prediction``
    and, of a classifier with ``predict_proba``, a column ``proba_`` and the label for
    each class, as ``to_sql(output="all")`` names them. It needs pyarrow.

    Parameters
    ----------
    model : fitted estimator or pipeline
        For example a pipeline of `BooleanEncoder` and a classifier.
    source : path, table or iterable
        A `BitTable`, or a source of tables or batches as `BitTable.write` takes it,
        such as a file in an object store. A model that was fitted to a data frame takes
        its columns by their names, and other columns are ignored. So are labels and
        weights in batches. Tables of Arrow become data frames of pandas.
    target : str or Path
        The file to write, on a local disk. An earlier file is replaced and its mode is
        kept; a link, a folder and a device are refused.
    keep : sequence of str, default=()
        Columns of tables, such as identifiers, labels or features, that are copied to
        the file. A model that was fitted without names of columns does not get them.
    batch_size : int, default=65600
        Samples that are read and predicted at a time.
    memory_limit : int, str or None, default=None
        Bytes that the arrays of a prediction may take beside the model and the batch
        that is read, from 2**20, or a text such as "500 MB". None: the limit of a
        `BitTable`, if it has one. Two small predictions measure what a sample takes,
        and `batch_size` is lowered so that half of the limit suffices.
    verbose : int, default=0
        1 prints a line for each batch.

    Returns
    -------
    n_samples : int
        Number of predictions.

    Raises
    ------
    ValueError
        For a source without samples or without one of the columns, for files and stores
        that cannot be read, for a target that is no regular file, and for a model that
        takes more than `memory_limit` for one sample.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import AveragedPerceptron, BooleanEncoder
    >>> from sklboolean.io import predict_to_parquet
    >>> people = pd.DataFrame({"id": [7, 8, 9], "age": [20, 40, 60]})
    >>> model = make_pipeline(BooleanEncoder(), AveragedPerceptron())
    >>> model = model.fit(people[["age"]], ["young", "young", "old"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "scored.parquet"
    ...     n_samples = predict_to_parquet(model, people, target, keep=["id"])
    ...     scored = pd.read_parquet(target)
    >>> scored["prediction"].tolist()
    ['young', 'young', 'old']
    """
    import pyarrow
    from pyarrow import parquet

    check_integer(batch_size, "batch_size", 1)
    _check_arguments(model, source, keep)
    if memory_limit is None:
        memory_limit = getattr(source, "memory_limit", None)
    else:
        memory_limit = as_bytes(memory_limit)
    n_samples, writer = 0, None
    progress = Progress(
        SimpleNamespace(verbose=verbose), "batch", name="predict_to_parquet"
    )
    with Draft(target, "target") as draft:
        with draft.open("scored") as file, ExitStack() as stack:
            for copied, X in _batches(source, model, keep, batch_size):
                # The first batch tells what a sample takes.
                if not n_samples and memory_limit is not None:
                    batch_size = min(
                        batch_size, _samples_within(memory_limit, model, X)
                    )
                for first in range(0, count_samples(X), batch_size):
                    samples = slice(first, first + batch_size)
                    columns = _predict(model, take_samples(X, samples))
                    of_data = {name: column[samples] for name, column in copied.items()}
                    table = pyarrow.table(of_data | columns)
                    if writer is None:
                        writer = parquet.ParquetWriter(file, table.schema)
                        stack.enter_context(writer)
                    writer.write_table(_with_types(table, writer.schema))
                    n_samples += table.num_rows
                progress.step(f"{n_samples} samples".format)
            if writer is None:
                raise ValueError("source has no sample: give at least one.")
        draft.complete("scored")
    return n_samples


def _check_arguments(model, source, keep):
    if not hasattr(model, "predict"):
        raise ValueError(
            f"model must have predict; got {type(model).__name__}. Put an encoder and "
            "a model into a pipeline."
        )
    is_list = hasattr(keep, "__len__") and not isinstance(keep, str)
    if not is_list or len(set(keep)) < len(keep):
        raise ValueError(
            f"keep must be a list of different names of columns; got {keep!r}."
        )
    if keep and isinstance(source, PackedBits):
        raise ValueError(
            "keep needs a source with columns, but a table of bits has none. Pass the "
            "data from which it was made."
        )
    predicted = {"prediction"}
    if hasattr(model, "predict_proba"):
        # An unfitted model has none; predict says so.
        predicted |= {f"proba_{label}" for label in getattr(model, "classes_", ())}
    for name in predicted.intersection(keep):
        raise ValueError(
            f"keep: {name!r} is a column that is predicted. Rename the column of the "
            "data, or do not keep it."
        )


def _batches(source, model, keep, batch_size):
    """Yield the columns to keep and the samples of each batch."""
    if isinstance(source, PackedBits):
        for first in range(0, len(source), batch_size):
            yield {}, source[first : first + batch_size]
        return
    names = getattr(model, "feature_names_in_", None)
    for X, _, _ in open_batches(source, None, None, batch_size):
        columns = {}
        for name in keep:
            others, column = take_column(X, name)
            columns[name] = _as_arrow(name, column)
            X = others if names is None else X
        yield columns, as_frame(select_columns(X, names))


def _as_arrow(name, column):
    """Make a column to keep one of pyarrow, whatever its package is."""
    import pyarrow

    if hasattr(column, "to_arrow"):  # of polars
        column = column.to_arrow()
    elif not hasattr(column, "chunks"):  # not of a table of pyarrow
        try:
            column = pyarrow.array(column, from_pandas=True)
        except Exception as error:
            raise ValueError(
                f"keep: column {name!r} holds {column.dtype}, which a Parquet file "
                f"cannot hold ({error}). Convert it, for example to text."
            ) from error
    # All are missing, and later batches may hold text.
    is_missing = pyarrow.types.is_null(column.type)
    return column.cast(pyarrow.string()) if is_missing else column


def _with_types(table, schema):
    """Give a table the types of the batches before."""
    for number, field in enumerate(schema):
        column = table.column(number)
        if column.type != field.type:
            try:
                table = table.set_column(number, field, column.cast(field.type))
            except Exception as error:
                raise ValueError(
                    f"Column {field.name!r} holds {column.type}, and {field.type} in "
                    f"the batches before ({error}). Give it one type in all batches."
                ) from error
    return table


def _predict(model, X):
    """Predict the columns of the file."""
    columns = {"prediction": np.asarray(model.predict(X))}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X).T
        for label, values in zip(model.classes_, probabilities, strict=True):
            columns[f"proba_{label}"] = values
    return columns


def _samples_within(memory_limit, model, X):
    """Choose the samples of a batch, from the memory that two predictions take."""
    # Two sizes tell the bytes of a sample and those of any prediction.
    n_all = min(N_PROBE, count_samples(X))
    n_few = max(1, n_all // 8)
    was_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    peaks = []
    for size in (n_all, n_few, n_all):  # the first one warms up
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        _predict(model, take_samples(X, slice(0, size)))
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
    if not was_tracing:
        tracemalloc.stop()
    _, of_few, of_all = peaks
    n_more = n_all - n_few
    of_sample = max(1.0, (of_all - of_few) / n_more if n_more else of_all)
    fixed = max(0.0, of_all - of_sample * n_all)
    n_samples = int((memory_limit / 2 - fixed) / of_sample)
    if n_samples < 1:
        raise ValueError(
            f"memory_limit={memory_limit} is too small: {type(model).__name__} takes "
            f"about {2 * (fixed + of_sample):.3g} bytes to predict one sample. Raise "
            "the limit, or use a smaller model."
        )
    return n_samples
