# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Growing and walking trees over packed bits: sums by code, splits, members of leaves.

Callers allocate and validate; the loops release the GIL.
"""
from cython.view cimport array
from libc.math cimport fabs, fmax, fmin, frexp, ldexp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t

from sklboolean._core._checks cimport require, sklb_all_below

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
        double low, high
        sklb_split split
    void sklb_add_samples(const sklb_features *features, const int32_t *members, int64_t n,
                          const int32_t *derivatives, int shift, sklb_sum *sums)
    void sklb_run_sums(const sklb_sum *sums, int64_t n_codes, uint64_t *running)
    double sklb_leaf_value(sklb_sum sum, const sklb_split_rules *rules, double low,
                           double high, double *gain)
    sklb_split sklb_best_split(const sklb_features *features, const int32_t *drawn,
                               int64_t n_drawn, const uint64_t *running,
                               const sklb_leaf *leaf, const sklb_split_rules *rules)
    int64_t sklb_draw_features(const sklb_features *features, const uint64_t *allowed,
                               double share, uint64_t *seed, int32_t *order)
    int64_t sklb_part_members(const sklb_features *features, int64_t j, int32_t *members,
                              int64_t n, int32_t *others)
    void sklb_round(const double *numbers, int64_t n, double unit, int32_t *rounded)

# Slopes and curvatures are rounded to whole numbers of so many binary digits at most.
cdef int DIGITS = 30, SMALLEST_EXPONENT = -1074  # of a float64


def extend_codes(const uint64_t[:, ::1] words, int64_t feature, uint16_t[::1] codes,
                 uint8_t[::1] is_present):
    """Append the bit of a feature to the code of each sample, and mark the new codes."""
    cdef Py_ssize_t i, word = feature >> 6
    cdef int place = feature & 63
    with nogil:
        for i in range(codes.shape[0]):
            codes[i] = <uint16_t> (2 * codes[i] + ((words[i, word] >> place) & 1))
            is_present[codes[i]] = 1


cdef double unit_of(const double[::1] numbers, int n_digits) noexcept nogil:
    """Choose the power of two whose multiples the numbers are rounded to."""
    cdef double largest = 0
    cdef int exponent = n_digits
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        largest = fmax(largest, fabs(numbers[i]))
    if largest > 0:
        frexp(largest, &exponent)
    return ldexp(1.0, max(exponent - n_digits, SMALLEST_EXPONENT))


cdef class GrowingTree:
    """A tree that grows, the samples of its leaves, and the sums over them.

    Parameters
    ----------
    blocks : BitBlocks
    directions : ndarray of shape (n_features,), int8
    groups : ndarray of shape (n_features, n_words), uint64
        Bits of the groups of features that may meet in a conjunction.
    sums : ndarray of shape (max_leaf_nodes, n_codes, 2), int64
        Room for the sums of so many leaves: slopes, and curvatures with counts.
    most_at_once : int
        Leaves of more samples are summed by ``add_on_threads(first, end, slot)``.
    """
    cdef:
        object held, refit, add_on_threads
        sklb_features features
        sklb_split_rules rules
        sklb_leaf *leaves
        double share
        uint64_t seed
        int64_t most_at_once
        int64_t[:, :, ::1] sums
        int32_t[::1] members, others, order
        int32_t[:, ::1] derivatives
        uint64_t[::1] running
        uint64_t[:, ::1] allowed

    def __init__(self, blocks, params, directions, groups, int64_t[:, :, ::1] sums,
                 int64_t most_at_once, add_on_threads):
        cdef const uint8_t[:, ::1] codes = blocks.codes, is_true = blocks.is_true
        cdef const int32_t[::1] starts = blocks.starts, edges = blocks.edges
        cdef const int32_t[::1] block_of_feature = blocks.block_of_feature
        cdef const int64_t[::1] indptr = blocks.indptr
        cdef const int8_t[::1] ways = directions
        cdef const uint64_t[:, ::1] words = groups
        cdef Py_ssize_t n_samples = codes.shape[0], n_features = ways.shape[0], k
        cdef Py_ssize_t n_slots = sums.shape[0], n_sums = sums.shape[1] + 1
        cdef uint8_t[::1] room = array((n_slots * sizeof(sklb_leaf),), 1, "B")
        self.features = sklb_features(
            &codes[0, 0], &is_true[0, 0], &starts[0], &block_of_feature[0], &edges[0],
            &indptr[0], &ways[0], &words[0, 0], codes.shape[1], sums.shape[1], n_features,
            words.shape[1])
        self.leaves = <sklb_leaf *> &room[0]
        self.held = blocks, directions, groups, room
        self.rules.l2, self.rules.least_curvature = params.l2, params.least_curvature
        self.rules.least_samples = params.min_samples_leaf
        self.share, self.sums = params.max_features, sums
        self.most_at_once, self.add_on_threads = most_at_once, add_on_threads
        self.others = array((n_samples,), sizeof(int32_t), "i")
        self.order = array((n_features,), sizeof(int32_t), "i")
        self.derivatives = array((n_samples, 2), sizeof(int32_t), "i")
        self.running = array((2 * n_sums,), sizeof(uint64_t), "Q")
        self.allowed = array((n_slots, words.shape[1]), sizeof(uint64_t), "Q")
        for k in range(n_features):
            self.order[k] = <int32_t> k

    def grow(self, int32_t[::1] members, const double[::1] slopes,
             const double[::1] curvatures, double bound, uint64_t seed, refit,
             int32_t[::1] features, int32_t[:, ::1] children, double[::1] values,
             double[::1] gains, int32_t[:, ::1] ranges):
        """Grow a tree into arrays of nodes, and note node, first and end of each leaf.

        ``refit(first, end)`` computes the value of a leaf, where it is not None.

        Returns
        -------
        n_leaves : int
        """
        cdef int64_t n_leaves = 1, k, best, node
        self.members, self.seed, self.refit = members, seed, refit
        with nogil:
            self.begin(slopes, curvatures, bound)
            self.add(0)
            self.offer(0)
            while n_leaves < self.sums.shape[0]:
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
                if n_leaves < self.sums.shape[0]:
                    self.offer_both(best, n_leaves - 1)
            for k in range(n_leaves):
                ranges[k, 0] = <int32_t> self.leaves[k].node
                ranges[k, 1] = <int32_t> self.leaves[k].first
                ranges[k, 2] = <int32_t> self.leaves[k].end
                values[self.leaves[k].node] = self.value(&self.leaves[k])
        return n_leaves

    cdef bint comes_before(self, int64_t k, int64_t other) noexcept nogil:
        """Tell whether leaf k is split first: of equal gains the older one."""
        cdef double gain = self.leaves[k].split.gain, least = self.leaves[other].split.gain
        return gain > least or (
            gain == least and self.leaves[k].node < self.leaves[other].node)

    cdef void begin(self, const double[::1] slopes, const double[::1] curvatures,
                    double bound) noexcept nogil:
        """Round slopes and curvatures to integers; all samples are one leaf."""
        cdef int64_t n = self.members.shape[0], k
        cdef int shift = 0
        cdef sklb_leaf root
        while n >> shift:
            shift += 1
        # Sums of curvatures leave room for the number of samples below them.
        self.rules.shift = shift
        self.rules.slope_unit = unit_of(slopes, DIGITS)
        self.rules.curvature_unit = unit_of(curvatures, min(DIGITS, 61 - 2 * shift))
        sklb_round(&slopes[0], slopes.shape[0], self.rules.slope_unit,
                   &self.derivatives[0, 0])
        sklb_round(&curvatures[0], slopes.shape[0], self.rules.curvature_unit,
                   &self.derivatives[0, 1])
        root.node, root.first, root.end, root.low, root.high = 0, 0, n, -bound, bound
        root.total = sklb_sum(0, 0)
        for k in range(n):
            root.total.slope += self.derivatives[self.members[k], 0]
            root.total.rest += self.derivatives[self.members[k], 1]
        root.total.rest = (root.total.rest << shift) + n
        root.split = sklb_split(0, -1, sklb_sum(0, 0))
        self.leaves[0] = root
        self.allowed[0, :] = ~<uint64_t> 0

    def add_samples(self, int64_t first, int64_t end, int64_t[:, ::1] sums):
        """Make sums those over some of the samples."""
        with nogil:
            sklb_add_samples(&self.features, &self.members[0] + first, end - first,
                             &self.derivatives[0, 0], self.rules.shift,
                             <sklb_sum *> &sums[0, 0])

    cdef int add(self, int64_t slot) except -1 nogil:
        """Add up the samples of a leaf."""
        cdef int64_t first = self.leaves[slot].first, end = self.leaves[slot].end
        if end - first > self.most_at_once:
            with gil:
                self.add_on_threads(first, end, slot)
        else:
            sklb_add_samples(&self.features, &self.members[0] + first, end - first,
                             &self.derivatives[0, 0], self.rules.shift,
                             <sklb_sum *> &self.sums[slot, 0, 0])
        return 0

    cdef void offer(self, int64_t slot) noexcept nogil:
        """Find the best split of a leaf."""
        cdef int64_t n_drawn
        if self.leaves[slot].end - self.leaves[slot].first < 2 * self.rules.least_samples:
            return
        n_drawn = sklb_draw_features(&self.features, &self.allowed[slot, 0], self.share,
                                     &self.seed, &self.order[0])
        sklb_run_sums(<sklb_sum *> &self.sums[slot, 0, 0], self.features.n_codes,
                      &self.running[0])
        self.leaves[slot].split = sklb_best_split(
            &self.features, &self.order[0], n_drawn, &self.running[0], &self.leaves[slot],
            &self.rules)

    cdef int divide(self, int64_t slot, int64_t new) except -1 nogil:
        """Split a leaf; the larger child keeps its slot."""
        cdef sklb_leaf true = self.leaves[slot], false = true
        cdef int64_t feature = true.split.feature, w
        cdef int direction = self.features.directions[feature]
        cdef double border
        true.end = true.first + sklb_part_members(
            &self.features, feature, &self.members[0] + true.first, true.end - true.first,
            &self.others[0])
        false.first = true.end
        true.total = true.split.where_true
        false.total.slope -= true.total.slope
        false.total.rest -= true.total.rest
        false.node, true.node = 2 * new - 1, 2 * new
        true.split = false.split = sklb_split(0, -1, sklb_sum(0, 0))
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
        if true.end - true.first < false.end - false.first:
            self.leaves[slot], self.leaves[new] = false, true
        else:
            self.leaves[slot], self.leaves[new] = true, false
        return 0

    cdef int offer_both(self, int64_t slot, int64_t new) except -1 nogil:
        """Add up the smaller child; the larger one is what it leaves of the parent."""
        cdef int64_t c
        if self.leaves[slot].end - self.leaves[slot].first < 2 * self.rules.least_samples:
            return 0
        self.add(new)
        for c in range(self.features.n_codes):
            self.sums[slot, c, 0] -= self.sums[new, c, 0]
            self.sums[slot, c, 1] -= self.sums[new, c, 1]
        self.offer(slot)
        self.offer(new)
        return 0

    cdef double value(self, sklb_leaf *leaf) except? -1 nogil:
        """Compute the value of a leaf within its bounds."""
        cdef double value = 0
        if self.refit is None:
            return sklb_leaf_value(leaf.total, &self.rules, leaf.low, leaf.high, &value)
        with gil:
            value = self.refit(leaf.first, leaf.end)
        return fmin(fmax(value, leaf.low), leaf.high)


def add_to_members(const int32_t[::1] members, const int32_t[:, ::1] ranges,
                   const double[::1] values, double[::1] scores):
    """Add the values of leaves to the scores of their samples."""
    cdef Py_ssize_t k, i
    with nogil:
        for k in range(ranges.shape[0]):
            for i in range(ranges[k, 1], ranges[k, 2]):
                scores[members[i]] += values[ranges[k, 0]]


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
    cdef Py_ssize_t i, k, node, j
    cdef int64_t n_columns = scores.shape[1]
    check_trees(features, children, values, roots, 64 * words.shape[1])
    require(words.shape[0] == scores.shape[0] and n_columns > 0,
            "its trees have no scores to add to")
    with nogil:
        for i in range(words.shape[0]):
            for k in range(roots.shape[0]):
                node = roots[k]
                while features[node] >= 0:
                    j = features[node]
                    node = children[node, (words[i, j >> 6] >> (j & 63)) & 1]
                scores[i, k % n_columns] += values[node]
