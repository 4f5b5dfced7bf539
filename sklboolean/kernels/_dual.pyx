# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The perceptron's decisions, one sample after the other, on scores kept ready.

``scores[k, j]`` is the score of sample j under hypothesis k: one row for two classes,
one for each class otherwise. When scores may be rounded, as many rows again hold the
sums of absolute terms; a decision within ``slack`` of them is left to the caller, and
so is one within ``margin_slack`` of a margin, relative to it.
"""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc

from sklboolean._core._checks cimport require, require_below, sklb_all_below, sklb_all_below_64

cdef extern from "conjunction_weights.h" nogil:
    ctypedef struct sklb_weighted:
        int64_t n_words, n_features
        const int64_t *choose[4]
        int64_t starts[4]
        int longest, counts_same
        double factors[4]
    int SKLB_FIRST_WEIGHT
    int64_t sklb_list_ones(const sklb_weighted *plan, const uint64_t *row, int64_t *ones)
    double sklb_weighted_score(const sklb_weighted *plan, const double *weights,
                               const int64_t *ones, int64_t n)
    void sklb_weighted_add(const sklb_weighted *plan, double *weights, const int64_t *ones,
                           int64_t n, double coefficient)

FIRST_WEIGHT = SKLB_FIRST_WEIGHT

cdef enum Decision:
    PASS = 0
    UPDATE = 1      # right, but within the margin
    MISTAKE = 2
    UNDECIDED = 3   # rounding might hide the sign


cdef inline double bound(const double[:, ::1] scores, Py_ssize_t k, Py_ssize_t j,
                         Py_ssize_t n_scores, double slack) noexcept nogil:
    # Terms that underflow are below 2**-1022 each; 2**-950 covers any number of them.
    return slack * scores[n_scores + k, j] + 2.0 ** -950 if slack > 0 else 0.0


cdef class WeightedRows:
    """Samples whose sums of kernel rows are sums of weights over their conjunctions.

    Parameters
    ----------
    weights : ndarray of shape (n_scores, n_weights), float64
        Read and written: ``FIRST_WEIGHT`` sums, then the weights by length.
    choose : ndarray of shape (4, n_features + 1), int64
        Binomial coefficients: ``choose[k, u]`` is C(u, k).
    factors : sequence of 4 float
        What the kernel multiplies the conjunctions of each length by.
    counts_same : bool
        Whether the kernel is one of equal features; then of one literal at most.
    words : ndarray of shape (n_samples, n_words), uint64
    """
    cdef:
        sklb_weighted plan
        double[:, ::1] weights
        const int64_t[:, ::1] choose
        const uint64_t[:, ::1] words
        int64_t *ones
        int64_t n_ones

    def __init__(self, double[:, ::1] weights, const int64_t[:, ::1] choose, factors,
                 bint counts_same, const uint64_t[:, ::1] words):
        cdef int64_t n = choose.shape[1] - 1, end = SKLB_FIRST_WEIGHT
        cdef int k
        require(n >= 1 and choose.shape[0] == 4, "the numbers of conjunctions do not fit")
        self.plan.n_words, self.plan.n_features = words.shape[1], n
        self.plan.counts_same = counts_same
        for k in range(4):
            self.plan.choose[k], self.plan.factors[k] = &choose[k, 0], factors[k]
            if factors[k]:
                self.plan.longest = k
        for k in range(1, 4):
            self.plan.starts[k] = end
            end += choose[k, n] if k <= max(self.plan.longest, 1) else 0
        require(weights.shape[1] == end, "the weights do not fit the conjunctions")
        self.ones = <int64_t *> malloc(n * sizeof(int64_t))
        if self.ones == NULL:
            raise MemoryError
        self.weights, self.choose, self.words = weights, choose, words

    def __dealloc__(self):
        free(self.ones)

    cdef void read(self, Py_ssize_t j) noexcept nogil:
        """Make sample j the one that `score` and `change` are about."""
        self.n_ones = sklb_list_ones(&self.plan, &self.words[j, 0], self.ones)

    cdef double score(self, Py_ssize_t k) noexcept nogil:
        return sklb_weighted_score(&self.plan, &self.weights[k, 0], self.ones, self.n_ones)

    cdef void change(self, Py_ssize_t k, double coefficient) noexcept nogil:
        sklb_weighted_add(&self.plan, &self.weights[k, 0], self.ones, self.n_ones,
                          coefficient)

    def add(self, const double[:, ::1] coefficients):
        """Add the samples with coefficients, of shape (n_scores, n_samples)."""
        cdef Py_ssize_t j, k
        require(coefficients.shape[0] == self.weights.shape[0]
                and coefficients.shape[1] == self.words.shape[0], "the coefficients do not fit")
        with nogil:
            for j in range(self.words.shape[0]):
                self.read(j)
                for k in range(coefficients.shape[0]):
                    self.change(k, coefficients[k, j])

    def scores(self, double[:, ::1] scores):
        """Write the sums for each sample, of shape (n_samples, n_scores)."""
        cdef Py_ssize_t j, k
        require(scores.shape[1] == self.weights.shape[0]
                and scores.shape[0] == self.words.shape[0], "the scores do not fit")
        with nogil:
            for j in range(self.words.shape[0]):
                self.read(j)
                for k in range(scores.shape[1]):
                    scores[j, k] = self.score(k)

    def descend(self, int64_t[::1] order, const double[::1] y, const double[::1] box,
                const double[::1] scale, const double[::1] curve, double[::1] alpha,
                double intercept, double rate, double limit):
        """Move the dual variable of one sample after the other to its minimum.

        Parameters
        ----------
        order : numbers of samples; then its beginning holds those that are kept
        y, box, alpha : signs, upper bounds and dual variables of all samples
        scale : factors of the sums of each sample
        curve : second derivative of each sample's dual
        intercept : what is added to all scores; a change c of alpha_i y_i adds rate * c
        limit : samples at a bound whose derivative keeps them there by more are left out

        Returns
        -------
        n_kept : int
        most : float
            The largest derivative of a sample that could move.
        intercept : float
        """
        cdef:
            Py_ssize_t p, j, n_kept = 0, n = self.words.shape[0]
            double slope, moved, change, most = 0
        require(self.weights.shape[0] == 1 and y.shape[0] == n and box.shape[0] == n
                and scale.shape[0] == n and curve.shape[0] == n and alpha.shape[0] == n
                and order.shape[0] > 0 and sklb_all_below_64(&order[0], order.shape[0], n),
                "the samples do not fit each other")
        with nogil:
            for p in range(order.shape[0]):
                j = order[p]
                self.read(j)
                slope = y[j] * (scale[j] * self.score(0) + intercept) - 1
                if (alpha[j] <= 0 and slope > 0) or (alpha[j] >= box[j] and slope < 0):
                    if fabs(slope) <= limit:
                        order[n_kept] = j
                        n_kept += 1
                    continue
                order[n_kept] = j
                n_kept += 1
                most = max(most, fabs(slope))
                moved = min(max(alpha[j] - slope / (curve[j] + rate), 0.0), box[j])
                change = (moved - alpha[j]) * y[j]
                if change != 0:
                    alpha[j] = moved
                    self.change(0, scale[j] * change)
                    intercept += rate * change
        return n_kept, most, intercept


cdef class ScoredSamples:
    """Samples of a training call with their scores, and what decides about each one."""
    cdef:
        double[:, ::1] scores
        const int32_t[::1] codes
        const double[::1] margins
        Py_ssize_t n_scores
        double slack, margin_slack

    def __init__(self, rule, double[:, ::1] scores, const int32_t[::1] codes,
                 const double[::1] margins, double slack, double margin_slack):
        """``rule`` is an `UpdateRule`; the slacks are bounds on relative rounding errors."""
        self.n_scores = rule.n_scores
        self.scores, self.codes, self.margins = scores, codes, margins
        self.slack, self.margin_slack = slack, margin_slack
        require(self.n_scores >= 1 and margins.shape[0] >= codes.shape[0]
                and scores.shape[0] >= self.n_scores * (2 if slack > 0 else 1)
                and scores.shape[1] >= codes.shape[0], "the scores do not fit the samples")
        if codes.shape[0] > 0:
            require_below(codes, max(self.n_scores, <Py_ssize_t> 2), "codes")

    cdef inline double bound(self, Py_ssize_t k, Py_ssize_t j) noexcept nogil:
        return bound(self.scores, k, j, self.n_scores, self.slack)

    cdef Decision decide(self, Py_ssize_t j, Py_ssize_t *rival) noexcept nogil:
        cdef:
            const double[:, ::1] scores = self.scores
            Py_ssize_t k, n_scores = self.n_scores
            int32_t code = self.codes[j]
            double margin = self.margins[j], margin_slack = self.margin_slack * margin
            double f, best, error, other
            bint wrong
        if n_scores == 1:
            f = scores[0, j] if code else -scores[0, j]
            error = self.bound(0, j)
            if self.slack > 0 and fabs(f) <= error:
                return UNDECIDED
            if error + margin_slack > 0 and fabs(f - margin) <= error + margin_slack:
                return UNDECIDED
            # A score of 0 predicts the second class.
            wrong = f < 0 or (f == 0 and not code)
            if wrong:
                return MISTAKE
            return UPDATE if f < margin else PASS
        rival[0] = 1 if code == 0 else 0
        for k in range(n_scores):
            if k != code and scores[k, j] > scores[rival[0], j]:
                rival[0] = k
        best = scores[rival[0], j]
        f = scores[code, j] - best
        if self.slack > 0:
            error = self.bound(code, j)
            for k in range(n_scores):
                if k == code:
                    continue
                other = self.bound(k, j)
                # Another class might be the rival, or its distance might have another sign.
                if k != rival[0] and f < margin and best - scores[k, j] <= (
                        other + self.bound(rival[0], j)):
                    return UNDECIDED
                if (fabs(scores[code, j] - scores[k, j]) <= error + other or
                        fabs(scores[code, j] - scores[k, j] - margin)
                        <= error + other + margin_slack):
                    return UNDECIDED
        elif margin_slack > 0 and fabs(f - margin) <= margin_slack:
            return UNDECIDED
        # Ties go to the class that comes first, as argmax has it.
        if f < 0 or (f == 0 and rival[0] < code):
            return MISTAKE
        return UPDATE if f < margin else PASS

    def next_update(self, Py_ssize_t start):
        """Return (position, decision, rival) of the first sample that is not passed."""
        cdef Py_ssize_t j, rival = 0
        cdef Decision decision = PASS
        require(start >= 0, "the samples begin at 0")
        with nogil:
            for j in range(start, self.codes.shape[0]):
                decision = self.decide(j, &rival)
                if decision != PASS:
                    break
            else:
                j = self.codes.shape[0]
        return j, <int> decision, rival

    def run(self, kernel, const int64_t[::1] sizes,
            int64_t[:, ::1] deltas, Py_ssize_t start, int forced, Py_ssize_t forced_rival):
        """Run the perceptron over the samples from ``start`` on.

        ``kernel`` is their kernel matrix, or the samples as `WeightedRows`, whose scores
        are written when it is their turn. ``forced`` is the decision for the sample
        ``start`` when the caller took it (else -1). An update of hypothesis k on sample
        j adds to ``deltas[k, j]`` and to the scores. Returns (position, number of
        mistakes, number of updates); the position is before the end when that sample is
        undecided.
        """
        cdef:
            Py_ssize_t j, rival = 0, mistakes = 0, updates = 0
            Py_ssize_t stop = self.codes.shape[0]
            Py_ssize_t k
            int decision
            WeightedRows rows = kernel if isinstance(kernel, WeightedRows) else None
            bint is_matrix = rows is None
            const double[:, ::1] K = kernel if is_matrix else None
        if is_matrix:
            require(K.shape[0] >= stop and K.shape[1] <= self.scores.shape[1],
                    "the kernel matrix does not fit the samples")
        else:
            require(rows.words.shape[0] >= stop
                    and rows.weights.shape[0] == self.n_scores and self.slack == 0,
                    "the weights do not fit the samples")
        require(start >= 0 and sizes.shape[0] >= stop and deltas.shape[0] >= self.n_scores
                and deltas.shape[1] >= stop
                and 0 <= forced_rival < max(self.n_scores, <Py_ssize_t> 2),
                "the changes do not fit the samples")
        with nogil:
            for j in range(start, stop):
                if not is_matrix:
                    rows.read(j)
                    for k in range(self.n_scores):
                        self.scores[k, j] = rows.score(k)
                if j == start and forced >= 0:
                    decision, rival = forced, forced_rival
                else:
                    decision = self.decide(j, &rival)
                if decision == PASS:
                    continue
                if decision == UNDECIDED:
                    break
                mistakes += decision == MISTAKE
                updates += 1
                k = self.codes[j]
                if self.n_scores == 1:
                    self.update(rows, K, 0, j, sizes[j] if k else -sizes[j], deltas)
                else:
                    self.update(rows, K, k, j, sizes[j], deltas)
                    self.update(rows, K, rival, j, -sizes[j], deltas)
            else:
                j = stop
        return j, mistakes, updates

    cdef void update(self, WeightedRows rows, const double[:, ::1] K, Py_ssize_t k,
                     Py_ssize_t row, int64_t delta, int64_t[:, ::1] deltas) noexcept nogil:
        cdef:
            Py_ssize_t j
            double coefficient = <double> delta
            double[:, ::1] scores = self.scores
        deltas[k, row] += delta
        if rows is not None:
            rows.change(k, coefficient)
            return
        for j in range(K.shape[1]):
            scores[k, j] += coefficient * K[row, j]
        if self.slack > 0:
            coefficient = fabs(coefficient)
            for j in range(K.shape[1]):
                scores[self.n_scores + k, j] += coefficient * fabs(K[row, j])


cdef class Hypotheses:
    """The hypotheses of a run, which vote by the number of samples they survived.

    ``survivals[0]`` belongs to the zero hypothesis, ``survivals[u + 1]`` to the one
    after update u, which added ``deltas[u] * K[:, rows[u]]`` to score
    ``numbers[u]``. ``slack`` is 0 where sums are exact. ``state`` has two rows for each
    score, and one column.
    """
    cdef:
        const int64_t[::1] rows, survivals
        const int32_t[::1] numbers
        const double[::1] deltas
        Py_ssize_t n_scores
        double slack
        double[:, ::1] state

    def __init__(self, rows, numbers, deltas, survivals, slack, state):
        self.rows, self.survivals = rows, survivals
        self.numbers, self.deltas = numbers, deltas
        self.slack, self.state = slack, state
        self.n_scores = self.state.shape[0] // 2
        cdef Py_ssize_t n_updates = self.rows.shape[0]
        require(self.survivals.shape[0] == n_updates + 1
                and self.numbers.shape[0] == n_updates
                and self.deltas.shape[0] == n_updates, "the votes do not fit the updates")
        require(sklb_all_below(&self.numbers[0], n_updates, self.n_scores),
                "an update names a class that does not exist")

    def vote(self, const double[:, ::1] K, int64_t[:, ::1] votes,
             unsigned char[::1] undecided):
        """Count their votes for each row of a kernel matrix.

        With one score a vote is +1 or -1 in ``votes[i, 0]``, otherwise it goes to the
        class of the largest score.
        """
        cdef:
            Py_ssize_t i, u, k, best, n_updates = self.rows.shape[0]
            Py_ssize_t n_scores = self.n_scores
            double f, error, slack = self.slack
            double[:, ::1] state = self.state
            const int64_t[::1] survivals = self.survivals, rows = self.rows
            const double[::1] deltas = self.deltas
        require(votes.shape[0] == K.shape[0] and votes.shape[1] >= n_scores
                and undecided.shape[0] == K.shape[0], "the votes do not fit the samples")
        require(sklb_all_below_64(&rows[0], n_updates, K.shape[1]),
                "an update names a support sample that does not exist")
        with nogil:
            for i in range(K.shape[0]):
                state[:] = 0
                for u in range(n_updates + 1):
                    if u > 0:
                        k = self.numbers[u - 1]
                        state[k, 0] += deltas[u - 1] * K[i, rows[u - 1]]
                        if slack > 0:
                            state[n_scores + k, 0] += fabs(deltas[u - 1] * K[i, rows[u - 1]])
                    if survivals[u] == 0:
                        continue
                    if n_scores == 1:
                        f = state[0, 0]
                        if slack > 0 and u > 0 and fabs(f) <= bound(state, 0, 0, 1, slack):
                            undecided[i] = 1
                            break
                        votes[i, 0] += survivals[u] if f >= 0 else -survivals[u]
                        continue
                    best = 0
                    for k in range(1, n_scores):
                        if state[k, 0] > state[best, 0]:
                            best = k
                    if slack > 0 and u > 0:
                        error = bound(state, best, 0, n_scores, slack)
                        for k in range(n_scores):
                            if k != best and state[best, 0] - state[k, 0] <= error + bound(
                                    state, k, 0, n_scores, slack):
                                undecided[i] = 1
                        if undecided[i]:
                            break
                    votes[i, best] += survivals[u]
