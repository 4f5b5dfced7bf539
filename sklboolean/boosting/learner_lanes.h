/* Numbers of many learners side by side, for each feature: sums and steps over a few of
 * the features.
 *
 * The number of learner i for feature j stands at lines[k j + i]. Each sum runs over the
 * features in order: all versions give the same bits, whatever the number of learners. */
#ifndef SKLB_LEARNER_LANES_H
#define SKLB_LEARNER_LANES_H

#include <stdint.h>

#include "../_core/dispatch.h"

/* Sums for the learners from i to k - 1, one after the other. */
SKLB_INLINE void sklb_sum_lines_from(int64_t i, const int64_t *features, int64_t n, int64_t k,
                                     const double *lines, double *sums) {
    for (; i < k; i++) {
        double sum = 0;
        for (int64_t f = 0; f < n; f++) sum += lines[k * features[f] + i];
        sums[i] = sum;
    }
}

static void sklb_sum_lines_plain(const int64_t *features, int64_t n, int64_t k,
                                 const double *lines, double *sums) {
    sklb_sum_lines_from(0, features, n, k, lines, sums);
}

SKLB_INLINE void sklb_all_steps(const int64_t *features, int64_t n, int64_t k,
                                const double *restrict steps, double *restrict lines) {
    for (int64_t f = 0; f < n; f++) {
        double *line = lines + k * features[f];
        for (int64_t i = 0; i < k; i++) line[i] += steps[i];
    }
}

static void sklb_step_lines_plain(const int64_t *features, int64_t n, int64_t k,
                                  const double *steps, double *lines) {
    sklb_all_steps(features, n, k, steps, lines);
}

#if SKLB_X86

SKLB_TARGET_AVX2 static void sklb_sum_lines_avx2(const int64_t *features, int64_t n, int64_t k,
                                                 const double *lines, double *sums) {
    int64_t i = 0;
    for (; i + 16 <= k; i += 16) {
        __m256d sum[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(),
                          _mm256_setzero_pd()};
        for (int64_t f = 0; f < n; f++) {
            const double *line = lines + k * features[f] + i;
            for (int b = 0; b < 4; b++) sum[b] = _mm256_add_pd(sum[b], _mm256_loadu_pd(line + 4 * b));
        }
        for (int b = 0; b < 4; b++) _mm256_storeu_pd(sums + i + 4 * b, sum[b]);
    }
    sklb_sum_lines_from(i, features, n, k, lines, sums);
}

SKLB_TARGET_AVX2 static void sklb_step_lines_avx2(const int64_t *features, int64_t n,
                                                  int64_t k, const double *steps,
                                                  double *lines) {
    sklb_all_steps(features, n, k, steps, lines);
}

/* The rows are in the second-level cache: wider registers would wait for it too. */
static void sklb_sum_lines_avx512(const int64_t *features, int64_t n, int64_t k,
                                  const double *lines, double *sums) {
    sklb_sum_lines_avx2(features, n, k, lines, sums);
}

static void sklb_step_lines_avx512(const int64_t *features, int64_t n, int64_t k,
                                   const double *steps, double *lines) {
    sklb_step_lines_avx2(features, n, k, steps, lines);
}

#endif

/* sums[i] = the sum of lines[k j + i] over the n features j. */
static void sklb_sum_lines(const int64_t *features, int64_t n, int64_t k, const double *lines,
                           double *sums) {
    SKLB_CALL(sklb_sum_lines, features, n, k, lines, sums);
}

/* Add steps[i] to lines[k j + i] for the n features j. */
static void sklb_step_lines(const int64_t *features, int64_t n, int64_t k,
                            const double *steps, double *lines) {
    SKLB_CALL(sklb_step_lines, features, n, k, steps, lines);
}

#endif
