"""Tables of the sums of all short conjunctions: exact searches at a cost known before.

Each sample adds its coefficient to the sums of all conjunctions of its true features.
Sums of conjunctions with negations follow by subtraction, and one scan of the tables
finds the best of all conjunctions. A feature that is true in more than half of the
samples is counted by its negation. Of one-hot columns the most frequent is not counted:
its sums are what the others leave. Of nested columns, such as the thresholds of a
number, a sample adds to the last one only: running sums give the others.
"""

# A table holds, for each length k up to 4, one float64 array of C(n_features, k) sums.
# Places u1 < ... < uk have the rank C(u1, 1) + ... + C(uk, k) there. The steps:
#
# 1. Lay out. A place is a feature: chains of nested ones, those with the most frequent
#    first, the largest set first in each; features that are left out come last. A
#    feature that is true in more than half of the samples is inverted. A sample has one
#    place of each chain, the last that is true, so each sample has few.
# 2. Add. Each sample adds its value to the sums of the conjunctions of its places: one
#    by one (``scatter``), by blocks of places whose bits are the number of a bin
#    (``sum_blocks``), or, for few different values, by counting covers (``count``).
#    Sums beyond the cache, and those of several targets side by side, are added up by
#    the largest place of their conjunctions (``scatter_by_place``).
#    `TableCost` knows the time of each before anything is done.
# 3. Finish. Running sums within chains give those of all samples where a place is true.
#    Of one-hot columns exactly one is true, so the sums with the one that was left out
#    are sums of shorter conjunctions less those with the others.
# 4. Scan. sum(A and not b) = sum(A) - sum(A and b) gives all signs; the best are kept.
#
# Invariant: values are whole numbers below 2**53 in total, so sums are exact in float64
# and do not depend on the order of additions, on blocks or on threads.

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import comb

import numpy as np
from scipy.special import comb as binomials

from sklboolean._core._popcount import count_ones
from sklboolean._core._table import ABREAST, LONGEST, TARGETS, TableRows
from sklboolean._core.bits import PIECE, pack_dense, transpose_words, unpack_words
from sklboolean._core.parallel import count_threads, each_slice
from sklboolean._core.search_task import SearchTask

# The most sums of a table: 8 bytes for each sum and 4 for each count.
MAX_SUMS = 2**24
# Nanoseconds that a step takes, measured on x86-64 with AVX2: an addition to a table,
# one to the bins of a block, the bins of one choice of blocks, a word of samples that
# is counted for a conjunction, clearing and scanning a sum, with one sign of each place
# but the first, and adding a sum to another one in a chain, or subtracting it from one
# that is completed.
ADD, ADD_TO_BIN, BINS, COUNT, SCAN, COMPLETE = 1.3, 1.6, 12e3, 0.35, 1.0, 0.5
# Ones of samples that are listed at a time, in 2 bytes each.
LISTED = 2**24
# Samples that are counted at a time: their columns stay in the second cache.
COUNTED = 2**12
# Nanoseconds of additions that are done before a second thread has started.
ADDED_BY_ONE = 2e5
# Nanoseconds of additions that make up for each sum that a thread has of its own.
COPY = 8
# Sums of a length that stay in the cache, whatever the order of additions.
IN_CACHE = 2**18
# Sums up to which those of several targets are added up side by side; those of eight
# targets take 32 MiB then, and additions this share of their time.
MOST_ABREAST, SHARE_ABREAST = 2**19, 0.4
# Bits of a bin: blocks of 12, 6, 4, 3 features for 1, 2, 3, 4 literals.
BIN_BITS = 12


