# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Sums over pairs of states of two halves of the units, from tables (see states.h).

Callers allocate and validate; the functions release the GIL.
"""
from libc.math cimport log
from libc.stdint cimport int64_t

from sklboolean._core._checks cimport require, require_shape, sklb_all_below_64
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "states.h" nogil:
    ctypedef struct sklb_states:
        int64_t n_columns, block, n_blocks
        const double *left
        const double *right
        const double *left_mantissas
        const double *right_mantissas
        const int64_t *left_exponents
        const int64_t *right_exponents
        const int64_t *limits
        int wide
        const int64_t *parents
        const double *agree
        const double *differ
        const int64_t *fold
        double *left_sums
        double *right_sums
        double *left_means
        double *right_means
        double *edges
        double *scratch
        int64_t scale, highest, n_left, started
    void sklb_sum_states(sklb_states *, int64_t first, int64_t last)
    void sklb_weigh_states(const sklb_states *, int64_t left, int64_t block,
                           double *mantissas, int64_t *exponents)
    int SKLB_STATE_PANEL, SKLB_STATE_BLOCK, SKLB_STATE_GROUP
    double SKLB_STATE_UNIT

PANEL, BLOCK = SKLB_STATE_PANEL, SKLB_STATE_BLOCK
GROUP, UNIT = SKLB_STATE_GROUP, SKLB_STATE_UNIT

sklb_cpu_level = &cpu_level


cdef int fill(sklb_states *states, tables, Py_ssize_t offset, double[::1] scratch) except -1:
    """Point the C structure to the tables from left state ``offset`` on.

    The caller keeps the tables alive.
    """
    cdef:
        const double[:, :, ::1] left = tables.left
        const double[::1] right = tables.right
        const double[::1] left_mantissas = tables.left_mantissas
        const double[::1] right_mantissas = tables.right_mantissas
        const int64_t[::1] left_exponents = tables.left_exponents
        const int64_t[::1] right_exponents = tables.right_exponents
        const int64_t[::1] limits = tables.limits, parents, fold
        const double[::1] agree, differ
        int64_t c, n, n_right, pair = 1 if tables.parents is None else 2
        bint fits = True
    n, n_right = left.shape[1], right_mantissas.shape[0]
    require(tables.block >= SKLB_STATE_PANEL and tables.block <= SKLB_STATE_BLOCK
            and tables.block % SKLB_STATE_PANEL == 0 and n_right % tables.block == 0
            and left.shape[2] == pair and right.shape[0] == pair * n * n_right
            and (pair == 2 or n % SKLB_STATE_GROUP == 0),
            "the tables of states do not fit each other")
    require(left_mantissas.shape[0] == left.shape[0]
            and left_exponents.shape[0] == left.shape[0] and limits.shape[0] == left.shape[0]
            and right_exponents.shape[0] == n_right and scratch.shape[0] >= 32 * n,
            "the tables of states do not fit each other")
    require(sklb_all_below_64(&limits[0], limits.shape[0], n_right + 1),
            "there are fewer states than a table says")
    require(0 <= offset and offset < left.shape[0], "there are fewer left states")
    states.n_left, states.n_columns = left.shape[0] - offset, left.shape[1]
    states.block = tables.block
    states.n_blocks = right_mantissas.shape[0] // states.block
    states.left, states.right = &left[offset, 0, 0], &right[0]
    states.left_mantissas = &left_mantissas[offset]
    states.right_mantissas = &right_mantissas[0]
    states.left_exponents = &left_exponents[offset]
    states.right_exponents = &right_exponents[0]
    states.limits = &limits[offset]
    states.scratch = &scratch[0]
    states.parents, states.wide = NULL, tables.wide
    if tables.parents is not None:
        parents, agree, differ = tables.parents, tables.agree, tables.differ
        fold = tables.fold
        require(parents.shape[0] == n and agree.shape[0] == n and differ.shape[0] == n
                and fold.shape[0] == n,
                "the tree has another number of inputs")
        for c in range(n):
            fits &= parents[c] == -1 or c < parents[c] < n
        require(fits, "a parent does not come after its children")
        states.parents, states.fold = &parents[0], &fold[0]
        states.agree, states.differ = &agree[0], &differ[0]
    return 0


def sum_states(tables, Py_ssize_t offset, Py_ssize_t first, Py_ssize_t last,
               double[::1] scratch, int64_t[::1] scale, double[::1] left_sums,
               double[::1] right_sums, double[:, ::1] left_means, double[::1] right_means,
               double[::1] edges):
    """Add the weights of left states [first, last) with all right states to the sums.

    Left states count from ``offset``, where sums and means of left states begin. Sums
    are multiples of 2**scale[0]; ``scale`` holds the exponent in force, the highest one
    seen, and whether there was any. Means are weight times mean of each column, without
    a tree weight times P(+1) over UNIT; left out where ``left_means`` is None.
    """
    cdef sklb_states states
    cdef int64_t n_right
    fill(&states, tables, offset, scratch)
    n_right = states.block * states.n_blocks
    require(0 <= first and last <= left_sums.shape[0] and scale.shape[0] >= 3
            and left_sums.shape[0] <= states.n_left and right_sums.shape[0] == n_right,
            "the sums do not fit the tables of states")
    states.n_left = left_sums.shape[0]
    if left_means is not None:
        require_shape(left_means, states.n_left, states.n_columns, "left_means")
        require(right_means.shape[0] == n_right * states.n_columns
                and edges.shape[0] == states.n_columns,
                "the sums do not fit the tables of states")
    states.scale, states.highest, states.started = scale[0], scale[1], scale[2]
    states.left_sums, states.right_sums = &left_sums[0], &right_sums[0]
    states.left_means = states.right_means = states.edges = NULL
    if left_means is not None:
        states.left_means, states.right_means = &left_means[0, 0], &right_means[0]
        states.edges = &edges[0]
    with nogil:
        sklb_sum_states(&states, first, last)
    scale[0], scale[1], scale[2] = states.scale, states.highest, states.started


def weigh_states(tables, Py_ssize_t first, double[::1] scratch, double[:, ::1] log_weights):
    """Write the log weight of left states first, ... with each right state."""
    cdef:
        sklb_states states
        double mantissas[128]
        int64_t exponents[128]
        double log_2 = log(2.0)
        Py_ssize_t row, block, r, n_samples = log_weights.shape[0]
        Py_ssize_t start, count, n_right = log_weights.shape[1]
    fill(&states, tables, 0, scratch)
    require(0 <= first and first + n_samples <= states.n_left,
            "there are fewer states than weights")
    with nogil:
        for row in range(n_samples):
            for block in range(states.n_blocks):
                start = block * states.block
                count = min(states.limits[first + row], n_right) - start
                if count <= 0:
                    break
                sklb_weigh_states(&states, first + row, block, mantissas, exponents)
                for r in range(min(count, <Py_ssize_t> states.block)):
                    log_weights[row, start + r] = (log(mantissas[r])
                                                   + exponents[r] * log_2)
