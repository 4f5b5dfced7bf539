/* Counts between rows, the maps from count to value, and packing: by definition. */
#include "check.h"

#include "../../sklboolean/_core/one_hot_levels.h"
#include "../../sklboolean/_core/pack.h"
#include "../../sklboolean/_core/slices.h"
#include "../../sklboolean/_core/tiles.h"

static int64_t count_bits(const uint64_t *row, const uint64_t *panel, int64_t n_words, int j,
                          int use_xor) {
    int64_t count = 0;
    for (int64_t k = 0; k < 64 * n_words; k++) {
        int a = bit(row, k), b = (int)(panel[k / 64 * SKLB_TILE_PANEL + j] >> (k % 64) & 1);
        count += use_xor ? a != b : a && b;
    }
    return count;
}

static void check_counts(int path, int n_samples, int64_t n_words, int64_t n_panels, int use_xor,
                         int full) {
    int64_t stride = n_panels * SKLB_TILE_PANEL, size = n_words * stride;
    uint64_t *rows = room(n_samples * n_words * 8), *panels = room(size * 8);
    int32_t *counts = room(n_samples * stride * 4);
    fill_words(rows, n_samples * n_words);
    fill_words(panels, size);
    if (full) { /* the largest counts there are */
        memset(rows, 255, n_samples * n_words * 8);
        memset(panels, use_xor ? 0 : 255, size * 8);
    }
    sklb_count_strip(rows, n_samples, n_words, panels, n_panels, use_xor, counts,
                                        stride);
    for (int r = 0; r < n_samples; r++)
        for (int64_t j = 0; j < stride; j++) {
            const uint64_t *panel = panels + j / SKLB_TILE_PANEL * n_words * SKLB_TILE_PANEL;
            int64_t count = full ? 64 * n_words
                                 : count_bits(rows + r * n_words, panel, n_words,
                                              (int)(j % SKLB_TILE_PANEL), use_xor);
            CHECK(counts[r * stride + j] == count);
        }
    free(rows), free(panels), free(counts);
}

/* Rows of few ones, of many, and of all. */
static void check_slices(int path, int64_t n_words, int64_t n_panels) {
    int64_t size = n_words * SKLB_TILE_PANEL;
    uint64_t *row = room(n_words * 8), *panels = room(n_panels * size * 8);
    uint64_t *slices = room((64 * n_words + 1) * SKLB_SLICE_WORDS * 8);
    uint32_t *features = room((64 * n_words + SKLB_ADDED) * 4);
    int32_t counts[SKLB_SLICE_COLUMNS];
    fill_words(panels, n_panels * size);
    /* a column of the largest counts */
    for (int64_t w = 0; w < n_words; w++) panels[w * SKLB_TILE_PANEL] = ~(uint64_t)0;
    sklb_fill_slices(panels, n_panels, n_words, slices);
    for (int rarity = 0; rarity < 6; rarity++) {
        for (int64_t w = 0; w < n_words; w++) {
            row[w] = rarity == 5 ? 0 : ~(uint64_t)0;
            for (int k = 0; k < rarity; k++) row[w] &= random_word();
        }
        int64_t n = sklb_list_features(row, n_words, features);
        CHECK(n % SKLB_ADDED == 0 && n <= 64 * n_words);
        sklb_count_slices(slices, features, n, counts);
        for (int64_t j = 0; j < n_panels * SKLB_TILE_PANEL; j++)
            CHECK(counts[j] == count_bits(row, panels + j / SKLB_TILE_PANEL * size, n_words,
                                          (int)(j % SKLB_TILE_PANEL), 0));
        for (int64_t j = n_panels * SKLB_TILE_PANEL; j < SKLB_SLICE_COLUMNS; j++)
            CHECK(counts[j] == 0);
    }
    free(row), free(panels), free(slices), free(features);
}

