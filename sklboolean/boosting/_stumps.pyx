# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Columns of bits, and the weight of the rows where each of them is true.

Weights are 15-bit integers with a sign. Callers allocate and validate; the functions
add to ``sums`` and release the GIL.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklboolean._core._checks cimport require, sklb_all_below, sklb_is_indptr
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "masked_sums.h" nogil:
    const int SKLB_MASKED_LANES
    void sklb_masked_sums(const int16_t *weights, int64_t n_words, const uint32_t *panels,
                          int64_t stride, int64_t n_panels, int64_t *sums)
    void sklb_transpose_32(uint32_t *square)
    void sklb_choose_32(uint32_t word, int16_t if_false, int16_t if_true, int16_t *out)

sklb_cpu_level = &cpu_level

LANES = SKLB_MASKED_LANES


def fill_column_panels(const uint64_t[:, ::1] words, uint32_t[:, :, ::1] panels):
    """Turn packed rows into columns.

    Bit r of ``panels[p, w, c]`` is row 32 w + r of feature 16 p + c; past the last row
    and past the last feature bits are 0.
    """
    cdef:
        Py_ssize_t w, r, f, half, p, n_samples, n_panels = panels.shape[0]
        uint32_t square[32]
    require(panels.shape[2] == SKLB_MASKED_LANES, "the panels have another width")
    with nogil:
        for w in range(panels.shape[1]):
            n_samples = min(<Py_ssize_t> 32, words.shape[0] - 32 * w)
            for f in range(2 * words.shape[1]):
                memset(square, 0, sizeof(square))
                for r in range(n_samples):
                    square[r] = <uint32_t> (words[32 * w + r, f >> 1] >> (32 * (f & 1)))
                sklb_transpose_32(square)
                for half in range(2):
                    p = 2 * f + half
                    if p < n_panels:
                        memcpy(&panels[p, w, 0], square + half * SKLB_MASKED_LANES,
                               SKLB_MASKED_LANES * sizeof(uint32_t))


def add_panel_sums(const int16_t[::1] weights, const uint32_t[:, :, ::1] panels,
                   int64_t[::1] sums):
    """Add to ``sums[16 p + c]`` the weights of the rows where column c of panel p is true."""
    cdef:
        int64_t n_words = panels.shape[1], n_panels = panels.shape[0]
        int64_t n_whole = weights.shape[0] // 32
        int16_t last[32]
    require(panels.shape[2] == SKLB_MASKED_LANES and sums.shape[0] >= 16 * n_panels
            and weights.shape[0] <= 32 * n_words, "the weights do not fit the columns")
    if n_panels == 0 or n_words == 0:
        return
    with nogil:
        sklb_masked_sums(&weights[0], n_whole, &panels[0, 0, 0], n_words, n_panels, &sums[0])
        if n_whole < n_words:
            memset(last, 0, sizeof(last))
            memcpy(last, &weights[32 * n_whole],
                   (weights.shape[0] - 32 * n_whole) * sizeof(int16_t))
            sklb_masked_sums(last, 1, &panels[0, n_whole, 0], n_words, n_panels, &sums[0])


def add_posting_sums(const int16_t[::1] weights, const int64_t[::1] indptr,
                     const int32_t[::1] indices, int64_t[::1] sums):
    """Add to ``sums[j]`` the weights of the rows listed for column j."""
    cdef Py_ssize_t j, k
    cdef int64_t total
    require(indptr.shape[0] == sums.shape[0] + 1
            and sklb_is_indptr(&indptr[0], sums.shape[0], indices.shape[0])
            and sklb_all_below(&indices[0] + indptr[0], indptr[sums.shape[0]] - indptr[0],
                               weights.shape[0]),
            "the weights do not fit the columns")
    with nogil:
        for j in range(sums.shape[0]):
            total = 0
            for k in range(indptr[j], indptr[j + 1]):
                total += weights[indices[k]]
            sums[j] += total