@dataclass(frozen=True)
class TableCost:
    """Cost of a table, known from the number of ones in each sample.

    Attributes
    ----------
    n_sums : int
        Number of sums, of conjunctions of true features.
    adding : float
        Nanoseconds of a core to add up numbers of all samples.
    nanoseconds : float
        Time of a search, without layout.
    uses_blocks : tuple of bool
        For each length, from 0 on, whether blocks of features are added up.
    """

    n_sums: int
    adding: float
    nanoseconds: float
    uses_blocks: tuple

    @classmethod
    def of(cls, ones, n_features, longest, n_others=(), *, has_chains=False):
        """Estimate from the number of ones in each sample, as places hold them.

        ``n_others`` are the other features of each group of which one is not counted.
        """
        n_counted = n_features - len(n_others)
        values, repeats = np.unique(ones, return_counts=True)
        adding, scanning, uses_blocks, n_sums = 0.0, 0.0, [False], 1
        for length in range(1, longest + 1):
            n_sums += comb(n_features, length)
            scattered = ADD * float(binomials(values, length) @ repeats)
            n_blocks = -(-n_counted * length // BIN_BITS)
            n_choices = comb(n_blocks + length - 1, length)
            in_blocks = n_choices * (ADD_TO_BIN * len(ones) + BINS)
            uses_blocks.append(1 < length and in_blocks < scattered)
            adding += min(scattered, in_blocks) if length > 1 else scattered
            scanning += SCAN * 2 ** (length - 1) * comb(n_features, length)
            scanning += COMPLETE * sum(n_others) * comb(n_features, length - 1)
            scanning += COMPLETE * has_chains * length * comb(n_counted, length)
        return cls(n_sums, adding, adding + scanning, tuple(uses_blocks))


def to_integers(coefficients):
    """Round coefficients to integers with a total below 2**52; return their unit too.

    Coefficients that are integer multiples of a power of two keep their value.
    """
    size = np.abs(coefficients)
    exponent = int(np.frexp(size.max(initial=0.0))[1])
    total = np.ldexp(size, -exponent, out=size).sum()
    shift = 52 - exponent - int(np.frexp(total)[1])
    np.rint(np.ldexp(coefficients, shift, out=size), out=size)
    integers = size.astype(np.int64)
    divisor = int(np.gcd.reduce(integers)) or 1
    integers //= divisor
    return integers, float(np.ldexp(float(divisor), -shift))


def as_pairs(literals, n_features):
    """Write literals as (feature, value) pairs; those of negations come last."""
    return tuple(sorted([(j % n_features, j < n_features) for j in literals]))


def fits_in_tables(n_features, longest):
    """Test whether tables of all conjunctions are small enough to be made."""
    if longest > LONGEST or n_features >= 2**16:
        return False
    return sum(comb(n_features, k) for k in range(longest + 1)) <= MAX_SUMS


def ones_of(columns):
    """Count the ones of each column, int64."""
    ones = np.zeros(len(columns), dtype=np.int32)
    if columns.size:
        count_ones(columns, ones)
    return ones.astype(np.int64)


def choose_inverted(ones, n_samples):
    """Choose the features that are true in more than half of the samples."""
    inverted = 2 * ones > n_samples
    return inverted, np.where(inverted, n_samples - ones, ones)


def one_hot_runs(columns, n_samples):
    """Find runs of columns of which exactly one is true in each sample.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_words), uint64
        The samples where each feature is true.
    n_samples : int

    Returns
    -------
    runs : list of range
    """
    ones = np.empty(len(columns), dtype=np.int32)
    count_ones(columns, ones)
    # Columns that are a partition of the samples have as many ones as there are
    # samples, so the cumulated ones tell where a run that begins at ``first`` would
    # have to end.
    ends, runs, first = np.r_[0, np.cumsum(ones, dtype=np.int64)], [], 0
    while first < len(columns) and n_samples:
        end = ends[first] + n_samples
        last = int(np.searchsorted(ends, end, side="right")) - 1
        # The ones are as many as the samples, and each has one.
        is_run = ends[last] == end and last > first + 1
        union = np.bitwise_or.reduce(columns[first:last], axis=0)[None, :]
        n_covered = np.empty(1, dtype=np.int32)
        count_ones(union, n_covered)
        is_run = is_run and n_covered[0] == n_samples
        if is_run:
            runs.append(range(first, last))
        first = last if is_run else first + 1
    return runs


def distinct_features(columns, groups, directions, n_samples, *, monotone):
    """Choose the features whose literals are those of no earlier one.

    The thresholds of a number have two features each, ``x <= t`` and ``x > t``, of
    which one is enough where conjunctions may negate it. Of features that share their
    group with others only those of this group are compared.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_words), uint64
        The samples where each feature is true.
    groups : ndarray of shape (n_features,), int32
    directions : ndarray of shape (n_features,), int8
        Equal features of other directions are not the same.
    n_samples : int
    monotone : bool
        Whether literals are the features only, not their negations.

    Returns
    -------
    features : ndarray of shape (n_distinct,), int64
    literals : ndarray of shape (n_distinct, 2), int64
        The first literal that is true where each feature is false, and where it is
        true. That of feature j is j, that of its negation n_features + j.
    """
    samples = pack_dense(np.ones((1, n_samples), dtype=np.uint8))[0]
    groups = np.where(np.bincount(groups)[groups] > 1, groups, -1).tolist()
    features, literals, seen = [], [], {}
    labels = zip(groups, directions.tolist(), columns, strict=True)
    for j, (group, direction, column) in enumerate(labels):
        key = group, direction, blake2b(column).digest()
        same = seen.get(key)
        if same is None:
            literals.append([len(columns) + j, j])
            seen[key] = literals[-1], 1
            if not monotone:
                negation = blake2b(~column & samples).digest()
                seen[group, -direction, negation] = literals[-1], 0
            features.append(j)
        else:
            literal, value = same
            literal[value] = min(literal[value], j)
    return np.array(features), np.array(literals)


def is_within(inner, outer):
    """Test if a column is true only where another one is."""
    return not (inner & ~outer).any()


def nested_chains(columns):
    """Split columns into runs, and order each: a column is within the one before.

    Parameters
    ----------
    columns : iterable of ndarray of shape (n_words,), uint64

    Returns
    -------
    chains : list of lists of int
    """
    chains, before = [], None
    for j, column in enumerate(columns):
        if j and chains[-1][-1] == j - 1 and is_within(column, before):
            chains[-1].append(j)
        elif j and chains[-1][0] == j - 1 and is_within(before, column):
            chains[-1].insert(0, j)
        else:
            chains.append([j])
        before = column
    return chains


class ConjunctionTable:
    """Samples laid out for tables of sums.

    Parameters
    ----------
    words : ndarray of uint64 words
        Boolean samples.
    columns : ndarray of uint64 words
        The samples where each feature is true.
    groups : ndarray of shape (n_features,), int32
        Features of one group never occur together in a conjunction.
    literals : ndarray of shape (n_features, 2), int32
        The number of the literal of each feature where it is false, and where it is
        true.
    literal_signs : ndarray of uint8
        Those of each literal; see `signs_of_literals`.
    longest : int
        Maximum length of a conjunction, at most ``LONGEST``.
    n_jobs : int or None

    Attributes
    ----------
    literals : ndarray of shape (n_features, 2), int32
        The same of each place.
    features : ndarray of shape (n_features,), int32
        The feature of each place.
    chains : ndarray of shape (n_counted,), int32
        The number of the chain of each place that is not left out, ascending.
    cost : TableCost
    """

    def __init__(
        self, words, columns, groups, literals, literal_signs, longest, n_jobs=1
    ):
        self.words, self.columns, self.longest = words, columns, longest
        self.n_jobs, self.n_features = n_jobs, len(groups)
        is_inverted, ones = choose_inverted(ones_of(columns), len(words))
        self.completed = self._choose_completed(is_inverted, ones)
        left_out = np.zeros(len(is_inverted), dtype=bool)
        left_out[list(self.completed)] = True
        self.is_inverted = is_inverted & ~left_out
        self.inverted_bits = pack_dense(self.is_inverted[None, :])[0]
        self._choose_places(ones, np.flatnonzero(~left_out))
        self.groups, self.literals = groups[self.features], literals[self.features]
        inverted = self.is_inverted[self.features]
        self.literals[inverted] = self.literals[inverted, ::-1]
        self.inverted = inverted.astype(np.uint8)
        self.literal_signs = literal_signs[self.literals]
        n_ones = self._ones_of(words)
        self.n_ones = int(n_ones.sum(dtype=np.int64))
        n_others = [len(others) for others in self.completed.values()]
        sizes = n_ones, self.n_features, longest, n_others
        self.cost = TableCost.of(*sizes, has_chains=self.has_chains)

    def _choose_completed(self, is_inverted, ones):
        """Map the most frequent of each run of one-hot columns to the others."""
        n_samples = len(self.words)
        n_true = np.where(is_inverted, n_samples - ones, ones)
        most = {
            max(run, key=lambda j: n_true[j]): run
            for run in one_hot_runs(self.columns, n_samples)
        }
        return {j: [k for k in run if k != j] for j, run in most.items()}

    def _choose_places(self, ones, counted):
        """Order the features: chains by their most frequent ones, then those left out.

        ``ones`` are the samples where each is true, or false if it is inverted.
        """
        samples = pack_dense(np.ones((1, len(self.words)), dtype=np.uint8))[0]
        inverted = self.is_inverted
        columns = (self.columns[j] ^ samples * inverted[j] for j in counted)
        chains = [counted[chain] for chain in nested_chains(columns)]
        chains.sort(key=lambda chain: -ones[chain[0]])
        others = sorted(self.completed, key=lambda j: -ones[j])
        self.features = np.concatenate([*chains, others]).astype(np.int32)
        lengths = [len(chain) for chain in chains]
        self.chains = np.repeat(np.arange(len(chains), dtype=np.int32), lengths)
        self.has_chains = len(chains) < len(counted)

    def satisfied(self, places, are_true):
        """Mark the samples where places of each row are true or false, as asked for."""
        columns = self.columns[self.features[places]]
        columns[are_true == self.inverted[places]] ^= ~np.uint64(0)
        satisfied = np.bitwise_and.reduce(columns, axis=1)
        return unpack_words(satisfied, len(self.words))

    def _ones_of(self, words):
        """Count the places that each sample adds to, without those left out."""
        n_ones = np.empty(len(words), dtype=np.int32)
        for first in range(0, len(words), PIECE):
            piece = slice(first, first + PIECE)
            count_ones(self._places_of(words[piece]), n_ones[piece])
        return n_ones

    def _places_of(self, words):
        """Write the places that each sample adds to, of a chain the last true one."""
        columns = self._columns_of(words)[: len(self.chains)]
        return transpose_words(columns, len(words))

    def _columns_of(self, words):
        """Write the samples that add to each place, as words."""
        columns = self._true_columns(words)
        nested = np.flatnonzero(np.diff(self.chains) == 0)
        columns[nested] &= ~columns[nested + 1]
        return columns

    def _true_columns(self, words):
        """Write the samples where each place is true, as words."""
        columns = transpose_words(words ^ self.inverted_bits, self.n_features)
        return columns[self.features]

    @cached_property
    def rows(self):
        """The samples as the compiled loops take them."""
        return self._list_ones(self.words)

    @cached_property
    def no_rows(self):
        """The same without samples, for scans and completion of sums."""
        return self._list_ones(self.words[:0], self.n_features)

    def _pieces(self):
        """Yield slices of the samples, and these as the compiled loops take them."""
        if self.n_ones <= LISTED:
            yield slice(None), self.rows
            return
        step = max(1, LISTED * len(self.words) // self.n_ones)
        for first in range(0, len(self.words), step):
            piece = slice(first, first + step)
            yield piece, self._list_ones(self.words[piece])

    def _list_ones(self, words, n_places=None):
        """List the ones of samples, of the places that are not left out."""
        n_places = len(self.chains) if n_places is None else n_places
        return _listed(self._places_of(words), n_places)

    @cached_property
    def true_rows(self):
        """The samples with all places that are true in each."""
        columns = self._true_columns(self.words)
        return _listed(transpose_words(columns, len(self.words)), self.n_features)

    @cached_property
    def counts(self):
        """Number of samples of each conjunction, by length."""
        sums = self.sums(np.ones(len(self.words)), [1.0])
        return [of_length.astype(np.int32) for of_length in sums]

    def sums(self, values, distinct=None):
        """Add up numbers of the samples, by length from 0 on; see `add`."""
        sizes = [comb(self.n_features, k) for k in range(self.longest + 1)]
        sums = [np.zeros(size) for size in sizes]
        self.add(values, sums, distinct)
        self.finish(sums)
        return sums

    def sums_of_targets(self, targets):
        """Yield the sums of each target, which are added up side by side; see `sums`.

        Parameters
        ----------
        targets : ndarray of shape (n_targets, n_samples), float64
            At most ``ABREAST``. Whole numbers, of each target below 2**53 in total.
        """
        sizes = [comb(self.n_features, length) for length in range(self.longest + 1)]
        sums = [np.zeros((len(targets), size)) for size in sizes]
        sums[0][:, 0] = targets.sum(axis=1)
        for piece, rows in self._pieces():
            part = targets[:, piece]
            for target, of_target in zip(part, sums[1], strict=True):
                rows.scatter(1, target, of_target, 0, len(target))
            values = np.zeros((part.shape[1], ABREAST))
            values[:, : len(part)] = part.T
            for length in range(2, min(self.longest, len(self.chains)) + 1):
                self._add_by_parts(rows.scatter_by_place, length, values, sums[length])
        for of_target in zip(*sums, strict=True):
            self.finish(list(of_target))
            yield list(of_target)

    @property
    def is_abreast(self):
        """Whether the sums of several targets are added up side by side."""
        return self.cost.n_sums <= MOST_ABREAST and not any(self.cost.uses_blocks)

    def _add_by_parts(self, add, length, values, sums):
        """Add to sums of a length, in threads whose largest places differ."""
        is_small = self.n_jobs == 1 or self.cost.adding < ADDED_BY_ONE
        n_parts = 1 if is_small else count_threads(self.n_jobs)

        def add_parts(first, last):
            for part in range(first, last):
                add(length, values, sums, part, n_parts)

        each_slice(add_parts, n_parts, self.n_jobs)

    def add(self, values, sums, distinct=None):
        """Add numbers of the samples to sums by length, which `finish` is to end.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), float64
            Whole numbers, below 2**53 in total.
        sums : list of ndarrays of float64
        distinct : iterable of float, or None
            All values but 0, where they are few.
        """
        # Choose the cheaper of counting covers and adding sample by sample.
        n_used = np.count_nonzero(values)
        sums[0][0] += values.sum()
        longest = min(self.longest, len(sums) - 1, len(self.chains))
        if distinct is not None:
            n_words = n_used / 64 + len(distinct)
            adding = self.cost.adding * n_used / max(1, len(values))
            if COUNT * self.cost.n_sums * n_words < adding:
                self._count(values, sums, distinct)
                return
        counted = {
            k: sums[k][: comb(len(self.chains), k)] for k in range(1, longest + 1)
        }
        for piece, rows in self._pieces():
            self._add_piece(rows, values[piece], counted)

    def _add_piece(self, rows, values, sums):
        """Add numbers of samples to sums, by length, in threads."""
        uses_blocks, others, scattered = self.cost.uses_blocks, [], {}
        for length, of_length in sums.items():
            if uses_blocks[length]:
                self._add_by_parts(rows.sum_blocks, length, values, of_length)
            elif length > 1 and len(of_length) > IN_CACHE:
                of_length = values[:, None], of_length[None]
                self._add_by_parts(rows.scatter_by_place, length, *of_length)
            else:
                scattered[length] = of_length

        def scatter(first, last):
            # Each thread but the first has sums of its own.
            own = scattered
            if first:
                own = {k: np.zeros_like(of) for k, of in scattered.items()}
                others.append(own)
            for length, of_length in own.items():
                rows.scatter(length, values, of_length, first, last)

        # Asking the context for threads takes longer than to add single features.
        adding = ADD * self.n_ones if list(sums) == [1] else self.cost.adding
        n_copied = sum(map(len, scattered.values()))
        small = adding < ADDED_BY_ONE or COPY * n_copied > self.cost.adding
        each_slice(scatter, len(values), self.n_jobs, small=small)
        for own in others:
            for length, of_length in own.items():
                scattered[length] += of_length

    def _count(self, values, sums, distinct):
        """Add up few different numbers, 64 samples at a time."""
        for value in distinct:
            members = np.flatnonzero(values == value)
            for first in range(0, len(members), COUNTED):
                words = self.words[members[first : first + COUNTED]]
                columns = self._columns_of(words)
                for length in range(1, self.longest + 1):
                    self.no_rows.count(length, columns, value, sums[length])

    def finish(self, sums):
        """Turn what samples have added into the sums of their definition, in place."""
        longest = min(self.longest, len(sums) - 1)
        for length in range(1, longest + 1):
            if self.has_chains:
                self.no_rows.nest(length, self.chains, sums[length - 1], sums[length])
        place_of = np.argsort(self.features)
        for number in range(len(self.chains), self.n_features):
            others = place_of[self.completed[int(self.features[number])]]
            for length in range(1, min(longest, number + 1) + 1):
                self.no_rows.complete(
                    length, number, others, sums[length - 1], sums[length]
                )

    def best(self, values, task, sums=None):
        """Find the conjunctions of the largest scores.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), float64
            Whole numbers. Samples of value 0 do not count for covers.
        task : SearchTask
        sums : list of ndarrays of float64, or None
            Those of `sums`, where they are known.

        Returns
        -------
        found : list of (literals, sum)
            Best first.
        """
        return self._scan(values, values != 0, task, sums=sums)

    def best_of_targets(self, targets, factors, task):
        """Find the best conjunction of the first target, and the best score of each.

        The score of a conjunction is the sum of the target over its samples, times the
        factor of their number.

        Parameters
        ----------
        targets : ndarray of shape (n_samples, TARGETS), float64
            Whole numbers, of each target below 2**53 in total.
        factors : ndarray of shape (n_samples + 1,), float64
            0 for sizes that do not take part.
        task : SearchTask
            For all lengths up to that of the table.

        Returns
        -------
        found : list of (literals, sum)
            For the first target, best first.
        largest : ndarray of shape (TARGETS,), float64
            0 where no score is above 0.
        """
        n, longest, largest = self.n_features, self.longest, np.zeros(TARGETS)
        sums = [targets.sum(axis=0)]
        sums += [np.empty(TARGETS * comb(n, length)) for length in range(1, longest)]
        sums.append(np.empty(TARGETS * n))
        used = pack_dense(np.ones((1, len(targets)), dtype=np.uint8))[0]
        arguments = self, used, sums, self.counts, task
        found = self.true_rows.scan(*arguments, targets=(targets, factors, largest))
        return found, largest

    def all_above(self, values, task, floors):
        """List all conjunctions whose score is above the floor of their length.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), float64
            Whole numbers. All samples count for covers.
        task : SearchTask
        floors : ndarray of shape (longest + 1,), float64

        Returns
        -------
        found : list of (literals, sum), or None
            One for each cover, in no order. None where they are more than ``n_wanted``.
        """
        return self._scan(values, np.ones(len(values), dtype=bool), task, floors)

    def _scan(self, values, is_used, task, floors=None, sums=None):
        used = pack_dense(is_used[None, :].astype(np.uint8))[0]
        sums = self.sums(values) if sums is None else sums
        return self.no_rows.scan(self, used, sums, self.counts, task, floors)


def _listed(rows, n_places):
    """List the ones of rows of bits, the places, for compiled loops."""
    places = np.arange(1 + n_places)
    choose = np.stack([binomials(places, k, exact=False) for k in range(LONGEST + 1)])
    starts, n_ones = np.empty(len(rows) + 1, np.int64), np.empty(len(rows), np.int32)
    count_ones(rows, n_ones)
    listed = np.empty(n_ones.sum(dtype=np.int64) + 64 * rows.shape[1], dtype=np.uint16)
    return TableRows(rows, choose.astype(np.int64), starts, listed)


class RunningSums:
    """The best conjunctions over one part of the samples after the other.

    The sums of a part are kept. For the next part only the samples that come or go are
    added or subtracted.

    Parameters
    ----------
    table : ConjunctionTable
    integers : ndarray of shape (n_samples,), int64
        Coefficients, below 2**53 in total.
    unit : float
        What a coefficient of 1 stands for.
    n_features : int
        Number of features, of which the table may hold some.
    """

    def __init__(self, table, integers, unit, n_features):
        self.table, self.unit, self.n_features = table, unit, n_features
        self.values = integers.astype(np.float64)
        self.part = np.zeros(len(integers), dtype=bool)
        sizes = np.unique(np.abs(integers[integers != 0])).astype(np.float64)
        self.distinct = np.concatenate([sizes, -sizes])
        sizes = [comb(table.n_features, k) for k in range(table.longest + 1)]
        # Beyond there are none.
        self.sums = [np.zeros(size) for size in [*sizes, 0]]

    def move_to(self, part):
        """Make the sums those of a part."""
        changed = part != self.part
        # Starting from nothing costs less than the samples that come and go.
        if np.count_nonzero(changed) > np.count_nonzero(part):
            self.sums = [np.zeros_like(sums) for sums in self.sums]
            changed = part
        self.part = part.copy()
        values = np.where(part, self.values, -self.values) * changed
        self.table.add(values, self.sums, self.distinct)
        self.totals = [sums.copy() for sums in self.sums]
        self.table.finish(self.totals)
        self.part_values = np.where(part, self.values, 0.0)
        self.used = pack_dense((self.part_values != 0)[None, :])[0]

    def best(self, part, monotone, longest, width):
        """Find the conjunction of each length with the largest sum.

        Parameters
        ----------
        part : ndarray of shape (n_samples,), bool
        monotone : bool
        longest : int
            Maximum length, at most one more than that of the table. Of this length
            only those that add a literal to one of the ``width`` best are looked at.
        width : int

        Returns
        -------
        found : list of (literals, weight)
            Literals are (feature, value) pairs. A longer conjunction is there only if
            its weight is larger than those of all shorter ones.
        """
        self.move_to(part)
        best_of_each_length, best = [], []
        for length in range(1, longest + 1):
            floor = best_of_each_length[-1][1] if best_of_each_length else 0.0
            if length > self.table.longest:
                best = self._extended(best, floor, monotone)
            elif length == self.table.longest < longest:
                best = self._scan(length, 0.0, monotone, width)
            else:
                best = self._scan(length, floor, monotone)
            if best and best[0][1] > floor:
                best_of_each_length.append(best[0])
        return [
            (as_pairs(literals, self.n_features), self.unit * sum_)
            for literals, sum_ in best_of_each_length
        ]

    def _scan(self, length, floor, monotone, n_wanted=1, extended=None):
        """Find the best conjunctions of one length."""
        # Factors of 0 leave out all other lengths.
        table, factors = self.table, np.append(np.zeros(length), 1.0)
        task = SearchTask(n_wanted, "positive", factors, floor, monotone, n_wanted > 1)
        if extended is None:
            return table.no_rows.scan(table, self.used, self.totals, table.counts, task)
        arguments = table, self.used, self.totals, None, task
        return table.no_rows.scan(*arguments, extended=extended)

    def _extended(self, parents, floor, monotone):
        """Find the best conjunction that adds a literal to one of its parents."""
        if not parents:
            return []
        table, length = self.table, self.table.longest + 1
        # Twice the place of each literal of a parent, and one more where it is true.
        codes = np.argsort(table.literals, axis=None)
        numbers = table.literals.ravel()[codes]
        parents = np.array([parent for parent, _ in parents])
        places, signs = np.divmod(codes[np.searchsorted(numbers, parents)], 2)
        totals = np.empty(len(parents))
        sums = np.zeros((len(parents), table.n_features))
        for k, satisfied in enumerate(table.satisfied(places, signs)):
            values, total = self.part_values * satisfied, np.zeros(1)
            table.add(values, [total, sums[k]])
            table.finish([total, sums[k]])
            totals[k] = total[0]
        # Bit j of a sign says whether place j of the parent is true.
        signs = signs @ (1 << np.arange(length - 1))
        extended = places.astype(np.int64), signs.astype(np.int64), totals, sums
        return self._scan(length, floor, monotone, extended=extended)
