# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Counts between packed rows, and what is summed from them.

Rows come as words plus, for sparse tables, the remaining features as CSR; columns
come as panels of 32 plus postings (for each remaining feature, the columns that have
it). Callers validate; this file only counts. Every function releases the GIL.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "tiles.h" nogil:
    const int SKLB_TILE_PANEL
    const int SKLB_TILE_ROWS
    int SKLB_TABLE, SKLB_POWER, SKLB_CUBIC
    ctypedef struct sklb_formula:
        int form
        int32_t offset
        int32_t sign
        const double *table
    void sklb_count_strip(const uint64_t *rows, int n_samples, int64_t n_words,
                          const uint64_t *panels, int64_t n_panels, int use_xor,
                          int32_t *counts, int64_t stride)
    void sklb_map_counts(const sklb_formula *g, const int32_t *counts, int64_t n, double *out)
    void sklb_add_counts(const sklb_formula *g, const int32_t *counts, int64_t stride,
                         int n_samples, const double *coefficients, int64_t n, double *acc)

sklb_cpu_level = &cpu_level

PANEL = SKLB_TILE_PANEL
FORMS = {"table": SKLB_TABLE, "power": SKLB_POWER, "cubic": SKLB_CUBIC}


# -- counting -----------------------------------------------------------------------

def count_ones(const uint64_t[:, ::1] words, int32_t[::1] ones):
    """Write into ``ones[i]`` the number of bits set in row i."""
    cdef Py_ssize_t i, p, j, n_words = words.shape[1]
    cdef int32_t counts[32]
    cdef uint64_t *full = <uint64_t *> malloc(max(1, n_words) * SKLB_TILE_PANEL * 8)
    if full == NULL:
        raise MemoryError
    with nogil:
        # AND with a panel of ones counts the ones of the row.
        memset(full, 255, n_words * SKLB_TILE_PANEL * 8)
        for i in range(words.shape[0]):
            sklb_count_strip(&words[i, 0], 1, n_words, full, 1, 0, counts, SKLB_TILE_PANEL)
            ones[i] = counts[0]
    free(full)


cdef struct Rows:
    const uint64_t *words
    Py_ssize_t n_samples
    Py_ssize_t n_words
    const int64_t *indptr     # the features outside the words, or NULL
    const int32_t *indices
    const int32_t *ones

cdef struct Columns:
    const uint64_t *panels
    Py_ssize_t n_columns
    Py_ssize_t n_panels
    const int64_t *indptr     # for each feature outside the words: the columns with it
    const int32_t *indices
    const int32_t *ones


cdef Rows open_rows(const uint64_t[:, ::1] words, const int64_t[::1] indptr,
                    const int32_t[::1] indices, const int32_t[::1] ones) noexcept:
    cdef Rows rows
    rows.n_samples, rows.n_words = words.shape[0], words.shape[1]
    rows.words = &words[0, 0]
    rows.ones = &ones[0]
    rows.indptr = &indptr[0] if indptr.shape[0] > 1 else NULL
    rows.indices = &indices[0] if indices.shape[0] else NULL
    return rows


cdef Columns open_columns(const uint64_t[:, :, ::1] panels, const int64_t[::1] indptr,
                          const int32_t[::1] indices, const int32_t[::1] ones) noexcept:
    cdef Columns columns
    columns.panels = &panels[0, 0, 0]
    columns.n_panels, columns.n_columns = panels.shape[0], ones.shape[0]
    columns.ones = &ones[0]
    columns.indptr = &indptr[0] if indptr.shape[0] > 1 else NULL
    columns.indices = &indices[0] if indices.shape[0] else NULL
    return columns


