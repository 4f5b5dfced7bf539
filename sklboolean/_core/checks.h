/* Checks of index arrays: a damaged model must not make a loop leave its arrays. */
#ifndef SKLB_CHECKS_H
#define SKLB_CHECKS_H

#include <stdint.h>

/* Whether 0 <= indices[i] < size for all i < n. */
static int sklb_all_below(const int32_t *indices, int64_t n, int64_t size) {
    uint32_t limit = size > INT32_MAX ? (uint32_t)INT32_MAX + 1 : (uint32_t)(size > 0 ? size : 0);
    int outside = 0;
    for (int64_t i = 0; i < n; i++) outside |= (uint32_t)indices[i] >= limit;
    return !outside;
}

static int sklb_all_below_64(const int64_t *indices, int64_t n, int64_t size) {
    uint64_t limit = (uint64_t)(size > 0 ? size : 0);
    int outside = 0;
    for (int64_t i = 0; i < n; i++) outside |= (uint64_t)indices[i] >= limit;
    return !outside;
}

/* Whether 0 <= starts[0] <= starts[1] <= ... <= starts[n] <= end. */
static int sklb_is_indptr(const int64_t *starts, int64_t n, int64_t end) {
    int falls = starts[0] < 0 || starts[n] > end;
    for (int64_t i = 0; i < n; i++) falls |= starts[i + 1] < starts[i];
    return !falls;
}

#endif
