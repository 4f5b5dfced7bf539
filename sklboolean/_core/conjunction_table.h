/* Tables of the sums of all conjunctions of true features, and a scan of all signs.
 *
 * A place is a feature in the order of the table: the most frequent first, and inverted
 * where it is true in more than half of the rows. The sums of the conjunctions of k places
 * are one array, in which places u1 < u2 < ... < uk have the rank
 * C(u1, 1) + C(u2, 2) + ... + C(uk, k). Sums with negations follow from
 * sum(A and not b) = sum(A) - sum(A and b). Values are whole numbers with a total below
 * 2**53, so sums are exact in any order. */
#ifndef SKLB_CONJUNCTION_TABLE_H
#define SKLB_CONJUNCTION_TABLE_H

#include "best_found.h"
#include "dispatch.h"
#include "words.h"

enum { SKLB_LONGEST_IN_TABLE = 4, SKLB_SCANNED = 64, SKLB_BINS = 4096 };

typedef struct {
    int64_t n_places, n_samples;
    const int64_t *choose[SKLB_LONGEST_IN_TABLE + 1]; /* choose[k][u]: C(u, k) */
    const int64_t *starts; /* the places of row i, ascending: starts[i] to starts[i + 1] */
    const uint16_t *places;
} sklb_table_rows;

/* Write the places of the ones of a row, ascending; return their number. */
static int64_t sklb_list_places(const uint64_t *row, int64_t n_words, uint16_t *places) {
    int64_t n = 0;
    for (int64_t w = 0; w < n_words; w++)
        for (uint64_t word = row[w]; word; word &= word - 1)
            places[n++] = (uint16_t)(64 * w + sklb_lowest_bit(word));
    return n;
}

/* ---- Scattering: each row adds its value to the sums of its conjunctions. ---- */

SKLB_INLINE void sklb_scatter_1(const uint16_t *row, int64_t n, double value, double *sums) {
    for (int64_t a = 0; a < n; a++) sums[row[a]] += value;
}

SKLB_INLINE void sklb_scatter_2(const int64_t *const *choose, const uint16_t *row, int64_t n,
                                double value, double *sums) {
    for (int64_t b = 1; b < n; b++) sklb_scatter_1(row, b, value, sums + choose[2][row[b]]);
}

SKLB_INLINE void sklb_scatter_3(const int64_t *const *choose, const uint16_t *row, int64_t n,
                                double value, double *sums) {
    for (int64_t c = 2; c < n; c++)
        sklb_scatter_2(choose, row, c, value, sums + choose[3][row[c]]);
}

/* A sample that has a place, with the number of its smaller places. */
typedef struct {
    int32_t row, n_below;
} sklb_cover_row;

/* Of the conjunctions of `length`, for samples first to end. */
static void sklb_scatter(const sklb_table_rows *t, int length, int64_t first, int64_t end,
                         const double *values, double *sums) {
    for (int64_t i = first; i < end; i++) {
        const uint16_t *row = t->places + t->starts[i];
        int64_t n = t->starts[i + 1] - t->starts[i];
        if (values[i] == 0) continue;
        for (int64_t k = length - 1; k < n; k++) {
            double *of_place = sums + t->choose[length][row[k]];
            if (length == 1) *of_place += values[i];
            if (length == 2) sklb_scatter_1(row, k, values[i], of_place);
            if (length == 3) sklb_scatter_2(t->choose, row, k, values[i], of_place);
            if (length == 4) sklb_scatter_3(t->choose, row, k, values[i], of_place);
        }
    }
}

/* ---- Scattering by largest places: their sums stay in the cache. One value of each row, or
 * several side by side. ---- */

enum { SKLB_ABREAST = 8 };

/* Sort the places of the samples first to end that have a value other than 0 by place; those
 * of place a end at ends[a]. */
static void sklb_sort_places(const sklb_table_rows *t, int64_t first, int64_t end,
                             const double *values, int width, sklb_cover_row *sorted,
                             int64_t *ends) {
    int64_t n = 0;
    memset(ends, 0, t->n_places * sizeof(int64_t));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = first; i < end; i++) {
            int is_used = 0;
            for (int k = 0; k < width; k++) is_used |= values[i * width + k] != 0;
            for (int64_t k = t->starts[i]; is_used && k < t->starts[i + 1]; k++) {
                int64_t *place = ends + t->places[k];
                if (pass) sorted[*place] = (sklb_cover_row){(int32_t)i, (int32_t)(k - t->starts[i])};
                ++*place;
            }
        }
        for (int64_t a = 0; !pass && a < t->n_places; a++) {
            int64_t n_samples = ends[a];
            ends[a] = n, n += n_samples;
        }
    }
}

