# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Growing and walking trees over packed bits: sums by code, splits, members of leaves.

Callers allocate and validate; the loops release the GIL.
"""
from cython.view cimport array
from libc.math cimport fmax, fmin, frexp, ldexp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

from sklboolean._core._checks cimport require, sklb_all_below

cdef extern from "../_core/team.h" nogil:
    ctypedef void (*sklb_piece)(void *work, int64_t piece, int64_t thread)
    ctypedef struct sklb_team:
        int64_t n_open, n_done, is_over
    void sklb_run_pieces(sklb_team *team, sklb_piece run, void *work, int64_t n_pieces)
    void sklb_help(sklb_team *team, int64_t thread)
    void sklb_end(sklb_team *team)

cdef extern from "tree_sums.h" nogil:
    ctypedef struct sklb_sum:
        int64_t slope, rest
    ctypedef struct sklb_features:
        const uint8_t *codes
        const uint8_t *is_true
        const int32_t *starts
        const int32_t *block_of_feature
        const int32_t *edges
        const int64_t *indptr
        const int8_t *directions
        const uint64_t *groups
        int64_t n_blocks, n_codes, n_features, n_group_words
    ctypedef struct sklb_split_rules:
        double slope_unit, curvature_unit, l2, least_curvature
        int64_t least_samples
        int shift
    ctypedef struct sklb_split:
        double gain
        int64_t feature
        sklb_sum where_true
    ctypedef struct sklb_leaf:
        int64_t node, first, end
        sklb_sum total
        double value, low, high
        sklb_split split
    ctypedef struct sklb_growth:
        const sklb_features *features
        const sklb_split_rules *rules
        sklb_leaf *leaves
        int64_t n_leaves
        const double *targets
        const double *weights
        double *scores
        double *slopes
        double *curvatures
        double *losses
        int32_t *members
        int32_t *derivatives
        int32_t *sorted[2]
        int64_t n, n_pieces, feature
        int summed
        int64_t *n_true
        double *largest
        sklb_sum *sums
        sklb_sum *of_helpers
        int64_t *last_call
        int64_t call
    ctypedef struct sklb_trees:
        const int32_t *features
        const int32_t *children
        const int32_t *roots
        const double *values
        int64_t n_trees
    ctypedef struct sklb_held_out:
        sklb_trees tree
        const uint64_t *words
        double *scores
        int64_t n, n_words, n_pieces
    sklb_piece sklb_differentiate_piece, sklb_find_largest, sklb_begin_piece
    sklb_piece sklb_part_piece, sklb_gather_piece, sklb_add_values
    sklb_piece sklb_walk_piece, sklb_measure_piece
    void sklb_walk(const sklb_trees *trees, const uint64_t *words, int64_t n_words,
                   int64_t n, double *scores, int64_t n_columns)
    sklb_sum *sklb_sums_of_thread(sklb_growth *growth, int64_t thread)
    void sklb_add_sums(sklb_sum *sums, const sklb_sum *others, int64_t n_codes, int sign)
    void sklb_run_sums(const sklb_sum *sums, int64_t n_codes, uint64_t *running)
    double sklb_leaf_value(sklb_sum sum, const sklb_split_rules *rules, double low,
                           double high, double *gain)
    sklb_split sklb_best_split(const sklb_features *features, const int32_t *drawn,
                               int64_t n_drawn, const uint64_t *running,
                               const sklb_leaf *leaf, const sklb_split_rules *rules)
    int64_t sklb_draw_features(const sklb_features *features, const uint64_t *allowed,
                               double share, uint64_t *seed, int32_t *order)

# Slopes and curvatures are rounded to whole numbers of so many binary digits at most.
cdef int DIGITS = 30, SMALLEST_EXPONENT = -1022  # of a float64
# A piece has so many samples, but a leaf has no more pieces than that.
cdef int64_t PIECE = 2**11, MOST_PIECES = 64


def extend_codes(const uint64_t[:, ::1] words, int64_t feature, uint16_t[::1] codes,
                 uint8_t[::1] is_present):
    """Append the bit of a feature to the code of each sample, and mark the new codes."""
    cdef Py_ssize_t i, word = feature >> 6
    cdef int place = feature & 63
    with nogil:
        for i in range(codes.shape[0]):
            codes[i] = <uint16_t> (2 * codes[i] + ((words[i, word] >> place) & 1))
            is_present[codes[i]] = 1


cdef double unit_of(double largest, int n_digits) noexcept nogil:
    """Choose the power of two whose multiples numbers are rounded to."""
    cdef int exponent = n_digits
    if largest > 0:
        frexp(largest, &exponent)
    return ldexp(1.0, max(exponent - n_digits, SMALLEST_EXPONENT))


cdef int64_t n_pieces_of(int64_t n) noexcept nogil:
    """Choose the number of pieces of so many samples."""
    return max(1, min(n / PIECE, MOST_PIECES))


cdef class GrowingTree:
    """A tree that grows, the samples of its leaves, and the sums over them.

    Parameters
    ----------
    blocks : BitBlocks
    params : GrowthParams
    directions : ndarray of shape (n_features,), int8
    groups : ndarray of shape (n_features, n_words), uint64
        Bits of the groups of features that may meet in a conjunction.
    n_threads : int
        Threads that may `help` the one that grows a tree.
    """
    cdef:
        object held, refit
        sklb_features features
        sklb_split_rules rules
        sklb_growth growth
        sklb_held_out held_out
        sklb_team team
        sklb_leaf *leaves
        int32_t *members
        double share
        uint64_t seed
        sklb_sum *sums
        int64_t n_samples, n_slots, n_threads
        int32_t[::1] order
        uint64_t[::1] running
        uint64_t[:, ::1] allowed

    def __init__(self, blocks, params, directions, groups, int64_t n_threads):
        cdef const uint8_t[:, ::1] codes = blocks.codes, is_true = blocks.is_true
        cdef const int32_t[::1] starts = blocks.starts, edges = blocks.edges
        cdef const int32_t[::1] block_of_feature = blocks.block_of_feature
        cdef const int64_t[::1] indptr = blocks.indptr
        cdef const int8_t[::1] ways = directions
        cdef const uint64_t[:, ::1] words = groups
        cdef int64_t n_samples = codes.shape[0], n_features = ways.shape[0], k
        cdef int64_t n_slots = params.max_leaf_nodes, n_codes = starts[codes.shape[1]]
        cdef uint8_t[::1] room = array((n_slots * sizeof(sklb_leaf),), 1, "B")
        cdef int64_t[:, :, ::1] sums = array((n_slots, n_codes, 2), 8, "q")
        cdef int64_t[:, :, ::1] of_helpers = array((n_threads, n_codes, 2), 8, "q")
        cdef int32_t[:, ::1] of_samples = array((4, n_samples), sizeof(int32_t), "i")
        cdef int64_t[::1] n_true = array((MOST_PIECES,), 8, "q")
        cdef int64_t[::1] last_call = array((n_threads,), 8, "q")
        cdef double[::1] largest = array((2 * MOST_PIECES,), 8, "d")
        self.held = (blocks, directions, groups, room, sums, of_helpers, of_samples,
                     n_true, last_call, largest)
        self.features = sklb_features(
            &codes[0, 0], &is_true[0, 0], &starts[0], &block_of_feature[0], &edges[0],
            &indptr[0], &ways[0], &words[0, 0], codes.shape[1], n_codes, n_features,
            words.shape[1])
        self.leaves, self.sums = <sklb_leaf *> &room[0], <sklb_sum *> &sums[0, 0, 0]
        self.n_samples, self.n_slots, self.share = n_samples, n_slots, params.max_features
        self.rules.l2, self.rules.least_curvature = params.l2, params.least_curvature
        self.rules.least_samples = params.min_samples_leaf
        self.order = array((n_features,), sizeof(int32_t), "i")
        self.running = array((2 * n_codes + 2,), sizeof(uint64_t), "Q")
        self.allowed = array((n_slots, words.shape[1]), sizeof(uint64_t), "Q")
        for k in range(n_features):
            self.order[k] = <int32_t> k
        last_call[:] = 0
        self.growth.features, self.growth.rules = &self.features, &self.rules
        self.growth.leaves, self.growth.call = self.leaves, 0
        self.growth.of_helpers = <sklb_sum *> &of_helpers[0, 0, 0]
        self.growth.derivatives = &of_samples[0, 0]
        self.growth.sorted[0], self.growth.sorted[1] = &of_samples[2, 0], &of_samples[3, 0]
        self.growth.n_true, self.growth.last_call = &n_true[0], &last_call[0]
        self.growth.largest = &largest[0]
        self.n_threads = n_threads
        self.team.n_open = self.team.n_done = self.team.is_over = 0

    def help(self, int64_t thread):
        """Do pieces of what the calling thread does, until `end_help`."""
        with nogil:
            sklb_help(&self.team, thread)

    def end_help(self):
        """Let the threads that help return."""
        sklb_end(&self.team)

    def differentiate(self, const double[::1] targets, double[::1] scores,
                      const double[::1] weights, double[::1] slopes,
                      double[::1] curvatures):
        """Compute the weighted slopes and curvatures of the log-loss of each sample."""
        require(scores.shape[0] == targets.shape[0] == weights.shape[0]
                == slopes.shape[0] == curvatures.shape[0] > 0, "its samples do not fit")
        self.growth.targets, self.growth.weights = &targets[0], &weights[0]
        self.growth.scores = &scores[0]
        self.growth.slopes, self.growth.curvatures = &slopes[0], &curvatures[0]
        with nogil:
            self.run(sklb_differentiate_piece, scores.shape[0])

    def measure(self, const double[::1] targets, double[::1] scores, double[::1] losses):
        """Compute the log-loss of each sample."""
        require(scores.shape[0] == targets.shape[0] == losses.shape[0] > 0,
                "its samples do not fit")
        self.growth.targets, self.growth.scores = &targets[0], &scores[0]
        self.growth.losses = &losses[0]
        with nogil:
            self.run(sklb_measure_piece, scores.shape[0])

    def add_values(self, const int32_t[::1] features, const int32_t[:, ::1] children,
                   const double[::1] values, const uint64_t[:, ::1] words,
                   double[::1] scores):
        """Add the values of a tree that has grown to the scores of other samples."""
        cdef int32_t root = 0
        require(scores.shape[0] == words.shape[0] > 0, "its samples do not fit")
        self.held_out.tree = sklb_trees(&features[0], &children[0, 0], &root, &values[0], 1)
        self.held_out.words, self.held_out.n_words = &words[0, 0], words.shape[1]
        self.held_out.scores, self.held_out.n = &scores[0], scores.shape[0]
        self.held_out.n_pieces = n_pieces_of(scores.shape[0])
        with nogil:
            sklb_run_pieces(&self.team, sklb_walk_piece, &self.held_out,
                            self.held_out.n_pieces)

    def grow(self, int32_t[::1] members, double[::1] slopes,
             double[::1] curvatures, double bound, uint64_t seed, refit,
             double[::1] scores, double rate, int32_t[::1] features,
             int32_t[:, ::1] children, double[::1] values, double[::1] gains):
        """Grow a tree into arrays of nodes, and add its values to the scores.

        The tree has the first samples. Slopes and curvatures of others only set the unit
        that all are rounded to. ``refit(first, end)`` computes the value of a leaf, where
        it is not None, and all values are multiplied by the rate.

        Returns
        -------
        n_leaves : int
        """
        cdef int64_t n_leaves = 1, k, best, node
        require(0 < members.shape[0] == self.n_samples <= slopes.shape[0]
                and slopes.shape[0] == curvatures.shape[0] == scores.shape[0],
                "its samples do not fit")
        self.members = self.growth.members = &members[0]
        self.growth.scores = &scores[0]
        self.growth.slopes, self.growth.curvatures = &slopes[0], &curvatures[0]
        self.seed, self.refit = seed, refit
        with nogil:
            self.begin(members.shape[0], slopes.shape[0], bound)
            self.offer(0)
            while n_leaves < self.n_slots:
                best = 0
                for k in range(1, n_leaves):
                    if self.comes_before(k, best):
                        best = k
                if self.leaves[best].split.feature < 0:
                    break
                node = self.leaves[best].node
                features[node] = <int32_t> self.leaves[best].split.feature
                gains[node] = self.leaves[best].split.gain
                children[node, 0] = <int32_t> (2 * n_leaves - 1)
                children[node, 1] = <int32_t> (2 * n_leaves)
                self.divide(best, n_leaves)
                n_leaves += 1
            for k in range(n_leaves):
                self.leaves[k].value = rate * self.value(&self.leaves[k])
                values[self.leaves[k].node] = self.leaves[k].value
            self.growth.members, self.growth.n_leaves = self.members, n_leaves
            self.run(sklb_add_values, members.shape[0])
        return n_leaves

    cdef bint comes_before(self, int64_t k, int64_t other) noexcept nogil:
        """Tell whether leaf k is split first: of equal gains the older one."""
        cdef double gain = self.leaves[k].split.gain, least = self.leaves[other].split.gain
        return gain > least or (
            gain == least and self.leaves[k].node < self.leaves[other].node)

    cdef void run(self, sklb_piece piece, int64_t n) noexcept nogil:
        """Do something with each piece of so many samples."""
        self.growth.n = n
        self.growth.n_pieces = n_pieces_of(n)
        sklb_run_pieces(&self.team, piece, &self.growth, self.growth.n_pieces)

    cdef void add(self, sklb_piece piece, int64_t n, int64_t slot) noexcept nogil:
        """Do something with each piece, which adds samples to the sums of a leaf."""
        cdef int64_t c, k, n_codes = self.features.n_codes
        self.growth.sums = self.sums + slot * n_codes
        self.growth.call += 1
        sklb_sums_of_thread(&self.growth, 0)
        self.run(piece, n)
        for k in range(1, self.n_threads):
            if self.growth.last_call[k] == self.growth.call:
                sklb_add_sums(self.growth.sums, sklb_sums_of_thread(&self.growth, k),
                              n_codes, 1)

    cdef void begin(self, int64_t n, int64_t n_numbers, double bound) noexcept nogil:
        """Round slopes and curvatures to integers; all samples are one leaf."""
        cdef int64_t k
        cdef int shift = 0
        cdef double slope = 0, curvature = 0
        cdef sklb_leaf root
        while n >> shift:
            shift += 1
        self.run(sklb_find_largest, n_numbers)
        for k in range(self.growth.n_pieces):
            slope = fmax(slope, self.growth.largest[2 * k])
            curvature = fmax(curvature, self.growth.largest[2 * k + 1])
        # Sums of curvatures leave room for the number of samples below them.
        self.rules.shift = shift
        self.rules.slope_unit = unit_of(slope, DIGITS)
        self.rules.curvature_unit = unit_of(curvature, min(DIGITS, 61 - 2 * shift))
        self.add(sklb_begin_piece, n, 0)
        root.node, root.first, root.end, root.low, root.high = 0, 0, n, -bound, bound
        root.total = sklb_sum(0, 0)
        for k in range(self.features.starts[1]):  # each sample has a code of a block
            root.total.slope += self.sums[k].slope
            root.total.rest += self.sums[k].rest
        root.split = sklb_split(0, -1, sklb_sum(0, 0))
        self.leaves[0] = root
        self.allowed[0, :] = ~<uint64_t> 0

    cdef void offer(self, int64_t slot) noexcept nogil:
        """Find the best split of a leaf."""
        cdef int64_t n_drawn
        cdef sklb_leaf *leaf = &self.leaves[slot]
        if leaf.end - leaf.first < 2 * self.rules.least_samples:
            return
        n_drawn = sklb_draw_features(&self.features, &self.allowed[slot, 0], self.share,
                                     &self.seed, &self.order[0])
        sklb_run_sums(self.sums + slot * self.features.n_codes, self.features.n_codes,
                      &self.running[0])
        self.leaves[slot].split = sklb_best_split(
            &self.features, &self.order[0], n_drawn, &self.running[0], &self.leaves[slot],
            &self.rules)

    cdef int divide(self, int64_t slot, int64_t new) except -1 nogil:
        """Split a leaf, and offer both children; the larger one keeps its slot."""
        cdef sklb_leaf true = self.leaves[slot], false = true
        cdef int64_t feature = true.split.feature, n_true, n_false, w
        cdef int direction = self.features.directions[feature]
        cdef bint is_offered
        cdef double border
        true.end = true.first + (
            true.split.where_true.rest & ((<int64_t> 1 << self.rules.shift) - 1))
        false.first = true.end
        true.total = true.split.where_true
        false.total.slope -= true.total.slope
        false.total.rest -= true.total.rest
        false.node, true.node = 2 * new - 1, 2 * new
        true.split = false.split = sklb_split(0, -1, sklb_sum(0, 0))
        n_true, n_false = true.end - true.first, false.end - false.first
        is_offered = (new + 1 < self.n_slots
                      and max(n_true, n_false) >= 2 * self.rules.least_samples)
        self.growth.summed = n_true < n_false if is_offered else -1
        self.part(slot, new)
        if direction:
            # Everything below keeps to its side of the middle of both values.
            border = (self.value(&true) + self.value(&false)) / 2
            if direction > 0:
                true.low = false.high = border
            else:
                true.high = false.low = border
        for w in range(self.features.n_group_words):
            self.allowed[slot, w] &= self.features.groups[
                feature * self.features.n_group_words + w]
            self.allowed[new, w] = self.allowed[slot, w]
        if n_true < n_false:
            self.leaves[slot], self.leaves[new] = false, true
        else:
            self.leaves[slot], self.leaves[new] = true, false
        if is_offered:
            self.offer(slot)
            self.offer(new)
        return 0

    cdef void part(self, int64_t slot, int64_t new) noexcept nogil:
        """Sort the members of a leaf into those of its children, and add these up.

        The sums of the larger child are what the smaller one leaves of the parent.
        """
        cdef int64_t first = self.leaves[slot].first, n = self.leaves[slot].end - first
        cdef int64_t n_codes = self.features.n_codes
        self.growth.members = self.members + first
        self.growth.feature = self.leaves[slot].split.feature
        if self.growth.summed < 0:
            self.run(sklb_part_piece, n)
        else:
            self.add(sklb_part_piece, n, new)
            sklb_add_sums(self.sums + slot * n_codes, self.sums + new * n_codes, n_codes,
                          -1)
        self.run(sklb_gather_piece, n)

    cdef double value(self, sklb_leaf *leaf) except? -1 nogil:
        """Compute the value of a leaf within its bounds."""
        cdef double value = 0
        if self.refit is None:
            return sklb_leaf_value(leaf.total, &self.rules, leaf.low, leaf.high, &value)
        with gil:
            value = self.refit(leaf.first, leaf.end)
        return fmin(fmax(value, leaf.low), leaf.high)


def check_trees(const int32_t[::1] features, const int32_t[:, ::1] children,
                const double[::1] values, const int32_t[::1] roots, int64_t n_features):
    """Require that walks through trees end in a leaf, and read features that exist."""
    cdef Py_ssize_t node
    cdef bint is_sound = True
    cdef int64_t n_nodes = features.shape[0]
    require(children.shape[0] == n_nodes and children.shape[1] == 2
            and values.shape[0] == n_nodes
            and (roots.shape[0] == 0 or sklb_all_below(&roots[0], roots.shape[0], n_nodes)),
            "its trees do not fit each other")
    for node in range(n_nodes):
        if features[node] >= 0:
            is_sound &= (features[node] < n_features
                         and node < children[node, 0] < n_nodes
                         and node < children[node, 1] < n_nodes)
    require(is_sound, "a tree names features or nodes that do not exist")


def add_leaf_values(const uint64_t[:, ::1] words, const int32_t[::1] features,
                    const int32_t[:, ::1] children, const double[::1] values,
                    const int32_t[::1] roots, double[:, ::1] scores):
    """Add the values of the leaves that samples reach, tree k to column k % n_columns.

    A node without a feature (-1) is a leaf. Children come after their parents.
    """
    cdef sklb_trees trees
    check_trees(features, children, values, roots, 64 * words.shape[1])
    require(words.shape[0] == scores.shape[0] and scores.shape[1] > 0,
            "its trees have no scores to add to")
    if words.shape[0] and roots.shape[0]:
        trees = sklb_trees(&features[0], &children[0, 0], &roots[0], &values[0],
                           roots.shape[0])
        with nogil:
            sklb_walk(&trees, &words[0, 0], words.shape[1], words.shape[0],
                      &scores[0, 0], scores.shape[1])
