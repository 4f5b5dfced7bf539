"""Kernels evaluated on laid-out samples, behind one interface.

An evaluator lays out samples, computes blocks of the kernel matrix and adds sums of
kernel rows to scores. `CountEvaluator` works on bits and is exact. `FormulaEvaluator`
works on bits in float64. `CallableEvaluator` calls the user's function. `GramEvaluator`
reads a given matrix. Samples that are laid out offer ``len`` and ``take``.
"""

# What the evaluators share. `layout(table, as_sparse)` returns the function that lays
# samples out. Of a block, `matrix(rows, columns)` computes K of shape
# (n_rows, n_columns), and `add(rows, coefficients, columns, scores, skip=)` adds
# coefficients @ K to scores of shape (n_scores, n_columns) outside the columns of skip.
# No caller holds a whole kernel matrix: work is cut so that a block stays in a cache,
# threads have enough to do, and interrupts are noticed.
# Values of `CountEvaluator` are correctly rounded and its sums are the same in any cut,
# because every sum is exact or bounded by `rounding_slack`.

from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import sparse

from sklboolean._core._popcount import (
    PANEL,
    SMALL_COUNTS,
    CountMap,
    add_scores,
    map_pairs,
    mirror,
)
from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    as_csr,
    choose_packed_features,
    count_common,
    sparse_rows,
    unpack_words,
)
from sklboolean._core.one_hot_groups import OneHotGroups
from sklboolean._core.parallel import each_slice
from sklboolean._core.parameters import check_binarize
from sklboolean._core.validation import check_boolean_array
from sklboolean.kernels._count_table import exact_value

# Number of pairs evaluated at a time where numpy computes the values.
PAIRS_AT_A_TIME = 2**20
# The same where a block of values should stay in the second-level cache.
BLOCK_PAIRS = 2**17
# The same where a user's function, or a matrix product, does.
MATRIX_PAIRS_AT_A_TIME = 2**22
# Many more pairs where no matrix is formed; interrupts are checked after them.
QUERY_PAIRS_AT_A_TIME = 2**27
# Number of pairs times words between two checks for an interrupt.
WORDS_AT_A_TIME = 2**27
# With fewer pairs one thread finishes before a second has started.
PAIRS_FOR_THREADS = 2**17
# The same where sums are formed in registers, in pairs times words.
WORDS_FOR_THREADS = 2**20
# Counting one half of a symmetric matrix and mirroring it pays from this many words.
MIRROR_WORDS = 16
# Scores are kept divided by a power of two, so that the largest kernel value is below
# 2**900 and sums of them are finite.
LARGEST_EXPONENT = 900
# Up to this exponent of every value, products of two roots are within float64, too.
LARGEST_NORMALIZED = 1000


class PairFormula:
    """A kernel that depends on common, |x| and |z|.

    Parameters
    ----------
    values : callable
        ``values(common, a, b)`` computes the kernel of an int32 matrix of counts, a
        column of row sizes and a row of column sizes (numbers or Python integers).
    count_map : CountMap or None
        The same in compiled code.
    """

    def __init__(self, values, count_map=None):
        self.values, self.count_map = values, count_map


class SampleLayout:
    """Layout of samples that are compared with those of one table.

    Of sparse samples the commonest features are packed into words.

    Parameters
    ----------
    table : ndarray of uint64 words, or csr_array of shape (n_samples, n_features)
        The samples whose frequencies decide.
    n_features : int
    as_sparse : bool
        Whether samples are CSR.
    with_groups : bool
        Whether to find groups of features of which at most one is true in a sample.
    """

    def __init__(self, table, n_features, as_sparse, with_groups=True):
        self.n_features, self.bit_of_feature, self.groups = n_features, None, None
        if as_sparse:
            table = as_csr(table, n_features)
            frequencies = np.bincount(table.indices, minlength=n_features)
            self.bit_of_feature = choose_packed_features(
                frequencies / max(1, table.shape[0])
            )
        if with_groups and (not as_sparse or self.bit_of_feature.min() >= 0):
            self.groups = OneHotGroups.find(self.rows(table))

    def rows(self, table):
        """Lay out a Boolean table, words or CSR, as `BitRows`."""
        if self.bit_of_feature is None:
            rows = BitRows.from_words(table, self.n_features)
        else:
            table = as_csr(table, self.n_features)
            rows = sparse_rows(table, self.bit_of_feature)
        return rows if self.groups is None else replace(rows, groups=self.groups)


