"""Fits of conjunction models to partitions, by sums over their samples.

Each task gets the model as it is, and returns a loss, slopes, curvatures or a table of
sums of one partition. A process keeps what it has computed for the last model; another
one computes it anew, so that a task may run anywhere.
"""

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sklboolean._core.conjunction_search import SearchResult, encode_groups
from sklboolean._core.conjunction_table import (
    ConjunctionTable,
    as_pairs,
    fits_in_tables,
)
from sklboolean._core.held_out import disjoint_test_sets
from sklboolean._core.packed_partitions import load_packed
from sklboolean._core.partition_sums import kept_last
from sklboolean._core.search_task import SearchTask
from sklboolean.rules._column_generation import ColumnGeneration, encode_conjunctions
from sklboolean.rules._curvatures import Curvatures
from sklboolean.rules._l1_problem import L1Problem

# Binary digits of residuals behind the point, at most, where prices are 1 and more.
FINEST = 40
# Samples that all partitions hold out to choose C, at most, about: they are sent.
MOST_HELD_OUT = 2**20


def check_fits_in_tables(n_features, longest):
    """Refuse tables that are too large."""
    if not fits_in_tables(n_features, longest):
        raise ValueError(
            f"by_sums=True: the sums of all conjunctions of {longest} of {n_features} "
            "features are too many to be sent. Lower max_literals, or use "
            "by_sums=False."
        )


