"""One interface to evaluate a kernel, for each way to specify one.

An evaluator lays out samples, computes blocks of the kernel matrix and adds sums of
kernel rows to scores. `CountEvaluator` works on bits and is exact. `FormulaEvaluator`
works on bits in float64. `CallableEvaluator` calls the user's function. `GramEvaluator`
reads a given matrix. Samples that are laid out offer ``len`` and ``take``.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from sklboolean._core._popcount import PANEL
from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    as_csr,
    count_common,
    unpack_words,
)
from sklboolean.kernels._blocks import (
    PairFormula,
    SparseLayout,
    add_kernel_scores,
    kernel_matrix,
)
from sklboolean.kernels._count_table import exact_value

PAIRS_AT_A_TIME = 2**22
# Many more pairs where no matrix is formed; interrupts are checked after them.
QUERY_PAIRS_AT_A_TIME = 2**27
# Scores are kept divided by a power of two, so that the largest kernel value is below
# 2**900 and sums of them are finite.
LARGEST_EXPONENT = 900


def make_evaluator(kernel, constant, n_features, max_ones, n_jobs=None):
    """Choose the evaluator of ``kernel + constant``.

    Parameters
    ----------
    kernel : kernel object, callable or "precomputed"
    constant : int
        Weight of the empty conjunction that is added.
    n_features : int
    max_ones : int
        Largest number of true features in a support sample.
    n_jobs : int or None
        Number of threads.
    """
    if isinstance(kernel, str):
        return GramEvaluator(constant)
    if getattr(kernel, "normalize", False) or not hasattr(kernel, "formula"):
        return CallableEvaluator(kernel, constant, n_features)
    formula = kernel.formula(n_features, max_ones)
    is_pair = isinstance(formula, PairFormula)
    evaluator = FormulaEvaluator if is_pair else CountEvaluator
    return evaluator(formula, constant, n_features).with_threads(n_jobs)


class _MatrixEvaluator:
    """Adds scores by way of kernel blocks in float64."""

    table = None  # a CountTable where arithmetic is exact
    shift = 0  # scores are kept divided by 2**shift
    n_jobs = None

    def with_threads(self, n_jobs):
        """Make a copy that uses so many threads."""
        if n_jobs is None:
            return self
        other = copy(self)
        other.n_jobs = n_jobs
        return other

    def columns(self, rows):
        return rows

    def part(self, columns, first, last):
        return columns.take(slice(first, last))

    def add(self, rows, coefficients, columns, scores, *, skip=(0, 0), exact=False):
        """Add ``coefficients @ K(rows, columns)`` outside the columns of ``skip``.

        ``exact`` says that float64 holds all sums exactly.
        """
        if not len(rows):
            return
        step = PANEL * max(1, PAIRS_AT_A_TIME // (PANEL * len(rows)))
        for begin, end in ((0, skip[0]), (skip[1], len(columns))):
            for first in range(begin, end, step):
                last = min(first + step, end)
                K = self.matrix(rows, self.part(columns, first, last))
                scores[:, first:last] += coefficients @ K

    def add_queries(self, rows, coefficients, queries, scores, *, exact=False):
        """Add ``coefficients @ K(rows, queries)`` to ``scores``, in parts."""
        step = PANEL * max(1, QUERY_PAIRS_AT_A_TIME // (PANEL * max(1, len(rows))))
        for first in range(0, len(queries), step):
            part = slice(first, min(first + step, len(queries)))
            own = queries if len(queries) <= step else queries.take(part)
            self.add(
                rows, coefficients, self.columns(own), scores[:, part], exact=exact
            )


class FormulaEvaluator(_MatrixEvaluator):
    """A Boolean kernel that also depends on the sizes of the samples."""

    def __init__(self, formula, constant, n_features):
        self.formula, self.constant, self.n_features = formula, constant, n_features

    def layout(self, table, as_sparse):
        """Choose how to lay out samples that are compared with those of ``table``."""
        if as_sparse:
            return SparseLayout(as_csr(table, self.n_features)).rows
        return partial(BitRows.from_words, n_features=self.n_features)

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
            # Columns with postings are counted all at once, for a few rows at a time.
            step = max(1, PAIRS_AT_A_TIME // len(columns))
            for first in range(0, len(rows), step):
                part = slice(first, first + step)
                K = self.matrix(rows.take(part), columns)
                _add_around(skip, scores, coefficients[:, part] @ K)


def _add_around(skip, scores, addition):
    scores[:, : skip[0]] += addition[:, : skip[0]]
    scores[:, skip[1] :] += addition[:, skip[1] :]


class CountEvaluator(FormulaEvaluator):
    """A Boolean kernel that is a function of one count: exact."""

    def __init__(self, table, constant, n_features):
        super().__init__(table.plus(constant), 0, n_features)
        self.table = self.formula
        self.shift = max(0, self.table.largest()[1] - LARGEST_EXPONENT)

    def matrix(self, rows, columns):
        return kernel_matrix(self.table, rows, columns, self.n_jobs, shift=self.shift)

    def diagonal(self, rows):
        return self.table.values(self.shift)[self._own_counts(rows)]

    def exact_diagonal(self, rows):
        """Compute K(x, x) * 2**table.scale of each sample as Python integers."""
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
        """Compute sum_i c_i K(row i, query) * 2**table.scale for each hypothesis.

        Parameters
        ----------
        rows : BitRows
        coefficients : ndarray of shape (n_scores, n_rows), int64
        query : BitRows of one sample

        Returns
        -------
        scores : list of int
        """
        counts = self.counts(rows, query)
        return [exact_value(self.table, counts, row) for row in coefficients]

    def counts(self, rows, query):
        """Compute the table's count between each row and one query."""
        common = count_common(query, BitColumns.from_rows(rows))[0]
        if self.table.count == "common":
            return common
        return rows.n_features - rows.ones - query.ones[0] + 2 * common


