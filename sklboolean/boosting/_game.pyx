# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The rounds of boost-by-majority over columns of bits, for two classes without weights.

They do what `boost` does in Python, to the last bit: the number of rounds is given, a
round without an edge is a coin, and a hypothesis is the best stump, or the conjunction
that `best_conjunction` finds. Callers allocate and validate.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport exp, fmax, fmin, INFINITY, log, log1p, rint
from libc.stdint cimport (
    int16_t, int32_t, int64_t, uint16_t, uint32_t, UINT32_MAX
)
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from sklboolean._core._checks cimport require, sklb_all_below, sklb_is_indptr
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "masked_sums.h" nogil:
    const int SKLB_MASKED_LANES
    void sklb_masked_sums(const int16_t *weights, int64_t n_words, const uint32_t *panels,
                          int64_t stride, int64_t n_panels, int64_t *sums)
    void sklb_choose_32(uint32_t word, int16_t if_false, int16_t if_true, int16_t *out)

cdef extern from "round_passes.h" nogil:
    ctypedef struct sklb_samples:
        int64_t n_samples
        int64_t n_words
        const uint32_t *labels
        uint16_t *right
    int64_t sklb_total_weight(const sklb_samples *samples, const uint32_t *mask,
                              const uint32_t *second_mask, const int16_t *table)
    int64_t sklb_signed_weights(const sklb_samples *samples, const uint32_t *mask,
                                const int16_t *table, int16_t *signed_weights,
                                int64_t *total)
    void sklb_find_hits(const sklb_samples *samples, int if_false, int if_true,
                        uint32_t *truth)
    void sklb_count_votes(const sklb_samples *samples, const uint32_t *hits,
                          int64_t *counts, int64_t n_states)

cdef extern from "beam_search.h" nogil:
    const int SKLB_PATTERN_BITS
    const int SKLB_PATTERN_SAMPLES
    ctypedef struct sklb_extension:
        int64_t gain
        int64_t place
    void sklb_pattern_sums(const int16_t *weights, int64_t first_word, int64_t end_word,
                           const uint32_t *masks, int64_t n_words, int n_masks,
                           const int64_t *starts, const uint16_t *features,
                           int64_t n_features, int32_t *table, int64_t *sums)
    int64_t sklb_best_extensions(const int64_t *gains, int64_t n, int64_t n_wanted,
                                 sklb_extension *best)
    bint sklb_same_literals(const int32_t *a, const int32_t *b, int64_t n)
    void sklb_insert_literal(const int32_t *literals, int64_t n, int32_t literal,
                             int32_t *out)

sklb_cpu_level = &cpu_level

cdef double SMALLEST_GAMMA = 1e-3, LARGEST_GAMMA = 0.49, EDGE_TOLERANCE = 1e-12
cdef double LOG_2 = log(2.0)
cdef enum:
    STEPS = 1 << 26  # as in _votes
    LARGEST = (1 << 15) - 1
    DICE = 1 << 16


cdef class Memory:
    """Arrays that live as long as their owner."""
    cdef:
        void *arrays[24]
        int n_arrays

    cdef void *make(self, int64_t n, size_t size) except NULL:
        """Allocate n numbers, all 0."""
        cdef void *array = calloc(max(n, <int64_t> 1), size)
        if array == NULL:
            raise MemoryError
        self.arrays[self.n_arrays] = array
        self.n_arrays += 1
        return array

    def __dealloc__(self):
        for i in range(self.n_arrays):
            free(self.arrays[i])


# Weights of states


