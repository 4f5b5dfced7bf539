/* The conjunctions with the largest weights over rows with coefficients, by branch and bound.
 *
 * Conjunctions grow level by level, literals in increasing order. Of those with one
 * cover only the first of the shortest is kept. Every part of such a conjunction is
 * itself the first of the shortest for its cover, so a conjunction need only grow by
 * the last literals of its later siblings. When a level outgrows its block the levels
 * below are searched before it goes on, which bounds memory. */
#ifndef SKLB_BRANCH_AND_BOUND_H
#define SKLB_BRANCH_AND_BOUND_H

#include "best_found.h"
#include "cover_sums.h"
#include "removals.h"

typedef struct {
    int32_t *literals; /* for each conjunction as many as the level is deep */
    double *bounds;    /* the largest score of anything longer that has it and siblings */
    double *own;       /* the same with later siblings only: what grows from it */
    double *merits;    /* its own score, were it long enough: what a limited width keeps */
    int64_t *ends;     /* where its siblings end */
    int64_t size, capacity, next;
} sklb_level;

typedef struct {
    /* What is searched. */
    const uint64_t *columns, *rows; /* the rows of each literal; all rows */
    const int32_t *groups;          /* literals of one group never meet */
    const uint8_t *signs_of; /* of the sums that a conjunction with a literal may have */
    const uint64_t *tokens;         /* names of groups that rows do not keep apart */
    int64_t n_literals, n_words;
    sklb_side sides[2]; /* rows with positive, with negative coefficients */
    /* The same rows one by one: the words of their samples, and their magnitudes. */
    const uint64_t *words;
    const int64_t *order, *magnitudes; /* of each row the sample */
    int64_t n_features, n_row_words;
    double delivery; /* nanoseconds of a row */
    /* What is wanted. */
    const double *factors, *reach; /* by length; the largest from a length on */
    int shortest, longest, signs, growing;
    int64_t width, block;
    int64_t branch, n_branches; /* which first literals: every n-th one */
    sklb_best best;
    /* Where the search stands. */
    int depth, is_cut, has_all; /* whether the sums of all rows are delivered */
    int64_t n_looked_at;
    double work; /* nanoseconds of a core with AVX2, computed from sizes */
    sklb_level *levels;
    sklb_seen seen;
    int32_t *literals, *candidates;
    int64_t *sums[2], *delivered[2], *of_all[2];
    double *bounds;
    uint64_t *cover, *child;
} sklb_search;

/* Nanoseconds of a candidate besides its sums, and in each sifting; of the sums of a word
 * by a binary digit, or by looking up its bytes; of a feature of a delivery; and of a word
 * of a cover that is noted. */
static const double SKLB_CANDIDATE = 20, SKLB_SIFTED = 20, SKLB_DIGIT = 0.3,
                    SKLB_LOOK_UP = 6, SKLB_FEATURE = 1, SKLB_NOTED = 4;

static int sklb_level_grow(sklb_level *level, int depth, int64_t capacity) {
    void *literals = realloc(level->literals, capacity * (depth + 1) * sizeof(int32_t));
    if (literals) level->literals = (int32_t *)literals;
    void *bounds = realloc(level->bounds, capacity * sizeof(double));
    if (bounds) level->bounds = (double *)bounds;
    void *own = realloc(level->own, capacity * sizeof(double));
    if (own) level->own = (double *)own;
    void *merits = realloc(level->merits, capacity * sizeof(double));
    if (merits) level->merits = (double *)merits;
    void *ends = realloc(level->ends, capacity * sizeof(int64_t));
    if (ends) level->ends = (int64_t *)ends;
    level->capacity = capacity;
    return literals && bounds && own && merits && ends;
}