def choose_by_column(const uint32_t[:, :, ::1] panels, Py_ssize_t column,
                     int16_t if_false, int16_t if_true, int16_t[::1] chosen):
    """Write one of two values for each row, by its bit in one column."""
    cdef:
        Py_ssize_t w, n = chosen.shape[0], p = column // SKLB_MASKED_LANES
        Py_ssize_t n_whole = n // 32, c = column % SKLB_MASKED_LANES
        int16_t last[32]
    require(0 <= column < SKLB_MASKED_LANES * panels.shape[0]
            and panels.shape[2] == SKLB_MASKED_LANES and n <= 32 * panels.shape[1],
            "a stump asks for a feature that does not exist")
    with nogil:
        for w in range(n_whole):
            sklb_choose_32(panels[p, w, c], if_false, if_true, &chosen[32 * w])
        if 32 * n_whole < n:
            sklb_choose_32(panels[p, n_whole, c], if_false, if_true, last)
            memcpy(&chosen[32 * n_whole], last, (n - 32 * n_whole) * sizeof(int16_t))


def add_stump_votes(const uint64_t[:, ::1] words, const int64_t[:, ::1] tests,
                    int64_t[:, ::1] votes):
    """Add the votes of stumps on packed rows, each for one of two columns of ``votes``.

    A line of ``tests`` has the column where its conjunction is false, that where it is
    true, and literals: ``2 * feature + 1``, ``2 * feature`` for a negation, -1 for none.
    """
    cdef:
        Py_ssize_t first, row, t, l, n_tests = tests.shape[0], n_columns = tests.shape[1]
        int64_t literal, most = 128 * words.shape[1], n_classes = votes.shape[1]
        bint fits = n_columns >= 2 and votes.shape[0] == words.shape[0]
        uint64_t holds
    for t in range(n_tests):
        for l in range(n_columns):
            fits &= (0 <= tests[t, l] < n_classes) if l < 2 else tests[t, l] < most
    require(fits, "a stump asks for a feature or a class that does not exist")
    for first from 0 <= first < words.shape[0] by 4096:
        PyErr_CheckSignals()
        with nogil:
            for row in range(first, min(first + 4096, words.shape[0])):
                for t in range(n_tests):
                    holds = 1
                    for l in range(2, n_columns):
                        literal = tests[t, l]
                        if literal >= 0:
                            holds &= ((words[row, literal >> 7] >> (literal >> 1 & 63))
                                      ^ ~literal)
                    votes[row, tests[t, holds & 1]] += 1


def sum_weights(const int16_t[::1] weights):
    """Return the sum of all weights."""
    cdef Py_ssize_t i, first, n = weights.shape[0]
    cdef int64_t total = 0
    cdef int32_t part
    with nogil:
        for first from 0 <= first < n by 32768:
            part = 0
            for i in range(first, min(first + 32768, n)):
                part += weights[i]
            total += part
    return total


def add_masked_panel_sums(const int16_t[::1] weights, const uint32_t[:, ::1] masks,
                          const uint32_t[:, :, ::1] panels, int16_t[::1] scratch,
                          int64_t[:, ::1] sums):
    """Add to ``sums[b, 16 p + c]`` the weights where column c of panel p is true.

    Only rows of which the bit in ``masks[b]`` is set count. ``scratch`` has a place for
    each bit of a mask.
    """
    cdef:
        Py_ssize_t b, r, w, n = weights.shape[0]
        int64_t n_words = panels.shape[1], n_panels = panels.shape[0]
        int16_t keep[32]
    require(panels.shape[2] == SKLB_MASKED_LANES and sums.shape[1] >= 16 * n_panels
            and n <= 32 * n_words and masks.shape[1] == n_words
            and sums.shape[0] == masks.shape[0] and scratch.shape[0] == 32 * n_words,
            "the masks or weights do not fit the columns")
    if n_panels == 0 or n_words == 0:
        return
    with nogil:
        for b in range(masks.shape[0]):
            for w in range(n_words):
                sklb_choose_32(masks[b, w], 0, -1, keep)
                for r in range(min(<Py_ssize_t> 32, n - 32 * w)):
                    scratch[32 * w + r] = weights[32 * w + r] & keep[r]
            for r in range(n, 32 * n_words):
                scratch[r] = 0
            sklb_masked_sums(&scratch[0], n_words, &panels[0, 0, 0], n_words, n_panels,
                             &sums[b, 0])
