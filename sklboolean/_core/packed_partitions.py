"""Fits to samples in several places, which are sent here as packed bits."""

import warnings
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import PackedBits, as_words
from sklboolean._core.deprecation import NEXT
from sklboolean._core.partitions import (
    TableSchema,
    has_no_weight,
    is_empty,
    load_partition,
    open_partitions,
    prefix_errors,
)
from sklboolean._core.validation import validate_boolean
from sklboolean._core.weights import check_sample_weight


class PackedPartition(NamedTuple):
    """The samples of a partition as bits."""

    number: int
    schema: TableSchema
    words: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None

    @property
    def weights(self):
        """The weight of each sample."""
        if self.sample_weight is None:
            return np.ones(len(self.y))
        return self.sample_weight


class PackedPartitionsMixin:
    """``fit_partitions`` of an estimator that fits to packed bits."""

    def _validate_boolean(self, X, y):
        """Check samples and labels, and make the samples Boolean."""
        return validate_boolean(self, X, y, y_numeric=is_regressor(self))

    def _pack_partition(self, number, *source):
        """Load, check and pack a partition, in a task of its own."""
        with prefix_errors(number):
            X, y, sample_weight = load_partition(*source)
            if is_empty(X) and is_empty(y):
                return None
            samples, y = self._validate_boolean(X, y)
            if has_no_weight(sample_weight):
                sample_weight = np.zeros(len(y))
            elif sample_weight is not None:
                sample_weight = check_sample_weight(sample_weight, len(y))
            schema = TableSchema.of(self)
            return PackedPartition(number, schema, as_words(samples), y, sample_weight)

    def fit_partitions(self, partitions, *, by_sums=None) -> Self:
        """Fit the model to samples that are stored in several places.

        Each partition is loaded, checked and packed in a task of joblib, which returns
        its bits. The model is that of ``fit`` on all of them, in the order of the
        partitions, and depends neither on ``n_jobs`` nor on joblib's backend.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) or triples (X, y, sample_weight) as for ``fit``, callables that
            load and return one, or objects with such a method ``compute``, such as
            Dask's delayed ones. A pair or triple of arrays or data frames of Dask is
            read as their partitions. Callables are loaded once, where the task runs.
        by_sums : bool, default=None
            Deprecated: leave it out. True is refused since version 0.3.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, with the number of the partition. The
            estimator stays as it was.

        Notes
        -----
        A sample takes as many bits as it has features, rounded up to 64, and 8 bytes
        for its label, and as many for its weight. This process holds them twice.
        """
        if by_sums is not None:
            if by_sums:
                raise ValueError(
                    "by_sums=True is not supported since version 0.3. Leave it out: "
                    "the bits of the samples are sent. Where they are too many for "
                    "this machine, take slices of a BitTable for the partial_fit of "
                    "AveragedPerceptron or Winnow."
                )
            text = "The argument 'by_sums' is deprecated. Leave it out."
            warnings.warn(f"{text} {NEXT}", FutureWarning, stacklevel=2)
        with restore_on_error(self):
            sources = open_partitions(partitions)
            partitions = Parallel(n_jobs=getattr(self, "n_jobs", None))(
                delayed(clone(self)._pack_partition)(number, *source)
                for number, source in enumerate(sources)
            )
            return self.fit(_join([bits for bits in partitions if bits is not None]))


def _check_kinds(first, dtype):
    """Refuse labels that are texts in one partition and numbers in another."""
    if (first.kind in "OUS") != (dtype.kind in "OUS"):
        raise ValueError(
            f"y holds {dtype}, but {first} in the partitions before. Give all labels "
            "one type."
        )


def _join(partitions):
    """Join the packed samples of all partitions."""
    if not partitions:
        raise ValueError("All partitions are empty: give at least one sample.")
    first, weights = partitions[0], None
    for partition in partitions:
        with prefix_errors(partition.number):
            first.schema.check(partition.schema)
            _check_kinds(first.y.dtype, partition.y.dtype)
    if any(partition.sample_weight is not None for partition in partitions):
        weights = np.concatenate([partition.weights for partition in partitions])
    words = np.concatenate([partition.words for partition in partitions])
    y = np.concatenate([partition.y for partition in partitions])
    bits = PackedBits(words, first.schema.n_features, first.schema.names, y, weights)
    bits.is_binarized = True
    return bits
