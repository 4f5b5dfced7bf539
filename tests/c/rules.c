/* Sums over covers and supports of conjunctions: by definition. */
#include "check.h"

#include "../../sklboolean/_core/best_found.h"
#include "../../sklboolean/_core/conjunction_table.h"
#include "../../sklboolean/_core/cover_sums.h"
#include "../../sklboolean/preprocessing/levels.h"

static void check_cover_sum(int path, int64_t first, int64_t n_words, int n_digits, int full) {
    int64_t whole = first + n_words + 1, n = 64 * n_words, total = 0;
    uint64_t *a = room(whole * 8), *b = room(whole * 8), *digits = room(n_digits * n_words * 8);
    int64_t *magnitudes = room(n * 8), *tables = room(full ? 0 : 8 * n_words * 256 * 8);
    fill_words(a, whole);
    fill_words(b, whole);
    fill_words(digits, n_digits * n_words);
    if (full) {
        memset(a, 255, whole * 8), memset(b, 255, whole * 8);
        memset(digits, 255, n_digits * n_words * 8);
    }
    for (int64_t i = 0; i < n; i++) {
        magnitudes[i] = 0;
        for (int d = 0; d < n_digits; d++)
            magnitudes[i] += (int64_t)bit(digits + d * n_words, i) << d;
        if (bit(a + first, i) && bit(b + first, i)) total += magnitudes[i];
    }
    sklb_side side = {first, n_words, n_digits, digits, NULL};
    CHECK(sklb_cover_sum(&side, a, b) == total);
    if (!full) {
        sklb_fill_tables(magnitudes, 8 * n_words, tables);
        side.tables = tables;
        CHECK(sklb_cover_sum(&side, a, b) == total);
    }
    free(a), free(b), free(digits), free(magnitudes), free(tables);
}

static void check_level(int path, int64_t length) {
    enum { N_LITERALS = 20, N_PARENTS = 30, N_CHILDREN = 5 };
    uint64_t *block = room(N_LITERALS * SKLB_BLOCK_WORDS * 8);
    int32_t *parents = room(N_PARENTS * length * 4), *children = room(N_PARENTS * N_CHILDREN * 4);
    int64_t starts[N_PARENTS + 1], supports[N_PARENTS * N_CHILDREN];
    int64_t cursors[64 * SKLB_BLOCK_WORDS];
    fill_words(block, N_LITERALS * SKLB_BLOCK_WORDS);
    for (int64_t i = 0; i < N_PARENTS * length; i++)
        parents[i] = (int32_t)(random_word() % N_LITERALS);
    for (int64_t p = 0; p <= N_PARENTS; p++) starts[p] = p * N_CHILDREN;
    for (int64_t c = 0; c < N_PARENTS * N_CHILDREN; c++) {
        children[c] = (int32_t)(random_word() % N_LITERALS);
        supports[c] = c;
    }
    memset(cursors, 0, sizeof(cursors));
    sklb_children level = {N_PARENTS, length, parents, starts, children};
    sklb_count_level(&level, block, supports);
    sklb_visit_level(&level, block, 0, cursors, NULL, 0);
    for (int64_t c = 0; c < N_PARENTS * N_CHILDREN; c++) {
        int64_t support = c;
        for (int row = 0; row < 64 * SKLB_BLOCK_WORDS; row++) {
            int holds = bit(block + children[c] * SKLB_BLOCK_WORDS, row);
            for (int64_t k = 0; k < length; k++) {
                int32_t literal = parents[c / N_CHILDREN * length + k];
                holds &= bit(block + literal * SKLB_BLOCK_WORDS, row);
            }
            support += holds;
            cursors[row] -= holds;
        }
        CHECK(supports[c] == support);
    }
    for (int row = 0; row < 64 * SKLB_BLOCK_WORDS; row++) CHECK(cursors[row] == 0);
    free(block), free(parents), free(children);
}

static void check_best(void) {
    int path = 0;
    sklb_best best;
    CHECK(sklb_best_open(&best, 5, 3));
    for (int k = 0; k < 50; k++) {
        int32_t literals[3] = {k, k + 1, k + 2};
        double score = k * 7 % 50;
        sklb_found entry = {score, -score, 1 + k % 3, {(uint64_t)k, 1}, literals};
        const sklb_found *worst = sklb_worst(&best);
        if (!worst || sklb_comes_before(&entry, worst)) sklb_take_in(&best, &entry);
    }
    CHECK(best.size == 5);
    for (int k = 0; k < 5; k++) {
        CHECK(best.list[k].score == 49 - k);
        CHECK(best.list[k].sum == k - 49);
    }
    sklb_best_close(&best);
}

