"""Covers: a few conjunctions that hold in the rows they should, and not elsewhere.

Sets of rows are bits, packed like rows of features.
"""

from time import monotonic

import numpy as np
from scipy import sparse

from sklboolean._core._popcount import count_ones
from sklboolean._core.bits import pack_dense
from sklboolean._core.conjunction_search import satisfied_rows, search_conjunctions


def pack_mask(mask):
    """Pack a set of rows, shape (n_samples,), into words."""
    return pack_dense(np.asarray(mask, dtype=bool)[None, :])[0]


def row_counts(covers):
    """Count the rows in each of several packed sets."""
    counts = np.empty(len(covers), dtype=np.int32)
    count_ones(np.ascontiguousarray(covers), counts)
    return counts.astype(np.int64)


class CoverPool:
    """Conjunctions and the rows that satisfy them; of one cover the shortest.

    Parameters
    ----------
    table : ndarray of uint64 words, or csr_array
        Boolean rows.
    """

    def __init__(self, table):
        self.table = table.tocsc() if sparse.issparse(table) else table
        self.columns = {}
        self.clear()

    def clear(self):
        """Forget the conjunctions, not what is known of the table."""
        self.place, self.literals, self.covers, self.costs = {}, [], [], []

    def cover(self, literals):
        """Return the packed rows that satisfy a conjunction."""
        rows = pack_mask(np.ones(self.table.shape[0]))
        for literal in literals:
            if literal not in self.columns:
                self.columns[literal] = pack_mask(satisfied_rows(self.table, [literal]))
            rows &= self.columns[literal]
        return rows

    def add(self, literals):
        """Take a conjunction in, unless one as short has its cover."""
        cover = self.cover(literals)
        cost = len(literals), sum(not value for _, value in literals)
        place = self.place.setdefault(cover.tobytes(), len(self.literals))
        if place == len(self.literals):
            self.literals.append(literals)
            self.covers.append(cover)
            self.costs.append(cost)
        elif cost < self.costs[place]:
            self.literals[place], self.costs[place] = literals, cost

    def best(self, positive, negative, penalty):
        """Return the conjunction of most gain on packed rows: (gain, place).

        Of equal ones the shorter, with fewer negations, that came first.
        """
        if not self.covers:
            return 0.0, None
        covers = np.array(self.covers)
        gains = row_counts(covers & positive) - penalty * row_counts(covers & negative)
        place = int(np.lexsort((*np.transpose(self.costs)[::-1], -gains))[0])
        return float(gains[place]), place


def find_cover(
    rows, sign, pool, positive, negative, *, max_rules, max_literals, literals, penalty,
    min_gain, n_candidates, width, feature_groups=None, deadline=None, n_jobs=None,
):  # fmt: skip
    """Choose conjunctions of a model one by one, each for the rows that it adds.

    A conjunction gains 1 for each positive row that none before it covers, and loses
    ``penalty`` for each other such row. Candidates are the heaviest conjunctions over
    the support rows that are not covered yet. They are looked for again when none
    gains half of what the best of them did.

    Parameters
    ----------
    rows : SignedRows
        The model.
    sign : {1, -1}
        Whether the positive rows are those that the model scores high or low.
    pool : CoverPool
        Of the table that the masks speak of; without conjunctions.
    positive, negative : ndarray of shape (n_samples,), bool
    max_rules, max_literals : int
    literals : {"positive", "both"}
    penalty : float
    min_gain : float
        Stop when no conjunction gains this share of the positive rows, or one row.
    n_candidates : int
        From each search.
    width : int or None
        Of the search; None searches exactly.
    feature_groups : array-like of shape (n_features,) or None
    deadline : float or None
        On the clock of ``time.monotonic``.
    n_jobs : int or None
        For exact searches.

    Returns
    -------
    chosen : list of tuples of (feature, value) pairs
    """
    least = max(1.0, min_gain * np.count_nonzero(positive))
    positive, negative = pack_mask(positive), pack_mask(negative)
    coefficients = sign * rows.coefficients
    if rows.is_single:
        literals, max_literals = "positive", 1
    chosen, enough = [], np.inf
    while len(chosen) < max_rules:
        gain, place = pool.best(positive, negative, penalty)
        if gain < enough:
            left = None if deadline is None else max(1e-3, deadline - monotonic())
            candidates = search_conjunctions(
                rows.table, coefficients, rows.n_features, max_literals=max_literals,
                n_rules=n_candidates, literals=literals, sign="positive",
                feature_groups=feature_groups, time_limit=left, width=width,
                n_jobs=n_jobs,
            )  # fmt: skip
            for conjunction, _ in candidates.found:
                pool.add(conjunction)
            gain, place = pool.best(positive, negative, penalty)
            enough = gain / 2
        if place is None or gain < least:
            break
        best, cover = pool.literals[place], pool.covers[place]
        chosen.append(best)
        positive, negative = positive & ~cover, negative & ~cover
        coefficients = np.where(satisfied_rows(rows.table, best), 0.0, coefficients)
        if deadline is not None and monotonic() >= deadline:
            break
    return chosen
