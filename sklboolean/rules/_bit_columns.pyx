# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Weighted sums of conjunctions: an L1 solver over bit columns, and scores of samples.

Callers validate data; shapes are checked here before the GIL is released.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport exp, fabs, log, log1p
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from sklboolean._core._checks cimport require, require_below, sklb_is_indptr
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

from sklboolean._core.bits import pack_dense

cdef extern from "bit_columns.h" nogil:
    double sklb_masked_sum(const uint64_t *bits, const double *values, int64_t n_words)
    void sklb_masked_add(const uint64_t *bits, double step, double *out, int64_t n_words)

cdef extern from "cover_sums.h" nogil:
    ctypedef struct sklb_side:
        int64_t first, n_words
        int n_digits
        const uint64_t *digits
        const int64_t *tables
    int64_t sklb_cover_sum(const sklb_side *side, const uint64_t *a, const uint64_t *b)

sklb_cpu_level = &cpu_level

# Binary digits of the curvatures in the quadratic model. Curvatures are rounded up, so
# that the model stays convex.
N_DIGITS = 12
# Coefficients that the quadratic model may change in one step, besides those other than 0.
MAX_ACTIVE = 2000

cdef enum Loss:
    LOGISTIC, SOFTMAX, SQUARED

LOSSES = {"logistic": LOGISTIC, "softmax": SOFTMAX, "squared": SQUARED}


