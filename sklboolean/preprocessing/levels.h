/* Conjunctions over blocks of 512 rows: one AND for a literal, one popcount for a support.
 *
 * A block holds for each literal 8 words, one bit for a row. The conjunctions of a level
 * come by their parents: all literals but the last make a parent, whose cover is found
 * once for all its children. */
#ifndef SKLB_LEVELS_H
#define SKLB_LEVELS_H

#include <stdint.h>
#include <string.h>

#include "../_core/dispatch.h"
#include "../_core/words.h"

#define SKLB_BLOCK_WORDS 8

typedef struct {
    int64_t n_parents, length;
    const int32_t *parents;     /* of shape (n_parents, length) */
    const int64_t *child_start; /* of shape (n_parents + 1,) */
    const int32_t *children;    /* last literals */
} sklb_children;

/* Returns whether a row of the block has all literals of the parent. */
SKLB_INLINE int sklb_cover(const sklb_children *level, int64_t parent, const uint64_t *block,
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

/* The rows of a block that a cover and a literal share. */
#define SKLB_DEFINE_SUPPORT(SUFFIX, TARGET, POPCOUNT)                                          \
    SKLB_INLINE TARGET int64_t sklb_support_##SUFFIX(const uint64_t *cover,                    \
                                                     const uint64_t *literal) {                \
        int64_t support = 0;                                                                   \
        for (int w = 0; w < SKLB_BLOCK_WORDS; w++)                                             \
            support += (int64_t)POPCOUNT(cover[w] & literal[w]);                               \
        return support;                                                                        \
    }

#define SKLB_DEFINE_COUNT_LEVEL(SUFFIX, TARGET)                                                \
    TARGET static void sklb_count_level_##SUFFIX(                                              \
        const sklb_children *level, const uint64_t *block, int64_t *supports) {                   \
        uint64_t cover[SKLB_BLOCK_WORDS];                                                      \
        for (int64_t p = 0; p < level->n_parents; p++) {                                       \
            if (!sklb_cover(level, p, block, cover)) continue;                                 \
            for (int64_t c = level->child_start[p]; c < level->child_start[p + 1]; c++) {      \
                const uint64_t *literal =                                                      \
                    block + (int64_t)level->children[c] * SKLB_BLOCK_WORDS;                    \
                supports[c] += sklb_support_##SUFFIX(cover, literal);                          \
            }                                                                                  \
        }                                                                                      \
    }

SKLB_DEFINE_SUPPORT(plain, SKLB_NO_TARGET, sklb_popcount_plain)
SKLB_DEFINE_COUNT_LEVEL(plain, SKLB_NO_TARGET)

#if SKLB_X86
SKLB_DEFINE_SUPPORT(avx2, SKLB_TARGET_AVX2, __builtin_popcountll)
SKLB_DEFINE_COUNT_LEVEL(avx2, SKLB_TARGET_AVX2)

SKLB_INLINE SKLB_TARGET_AVX512 int64_t sklb_support_avx512(const uint64_t *cover,
                                                           const uint64_t *literal) {
    __m512i shared = _mm512_and_si512(_mm512_loadu_si512(cover), _mm512_loadu_si512(literal));
    return _mm512_reduce_add_epi64(_mm512_popcnt_epi64(shared));
}
SKLB_DEFINE_COUNT_LEVEL(avx512, SKLB_TARGET_AVX512)

#endif

/* supports[child] += rows of the block in which the child holds. */
static void sklb_count_level(const sklb_children *level, const uint64_t *block,
                             int64_t *supports) {
    SKLB_CALL(sklb_count_level, level, block, supports);
}

/* For each row of the block in which a child holds: with `out`, write the child's column
 * at the row's cursor. The cursor goes on by one either way. */
static void sklb_visit_level(const sklb_children *level, const uint64_t *block,
                             int64_t first_column, int64_t *cursors, int32_t *out,
                             int64_t n_out) {
    uint64_t cover[SKLB_BLOCK_WORDS];
    for (int64_t p = 0; p < level->n_parents; p++) {
        if (!sklb_cover(level, p, block, cover)) continue;
        for (int64_t c = level->child_start[p]; c < level->child_start[p + 1]; c++) {
            const uint64_t *literal = block + (int64_t)level->children[c] * SKLB_BLOCK_WORDS;
            for (int w = 0; w < SKLB_BLOCK_WORDS; w++)
                for (uint64_t rows = cover[w] & literal[w]; rows; rows &= rows - 1) {
                    int64_t *cursor = cursors + 64 * w + sklb_lowest_bit(rows);
                    if (out && (uint64_t)*cursor < (uint64_t)n_out)
                        out[*cursor] = (int32_t)(first_column + c);
                    ++*cursor;
                }
        }
    }
}

#endif
