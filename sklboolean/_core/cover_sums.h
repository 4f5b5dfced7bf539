/* Sums of coefficients over a cover: the rows that satisfy a conjunction, as bits.
 *
 * Magnitudes are integers, so a sum is exact and the same on every processor. Few
 * binary digits: one popcount for each digit. Many: the sums of all subsets of eight
 * rows are tabulated, and each byte of a cover looks its sum up. */
#ifndef SKLB_COVER_SUMS_H
#define SKLB_COVER_SUMS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "words.h"

/* The rows of one sign: words first to first + n_words of every cover. */
typedef struct {
    int64_t first, n_words;
    int n_digits;
    const uint64_t *digits; /* n_digits rows of n_words, lowest digit first */
    const int64_t *tables;  /* 8 n_words tables of 256, or NULL */
} sklb_side;

static inline int64_t sklb_table_sum(const sklb_side *side, const uint64_t *a,
                                     const uint64_t *b) {
    int64_t total = 0;
    for (int64_t w = 0; w < side->n_words; w++) {
        uint64_t word = a[side->first + w] & b[side->first + w];
        const int64_t *table = side->tables + 2048 * w;
        for (; word; word >>= 8, table += 256) total += table[word & 255];
    }
    return total;
}

#define SKLB_SUM_BY_DIGITS(popcount)                                                       \
    if (side->tables) return sklb_table_sum(side, a, b);                                   \
    int64_t total = 0;                                                                     \
    a += side->first, b += side->first;                                                    \
    for (int d = 0; d < side->n_digits; d++) {                                             \
        const uint64_t *digit = side->digits + d * side->n_words;                          \
        int64_t count = 0;                                                                 \
        for (int64_t w = 0; w < side->n_words; w++) count += popcount(a[w] & b[w] & digit[w]); \
        total += count << d;                                                               \
    }                                                                                      \
    return total;

static int64_t sklb_cover_sum_plain(const sklb_side *side, const uint64_t *a,
                                    const uint64_t *b) {
    SKLB_SUM_BY_DIGITS(sklb_popcount_plain)
}

#if SKLB_X86
SKLB_TARGET_AVX2 static int64_t sklb_cover_sum_avx2(
    const sklb_side *side, const uint64_t *a, const uint64_t *b) {
    SKLB_SUM_BY_DIGITS((int64_t)__builtin_popcountll)
}

SKLB_TARGET_AVX512 static int64_t sklb_cover_sum_avx512(
    const sklb_side *side, const uint64_t *a, const uint64_t *b) {
    if (side->tables) return sklb_table_sum(side, a, b);
    __m512i total = _mm512_setzero_si512();
    a += side->first, b += side->first;
    for (int64_t w = 0; w < side->n_words; w += 8) {
        int64_t left = side->n_words - w;
        __mmask8 mask = left >= 8 ? 255 : (__mmask8)((1 << left) - 1);
        __m512i both = _mm512_and_si512(_mm512_maskz_loadu_epi64(mask, a + w),
                                        _mm512_maskz_loadu_epi64(mask, b + w));
        if (!_mm512_test_epi64_mask(both, both)) continue;
        const uint64_t *digit = side->digits + w;
        for (int d = 0; d < side->n_digits; d++, digit += side->n_words) {
            __m512i ones = _mm512_popcnt_epi64(
                _mm512_and_si512(both, _mm512_maskz_loadu_epi64(mask, digit)));
            total = _mm512_add_epi64(total, _mm512_sll_epi64(ones, _mm_cvtsi32_si128(d)));
        }
    }
    return _mm512_reduce_add_epi64(total);
}
#endif

/* The sum of magnitudes over the rows of `side` that are in both covers. */
static int64_t sklb_cover_sum(const sklb_side *side, const uint64_t *a, const uint64_t *b) {
    return SKLB_CALL(sklb_cover_sum, side, a, b);
}

/* tables[256 t + k] = sum of the magnitudes 8 t + bit over the bits of k. */
static void sklb_fill_tables(const int64_t *magnitudes, int64_t n_tables, int64_t *tables) {
    for (int64_t t = 0; t < n_tables; t++, tables += 256) {
        tables[0] = 0;
        for (int bit = 0; bit < 8; bit++)
            for (int k = 0; k < 1 << bit; k++)
                tables[(1 << bit) + k] = tables[k] + magnitudes[8 * t + bit];
    }
}

#endif
