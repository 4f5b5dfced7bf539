/* Sums of slopes and curvatures over the samples of a leaf, by the bytes of samples.
 *
 * Several features are one byte of a sample, its code in a block. One addition for each
 * block and sample gives the sums by code. A feature is true in some runs of the codes of
 * its block, so running sums give those of a feature by two differences for each run: one
 * for a threshold or a level. All sums are of integers, so they are the same in any order.
 */
#ifndef SKLB_TREE_SUMS_H
#define SKLB_TREE_SUMS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../_core/team.h"

/* The slopes; and the curvatures times 2**shift, plus the number of samples. */
typedef struct {
    int64_t slope, rest;
} sklb_sum;

/* The samples as codes, and the features: where they are true, what they may do. */
typedef struct {
    const uint8_t *codes, *is_true;
    const int32_t *starts, *block_of_feature, *edges;
    const int64_t *indptr;
    const int8_t *directions;
    const uint64_t *groups;
    int64_t n_blocks, n_codes, n_features, n_group_words;
} sklb_features;

/* What a split may be, and in which units the sums are. */
typedef struct {
    double slope_unit, curvature_unit, l2, least_curvature;
    int64_t least_samples;
    int shift;
} sklb_split_rules;

typedef struct {
    double gain;
    int64_t feature;
    sklb_sum where_true;
} sklb_split;

/* A leaf: its samples among the members, its sums, its value and bounds, its split. */
typedef struct {
    int64_t node, first, end;
    sklb_sum total;
    double value, low, high;
    sklb_split split;
} sklb_leaf;

SKLB_INLINE void sklb_add(sklb_sum *sum, sklb_sum more) {
#if SKLB_X86
    __m128i *both = (__m128i *)sum;
    const __m128i added = _mm_set_epi64x(more.rest, more.slope);
    _mm_storeu_si128(both, _mm_add_epi64(_mm_loadu_si128(both), added));
#else
    sum->slope += more.slope;
    sum->rest += more.rest;
#endif
}

/* Add samples to the sums of up to four blocks from the first one on. */
SKLB_INLINE void sklb_add_to_blocks(const sklb_features *features, const int32_t *members,
                                    int64_t n, const int32_t *derivatives, int shift,
                                    int64_t first, int n_blocks, sklb_sum *sums) {
    sklb_sum *of_block[4];
    for (int b = 0; b < n_blocks; b++) of_block[b] = sums + features->starts[first + b];
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = members[k];
        const uint8_t *codes = features->codes + i * features->n_blocks + first;
        const sklb_sum more = {derivatives[2 * i],
                               ((int64_t)derivatives[2 * i + 1] << shift) + 1};
        for (int b = 0; b < n_blocks; b++) sklb_add(of_block[b] + codes[b], more);
    }
}

/* One addition of 16 bytes for each block of a sample, in passes over four blocks: the few
 * samples of a piece stay in the nearest cache. */
static void sklb_add_samples(const sklb_features *features, const int32_t *members, int64_t n,
                             const int32_t *derivatives, int shift, sklb_sum *sums) {
    int64_t b = 0;
    for (; b + 4 <= features->n_blocks; b += 4)
        sklb_add_to_blocks(features, members, n, derivatives, shift, b, 4, sums);
    for (; b + 2 <= features->n_blocks; b += 2)
        sklb_add_to_blocks(features, members, n, derivatives, shift, b, 2, sums);
    if (b < features->n_blocks)
        sklb_add_to_blocks(features, members, n, derivatives, shift, b, 1, sums);
}

static void sklb_add_sums(sklb_sum *sums, const sklb_sum *others, int64_t n_codes, int sign) {
    for (int64_t c = 0; c < n_codes; c++)
        sklb_add(sums + c, (sklb_sum){sign * others[c].slope, sign * others[c].rest});
}

/* The sums over all codes before each one. They wrap around, and differences do not. */
static void sklb_run_sums(const sklb_sum *sums, int64_t n_codes, uint64_t *running) {
    uint64_t slope = 0, rest = 0;
    for (int64_t c = 0; c <= n_codes; c++) {
        running[2 * c] = slope;
        running[2 * c + 1] = rest;
        if (c == n_codes) break;
        slope += (uint64_t)sums[c].slope;
        rest += (uint64_t)sums[c].rest;
    }
}

static sklb_sum sklb_feature_sum(const sklb_features *features, int64_t j,
                                 const uint64_t *running) {
    uint64_t slope = 0, rest = 0;
    for (int64_t k = features->indptr[j]; k < features->indptr[j + 1]; k += 2) {
        const int64_t first = 2 * (int64_t)features->edges[k];
        const int64_t end = 2 * (int64_t)features->edges[k + 1];
        slope += running[end] - running[first];
        rest += running[end + 1] - running[first + 1];
    }
    return (sklb_sum){(int64_t)slope, (int64_t)rest};
}