typedef struct {
    const sklb_table_rows *rows;
    int length, width; /* 1 or SKLB_ABREAST values of each row */
    int64_t place;     /* the largest of the conjunctions */
    const sklb_cover_row *sorted; /* the rows that have it */
    int64_t n;
    const double *values;
    double *sums; /* of each conjunction of smaller places, `width` numbers */
} sklb_abreast;

/* Add to the sums of conjunctions of 1, and 2, of the first n places of a row. */
SKLB_INLINE void sklb_scatter_abreast_1(const uint16_t *row, int64_t n, const double *values,
                                        double *sums, const int width) {
    for (int64_t a = 0; a < n; a++) {
        double *restrict of_place = sums + width * row[a];
        /* Unrolled first, it would not be given to the vector unit. */
#pragma GCC unroll 1
        for (int k = 0; k < width; k++) of_place[k] += values[k];
    }
}

SKLB_INLINE void sklb_scatter_abreast_2(const int64_t *const *choose, const uint16_t *row,
                                        int64_t n, const double *values, double *sums,
                                        const int width) {
    for (int64_t b = 1; b < n; b++)
        sklb_scatter_abreast_1(row, b, values, sums + width * choose[2][row[b]], width);
}

SKLB_INLINE void sklb_scatter_abreast_body(const sklb_abreast *p, const int width) {
    const int64_t *const *choose = p->rows->choose;
    memset(p->sums, 0, width * choose[p->length - 1][p->place] * sizeof(double));
    for (int64_t j = 0; j < p->n; j++) {
        const uint16_t *row = p->rows->places + p->rows->starts[p->sorted[j].row];
        double values[SKLB_ABREAST];
        int64_t below = p->sorted[j].n_below;
        memcpy(values, p->values + width * p->sorted[j].row, width * sizeof(double));
        if (p->length == 2) sklb_scatter_abreast_1(row, below, values, p->sums, width);
        if (p->length == 3) sklb_scatter_abreast_2(choose, row, below, values, p->sums, width);
        for (int64_t c = 2; p->length == 4 && c < below; c++)
            sklb_scatter_abreast_2(choose, row, c, values, p->sums + width * choose[3][row[c]],
                                   width);
    }
}

#define SKLB_DEFINE_ABREAST(SUFFIX, TARGET)                                                 \
    TARGET static void sklb_scatter_abreast_##SUFFIX(const sklb_abreast *p) {               \
        if (p->width == 1) sklb_scatter_abreast_body(p, 1);                                 \
        else sklb_scatter_abreast_body(p, SKLB_ABREAST);                                    \
    }
SKLB_ON_EACH_LEVEL(SKLB_DEFINE_ABREAST)

/* Of the conjunctions of `length`, 2 or more, with a largest place: to `n_values` tables of
 * `size` sums. */
static void sklb_scatter_place(const sklb_abreast *p, int64_t n_values, double *sums,
                               int64_t size) {
    int64_t n = p->rows->choose[p->length - 1][p->place];
    SKLB_CALL(sklb_scatter_abreast, p);
    sums += p->rows->choose[p->length][p->place];
    for (int64_t k = 0; k < n_values; k++, sums += size)
        for (int64_t rank = 0; rank < n; rank++) sums[rank] += p->sums[p->width * rank + k];
}

/* ---- Completion: the last of some places of which exactly one is true in a row. ---- */

/* Rank of `n` falling places, the first of them at position `first` + n. */
SKLB_INLINE int64_t sklb_rank_of(const int64_t *const *choose, const int64_t *places, int n,
                                 int first) {
    int64_t rank = 0;
    for (int j = 0; j < n; j++) rank += choose[first + n - j][places[j]];
    return rank;
}

/* ---- Nesting: each place of a chain is within the place before. ---- */

typedef struct {
    const int64_t *const *choose;
    int64_t n_places;
    const int32_t *chains; /* the number of the chain of each place */
    int position;          /* of the place that is added up; 0: all are */
    const double *shorter;
    double *sums;
} sklb_nesting;

/* Sums of conjunctions with two places of a chain are those without the larger set, the
 * place that comes first. */
