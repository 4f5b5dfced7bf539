/* Conjunctions over blocks of 512 rows: one AND for a literal, one popcount for a support.
 *
 * A block holds for each literal 8 words, one bit for a row. The conjunctions of a level
 * come by their parents: all literals but the last make a parent, whose cover is found
 * once for all its children. */
#ifndef SKLB_LEVELS_H
#define SKLB_LEVELS_H

#include <stdint.h>
#include <string.h>

#include "../_core/cpu.h"

#define SKLB_BLOCK_WORDS 8

typedef struct {
    int64_t n_parents, length;
    const int32_t *parents;     /* of shape (n_parents, length) */
    const int64_t *child_start; /* of shape (n_parents + 1,) */
    const int32_t *children;    /* last literals */
} sklb_level;

/* Returns whether a row of the block has all literals of the parent. */
SKLB_INLINE int sklb_cover(const sklb_level *level, int64_t parent, const uint64_t *block,
                           uint64_t *cover) {
    uint64_t any = 0;
    memset(cover, 255, SKLB_BLOCK_WORDS * sizeof(uint64_t));
    for (int64_t i = 0; i < level->length; i++) {
        const uint64_t *literal =
            block + (int64_t)level->parents[parent * level->length + i] * SKLB_BLOCK_WORDS;
        for (int w = 0; w < SKLB_BLOCK_WORDS; w++) cover[w] &= literal[w];
    }
    for (int w = 0; w < SKLB_BLOCK_WORDS; w++) any |= cover[w];
    return any != 0;
}

/* supports[child] += rows of the block in which the child holds. */
typedef void (*sklb_count_level)(const sklb_level *level, const uint64_t *block,
                                 int64_t *supports);

#define SKLB_DEFINE_COUNT_LEVEL(NAME, TARGET)                                                  \
    TARGET static void NAME(const sklb_level *level, const uint64_t *block,                    \
                            int64_t *supports) {                                               \
        uint64_t cover[SKLB_BLOCK_WORDS];                                                      \
        for (int64_t p = 0; p < level->n_parents; p++) {                                       \
            if (!sklb_cover(level, p, block, cover)) continue;                                 \
            for (int64_t c = level->child_start[p]; c < level->child_start[p + 1]; c++) {      \
                const uint64_t *literal =                                                      \
                    block + (int64_t)level->children[c] * SKLB_BLOCK_WORDS;                    \
                int64_t support = 0;                                                           \
                for (int w = 0; w < SKLB_BLOCK_WORDS; w++)                                     \
                    support += __builtin_popcountll(cover[w] & literal[w]);                    \
                supports[c] += support;                                                        \
            }                                                                                  \
        }                                                                                      \
    }

SKLB_DEFINE_COUNT_LEVEL(sklb_count_level_plain, )
#if SKLB_X86
SKLB_DEFINE_COUNT_LEVEL(sklb_count_level_popcnt, __attribute__((target("popcnt"))))
SKLB_DEFINE_COUNT_LEVEL(
    sklb_count_level_avx512,
    __attribute__((target("popcnt,avx512f,avx512vl,avx512vpopcntdq,prefer-vector-width=512"))))
#endif

static sklb_count_level sklb_choose_count_level(int path) {
#if SKLB_X86
    if (path == SKLB_AVX512) return sklb_count_level_avx512;
    if (path >= SKLB_POPCNT) return sklb_count_level_popcnt;
#endif
    (void)path;
    return sklb_count_level_plain;
}

/* For each row of the block in which a child holds: with `out`, write the child's column
 * at the row's cursor. The cursor goes on by one either way. */
#define SKLB_DEFINE_VISIT_LEVEL(NAME, INDEX)                                                   \
    static void NAME(const sklb_level *level, const uint64_t *block, int64_t first_column,     \
                     int64_t *cursors, INDEX *out) {                                           \
        uint64_t cover[SKLB_BLOCK_WORDS];                                                      \
        for (int64_t p = 0; p < level->n_parents; p++) {                                       \
            if (!sklb_cover(level, p, block, cover)) continue;                                 \
            for (int64_t c = level->child_start[p]; c < level->child_start[p + 1]; c++) {      \
                const uint64_t *literal =                                                      \
                    block + (int64_t)level->children[c] * SKLB_BLOCK_WORDS;                    \
                for (int w = 0; w < SKLB_BLOCK_WORDS; w++)                                     \
                    for (uint64_t rows = cover[w] & literal[w]; rows; rows &= rows - 1) {      \
                        int64_t *cursor = cursors + 64 * w + __builtin_ctzll(rows);            \
                        if (out) out[*cursor] = (INDEX)(first_column + c);                     \
                        ++*cursor;                                                             \
                    }                                                                          \
            }                                                                                  \
        }                                                                                      \
    }

SKLB_DEFINE_VISIT_LEVEL(sklb_visit_level_short, int32_t)
SKLB_DEFINE_VISIT_LEVEL(sklb_visit_level_long, int64_t)

#endif