/* The value of least loss within bounds, and by how much it lowers twice the loss. */
static double sklb_leaf_value(sklb_sum sum, const sklb_split_rules *rules, double low,
                              double high, double *gain) {
    const double slope = (double)sum.slope * rules->slope_unit;
    const double curvature =
        (double)(sum.rest >> rules->shift) * rules->curvature_unit + rules->l2;
    /* Where all losses are flat, no step is better than another. */
    const double step = curvature > 0 ? -slope / curvature : 0;
    const double value = step < low ? low : step > high ? high : step;
    *gain = -value * (2 * slope + curvature * value);
    return value;
}

static int sklb_may_be_leaf(sklb_sum sum, const sklb_split_rules *rules) {
    const int64_t n_samples = sum.rest & (((int64_t)1 << rules->shift) - 1);
    const double curvature = (double)(sum.rest >> rules->shift) * rules->curvature_unit;
    return n_samples >= rules->least_samples && curvature >= rules->least_curvature;
}

/* Find the split of the largest gain among some features; the first of equal ones wins. A
 * direction of 1 demands that the value where the feature is true is not below the other
 * one, -1 that it is not above. */
static sklb_split sklb_best_split(const sklb_features *features, const int32_t *drawn,
                                  int64_t n_drawn, const uint64_t *running,
                                  const sklb_leaf *leaf, const sklb_split_rules *rules) {
    sklb_split best = {0, -1, {0, 0}};
    double gain_of_leaf, gain_true, gain_false;
    sklb_leaf_value(leaf->total, rules, leaf->low, leaf->high, &gain_of_leaf);
    for (int64_t k = 0; k < n_drawn; k++) {
        const int64_t j = drawn[k];
        const sklb_sum where_true = sklb_feature_sum(features, j, running);
        const sklb_sum where_false = {leaf->total.slope - where_true.slope,
                                      leaf->total.rest - where_true.rest};
        if (!sklb_may_be_leaf(where_true, rules) || !sklb_may_be_leaf(where_false, rules))
            continue;
        const double value_true =
            sklb_leaf_value(where_true, rules, leaf->low, leaf->high, &gain_true);
        const double value_false =
            sklb_leaf_value(where_false, rules, leaf->low, leaf->high, &gain_false);
        if (features->directions[j] * (value_true - value_false) < 0) continue;
        const double gain = gain_true + gain_false - gain_of_leaf;
        if (gain > best.gain || (gain > 0 && gain == best.gain && j < best.feature)) {
            best = (sklb_split){gain, j, where_true};
        }
    }
    return best;
}

/* Put a share of the features that the groups allow first, in random order; count them.
 * Fisher and Yates with the splitmix64 generator. */
static int64_t sklb_draw_features(const sklb_features *features, const uint64_t *allowed,
                                  double share, uint64_t *seed, int32_t *order) {
    int64_t n_allowed = 0;
    for (int64_t k = 0; k < features->n_features; k++) {
        const int32_t j = order[k];
        const uint64_t *groups = features->groups + j * features->n_group_words;
        uint64_t common = 0;
        for (int64_t w = 0; w < features->n_group_words; w++) common |= groups[w] & allowed[w];
        if (!common) continue;
        order[k] = order[n_allowed];
        order[n_allowed++] = j;
    }
    if (share == 1) return n_allowed;
    int64_t n_drawn = (int64_t)rint(share * (double)n_allowed);
    if (!n_drawn && n_allowed) n_drawn = 1;
    for (int64_t k = 0; k < n_drawn; k++) {
        uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        const int64_t other = k + (int64_t)(((z >> 32) * (uint64_t)(n_allowed - k)) >> 32);
        const int32_t j = order[other];
        order[other] = order[k];
        order[k] = j;
    }
    return n_drawn;
}

/* What the threads of a tree share: a leaf's samples are `members`, of which the pieces are
 * nearly equal parts. */
typedef struct {
    const sklb_features *features;
    const sklb_split_rules *rules;
    const sklb_leaf *leaves;
    int64_t n_leaves;
    const double *targets, *weights;
    double *scores, *slopes, *curvatures, *losses;
    int32_t *members, *derivatives;
    int32_t *sorted[2]; /* room for the members of a piece where the feature is false, true */
    int64_t n, n_pieces, feature;
    int summed;      /* the value of the feature in samples to add up; -1: none */
    int64_t *n_true;     /* of each piece */
    double *largest;     /* of each piece: slope, curvature */
    sklb_sum *sums, *of_helpers; /* of thread 0, and of all others */
    int64_t *last_call;          /* in which a thread has added something */
    int64_t call;
} sklb_growth;

