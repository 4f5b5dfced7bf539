/* Sums of weights over the rows where a column is true, for many columns at once.
 *
 * A few rows have few subsets. The sum of weights of every subset of them is tabulated
 * once, and each column looks up the subset in which it is true: four rows and a table
 * of 16 in one register with AVX-512, three rows and a table of 8 with AVX2, eight rows
 * and a table of 256 in the first-level cache otherwise. All is integer: exact, and the
 * same on every processor.
 *
 * Columns stand in panels of 16, one 32-bit lane for each, so that one load takes 32
 * rows of 16 columns. */
#ifndef SKLB_MASKED_SUMS_H
#define SKLB_MASKED_SUMS_H

#include <stdint.h>
#include <string.h>

#include "../_core/dispatch.h"

#define SKLB_MASKED_LANES 16 /* columns in a panel */

/* -- eight rows to a table, in plain C ---------------------------------------------- */

#define SKLB_MASKED_PLAIN_BLOCK 4 /* words; their tables take 16 KiB */

static void sklb_masked_sums_plain(const int16_t *weights, int64_t n_words,
                                   const uint32_t *panels, int64_t stride,
                                   int64_t n_panels, int64_t *sums) {
    int32_t tables[SKLB_MASKED_PLAIN_BLOCK][4][256];
    for (int64_t first = 0; first < n_words; first += SKLB_MASKED_PLAIN_BLOCK) {
        int n = n_words - first < SKLB_MASKED_PLAIN_BLOCK ? (int)(n_words - first) : SKLB_MASKED_PLAIN_BLOCK;
        for (int t = 0; t < 4 * n; t++) {
            int32_t *table = tables[t / 4][t % 4];
            table[0] = 0;
            for (int bit = 0; bit < 8; bit++) {
                int32_t weight = weights[32 * first + 8 * t + bit];
                for (int k = 0; k < 1 << bit; k++) table[(1 << bit) + k] = table[k] + weight;
            }
        }
        for (int64_t p = 0; p < n_panels; p++) {
            const uint32_t *words = panels + (p * stride + first) * SKLB_MASKED_LANES;
            for (int c = 0; c < SKLB_MASKED_LANES; c++) {
                int32_t sum = 0;
                for (int w = 0; w < n; w++) {
                    uint32_t word = words[w * SKLB_MASKED_LANES + c];
                    sum += tables[w][0][word & 255] + tables[w][1][word >> 8 & 255] +
                           tables[w][2][word >> 16 & 255] + tables[w][3][word >> 24];
                }
                sums[p * SKLB_MASKED_LANES + c] += sum;
            }
        }
    }
}

#if SKLB_X86

#define SKLB_MASKED_BLOCK 32 /* words, 1024 rows; their tables take 11 or 16 KiB */

static inline int sklb_two_weights(const int16_t *weights) {
    int pair;
    memcpy(&pair, weights, 4);
    return pair;
}

/* -- three rows to a table: 32 = 10 * 3 + 2 ----------------------------------------- */

#define SKLB_MASKED_TRIPLES 11

SKLB_TARGET_AVX2 static void sklb_masked_sums_avx2(
    const int16_t *weights, int64_t n_words, const uint32_t *panels, int64_t stride,
    int64_t n_panels, int64_t *sums) {
    /* Entry e of a table has the rows of e's bits: a lane holds two 16-bit selectors,
     * for rows 0 and 1, and for row 2. */
    const __m256i rows01 = _mm256_setr_epi32(0, 1, 1 << 16, 1 + (1 << 16), 0, 1, 1 << 16,
                                             1 + (1 << 16));
    const __m256i row2 = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    __m256i tables[SKLB_MASKED_BLOCK][SKLB_MASKED_TRIPLES];
    for (int64_t first = 0; first < n_words; first += SKLB_MASKED_BLOCK) {
        int n = n_words - first < SKLB_MASKED_BLOCK ? (int)(n_words - first) : SKLB_MASKED_BLOCK;
        for (int w = 0; w < n; w++)
            for (int t = 0; t < SKLB_MASKED_TRIPLES; t++) {
                const int16_t *three = weights + 32 * (first + w) + 3 * t;
                __m256i table = _mm256_madd_epi16(_mm256_set1_epi32(sklb_two_weights(three)), rows01);
                if (t < SKLB_MASKED_TRIPLES - 1) /* the last table has two rows */
                    table = _mm256_add_epi32(
                        table, _mm256_madd_epi16(_mm256_set1_epi32((uint16_t)three[2]), row2));
                tables[w][t] = table;
            }
        for (int64_t p = 0; p < n_panels; p++) {
            const uint32_t *words = panels + (p * stride + first) * SKLB_MASKED_LANES;
            for (int half = 0; half < 2; half++) {
                __m256i total = _mm256_setzero_si256();
                for (int w = 0; w < n; w++) {
                    __m256i word = _mm256_loadu_si256(
                        (const __m256i *)(words + w * SKLB_MASKED_LANES + 8 * half));
                    for (int t = 0; t < SKLB_MASKED_TRIPLES; t++) {
                        /* the lookup reads the low three bits of a lane */
                        total = _mm256_add_epi32(
                            total, _mm256_permutevar8x32_epi32(tables[w][t], word));
                        word = _mm256_srli_epi32(word, 3);
                    }
                }
                int32_t narrow[8];
                _mm256_storeu_si256((__m256i *)narrow, total);
                for (int c = 0; c < 8; c++) sums[p * SKLB_MASKED_LANES + 8 * half + c] += narrow[c];
            }
        }
    }
}

