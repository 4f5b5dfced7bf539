"""Partitions: samples that are stored elsewhere and loaded where a task runs."""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from sklboolean._core.data_errors import column_names
from sklboolean._core.labels import encode_classes
from sklboolean._core.validation import count_samples
from sklboolean._core.weights import check_sample_weight


class TableSchema(NamedTuple):
    """Number and names of the features of all partitions."""

    n_features: int
    names: np.ndarray | None

    @classmethod
    def of(cls, estimator):
        """Read the schema that `validate_data` stored in an estimator."""
        names = getattr(estimator, "feature_names_in_", None)
        return cls(estimator.n_features_in_, names)

    @classmethod
    def of_data(cls, X):
        """Read the schema of a data frame or of an array."""
        names = column_names(X)
        names = None if names is None else np.array(names, dtype=object)
        return cls(X.shape[1], names)

    def check(self, other):
        """Refuse another schema with an error that names the difference."""
        if other.n_features != self.n_features:
            raise ValueError(
                f"X has {other.n_features} features, but the data before it had "
                f"{self.n_features}; all partitions need the same columns."
            )
        if not np.array_equal(self.names, other.names):
            raise ValueError(
                f"{_difference(self.names, other.names)} the data before it; all "
                "partitions need the same columns in the same order."
            )

    def set_attributes(self, estimator):
        """Set the attributes that `validate_data` would have set."""
        estimator.n_features_in_ = self.n_features
        vars(estimator).pop("feature_names_in_", None)
        if self.names is not None:
            estimator.feature_names_in_ = self.names


def _difference(first, names):
    """Begin the sentence that says how column names differ from the first ones."""
    if first is None or names is None:
        return f"X has {'no' if names is None else 'the'} column names, unlike"
    column = np.flatnonzero(first != names)[0]
    return f"Column {column} of X is {names[column]!r}, and {first[column]!r} in"


class PartitionInfo(NamedTuple):
    """Facts about a partition before training.

    ``totals`` and ``counts`` are the weight of the samples of each label, and how many
    have weight.
    """

    number: int
    schema: TableSchema | None
    labels: np.ndarray
    n_samples: int
    totals: np.ndarray | None = None
    counts: np.ndarray | None = None

    def check_n_samples(self, n_samples):
        """Refuse a partition that was loaded with another number of samples."""
        if n_samples != self.n_samples:
            raise ValueError(
                f"{self.n_samples} samples were loaded at first, and now {n_samples}; "
                "a partition must load the same samples every time."
            )


def open_partitions(partitions):
    """List, for each partition, the arguments from which a task loads it.

    Arrays become arguments of their own: joblib's backends recognise them there, to
    map them into memory or to keep them where they were scattered.

    Parameters
    ----------
    partitions : iterable
        Pairs (X, y) or triples (X, y, sample_weight), callables that return them, or
        objects with ``compute``; or one pair or triple of arrays or frames of Dask.

    Returns
    -------
    sources : list of tuples
        ``(X, y)``, ``(X, y, sample_weight)`` or ``(loader,)``.
    """
    check_listed(partitions, "(X, y)")
    sources = []
    for number, partition in enumerate(split_collections(partitions)):
        # Dask delayed objects are callable too, to make other delayed objects.
        if hasattr(partition, "compute") or callable(partition):
            sources.append((partition,))
        elif isinstance(partition, tuple | list) and len(partition) in (2, 3):
            sources.append(tuple(partition))
        else:
            raise ValueError(
                f"Partition {number} must be a pair (X, y), a triple (X, y, "
                "sample_weight), a callable that returns one, or a delayed object; got "
                f"{type(partition).__name__}. A single table is given as [(X, y)]."
            )
    if not sources:
        raise ValueError("partitions is empty: give at least one pair (X, y).")
    return sources


def in_partitions(X):
    """Test for a collection of Dask, or a list of what loads partitions."""
    if isinstance(X, list):
        return bool(X) and callable(X[0])  # delayed objects are callable, too
    return hasattr(type(X), "to_delayed")


