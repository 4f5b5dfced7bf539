/* Counts of the features true in both samples of a pair, for 256 columns at a time.
 *
 * Here the bits of columns stand feature by feature: a slice is one feature of 256 columns.
 * The slices of a row's true features are added up as binary numbers, one for each column,
 * whose digits are slices too: a full adder takes two slices to a digit in a few bitwise
 * operations, for all columns. The work is that of the row's true features, where that of a
 * popcount is all words. */
#ifndef SKLB_SLICES_H
#define SKLB_SLICES_H

#include <stdint.h>
#include <string.h>

#include "dispatch.h"
#include "pack.h"
#include "tiles.h"
#include "words.h"

#define SKLB_SLICE_WORDS 4  /* of 64 columns each */
#define SKLB_SLICE_PANELS 8 /* the panels of these columns */
#define SKLB_SLICE_COLUMNS 256
#define SKLB_DIGITS 16
#define SKLB_ADDED 16 /* slices that are added at a time */

/* Write the slices of up to SKLB_SLICE_PANELS panels, and one of zeros behind the last. */
static void sklb_fill_slices(const uint64_t *panels, int64_t n_panels, int64_t n_words,
                             uint64_t *slices) {
    uint64_t block[64];
    const int64_t size = n_words * SKLB_TILE_PANEL;
    memset(slices, 0, (64 * n_words + 1) * SKLB_SLICE_WORDS * sizeof *slices);
    for (int64_t p = 0; p < n_panels; p += 2, panels += 2 * size)
        for (int64_t w = 0; w < n_words; w++) {
            const uint64_t *half = panels + w * SKLB_TILE_PANEL;
            memset(block, 0, sizeof block);
            memcpy(block, half, sizeof block / 2);
            if (p + 1 < n_panels) memcpy(block + 32, half + size, sizeof block / 2);
            sklb_transpose_block(block);
            for (int k = 0; k < 64; k++)
                slices[(64 * w + k) * SKLB_SLICE_WORDS + p / 2] = block[k];
        }
}

/* List the true features of a row, then the slice of zeros up to a multiple of SKLB_ADDED.
 * Returns the length of the list. */
static int64_t sklb_list_features(const uint64_t *words, int64_t n_words, uint32_t *features) {
    int64_t n = 0;
    for (int64_t w = 0; w < n_words; w++)
        for (uint64_t rest = words[w]; rest; rest &= rest - 1)
            features[n++] = (uint32_t)(64 * w + sklb_lowest_bit(rest));
    while (n % SKLB_ADDED) features[n++] = (uint32_t)(64 * n_words);
    return n;
}

/* Add two slices to a digit; what is carried belongs to the next digit. */
#define SKLB_ADD(digit, a, b, carried)                                                       \
    do {                                                                                     \
        const V first = (a), second = (b), before = digit;                                   \
        digit = SKLB_ODD(before, first, second);                                             \
        carried = SKLB_MOST(before, first, second);                                          \
    } while (0)
#define SKLB_ADD_2(f, carried) SKLB_ADD(ones, SKLB_SLICE((f)[0]), SKLB_SLICE((f)[1]), carried)
#define SKLB_ADD_4(f, carried)                                                               \
    do {                                                                                     \
        V twos_a, twos_b;                                                                    \
        SKLB_ADD_2(f, twos_a);                                                               \
        SKLB_ADD_2((f) + 2, twos_b);                                                         \
        SKLB_ADD(twos, twos_a, twos_b, carried);                                             \
    } while (0)
#define SKLB_ADD_8(f, carried)                                                               \
    do {                                                                                     \
        V fours_a, fours_b;                                                                  \
        SKLB_ADD_4(f, fours_a);                                                              \
        SKLB_ADD_4((f) + 4, fours_b);                                                        \
        SKLB_ADD(fours, fours_a, fours_b, carried);                                          \
    } while (0)

