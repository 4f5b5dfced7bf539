/* A set of covers, each with the length of the shortest conjunction seen for it.
 *
 * Covers are known by 128 bits of hash, 16 of which give way to the length: with
 * 2**30 covers two of them agree by chance with probability below 2**-52. */
#ifndef SKLB_SEEN_COVERS_H
#define SKLB_SEEN_COVERS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t low, high;
} sklb_hash;

typedef struct {
    sklb_hash *slots; /* high == 0: empty */
    uint64_t n_slots, n_used, most_slots;
} sklb_seen;

static inline sklb_hash sklb_hash_words(const uint64_t *words, int64_t n_words) {
    sklb_hash h = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu};
    for (int64_t w = 0; w < n_words; w++) {
        h.low = (h.low ^ words[w]) * 0xff51afd7ed558ccdu;
        h.low ^= h.low >> 32;
        h.high = (h.high + words[w]) * 0xc4ceb9fe1a85ec53u;
        h.high ^= h.high >> 29;
    }
    h.low ^= h.high << 1;
    h.low *= 0x9e3779b97f4a7c15u;
    h.low ^= h.low >> 31;
    return h;
}

static int sklb_seen_open(sklb_seen *seen, uint64_t most_slots) {
    seen->n_slots = 1 << 12, seen->n_used = 0, seen->most_slots = most_slots;
    seen->slots = (sklb_hash *)calloc(seen->n_slots, sizeof(sklb_hash));
    return seen->slots != NULL;
}

static sklb_hash *sklb_seen_slot(const sklb_seen *seen, sklb_hash key) {
    uint64_t mask = seen->n_slots - 1, i = key.low & mask;
    while (seen->slots[i].high &&
           !(seen->slots[i].low == key.low && (seen->slots[i].high ^ key.high) >> 16 == 0))
        i = (i + 1) & mask;
    return &seen->slots[i];
}

static int sklb_seen_grow(sklb_seen *seen) {
    sklb_seen wide = {NULL, 2 * seen->n_slots, seen->n_used, seen->most_slots};
    wide.slots = (sklb_hash *)calloc(wide.n_slots, sizeof(sklb_hash));
    if (!wide.slots) return 0;
    for (uint64_t i = 0; i < seen->n_slots; i++)
        if (seen->slots[i].high) *sklb_seen_slot(&wide, seen->slots[i]) = seen->slots[i];
    free(seen->slots);
    *seen = wide;
    return 1;
}

/* The shortest length with this cover so far; 0 if there was none. */
static int sklb_seen_length(const sklb_seen *seen, sklb_hash key) {
    return (int)(sklb_seen_slot(seen, key)->high & 0xffff);
}

/* Note a cover, in place of the same one with a longer conjunction. Over `most_slots`
 * the set is emptied: forgetting costs time, never the answer. 0: no memory. */
static int sklb_seen_add(sklb_seen *seen, sklb_hash key, int length) {
    if (2 * (seen->n_used + 1) > seen->n_slots) {
        if (seen->n_slots >= seen->most_slots) {
            memset(seen->slots, 0, seen->n_slots * sizeof(sklb_hash));
            seen->n_used = 0;
        } else if (!sklb_seen_grow(seen))
            return 0;
    }
    sklb_hash *slot = sklb_seen_slot(seen, key);
    if (!slot->high) seen->n_used++;
    slot->low = key.low;
    slot->high = (key.high & ~(uint64_t)0xffff) | (uint64_t)length;
    return 1;
}

#endif
