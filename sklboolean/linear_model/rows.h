/* Scores of one sample: sums of weights over its active features.
 *
 * The order of additions is fixed (by lane), so that every processor path gives the
 * same bits. */
#ifndef SKLB_ROWS_H
#define SKLB_ROWS_H

#include <stdint.h>

#include "../_core/dispatch.h"
#include "../_core/words.h"

#if SKLB_GNU
#define SKLB_PREFETCH(p) __builtin_prefetch(p)
#else
#define SKLB_PREFETCH(p) ((void)(p))
#endif

/* The indices of a row that comes soon: rows in random order would wait for memory.
 * Always inlined: GCC takes a function that only prefetches for one without effects, and
 * drops calls of it. */
SKLB_INLINE void sklb_prefetch_row(const int32_t *indices, int64_t n) {
    for (int64_t k = 0; k < n && k < 256; k += 16) SKLB_PREFETCH(indices + k);
    if (n) SKLB_PREFETCH(indices + n - 1); /* rows do not start where lines do */
}

/* A new order of rows in place: NumPy's would take a fifth of an epoch.
 *
 * Fisher and Yates with the splitmix64 generator; position j below n is taken from the
 * high bits of a product, whose bias of n / 2**32 no order of rows can show. */
static void sklb_shuffle(int64_t *rows, int64_t n, uint64_t seed) {
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        uint64_t size = (uint64_t)i + 1;
        int64_t j = (int64_t)(size >> 32 ? z % size : ((z >> 32) * size) >> 32);
        int64_t row = rows[i];
        rows[i] = rows[j];
        rows[j] = row;
    }
}

/* A new order of blocks of neighbouring rows, and of the rows in each: memory is read line
 * after line. */
static void sklb_shuffle_blocks(const int64_t *rows, int64_t n, int64_t block, uint64_t seed,
                                int64_t *blocks, int64_t *order) {
    int64_t n_blocks = (n + block - 1) / block, k = 0;
    for (int64_t i = 0; i < n_blocks; i++) blocks[i] = i;
    sklb_shuffle(blocks, n_blocks, seed);
    for (int64_t i = 0; i < n_blocks; i++) {
        int64_t first = k, from = blocks[i] * block;
        int64_t end = from + block < n ? from + block : n;
        for (int64_t r = from; r < end; r++) order[k++] = rows[r];
        sklb_shuffle(order + first, k - first, seed + 0x632be59bd9b4e019u * (uint64_t)(i + 1));
    }
}

/* The perceptron with steps of 1 over CSR of ones. Weights are integers below 2**24, so
 * floats are exact. Of the average, an update notes only step * clock with its row: see
 * sklb_add_noted. */
typedef struct {
    const int64_t *indptr;
    const int32_t *indices, *codes;
    float *weights;     /* [feature][hypothesis] */
    double *noted;      /* [row][hypothesis], or NULL */
    double *bias, *bias_lags, *scores;
    int64_t n_hypotheses, n_mistakes, n_updates;
    double margin_positive, margin_negative, clock;
    int fit_intercept;
} sklb_steps;

static inline void sklb_step(sklb_steps *s, int64_t i, int64_t h, double f, int positive) {
    int wrong = positive ? f < 0 : f >= 0;
    if (!wrong && (positive ? f >= s->margin_positive : -f >= s->margin_negative)) return;
    const int32_t *row = s->indices + s->indptr[i];
    int64_t n = s->indptr[i + 1] - s->indptr[i], k = s->n_hypotheses;
    float step = positive ? 1 : -1;
    s->n_mistakes += wrong;
    s->n_updates += 1;
    if (k == 1)
        for (int64_t a = 0; a < n; a++) s->weights[row[a]] += step;
    else
        for (int64_t a = 0; a < n; a++) s->weights[row[a] * k + h] += step;
    if (s->noted) s->noted[i * k + h] += step * s->clock;
    if (s->fit_intercept) {
        s->bias[h] += step;
        s->bias_lags[h] += step * s->clock;
    }
}

