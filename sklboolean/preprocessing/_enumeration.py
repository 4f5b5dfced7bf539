"""Conjunctions of literals as sparse columns: all of a few literals, or frequent ones.

All conjunctions are numbered and never listed. Frequent conjunctions are found level by
level, shorter ones first, and listed.
"""

# Two ways to columns, with one output, a CSR array of ones:
#
# * `AllConjunctions` numbers the conjunctions of each length in lexicographic order, as
#   PolynomialFeatures does. A sample's columns are the conjunctions of its true
#   literals: they are counted first, then written in ascending order.
# * `FrequentConjunctions` finds those that hold in enough samples, level by level
#   (Agrawal and Srikant, section 2.1): two frequent conjunctions that differ in the
#   last literal make a candidate that is one literal longer. Supports are popcounts
#   over blocks of samples, uint64 of shape (n_blocks, n_literals, BLOCK_ROWS / 64).
#
# Invariant: literals are ordered by their groups, so the literals of a conjunction
# ascend and two of one group never meet.

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from sklboolean._core.bits import unpack_words
from sklboolean._core.conjunction_search import MAX_LISTED, encode_groups
from sklboolean._core.damage import require
from sklboolean._core.formulas import format_large_int, literal_text
from sklboolean._core.memory import check_free
from sklboolean._core.sparse_structure import LARGEST_INDEX
from sklboolean.preprocessing._levels import (
    BLOCK_ROWS,
    count_combinations,
    count_level,
    fill_blocks,
    visit_level,
    write_combinations,
)

# The largest number of conjunctions in int64, with room for sums.
MAX_COUNTED = 2**62
SIZE_HINT = "Lower max_literals, or select conjunctions by min_support."
# Type of the output, which most estimators of scikit-learn take without a copy.
OUTPUT = np.dtype(np.float64)
# Entries of the output that are written between two checks for an interrupt.
ENTRIES_AT_A_TIME = 2**24
# Cells of a dense array that are unpacked at once, a byte each.
SLAB_CELLS = 2**22
# Candidates that are counted at once.
CHUNK = 2**21
# Bytes of packed columns that are kept in memory; more are packed again for each pass.
KEPT_BYTES = 2**28
# Conjunctions times blocks of samples between two checks for an interrupt.
COUNTS_AT_A_TIME = 2**24

NO_INT32 = np.zeros(0, dtype=np.int32)
NO_INT64 = np.zeros(0, dtype=np.int64)


def allocate_csr(counts, n_columns):
    """Allocate ``counts[i]`` columns for sample i of a CSR array.

    Returns
    -------
    indptr : ndarray of shape (n_samples + 1,), int64
    indices : ndarray of int32
        The column numbers, still to be written.

    Raises
    ------
    ValueError
        For an output of more bytes than are free, or of 2**31 entries or more.
    """
    # Sums of floats cannot overflow before the size is compared with the limit.
    n_entries = float(np.sum(counts))
    n_bytes = n_entries * (OUTPUT.itemsize + np.dtype(np.int32).itemsize)
    what = f"The output of {n_columns:.3g} columns"
    remedy = f"{SIZE_HINT} Or transform fewer samples at a time."
    if n_entries > LARGEST_INDEX:
        raise ValueError(f"{what} would hold {n_entries:.3g} entries. {remedy}")
    check_free(n_bytes, what, remedy)
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    indptr[1:] = np.cumsum(counts)
    return indptr, np.empty(indptr[-1], np.int32)


def ones_in_csr(indptr, indices, n_columns):
    """Build a CSR array of ones from column numbers that ascend in each sample."""
    ones = np.ones(len(indices), OUTPUT)
    shape = len(indptr) - 1, n_columns
    table = sparse.csr_array((ones, indices, indptr.astype(np.int32)), shape=shape)
    table.has_canonical_format = True  # scipy need not check
    return table