static int sklb_search_open(sklb_search *s, int64_t n_wanted) {
    s->levels = (sklb_level *)calloc(s->longest, sizeof(sklb_level));
    s->literals = (int32_t *)malloc(s->longest * sizeof(int32_t));
    s->candidates = (int32_t *)malloc(s->n_literals * sizeof(int32_t));
    int ok = 1;
    for (int k = 0; k < 2; k++) {
        s->sums[k] = (int64_t *)malloc(s->n_literals * sizeof(int64_t));
        s->delivered[k] = (int64_t *)malloc(64 * s->n_row_words * sizeof(int64_t));
        s->of_all[k] = (int64_t *)malloc(64 * s->n_row_words * sizeof(int64_t));
        ok = ok && s->sums[k] && s->delivered[k] && s->of_all[k];
    }
    s->bounds = (double *)malloc(s->n_literals * sizeof(double));
    s->cover = (uint64_t *)malloc(s->n_words * sizeof(uint64_t));
    s->child = (uint64_t *)malloc(s->n_words * sizeof(uint64_t));
    /* Growing weights need every cover ever seen: see `sklb_offer`. */
    ok = ok && sklb_seen_open(&s->seen, (uint64_t)1 << (s->growing ? 40 : 23));
    if (!sklb_best_open(&s->best, n_wanted, s->longest) || !ok || !s->levels || !s->literals ||
        !s->candidates || !s->bounds || !s->cover || !s->child ||
        !sklb_level_grow(&s->levels[0], 0, 1))
        return 0;
    s->levels[0].size = s->levels[0].ends[0] = 1;
    s->levels[0].own[0] = s->reach[1] * 0x1p62;
    return 1;
}

static void sklb_search_close(sklb_search *s) {
    for (int k = 0; s->levels && k < s->longest; k++) {
        free(s->levels[k].literals);
        free(s->levels[k].bounds);
        free(s->levels[k].own);
        free(s->levels[k].merits);
        free(s->levels[k].ends);
    }
    free(s->levels);
    free(s->literals);
    free(s->candidates);
    for (int k = 0; k < 2; k++) {
        free(s->sums[k]);
        free(s->delivered[k]);
        free(s->of_all[k]);
    }
    free(s->bounds);
    free(s->cover);
    free(s->child);
    free(s->seen.slots);
    sklb_best_close(&s->best);
}

static void sklb_narrow(const sklb_search *s, uint64_t *cover, int32_t literal) {
    const uint64_t *column = s->columns + literal * s->n_words;
    for (int64_t w = 0; w < s->n_words; w++) cover[w] &= column[w];
}

static inline int64_t sklb_sum(const sklb_search *s, int k, const uint64_t *column) {
    return sklb_cover_sum(&s->sides[k], s->cover, column);
}

/* A name for a cover in the company of certain groups, or of none. */
static sklb_hash sklb_mixed(sklb_hash key, uint64_t token) {
    key.low ^= token;
    key.high ^= token * 0x9e3779b97f4a7c15u;
    return key;
}

/* The hash of the rows that the cover and the last of `length` literals share. */
static sklb_hash sklb_child_hash(sklb_search *s, int length) {
    memcpy(s->child, s->cover, s->n_words * sizeof(uint64_t));
    sklb_narrow(s, s->child, s->literals[length - 1]);
    return sklb_hash_words(s->child, s->n_words);
}

/* The signs that are wanted of a conjunction of n literals. */
static int sklb_signs(const sklb_search *s, const int32_t *literals, int n) {
    int signs = s->signs;
    for (int k = 0; k < n; k++) signs &= s->signs_of[literals[k]];
    return signs;
}

/* The difference of the sums over rows of each sign, in the direction that is wanted. */
static int64_t sklb_value(int signs, int64_t positive, int64_t negative) {
    int64_t value = positive - negative;
    if (signs == SKLB_POSITIVE) return value;
    return signs == SKLB_NEGATIVE || value < 0 ? -value : value;
}

/* Show the conjunction in `literals` to the best, with its sums over rows of each sign. */
static void sklb_offer(sklb_search *s, int length, int64_t positive, int64_t negative) {
    int64_t value = sklb_value(sklb_signs(s, s->literals, length), positive, negative);
    sklb_found entry = {s->factors[length] * value, (double)(positive - negative), length,
                        {0, 0}, s->literals};
    const sklb_found *worst = sklb_worst(&s->best);
    if (entry.score <= s->best.floor || (worst && !sklb_comes_before(&entry, worst))) return;
    entry.cover = sklb_child_hash(s, length);
    if (s->growing) {
        /* A longer conjunction of a known cover would score more than the shortest. */
        int earlier = sklb_seen_length(&s->seen, sklb_mixed(entry.cover, 1));
        if (0 < earlier && earlier < length) return;
    }
    sklb_take_in(&s->best, &entry);
}