/* -- four rows to a table ----------------------------------------------------------- */

SKLB_TARGET_AVX512 static void sklb_masked_sums_avx512(
    const int16_t *weights, int64_t n_words, const uint32_t *panels, int64_t stride,
    int64_t n_panels, int64_t *sums) {
    const int a = 1, b = 1 << 16, ab = a + b;
    const __m512i rows01 =
        _mm512_setr_epi32(0, a, b, ab, 0, a, b, ab, 0, a, b, ab, 0, a, b, ab);
    const __m512i rows23 =
        _mm512_setr_epi32(0, 0, 0, 0, a, a, a, a, b, b, b, b, ab, ab, ab, ab);
    __m512i tables[SKLB_MASKED_BLOCK][8];
    for (int64_t first = 0; first < n_words; first += SKLB_MASKED_BLOCK) {
        int n = n_words - first < SKLB_MASKED_BLOCK ? (int)(n_words - first) : SKLB_MASKED_BLOCK;
        for (int t = 0; t < 8 * n; t++) {
            const int16_t *four = weights + 32 * first + 4 * t;
            tables[t / 8][t % 8] = _mm512_add_epi32(
                _mm512_madd_epi16(_mm512_set1_epi32(sklb_two_weights(four)), rows01),
                _mm512_madd_epi16(_mm512_set1_epi32(sklb_two_weights(four + 2)), rows23));
        }
        for (int64_t p = 0; p < n_panels; p++) {
            const uint32_t *words = panels + (p * stride + first) * SKLB_MASKED_LANES;
            int64_t *out = sums + p * SKLB_MASKED_LANES;
            __m512i total = _mm512_setzero_si512();
            for (int w = 0; w < n; w++) {
                __m512i word = _mm512_loadu_si512(words + w * SKLB_MASKED_LANES);
                for (int t = 0; t < 8; t++) {
                    /* the lookup reads the low four bits of a lane */
                    total = _mm512_add_epi32(total,
                                             _mm512_permutexvar_epi32(word, tables[w][t]));
                    word = _mm512_srli_epi32(word, 4);
                }
            }
            __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(total));
            __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(total, 1));
            _mm512_storeu_si512(out, _mm512_add_epi64(_mm512_loadu_si512(out), low));
            _mm512_storeu_si512(out + 8, _mm512_add_epi64(_mm512_loadu_si512(out + 8), high));
        }
    }
}

#endif /* SKLB_X86 */

/* sums[16 p + c] += sum of weights[i] over i < 32 n_words with column c of panel p true.
 * Panel p starts at panels + 16 p stride; its word w holds rows 32 w to 32 w + 31.
 * Within a block of words 32 bits hold any sum; between blocks 64 bits do. */
static void sklb_masked_sums(const int16_t *weights, int64_t n_words, const uint32_t *panels,
                             int64_t stride, int64_t n_panels, int64_t *sums) {
    SKLB_CALL(sklb_masked_sums, weights, n_words, panels, stride, n_panels, sums);
}

/* Turn 32 rows of 32 columns into 32 columns of 32 rows, in place: swap the two
 * off-diagonal quarters, then do the same inside each quarter. */
static void sklb_transpose_32(uint32_t *square) {
    uint32_t left = 0xffff; /* the columns of the left half of each square */
    for (int side = 16; side; side /= 2, left ^= left << side)
        for (int top = 0; top < 32; top += 2 * side)
            for (int r = top; r < top + side; r++) {
                uint32_t differ = (square[r] >> side ^ square[r + side]) & left;
                square[r + side] ^= differ;
                square[r] ^= differ << side;
            }
}

/* out[r] = bit r of the word ? if_true : if_false, in a form that compilers vectorise. */
static void sklb_choose_32(uint32_t word, int16_t if_false, int16_t if_true, int16_t *out) {
    static const uint16_t bits[16] = {1,    2,    4,    8,    16,   32,   64,   128,
                                      256,  512,  1024, 2048, 4096, 8192, 16384, 32768};
    int16_t differ = if_false ^ if_true;
    for (int half = 0; half < 2; half++) {
        uint16_t part = (uint16_t)(word >> 16 * half);
        for (int r = 0; r < 16; r++)
            out[16 * half + r] = if_false ^ ((part & bits[r]) == bits[r] ? differ : 0);
    }
}

#endif
