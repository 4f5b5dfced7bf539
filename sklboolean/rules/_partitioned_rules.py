"""Rule lists of samples in partitions, by sums over their samples.

The samples that rules leave are named by these rules, so that a task may run anywhere.
"""

import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.conjunction_table import ConjunctionTable, RunningSums, ones_of
from sklboolean._core.labels import encode_classes
from sklboolean._core.packed_partitions import load_packed
from sklboolean._core.partition_sums import kept
from sklboolean.rules._gain_search import MAX_EXTENDED, GainSearch, gains_of
from sklboolean.rules._partitioned_training import check_fits_in_tables
from sklboolean.rules._rule_samples import RuleSamples

# Literals of conjunctions whose sums are sent. Longer ones extend the best of these.
LONGEST_SENT = 3
_MODELS = itertools.count()


class Selection(NamedTuple):
    """Which samples of a partition are used.

    Attributes
    ----------
    seeds : tuple of int or None
        For each partition, of its folds. None: all samples are used.
    n_folds, fold : int
    is_held_out : bool
        Whether those of the fold are used, or all others.
    model : int or None
        The name of a model that must not contradict the label.
    """

    seeds: tuple | None = None
    n_folds: int = 0
    fold: int = 0
    is_held_out: bool = False
    model: int | None = None


@dataclass(frozen=True)
class RuleSettings:
    """What a process needs to open the samples of a partition.

    Attributes
    ----------
    worker : estimator
        Loads a partition.
    classes : ndarray of shape (n_classes,)
    factors : ndarray of shape (n_classes,), float64
        Of the weights of the samples of each class.
    selection : Selection
    model : estimator or None
    """

    worker: object
    classes: np.ndarray
    factors: np.ndarray
    selection: Selection
    model: object

    def open(self, place, source):
        """Return the samples, as `RuleSamples`."""
        if self.model is not None:
            selection = self.selection._replace(model=None)
            bare = replace(self, selection=selection, model=None)
            samples = bare.opened(place, source).samples
            return samples.trusted(self.model, self.classes)
        part = load_packed(place, source, self.worker)
        _, codes = encode_classes(part.y, self.classes)
        weights = part.weights * self.factors[codes]
        size = part.schema.n_features, len(self.classes)
        samples = RuleSamples(part.words, codes, weights, *size)
        samples = samples.take(np.flatnonzero(weights))
        seeds, n_folds, fold, is_held_out, _ = self.selection
        if seeds is None:
            return samples
        rng = np.random.RandomState(seeds[place[1]])
        parts = samples.folds(n_folds, fold + 1, rng)
        return parts[fold][is_held_out]

    def opened(self, place, source):
        """Return the `RuleShare`, from what this process keeps or the source."""
        shares = kept((*place, "shares"), dict)
        for other in list(shares):  # of other folds
            if (other.seeds, other.fold) != (self.selection.seeds, self.selection.fold):
                del shares[other]
        if self.selection not in shares:
            shares[self.selection] = RuleShare(self.open(place, source))
        return shares[self.selection]


class RuleShare:
    """The samples of a partition, and the sums over them that rule lists need."""

    def __init__(self, samples):
        self.samples, self.of_gains, self.sums = samples, None, None

    def of_samples(self, name, *arguments):
        """Call a method of `RuleSamples`."""
        return getattr(self.samples, name)(*arguments)

    def n_samples(self):
        """Return the number of samples."""
        return len(self.samples)

    def draw(self, seed, share):
        """Return a share of the samples, drawn at random: words, codes, weights."""
        n_most = int(np.ceil(share * len(self.samples)))
        some = self.samples.draw(n_most, np.random.RandomState(seed))
        return some.words, some.codes, some.weights

    def ones(self, params):
        """Return the number of samples, and of those with each feature."""
        return len(self.samples), ones_of(self.samples.search(params).columns)

    def counts(self, params, layout):
        """Return the samples of each conjunction."""
        return self._table(params, layout).counts

    def _table(self, params, layout):
        tables = self.samples.searches
        if "of all" not in tables:
            search = self.samples.search(params)
            tables["of all"] = ConjunctionTable(search.words, search.columns, *layout)
        return tables["of all"]

    def gains(self, k, penalty):
        """Return the gain of each sample if a rule for a class covers it."""
        return gains_of(k, self.samples.codes, self.samples.weights, penalty)

    def largest_gain(self, k, penalty):
        """Return the largest absolute gain."""
        return np.abs(self.gains(k, penalty)).max(initial=0.0)

    def _is_left(self, params, rules):
        return ~self.samples.search(params).cover(rules)

    def gain_of(self, params, k, penalty, rules, literals):
        """Return the gain of a rule on the samples that satisfy none of some rules."""
        covered = self.samples.search(params).cover([literals])
        return self.gains(k, penalty)[self._is_left(params, rules) & covered].sum()

    def sums_of_gains(self, params, layout, task, rules):
        """Return the sums of the gains of the samples that satisfy none of some rules.

        ``task`` has the class, the penalty, and the digits of the gains behind the
        point.
        """
        self._move_to(params, layout, task, rules)
        return self.sums.sums[:-1]

    def _move_to(self, params, layout, task, rules):
        if self.of_gains != task:
            k, penalty, shift = self.of_gains = task
            whole = np.rint(np.ldexp(self.gains(k, penalty), shift)).astype(np.int64)
            self.sums = RunningSums(self._table(params, layout), whole, 1.0)
        self.sums.move_to(self._is_left(params, rules))

    def sums_of_longer(self, params, layout, task, rules, parents):
        """Return the sums of conjunctions, and of these with each place besides."""
        self._move_to(params, layout, task, rules)
        search, table, longer = self.samples.search(params), self.sums.table, []
        for literals in parents:
            values = self.sums.part_values * search.cover([literals])
            longer.append(np.r_[values.sum(), table.place_sums(values)])
        return np.array(longer)


