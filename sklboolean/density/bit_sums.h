/* Sums over samples of bits, of what a gradient needs of the hidden units.
 *
 * Four bits of a sample are the number of a row of a table, which holds what these bits add
 * to the activations of the units. The same rows, of another table, collect the posterior
 * means of the units: the products with single bits follow from that. */
#ifndef SKLB_BIT_SUMS_H
#define SKLB_BIT_SUMS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../_core/dispatch.h"

#define SKLB_BITS_UNITS 8 /* side by side; the rest of the last panel is padding */
#define SKLB_BITS_ROWS 32 /* of a byte: 16 for each half, the high one first */
#define SKLB_BITS_LEAST -708.0 /* e^x is a normal number */
#define SKLB_BITS_SHIFT 0x1.8p52 /* this + x has the integer nearest to x in its lowest bits */

#if SKLB_GNU
#define SKLB_BITS_ALIGNED __attribute__((aligned(64)))
#else
#define SKLB_BITS_ALIGNED
#endif

typedef struct {
    int64_t n_bytes, n_panels;
    const double *biases; /* [panel][8] */
    const double *tables; /* [panel][byte][32][8] */
    double *products;     /* the same shape: weighted sums of posterior means */
    double *hidden;       /* [panel][8]: their sums over all samples */
} sklb_bits;

/* 1 / k! from k = 13 down to 0: e^r to 1e-16 for |r| <= log(2) / 2. */
static const double sklb_inverse_factorials[14] = {
    1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0,
    1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0,
};

#define SKLB_JOIN_(a, b) a##b
#define SKLB_JOIN(a, b) SKLB_JOIN_(a, b)

#define NAME(name) SKLB_JOIN(name, _plain)
#define TARGET
#if SKLB_GNU
#define WIDTH 2
#else
#define WIDTH 1
#endif
#include "bit_sums_lanes.h"

#if SKLB_X86
#define NAME(name) SKLB_JOIN(name, _avx2)
#define TARGET SKLB_TARGET_AVX2
#define WIDTH 4
#include "bit_sums_lanes.h"
#define NAME(name) SKLB_JOIN(name, _avx512)
#define TARGET SKLB_TARGET_AVX512
#define WIDTH 8
#include "bit_sums_lanes.h"
#endif

/* Add the posterior means of the units in n samples to the sums; return the weighted sum of
 * the log-sums over hidden states. `room` holds 8 numbers of each panel. */
static double sklb_sum_bits(const sklb_bits *s, const uint8_t *samples, const double *weights,
                            int64_t n, double *room) {
    return SKLB_CALL(sum_bits, s, samples, weights, n, room);
}

#endif
