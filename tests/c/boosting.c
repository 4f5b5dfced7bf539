/* Sums of weights by column: by definition. */
#include "check.h"

#include "../../sklboolean/boosting/masked_sums.h"

static void check_sums(int path, int64_t n_words, int64_t n_panels, int64_t extra, int full) {
    int64_t stride = n_words + extra, size = n_panels * stride * SKLB_MASKED_LANES;
    int16_t *weights = room(n_words * 32 * 2);
    uint32_t *panels = room(size * 4);
    int64_t *sums = room(n_panels * SKLB_MASKED_LANES * 8);
    for (int64_t i = 0; i < 32 * n_words; i++)
        weights[i] = full ? 32767 : (int16_t)(random_word() % 65535 - 32767);
    for (int64_t i = 0; i < size; i++) panels[i] = full ? UINT32_MAX : (uint32_t)random_word();
    for (int64_t c = 0; c < n_panels * SKLB_MASKED_LANES; c++) sums[c] = c;
    sklb_masked_sums(weights, n_words, panels, stride, n_panels, sums);
    for (int64_t c = 0; c < n_panels * SKLB_MASKED_LANES; c++) {
        int64_t sum = c;
        const uint32_t *column = panels + c / SKLB_MASKED_LANES * stride * SKLB_MASKED_LANES + c % SKLB_MASKED_LANES;
        for (int64_t i = 0; i < 32 * n_words; i++)
            if (column[i / 32 * SKLB_MASKED_LANES] >> (i % 32) & 1) sum += weights[i];
        CHECK(sums[c] == sum);
    }
    free(weights), free(panels), free(sums);
}

static void check_transpose(void) {
    int path = 0;
    uint32_t square[32], turned[32];
    for (int r = 0; r < 32; r++) square[r] = turned[r] = (uint32_t)random_word();
    sklb_transpose_32(turned);
    for (int r = 0; r < 32; r++)
        for (int c = 0; c < 32; c++) CHECK((turned[c] >> r & 1) == (square[r] >> c & 1));
}

static void check_choice(void) {
    int path = 0;
    int16_t out[32], no = (int16_t)random_word(), yes = (int16_t)random_word();
    uint32_t word = (uint32_t)random_word();
    sklb_choose_32(word, no, yes, out);
    for (int r = 0; r < 32; r++) CHECK(out[r] == (word >> r & 1 ? yes : no));
}

int main(void) {
    for (int repeat = 0; repeat < 100; repeat++) check_transpose(), check_choice();
    for (int path = 0; path <= sklb_highest_level(); path++) {
        sklb_cpu_level = &path;
        for (int64_t n_words = 0; n_words < 70; n_words++)
            check_sums(path, n_words, 1 + n_words % 3, n_words % 2, 0);
        check_sums(path, 65, 2, 0, 1);
    }
    printf("boosting: %d paths\n", sklb_highest_level() + 1);
    return 0;
}
