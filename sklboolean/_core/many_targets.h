/* The best conjunction for each of several targets: the sum of a target over the rows of a
 * conjunction, times a factor of their number.
 *
 * A pass visits the suffixes of places in falling order. A suffix lists the rows that
 * satisfy it, and these add their targets, side by side, to the sums of all its extensions
 * by a smaller place. These sums lie in the cache. Sums of shorter conjunctions are kept for
 * the signs: sum(A and not b) = sum(A) - sum(A and b). Targets are whole numbers below 2**53
 * in total, so all sums are exact. The first target is searched as in a scan, with the
 * conjunction itself; of the others only the largest score is kept. */
#ifndef SKLB_MANY_TARGETS_H
#define SKLB_MANY_TARGETS_H

#include "conjunction_table.h"

enum { SKLB_TARGETS = 32, SKLB_MOST_SIGNS = 1 << (SKLB_LONGEST_IN_TABLE - 1) };

typedef struct {
    sklb_scan *scan;       /* of the first target */
    const double *targets; /* SKLB_TARGETS numbers of each row */
    const double *factors; /* of each number of rows */
    double *sums[SKLB_LONGEST_IN_TABLE + 1];      /* by length; of the longest for one suffix */
    sklb_cover_row *covers[SKLB_LONGEST_IN_TABLE]; /* by length of the suffix */
    int64_t *ends[SKLB_LONGEST_IN_TABLE];          /* for each place, by the same length */
    double *largest;                               /* the largest score of each target */
} sklb_many;

/* The sums and the numbers of rows of a suffix, and with each smaller place. */
typedef struct {
    int n_signs, from, to; /* of the suffix; those that are asked for */
    const double *with[SKLB_MOST_SIGNS];
    const int32_t *n_with[SKLB_MOST_SIGNS];
    double bare[SKLB_MOST_SIGNS][SKLB_TARGETS];
    int32_t n_bare[SKLB_MOST_SIGNS];
} sklb_many_signs;

/* From sums with true places to sums with signs. */
SKLB_INLINE void sklb_sign_targets(int n_signs, double sums[][SKLB_TARGETS], int32_t *counts) {
    for (int bit = 1; bit < n_signs; bit *= 2)
        for (int g = 0; g < n_signs; g++)
            if (!(g & bit)) {
                for (int k = 0; k < SKLB_TARGETS; k++) sums[g][k] -= sums[g | bit][k];
                counts[g] -= counts[g | bit];
            }
}

/* Score all conjunctions of a suffix and a place below `end`. */
SKLB_INLINE void sklb_score_body(const sklb_many *p, const sklb_suffix *suffix,
                                 const sklb_many_signs *t, int64_t end) {
    for (int64_t a = 0; a < end; a++) {
        double sums[SKLB_MOST_SIGNS][SKLB_TARGETS];
        double high[SKLB_TARGETS] = {0}, low[SKLB_TARGETS] = {0};
        int32_t counts[SKLB_MOST_SIGNS];
        for (int g = 0; g < t->n_signs; g++) {
            memcpy(sums[g], t->with[g] + a * SKLB_TARGETS, sizeof(sums[g]));
            counts[g] = t->n_with[g][a];
        }
        sklb_sign_targets(t->n_signs, sums, counts);
        for (int g = t->from; g < t->to; g++) {
            double with_a = p->factors[counts[g]];
            double without = p->factors[t->n_bare[g] - counts[g]];
            if (p->scan->monotone) *(p->scan->inverted[a] ? &with_a : &without) = 0;
            if (with_a == 0 && without == 0) continue;
            for (int is_with = 0; is_with < 2; is_with++) {
                double sum = is_with ? sums[g][0] : t->bare[g][0] - sums[g][0];
                double score = (is_with ? with_a : without) * sklb_wanted(p->scan, sum, sum);
                sklb_candidate first = {a, g | is_with << suffix->length, score, sum};
                if (!sklb_cannot_enter(p->scan, score)) sklb_show(p->scan, suffix, &first);
            }
            for (int k = 0; k < SKLB_TARGETS; k++) {
                double one = with_a * sums[g][k];
                double other = without * (t->bare[g][k] - sums[g][k]);
                double larger = one > other ? one : other, smaller = one > other ? other : one;
                high[k] = larger > high[k] ? larger : high[k];
                low[k] = smaller < low[k] ? smaller : low[k];
            }
        }
        if (p->scan->signs == SKLB_POSITIVE) memset(low, 0, sizeof(low));
        if (p->scan->signs == SKLB_NEGATIVE) memset(high, 0, sizeof(high));
        for (int k = 0; k < SKLB_TARGETS; k++) {
            double score = high[k] > -low[k] ? high[k] : -low[k];
            p->largest[k] = score > p->largest[k] ? score : p->largest[k];
        }
    }
}

