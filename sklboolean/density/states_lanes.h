/* The loops of states.h for registers of WIDTH numbers. Included once for each width,
 * with NAME (of a function) and TARGET (its instruction set); both end here. */

#if WIDTH == 1
typedef double NAME(lanes);
typedef uint64_t NAME(ints);
#else
typedef double NAME(lanes) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef uint64_t NAME(ints) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#endif
#define LANES NAME(lanes)
#define INTS NAME(ints)
#define AT(pointer) (*(const LANES *)(pointer))
#define INTO(pointer) (*(LANES *)(pointer))

/* The sum over a panel, in the same order for all widths. */
TARGET SKLB_INLINE double NAME(across)(const LANES *panel) {
    double parts[SKLB_STATE_PANEL], sum = 0.0;
    memcpy(parts, panel, sizeof(parts));
    for (int k = 0; k < SKLB_STATE_PANEL; k++) sum += parts[k];
    return sum;
}

/* Exponents of positive numbers, as integers with the bias. */
TARGET SKLB_INLINE INTS NAME(exponent)(LANES value) {
    INTS bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits >> 52;
}

TARGET SKLB_INLINE LANES NAME(mantissa)(LANES value) {
    INTS bits;
    memcpy(&bits, &value, sizeof(bits));
    bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    memcpy(&value, &bits, sizeof(bits));
    return value;
}

/* 2^-(exponent), of biased exponents */
TARGET SKLB_INLINE LANES NAME(inverse_power)(INTS exponent) {
    LANES power;
    exponent = (2046 - exponent) << 52;
    memcpy(&power, &exponent, sizeof(power));
    return power;
}

/* -- independent columns ------------------------------------------------------------ */

TARGET static void NAME(weigh_block)(const double *left, const double *right,
                                     int64_t n_groups, int64_t stride, int64_t n_panels,
                                     double *restrict mantissas,
                                     int64_t *restrict exponents) {
    for (int64_t g = 0; g < n_groups; g++, left += 4, right += 4 * stride)
        for (int64_t r = 0; r < SKLB_STATE_PANEL * n_panels; r += WIDTH) {
            const double *q = right + r / SKLB_STATE_PANEL * 32 + r % SKLB_STATE_PANEL;
            LANES product = AT(mantissas + r);
            for (int c = 0; c < SKLB_STATE_GROUP; c++)
                product *= SKLB_STATE_UNIT + left[c] * AT(q + SKLB_STATE_PANEL * c);
            *(INTS *)(exponents + r) += NAME(exponent)(product) - 1023;
            INTO(mantissas + r) = NAME(mantissa)(product);
        }
}

/* Weight over sum of each column, with one division for four of them. */
TARGET static void NAME(add_shares)(const double *left, const double *right,
                                    int64_t n_groups, int64_t stride,
                                    const int32_t *panels, int64_t n_panels,
                                    const double *weights, double *restrict left_shares,
                                    double *restrict right_shares) {
    for (int64_t g = 0; g < n_groups; g++) {
        LANES totals[SKLB_STATE_GROUP][SKLB_STATE_PANEL / WIDTH] = {0};
        for (int64_t i = 0; i < n_panels; i++)
            for (int k = 0; k < SKLB_STATE_PANEL; k += WIDTH) {
                const double *q = right + panels[i] * 32 + k;
                double *out = right_shares + panels[i] * 32 + k;
                LANES s0 = SKLB_STATE_UNIT + left[0] * AT(q);
                LANES s1 = SKLB_STATE_UNIT + left[1] * AT(q + 8);
                LANES s2 = SKLB_STATE_UNIT + left[2] * AT(q + 16);
                LANES s3 = SKLB_STATE_UNIT + left[3] * AT(q + 24);
                LANES s01 = s0 * s1, s23 = s2 * s3;
                LANES share = AT(weights + panels[i] * SKLB_STATE_PANEL + k) / (s01 * s23);
                LANES share01 = share * s23, share23 = share * s01;
                LANES share0 = share01 * s1, share1 = share01 * s0;
                LANES share2 = share23 * s3, share3 = share23 * s2;
                totals[0][k / WIDTH] += share0;
                totals[1][k / WIDTH] += share1;
                totals[2][k / WIDTH] += share2;
                totals[3][k / WIDTH] += share3;
                INTO(out) += share0;
                INTO(out + 8) += share1;
                INTO(out + 16) += share2;
                INTO(out + 24) += share3;
            }
        for (int c = 0; c < SKLB_STATE_GROUP; c++) left_shares[c] += NAME(across)(totals[c]);
        left += 4;
        left_shares += 4;
        right += 4 * stride;
        right_shares += 4 * stride;
    }
}