def _ask(place, source, settings, name, arguments):
    """Call a method of the share of a partition."""
    return getattr(settings.opened(place, source), name)(*arguments)


def _draw(place, source, settings, seeds, share):
    """Draw samples of a partition, by a seed of its own."""
    return settings.opened(place, source).draw(seeds[place[1]], share)


@dataclass(frozen=True, eq=False)
class PartitionedRuleSamples:
    """Stands for `RuleSamples` whose bits stay where they are.

    Attributes
    ----------
    partitions : PackedPartitions
    settings : RuleSettings
    """

    partitions: object
    settings: RuleSettings

    def add_up(self, name, *arguments):
        """Add up what the shares of all partitions return."""
        return self.partitions.add_up(_ask, self.settings, name, arguments)

    def largest(self, name, *arguments):
        """Return the largest number that a share returns."""
        return max(self.partitions.map(_ask, self.settings, name, arguments))

    def __len__(self):
        return self.add_up("n_samples")

    def masses(self):
        """Compute the weight of each class."""
        return self.add_up("of_samples", "masses")

    def decisions(self, conjunctions):
        """Count what each of some rules decides."""
        return self.add_up("of_samples", "decisions", conjunctions)

    def draw(self, n_most, rng):
        """Return about so many samples, which are sent here."""
        share, seeds = min(1.0, n_most / len(self)), self._seeds(rng)
        parts = self.partitions.map(_draw, self.settings, seeds, share)
        size = self.partitions.schema.n_features, len(self.settings.classes)
        return RuleSamples(*map(np.concatenate, zip(*parts, strict=True)), *size)

    def _seeds(self, rng):
        """Draw a seed for each partition."""
        numbers = self.partitions.numbers
        return tuple(rng.randint(2**31, size=1 + max(numbers)).tolist())

    def _select(self, **fields):
        selection = self.settings.selection._replace(**fields)
        return replace(self, settings=replace(self.settings, selection=selection))

    def folds(self, n_folds, n_parts, rng):
        """Let each partition split its samples into seen and held-out ones."""
        seeds = self._seeds(rng)
        return [
            tuple(
                self._select(seeds=seeds, n_folds=n_folds, fold=k, is_held_out=held)
                for held in (False, True)
            )
            for k in range(n_parts)
        ]

    def trusted(self, model, classes):
        """Set the weights of samples to 0 whose label a model contradicts."""
        trusted = self._select(model=next(_MODELS))
        return replace(trusted, settings=replace(trusted.settings, model=model))

    def gain_search(self, order, penalty, params):
        """Prepare a search for rule lists."""
        return PartitionedGainSearch(self, order, penalty, params)

    @staticmethod
    def map(function, items, n_jobs):
        """Return ``function(*item)`` of each item, one after the other."""
        return [function(*item) for item in items]