@dataclass(frozen=True)
class Literals:
    """The literals that conjunctions are made of, in the order of their columns.

    Attributes
    ----------
    features : ndarray of shape (n_literals,), intp
    negated : ndarray of shape (n_literals,), bool
    groups : ndarray of shape (n_literals,), int32
        Ascending. Literals of one group never occur together in a conjunction.
    """

    features: np.ndarray
    negated: np.ndarray
    groups: np.ndarray

    @classmethod
    def build(cls, n_features, monotone, feature_groups=None):
        """List features group by group, each followed by its negation if wanted.

        Parameters
        ----------
        n_features : int
        monotone : bool
            Whether literals are the features only.
        feature_groups : array-like of shape (n_features,) or None
            A label for each feature.
        """
        # Literal j of the list is feature j // len(signs), in the order of groups.
        signs = (False,) if monotone else (False, True)
        if len(signs) * n_features >= 2**31:
            raise ValueError(
                f"{n_features} features have more literals than int32 can number. Hash "
                "the columns to fewer, or set monotone=True."
            )
        groups = encode_groups(feature_groups, n_features)
        features = np.repeat(np.argsort(groups, kind="stable"), len(signs))
        negated = np.tile(np.array(signs), n_features)
        return cls(features, negated, groups[features])

    def __len__(self):
        return len(self.features)

    @property
    def n_groups(self):
        """Number of literals of the longest conjunction."""
        return len(np.unique(self.groups))

    @property
    def next_group(self):
        """For each literal the first one of the group after its own."""
        return np.searchsorted(self.groups, self.groups, "right").astype(np.int32)

    @property
    def are_features(self):
        """Whether literal j is feature j."""
        plain = not self.negated.any()
        return plain and np.array_equal(self.features, np.arange(len(self)))

    def names(self, feature_names):
        """Write each literal as text."""
        return [
            literal_text(feature_names[feature], not negated)
            for feature, negated in zip(self.features, self.negated, strict=True)
        ]


class TrueLiterals:
    """The true literals of Boolean samples as ascending lists, a slab at a time.

    Iterating gives ``first, last, indptr, indices`` again and again: samples of one
    slab are converted once.

    Parameters
    ----------
    X : ndarray of uint64 words, or csr_array of true entries
        Boolean samples.
    literals : Literals
    """

    def __init__(self, X, literals):
        self.X, self.literals = X, literals
        self.n_samples = X.shape[0]
        n_blocks = SLAB_CELLS // (len(literals) * BLOCK_ROWS)
        self._step = BLOCK_ROWS * max(1, n_blocks)
        if sparse.issparse(X) and literals.are_features:
            self._step = max(1, self.n_samples)
        self._single = None

    def __iter__(self):
        for first in range(0, self.n_samples, self._step):
            last = min(self.n_samples, first + self._step)
            if self._step < self.n_samples:
                yield first, last, *self._lists(self.X[first:last])
            else:
                if self._single is None:
                    self._single = self._lists(self.X)
                yield first, last, *self._single

    def _lists(self, X):
        # Sparse samples of plain features are lists of true literals already; others
        # are unpacked, a slab at a time.
        literals = self.literals
        if sparse.issparse(X) and not literals.negated.any():
            if not literals.are_features:
                X = X[:, literals.features]
                X.sort_indices()
            indptr, indices = X.indptr, X.indices
        else:
            n_features = int(literals.features.max()) + 1
            if sparse.issparse(X):
                bits = X.toarray().view(np.uint8)
            else:
                bits = unpack_words(X, n_features)
            if not literals.are_features:
                bits = bits[:, literals.features] ^ literals.negated
            counts = np.count_nonzero(bits, axis=1)
            indptr = np.concatenate([[0], np.cumsum(counts)])
            indices = np.flatnonzero(bits) % len(literals)
        return indptr.astype(np.int64), indices.astype(np.int32, copy=False)


# All conjunctions, by number