static void sklb_run_steps(sklb_steps *s, const int64_t *order, int64_t n_samples) {
    const float *restrict w = s->weights;
    const int64_t *indptr = s->indptr, k = s->n_hypotheses;
    for (int64_t p = 0; p < n_samples; p++, s->clock += 1) {
        int64_t i = order[p], n = indptr[i + 1] - indptr[i], a = 0;
        const int32_t *row = s->indices + indptr[i];
        if (p + 24 < n_samples) {
            SKLB_PREFETCH(indptr + order[p + 24]);
            SKLB_PREFETCH(s->codes + order[p + 24]);
            if (s->noted) SKLB_PREFETCH(s->noted + order[p + 24] * k);
        }
        if (p + 12 < n_samples) {
            int64_t ahead = order[p + 12];
            sklb_prefetch_row(s->indices + indptr[ahead], indptr[ahead + 1] - indptr[ahead]);
        }
        if (k == 1) {
            double x = 0, y = 0, z = 0, v = 0;
            for (; a + 4 <= n; a += 4) {
                x += w[row[a]];
                y += w[row[a + 1]];
                z += w[row[a + 2]];
                v += w[row[a + 3]];
            }
            for (; a < n; a++) x += w[row[a]];
            sklb_step(s, i, 0, (x + y) + (z + v) + s->bias[0], s->codes[i]);
            continue;
        }
        double *restrict scores = s->scores;
        for (int64_t h = 0; h < k; h++) scores[h] = s->bias[h];
        for (; a < n; a++) {
            const float *weights = w + row[a] * k;
            if (a + 8 < n)
                for (int64_t h = 0; h < k; h += 16) SKLB_PREFETCH(w + row[a + 8] * k + h);
            for (int64_t h = 0; h < k; h++) scores[h] += weights[h];
        }
        for (int64_t h = 0; h < k; h++) sklb_step(s, i, h, scores[h], s->codes[i] == h);
    }
}

/* What the average is to be short of, from all noted updates in one pass over the rows. */
static void sklb_add_noted(const double *noted, int64_t n_samples, const int64_t *indptr,
                           const int32_t *indices, int64_t k, double *restrict lags) {
    for (int64_t i = 0; i < n_samples; i++) {
        const double *lag = noted + i * k;
        int any = 0;
        for (int64_t h = 0; h < k; h++) any |= lag[h] != 0;
        if (!any) continue;
        for (int64_t a = indptr[i]; a < indptr[i + 1]; a++)
            for (int64_t h = 0; h < k; h++) lags[indices[a] * k + h] += lag[h];
    }
}

/* Four running sums hide the latency of an addition. */
static double sklb_sum_active(const double *w, const int32_t *indices, int64_t n) {
    double a = 0, b = 0, c = 0, d = 0;
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        a += w[indices[k]];
        b += w[indices[k + 1]];
        c += w[indices[k + 2]];
        d += w[indices[k + 3]];
    }
    for (; k < n; k++) a += w[indices[k]];
    return (a + b) + (c + d);
}

static double sklb_dot_active(const double *w, const int32_t *indices, const double *x,
                              int64_t n) {
    double a = 0, b = 0, c = 0, d = 0;
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        a += w[indices[k]] * x[k];
        b += w[indices[k + 1]] * x[k + 1];
        c += w[indices[k + 2]] * x[k + 2];
        d += w[indices[k + 3]] * x[k + 3];
    }
    for (; k < n; k++) a += w[indices[k]] * x[k];
    return (a + b) + (c + d);
}

/* Scores under several hypotheses, whose weights of a feature stand side by side: `x` is
 * NULL where all values are 1. */
static void sklb_score_many(const double *restrict w, const int32_t *restrict indices,
                            const double *restrict x, int64_t n, int64_t n_hypotheses,
                            double *restrict scores) {
    for (int64_t h = 0; h < n_hypotheses; h++) scores[h] = 0;
    for (int64_t k = 0; k < n; k++) {
        const double *row = w + indices[k] * n_hypotheses;
        double value = x ? x[k] : 1.0;
        if (k + 8 < n)
            for (int64_t h = 0; h < n_hypotheses; h += 8)
                SKLB_PREFETCH(w + indices[k + 8] * n_hypotheses + h);
        for (int64_t h = 0; h < n_hypotheses; h++) scores[h] += value * row[h];
    }
}

