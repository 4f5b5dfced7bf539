"""Samples in several places, of which a fit needs sums only."""

from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.base import restore_on_error
from sklboolean._core.partition_sums import PartitionSums, kept, kept_last
from sklboolean._core.partitions import (
    TableSchema,
    has_no_weight,
    is_empty,
    load_partition,
    open_partitions,
    prefix_errors,
)
from sklboolean._core.weights import checked_weights
from sklboolean.density._attribute_forest import Attributes
from sklboolean.density._packed_signs import merge_equal_samples


class PartitionInfo(NamedTuple):
    """What is known of a partition before training."""

    number: int
    schema: TableSchema
    attributes: Attributes | None  # this and the codes: of binary samples only
    codes: np.ndarray | None
    only_true: bool
    complete: bool
    weight: float


class PartitionedSamples(PartitionSums):
    """Stands for samples where a fit needs sums over samples only.

    A process keeps the samples of partitions that it has loaded.
    """

    def __init__(self, estimator, parallel, sources):
        super().__init__(parallel, sources)
        infos = parallel(
            delayed(clone(estimator)._describe_partition)(number, *source)
            for number, source in enumerate(sources)
        )
        infos = [info for info in infos if info is not None]
        if not infos:
            raise ValueError(
                "All partitions are empty or without weight: give at least one sample."
            )
        for info in infos:
            with prefix_errors(info.number):
                infos[0].schema.check(info.schema)
        self.schema, self.numbers = infos[0].schema, [info.number for info in infos]
        self.codes = _common_codes(infos)
        self.total = float(sum(info.weight for info in infos))
        self._complete = all(info.complete for info in infos)
        self.shape = (None, self.schema.n_features)
        self.attributes = infos[0].attributes
        self._worker = clone(estimator)
        self._set_attributes(self._worker)

    def fit(self, estimator):
        """Fit an estimator to the samples."""
        self._set_attributes(estimator)
        estimator._fit_samples(self)
        return estimator

    def _set_attributes(self, estimator):
        """Set what reading all samples would have set."""
        self.schema.set_attributes(estimator)
        if self.codes is not None:
            estimator.codes_, estimator._attributes = self.codes, self.attributes

    def all(self):
        """Check that no value is missing."""
        return self._complete

    def sum(self, function, *arguments):
        """Sum up ``function(*arguments, signs, weights)`` over the partitions.

        The order of the sum is that of the partitions, wherever tasks run.
        """
        return self.add_up(_apply, self._worker, function, arguments)


class SharedSamples(PartitionedSamples):
    """Stands for samples with the weights that one component of a mixture has of them.

    Parameters
    ----------
    samples : PartitionedSamples
    division : tuple of (object, callable, object)
        A name that no other division has, and a function that divides samples under
        a model: ``function(model, signs, weights)`` is a pair whose first item holds
        the weights by component. Each process divides its samples once.
    component : int
    total : float
        Weight of the component.
    """

    def __init__(self, samples, division, component, total):
        vars(self).update(vars(samples))
        self.schema = samples.schema._replace(names=None)
        self.codes, self.total = np.array([0.0, 1.0]), total
        self._division, self._component = division, component

    def sum(self, function, *arguments):
        """Sum up ``function(*arguments, signs, weights)`` over the partitions."""
        share = self._worker, self._division, self._component
        return self.add_up(_apply_to_share, *share, function, arguments)


def _common_codes(infos):
    """Find the codes of false and true of all partitions; None for real samples."""
    if infos[0].codes is None:
        return None
    signed = [info.codes[0] < 0 for info in infos]
    agree = all(s or i.only_true for s, i in zip(signed, infos, strict=True))
    return np.array([-1.0 if any(signed) and agree else 0.0, 1.0])


def _read_partition(worker, source, *, reset):
    X, _, sample_weight = load_partition(*source)
    if is_empty(X) or has_no_weight(sample_weight):
        return None, None
    signs = worker._read(X, reset=reset)
    return signs, checked_weights(sample_weight, len(signs))


def _apply(place, source, worker, function, arguments):
    """Compute the part of a sum that a partition has."""
    return function(*arguments, *_load(place, source, worker))


def _apply_to_share(place, source, worker, division, component, function, arguments):
    """Compute the part of a sum that a component has of a partition."""
    name, divide, model = division
    signs, weights = _load(place, source, worker)
    by_component = kept_last(
        (*place, "division"), name, lambda: divide(model, signs, weights)[0]
    )
    weights = by_component[:, component]
    return function(*arguments, signs[weights > 0], weights[weights > 0])


def _load(place, source, worker):
    """Load the signs and weights of a partition, unless this process has them."""

    def merged():
        with prefix_errors(place[1]):
            signs, weights = _read_partition(worker, source, reset=False)
        first, weights = merge_equal_samples(signs, weights)
        return signs[first], weights.astype(np.float64)

    return kept(place, merged)


class PartitionedFitMixin:
    """Fits to samples in several places; ``_fit_samples(samples)`` does the rest."""

    def _describe_partition(self, number, *source):
        """Check one partition, in a task of its own, and describe it."""
        with prefix_errors(number):
            samples, weights = _read_partition(self, source, reset=True)
            if samples is None:
                return None
            return PartitionInfo(
                number, TableSchema.of(self), getattr(self, "_attributes", None),
                getattr(self, "codes_", None), bool((samples == 1).all()),
                not self._is_missing(samples).any(), float(weights.sum()),
            )  # fmt: skip

    def fit_partitions(self, partitions) -> Self:
        """Fit the model to samples that are stored in several places.

        The result is that of ``fit`` on all samples, up to rounding and the random
        numbers of starts: each sum over samples is computed by one joblib task for
        each partition. It depends neither on ``n_jobs`` nor on joblib's backend.

        Parameters
        ----------
        partitions : iterable
            Pairs (X, y) or triples (X, y, sample_weight), callables that load and
            return one, or objects with such a method ``compute``, such as Dask's
            delayed ones. y is ignored and may be None. Callables are loaded where the
            task runs; each process keeps what it has loaded, a Boolean value in one
            byte and a real one in eight, until another fit needs the space. They must
            load the same samples every time. Arrays are sent.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            For invalid parameters and data, with the number of the partition. The
            estimator stays as it was.
        """
        with restore_on_error(self):
            sources = open_partitions(partitions)
            with Parallel(n_jobs=getattr(self, "n_jobs", None)) as parallel:
                samples = PartitionedSamples(self, parallel, sources)
                try:
                    samples.fit(self)
                finally:
                    samples.forget()
        return self
