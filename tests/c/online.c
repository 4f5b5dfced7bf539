/* Sums and additions over the active features of a packed row: the same bits as plain C,
 * and plain C near the definition. */
#include "check.h"

#include "../../sklboolean/linear_model/rows.h"

static void check_row(int path, int64_t n_words) {
    int64_t n = 64 * n_words;
    uint64_t *words = room(n_words * 8);
    double *w = room(n * 8), *lags = room(n * 8), *w2 = room(n * 8), *lags2 = room(n * 8);
    double sum = 0, size = 0;
    fill_words(words, n_words);
    for (int64_t j = 0; j < n; j++) {
        w[j] = w2[j] = ldexp(random_real() - 0.5, (int)(random_word() % 60));
        lags[j] = lags2[j] = random_real();
        if (bit(words, j)) sum += w[j], size += fabs(w[j]);
    }
    double plain = sklb_sum_bits_plain(w, words, n_words);
    double found = sklb_sum_bits(w, words, n_words);
    CHECK(memcmp(&plain, &found, 8) == 0);
    CHECK(fabs(plain - sum) <= n * 0x1p-52 * size);
    sklb_add_bits(w, n_words % 2 ? lags : NULL, words, n_words, 0.3, -1.7);
    for (int64_t j = 0; j < n; j++) {
        CHECK(w[j] == (bit(words, j) ? w2[j] + 0.3 : w2[j]));
        CHECK(lags[j] == (bit(words, j) && n_words % 2 ? lags2[j] - 1.7 : lags2[j]));
    }
    free(words), free(w), free(w2), free(lags), free(lags2);
}

static void check_words(void) {
    int path = 0;
    for (int place = 0; place < 64; place++) {
        CHECK(sklb_lowest_bit((uint64_t)1 << place) == place);
        CHECK(sklb_lowest_bit(random_word() << place | (uint64_t)1 << place) == place);
    }
    CHECK(sklb_popcount_plain(UINT64_MAX) == 64 && sklb_popcount_plain(0) == 0);
}

static void check_shuffle(int64_t n) {
    int path = 0;
    int64_t *rows = room(n * 8), sum = 0;
    for (int64_t i = 0; i < n; i++) rows[i] = i;
    sklb_shuffle(rows, n, 7);
    for (int64_t i = 0; i < n; i++) {
        CHECK(rows[i] >= 0 && rows[i] < n);
        sum += rows[i] * rows[i];
    }
    CHECK(sum == (n - 1) * n * (2 * n - 1) / 6);
    free(rows);
}

int main(void) {
    check_words();
    check_shuffle(1000);
    for (int path = 0; path <= sklb_highest_level(); path++) {
        sklb_cpu_level = &path;
        for (int repeat = 0; repeat < 10; repeat++)
            for (int64_t n_words = 0; n_words < 40; n_words++) check_row(path, n_words);
    }
    printf("online: %d paths\n", sklb_highest_level() + 1);
    return 0;
}
