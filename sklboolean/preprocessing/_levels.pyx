# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Conjunctions of the true literals of rows: all of them, or those of a list.

Callers allocate and validate; the functions fill and release the GIL. Rows are CSR
lists of literals in ascending order. Output indices are int32.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t

from sklboolean._core._checks cimport (
    require,
    require_csr,
    sklb_all_below,
    sklb_is_indptr,
)
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "combinations.h" nogil:
    ctypedef struct sklb_numbering:
        const int64_t *tail
        const int32_t *next
        int64_t n_literals
    void sklb_count_row(const int32_t *row, int64_t n, const int32_t *next, int64_t longest,
                        double *sizes)
    int32_t *sklb_combine(const sklb_numbering *by, const int32_t *row, int64_t n, int64_t t,
                          int64_t missing, uint64_t number, int64_t free, int32_t *out,
                          int32_t *limit)

cdef extern from "levels.h" nogil:
    const int SKLB_BLOCK_WORDS
    ctypedef struct sklb_children:
        int64_t n_parents, length
        const int32_t *parents
        const int64_t *child_start
        const int32_t *children
    void sklb_count_level(const sklb_children *, const uint64_t *block, int64_t *supports)
    void sklb_visit_level(const sklb_children *level, const uint64_t *block,
                          int64_t first_column, int64_t *cursors, int32_t *out,
                          int64_t n_out)

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
    require_csr(indptr, indices, counts.shape[0], next_group.shape[0])
    require(0 <= shortest <= longest < sizes.shape[0], "there is no room for all lengths")
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
                       const int64_t[::1] out_indptr, int32_t[::1] out):
    """Write the columns of each row's conjunctions, ascending.

    Conjunctions of k literals have columns from ``first_column[k - shortest]`` on; the
    last entry is the number of columns.
    """
    cdef:
        Py_ssize_t i
        int64_t k, n, start
        const int32_t *row
        int32_t *end
        int32_t *limit
        int64_t n_columns
        sklb_numbering by
        bint fits = True
    if indices.shape[0] == 0 or out.shape[0] == 0:
        return
    n = next_group.shape[0]
    require_csr(indptr, indices, out_indptr.shape[0] - 1, n)
    require(first_column.shape[0] >= 1 and shortest >= 1 and tail.shape[1] == n + 1
            and shortest + first_column.shape[0] - 1 <= tail.shape[0]
            and sklb_all_below(&next_group[0], n, n + 1)
            and sklb_is_indptr(&out_indptr[0], out_indptr.shape[0] - 1, out.shape[0]),
            "the numbers of conjunctions do not fit the literals")
    n_columns = first_column[first_column.shape[0] - 1]
    by.tail, by.next, by.n_literals = &tail[0, 0], &next_group[0], next_group.shape[0]
    with nogil:
        for i in range(out_indptr.shape[0] - 1):
            n, row, start = indptr[i + 1] - indptr[i], &indices[0] + indptr[i], out_indptr[i]
            if start == out_indptr[i + 1]:
                continue
            end, limit = &out[0] + start, &out[0] + out_indptr[i + 1]
            for k in range(first_column.shape[0] - 1):
                end = sklb_combine(&by, row, n, 0, shortest + k, <uint64_t> first_column[k], 0,
                                   end, limit)
            # Columns ascend, so the first and the last one tell.
            fits &= end == limit and out[start] >= 0 and (limit - 1)[0] < n_columns
    require(fits, "a sample has another number of conjunctions than was counted")


def fill_blocks(const int64_t[::1] indptr, const int32_t[::1] indices,
                const int32_t[::1] place, uint64_t[:, :, ::1] blocks):
    """Set the bits of the literals that have a place (0 or more), block by block."""
    cdef Py_ssize_t i, k, n_samples = indptr.shape[0] - 1
    cdef int32_t literal
    cdef bint fits = True
    require_csr(indptr, indices, n_samples, place.shape[0])
    require(blocks.shape[0] >= (n_samples + 511) >> 9 and blocks.shape[2] == SKLB_BLOCK_WORDS,
            "the blocks do not fit the samples")
    with nogil:
        for i in range(indptr.shape[0] - 1):
            for k in range(indptr[i], indptr[i + 1]):
                literal = place[indices[k]]
                if literal >= blocks.shape[1]:
                    fits = False
                elif literal >= 0:
                    blocks[i >> 9, literal, (i >> 6) & 7] |= (<uint64_t> 1) << (i & 63)
    require(fits, "a literal has a place outside the blocks")


cdef sklb_children level_of(const int32_t[:, ::1] parents, const int64_t[::1] child_start,
                         const int32_t[::1] children, const uint64_t[:, :, ::1] blocks) except *:
    cdef sklb_children level
    require(child_start.shape[0] == parents.shape[0] + 1
            and sklb_is_indptr(&child_start[0], parents.shape[0], children.shape[0])
            and blocks.shape[2] == SKLB_BLOCK_WORDS
            and sklb_all_below(&children[0], children.shape[0], blocks.shape[1])
            and sklb_all_below(&parents[0, 0], parents.shape[0] * parents.shape[1],
                               blocks.shape[1]),
            "conjunctions name literals that do not exist")
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
    require(supports.shape[0] >= children.shape[0], "there is no room for all supports")
    level = level_of(parents, child_start, children, blocks)
    with nogil:
        for b in range(blocks.shape[0]):
            sklb_count_level(&level, &blocks[b, 0, 0], &supports[0])


def visit_level(const int32_t[:, ::1] parents, const int64_t[::1] child_start,
                const int32_t[::1] children, const uint64_t[:, :, ::1] blocks,
                int64_t first_column, int64_t[::1] cursors, int32_t[::1] out):
    """Write the columns of the children at their rows' cursors, and move these on.

    With an empty output the cursors only move. There are ``BLOCK_ROWS`` cursors for
    each block.
    """
    cdef:
        Py_ssize_t b
        sklb_children level
        int32_t *columns = &out[0] if out.shape[0] else NULL
    if children.shape[0] == 0:
        return
    require(cursors.shape[0] >= blocks.shape[0] << 9, "there is not one cursor for each sample")
    level = level_of(parents, child_start, children, blocks)
    with nogil:
        for b in range(blocks.shape[0]):
            sklb_visit_level(&level, &blocks[b, 0, 0], first_column, &cursors[b << 9], columns,
                             out.shape[0])
