/* Sums of kernel values where features form groups, as one-hot columns do.
 *
 * At most one feature of a group is true in a sample, so a sample is one byte a group: the
 * number of that feature, its level. Rows have level 0 and columns have level 255 where no
 * feature of the group is true. The features that two samples share are the equal bytes.
 * Columns stand in panels of 32, group-major inside a panel. */
#ifndef SKLB_ONE_HOT_LEVELS_H
#define SKLB_ONE_HOT_LEVELS_H

#include <stdint.h>

#include "dispatch.h"
#include "words.h"

#define SKLB_LEVEL_PANEL 32
#define SKLB_LEVEL_COUNTS 32 /* values of so many counts are looked up in registers */

/* Write the levels of one sample: that of group g to levels[g * stride], which holds
 * `none` before. Returns 0 if two features of one group are true. */
static int sklb_fill_levels(const uint64_t *words, int64_t n_words, const uint8_t *group,
                            const uint8_t *level, uint8_t none, uint8_t *levels,
                            int64_t stride) {
    int fits = 1;
    for (int64_t w = 0; w < n_words; w++)
        for (uint64_t rest = words[w]; rest; rest &= rest - 1) {
            const int64_t feature = 64 * w + sklb_lowest_bit(rest);
            uint8_t *own = levels + group[feature] * stride;
            fits &= *own == none;
            *own = level[feature];
        }
    return fits;
}

/* Without vector instructions for it: nothing is done. AVX-512 has a popcount, which is
 * as fast. */
static int sklb_sum_levels_plain(const uint16_t *values, const uint8_t *rows,
                                 int64_t n_samples, int64_t n_groups, const uint8_t *panels,
                                 int64_t n_panels, const double *coefficients, double *sums) {
    (void)values, (void)rows, (void)n_samples, (void)n_groups, (void)panels;
    (void)n_panels, (void)coefficients, (void)sums;
    return 0;
}
#define sklb_sum_levels_avx512 sklb_sum_levels_plain

#if SKLB_X86

#define SKLB_LEVEL_ROWS 32

/* For P panels and up to SKLB_LEVEL_ROWS rows: count equal bytes, look up the low and the
 * high byte of each value, then add up as floats. */
SKLB_INLINE SKLB_TARGET_AVX2 void sklb_sum_level_panels_avx2(
    const int P, const __m256i *table, const uint8_t *rows, const int n_samples,
    const int64_t n_groups, const uint8_t *panels, const double *coefficients, double *sums) {
    uint16_t values[4][SKLB_LEVEL_ROWS][SKLB_LEVEL_PANEL];
    const int64_t width = n_groups * SKLB_LEVEL_PANEL;
    for (int r = 0; r < n_samples; r++, rows += n_groups) {
        __m256i counts[4];
        for (int p = 0; p < P; p++) counts[p] = _mm256_setzero_si256();
        for (int64_t g = 0; g < n_groups; g++) {
            const __m256i level = _mm256_set1_epi8((char)rows[g]);
            for (int p = 0; p < P; p++) {
                const uint8_t *column = panels + p * width + g * SKLB_LEVEL_PANEL;
                const __m256i levels = _mm256_loadu_si256((const __m256i *)column);
                counts[p] = _mm256_sub_epi8(counts[p], _mm256_cmpeq_epi8(level, levels));
            }
        }
        for (int p = 0; p < P; p++) {
            /* Bit 4 of a count chooses the half of the table. */
            const __m256i upper = _mm256_slli_epi16(counts[p], 3);
            const __m256i low = _mm256_blendv_epi8(_mm256_shuffle_epi8(table[0], counts[p]),
                                                   _mm256_shuffle_epi8(table[1], counts[p]),
                                                   upper);
            const __m256i high = _mm256_blendv_epi8(_mm256_shuffle_epi8(table[2], counts[p]),
                                                    _mm256_shuffle_epi8(table[3], counts[p]),
                                                    upper);
            const __m256i a = _mm256_unpacklo_epi8(low, high); /* columns 0-7 and 16-23 */
            const __m256i b = _mm256_unpackhi_epi8(low, high); /* columns 8-15 and 24-31 */
            __m256i *out = (__m256i *)values[p][r];
            _mm256_storeu_si256(out, _mm256_permute2x128_si256(a, b, 0x20));
            _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(a, b, 0x31));
        }
    }
    for (int p = 0; p < P; p++) {
        double *out = sums + p * SKLB_LEVEL_PANEL;
        __m256d acc[8];
        for (int v = 0; v < 8; v++) acc[v] = _mm256_loadu_pd(out + 4 * v);
        for (int r = 0; r < n_samples; r++) {
            const __m256d coefficient = _mm256_set1_pd(coefficients[r]);
            for (int v = 0; v < 8; v++) {
                const __m128i four = _mm_loadl_epi64((const __m128i *)(values[p][r] + 4 * v));
                const __m256d value = _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(four));
                acc[v] = _mm256_add_pd(acc[v], _mm256_mul_pd(coefficient, value));
            }
        }
        for (int v = 0; v < 8; v++) _mm256_storeu_pd(out + 4 * v, acc[v]);
    }
}

SKLB_TARGET_AVX2 static int sklb_sum_levels_avx2(
    const uint16_t *values, const uint8_t *rows, int64_t n_samples, int64_t n_groups,
    const uint8_t *panels, int64_t n_panels, const double *coefficients, double *sums) {
    uint8_t bytes[4][32];
    __m256i table[4]; /* low bytes of counts 0-15 and 16-31, then high bytes, in both lanes */
    for (int k = 0; k < 32; k++)
        for (int half = 0; half < 2; half++) {
            bytes[half][k] = (uint8_t)values[16 * half + (k & 15)];
            bytes[2 + half][k] = (uint8_t)(values[16 * half + (k & 15)] >> 8);
        }
    for (int k = 0; k < 4; k++) table[k] = _mm256_loadu_si256((const __m256i *)bytes[k]);
    for (int64_t p = 0; p < n_panels; p += 4) {
        const uint8_t *panel = panels + p * n_groups * SKLB_LEVEL_PANEL;
        for (int64_t first = 0; first < n_samples; first += SKLB_LEVEL_ROWS) {
            const int64_t rest = n_samples - first;
            const int n = (int)(rest < SKLB_LEVEL_ROWS ? rest : SKLB_LEVEL_ROWS);
            const uint8_t *part = rows + first * n_groups;
            double *out = sums + p * SKLB_LEVEL_PANEL;
            if (p + 4 <= n_panels)
                sklb_sum_level_panels_avx2(4, table, part, n, n_groups, panel,
                                           coefficients + first, out);
            else
                for (int64_t q = 0; q < n_panels - p; q++)
                    sklb_sum_level_panels_avx2(
                        1, table, part, n, n_groups,
                        panel + q * n_groups * SKLB_LEVEL_PANEL, coefficients + first,
                        out + q * SKLB_LEVEL_PANEL);
        }
    }
    return 1;
}

#endif /* SKLB_X86 */

/* sums[j] += sum over the samples of coefficients[r] * values[number of equal levels], in
 * that order. At most SKLB_LEVEL_COUNTS - 1 levels of a pair are equal. Returns 0 where
 * this processor has no faster way than counting bits; then nothing is done. */
static int sklb_sum_levels(const uint16_t *values, const uint8_t *rows, int64_t n_samples,
                           int64_t n_groups, const uint8_t *panels, int64_t n_panels,
                           const double *coefficients, double *sums) {
    return SKLB_CALL(sklb_sum_levels, values, rows, n_samples, n_groups, panels, n_panels,
                     coefficients, sums);
}

#endif
