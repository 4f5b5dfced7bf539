# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Packing of Boolean rows into 64-bit words and of words into panels.

Callers allocate; the functions fill and release the GIL.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from sklboolean._core._checks cimport (
    require,
    require_csr,
    sklb_all_below,
    sklb_all_below_64,
    sklb_is_indptr,
)
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "pack.h" nogil:
    int sklb_pack_row(const double *x, int64_t n, double threshold, uint64_t *words)
    void sklb_transpose_block(uint64_t *block)

cdef extern from "one_hot_levels.h" nogil:
    bint sklb_fill_levels(const uint64_t *words, int64_t n_words, const uint8_t *group,
                          const uint8_t *level, uint8_t none, uint8_t *levels, int64_t stride)

sklb_cpu_level = &cpu_level

cdef enum:
    PANEL = 32  # columns in a panel, as in tiles.h


cdef inline uint64_t word_from_bytes(const uint8_t *b) noexcept nogil:
    # Eight 0/1 bytes become eight bits by one multiplication: byte i of the product's
    # top lane collects bit i.
    cdef uint64_t word = 0, eight
    cdef int k
    for k in range(8):
        memcpy(&eight, b + 8 * k, 8)
        word |= ((eight * <uint64_t> 0x0102040810204080u) >> 56) << (8 * k)
    return word


cdef int require_words(const uint64_t[:, ::1] words, Py_ssize_t n_samples,
                       Py_ssize_t n_features) except -1:
    return require(words.shape[0] == n_samples and words.shape[1] >= (n_features + 63) // 64
                   and words.shape[1] >= 1, "the packed samples have another shape")


def transpose(const uint64_t[:, ::1] words, uint64_t[:, ::1] columns):
    """Write the samples in which each feature is true, as words."""
    cdef Py_ssize_t i, j, w, n = words.shape[0], n_features = columns.shape[0]
    cdef uint64_t block[64]
    require_words(words, n, n_features)
    require(columns.shape[1] == (n + 63) // 64, "the columns have another shape")
    with nogil:
        for i in range(columns.shape[1]):
            for w in range((n_features + 63) // 64):
                for j in range(64):
                    block[j] = words[64 * i + j, w] if 64 * i + j < n else 0
                sklb_transpose_block(block)
                for j in range(min(64, n_features - 64 * w)):
                    columns[64 * w + j, i] = block[j]


def pack_bytes(const uint8_t[:, ::1] X, uint64_t[:, ::1] words, bint strict):
    """Set bit j of row i of ``words`` where ``X[i, j]`` is not 0.

    Returns the position i * n_features + j of an entry other than 0 and 1 when
    ``strict``, else -1.
    """
    cdef:
        Py_ssize_t i, j, w, width, n = X.shape[1]
        uint8_t buffer[64]
        uint8_t large
        Py_ssize_t bad = -1
    require_words(words, X.shape[0], n)
    with nogil:
        for i in range(X.shape[0]):
            large = 0
            for w in range(words.shape[1]):
                width = min(64, n - 64 * w)
                if width < 64:
                    memset(buffer, 0, 64)
                for j in range(width):
                    large |= X[i, 64 * w + j]
                    buffer[j] = X[i, 64 * w + j] != 0
                words[i, w] = word_from_bytes(buffer)
            if strict and large > 1:
                for j in range(n):
                    if X[i, j] > 1:
                        bad = i * n + j
                        break
                break
    return bad


def pack_reals(const double[:, ::1] X, uint64_t[:, ::1] words, double threshold, bint strict):
    """Set bit j of row i of ``words`` where ``X[i, j]`` is above ``threshold``.

    Returns the position of an entry other than 0 and 1 when ``strict``, else -1.
    """
    cdef:
        Py_ssize_t i, j, n = X.shape[1]
        Py_ssize_t bad = -1
    require_words(words, X.shape[0], n)
    with nogil:
        for i in range(X.shape[0]):
            if sklb_pack_row(&X[i, 0], n, threshold, &words[i, 0]) and strict:
                for j in range(n):
                    if X[i, j] != 0 and X[i, j] != 1:
                        bad = i * n + j
                        break
                break
    return bad


def scan_csr(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] data,
             int64_t n_columns):
    """Check a CSR matrix in one pass.

    Tell whether all values are 1, and whether indices increase strictly in each row.
    Numbers of columns that do not exist are an error.
    """
    cdef:
        Py_ssize_t i, k
        int64_t first, end
        bint ones = True, ordered = True, inside = True
    require(indptr.shape[0] > 0 and data.shape[0] == indices.shape[0]
            and sklb_is_indptr(&indptr[0], indptr.shape[0] - 1, indices.shape[0]),
            "the arrays of a sparse matrix do not fit each other")
    with nogil:
        for i in range(indptr.shape[0] - 1):
            first, end = indptr[i], indptr[i + 1]
            if first == end:
                continue
            for k in range(first, end):
                ones &= data[k] == 1
            for k in range(first + 1, end):
                ordered &= indices[k - 1] < indices[k]
            inside &= sklb_all_below(&indices[first], end - first, n_columns)
    require(inside, "indices has numbers of columns that do not exist")
    return ones, ordered


def copy_samples(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] data,
                 const int64_t[::1] samples, const int64_t[::1] new_indptr,
                 int32_t[::1] new_indices, double[::1] new_data):
    """Copy some rows of a CSR matrix; ``data`` is empty where all are ones."""
    cdef:
        Py_ssize_t i
        int64_t first, start, length
        bint fits, with_data = data.shape[0] > 0
    require(new_indptr.shape[0] == samples.shape[0] + 1
            and sklb_is_indptr(&new_indptr[0], samples.shape[0], new_indices.shape[0])
            and sklb_is_indptr(&indptr[0], indptr.shape[0] - 1, indices.shape[0])
            and sklb_all_below_64(&samples[0], samples.shape[0], indptr.shape[0] - 1)
            and (not with_data or data.shape[0] == indices.shape[0]
                 and new_data.shape[0] == new_indices.shape[0]),
            "the samples are not those of the matrix")
    fits = True
    with nogil:
        for i in range(samples.shape[0]):
            first, start = indptr[samples[i]], new_indptr[i]
            length = new_indptr[i + 1] - start
            if length == 0:
                continue
            fits &= length == indptr[samples[i] + 1] - first
            if not fits:
                break
            memcpy(&new_indices[start], &indices[first], length * sizeof(int32_t))
            if with_data:
                memcpy(&new_data[start], &data[first], length * sizeof(double))
    require(fits, "the samples have other lengths")