static void sklb_merge_nested(const sklb_nesting *p, const int64_t *suffix, int n,
                              double *out) {
    int64_t end = n ? suffix[n - 1] : 0;
    for (int k = 1; k < n; k++)
        if (p->chains[suffix[k]] == p->chains[suffix[k - 1]]) {
            int64_t rank = sklb_rank_of(p->choose, suffix, k, n - k);
            rank += sklb_rank_of(p->choose, suffix + k + 1, n - k - 1, 1);
            memcpy(out, p->shorter + rank, end * sizeof(double));
            return;
        }
    double sum = n ? p->shorter[sklb_rank_of(p->choose, suffix, n, 0)] : 0;
    for (int64_t a = end - 1; a >= 0 && p->chains[a] == p->chains[end]; a--) out[a] = sum;
}

/* Add the next place of the chain at a position, for all of a suffix and a smaller one. */
static void sklb_nest_suffix(const sklb_nesting *p, const int64_t *suffix, int n) {
    int64_t end = n ? suffix[n - 1] : p->n_places, rank = sklb_rank_of(p->choose, suffix, n, 1);
    double *out = p->sums + rank;
    int k = n + 1 - p->position;
    if (p->position == 0) {
        sklb_merge_nested(p, suffix, n, out);
    } else if (p->position == 1) {
        for (int64_t a = end - 2; a >= 0; a--)
            if (p->chains[a] == p->chains[a + 1]) out[a] += out[a + 1];
    } else if (suffix[k] + 1 < (k ? suffix[k - 1] : p->n_places) &&
               p->chains[suffix[k]] == p->chains[suffix[k] + 1]) {
        const int64_t *choose = p->choose[p->position];
        const double *next = out + choose[suffix[k] + 1] - choose[suffix[k]];
        for (int64_t a = 0; a < end; a++) out[a] += next[a];
    }
}

static void sklb_nest_below(const sklb_nesting *p, int64_t *suffix, int n, int length) {
    if (n == length - 1) {
        sklb_nest_suffix(p, suffix, n);
        return;
    }
    /* Falling, so that the next place of a chain is added up before. */
    for (int64_t b = (n ? suffix[n - 1] : p->n_places) - 1; b >= length - n - 1; b--) {
        suffix[n] = b;
        sklb_nest_below(p, suffix, n + 1, length);
    }
}

/* From the sums of samples whose last true places of the chains are those of a
 * conjunction to the sums of all samples that satisfy it. */
static void sklb_nest_sums(sklb_nesting *p, int length) {
    int64_t suffix[SKLB_LONGEST_IN_TABLE];
    for (p->position = length; p->position >= 0; p->position--)
        sklb_nest_below(p, suffix, 0, length);
}

/* A place c of which exactly one of it and the smaller places `others` is true in a row. */
typedef struct {
    const int64_t *const *choose;
    int64_t place, n_others;
    const int64_t *others;
} sklb_completion;

/* Rank of the conjunction of the falling places of a suffix and `other`, with smaller
 * places at positions 1 to `first`. Returns -1 if `other` is one of the suffix. */
SKLB_INLINE int64_t sklb_rank_with(const sklb_completion *p, const int64_t *suffix, int n,
                                   int64_t other, int first) {
    int64_t rank = 0;
    int left = first + n + 1, is_in = 0;
    for (int j = 0; j < n; j++) {
        if (suffix[j] == other) return -1;
        if (!is_in && suffix[j] < other) rank += p->choose[left--][other], is_in = 1;
        rank += p->choose[left--][suffix[j]];
    }
    return is_in ? rank : rank + p->choose[left][other];
}

/* sum(A and c) = sum(A) - sum over the others b of sum(A and b), for all A of a suffix of n
 * places and a smaller one. */
static void sklb_complete_suffix(const sklb_completion *p, const int64_t *suffix, int n,
                                 const double *shorter, double *sums) {
    int64_t end = n ? suffix[n - 1] : p->place;
    int64_t bare = sklb_rank_of(p->choose, suffix, n, 1);
    double *out = sums + p->choose[n + 2][p->place] + bare;
    memcpy(out, shorter + bare, end * sizeof(double));
    for (int64_t k = 0; k < p->n_others; k++) {
        int64_t b = p->others[k], rank = sklb_rank_with(p, suffix, n, b, 1);
        int64_t below = b < end ? b : end;
        if (rank < 0) {
            memset(out, 0, end * sizeof(double));
            return;
        }
        for (int64_t a = 0; a < below; a++) out[a] -= sums[rank + a];
        rank = sklb_rank_of(p->choose, suffix, n, 2) + b;
        for (int64_t a = b + 1; a < end; a++) out[a] -= sums[rank + p->choose[2][a]];
    }
    for (int64_t k = 0; k < p->n_others; k++)
        if (p->others[k] < end) out[p->others[k]] = 0;
}