cdef class BitColumnProblem:
    """A weighted loss of sums of columns, plus prices times absolute coefficients.

    Parameters
    ----------
    loss : {"logistic", "softmax", "squared"}
    weights : ndarray of shape (64 * n_words,), float64
        Of the samples; 0 behind the last one.
    targets : ndarray of shape (n_outputs, 64 * n_words), float64
        0 or 1 for the logistic loss, one-hot for softmax.

    Attributes
    ----------
    means : ndarray of shape (n_outputs, 64 * n_words)
        Of the last solution: probabilities, or scores for the squared loss.
    value, violation : float
        Of the last solution: the objective, and the largest distance of 0 from a
        subgradient as a fraction of the price.
    n_iter : int
        Newton steps of the last solution.
    """

    cdef Loss loss
    cdef int n_outputs
    cdef int64_t n
    cdef const double[::1] weights
    cdef const double[:, ::1] targets
    cdef double[:, ::1] scores, direction, means_view, slopes, curvatures, masses
    cdef readonly object means
    cdef readonly double value, violation
    cdef readonly int n_iter

    def __cinit__(self, loss, const double[::1] weights, const double[:, ::1] targets):
        self.loss, self.weights, self.targets = LOSSES[loss], weights, targets
        self.n, self.n_outputs = weights.shape[0], <int> targets.shape[0]
        require(self.n % 64 == 0 and targets.shape[1] == self.n and self.n_outputs >= 1
                and (self.loss == SOFTMAX or self.n_outputs == 1),
                "weights and targets have different lengths")
        shape = self.n_outputs, self.n
        self.means = np.zeros(shape)
        self.means_view = self.means
        self.scores, self.direction = np.zeros(shape), np.zeros(shape)
        self.slopes, self.curvatures = np.zeros(shape), np.zeros(shape)
        self.masses = np.zeros(shape if self.loss == SOFTMAX else (1, 1))

    cdef double loss_value(self) noexcept nogil:
        cdef:
            int64_t i
            int k
            double total = 0, score, largest, norm, own
        for i in range(self.n):
            if self.weights[i] == 0:
                continue
            score = self.scores[0, i]
            if self.loss == SQUARED:
                score -= self.targets[0, i]
                total += 0.5 * self.weights[i] * score * score
            elif self.loss == LOGISTIC:
                score = -score if self.targets[0, i] > 0 else score
                total += self.weights[i] * (max(score, 0.0) + log1p(exp(-fabs(score))))
            else:
                largest, norm, own = score, 0, 0
                for k in range(1, self.n_outputs):
                    largest = max(largest, self.scores[k, i])
                for k in range(self.n_outputs):
                    norm += exp(self.scores[k, i] - largest)
                    own += self.targets[k, i] * self.scores[k, i]
                total += self.weights[i] * (largest + log(norm) - own)
        return total

    cdef void differentiate(self) noexcept nogil:
        """Find the means, and the derivatives of the loss by the scores."""
        cdef:
            int64_t i
            int k
            double largest, norm, mean
        for i in range(self.n):
            if self.loss == SOFTMAX:
                largest, norm = self.scores[0, i], 0
                for k in range(1, self.n_outputs):
                    largest = max(largest, self.scores[k, i])
                for k in range(self.n_outputs):
                    self.means_view[k, i] = exp(self.scores[k, i] - largest)
                    norm += self.means_view[k, i]
                for k in range(self.n_outputs):
                    self.means_view[k, i] /= norm
                    self.masses[k, i] = self.weights[i] * self.means_view[k, i]
            elif self.loss == LOGISTIC:
                mean = exp(-fabs(self.scores[0, i]))
                self.means_view[0, i] = (1 if self.scores[0, i] > 0 else mean) / (1 + mean)
            else:
                self.means_view[0, i] = self.scores[0, i]
            for k in range(self.n_outputs):
                mean = self.means_view[k, i]
                self.slopes[k, i] = self.weights[i] * (mean - self.targets[k, i])
                self.curvatures[k, i] = self.weights[i] * (
                    1 if self.loss == SQUARED else mean * (1 - mean))

    def solve(self, const uint64_t[:, ::1] columns, const double[::1] prices,
              double[:, ::1] coefficients, double tol, int max_iter, int max_passes):
        """Minimize over the coefficients, in place, from where they are.

        Proximal Newton steps; each minimizes a quadratic model by coordinate descent
        over the coefficients that can change (Yuan, Ho, Lin, "An Improved GLMNET for
        L1-regularized Logistic Regression", JMLR 2012, sections 4 and 5). A step of
        softmax moves all outputs.

        Parameters
        ----------
        columns : ndarray of shape (n_columns, n_words), uint64
            Samples of each column.
        prices : ndarray of shape (n_columns,), float64
            0 for an intercept.
        coefficients : ndarray of shape (n_outputs, n_columns), float64
        tol : float
            Stop at so small a violation.
        max_iter, max_passes : int
            Newton steps, and passes over the coefficients in each.
        """
        cdef:
            int64_t j, m = columns.shape[0], n_words = columns.shape[1]
            int k, state = 0
            double value, penalty = 0
            double[:, ::1] gradient = np.empty((self.n_outputs, m)), old
            double[::1] slopes, costs, moved
        require(64 * n_words == self.n and prices.shape[0] == m
                and coefficients.shape[0] == self.n_outputs and coefficients.shape[1] == m,
                "columns, prices and coefficients have different lengths")
        self.scores[:, :] = 0
        for k in range(self.n_outputs):
            for j in range(m):
                if coefficients[k, j] != 0:
                    penalty += prices[j] * fabs(coefficients[k, j])
                    sklb_masked_add(&columns[j, 0], coefficients[k, j],
                                    &self.scores[k, 0], n_words)
        value = self.loss_value() + penalty
        self.n_iter = 0
        while True:
            with nogil:
                self.differentiate()
                self.violation = 0
                for k in range(self.n_outputs):
                    for j in range(m):
                        gradient[k, j] = sklb_masked_sum(&columns[j, 0],
                                                         &self.slopes[k, 0], n_words)
                        self.violation = max(self.violation, violation(
                            gradient[k, j], coefficients[k, j], prices[j]))
            if self.violation <= tol or self.n_iter == max_iter or state:
                break
            self.n_iter += 1
            active = choose_active(np.asarray(gradient).ravel(), np.asarray(prices),
                                   np.asarray(coefficients).ravel(), self.violation)
            slopes, costs = np.asarray(gradient).ravel()[active], np.asarray(prices)[active % m]
            old = np.array(coefficients)
            moved = np.asarray(coefficients).ravel()[active]
            descend(self.quadratic(columns, active), slopes, costs, moved,
                    max(0.1 * self.violation, 0.3 * tol), max_passes)
            np.asarray(coefficients).reshape(-1)[active] = moved
            with nogil:
                state = self.search_line(columns, prices, gradient, old, coefficients,
                                         &value, &penalty)
            PyErr_CheckSignals()
        self.value = value

    def quadratic(self, const uint64_t[:, ::1] columns, const int64_t[::1] active):
        """Compute the matrix of the quadratic model, for the active coefficients.

        Coefficient ``k * n_columns + j`` is that of column j for output k.
        """
        cdef:
            int64_t a, b, m = columns.shape[0], n_active = active.shape[0]
            int k, l
            double unit
            double[:, ::1] matrix = np.empty((n_active, n_active))
            const uint64_t[:, ::1] digits
            int64_t[::1] starts = np.searchsorted(active, m * np.arange(self.n_outputs + 1))
            sklb_side side
        side.first, side.n_words, side.tables = 0, self.n // 64, NULL
        for k in range(self.n_outputs):
            for l in range(k + 1):
                if starts[k] == starts[k + 1] or starts[l] == starts[l + 1]:
                    continue
                values = np.asarray(self.curvatures)[k]
                if l < k:
                    values = np.asarray(self.masses)[k] * self.means[l]
                unit = values.max() / 2**N_DIGITS or 1.0
                whole = np.minimum(values / unit, 2.0**N_DIGITS)
                whole = np.floor(whole) if l < k else np.ceil(whole)
                whole = whole.astype(np.int64)
                side.n_digits = max(1, int(whole.max()).bit_length())
                digits = pack_dense(whole >> np.arange(side.n_digits)[:, None] & 1)
                side.digits = &digits[0, 0]
                unit = -unit if l < k else unit
                with nogil:
                    for a in range(starts[k], starts[k + 1]):
                        for b in range(starts[l], min(a + 1, starts[l + 1])):
                            matrix[a, b] = matrix[b, a] = unit * sklb_cover_sum(
                                &side, &columns[active[a] % m, 0], &columns[active[b] % m, 0])
                PyErr_CheckSignals()
        return matrix

    cdef int search_line(self, const uint64_t[:, ::1] columns, const double[::1] prices,
                         const double[:, ::1] gradient, const double[:, ::1] old,
                         double[:, ::1] coefficients, double *value,
                         double *penalty) noexcept nogil:
        """Go from the old coefficients towards the new ones; 1: no progress."""
        cdef:
            int64_t i, j, m = columns.shape[0], n_words = columns.shape[1]
            int k, n_halved
            double rate = 1, done = 0, new_value, new_penalty = 0, change = 0, difference
        for k in range(self.n_outputs):
            for i in range(self.n):
                self.direction[k, i] = 0
            for j in range(m):
                new_penalty += prices[j] * fabs(coefficients[k, j])
                difference = coefficients[k, j] - old[k, j]
                if difference != 0:
                    change += gradient[k, j] * difference
                    sklb_masked_add(&columns[j, 0], difference, &self.direction[k, 0],
                                    n_words)
        change += new_penalty - penalty[0]
        for n_halved in range(40):
            for k in range(self.n_outputs):
                for i in range(self.n):
                    self.scores[k, i] += (rate - done) * self.direction[k, i]
            done = rate
            # The penalty is convex along the line.
            new_penalty = 0
            for k in range(self.n_outputs):
                for j in range(m):
                    new_penalty += prices[j] * fabs(
                        old[k, j] + rate * (coefficients[k, j] - old[k, j]))
            new_value = self.loss_value() + new_penalty
            if new_value <= value[0] + 1e-4 * rate * change + 1e-15 * fabs(value[0]):
                break
            rate *= 0.5
        else:
            rate = 0
        if rate < 1:
            for k in range(self.n_outputs):
                for i in range(self.n):
                    self.scores[k, i] += (rate - done) * self.direction[k, i]
                for j in range(m):
                    coefficients[k, j] = old[k, j] + rate * (coefficients[k, j] - old[k, j])
        if rate == 0:
            return 1
        value[0], penalty[0] = new_value, new_penalty
        return 0


