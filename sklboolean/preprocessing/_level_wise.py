"""Frequent conjunctions, level by level: what holds in many rows has frequent parts."""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from sklboolean._core.conjunction_search import MOST_LISTED
from sklboolean.preprocessing._columns import (
    NO_INT32,
    NO_INT64,
    UnfilledColumns,
)
from sklboolean.preprocessing._levels import (
    BLOCK_ROWS,
    count_level,
    fill_blocks,
    visit_level,
)
from sklboolean.preprocessing._literal_rows import LiteralRows, Literals

# Candidates that are counted at once.
CHUNK = 2**21
# Bytes of packed columns that are kept; more are packed again for each pass.
KEPT_BYTES = 2**28
# Conjunctions times blocks of rows between two looks at the keyboard.
COUNTS_AT_A_TIME = 2**24


class Level(NamedTuple):
    """Conjunctions of one length, by what they share: all literals but the last."""

    parents: np.ndarray
    child_start: np.ndarray
    children: np.ndarray

    @classmethod
    def of(cls, parents, n_children, children):
        """Give parent p the next ``n_children[p]`` of the children."""
        child_start = np.concatenate([[0], np.cumsum(n_children)]).astype(np.int64)
        parents = np.ascontiguousarray(parents, dtype=np.int32)
        return cls(parents, child_start, np.ascontiguousarray(children, dtype=np.int32))

    @classmethod
    def from_sorted(cls, conjunctions):
        """Find the parents of conjunctions in lexicographic order."""
        first = np.flatnonzero(starts_of_prefixes(conjunctions))
        n_children = np.diff(np.append(first, len(conjunctions)))
        return cls.of(conjunctions[first, :-1], n_children, conjunctions[:, -1])


def starts_of_prefixes(conjunctions):
    """Say where another run of conjunctions begins that differ in the last literal."""
    starts = np.ones(len(conjunctions), dtype=bool)
    starts[1:] = (conjunctions[1:, :-1] != conjunctions[:-1, :-1]).any(axis=1)
    return starts