static void check_maps(int path, int form, int64_t n, int n_samples) {
    double table[100], coefficients[SKLB_TILE_ROWS], *out = room(n * 8), *sums = room(n * 8);
    int32_t *counts = room(n_samples * n * 4);
    for (int k = 0; k < 100; k++) table[k] = (double)(random_word() % 1000) - 500;
    for (int r = 0; r < n_samples; r++) coefficients[r] = (double)(random_word() % 99) - 49;
    for (int64_t j = 0; j < n_samples * n; j++) counts[j] = (int32_t)(random_word() % 30);
    sklb_formula g = {form, 40, -1, table};
    for (int64_t j = 0; j < n; j++) sums[j] = (double)j;
    float *rounded = room(n * 4);
    sklb_map_counts(&g, counts, n, out);
    sklb_map_counts_float(&g, counts, n, rounded);
    sklb_add_counts(&g, counts, n, n_samples, coefficients, n, sums);
    for (int64_t j = 0; j < n; j++) {
        double sum = (double)j, value = 0; /* integers below 2^53: exact in any order */
        for (int r = n_samples - 1; r >= 0; r--) {
            int32_t s = 40 - counts[r * n + j];
            value = form == SKLB_TABLE   ? table[s]
                    : form == SKLB_POWER ? ldexp(1.0, s) + table[0]
                                         : table[0] + table[1] * s + table[2] * s * s +
                                               table[3] * s * s * s;
            sum += coefficients[r] * value;
        }
        CHECK(out[j] == value);
        CHECK(rounded[j] == (float)value);
        CHECK(sums[j] == sum);
    }
    free(out), free(sums), free(counts), free(rounded);
}

static void check_column(int path, int64_t n_samples, int64_t n_words, int use_xor,
                         int64_t n_scores) {
    const int64_t size = n_words * SKLB_TILE_PANEL, most = 64 * n_words;
    const int column = (int)(n_samples % SKLB_TILE_PANEL);
    uint64_t *rows = room(n_samples * n_words * 8), *panel = room(size * 8);
    double *coefficients = room(n_scores * n_samples * 8), *sums = room(n_scores * 3 * 8);
    double *table = room((most + 1) * 8);
    fill_words(rows, n_samples * n_words);
    fill_words(panel, size);
    for (int64_t k = 0; k <= most; k++) table[k] = (double)(random_word() % 1000) - 500;
    for (int64_t k = 0; k < n_scores * n_samples; k++)
        coefficients[k] = (double)(random_word() % 99) - 49;
    for (int64_t k = 0; k < 3 * n_scores; k++) sums[k] = (double)k;
    sklb_formula g = {SKLB_TABLE, use_xor ? (int32_t)most : 0, use_xor ? -1 : 1, table};
    sklb_sum_column(&g, use_xor, rows, n_samples, n_words, panel + column, coefficients,
                    n_scores, sums, 3);
    for (int64_t k = 0; k < 3 * n_scores; k++) {
        double sum = (double)k; /* integers below 2^53: exact in any order */
        for (int64_t r = 0; r < n_samples && k % 3 == 0; r++) {
            int64_t count = count_bits(rows + r * n_words, panel, n_words, column, use_xor);
            sum += coefficients[k / 3 * n_samples + r] * table[use_xor ? most - count : count];
        }
        CHECK(sums[k] == sum);
    }
    free(rows), free(panel), free(coefficients), free(sums), free(table);
}

