# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Checks of what compiled functions are given, before they release the GIL.

Callers have validated what users pass. What is left are fitted attributes that somebody
edited, and files that are damaged: a ValueError instead of a crash.
"""
from libc.stdint cimport int32_t, int64_t

cdef extern from "checks.h" nogil:
    bint sklb_all_below(const int32_t *indices, int64_t n, int64_t size)
    bint sklb_all_below_64(const int64_t *indices, int64_t n, int64_t size)
    bint sklb_is_indptr(const int64_t *starts, int64_t n, int64_t end)


cdef inline int damaged(what) except -1:
    """Raise the error of a damaged model."""
    raise ValueError(
        f"The model is damaged: {what}. Was a fitted attribute edited? Fit the "
        "estimator again, or load it again from a good file."
    )


cdef inline int require(bint holds, str what) except -1:
    """Raise the error of a damaged model unless the condition holds."""
    return 0 if holds else damaged(what)


cdef inline int require_below(const int32_t[::1] numbers, int64_t size, str name) except -1:
    """Require 0 <= numbers < size."""
    if not sklb_all_below(&numbers[0], numbers.shape[0], size):
        damaged(f"{name} has numbers outside 0 to {size - 1}")
    return 0


cdef inline int require_csr(const int64_t[::1] indptr, const int32_t[::1] indices,
                            int64_t n_samples, int64_t n_columns) except -1:
    """Require the index arrays of a CSR matrix, or of some of its samples."""
    require(indptr.shape[0] == n_samples + 1, "indptr has another length than the data")
    require(sklb_is_indptr(&indptr[0], n_samples, indices.shape[0]),
            "indptr does not rise from sample to sample")
    return require(sklb_all_below(&indices[0] + indptr[0], indptr[n_samples] - indptr[0],
                                  n_columns),
                   "indices has numbers of columns that do not exist")


cdef inline int require_csr_samples(const int64_t[::1] indptr, const int32_t[::1] indices,
                                    const int64_t[::1] samples, int64_t n_columns) except -1:
    """Require what is read of some samples of a CSR matrix; their numbers are checked."""
    cdef Py_ssize_t position
    cdef int64_t first, end, n = indices.shape[0]
    cdef bint inside = True
    with nogil:
        for position in range(samples.shape[0]):
            first, end = indptr[samples[position]], indptr[samples[position] + 1]
            inside = 0 <= first <= end <= n and (
                first == end or sklb_all_below(&indices[first], end - first, n_columns))
            if not inside:
                break
    return require(inside, "indptr or indices are those of another matrix")


cdef inline int require_shape(const double[:, ::1] array, Py_ssize_t n_samples,
                              Py_ssize_t n_columns, str name) except -1:
    """Require the shape of a matrix."""
    if array.shape[0] != n_samples or array.shape[1] != n_columns:
        damaged(f"{name} has the shape ({array.shape[0]}, {array.shape[1]}) instead of "
                f"({n_samples}, {n_columns})")
    return 0
