/* Popcounts of AND or XOR between packed rows on 64-bit ARM; part of tiles.h. */
#ifndef SKLB_TILES_NEON_H
#define SKLB_TILES_NEON_H

/* Two rows against eight columns. 16-bit lanes hold the counts of at most 4095 words
 * (4095 * 16 < 2^16), then the four of a column are summed. */
SKLB_INLINE void sklb_tile_neon(const int R, const uint64_t *rows, int64_t n_words,
                                const uint64_t *panel, const int use_xor, int32_t *counts,
                                int64_t stride) {
    for (int column = 0; column < SKLB_TILE_PANEL; column += 8) {
        uint64x2_t total[2][4];
        for (int r = 0; r < R; r++)
            for (int v = 0; v < 4; v++) total[r][v] = vdupq_n_u64(0);
        for (int64_t first = 0; first < n_words; first += 4095) {
            int64_t last = first + 4095 < n_words ? first + 4095 : n_words;
            uint16x8_t part[2][4];
            for (int r = 0; r < R; r++)
                for (int v = 0; v < 4; v++) part[r][v] = vdupq_n_u16(0);
            for (int64_t w = first; w < last; w++) {
                const uint64_t *b = panel + w * SKLB_TILE_PANEL + column;
                for (int v = 0; v < 4; v++) {
                    uint64x2_t word_b = vld1q_u64(b + 2 * v);
                    for (int r = 0; r < R; r++) {
                        uint64x2_t word_a = vdupq_n_u64(rows[r * n_words + w]);
                        uint64x2_t x = use_xor ? veorq_u64(word_a, word_b)
                                               : vandq_u64(word_a, word_b);
                        part[r][v] =
                            vpadalq_u8(part[r][v], vcntq_u8(vreinterpretq_u8_u64(x)));
                    }
                }
            }
            for (int r = 0; r < R; r++)
                for (int v = 0; v < 4; v++)
                    total[r][v] = vpadalq_u32(total[r][v], vpaddlq_u16(part[r][v]));
        }
        for (int r = 0; r < R; r++)
            for (int v = 0; v < 4; v++)
                vst1_s32(counts + r * stride + column + 2 * v,
                         vmovn_s64(vreinterpretq_s64_u64(total[r][v])));
    }
}

static void sklb_strip_neon(const uint64_t *rows, int n_samples, int64_t n_words,
                            const uint64_t *panels, int64_t n_panels, int use_xor,
                            int32_t *counts, int64_t stride) {
#define SKLB_TILE(R)                                                                        \
    if (use_xor) sklb_tile_neon(R, rows + r * n_words, n_words, panel, 1, out + r * stride, stride); \
    else sklb_tile_neon(R, rows + r * n_words, n_words, panel, 0, out + r * stride, stride);
    for (int64_t p = 0; p < n_panels; p++) {
        const uint64_t *panel = panels + p * n_words * SKLB_TILE_PANEL;
        int32_t *out = counts + p * SKLB_TILE_PANEL;
        int r = 0;
        for (; r + 2 <= n_samples; r += 2) {
            SKLB_TILE(2)
        }
        if (r < n_samples) {
            SKLB_TILE(1)
        }
    }
#undef SKLB_TILE
}

#endif
