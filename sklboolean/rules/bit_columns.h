/* Sums and updates of real vectors over the samples of a bit column; some of its samples.
 *
 * A column has one bit for each sample. Sums run in 64 lanes, one for each bit of a word,
 * which are added in a fixed order at the end: all versions give the same bits. */
#ifndef SKLB_BIT_COLUMNS_H
#define SKLB_BIT_COLUMNS_H

#include <stdint.h>
#include <string.h>

#include "../_core/dispatch.h"
#include "../_core/words.h"

/* Add lanes k and k + step for ever smaller steps. */
SKLB_INLINE double sklb_add_lanes(double *lanes, int n) {
    for (int step = n / 2; step; step /= 2)
        for (int k = 0; k < step; k++) lanes[k] += lanes[k + step];
    return lanes[0];
}

static double sklb_masked_sum_plain(const uint64_t *bits, const double *values,
                                    int64_t n_words) {
    double lanes[64] = {0};
    for (int64_t w = 0; w < n_words; w++, values += 64)
        for (uint64_t word = bits[w]; word; word &= word - 1) {
            int k = sklb_lowest_bit(word);
            lanes[k] += values[k];
        }
    return sklb_add_lanes(lanes, 64);
}

/* Columns that are added at a time, in their order to each sample. */
enum { SKLB_ADDED_AT_A_TIME = 8 };

typedef struct {
    const uint64_t *bits[SKLB_ADDED_AT_A_TIME];
    double steps[SKLB_ADDED_AT_A_TIME];
    int n;
} sklb_added_columns;

static void sklb_masked_add_plain(const sklb_added_columns *p, double *out, int64_t n_words) {
    for (int64_t w = 0; w < n_words; w++, out += 64)
        for (int c = 0; c < p->n; c++)
            for (uint64_t word = p->bits[c][w]; word; word &= word - 1)
                out[sklb_lowest_bit(word)] += p->steps[c];
}

#if SKLB_X86
/* All ones in the lanes of the four bits. */
SKLB_INLINE SKLB_TARGET_AVX2 __m256i sklb_four_lanes(uint64_t word, int first) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    __m256i four = _mm256_set1_epi64x((long long)(word >> first & 15));
    return _mm256_cmpeq_epi64(_mm256_and_si256(four, bit), bit);
}

SKLB_TARGET_AVX2 static double sklb_masked_sum_avx2(const uint64_t *bits,
                                                    const double *values, int64_t n_words) {
    double lanes[64];
    __m256d sums[16];
    for (int t = 0; t < 16; t++) sums[t] = _mm256_setzero_pd();
    for (int64_t w = 0; w < n_words; w++, values += 64) {
        if (!bits[w]) continue;
        for (int t = 0; t < 16; t++) {
            __m256d mask = _mm256_castsi256_pd(sklb_four_lanes(bits[w], 4 * t));
            sums[t] = _mm256_add_pd(sums[t],
                                    _mm256_and_pd(mask, _mm256_loadu_pd(values + 4 * t)));
        }
    }
    for (int t = 0; t < 16; t++) _mm256_storeu_pd(lanes + 4 * t, sums[t]);
    return sklb_add_lanes(lanes, 64);
}

SKLB_TARGET_AVX2 static void sklb_masked_add_avx2(const sklb_added_columns *p, double *out,
                                                  int64_t n_words) {
    for (int64_t half = 0; half < 2 * n_words; half++, out += 32) {
        __m256d sums[8];
        for (int t = 0; t < 8; t++) sums[t] = _mm256_loadu_pd(out + 4 * t);
        for (int c = 0; c < p->n; c++) {
            /* Both halves take the same branch, which the processor can foresee. */
            if (!p->bits[c][half / 2]) continue;
            uint64_t word = p->bits[c][half / 2] >> 32 * (half % 2) & 0xffffffff;
            __m256d step = _mm256_set1_pd(p->steps[c]);
            for (int t = 0; t < 8; t++) {
                __m256d mask = _mm256_castsi256_pd(sklb_four_lanes(word, 4 * t));
                sums[t] = _mm256_blendv_pd(sums[t], _mm256_add_pd(sums[t], step), mask);
            }
        }
        for (int t = 0; t < 8; t++) _mm256_storeu_pd(out + 4 * t, sums[t]);
    }
}

