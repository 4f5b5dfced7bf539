"""What a dual learner asks of a kernel, for each way to give one.

A scorer lays out rows, gives kernel blocks and adds sums of kernel rows to scores.
`CountScorer` works on bits and is exact; `FormulaScorer` works on bits in float64;
`CallableScorer` calls the user's function; `GramScorer` reads a matrix. Rows offer
``len`` and ``take``.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sklboolean._core._popcount import PANEL
from sklboolean._core.bits import BitColumns, count_common, unpack_words
from sklboolean._core.parallel import count_threads
from sklboolean.kernels._blocks import add_kernel_scores, kernel_matrix
from sklboolean.kernels._count_table import exact_value

PAIRS_AT_A_TIME = 2**22
# Many pairs more, where no matrix is formed: an interrupt is seen after them.
QUERY_PAIRS_AT_A_TIME = 2**27


def add_queries(scorer, rows, coefficients, queries, scores, *, exact=False):
    """Add ``coefficients @ K(rows, queries)`` to ``scores``, some queries at a time."""
    step = PANEL * max(1, QUERY_PAIRS_AT_A_TIME // (PANEL * max(1, len(rows))))
    for first in range(0, len(queries), step):
        part = slice(first, min(first + step, len(queries)))
        columns = scorer.columns(queries.take(part))
        scorer.add(rows, coefficients, columns, scores[:, part], exact=exact)


class _MatrixScorer:
    """Scores by way of kernel blocks in float64."""

    table = None  # no exact arithmetic
    shift = 0

    def columns(self, rows):
        return rows

    def part(self, columns, first, last):
        return columns.take(slice(first, last))

    def add(self, rows, coefficients, columns, scores, *, skip=(0, 0), exact=False):
        """Add ``coefficients @ K(rows, columns)`` outside the columns of ``skip``."""
        if not len(rows):
            return
        step = PANEL * max(1, PAIRS_AT_A_TIME // (PANEL * len(rows)))
        for begin, end in ((0, skip[0]), (skip[1], len(columns))):
            for first in range(begin, end, step):
                last = min(first + step, end)
                K = self.matrix(rows, self.part(columns, first, last))
                scores[:, first:last] += coefficients @ K


class FormulaScorer(_MatrixScorer):
    """A Boolean kernel that depends on the sizes of the rows too."""

    def __init__(self, formula, constant, n_jobs=None):
        self.formula, self.constant = formula, constant
        self.n_jobs = count_threads(n_jobs)

    def columns(self, rows):
        return BitColumns.from_rows(rows)

    def part(self, columns, first, last):
        return columns.part(first, last)

    def matrix(self, rows, columns):
        return kernel_matrix(self.formula, rows, columns, self.n_jobs) + self.constant

    def diagonal(self, rows):
        ones = rows.ones[:, None].astype(np.int64)
        values = self.formula.values(rows.ones[:, None], ones, ones)
        return values[:, 0].astype(np.float64) + self.constant

    def add(self, rows, coefficients, columns, scores, *, skip=(0, 0), exact=False):
        if columns.postings is None:
            super().add(rows, coefficients, columns, scores, skip=skip)
        elif len(rows):
            # Columns with postings are counted all at once, a few rows at a time.
            step = max(1, PAIRS_AT_A_TIME // len(columns))
            for first in range(0, len(rows), step):
                part = slice(first, first + step)
                K = self.matrix(rows.take(part), columns)
                _add_around(skip, scores, coefficients[:, part] @ K)


def _add_around(skip, scores, addition):
    scores[:, : skip[0]] += addition[:, : skip[0]]
    scores[:, skip[1] :] += addition[:, skip[1] :]


class CountScorer(FormulaScorer):
    """A Boolean kernel that is a function of one count: exact."""

    def __init__(self, table, constant, n_jobs=None):
        super().__init__(table.plus(constant), 0, n_jobs)
        self.table = self.formula
        # Scores are kept divided by 2**shift, so that the largest value is below
        # 2**900 and sums of them are finite.
        self.shift = max(0, self.table.largest()[1] - 900)

    def matrix(self, rows, columns):
        return kernel_matrix(self.table, rows, columns, self.n_jobs, shift=self.shift)

    def diagonal(self, rows):
        return self.table.values(self.shift)[self._own_counts(rows)]

    def exact_diagonal(self, rows):
        """Return K(x, x) * 2**table.scale of each row, Python integers."""
        return [self.table.numerator(int(s)) for s in self._own_counts(rows)]

    def _own_counts(self, rows):
        if self.table.count == "same":
            return np.full(len(rows), rows.n_features)
        return rows.ones

    def add(self, rows, coefficients, columns, scores, *, skip=(0, 0), exact=False):
        if not len(rows):
            return
        options = {"exact": exact, "shift": self.shift, "n_jobs": self.n_jobs}
        if columns.postings is not None and skip != (0, 0):
            addition = np.zeros_like(scores)
            add_kernel_scores(
                self.table, rows, coefficients, columns, addition, **options
            )
            _add_around(skip, scores, addition)
            return
        for first, last in ((0, skip[0]), (skip[1], len(columns))):
            if first < last:
                add_kernel_scores(
                    self.table, rows, coefficients, columns.part(first, last),
                    scores[:, first:last], **options,
                )  # fmt: skip

    def exact_scores(self, rows, coefficients, query):
        """Return sum_i c_i K(row i, query) * 2**table.scale for each hypothesis.

        Parameters
        ----------
        rows : BitRows
        coefficients : ndarray of shape (n_scores, n_samples), int64
        query : BitRows of one row
        """
        counts = self.counts(rows, query)
        return [exact_value(self.table, counts, row) for row in coefficients]

    def counts(self, rows, query):
        """Return the table's count between each row and one query row."""
        common = count_common(query, BitColumns.from_rows(rows))[0]
        if self.table.count == "common":
            return common
        return rows.n_features - rows.ones - query.ones[0] + 2 * common