/* Note the cover of `literals`. 1: it is new, 0: one as short has it, -1: no memory. */
static int sklb_note(sklb_search *s, int length) {
    sklb_hash cover = sklb_child_hash(s, length);
    /* Conjunctions that bar other signs or groups have another future. */
    uint64_t token = (uint64_t)(s->signs ^ sklb_signs(s, s->literals, length)) << 32;
    for (int k = 0; k < length; k++) token ^= s->tokens[s->literals[k]];
    sklb_hash key = sklb_mixed(cover, token), bare = sklb_mixed(cover, 1);
    int earlier = sklb_seen_length(&s->seen, key);
    if (0 < earlier && earlier <= length) return 0;
    if (s->growing && !sklb_seen_length(&s->seen, bare) &&
        !sklb_seen_add(&s->seen, bare, length))
        return -1;
    return sklb_seen_add(&s->seen, key, length) ? 1 : -1;
}

/* Bound the score of what is longer: later literals remove at most what they would here. */
static double sklb_bound(const sklb_search *s, int length, const sklb_removals *removals,
                         int signs, int64_t positive, int64_t negative) {
    int64_t most = 0, value;
    if (signs & SKLB_POSITIVE) most = positive - sklb_remainder(&removals[1], negative);
    if (signs & SKLB_NEGATIVE) {
        value = negative - sklb_remainder(&removals[0], positive);
        most = value > most ? value : most;
    }
    return s->reach[length + 1] * most;
}

/* Drop the candidates that do not lead on, until those left bound no more of them. */
static int64_t sklb_sift(sklb_search *s, int length, int64_t n, const int64_t *total) {
    int before_last = sklb_signs(s, s->literals, length - 1);
    for (int64_t before = n + 1; n < before;) {
        sklb_removals removals[2] = {{{0}, s->longest - length}, {{0}, s->longest - length}};
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < 2; k++)
                sklb_count_removal(&removals[k], total[k] - s->sums[k][i]);
        s->work += SKLB_SIFTED * (double)n;
        before = n, n = 0;
        for (int64_t i = 0; i < before; i++) {
            int64_t positive = s->sums[0][i], negative = s->sums[1][i];
            int signs = before_last & s->signs_of[s->candidates[i]];
            double bound = sklb_bound(s, length, removals, signs, positive, negative);
            if (sklb_is_hopeless(&s->best, bound, length + 1)) continue;
            s->candidates[n] = s->candidates[i], s->bounds[n] = bound;
            s->sums[0][n] = positive, s->sums[1][n++] = negative;
        }
    }
    return n;
}

/* Offer the grown conjunctions and store those that may grow on. */
static int sklb_keep(sklb_search *s, int length, int64_t n, const int64_t *total) {
    for (int64_t i = 0; i < n && length >= s->shortest; i++) {
        s->literals[length - 1] = s->candidates[i];
        sklb_offer(s, length, s->sums[0][i], s->sums[1][i]);
    }
    if (length == s->longest) return 1;
    n = sklb_sift(s, length, n, total);
    sklb_level *next = &s->levels[length];
    int64_t first = next->size;
    s->work += SKLB_NOTED * (double)(n * (s->n_words + 16));
    for (int64_t i = 0; i < n; i++) {
        s->literals[length - 1] = s->candidates[i];
        int is_new = length < s->shortest ? 1 : sklb_note(s, length);
        if (is_new < 0) return 0;
        if (!is_new) continue;
        if (next->size == next->capacity &&
            !sklb_level_grow(next, length, next->size < 32 ? 64 : 2 * next->size))
            return 0;
        memcpy(next->literals + next->size * length, s->literals, length * sizeof(int32_t));
        s->sums[0][next->size - first] = s->sums[0][i];
        s->sums[1][next->size - first] = s->sums[1][i];
        int signs = sklb_signs(s, s->literals, length);
        next->merits[next->size] = (double)sklb_value(signs, s->sums[0][i], s->sums[1][i]);
        next->bounds[next->size++] = s->bounds[i];
    }
    sklb_removals later[2] = {{{0}, s->longest - length}, {{0}, s->longest - length}};
    for (int64_t i = next->size - 1; i >= first; i--) {
        int64_t positive = s->sums[0][i - first], negative = s->sums[1][i - first];
        next->ends[i] = next->size;
        int signs = sklb_signs(s, next->literals + i * length, length);
        next->own[i] = sklb_bound(s, length, later, signs, positive, negative);
        sklb_count_removal(&later[0], total[0] - positive);
        sklb_count_removal(&later[1], total[1] - negative);
    }
    if (next->size > first) next->own[next->size - 1] = 0;
    /* What grows from other first literals is for other branches to look at. */
    for (int64_t i = 0; length == 1 && i < next->size; i++)
        if (i % s->n_branches != s->branch) next->own[i] = 0;
    return 1;
}