/* The digits of the sums of slices, SKLB_SLICE_WORDS words each. V holds some of these. */
#define SKLB_SLICE(feature) SKLB_LOAD(own + (uint64_t)(feature) * SKLB_SLICE_WORDS)
#define SKLB_DEFINE_ADD_SLICES(SUFFIX, TARGET, TYPE)                                         \
    TARGET static void sklb_add_slices_##SUFFIX(const uint64_t *slices,                      \
                                                const uint32_t *features, int64_t n,         \
                                                uint64_t *digits) {                          \
        typedef TYPE V;                                                                      \
        for (unsigned part = 0; part < SKLB_SLICE_WORDS; part += sizeof(V) / 8) {            \
            const uint64_t *own = slices + part;                                             \
            V upper[SKLB_DIGITS - 4] = {0}, ones = upper[0], twos = ones, fours = ones,      \
                                   eights = ones;                                            \
            for (int64_t k = 0; k < n; k += SKLB_ADDED) {                                    \
                V eights_a, eights_b, carry;                                                 \
                SKLB_ADD_8(features + k, eights_a);                                          \
                SKLB_ADD_8(features + k + 8, eights_b);                                      \
                SKLB_ADD(eights, eights_a, eights_b, carry);                                 \
                for (int d = 0; (k / SKLB_ADDED + 1) >> d; d++) {                            \
                    const V both = upper[d] & carry;                                         \
                    upper[d] ^= carry;                                                       \
                    carry = both;                                                            \
                }                                                                            \
            }                                                                                \
            SKLB_STORE(digits + part, ones);                                                 \
            SKLB_STORE(digits + SKLB_SLICE_WORDS + part, twos);                              \
            SKLB_STORE(digits + 2 * SKLB_SLICE_WORDS + part, fours);                         \
            SKLB_STORE(digits + 3 * SKLB_SLICE_WORDS + part, eights);                        \
            for (int d = 4; d < SKLB_DIGITS; d++)                                            \
                SKLB_STORE(digits + d * SKLB_SLICE_WORDS + part, upper[d - 4]);              \
        }                                                                                    \
    }

/* Swap bits of an 8 x 8 block, byte by byte, with what is `shift` bits above them. */
#define SKLB_SWAP(x, shift, mask)                                                            \
    do {                                                                                     \
        const V change = (x ^ x >> shift) & (mask);                                          \
        x ^= change ^ change << shift;                                                       \
    } while (0)

/* Transpose 8 x 8 bits: bytes of eight digits become those of eight columns. */
#define SKLB_TRANSPOSE_BYTES(x, ALL)                                                         \
    do {                                                                                     \
        SKLB_SWAP(x, 7, ALL(0x00aa00aa00aa00aa));                                            \
        SKLB_SWAP(x, 14, ALL(0x0000cccc0000cccc));                                           \
        SKLB_SWAP(x, 28, ALL(0x00000000f0f0f0f0));                                           \
    } while (0)

#define SKLB_SELF(x) (x)

/* The bytes of eight digits, one for each column. */
static void sklb_read_digits_plain(const uint64_t *digits, uint8_t *bytes) {
    for (int w = 0; w < SKLB_SLICE_WORDS; w++)
        for (int i = 0; i < 8; i++) {
            typedef uint64_t V;
            V x = 0;
            for (int d = 0; d < 8; d++)
                x |= (digits[d * SKLB_SLICE_WORDS + w] >> 8 * i & 255) << 8 * d;
            SKLB_TRANSPOSE_BYTES(x, SKLB_SELF);
            for (int j = 0; j < 8; j++) *bytes++ = (uint8_t)(x >> 8 * j);
        }
}

#if SKLB_X86
SKLB_TARGET_AVX2 static void sklb_read_digits_avx2(const uint64_t *digits, uint8_t *bytes) {
    typedef __m256i V;
    V by_2[8], by_4[8], by_8[8]; /* bytes of so many digits stand side by side */
    for (int d = 0; d < 8; d += 2) {
        const V *two = (const V *)(digits + d * SKLB_SLICE_WORDS);
        const V a = _mm256_loadu_si256(two), b = _mm256_loadu_si256(two + 1);
        by_2[d] = _mm256_unpacklo_epi8(a, b);
        by_2[d + 1] = _mm256_unpackhi_epi8(a, b);
    }
    for (int d = 0; d < 8; d += 4)
        for (int h = 0; h < 2; h++) {
            by_4[d + 2 * h] = _mm256_unpacklo_epi16(by_2[d + h], by_2[d + h + 2]);
            by_4[d + 2 * h + 1] = _mm256_unpackhi_epi16(by_2[d + h], by_2[d + h + 2]);
        }
    for (int h = 0; h < 4; h++) {
        by_8[2 * h] = _mm256_unpacklo_epi32(by_4[h], by_4[h + 4]);
        by_8[2 * h + 1] = _mm256_unpackhi_epi32(by_4[h], by_4[h + 4]);
    }
    for (int k = 0; k < 8; k++, bytes += 16) {
        V x = by_8[k];
        SKLB_TRANSPOSE_BYTES(x, _mm256_set1_epi64x);
        _mm_storeu_si128((__m128i *)bytes, _mm256_castsi256_si128(x));
        _mm_storeu_si128((__m128i *)(bytes + 128), _mm256_extracti128_si256(x, 1));
    }
}
#define sklb_read_digits_avx512 sklb_read_digits_avx2
#endif

