/* How much of a sum later literals can remove, from what each would remove now. */
#ifndef SKLB_REMOVALS_H
#define SKLB_REMOVALS_H

#include <stdint.h>

/* Removals of rows that a bound looks at one by one. */
#define SKLB_MOST_COUNTED 8

/* The rows of one sign that some literals can remove: the largest few removals. */
typedef struct {
    int64_t top[SKLB_MOST_COUNTED];
    int n_counted; /* literals still to come */
} sklb_removals;

static void sklb_count_removal(sklb_removals *removals, int64_t value) {
    int k = removals->n_counted - 1;
    if (k >= SKLB_MOST_COUNTED || value <= removals->top[k]) return;
    for (; k > 0 && removals->top[k - 1] < value; k--) removals->top[k] = removals->top[k - 1];
    removals->top[k] = value;
}

/* What is sure to remain of a sum. */
static int64_t sklb_remainder(const sklb_removals *removals, int64_t sum) {
    if (removals->n_counted > SKLB_MOST_COUNTED) return 0;
    for (int k = 0; k < removals->n_counted; k++) sum -= removals->top[k];
    return sum > 0 ? sum : 0;
}

#endif