cdef void write_logs(int64_t n_votes, double gamma, int64_t n_coins,
                     double *logs) noexcept nogil:
    """Write the log-probability of each number of right votes and heads.

    The generating function ``f(z) = (1 + z)**n_coins * (1 + odds * z)**n_votes`` solves
    a linear differential equation of first order, ``(1 + z) (1 + odds z) f'(z) =
    (n_coins (1 + odds z) + n_votes odds (1 + z)) f(z)``. So each coefficient follows
    from the two before it. Up to the `turn` both terms are positive and no digit is
    lost. The rest is computed from the other end, where the odds are inverted.
    """
    cdef:
        int64_t s, n = n_votes + n_coins, n_terms
        int64_t turn = <int64_t> (n_coins * (0.5 - gamma) + n_votes * (0.5 + gamma))
        double edge, odds, ratio, same, total, scale
        bint is_rising
    for is_rising in range(2):
        edge, n_terms = (gamma, turn + 1) if is_rising else (-gamma, n - turn)
        odds = (0.5 + edge) / (0.5 - edge)
        ratio = n_coins + n_votes * odds  # of a coefficient to the one before
        scale = n_votes * log(0.5 - edge)
        total = 0.0
        for s in range(n_terms):
            if s > 0:
                total += log(ratio)
                same = n_coins + n_votes * odds - (1 + odds) * s
                ratio = (same + odds * (n - s + 1) / ratio) / (s + 1)
            logs[s if is_rising else n - s] = total + scale - n_coins * LOG_2


def write_log_binomial(int64_t n_votes, double gamma, int64_t n_coins, double[::1] logs):
    """Write the log-probability of each number of right votes and heads, from 0."""
    require(n_votes >= 0 <= n_coins and logs.shape[0] > n_votes + n_coins,
            "there is not one place for each number of votes")
    with nogil:
        write_logs(n_votes, gamma, n_coins, &logs[0])


cdef class StateWeights:
    """The weights of the states of a game of k rounds, for any gamma."""
    cdef:
        Memory memory
        int64_t k
        const double *log_factorials
        double *logs
        double *with_coins

    def __cinit__(self, int64_t k, const double[::1] log_factorials):
        require(log_factorials.shape[0] > k, "there is not one logarithm for each round")
        self.memory, self.k, self.log_factorials = Memory(), k, &log_factorials[0]
        self.logs = <double *> self.memory.make(k + 2, sizeof(double))
        self.with_coins = <double *> self.memory.make(k + 2, sizeof(double))

    cdef bint write(self, int64_t i, double gamma, int64_t n_coins, const int64_t *counts,
                    int64_t n_states, int16_t *table) noexcept nogil:
        """Write the rounded weight of each state that occurs; return whether one is left."""
        cdef:
            int64_t state, missing, n_votes = self.k - i - 1
            double log_right = log1p(2 * gamma), log_wrong = log1p(-2 * gamma)
            double largest = -INFINITY
        if n_coins > 0:
            write_logs(n_votes, gamma, n_coins, self.with_coins)
        for state in range(n_states):
            self.logs[state] = -INFINITY
            missing = self.k // 2 - state
            if counts[state] > 0 and 0 <= missing <= n_votes + n_coins:
                if n_coins > 0:
                    self.logs[state] = self.with_coins[missing]
                else:
                    self.logs[state] = (
                        self.log_factorials[n_votes] - self.log_factorials[missing]
                        - self.log_factorials[n_votes - missing] + missing * log_right
                        + (n_votes - missing) * log_wrong - n_votes * LOG_2)
            largest = fmax(largest, self.logs[state])
        for state in range(n_states):
            table[state] = 0
            if self.logs[state] > -INFINITY:
                table[state] = <int16_t> rint(
                    rint(STEPS * exp(self.logs[state] - largest)) / STEPS * LARGEST)
        return largest > -INFINITY


# The best stump or conjunction


