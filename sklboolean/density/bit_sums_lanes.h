/* The loop of bit_sums.h for registers of WIDTH numbers. Included once for each width, with
 * NAME (of a function) and TARGET (its instruction set); both end here. */

#if WIDTH == 1
typedef double NAME(bits_lanes);
typedef uint64_t NAME(bits_ints);
#else
typedef double NAME(bits_lanes) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef uint64_t NAME(bits_ints) __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#endif
#define LANES NAME(bits_lanes)
#define INTS NAME(bits_ints)
#define AT(pointer) (*(const LANES *)(pointer))
#define INTO(pointer) (*(LANES *)(pointer))

/* |x|, by its sign bit. */
TARGET SKLB_INLINE LANES NAME(size_of)(LANES x) {
    INTS bits;
    memcpy(&bits, &x, sizeof(bits));
    bits &= 0x7fffffffffffffffULL;
    memcpy(&x, &bits, sizeof(bits));
    return x;
}

/* e^x for x <= 0, at least e^-708. */
TARGET SKLB_INLINE LANES NAME(exp_of)(LANES x) {
    LANES lowest = x - x + SKLB_BITS_LEAST, k, r, sum, power;
    INTS bits;
    x = 0.5 * (x + lowest + NAME(size_of)(x - lowest)); /* the larger */
    k = x * 0x1.71547652b82fep+0 + SKLB_BITS_SHIFT;     /* 1 / log 2 */
    memcpy(&bits, &k, sizeof(bits));
    k -= SKLB_BITS_SHIFT;
    r = x - k * 0x1.62e42fefa38p-1 - k * 0x1.ef35793c7673p-45; /* log 2 in two parts */
    sum = r * sklb_inverse_factorials[0] + sklb_inverse_factorials[1];
    for (int i = 2; i < 14; i++) sum = sum * r + sklb_inverse_factorials[i];
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, sizeof(bits));
    return sum * power;
}

/* Turn activations of a panel into posterior means times a weight. The log-sum is the sum of
 * the positive activations plus the log of the product of the factors. */
TARGET SKLB_INLINE void NAME(units)(double *panel, double weight, double *positive, double *factors) {
    for (int k = 0; k < SKLB_BITS_UNITS; k += WIDTH) {
        LANES a = AT(panel + k), size = NAME(size_of)(a);
        LANES small = NAME(exp_of)(-size), factor = 1.0 + small;
        /* 1 for a >= 0, else `small`: (a + |a|) / 2 over |a|, without a branch */
        LANES above = 0.5 * (a + size), share;
        INTS bits, sign;
        memcpy(&bits, &small, sizeof(bits));
        memcpy(&sign, &a, sizeof(sign));
        sign = 0 - (sign >> 63); /* all ones where a is negative */
        bits = (bits & sign) | (0x3ff0000000000000ULL & ~sign);
        memcpy(&share, &bits, sizeof(bits));
        INTO(positive + k) += above;
        INTO(factors + k) *= factor;
        INTO(panel + k) = weight * (share / factor);
    }
}

TARGET static double NAME(sum_bits)(const sklb_bits *s, const uint8_t *samples,
                                    const double *weights, int64_t n, double *room) {
    int64_t size = s->n_bytes * SKLB_BITS_ROWS * SKLB_BITS_UNITS;
    double value = 0.0;
    for (int64_t i = 0; i < n; i++, samples += s->n_bytes) {
        SKLB_BITS_ALIGNED double positive[SKLB_BITS_UNITS] = {0}, factors[SKLB_BITS_UNITS];
        double log_sum = 0.0, product = 1.0;
        for (int k = 0; k < SKLB_BITS_UNITS; k++) factors[k] = 1.0;
        for (int64_t p = 0; p < s->n_panels; p++) {
            LANES sums[SKLB_BITS_UNITS / WIDTH];
            const double *table = s->tables + p * size;
            for (int k = 0; k < SKLB_BITS_UNITS; k += WIDTH)
                sums[k / WIDTH] = AT(s->biases + p * SKLB_BITS_UNITS + k);
            for (int64_t b = 0; b < s->n_bytes; b++, table += SKLB_BITS_ROWS * SKLB_BITS_UNITS) {
                const double *high = table + (samples[b] >> 4) * SKLB_BITS_UNITS;
                const double *low = table + (16 + (samples[b] & 15)) * SKLB_BITS_UNITS;
                for (int k = 0; k < SKLB_BITS_UNITS; k += WIDTH)
                    sums[k / WIDTH] += AT(high + k) + AT(low + k);
            }
            double *panel = room + p * SKLB_BITS_UNITS;
            for (int k = 0; k < SKLB_BITS_UNITS; k += WIDTH) INTO(panel + k) = sums[k / WIDTH];
            NAME(units)(panel, weights[i], positive, factors);
            for (int k = 0; k < SKLB_BITS_UNITS; k += WIDTH)
                INTO(s->hidden + p * SKLB_BITS_UNITS + k) += AT(panel + k);
            double *out = s->products + p * size;
            for (int64_t b = 0; b < s->n_bytes; b++, out += SKLB_BITS_ROWS * SKLB_BITS_UNITS) {
                double *high = out + (samples[b] >> 4) * SKLB_BITS_UNITS;
                double *low = out + (16 + (samples[b] & 15)) * SKLB_BITS_UNITS;
                for (int k = 0; k < SKLB_BITS_UNITS; k += WIDTH) {
                    LANES mean = AT(panel + k);
                    INTO(high + k) += mean;
                    INTO(low + k) += mean;
                }
            }
            if (p % 32 == 31 || p + 1 == s->n_panels) { /* factors of at most 2^32 each */
                for (int k = 0; k < SKLB_BITS_UNITS; k++) {
                    product *= factors[k];
                    log_sum += positive[k];
                    factors[k] = 1.0;
                    positive[k] = 0.0;
                }
                log_sum += log(product);
                product = 1.0;
            }
        }
        value += weights[i] * log_sum;
    }
    return value;
}

#undef LANES
#undef INTS
#undef AT
#undef INTO
#undef NAME
#undef TARGET
#undef WIDTH