/* Write the sums of all features over some of a side's rows: each row adds its magnitude
 * to those of its true features. */
static void sklb_deliver(const sklb_search *s, int side, uint64_t flip, int64_t *sums) {
    int64_t first = s->sides[side].first, end = first + s->sides[side].n_words;
    memset(sums, 0, 64 * s->n_row_words * sizeof(int64_t));
    for (int64_t w = first; w < end; w++)
        for (uint64_t rows = (s->cover[w] ^ flip) & s->rows[w]; rows; rows &= rows - 1) {
            int64_t i = 64 * w + sklb_lowest_bit(rows), magnitude = s->magnitudes[i];
            const uint64_t *row = s->words + s->order[i] * s->n_row_words;
            for (int64_t v = 0; v < s->n_row_words; v++)
                for (uint64_t word = row[v]; word; word &= word - 1)
                    sums[64 * v + sklb_lowest_bit(word)] += magnitude;
        }
}

/* Choose how the sums of n candidates over the cover are formed, and add the work: one by
 * one, or those of all features by delivery. Its rows are those of the cover, or where
 * these are more all others, which are taken from the sums over all rows. */
static int sklb_deliver_if_less(sklb_search *s, int64_t n) {
    int64_t n_covered = 0, n_samples = 0;
    double one_by_one = 0, features = 2 * SKLB_FEATURE * 64 * (double)s->n_row_words;
    for (int k = 0; k < 2; k++) {
        const sklb_side *side = &s->sides[k];
        /* The same on all processors, whether there are tables or not. */
        double by_digits = SKLB_DIGIT * side->n_digits;
        double word = by_digits < SKLB_LOOK_UP ? by_digits : SKLB_LOOK_UP;
        one_by_one += (double)n * word * (double)side->n_words;
    }
    for (int64_t w = 0; w < s->n_words; w++) {
        n_covered += sklb_popcount_plain(s->cover[w]);
        n_samples += sklb_popcount_plain(s->rows[w]);
    }
    int by_others = s->has_all && 2 * n_covered > n_samples;
    double delivered = s->delivery * (double)(by_others ? n_samples - n_covered : n_covered);
    s->work += SKLB_CANDIDATE * (double)n;
    if (one_by_one <= delivered + features) {
        s->work += one_by_one;
        return 0;
    }
    s->work += delivered + features;
    for (int k = 0; k < 2; k++) {
        sklb_deliver(s, k, by_others ? ~(uint64_t)0 : 0, s->delivered[k]);
        for (int64_t j = 0; by_others && j < s->n_features; j++)
            s->delivered[k][j] = s->of_all[k][j] - s->delivered[k][j];
        if (n_covered == n_samples && !s->has_all)
            memcpy(s->of_all[k], s->delivered[k], s->n_features * sizeof(int64_t));
    }
    s->has_all = s->has_all || n_covered == n_samples;
    return 1;
}

/* The sum over the rows of a side that the cover and a literal share. */
static int64_t sklb_candidate_sum(const sklb_search *s, int side, int32_t literal,
                                  int is_delivered, const int64_t *total) {
    if (!is_delivered) return sklb_sum(s, side, s->columns + literal * s->n_words);
    if (literal < s->n_features) return s->delivered[side][literal];
    return total[side] - s->delivered[side][literal - s->n_features];
}

