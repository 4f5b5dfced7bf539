/* The kernel over conjunctions of columns, and its derivatives.
 *
 * A column has a number of levels. Of two samples, u_j is the relevance of column j times
 * the similarity of their levels in it. With e_d the sum of all products of d different u_j
 * and pr the product of (1 + b u_j) / (1 + b a_j), the kernel is
 * w0 + w1 e1 + w2 e2 + w3 e3 + w4 pr.
 *
 * Samples are taken in blocks, each lane on its own, and sums over lanes have a fixed
 * order, so every processor gives the same bits. */
#ifndef SKLB_RELEVANCE_H
#define SKLB_RELEVANCE_H

#include <stdint.h>

#include "dispatch.h"

#define SKLB_BLOCK 64
#define SKLB_SUMS 8
#define SKLB_TERMS 5

typedef struct {
    int64_t n_columns;
    const int64_t *starts; /* where the table of each column begins */
    const int64_t *widths; /* its row length: levels of the samples compared with */
    const double *tables;  /* u_j by the levels of both samples */
    const double *slopes;  /* derivatives of log pr for log a_j, laid out as the tables */
    const double *shrinks; /* 1 / (1 + b a_j) */
    double base;
    double weights[SKLB_TERMS];
} sklb_relevance;

/* e1, e2, e3 and pr of one sample and up to 64 others; u of each column where it is kept. */
SKLB_INLINE void sklb_relevance_terms(const sklb_relevance *kernel, const uint16_t *codes,
                                      int64_t n, const uint16_t *others, int64_t n_others,
                                      int64_t first, int64_t count,
                                      double terms[4][SKLB_BLOCK], double *kept) {
    double u[SKLB_BLOCK] = {0};
    double *e1 = terms[0], *e2 = terms[1], *e3 = terms[2], *pr = terms[3];
    for (int i = 0; i < SKLB_BLOCK; i++) {
        e1[i] = e2[i] = e3[i] = 0.0;
        pr[i] = 1.0;
    }
    for (int64_t j = 0; j < kernel->n_columns; j++) {
        const double *table = kernel->tables + kernel->starts[j] + codes[j * n] * kernel->widths[j];
        const uint16_t *levels = others + j * n_others + first;
        double b = kernel->base, shrink = kernel->shrinks[j];
        for (int64_t i = 0; i < count; i++)
            u[i] = table[levels[i]];
        for (int i = 0; i < SKLB_BLOCK; i++) {
            e3[i] += e2[i] * u[i];
            e2[i] += e1[i] * u[i];
            e1[i] += u[i];
            pr[i] *= (1.0 + b * u[i]) * shrink;
        }
        if (kept)
            for (int i = 0; i < SKLB_BLOCK; i++)
                kept[j * SKLB_BLOCK + i] = u[i];
    }
}

/* Values of one sample with the others from `first` to `last`. */
SKLB_INLINE void sklb_relevance_row(const sklb_relevance *kernel, const uint16_t *codes,
                                    int64_t n, const uint16_t *others, int64_t n_others,
                                    int64_t last, double *out) {
    double terms[4][SKLB_BLOCK];
    const double *w = kernel->weights;
    for (int64_t first = 0; first < last; first += SKLB_BLOCK) {
        int64_t count = last - first < SKLB_BLOCK ? last - first : SKLB_BLOCK;
        sklb_relevance_terms(kernel, codes, n, others, n_others, first, count, terms, 0);
        for (int64_t i = 0; i < count; i++)
            out[first + i] = w[0] + w[1] * terms[0][i] + w[2] * terms[1][i] +
                             w[3] * terms[2][i] + w[4] * terms[3][i];
    }
}