static void sklb_complete_below(const sklb_completion *p, int64_t *suffix, int n, int length,
                                const double *shorter, double *sums) {
    if (n == length - 2) {
        sklb_complete_suffix(p, suffix, n, shorter, sums);
        return;
    }
    for (int64_t b = 0; b < (n ? suffix[n - 1] : p->place); b++) {
        suffix[n] = b;
        sklb_complete_below(p, suffix, n + 1, length, shorter, sums);
    }
}

/* Write the sums of the conjunctions of `length` whose largest place is c; `shorter` are
 * those of conjunctions with a place less. */
static void sklb_complete_sums(const sklb_completion *p, int length, const double *shorter,
                               double *sums) {
    int64_t suffix[SKLB_LONGEST_IN_TABLE];
    if (length > 1) {
        sklb_complete_below(p, suffix, 0, length, shorter, sums);
        return;
    }
    sums[p->place] = shorter[0];
    for (int64_t k = 0; k < p->n_others; k++) sums[p->place] -= sums[p->others[k]];
}

/* ---- Blocks, for rows with many ones: the bits of `length` blocks are the bin. ---- */

/* Sums over all bins with the bits of a bin, in place. */
static void sklb_superset_sums(double *bins) {
    for (int step = 1; step < SKLB_BINS; step *= 2)
        for (int first = 0; first < SKLB_BINS; first += 2 * step)
            for (int k = first; k < first + step; k++) bins[k] += bins[k + step];
}

typedef struct {
    const sklb_table_rows *rows;
    int length, n_bits, n_blocks; /* n_bits * length == 12 */
    const double *values;
    int64_t n;      /* rows whose value is not 0 */
    double *used;   /* the values of these */
    uint8_t *codes; /* of block b: n bytes from b * n on */
    double *sums, *bins;                     /* there are 2 * SKLB_BINS bins */
    uint16_t *prefix[SKLB_LONGEST_IN_TABLE]; /* the bits of the blocks so far */
    int64_t blocks[SKLB_LONGEST_IN_TABLE];   /* from the last one on */
} sklb_block_pass;

static void sklb_blocks_close(sklb_block_pass *p) {
    free(p->used);
    free(p->codes);
    free(p->bins);
    for (int k = 0; k < p->length; k++) free(p->prefix[k]);
}

/* 0: no memory. */
static int sklb_blocks_open(sklb_block_pass *p) {
    const sklb_table_rows *t = p->rows;
    for (int64_t i = 0; i < t->n_samples; i++) p->n += p->values[i] != 0;
    p->n_bits = 12 / p->length;
    p->n_blocks = (int)((t->n_places + p->n_bits - 1) / p->n_bits);
    p->used = (double *)malloc((p->n + 1) * sizeof(double));
    p->codes = (uint8_t *)calloc(p->n + 1, p->n_blocks);
    p->bins = (double *)malloc(2 * SKLB_BINS * sizeof(double));
    int ok = p->used && p->codes && p->bins;
    for (int k = 0; k < p->length; k++) {
        p->prefix[k] = (uint16_t *)calloc(p->n + 1, sizeof(uint16_t));
        ok = ok && p->prefix[k];
    }
    for (int64_t i = 0, row = 0; ok && i < t->n_samples; i++) {
        if (p->values[i] == 0) continue;
        for (int64_t k = t->starts[i]; k < t->starts[i + 1]; k++)
            p->codes[t->places[k] / p->n_bits * p->n + row] |=
                (uint8_t)(1 << t->places[k] % p->n_bits);
        p->used[row++] = p->values[i];
    }
    return ok;
}

/* Add the sums of the conjunctions with one place of each block. */
static void sklb_unload_bins(const sklb_block_pass *p, int depth, int64_t rank, int bin,
                            int64_t below) {
    int left = p->length - depth;
    if (left == 0) {
        p->sums[rank] += p->bins[bin];
        return;
    }
    int64_t block = p->blocks[depth];
    for (int bit = 0; bit < p->n_bits; bit++) {
        int64_t place = block * p->n_bits + bit;
        if (place >= below || place < left - 1) continue;
        sklb_unload_bins(p, depth + 1, rank + p->rows->choose[left][place],
                        bin | 1 << (p->n_bits * (left - 1) + bit), place);
    }
}

