# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The soft-margin dual on one block of samples."""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from sklboolean._core._checks cimport require, sklb_all_below_64
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "smo.h" nogil:
    int64_t sklb_smo(int64_t n, const double *K, const double *y, const double *box,
                     double *alpha, double *v, double *room, int64_t *orders, double tol,
                     int64_t max_steps)

sklb_cpu_level = &cpu_level


def solve_block(const double[:, ::1] K, const double[::1] y, const double[::1] box,
                double[::1] alpha, double[::1] v, double tol, int64_t max_steps):
    """Solve the dual for the samples of a block; change ``alpha`` and ``v`` in place.

    Parameters
    ----------
    K : kernel matrix of the block
    y : signs, -1 and 1
    box : upper bounds of ``alpha``
    alpha : the dual variables
    v : f - y, where f holds the scores without the intercept
    tol : stop when no pair violates the conditions of optimality by more
    max_steps : stop after so many pairs

    Returns
    -------
    n_steps : int
    """
    cdef Py_ssize_t n = K.shape[0]
    cdef int64_t n_steps
    cdef double *room
    require(n > 0 and K.shape[1] == n and y.shape[0] == n
            and box.shape[0] == n and alpha.shape[0] == n and v.shape[0] == n,
            "the kernel matrix does not fit the samples")
    room = <double *> malloc(4 * n * sizeof(double))
    if room == NULL:
        raise MemoryError
    with nogil:
        n_steps = sklb_smo(n, &K[0, 0], &y[0], &box[0], &alpha[0], &v[0], room,
                           <int64_t *> (room + 3 * n), tol, max_steps)
    free(room)
    return n_steps


def find_movable(const int64_t[::1] active, const double[::1] y, const double[::1] box,
                 const double[::1] alpha, const double[::1] v, double[::1] up,
                 double[::1] down):
    """Find which samples may move, and the two that violate optimality most.

    Parameters
    ----------
    active : numbers of samples
    y, box, alpha, v : as in `solve_block`, of all samples
    up : becomes v of each active sample that may move up, and inf of the others
    down : becomes v of each active sample that may move down, and -inf of the others

    Returns
    -------
    least, most : float
        The least of ``up`` and the largest of ``down``.
    """
    cdef:
        Py_ssize_t k, n = y.shape[0]
        int64_t i
        bint below, above
        double least = INFINITY, most = -INFINITY
    require(box.shape[0] == n and alpha.shape[0] == n and v.shape[0] == n
            and up.shape[0] == active.shape[0] and down.shape[0] == active.shape[0]
            and active.shape[0] > 0 and sklb_all_below_64(&active[0], active.shape[0], n),
            "the samples do not fit each other")
    with nogil:
        for k in range(active.shape[0]):
            i = active[k]
            below, above = alpha[i] < box[i], alpha[i] > 0
            if y[i] < 0:
                below, above = above, below
            up[k] = v[i] if below else INFINITY
            down[k] = v[i] if above else -INFINITY
            least, most = min(least, up[k]), max(most, down[k])
    return least, most
