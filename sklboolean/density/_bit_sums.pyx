# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Sums over samples of bits, of what a gradient needs of hidden units (see bit_sums.inc).

Callers allocate and validate; the function releases the GIL.
"""
from libc.stdint cimport int64_t, uint8_t

from sklboolean._core._checks cimport require
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "bit_sums.inc" nogil:
    ctypedef struct sklb_bits:
        int64_t n_bytes, n_panels
        const double *biases
        const double *tables
        double *products
        double *hidden
    double sklb_sum_bits(const sklb_bits *, const uint8_t *samples, const double *weights,
                         int64_t n, double *room)
    int SKLB_BITS_UNITS, SKLB_BITS_ROWS

UNITS = SKLB_BITS_UNITS

sklb_cpu_level = &cpu_level


def sum_bits(const uint8_t[:, ::1] samples, const double[::1] weights,
             const double[:, ::1] biases, const double[:, :, :, ::1] tables,
             double[:, :, :, ::1] products, double[:, ::1] hidden, double[::1] room):
    """Add the weighted posterior means of the units to ``products`` and ``hidden``.

    Returns the weighted sum of the log-sums over hidden states. ``samples`` holds eight
    bits in a byte, the first one highest. ``tables[panel, byte, row]`` is what the high
    four bits (rows 0 to 15) and the low four (16 to 31) add to eight activations.
    """
    cdef sklb_bits sums
    cdef Py_ssize_t n_panels = tables.shape[0], n_bytes = tables.shape[1]
    cdef double value = 0.0
    require(samples.shape[1] == n_bytes and weights.shape[0] == samples.shape[0]
            and biases.shape[0] == n_panels and hidden.shape[0] == n_panels
            and biases.shape[1] == SKLB_BITS_UNITS and hidden.shape[1] == SKLB_BITS_UNITS
            and tables.shape[2] == SKLB_BITS_ROWS and tables.shape[3] == SKLB_BITS_UNITS
            and products.shape[0] == n_panels and products.shape[1] == n_bytes
            and products.shape[2] == SKLB_BITS_ROWS and products.shape[3] == SKLB_BITS_UNITS
            and room.shape[0] == n_panels * SKLB_BITS_UNITS,
            "the tables of bits do not fit the samples")
    if not (samples.shape[0] and n_panels and n_bytes):
        return value
    sums.n_bytes, sums.n_panels = n_bytes, n_panels
    sums.biases, sums.tables = &biases[0, 0], &tables[0, 0, 0, 0]
    sums.products, sums.hidden = &products[0, 0, 0, 0], &hidden[0, 0]
    with nogil:
        value = sklb_sum_bits(&sums, &samples[0, 0], &weights[0], samples.shape[0],
                              &room[0])
    return value