static void sklb_add_to_bins(const sklb_block_pass *p, const uint8_t *code) {
    const uint16_t *prefix = p->prefix[p->length - 1];
    double *odd = p->bins + SKLB_BINS;
    int64_t i = 0, n = p->n;
    memset(p->bins, 0, 2 * SKLB_BINS * sizeof(double));
    for (; i + 2 <= n; i += 2) {
        p->bins[prefix[i] | code[i]] += p->used[i];
        odd[prefix[i + 1] | code[i + 1]] += p->used[i + 1];
    }
    if (i < n) p->bins[prefix[i] | code[i]] += p->used[i];
    for (int k = 0; k < SKLB_BINS; k++) p->bins[k] += odd[k];
    sklb_superset_sums(p->bins);
}

/* All conjunctions whose later blocks are chosen, with the blocks first to last next. */
static void sklb_pass_blocks(sklb_block_pass *p, int depth, int64_t first, int64_t last) {
    int64_t n = p->n;
    for (int64_t block = first; block <= last; block++) {
        const uint8_t *code = p->codes + block * n;
        p->blocks[depth] = block;
        if (depth == p->length - 1) {
            sklb_add_to_bins(p, code);
            sklb_unload_bins(p, 0, 0, 0, p->rows->n_places);
            continue;
        }
        const uint16_t *before = p->prefix[depth];
        uint16_t *prefix = p->prefix[depth + 1];
        int shift = p->n_bits * (p->length - 1 - depth);
        for (int64_t i = 0; i < n; i++) prefix[i] = (uint16_t)(before[i] | code[i] << shift);
        sklb_pass_blocks(p, depth + 1, 0, block);
    }
}

/* ---- Counting, for rows of one value: 64 of them at a time. ---- */

typedef struct {
    const sklb_table_rows *rows; /* for the number of places */
    const uint64_t *columns;     /* the rows of each place, some at a time */
    int64_t n_words;
    double value;
    uint64_t *covers; /* n_words of each length */
} sklb_count_pass;

/* sums[a] += value * number of rows of the cover with place a, for places below `end`. */
#define SKLB_DEFINE_COUNTS(SUFFIX, TARGET)                                                  \
    TARGET static void sklb_add_counts_##SUFFIX(const sklb_count_pass *p, int64_t end,      \
                                                const uint64_t *cover, double *sums) {      \
        const uint64_t *column = p->columns;                                                \
        for (int64_t a = 0; a < end; a++, column += p->n_words) {                           \
            int64_t count = 0;                                                              \
            for (int64_t w = 0; w < p->n_words; w++)                                        \
                count += SKLB_POPCOUNT_##SUFFIX(cover[w] & column[w]);                      \
            sums[a] += p->value * (double)count;                                            \
        }                                                                                   \
    }

SKLB_ON_EACH_LEVEL(SKLB_DEFINE_COUNTS)

/* All conjunctions of `length` places below `end`, over the rows of a cover. */
static void sklb_count_below(const sklb_count_pass *p, int length, int64_t end,
                             const uint64_t *cover, double *sums) {
    if (length == 1) {
        SKLB_CALL(sklb_add_counts, p, end, cover, sums);
        return;
    }
    uint64_t *both = p->covers + length * p->n_words;
    for (int64_t place = length - 1; place < end; place++) {
        const uint64_t *column = p->columns + place * p->n_words;
        for (int64_t w = 0; w < p->n_words; w++) both[w] = cover[w] & column[w];
        sklb_count_below(p, length - 1, place, both, sums + p->rows->choose[length][place]);
    }
}

/* ---- The scan of all conjunctions, with all signs. ---- */

typedef struct {
    const sklb_table_rows *rows;
    const double *const *sums;    /* by length; sums[0] is the total */
    const int32_t *const *counts; /* the same of the rows; NULL: not known */
    const int32_t *features, *groups;
    const int32_t *literals; /* of each place where it is false, and where it is true */
    const uint8_t *inverted;
    const uint8_t *signs_of; /* of the sums that a conjunction with a literal may have */
    int64_t n_words;
    const uint64_t *columns, *used; /* the rows of each feature; those with a value */
    uint64_t *cover;
    const double *factors;
    int shortest, longest, signs, monotone, diverse;
    int is_listing, is_cut; /* whether all above the floor are listed, in no order; too many */
    sklb_seen seen;         /* covers that are listed */
    sklb_best best;
} sklb_scan;

/* The places of a conjunction but the first, falling. */
typedef struct {
    int length;
    int64_t places[SKLB_LONGEST_IN_TABLE];
    int inverted; /* as bits */
} sklb_suffix;

