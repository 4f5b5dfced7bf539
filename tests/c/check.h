/* What the self-tests of the compiled headers share: random numbers and a verdict. */
#ifndef SKLB_CHECK_H
#define SKLB_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            printf("%s:%d: path %d: %s\n", __FILE__, __LINE__, path, #condition);          \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

static uint64_t state = 1;

static uint64_t random_word(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_real(void) { return (double)(random_word() >> 11) * 0x1p-53; }

/* Words of few bits, of many, of none and of all. */
static void fill_words(uint64_t *words, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        switch (random_word() % 8) {
            case 0: words[i] = 0; break;
            case 1: words[i] = UINT64_MAX; break;
            case 2: words[i] = random_word() & random_word() & random_word(); break;
            default: words[i] = random_word();
        }
}

static int bit(const uint64_t *words, int64_t j) { return (int)(words[j / 64] >> (j % 64) & 1); }

/* Exactly as much as asked for, so that a step beyond is seen by a sanitizer. */
static void *room(int64_t n_bytes) {
    void *start = malloc((size_t)(n_bytes ? n_bytes : 1));
    if (!start) exit(2);
    return start;
}

static int is_near(double a, double b, double size) {
    return isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-12 * fabs(size);
}

#endif