SKLB_TARGET_AVX512 static double sklb_masked_sum_avx512(const uint64_t *bits,
                                                        const double *values,
                                                        int64_t n_words) {
    double lanes[64];
    __m512d sums[8];
    for (int t = 0; t < 8; t++) sums[t] = _mm512_setzero_pd();
    for (int64_t w = 0; w < n_words; w++, values += 64) {
        if (!bits[w]) continue;
        for (int t = 0; t < 8; t++) {
            __mmask8 mask = (__mmask8)(bits[w] >> 8 * t);
            sums[t] = _mm512_mask_add_pd(sums[t], mask, sums[t],
                                         _mm512_loadu_pd(values + 8 * t));
        }
    }
    for (int t = 0; t < 8; t++) _mm512_storeu_pd(lanes + 8 * t, sums[t]);
    return sklb_add_lanes(lanes, 64);
}

SKLB_TARGET_AVX512 static void sklb_masked_add_avx512(const sklb_added_columns *p,
                                                      double *out, int64_t n_words) {
    for (int64_t w = 0; w < n_words; w++, out += 64) {
        __m512d sums[8];
        for (int t = 0; t < 8; t++) sums[t] = _mm512_loadu_pd(out + 8 * t);
        for (int c = 0; c < p->n; c++) {
            uint64_t word = p->bits[c][w];
            if (!word) continue;
            __m512d step = _mm512_set1_pd(p->steps[c]);
            for (int t = 0; t < 8; t++)
                sums[t] = _mm512_mask_add_pd(sums[t], (__mmask8)(word >> 8 * t), sums[t], step);
        }
        for (int t = 0; t < 8; t++) _mm512_storeu_pd(out + 8 * t, sums[t]);
    }
}
#endif

/* The sum of the values of a column's samples. */
static double sklb_masked_sum(const uint64_t *bits, const double *values, int64_t n_words) {
    return SKLB_CALL(sklb_masked_sum, bits, values, n_words);
}

/* out += step on the samples of each column. */
static void sklb_masked_add(const sklb_added_columns *added, double *out, int64_t n_words) {
    SKLB_CALL(sklb_masked_add, added, out, n_words);
}

/* ---- Sums for many outputs: those of a sample stand side by side. ---- */

enum { SKLB_SIDE_BY_SIDE = 8, SKLB_FEW_ONES = 12, SKLB_AT_A_TIME = 256 };

/* sums[j * width + k] = the sum of values[i * width + k] over the samples i of column j, for
 * k < 8. The sums over all subsets of four samples in turn are added up once for all
 * columns, of which each looks up what its bits say, or adds single samples where it has
 * few of them. */
SKLB_INLINE void sklb_many_sums_body(const uint64_t *bits, int64_t n_columns,
                                     const double *values, int64_t n_words, int64_t width,
                                     double *sums) {
    double subsets[16][16][SKLB_SIDE_BY_SIDE];
    for (int64_t j = 0; j < n_columns; j++) memset(sums + j * width, 0, sizeof(subsets[0][0]));
    for (int64_t w = 0; w < n_words; w++) {
        for (int four = 0; four < 16; four++) {
            memset(subsets[four][0], 0, sizeof(subsets[four][0]));
            for (int bit = 0; bit < 4; bit++, values += width)
                for (int subset = 0; subset < 1 << bit; subset++)
                    for (int k = 0; k < SKLB_SIDE_BY_SIDE; k++)
                        subsets[four][subset | 1 << bit][k] = subsets[four][subset][k] + values[k];
        }
        for (int64_t j = 0; j < n_columns; j++) {
            uint64_t word = bits[j * n_words + w];
            double even[SKLB_SIDE_BY_SIDE], odd[SKLB_SIDE_BY_SIDE] = {0};
            memcpy(even, sums + j * width, sizeof(even));
            if (sklb_popcount_plain(word) > SKLB_FEW_ONES) {
                for (int four = 0; four < 16; four += 2, word >>= 8)
                    for (int k = 0; k < SKLB_SIDE_BY_SIDE; k++) {
                        even[k] += subsets[four][word & 15][k];
                        odd[k] += subsets[four + 1][word >> 4 & 15][k];
                    }
            } else {
                for (; word; word &= word - 1) {
                    int place = sklb_lowest_bit(word);
                    for (int k = 0; k < SKLB_SIDE_BY_SIDE; k++)
                        even[k] += subsets[place / 4][1 << place % 4][k];
                }
            }
            for (int k = 0; k < SKLB_SIDE_BY_SIDE; k++) even[k] += odd[k];
            memcpy(sums + j * width, even, sizeof(even));
        }
    }
}

