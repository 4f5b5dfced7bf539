# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Columns of bits: sums over them, an L1 solver for few of them, scores of samples.

Callers validate data; shapes are checked here before the GIL is released.
"""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint64_t

from sklboolean._core._checks cimport (
    require,
    require_below,
    sklb_is_indptr,
)
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "bit_columns.h" nogil:
    double sklb_masked_sum(const uint64_t *bits, const double *values, int64_t n_words)
    void sklb_masked_add(const uint64_t *bits, double step, double *out, int64_t n_words)

sklb_cpu_level = &cpu_level


def sum_columns(const uint64_t[:, ::1] columns, const double[:, ::1] values,
                double[:, ::1] sums):
    """Write into ``sums[k, j]`` the sum of ``values[k]`` over the samples of column j."""
    cdef int64_t k, j
    require(values.shape[1] == 64 * columns.shape[1] and sums.shape[0] == values.shape[0]
            and sums.shape[1] == columns.shape[0], "columns and values do not fit")
    with nogil:
        for k in range(values.shape[0]):
            for j in range(columns.shape[0]):
                sums[k, j] = sklb_masked_sum(&columns[j, 0], &values[k, 0],
                                             columns.shape[1])


def add_columns(const uint64_t[:, ::1] columns, const double[:, ::1] coefficients,
                double[:, ::1] scores):
    """Add ``coefficients[k, j]`` to ``scores[k]`` for the samples of each column j."""
    cdef int64_t k, j
    require(scores.shape[1] == 64 * columns.shape[1]
            and scores.shape[0] == coefficients.shape[0]
            and coefficients.shape[1] == columns.shape[0], "columns and scores do not fit")
    with nogil:
        for k in range(coefficients.shape[0]):
            for j in range(columns.shape[0]):
                if coefficients[k, j] != 0:
                    sklb_masked_add(&columns[j, 0], coefficients[k, j], &scores[k, 0],
                                    columns.shape[1])


def descend(const double[:, ::1] matrix, double[::1] slopes, const double[::1] prices,
            double[::1] coefficients, double tol, int max_passes, double[:, ::1] work):
    """Minimize a quadratic function plus prices times absolute coefficients, in place.

    Coordinate descent. After every eighth pass all coefficients other than 0 move
    together, by conjugate gradients.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Second derivatives; positive semidefinite.
    slopes : ndarray of shape (n,)
        Slopes at the coefficients; kept up to date.
    tol : float
        Stop when 0 is no further from a subgradient, as a fraction of the price.
    work : ndarray of shape (4, n)
        Scratch space.

    Returns
    -------
    n_passes : int
    """
    cdef:
        int64_t a, b, n = slopes.shape[0]
        int n_passes
        double worst, size, step
    require(matrix.shape[0] == n and matrix.shape[1] == n and prices.shape[0] == n
            and coefficients.shape[0] == n and work.shape[0] >= 4 and work.shape[1] >= n
            and n > 0, "the quadratic model does not fit its coefficients")
    with nogil:
        for n_passes in range(max_passes):
            worst = 0
            for a in range(n):
                worst = max(worst, violation(slopes[a], coefficients[a], prices[a]))
                size = matrix[a, a] + 1e-12
                step = soft(coefficients[a] * size - slopes[a], prices[a]) / size
                step -= coefficients[a]
                if step != 0:
                    coefficients[a] += step
                    for b in range(n):
                        slopes[b] += step * matrix[a, b]
            if worst <= tol:
                break
            if n_passes % 8 == 7:
                accelerate(matrix, slopes, prices, coefficients, work)
    return n_passes


cdef void accelerate(const double[:, ::1] matrix, double[::1] slopes,
                     const double[::1] prices, double[::1] coefficients,
                     double[:, ::1] work) noexcept nogil:
    """Move all coefficients other than 0 towards the minimum for their signs.

    Coefficients that would change their sign become 0. If the function does not decrease
    so, the step ends at the first of them.
    """
    cdef:
        int64_t a, b, n = slopes.shape[0]
        int n_steps
        double start = 0, size = 0, before, rate, change
        double *total = &work[0, 0]
        double *residual = &work[1, 0]
        double *step = &work[2, 0]
        double *bent = &work[3, 0]
    for a in range(n):
        total[a] = residual[a] = step[a] = 0
        if coefficients[a] != 0 or prices[a] == 0:
            residual[a] = -slopes[a] - (prices[a] if coefficients[a] > 0 else -prices[a])
            step[a] = residual[a] / (matrix[a, a] + 1e-12)
            start += residual[a] * step[a]
    size = start
    for n_steps in range(12):
        if size <= 1e-4 * start or size == 0:
            break
        multiply(matrix, step, bent)
        change = 0
        for a in range(n):
            change += step[a] * bent[a]
        if not change > 0:
            break
        rate, before, size = size / change, size, 0
        for a in range(n):
            if coefficients[a] != 0 or prices[a] == 0:
                total[a] += rate * step[a]
                residual[a] -= rate * bent[a]
                size += residual[a] * residual[a] / (matrix[a, a] + 1e-12)
        for a in range(n):
            if coefficients[a] != 0 or prices[a] == 0:
                step[a] = residual[a] / (matrix[a, a] + 1e-12) + size / before * step[a]
    rate = 1
    for n_steps in range(2):
        change = 0
        for a in range(n):
            step[a] = rate * total[a]
            if prices[a] and (coefficients[a] + step[a]) * coefficients[a] < 0:
                step[a] = -coefficients[a]
            change += step[a] * slopes[a] + prices[a] * (
                fabs(coefficients[a] + step[a]) - fabs(coefficients[a]))
        multiply(matrix, step, bent)
        for a in range(n):
            change += 0.5 * step[a] * bent[a]
        if change < 0:
            for a in range(n):
                coefficients[a] += step[a]
                slopes[a] += bent[a]
            return
        for a in range(n):
            if prices[a] and total[a] * coefficients[a] < 0:
                rate = min(rate, -coefficients[a] / total[a])


cdef void multiply(const double[:, ::1] matrix, const double *vector,
                   double *product) noexcept nogil:
    """Multiply a symmetric matrix by a vector, of which many entries are 0."""
    cdef int64_t a, b, n = matrix.shape[0]
    for a in range(n):
        product[a] = 0
    for a in range(n):
        if vector[a] != 0:
            for b in range(n):
                product[b] += vector[a] * matrix[a, b]


cdef inline double soft(double value, double threshold) noexcept nogil:
    return value - threshold if value > threshold else (
        value + threshold if value < -threshold else 0)


cdef inline double violation(double slope, double coefficient, double price) noexcept nogil:
    """The distance of 0 from the subgradient, as a fraction of the price."""
    if price == 0:
        return fabs(slope)
    if coefficient > 0:
        return fabs(slope + price) / price
    if coefficient < 0:
        return fabs(slope - price) / price
    return max(fabs(slope) / price - 1, 0.0)


def fill_covers(const uint64_t[:, ::1] features, const uint64_t[::1] samples,
                const int64_t[::1] indptr, const int32_t[::1] literals,
                uint64_t[:, ::1] covers):
    """Write the samples of each conjunction.

    Parameters
    ----------
    features : ndarray of shape (n_features, n_words), uint64
        Samples in which each feature is true.
    samples : ndarray of shape (n_words,), uint64
        All samples.
    indptr, literals : ndarrays
        Conjunction c holds literals[indptr[c]:indptr[c + 1]]: 2 * feature for a true
        one, 2 * feature + 1 for a negated one.
    covers : ndarray of shape (n_conjunctions, n_words), uint64
    """
    cdef int64_t c, t, w, n_words = samples.shape[0], literal
    cdef uint64_t flip
    require(features.shape[1] == n_words and covers.shape[1] == n_words
            and indptr.shape[0] == covers.shape[0] + 1
            and sklb_is_indptr(&indptr[0], covers.shape[0], literals.shape[0]),
            "conjunctions and columns have different lengths")
    if literals.shape[0]:
        require_below(literals, 2 * features.shape[0], "a conjunction")
    with nogil:
        for c in range(covers.shape[0]):
            covers[c, :] = samples
            for t in range(indptr[c], indptr[c + 1]):
                literal = literals[t] // 2
                flip = -<uint64_t> (literals[t] % 2)
                for w in range(n_words):
                    covers[c, w] &= features[literal, w] ^ flip


def add_scores(const uint64_t[:, ::1] words, const int64_t[::1] indptr,
               const int32_t[::1] literals, const double[:, ::1] coefficients,
               double[:, ::1] scores):
    """Add to ``scores[i, k]`` the coefficients of the conjunctions that sample i satisfies.

    Parameters
    ----------
    words : ndarray of shape (n_samples, n_words), uint64
        Packed samples.
    indptr, literals : ndarrays
        As for `fill_covers`.
    coefficients : ndarray of shape (n_outputs, n_conjunctions)
    scores : ndarray of shape (n_samples, n_outputs)
    """
    cdef:
        int64_t i, c, t, m = coefficients.shape[1]
        int k, n_outputs = <int> coefficients.shape[0]
        int32_t literal
    require(indptr.shape[0] == m + 1 and scores.shape[0] == words.shape[0]
            and scores.shape[1] == n_outputs
            and sklb_is_indptr(&indptr[0], m, literals.shape[0]),
            "conjunctions and coefficients have different lengths")
    if not literals.shape[0]:
        return
    require_below(literals, 128 * words.shape[1], "a conjunction")
    with nogil:
        for i in range(words.shape[0]):
            for c in range(m):
                for t in range(indptr[c], indptr[c + 1]):
                    literal = literals[t]
                    if (words[i, literal >> 7] >> (literal >> 1 & 63) & 1) == (literal & 1):
                        break
                else:
                    for k in range(n_outputs):
                        scores[i, k] += coefficients[k, c]
