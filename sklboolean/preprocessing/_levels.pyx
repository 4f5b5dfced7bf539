# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Conjunctions of the true literals of rows: all of them, or those of a list.

Callers allocate and validate; the functions fill and release the GIL. Rows are CSR
lists of literals in ascending order. Output indices are int32 or int64: one of the two
arrays is empty.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t

from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "combinations.h" nogil:
    ctypedef struct sklb_numbering:
        const int64_t *tail
        const int32_t *next
        int64_t n_literals
    void sklb_count_row(const int32_t *row, int64_t n, const int32_t *next, int64_t longest,
                        double *sizes)
    int32_t *sklb_combine_short(const sklb_numbering *by, const int32_t *row, int64_t n,
                                int64_t t, int64_t missing, int64_t number, int64_t free,
                                int32_t *out)
    int64_t *sklb_combine_long(const sklb_numbering *by, const int32_t *row, int64_t n,
                               int64_t t, int64_t missing, int64_t number, int64_t free,
                               int64_t *out)

cdef extern from "levels.h" nogil:
    const int SKLB_BLOCK_WORDS
    ctypedef struct sklb_children:
        int64_t n_parents, length
        const int32_t *parents
        const int64_t *child_start
        const int32_t *children
    void sklb_count_level(const sklb_children *, const uint64_t *block, int64_t *supports)
    void sklb_visit_level_short(const sklb_children *level, const uint64_t *block,
                                int64_t first_column, int64_t *cursors, int32_t *out)
    void sklb_visit_level_long(const sklb_children *level, const uint64_t *block,
                               int64_t first_column, int64_t *cursors, int64_t *out)

sklb_cpu_level = &cpu_level

BLOCK_ROWS = 64 * SKLB_BLOCK_WORDS


def count_combinations(const int64_t[::1] indptr, const int32_t[::1] indices,
                       const int32_t[::1] next_group, int64_t shortest, int64_t longest,
                       double[::1] sizes, double[::1] counts):
    """Write how many conjunctions of ``shortest`` to ``longest`` literals each row has.

    ``sizes`` is scratch space of ``longest + 1``.
    """
    cdef Py_ssize_t i
    cdef int64_t j
    cdef double total
    with nogil:
        for i in range(counts.shape[0]):
            total = 0
            if indptr[i] < indptr[i + 1]:
                sklb_count_row(&indices[indptr[i]], indptr[i + 1] - indptr[i],
                               &next_group[0], longest, &sizes[0])
                for j in range(shortest, longest + 1):
                    total += sizes[j]
            counts[i] = total


def write_combinations(const int64_t[::1] indptr, const int32_t[::1] indices,
                       const int64_t[:, ::1] tail, const int32_t[::1] next_group,
                       const int64_t[::1] first_column, int64_t shortest,
                       const int64_t[::1] out_indptr, int32_t[::1] out_short,
                       int64_t[::1] out_long):
    """Write the columns of each row's conjunctions, ascending.

    Conjunctions of k literals have columns from ``first_column[k - shortest]`` on; the
    last entry is the number of columns.
    """
    cdef:
        Py_ssize_t i
        int64_t k, n, start
        const int32_t *row
        int32_t *short_end
        int64_t *long_end
        sklb_numbering by
    if indices.shape[0] == 0 or out_short.shape[0] + out_long.shape[0] == 0:
        return
    by.tail, by.next, by.n_literals = &tail[0, 0], &next_group[0], next_group.shape[0]
    with nogil:
        for i in range(out_indptr.shape[0] - 1):
            n, row, start = indptr[i + 1] - indptr[i], &indices[0] + indptr[i], out_indptr[i]
            if start == out_indptr[i + 1]:
                continue
            if out_short.shape[0]:
                short_end = &out_short[0] + start
                for k in range(first_column.shape[0] - 1):
                    short_end = sklb_combine_short(&by, row, n, 0, shortest + k,
                                                   first_column[k], 0, short_end)
            else:
                long_end = &out_long[0] + start
                for k in range(first_column.shape[0] - 1):
                    long_end = sklb_combine_long(&by, row, n, 0, shortest + k,
                                                 first_column[k], 0, long_end)


def fill_blocks(const int64_t[::1] indptr, const int32_t[::1] indices,
                const int32_t[::1] place, uint64_t[:, :, ::1] blocks):
    """Set the bits of the literals that have a place (0 or more), block by block."""
    cdef Py_ssize_t i, k
    cdef int32_t literal
    with nogil:
        for i in range(indptr.shape[0] - 1):
            for k in range(indptr[i], indptr[i + 1]):
                literal = place[indices[k]]
                if literal >= 0:
                    blocks[i >> 9, literal, (i >> 6) & 7] |= (<uint64_t> 1) << (i & 63)


cdef sklb_children level_of(const int32_t[:, ::1] parents, const int64_t[::1] child_start,
                         const int32_t[::1] children):
    cdef sklb_children level
    level.n_parents, level.length = parents.shape[0], parents.shape[1]
    level.parents = &parents[0, 0] if parents.shape[0] and parents.shape[1] else NULL
    level.child_start, level.children = &child_start[0], &children[0]
    return level


def count_level(const int32_t[:, ::1] parents, const int64_t[::1] child_start,
                const int32_t[::1] children, const uint64_t[:, :, ::1] blocks,
                int64_t[::1] supports):
    """Add to ``supports`` the rows of the blocks in which each child holds."""
    cdef:
        Py_ssize_t b
        sklb_children level
    if children.shape[0] == 0:
        return
    level = level_of(parents, child_start, children)
    with nogil:
        for b in range(blocks.shape[0]):
            sklb_count_level(&level, &blocks[b, 0, 0], &supports[0])


def visit_level(const int32_t[:, ::1] parents, const int64_t[::1] child_start,
                const int32_t[::1] children, const uint64_t[:, :, ::1] blocks,
                int64_t first_column, int64_t[::1] cursors, int32_t[::1] out_short,
                int64_t[::1] out_long):
    """Write the columns of the children at their rows' cursors, and move these on.

    With both outputs empty the cursors only move. There are ``BLOCK_ROWS`` cursors for
    each block.
    """
    cdef:
        Py_ssize_t b
        sklb_children level
        int32_t *as_short = &out_short[0] if out_short.shape[0] else NULL
    if children.shape[0] == 0:
        return
    level = level_of(parents, child_start, children)
    with nogil:
        for b in range(blocks.shape[0]):
            if out_long.shape[0]:
                sklb_visit_level_long(&level, &blocks[b, 0, 0], first_column,
                                      &cursors[b << 9], &out_long[0])
            else:
                sklb_visit_level_short(&level, &blocks[b, 0, 0], first_column,
                                       &cursors[b << 9], as_short)