/* -- a tree over the columns -------------------------------------------------------- */

/* Up: kept[2 c], kept[2 c + 1] become the factors of column c with its subtree, such
 * that what it says to its parent has a sum in [1, 2). */
TARGET SKLB_INLINE void NAME(rise)(const sklb_states *s, const double *left,
                                   const double *right, LANES *kept, double *mantissas,
                                   int64_t *exponents) {
    int64_t n = s->n_columns;
    LANES mantissa = AT(mantissas);
    INTS sum = *(INTS *)exponents - (uint64_t)(1023 * n);
    for (int64_t c = 0; c < n; c++) {
        kept[2 * c] = left[2 * c] * AT(right + 16 * c);
        kept[2 * c + 1] = left[2 * c + 1] * AT(right + 16 * c + 8);
    }
    for (int64_t c = 0; c < n; c++) {
        LANES u = kept[2 * c], v = kept[2 * c + 1];
        int64_t parent = s->parents[c];
        if (parent < 0) {
            mantissa *= u + v;
            sum += NAME(exponent)(mantissa);
            mantissa = NAME(mantissa)(mantissa);
            continue;
        }
        double agree = s->agree[c], differ = s->differ[c];
        LANES plus = agree * u + differ * v, minus = differ * u + agree * v;
        INTS exponent = NAME(exponent)(plus + minus);
        LANES power = NAME(inverse_power)(exponent);
        sum += exponent;
        kept[2 * c] = u * power;
        kept[2 * c + 1] = v * power;
        kept[2 * parent] *= plus * power;
        kept[2 * parent + 1] *= minus * power;
        if (s->fold[c]) { /* products of many numbers below 1 */
            exponent = NAME(exponent)(kept[2 * parent] + kept[2 * parent + 1]);
            power = NAME(inverse_power)(exponent);
            sum += exponent - 1023;
            kept[2 * parent] *= power;
            kept[2 * parent + 1] *= power;
        }
    }
    INTO(mantissas) = mantissa;
    *(INTS *)exponents = sum;
}

/* -- the same for parameters of any size -------------------------------------------- */

/* 2^k and the larger of two numbers, which are integers; k <= 0, and 0 for k < -1022. */
TARGET SKLB_INLINE LANES NAME(larger)(LANES one, LANES other) {
    LANES difference = one - other;
    INTS bits;
    memcpy(&bits, &difference, sizeof(bits));
    bits &= 0x7fffffffffffffffULL;
    memcpy(&difference, &bits, sizeof(bits));
    return 0.5 * (one + other + difference);
}

TARGET SKLB_INLINE LANES NAME(power_of)(LANES k) {
    LANES floor = {0}, power = NAME(larger)(k, floor - 1023) + (0x1.8p52 + 1023);
    INTS bits;
    memcpy(&bits, &power, sizeof(bits));
    bits <<= 52;
    memcpy(&power, &bits, sizeof(bits));
    return power;
}

typedef struct {
    LANES up_up, up_down, down_up, down_down; /* of parent and child, times a power of 2 */
    LANES up_exponent, down_exponent;
} NAME(pair);

