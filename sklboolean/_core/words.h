/* Words of 64 bits. */
#ifndef SKLB_WORDS_H
#define SKLB_WORDS_H

#include <stdint.h>

#include "dispatch.h"

static inline int sklb_popcount_plain(uint64_t x) {
#if SKLB_GNU && defined(__aarch64__)
    return __builtin_popcountll(x); /* one vector instruction; a call on old x86 */
#endif
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((x * 0x0101010101010101u) >> 56);
}

/* What a loop of each level counts bits with. */
#define SKLB_POPCOUNT_plain sklb_popcount_plain
#define SKLB_POPCOUNT_avx2 __builtin_popcountll
#define SKLB_POPCOUNT_avx512 __builtin_popcountll

/* The position of the lowest bit set. `x` is not 0. */
static inline int sklb_lowest_bit(uint64_t x) {
#if SKLB_GNU
    return __builtin_ctzll(x);
#else
    return sklb_popcount_plain((x & (0 - x)) - 1);
#endif
}

/* ones[i] = number of bits set in row i; the most of any row */
#define SKLB_DEFINE_COUNT_ONES(SUFFIX, TARGET)                                              \
    TARGET static void sklb_count_ones_##SUFFIX(const uint64_t *words, int64_t n_samples,   \
                                                int64_t n_words, int32_t *ones) {           \
        for (int64_t i = 0; i < n_samples; i++, words += n_words) {                         \
            int32_t count = 0;                                                              \
            for (int64_t w = 0; w < n_words; w++)                                           \
                count += (int32_t)SKLB_POPCOUNT_##SUFFIX(words[w]);                         \
            ones[i] = count;                                                                \
        }                                                                                   \
    }                                                                                       \
    TARGET static int64_t sklb_most_ones_##SUFFIX(const uint64_t *words, int64_t n_samples, \
                                                  int64_t n_words) {                        \
        int64_t most = 0;                                                                   \
        for (int64_t i = 0; i < n_samples; i++, words += n_words) {                         \
            int64_t count = 0;                                                              \
            for (int64_t w = 0; w < n_words; w++)                                           \
                count += (int64_t)SKLB_POPCOUNT_##SUFFIX(words[w]);                         \
            most = count > most ? count : most;                                             \
        }                                                                                   \
        return most;                                                                        \
    }

SKLB_ON_EACH_LEVEL(SKLB_DEFINE_COUNT_ONES)

static void sklb_count_ones(const uint64_t *words, int64_t n_samples, int64_t n_words,
                            int32_t *ones) {
    SKLB_CALL(sklb_count_ones, words, n_samples, n_words, ones);
}

static int64_t sklb_most_ones(const uint64_t *words, int64_t n_samples, int64_t n_words) {
    return SKLB_CALL(sklb_most_ones, words, n_samples, n_words);
}

/* Whether a row has a bit set at n_bits or beyond. */
static int sklb_has_bits_beyond(const uint64_t *words, int64_t n_samples, int64_t n_words,
                                int64_t n_bits) {
    uint64_t beyond = 0;
    for (int64_t w = n_bits / 64; w < n_words; w++) {
        uint64_t mask = w == n_bits / 64 ? ~(uint64_t)0 << n_bits % 64 : ~(uint64_t)0;
        for (int64_t i = 0; i < n_samples; i++) beyond |= words[i * n_words + w] & mask;
    }
    return beyond != 0;
}

#endif
