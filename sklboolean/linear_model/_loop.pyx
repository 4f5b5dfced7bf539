# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""One loop for all online linear learners.

For each sample: score it under every hypothesis, compare with threshold and margin,
update the weights of its active features, and account for the average lazily, at the
features that change. Weights stand feature by feature, the hypotheses of a feature
side by side, so that one pass over a row serves all classes.

A sample is the 1-based time t. A hypothesis is in force from the sample that made
it; averages weigh each hypothesis by the number of those samples.
"""
from cython cimport view
from libc.math cimport fabs, floor, fmax, fmin, pow, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc

from sklboolean._core._checks cimport (
    require,
    require_below,
    require_csr_samples,
    require_shape,
    sklb_all_below_64,
    sklb_is_indptr,
)
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

sklb_cpu_level = &cpu_level

RULES = {"additive": ADDITIVE, "balanced": BALANCED, "positive": POSITIVE,
         "complement": COMPLEMENT}
SCHEDULES = {"constant": CONSTANT, "inverse_sqrt": INVERSE_SQRT, "adagrad": ADAGRAD,
             "aggressive": AGGRESSIVE}
AVERAGES = {None: LAST, "mean": MEAN, "longest": LONGEST}

cdef double LARGEST = 2.0 ** 600
cdef double LARGEST_STEPS = 2.0 ** 24  # integers up to it are float32


def shuffle(int64_t[::1] rows, uint64_t seed):
    """Put rows into a random order, in place."""
    with nogil:
        sklb_shuffle(&rows[0], rows.shape[0], seed)


def shuffle_blocks(const int64_t[::1] rows, int64_t block, uint64_t seed,
                   int64_t[::1] order):
    """Write rows into ``order``: blocks of neighbours in a random order, and each shuffled."""
    cdef int64_t n = rows.shape[0]
    cdef int64_t *blocks
    require(order.shape[0] == n and block >= 1, "order has another length than rows")
    if n == 0:
        return
    blocks = <int64_t *> malloc((n // block + 1) * sizeof(int64_t))
    if blocks == NULL:
        raise MemoryError
    with nogil:
        sklb_shuffle_blocks(&rows[0], n, block, seed, blocks, &order[0])
    free(blocks)


def score_samples(const double[:, ::1] weights, data, const int64_t[::1] samples,
                  double[:, ::1] scores):
    """Write the product of samples and weights, for each hypothesis.

    ``weights`` have one row for each feature; dense data need whole words of them.
    """
    cdef:
        const uint64_t[:, ::1] words = data.words
        const int64_t[::1] indptr = data.indptr
        const int32_t[::1] indices = data.indices
        const double[::1] values = data.data
        Py_ssize_t k = weights.shape[1], n = samples.shape[0], n_words = words.shape[1]
        Py_ssize_t n_samples = data.n_samples, position, i, w, n_active
        const int32_t *active
        const double *x
        uint64_t word
        int32_t *buffer
        bint packed = words.shape[0] > 0
    require_shape(scores, n, k, "scores")
    require(k > 0 and (n == 0 or sklb_all_below_64(&samples[0], n, n_samples)),
            "there are no such samples")
    if packed:
        require(words.shape[0] == n_samples and 64 * n_words <= weights.shape[0],
                "there are fewer weights than features")
    else:
        require(values.shape[0] == 0 or values.shape[0] == indices.shape[0],
                "data and indices have different lengths")
        require(indptr.shape[0] == n_samples + 1, "indptr has another length than the data")
        require_csr_samples(indptr, indices, samples, weights.shape[0])
    buffer = <int32_t *> malloc((64 * n_words + 1) * sizeof(int32_t))
    if buffer == NULL:
        raise MemoryError
    with nogil:
        for position in range(n):
            i = samples[position]
            if packed and k == 1:
                scores[position, 0] = sklb_sum_bits(&weights[0, 0], &words[i, 0], n_words)
                continue
            x = NULL
            if packed:
                active, n_active = buffer, 0
                for w in range(n_words):
                    word = words[i, w]
                    while word:
                        buffer[n_active] = <int32_t> (64 * w + sklb_lowest_bit(word))
                        n_active += 1
                        word &= word - 1
            else:
                active, n_active = &indices[indptr[i]], indptr[i + 1] - indptr[i]
                if values.shape[0]:
                    x = &values[indptr[i]]
            sklb_score_many(&weights[0, 0], active, x, n_active, k, &scores[position, 0])
    free(buffer)


cdef class OnlineLoop:
    """The state of a run, and the loop over samples.

    The data are ``words``, or CSR: ``indptr``, ``indices`` and ``data``, the latter empty
    where all stored entries are 1. ``sizes`` multiply the updates of each sample; it is
    empty where all are 1.

    Arrays have one row for each feature, rows of padding, then a row for the sum of
    the weights of negations and a last one for the constant feature; one column for
    each hypothesis. Multiplied weights have ``factors``: plus, minus, the sum for the
    average, and its clock. The clock counts the samples before the one at hand.

    ``n_updates`` bounds the updates of one hypothesis until `finish` is called. If they
    are steps of 1 on CSR of ones, the loop works on float32 weights, and adds up what the
    average needs in one pass at the end. 0: every update is done at once.
    """

    cdef public double[:, ::1] weights, squares, average_corrections, longest_weights
    cdef public double[:, :, ::1] factors
    cdef public int64_t[::1] last_update, best_survival
    cdef public int64_t t, n_mistakes, n_updates
    cdef readonly int64_t n_terms  # weights that a sample touches, at most or on average
    cdef double clock
    cdef int rule, schedule, averaging
    cdef bint joint, fit_intercept, flipped
    cdef double rate, margin_positive, margin_negative, threshold
    cdef double mean_change  # what a step of 1 adds to a score, where the margin falls; else 0
    cdef double promotion, demotion
    cdef Py_ssize_t n_features, n_hypotheses, constant, negations
    # The sample at hand
    cdef const int32_t *active
    cdef const double *values
    cdef const uint64_t *bits  # the active features of a packed row,
    cdef int32_t *buffer       # and where they are listed
    cdef Py_ssize_t n_words, n_active
    cdef double *scores
    cdef double *dense  # its values by feature, for COMPLEMENT
    # Deferred updates
    cdef bint deferred
    cdef float[:, ::1] steps
    cdef double[:, ::1] noted

    # The data
    cdef const int32_t[::1] codes, indices
    cdef const double[::1] sizes, data
    cdef const uint64_t[:, ::1] words
    cdef const int64_t[::1] indptr

    def __init__(self, state, codes, sizes, data, int64_t n_updates=0):
        config = state.config
        self.weights, self.factors, self.squares = state.weights, state.factors, state.squares
        self.average_corrections = state.average_corrections
        self.longest_weights = state.longest_weights
        self.last_update, self.best_survival = state.last_update, state.best_survival
        self.t = state.t
        self.rule, self.schedule = RULES[config.rule], SCHEDULES[config.schedule]
        self.averaging = AVERAGES[config.average]
        self.joint, self.flipped = config.joint, config.flipped
        self.fit_intercept = config.fit_intercept
        self.rate = config.rate
        self.margin_positive, self.margin_negative = state.margins()
        self.mean_change = (state.mean_change or 1.0) if state.margin_falls else 0.0
        self.threshold = config.threshold
        self.promotion, self.demotion = config.promotion, config.demotion
        self.n_features = config.n_features
        self.n_hypotheses = self.weights.shape[1]
        self.constant = self.weights.shape[0] - 1
        self.negations = self.weights.shape[0] - 2
        self.codes, self.sizes = codes, sizes
        self.words, self.indptr = data.words, data.indptr
        self.indices, self.data = data.indices, data.data
        self.check(data)
        self.n_terms = self.weights.shape[0]
        if self.rule != COMPLEMENT and self.averaging != LONGEST:
            self.n_terms = (self.indices.shape[0] // max(1, self.codes.shape[0])
                            + 64 * self.words.shape[1] + 1)
        self.n_terms *= self.n_hypotheses
        if n_updates:
            self.defer(n_updates)

    cdef int check(self, data) except -1:
        """Check that arrays fit each other, so that the loop stays inside them."""
        cdef:
            Py_ssize_t height = self.weights.shape[0], k = self.n_hypotheses
            Py_ssize_t n_samples = self.codes.shape[0]
            bint multiplies = self.rule != ADDITIVE
        require(k >= 1 and self.n_features >= 1 and height >= self.n_features + 2,
                "there are fewer weights than features")
        require(not multiplies or (
                    self.factors.shape[0] == height and self.factors.shape[1] == k
                    and self.factors.shape[2] == SKLB_PARTS),
                "factors has another shape than the weights")
        if self.schedule == ADAGRAD:
            require_shape(self.squares, height, k, "squares")
        if self.averaging == MEAN and not multiplies:
            require_shape(self.average_corrections, height, k, "average_corrections")
        if self.averaging == LONGEST:
            require_shape(self.longest_weights, height, k, "longest_weights")
        require(self.last_update.shape[0] == k and self.best_survival.shape[0] == k,
                "the times of hypotheses have another length")
        require(not (self.joint and k == 1), "there is not one hypothesis for each class")
        require_below(self.codes, max(k, <Py_ssize_t> 2), "codes")
        require(self.sizes.shape[0] == 0 or self.sizes.shape[0] == n_samples,
                "there is not one size of updates for each sample")
        if self.words.shape[0]:
            return require(self.words.shape[0] == n_samples
                           and 64 * self.words.shape[1] + 2 <= height,
                           "there are fewer weights than features")
        require(self.data.shape[0] == 0 or self.data.shape[0] == self.indices.shape[0],
                "data and indices have different lengths")
        # pack_samples checked the indices, which are many.
        return require(data.n_features == self.n_features
                       and self.indptr.shape[0] == n_samples + 1
                       and sklb_is_indptr(&self.indptr[0], n_samples, self.indices.shape[0]),
                       "the data are those of another model")

    cdef int defer(self, int64_t n_updates) except -1:
        """Defer updates of a new state that are steps of 1 and exact in float32."""
        cdef Py_ssize_t n = self.n_hypotheses
        if not (self.rule == ADDITIVE and self.schedule == CONSTANT and self.rate == 1
                and self.averaging != LONGEST and not self.joint
                and self.words.shape[0] == self.data.shape[0] == self.sizes.shape[0] == 0
                and self.indices.shape[0] and self.t == 0 and n_updates < LARGEST_STEPS):
            return 0
        self.steps = view.array((self.n_features, n), itemsize=4, format="f")
        self.steps[:] = 0
        if self.averaging == MEAN:
            self.noted = view.array((self.codes.shape[0], n), itemsize=8, format="d")
            self.noted[:] = 0
        self.deferred = True
        return 0

    def finish(self):
        """Bring the state up to date after deferred updates."""
        cdef Py_ssize_t j, k
        if not self.deferred:
            return
        for j in range(self.n_features):
            for k in range(self.n_hypotheses):
                self.weights[j, k] = self.steps[j, k]
        if self.averaging == MEAN:
            with nogil:
                sklb_add_noted(&self.noted[0, 0], self.codes.shape[0], &self.indptr[0],
                               &self.indices[0], self.n_hypotheses,
                               &self.average_corrections[0, 0])
        self.deferred = False

    cdef int run_steps(self, const int64_t[::1] order) except -1:
        cdef:
            Py_ssize_t n = order.shape[0], k = self.n_hypotheses, size = max(k, <Py_ssize_t> 2)
            sklb_steps steps
            Py_ssize_t i
            double *unused = <double *> malloc(2 * size * sizeof(double))
        if unused == NULL:
            raise MemoryError
        steps.indptr, steps.indices = &self.indptr[0], &self.indices[0]
        steps.codes, steps.weights = &self.codes[0], &self.steps[0, 0]
        steps.noted = NULL
        steps.bias = &self.weights[self.constant, 0]
        steps.scores, steps.bias_lags = unused, unused + size
        for i in range(2 * size):
            unused[i] = 0
        if self.averaging == MEAN:
            steps.noted = &self.noted[0, 0]
            steps.bias_lags = &self.average_corrections[self.constant, 0]
        steps.n_hypotheses, steps.n_mistakes, steps.n_updates = k, 0, 0
        steps.margin_positive, steps.margin_negative = self.margin_positive, self.margin_negative
        steps.clock, steps.fit_intercept = <double> self.t, self.fit_intercept
        with nogil:
            sklb_run_steps(&steps, &order[0], n)
        self.t += n
        self.n_mistakes += steps.n_mistakes
        self.n_updates += steps.n_updates
        free(unused)
        return 0

    def run(self, const int64_t[::1] order):
        """Train on the samples named in ``order``, one after the other."""
        cdef:
            const int32_t[::1] codes = self.codes, indices = self.indices
            const double[::1] sizes = self.sizes, data = self.data
            const uint64_t[:, ::1] words = self.words
            const int64_t[::1] indptr = self.indptr
            Py_ssize_t height = self.weights.shape[0]
            bint packed = words.shape[0] > 0
            bint ones = data.shape[0] == 0
            bint one = self.n_hypotheses == 1, sized = sizes.shape[0] > 0
            Py_ssize_t position, i, ahead, n = order.shape[0]
            int32_t *buffer
            double *dense
            double *scores
        require(sklb_all_below_64(&order[0], n, codes.shape[0]),
                "the order names samples that do not exist")
        if self.deferred:
            if n:
                self.run_steps(order)
            return
        buffer = <int32_t *> malloc(height * sizeof(int32_t))
        dense = <double *> malloc(height * sizeof(double))
        scores = <double *> malloc(self.n_hypotheses * sizeof(double))
        if buffer == NULL or scores == NULL or dense == NULL:
            free(buffer)
            free(scores)
            free(dense)
            raise MemoryError
        self.scores, self.dense, self.buffer = scores, dense, buffer
        with nogil:
            for position in range(n):
                i = order[position]
                self.clock = <double> self.t
                self.t += 1
                if self.mean_change > 0:
                    self.margin_positive = self.step_size() * self.mean_change
                    self.margin_negative = self.margin_positive
                if position + 16 < n:
                    SKLB_PREFETCH(&codes[order[position + 16]])
                if packed:
                    if position + 8 < n:
                        SKLB_PREFETCH(&words[order[position + 8], 0])
                    self.bits, self.n_words = &words[i, 0], words.shape[1]
                    self.values = NULL
                    self.n_active = -1  # listed when they are asked for
                else:
                    if position + 16 < n:
                        SKLB_PREFETCH(&indptr[order[position + 16]])
                    if position + 8 < n:
                        ahead = order[position + 8]
                        sklb_prefetch_row(&indices[indptr[ahead]],
                                          indptr[ahead + 1] - indptr[ahead])
                    self.n_active = indptr[i + 1] - indptr[i]
                    self.active = &indices[indptr[i]]
                    self.values = NULL if ones else &data[indptr[i]]
                self.score()
                if not (one and self.is_fine(codes[i])):
                    self.learn(codes[i], sizes[i] if sized else 1.0)
        free(buffer)
        free(scores)
        free(dense)

    cdef double step_size(self) noexcept nogil:
        return self.rate / sqrt(<double> self.t) if self.schedule == INVERSE_SQRT else self.rate

    cdef void list_active(self) noexcept nogil:
        cdef Py_ssize_t w
        cdef uint64_t word
        if self.n_active >= 0:
            return
        self.n_active, self.active = 0, self.buffer
        for w in range(self.n_words):
            word = self.bits[w]
            while word:
                self.buffer[self.n_active] = <int32_t> (64 * w + sklb_lowest_bit(word))
                self.n_active += 1
                word &= word - 1

    cdef void score(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef const double *weights = &self.weights[0, 0]
        if self.n_hypotheses > 1:
            self.list_active()
            sklb_score_many(weights, self.active, self.values, self.n_active,
                            self.n_hypotheses, self.scores)
        elif self.n_active < 0:
            self.scores[0] = sklb_sum_bits(weights, self.bits, self.n_words)
        elif self.values == NULL:
            self.scores[0] = sklb_sum_active(weights, self.active, self.n_active)
        else:
            self.scores[0] = sklb_dot_active(weights, self.active, self.values, self.n_active)
        for k in range(self.n_hypotheses):
            self.scores[k] = (self.scores[k] + self.weights[self.negations, k]
                              + self.weights[self.constant, k] - self.threshold)

    cdef bint is_fine(self, int32_t code) noexcept nogil:
        # One hypothesis: whether nothing is to be done about this sample.
        cdef double f = self.scores[0]
        if code != self.flipped:
            return f >= 0 and f >= self.margin_positive
        return f < 0 and -f >= self.margin_negative

    cdef void learn(self, int32_t code, double weight) noexcept nogil:
        cdef Py_ssize_t k, rival
        cdef double f
        cdef bint wrong
        if self.joint:
            rival = 1 if code == 0 else 0
            for k in range(self.n_hypotheses):
                if k != code and self.scores[k] > self.scores[rival]:
                    rival = k
            f = self.scores[code] - self.scores[rival]
            wrong = f < 0 or (f == 0 and rival < code)
            if wrong or f < self.margin_positive:
                self.count(wrong, 0)
                # An aggressive update shares the way to the margin between the two.
                f = (self.margin_positive + f) / 2
                self.update(code, 1, f, weight)
                self.update(rival, -1, -f, weight)
            return
        for k in range(self.n_hypotheses):
            f = self.scores[k]
            if (code == (1 if self.n_hypotheses == 1 else k)) != self.flipped:
                wrong = f < 0
                if wrong or f < self.margin_positive:
                    self.count(wrong, k)
                    self.update(k, 1, f, weight)
            else:
                # A score of 0 predicts a positive.
                wrong = f >= 0
                if wrong or -f < self.margin_negative:
                    self.count(wrong, k)
                    self.update(k, -1, f, weight)

    cdef void count(self, bint wrong, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t j, column
        self.n_mistakes += wrong
        self.n_updates += 1
        if self.averaging == LONGEST:
            if self.t - self.last_update[k] > self.best_survival[k]:
                self.best_survival[k] = self.t - self.last_update[k]
                for column in range(self.n_hypotheses):
                    if self.joint or column == k:
                        for j in range(self.weights.shape[0]):
                            self.longest_weights[j, column] = self.weights[j, column]
            self.last_update[k] = self.t

    cdef void update(self, Py_ssize_t k, int sign, double f, double weight) noexcept nogil:
        if self.rule == ADDITIVE:
            self.add(k, sign, f, weight)
        elif self.rule == COMPLEMENT:
            self.multiply_all(k, sign, weight)
        else:
            self.multiply(k, sign, weight)

    cdef void add(self, Py_ssize_t k, int sign, double f, double weight) noexcept nogil:
        # The mean is (clock * weights - average_corrections) / t: a step at a clock of
        # c is missing from the sum of the c samples before.
        cdef:
            Py_ssize_t a, j
            double x, step = sign * self.step_size() * weight
            double *corrections = (
                &self.average_corrections[0, k] if self.averaging == MEAN else NULL)
        if self.schedule == AGGRESSIVE:
            step = self.aggressive_step(sign, f) * weight
        if self.schedule != ADAGRAD and self.values == NULL:
            if self.n_active < 0:
                sklb_add_bits(&self.weights[0, k], corrections, self.bits, self.n_words, step,
                              self.clock * step)
            else:
                sklb_add_active(&self.weights[0, k], corrections, self.active, self.n_active,
                                self.n_hypotheses, step, self.clock * step)
        else:
            self.list_active()
            for a in range(self.n_active):
                x = 1.0 if self.values == NULL else self.values[a]
                if x != 0:
                    self.add_one(self.active[a], k, step * x, weight * x)
        if self.fit_intercept:
            self.add_one(self.constant, k, step, weight)

    cdef void add_one(self, Py_ssize_t j, Py_ssize_t k, double step, double size) noexcept nogil:
        if self.schedule == ADAGRAD:
            self.squares[j, k] += size * size
            step /= sqrt(self.squares[j, k])
        self.weights[j, k] += step
        if self.averaging == MEAN:
            self.average_corrections[j, k] += self.clock * step

    cdef double aggressive_step(self, int sign, double f) noexcept nogil:
        # Just far enough that the score lands on the margin.
        cdef Py_ssize_t a
        cdef double margin, norm = self.fit_intercept
        self.list_active()
        for a in range(self.n_active):
            norm += 1.0 if self.values == NULL else self.values[a] * self.values[a]
        margin = self.margin_positive if sign > 0 or self.joint else self.margin_negative
        return (sign * margin - f) / norm if norm > 0 else 0.0

    cdef double factor(self, int sign, double power) noexcept nogil:
        cdef double base = self.promotion if sign > 0 else self.demotion
        if power == 1:
            return base
        # Infinity times a weight of 0 would be no number.
        return 1.0 if power == 0 else fmin(pow(base, power), LARGEST)

    cdef void multiply(self, Py_ssize_t k, int sign, double weight) noexcept nogil:
        cdef:
            Py_ssize_t a, j
            double power
            bint balanced = self.rule == BALANCED, averaged = self.averaging == MEAN
        self.list_active()
        if self.values == NULL:
            sklb_multiply_active(&self.weights[0, k], &self.factors[0, k, 0], balanced, averaged,
                                 self.active, self.n_active, self.n_hypotheses,
                                 self.factor(sign, weight), self.factor(-sign, weight),
                                 self.clock)
        else:
            for a in range(self.n_active):
                j, power = self.active[a], weight * self.values[a]
                sklb_multiply_one(&self.weights[j, k], &self.factors[j, k, 0], balanced,
                                  averaged, self.factor(sign, power),
                                  self.factor(-sign, power), self.clock)
        if self.fit_intercept:
            j = self.constant
            sklb_multiply_one(&self.weights[j, k], &self.factors[j, k, 0], balanced, averaged,
                              self.factor(sign, weight), self.factor(-sign, weight),
                              self.clock)

    cdef void multiply_all(self, Py_ssize_t k, int sign, double weight) noexcept nogil:
        # Where a feature is not active its negation is: each feature has something to
        # multiply, and the sum of the negations is formed anew.
        cdef Py_ssize_t a, j
        cdef double total = 0
        cdef bint averaged = self.averaging == MEAN
        self.list_active()
        for j in range(self.n_features):
            self.dense[j] = 0
        for a in range(self.n_active):
            self.dense[self.active[a]] = 1.0 if self.values == NULL else self.values[a]
        for j in range(self.n_features):
            sklb_multiply_one(&self.weights[j, k], &self.factors[j, k, 0], True, averaged,
                              self.factor(sign, weight * self.dense[j]),
                              self.factor(sign, weight * (1 - self.dense[j])), self.clock)
            total += self.factors[j, k, SKLB_MINUS]
        j = self.negations
        if averaged:
            self.factors[j, k, SKLB_SUM] += self.weights[j, k] * (
                self.clock - self.factors[j, k, SKLB_SINCE])
            self.factors[j, k, SKLB_SINCE] = self.clock
        self.weights[j, k] = total
