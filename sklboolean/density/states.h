/* Sums over pairs of states, one of each half of the units.
 *
 * The field a of a column is the sum of what the two halves give, so its ratio e^-2a is a
 * product of two tabulated ones: no exponential and no tanh per state. The weight of a
 * pair of states is a product over columns of 1 + e^-2a, kept as a mantissa in [1, 2) and
 * an exponent; e^a is part of what both start with. Weight over 1 + e^-2a is the weight
 * with which the column is +1: its mean follows from that.
 *
 * With a tree over the columns pairs of factors (e^a, e^-a) travel from the leaves to the
 * roots: a child with factors (u, v) multiplies its parent's by (s u + v / s, u / s + s v),
 * s = e^J. Where such a pair could leave the range of doubles, its ratio e^2a travels as a
 * mantissa and an exponent: "wide". */
#ifndef SKLB_STATES_H
#define SKLB_STATES_H

#include <stdint.h>
#include <string.h>

#include "../_core/dispatch.h"

#define SKLB_STATE_PANEL 8    /* right states side by side */
#define SKLB_STATE_BLOCK 128  /* right states whose tables stay in the second-level cache */
#define SKLB_STATE_GROUP 4    /* columns that share one exponent and one division */
#define SKLB_STATE_UNIT 0x1p-200 /* stands for 1: four sums of columns are 2^-800 to 2^800 */
#define SKLB_STATE_HEADROOM 200 /* a weight may be 2^200 of the scale before all are rescaled */
#define SKLB_STATE_SKIPPED 80   /* states below 2^-80 of the largest have no gradient */

#if SKLB_GNU
#define SKLB_STATE_ALIGNED __attribute__((aligned(64)))
#else
#define SKLB_STATE_ALIGNED
#endif

typedef struct {
    int64_t n_columns, block, n_blocks;
    const double *left;  /* [state][column], tree: [state][column][2] */
    const double *right; /* [block][group][panel][4][8], tree: [panel][column][2][8] */
    int wide;            /* the 2 are mantissa and exponent of e^2a, not e^a and e^-a */
    const double *left_mantissas, *right_mantissas;
    const int64_t *left_exponents, *right_exponents;
    const int64_t *limits; /* how many right states each left state goes with */
    const int64_t *parents; /* NULL, or the parent of each column, -1 at roots; a parent
                             * stands after its children */
    const double *agree, *differ; /* s and 1 / s, the larger of them taken out; wide:
                                   * mantissa and exponent of e^-2J, J not negative */
    const int64_t *fold; /* whether to take a power of 2 out of the parent's pair */
    /* results, as multiples of 2^scale */
    double *left_sums, *right_sums;
    double *left_means, *right_means; /* NULL: no gradient; without a tree, weight
                                        * over sum of each column */
    double *edges;
    double *scratch; /* 32 n_columns, for a tree */
    int64_t scale, highest;
    int64_t n_left, started;
} sklb_states;

SKLB_INLINE double sklb_power(int64_t exponent) {
    uint64_t bits = (uint64_t)((exponent < -1022 ? -1022 : exponent) + 1023) << 52;
    double power;
    memcpy(&power, &bits, 8);
    return power;
}

static void sklb_rescale_states(sklb_states *s, int64_t scale) {
    int64_t n_right = s->block * s->n_blocks;
    double factor = s->scale - scale < -1022 ? 0.0 : sklb_power(s->scale - scale);
    for (int64_t i = 0; i < s->n_left; i++) s->left_sums[i] *= factor;
    for (int64_t i = 0; i < n_right; i++) s->right_sums[i] *= factor;
    if (s->left_means) {
        for (int64_t i = 0; i < s->n_left * s->n_columns; i++) s->left_means[i] *= factor;
        for (int64_t i = 0; i < n_right * s->n_columns; i++) s->right_means[i] *= factor;
        for (int64_t i = 0; s->parents && i < s->n_columns; i++) s->edges[i] *= factor;
    }
    s->scale = scale;
}

/* Turn mantissas and exponents of states first, first + 1, ... beside left state l into
 * weights, and add them to the sums. The rest of the last panel gets weight 0. */
SKLB_INLINE void sklb_settle(sklb_states *s, int64_t l, int64_t first, int64_t n,
                             const double *restrict mantissas,
                             const int64_t *restrict exponents, double *restrict weights) {
    int64_t top = exponents[0], padded = (n + SKLB_STATE_PANEL - 1) / SKLB_STATE_PANEL * SKLB_STATE_PANEL;
    double total[SKLB_STATE_PANEL] = {0};
    for (int64_t r = 0; r < n; r++) top = exponents[r] > top ? exponents[r] : top;
    if (!s->started) s->scale = s->highest = top;
    s->started = 1;
    if (top > s->highest) s->highest = top;
    if (top > s->scale + SKLB_STATE_HEADROOM) sklb_rescale_states(s, top);
    int64_t scale = s->scale;
    for (int64_t r = 0; r < padded; r++)
        weights[r] = mantissas[r] * sklb_power(exponents[r] - scale);
    for (int64_t r = n; r < padded; r++) weights[r] = 0.0;
    double *restrict sums = s->right_sums + first;
    for (int64_t r = 0; r < padded; r += SKLB_STATE_PANEL)
        for (int k = 0; k < SKLB_STATE_PANEL; k++) {
            total[k] += weights[r + k];
            sums[r + k] += weights[r + k];
        }
    s->left_sums[l] += ((total[0] + total[1]) + (total[2] + total[3])) +
                       ((total[4] + total[5]) + (total[6] + total[7]));
}

/* Whether any state of a panel is worth its gradient. */
SKLB_INLINE int sklb_matters(const sklb_states *s, const double *weights) {
    double threshold = sklb_power(s->highest - SKLB_STATE_SKIPPED - s->scale), largest = 0.0;
    for (int k = 0; k < SKLB_STATE_PANEL; k++)
        largest = weights[k] > largest ? weights[k] : largest;
    return largest > threshold;
}

#define SKLB_JOIN_(a, b) a##b
#define SKLB_JOIN(a, b) SKLB_JOIN_(a, b)

#define NAME(name) SKLB_JOIN(name, _plain)
#define TARGET
#if SKLB_GNU
#define WIDTH 2
#else
#define WIDTH 1
#endif
#include "states_lanes.h"

#if SKLB_X86
#define NAME(name) SKLB_JOIN(name, _avx2)
#define TARGET SKLB_TARGET_AVX2
#define WIDTH 4
#include "states_lanes.h"
#define NAME(name) SKLB_JOIN(name, _avx512)
#define TARGET SKLB_TARGET_AVX512
#define WIDTH 8
#include "states_lanes.h"
#endif

/* Add the sums, and means where wanted, of left states [first, last) with all right states. */
static void sklb_sum_states(sklb_states *s, int64_t first, int64_t last) {
    SKLB_CALL(sum_states, s, first, last);
}

/* Write mantissas and exponents of one left state with one block of right states. */
static void sklb_weigh_states(const sklb_states *s, int64_t l, int64_t block,
                              double *mantissas, int64_t *exponents) {
    SKLB_CALL(weigh_states, s, l, block, mantissas, exponents);
}

#endif
