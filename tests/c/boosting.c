/* Sums of weights by column, pieces that a team does, and walks through trees: by definition. */
#include "check.h"

#include "../../sklboolean/boosting/masked_sums.h"
#include "../../sklboolean/boosting/tree_sums.h"

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

static void count_piece(void *work, int64_t piece, int64_t thread) {
    int64_t *counts = work;
    counts[piece] += 1 + thread;
}

static void check_team(void) {
    int path = 0;
    sklb_team team = {0};
    int64_t counts[9] = {0};
    for (int64_t n_pieces = 0; n_pieces < 10; n_pieces++)
        sklb_run_pieces(&team, count_piece, counts, n_pieces);
    /* Without helpers thread 0 does each piece once. */
    for (int64_t piece = 0; piece < 9; piece++) CHECK(counts[piece] == 9 - piece);
    sklb_end(&team);
    sklb_help(&team, 1);
    CHECK(team.n_done == 9);
}

/* A tree over three bits: feature 0, and where it is true feature 2. */
static void check_walk(void) {
    int path = 0;
    const int32_t features[] = {0, -1, 2, -1, -1}, root = 0;
    const int32_t children[] = {1, 2, 0, 0, 3, 4, 0, 0, 0, 0};
    const double values[] = {0, 1, 0, 10, 100}, expected[] = {1, 10, 1, 10, 1, 100, 1, 100};
    const sklb_trees tree = {features, children, &root, values, 1};
    uint64_t words[27];
    double scores[27] = {0};
    for (int64_t i = 0; i < 27; i++) words[i] = (uint64_t)i % 8;
    sklb_walk(&tree, words, 1, 27, scores, 1);
    for (int64_t i = 0; i < 27; i++) CHECK(scores[i] == expected[i % 8]);
}

int main(void) {
    check_team(), check_walk();
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
