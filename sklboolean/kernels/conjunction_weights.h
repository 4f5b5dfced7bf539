/* Sums of kernel rows, as weights of the conjunctions of up to three features.
 *
 * A kernel of short conjunctions is factors[0] + factors[1] C(s, 1) + ... + factors[3] C(s, 3)
 * of the features s that two samples share. So a sum of kernel rows is a sum of weights over
 * the conjunctions that a sample satisfies. The weight of the features u1 < u2 < u3 has the
 * rank C(u1, 1) + C(u2, 2) + C(u3, 3) among those of their length. */
#ifndef SKLB_CONJUNCTION_WEIGHTS_H
#define SKLB_CONJUNCTION_WEIGHTS_H

#include "words.h"

enum { SKLB_LONGEST_WEIGHTED = 3 };

typedef struct {
    int64_t n_words, n_features;
    const int64_t *choose[SKLB_LONGEST_WEIGHTED + 1]; /* choose[k][u]: C(u, k) */
    int64_t starts[SKLB_LONGEST_WEIGHTED + 1];        /* of the weights of each length */
    int longest, counts_same;
    double factors[SKLB_LONGEST_WEIGHTED + 1];
} sklb_weighted;

/* Before all other weights: the sum of the coefficients, and that of coefficients times ones. */
enum { SKLB_TOTAL, SKLB_TOTAL_OF_ONES, SKLB_FIRST_WEIGHT };

/* Write the true features of a sample, ascending; return their number. */
static int64_t sklb_list_ones(const sklb_weighted *p, const uint64_t *row, int64_t *ones) {
    int64_t n = 0;
    for (int64_t w = 0; w < p->n_words; w++)
        for (uint64_t word = row[w]; word; word &= word - 1) {
            int64_t feature = 64 * w + sklb_lowest_bit(word);
            if (feature < p->n_features) ones[n++] = feature;
        }
    return n;
}

/* Four sums at a time: the next addition need not wait for the last one. */
static inline double sklb_sum_at(const double *weights, const int64_t *ones, int64_t n) {
    double sums[4] = {0, 0, 0, 0};
    int64_t a = 0;
    for (; a + 4 <= n; a += 4)
        for (int k = 0; k < 4; k++) sums[k] += weights[ones[a + k]];
    for (; a < n; a++) sums[0] += weights[ones[a]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static double sklb_sum_of_pairs(const sklb_weighted *p, const double *weights,
                                const int64_t *ones, int64_t n) {
    double sum = 0;
    for (int64_t b = 1; b < n; b++)
        sum += sklb_sum_at(weights + p->choose[2][ones[b]], ones, b);
    return sum;
}

static double sklb_weighted_score(const sklb_weighted *p, const double *weights,
                                  const int64_t *ones, int64_t n) {
    double sum = sklb_sum_at(weights + p->starts[1], ones, n), total = weights[SKLB_TOTAL];
    if (p->counts_same)
        sum = (p->n_features - n) * total - weights[SKLB_TOTAL_OF_ONES] + 2 * sum;
    double score = p->factors[0] * total + p->factors[1] * sum;
    if (p->longest > 1)
        score += p->factors[2] * sklb_sum_of_pairs(p, weights + p->starts[2], ones, n);
    if (p->longest > 2) {
        sum = 0;
        for (int64_t c = 2; c < n; c++)
            sum += sklb_sum_of_pairs(p, weights + p->starts[3] + p->choose[3][ones[c]], ones, c);
        score += p->factors[3] * sum;
    }
    return score;
}

static void sklb_add_to_pairs(const sklb_weighted *p, double *weights, const int64_t *ones,
                              int64_t n, double coefficient) {
    for (int64_t b = 1; b < n; b++)
        for (int64_t a = 0; a < b; a++) weights[p->choose[2][ones[b]] + ones[a]] += coefficient;
}

static void sklb_weighted_add(const sklb_weighted *p, double *weights, const int64_t *ones,
                              int64_t n, double coefficient) {
    weights[SKLB_TOTAL] += coefficient;
    weights[SKLB_TOTAL_OF_ONES] += coefficient * n;
    for (int64_t a = 0; a < n; a++) weights[p->starts[1] + ones[a]] += coefficient;
    if (p->longest > 1) sklb_add_to_pairs(p, weights + p->starts[2], ones, n, coefficient);
    if (p->longest > 2)
        for (int64_t c = 2; c < n; c++)
            sklb_add_to_pairs(p, weights + p->starts[3] + p->choose[3][ones[c]], ones, c,
                              coefficient);
}

#endif
