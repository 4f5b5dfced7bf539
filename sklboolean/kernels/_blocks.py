"""Kernel values between blocks of Boolean rows."""

from functools import partial

import numpy as np

from sklboolean._core._popcount import FORMS, PANEL, add_scores, map_pairs, mirror
from sklboolean._core.bits import count_common
from sklboolean._core.parallel import each_slice
from sklboolean.kernels._count_table import CountTable

# Counts of this many pairs at a time when numpy finishes the values.
PAIRS_AT_A_TIME = 2**20
# Pairs times words between two looks at the keyboard.
WORDS_AT_A_TIME = 2**27
# Fewer pairs than this are done before a second thread has started.
PAIRS_FOR_THREADS = 2**20
# Counting one half and copying it to the other pays when a count takes many words.
MIRROR_WORDS = 48


def _orientation(table, n_features):
    """Return (use_xor, offset, sign) with count = offset + sign * popcount."""
    return (True, n_features, -1) if table.count == "same" else (False, 0, 1)


def _map_table(
    rows, columns, table, values, n_jobs=None, *, form="table", symmetric=False
):
    """Return ``values[count]`` for all pairs: float64 (n_samples, n_columns)."""
    out = np.empty((len(rows), len(columns)))
    if not out.size:
        return out
    use_xor, offset, sign = _orientation(table, rows.n_features)
    values = np.ascontiguousarray(values, dtype=np.float64)
    dense = columns.postings is None
    half = symmetric and dense and rows.words.shape[1] >= MIRROR_WORDS

    def fill(first, last):
        part = rows.take(slice(first, last)) if last - first < len(rows) else rows
        map_pairs(
            *part.arrays(), *columns.arrays(), use_xor, FORMS[form], offset, sign,
            values, first if half else -len(rows), out[first:last],
        )  # fmt: skip

    # Values are written as well: they take their time where words are few.
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
        Rows and columns are the same.

    Returns
    -------
    K : ndarray of shape (n_samples, n_columns), float64

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


def too_large_message(way_out):
    """Say that a kernel value does not fit float64 and what to do."""
    return (
        "A kernel value exceeds float64 (about 2**1024): these rows satisfy too many "
        f"formulas together. Use {way_out}."
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


def log2_matrix(table, rows, columns, n_jobs=None):
    """Evaluate log2 of a kernel that is a function of one count, on all pairs."""
    return _finite_logarithms(
        _map_table(rows, columns, table, table.log2_values(), n_jobs)
    )


def normalized_matrix(table, rows, columns, log2=False, n_jobs=None):
    """Evaluate K(x, z) / sqrt(K(x, x) K(z, z)), or its log2, on all pairs.

    Mantissas and exponents are divided apart, so that nothing overflows on the way.
    A row with K(x, x) = 0 has value 0 with every row.
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
        out[part] = _normalize(table, counts, row_sizes[part, None], column_sizes, log2)

    each_slice(fill, len(rows), n_jobs, step=_few_rows(columns))
    return _finite_logarithms(out) if log2 else out


def _normalize(table, counts, a, b, log2):
    if log2:
        logarithms = table.log2_values()
        with np.errstate(invalid="ignore"):
            return logarithms[counts] - (logarithms[a] + logarithms[b]) / 2
    # sqrt(m 2**e) = sqrt(m 2**(e % 2)) 2**(e // 2), of the product: the root of a
    # square is exact, so that K(x, x) becomes 1.
    exponents = table.exponents[a] + table.exponents[b]
    roots = np.sqrt(np.ldexp(table.mantissas[a] * table.mantissas[b], exponents % 2))
    quotients = np.divide(
        table.mantissas[counts], roots, out=np.zeros(counts.shape), where=roots > 0
    )
    with np.errstate(under="ignore"):
        return np.ldexp(quotients, table.exponents[counts] - exponents // 2)


def _finite_logarithms(logarithms):
    if not np.isfinite(logarithms).all():
        raise ValueError(
            "log2=True met a pair of rows that share no conjunction, so K = 0. "
            "Use min_literals=0, which counts the empty conjunction, or log2=False."
        )
    return logarithms


def add_kernel_scores(
    table, rows, coefficients, columns, scores, *, exact=False, shift=0, n_jobs=None
):
    """Add coefficients @ K(rows, columns) / 2**shift to ``scores`` in place.

    Parameters
    ----------
    table : CountTable
    rows : BitRows
    coefficients : ndarray of shape (n_scores, n_samples), float64
    columns : BitColumns
    scores : ndarray of shape (n_scores, n_columns), float64
    exact : bool
        All sums are integers that float64 holds (`CountTable.is_exact_in_float64`),
        so that a faster form with a common denominator may be used.
    shift : int
    n_jobs : int or None
    """
    if not len(rows) or not len(columns):
        return
    use_xor, offset, sign = _orientation(table, rows.n_features)
    form, values, divisor = _fastest_form(table, coefficients, exact, shift)
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    row_arrays = rows.arrays()

    def add(first, last):
        part = np.ascontiguousarray(scores[:, first:last])
        add_scores(
            *row_arrays, coefficients, *columns.part(first, last).arrays(), use_xor,
            FORMS[form], offset, sign, values, divisor, part,
        )  # fmt: skip
        scores[:, first:last] = part

    small = len(rows) * len(columns) < PAIRS_FOR_THREADS
    # Parts with postings are kept for the next call: their edges must not wander.
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
