/* The search for the best conjunction of a round: sums of signed weights over all
 * extensions of a beam of conjunctions, and the choice of those that are extended.
 *
 * All sums are integers, exact. A literal is 2 feature + 1, or 2 feature for its negation.
 * Extension c of a conjunction adds feature c, or the negation of feature c - n_features. */
#ifndef SKLB_BEAM_SEARCH_H
#define SKLB_BEAM_SEARCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../_core/words.h"
#include "masked_sums.h"

/* -- a few of the samples' true features are read: eight conjunctions at a time ------- */

#define SKLB_PATTERN_BITS 8
#define SKLB_PATTERN_SAMPLES 65536 /* 32 bits hold the sum of so many weights */

/* Add to sums[n_features b + j] the weights of the samples of conjunction b < n_masks that
 * have feature j. `table` has a line for each set of conjunctions: a sample adds to that of
 * the conjunctions which it satisfies, once for each of its features. */
static void sklb_pattern_sums(const int16_t *weights, int64_t first_word, int64_t end_word,
                              const uint32_t *masks, int64_t n_words, int n_masks,
                              const int64_t *starts, const uint16_t *features,
                              int64_t n_features, int32_t *table, int64_t *sums) {
    memset(table, 0, ((size_t)n_features << n_masks) * sizeof(int32_t));
    for (int64_t w = first_word; w < end_word; w++) {
        int16_t patterns[32] = {0}, bits[32];
        for (int b = 0; b < n_masks; b++) {
            sklb_choose_32(masks[b * n_words + w], 0, (int16_t)(1 << b), bits);
            for (int r = 0; r < 32; r++) patterns[r] |= bits[r];
        }
        for (int r = 0; r < 32; r++) {
            int64_t i = 32 * w + r;
            int32_t weight = weights[i];
            if (weight == 0 || patterns[r] == 0) continue;
            int32_t *line = table + n_features * patterns[r];
            for (int64_t f = starts[i]; f < starts[i + 1]; f++) line[features[f]] += weight;
        }
    }
    /* The upper half of the patterns, with the last conjunction, goes into the lower. */
    for (int b = n_masks - 1; b >= 0; b--) {
        int32_t *upper = table + (n_features << b);
        for (int64_t p = 0; p < n_features << b; p++) table[p] += upper[p];
        for (int64_t p = 0; p < (int64_t)1 << b; p++)
            for (int64_t j = 0; j < n_features; j++)
                sums[b * n_features + j] += upper[p * n_features + j];
    }
}

/* -- the best extensions ------------------------------------------------------------- */

typedef struct {
    int64_t gain, place;
} sklb_extension;

/* Whether a comes after b: a smaller gain, or the same at a later place. */
SKLB_INLINE int sklb_is_after(sklb_extension a, sklb_extension b) {
    return a.gain < b.gain || (a.gain == b.gain && a.place > b.place);
}

static int sklb_compare_extensions(const void *a, const void *b) {
    sklb_extension one = *(const sklb_extension *)a, other = *(const sklb_extension *)b;
    return sklb_is_after(one, other) - sklb_is_after(other, one);
}

/* Move the extension at the top of a heap, whose last ones are on top, to its place. */
static void sklb_sift_down(sklb_extension *heap, int64_t n) {
    sklb_extension moved = heap[0];
    int64_t i = 0;
    for (int64_t child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && sklb_is_after(heap[child + 1], heap[child])) child++;
        if (!sklb_is_after(heap[child], moved)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

/* Find the n_wanted largest gains of those that are not negative, in order; of equals the
 * first. Returns how many there are. */
static int64_t sklb_best_extensions(const int64_t *gains, int64_t n, int64_t n_wanted,
                                    sklb_extension *best) {
    int64_t n_best = 0;
    for (int64_t place = 0; place < n; place++) {
        sklb_extension each = {gains[place], place};
        if (each.gain < 0) continue;
        if (n_best < n_wanted) {
            best[n_best++] = each;
            if (n_best < n_wanted) continue;
            /* The largest of a sorted list is a heap: the last one is on top. */
            qsort(best, (size_t)n_best, sizeof(*best), sklb_compare_extensions);
            for (int64_t i = 0, j = n_best - 1; i < j; i++, j--) {
                sklb_extension swapped = best[i];
                best[i] = best[j];
                best[j] = swapped;
            }
        } else if (each.gain > best[0].gain) {
            best[0] = each;
            sklb_sift_down(best, n_best);
        }
    }
    qsort(best, (size_t)n_best, sizeof(*best), sklb_compare_extensions);
    return n_best;
}

/* Whether two sorted lists of literals are the same. */
SKLB_INLINE int sklb_same_literals(const int32_t *a, const int32_t *b, int64_t n) {
    return memcmp(a, b, (size_t)n * sizeof(int32_t)) == 0;
}

/* Write a sorted list of n literals and a further one, in order. */
static void sklb_insert_literal(const int32_t *literals, int64_t n, int32_t literal,
                                int32_t *out) {
    int64_t place = n;
    while (place > 0 && literals[place - 1] > literal) place--;
    memcpy(out, literals, (size_t)place * sizeof(int32_t));
    out[place] = literal;
    memcpy(out + place + 1, literals + place, (size_t)(n - place) * sizeof(int32_t));
}

#endif
