/* Sums and means over pairs of states, and over samples of bits: by definition. */
#include "check.h"

#include "../../sklboolean/density/bit_sums.inc"
#include "../../sklboolean/density/states.h"

enum { N_LEFT = 5, N_RIGHT = 19, N_COLUMNS = 8, BLOCK = 16, PADDED = 32 };

static double left[N_LEFT][2 * N_COLUMNS], right[PADDED][2 * N_COLUMNS]; /* by state */
static double right_table[PADDED * 2 * N_COLUMNS];
static double left_mantissas[N_LEFT], right_mantissas[PADDED];
static int64_t left_exponents[N_LEFT], right_exponents[PADDED], limits[N_LEFT];
static int64_t parents[N_COLUMNS], fold[N_COLUMNS];
static double agree[N_COLUMNS], differ[N_COLUMNS], scratch[32 * N_COLUMNS + 8];
static double left_sums[N_LEFT], right_sums[PADDED], edges[N_COLUMNS];
static double left_means[N_LEFT][N_COLUMNS], right_means[PADDED * N_COLUMNS];

static int64_t width(int tree) { return tree ? 2 * N_COLUMNS : N_COLUMNS; }

/* Where the layouts of states.h keep column c of right state r. */
static int64_t place(int64_t r, int64_t c, int64_t n, int tree) {
    if (tree) return r / 8 * 8 * n + c * 8 + r % 8;
    return r / BLOCK * BLOCK * n + c / 4 * BLOCK * 4 + r % BLOCK / 8 * 32 + c % 4 * 8 + r % 8;
}

static void draw(int tree) {
    for (int64_t l = 0; l < N_LEFT; l++) {
        left_mantissas[l] = 1 + random_real();
        left_exponents[l] = (int64_t)(random_word() % 21) - 10 + (tree ? 0 : 200 * N_COLUMNS);
        limits[l] = l ? 1 + (int64_t)(random_word() % N_RIGHT) : N_RIGHT;
        for (int64_t c = 0; c < width(tree); c++)
            left[l][c] = (0.1 + random_real()) * (tree ? 1 : SKLB_STATE_UNIT);
    }
    for (int64_t r = 0; r < PADDED; r++) {
        right_mantissas[r] = 1 + random_real();
        right_exponents[r] = (int64_t)(random_word() % 21) - 10;
        for (int64_t c = 0; c < width(tree); c++) {
            right[r][c] = 0.1 + random_real();
            right_table[place(r, c, width(tree), tree)] = right[r][c];
        }
    }
    for (int64_t c = 0; c < N_COLUMNS; c++) {
        parents[c] = c + 1 < N_COLUMNS && random_word() % 4 ? c + 1 + (int64_t)(random_word() % (N_COLUMNS - c - 1)) : -1;
        fold[c] = random_word() % 2;
        agree[c] = 0.2 + random_real();
        differ[c] = 0.2 + random_real();
    }
}

/* The weight of a pair and, times it, the chance of +1 (over SKLB_STATE_UNIT) or, in a tree, the
 * means of columns and of their products with their parents. */
static double by_definition(int64_t l, int64_t r, int tree, double *means, double *products) {
    int64_t lift = tree ? 0 : 200 * N_COLUMNS; /* of SKLB_STATE_UNIT for each column */
    double start = ldexp(left_mantissas[l] * right_mantissas[r],
                         (int)(left_exponents[l] + right_exponents[r] - lift));
    double weight = start, total = 0;
    memset(means, 0, N_COLUMNS * 8);
    memset(products, 0, N_COLUMNS * 8);
    if (!tree) {
        for (int c = 0; c < N_COLUMNS; c++)
            weight *= 1 + left[l][c] / SKLB_STATE_UNIT * right[r][c];
        for (int c = 0; c < N_COLUMNS; c++)
            means[c] = weight / (SKLB_STATE_UNIT + left[l][c] * right[r][c]);
        return weight;
    }
    for (int x = 0; x < 1 << N_COLUMNS; x++) { /* bit c: column c is -1 */
        weight = start;
        for (int c = 0; c < N_COLUMNS; c++) {
            int k = 2 * c + (x >> c & 1);
            weight *= left[l][k] * right[r][k];
            if (parents[c] >= 0)
                weight *= (x >> c & 1) == (x >> parents[c] & 1) ? agree[c] : differ[c];
        }
        total += weight;
        for (int c = 0; c < N_COLUMNS; c++) {
            means[c] += x >> c & 1 ? -weight : weight;
            if (parents[c] >= 0)
                products[c] += (x >> c & 1) == (x >> parents[c] & 1) ? weight : -weight;
        }
    }
    return total;
}

