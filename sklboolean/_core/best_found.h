/* The best conjunctions found, in order, one for each cover. */
#ifndef SKLB_BEST_FOUND_H
#define SKLB_BEST_FOUND_H

#include "seen_covers.h"

enum { SKLB_POSITIVE = 1, SKLB_NEGATIVE = 2, SKLB_BOTH = 3 }; /* which sums are wanted */

typedef struct {
    double score, sum; /* a factor times the sum in the direction that is wanted */
    int length;
    sklb_hash cover;
    int32_t *literals; /* ascending */
} sklb_found;

typedef struct {
    sklb_found *list; /* best first; one place more than wanted, for who comes and goes */
    int32_t *literals;
    int64_t size, wanted;
    double floor; /* scores up to it are not wanted */
} sklb_best;

static void sklb_best_close(sklb_best *best) {
    free(best->list);
    free(best->literals);
}

static int sklb_best_open(sklb_best *best, int64_t wanted, int longest) {
    best->size = 0, best->wanted = wanted, best->floor = 0;
    best->list = (sklb_found *)calloc(wanted + 1, sizeof(sklb_found));
    best->literals = (int32_t *)calloc(wanted + 1, longest * sizeof(int32_t));
    if (!best->list || !best->literals) return 0;
    for (int64_t k = 0; k <= wanted; k++) best->list[k].literals = best->literals + k * longest;
    return 1;
}

/* The larger score; of equal ones the shorter, then the one whose literals come first. */
static int sklb_comes_before(const sklb_found *a, const sklb_found *b) {
    if (a->score != b->score) return a->score > b->score;
    if (a->length != b->length) return a->length < b->length;
    for (int k = 0; k < a->length; k++)
        if (a->literals[k] != b->literals[k]) return a->literals[k] < b->literals[k];
    return 0;
}

static const sklb_found *sklb_worst(const sklb_best *best) {
    return best->size < best->wanted ? NULL : &best->list[best->wanted - 1];
}

/* Nothing of at most this score and at least this length gets among the best. */
static inline int sklb_is_hopeless(const sklb_best *best, double score, int length) {
    const sklb_found *worst = sklb_worst(best);
    if (score <= best->floor) return 1;
    return worst && (score < worst->score || (score == worst->score && length > worst->length));
}

/* Take in a conjunction that comes before the worst. Of one cover the first of the
 * shortest stays. */
static void sklb_take_in(sklb_best *best, const sklb_found *entry) {
    int64_t place = 0;
    while (place < best->size && (best->list[place].cover.low != entry->cover.low ||
                                  best->list[place].cover.high != entry->cover.high))
        place++;
    if (place < best->size) {
        sklb_found same = *entry;
        same.score = best->list[place].score;
        if (!sklb_comes_before(&same, &best->list[place])) return;
    } else if (best->size < best->wanted)
        best->size++;
    sklb_found taken = best->list[place];
    taken.score = entry->score, taken.sum = entry->sum, taken.length = entry->length, taken.cover = entry->cover;
    memcpy(taken.literals, entry->literals, entry->length * sizeof(int32_t));
    for (; place > 0 && sklb_comes_before(&taken, &best->list[place - 1]); place--)
        best->list[place] = best->list[place - 1];
    best->list[place] = taken;
}

#endif