def n_partitions(X):
    """Count the partitions of samples for which `in_partitions` holds."""
    if isinstance(X, list):
        return len(X)
    return X.numblocks[0] if hasattr(X, "numblocks") else X.npartitions


def metadata_of(X):
    """Return the columns of a frame of Dask with their types, without samples."""
    from dask.dataframe.dispatch import make_meta

    return make_meta(X)


def check_listed(partitions, listed):
    """Refuse a table, a path and what is no iterable; ``listed`` is what to list."""
    is_one = isinstance(partitions, str) or hasattr(type(partitions), "columns")
    if is_one or not hasattr(partitions, "__iter__"):
        raise ValueError(
            f"partitions must be an iterable of partitions; got a "
            f"{type(partitions).__name__}. Give one table as [{listed}], and a file as "
            "a callable that loads it."
        )


def split_collections(partitions):
    """Split a pair or triple of arrays or frames of Dask into those of its parts."""
    is_listed = isinstance(partitions, tuple | list) and len(partitions) > 0
    if is_listed and all(hasattr(type(data), "to_delayed") for data in partitions):
        return split_table(split_samples(*partitions))
    return partitions


def split_samples(X, *targets):
    """Put the samples of each partition together with their labels and weights.

    Labels and weights are divided as X, or the name of a column of X, or None.
    """
    for name, values in zip(("y", "sample_weight"), targets, strict=False):
        if not in_partitions(values):
            if not (values is None or isinstance(values, str)):
                raise ValueError(
                    f"{name} is in memory, and X is in partitions. Divide {name} as X: "
                    "take both from one data frame."
                )
        elif n_partitions(values) != n_partitions(X):
            raise ValueError(
                f"{name} has {n_partitions(values)} partitions, and X has "
                f"{n_partitions(X)}. Take both from one data frame, or divide {name} "
                f"like X, for example with {name}.repartition(divisions=X.divisions)."
            )
    divided = [values for values in (X, *targets) if in_partitions(values)]
    if all(hasattr(values, "map_partitions") for values in divided):
        return map_frame(X, _together, *targets)
    columns = [
        split_table(values) if in_partitions(values) else [values] * n_partitions(X)
        for values in (X, *targets)
    ]
    return list(map(_later, zip(*columns, strict=True)))


def map_frame(X, function, *arguments):
    """Call a function for the partitions of a frame of Dask, in the task that reads."""
    options = {"enforce_metadata": False, "align_dataframes": False}
    return X.map_partitions(function, *arguments, meta=metadata_of(X), **options)


def _together(*samples):
    return samples


def _later(samples):
    """Make samples of Dask one delayed object; return others."""
    if not any(hasattr(part, "compute") for part in samples):
        return samples
    from dask import delayed

    return delayed(_together)(*samples)


def split_table(partitions):
    """List the partitions of a frame or array of Dask; return other partitions."""
    if hasattr(partitions, "to_delayed"):
        return np.ravel(with_all_columns(partitions).to_delayed()).tolist()
    check_listed(partitions, "X")
    return partitions


def with_all_columns(X):
    """Join the columns of an array of Dask, which may be in several chunks."""
    is_array = hasattr(X, "rechunk") and X.ndim == 2
    return X.rechunk({1: -1}) if is_array else X


def load(partition):
    """Load what a delayed object or a callable stands for; return other data."""
    # Dask delayed objects are callable too, to make other delayed objects.
    if hasattr(partition, "compute"):
        return partition.compute()
    return partition() if callable(partition) else partition


def load_samples(X, y=None, sample_weight=None):
    """Load (X, y, sample_weight) of a partition; X may load all three.

    Labels and weights that are a text are the column of X of that name.
    """
    X, targets = load(X), [load(y), load(sample_weight)]
    if isinstance(X, tuple):
        if not 1 <= len(X) <= 3:
            raise ValueError(
                "A partition must be X, (X, y) or (X, y, sample_weight); got a tuple "
                f"of length {len(X)}."
            )
        X, *of_X = X
        pairs = zip(targets, [*of_X, None, None], strict=False)
        targets = [loaded if given is None else given for given, loaded in pairs]
    is_lazy = hasattr(type(X), "collect_schema") and not hasattr(X, "get_columns")
    is_sized = hasattr(X, "__len__") or hasattr(X, "shape")
    if isinstance(X, str) or is_lazy or not is_sized:
        raise ValueError(
            f"X is a {type(X).__name__}, which is no table. Give tables, or callables "
            "that load them."
        )
    for k, name in enumerate(targets):
        if isinstance(name, str):
            X, targets[k] = take_column(X, name)
    for values, name in zip(targets, ("y", "sample_weight"), strict=True):
        check_like(X, values, name)
    return X, *(None if values is None else np.asarray(values) for values in targets)


