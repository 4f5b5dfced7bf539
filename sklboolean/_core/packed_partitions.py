"""Samples in partitions, in the place of ``X``: collections of Dask, and lists."""

# Two ways lead from partitions to answers. No estimator has lines of its own for them:
# `PartitionsMixin` wraps its methods.
#
# 1. ``fit`` and ``score`` gather the samples first. A task loads each partition where
#    it is, checks it and packs its bits. They come together here, once, as
#    `PackedBits`. An estimator that needs more than bits gets the values.
# 2. ``predict`` and its kin are lazy: a partition of samples becomes one of answers.
#
# Invariant: the model is, bit for bit, that of all samples in memory, in the order of
# the partitions.

import inspect
import sys
import warnings
from functools import partial, wraps
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor

from sklboolean._core.bits import PackedBits, as_words, pack_dense
from sklboolean._core.deprecation import NEXT
from sklboolean._core.parallel import in_jobs
from sklboolean._core.partitions import (
    TableSchema,
    in_partitions,
    is_empty,
    load,
    load_samples,
    map_frame,
    open_partitions,
    prefix_errors,
    split_samples,
    split_table,
    with_all_columns,
)
from sklboolean._core.validation import validate_boolean, validate_data_strict

GATHERED = ("fit", "score")
LAZY = (
    "predict", "predict_proba", "predict_log_proba", "decision_function",
    "score_samples", "transform",
)  # fmt: skip
MOST_CODED = 256  # labels that a byte tells apart


class PartitionsMixin:
    """Lets the methods of an estimator take samples in partitions as ``X``."""

    _gathered = GATHERED

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        ways = dict.fromkeys(cls._gathered, gather_first)
        for name, way in (ways | dict.fromkeys(LAZY, answer_lazily)).items():
            method = inspect.getattr_static(cls, name, None)
            if inspect.isfunction(method) and not hasattr(method, "takes_partitions"):
                setattr(cls, name, way(method))

    def _bits_of(self, X):
        """Check samples and make them Boolean; None where their values are needed."""
        return validate_boolean(self, X) if hasattr(self, "binarize") else None

    def _sample_like(self, X):
        """Make a sample of the columns of a collection, to see what is answered."""
        if not hasattr(X, "columns"):
            return np.zeros((1, X.shape[1]), X.dtype)
        import pandas

        bits = np.zeros((1, len(X.columns)), bool)
        return pandas.DataFrame(bits, columns=X.columns)

    def _no_answers(self, name, X):
        """Answer for no samples: the metadata of the answers."""
        sample = self._sample_like(X)
        return labelled(getattr(self, name)(sample), sample)[:0]


def bits_of_booleans(estimator, X):
    """Pack samples if all their columns are Booleans; else their values are needed."""
    dtypes = X.dtypes if hasattr(X, "columns") else [getattr(X, "dtype", None)]
    if all(dtype == np.bool_ for dtype in dtypes) and not sparse.issparse(X):
        return pack_dense(validate_data_strict(estimator, X))
    return None


def gather_first(method):
    """Let a method that takes `PackedBits` take samples in partitions."""
    signature = inspect.signature(method)
    targets = [name for name in ("y", "sample_weight") if name in signature.parameters]

    @wraps(method)
    def gathered(self, X, *args, **options):
        if not in_partitions(X):
            return method(self, X, *args, **options)
        arguments = signature.bind(self, X, *args, **options).arguments
        samples = gather(self, X, *(arguments.get(name) for name in targets))
        arguments |= zip(("X", *targets), samples, strict=False)
        return method(arguments.pop("self"), **arguments)

    gathered.takes_partitions = True
    return gathered


def gather(estimator, X, y=None, sample_weight=None):
    """Load and pack the partitions of X where they are, and join them here.

    Parameters
    ----------
    estimator : object
        Tells by ``_bits_of`` what becomes a bit.
    X : collection of Dask, or list of delayed objects or callables
        Each loads samples, or a tuple (X, y) or (X, y, sample_weight).
    y, sample_weight : as X, array-like, str or None
        Divided as X, or in memory. A str is a column of X.

    Returns
    -------
    X : PackedBits, or the values
    y, sample_weight : ndarray of shape (n_samples,) or as given
    """
    targets = y, sample_weight
    there = [v if isinstance(v, str) or in_partitions(v) else None for v in targets]
    sources = split_samples(X, *there)
    X, *joined = join(run_on_workers(pack_partition, estimator, sources))
    for k, values in enumerate(targets):
        if there[k] is None and values is not None:
            joined[k] = values
    return X, *joined


