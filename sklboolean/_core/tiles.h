/* Popcounts of AND or XOR between packed rows, and the map from count to value.
 *
 * Columns stand in panels of 32, word-major inside a panel, so that one load takes
 * the same word of several columns; rows stay row-major. `count_strip` counts for up
 * to SKLB_TILE_ROWS rows against consecutive panels, the counts then go through one
 * of the maps while they are in the first-level cache. This file holds the versions
 * for each processor; `loops.h` holds the loops that call them. */
#ifndef SKLB_TILES_H
#define SKLB_TILES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dispatch.h"
#include "words.h"

#define SKLB_TILE_PANEL 32    /* columns in a panel */
#define SKLB_TILE_ROWS 5 /* rows counted together: 5 x 4 registers of counts */

/* How a count s becomes a value g(s); s = offset + sign * popcount. */
enum sklb_form {
    SKLB_TABLE = 0, /* g(s) = table[s] */
    SKLB_POWER = 1, /* g(s) = 2^s + table[0], by writing the exponent; 0 <= s <= 1023 */
    SKLB_CUBIC = 2, /* g(s) = sum of table[l] s^l for l <= 3; exact for integers */
    SKLB_SHARE = 3, /* s over the features true in either: see sklb_share */
};

typedef struct {
    int form;
    int32_t offset, sign;
    const double *table;
} sklb_formula;