SKLB_INLINE double sklb_total(const double *sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/* Sum of a[i] * b[i] over a block. */
SKLB_INLINE double sklb_block_dot(const double *a, const double *b) {
    double sums[SKLB_SUMS] = {0};
    for (int i = 0; i < SKLB_BLOCK; i += SKLB_SUMS)
        for (int l = 0; l < SKLB_SUMS; l++)
            sums[l] += a[i + l] * b[i + l];
    return sklb_total(sums);
}

/* Add the products of `factors` with the derivatives of the kernel between one sample and
 * those from 0 to `last`: for log w0 to log w4, for log b, and for log a_j. */
SKLB_INLINE void sklb_relevance_gradient_row(const sklb_relevance *kernel,
                                             const uint16_t *codes, int64_t n,
                                             const uint16_t *others, int64_t n_others,
                                             int64_t last, const double *factors,
                                             double *kept, double *gradient) {
    double terms[4][SKLB_BLOCK], m[SKLB_BLOCK], q[SKLB_BLOCK], ones[SKLB_BLOCK];
    const double *w = kernel->weights, *e1 = terms[0], *e2 = terms[1];
    for (int i = 0; i < SKLB_BLOCK; i++)
        ones[i] = 1.0;
    for (int64_t first = 0; first < last; first += SKLB_BLOCK) {
        int64_t count = last - first < SKLB_BLOCK ? last - first : SKLB_BLOCK;
        sklb_relevance_terms(kernel, codes, n, others, n_others, first, count, terms, kept);
        for (int i = 0; i < SKLB_BLOCK; i++) {
            m[i] = i < count ? factors[first + i] : 0.0;
            q[i] = w[4] * m[i] * terms[3][i];
        }
        gradient[0] += w[0] * sklb_block_dot(m, ones);
        gradient[1] += w[1] * sklb_block_dot(m, e1);
        gradient[2] += w[2] * sklb_block_dot(m, e2);
        gradient[3] += w[3] * sklb_block_dot(m, terms[2]);
        gradient[4] += sklb_block_dot(q, ones);
        for (int64_t j = 0; j < kernel->n_columns; j++) {
            const double *u = kept + j * SKLB_BLOCK;
            const double *slopes =
                kernel->slopes + kernel->starts[j] + codes[j * n] * kernel->widths[j];
            const uint16_t *levels = others + j * n_others + first;
            double direct[SKLB_BLOCK], slope[SKLB_BLOCK] = {0}, share;
            for (int i = 0; i < SKLB_BLOCK; i++) {
                /* e1 and e2 of the other columns */
                double rest1 = e1[i] - u[i], rest2 = e2[i] - u[i] * rest1;
                direct[i] = u[i] * (w[1] + w[2] * rest1 + w[3] * rest2);
            }
            for (int64_t i = 0; i < count; i++)
                slope[i] = slopes[levels[i]];
            share = sklb_block_dot(q, slope);
            gradient[5] += share;
            gradient[6 + j] += sklb_block_dot(m, direct) + share;
        }
    }
}

#define SKLB_RELEVANCE_LOOPS(level, target)                                                 \
    target static void sklb_fill_##level(                                       \
        const sklb_relevance *kernel, const uint16_t *codes, int64_t n,                     \
        const uint16_t *others, int64_t n_others, int symmetric, int64_t first,             \
        int64_t last, double *out) {                                                        \
        for (int64_t x = first; x < last; x++)                                              \
            sklb_relevance_row(kernel, codes + x, n, others, n_others,                      \
                               symmetric ? x + 1 : n_others, out + x * n_others);           \
    }                                                                                       \
    target static void sklb_derive_##level(                                     \
        const sklb_relevance *kernel, const uint16_t *codes, int64_t n,                     \
        const double *factors, double *kept, double *gradient) {                            \
        for (int64_t x = 0; x < n; x++)                                                     \
            sklb_relevance_gradient_row(kernel, codes + x, n, codes, n, x + 1,              \
                                        factors + x * n, kept, gradient);                   \
    }

SKLB_ON_EACH_LEVEL(SKLB_RELEVANCE_LOOPS)

/* Values of the samples from `first` to `last` with all others; of a symmetric matrix those
 * up to the diagonal. */
static void sklb_relevance_values(const sklb_relevance *kernel, const uint16_t *codes,
                                  int64_t n, const uint16_t *others, int64_t n_others,
                                  int symmetric, int64_t first, int64_t last, double *out) {
    SKLB_CALL(sklb_fill, kernel, codes, n, others, n_others, symmetric, first, last, out);
}

/* The products of the entries of `factors` up to the diagonal with all derivatives. */
static void sklb_relevance_gradient(const sklb_relevance *kernel, const uint16_t *codes,
                                    int64_t n, const double *factors, double *kept,
                                    double *gradient) {
    SKLB_CALL(sklb_derive, kernel, codes, n, factors, kept, gradient);
}

#endif