def few_blocks(level, n_blocks):
    """Cut blocks into slices that take a moment each: an interrupt is seen between."""
    step = max(1, COUNTS_AT_A_TIME // max(1, len(level.children)))
    return gen_batches(n_blocks, step)


class LiteralBlocks:
    """Columns of bits for some literals, in blocks of rows.

    Iterating gives ``first, last, blocks``; ``place`` tells where a literal stands in
    a block, -1 for those left out.
    """

    def __init__(self, rows, used):
        self.rows, self.n_used = rows, len(used)
        self.place = np.full(len(rows.literals), -1, dtype=np.int32)
        self.place[used] = np.arange(len(used))
        block_bytes = max(1, self.n_used) * BLOCK_ROWS // 8
        self._step = BLOCK_ROWS * max(1, KEPT_BYTES // block_bytes)
        self._kept = list(self._pack()) if rows.n_samples <= self._step else None

    def __iter__(self):
        return self._pack() if self._kept is None else iter(self._kept)

    def _pack(self):
        for first, last, indptr, indices in self.rows:
            for start in range(0, last - first, self._step):
                part = indptr[start : start + self._step + 1]
                n_blocks = -(-(len(part) - 1) // BLOCK_ROWS)
                shape = n_blocks, self.n_used, BLOCK_ROWS // 64
                blocks = np.zeros(shape, dtype=np.uint64)
                fill_blocks(part, indices, self.place, blocks)
                yield first + start, first + start + len(part) - 1, blocks

    def supports(self, level):
        """Count the rows in which each conjunction of a level holds."""
        supports = np.zeros(len(level.children), dtype=np.int64)
        for _first, _last, blocks in self:
            for part in few_blocks(level, len(blocks)):
                count_level(*level, blocks[part], supports)
        return supports


def candidates(frequent, groups):
    """Join frequent conjunctions that differ in the last literal only, in parts.

    Yields
    ------
    level : Level
    conjunctions : ndarray of shape (n_candidates, length + 1), int32
        The same, written out.
    """
    # Those that share a prefix stand together, and of them those of one group.
    run = np.cumsum(starts_of_prefixes(frequent))
    key = run * (int(groups.max()) + 1) + groups[frequent[:, -1]]
    first = np.searchsorted(key, key, "right")
    n_children = np.searchsorted(run, run, "right") - first
    total = np.cumsum(n_children)
    edges = np.searchsorted(total, np.arange(0, total[-1], CHUNK), "right")
    for a, b in pairwise([*np.unique(edges), len(frequent)]):
        n = n_children[a:b]
        siblings = np.arange(n.sum()) + np.repeat(first[a:b] - np.cumsum(n) + n, n)
        children = frequent[siblings, -1]
        conjunctions = np.column_stack([np.repeat(frequent[a:b], n, axis=0), children])
        yield Level.of(frequent[a:b], n, children), conjunctions


def next_level(frequent, groups, blocks, min_count):
    """Return the frequent conjunctions one literal longer, and their supports.

    The other parts of a candidate are not looked up (the prune step of Apriori): to
    count it costs no more.
    """
    found = [np.zeros((0, frequent.shape[1] + 1), dtype=np.int32)]
    supports = [np.zeros(0, dtype=np.int64)]
    for level, conjunctions in candidates(frequent, groups):
        counts = blocks.supports(level)
        found.append(conjunctions[counts >= min_count])
        supports.append(counts[counts >= min_count])
    return np.concatenate(found), np.concatenate(supports)


def frequent_conjunctions(
    table, literals, min_count, *, shortest=1, longest=None, most=None
):
    """Find the conjunctions that hold in enough rows.

    Parameters
    ----------
    table : ndarray of uint64 words, or csr_array of true entries
    literals : Literals
    min_count : int
        Rows, at least 1.
    shortest, longest : int, int or None
        Literals.
    most : int or None
        Keep the conjunctions with the highest supports; of equals the first.

    Returns
    -------
    conjunctions : ListedConjunctions
    supports : ndarray of int64

    Raises
    ------
    ValueError
        When none is frequent, or more than can be listed.
    """
    rows = LiteralRows(table, literals)
    counts = np.zeros(len(literals), dtype=np.int64)
    for _first, _last, _indptr, indices in rows:
        counts += np.bincount(indices, minlength=len(literals))
    used = np.flatnonzero(counts >= min_count)
    blocks, groups = LiteralBlocks(rows, used), literals.groups[used]
    level, supports = np.arange(len(used), dtype=np.int32)[:, None], counts[used]
    found = []
    while len(level):
        length = level.shape[1]
        if length >= shortest:
            found.append((used[level].astype(np.int32), supports))
            min_count = max(min_count, _support_to_beat(found, most))
        n_listed = sum(len(listed) for listed, _ in found)
        if max(n_listed, len(level)) > MOST_LISTED:
            raise ValueError(
                f"At least {max(n_listed, len(level)):.1e} conjunctions of up to "
                f"{length} literals hold in {min_count} rows or more. Raise "
                "min_support, lower max_literals or give max_features."
            )
        if length == longest:
            break
        level = level[supports >= min_count]
        if len(level):
            level, supports = next_level(level, groups, blocks, min_count)
    if not found:
        raise ValueError(
            f"No conjunction of {shortest} or more literals holds in {min_count} of "
            f"the rows; n_samples={rows.n_samples}. The commonest literal holds in "
            f"{counts.max(initial=0)}. Lower min_support or min_literals."
        )
    return _select(literals, found, most)


def _support_to_beat(found, most):
    """Return what a longer conjunction must reach to be among the ``most`` best."""
    supports = np.concatenate([supports for _, supports in found])
    if most is None or len(supports) < most:
        return 0
    # Of equals the shorter comes first.
    return int(np.partition(supports, -most)[-most]) + 1


def _select(literals, found, most):
    supports = np.concatenate([supports for _, supports in found])
    chosen = np.arange(len(supports))
    if most is not None:
        chosen = np.sort(np.argsort(-supports, kind="stable")[:most])
    levels, first = [], 0
    for listed, _ in found:
        inside = chosen[(chosen >= first) & (chosen < first + len(listed))]
        levels.append(listed[inside - first])
        first += len(listed)
    levels = tuple(listed for listed in levels if len(listed))
    return ListedConjunctions(literals, levels), supports[chosen]


@dataclass(frozen=True)
class ListedConjunctions:
    """Conjunctions written out one by one.

    Attributes
    ----------
    literals : Literals
    levels : tuple of ndarray of shape (n_conjunctions, length), int32
        For each length the literals, in lexicographic order.
    """

    literals: Literals
    levels: tuple

    @property
    def n_columns(self):
        """Return the number of conjunctions."""
        return sum(map(len, self.levels))

    def by_length(self):
        """Yield the literals of the conjunctions of each length, one in a row."""
        yield from self.levels

    def transform(self, table, dtype):
        """Return the conjunctions that hold in each row, as `EveryConjunction` does."""
        rows = LiteralRows(table, self.literals)
        used = np.unique(np.concatenate([listed.ravel() for listed in self.levels]))
        blocks = LiteralBlocks(rows, used)
        levels = [Level.from_sorted(blocks.place[listed]) for listed in self.levels]
        counts = np.zeros(rows.n_samples)
        for first, last, bits in blocks:
            ends = _visit(levels, bits, NO_INT64, NO_INT32, NO_INT64)
            counts[first:last] = ends[: last - first]
        out = UnfilledColumns.allocate(counts, self.n_columns, dtype)
        if out.indptr[-1]:
            for first, last, bits in blocks:
                _visit(levels, bits, out.indptr[first:last], out.short, out.long)
        return out.to_csr(dtype)


def _visit(levels, bits, starts, out_short, out_long):
    """Write the columns that hold in each row from ``starts`` on; return the ends."""
    cursors = np.zeros(len(bits) * BLOCK_ROWS, dtype=np.int64)
    cursors[: len(starts)] = starts
    first_column = 0
    for level in levels:
        for part in few_blocks(level, len(bits)):
            ours = cursors[part.start * BLOCK_ROWS : part.stop * BLOCK_ROWS]
            visit_level(*level, bits[part], first_column, ours, out_short, out_long)
        first_column += len(level.children)
    return cursors
