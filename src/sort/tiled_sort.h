/* Tiled sort: keys -> permutation, and cell offsets and sorted keys where wanted, for GPUs.
 *
 * Gives bit for bit what the radix sort of sort/radix_sort.h gives, the one stable permutation, in one pass
 * over short keys (up to 12 bits) or two (up to 24): a histogram per chunk of the list, a scan, and a reorder
 * that ranks a tile of keys per group in local memory. Fast where a chunk holds few distinct keys, as
 * particles in PIC order do; right for any keys. OpenCL C 1.2, no extension.
 */
#ifndef RADIXPIC_SORT_TILED_SORT_H
#define RADIXPIC_SORT_TILED_SORT_H

#include "sort/radix_sort.h"

struct tiled_sort;

/* 0 everywhere: chosen from the device and the key. */
struct tiled_options {
    uint32_t chunks;   /* that the list is cut into, or as many as there are tiles or places for */
    uint32_t items;    /* of a group in the reorder: 128, 64 or 32, or as many as there is room for */
    uint32_t reorders; /* kernels: 2, one of them for chunks of few distinct digits; or 1, a launch less, for
                          short lists */
};

enum { TILED_SORT_MAX_KEY_BITS = 24 };

/* STATUS_USAGE, with a sentence, where the device lacks the local memory or the group size for keys of
 * `key_bits` bits, or the passes do not fit them: 1, 2, or 0, which becomes the fewest. */
STATUS_CHECKED enum status tiled_sort_check(const struct device_info *info, uint32_t key_bits,
                                            uint32_t *passes);

/* A sort of up to `capacity` keys below 2^key_bits in `passes` passes. `options` may be NULL. It dies with
 * the device handle. STATUS_USAGE as tiled_sort_check(). */
STATUS_CHECKED enum status tiled_sort_create(struct device *device, uint32_t key_bits, uint32_t passes,
                                             uint32_t capacity, const struct tiled_options *options,
                                             struct tiled_sort **sort);

/* Sorts `count` keys, from 0 up to the capacity. lists->permutation is required; lists->sorted_keys and
 * lists->cell_offsets (cells <= 2^key_bits) may be NULL. Stages: STAGE_SORT_*. (Non-blocking.) */
STATUS_CHECKED enum status tiled_sort_run(struct tiled_sort *sort, uint32_t count,
                                          const struct radix_lists *lists);

#endif