def lay_out_rows(X, Y, binarize, names=("X", "Y")):
    """Check two tables of samples and lay them out for counting.

    Parameters
    ----------
    X, Y : as given by the user
        ``Y=None``: the same as ``X``.
    binarize : float or None
    names : pair of str
        What errors call them.

    Returns
    -------
    rows, others : BitRows
    max_ones : int
        Largest number of true features in a sample.
    """
    check_binarize(binarize)
    A, n_features = check_boolean_array(X, names[0], binarize)
    B, n_others = (
        (A, n_features) if Y is None else check_boolean_array(Y, names[1], binarize)
    )
    if n_features != n_others:
        raise ValueError(
            f"{names[0]} has {n_features} features and {names[1]} has {n_others}. Both "
            "must have the same columns."
        )
    as_sparse = sparse.issparse(A) or sparse.issparse(B)
    layout = SampleLayout(B, n_features, as_sparse, with_groups=False)
    rows = layout.rows(A)
    others = rows if A is B else layout.rows(B)
    max_ones = max(rows.ones.max(initial=0), others.ones.max(initial=0))
    return rows, others, int(max_ones)


def make_evaluator(config, table=None, n_jobs=None):
    """Choose the evaluator of a kernel.

    Parameters
    ----------
    config : DualConfig
        With the kernel, the constant that is added to it, and the number of features.
    table : Boolean table or None
        The samples that rows of the kernel belong to.
    n_jobs : int or None
        Number of threads.
    """
    kernel, constant, n_features = config.kernel, config.constant, config.n_features
    if config.is_precomputed:
        return GramEvaluator(constant)
    if getattr(kernel, "normalize", False) or not hasattr(kernel, "formula"):
        return CallableEvaluator(kernel, constant, n_features)
    max_ones = 0
    if sparse.issparse(table):
        max_ones = int(np.diff(table.indptr).max(initial=0))
    elif table is not None:
        max_ones = int(BitRows.from_words(table, 0).ones.max(initial=0))
    formula = kernel.formula(n_features, max_ones)
    if isinstance(formula, PairFormula):
        return FormulaEvaluator(formula, n_features, constant=constant, n_jobs=n_jobs)
    formula = formula.plus(constant)
    shift = max(0, formula.largest[1] - LARGEST_EXPONENT)
    return CountEvaluator(formula, n_features, shift=shift, n_jobs=n_jobs)


def seconds_of_pairs(rows):
    """Estimate the seconds of a fit that compares samples in pairs."""
    n_words = rows.words.shape[1] if isinstance(rows, BitRows) else 1
    return 2.0 * n_words**0.5 * (len(rows) / 40_000) ** 1.75