SKLB_INLINE double sklb_wanted(const sklb_scan *s, double high, double low) {
    if (s->signs == SKLB_POSITIVE) return high;
    if (s->signs == SKLB_NEGATIVE) return -low;
    return high > -low ? high : -low;
}

static int sklb_cannot_enter(const sklb_scan *s, double score) {
    const sklb_found *worst = s->is_listing ? NULL : sklb_worst(&s->best);
    return score <= s->best.floor || s->is_cut || (worst && score < worst->score);
}

/* Rank of the places of `subset` of the suffix, behind `n_before` smaller ones. */
static int64_t sklb_rank(const sklb_scan *s, const sklb_suffix *suffix, int subset,
                         int n_before) {
    int64_t rank = 0;
    int position = n_before;
    for (int j = suffix->length - 1; j >= 0; j--)
        if (subset >> j & 1) rank += s->rows->choose[++position][suffix->places[j]];
    return rank;
}

static int sklb_bit_count(int bits) {
    int n = 0;
    for (; bits; bits &= bits - 1) n++;
    return n;
}

/* Whether no row, or all rows that a shorter conjunction has, satisfy the conjunction of
 * place a and the suffix with these signs. */
static int sklb_is_redundant(const sklb_scan *s, const sklb_suffix *suffix, int64_t a,
                             int signs) {
    int n_signs = 2 << suffix->length, length = suffix->length + 1;
    int64_t counts[2 << (SKLB_LONGEST_IN_TABLE - 1)];
    if (!s->counts) return 0;
    for (int subset = 0; subset < n_signs; subset++) {
        int with_a = subset >> suffix->length, rest = subset & (n_signs / 2 - 1);
        int64_t rank = sklb_rank(s, suffix, rest, with_a) + (with_a ? a : 0);
        counts[subset] = s->counts[sklb_bit_count(subset)][rank];
    }
    for (int bit = 1; bit < n_signs; bit *= 2)
        for (int k = 0; k < n_signs; k++)
            if (!(k & bit)) counts[k] -= counts[k | bit];
    if (counts[signs] == 0) return 1;
    for (int bit = 1; bit < n_signs && length > s->shortest; bit *= 2)
        if (counts[signs ^ bit] == 0) return 1;
    return 0;
}

/* Write the literals of a conjunction, ascending; return the signs that its sum may have,
 * or 0 where two literals are of one group. */
static int sklb_write_literals(const sklb_scan *s, const sklb_suffix *suffix, int64_t a,
                               int signs, int32_t *literals) {
    int n = 0, allowed = SKLB_BOTH;
    for (int j = 0; j <= suffix->length; j++) {
        int64_t place = j == suffix->length ? a : suffix->places[j];
        int32_t literal = s->literals[2 * place + (signs >> j & 1)];
        int k = n++;
        allowed &= s->signs_of[2 * place + (signs >> j & 1)];
        for (int i = 0; i < j; i++)
            if (s->groups[suffix->places[i]] == s->groups[place]) return 0;
        for (; k > 0 && literals[k - 1] > literal; k--) literals[k] = literals[k - 1];
        literals[k] = literal;
    }
    return allowed;
}

/* Write the rows that are used and have these places with these signs. */
static void sklb_narrow_cover(sklb_scan *s, const int64_t *places, int n, int signs) {
    memcpy(s->cover, s->used, s->n_words * sizeof(uint64_t));
    for (int j = 0; j < n; j++) {
        const uint64_t *column = s->columns + s->features[places[j]] * s->n_words;
        uint64_t flip = (signs >> j & 1) ^ s->inverted[places[j]] ? 0 : ~(uint64_t)0;
        for (int64_t w = 0; w < s->n_words; w++) s->cover[w] &= column[w] ^ flip;
    }
}

static sklb_hash sklb_cover_hash(sklb_scan *s, const sklb_suffix *suffix, int64_t a,
                                 int signs) {
    int64_t places[SKLB_LONGEST_IN_TABLE];
    memcpy(places, suffix->places, sizeof(places));
    places[suffix->length] = a;
    sklb_narrow_cover(s, places, suffix->length + 1, signs);
    return sklb_hash_words(s->cover, s->n_words);
}

typedef struct {
    int64_t place;
    int signs;
    double score, sum;
} sklb_candidate;

