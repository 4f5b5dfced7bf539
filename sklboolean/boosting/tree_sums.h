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

/* A leaf: its samples among the members, its sums, the bounds of its value, its split. */
typedef struct {
    int64_t node, first, end;
    sklb_sum total;
    double low, high;
    sklb_split split;
} sklb_leaf;

/* One addition of 16 bytes for each block of a sample: compilers need no help with it. */
static void sklb_add_samples(const sklb_features *features, const int32_t *members, int64_t n,
                             const int32_t *derivatives, int shift, sklb_sum *sums) {
    const int64_t n_blocks = features->n_blocks;
    memset(sums, 0, (size_t)features->n_codes * sizeof *sums);
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = members[k];
        const uint8_t *of_sample = features->codes + i * n_blocks;
        const int64_t slope = derivatives[2 * i];
        const int64_t rest = ((int64_t)derivatives[2 * i + 1] << shift) + 1;
        for (int64_t b = 0; b < n_blocks; b++) {
            sklb_sum *sum = sums + features->starts[b] + of_sample[b];
            sum->slope += slope;
            sum->rest += rest;
        }
    }
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

/* Put the members in which a feature is true first, both parts in their order. */
static int64_t sklb_part_members(const sklb_features *features, int64_t j, int32_t *members,
                                 int64_t n, int32_t *others) {
    const uint8_t *is_true = features->is_true + 256 * j;
    const uint8_t *codes = features->codes + features->block_of_feature[j];
    int64_t n_true = 0, n_others = 0;
    for (int64_t k = 0; k < n; k++) {
        const int32_t i = members[k];
        const int goes_first = is_true[codes[i * features->n_blocks]];
        members[n_true] = i;
        others[n_others] = i;
        n_true += goes_first;
        n_others += !goes_first;
    }
    memcpy(members + n_true, others, (size_t)n_others * sizeof *others);
    return n_true;
}

/* Round numbers to whole multiples of a power of two; ties go to the even one. The results
 * are below 2**31, and adding 1.5 * 2**52 leaves a double no binary digits below 1. */
static void sklb_round(const double *numbers, int64_t n, double unit, int32_t *rounded) {
    const double large = 6755399441055744.0;
    for (int64_t i = 0; i < n; i++) {
        const double sum = numbers[i] / unit + large;
        rounded[2 * i] = (int32_t)(sum - large);
    }
}

#endif
