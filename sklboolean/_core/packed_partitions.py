"""Fits to bits of samples in several places: the bits are sent, or sums over them."""

from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.base import restore_on_error
from sklboolean._core.bits import PackedBits, as_words
from sklboolean._core.labels import encode_classes
from sklboolean._core.parameters import check_choice
from sklboolean._core.partition_sums import PartitionSums, kept
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
    """``fit_partitions`` of an estimator that fits to packed bits.

    ``_fit_by_sums(partitions)`` of an estimator that needs only sums fits it to
    `PackedPartitions`. Before they are loaded ``_check_by_sums()`` refuses parameters.
    """

    _fit_by_sums = None

    def _check_by_sums(self):
        """Refuse parameters for which sums over samples do not suffice."""

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

    def fit_partitions(self, partitions, *, by_sums=False) -> Self:
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
        by_sums : bool, default=False
            True: the bits stay where they are loaded, and tasks return sums over
            samples, so that no process needs memory for all samples. More is sent, and
            the model is that of ``fit`` up to ``tol``. The user guide says when this
            pays, and which estimators can do it. Callables are loaded once more by a
            process that takes over a partition.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, with the number of the partition, and for
            ``by_sums=True`` of an estimator that needs all samples in one place. The
            estimator stays as it was.

        Notes
        -----
        A sample takes as many bits as it has features, rounded up to 64, and 8 bytes
        for its label, and as many for its weight. Without ``by_sums`` this process
        holds them twice.
        """
        check_choice(by_sums, "by_sums", (False, True))
        if by_sums and self._fit_by_sums is None:
            raise ValueError(
                f"by_sums=True: {type(self).__name__} needs all samples in one place. "
                "Use by_sums=False, which sends their bits."
            )
        with restore_on_error(self):
            if by_sums:
                self._check_by_sums()
            sources = open_partitions(partitions)
            with Parallel(n_jobs=getattr(self, "n_jobs", None)) as parallel:
                if by_sums:
                    return self._fit_by_sums_over(PackedPartitions(parallel, sources))
                packed = parallel(
                    delayed(clone(self)._pack_partition)(number, *source)
                    for number, source in enumerate(sources)
                )
            return self.fit(_join([part for part in packed if part is not None], self))

    def _fit_by_sums_over(self, partitions):
        try:
            partitions.describe(clone(self))
            partitions.schema.set_attributes(self)
            self._fit_by_sums(partitions)
        finally:
            partitions.forget()
        return self


class PackedPartitionInfo(NamedTuple):
    """What is known of a partition whose bits stay in the process that loads them."""

    number: int
    schema: TableSchema
    dtype: np.dtype  # of the labels
    labels: np.ndarray | None  # of a classifier
    masses: np.ndarray | None  # the weight of each label
    n_samples: int  # of weight above 0
    is_weighted: bool

    @classmethod
    def of(cls, place, source, worker):
        """Load and check a partition, in a task of its own, and describe it."""
        part = load_packed(place, source, worker)
        if part is None:
            return None
        labels = masses = None
        if is_classifier(worker):
            with prefix_errors(part.number):
                labels, codes = encode_classes(part.y, min_classes=1)
            masses = np.bincount(codes, part.weights, minlength=len(labels))
        n_used = np.count_nonzero(part.weights)
        schema, dtype = part.schema, part.y.dtype
        is_weighted = part.sample_weight is not None
        return cls(part.number, schema, dtype, labels, masses, n_used, is_weighted)


def load_packed(place, source, worker):
    """Return the bits of a partition, from what this process keeps or its source."""
    return kept(
        (*place, "bits"), lambda: clone(worker)._pack_partition(place[1], *source)
    )


class PackedPartitions(PartitionSums):
    """Partitions whose bits stay in the processes that loaded them.

    Attributes
    ----------
    worker : estimator
        Loads a partition, with ``load_packed(place, source, worker)``.
    schema : TableSchema
    n_samples : int
        Of weight above 0.
    are_weighted : bool
        Whether a partition has weights.
    """

    def describe(self, worker):
        """Load and check all partitions."""
        self.worker = worker
        infos = self.map(PackedPartitionInfo.of, worker)
        self.infos = [info for info in infos if info is not None]
        self.numbers = [info.number for info in self.infos if info.n_samples]
        if not self.numbers:
            raise ValueError(
                "All partitions are empty or without weight: give at least one sample."
            )
        first = self.infos[0]
        for info in self.infos:
            with prefix_errors(info.number):
                first.schema.check(info.schema)
                _check_kinds(first.dtype, info.dtype)
        self.schema = first.schema
        self.n_samples = sum(info.n_samples for info in self.infos)
        self.are_weighted = any(info.is_weighted for info in self.infos)

    def each(self, function, *arguments):
        """Return ``function(part, *arguments)`` of each `PackedPartition`."""
        return self.map(_apply, self.worker, function, arguments)

    def add_up_each(self, function, *arguments):
        """Add up these results."""
        return self.add_up(_apply, self.worker, function, arguments)

    def classes_and_masses(self):
        """Return the labels of all partitions, and the weight of each."""
        labels = np.concatenate([info.labels for info in self.infos])
        classes, codes = encode_classes(labels)
        masses = np.concatenate([info.masses for info in self.infos])
        return classes, np.bincount(codes, masses, minlength=len(classes))


def _apply(place, source, worker, function, arguments):
    return function(load_packed(place, source, worker), *arguments)


def _check_kinds(first, dtype):
    """Refuse labels that are texts in one partition and numbers in another."""
    if (first.kind in "OUS") != (dtype.kind in "OUS"):
        raise ValueError(
            f"y holds {dtype}, but {first} in the partitions before. Give all labels "
            "one type."
        )


def _join(parts, estimator):
    """Join the packed samples of all partitions."""
    if not parts:
        raise ValueError("All partitions are empty: give at least one sample.")
    first, weights = parts[0], None
    for part in parts:
        with prefix_errors(part.number):
            first.schema.check(part.schema)
            _check_kinds(first.y.dtype, part.y.dtype)
    if any(part.sample_weight is not None for part in parts):
        weights = np.concatenate([one.weights for one in parts])
    words = np.concatenate([part.words for part in parts])
    y, schema = np.concatenate([part.y for part in parts]), first.schema
    bits = PackedBits(words, schema.n_features, schema.names, y, weights)
    bits.is_binarized = True
    return bits
