/* The passes of a round of a game over the samples: their weights, a judgement by held-out
 * samples, and the votes of a hypothesis.
 *
 * The state of a sample is the number of right votes on it. Rows of bits have sample
 * 32 w + r at bit r of word w. Arrays of samples have a place for each bit. */
#ifndef SKLB_ROUND_PASSES_H
#define SKLB_ROUND_PASSES_H

#include <stdint.h>
#include <string.h>

#include "masked_sums.h"

typedef struct {
    int64_t n_samples, n_words;
    const uint32_t *labels; /* bit 1: the second class */
    uint16_t *right;
} sklb_samples;

SKLB_INLINE int64_t sklb_in_word(const sklb_samples *samples, int64_t w) {
    int64_t left = samples->n_samples - 32 * w;
    return left < 32 ? left : 32;
}

/* Look up the weights of up to 32 samples, 0 for those outside of `mask`. */
SKLB_INLINE void sklb_some_weights(const sklb_samples *samples, int64_t w, uint32_t mask,
                                   const int16_t *table, int16_t *weights) {
    int16_t keep[32];
    int64_t n = sklb_in_word(samples, w);
    if (n < 32) memset(weights, 0, 32 * sizeof(int16_t));
    for (int64_t r = 0; r < n; r++) weights[r] = table[samples->right[32 * w + r]];
    if (mask == UINT32_MAX) return;
    sklb_choose_32(mask, 0, -1, keep);
    for (int r = 0; r < 32; r++) weights[r] &= keep[r];
}

/* The sum of the weights of the samples in `mask`, NULL for all. */
static int64_t sklb_total_weight(const sklb_samples *samples, const uint32_t *mask,
                                 const uint32_t *second_mask, const int16_t *table) {
    int64_t total = 0;
    for (int64_t w = 0; w < samples->n_words; w++) {
        int16_t weights[32];
        int32_t sum = 0;
        sklb_some_weights(samples, w, mask[w] & second_mask[w], table, weights);
        for (int r = 0; r < 32; r++) sum += weights[r];
        total += sum;
    }
    return total;
}

/* signed_weights[i] = the weight of sample i, negative for the first class, 0 outside of
 * `mask`. Returns their sum, and writes that of the weights. */
static int64_t sklb_signed_weights(const sklb_samples *samples, const uint32_t *mask,
                                   const int16_t *table, int16_t *signed_weights,
                                   int64_t *total) {
    int64_t signed_total = 0;
    *total = 0;
    for (int64_t w = 0; w < samples->n_words; w++) {
        int16_t weights[32], flip[32], *out = signed_weights + 32 * w;
        int32_t sum = 0, signed_sum = 0;
        sklb_some_weights(samples, w, mask[w], table, weights);
        sklb_choose_32(samples->labels[w], -1, 0, flip);
        for (int r = 0; r < 32; r++) {
            out[r] = (int16_t)((weights[r] ^ flip[r]) - flip[r]);
            sum += weights[r];
            signed_sum += out[r];
        }
        *total += sum;
        signed_total += signed_sum;
    }
    return signed_total;
}

/* hits: bit 1 where the class on the side of `truth` is the label; in place. */
static void sklb_find_hits(const sklb_samples *samples, int if_false, int if_true,
                           uint32_t *truth) {
    uint32_t first = if_false ? UINT32_MAX : 0, differ = if_false != if_true ? UINT32_MAX : 0;
    for (int64_t w = 0; w < samples->n_words; w++)
        truth[w] = ~(((truth[w] & differ) ^ first) ^ samples->labels[w]);
}

/* Count the right votes of a hypothesis, and the samples in each state. */
static void sklb_count_votes(const sklb_samples *samples, const uint32_t *hits,
                             int64_t *counts, int64_t n_states) {
    memset(counts, 0, (size_t)n_states * sizeof(int64_t));
    for (int64_t w = 0; w < samples->n_words; w++) {
        uint16_t *right = samples->right + 32 * w;
        int16_t votes[32];
        int64_t n = sklb_in_word(samples, w);
        sklb_choose_32(hits[w], 0, 1, votes);
        for (int r = 0; r < 32; r++) right[r] += (uint16_t)votes[r];
        for (int64_t r = 0; r < n; r++) counts[right[r]]++;
    }
}

#endif
