# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""A game of averaged perceptrons: one sample after the other passes through all.

A learner has the coefficient ``own[j] + common`` for feature j, read as -1 or 1. If m
features are true, its score is ``2 * (sum of own over these) - (sum of all own) + (2 m -
n) * common``; a step changes these m and ``common``. So only the true features are read,
or only the false ones where they are fewer. Lines 0 to n - 1 of ``coef`` have the own
parts of all learners, line n ``common`` and line n + 1 the sum of all own parts.

``n_shown[i]`` is the weight of all samples that learner i has seen. The average of all
its hypotheses is ``coef[i] - late[i] / n_shown[i]``: a change made when the samples
before it weighed n has been in force for ``n_shown - n``. Sums run over the features in
order, so that a vote depends on its sample only. Callers allocate and validate.
"""
from libc.math cimport exp, floor, fmin, log1p
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport free, malloc

from sklboolean._core._checks cimport require
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "learner_lanes.h" nogil:
    void sklb_sum_lines(const int64_t *features, int64_t n, int64_t k, const double *lines,
                        double *sums)
    void sklb_step_lines(const int64_t *features, int64_t n, int64_t k,
                         const double *steps, double *lines)

sklb_cpu_level = &cpu_level

# Learners whose weights of all states are tabulated: they take 2 MiB.
cdef enum:
    MOST_TABULATED = 512


cdef int check(const int8_t[:, ::1] rows, const double[:, :, ::1] lines,
               const double[::1] n_shown, const int64_t[::1] votes) except -1:
    return require(lines.shape[0] == 2 and lines.shape[1] == rows.shape[1] + 2
                   and n_shown.shape[0] == lines.shape[2]
                   and votes.shape[0] >= rows.shape[0],
                   "the coefficients do not fit the data")


cdef inline int averaged_vote(double score, double delayed, double n_shown) noexcept nogil:
    """Return the sign of the average's score."""
    cdef double average = n_shown * score - delayed
    return (average > 0) - (average < 0)


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


cdef class StateWeights:
    """The weight of each state for each of k learners: computed once, or when asked for."""
    cdef:
        Py_ssize_t k
        double gamma, log_right, log_wrong
        const double *log_factorials
        double *table

    def __cinit__(self, Py_ssize_t k, double gamma, const double[::1] log_factorials):
        cdef Py_ssize_t i, right
        require(0 < k <= log_factorials.shape[0], "there is not one weight for each state")
        self.k, self.gamma, self.log_factorials = k, gamma, &log_factorials[0]
        self.log_right, self.log_wrong = log1p(2 * gamma), log1p(-2 * gamma)
        self.table = NULL
        if k > MOST_TABULATED:
            return
        self.table = <double *> malloc(k * k * sizeof(double))
        if self.table == NULL:
            raise MemoryError
        for i in range(k):
            for right in range(i + 1):
                self.table[k * i + right] = self.computed(i, right)

    def __dealloc__(self):
        free(self.table)

    cdef double computed(self, Py_ssize_t i, Py_ssize_t right) noexcept nogil:
        return relative_weight(self.k, i, self.gamma, right, self.log_right,
                               self.log_wrong, self.log_factorials)

    cdef double of(self, Py_ssize_t i, Py_ssize_t right) noexcept nogil:
        """The weight for learner i of a sample on which so many before it are right."""
        if self.table == NULL:
            return self.computed(i, right)
        return self.table[self.k * i + right]


cdef class Scratch:
    """A sample's features, and numbers for each of k learners."""
    cdef:
        Py_ssize_t n, k, n_listed
        int sign
        int64_t *features
        double *numbers
        double *score
        double *delayed
        double *step
        double *late_step

    def __cinit__(self, Py_ssize_t n, Py_ssize_t k):
        self.n, self.k = n, k
        self.features = <int64_t *> malloc((n + 1) * sizeof(int64_t))
        self.numbers = <double *> malloc((4 * k + 1) * sizeof(double))
        if self.features == NULL or self.numbers == NULL:
            raise MemoryError
        self.score, self.delayed = self.numbers, self.numbers + k
        self.step, self.late_step = self.numbers + 2 * k, self.numbers + 3 * k

    def __dealloc__(self):
        free(self.features)
        free(self.numbers)

    cdef void read(self, const int8_t *row) noexcept nogil:
        """List the features of one sign, those that are fewer."""
        cdef:
            Py_ssize_t j, n = self.n, n_listed = 0
            int64_t *features = self.features
            int32_t n_true = 0
            bint value
        for j in range(n):
            n_true += row[j] > 0
        value = 2 * n_true <= n
        for j in range(n):
            features[n_listed] = j
            n_listed += (row[j] > 0) == value
        self.sign, self.n_listed = 2 * value - 1, n_listed

    cdef void add_up(self, const double *lines, double *scores) noexcept nogil:
        """Compute the score of each learner."""
        cdef:
            Py_ssize_t i, n = self.n, k = self.k
            double sign = self.sign, balance = 2 * self.n_listed - n
            const double *common = lines + k * n
            const double *total = common + k
        sklb_sum_lines(self.features, self.n_listed, k, lines, scores)
        for i in range(k):
            scores[i] = sign * (2 * scores[i] - total[i] + balance * common[i])

    cdef void take_steps(self, double *lines, double *steps) noexcept nogil:
        """Add to each coefficient the learner's step times the feature."""
        cdef:
            Py_ssize_t i, n = self.n, k = self.k
            double sign = self.sign, n_listed = self.n_listed
            double *common = lines + k * n
            double *total = common + k
        for i in range(k):
            common[i] -= sign * steps[i]
            steps[i] *= 2 * sign
            total[i] += n_listed * steps[i]
        sklb_step_lines(self.features, self.n_listed, k, steps, lines)


