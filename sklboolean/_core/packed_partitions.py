"""Fits to samples in several places that need all of them: they are sent as bits."""

from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import PackedBits, as_words
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

    def fit_partitions(self, partitions) -> Self:
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
        with restore_on_error(self):
            sources = open_partitions(partitions)
            packed = Parallel(n_jobs=getattr(self, "n_jobs", None))(
                delayed(clone(self)._pack_partition)(number, *source)
                for number, source in enumerate(sources)
            )
            return self.fit(_join([part for part in packed if part is not None], self))


def _join(parts, estimator):
    """Join the packed samples of all partitions."""
    if not parts:
        raise ValueError("All partitions are empty: give at least one sample.")
    first, weights = parts[0], None
    for part in parts:
        with prefix_errors(part.number):
            first.schema.check(part.schema)
            if (part.y.dtype.kind in "OUS") != (first.y.dtype.kind in "OUS"):
                raise ValueError(
                    f"y holds {part.y.dtype}, but {first.y.dtype} in the partitions "
                    "before. Give all labels one type."
                )
    if any(part.sample_weight is not None for part in parts):
        weights = np.concatenate(
            [
                np.ones(len(one.y)) if one.sample_weight is None else one.sample_weight
                for one in parts
            ]
        )
    words = np.concatenate([part.words for part in parts])
    y, schema = np.concatenate([part.y for part in parts]), first.schema
    bits = PackedBits(words, schema.n_features, schema.names, y, weights)
    bits.is_binarized = True
    return bits