static void check_levels(int path, int64_t n_samples, int64_t n_groups, int64_t n_panels) {
    const int64_t n = n_panels * SKLB_LEVEL_PANEL, size = n * n_groups;
    uint8_t *rows = room(n_samples * n_groups), *panels = room(size);
    double *coefficients = room(n_samples * 8), *sums = room(n * 8);
    uint16_t values[SKLB_LEVEL_COUNTS];
    for (int k = 0; k < SKLB_LEVEL_COUNTS; k++) values[k] = (uint16_t)random_word();
    for (int64_t k = 0; k < n_samples * n_groups; k++) rows[k] = (uint8_t)(random_word() % 3);
    for (int64_t k = 0; k < size; k++) {
        const uint8_t level = (uint8_t)(random_word() % 3);
        panels[k] = level ? level : 255;
    }
    for (int64_t r = 0; r < n_samples; r++) coefficients[r] = (double)(random_word() % 99) - 49;
    for (int64_t j = 0; j < n; j++) sums[j] = (double)j;
    const int done = sklb_sum_levels(values, rows, n_samples, n_groups, panels, n_panels,
                                     coefficients, sums);
    for (int64_t j = 0; j < n; j++) {
        double sum = (double)j; /* integers below 2^53: exact in any order */
        for (int64_t r = 0; r < n_samples && done; r++) {
            int count = 0;
            for (int64_t g = 0; g < n_groups; g++)
                count += rows[r * n_groups + g] ==
                         panels[(j / SKLB_LEVEL_PANEL * n_groups + g) * SKLB_LEVEL_PANEL +
                                j % SKLB_LEVEL_PANEL];
            sum += coefficients[r] * values[count];
        }
        CHECK(sums[j] == sum);
    }
    free(rows), free(panels), free(coefficients), free(sums);
}

static void check_packing(int path, int64_t n) {
    static const double values[] = {0, 1, -1, 0.5, 2, NAN, INFINITY, -INFINITY};
    for (int strange = 0; strange < 2; strange++)
        for (double threshold = 0; threshold < 1; threshold += 0.75) {
            double *x = room(n * 8);
            uint64_t *words = room((n + 63) / 64 * 8);
            for (int64_t j = 0; j < n; j++) x[j] = (double)(random_word() % 2);
            if (strange) x[random_word() % n] = values[2 + random_word() % 6];
            CHECK(sklb_pack_row(x, n, threshold, words) == strange);
            for (int64_t j = 0; j < n; j++) CHECK(bit(words, j) == (x[j] > threshold));
            free(x), free(words);
        }
}

int main(void) {
    for (int path = 0; path <= sklb_highest_level(); path++) {
        sklb_cpu_level = &path;
        for (int use_xor = 0; use_xor < 2; use_xor++) {
            for (int n_samples = 1; n_samples <= SKLB_TILE_ROWS; n_samples++)
                for (int64_t n_words = 1; n_words < 70; n_words += 1 + n_words / 4)
                    check_counts(path, n_samples, n_words, 1 + n_words % 3, use_xor, 0);
            /* where accumulators of bytes and of 16 bits must be emptied */
            for (int64_t n_words = 31; n_words < 9000; n_words *= 2)
                for (int more = 0; more < 3; more++)
                    check_counts(path, 3, n_words - 1 + more, 1, use_xor, 1);
            check_counts(path, 3, 4095, 1, use_xor, 1);
            check_counts(path, 3, 4096, 1, use_xor, 1);
        }
        for (int64_t n_panels = 1; n_panels <= SKLB_SLICE_PANELS; n_panels++)
            for (int64_t n_words = 1; n_words < 40; n_words += 1 + n_words / 2)
                check_slices(path, n_words, n_panels);
        check_slices(path, (1 << SKLB_DIGITS) / 64 - 1, 1);
        for (int64_t n_samples = 1; n_samples < 200; n_samples += 1 + n_samples / 3)
            for (int64_t n_words = 1; n_words < 6; n_words++)
                for (int use_xor = 0; use_xor < 2; use_xor++)
                    check_column(path, n_samples, n_words, use_xor, 1 + n_samples % 3);
        for (int64_t n_samples = 1; n_samples < 100; n_samples += 1 + n_samples / 3)
            for (int64_t n_groups = 1; n_groups < SKLB_LEVEL_COUNTS; n_groups += 5)
                check_levels(path, n_samples, n_groups, 1 + n_samples % 9);
        for (int form = 0; form < 3; form++)
            for (int n_samples = 1; n_samples <= SKLB_TILE_ROWS; n_samples++)
                for (int64_t n = 1; n < 70; n++) check_maps(path, form, n, n_samples);
        for (int64_t n = 1; n < 200; n++) check_packing(path, n);
    }
    printf("kernels: %d paths\n", sklb_highest_level() + 1);
    return 0;
}