/* Thirty-two running sums, feature j in sum j % 32. `w` is padded to whole words. */
SKLB_INLINE double sklb_add_lanes(const double *lane) {
    double sum[8];
    for (int j = 0; j < 8; j++)
        sum[j] = (lane[j] + lane[j + 8]) + (lane[j + 16] + lane[j + 24]);
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

static double sklb_sum_bits_plain(const double *w, const uint64_t *words, int64_t n_words) {
    double lane[32] = {0};
    for (int64_t i = 0; i < n_words; i++, w += 64)
        for (uint64_t word = words[i]; word; word &= word - 1) {
            int j = sklb_lowest_bit(word);
            lane[j & 31] += w[j];
        }
    return sklb_add_lanes(lane);
}

#if SKLB_X86
SKLB_TARGET_AVX512 static double sklb_sum_bits_avx512(
    const double *w, const uint64_t *words, int64_t n_words) {
    const uint8_t *eight = (const uint8_t *)words; /* x86: the lowest byte comes first */
    __m512d sum[4];
    double lane[32];
    for (int v = 0; v < 4; v++) sum[v] = _mm512_setzero_pd();
    for (int64_t i = 0; i < n_words; i++, w += 64, eight += 8)
        for (int v = 0; v < 8; v++)
            sum[v & 3] = _mm512_mask_add_pd(sum[v & 3], (__mmask8)eight[v], sum[v & 3],
                                            _mm512_loadu_pd(w + 8 * v));
    for (int v = 0; v < 4; v++) _mm512_storeu_pd(lane + 8 * v, sum[v]);
    return sklb_add_lanes(lane);
}

/* All bits of a lane set where the bit of a feature is, for every four features. */
#define SKLB_LANE(bit) ((bit) ? -1LL : 0)
#define SKLB_FOUR(m) {SKLB_LANE((m) & 1), SKLB_LANE((m) & 2), SKLB_LANE((m) & 4), SKLB_LANE((m) & 8)}
static const int64_t sklb_lane_masks[16][4] = {
    SKLB_FOUR(0),  SKLB_FOUR(1),  SKLB_FOUR(2),  SKLB_FOUR(3),
    SKLB_FOUR(4),  SKLB_FOUR(5),  SKLB_FOUR(6),  SKLB_FOUR(7),
    SKLB_FOUR(8),  SKLB_FOUR(9),  SKLB_FOUR(10), SKLB_FOUR(11),
    SKLB_FOUR(12), SKLB_FOUR(13), SKLB_FOUR(14), SKLB_FOUR(15),
};

SKLB_TARGET_AVX2 static double sklb_sum_bits_avx2(
    const double *w, const uint64_t *words, int64_t n_words) {
    __m256d sum[8];
    double lane[32];
    for (int v = 0; v < 8; v++) sum[v] = _mm256_setzero_pd();
    for (int64_t i = 0; i < n_words; i++, w += 64)
        for (int v = 0; v < 16; v++) {
            const int64_t *mask = sklb_lane_masks[(words[i] >> (4 * v)) & 15];
            __m256d chosen = _mm256_and_pd(_mm256_loadu_pd((const double *)mask),
                                           _mm256_loadu_pd(w + 4 * v));
            sum[v & 7] = _mm256_add_pd(sum[v & 7], chosen);
        }
    for (int v = 0; v < 8; v++) _mm256_storeu_pd(lane + 4 * v, sum[v]);
    return sklb_add_lanes(lane);
}
#endif

static double sklb_sum_bits(const double *w, const uint64_t *words, int64_t n_words) {
    return SKLB_CALL(sklb_sum_bits, w, words, n_words);
}

/* Add to the weights of the active features; `lags` (or NULL) takes what the average is
 * to be short of: see _loop.pyx. One addition for each feature: no order to keep. */
static void sklb_add_active(double *w, double *lags, const int32_t *indices, int64_t n,
                            int64_t stride, double step, double lag) {
    if (lags)
        for (int64_t k = 0; k < n; k++) {
            int64_t j = indices[k] * stride;
            w[j] += step;
            lags[j] += lag;
        }
    else
        for (int64_t k = 0; k < n; k++) w[indices[k] * stride] += step;
}

static void sklb_add_bits_plain(double *w, double *lags, const uint64_t *words,
                                int64_t n_words, double step, double lag) {
    for (int64_t i = 0; i < n_words; i++)
        for (uint64_t word = words[i]; word; word &= word - 1) {
            int64_t j = 64 * i + sklb_lowest_bit(word);
            w[j] += step;
            if (lags) lags[j] += lag;
        }
}

#if SKLB_X86
SKLB_TARGET_AVX512 static void sklb_add_bits_avx512(
    double *w, double *lags, const uint64_t *words, int64_t n_words, double step, double lag) {
    const __m512d steps = _mm512_set1_pd(step), all_lags = _mm512_set1_pd(lag);
    for (int64_t i = 0; i < 8 * n_words; i++) {
        __mmask8 bits = ((const uint8_t *)words)[i];
        if (!bits) continue;
        __m512d x = _mm512_loadu_pd(w + 8 * i);
        _mm512_storeu_pd(w + 8 * i, _mm512_mask_add_pd(x, bits, x, steps));
        if (lags) {
            x = _mm512_loadu_pd(lags + 8 * i);
            _mm512_storeu_pd(lags + 8 * i, _mm512_mask_add_pd(x, bits, x, all_lags));
        }
    }
}
#define sklb_add_bits_avx2 sklb_add_bits_plain
#endif

static void sklb_add_bits(double *w, double *lags, const uint64_t *words, int64_t n_words,
                          double step, double lag) {
    SKLB_CALL(sklb_add_bits, w, lags, words, n_words, step, lag);
}

/* Multiplied weights stay within 2**-300 and 2**300, or are 0 where a factor of 0
 * nullified them: neither sums nor averages overflow, and no weight sticks at 0. */
static inline double sklb_clamp(double weight) {
    if (weight > 0x1p300) return 0x1p300;
    return weight < 0x1p-300 && weight > 0 ? 0x1p-300 : weight;
}

/* What a multiplied weight comes from. The four stand together: features are many, and
 * each would otherwise wait for four lines of memory. */
enum { SKLB_PLUS, SKLB_MINUS, SKLB_SUM, SKLB_SINCE, SKLB_PARTS };

/* One feature: its weight plus - minus (or plus alone, unless balanced) changes by the
 * factors. Where averages are kept its sum first takes what was in force since the last
 * change. */
static inline void sklb_multiply_one(double *weight, double *part, int balanced, int averaged,
                                     double up, double down, double clock) {
    if (averaged) {
        part[SKLB_SUM] += *weight * (clock - part[SKLB_SINCE]);
        part[SKLB_SINCE] = clock;
    }
    part[SKLB_PLUS] = sklb_clamp(part[SKLB_PLUS] * up);
    if (balanced) part[SKLB_MINUS] = sklb_clamp(part[SKLB_MINUS] * down);
    *weight = balanced ? part[SKLB_PLUS] - part[SKLB_MINUS] : part[SKLB_PLUS];
}

static void sklb_multiply_active(double *weights, double *parts, int balanced, int averaged,
                                 const int32_t *indices, int64_t n, int64_t stride, double up,
                                 double down, double clock) {
    for (int64_t k = 0; k < n; k++) {
        int64_t j = indices[k] * stride;
        if (k + 16 < n) SKLB_PREFETCH(parts + SKLB_PARTS * indices[k + 16] * stride);
        sklb_multiply_one(weights + j, parts + SKLB_PARTS * j, balanced, averaged, up, down,
                          clock);
    }
}

#endif
