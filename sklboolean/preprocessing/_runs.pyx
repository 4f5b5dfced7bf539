# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Consecutive columns of each sample as the index arrays of a CSR matrix."""
from libc.stdint cimport int32_t, int64_t

from sklboolean._core._checks cimport require, sklb_all_below, sklb_is_indptr

# So many columns are written at once; those too many are overwritten by what follows.
cdef enum:
    WIDTH = 8


cdef void fill(const int32_t[:, ::1] codes, const int64_t[::1] starts,
               const int32_t[::1] first, const int32_t[::1] length,
               int32_t[::1] indptr, int32_t[::1] indices) noexcept nogil:
    """Write the runs of all samples. ``indices`` has room for all of them."""
    cdef:
        Py_ssize_t i, j, k, n_samples = codes.shape[1], n_columns = codes.shape[0]
        int64_t place, at = 0, safe = indices.shape[0] - WIDTH
        int32_t column
        int32_t *out
    indptr[0] = 0
    for i in range(n_samples):
        for j in range(n_columns):
            place = starts[j] + codes[j, i]
            column = first[place]
            if at <= safe:
                out = &indices[at]
                for k in range(WIDTH):
                    out[k] = column + <int32_t> k
                for k in range(WIDTH, length[place]):
                    out[k] = column + <int32_t> k
            else:
                for k in range(length[place]):
                    indices[at + k] = column + <int32_t> k
            at += length[place]
        indptr[i + 1] = <int32_t> at


def runs_to_csr(const int32_t[:, ::1] codes, const int64_t[::1] starts,
                const int32_t[::1] first, const int32_t[::1] length, int64_t n_out, allocate):
    """Write the columns of each sample, ascending, as ``indptr`` and ``indices``.

    Parameters
    ----------
    codes : array of shape (n_parts, n_samples)
        For each part of the columns which run of consecutive ones the sample has.
    starts : array of shape (n_parts + 1,)
        Where the runs of each part are in ``first`` and ``length``.
    first, length : array of shape (n_runs,)
        First column and number of columns of each run.
    n_out : int
        Number of columns.
    allocate : callable
        ``numpy.empty``.

    Returns
    -------
    indptr, indices : ndarray
        Of int32; more than 2**31 - 1 entries are an error.
    """
    cdef:
        Py_ssize_t i, j, k, n_samples = codes.shape[1], n_parts = codes.shape[0]
        int64_t total = 0
        bint fits = True
    require(starts.shape[0] == n_parts + 1 and first.shape[0] == length.shape[0]
            and sklb_is_indptr(&starts[0], n_parts, first.shape[0]),
            "runs of columns do not fit their parts")
    for k in range(first.shape[0]):
        require(first[k] >= 0 and length[k] >= 0
                and <int64_t> first[k] + length[k] <= n_out,
                "a run has columns that do not exist")
    with nogil:
        if n_samples:
            for j in range(n_parts):
                fits &= sklb_all_below(&codes[j, 0], n_samples, starts[j + 1] - starts[j])
        if fits:
            for j in range(n_parts):
                for i in range(n_samples):
                    total += length[starts[j] + codes[j, i]]
    require(fits, "a sample has a run that does not exist")
    if total >= 2**31:
        raise ValueError(
            f"The sparse output would have {total} entries, more than 32-bit indices can "
            "number. Transform fewer samples at a time.")
    indptr, indices = allocate(n_samples + 1, "int32"), allocate(total, "int32")
    cdef int32_t[::1] indptr_view = indptr, indices_view = indices
    with nogil:
        fill(codes, starts, first, length, indptr_view, indices_view)
    return indptr, indices