class Point(NamedTuple):
    """A model, as tasks get it: its conjunctions are encoded."""

    C: float
    indptr: np.ndarray
    literals: np.ndarray
    coefficients: np.ndarray

    def conjunctions(self, first):
        """Return the conjunctions from place ``first`` on."""
        literals = self.literals.tolist()
        return [
            tuple((j // 2, j % 2 == 0) for j in literals[begin:end])
            for begin, end in pairwise(self.indptr[first:].tolist())
        ]

    def extends(self, other):
        """Whether the conjunctions begin with those of another model."""
        n_before = len(other.indptr)
        return np.array_equal(self.indptr[:n_before], other.indptr) and np.array_equal(
            self.literals[: len(other.literals)], other.literals
        )


class Holding(NamedTuple):
    """The samples that each partition holds out: set ``k`` of some that it draws."""

    seeds: tuple
    n_sets: int
    k: int

    def drawn(self, number, strata, weights):
        """Mark the samples of a partition that are held out."""
        rng = np.random.RandomState(self.seeds[number])
        strata = np.where(weights > 0, strata, -1)
        tests = disjoint_test_sets(strata, self.n_sets, rng)
        is_held_out = np.zeros(len(weights), dtype=bool)
        is_held_out[tests[self.k] if self.k < len(tests) else []] = True
        return is_held_out


@dataclass(frozen=True)
class ShareSettings:
    """What a process needs to open the samples of a partition.

    Attributes
    ----------
    worker : estimator
        Loads a partition.
    read : callable
        ``read(part)`` returns the weights, targets and strata of a `PackedPartition`.
    loss : {"logistic", "softmax", "squared"}
    space : ConjunctionSpace
    holding : Holding or None
        None: all samples are used.
    """

    worker: object
    read: object
    loss: str
    space: object
    holding: Holding | None

    def samples(self, place, source, *, held_out=False):
        """Return words, weights and targets of the samples to fit, or of the others."""
        part = load_packed(place, source, self.worker)
        weights, targets, strata = self.read(part)
        if self.holding is None:
            return part.words, weights, targets
        chosen = self.holding.drawn(place[1], strata, weights) == held_out
        return part.words[chosen], weights[chosen], targets[:, chosen]


class Share:
    """The samples of a partition, and the sums over them that a fit needs."""

    def __init__(self, settings, place, source):
        samples = settings.samples(place, source)
        self.generation = ColumnGeneration(*samples, settings.loss, settings.space)
        self.point, self.table = None, None

    def at(self, point):
        """Bring the samples to a model."""
        before, self.point = self.point, None  # until all is done
        if point is None or before is None or not point.extends(before):
            self.generation.keep_columns([0])
            before = None
        if point is None:
            return self
        new = point.conjunctions(len(self.generation.columns) - 1)
        if new:
            self.generation.add_columns(new)
        if before is None or before.C != point.C:
            self.problem, before = self.generation.problem(point.C), None
            self.references = [None] * len(self.problem.curvatures)
        if before is None or not _are_equal(before.coefficients, point.coefficients):
            self._move_to(point.coefficients)
        self.point = point
        return self

    def _move_to(self, coefficients):
        columns = self.generation.columns
        padding = (0, 0), (0, len(columns) - coefficients.shape[1])
        self.loss = self.problem.begin(columns, np.pad(coefficients, padding))
        self.problem.update_means()

    def value(self):
        """Return the loss."""
        return self.loss

    def slopes(self):
        """Return the slopes of the loss by the coefficients."""
        return self.problem.slopes(self.generation.columns)

    def curvature(self, model, reference, active, n_new):
        """Return second derivatives at reference coefficients: the last rows."""
        curvatures = self._rounded(model, reference)
        return curvatures.among(self.generation.columns, active)[-n_new:]

    def moved(self, model, reference):
        """Return the distance of curvatures from those at reference coefficients."""
        curvatures = self._rounded(model, reference)
        return curvatures.moved(self.problem.curvature_values(model))

    def _rounded(self, model, reference):
        """Round the curvatures of reference coefficients, unless that is done."""
        curvatures, here = self.problem.curvatures[model], self.point.coefficients
        if not _are_equal(self.references[model], reference):
            is_elsewhere = not _are_equal(here, reference)
            if is_elsewhere:
                self._move_to(reference)
            curvatures.round(self.problem.curvature_values(model))
            self.references[model] = reference
            if is_elsewhere:
                self._move_to(here)
        return curvatures

    def largest_residual(self, k):
        """Return the largest absolute residual of an output."""
        residuals = self.generation.residuals(self.problem, self.point.C, k)
        return np.abs(residuals).max(initial=0.0)

    def sums_of_residuals(self, k, shift, layout):
        """Return the sums of rounded residuals, and the sum of the errors."""
        residuals = self.generation.residuals(self.problem, self.point.C, k)
        rounded = np.rint(np.ldexp(residuals, shift))
        residuals -= np.ldexp(rounded, -shift)
        return self._table(layout).sums(rounded), np.abs(residuals).sum()

    def ones(self):
        """Return the number of samples of weight above 0, and of each feature."""
        return self.generation.n_samples, self.generation.count_features()

    def counts(self, layout):
        """Return the samples of each conjunction, and nanoseconds to add them up."""
        table = self._table(layout)
        return table.counts, table.cost.adding

    def _table(self, layout):
        if self.table is None:
            words, features = self.generation.words, self.generation.features
            self.table = ConjunctionTable(words, features, *layout)
        return self.table

    def of_samples(self, name, *arguments):
        """Call a method of `ColumnGeneration` for these samples."""
        return getattr(self.generation, name)(self.problem, *arguments)

    def count_columns(self, places):
        """Count the samples of columns."""
        return self.generation.count_columns(places)


def _are_equal(first, second):
    return first is not None and np.array_equal(first, second)


def _ask(place, source, settings, point, name, arguments):
    """Call a method of the share of a partition, at a model."""
    share = kept_last(
        (*place, "share"), settings.holding, lambda: Share(settings, place, source)
    )
    return getattr(share.at(point), name)(*arguments)


def _held_out(place, source, settings):
    """Return the samples that a partition holds out."""
    return settings.samples(place, source, held_out=True)


def _largest_weight(part, read):
    weights, _, _ = read(part)
    return weights.max()


class PartitionedTraining:
    """Stands for `TrainingSamples` whose bits stay where they are.

    Parameters
    ----------
    partitions : PackedPartitions
    read : callable
        ``read(part)`` returns the weights, targets and strata of a `PackedPartition`.
    n_outputs : int
    loss : {"logistic", "softmax", "squared"}
    """

    def __init__(self, partitions, read, n_outputs, loss):
        self.partitions, self.read = partitions, read
        self.n_outputs, self.loss = n_outputs, loss

    def largest_weight(self):
        """Return the largest weight of a sample."""
        return float(max(self.partitions.each(_largest_weight, self.read)))

    def generation(self, space, n_jobs, holding=None):
        """Prepare a fit to all samples, or to those that are not held out."""
        settings = self.settings(space, holding)
        return PartitionedGeneration(self.partitions, settings, self.n_outputs)

    def settings(self, space, holding):
        """Return the settings with which processes open the partitions."""
        worker = self.partitions.worker
        return ShareSettings(worker, self.read, self.loss, space, holding)

    def parts(self, model):
        """Let each partition draw samples to hold out."""
        if not (model.cv is None or isinstance(model.cv, Integral)):
            raise ValueError(
                "by_sums=True: each partition draws its held-out samples. Give cv a "
                "number or None."
            )
        n_samples = self.partitions.n_samples
        n_sets = n_parts = model._n_folds(n_samples)
        if n_sets is None:
            n_sets, n_parts = max(4, -(-n_samples // MOST_HELD_OUT)), 1
        rng = check_random_state(model.random_state)
        seeds = rng.randint(2**31, size=1 + max(self.partitions.numbers))
        return [
            PartitionedPart(self, Holding(tuple(seeds.tolist()), n_sets, k))
            for k in range(n_parts)
        ]

    @staticmethod
    def map(function, parts, n_jobs):
        """Yield ``function(part)`` for each part, one after the other."""
        return map(function, parts)

    def held_out_scores(self, parts, scores):
        """Return None: the scores of all samples may be too many."""


class PartitionedPart(NamedTuple):
    """The samples that partitions hold out, and the others."""

    samples: PartitionedTraining
    holding: Holding

    def generation(self, space):
        """Prepare a fit to the samples that are not held out."""
        return self.samples.generation(space, None, self.holding)

    def held_out(self):
        """Return the words, weights and targets of the samples that are held out."""
        settings = self.samples.settings(None, self.holding)
        parts = self.samples.partitions.map(_held_out, settings)
        words, weights, targets = zip(*parts, strict=True)
        if not sum(map(len, words)):
            raise ValueError(
                "No partition has two samples of one class, so that none can be held "
                "out to choose C. Set C, or make larger partitions."
            )
        targets = np.concatenate(targets, axis=1).T
        return np.concatenate(words), np.concatenate(weights), targets


class PartitionedGeneration(ColumnGeneration):
    """Column generation over the samples of partitions, by tables of sums.

    Parameters
    ----------
    partitions : PackedPartitions
    settings : ShareSettings
    n_outputs : int
    """

    def __init__(self, partitions, settings, n_outputs):
        self.partitions, self.settings, self.C = partitions, settings, None
        space = settings.space
        self._begin(n_outputs, settings.loss, space, np.inf)
        self.columns, longest = range(1), min(space.max_literals, space.n_features)
        self.n_samples, self.ones = self._add_up(None, "ones")
        check_fits_in_tables(space.n_features, longest)
        groups = encode_groups(space.feature_groups, space.n_features)
        self.layout = groups, longest, (self.ones, self.n_samples)
        self.table = ConjunctionTable.of_all(self.layout)
        self.table.counts, adding = self._add_up(None, "counts", self.layout)
        self.nanoseconds = self.table.cost.nanoseconds + adding

    def _point(self, coefficients):
        encoded = encode_conjunctions(self.conjunctions)
        return Point(self.C, *encoded, coefficients)

    def _add_up(self, point, name, *arguments):
        return self.partitions.add_up(_ask, self.settings, point, name, arguments)

    def ask(self, coefficients, name, *arguments):
        """Add up what the shares of all partitions return at these coefficients."""
        return self._add_up(self._point(coefficients), name, *arguments)

    def add_columns(self, conjunctions):
        """Count columns: shares make them when they need them."""
        self.columns = range(len(self.columns) + len(conjunctions))

    def keep_columns(self, kept):
        """Count columns: shares make them anew when they need them."""
        self.columns = range(len(kept))

    def count_features(self):
        """Return the number of samples in which each feature is true."""
        return self.ones

    def problem(self, C):
        """Make the problem of fitting to the columns."""
        self.C = C
        return PartitionedProblem(self)

    @property
    def is_by_tables(self):
        """All searches are by tables."""
        return True

    def _search_residuals(
        self, problem, C, k, digits, *, n_rules, length_weights, floor, **limits
    ):
        task = self.settings, self._point(problem.coefficients), "largest_residual"
        largest = max(self.partitions.map(_ask, *task, (k,)))
        if not largest:
            return SearchResult([], 0.0, True, 0.0), 0.0
        # Sums of whole numbers are exact below 2**53.
        n_bits = int(np.ceil(np.log2(self.n_samples)))
        shift = int(min(digits, 52 - n_bits)) - int(np.frexp(largest)[1])
        shift = min(shift, FINEST)
        sums, error = self.ask(
            problem.coefficients, "sums_of_residuals", k, shift, self.layout
        )
        unit, table = np.ldexp(1.0, -shift), self.table
        monotone = bool(self.space.monotone)
        task = SearchTask(n_rules, "both", length_weights, floor / unit, monotone, True)
        no_words = np.zeros(0, dtype=np.uint64)
        found = table.no_rows.scan(table, no_words, sums, table.counts, task)
        listed = [
            (as_pairs(literals, table.n_features), unit * sum_)
            for literals, sum_ in found
        ]
        return SearchResult(listed, floor, True, self.nanoseconds), error

    def excess(self, problem, shift):
        """Sum up what means exceed the targets by after a shift of the intercepts."""
        return self.ask(problem.coefficients, "of_samples", "excess", shift)

    def _set_shifted(self, problem, shift):
        problem.coefficients = self.coefficients.copy()

    def products(self, problem):
        """Sum up residuals times targets, and their squares, for each output."""
        return self.ask(problem.coefficients, "of_samples", "products")

    def entropy(self, problem, scale):
        """Sum up the entropy of targets less so many times their residuals."""
        return self.ask(problem.coefficients, "of_samples", "entropy", scale)

    def count_columns(self, places):
        """Count the samples of columns."""
        return self.ask(self.coefficients, "count_columns", places)


class PartitionedProblem(L1Problem):
    """An L1 problem over the samples of partitions.

    Attributes
    ----------
    coefficients : ndarray of shape (n_outputs, n_columns)
        Where shares compute slopes and curvatures.
    """

    def __init__(self, generation):
        n_outputs = len(generation.coefficients)
        super().__init__(generation.loss, None, np.empty((n_outputs, 0)))
        self.generation = generation
        self.curvatures = [
            PartitionedCurvatures(self, model, curvatures.pairs)
            for model, curvatures in enumerate(self.curvatures)
        ]

    def begin(self, columns, coefficients):
        """Return the loss of the samples."""
        self.coefficients = coefficients.copy()
        return self.ask("value")

    def ask(self, name, *arguments):
        """Add up what the shares of all partitions return."""
        return self.generation.ask(self.coefficients, name, *arguments)

    def update_means(self):
        """Do nothing: shares have means of their own."""

    def slopes(self, columns):
        """Compute the slopes of the loss by the coefficients of columns."""
        n_samples, n_outputs = self.generation.n_samples, len(self.coefficients)
        self.work += (len(columns) // 8 + 30) * n_samples * n_outputs
        return self.ask("slopes")

    def curvature_values(self, model):
        """Return the coefficients, from which shares compute curvatures."""
        return self.coefficients

    def aim(self, columns, coefficients, change):
        """Keep the coefficients and their change."""
        self.start, self.change = coefficients.copy(), change

    def loss_after(self, rate):
        """Compute the loss after a part of the change."""
        self.coefficients = self.start + rate * self.change
        return self.ask("value")

    def move(self, rate):
        """Move the coefficients by a part of the change."""
        self.coefficients = self.start + rate * self.change


class PartitionedCurvatures(Curvatures):
    """Second derivatives that shares count: ``reference`` holds coefficients."""

    def __init__(self, problem, model, pairs):
        super().__init__(pairs)
        self.problem, self.model, self.unit = problem, model, 1.0

    def round(self, values):
        """Forget what was counted at other coefficients."""
        self.reference, self.known = values.copy(), self.known[:, :0]

    def moved(self, values):
        """Return the distance of curvatures from those at the reference, and these."""
        if self.problem.loss == "squared":
            return 0.0, 0.0
        return self.problem.ask("moved", self.model, self.reference)

    def keep(self, kept):
        """Forget everything: columns that are not kept may count for the reference."""
        self.reference, self.known = None, self.known[:, :0]

    def _count(self, columns, new):
        first, n_new = self.known.shape[1], new.shape[1]
        self.known, size = np.hstack([self.known, new]), first + n_new
        task = self.model, self.reference, self.known, n_new
        rows = self.problem.ask("curvature", *task)
        self.matrix[first:size, :size] = rows
        self.matrix[:size, first:size] = rows.T
        self.work += n_new * size * self.problem.generation.n_samples // 64
