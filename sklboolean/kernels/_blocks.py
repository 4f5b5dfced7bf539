"""Kernel values between blocks of Boolean samples."""

from functools import partial

import numpy as np
from scipy import sparse

from sklboolean._core._popcount import PANEL, CountMap, add_scores, map_pairs, mirror
from sklboolean._core.bits import (
    BitColumns,
    BitRows,
    as_csr,
    choose_packed_features,
    count_common,
    sparse_rows,
)
from sklboolean._core.parallel import each_slice
from sklboolean._core.validation import check_binarize, check_boolean_array
from sklboolean.kernels._count_table import CountTable

# Number of pairs counted at a time where numpy computes the values.
PAIRS_AT_A_TIME = 2**20
# Number of pairs times words between two checks for an interrupt.
WORDS_AT_A_TIME = 2**27
# With fewer pairs one thread finishes before a second has started.
PAIRS_FOR_THREADS = 2**20
# Counting one half of a symmetric matrix and mirroring it pays from this many words.
MIRROR_WORDS = 48


class PairFormula:
    """A kernel that depends on common, |x| and |z|.

    Parameters
    ----------
    values : callable
        ``values(common, a, b)`` computes the kernel of an int32 matrix of counts, a
        column of row sizes and a row of column sizes (numbers or Python integers).
    """

    def __init__(self, values):
        self.values = values


class SparseLayout:
    """Which features of sparse samples are packed into words, to compare samples.

    Parameters
    ----------
    table : csr_array of shape (n_samples, n_features)
        The samples whose frequencies decide.
    """

    def __init__(self, table):
        n_samples, n_features = table.shape
        frequencies = np.bincount(table.indices, minlength=n_features)
        self.bit_of_feature = choose_packed_features(frequencies / max(1, n_samples))

    def rows(self, table):
        """Lay out a Boolean table, words or CSR, as `BitRows`."""
        table = as_csr(table, len(self.bit_of_feature))
        return sparse_rows(table, self.bit_of_feature)


def lay_out_pair(X, Y, binarize):
    """Check two tables of samples and lay them out for counting.

    Parameters
    ----------
    X, Y : as given by the user
        ``Y=None``: the same as ``X``.
    binarize : float or None

    Returns
    -------
    rows : BitRows
    columns : BitColumns
    max_ones : int
        Largest number of true features in a sample.
    """
    check_binarize(binarize)
    A, n_features = check_boolean_array(X, "X", binarize)
    B, n_features_Y = (
        (A, n_features) if Y is None else check_boolean_array(Y, "Y", binarize)
    )
    if n_features != n_features_Y:
        raise ValueError(
            f"X has {n_features} features and Y has {n_features_Y}. Both must have the "
            "same columns."
        )
    if sparse.issparse(A) or sparse.issparse(B):
        lay_out = SparseLayout(as_csr(B, n_features)).rows
    else:
        lay_out = partial(BitRows.from_words, n_features=n_features)
    rows = lay_out(A)
    others = rows if A is B else lay_out(B)
    max_ones = max(rows.ones.max(initial=0), others.ones.max(initial=0))
    return rows, BitColumns.from_rows(others), int(max_ones)


def _count_map(table, form, values, n_features):
    """Build the function of popcounts that gives the kernel's values."""
    return CountMap(form, values, n_features if table.count == "same" else None)