@dataclass(frozen=True)
class AllConjunctions:
    """All conjunctions between two lengths, by number.

    Shorter ones come first, then lexicographic order: the columns of PolynomialFeatures
    when literals are features.

    Attributes
    ----------
    literals : Literals
    min_literals : int
    tail : ndarray of shape (max_literals + 1, n_literals + 1), int64
        ``tail[j, l]``: number of conjunctions of j literals from the l-th on.
    first_column : ndarray of shape (max_literals - min_literals + 2,), int64
        First column of each length; the last entry is the number of columns.
    """

    literals: Literals
    min_literals: int
    tail: np.ndarray
    first_column: np.ndarray

    @classmethod
    def build(cls, literals, min_literals, max_literals):
        """Number the conjunctions.

        Raises
        ------
        ValueError
            For more of them than estimators take, and than int64 can number.
        """
        # A group gives one literal at most, so longer conjunctions do not exist.
        max_literals = min(max_literals, literals.n_groups)
        next_group = np.append(literals.next_group, len(literals))
        # First in float64, which does not overflow.
        tail, estimate, length = np.ones(len(literals) + 1), 0.0, 0
        while length < max_literals and estimate <= MAX_COUNTED:
            tail = _one_longer(tail, next_group)
            estimate, length = estimate + tail[0], length + 1
        if estimate > MAX_COUNTED:
            raise ValueError(
                f"Conjunctions of up to {max_literals} of {len(literals)} literals are "
                f"at least {format_large_int(int(estimate))}, too many to be numbered. "
                f"{SIZE_HINT}"
            )
        tails = [np.ones(len(literals) + 1, dtype=np.int64)]
        while len(tails) <= max_literals:
            tails.append(_one_longer(tails[-1], next_group))
        sizes = [counts[0] for counts in tails[min_literals:]]
        first_column = np.cumsum([0, *sizes], dtype=np.int64)
        if first_column[-1] > LARGEST_INDEX:
            raise ValueError(
                f"Conjunctions of {min_literals} to {max_literals} of {len(literals)} "
                f"literals are {first_column[-1]} columns, and estimators take at most "
                f"{LARGEST_INDEX}. {SIZE_HINT}"
            )
        return cls(literals, min_literals, np.array(tails), first_column)

    @property
    def n_columns(self):
        """Number of conjunctions."""
        require(len(self.first_column), "first_column is empty")
        return int(self.first_column[-1])

    def by_length(self):
        """Yield an array of literals of shape (n_conjunctions, length) per length."""
        # Extend each conjunction by every literal of a later group: lexicographic order
        # stays.
        after = self.literals.next_group.astype(np.int64)
        listed = np.arange(len(self.literals))[:, np.newaxis]
        for length in range(1, len(self.tail)):
            if length >= self.min_literals:
                yield listed
            start = after[listed[:, -1]]
            n_children = len(self.literals) - start
            offset = np.cumsum(n_children) - n_children
            children = np.arange(n_children.sum()) + np.repeat(
                start - offset, n_children
            )
            listed = np.column_stack([np.repeat(listed, n_children, axis=0), children])

    def transform(self, X):
        """Mark the conjunctions that hold in each sample.

        Parameters
        ----------
        X : ndarray of uint64 words, or csr_array of true entries

        Returns
        -------
        columns : csr_array of shape (n_samples, n_columns)
        """
        samples, next_group = TrueLiterals(X, self.literals), self.literals.next_group
        counts = np.empty(samples.n_samples)
        for first, last, *lists in samples:
            self._count(*lists, next_group, counts[first:last])
        out_indptr, columns = allocate_csr(counts, self.n_columns)
        # A part of the samples at a time: an interrupt is noticed after it.
        step = max(1, ENTRIES_AT_A_TIME * samples.n_samples // max(1, len(columns)))
        for first, last, indptr, indices in samples:
            for begin in range(first, last, step):
                end = min(begin + step, last)
                write_combinations(
                    indptr[begin - first : end - first + 1], indices, self.tail,
                    next_group, self.first_column, self.min_literals,
                    out_indptr[begin : end + 1], columns,
                )  # fmt: skip
        return ones_in_csr(out_indptr, columns, self.n_columns)

    def _count(self, indptr, indices, next_group, counts):
        """Write the number of conjunctions that hold in each sample."""
        longest = len(self.tail) - 1
        if self.literals.n_groups < len(self.literals):
            sizes = np.empty(longest + 1)
            count_combinations(
                indptr, indices, next_group, self.min_literals, longest, sizes, counts
            )
            return
        # Without groups the count depends on the number of true literals only.
        n_true = np.diff(indptr)
        subsets = np.ones(n_true.max(initial=0) + 1)
        by_number = np.zeros_like(subsets)
        for length in range(1, longest + 1):
            subsets = np.append(0, np.cumsum(subsets[:-1]))
            if length >= self.min_literals:
                by_number += subsets
        counts[:] = by_number[n_true]


def _one_longer(tail, next_group):
    """Count for each literal the conjunctions from it on, one literal longer."""
    longer = np.zeros_like(tail)
    # A first literal, then a shorter conjunction from the next group on.
    longer[:-1] = np.cumsum(tail[next_group[-2::-1]])[::-1]
    return longer


# Frequent conjunctions, level by level


class Level(NamedTuple):
    """Conjunctions of one length, grouped by their parents: all literals but the last.

    Parent p has the children from ``child_start[p]`` to ``child_start[p + 1]``.
    """

    parents: np.ndarray
    child_start: np.ndarray
    children: np.ndarray

    @classmethod
    def build(cls, parents, n_children, children):
        """Give parent p the next ``n_children[p]`` of the children."""
        child_start = np.concatenate([[0], np.cumsum(n_children)]).astype(np.int64)
        parents = np.ascontiguousarray(parents, dtype=np.int32)
        return cls(parents, child_start, np.ascontiguousarray(children, dtype=np.int32))

    @classmethod
    def from_sorted(cls, conjunctions):
        """Find the parents of conjunctions in lexicographic order."""
        first = np.flatnonzero(_starts_of_parents(conjunctions))
        n_children = np.diff(np.append(first, len(conjunctions)))
        return cls.build(conjunctions[first, :-1], n_children, conjunctions[:, -1])

    def conjunctions(self, kept):
        """Write out the conjunctions of a mask: shape (n_kept, length), int32."""
        parent_of = np.repeat(np.arange(len(self.parents)), np.diff(self.child_start))
        return np.column_stack([self.parents[parent_of[kept]], self.children[kept]])

    def batches(self, n_blocks):
        """Cut blocks into slices of a moment each: interrupts are noticed between."""
        step = max(1, COUNTS_AT_A_TIME // max(1, len(self.children)))
        return gen_batches(n_blocks, step)


def _starts_of_parents(conjunctions):
    """Mark where a run of conjunctions begins that differ in the last literal only."""
    starts = np.ones(len(conjunctions), dtype=bool)
    starts[1:] = (conjunctions[1:, :-1] != conjunctions[:-1, :-1]).any(axis=1)
    return starts


class LiteralColumns:
    """Columns of bits for some literals, in blocks of samples.

    Iterating gives ``first, last, blocks``; ``place`` holds the position of each
    literal in a block, -1 for those left out.
    """

    def __init__(self, samples, used):
        self.samples, self.n_used = samples, len(used)
        self.place = np.full(len(samples.literals), -1, dtype=np.int32)
        self.place[used] = np.arange(len(used))
        block_bytes = max(1, self.n_used) * BLOCK_ROWS // 8
        self._step = BLOCK_ROWS * max(1, KEPT_BYTES // block_bytes)
        self._kept = list(self._pack()) if samples.n_samples <= self._step else None

    def __iter__(self):
        return self._pack() if self._kept is None else iter(self._kept)

    def _pack(self):
        for first, last, indptr, indices in self.samples:
            for start in range(0, last - first, self._step):
                piece = indptr[start : start + self._step + 1]
                n_blocks = -(-(len(piece) - 1) // BLOCK_ROWS)
                shape = n_blocks, self.n_used, BLOCK_ROWS // 64
                blocks = np.zeros(shape, dtype=np.uint64)
                fill_blocks(piece, indices, self.place, blocks)
                yield first + start, first + start + len(piece) - 1, blocks

    def supports(self, level):
        """Count the samples in which each conjunction of a level holds."""
        supports = np.zeros(len(level.children), dtype=np.int64)
        for _first, _last, blocks in self:
            for batch in level.batches(len(blocks)):
                count_level(*level, blocks[batch], supports)
        return supports


def candidate_levels(frequent, first, n_children):
    """Join frequent conjunctions that differ in the last literal only, in chunks.

    Parameters
    ----------
    frequent : ndarray of shape (n_frequent, length), int32
    first, n_children : ndarrays of shape (n_frequent,), int64
        From `_later_siblings`.

    Yields
    ------
    level : Level
        Candidates one literal longer. The other parts of a candidate are not looked up
        (the prune step of Apriori): counting it costs no more.
    """
    total = np.cumsum(n_children)
    edges = np.searchsorted(total, np.arange(0, total[-1], CHUNK), "right")
    for a, b in pairwise([*np.unique(edges), len(frequent)]):
        n = n_children[a:b]
        siblings = np.arange(n.sum()) + np.repeat(first[a:b] - np.cumsum(n) + n, n)
        yield Level.build(frequent[a:b], n, frequent[siblings, -1])


def _later_siblings(frequent, groups):
    """Find which conjunctions give each one its last literal: the first, and how many.

    They share all literals but the last, which is of a later group.
    """
    # Conjunctions of one parent are contiguous, and among them those of one group.
    # Conjunctions are sorted, so the later siblings of each end where its run ends, and
    # begin behind those whose last literal is of its group.
    run = np.cumsum(_starts_of_parents(frequent))
    key = run * (int(groups.max()) + 1) + groups[frequent[:, -1]]
    first = np.searchsorted(key, key, "right")
    return first, np.searchsorted(run, run, "right") - first


def next_level(frequent, groups, columns, min_count, max_found):
    """Find the frequent conjunctions one literal longer, and their supports.

    None where they are more than ``max_found``: before memory is allocated for so many
    they are only counted, because there may be far fewer than candidates.
    """
    siblings = _later_siblings(frequent, groups)
    if siblings[1].sum() > max_found:
        n_found = 0
        for level in candidate_levels(frequent, *siblings):
            n_found += np.count_nonzero(columns.supports(level) >= min_count)
            if n_found > max_found:
                return None
    levels = [np.zeros((0, frequent.shape[1] + 1), dtype=np.int32)]
    supports = [np.zeros(0, dtype=np.int64)]
    for level in candidate_levels(frequent, *siblings):
        counts = columns.supports(level)
        is_frequent = counts >= min_count
        levels.append(level.conjunctions(is_frequent))
        supports.append(counts[is_frequent])
    return np.concatenate(levels), np.concatenate(supports)


@dataclass(frozen=True)
class FrequentConjunctions:
    """Conjunctions that hold in enough samples, listed one by one.

    Attributes
    ----------
    literals : Literals
    levels : tuple of ndarray of shape (n_conjunctions, length), int32
        For each length the literals, in lexicographic order.
    supports : ndarray of shape (n_columns,), int64
        Number of training samples in which each conjunction holds.
    """

    literals: Literals
    levels: tuple
    supports: np.ndarray

    @classmethod
    def find(cls, X, literals, min_count, *, min_literals=1, max_literals=None):
        """Find the conjunctions that hold in at least ``min_count`` samples.

        Parameters
        ----------
        X : ndarray of uint64 words, or csr_array of true entries
        literals : Literals
        min_count : int
            At least 1.
        min_literals, max_literals : int, int or None

        Raises
        ------
        ValueError
            When none is frequent, or more than can be listed.
        """
        # Level 1: the literals that are frequent by themselves.
        samples = TrueLiterals(X, literals)
        counts = np.zeros(len(literals), dtype=np.int64)
        for _first, _last, _indptr, indices in samples:
            counts += np.bincount(indices, minlength=len(literals))
        used = np.flatnonzero(counts >= min_count).astype(np.int32)
        columns, groups = LiteralColumns(samples, used), literals.groups[used]
        level = np.arange(len(used), dtype=np.int32)[:, None]
        supports, frequent, n_listed = counts[used], [], 0
        while len(level):
            length = level.shape[1]
            if length >= min_literals:
                frequent.append((used[level], supports))
                n_listed += len(level)
            if length == max_literals:
                break
            level = level[supports >= min_count]
            if not len(level):
                break
            max_found = MAX_LISTED - (n_listed if length + 1 >= min_literals else 0)
            longer = next_level(level, groups, columns, min_count, max_found)
            if longer is None:
                raise ValueError(
                    f"More than {MAX_LISTED} conjunctions of up to {length + 1} "
                    f"literals hold in {min_count} samples or more. Raise min_support "
                    "or lower max_literals."
                )
            level, supports = longer
        if not frequent:
            raise ValueError(
                f"No conjunction of {min_literals} or more literals holds in "
                f"{min_count} of the samples; n_samples={samples.n_samples}. The most "
                f"frequent literal holds in {counts.max(initial=0)}. Lower min_support "
                "or min_literals."
            )
        levels, supports = zip(*frequent, strict=True)
        return cls(literals, levels, np.concatenate(supports))

    @property
    def n_columns(self):
        """Number of conjunctions."""
        return sum(map(len, self.levels))

    def by_length(self):
        """Yield an array of literals of shape (n_conjunctions, length) per length."""
        yield from self.levels

    def transform(self, X):
        """Mark the conjunctions that hold in each sample: see `AllConjunctions`."""
        samples = TrueLiterals(X, self.literals)
        used = np.unique(np.concatenate([listed.ravel() for listed in self.levels]))
        columns = LiteralColumns(samples, used)
        levels = [Level.from_sorted(columns.place[listed]) for listed in self.levels]
        counts = np.zeros(samples.n_samples)
        for first, last, blocks in columns:
            ends = _visit(levels, blocks, NO_INT64, NO_INT32)
            counts[first:last] = ends[: last - first]
        indptr, indices = allocate_csr(counts, self.n_columns)
        if len(indices):
            for first, last, blocks in columns:
                _visit(levels, blocks, indptr[first:last], indices)
        return ones_in_csr(indptr, indices, self.n_columns)


def _visit(levels, blocks, starts, out):
    """Write the columns of each sample from ``starts`` on; return where they end."""
    # A cursor for each sample: where its next column number goes. Without an output
    # only the cursors move, which counts the columns.
    cursors = np.zeros(len(blocks) * BLOCK_ROWS, dtype=np.int64)
    cursors[: len(starts)] = starts
    first_column = 0
    for level in levels:
        for batch in level.batches(len(blocks)):
            ours = cursors[batch.start * BLOCK_ROWS : batch.stop * BLOCK_ROWS]
            visit_level(*level, blocks[batch], first_column, ours, out)
        first_column += len(level.children)
    return cursors