def add_votes(const int8_t[:, ::1] rows, const double[:, :, ::1] lines,
              const double[::1] n_shown, int64_t[::1] votes):
    """Add to ``votes`` the sum of the learners' votes, each -1, 1, or 0 if undecided."""
    cdef:
        Py_ssize_t row, i, k = lines.shape[2]
        Scratch scratch = Scratch(rows.shape[1], k)
    check(rows, lines, n_shown, votes)
    with nogil:
        for row in range(rows.shape[0]):
            scratch.read(&rows[row, 0])
            scratch.add_up(&lines[0, 0, 0], scratch.score)
            scratch.add_up(&lines[1, 0, 0], scratch.delayed)
            for i in range(k):
                votes[row] += averaged_vote(scratch.score[i], scratch.delayed[i], n_shown[i])


def vote_and_learn(game, const int8_t[:, ::1] rows, const int8_t[::1] signs,
                   const double[::1] sample_weight, const double[:, ::1] uniform,
                   const double[::1] log_factorials, int64_t[::1] votes,
                   int64_t[::1] n_correct):
    """The same, but every learner of a `BitGame` learns a sample after voting on it.

    ``uniform`` has no columns, or a random number for each sample and learner: a weight
    is then rounded up with the probability of its fraction. The game's lines and counts
    change; ``votes`` and ``n_correct`` get the numbers of each sample.
    """
    cdef:
        double[:, :, ::1] lines = game.lines
        double[::1] n_shown = game.weight_seen
        int64_t[::1] counts = game.n_shown
        double[::1] weights_correct = game.weights_correct
        double[::1] weights_shown = game.weights_shown
        Py_ssize_t row, i, right, votes_of_row, n_steps, k = lines.shape[2]
        double weight
        int vote
        bint is_right, is_learned, is_sampled = uniform.shape[1] > 0
        StateWeights state_weights = StateWeights(k, game.gamma, log_factorials)
        Scratch scratch = Scratch(rows.shape[1], k)
        double *score = scratch.score
        double *delayed = scratch.delayed
        double *step = scratch.step
        double *late_step = scratch.late_step
    check(rows, lines, n_shown, votes)
    require(signs.shape[0] >= rows.shape[0] and sample_weight.shape[0] >= rows.shape[0]
            and n_correct.shape[0] >= rows.shape[0] and counts.shape[0] >= k
            and weights_correct.shape[0] >= k and weights_shown.shape[0] >= k
            and (not is_sampled or (uniform.shape[0] >= rows.shape[0]
                                    and uniform.shape[1] >= k)),
            "there is not one weight for each sample")
    with nogil:
        for row in range(rows.shape[0]):
            # A learner's score does not depend on the votes before it: its weight does.
            scratch.read(&rows[row, 0])
            scratch.add_up(&lines[0, 0, 0], score)
            scratch.add_up(&lines[1, 0, 0], delayed)
            right = votes_of_row = n_steps = 0
            for i in range(k):
                vote = averaged_vote(score[i], delayed[i], n_shown[i])
                weight = sample_weight[row] * state_weights.of(i, right)
                if is_sampled:
                    weight = floor(weight + uniform[row, i])
                votes_of_row += vote
                is_right = vote == signs[row]
                right += is_right
                weights_correct[i] += weight if is_right else 0.0
                weights_shown[i] += weight
                counts[i] += weight != 0
                is_learned = weight > 0 and signs[row] * score[i] <= 0
                n_steps += is_learned
                step[i] = weight * signs[row] if is_learned else 0.0
                late_step[i] = n_shown[i] * step[i]
                n_shown[i] += weight
            votes[row] += votes_of_row
            n_correct[row] = right
            if n_steps > 0:
                scratch.take_steps(&lines[0, 0, 0], step)
                scratch.take_steps(&lines[1, 0, 0], late_step)