/* Weights of the values of a column, of odds g 2^k, for both values of its parent: with
 * d = e^-2J they are (g 2^k, d) and (d g 2^k, 1). */
TARGET SKLB_INLINE NAME(pair) NAME(pair_with_parent)(const sklb_states *s, int64_t c, LANES g,
                                                     LANES k) {
    double d = s->agree[c], e = s->differ[c];
    LANES zero = {0};
    NAME(pair) pair;
    pair.up_exponent = NAME(larger)(k, zero + e);
    pair.down_exponent = NAME(larger)(k + e, zero);
    pair.up_up = g * NAME(power_of)(k - pair.up_exponent);
    pair.up_down = d * NAME(power_of)(e - pair.up_exponent);
    pair.down_up = d * g * NAME(power_of)(k + e - pair.down_exponent);
    pair.down_down = NAME(power_of)(zero - pair.down_exponent);
    return pair;
}

/* Up: kept becomes the odds of each column with its subtree, as mantissa and exponent. A
 * root has a parent that is never up. */
TARGET SKLB_INLINE void NAME(rise_wide)(const sklb_states *s, const double *left,
                                        const double *right, LANES *kept, double *mantissas,
                                        int64_t *exponents) {
    int64_t n = s->n_columns;
    LANES mantissa = AT(mantissas), large = {0};
    INTS sum = *(INTS *)exponents - (uint64_t)(1023 * n);
    SKLB_STATE_ALIGNED double parts[WIDTH];
    for (int64_t c = 0; c < n; c++) {
        kept[2 * c] = left[2 * c] * AT(right + 16 * c);
        kept[2 * c + 1] = left[2 * c + 1] + AT(right + 16 * c + 8);
    }
    for (int64_t c = 0; c < n; c++) {
        int64_t parent = s->parents[c];
        INTS bits = NAME(exponent)(kept[2 * c]) | 0x4330000000000000ULL; /* 2^52 + exponent */
        LANES exponent;
        memcpy(&exponent, &bits, sizeof(bits));
        LANES g = NAME(mantissa)(kept[2 * c]), k = kept[2 * c + 1] + (exponent - (0x1p52 + 1023));
        NAME(pair) pair = NAME(pair_with_parent)(s, c, g, k);
        LANES up = pair.up_up + pair.up_down, down = pair.down_up + pair.down_down;
        mantissa *= down;
        sum += NAME(exponent)(mantissa);
        mantissa = NAME(mantissa)(mantissa);
        large += pair.down_exponent;
        kept[2 * c] = g;
        kept[2 * c + 1] = k;
        if (parent < 0) continue;
        kept[2 * parent] *= up / down;
        kept[2 * parent + 1] += pair.up_exponent - pair.down_exponent;
    }
    INTO(mantissas) = mantissa;
    *(INTS *)exponents = sum;
    memcpy(parts, &large, sizeof(large));
    for (int k = 0; k < WIDTH; k++) exponents[k] += (int64_t)parts[k];
}

/* Down: kept becomes the weight with which each column is +1 and -1. */
TARGET SKLB_INLINE void NAME(descend_wide)(const sklb_states *s, LANES weight, LANES *kept,
                                           double *restrict left_means, double *restrict edges,
                                           double *restrict right_means) {
    for (int64_t c = s->n_columns - 1; c >= 0; c--) {
        int64_t parent = s->parents[c];
        NAME(pair) pair = NAME(pair_with_parent)(s, c, kept[2 * c], kept[2 * c + 1]);
        LANES none = {0};
        LANES if_up = parent < 0 ? none : kept[2 * parent];
        LANES if_down = parent < 0 ? weight : kept[2 * parent + 1];
        if_up /= pair.up_up + pair.up_down;
        if_down /= pair.down_up + pair.down_down;
        LANES up = pair.up_up * if_up + pair.down_up * if_down;
        LANES down = pair.up_down * if_up + pair.down_down * if_down;
        if (parent >= 0)
            INTO(edges + SKLB_STATE_PANEL * c) += (pair.up_up - pair.up_down) * if_up + (pair.down_down - pair.down_up) * if_down;
        kept[2 * c] = up;
        kept[2 * c + 1] = down;
        INTO(left_means + SKLB_STATE_PANEL * c) += up - down;
        INTO(right_means + SKLB_STATE_PANEL * c) += up - down;
    }
}

