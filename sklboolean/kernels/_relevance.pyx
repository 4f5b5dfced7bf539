# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The kernel over conjunctions of columns, and its derivatives."""
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport free, malloc

from sklboolean._core._checks cimport require
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "relevance.h" nogil:
    ctypedef struct sklb_relevance:
        int64_t n_columns
        const int64_t *starts
        const int64_t *widths
        const double *tables
        const double *slopes
        const double *shrinks
        double base
        double weights[5]
    void sklb_relevance_values(const sklb_relevance *kernel, const uint16_t *codes, int64_t n,
                               const uint16_t *others, int64_t n_others, int symmetric,
                               int64_t first, int64_t last, double *out)
    void sklb_relevance_gradient(const sklb_relevance *kernel, const uint16_t *codes,
                                 int64_t n, const double *factors, double *kept,
                                 double *gradient)

sklb_cpu_level = &cpu_level


cdef sklb_relevance lay_out(const int64_t[::1] starts, const int64_t[::1] widths,
                            const double[::1] tables, const double[::1] shrinks,
                            double base, const double[::1] weights):
    cdef:
        sklb_relevance kernel
        int d
    kernel.n_columns = widths.shape[0]
    kernel.starts, kernel.widths = &starts[0], &widths[0]
    kernel.tables, kernel.slopes, kernel.shrinks = &tables[0], NULL, &shrinks[0]
    kernel.base = base
    for d in range(5):
        kernel.weights[d] = weights[d]
    return kernel


cdef int check_levels(const uint16_t[:, ::1] codes, const uint16_t[:, ::1] others,
                      const int64_t[::1] starts, const int64_t[::1] widths,
                      int64_t size) except -1:
    """Require that every level has its entry in the tables."""
    cdef:
        Py_ssize_t j, i
        int64_t highest, widest
    require(others.shape[0] == codes.shape[0] == widths.shape[0] == starts.shape[0] - 1
            and starts[0] == 0 and starts[widths.shape[0]] == size,
            "the levels do not fit the columns")
    for j in range(widths.shape[0]):
        highest, widest = 0, 0
        with nogil:
            for i in range(codes.shape[1]):
                highest = codes[j, i] if codes[j, i] > highest else highest
            for i in range(others.shape[1]):
                widest = others[j, i] if others[j, i] > widest else widest
        require(0 <= widest < widths[j] and highest * widths[j] + widths[j]
                <= starts[j + 1] - starts[j], "a level has no place in the tables")
    return 0


def relevance_values(const uint16_t[:, ::1] codes, const uint16_t[:, ::1] others,
                     const int64_t[::1] starts, const int64_t[::1] widths,
                     const double[::1] tables, const double[::1] shrinks, double base,
                     const double[::1] weights, bint symmetric, Py_ssize_t first,
                     Py_ssize_t last, double[:, ::1] out):
    """Fill the rows of ``out`` from ``first`` to ``last``, at most up to the diagonal.

    Parameters
    ----------
    codes, others : levels of the samples, a row for each column
    starts : where the table of each column begins, and the end of the last
    widths : levels of the others in each column
    tables : relevance times similarity
    shrinks : 1 / (1 + base * relevance)
    base : weight of each literal in the product
    weights : of e0 to e3 and of the product
    symmetric : whether only entries up to the diagonal are needed
    """
    cdef sklb_relevance kernel
    check_levels(codes, others, starts, widths, tables.shape[0])
    require(shrinks.shape[0] >= widths.shape[0] and weights.shape[0] == 5
            and out.shape[0] == codes.shape[1] and out.shape[1] == others.shape[1]
            and 0 <= first <= last <= out.shape[0]
            and (not symmetric or out.shape[0] == out.shape[1]),
            "the values do not fit the samples")
    kernel = lay_out(starts, widths, tables, shrinks, base, weights)
    if not out.shape[0] or not out.shape[1]:
        return
    with nogil:
        sklb_relevance_values(&kernel, &codes[0, 0], codes.shape[1], &others[0, 0],
                              others.shape[1], symmetric, first, last, &out[0, 0])


def relevance_gradient(const uint16_t[:, ::1] codes, const int64_t[::1] starts,
                       const int64_t[::1] widths, const double[::1] tables,
                       const double[::1] slopes, const double[::1] shrinks, double base,
                       const double[::1] weights, const double[:, ::1] factors,
                       double[::1] gradient):
    """Add the products of ``factors`` with the derivatives of the kernel to ``gradient``.

    Only the entries of ``factors`` up to the diagonal are read. The derivatives are those
    for the logarithms of the five weights, of ``base`` and of each relevance.
    """
    cdef:
        sklb_relevance kernel
        double *kept
        Py_ssize_t n = codes.shape[1]
    check_levels(codes, codes, starts, widths, tables.shape[0])
    require(shrinks.shape[0] >= widths.shape[0] and weights.shape[0] == 5 and n > 0
            and slopes.shape[0] == tables.shape[0] and factors.shape[0] == n
            and factors.shape[1] == n and gradient.shape[0] == 6 + widths.shape[0],
            "the gradient does not fit the samples")
    kernel = lay_out(starts, widths, tables, shrinks, base, weights)
    kernel.slopes = &slopes[0]
    kept = <double *> malloc((64 * widths.shape[0] + 1) * sizeof(double))
    if kept == NULL:
        raise MemoryError
    with nogil:
        sklb_relevance_gradient(&kernel, &codes[0, 0], n, &factors[0, 0], kept,
                                &gradient[0])
    free(kept)