def choose_active(gradient, prices, coefficients, violation):
    """Choose the coefficients that a step may change: others keep their 0."""
    prices = np.tile(prices, len(gradient) // len(prices))
    used = (coefficients != 0) | (prices == 0)
    excess = np.where(used, 0.0, np.abs(gradient) - prices * (1 - min(0.5, max(0.05, violation))))
    active = np.flatnonzero(used | (excess > 0))
    limit = np.count_nonzero(used) + MAX_ACTIVE
    if len(active) > limit:
        excess[used] = np.inf
        active = np.sort(np.argsort(-excess, kind="stable")[:limit])
    return active


def descend(const double[:, ::1] matrix, double[::1] slopes, const double[::1] prices,
            double[::1] coefficients, double tol, int max_passes):
    """Minimize a quadratic function plus prices times absolute coefficients, in place.

    Coordinate descent. After every fourth pass all coefficients other than 0 move
    together, by conjugate gradients.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Second derivatives; positive semidefinite.
    slopes : ndarray of shape (n,)
        Slopes at the coefficients; kept up to date.
    """
    cdef:
        int64_t a, b, n = slopes.shape[0]
        int n_passes
        double worst, size, step
        double[:, ::1] work = np.empty((5, max(1, n)))
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
            if n_passes % 4 == 3:
                accelerate(matrix, slopes, prices, coefficients, work)


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
    for n_steps in range(50):
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
