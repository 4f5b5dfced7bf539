/* All conjunctions of a row's true literals, with the number that each has among all.
 *
 * Literals of one group stand together and never meet; next[l] is the first literal of
 * the group after l's. tail[j][l] counts the conjunctions of j literals from l on. In
 * lexicographic order a conjunction l_1 < ... < l_k has before it, for each i, those that
 * share l_1 ... l_{i-1} and go on with less than l_i:
 *     tail[k-i+1][next[l_{i-1}]] - tail[k-i+1][l_i].
 * For i = k that is l_k - next[l_{k-1}]: the last literal adds itself to a number that
 * the others determine, which is why the inner loops are one addition long. */
#ifndef SKLB_COMBINATIONS_H
#define SKLB_COMBINATIONS_H

#include <stdint.h>

typedef struct {
    const int64_t *tail; /* of shape (most literals + 1, n_literals + 1) */
    const int32_t *next;
    int64_t n_literals;
} sklb_numbering;

/* sizes[j] = conjunctions of j of the row's literals, for j <= longest, in float64: exact
 * below 2^53, and above nobody asks for the last digit. */
static void sklb_count_row(const int32_t *row, int64_t n, const int32_t *next, int64_t longest,
                           double *sizes) {
    int64_t n_groups = 0;
    sizes[0] = 1;
    for (int64_t j = 1; j <= longest; j++) sizes[j] = 0;
    for (int64_t t = 0; t < n;) {
        int64_t first = t;
        while (t < n && row[t] < next[row[first]]) t++;
        if (n_groups < longest) n_groups++;
        for (int64_t j = n_groups; j > 0; j--) sizes[j] += (double)(t - first) * sizes[j - 1];
    }
}

/* Writes the numbers of what a prefix and `missing` literals of row[t], ... make; returns
 * where the next number goes, at most `limit`. `number` is the prefix's part, `free` the
 * first literal outside its groups. Numbers are added without a sign: those of damaged
 * arrays may pass 64 bits, and the caller refuses them. */
static int32_t *sklb_combine(const sklb_numbering *by, const int32_t *row, int64_t n, int64_t t,
                             int64_t missing, uint64_t number, int64_t free, int32_t *out,
                             int32_t *limit) {
    const int64_t *tail = by->tail + missing * (by->n_literals + 1);
    while (t < n && row[t] < free) t++;
    if (missing == 1) {
        if (n - t > limit - out) n = t + (limit - out);
        uint64_t base = number - (uint64_t)free;
        for (; t < n; t++) *out++ = (int32_t)(base + (uint64_t)row[t]);
        return out;
    }
    for (; t + missing <= n; t++)
        out = sklb_combine(by, row, n, t + 1, missing - 1,
                           number + (uint64_t)tail[free] - (uint64_t)tail[row[t]],
                           by->next[row[t]], out, limit);
    return out;
}

#endif