def evaluator_of_bits(formula, n_features, n_jobs=None):
    """Make the evaluator of a formula of bits."""
    is_pair = isinstance(formula, PairFormula)
    evaluator = FormulaEvaluator if is_pair else CountEvaluator
    return evaluator(formula, n_features, n_jobs=n_jobs)


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
        step = PANEL * max(1, MATRIX_PAIRS_AT_A_TIME // (PANEL * len(rows)))
        for begin, end in ((0, skip[0]), (skip[1], len(columns))):
            for first in range(begin, end, step):
                last = min(first + step, end)
                K = self.matrix(rows, self.part(columns, first, last))
                scores[:, first:last] += coefficients @ K

    def add_queries(self, rows, coefficients, queries, scores, *, exact=False):
        """Add ``coefficients @ K(rows, queries)`` to ``scores``, in parts."""
        step = PANEL * max(1, QUERY_PAIRS_AT_A_TIME // (PANEL * max(1, len(rows))))
        for first in range(0, len(queries), step):
            query_slice = slice(first, min(first + step, len(queries)))
            block = queries if len(queries) <= step else queries.take(query_slice)
            self.add(
                rows,
                coefficients,
                self.columns(block),
                scores[:, query_slice],
                exact=exact,
            )


class FormulaEvaluator(_MatrixEvaluator):
    """A Boolean kernel that also depends on the sizes of the samples."""

    def __init__(self, formula, n_features, *, constant=0, n_jobs=None):
        self.formula, self.n_features = formula, n_features
        self.constant, self.n_jobs = constant, n_jobs

    def layout(self, table, as_sparse):
        """Choose how to lay out samples that are compared with those of ``table``."""
        return SampleLayout(table, self.n_features, as_sparse).rows

    def columns(self, rows):
        return BitColumns.from_rows(rows)

    def part(self, columns, first, last):
        return columns.part(first, last)

    def matrix(self, rows, columns, *, symmetric=False, out=None):
        """Evaluate the kernel on all pairs, shape (n_samples, n_columns).

        ``out`` receives the values: float64 or float32. None: a new array of float64.
        """
        out = np.empty((len(rows), len(columns))) if out is None else out
        if self.formula.count_map is not None:
            self._map_pairs(rows, columns, self.formula.count_map, symmetric, out)
            return out + self.constant if self.constant else out
        b = columns.ones[np.newaxis, :].astype(np.int64)

        def fill(first, last):
            block = rows.take(slice(first, last))
            a = block.ones[:, np.newaxis].astype(np.int64)
            values = self.formula.values(count_common(block, columns), a, b)
            try:
                values = values.astype(np.float64)
            except OverflowError:
                raise ValueError(
                    too_large_message("fewer or shorter formulas")
                ) from None
            with np.errstate(over="ignore"):  # float32
                out[first:last] = values

        small = out.size < PAIRS_FOR_THREADS
        step = max(1, PAIRS_AT_A_TIME // max(1, len(columns)))
        each_slice(fill, len(rows), self.n_jobs, small=small, step=step)
        return out + self.constant if self.constant else out

    def _map_pairs(self, rows, columns, count_map, symmetric, out, roots=None):
        """Write the values of all pairs into ``out``, times both samples' ``roots``."""
        if not out.size:
            return
        dense, n_words = columns.postings is None, rows.words.shape[1]
        # Of a symmetric matrix of long samples one half is counted and mirrored.
        half = symmetric and dense and n_words >= MIRROR_WORDS

        def fill(first, last):
            block = rows.take(slice(first, last)) if last - first < len(rows) else rows
            diagonal = first if half else -len(rows)
            of_block = roots and (roots[0][first:last], roots[1])
            map_pairs(block, columns, count_map, diagonal, out[first:last], of_block)

        # Writing the values takes time too where words are few.
        step = max(16, WORDS_AT_A_TIME // (2 * max(8, n_words) * len(columns)))
        small = out.size < PAIRS_FOR_THREADS
        each_slice(fill, len(rows), self.n_jobs, small=small, step=step)
        if half:
            n, copy_part = len(out), partial(mirror, out)
            step = PAIRS_AT_A_TIME * 16 // n
            each_slice(copy_part, n, self.n_jobs, multiple=8, small=small, step=step)

    def diagonal(self, rows):
        ones = rows.ones[:, None].astype(np.int64)
        values = self.formula.values(rows.ones[:, None], ones, ones)
        return values[:, 0].astype(np.float64) + self.constant

    def add(self, rows, coefficients, columns, scores, *, skip=(0, 0), exact=False):
        if columns.postings is None:
            super().add(rows, coefficients, columns, scores, skip=skip)
        elif len(rows):
            # Columns with postings are counted all at once, for a few rows at a time.
            step = max(1, MATRIX_PAIRS_AT_A_TIME // len(columns))
            for first in range(0, len(rows), step):
                row_slice = slice(first, first + step)
                K = self.matrix(rows.take(row_slice), columns)
                _add_around(skip, scores, coefficients[:, row_slice] @ K)


def _add_around(skip, scores, addition):
    scores[:, : skip[0]] += addition[:, : skip[0]]
    scores[:, skip[1] :] += addition[:, skip[1] :]


def too_large_message(remedy):
    """Write the error message for a kernel value that does not fit float64."""
    return (
        "A kernel value exceeds float64 (about 2**1024): these samples satisfy too "
        f"many formulas together, or the formulas have too much weight. Use {remedy}."
    )


class CountEvaluator(FormulaEvaluator):
    """A Boolean kernel that is a function of one count: exact.

    Parameters
    ----------
    table : CountTable
    n_features : int
    shift : int
        Values are divided by 2**shift.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(self, table, n_features, *, shift=0, n_jobs=None):
        super().__init__(None, n_features, n_jobs=n_jobs)
        self.table, self.shift = table, shift
        same = n_features if table.count == "same" else None
        # Three forms of one function: a look-up table; 2**s + c, by setting bits of a
        # float; a cubic in s for sums that float64 holds exactly, without a gather.
        is_small = table.max_count < SMALL_COUNTS
        is_power = not shift and table.power_constant is not None
        if is_power and not is_small and table.max_count <= 1000:
            form, values = "power", np.array([float(table.power_constant)])
        else:
            form, values = "table", table.values(shift)
        self.count_map, self.cubic_map = CountMap(form, values, same), None
        self.has_infinite_values = form == "table" and np.isinf(values[-1])
        if table.cubic is not None and not is_small:
            self.cubic_map = CountMap("cubic", np.array(table.cubic, float), same)

    def matrix(self, rows, columns, *, symmetric=False, out=None, normalize=False):
        """Evaluate the kernel on all pairs, shape (n_samples, n_columns).

        ``out`` receives the values: float64 or float32. None: a new array of float64.
        With ``normalize``, values are divided by the roots of both samples' values with
        themselves; these are finite.

        Raises
        ------
        ValueError
            If a value exceeds float64.
        """
        out = np.empty((len(rows), len(columns))) if out is None else out
        roots = [self._roots(side) for side in (rows, columns)] if normalize else None
        self._map_pairs(rows, columns, self.count_map, symmetric, out, roots)
        if self.has_infinite_values and np.isinf(out).any():
            raise ValueError(too_large_message(self.table.remedy))
        return out

    def _roots(self, samples):
        """Compute 1 over the root of K(x, x) of each sample, 1 for 0."""
        sizes = self.table.values(self.shift)[samples.ones]
        sizes[sizes == 0] = 1.0
        return 1 / np.sqrt(sizes)

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
        if columns.postings is not None and skip != (0, 0):
            # Columns with postings are counted all at once.
            addition = np.zeros_like(scores)
            self.add(rows, coefficients, columns, addition, exact=exact)
            _add_around(skip, scores, addition)
            return
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        count_map, divisor = self.count_map, 1.0
        if exact and self.cubic_map is not None:
            # Integers with a common denominator, as long as float64 holds them.
            if self.table.cubic_size * np.abs(coefficients).sum() <= 2.0**53:
                count_map, divisor = self.cubic_map, 6.0

        def add(begin, first, last):
            here = slice(begin + first, begin + last)
            add_slice = np.ascontiguousarray(scores[:, here])
            block_columns = columns.part(here.start, here.stop)
            add_scores(rows, coefficients, block_columns, count_map, divisor, add_slice)
            scores[:, here] = add_slice

        # Parts with postings are kept for the next call, so their edges must stay.
        step = WORDS_AT_A_TIME // (len(rows) * (1 + rows.words.shape[1]))
        step = None if columns.postings is not None else step
        for begin, end in ((0, skip[0]), (skip[1], len(columns))):
            n, add_slice = end - begin, partial(add, begin)
            small = len(rows) * n * rows.words.shape[1] < WORDS_FOR_THREADS
            each_slice(
                add_slice, n, self.n_jobs, multiple=PANEL, small=small, step=step
            )

    def exact_scores(self, rows, coefficients, query):
        """Compute sum_i c_i K(row i, query) * 2**table.scale for each hypothesis.

        Parameters
        ----------
        rows : BitRows
        coefficients : ndarray of shape (n_scores, n_samples), int64
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


def normalized_matrix(table, rows, columns, out, *, symmetric=False, n_jobs=None):
    """Evaluate K(x, z) / sqrt(K(x, x) K(z, z)) on all pairs, into ``out``.

    K(x, x) becomes exactly 1. A sample with K(x, x) = 0 has the value 0 with every
    sample. Where products of two values leave float64, mantissas and exponents are
    divided separately.
    """
    n, same = rows.n_features, table.count == "same"
    used = table.exponents[table.mantissas != 0]
    is_moderate = np.abs(used).max(initial=0) <= LARGEST_NORMALIZED
    if is_moderate:
        evaluator = CountEvaluator(table, n, n_jobs=n_jobs)
        if same:  # every K(x, x) is the last value
            values = table.values()
            values = values / values[-1] if values[-1] else values
            evaluator.count_map = CountMap("table", values, n)
        return evaluator.matrix(
            rows, columns, symmetric=symmetric, out=out, normalize=not same
        )

    def fill(first, last):
        block = rows.take(slice(first, last))
        counts, a, b = count_common(block, columns), block.ones[:, None], columns.ones
        if same:
            counts = n - a - b + 2 * counts
            a = b = n
        out[first:last] = _normalize(table, counts, a, b)

    step = max(1, BLOCK_PAIRS // max(1, len(columns)))
    small = out.size < PAIRS_FOR_THREADS
    each_slice(fill, len(rows) if out.size else 0, n_jobs, small=small, step=step)
    return out


def _normalize(table, counts, a, b):
    # sqrt(m 2**e) = sqrt(m 2**(e % 2)) 2**(e // 2), of the product.
    exponents = table.exponents[a] + table.exponents[b]
    roots = np.sqrt(np.ldexp(table.mantissas[a] * table.mantissas[b], exponents % 2))
    quotients = np.divide(
        table.mantissas[counts], roots, out=np.zeros(counts.shape), where=roots > 0
    )
    with np.errstate(under="ignore"):
        return np.ldexp(quotients, table.exponents[counts] - exponents // 2)