@dataclass(frozen=True)
class TableRows:
    """Boolean samples that a user's kernel function receives as float64."""

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


class CallableEvaluator(_MatrixEvaluator):
    """A function ``kernel(X, Y)`` of two float64 arrays of zeros and ones."""

    def __init__(self, function, constant, n_features):
        self.function, self.constant, self.n_features = function, constant, n_features

    def layout(self, table, as_sparse):
        return partial(TableRows, n_features=self.n_features)

    def matrix(self, rows, columns):
        K = self.function(rows.as_float(), columns.as_float())
        K = K.toarray() if sparse.issparse(K) else np.asarray(K, dtype=np.float64)
        if K.shape != (len(rows), len(columns)):
            raise ValueError(
                f"kernel returned shape {K.shape} for {len(rows)} and {len(columns)} "
                "samples. It must return one value for each pair."
            )
        if not np.isfinite(K).all():
            raise ValueError("kernel returned NaN or infinity. Scale it down.")
        return np.ascontiguousarray(K) + self.constant

    def diagonal(self, rows):
        blocks = (
            rows.take(slice(first, first + 256)) for first in range(0, len(rows), 256)
        )
        return np.concatenate([self.matrix(b, b).diagonal() for b in blocks])


@dataclass(frozen=True)
class GramRows:
    """Samples of a given kernel matrix, by number."""

    gram: np.ndarray
    numbers: np.ndarray

    def __len__(self):
        return len(self.numbers)

    def take(self, rows):
        return GramRows(self.gram, self.numbers[rows])


class GramEvaluator(_MatrixEvaluator):
    """A kernel matrix whose columns are the training samples."""

    def __init__(self, constant):
        self.constant = constant

    def matrix(self, rows, columns):
        block = columns.gram[np.ix_(columns.numbers, rows.numbers)]
        return np.ascontiguousarray(block.T) + self.constant

    def diagonal(self, rows):
        return rows.gram[rows.numbers, rows.numbers] + self.constant
