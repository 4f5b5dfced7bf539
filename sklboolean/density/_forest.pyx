# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Draws of inputs that form a forest, given their fields."""
from sklboolean._core._checks cimport require, require_shape


def draw_signs(
    const double[:, ::1] fields,
    const double[:, ::1] ratios,
    const double[:, ::1] uniforms,
    const Py_ssize_t[::1] order,
    const Py_ssize_t[::1] parents,
    const double[::1] couplings,
    const double[::1] links,
    double[::1] up,
    double[::1] down,
    double[:, ::1] signs,
):
    """Write into each row of ``signs`` a draw from its forest.

    The weight of a row is exp(sum f_c x_c + sum J_c x_c x_parent(c)). ``ratios`` holds
    exp(-2 |f|), ``links`` exp(-2 |J|), ``order`` parents before children; ``up`` and
    ``down`` are room for how well each input and all below it like 1 and -1. The
    greater of both is kept at 1: their ratio must not be beyond what a double holds.
    """
    cdef Py_ssize_t row, place, c, p, n = fields.shape[1]
    cdef double plus, minus
    cdef bint fits = True
    require_shape(ratios, fields.shape[0], n, "ratios")
    require_shape(uniforms, fields.shape[0], n, "uniforms")
    require_shape(signs, fields.shape[0], n, "signs")
    require(order.shape[0] == n and parents.shape[0] == n and couplings.shape[0] == n
            and links.shape[0] == n and up.shape[0] == n and down.shape[0] == n,
            "the tree has another number of inputs")
    for c in range(n):
        fits &= 0 <= order[c] < n and parents[c] < n
    require(fits, "the tree names inputs that do not exist")
    with nogil:
        for row in range(fields.shape[0]):
            for c in range(n):
                up[c] = 1.0 if fields[row, c] > 0 else ratios[row, c]
                down[c] = ratios[row, c] if fields[row, c] > 0 else 1.0
            for place in range(n - 1, -1, -1):
                c = order[place]
                p = parents[c]
                if p < 0:
                    continue
                if couplings[c] > 0:
                    plus = up[p] * (up[c] + links[c] * down[c])
                    minus = down[p] * (links[c] * up[c] + down[c])
                else:
                    plus = up[p] * (links[c] * up[c] + down[c])
                    minus = down[p] * (up[c] + links[c] * down[c])
                if plus > minus:
                    up[p] = 1.0
                    down[p] = minus / plus
                else:
                    up[p] = plus / minus
                    down[p] = 1.0
            for place in range(n):
                c = order[place]
                p = parents[c]
                plus = up[c]
                minus = down[c]
                if p >= 0:
                    if (couplings[c] > 0) == (signs[row, p] > 0):
                        minus = minus * links[c]
                    else:
                        plus = plus * links[c]
                signs[row, c] = (
                    1.0 if uniforms[row, c] * (plus + minus) < plus else -1.0
                )
