/* One word of bits, with any compiler. */
#ifndef SKLB_WORDS_H
#define SKLB_WORDS_H

#include <stdint.h>

#include "dispatch.h"

static inline int sklb_popcount_plain(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((x * 0x0101010101010101u) >> 56);
}

/* The place of the lowest bit set, of a word that is not 0. */
static inline int sklb_lowest_bit(uint64_t x) {
#if SKLB_GNU
    return __builtin_ctzll(x);
#else
    return sklb_popcount_plain((x & (0 - x)) - 1);
#endif
}

#endif
