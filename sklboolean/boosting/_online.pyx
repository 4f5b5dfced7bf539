# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The averaged perceptron with weighted rows, one row after the other.

``n_shown`` is the weight of all rows so far, in an array of one element. The average of
all hypotheses is ``coef - late / n_shown``: a change made when the rows before it
weighed n has been in force for ``n_shown - n``. Sums run over the features in order, so
that a vote depends on its row only. Callers allocate and validate.
"""
from libc.stdint cimport int8_t

from sklboolean._core._checks cimport require


cdef int check(const int8_t[:, ::1] rows, const double[::1] coef, const double[::1] late,
               const double[::1] n_shown, const int8_t[::1] votes) except -1:
    return require(coef.shape[0] <= rows.shape[1] and late.shape[0] == coef.shape[0]
                   and n_shown.shape[0] >= 1 and votes.shape[0] >= rows.shape[0],
                   "the coefficients do not fit the data")


cdef inline int8_t averaged_vote(
    const int8_t[:, ::1] rows, Py_ssize_t row, const double[::1] coef,
    const double[::1] late, double n_shown, double *score
) noexcept nogil:
    """Return the sign of the average's score; give the last hypothesis' score too."""
    cdef:
        Py_ssize_t j
        double last = 0.0, delayed = 0.0
    for j in range(coef.shape[0]):
        last += coef[j] * rows[row, j]
        delayed += late[j] * rows[row, j]
    score[0] = last
    last = n_shown * last - delayed
    return (last > 0) - (last < 0)


def write_votes(const int8_t[:, ::1] rows, const double[::1] coef, const double[::1] late,
              const double[::1] n_shown, int8_t[::1] votes):
    """Write into ``votes`` -1, 1, or 0 where the average is undecided."""
    cdef:
        Py_ssize_t row
        double score
    check(rows, coef, late, n_shown, votes)
    with nogil:
        for row in range(rows.shape[0]):
            votes[row] = averaged_vote(rows, row, coef, late, n_shown[0], &score)


def vote_and_learn(const int8_t[:, ::1] rows, const int8_t[::1] signs,
                   const double[::1] weights, double[::1] coef, double[::1] late,
                   double[::1] n_shown, int8_t[::1] votes):
    """The same, but learn each row after voting on it: rows without weight excepted."""
    cdef:
        Py_ssize_t row, j
        double score, step
    check(rows, coef, late, n_shown, votes)
    require(signs.shape[0] >= rows.shape[0] and weights.shape[0] >= rows.shape[0],
            "there is not one weight for each sample")
    with nogil:
        for row in range(rows.shape[0]):
            votes[row] = averaged_vote(rows, row, coef, late, n_shown[0], &score)
            if weights[row] > 0 and signs[row] * score <= 0:
                step = weights[row] * signs[row]
                for j in range(coef.shape[0]):
                    coef[j] += step * rows[row, j]
                    late[j] += n_shown[0] * (step * rows[row, j])
            n_shown[0] += weights[row]
