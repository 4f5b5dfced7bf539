/* Sequential minimal optimisation of the soft-margin dual on one block of samples.
 *
 * A compiler makes vectors of a maximum of integers, but not of floats: so floats are
 * compared as integers of the same order. All versions give the same bits. */
#ifndef SKLB_SMO_H
#define SKLB_SMO_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "dispatch.h"

#define SKLB_LEAST_CURVE 1e-12

/* An integer that is ordered as the float is. */
SKLB_INLINE int64_t sklb_order(double x) {
    int64_t bits;
    memcpy(&bits, &x, 8);
    return bits ^ (bits < 0 ? INT64_MAX : 0);
}

SKLB_INLINE double sklb_float_of_order(int64_t order) {
    double x;
    order ^= order < 0 ? INT64_MAX : 0;
    memcpy(&x, &order, 8);
    return x;
}

/* min 1/2 a'Qa - sum a with 0 <= a <= box and y'a = 0, where Q_ij = y_i y_j K_ij.
 *
 * v_i is f_i - y_i, where f_i = sum_j a_j y_j K_ij and the sum is over all samples, also
 * those outside the block. A step moves y_i a_i up and y_j a_j down by the same amount: i
 * has the least v of those that may move up, j the largest gain of the second order
 * (Fan, Chen, Lin 2005); of equal ones the first. A sample with an empty box never moves.
 * `room` and `orders` hold 3 n and n numbers. Returns the number of steps. */
#define SKLB_DEFINE_SMO(SUFFIX, TARGET)                                                      \
    SKLB_INLINE TARGET int64_t sklb_first_##SUFFIX(const int64_t *orders, int64_t n,         \
                                                   int64_t best) {                           \
        int64_t first = n;                                                                   \
        for (int64_t k = n - 1; k >= 0; k--) first = orders[k] == best ? k : first;          \
        return first;                                                                        \
    }                                                                                        \
    TARGET static int64_t sklb_smo_##SUFFIX(                                                 \
        int64_t n, const double *restrict K, const double *restrict y,                       \
        const double *restrict box, double *restrict alpha, double *restrict v,              \
        double *restrict room, int64_t *restrict orders, double tol, int64_t max_steps) {    \
        double *restrict up = room, *restrict low = up + n, *restrict diagonal = low + n;    \
        int64_t i = 0, j = 0, steps = 0;                                                     \
        double step = 0;                                                                     \
        for (int64_t k = 0; k < n; k++) {                                                    \
            diagonal[k] = K[k * n + k];                                                      \
            up[k] = (y[k] > 0 ? alpha[k] < box[k] : alpha[k] > 0) ? 0 : -INFINITY;           \
            low[k] = (y[k] > 0 ? alpha[k] > 0 : alpha[k] < box[k]) ? 0 : -INFINITY;          \
        }                                                                                    \
        for (;; steps++) {                                                                   \
            const double *restrict Ki = K + i * n, *restrict Kj = K + j * n;                 \
            int64_t best = INT64_MIN, most = INT64_MIN;                                      \
            for (int64_t k = 0; k < n; k++) {                                                \
                const double moved = v[k] + step * (Ki[k] - Kj[k]);                          \
                const int64_t down = sklb_order(up[k] - moved);                              \
                const int64_t above = sklb_order(low[k] + moved);                            \
                v[k] = moved;                                                                \
                orders[k] = down;                                                            \
                best = down > best ? down : best;                                            \
                most = above > most ? above : most;                                          \
            }                                                                                \
            const double least = -sklb_float_of_order(best);                                 \
            /* Also where no sample may move: then the gap is infinite below 0. */           \
            if (!(sklb_float_of_order(most) - least >= tol) || steps == max_steps) break;    \
            i = sklb_first_##SUFFIX(orders, n, best);                                        \
            Ki = K + i * n;                                                                  \
            const double own = diagonal[i];                                                  \
            best = 0;                                                                        \
            for (int64_t k = 0; k < n; k++) {                                                \
                double gap = low[k] + v[k] - least;                                          \
                double curve = own + diagonal[k] - 2 * Ki[k];                                \
                gap = gap > 0 ? gap : 0;                                                     \
                curve = curve > SKLB_LEAST_CURVE ? curve : SKLB_LEAST_CURVE;                 \
                const int64_t gain = sklb_order(gap * gap / curve);                          \
                orders[k] = gain;                                                            \
                best = gain > best ? gain : best;                                            \
            }                                                                                \
            j = sklb_first_##SUFFIX(orders, n, best);                                        \
            double curve = own + diagonal[j] - 2 * Ki[j];                                    \
            curve = curve > SKLB_LEAST_CURVE ? curve : SKLB_LEAST_CURVE;                     \
            const double room_i = y[i] > 0 ? box[i] - alpha[i] : alpha[i];                   \
            const double room_j = y[j] > 0 ? alpha[j] : box[j] - alpha[j];                   \
            step = (v[j] - v[i]) / curve;                                                    \
            step = step < room_i ? step : room_i;                                            \
            step = step < room_j ? step : room_j;                                            \
            /* A sample that reaches a bound is set to it. */                                \
            alpha[i] = step == room_i ? (y[i] > 0 ? box[i] : 0) : alpha[i] + y[i] * step;    \
            alpha[j] = step == room_j ? (y[j] > 0 ? 0 : box[j]) : alpha[j] - y[j] * step;    \
            up[i] = (y[i] > 0 ? alpha[i] < box[i] : alpha[i] > 0) ? 0 : -INFINITY;           \
            low[j] = (y[j] > 0 ? alpha[j] > 0 : alpha[j] < box[j]) ? 0 : -INFINITY;          \
            low[i] = up[j] = 0;                                                              \
        }                                                                                    \
        return steps;                                                                        \
    }

SKLB_ON_EACH_LEVEL(SKLB_DEFINE_SMO)

static int64_t sklb_smo(int64_t n, const double *K, const double *y, const double *box,
                        double *alpha, double *v, double *room, int64_t *orders, double tol,
                        int64_t max_steps) {
    return SKLB_CALL(sklb_smo, n, K, y, box, alpha, v, room, orders, tol, max_steps);
}

#endif