/* Down: kept becomes the weight with which each column is +1 and -1. */
TARGET SKLB_INLINE void NAME(descend)(const sklb_states *s, LANES weight, LANES *kept,
                                      double *restrict left_means, double *restrict edges,
                                      double *restrict right_means) {
    for (int64_t c = s->n_columns - 1; c >= 0; c--) {
        LANES u = kept[2 * c], v = kept[2 * c + 1];
        int64_t parent = s->parents[c];
        if (parent < 0) {
            LANES share = weight / (u + v);
            u *= share;
            v *= share;
        } else {
            double agree = s->agree[c], differ = s->differ[c];
            LANES plus = agree * u + differ * v, minus = differ * u + agree * v;
            LANES inverse = 1.0 / (plus * minus);
            LANES if_plus = kept[2 * parent] * minus * inverse;
            LANES if_minus = kept[2 * parent + 1] * plus * inverse;
            LANES same = agree * (u * if_plus + v * if_minus);
            INTO(edges + SKLB_STATE_PANEL * c) += same - differ * (v * if_plus + u * if_minus);
            u *= agree * if_plus + differ * if_minus;
            v *= differ * if_plus + agree * if_minus;
        }
        kept[2 * c] = u;
        kept[2 * c + 1] = v;
        LANES mean = u - v;
        INTO(left_means + SKLB_STATE_PANEL * c) += mean;
        INTO(right_means + SKLB_STATE_PANEL * c) += mean;
    }
}

TARGET static void NAME(sum_tree_states)(sklb_states *s, int64_t first, int64_t last) {
    int64_t n = s->n_columns;
    LANES *kept = (LANES *)s->scratch; /* [8 / WIDTH][column][2] */
    double *means = s->scratch + 2 * n * SKLB_STATE_PANEL; /* [column][8], as edges */
    double *edges = means + n * SKLB_STATE_PANEL;
    SKLB_STATE_ALIGNED double mantissas[SKLB_STATE_PANEL], weights[SKLB_STATE_PANEL];
    SKLB_STATE_ALIGNED int64_t exponents[SKLB_STATE_PANEL];
    for (int64_t l = first; l < last; l++) {
        const double *left = s->left + 2 * n * l;
        memset(means, 0, 2 * n * SKLB_STATE_PANEL * sizeof(double));
        for (int64_t r = 0; r < s->limits[l]; r += SKLB_STATE_PANEL) {
            const double *right = s->right + 2 * n * r;
            int64_t count = s->limits[l] - r < SKLB_STATE_PANEL ? s->limits[l] - r : SKLB_STATE_PANEL;
            for (int k = 0; k < SKLB_STATE_PANEL; k++) {
                mantissas[k] = s->left_mantissas[l] * s->right_mantissas[r + k];
                exponents[k] = s->left_exponents[l] + s->right_exponents[r + k];
            }
            for (int k = 0; k < SKLB_STATE_PANEL; k += WIDTH)
                (s->wide ? NAME(rise_wide) : NAME(rise))(s, left, right + k, kept + 2 * n * (k / WIDTH),
                                                         mantissas + k, exponents + k);
            int64_t scale = s->scale;
            sklb_settle(s, l, r, count, mantissas, exponents, weights);
            if (!s->left_means || !sklb_matters(s, weights)) continue;
            if (r && scale != s->scale) { /* what is not yet in left_means and edges */
                double factor = scale - s->scale < -1022 ? 0 : sklb_power(scale - s->scale);
                for (int64_t c = 0; c < 2 * n * SKLB_STATE_PANEL; c++) means[c] *= factor;
            }
            for (int k = 0; k < SKLB_STATE_PANEL; k += WIDTH)
                (s->wide ? NAME(descend_wide) : NAME(descend))(
                    s, AT(weights + k), kept + 2 * n * (k / WIDTH), means + k, edges + k,
                    s->right_means + n * r + k);
        }
        for (int64_t c = 0; s->left_means && c < n; c++) {
            s->left_means[n * l + c] += NAME(across)((LANES *)(means + SKLB_STATE_PANEL * c));
            s->edges[c] += NAME(across)((LANES *)(edges + SKLB_STATE_PANEL * c));
        }
    }
}