/* Adds the sums of all triples, 64 rows at a time. */
static void count_triples(const sklb_table_rows *table, const double *values, double *sums) {
    enum { MOST_PLACES = 20, MOST_WORDS = 8 };
    uint64_t columns[MOST_PLACES * MOST_WORDS], covers[4 * MOST_WORDS];
    int64_t n_words = (table->n_samples + 63) / 64;
    for (double value = -3; value <= 3; value++) {
        sklb_count_pass counts = {table, columns, n_words, value, covers};
        memset(columns, 0, sizeof columns);
        memset(covers, 255, sizeof covers);
        for (int64_t i = 0; i < table->n_samples; i++)
            for (int64_t k = table->starts[i]; k < table->starts[i + 1]; k++)
                if (values[i] == value)
                    columns[table->places[k] * n_words + i / 64] |= (uint64_t)1 << i % 64;
        sklb_count_below(&counts, 3, table->n_places, covers, sums);
    }
}

/* Adds the sums of all triples, by largest places: of a value, or of it and twice as much. */
static void scatter_by_place(const sklb_table_rows *table, int64_t first, int64_t end,
                             const double *values, int width, double *sums) {
    enum { MOST_PLACES = 14, MOST_SAMPLES = 200, PAIRS = MOST_PLACES * (MOST_PLACES - 1) / 2 };
    static double side_by_side[SKLB_ABREAST * MOST_SAMPLES], room[SKLB_ABREAST * PAIRS];
    sklb_cover_row sorted[MOST_PLACES * MOST_SAMPLES];
    int64_t ends[MOST_PLACES];
    for (int64_t i = 0; i < table->n_samples; i++)
        for (int k = 0; k < width; k++) side_by_side[i * width + k] = (k + 1) * values[i];
    sklb_sort_places(table, first, end, side_by_side, width, sorted, ends);
    for (int64_t place = 0; place < table->n_places; place++) {
        int64_t begin = place ? ends[place - 1] : 0;
        sklb_abreast abreast = {table, 3, width, place, sorted + begin, ends[place] - begin,
                                side_by_side, room};
        sklb_scatter_place(&abreast, width == 1 ? 1 : 2, sums, table->choose[3][table->n_places]);
    }
}

/* The sums of all triples of 14 places, from each sample, from blocks of places, and
 * counted. */
static void check_table(int path) {
    enum { N = 200, M = 14, TRIPLES = M * (M - 1) * (M - 2) / 6 };
    uint64_t rows[N];
    int64_t starts[N + 1] = {0}, choose[SKLB_LONGEST_IN_TABLE + 1][M + 1];
    uint16_t places[64 * N];
    double values[N], scattered[TRIPLES] = {0}, in_blocks[TRIPLES] = {0};
    double counted[TRIPLES] = {0}, abreast[2 * TRIPLES] = {0};
    fill_words(rows, N);
    for (int u = 0; u <= M; u++)
        for (int k = 0; k <= SKLB_LONGEST_IN_TABLE; k++)
            choose[k][u] = k == 0 ? 1 : u == 0 ? 0 : choose[k][u - 1] + choose[k - 1][u - 1];
    for (int i = 0; i < N; i++) {
        rows[i] &= (1 << M) - 1;
        values[i] = i % 7 - 3;
        starts[i + 1] = starts[i] + sklb_list_places(rows + i, 1, places + starts[i]);
    }
    sklb_table_rows table = {M, N, {0}, starts, places};
    for (int k = 0; k <= SKLB_LONGEST_IN_TABLE; k++) table.choose[k] = choose[k];
    sklb_scatter(&table, 3, 0, N / 3, values, scattered);
    scatter_by_place(&table, N / 3, N, values, 1, scattered);
    scatter_by_place(&table, 0, N, values, SKLB_ABREAST, abreast);
    sklb_block_pass blocks;
    memset(&blocks, 0, sizeof blocks);
    blocks.rows = &table, blocks.length = 3, blocks.values = values, blocks.sums = in_blocks;
    CHECK(sklb_blocks_open(&blocks));
    for (int64_t block = blocks.n_blocks; block--;) sklb_pass_blocks(&blocks, 0, block, block);
    sklb_blocks_close(&blocks);
    count_triples(&table, values, counted);
    for (int c = 2, rank = 0; c < M; c++)
        for (int b = 1; b < c; b++)
            for (int a = 0; a < b; a++, rank++) {
                uint64_t mask = 1u << a | 1u << b | 1u << c;
                double sum = 0;
                for (int i = 0; i < N; i++) sum += (rows[i] & mask) == mask ? values[i] : 0;
                CHECK(scattered[rank] == sum && in_blocks[rank] == sum);
                CHECK(counted[rank] == sum);
                CHECK(abreast[rank] == sum && abreast[TRIPLES + rank] == 2 * sum);
            }
}

int main(void) {
    check_best();
    for (int path = 0; path <= sklb_highest_level(); path++) {
        sklb_cpu_level = &path;
        check_table(path);
        for (int n_digits = 1; n_digits < 20; n_digits += 6)
            for (int64_t n_words = 1; n_words < 40; n_words++)
                check_cover_sum(path, n_words % 3, n_words, n_digits, 0);
        check_cover_sum(path, 0, 8190, 2, 1);
        check_cover_sum(path, 0, 8193, 2, 1);
        for (int repeat = 0; repeat < 10; repeat++)
            for (int64_t length = 0; length < 5; length++) check_level(path, length);
    }
    printf("rules: %d paths\n", sklb_highest_level() + 1);
    return 0;
}