@dataclass(frozen=True)
class TableRows:
    """Boolean rows to be shown to a user's kernel function as float64."""

    table: object
    n_features: int

    def __len__(self):
        return self.table.shape[0]

    def take(self, rows):
        return TableRows(self.table[rows], self.n_features)

    def as_float(self):
        if sparse.issparse(self.table):
            return self.table.astype(np.float64)
        return unpack_words(self.table, self.n_features).astype(np.float64)


class CallableScorer(_MatrixScorer):
    """A function ``kernel(X, Y)`` of two float64 tables of zeros and ones."""

    def __init__(self, function, constant):
        self.function, self.constant = function, constant

    def matrix(self, rows, columns):
        K = self.function(rows.as_float(), columns.as_float())
        K = K.toarray() if sparse.issparse(K) else np.asarray(K, dtype=np.float64)
        if K.shape != (len(rows), len(columns)):
            raise ValueError(
                f"kernel returned shape {K.shape} for {len(rows)} and {len(columns)} "
                "rows; it must return one value for each pair."
            )
        if not np.isfinite(K).all():
            raise ValueError("kernel returned NaN or infinity; scale it down.")
        return np.ascontiguousarray(K) + self.constant

    def diagonal(self, rows):
        blocks = (
            rows.take(slice(first, first + 256)) for first in range(0, len(rows), 256)
        )
        return np.concatenate([self.matrix(b, b).diagonal() for b in blocks])


@dataclass(frozen=True)
class GramRows:
    """Rows of a given kernel matrix, by number."""

    gram: np.ndarray
    numbers: np.ndarray

    def __len__(self):
        return len(self.numbers)

    def take(self, rows):
        return GramRows(self.gram, self.numbers[rows])


class GramScorer(_MatrixScorer):
    """A kernel matrix whose columns are the training rows."""

    def __init__(self, constant):
        self.constant = constant

    def matrix(self, rows, columns):
        block = columns.gram[np.ix_(columns.numbers, rows.numbers)]
        return np.ascontiguousarray(block.T) + self.constant

    def diagonal(self, rows):
        return rows.gram[rows.numbers, rows.numbers] + self.constant