/* counts[j] = how many of n features are true in column j */
#define SKLB_DEFINE_COUNT_SLICES(SUFFIX, TARGET)                                             \
    TARGET static void sklb_count_slices_##SUFFIX(                                           \
        const uint64_t *slices, const uint32_t *features, int64_t n, int32_t *counts) {      \
        uint64_t digits[SKLB_DIGITS * SKLB_SLICE_WORDS];                                     \
        uint8_t low[SKLB_SLICE_COLUMNS], high[SKLB_SLICE_COLUMNS];                           \
        sklb_add_slices_##SUFFIX(slices, features, n, digits);                               \
        sklb_read_digits_##SUFFIX(digits, low);                                              \
        if (n < 256) {                                                                       \
            for (int j = 0; j < SKLB_SLICE_COLUMNS; j++) counts[j] = low[j];                 \
            return;                                                                          \
        }                                                                                    \
        sklb_read_digits_##SUFFIX(digits + 8 * SKLB_SLICE_WORDS, high);                      \
        for (int j = 0; j < SKLB_SLICE_COLUMNS; j++) counts[j] = low[j] | high[j] << 8;      \
    }

#define SKLB_LOAD(p) (*(p))
#define SKLB_STORE(p, x) (*(p) = (x))
#define SKLB_ODD(a, b, c) ((a) ^ (b) ^ (c))
#define SKLB_MOST(a, b, c) (((a) & (b)) | (((a) ^ (b)) & (c)))
SKLB_DEFINE_ADD_SLICES(plain, SKLB_NO_TARGET, uint64_t)
SKLB_DEFINE_COUNT_SLICES(plain, SKLB_NO_TARGET)
#undef SKLB_LOAD
#undef SKLB_STORE
#if SKLB_X86
#define SKLB_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define SKLB_STORE(p, x) _mm256_storeu_si256((__m256i *)(p), x)
SKLB_DEFINE_ADD_SLICES(avx2, SKLB_TARGET_AVX2, __m256i)
SKLB_DEFINE_COUNT_SLICES(avx2, SKLB_TARGET_AVX2)
#undef SKLB_ODD
#undef SKLB_MOST
#define SKLB_ODD(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0x96)
#define SKLB_MOST(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0xe8)
SKLB_DEFINE_ADD_SLICES(avx512, SKLB_TARGET_AVX512, __m256i)
SKLB_DEFINE_COUNT_SLICES(avx512, SKLB_TARGET_AVX512)
#endif

static void sklb_count_slices(const uint64_t *slices, const uint32_t *features, int64_t n,
                              int32_t *counts) {
    SKLB_CALL(sklb_count_slices, slices, features, n, counts);
}

/* Whether slices take less time than a popcount of each word, by picoseconds of a pair that
 * were measured. */
static int sklb_prefers_slices(int64_t n_samples, double n_ones, int64_t n_words,
                               int64_t n_columns) {
    static const double of_word[] = {1300, 240, 70}, of_one[] = {24, 4, 3},
                        of_pair[] = {1000, 200, 230}, of_filling = 3000;
    const int64_t width = (n_columns + SKLB_SLICE_COLUMNS - 1) / SKLB_SLICE_COLUMNS;
    const int level = *sklb_cpu_level;
    return (double)n_samples * n_columns * n_words * of_word[level] >
           width * SKLB_SLICE_COLUMNS *
               (n_ones * of_one[level] + n_samples * of_pair[level] + n_words * of_filling);
}

#endif