/* Append a conjunction to a list in no order, unless its cover is there. */
static void sklb_append(sklb_scan *s, const sklb_found *entry) {
    sklb_best *best = &s->best;
    if (sklb_seen_length(&s->seen, entry->cover)) return;
    if (best->size == best->wanted || !sklb_seen_add(&s->seen, entry->cover, entry->length)) {
        s->is_cut = 1;
        return;
    }
    sklb_found *place = &best->list[best->size++];
    place->score = entry->score, place->sum = entry->sum, place->length = entry->length;
    memcpy(place->literals, entry->literals, entry->length * sizeof(int32_t));
}

/* Show one conjunction to the best. Returns whether it was taken in. */
static int sklb_show(sklb_scan *s, const sklb_suffix *suffix, const sklb_candidate *c) {
    int32_t literals[SKLB_LONGEST_IN_TABLE];
    sklb_found entry = {c->score, c->sum, suffix->length + 1, {0, 0}, literals};
    const sklb_found *worst = s->is_listing ? NULL : sklb_worst(&s->best);
    int allowed = sklb_write_literals(s, suffix, c->place, c->signs, literals);
    int sign = c->sum > 0 ? SKLB_POSITIVE : SKLB_NEGATIVE;
    if (!(allowed & (s->signs == SKLB_BOTH ? sign : s->signs))) return 0;
    if (worst && !sklb_comes_before(&entry, worst)) return 0;
    if (sklb_is_redundant(s, suffix, c->place, c->signs)) return 0;
    entry.cover = sklb_cover_hash(s, suffix, c->place, c->signs);
    if (s->is_listing)
        sklb_append(s, &entry);
    else
        sklb_take_in(&s->best, &entry);
    return 1;
}

/* The sums of a block of first places, with all signs of a suffix. */
typedef struct {
    int n_signs, from, to; /* of the suffix; those that are asked for */
    double with[1 << (SKLB_LONGEST_IN_TABLE - 1)][SKLB_SCANNED];
    double bare[1 << (SKLB_LONGEST_IN_TABLE - 1)]; /* of the suffix alone */
    double high, low;
} sklb_signed_sums;

/* From sums with true places to sums with signs, and the largest and smallest of them. */
SKLB_INLINE void sklb_sign_body(sklb_signed_sums *t, int64_t n) {
    double high[SKLB_SCANNED] = {0}, low[SKLB_SCANNED] = {0};
    for (int bit = 1; bit < t->n_signs; bit *= 2)
        for (int g = 0; g < t->n_signs; g++)
            if (!(g & bit))
                for (int64_t k = 0; k < n; k++) t->with[g][k] -= t->with[g | bit][k];
    for (int g = t->from; g < t->to; g++) {
        const double *with = t->with[g];
        double bare = t->bare[g];
        for (int64_t k = 0; k < n; k++) {
            double sum = with[k], rest = bare - sum;
            double larger = sum > rest ? sum : rest, smaller = sum > rest ? rest : sum;
            high[k] = larger > high[k] ? larger : high[k];
            low[k] = smaller < low[k] ? smaller : low[k];
        }
    }
    for (int half = SKLB_SCANNED / 2; half; half /= 2)
        for (int k = 0; k < half; k++) {
            high[k] = high[k + half] > high[k] ? high[k + half] : high[k];
            low[k] = low[k + half] < low[k] ? low[k + half] : low[k];
        }
    t->high = high[0], t->low = low[0];
}

#define SKLB_DEFINE_SIGN(SUFFIX, TARGET)                                                    \
    TARGET static void sklb_sign_##SUFFIX(sklb_signed_sums *t, int64_t n) {                 \
        sklb_sign_body(t, n);                                                               \
    }
SKLB_ON_EACH_LEVEL(SKLB_DEFINE_SIGN)

static int sklb_falling_scores(const void *x, const void *y) {
    double a = ((const sklb_candidate *)x)->score, b = ((const sklb_candidate *)y)->score;
    return (a < b) - (a > b);
}

/* Show the candidates of a block of first places: in a diverse scan only the best of the
 * suffix that is not redundant. */