class PartitionedGainSearch(GainSearch):
    """Greedy rule lists: ``left`` is the set of rules that a sample must not satisfy.

    Parameters
    ----------
    samples : PartitionedRuleSamples
    order, penalty, params
        As for `GainSearch`.
    """

    def __init__(self, samples, order, penalty, params):
        self.samples, self.order, self.penalty = samples, order, penalty
        self.params, self.known, self.gains_of = params, {}, None
        # What the worker needs to lay out samples. A deadline is none of its business.
        self.given = replace(params, deadline=None)
        n_features = samples.partitions.schema.n_features
        self.longest = min(params.max_literals, n_features)
        _check_length(self.longest, params.width)
        sent = min(LONGEST_SENT, self.longest)
        check_fits_in_tables(n_features, sent)
        groups = encode_groups(params.feature_groups, n_features)
        n_samples, ones = samples.add_up("ones", self.given)
        self.n_samples, self.layout = n_samples, (groups, sent, (ones, n_samples))
        self.table = ConjunctionTable.of_all(self.layout)
        self.table.counts = samples.add_up("counts", self.given, self.layout)

    def everything(self):
        """Leave out no samples."""
        return frozenset()

    def without(self, left, conjunctions):
        """Leave out the samples of some conjunctions."""
        return left | set(conjunctions)

    def key(self, left):
        """Return a name of the samples that are left."""
        return left

    def gain_of(self, k, left, literals):
        """Compute what a rule for a class gains on the samples that are left."""
        task = self.given, k, self.penalty, sorted(left), literals
        return self.samples.add_up("gain_of", *task)

    def best_by_length(self, k, left):
        """Find the conjunction of each length with the largest gain."""
        if self.gains_of != k:
            largest = self.samples.largest("largest_gain", k, self.penalty) or 1.0
            # Sums of whole numbers are exact below 2**53.
            shift = 52 - self.n_samples.bit_length() - int(np.frexp(largest)[1])
            self.gains_of, task = k, (k, self.penalty, shift)
            self.sums = PartitionedSums(self.samples, self.table, task, self)
        width = min(self.params.width or 1, MAX_EXTENDED)
        return self.sums.best(left, self.params.monotone, self.longest, width)


class PartitionedSums(RunningSums):
    """Sums of the gains of the samples that some rules leave."""

    def __init__(self, samples, table, task, search):
        self.samples, self.table, self.unit = samples, table, np.ldexp(1.0, -task[2])
        self.given = search.given, search.layout, task
        self.used = np.zeros(0, dtype=np.uint64)

    def move_to(self, left):
        """Get the sums of the samples that these rules leave."""
        self.left = sorted(left)
        sums = self.samples.add_up("sums_of_gains", *self.given, self.left)
        self.sums = [*sums, np.zeros(0)]

    def _extended(self, parents, floor, monotone):
        """Find the best conjunction that adds a literal to one of its parents."""
        n = self.table.n_features
        pairs = [tuple((j % n, j < n) for j in literals) for literals, _ in parents]
        if not pairs:
            return []
        longer = self.samples.add_up("sums_of_longer", *self.given, self.left, pairs)
        return best_longer(parents, longer, self.table, floor, monotone)


def best_longer(parents, longer, table, floor, monotone):
    """Find the best conjunction with one literal more, of a sum above a floor.

    Of equal sums the one whose literals come first.

    Parameters
    ----------
    parents : list of (literals, sum)
        Literals are numbers: of features, and of negations behind these.
    longer : ndarray of shape (n_parents, 1 + n_features), float64
        The sum of each, and those of the samples in which each place is true besides.

    Returns
    -------
    found : list of (literals, sum)
        One at most.
    """
    n, found = table.n_features, []
    for (literals, _), sums in zip(parents, longer, strict=True):
        own = table.groups[table.place_of[np.array(literals) % n]]
        is_free = ~np.isin(table.groups, own)
        for is_true in (True, False):
            # A place may hold a negated feature.
            is_feature = table.inverted != is_true
            values = sums[1:] if is_true else sums[0] - sums[1:]
            allowed = is_free & (is_feature | (not monotone)) & (values > floor)
            if not allowed.any():
                continue
            largest = values[allowed].max()
            for place in np.flatnonzero(allowed & (values == largest)):
                added = int(table.features[place]) + (0 if is_feature[place] else n)
                found.append((-largest, sorted([*literals, added])))
    return [(literals, -sum_) for sum_, literals in sorted(found)[:1]]


def _check_length(longest, width):
    """Refuse conjunctions that are longer than sums can find."""
    if longest > LONGEST_SENT + (width is not None):
        raise ValueError(
            f"by_sums=True: rules of {longest} literals cannot be found. Set "
            f"max_literals={LONGEST_SENT}, or {LONGEST_SENT + 1} with a width, or use "
            "by_sums=False."
        )
