/* Sums of slopes and curvatures over the samples of a leaf, by the bytes of samples.
 *
 * Several features are one byte of a sample, its code in a block. One addition for each
 * block and sample gives the sums by code, and those of a feature are the sums over the
 * codes in which it is true. All sums are of integers, so they are the same in any order.
 */
#ifndef SKLB_TREE_SUMS_H
#define SKLB_TREE_SUMS_H

#include <math.h>
#include <stdint.h>

/* The slopes; and the curvatures times 2**shift, plus the number of samples. */
typedef struct {
    int64_t slope, rest;
} sklb_sum;

/* What a split may be, and in which units the sums are. */
typedef struct {
    double slope_unit, curvature_unit, l2, least_curvature;
    int64_t least_samples;
    int shift;
} sklb_split_rules;

/* A leaf: its sums, and the bounds of its value. */
typedef struct {
    sklb_sum total;
    double low, high;
} sklb_leaf;

typedef struct {
    double gain;
    int64_t feature;
    sklb_sum where_true;
} sklb_split;

/* One addition of 16 bytes for each block of a sample: compilers need no help with it. */
static void sklb_add_samples(const uint8_t *codes, int64_t n_blocks, const int32_t *starts,
                             const int32_t *members, int64_t n, const int32_t *derivatives,
                             int shift, sklb_sum *sums) {
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = members[k];
        const uint8_t *of_sample = codes + i * n_blocks;
        const int64_t slope = derivatives[2 * i];
        const int64_t rest = ((int64_t)derivatives[2 * i + 1] << shift) + 1;
        for (int64_t b = 0; b < n_blocks; b++) {
            sklb_sum *sum = sums + starts[b] + of_sample[b];
            sum->slope += slope;
            sum->rest += rest;
        }
    }
}

/* Add up the codes that each feature lists; `features[indptr[c]:indptr[c + 1]]` list c. */
static void sklb_feature_sums(const sklb_sum *sums, int64_t n_codes, const int64_t *indptr,
                              const int32_t *features, sklb_sum *by_feature) {
    for (int64_t c = 0; c < n_codes; c++) {
        if (!sums[c].rest) continue;
        for (int64_t k = indptr[c]; k < indptr[c + 1]; k++) {
            by_feature[features[k]].slope += sums[c].slope;
            by_feature[features[k]].rest += sums[c].rest;
        }
    }
}

/* The value of least loss within bounds, and by how much it lowers twice the loss. */
static double sklb_leaf_value(sklb_sum sum, const sklb_split_rules *rules, double low,
                              double high, double *gain) {
    const double slope = (double)sum.slope * rules->slope_unit;
    const double curvature =
        (double)(sum.rest >> rules->shift) * rules->curvature_unit + rules->l2;
    /* Where all losses are flat, no step is better than another. */
    const double step = curvature > 0 ? -slope / curvature : 0;
    const double value = fmin(fmax(step, low), high);
    *gain = -value * (2 * slope + curvature * value);
    return value;
}

static int sklb_may_be_leaf(sklb_sum sum, const sklb_split_rules *rules) {
    const int64_t n_samples = sum.rest & (((int64_t)1 << rules->shift) - 1);
    const double curvature = (double)(sum.rest >> rules->shift) * rules->curvature_unit;
    return n_samples >= rules->least_samples && curvature >= rules->least_curvature;
}

/* Find the split of the largest gain; the first of equal ones wins. `inverted` features
 * list the codes in which they are false. A direction of 1 demands that the value where
 * the feature is true is not below the other one, -1 that it is not above. */
static sklb_split sklb_best_split(const sklb_sum *by_feature, int64_t n_features,
                                  const uint8_t *inverted, const uint8_t *is_allowed,
                                  const int8_t *directions, const sklb_leaf *leaf,
                                  const sklb_split_rules *rules) {
    sklb_split best = {0, -1, {0, 0}};
    double gain_of_leaf, gain_true, gain_false;
    sklb_leaf_value(leaf->total, rules, leaf->low, leaf->high, &gain_of_leaf);
    for (int64_t j = 0; j < n_features; j++) {
        if (!is_allowed[j]) continue;
        sklb_sum listed = by_feature[j];
        sklb_sum others = {leaf->total.slope - listed.slope, leaf->total.rest - listed.rest};
        if (!sklb_may_be_leaf(listed, rules) || !sklb_may_be_leaf(others, rules)) continue;
        sklb_sum where_true = inverted[j] ? others : listed;
        sklb_sum where_false = inverted[j] ? listed : others;
        const double value_true =
            sklb_leaf_value(where_true, rules, leaf->low, leaf->high, &gain_true);
        const double value_false =
            sklb_leaf_value(where_false, rules, leaf->low, leaf->high, &gain_false);
        if (directions[j] * (value_true - value_false) < 0) continue;
        const double gain = gain_true + gain_false - gain_of_leaf;
        if (gain > best.gain) {
            best.gain = gain;
            best.feature = j;
            best.where_true = where_true;
        }
    }
    return best;
}

/* Put the members in which a feature is true first, both parts in their order. */
static int64_t sklb_part_members(const uint8_t *codes, int64_t n_blocks, int64_t block,
                                 const uint8_t *is_true, int32_t *members, int64_t n,
                                 int32_t *others) {
    int64_t n_true = 0, n_others = 0;
    for (int64_t k = 0; k < n; k++) {
        const int32_t i = members[k];
        const int goes_first = is_true[codes[i * n_blocks + block]];
        members[n_true] = i;
        others[n_others] = i;
        n_true += goes_first;
        n_others += !goes_first;
    }
    for (int64_t k = 0; k < n_others; k++) members[n_true + k] = others[k];
    return n_true;
}

#endif