cdef void count_rows(const Rows *rows, Py_ssize_t first, int n_samples, const Columns *columns,
                     Py_ssize_t panel, Py_ssize_t n_panels, int use_xor, int32_t *counts,
                     Py_ssize_t stride) noexcept nogil:
    # With postings a strip must be the whole width. XOR then comes from the counts of
    # AND: |x ^ z| = |x| + |z| - 2 |x & z|.
    cdef Py_ssize_t r, k, p, j
    cdef int32_t *row
    cdef int32_t feature
    cdef bint split = columns.indptr != NULL
    sklb_count_strip(rows.words + first * rows.n_words, n_samples, rows.n_words,
                      columns.panels + panel * rows.n_words * SKLB_TILE_PANEL, n_panels,
                      use_xor and not split, counts, stride)
    if not split:
        return
    for r in range(n_samples):
        row = counts + r * stride
        for k in range(rows.indptr[first + r], rows.indptr[first + r + 1]):
            feature = rows.indices[k]
            for p in range(columns.indptr[feature], columns.indptr[feature + 1]):
                row[columns.indices[p]] += 1
        if use_xor:
            for j in range(columns.n_columns):
                # Each difference is a count: in any order, their sum could overflow.
                row[j] = (rows.ones[first + r] - row[j]) + (columns.ones[j] - row[j])


cdef Py_ssize_t strip_panels(const Rows *rows, const Columns *columns) noexcept nogil:
    # Eight panels of counts stay in the first-level cache.
    return columns.n_panels if columns.indptr != NULL else min(<Py_ssize_t> 8, columns.n_panels)


cdef Py_ssize_t chunk_panels(const Rows *rows, const Columns *columns) noexcept nogil:
    # Panels read again for every five rows should stay in the second-level cache.
    cdef Py_ssize_t fit = (256 * 1024) // (rows.n_words * SKLB_TILE_PANEL * 8)
    if columns.indptr != NULL:
        return columns.n_panels
    return max(<Py_ssize_t> 8, fit - fit % 8)


def count_pairs(const uint64_t[:, ::1] words, const int64_t[::1] indptr,
                const int32_t[::1] indices, const int32_t[::1] row_ones,
                const uint64_t[:, :, ::1] panels, const int64_t[::1] postings_indptr,
                const int32_t[::1] postings, const int32_t[::1] column_ones,
                bint use_xor, int32_t[:, ::1] out):
    """Write into ``out[i, j]`` the popcount of row i AND (or XOR) column j."""
    cdef:
        Rows rows = open_rows(words, indptr, indices, row_ones)
        Columns columns = open_columns(panels, postings_indptr, postings, column_ones)
        Py_ssize_t i, r, p, width, step = strip_panels(&rows, &columns)
        Py_ssize_t stride = step * SKLB_TILE_PANEL
        int n_samples
        int32_t *counts = <int32_t *> malloc(SKLB_TILE_ROWS * stride * sizeof(int32_t))
    if counts == NULL:
        raise MemoryError
    with nogil:
        for i from 0 <= i < rows.n_samples by SKLB_TILE_ROWS:
            n_samples = <int> min(<Py_ssize_t> SKLB_TILE_ROWS, rows.n_samples - i)
            for p from 0 <= p < columns.n_panels by step:
                count_rows(&rows, i, n_samples, &columns, p, min(step, columns.n_panels - p),
                           use_xor, counts, stride)
                width = min(stride, columns.n_columns - p * SKLB_TILE_PANEL)
                for r in range(n_samples):
                    memcpy(&out[i + r, p * SKLB_TILE_PANEL], counts + r * stride,
                           width * sizeof(int32_t))
    free(counts)