static int64_t sklb_edge(const sklb_growth *growth, int64_t piece) {
    return growth->n * piece / growth->n_pieces;
}

/* The slopes and curvatures of the log-loss by the log-odds. Divisions are apart from the
 * exponentials: several are done at a time. */
static void sklb_logistic_derivatives(const double *targets, const double *scores, int64_t n,
                                      double *slopes, double *curvatures) {
    for (int64_t i = 0; i < n; i++) slopes[i] = exp(-scores[i]);
    for (int64_t i = 0; i < n; i++) {
        const double share = 1 / (1 + slopes[i]);
        slopes[i] = share - targets[i];
        curvatures[i] = share * (1 - share);
    }
}

static void sklb_logistic_losses(const double *targets, const double *scores, int64_t n,
                                 double *losses) {
    for (int64_t i = 0; i < n; i++) {
        const double score = targets[i] == 1 ? -scores[i] : scores[i];
        losses[i] = fmax(score, 0) + log1p(exp(-fabs(score)));
    }
}

static void sklb_differentiate_piece(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const int64_t first = sklb_edge(growth, piece), end = sklb_edge(growth, piece + 1);
    (void)thread;
    sklb_logistic_derivatives(growth->targets + first, growth->scores + first, end - first,
                              growth->slopes + first, growth->curvatures + first);
    for (int64_t i = first; i < end; i++) {
        growth->slopes[i] *= growth->weights[i];
        growth->curvatures[i] *= growth->weights[i];
    }
}

static void sklb_measure_piece(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const int64_t first = sklb_edge(growth, piece), n = sklb_edge(growth, piece + 1) - first;
    (void)thread;
    sklb_logistic_losses(growth->targets + first, growth->scores + first, n,
                         growth->losses + first);
}

/* The room of a thread for sums, which are 0 before its first piece of a call. */
static sklb_sum *sklb_sums_of_thread(sklb_growth *growth, int64_t thread) {
    const int64_t n_codes = growth->features->n_codes;
    sklb_sum *sums = thread ? growth->of_helpers + (thread - 1) * n_codes : growth->sums;
    if (growth->last_call[thread] != growth->call)
        memset(sums, 0, (size_t)n_codes * sizeof *sums);
    growth->last_call[thread] = growth->call;
    return sums;
}

static double sklb_largest(const double *numbers, int64_t n) {
    double largest[8] = {0}, most = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int lane = 0; lane < 8; lane++) {
            const double size = fabs(numbers[i + lane]);
            largest[lane] = size > largest[lane] ? size : largest[lane];
        }
    for (; i < n; i++) most = fmax(most, fabs(numbers[i]));
    for (int lane = 0; lane < 8; lane++) most = fmax(most, largest[lane]);
    return most;
}

static void sklb_find_largest(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const int64_t first = sklb_edge(growth, piece), n = sklb_edge(growth, piece + 1) - first;
    (void)thread;
    growth->largest[2 * piece] = sklb_largest(growth->slopes + first, n);
    growth->largest[2 * piece + 1] = sklb_largest(growth->curvatures + first, n);
}

/* Round numbers to whole multiples of a power of two; ties go to the even one. The results
 * are below 2**31, and adding 1.5 * 2**52 leaves a double no binary digits below 1. */
static void sklb_round(const double *numbers, int64_t n, double unit, int32_t *rounded) {
    const double large = 6755399441055744.0, scale = 1 / unit;
    for (int64_t i = 0; i < n; i++) {
        const double sum = numbers[i] * scale + large;
        rounded[2 * i] = (int32_t)(sum - large);
    }
}

/* Round the derivatives of some samples, and add them up: the first leaf has all. */
static void sklb_begin_piece(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const int64_t first = sklb_edge(growth, piece), n = sklb_edge(growth, piece + 1) - first;
    sklb_round(growth->slopes + first, n, growth->rules->slope_unit,
               growth->derivatives + 2 * first);
    sklb_round(growth->curvatures + first, n, growth->rules->curvature_unit,
               growth->derivatives + 2 * first + 1);
    for (int64_t k = first; k < first + n; k++) growth->members[k] = (int32_t)k;
    sklb_add_samples(growth->features, growth->members + first, n, growth->derivatives,
                     growth->rules->shift, sklb_sums_of_thread(growth, thread));
}