/* Add the targets of the rows of a cover to the sums of their places. */
SKLB_INLINE void sklb_add_targets_body(const sklb_many *p, const sklb_cover_row *cover,
                                       int64_t n_samples, double *sums) {
    for (int64_t i = 0; i < n_samples; i++) {
        const uint16_t *places = p->scan->rows->places + p->scan->rows->starts[cover[i].row];
        const double *targets = p->targets + (int64_t)cover[i].row * SKLB_TARGETS;
        for (int32_t j = 0; j < cover[i].n_below; j++) {
            double *out = sums + (int64_t)places[j] * SKLB_TARGETS;
            for (int k = 0; k < SKLB_TARGETS; k++) out[k] += targets[k];
        }
    }
}

#define SKLB_DEFINE_MANY(SUFFIX, TARGET)                                                    \
    TARGET static void sklb_score_##SUFFIX(const sklb_many *p, const sklb_suffix *suffix,   \
                                           const sklb_many_signs *t, int64_t end) {         \
        sklb_score_body(p, suffix, t, end);                                                 \
    }                                                                                       \
    TARGET static void sklb_add_targets_##SUFFIX(const sklb_many *p,                        \
                                                 const sklb_cover_row *cover,               \
                                                 int64_t n_samples, double *sums) {         \
        sklb_add_targets_body(p, cover, n_samples, sums);                                   \
    }
SKLB_ON_EACH_LEVEL(SKLB_DEFINE_MANY)

/* Score the extensions of a suffix, whose sums are known. */
static void sklb_score_suffix(const sklb_many *p, const sklb_suffix *suffix, int64_t end) {
    sklb_many_signs t;
    const sklb_scan *s = p->scan;
    t.n_signs = 1 << suffix->length;
    t.from = s->monotone ? t.n_signs - 1 - suffix->inverted : 0;
    t.to = s->monotone ? t.from + 1 : t.n_signs;
    for (int g = 0; g < t.n_signs; g++) {
        int n = sklb_bit_count(g), is_longest = n + 1 == s->longest;
        int64_t rank = sklb_rank(s, suffix, g, 0), rank_with = sklb_rank(s, suffix, g, 1);
        memcpy(t.bare[g], p->sums[n] + rank * SKLB_TARGETS, sizeof(t.bare[g]));
        t.n_bare[g] = s->counts[n][rank];
        t.with[g] = p->sums[n + 1] + (is_longest ? 0 : rank_with * SKLB_TARGETS);
        t.n_with[g] = s->counts[n + 1] + rank_with;
    }
    sklb_sign_targets(t.n_signs, t.bare, t.n_bare);
    SKLB_CALL(sklb_score, p, suffix, &t, end);
}

/* Sort the rows of a cover by their places below those of the suffix: `ends` says where the
 * rows of each place end in the list of the next length. */
static void sklb_sort_cover(const sklb_many *p, int q, const sklb_cover_row *cover,
                            int64_t n_samples, const int32_t *counts, int64_t n_places) {
    int64_t *ends = p->ends[q], first = 0;
    for (int64_t a = 0; a < n_places; a++) ends[a] = first, first += counts[a];
    for (int64_t i = 0; i < n_samples; i++) {
        const uint16_t *places = p->scan->rows->places + p->scan->rows->starts[cover[i].row];
        for (int32_t j = 0; j < cover[i].n_below; j++)
            p->covers[q + 1][ends[places[j]]++] = (sklb_cover_row){cover[i].row, j};
    }
}

/* Score all conjunctions that extend a suffix, with these rows, by smaller places. */
static void sklb_extend_suffix(const sklb_many *p, sklb_suffix *suffix,
                               const sklb_cover_row *cover, int64_t n_samples) {
    const sklb_scan *s = p->scan;
    int q = suffix->length, is_last = q + 1 == s->longest;
    int64_t end = q ? suffix->places[q - 1] : s->rows->n_places;
    int64_t rank = sklb_rank(s, suffix, (1 << q) - 1, 1);
    double *sums = p->sums[q + 1] + (is_last ? 0 : rank * SKLB_TARGETS);
    memset(sums, 0, end * SKLB_TARGETS * sizeof(double));
    SKLB_CALL(sklb_add_targets, p, cover, n_samples, sums);
    sklb_score_suffix(p, suffix, end);
    if (is_last) return;
    const int32_t *counts = s->counts[q + 1] + rank;
    sklb_sort_cover(p, q, cover, n_samples, counts, end);
    suffix->length = q + 1;
    for (int64_t place = 0; place < end; place++) {
        suffix->places[q] = place;
        suffix->inverted &= (1 << q) - 1;
        suffix->inverted |= s->inverted[place] << q;
        const sklb_cover_row *first = p->covers[q + 1] + p->ends[q][place] - counts[place];
        sklb_extend_suffix(p, suffix, first, counts[place]);
    }
    suffix->length = q;
}

/* Score all conjunctions for all targets. */
static void sklb_search_targets(const sklb_many *p) {
    const sklb_table_rows *rows = p->scan->rows;
    sklb_suffix suffix = {0, {0}, 0};
    for (int64_t i = 0; i < rows->n_samples; i++)
        p->covers[0][i] =
            (sklb_cover_row){(int32_t)i, (int32_t)(rows->starts[i + 1] - rows->starts[i])};
    sklb_extend_suffix(p, &suffix, p->covers[0], rows->n_samples);
}

#endif