def map_pairs(const uint64_t[:, ::1] words, const int64_t[::1] indptr,
              const int32_t[::1] indices, const int32_t[::1] row_ones,
              const uint64_t[:, :, ::1] panels, const int64_t[::1] postings_indptr,
              const int32_t[::1] postings, const int32_t[::1] column_ones,
              bint use_xor, int form, int offset, int sign, const double[::1] table,
              Py_ssize_t diagonal, double[:, ::1] out):
    """Write into ``out[i, j]`` the value g(s) of row i and column j.

    Strips of columns before column i + ``diagonal`` are left out; 0 or more serves a
    symmetric matrix (see `mirror`), -n_samples leaves out nothing.
    """
    cdef:
        Rows rows = open_rows(words, indptr, indices, row_ones)
        Columns columns = open_columns(panels, postings_indptr, postings, column_ones)
        Py_ssize_t i, r, p, c, width, step = strip_panels(&rows, &columns)
        Py_ssize_t stride = step * SKLB_TILE_PANEL, chunk = chunk_panels(&rows, &columns)
        int n_samples
        sklb_formula g
        int32_t *counts = <int32_t *> malloc(SKLB_TILE_ROWS * stride * sizeof(int32_t))
    if counts == NULL:
        raise MemoryError
    g.form, g.offset, g.sign, g.table = form, offset, sign, &table[0]
    with nogil:
        for c from 0 <= c < columns.n_panels by chunk:
            for i from 0 <= i < rows.n_samples by SKLB_TILE_ROWS:
                n_samples = <int> min(<Py_ssize_t> SKLB_TILE_ROWS, rows.n_samples - i)
                for p from c <= p < min(c + chunk, columns.n_panels) by step:
                    if (p + step) * SKLB_TILE_PANEL <= i + diagonal:
                        continue
                    count_rows(&rows, i, n_samples, &columns, p,
                               min(step, columns.n_panels - p), use_xor, counts, stride)
                    width = min(stride, columns.n_columns - p * SKLB_TILE_PANEL)
                    for r in range(n_samples):
                        sklb_map_counts(&g, counts + r * stride, width,
                                         &out[i + r, p * SKLB_TILE_PANEL])
    free(counts)


def mirror(double[:, ::1] out, Py_ssize_t first, Py_ssize_t last):
    """Copy what is above the diagonal of a square matrix to rows first, ... below it.

    ``first`` is a multiple of 8.
    """
    cdef Py_ssize_t i, j, a, b
    with nogil:
        # Squares of a cache line: eight lines are read and eight are written.
        for a from first <= a < last by 8:
            for b from 0 <= b <= a by 8:
                for i in range(a, min(a + 8, last)):
                    for j in range(b, min(b + 8, i)):
                        out[i, j] = out[j, i]


def add_scores(const uint64_t[:, ::1] words, const int64_t[::1] indptr,
               const int32_t[::1] indices, const int32_t[::1] row_ones,
               const double[:, ::1] coefficients,
               const uint64_t[:, :, ::1] panels, const int64_t[::1] postings_indptr,
               const int32_t[::1] postings, const int32_t[::1] column_ones,
               bint use_xor, int form, int offset, int sign, const double[::1] table,
               double divisor, double[:, ::1] scores):
    """Add to ``scores[k, j]`` the sum over rows i of coefficients[k, i] g(s_ij) / divisor.

    The sum over all rows is formed first and divided once, so that an integer sum
    with a common denominator stays exact.
    """
    cdef:
        Rows rows = open_rows(words, indptr, indices, row_ones)
        Columns columns = open_columns(panels, postings_indptr, postings, column_ones)
        Py_ssize_t i, p, k, j, width, step = strip_panels(&rows, &columns)
        Py_ssize_t stride = step * SKLB_TILE_PANEL, n_scores = coefficients.shape[0]
        int n_samples
        sklb_formula g
        int32_t *counts = <int32_t *> malloc(SKLB_TILE_ROWS * stride * sizeof(int32_t))
        double *sums = <double *> malloc(n_scores * stride * sizeof(double))
    if counts == NULL or sums == NULL:
        free(counts)
        free(sums)
        raise MemoryError
    g.form, g.offset, g.sign, g.table = form, offset, sign, &table[0]
    with nogil:
        for p from 0 <= p < columns.n_panels by step:
            width = min(stride, columns.n_columns - p * SKLB_TILE_PANEL)
            memset(sums, 0, n_scores * stride * sizeof(double))
            for i from 0 <= i < rows.n_samples by SKLB_TILE_ROWS:
                n_samples = <int> min(<Py_ssize_t> SKLB_TILE_ROWS, rows.n_samples - i)
                count_rows(&rows, i, n_samples, &columns, p, min(step, columns.n_panels - p),
                           use_xor, counts, stride)
                for k in range(n_scores):
                    sklb_add_counts(&g, counts, stride, n_samples, &coefficients[k, i],
                                     width, sums + k * stride)
            for k in range(n_scores):
                for j in range(width):
                    scores[k, p * SKLB_TILE_PANEL + j] += sums[k * stride + j] / divisor
    free(counts)
    free(sums)