static void check_states(int path, int tree) {
    double want_left[N_LEFT] = {0}, want_right[PADDED] = {0}, want_edges[N_COLUMNS] = {0};
    double want_left_means[N_LEFT][N_COLUMNS] = {{0}}, want_right_means[PADDED][N_COLUMNS] = {{0}};
    double all = 0, means[N_COLUMNS], products[N_COLUMNS], log_weights[N_LEFT][PADDED];
    draw(tree);
    for (int64_t l = 0; l < N_LEFT; l++)
        for (int64_t r = 0; r < limits[l]; r++) {
            double weight = by_definition(l, r, tree, means, products);
            want_left[l] += weight, want_right[r] += weight, all += weight;
            log_weights[l][r] = log(weight);
            for (int c = 0; c < N_COLUMNS; c++) {
                want_left_means[l][c] += means[c];
                want_right_means[r][c] += means[c];
                want_edges[c] += products[c];
            }
        }
    memset(left_sums, 0, sizeof(left_sums)), memset(right_sums, 0, sizeof(right_sums));
    memset(left_means, 0, sizeof(left_means)), memset(right_means, 0, sizeof(right_means));
    memset(edges, 0, sizeof(edges));
    sklb_states s = {0};
    s.n_columns = N_COLUMNS, s.block = BLOCK, s.n_blocks = PADDED / BLOCK, s.n_left = N_LEFT;
    double packed_left[N_LEFT * 2 * N_COLUMNS];
    for (int64_t l = 0; l < N_LEFT; l++)
        memcpy(packed_left + l * width(tree), left[l], width(tree) * 8);
    s.left = packed_left, s.right = right_table, s.limits = limits;
    s.left_mantissas = left_mantissas, s.right_mantissas = right_mantissas;
    s.left_exponents = left_exponents, s.right_exponents = right_exponents;
    if (tree) s.parents = parents, s.fold = fold, s.agree = agree, s.differ = differ;
    s.left_sums = left_sums, s.right_sums = right_sums, s.left_means = left_means[0];
    s.right_means = right_means, s.edges = edges, s.scratch = scratch;
    sklb_sum_states(&s, 0, N_LEFT);
    double unit = ldexp(1.0, (int)s.scale);
    for (int64_t l = 0; l < N_LEFT; l++) {
        CHECK(is_near(left_sums[l] * unit, want_left[l], want_left[l]));
        for (int c = 0; c < N_COLUMNS; c++)
            CHECK(is_near(left_means[l][c] * unit, want_left_means[l][c],
                          tree ? want_left[l] : want_left_means[l][c]));
    }
    for (int64_t r = 0; r < N_RIGHT; r++) {
        CHECK(is_near(right_sums[r] * unit, want_right[r], want_right[r]));
        for (int c = 0; c < N_COLUMNS; c++)
            CHECK(is_near(right_means[place(r, c, N_COLUMNS, tree)] * unit,
                          want_right_means[r][c],
                          tree ? want_right[r] : want_right_means[r][c]));
    }
    for (int c = 0; tree && c < N_COLUMNS; c++) CHECK(is_near(edges[c] * unit, want_edges[c], all));
    for (int64_t l = 0; l < N_LEFT; l++)
        for (int64_t b = 0; b * BLOCK < limits[l]; b++) {
            double mantissas[SKLB_STATE_BLOCK];
            int64_t exponents[SKLB_STATE_BLOCK];
            sklb_weigh_states(&s, l, b, mantissas, exponents);
            for (int64_t r = b * BLOCK; r < limits[l] && r < (b + 1) * BLOCK; r++)
                CHECK(fabs(log(mantissas[r - b * BLOCK]) + exponents[r - b * BLOCK] * log(2.0) -
                           log_weights[l][r]) < 1e-9);
        }
}

