# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""A game of averaged perceptrons: one sample after the other passes through all.

``n_shown[i]`` is the weight of all samples that learner i has seen. The average of all
its hypotheses is ``coef[i] - late[i] / n_shown[i]``: a change made when the samples
before it weighed n has been in force for ``n_shown - n``. Sums run over the features in
order, so that a vote depends on its sample only. Callers allocate and validate.
"""
from libc.math cimport exp, floor, fmin, log1p
from libc.stdint cimport int8_t, int64_t

from sklboolean._core._checks cimport require


cdef int check(const int8_t[:, ::1] rows, const double[:, ::1] coef,
               const double[:, ::1] late, const double[::1] n_shown,
               const int64_t[::1] votes) except -1:
    return require(coef.shape[1] <= rows.shape[1] and late.shape[0] == coef.shape[0]
                   and late.shape[1] == coef.shape[1]
                   and n_shown.shape[0] == coef.shape[0]
                   and votes.shape[0] >= rows.shape[0],
                   "the coefficients do not fit the data")


cdef inline int averaged_vote(const int8_t *row, Py_ssize_t n, const double *coef,
                              const double *late, double n_shown,
                              double *score) noexcept nogil:
    """Return the sign of the average's score; give the last hypothesis' score too."""
    cdef:
        Py_ssize_t j
        double last = 0.0, delayed = 0.0
    for j in range(n):
        last += coef[j] * row[j]
        delayed += late[j] * row[j]
    score[0] = last
    last = n_shown * last - delayed
    return (last > 0) - (last < 0)


cdef inline double log_pmf(Py_ssize_t s, Py_ssize_t n, double log_right,
                           double log_wrong, const double *log_factorials) noexcept nogil:
    return (log_factorials[n] - log_factorials[s] - log_factorials[n - s]
            + s * log_right + (n - s) * log_wrong)


cdef inline double relative_weight(Py_ssize_t k, Py_ssize_t i, double gamma,
                                   Py_ssize_t n_correct, double log_right,
                                   double log_wrong,
                                   const double *log_factorials) noexcept nogil:
    """The weight of a state, relative to the heaviest one that can occur."""
    cdef:
        Py_ssize_t n_left = k - i - 1, missing = k // 2 - n_correct
        Py_ssize_t mode = <Py_ssize_t> floor((n_left + 1) * (0.5 + gamma))
    if missing < 0 or missing > n_left:
        return 0.0
    # The mode of the binomial distribution, or the state next to it that can occur.
    mode = min(max(mode, max(k // 2 - i, 0)), min(k // 2, n_left))
    return exp(fmin(0.0, log_pmf(missing, n_left, log_right, log_wrong, log_factorials)
                    - log_pmf(mode, n_left, log_right, log_wrong, log_factorials)))


def write_weights(Py_ssize_t k, Py_ssize_t i, double gamma,
                  const double[::1] log_factorials, const int64_t[::1] n_correct,
                  double[::1] weights):
    """Write the weight of each sample for learner i of k."""
    cdef:
        Py_ssize_t row
        double log_right = log1p(2 * gamma), log_wrong = log1p(-2 * gamma)
    require(0 <= i < k and log_factorials.shape[0] >= k
            and weights.shape[0] >= n_correct.shape[0],
            "there is not one weight for each sample")
    with nogil:
        for row in range(n_correct.shape[0]):
            weights[row] = relative_weight(k, i, gamma, n_correct[row], log_right,
                                           log_wrong, &log_factorials[0])


def add_votes(const int8_t[:, ::1] rows, const double[:, ::1] coef,
              const double[:, ::1] late, const double[::1] n_shown, int64_t[::1] votes):
    """Add to ``votes`` the sum of the learners' votes, each -1, 1, or 0 if undecided."""
    cdef:
        Py_ssize_t row, i, n = coef.shape[1]
        double score
    check(rows, coef, late, n_shown, votes)
    with nogil:
        for row in range(rows.shape[0]):
            for i in range(coef.shape[0]):
                votes[row] += averaged_vote(&rows[row, 0], n, &coef[i, 0], &late[i, 0],
                                            n_shown[i], &score)


def vote_and_learn(const int8_t[:, ::1] rows, const int8_t[::1] signs,
                   const double[::1] sample_weight, const double[:, ::1] uniform,
                   double gamma, const double[::1] log_factorials,
                   double[:, ::1] coef, double[:, ::1] late, double[::1] n_shown,
                   int64_t[::1] counts, double[::1] weights_correct,
                   double[::1] weights_shown, int64_t[::1] votes,
                   int64_t[::1] n_correct):
    """The same, but every learner learns a sample after voting on it.

    ``uniform`` has no columns, or a random number for each sample and learner: a weight
    is then rounded up with the probability of its fraction. ``counts`` is the number of
    samples that each learner was shown, ``weights_shown`` and ``weights_correct`` their
    weight and that of its correct votes.
    """
    cdef:
        Py_ssize_t row, i, j, right, k = coef.shape[0], n = coef.shape[1]
        double log_right = log1p(2 * gamma), log_wrong = log1p(-2 * gamma)
        double score, weight, step
        int vote
        bint is_sampled = uniform.shape[1] > 0
    check(rows, coef, late, n_shown, votes)
    require(signs.shape[0] >= rows.shape[0] and sample_weight.shape[0] >= rows.shape[0]
            and n_correct.shape[0] >= rows.shape[0] and log_factorials.shape[0] >= k
            and counts.shape[0] >= k and weights_correct.shape[0] >= k
            and weights_shown.shape[0] >= k
            and (not is_sampled or (uniform.shape[0] >= rows.shape[0]
                                    and uniform.shape[1] >= k)),
            "there is not one weight for each sample")
    with nogil:
        for row in range(rows.shape[0]):
            right = 0
            for i in range(k):
                vote = averaged_vote(&rows[row, 0], n, &coef[i, 0], &late[i, 0],
                                     n_shown[i], &score)
                weight = sample_weight[row] * relative_weight(
                    k, i, gamma, right, log_right, log_wrong, &log_factorials[0])
                if is_sampled:
                    weight = floor(weight + uniform[row, i])
                votes[row] += vote
                if vote == signs[row]:
                    right += 1
                    weights_correct[i] += weight
                weights_shown[i] += weight
                counts[i] += weight != 0
                if weight > 0 and signs[row] * score <= 0:
                    step = weight * signs[row]
                    for j in range(n):
                        coef[i, j] += step * rows[row, j]
                        late[i, j] += n_shown[i] * (step * rows[row, j])
                n_shown[i] += weight
            n_correct[row] = right