/* -- both --------------------------------------------------------------------------- */

/* Mantissas and exponents of one left state with one block of right states. */
TARGET static void NAME(weigh_states)(const sklb_states *s, int64_t l, int64_t block,
                                      double *mantissas, int64_t *exponents) {
    int64_t n = s->n_columns, start = block * s->block, count = s->limits[l] - start;
    if (count > s->block) count = s->block;
    for (int64_t r = 0; r < s->block; r++) {
        mantissas[r] = s->left_mantissas[l] * s->right_mantissas[start + r];
        /* Exponents of an edited model can overflow, which unsigned sums may. */
        exponents[r] = (int64_t)((uint64_t)s->left_exponents[l] +
                                 (uint64_t)s->right_exponents[start + r]);
    }
    if (s->parents) {
        for (int64_t r = 0; r < count; r += WIDTH)
            (s->wide ? NAME(rise_wide) : NAME(rise))(
                s, s->left + 2 * n * l,
                s->right + 2 * n * (start + r / SKLB_STATE_PANEL * SKLB_STATE_PANEL) +
                    r % SKLB_STATE_PANEL,
                (LANES *)s->scratch, mantissas + r, exponents + r);
    } else {
        NAME(weigh_block)(s->left + n * l, s->right + n * start, n / SKLB_STATE_GROUP,
                          s->block, (count + SKLB_STATE_PANEL - 1) / SKLB_STATE_PANEL, mantissas,
                          exponents);
    }
}

/* Sums, and means where wanted, of left states [first, last) with all right states. */
TARGET static void NAME(sum_states)(sklb_states *s, int64_t first, int64_t last) {
    SKLB_STATE_ALIGNED double mantissas[SKLB_STATE_BLOCK], weights[SKLB_STATE_BLOCK];
    SKLB_STATE_ALIGNED int64_t exponents[SKLB_STATE_BLOCK];
    int64_t n = s->n_columns;
    int32_t panels[SKLB_STATE_BLOCK / SKLB_STATE_PANEL];
    if (s->parents) {
        NAME(sum_tree_states)(s, first, last);
        return;
    }
    for (int64_t b = 0; b < s->n_blocks; b++)
        for (int64_t l = first; l < last; l++) {
            int64_t start = b * s->block, count = s->limits[l] - start, n_panels = 0;
            if (count <= 0) continue;
            if (count > s->block) count = s->block;
            NAME(weigh_states)(s, l, b, mantissas, exponents);
            sklb_settle(s, l, start, count, mantissas, exponents, weights);
            if (!s->left_means) continue;
            for (int64_t r = 0; r < count; r += SKLB_STATE_PANEL)
                if (sklb_matters(s, weights + r))
                    panels[n_panels++] = (int32_t)(r / SKLB_STATE_PANEL);
            NAME(add_shares)(s->left + n * l, s->right + n * start, n / SKLB_STATE_GROUP, s->block,
                             panels, n_panels, weights, s->left_means + n * l,
                             s->right_means + n * start);
        }
}

#undef LANES
#undef INTS
#undef AT
#undef INTO
#undef NAME
#undef TARGET
#undef WIDTH