def _map_table(
    rows, columns, table, values, n_jobs=None, *, form="table", symmetric=False
):
    """Compute ``values[count]`` for all pairs: float64 (n_rows, n_columns)."""
    out = np.empty((len(rows), len(columns)))
    if not out.size:
        return out
    values = np.ascontiguousarray(values, dtype=np.float64)
    count_map = _count_map(table, form, values, rows.n_features)
    dense = columns.postings is None
    half = symmetric and dense and rows.words.shape[1] >= MIRROR_WORDS

    def fill(first, last):
        part = rows.take(slice(first, last)) if last - first < len(rows) else rows
        diagonal = first if half else -len(rows)
        map_pairs(part, columns, count_map, diagonal, out[first:last])

    # Writing the values takes time too where words are few.
    n_words = max(8, rows.words.shape[1])
    step = max(16, WORDS_AT_A_TIME // (2 * n_words * len(columns)))
    small = out.size < PAIRS_FOR_THREADS
    each_slice(fill, len(rows), n_jobs, small=small, step=step)
    if half:
        n = len(out)
        step = PAIRS_AT_A_TIME * 16 // n
        each_slice(partial(mirror, out), n, n_jobs, multiple=8, small=small, step=step)
    return out


def kernel_matrix(formula, rows, columns, n_jobs=None, *, shift=0, symmetric=False):
    """Evaluate a kernel on all pairs.

    Parameters
    ----------
    formula : CountTable or PairFormula
    rows : BitRows
    columns : BitColumns
    n_jobs : int or None
    shift : int
        Divide a `CountTable` by 2**shift.
    symmetric : bool
        Rows and columns are the same samples.

    Returns
    -------
    K : ndarray of shape (n_rows, n_columns), float64

    Raises
    ------
    ValueError
        If a value exceeds float64.
    """
    if not isinstance(formula, CountTable):
        return _pair_matrix(formula, rows, columns, n_jobs)
    if not shift and formula.power_constant is not None and formula.max_count <= 1000:
        constant = [float(formula.power_constant)]
        return _map_table(
            rows, columns, formula, constant, n_jobs, form="power", symmetric=symmetric
        )
    values = formula.values(shift)
    K = _map_table(rows, columns, formula, values, n_jobs, symmetric=symmetric)
    if np.isinf(values[-1]) and np.isinf(K).any():
        raise ValueError(too_large_message(formula.remedy))
    return K


def too_large_message(remedy):
    """Write the error message for a kernel value that does not fit float64."""
    return (
        "A kernel value exceeds float64 (about 2**1024): these samples satisfy too "
        f"many formulas together. Use {remedy}."
    )


def _pair_matrix(formula, rows, columns, n_jobs):
    out = np.empty((len(rows), len(columns)))
    b = columns.ones[np.newaxis, :].astype(np.int64)

    def fill(first, last):
        part = rows.take(slice(first, last))
        a = part.ones[:, np.newaxis].astype(np.int64)
        values = formula.values(count_common(part, columns), a, b)
        out[first:last] = _to_float(values)

    small = out.size < PAIRS_FOR_THREADS
    each_slice(fill, len(rows), n_jobs, small=small, step=_few_rows(columns))
    return out


def _few_rows(columns):
    return max(1, PAIRS_AT_A_TIME // max(1, len(columns)))


def _to_float(values):
    try:
        return values.astype(np.float64)
    except OverflowError:
        raise ValueError(too_large_message("fewer or shorter formulas")) from None


def normalized_matrix(table, rows, columns, n_jobs=None):
    """Evaluate K(x, z) / sqrt(K(x, x) K(z, z)) on all pairs.

    Mantissas and exponents are divided separately, so that nothing overflows. A sample
    with K(x, x) = 0 has the value 0 with every sample.
    """
    n, same = rows.n_features, table.count == "same"
    row_sizes = np.full(len(rows), n) if same else rows.ones
    column_sizes = np.full(len(columns), n) if same else columns.ones
    out = np.empty((len(rows), len(columns)))

    def fill(first, last):
        part = slice(first, last)
        counts = count_common(rows.take(part), columns)
        if same:
            counts = n - rows.ones[part, None] - columns.ones + 2 * counts
        out[part] = _normalize(table, counts, row_sizes[part, None], column_sizes)

    each_slice(fill, len(rows), n_jobs, step=_few_rows(columns))
    return out


def _normalize(table, counts, a, b):
    # sqrt(m 2**e) = sqrt(m 2**(e % 2)) 2**(e // 2), of the product: the root of a
    # square is exact, so that K(x, x) becomes 1.
    exponents = table.exponents[a] + table.exponents[b]
    roots = np.sqrt(np.ldexp(table.mantissas[a] * table.mantissas[b], exponents % 2))
    quotients = np.divide(
        table.mantissas[counts], roots, out=np.zeros(counts.shape), where=roots > 0
    )
    with np.errstate(under="ignore"):
        return np.ldexp(quotients, table.exponents[counts] - exponents // 2)


def add_kernel_scores(
    table, rows, coefficients, columns, scores, *, exact=False, shift=0, n_jobs=None
):
    """Add coefficients @ K(rows, columns) / 2**shift to ``scores`` in place.

    Parameters
    ----------
    table : CountTable
    rows : BitRows
    coefficients : ndarray of shape (n_scores, n_rows), float64
    columns : BitColumns
    scores : ndarray of shape (n_scores, n_columns), float64
    exact : bool
        All sums are integers that float64 holds (`CountTable.is_exact_in_float64`). A
        faster form with a common denominator may then be used.
    shift : int
    n_jobs : int or None
    """
    if not len(rows) or not len(columns):
        return
    form, values, divisor = _fastest_form(table, coefficients, exact, shift)
    count_map = _count_map(table, form, values, rows.n_features)
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)

    def add(first, last):
        part = np.ascontiguousarray(scores[:, first:last])
        add_scores(
            rows, coefficients, columns.part(first, last), count_map, divisor, part
        )
        scores[:, first:last] = part

    small = len(rows) * len(columns) < PAIRS_FOR_THREADS
    # Parts with postings are kept for the next call, so their edges must stay.
    step = WORDS_AT_A_TIME // (len(rows) * (1 + rows.words.shape[1]))
    step = None if columns.postings is not None else step
    each_slice(add, len(columns), n_jobs, multiple=PANEL, small=small, step=step)


def _fastest_form(table, coefficients, exact, shift):
    if not shift and table.power_constant is not None and table.max_count <= 1000:
        return "power", np.array([float(table.power_constant)]), 1.0
    cubic = table.cubic() if exact else None
    if cubic is not None:
        terms, divisor = cubic
        if table.cubic_size * np.abs(coefficients).sum() <= 2.0**53:
            return "cubic", np.array(terms, dtype=np.float64), float(divisor)
    return "table", table.values(shift), 1.0