cdef class Columns:
    """Columns of bits, or lists of samples, and with `list_features` lists of features."""
    cdef:
        const uint32_t[:, :, ::1] panels
        const int64_t[::1] indptr
        const int32_t[::1] indices
        Memory memory
        int64_t n_samples, n_features, n_words, n_lanes
        bint is_packed
        int64_t *starts
        uint16_t *features

    def __cinit__(self, int64_t n_samples, int64_t n_features,
                  const uint32_t[:, :, ::1] panels, const int64_t[::1] indptr,
                  const int32_t[::1] indices):
        self.panels, self.indptr, self.indices = panels, indptr, indices
        self.n_samples, self.n_features = n_samples, n_features
        self.n_words = (n_samples + 31) // 32
        self.n_lanes = SKLB_MASKED_LANES * ((n_features + SKLB_MASKED_LANES - 1)
                                            // SKLB_MASKED_LANES)
        self.is_packed, self.memory = panels.shape[0] > 0, Memory()
        if self.is_packed:
            require(panels.shape[2] == SKLB_MASKED_LANES
                    and panels.shape[0] * SKLB_MASKED_LANES == self.n_lanes
                    and panels.shape[1] == self.n_words,
                    "the samples do not fit the columns")
        else:
            require(indptr.shape[0] == n_features + 1
                    and sklb_is_indptr(&indptr[0], n_features, indices.shape[0])
                    and sklb_all_below(&indices[0] + indptr[0],
                                       indptr[n_features] - indptr[0], n_samples),
                    "the samples do not fit the columns")

    cdef int list_features(self) except -1:
        """List the true features of each sample, of packed columns."""
        cdef:
            int64_t p, w, r, i, total = 0, n = self.n_samples
            int c, step
            uint32_t word
        self.starts = <int64_t *> self.memory.make(n + 1, sizeof(int64_t))
        for step in range(2):
            with nogil:
                for p in range(self.panels.shape[0]):
                    for w in range(self.n_words):
                        for c in range(SKLB_MASKED_LANES):
                            word, i = self.panels[p, w, c], 32 * w
                            while word:
                                if word & 1:
                                    if step == 1:
                                        self.features[self.starts[i]] = <uint16_t> (
                                            SKLB_MASKED_LANES * p + c)
                                    self.starts[i] += 1
                                word >>= 1
                                i += 1
                # Counts become the first places, and after the second step the next ones.
                if step == 0:
                    for i in range(n + 1):
                        total += self.starts[i]
                        self.starts[i] = total - self.starts[i]
                else:
                    for i in range(n, 0, -1):
                        self.starts[i] = self.starts[i - 1]
                    self.starts[0] = 0
            if step == 0:
                self.features = <uint16_t *> self.memory.make(total, sizeof(uint16_t))
        return 0

    cdef void add_up(self, const int16_t *weights, int64_t *sums) noexcept nogil:
        """Write the weight of the samples where each column is true."""
        cdef int64_t j, place, total
        memset(sums, 0, self.n_lanes * sizeof(int64_t))
        if self.is_packed:
            sklb_masked_sums(weights, self.n_words, &self.panels[0, 0, 0], self.n_words,
                             self.panels.shape[0], sums)
            return
        for j in range(self.n_features):
            total = 0
            for place in range(self.indptr[j], self.indptr[j + 1]):
                total += weights[self.indices[place]]
            sums[j] = total

    cdef void restrict(self, int32_t literal, uint32_t *mask) noexcept nogil:
        """Take the samples that do not satisfy a literal out of a mask."""
        cdef:
            int64_t w, place, j = literal >> 1
            uint32_t flip = 0 if literal & 1 else UINT32_MAX
        if self.is_packed:
            for w in range(self.n_words):
                mask[w] &= self.panels[j // SKLB_MASKED_LANES, w,
                                       j % SKLB_MASKED_LANES] ^ flip
            return
        # Lists serve stumps only: the mask is that of all samples, the literal positive.
        memset(mask, 0, self.n_words * sizeof(uint32_t))
        for place in range(self.indptr[j], self.indptr[j + 1]):
            mask[self.indices[place] >> 5] |= <uint32_t> 1 << (self.indices[place] & 31)


cdef int64_t most_extended(int64_t max_literals, int64_t n_features) noexcept:
    """The largest number of conjunctions of a length that a literal can be added to."""
    cdef int64_t length, most = 1
    for length in range(1, max_literals):
        if most < 1 << 32:
            most *= 2 * n_features
    return most


cdef class Search:
    """The beam search for the best conjunction; with one literal that for a stump.

    Attributes
    ----------
    n_literals, literals, if_false, if_true, gain : the best one found
    """
    cdef:
        Memory memory
        Columns columns
        int64_t max_literals, width, n_beam, n_literals, gain
        int if_false, if_true
        int32_t *literals
        int32_t *beam
        int32_t *next_beam
        uint32_t *masks
        uint32_t *next_masks
        int64_t *beam_sums
        int64_t *sums
        int64_t *gains
        sklb_extension *best
        int16_t *masked
        int32_t *table

    def __cinit__(self, Columns columns, int64_t max_literals, int64_t width):
        cdef int64_t n_words = columns.n_words, n_features = columns.n_features
        self.columns, self.memory = columns, Memory()
        # Longer conjunctions repeat a feature.
        self.max_literals = max_literals = min(max_literals, n_features)
        self.width = width = min(width, most_extended(max_literals, n_features))
        self.literals = <int32_t *> self.memory.make(max_literals, sizeof(int32_t))
        self.beam = <int32_t *> self.memory.make(width * max_literals, sizeof(int32_t))
        self.next_beam = <int32_t *> self.memory.make(width * max_literals, sizeof(int32_t))
        self.masks = <uint32_t *> self.memory.make(width * n_words, sizeof(uint32_t))
        self.next_masks = <uint32_t *> self.memory.make(width * n_words, sizeof(uint32_t))
        self.beam_sums = <int64_t *> self.memory.make(width, sizeof(int64_t))
        self.sums = <int64_t *> self.memory.make(width * columns.n_lanes, sizeof(int64_t))
        self.gains = <int64_t *> self.memory.make(2 * width * n_features, sizeof(int64_t))
        self.best = <sklb_extension *> self.memory.make(
            min(width * max_literals, 2 * width * n_features), sizeof(sklb_extension))
        self.masked = <int16_t *> self.memory.make(32 * n_words, sizeof(int16_t))
        if max_literals > 1 and self.reads_features():
            self.table = <int32_t *> self.memory.make(
                n_features << SKLB_PATTERN_BITS, sizeof(int32_t))
            columns.list_features()

    cdef bint reads_features(self) except -1:
        """Whether the lists of features are quicker than the columns, by estimates."""
        cdef:
            Columns columns = self.columns
            int64_t w, ones = 0, n = columns.n_samples
            int64_t n_blocks = (self.width + SKLB_PATTERN_BITS - 1) // SKLB_PATTERN_BITS
            int64_t p
            int c
            uint32_t word
        if columns.n_features >= 1 << 16:
            return False
        for p in range(columns.panels.shape[0]):
            for w in range(columns.n_words):
                for c in range(SKLB_MASKED_LANES):
                    word = columns.panels[p, w, c]
                    word -= (word >> 1) & 0x55555555
                    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
                    ones += (((word + (word >> 4)) & 0x0f0f0f0f) * 0x01010101 & UINT32_MAX) >> 24
        # Cycles: an addition for each true feature, and tables; or 10 lookups for a lane.
        return (n_blocks * (2 * ones + 5 * n + (columns.n_features << SKLB_PATTERN_BITS) // 4)
                < self.width * (columns.n_lanes * n // 12 + 2 * n))

    cdef int find(self, const int16_t *weights, int64_t total) except -1 nogil:
        """Find the best conjunction under signed weights with this sum."""
        cdef:
            int64_t length, place
        self.gain, self.n_literals = max(total, <int64_t> 0), 0
        self.if_false = self.if_true = total > 0
        self.n_beam, self.beam_sums[0] = 1, total
        memset(self.masks, 255, self.columns.n_words * sizeof(uint32_t))
        for length in range(self.max_literals):
            if length == 0:
                self.columns.add_up(weights, self.sums)
            else:
                self.add_up(weights)
            place = self.write_gains(length, total)
            if self.gains[place] > self.gain:
                self.take(place, length, total)
            if length + 1 < self.max_literals:
                self.extend(length)
        return 0

    cdef int add_up(self, const int16_t *weights) except -1 nogil:
        """Sum over the samples of each conjunction of the beam that have a feature."""
        cdef:
            int64_t b, w, end, n_masks, n_words = self.columns.n_words
            int r
            int64_t n_features = self.columns.n_features
            int16_t keep[32]
            int64_t *sums
        if self.table != NULL:
            memset(self.sums, 0, self.n_beam * n_features * sizeof(int64_t))
            for b from 0 <= b < self.n_beam by SKLB_PATTERN_BITS:
                self.allow_interrupt()
                n_masks = min(self.n_beam - b, <int64_t> SKLB_PATTERN_BITS)
                for w from 0 <= w < n_words by SKLB_PATTERN_SAMPLES // 32:
                    end = min(w + SKLB_PATTERN_SAMPLES // 32, n_words)
                    sklb_pattern_sums(weights, w, end, self.masks + b * n_words, n_words,
                                      <int> n_masks, self.columns.starts, self.columns.features,
                                      n_features, self.table, self.sums + b * n_features)
            return 0
        for b in range(self.n_beam):
            self.allow_interrupt()
            for w in range(n_words):
                sklb_choose_32(self.masks[b * n_words + w], 0, -1, keep)
                for r in range(32):
                    self.masked[32 * w + r] = weights[32 * w + r] & keep[r]
            # A line of all lanes, then moved up: the next one overwrites the rest.
            sums = self.sums + b * n_features
            self.columns.add_up(self.masked, sums)
        return 0

    cdef int allow_interrupt(self) except -1 nogil:
        """Let Ctrl-C end a search whose passes are long."""
        if self.columns.n_samples * self.columns.n_features > 1 << 24:
            with gil:
                PyErr_CheckSignals()
        return 0

    cdef int64_t write_gains(self, int64_t length, int64_t total) noexcept nogil:
        """Write the gain of each extension; return the place of the first of the largest."""
        cdef:
            int64_t b, l, j, inside, other, place = 0, n_features = self.columns.n_features
            int64_t *gains
        for b in range(self.n_beam):
            gains = self.gains + 2 * b * n_features
            for j in range(n_features):
                inside = self.sums[b * n_features + j]
                other = self.beam_sums[b] - inside
                gains[j] = max(inside, <int64_t> 0) + max(total - inside, <int64_t> 0)
                gains[n_features + j] = (max(other, <int64_t> 0)
                                         + max(total - other, <int64_t> 0))
            for l in range(length):  # a feature is not repeated
                j = self.beam[b * self.max_literals + l] >> 1
                gains[j] = gains[n_features + j] = -1
        for j in range(2 * self.n_beam * n_features):
            if self.gains[j] > self.gains[place]:
                place = j
        return place

    cdef int64_t sum_of(self, int64_t place) noexcept nogil:
        """The sum of the weights of the samples of an extension."""
        cdef int64_t n_features = self.columns.n_features
        cdef int64_t b = place // (2 * n_features), c = place % (2 * n_features)
        if c < n_features:
            return self.sums[b * n_features + c]
        return self.beam_sums[b] - self.sums[b * n_features + c - n_features]

    cdef int32_t literal_of(self, int64_t place) noexcept nogil:
        """The literal that an extension adds."""
        cdef int64_t n_features = self.columns.n_features
        cdef int64_t c = place % (2 * n_features)
        return <int32_t> (2 * c + 1 if c < n_features else 2 * (c - n_features))

    cdef void take(self, int64_t place, int64_t length, int64_t total) noexcept nogil:
        """Keep an extension as the best conjunction."""
        cdef int64_t b = place // (2 * self.columns.n_features), inside = self.sum_of(place)
        memcpy(self.literals, self.beam + b * self.max_literals, length * sizeof(int32_t))
        self.literals[length], self.n_literals = self.literal_of(place), length + 1
        self.gain, self.if_true, self.if_false = self.gains[place], inside > 0, total > inside

    cdef void extend(self, int64_t length) noexcept nogil:
        """Make the beam of the extensions with the largest gains."""
        cdef:
            int64_t n_words = self.columns.n_words, n_features = self.columns.n_features
            int64_t n = 2 * self.n_beam * n_features, n_next = 0
            # Each of several literals is found in as many orders as there are.
            int64_t n_best = sklb_best_extensions(
                self.gains, n, min(n, self.width * (length + 1)), self.best)
            int64_t e, other, place, b
            int32_t *literals
            bint is_new
        for e in range(n_best):
            if n_next == self.width:
                break
            place = self.best[e].place
            b = place // (2 * n_features)
            literals = self.next_beam + n_next * self.max_literals
            sklb_insert_literal(self.beam + b * self.max_literals, length,
                                self.literal_of(place), literals)
            is_new = True
            for other in range(n_next - 1, -1, -1):
                if self.best[other].gain != self.best[e].gain:
                    break
                if sklb_same_literals(self.next_beam + other * self.max_literals, literals,
                                      length + 1):
                    is_new = False
                    break
            if is_new:
                memcpy(self.next_masks + n_next * n_words, self.masks + b * n_words,
                       n_words * sizeof(uint32_t))
                self.columns.restrict(self.literal_of(place), self.next_masks + n_next * n_words)
                self.best[n_next] = self.best[e]
                n_next += 1
        # Sums are those of this beam: they are read before it is replaced.
        for e in range(n_next):
            self.best[e].gain = self.sum_of(self.best[e].place)
        for e in range(n_next):
            self.beam_sums[e] = self.best[e].gain
        self.beam, self.next_beam, self.n_beam = self.next_beam, self.beam, n_next
        self.masks, self.next_masks = self.next_masks, self.masks

    cdef void write_truth(self, uint32_t *truth) noexcept nogil:
        """Write a bit for each sample that satisfies the best conjunction."""
        cdef int64_t l
        memset(truth, 255, self.columns.n_words * sizeof(uint32_t))
        for l in range(self.n_literals):
            self.columns.restrict(self.literals[l], truth)


# The rounds


cdef double mean_of(const double *numbers, int64_t n) noexcept nogil:
    """The mean, added up in the order in which numpy adds up to 128 numbers."""
    cdef:
        int64_t i, j
        double sums[8]
        double total = 0.0
    i = 0
    if n >= 8:
        memcpy(sums, numbers, 8 * sizeof(double))
        for i from 8 <= i < n - n % 8 by 8:
            for j in range(8):
                sums[j] += numbers[i + j]
        i = n - n % 8
        total = (((sums[0] + sums[1]) + (sums[2] + sums[3]))
                 + ((sums[4] + sums[5]) + (sums[6] + sums[7])))
    for j in range(i, n):
        total += numbers[j]
    return total / n


cdef void split(const uint16_t[::1] uniform, double holdout, int64_t n_samples,
                uint32_t *trained, uint32_t *judging) noexcept nogil:
    """Hold out the samples whose random numbers are low."""
    cdef int64_t i, w, n_words = (n_samples + 31) // 32
    cdef double bar = DICE * holdout
    memset(judging, 0, n_words * sizeof(uint32_t))
    for i in range(n_samples):
        judging[i >> 5] |= <uint32_t> (uniform[i] < bar) << (i & 31)
    for w in range(n_words):
        trained[w] = ~judging[w]


def play_rounds(columns, schedule, double gamma, arrays):
    """Play a game.

    Parameters
    ----------
    columns : StumpColumns
    schedule : Schedule
    gamma : float
        Edge of the first round, or of all where the schedule has one.
    arrays : GameArrays

    Returns
    -------
    n_rounds : int
        Less than ``arrays.k`` when no weight is left.
    """
    cdef:
        const uint32_t[::1] labels = arrays.labels
        uint16_t[::1] right = arrays.right
        int64_t[:, ::1] counts = arrays.counts, tests = arrays.tests
        double[:, ::1] record = arrays.record
        int64_t k = arrays.k, recent = 0 if schedule.gamma else schedule.recent
        double caution = schedule.caution, holdout = schedule.holdout or 0.0
        bint follow_holdout = schedule.follow_holdout
        Columns bits = Columns(columns.n_samples, columns.n_features, columns.panels,
                               columns.indptr, columns.indices)
        Search search = Search(bits, *arrays.beam)
        StateWeights states = StateWeights(k, arrays.log_factorials)
        Memory memory = Memory()
        sklb_samples samples
        const uint16_t[::1] uniform
        int64_t i, l, line, n_words = bits.n_words, n_lines = counts.shape[0]
        int64_t n_aborted = 0, total, signed_total, n_right, held_total
        double edge, followed
        bint is_judged, has_edge
        uint32_t *hits = <uint32_t *> memory.make(n_words, sizeof(uint32_t))
        uint32_t *trained = <uint32_t *> memory.make(n_words, sizeof(uint32_t))
        uint32_t *judging = <uint32_t *> memory.make(n_words, sizeof(uint32_t))
        int16_t *weights = <int16_t *> memory.make(32 * n_words, sizeof(int16_t))
        int16_t *table = <int16_t *> memory.make(k + 2, sizeof(int16_t))
    require(0 < n_words == labels.shape[0] and right.shape[0] == 32 * n_words
            and n_lines >= 2 and counts.shape[1] >= k + 2 and 0 < k < 1 << 16
            and tests.shape[0] > k and tests.shape[1] >= 2 + search.max_literals
            and record.shape[0] >= 4 and record.shape[1] > k and recent <= 128,
            "the game does not fit its samples")
    samples.n_samples, samples.n_words = bits.n_samples, n_words
    samples.labels, samples.right = &labels[0], &right[0]
    counts[0, 0], record[0, k] = samples.n_samples, -INFINITY
    for i in range(k):
        PyErr_CheckSignals()
        if holdout > 0:
            uniform = arrays.draw_uniform()
            require(uniform.shape[0] == samples.n_samples, "a sample has no random number")
        with nogil:
            if recent > 0 and i > 0:
                line = max(i - recent, <int64_t> 0)
                gamma = fmin(fmax(caution * mean_of(&record[1, line], i - line),
                                  SMALLEST_GAMMA), LARGEST_GAMMA)
            if not states.write(i, gamma, n_aborted, &counts[i % n_lines, 0],
                                i - n_aborted + 1, table):
                with gil:
                    return i
            memset(trained, 255, n_words * sizeof(uint32_t))
            is_judged = False
            if holdout > 0:
                split(uniform, holdout, samples.n_samples, trained, judging)
                held_total = sklb_total_weight(&samples, judging, judging, table)
                is_judged = (held_total > 0
                             and sklb_total_weight(&samples, trained, trained, table) > 0)
                if not is_judged:  # too few to be divided
                    memset(trained, 255, n_words * sizeof(uint32_t))
            signed_total = sklb_signed_weights(&samples, trained, table, weights, &total)
            search.find(weights, signed_total)
            search.write_truth(hits)
            sklb_find_hits(&samples, search.if_false, search.if_true, hits)
            n_right = (total - signed_total) // 2 + search.gain
            edge = followed = <double> (2 * n_right - total) / <double> (2 * total)
            line = i
            record[2, i], record[3, i] = edge, gamma
            if holdout > 0:
                edge = followed = <double> n_right / <double> total - 0.5
                if is_judged:
                    edge = <double> sklb_total_weight(&samples, judging, hits, table) \
                        / <double> held_total - 0.5
                if follow_holdout:
                    followed = edge
            record[0, i], record[1, i] = edge, followed
            has_edge = edge > EDGE_TOLERANCE
            if has_edge:
                sklb_count_votes(&samples, hits, &counts[(i + 1) % n_lines, 0],
                                 i - n_aborted + 2)
            else:
                n_aborted += 1
                memcpy(&counts[(i + 1) % n_lines, 0], &counts[i % n_lines, 0],
                       (k + 2) * sizeof(int64_t))
                if edge > record[0, k]:
                    record[0, k], record[2, k], line = edge, record[2, i], k
            if has_edge or line == k:
                tests[line, 0], tests[line, 1] = search.if_false, search.if_true
                for l in range(tests.shape[1] - 2):
                    tests[line, 2 + l] = (search.literals[l] if l < search.n_literals
                                          else -1)
    return k
