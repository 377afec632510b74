/* Tile plan: launch shapes for the kernels of kernels/shared/tiles.h. */
#ifndef RADIXPIC_DEVICE_TILE_PLAN_H
#define RADIXPIC_DEVICE_TILE_PLAN_H

#include "device/device.h"

/* The names of kernels/shared/tiles.h. */
enum {
    TILE_KEYS = 32,
    TILE_SCAN_BINS = 8,
    TILE_REGISTER_DIGITS = 8,
    TILE_LISTED_DIGITS = 32,
    TILE_LIST_WORDS = 1 + 2 * TILE_LISTED_DIGITS,
    TILE_MAX_DIGIT_BITS = 12,
    TILE_MOST_ITEMS = 128,   /* of a group in the reorder */
    TILE_GROUPS_PER_UNIT = 4 /* of so many items, what a compute unit of a large GPU holds of the reorder */
};

struct tile_plan {
    uint32_t digit_bits;             /* r, of the bins that the table counts */
    uint32_t items;                  /* of a group in the reorder */
    uint32_t keys;                   /* entries of an item: a tile is items * keys of them */
    uint32_t scan_items;             /* of a group in the scan */
    uint32_t min_chunks, max_chunks; /* where there are tiles enough */
};

/* What a caller chooses itself; 0 leaves it to the plan. */
struct tile_request {
    uint32_t items;       /* 128, 64 or 32, or as many as there is room for */
    uint32_t keys;        /* 32, 16 or 8 */
    uint32_t chunks;      /* or as many as there are tiles or places for */
    uint32_t ranked_bits; /* bits of what is ranked, where that is more than the digit */
};

/* The plan for digits of `digit_bits` bits; `request` may be NULL. False where the device lacks the local
 * memory or the group size. */
bool tile_plan_make(const struct device_info *info, uint32_t digit_bits, const struct tile_request *request,
                    struct tile_plan *plan);

/* Entries of a tile, and tiles of a list. */
uint32_t tile_length(const struct tile_plan *plan);
uint32_t tile_count(const struct tile_plan *plan, uint32_t count);
/* Chunks that a list is cut into: as few as keep the device busy while it is short, since each costs a row of
 * the table, and more for a long one, whose last groups then end at nearly the same time. */
uint32_t tile_chunks(const struct tile_plan *plan, uint32_t count);
/* Words of a row of the table. */
uint32_t tile_row(uint32_t digit_bits);

#endif