def _numbered(source, function, estimator, partition_info=None):
    return _call(function, estimator, partition_info["number"], source)


def _call(function, estimator, number, source):
    source = source if isinstance(source, tuple) else (source,)
    # Tasks may be threads, so each has an estimator of its own.
    return function(clone(estimator), number, *source)


def run_on_workers(function, estimator, sources):
    """Call ``function(estimator, number, *source)`` for each source, where it is.

    Sources with objects of Dask are loaded by its scheduler, others by joblib's
    backend.

    Returns
    -------
    results : iterable
        In the order of the sources.
    """
    estimator = clone(estimator)  # without what it learned
    # What tasks need is within them: as data of its own it would be on some worker, and
    # Dask would take partitions to it.
    if hasattr(sources, "map_partitions"):
        sources = map_frame(sources, _numbered, function, estimator)
        return compute(*split_table(sources))
    sources = split_table(sources)
    if isinstance(sources, list) and any(map(_is_of_dask, sources)):
        import dask

        task = dask.delayed(partial(_call, function, estimator))
        return compute(*(task(*each) for each in enumerate(sources)))
    n_jobs = getattr(estimator, "n_jobs", None)
    return in_jobs(partial(_call, function, estimator), enumerate(sources), n_jobs)


def compute(*tasks):
    """Compute objects of Dask, whose results come straight from the workers."""
    import dask

    return dask.compute(*tasks, direct=True)


def _is_of_dask(source):
    samples = source if isinstance(source, tuple) else (source,)
    return any(hasattr(values, "compute") for values in samples)


class PackedPartition(NamedTuple):
    """The samples of a partition.

    ``samples`` are words of bits, or the values where the estimator needs them. With
    ``labels``, ``y`` holds their numbers, a byte each.
    """

    number: int
    schema: TableSchema
    has_bits: bool
    samples: np.ndarray
    y: np.ndarray | None
    labels: np.ndarray | None
    sample_weight: np.ndarray | None

    def all_labels(self):
        """List the label of each sample."""
        return self.y if self.labels is None else self.labels[self.y]

    def weights(self):
        """List the weight of each sample."""
        if self.sample_weight is None:
            return np.ones(self.samples.shape[0])
        return self.sample_weight


def pack_partition(estimator, number, *source):
    """Load, check and pack a partition, in a task of its own; None of an empty one."""
    with prefix_errors(number):
        X, y, sample_weight = load_samples(*source)
        X = X if hasattr(X, "shape") else np.asarray(X)
        if is_empty(X):
            return None
        bits = estimator._bits_of(X)
        if bits is None:
            schema, samples = TableSchema.of_data(X), X
        else:
            schema, samples = TableSchema.of(estimator), as_words(bits)
        y, labels = (y, None) if is_regressor(estimator) else code_labels(y)
        of_samples = samples, y, labels, sample_weight
        return PackedPartition(number, schema, bits is not None, *of_samples)


def code_labels(y):
    """Number the labels by a byte each, where there are few."""
    if y is None or y.ndim != 1:
        return y, None
    try:
        labels, codes = np.unique(y, return_inverse=True)
    except TypeError:  # labels without an order, which fit refuses
        return y, None
    if len(labels) > MOST_CODED:
        return y, None
    return codes.astype(np.uint8), labels


def join(partitions):
    """Join the samples of all partitions: (X, y or None, sample_weight or None)."""
    partitions = [p for p in partitions if p is not None]
    if not partitions:
        raise ValueError("All partitions are empty: give at least one sample.")
    for partition in partitions:
        with prefix_errors(partition.number):
            partitions[0].schema.check(partition.schema)
            _check_types(partitions[0], partition)
    X, y = concatenate([partition.samples for partition in partitions]), None
    weights = None
    if partitions[0].y is not None:
        y = np.concatenate([partition.all_labels() for partition in partitions])
    if any(partition.sample_weight is not None for partition in partitions):
        weights = np.concatenate([partition.weights() for partition in partitions])
    if partitions[0].has_bits:
        schema = partitions[0].schema
        X = PackedBits(X, schema.n_features, schema.names, y, weights)
        X.is_binarized = True
    return X, y, weights


def _check_types(first, partition):
    """Refuse labels, and values, of a type that those before do not have."""
    if (first.y is None) != (partition.y is None):
        raise ValueError("Some partitions have labels, and others have none.")
    dtypes = [p.all_labels().dtype for p in (first, partition) if p.y is not None]
    if len({dtype.kind in "OUS" for dtype in dtypes}) > 1:
        raise ValueError(
            f"y holds {dtypes[1]}, but {dtypes[0]} in the partitions before. Give all "
            "labels one type."
        )
    if first.has_bits != partition.has_bits:
        raise ValueError(
            "Some partitions of X hold Booleans, and others hold numbers. Give all "
            "columns one type, for example X.astype(float)."
        )