/* Part the members of a piece by a feature, in their order, and add up one part. */
static void sklb_part_piece(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const sklb_features *features = growth->features;
    const int64_t first = sklb_edge(growth, piece), end = sklb_edge(growth, piece + 1);
    const uint8_t *is_true = features->is_true + 256 * growth->feature;
    const uint8_t *codes = features->codes + features->block_of_feature[growth->feature];
    int32_t *false_members = growth->sorted[0] + first;
    int32_t *true_members = growth->sorted[1] + first;
    int64_t n_true = 0, n_false = 0;
    for (int64_t k = first; k < end; k++) {
        const int32_t i = growth->members[k];
        const int goes_first = is_true[codes[i * features->n_blocks]];
        true_members[n_true] = i;
        false_members[n_false] = i;
        n_true += goes_first;
        n_false += !goes_first;
    }
    growth->n_true[piece] = n_true;
    if (growth->summed < 0) return;
    sklb_add_samples(features, growth->sorted[growth->summed] + first,
                     growth->summed ? n_true : n_false, growth->derivatives,
                     growth->rules->shift, sklb_sums_of_thread(growth, thread));
}

/* Put the members of a piece in which the feature is true behind those of the pieces
 * before, and the others behind all these. */
static void sklb_gather_piece(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const int64_t first = sklb_edge(growth, piece), n = sklb_edge(growth, piece + 1) - first;
    int64_t n_true = 0, n_before = 0;
    (void)thread;
    for (int64_t p = 0; p < growth->n_pieces; p++) {
        n_before += p < piece ? growth->n_true[p] : 0;
        n_true += growth->n_true[p];
    }
    memcpy(growth->members + n_before, growth->sorted[1] + first,
           (size_t)growth->n_true[piece] * sizeof(int32_t));
    memcpy(growth->members + n_true + first - n_before, growth->sorted[0] + first,
           (size_t)(n - growth->n_true[piece]) * sizeof(int32_t));
}

/* Add the values of the leaves to the scores of the members of a piece. */
static void sklb_add_values(void *work, int64_t piece, int64_t thread) {
    sklb_growth *growth = work;
    const int64_t first = sklb_edge(growth, piece), end = sklb_edge(growth, piece + 1);
    (void)thread;
    for (int64_t l = 0; l < growth->n_leaves; l++) {
        const sklb_leaf *leaf = growth->leaves + l;
        const int64_t last = leaf->end < end ? leaf->end : end;
        for (int64_t k = leaf->first > first ? leaf->first : first; k < last; k++)
            growth->scores[growth->members[k]] += leaf->value;
    }
}

/* Trees as nodes: a feature, -1 in a leaf; where it is false and true; a leaf's value. */
typedef struct {
    const int32_t *features, *children, *roots;
    const double *values;
    int64_t n_trees;
} sklb_trees;

#define SKLB_WALKERS 8 /* samples that walk at a time: none waits for another's step */

/* Add the values of the leaves that some packed samples reach, tree k to score k % n_columns.
 * Samples that are in a leaf stay there until all are. */
SKLB_INLINE void sklb_walk_together(const sklb_trees *trees, const uint64_t *words,
                                    int64_t n_words, int n, double *scores,
                                    int64_t n_columns) {
    for (int64_t k = 0; k < trees->n_trees; k++) {
        int32_t nodes[SKLB_WALKERS];
        int is_walking = 1;
        for (int i = 0; i < n; i++) nodes[i] = trees->roots[k];
        while (is_walking) {
            is_walking = 0;
            for (int i = 0; i < n; i++) {
                const int32_t feature = trees->features[nodes[i]];
                const int32_t j = feature < 0 ? 0 : feature;
                const int is_true = words[i * n_words + (j >> 6)] >> (j & 63) & 1;
                const int32_t next = trees->children[2 * nodes[i] + is_true];
                nodes[i] = feature < 0 ? nodes[i] : next;
                is_walking |= feature >= 0;
            }
        }
        for (int i = 0; i < n; i++)
            scores[i * n_columns + k % n_columns] += trees->values[nodes[i]];
    }
}

static void sklb_walk(const sklb_trees *trees, const uint64_t *words, int64_t n_words,
                      int64_t n, double *scores, int64_t n_columns) {
    int64_t i = 0;
    for (; i + SKLB_WALKERS <= n; i += SKLB_WALKERS)
        sklb_walk_together(trees, words + i * n_words, n_words, SKLB_WALKERS,
                           scores + i * n_columns, n_columns);
    for (; i < n; i++)
        sklb_walk_together(trees, words + i * n_words, n_words, 1, scores + i * n_columns,
                           n_columns);
}

/* Samples that are held out, and the tree that has grown. */
typedef struct {
    sklb_trees tree;
    const uint64_t *words;
    double *scores;
    int64_t n, n_words, n_pieces;
} sklb_held_out;

static void sklb_walk_piece(void *work, int64_t piece, int64_t thread) {
    const sklb_held_out *samples = work;
    const int64_t first = samples->n * piece / samples->n_pieces;
    const int64_t end = samples->n * (piece + 1) / samples->n_pieces;
    (void)thread;
    sklb_walk(&samples->tree, samples->words + first * samples->n_words, samples->n_words,
              end - first, samples->scores + first, 1);
}

#endif
