# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The k largest values of each row, kept while a matrix comes in blocks of columns."""
from libc.stdint cimport int64_t

from sklboolean._core._checks cimport require, sklb_all_below_64


def keep_largest(const double[:, ::1] K, const int64_t[::1] queries,
                 const int64_t[::1] samples, double[:, ::1] values, int64_t[:, ::1] indices):
    """Merge a block of values into the largest values of each query, in place.

    ``K[i, j]`` is the value of ``queries[i]`` with ``samples[j]``. ``values[q]`` holds
    the largest values of query q so far, in falling order, and ``indices[q]`` their
    samples, equal values in rising order; ``values`` starts at -inf.
    """
    cdef:
        Py_ssize_t i, j, q, place, last = values.shape[1] - 1
        double value
        int64_t sample
    require(K.shape[0] == queries.shape[0] and K.shape[1] == samples.shape[0]
            and values.shape[0] == indices.shape[0] and values.shape[1] > 0
            and values.shape[1] == indices.shape[1], "the values do not fit the samples")
    if not (K.shape[0] and K.shape[1]):
        return
    require(sklb_all_below_64(&queries[0], queries.shape[0], values.shape[0]),
            "there are fewer queries")
    with nogil:
        for i in range(K.shape[0]):
            q = queries[i]
            for j in range(K.shape[1]):
                value = K[i, j]
                if value < values[q, last]:
                    continue
                sample = samples[j]
                if value == values[q, last] and sample > indices[q, last]:
                    continue
                place = last
                while place > 0 and (values[q, place - 1] < value or (
                        values[q, place - 1] == value and indices[q, place - 1] > sample)):
                    values[q, place] = values[q, place - 1]
                    indices[q, place] = indices[q, place - 1]
                    place -= 1
                values[q, place], indices[q, place] = value, sample