SKLB_INLINE double sklb_power_of_two(int32_t s) {
    uint64_t bits = (uint64_t)(s + 1023) << 52;
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

/* The maps from count to value are plain C, compiled once for each set of instructions.
 * MULADD(x, y, z) is x * y + z; it may be fused, since a cubic's terms are integers that
 * float64 holds. */
#define SKLB_CUBIC_VALUE(s, MULADD) MULADD(MULADD(MULADD(d, s, c), s, b), s, a)

/* Functions with float in their name write float32: the same values, rounded once more.
 * Normalised values are divided by the roots of the values of both samples with themselves:
 * multiplied by 1 over the roots. For equal samples rounding leaves at most 6 * 2^-53 to 1,
 * which is then set; float32 rounds it away. */
#define SKLB_AS_DOUBLE(value) (value)
#define SKLB_AS_FLOAT(value) ((float)(value))
#define SKLB_NORMALIZED(value) ((value) * (own_root * roots[j]))
#define SKLB_AS_NORMALIZED(value) sklb_at_most_one(SKLB_NORMALIZED(value))
#define SKLB_AS_NORMALIZED_FLOAT(value) ((float)SKLB_NORMALIZED(value))

SKLB_INLINE double sklb_at_most_one(double value) { return value > 1 - 0x1p-50 ? 1 : value; }

#define SKLB_DEFINE_MAP(NAME, TYPE, AS_WANTED, TARGET, MULADD) \
    TARGET static void NAME(const sklb_formula *g, const int32_t *restrict counts, int64_t n, \
                            double own_root, const double *restrict roots, \
                            TYPE *restrict out) { \
        const int32_t offset = g->offset, sign = g->sign; \
        const double *table = g->table; \
        (void)own_root, (void)roots; \
        if (g->form == SKLB_POWER) { \
            const double constant = table[0]; \
            for (int64_t j = 0; j < n; j++) \
                out[j] = AS_WANTED(sklb_power_of_two(offset + sign * counts[j]) + constant); \
        } else if (g->form == SKLB_CUBIC) { \
            const double a = table[0], b = table[1], c = table[2], d = table[3]; \
            for (int64_t j = 0; j < n; j++) { \
                const double s = (double)(offset + sign * counts[j]); \
                out[j] = AS_WANTED(SKLB_CUBIC_VALUE(s, MULADD)); \
            } \
        } else { \
            for (int64_t j = 0; j < n; j++) \
                out[j] = AS_WANTED(table[offset + sign * counts[j]]); \
        } \
    }

/* out[j] = counts[j] over the features true in either sample, of own and sizes[j]; 1 where
 * there are none. */
#define SKLB_DEFINE_SHARE(NAME, TYPE, TARGET) \
    TARGET static void NAME(const int32_t *restrict counts, int64_t n, int32_t own, \
                            const int32_t *restrict sizes, TYPE *restrict out) { \
        for (int64_t j = 0; j < n; j++) { \
            const int32_t either = own + sizes[j] - counts[j]; \
            const double common = either ? counts[j] : 1; \
            out[j] = (TYPE)(common / (either ? either : 1)); \
        } \
    }

#define SKLB_DEFINE_MAPS(SUFFIX, TARGET) \
    SKLB_DEFINE_SHARE(sklb_share_##SUFFIX, double, TARGET) \
    SKLB_DEFINE_SHARE(sklb_share_float_##SUFFIX, float, TARGET) \
    SKLB_DEFINE_MAP(sklb_map_##SUFFIX, double, SKLB_AS_DOUBLE, TARGET, SKLB_MULADD_##SUFFIX) \
    SKLB_DEFINE_MAP(sklb_map_float_##SUFFIX, float, SKLB_AS_FLOAT, TARGET, \
                    SKLB_MULADD_##SUFFIX) \
    SKLB_DEFINE_MAP(sklb_normalize_##SUFFIX, double, SKLB_AS_NORMALIZED, TARGET, \
                    SKLB_MULADD_##SUFFIX) \
    SKLB_DEFINE_MAP(sklb_normalize_float_##SUFFIX, float, SKLB_AS_NORMALIZED_FLOAT, TARGET, \
                    SKLB_MULADD_##SUFFIX) \
    SKLB_INLINE TARGET void sklb_add_rows_##SUFFIX( \
        const sklb_formula *g, const int32_t *restrict counts, int64_t stride, \
        const int n_samples, const double *restrict coefficients, int64_t n, \
        double *restrict acc) { \
        const int32_t offset = g->offset, sign = g->sign; \
        const double *table = g->table; \
        if (g->form == SKLB_POWER) { \
            const double constant = table[0]; \
            for (int64_t j = 0; j < n; j++) { \
                double sum = acc[j]; \
                for (int r = 0; r < n_samples; r++) { \
                    const int32_t s = offset + sign * counts[r * stride + j]; \
                    sum += coefficients[r] * (sklb_power_of_two(s) + constant); \
                } \
                acc[j] = sum; \
            } \
        } else if (g->form == SKLB_CUBIC) { \
            const double a = table[0], b = table[1], c = table[2], d = table[3]; \
            for (int64_t j = 0; j < n; j++) { \
                double sum = acc[j]; \
                for (int r = 0; r < n_samples; r++) { \
                    const double s = (double)(offset + sign * counts[r * stride + j]); \
                    const double g_s = SKLB_CUBIC_VALUE(s, SKLB_MULADD_##SUFFIX); \
                    sum = SKLB_MULADD_##SUFFIX(coefficients[r], g_s, sum); \
                } \
                acc[j] = sum; \
            } \
        } else { \
            for (int64_t j = 0; j < n; j++) { \
                double sum = acc[j]; \
                for (int r = 0; r < n_samples; r++) \
                    sum += coefficients[r] * table[offset + sign * counts[r * stride + j]]; \
                acc[j] = sum; \
            } \
        } \
    } \
    TARGET static void sklb_add_##SUFFIX( \
        const sklb_formula *g, const int32_t *counts, int64_t stride, int n_samples, \
        const double *coefficients, int64_t n, double *acc) { \
        if (n_samples == SKLB_TILE_ROWS) { /* a constant, so that the compiler unrolls */ \
            sklb_add_rows_##SUFFIX(g, counts, stride, SKLB_TILE_ROWS, coefficients, n, acc); \
            return; \
        } \
        for (int r = 0; r < n_samples; r++) \
            sklb_add_rows_##SUFFIX(g, counts + r * stride, stride, 1, coefficients + r, n, \
                                   acc); \
    }

/* One row against one column, a word at a time: plain C and the popcnt instruction. */
static void sklb_strip_plain(
    const uint64_t *rows, int n_samples, int64_t n_words, const uint64_t *panels,
    int64_t n_panels, int use_xor, int32_t *counts, int64_t stride) {
    for (int64_t p = 0; p < n_panels; p++)
        for (int r = 0; r < n_samples; r++) {
            const uint64_t *a = rows + r * n_words;
            const uint64_t *b = panels + p * n_words * SKLB_TILE_PANEL;
            int32_t *out = counts + r * stride + p * SKLB_TILE_PANEL;
            for (int j = 0; j < SKLB_TILE_PANEL; j++) out[j] = 0;
            for (int64_t w = 0; w < n_words; w++, b += SKLB_TILE_PANEL) {
                uint64_t word = a[w];
                if (use_xor)
                    for (int j = 0; j < SKLB_TILE_PANEL; j++)
                        out[j] += (int32_t)sklb_popcount_plain(word ^ b[j]);
                else
                    for (int j = 0; j < SKLB_TILE_PANEL; j++)
                        out[j] += (int32_t)sklb_popcount_plain(word & b[j]);
            }
        }
}

/* One column against all rows: for few columns, where a panel would be nearly empty.
 * Each score adds up in the order of the rows, as with panels. */
#define SKLB_COLUMN_ROWS 64
#define SKLB_FEW_COLUMNS 4
#define SKLB_DEFINE_SUM_COLUMN(SUFFIX, TARGET) \
    TARGET static void sklb_sum_column_##SUFFIX( \
        const sklb_formula *g, int use_xor, const uint64_t *rows, int64_t n_samples, \
        int64_t n_words, const uint64_t *column, const double *coefficients, \
        int64_t n_scores, double *sums, int64_t stride) { \
        int32_t counts[SKLB_COLUMN_ROWS]; \
        double values[SKLB_COLUMN_ROWS]; \
        for (int64_t first = 0; first < n_samples; first += SKLB_COLUMN_ROWS) { \
            const int64_t rest = n_samples - first; \
            const int n = (int)(rest < SKLB_COLUMN_ROWS ? rest : SKLB_COLUMN_ROWS); \
            for (int r = 0; r < n; r++, rows += n_words) { \
                int32_t count = 0; \
                for (int64_t w = 0; w < n_words; w++) { \
                    const uint64_t b = column[w * SKLB_TILE_PANEL]; \
                    count += (int32_t)SKLB_POPCOUNT_##SUFFIX(use_xor ? rows[w] ^ b : rows[w] & b); \
                } \
                counts[r] = count; \
            } \
            sklb_map_##SUFFIX(g, counts, n, 1, NULL, values); \
            for (int64_t k = 0; k < n_scores; k++) { \
                const double *own = coefficients + k * n_samples + first; \
                double sum = sums[k * stride]; \
                for (int r = 0; r < n; r++) sum += own[r] * values[r]; \
                sums[k * stride] = sum; \
            } \
        } \
    }

#define SKLB_SMALL_COUNTS 32

/* Without vector instructions for it: nothing is done. */
static int sklb_sum_small_plain(const sklb_formula *g, int most, int use_xor,
                                const uint64_t *rows, int64_t n_samples, int64_t n_words,
                                const uint64_t *panels, int64_t n_panels,
                                const double *coefficients, double *sums) {
    (void)g, (void)most, (void)use_xor, (void)rows, (void)n_samples, (void)n_words;
    (void)panels, (void)n_panels, (void)coefficients, (void)sums;
    return 0;
}
#define sklb_sum_small_avx2 sklb_sum_small_plain

#define SKLB_MULADD_plain(x, y, z) ((x) * (y) + (z))
#define SKLB_MULADD_avx2 __builtin_fma
#define SKLB_MULADD_avx512 __builtin_fma
SKLB_ON_EACH_LEVEL(SKLB_DEFINE_MAPS)
SKLB_ON_EACH_LEVEL(SKLB_DEFINE_SUM_COLUMN)

#if SKLB_X86

/* AVX2 has no popcount: count nibbles by a 16-entry table (vpshufb), add up bytes for
 * at most 31 words (31 * 8 < 256), then sum the bytes of each 64-bit lane. */
SKLB_INLINE SKLB_TARGET_AVX2 void sklb_tile_avx2(
    const int R, const uint64_t *rows, int64_t n_words, const uint64_t *panel,
    const int use_xor, int32_t *counts, int64_t stride) {
    const __m256i nibbles = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                             0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    for (int column = 0; column < SKLB_TILE_PANEL; column += 8) {
        __m256i total[2][2];
        for (int r = 0; r < R; r++)
            for (int v = 0; v < 2; v++) total[r][v] = _mm256_setzero_si256();
        for (int64_t first = 0; first < n_words; first += 31) {
            int64_t last = first + 31 < n_words ? first + 31 : n_words;
            __m256i bytes[2][2];
            for (int r = 0; r < R; r++)
                for (int v = 0; v < 2; v++) bytes[r][v] = _mm256_setzero_si256();
            for (int64_t w = first; w < last; w++) {
                const uint64_t *b = panel + w * SKLB_TILE_PANEL + column;
                for (int v = 0; v < 2; v++) {
                    __m256i word_b = _mm256_loadu_si256((const __m256i *)(b + 4 * v));
                    for (int r = 0; r < R; r++) {
                        __m256i word_a = _mm256_set1_epi64x((long long)rows[r * n_words + w]);
                        __m256i x = use_xor ? _mm256_xor_si256(word_a, word_b)
                                            : _mm256_and_si256(word_a, word_b);
                        __m256i lo = _mm256_shuffle_epi8(nibbles, _mm256_and_si256(x, low));
                        __m256i hi = _mm256_shuffle_epi8(
                            nibbles, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
                        bytes[r][v] =
                            _mm256_add_epi8(bytes[r][v], _mm256_add_epi8(lo, hi));
                    }
                }
            }
            for (int r = 0; r < R; r++)
                for (int v = 0; v < 2; v++)
                    total[r][v] = _mm256_add_epi64(
                        total[r][v], _mm256_sad_epu8(bytes[r][v], _mm256_setzero_si256()));
        }
        for (int r = 0; r < R; r++)
            for (int v = 0; v < 2; v++)
                _mm_storeu_si128(
                    (__m128i *)(counts + r * stride + column + 4 * v),
                    _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(total[r][v], even)));
    }
}

SKLB_TARGET_AVX2 static void sklb_strip_avx2(
    const uint64_t *rows, int n_samples, int64_t n_words, const uint64_t *panels,
    int64_t n_panels, int use_xor, int32_t *counts, int64_t stride) {
    for (int64_t p = 0; p < n_panels; p++) {
        const uint64_t *panel = panels + p * n_words * SKLB_TILE_PANEL;
        int32_t *out = counts + p * SKLB_TILE_PANEL;
        int r = 0;
        for (; r + 2 <= n_samples; r += 2)
            if (use_xor)
                sklb_tile_avx2(2, rows + r * n_words, n_words, panel, 1, out + r * stride, stride);
            else
                sklb_tile_avx2(2, rows + r * n_words, n_words, panel, 0, out + r * stride, stride);
        if (r < n_samples) {
            if (use_xor)
                sklb_tile_avx2(1, rows + r * n_words, n_words, panel, 1, out + r * stride, stride);
            else
                sklb_tile_avx2(1, rows + r * n_words, n_words, panel, 0, out + r * stride, stride);
        }
    }
}

SKLB_INLINE SKLB_TARGET_AVX512 void sklb_tile_avx512(
    const int R, const uint64_t *rows, int64_t n_words, const uint64_t *panel,
    const int use_xor, int32_t *counts, int64_t stride) {
    __m512i total[SKLB_TILE_ROWS][4];
    for (int r = 0; r < R; r++)
        for (int v = 0; v < 4; v++) total[r][v] = _mm512_setzero_si512();
    for (int64_t w = 0; w < n_words; w++, panel += SKLB_TILE_PANEL) {
        __m512i b[4];
        for (int v = 0; v < 4; v++) b[v] = _mm512_loadu_si512(panel + 8 * v);
        for (int r = 0; r < R; r++) {
            __m512i a = _mm512_set1_epi64((long long)rows[r * n_words + w]);
            for (int v = 0; v < 4; v++) {
                __m512i x = use_xor ? _mm512_xor_si512(a, b[v]) : _mm512_and_si512(a, b[v]);
                total[r][v] = _mm512_add_epi64(total[r][v], _mm512_popcnt_epi64(x));
            }
        }
    }
    for (int r = 0; r < R; r++)
        for (int v = 0; v < 4; v++)
            _mm256_storeu_si256((__m256i *)(counts + r * stride + 8 * v),
                                _mm512_cvtepi64_epi32(total[r][v]));
}

SKLB_TARGET_AVX512 static void sklb_strip_avx512(
    const uint64_t *rows, int n_samples, int64_t n_words, const uint64_t *panels,
    int64_t n_panels, int use_xor, int32_t *counts, int64_t stride) {
#define SKLB_CASE(R) \
    case R: \
        if (use_xor) sklb_tile_avx512(R, rows, n_words, panel, 1, out, stride); \
        else sklb_tile_avx512(R, rows, n_words, panel, 0, out, stride); \
        break;
    for (int64_t p = 0; p < n_panels; p++) {
        const uint64_t *panel = panels + p * n_words * SKLB_TILE_PANEL;
        int32_t *out = counts + p * SKLB_TILE_PANEL;
        switch (n_samples) {
            SKLB_CASE(1)
            SKLB_CASE(2)
            SKLB_CASE(3)
            SKLB_CASE(4)
            SKLB_CASE(5)
        }
    }
#undef SKLB_CASE
}

/* A table of 32 values in four registers: counts are looked up where they were formed, and
 * the sums stay in registers too. */
SKLB_INLINE SKLB_TARGET_AVX512 void sklb_sum_tile_avx512(
    const int R, const int wide, const int use_xor, const uint64_t *rows,
    const int64_t n_words, const uint64_t *panel, const double *coefficients,
    const __m512d *table, __m512d *sums) {
    __m512i counts[2][4];
    for (int r = 0; r < R; r++)
        for (int v = 0; v < 4; v++) counts[r][v] = _mm512_setzero_si512();
    for (int64_t w = 0; w < n_words; w++, panel += SKLB_TILE_PANEL) {
        __m512i b[4];
        for (int v = 0; v < 4; v++) b[v] = _mm512_loadu_si512(panel + 8 * v);
        for (int r = 0; r < R; r++) {
            __m512i a = _mm512_set1_epi64((long long)rows[r * n_words + w]);
            for (int v = 0; v < 4; v++) {
                __m512i x = use_xor ? _mm512_xor_si512(a, b[v]) : _mm512_and_si512(a, b[v]);
                counts[r][v] = _mm512_add_epi64(counts[r][v], _mm512_popcnt_epi64(x));
            }
        }
    }
    for (int r = 0; r < R; r++) {
        const __m512d coefficient = _mm512_set1_pd(coefficients[r]);
        for (int v = 0; v < 4; v++) {
            __m512d value = _mm512_permutex2var_pd(table[0], counts[r][v], table[1]);
            if (wide) {
                __m512d high = _mm512_permutex2var_pd(table[2], counts[r][v], table[3]);
                __mmask8 is_high =
                    _mm512_test_epi64_mask(counts[r][v], _mm512_set1_epi64(16));
                value = _mm512_mask_blend_pd(is_high, value, high);
            }
            sums[v] = _mm512_add_pd(sums[v], _mm512_mul_pd(coefficient, value));
        }
    }
}

#define SKLB_SUM_ROWS(WIDE, XOR, N_WORDS)                                                   \
    do {                                                                                     \
        int64_t r = 0;                                                                       \
        for (; r + 2 <= n_samples; r += 2)                                                   \
            sklb_sum_tile_avx512(2, WIDE, XOR, rows + r * n_words, N_WORDS, panel,           \
                                 coefficients + r, table, acc);                              \
        if (r < n_samples)                                                                   \
            sklb_sum_tile_avx512(1, WIDE, XOR, rows + r * n_words, N_WORDS, panel,           \
                                 coefficients + r, table, acc);                              \
    } while (0)

SKLB_TARGET_AVX512 static int sklb_sum_small_avx512(
    const sklb_formula *g, int most, int use_xor, const uint64_t *rows, int64_t n_samples,
    int64_t n_words, const uint64_t *panels, int64_t n_panels, const double *coefficients,
    double *sums) {
    double values[SKLB_SMALL_COUNTS] = {0};
    __m512d table[4], acc[4];
    for (int count = 0; count <= most; count++)
        values[count] = g->table[g->offset + g->sign * count];
    for (int i = 0; i < 4; i++) table[i] = _mm512_loadu_pd(values + 8 * i);
    for (int64_t p = 0; p < n_panels; p++) {
        const uint64_t *panel = panels + p * n_words * SKLB_TILE_PANEL;
        double *out = sums + p * SKLB_TILE_PANEL;
        for (int v = 0; v < 4; v++) acc[v] = _mm512_loadu_pd(out + 8 * v);
        if (use_xor) {
            if (most < 16) SKLB_SUM_ROWS(0, 1, n_words);
            else SKLB_SUM_ROWS(1, 1, n_words);
        } else if (most < 16) {
            if (n_words == 1) SKLB_SUM_ROWS(0, 0, 1);
            else if (n_words == 2) SKLB_SUM_ROWS(0, 0, 2);
            else SKLB_SUM_ROWS(0, 0, n_words);
        } else {
            SKLB_SUM_ROWS(1, 0, n_words);
        }
        for (int v = 0; v < 4; v++) _mm512_storeu_pd(out + 8 * v, acc[v]);
    }
    return 1;
}
#undef SKLB_SUM_ROWS

#endif /* SKLB_X86 */

/* counts[r * stride + j] for r < n_samples, j < 32 * n_panels */
static void sklb_count_strip(const uint64_t *rows, int n_samples, int64_t n_words,
                             const uint64_t *panels, int64_t n_panels, int use_xor,
                             int32_t *counts, int64_t stride) {
    SKLB_CALL(sklb_strip, rows, n_samples, n_words, panels, n_panels, use_xor, counts, stride);
}

/* out[j] = g(counts[j]) */
static void sklb_map_counts(const sklb_formula *g, const int32_t *counts, int64_t n,
                            double *out) {
    SKLB_CALL(sklb_map, g, counts, n, 1, NULL, out);
}

static void sklb_map_counts_float(const sklb_formula *g, const int32_t *counts, int64_t n,
                                  float *out) {
    SKLB_CALL(sklb_map_float, g, counts, n, 1, NULL, out);
}

static void sklb_share(const int32_t *counts, int64_t n, int32_t own, const int32_t *sizes,
                       double *out) {
    SKLB_CALL(sklb_share, counts, n, own, sizes, out);
}

static void sklb_share_float(const int32_t *counts, int64_t n, int32_t own,
                             const int32_t *sizes, float *out) {
    SKLB_CALL(sklb_share_float, counts, n, own, sizes, out);
}

/* out[j] = g(counts[j]) * own_root * roots[j] */
static void sklb_normalize(const sklb_formula *g, const int32_t *counts, int64_t n,
                           double own_root, const double *roots, double *out) {
    SKLB_CALL(sklb_normalize, g, counts, n, own_root, roots, out);
}

static void sklb_normalize_float(const sklb_formula *g, const int32_t *counts, int64_t n,
                                 double own_root, const double *roots, float *out) {
    SKLB_CALL(sklb_normalize_float, g, counts, n, own_root, roots, out);
}

/* acc[j] += sum over r of coefficients[r] * g(counts[r * stride + j]), in that order */
static void sklb_add_counts(const sklb_formula *g, const int32_t *counts, int64_t stride,
                            int n_samples, const double *coefficients, int64_t n,
                            double *acc) {
    SKLB_CALL(sklb_add, g, counts, stride, n_samples, coefficients, n, acc);
}

/* sums[j] += sum over the samples of coefficients[r] * g(count), in that order, for a table
 * and counts of at most `most` < SKLB_SMALL_COUNTS. Returns 0 where this processor has no
 * faster way than counting first; then nothing is done. */
static int sklb_sum_small(const sklb_formula *g, int most, int use_xor, const uint64_t *rows,
                          int64_t n_samples, int64_t n_words, const uint64_t *panels,
                          int64_t n_panels, const double *coefficients, double *sums) {
    return SKLB_CALL(sklb_sum_small, g, most, use_xor, rows, n_samples, n_words, panels,
                     n_panels, coefficients, sums);
}

/* sums[k * stride] += sum over r of coefficients[k * n_samples + r] * g(count of row r with
 * the column), in that order; `column` points into a panel. */
static void sklb_sum_column(const sklb_formula *g, int use_xor, const uint64_t *rows,
                            int64_t n_samples, int64_t n_words, const uint64_t *column,
                            const double *coefficients, int64_t n_scores, double *sums,
                            int64_t stride) {
    SKLB_CALL(sklb_sum_column, g, use_xor, rows, n_samples, n_words, column, coefficients,
              n_scores, sums, stride);
}

#endif