def concatenate(samples):
    """Join arrays, sparse matrices or data frames of one package."""
    if isinstance(samples[0], np.ndarray):
        return np.concatenate(samples)
    if sparse.issparse(samples[0]):
        return sparse.vstack(samples, format="csr")
    package = sys.modules[type(samples[0]).__module__.partition(".")[0]]
    if hasattr(samples[0], "column_names"):  # tables of pyarrow
        return package.concat_tables(samples)
    return package.concat(samples)


def answer_lazily(method):
    """Let a method with an answer for each sample take samples in partitions."""

    @wraps(method)
    def lazily(self, X, *args, **options):
        if not in_partitions(X):
            return method(self, X, *args, **options)
        if args or options:
            raise ValueError(
                f"{method.__name__} of samples in partitions takes X only; got "
                f"{[*args, *options]}. Pass the samples of one partition."
            )
        return answers_of(self, method.__name__, X)

    lazily.takes_partitions = True
    return lazily


def answers_of(estimator, name, X):
    """Call a method for each partition, when the answers are computed.

    Returns
    -------
    answers : collection of Dask, or list of what X lists
        With known metadata: of a frame a series, or an array where a sample has
        several answers; of an array an array.
    """
    if isinstance(X, list):
        return [_later(answer_partition, part, estimator, name) for part in X]
    if name == "transform" and getattr(estimator, "sparse_output", False):
        raise ValueError(
            "sparse_output=True makes sparse matrices, which collections of Dask do "
            "not hold. Set sparse_output=False: models pack the features."
        )
    X = with_all_columns(X)
    none = estimator._no_answers(name, X)
    options = {"estimator": estimator, "method": name, "none": none, "meta": none}
    if hasattr(X, "map_partitions"):
        return X.map_partitions(answer_partition, **options)
    shape = {"drop_axis": 1}
    if none.ndim == 2:
        shape = {"chunks": (X.chunks[0], none.shape[1:])}
    return X.map_blocks(answer_partition, dtype=none.dtype, **shape, **options)


def _later(function, part, *arguments):
    """Make an object like ``part``, which loads what the function makes of it."""
    if not hasattr(part, "compute"):
        return partial(function, part, *arguments)
    import dask

    return dask.delayed(function)(part, *arguments)


def answer_partition(X, estimator, method, none=None):
    """Call a method for a partition; ``none`` is the answer for an empty one."""
    X, *targets = X if isinstance(X := load(X), tuple) else (X,)
    if not is_empty(X):
        answers = labelled(getattr(estimator, method)(X), X)
    else:
        answers = estimator._no_answers(method, X) if none is None else none
    return (answers, *targets) if targets else answers


def labelled(answers, X):
    """Give an array of one answer for each sample the index of a frame of pandas."""
    if isinstance(answers, np.ndarray) and answers.ndim == 1 and hasattr(X, "iloc"):
        import pandas

        return pandas.Series(answers, index=X.index)
    is_other_frame = hasattr(answers, "columns") and not hasattr(answers, "iloc")
    if hasattr(X, "iloc") and is_other_frame:
        raise ValueError(
            f"A partition of a Dask frame became a {type(answers).__name__}. Call "
            "set_output(transform='default'), which gives pandas data frames."
        )
    return answers


class PackedPartitionsMixin:
    """``fit_partitions`` of version 0.2."""

    def fit_partitions(self, partitions, *, by_sums=None) -> Self:
        """Fit the model to samples that are stored in several places.

        Deprecated since version 0.3: ``fit`` takes partitions.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) or triples (X, y, sample_weight), callables that load and
            return one, or objects with such a method ``compute``.
        by_sums : bool, default=None
            Deprecated: leave it out. True is refused.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data. The estimator stays as it was.
        """
        if by_sums:
            raise ValueError(
                "by_sums=True is not supported since version 0.3. Leave it out: the "
                "bits of the samples are sent. Where they are too many for this "
                "machine, take slices of a BitTable for the partial_fit of "
                "AveragedPerceptron or Winnow."
            )
        text = "fit_partitions is deprecated. Pass the partitions to fit."
        warnings.warn(f"{text} {NEXT}", FutureWarning, stacklevel=2)
        sources = open_partitions(partitions)
        return self.fit(*join(run_on_workers(pack_partition, self, sources)))
