# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Growing and walking trees over packed bits: sums by code, splits, members of leaves.

Callers allocate and validate; the loops release the GIL.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from sklboolean._core._checks cimport require, sklb_all_below

cdef extern from "tree_sums.h" nogil:
    ctypedef struct sklb_sum:
        int64_t slope, rest
    ctypedef struct sklb_split_rules:
        double slope_unit, curvature_unit, l2, least_curvature
        int64_t least_samples
        int shift
    ctypedef struct sklb_leaf:
        sklb_sum total
        double low, high
    ctypedef struct sklb_split:
        double gain
        int64_t feature
        sklb_sum where_true
    void sklb_add_samples(const uint8_t *codes, int64_t n_blocks, const int32_t *starts,
                          const int32_t *members, int64_t n, const int32_t *derivatives,
                          int shift, sklb_sum *sums)
    void sklb_feature_sums(const sklb_sum *sums, int64_t n_codes, const int64_t *indptr,
                           const int32_t *features, sklb_sum *by_feature)
    double sklb_leaf_value(sklb_sum sum, const sklb_split_rules *rules, double low,
                           double high, double *gain)
    sklb_split sklb_best_split(const sklb_sum *by_feature, int64_t n_features,
                               const uint8_t *inverted, const uint8_t *is_allowed,
                               const int8_t *directions, const sklb_leaf *leaf,
                               const sklb_split_rules *rules)
    int64_t sklb_part_members(const uint8_t *codes, int64_t n_blocks, int64_t block,
                              const uint8_t *is_true, int32_t *members, int64_t n,
                              int32_t *others)


def extend_codes(const uint64_t[:, ::1] words, int64_t feature, uint16_t[::1] codes,
                 uint8_t[::1] is_present):
    """Append the bit of a feature to the code of each sample, and mark the new codes."""
    cdef Py_ssize_t i, word = feature >> 6
    cdef int place = feature & 63
    with nogil:
        for i in range(codes.shape[0]):
            codes[i] = <uint16_t> (2 * codes[i] + ((words[i, word] >> place) & 1))
            is_present[codes[i]] = 1


cdef class LeafSums:
    """The samples of a tree's leaves, and the sums over them.

    Parameters
    ----------
    blocks : BitBlocks
    sums : ndarray of shape (n_slots, n_codes, 2), int64
        Room for the sums of so many leaves: slopes, and curvatures with counts.
    by_feature : ndarray of shape (n_features, 2), int64
    others : ndarray of shape (n_samples,), int32
    """
    cdef:
        const uint8_t[:, ::1] codes
        const int32_t[::1] starts, block_of_feature, listed
        const int64_t[::1] indptr
        const uint8_t[::1] inverted
        const uint8_t[:, ::1] is_true
        const int32_t[:, ::1] derivatives
        int64_t[:, :, ::1] sums
        int64_t[:, ::1] by_feature
        int32_t[::1] members, others
        sklb_split_rules rules

    def __init__(self, blocks, int64_t[:, :, ::1] sums, int64_t[:, ::1] by_feature,
                 int32_t[::1] others):
        self.codes, self.starts = blocks.codes, blocks.starts
        self.block_of_feature, self.is_true = blocks.block_of_feature, blocks.is_true
        self.indptr, self.listed = blocks.indptr, blocks.listed
        self.inverted = blocks.inverted
        self.sums, self.by_feature, self.others = sums, by_feature, others

    def begin(self, int32_t[::1] members, const int32_t[:, ::1] derivatives, units,
              int shift, double l2, int64_t least_samples, double least_curvature):
        """Begin a tree with all its samples, and their slopes and curvatures."""
        self.members, self.derivatives = members, derivatives
        self.rules.slope_unit, self.rules.curvature_unit = units
        self.rules.shift, self.rules.l2 = shift, l2
        self.rules.least_samples = least_samples
        self.rules.least_curvature = least_curvature

    def add(self, int64_t first, int64_t end, int64_t[:, ::1] sums):
        """Make sums those over some of the samples."""
        with nogil:
            memset(&sums[0, 0], 0, sums.shape[0] * sizeof(sklb_sum))
            if end > first:
                sklb_add_samples(&self.codes[0, 0], self.codes.shape[1], &self.starts[0],
                                 &self.members[first], end - first, &self.derivatives[0, 0],
                                 self.rules.shift, <sklb_sum *> &sums[0, 0])

    def subtract(self, int64_t slot, int64_t other):
        """Subtract the sums of another slot."""
        cdef int64_t *sums = &self.sums[slot, 0, 0]
        cdef int64_t *others = &self.sums[other, 0, 0]
        cdef Py_ssize_t k
        with nogil:
            for k in range(2 * self.sums.shape[1]):
                sums[k] -= others[k]

    def best_split(self, int64_t slot, total, double low, double high,
                   const uint8_t[::1] is_allowed, const int8_t[::1] directions):
        """Find the best split of a leaf: gain, feature or -1, sums where it is true."""
        cdef sklb_leaf leaf
        cdef sklb_split best
        cdef sklb_sum *by_feature = <sklb_sum *> &self.by_feature[0, 0]
        leaf.total.slope, leaf.total.rest = total
        leaf.low, leaf.high = low, high
        with nogil:
            memset(by_feature, 0, self.by_feature.shape[0] * sizeof(sklb_sum))
            sklb_feature_sums(<sklb_sum *> &self.sums[slot, 0, 0], self.sums.shape[1],
                              &self.indptr[0], &self.listed[0], by_feature)
            best = sklb_best_split(by_feature, self.by_feature.shape[0], &self.inverted[0],
                                   &is_allowed[0], &directions[0], &leaf, &self.rules)
        return best.gain, best.feature, (best.where_true.slope, best.where_true.rest)

    def value(self, total, double low, double high):
        """Compute the value of a leaf."""
        cdef double gain
        cdef sklb_sum sum_
        sum_.slope, sum_.rest = total
        return sklb_leaf_value(sum_, &self.rules, low, high, &gain)

    def part(self, int64_t feature, int64_t first, int64_t end):
        """Put the samples of a leaf where a feature is true first, and count them."""
        cdef int64_t block = self.block_of_feature[feature], n_true
        with nogil:
            n_true = sklb_part_members(&self.codes[0, 0], self.codes.shape[1], block,
                                       &self.is_true[feature, 0], &self.members[first],
                                       end - first, &self.others[0])
        return n_true


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