def pack_sparse(const int64_t[::1] indptr, const int32_t[::1] indices,
                const int32_t[::1] bit_of_feature, uint64_t[:, ::1] words):
    """Set in ``words`` the bits of the features that have one (bit >= 0)."""
    cdef Py_ssize_t i, k, n_bits = 64 * words.shape[1]
    cdef int32_t bit
    cdef bint fits = True
    require_csr(indptr, indices, words.shape[0], bit_of_feature.shape[0])
    with nogil:
        for i in range(words.shape[0]):
            for k in range(indptr[i], indptr[i + 1]):
                bit = bit_of_feature[indices[k]]
                if bit >= n_bits:
                    fits = False
                elif bit >= 0:
                    words[i, bit >> 6] |= (<uint64_t> 1) << (bit & 63)
    require(fits, "a feature has a bit outside the words")


def fill_panels(const uint64_t[:, ::1] words, uint64_t[:, :, ::1] panels):
    """Copy rows into panels: ``panels[p, w, j]`` is word w of row 32 p + j."""
    cdef Py_ssize_t p, w, j, n = words.shape[0], n_words = words.shape[1], width
    require(panels.shape[0] == (n + PANEL - 1) // PANEL and panels.shape[1] == n_words
            and panels.shape[2] == PANEL, "the panels have another shape than the words")
    with nogil:
        for p in range(panels.shape[0]):
            width = min(<Py_ssize_t> PANEL, n - p * PANEL)
            if width < PANEL:
                memset(&panels[p, 0, 0], 0, n_words * PANEL * 8)
            for j in range(width):
                for w in range(n_words):
                    panels[p, w, j] = words[p * PANEL + j, w]


def fill_levels(const uint64_t[:, ::1] words, const uint8_t[::1] group,
                const uint8_t[::1] level, uint8_t none, uint8_t[:, :, ::1] levels,
                uint8_t[::1] fits):
    """Write the level of each sample in each group, and whether the samples fit.

    ``levels[p, g, j]`` is the level of row ``j + p * levels.shape[2]`` in group g; it
    holds ``none`` before. ``fits[p]`` becomes 0 where two features of one group are true
    in a row of panel p.
    """
    cdef Py_ssize_t i, p, j, width = levels.shape[2], n_bits = 64 * words.shape[1]
    cdef bint inside = True
    require(width > 0 and levels.shape[0] == (words.shape[0] + width - 1) // width
            and fits.shape[0] == levels.shape[0] and group.shape[0] == n_bits
            and level.shape[0] == n_bits, "the levels have another shape than the words")
    for i in range(n_bits):
        inside &= group[i] < levels.shape[1]
    require(inside, "a feature is in a group that does not exist")
    with nogil:
        for p in range(levels.shape[0]):
            for j in range(min(width, words.shape[0] - p * width)):
                fits[p] &= sklb_fill_levels(
                    &words[p * width + j, 0], words.shape[1], &group[0], &level[0], none,
                    &levels[p, 0, j], width)
