# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Columns of bits: sums over them, an L1 solver for few of them, scores of samples.

Callers validate data; shapes are checked here before the GIL is released.
"""
from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from sklboolean._core._checks cimport (
    require,
    require_below,
    sklb_all_below_64,
    sklb_is_indptr,
)
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "bit_columns.h" nogil:
    double sklb_masked_sum(const uint64_t *bits, const double *values, int64_t n_words)
    int SKLB_ADDED_AT_A_TIME
    ctypedef struct sklb_added_columns:
        const uint64_t *bits[8]
        double steps[8]
        int n
    void sklb_masked_add(const sklb_added_columns *added, double *out, int64_t n_words)
    int SKLB_SIDE_BY_SIDE
    void sklb_many_sums(const uint64_t *bits, int64_t n_columns, const double *values,
                        int64_t n_words, int64_t width, double *sums)
    int64_t sklb_shared_sum(const uint64_t *column, const uint64_t *other,
                            const uint64_t *digits, int64_t n_digits, int64_t n_words)
    ctypedef struct sklb_kept_bits:
        int n_kept
    sklb_kept_bits sklb_plan_moves(uint64_t mask)
    void sklb_keep_bits(const uint64_t *bits, const sklb_kept_bits *plans, int64_t n_words,
                        uint64_t *packed)

sklb_cpu_level = &cpu_level

# Outputs whose values stand side by side are a multiple of it.
SIDE_BY_SIDE = SKLB_SIDE_BY_SIDE


def sum_columns(const uint64_t[:, ::1] columns, const double[:, ::1] values,
                double[:, :] sums, const uint8_t[:, :] wanted):
    """Write into ``sums[k, j]`` the sum of ``values[k]`` over the samples of column j.

    Where ``wanted[k, j]`` is not 0.
    """
    cdef int64_t k, j
    require(values.shape[1] == 64 * columns.shape[1] and sums.shape[0] == values.shape[0]
            and sums.shape[1] == columns.shape[0] == wanted.shape[1]
            and wanted.shape[0] == sums.shape[0], "columns and values do not fit")
    with nogil:
        for k in range(values.shape[0]):
            for j in range(columns.shape[0]):
                if wanted[k, j]:
                    sums[k, j] = sklb_masked_sum(&columns[j, 0], &values[k, 0],
                                                 columns.shape[1])


def add_by_pattern(const int32_t[::1] codes, const uint8_t[::1] cover,
                   const double[:, ::1] masses, double[:, :, ::1] sums):
    """Add ``masses[i]`` to ``sums[cover[i], codes[i]]`` for each sample i."""
    cdef int64_t i, n = codes.shape[0], n_patterns = sums.shape[1]
    cdef double *sum_of_sample
    require(cover.shape[0] == n == masses.shape[0] and masses.shape[1] == sums.shape[2] == 2
            and sums.shape[0] == 2, "patterns and samples do not fit")
    with nogil:
        for i in range(n):
            if not 0 <= codes[i] < n_patterns:
                break
            sum_of_sample = &sums[cover[i] != 0, codes[i], 0]
            sum_of_sample[0] += masses[i, 0]
            sum_of_sample[1] += masses[i, 1]
        else:
            i = n
    require(i == n, "a sample has a pattern that does not exist")


def sum_columns_of_many(const uint64_t[:, ::1] columns, const double[:, ::1] values,
                        double[:, ::1] sums):
    """Write into ``sums[j, k]`` the sum of ``values[:, k]`` over the samples of column j.

    The number of outputs is a multiple of ``SIDE_BY_SIDE``.
    """
    cdef int64_t width = values.shape[1]
    require(values.shape[0] == 64 * columns.shape[1] and sums.shape[0] == columns.shape[0]
            and sums.shape[1] == width and width % SKLB_SIDE_BY_SIDE == 0,
            "columns and values do not fit")
    if not columns.shape[0] or not width:
        return
    with nogil:
        sklb_many_sums(&columns[0, 0], columns.shape[0], &values[0, 0], columns.shape[1],
                       width, &sums[0, 0])


def add_columns(const uint64_t[:, ::1] columns, const double[:, ::1] coefficients,
                double[:, ::1] scores, int64_t first, int64_t last):
    """Add ``coefficients[k, j]`` to ``scores[k]`` for the samples of each column j.

    Those of the words ``first`` to ``last``.
    """
    cdef int64_t k, j, n_columns = columns.shape[0]
    cdef sklb_added_columns added
    require(0 <= first < last <= columns.shape[1], "the words do not exist")
    require(scores.shape[1] == 64 * columns.shape[1]
            and scores.shape[0] == coefficients.shape[0]
            and coefficients.shape[1] == columns.shape[0], "columns and scores do not fit")
    with nogil:
        for k in range(coefficients.shape[0]):
            added.n = 0
            for j in range(n_columns):
                if coefficients[k, j] != 0:
                    added.bits[added.n] = &columns[j, first]
                    added.steps[added.n] = coefficients[k, j]
                    added.n += 1
                if added.n == SKLB_ADDED_AT_A_TIME or j + 1 == n_columns:
                    sklb_masked_add(&added, &scores[k, 64 * first], last - first)
                    added.n = 0


def keep_samples(const uint64_t[:, ::1] columns, const int64_t[::1] chosen, int64_t first,
                 const uint64_t[::1] samples, uint64_t[:, ::1] packed):
    """Write the bits of some samples of some columns, without gaps.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_words), uint64
    chosen : ndarray of shape (n_chosen,), int64
    first : int
        The first word that is read.
    samples : ndarray of shape (n_read,), uint64
        The samples of the words that are read to keep, as bits.
    packed : ndarray of shape (n_chosen, n_packed), uint64
        With as many words as the number of these samples takes.
    """
    cdef:
        int64_t w, c, n_kept = 0, n_words = samples.shape[0]
        sklb_kept_bits *plans
    require(0 <= first <= columns.shape[1] - n_words and packed.shape[0] == chosen.shape[0]
            and sklb_all_below_64(&chosen[0], chosen.shape[0], columns.shape[0]),
            "the samples to keep do not fit")
    plans = <sklb_kept_bits *> malloc((n_words + 1) * sizeof(sklb_kept_bits))
    if plans == NULL:
        raise MemoryError
    try:
        for w in range(n_words):
            plans[w] = sklb_plan_moves(samples[w])
            n_kept += plans[w].n_kept
        require(packed.shape[1] == (n_kept + 63) // 64, "the samples to keep do not fit")
        with nogil:
            for c in range(chosen.shape[0] if n_kept else 0):
                sklb_keep_bits(&columns[chosen[c], first], plans, n_words, &packed[c, 0])
    finally:
        free(plans)


def add_counts(const int32_t[:, ::1] counts, const int64_t[::1] rows,
               const int64_t[::1] others, int64_t first, double unit,
               double[:, ::1] matrix):
    """Add multiples of counts to a symmetric matrix, on both sides of the diagonal.

    Parameters
    ----------
    counts : ndarray of shape (n_rows, n_columns)
        ``counts[i, j]`` is of the entries ``rows[i]`` and ``others[j]``. Those of others
        behind ``first + i`` are not read.
    rows, others : ndarrays of int64
        Of each two entries, one pair is read.
    """
    cdef int64_t i, j, n_counted = counts.shape[1]
    cdef int64_t size = min(matrix.shape[0], matrix.shape[1])
    require(first >= 0 and counts.shape[0] == rows.shape[0]
            and n_counted <= others.shape[0]
            and sklb_all_below_64(&rows[0], rows.shape[0], size)
            and sklb_all_below_64(&others[0], n_counted, size),
            "counts and a matrix do not fit")
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(min(first + i + 1, n_counted)):
                matrix[rows[i], others[j]] += unit * counts[i, j]
                matrix[others[j], rows[i]] = matrix[rows[i], others[j]]


def add_multiples(const uint64_t[:, ::1] columns, const int64_t[::1] places,
                  const int64_t[::1] rows, const int64_t[::1] others, int64_t first,
                  const uint64_t[:, ::1] digits, double unit, double[:, ::1] matrix):
    """Add multiples of the samples that two columns share, as `add_counts` does counts.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_words), uint64
    places : ndarray of shape (n_entries,), int64
        The column of each row of the matrix.
    digits : ndarray of shape (n_digits, n_words), uint64
        Binary digits of the multiples, lowest first.
    """
    cdef int64_t i, j, row, other, n_words = columns.shape[1]
    cdef int64_t size = min(matrix.shape[0], matrix.shape[1], places.shape[0])
    cdef double sum_
    require(first >= 0 and digits.shape[1] == n_words
            and sklb_all_below_64(&rows[0], rows.shape[0], size)
            and sklb_all_below_64(&others[0], others.shape[0], size)
            and sklb_all_below_64(&places[0], places.shape[0], columns.shape[0]),
            "columns and a matrix do not fit")
    with nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            for j in range(min(first + i + 1, others.shape[0])):
                other = others[j]
                sum_ = unit * sklb_shared_sum(
                    &columns[places[row], 0], &columns[places[other], 0],
                    &digits[0, 0], digits.shape[0], n_words)
                matrix[row, other] += sum_
                matrix[other, row] = matrix[row, other]


def descend(const double[:, ::1] matrix, double[::1] slopes, const double[::1] prices,
            const int8_t[::1] signs, double[::1] coefficients, double tol, int max_passes):
    """Minimize a quadratic function plus prices times absolute coefficients, in place.

    Passes of coordinate descent. A coefficient has the sign 1 or -1, or of 0 either.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Second derivatives; positive semidefinite.
    slopes : ndarray of shape (n,)
        Slopes at the coefficients; kept up to date.
    tol : float
        Stop when 0 is no further from a subgradient, as a fraction of the price.

    Returns
    -------
    n_passes : int
    """
    cdef:
        int64_t a, b, n = slopes.shape[0]
        int n_passes
        double worst, size, step
    require(matrix.shape[0] == n and matrix.shape[1] == n and prices.shape[0] == n
            and signs.shape[0] == n and coefficients.shape[0] == n and n > 0,
            "the quadratic model does not fit its coefficients")
    with nogil:
        for n_passes in range(max_passes):
            worst = 0
            for a in range(n):
                worst = max(worst, violation(slopes[a], coefficients[a], prices[a], signs[a]))
                size = matrix[a, a] + 1e-12
                step = soft(coefficients[a] * size - slopes[a], prices[a]) / size
                if step * signs[a] < 0:
                    step = 0
                step -= coefficients[a]
                if step != 0:
                    coefficients[a] += step
                    for b in range(n):
                        slopes[b] += step * matrix[a, b]
            if worst <= tol:
                break
    return n_passes


cdef inline double soft(double value, double threshold) noexcept nogil:
    return value - threshold if value > threshold else (
        value + threshold if value < -threshold else 0)


cdef inline double violation(double slope, double coefficient, double price,
                             int sign) noexcept nogil:
    """The distance of 0 from the subgradient, as a fraction of the price."""
    if price == 0:
        return fabs(slope)
    if coefficient > 0:
        return fabs(slope + price) / price
    if coefficient < 0:
        return fabs(slope - price) / price
    if slope * sign > 0:
        return 0
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
