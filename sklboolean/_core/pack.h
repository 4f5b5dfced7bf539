/* Real numbers to bits, 64 to a word: true above a threshold. */
#ifndef SKLB_PACK_H
#define SKLB_PACK_H

#include <stdint.h>

#include "dispatch.h"

/* Bit j of words[j / 64] is x[j] > threshold. Returns whether an entry is neither 0 nor 1. */
static int sklb_pack_row_plain(const double *x, int64_t n, double threshold, uint64_t *words) {
    int odd = 0;
    for (int64_t first = 0; first < n; first += 64) {
        int width = n - first < 64 ? (int)(n - first) : 64;
        uint64_t word = 0;
        for (int j = 0; j < width; j++) {
            double value = x[first + j];
            word |= (uint64_t)(value > threshold) << j;
            odd |= value != 0 && value != 1;
        }
        words[first / 64] = word;
    }
    return odd;
}

#if SKLB_X86
SKLB_TARGET_AVX2 static int sklb_pack_row_avx2(const double *x, int64_t n,
                                                              double threshold,
                                                              uint64_t *words) {
    const __m256d zero = _mm256_setzero_pd(), one = _mm256_set1_pd(1.0);
    const __m256d limit = _mm256_set1_pd(threshold);
    __m256d odd = zero;
    int64_t whole = n / 64;
    for (int64_t w = 0; w < whole; w++, x += 64) {
        uint64_t word = 0;
        for (int v = 0; v < 16; v++) {
            __m256d value = _mm256_loadu_pd(x + 4 * v);
            /* NaN differs from both, and is above nothing. */
            odd = _mm256_or_pd(odd, _mm256_and_pd(_mm256_cmp_pd(value, zero, _CMP_NEQ_UQ),
                                                  _mm256_cmp_pd(value, one, _CMP_NEQ_UQ)));
            word |= (uint64_t)(unsigned)_mm256_movemask_pd(
                        _mm256_cmp_pd(value, limit, _CMP_GT_OQ))
                    << (4 * v);
        }
        words[w] = word;
    }
    return (_mm256_movemask_pd(odd) != 0) |
           sklb_pack_row_plain(x, n - 64 * whole, threshold, words + whole);
}
#define sklb_pack_row_avx512 sklb_pack_row_avx2
#endif

static int sklb_pack_row(const double *x, int64_t n, double threshold, uint64_t *words) {
    return SKLB_CALL(sklb_pack_row, x, n, threshold, words);
}

/* Swap bits between words that are `half` words apart. */
SKLB_INLINE void sklb_swap_bits(uint64_t *restrict block, const int half,
                                const uint64_t mask) {
    for (int first = 0; first < 64; first += 2 * half)
        for (int k = first; k < first + half; k++) {
            const uint64_t change = (block[k] >> half ^ block[k + half]) & mask;
            block[k] ^= change << half;
            block[k + half] ^= change;
        }
}

/* Transpose 64 words of 64 bits in place: bit j of word k becomes bit k of word j. */
static void sklb_transpose_block(uint64_t *block) {
    sklb_swap_bits(block, 32, 0x00000000ffffffffu);
    sklb_swap_bits(block, 16, 0x0000ffff0000ffffu);
    sklb_swap_bits(block, 8, 0x00ff00ff00ff00ffu);
    sklb_swap_bits(block, 4, 0x0f0f0f0f0f0f0f0fu);
    sklb_swap_bits(block, 2, 0x3333333333333333u);
    sklb_swap_bits(block, 1, 0x5555555555555555u);
}

#endif