static void sklb_show_block(sklb_scan *s, const sklb_suffix *suffix, int64_t first,
                            int64_t n, const sklb_signed_sums *t, double *least) {
    enum { MOST = SKLB_SCANNED << SKLB_LONGEST_IN_TABLE };
    sklb_candidate list[MOST];
    int n_listed = 0;
    double factor = s->factors[suffix->length + 1];
    for (int g = t->from; g < t->to; g++)
        for (int64_t k = 0; k < n; k++)
            for (int with_a = 0; with_a < 2; with_a++) {
                double sum = with_a ? t->with[g][k] : t->bare[g] - t->with[g][k];
                double score = factor * sklb_wanted(s, sum, sum);
                if (score <= *least || sklb_cannot_enter(s, score)) continue;
                if (s->monotone && with_a == s->inverted[first + k]) continue;
                list[n_listed++] = (sklb_candidate){first + k, g | with_a << suffix->length,
                                                    score, sum};
            }
    if (s->diverse) qsort(list, n_listed, sizeof(sklb_candidate), sklb_falling_scores);
    for (int k = 0; k < n_listed; k++) {
        if (sklb_cannot_enter(s, list[k].score)) continue;
        int is_taken = sklb_show(s, suffix, &list[k]);
        if (is_taken && s->diverse) {
            *least = list[k].score;
            return;
        }
    }
}

/* Look at all conjunctions of a suffix and one smaller place. */
static void sklb_scan_suffix(sklb_scan *s, const sklb_suffix *suffix) {
    sklb_signed_sums t;
    const double *rows[1 << (SKLB_LONGEST_IN_TABLE - 1)];
    int q = suffix->length, n_signs = t.n_signs = 1 << q;
    double least = s->best.floor;
    int64_t end = q ? suffix->places[q - 1] : s->rows->n_places;
    t.from = s->monotone ? n_signs - 1 - suffix->inverted : 0;
    t.to = s->monotone ? t.from + 1 : n_signs;
    for (int subset = 0; subset < n_signs; subset++) {
        int n = sklb_bit_count(subset);
        t.bare[subset] = s->sums[n][sklb_rank(s, suffix, subset, 0)];
        rows[subset] = s->sums[n + 1] + sklb_rank(s, suffix, subset, 1);
    }
    for (int bit = 1; bit < n_signs; bit *= 2)
        for (int g = 0; g < n_signs; g++)
            if (!(g & bit)) t.bare[g] -= t.bare[g | bit];
    for (int64_t first = 0; first < end; first += SKLB_SCANNED) {
        int64_t n = end - first < SKLB_SCANNED ? end - first : SKLB_SCANNED;
        for (int g = 0; g < n_signs; g++)
            memcpy(t.with[g], rows[g] + first, n * sizeof(double));
        SKLB_CALL(sklb_sign, &t, n);
        if (!sklb_cannot_enter(s, s->factors[q + 1] * sklb_wanted(s, t.high, t.low)))
            sklb_show_block(s, suffix, first, n, &t, &least);
    }
}

/* Extend a suffix downwards to `length` - 1 places and look at each. */
static void sklb_scan_below(sklb_scan *s, sklb_suffix *suffix, int length) {
    if (suffix->length == length - 1) {
        sklb_scan_suffix(s, suffix);
        return;
    }
    int depth = suffix->length++;
    for (int64_t place = length - depth - 1; place < suffix->places[depth - 1]; place++) {
        int is_barred = 0;
        for (int j = 0; j < depth; j++)
            is_barred |= s->groups[suffix->places[j]] == s->groups[place];
        if (is_barred) continue;
        suffix->places[depth] = place;
        suffix->inverted &= (1 << depth) - 1;
        suffix->inverted |= s->inverted[place] << depth;
        sklb_scan_below(s, suffix, length);
    }
    suffix->length = depth;
}

/* Look at all conjunctions of `length` places of which `last` is the last; any if length
 * is 1. */
static void sklb_scan_last(sklb_scan *s, int length, int64_t last) {
    sklb_suffix suffix = {0, {0}, 0};
    if (length > 1) {
        suffix.length = 1, suffix.places[0] = last, suffix.inverted = s->inverted[last];
        sklb_scan_below(s, &suffix, length);
    } else
        sklb_scan_suffix(s, &suffix);
}

/* Look at a conjunction with one more literal, for each that it may have: its sum, and
 * those with each place. */
static void sklb_extend(sklb_scan *s, const sklb_suffix *suffix, int signs, double total,
                        const double *sums) {
    int length = suffix->length;
    for (int64_t a = 0; a < s->rows->n_places; a++)
        for (int with_a = 0; with_a < 2; with_a++) {
            double sum = with_a ? sums[a] : total - sums[a];
            sklb_candidate one = {a, signs | with_a << length, s->factors[length + 1] * sum, sum};
            if (s->monotone && with_a == s->inverted[a]) continue;
            if (!sklb_cannot_enter(s, one.score)) sklb_show(s, suffix, &one);
        }
}

#endif
