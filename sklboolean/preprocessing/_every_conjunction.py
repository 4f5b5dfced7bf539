"""Every conjunction of a few literals, numbered and never listed."""

from dataclasses import dataclass

import numpy as np

from sklboolean._core.formulas import format_large_int
from sklboolean._core.validation import LARGEST_INDEX
from sklboolean.preprocessing._columns import MOST_COUNTED, UnfilledColumns, way_out
from sklboolean.preprocessing._levels import count_combinations, write_combinations
from sklboolean.preprocessing._literal_rows import LiteralRows, Literals

ENTRIES_AT_A_TIME = 2**24


def count_by_length(literals, longest, most=MOST_COUNTED):
    """Count the conjunctions of 1, 2, ... literals, until they are more than ``most``.

    Returns
    -------
    counts : list of float
    """
    going_on = np.append(literals.next_group, len(literals))
    tail, counts = np.ones(len(literals) + 1), []
    while len(counts) < longest and sum(counts) <= most:
        tail = _one_longer(tail, going_on)
        counts.append(tail[0])
    return counts


def _one_longer(tail, going_on):
    """Return for each literal the conjunctions from it on, one literal longer."""
    longer = np.zeros_like(tail)
    # A first literal, then a shorter conjunction from the next group on.
    longer[:-1] = np.cumsum(tail[going_on[-2::-1]])[::-1]
    return longer


@dataclass(frozen=True)
class EveryConjunction:
    """All conjunctions of ``shortest`` to ``longest`` literals, by number.

    Shorter ones first, then in lexicographic order: the columns of PolynomialFeatures
    when literals are features.

    Attributes
    ----------
    literals : Literals
    shortest : int
    tail : ndarray of shape (longest + 1, n_literals + 1), int64
        ``tail[j, l]``: conjunctions of j literals from the l-th on.
    first_column : ndarray of shape (longest - shortest + 2,), int64
        Where each length begins; the last entry is the number of columns.
    """

    literals: Literals
    shortest: int
    tail: np.ndarray
    first_column: np.ndarray

    @classmethod
    def build(cls, literals, shortest, longest):
        """Number the conjunctions.

        Raises
        ------
        ValueError
            For more of them than a learner takes, and than int64 can number.
        """
        longest = min(longest, literals.n_groups)
        estimate = sum(count_by_length(literals, longest))
        if estimate > MOST_COUNTED:
            raise ValueError(
                f"Conjunctions of up to {longest} of {len(literals)} literals are at "
                f"least {format_large_int(int(estimate))}, too many to be numbered. "
                f"{way_out()}"
            )
        going_on = np.append(literals.next_group, len(literals))
        tail = [np.ones(len(literals) + 1, dtype=np.int64)]
        while len(tail) <= longest:
            tail.append(_one_longer(tail[-1], going_on))
        sizes = [counts[0] for counts in tail[shortest:]]
        first_column = np.cumsum([0, *sizes], dtype=np.int64)
        if first_column[-1] > LARGEST_INDEX:
            raise ValueError(
                f"Conjunctions of {shortest} to {longest} of {len(literals)} literals "
                f"are {first_column[-1]} columns, and learners take at most "
                f"{LARGEST_INDEX}. {way_out()}"
            )
        return cls(literals, shortest, np.array(tail), first_column)

    @property
    def n_columns(self):
        """Return the number of conjunctions."""
        return int(self.first_column[-1])

    def by_length(self):
        """Yield the literals of the conjunctions of each length, one in a row."""
        after = self.literals.next_group.astype(np.int64)
        listed = np.arange(len(self.literals))[:, np.newaxis]
        for length in range(1, len(self.tail)):
            if length >= self.shortest:
                yield listed
            start = after[listed[:, -1]]
            n_children = len(self.literals) - start
            offset = np.cumsum(n_children) - n_children
            children = np.arange(n_children.sum()) + np.repeat(
                start - offset, n_children
            )
            listed = np.column_stack([np.repeat(listed, n_children, axis=0), children])

    def transform(self, table, dtype):
        """Return the conjunctions that hold in each row.

        Parameters
        ----------
        table : ndarray of uint64 words, or csr_array of true entries
        dtype : dtype

        Returns
        -------
        columns : csr_array of shape (n_samples, n_columns)
        """
        rows, next_group = LiteralRows(table, self.literals), self.literals.next_group
        counts = np.empty(rows.n_samples)
        for first, last, *lists in rows:
            self._count(*lists, next_group, counts[first:last])
        out = UnfilledColumns.allocate(counts, self.n_columns, dtype)
        # A part of the rows at a time: an interrupt is seen after it.
        step = max(1, ENTRIES_AT_A_TIME * rows.n_samples // max(1, int(out.indptr[-1])))
        for first, last, indptr, indices in rows:
            for begin in range(first, last, step):
                end = min(begin + step, last)
                write_combinations(
                    indptr[begin - first : end - first + 1], indices, self.tail,
                    next_group, self.first_column, self.shortest,
                    out.indptr[begin : end + 1], out.short, out.long,
                )  # fmt: skip
        return out.to_csr(dtype)

    def _count(self, indptr, indices, next_group, counts):
        """Write how many conjunctions hold in each row."""
        longest = len(self.tail) - 1
        if self.literals.n_groups < len(self.literals):
            sizes = np.empty(longest + 1)
            count_combinations(
                indptr, indices, next_group, self.shortest, longest, sizes, counts
            )
            return
        # Any literals meet: their number decides.
        n_true = np.diff(indptr)
        subsets = np.ones(n_true.max(initial=0) + 1)
        by_number = np.zeros_like(subsets)
        for length in range(1, longest + 1):
            subsets = np.append(0, np.cumsum(subsets[:-1]))
            if length >= self.shortest:
                by_number += subsets
        counts[:] = by_number[n_true]