enum { N_SAMPLES = 13, N_BYTES = 3, N_PANELS = 2 };

enum { N_UNITS = 8 * N_PANELS, N_CELLS = N_PANELS * N_BYTES * 32 * 8 };

/* Where a table has a row of a byte, for the first unit of a panel. */
static int cell(int panel, int byte, int row) { return ((panel * N_BYTES + byte) * 32 + row) * 8; }

/* Activations, posterior means, and sums of these by row. */
static void check_bits(int path) {
    static uint8_t samples[N_SAMPLES * N_BYTES];
    static double biases[N_UNITS], tables[N_CELLS], weights[N_SAMPLES], kept[N_UNITS];
    static double products[N_CELLS], wanted[N_CELLS], hidden[N_UNITS], wanted_hidden[N_UNITS];
    double scale = random_word() % 2 ? 1.0 : 200.0, value = 0;
    for (int i = 0; i < N_SAMPLES; i++) weights[i] = random_real();
    for (int i = 0; i < N_SAMPLES * N_BYTES; i++) samples[i] = (uint8_t)random_word();
    for (int i = 0; i < N_UNITS; i++) biases[i] = scale * (random_real() - 0.5);
    for (int i = 0; i < N_CELLS; i++) tables[i] = scale * (random_real() - 0.5);
    memset(products, 0, sizeof(products));
    memset(wanted, 0, sizeof(wanted));
    memset(hidden, 0, sizeof(hidden));
    memset(wanted_hidden, 0, sizeof(wanted_hidden));
    for (int i = 0; i < N_SAMPLES; i++)
        for (int unit = 0; unit < N_UNITS; unit++) {
            int p = unit / 8, k = unit % 8;
            const uint8_t *bytes = samples + i * N_BYTES;
            double a = biases[unit], mean;
            for (int b = 0; b < N_BYTES; b++)
                a += tables[cell(p, b, bytes[b] >> 4) + k] + tables[cell(p, b, 16 + bytes[b] % 16) + k];
            value += weights[i] * (a > 0 ? a + log1p(exp(-a)) : log1p(exp(a)));
            mean = weights[i] / (1 + exp(-a));
            wanted_hidden[unit] += mean;
            for (int b = 0; b < N_BYTES; b++) {
                wanted[cell(p, b, bytes[b] >> 4) + k] += mean;
                wanted[cell(p, b, 16 + bytes[b] % 16) + k] += mean;
            }
        }
    sklb_bits s = {N_BYTES, N_PANELS, biases, tables, products, hidden};
    double found = sklb_sum_bits(&s, samples, weights, N_SAMPLES, kept);
    CHECK(fabs(found - value) <= 1e-12 * (1 + value));
    for (int i = 0; i < N_UNITS; i++) CHECK(fabs(hidden[i] - wanted_hidden[i]) <= 1e-12);
    for (int i = 0; i < N_CELLS; i++) CHECK(fabs(products[i] - wanted[i]) <= 1e-12);
}

int main(void) {
    for (int path = 0; path <= sklb_highest_level(); path++) {
        sklb_cpu_level = &path;
        for (int repeat = 0; repeat < 40; repeat++) check_states(path, repeat % 2), check_bits(path);
    }
    printf("density: %d paths\n", sklb_highest_level() + 1);
    return 0;
}