/* Grow one conjunction by each literal that it may have; 0: no memory. */
static int sklb_expand(sklb_search *s, int64_t place) {
    const sklb_level *level = &s->levels[s->depth];
    const int32_t *own = level->literals + place * s->depth;
    int depth = s->depth, length = depth + 1, lead = s->signs == SKLB_NEGATIVE;
    int64_t n = 0, m = 0, total[2];
    int signs = sklb_signs(s, own, depth);
    if (depth == 0)
        for (int32_t literal = 0; literal < s->n_literals; literal++) {
            if (signs & s->signs_of[literal]) s->candidates[n++] = literal;
        }
    else
        for (int64_t i = place + 1; i < level->ends[place]; i++) {
            int32_t literal = level->literals[i * depth + depth - 1];
            if (s->groups[literal] != s->groups[own[depth - 1]] &&
                (signs & s->signs_of[literal]) &&
                !sklb_is_hopeless(&s->best, level->bounds[i], length))
                s->candidates[n++] = literal;
        }
    s->n_looked_at += n;
    if (n == 0) return 1;
    memcpy(s->cover, s->rows, s->n_words * sizeof(uint64_t));
    for (int k = 0; k < depth; k++) sklb_narrow(s, s->cover, s->literals[k] = own[k]);
    for (int k = 0; k < 2; k++) total[k] = sklb_sum(s, k, s->cover);
    int is_delivered = sklb_deliver_if_less(s, n);
    for (int64_t i = 0; i < n; i++) {
        int32_t literal = s->candidates[i];
        int64_t sum = sklb_candidate_sum(s, lead, literal, is_delivered, total);
        /* With one sign wanted, too little of it is enough to know. */
        if (s->signs != SKLB_BOTH && sklb_is_hopeless(&s->best, s->reach[length] * sum, length))
            continue;
        int64_t other = sklb_candidate_sum(s, 1 - lead, literal, is_delivered, total);
        /* No row is left, or all are: then a part of the conjunction has the cover. */
        int is_same = sum == total[lead] && other == total[1 - lead];
        if (sum + other == 0 || (is_same && length > s->shortest)) continue;
        s->candidates[m] = literal;
        s->sums[lead][m] = sum;
        s->sums[1 - lead][m++] = other;
    }
    return sklb_keep(s, length, m, total);
}

static int sklb_falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Keep the `width` conjunctions of largest merit. */
static int sklb_thin_out(sklb_search *s, sklb_level *level, int depth) {
    double *merits = (double *)malloc(level->size * sizeof(double));
    if (!merits) return 0;
    memcpy(merits, level->merits, level->size * sizeof(double));
    qsort(merits, level->size, sizeof(double), sklb_falling);
    double least = merits[s->width - 1];
    free(merits);
    int64_t n = 0;
    for (int64_t first = 0, end; first < level->size; first = end) {
        int64_t kept = n;
        end = level->ends[first];
        for (int64_t i = first; i < end; i++) {
            if (level->merits[i] < least || n == s->width) continue;
            memmove(level->literals + n * depth, level->literals + i * depth,
                    depth * sizeof(int32_t));
            level->own[n] = level->own[i];
            level->merits[n] = level->merits[i];
            level->bounds[n++] = level->bounds[i];
        }
        for (int64_t i = kept; i < n; i++) level->ends[i] = n;
    }
    level->size = n;
    s->is_cut = 1;
    return 1;
}

/* Look at some more conjunctions. 1: all done, 0: there is more, -1: no memory. */
static int sklb_search_advance(sklb_search *s, int64_t n_looked_at) {
    int64_t until = s->n_looked_at + n_looked_at;
    while (s->n_looked_at++ < until) {
        sklb_level *level = &s->levels[s->depth];
        sklb_level *below = s->depth + 1 < s->longest ? level + 1 : NULL;
        if (level->next < level->size && (!below || below->size < s->block)) {
            int64_t place = level->next++;
            if (!sklb_is_hopeless(&s->best, level->own[place], s->depth + 1) &&
                !sklb_expand(s, place))
                return -1;
        } else if (below && below->size) {
            s->depth++;
            if (s->width && below->size > s->width && !sklb_thin_out(s, below, s->depth))
                return -1;
        } else if (s->depth == 0)
            return 1;
        else {
            level->size = level->next = 0;
            s->depth--;
        }
    }
    return 0;
}

/* The largest score that a conjunction not looked at yet can have. */
static double sklb_open_bound(const sklb_search *s) {
    double bound = 0;
    for (int k = 0; k < s->longest; k++)
        for (int64_t i = s->levels[k].next; i < s->levels[k].size; i++)
            if (s->levels[k].own[i] > bound) bound = s->levels[k].own[i];
    return bound;
}

/* Offer conjunctions known from elsewhere. */
static void sklb_seed(sklb_search *s, const int32_t *literals, int length) {
    memcpy(s->cover, s->rows, s->n_words * sizeof(uint64_t));
    for (int k = 0; k < length; k++) sklb_narrow(s, s->cover, s->literals[k] = literals[k]);
    sklb_offer(s, length, sklb_sum(s, 0, s->cover), sklb_sum(s, 1, s->cover));
}

#endif