#define SKLB_DEFINE_MANY_SUMS(SUFFIX, TARGET)                                                  \
    TARGET static void sklb_many_sums_##SUFFIX(const uint64_t *bits, int64_t n_columns,        \
                                               const double *values, int64_t n_words,          \
                                               int64_t width, double *sums) {                  \
        sklb_many_sums_body(bits, n_columns, values, n_words, width, sums);                    \
    }
SKLB_ON_EACH_LEVEL(SKLB_DEFINE_MANY_SUMS)

static void sklb_many_sums(const uint64_t *bits, int64_t n_columns, const double *values,
                           int64_t n_words, int64_t width, double *sums) {
    for (int64_t j = 0; j < n_columns; j += SKLB_AT_A_TIME) {
        int64_t left = n_columns - j, n = left < SKLB_AT_A_TIME ? left : SKLB_AT_A_TIME;
        for (int64_t k = 0; k < width; k += SKLB_SIDE_BY_SIDE)
            SKLB_CALL(sklb_many_sums, bits + j * n_words, n, values + k, n_words, width,
                      sums + j * width + k);
    }
}

/* ---- Multiples of the samples that two columns share. ---- */

/* The multiple of a sample is written in binary digits: word w of digit d stands at
 * digits[d * n_words + w]. The sum over the samples that two columns share. */
#define SKLB_DEFINE_SHARED_SUM(SUFFIX, TARGET)                                                 \
    TARGET static int64_t sklb_shared_sum_##SUFFIX(                                            \
        const uint64_t *column, const uint64_t *other, const uint64_t *digits,                 \
        int64_t n_digits, int64_t n_words) {                                                   \
        int64_t total = 0;                                                                     \
        for (int64_t w = 0; w < n_words; w++) {                                                \
            uint64_t both = column[w] & other[w];                                              \
            for (int64_t d = 0; both && d < n_digits; d++)                                     \
                total += (int64_t)SKLB_POPCOUNT_##SUFFIX(both & digits[d * n_words + w]) << d; \
        }                                                                                      \
        return total;                                                                          \
    }

SKLB_ON_EACH_LEVEL(SKLB_DEFINE_SHARED_SUM)

static int64_t sklb_shared_sum(const uint64_t *column, const uint64_t *other,
                               const uint64_t *digits, int64_t n_digits, int64_t n_words) {
    return SKLB_CALL(sklb_shared_sum, column, other, digits, n_digits, n_words);
}

/* The bits of a mask move to the low end of a word, in their order, in six steps: step i
 * moves the bits of moves[i] by 2**i places (Warren, "Hacker's Delight", section 7-4). */
typedef struct {
    uint64_t mask, moves[6];
    int n_kept;
} sklb_kept_bits;

static sklb_kept_bits sklb_plan_moves(uint64_t mask) {
    sklb_kept_bits plan = {mask, {0}, sklb_popcount_plain(mask)};
    uint64_t left = mask, gaps = ~mask << 1;
    for (int i = 0; i < 6; i++) {
        uint64_t parity = gaps; /* of the gaps at or below each bit */
        for (int step = 1; step < 64; step *= 2) parity ^= parity << step;
        plan.moves[i] = parity & left;
        left = (left ^ plan.moves[i]) | plan.moves[i] >> (1 << i);
        gaps &= ~parity;
    }
    return plan;
}

/* Write the kept bits of a column without gaps. */
static void sklb_keep_bits(const uint64_t *bits, const sklb_kept_bits *plans, int64_t n_words,
                           uint64_t *packed) {
    uint64_t held = 0;
    int n_held = 0;
    for (int64_t w = 0; w < n_words; w++) {
        const sklb_kept_bits *plan = plans + w;
        uint64_t word = bits[w] & plan->mask;
        for (int i = 0; i < 6; i++) {
            uint64_t moved = word & plan->moves[i];
            word = (word ^ moved) | moved >> (1 << i);
        }
        held |= word << n_held;
        n_held += plan->n_kept;
        if (n_held < 64) continue;
        *packed++ = held;
        n_held -= 64;
        /* What did not fit; by two shifts, as one by 64 places is not defined. */
        held = word >> 1 >> (plan->n_kept - n_held - 1);
    }
    if (n_held) *packed = held;
}

#endif