def take_column(X, name):
    """Take one column out of a frame or table."""
    names = column_names(X) or []
    if name not in names:
        raise ValueError(f"X has no column {name!r}, but {names}. Name one of them.")
    others = X.drop(columns=name) if hasattr(X, "iloc") else X.drop([name])
    return others, X[name]


def check_like(X, values, name):
    """Refuse labels and weights of other samples than those of X."""
    if values is None:
        return
    n_samples = count_samples(X)
    if len(values) != n_samples:
        raise ValueError(
            f"X has {n_samples} samples, and {name} has {len(values)}. Divide both "
            f"alike, for example {name}.rechunk(X.chunks[0]), or take both from one "
            "data frame."
        )
    has_index = hasattr(X, "iloc") and hasattr(values, "iloc")
    if has_index and not X.index.equals(values.index):
        raise ValueError(
            f"X and {name} have different indices. Take both from one data frame, or "
            "give both the same index."
        )


def load_partition(*source):
    """Load (X, y, sample_weight or None) from what `open_partitions` made."""
    if len(source) == 1:
        (loader,) = source
        source = load(loader)
        if not (isinstance(source, tuple | list) and len(source) in (2, 3)):
            raise ValueError(
                f"A pair (X, y) must be loaded, or a triple (X, y, sample_weight); got "
                f"{type(source).__name__}."
            )
    return tuple(source) if len(source) == 3 else (*source, None)


def describe_partition(estimator, number, *source):
    """Check one partition, in a task of its own, and describe it."""
    with prefix_errors(number):
        X, y, sample_weight = load_partition(*source)
        if (is_empty(X) and is_empty(y)) or has_no_weight(sample_weight):
            return PartitionInfo(number, None, np.empty(0), 0)
        _, y = estimator._check_X(X, y, reset=True)
        labels, codes = encode_classes(y, min_classes=1)
        weights = check_sample_weight(sample_weight, len(y))
        totals, counts = np.bincount(codes, weights), np.bincount(codes, weights > 0)
        schema = TableSchema.of(estimator)
        return PartitionInfo(number, schema, labels, len(y), totals, counts)


def is_empty(data):
    """Test whether data of a partition, not checked yet, have no samples."""
    shape = getattr(data, "shape", None)
    return shape[:1] == (0,) if shape is not None else len(data) == 0


def has_no_weight(sample_weight):
    """Test whether all weights of a partition, not checked yet, are 0."""
    return sample_weight is not None and not np.any(sample_weight)


def common_schema(infos, classes):
    """Find the schema and the classes that all partitions share.

    Parameters
    ----------
    infos : list of PartitionInfo
        Facts about the partitions that are not empty.
    classes : ndarray of shape (n_classes,) or None
        None: the labels that occur.

    Returns
    -------
    schema : TableSchema
    classes : ndarray of shape (n_classes,)
    """
    if not infos:
        raise ValueError(
            "All partitions are empty or without weight: give at least one sample."
        )
    schema = infos[0].schema
    for info in infos:
        with prefix_errors(info.number):
            schema.check(info.schema)
            if classes is not None:
                encode_classes(info.labels, classes)
    if classes is None:
        classes, _ = encode_classes(np.concatenate([info.labels for info in infos]))
    return schema, classes


@contextmanager
def prefix_errors(number):
    """Put the number of the partition before the message of any error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error
    except Exception as error:  # from the loader: its type tells what to do
        error.add_note(f"This was partition {number}.")
        raise
