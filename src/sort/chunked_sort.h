/* Chunked sort: keys -> permutation, cell offsets and sorted keys, the fast way for CPU devices. Same result
 * as sort/radix_sort.h, to the bit: a stable sort has one. One work-item a chunk of the list, no barriers,
 * one pass for keys that are short enough, made for lists that were in order a step ago and good for any
 * other. This room sees lists of keys, never particles.
 */
#ifndef RADIXPIC_SORT_CHUNKED_SORT_H
#define RADIXPIC_SORT_CHUNKED_SORT_H

#include "sort/radix_sort.h"

struct chunked_sort;

/* 0 and false everywhere: chosen from the device and the key. */
struct chunked_options {
    uint32_t passes; /* p */
    uint32_t chunks; /* work-items */
    bool portable;   /* without the fast path that some CPUs have */
};

/* A sort of up to `capacity` keys below 2^key_bits, key_bits = 1..32. `options` may be NULL. STATUS_USAGE
 * when a pass would have a digit of more than 16 bits. It dies with the device handle. */
STATUS_CHECKED enum status chunked_sort_create(struct device *device, uint32_t key_bits, uint32_t capacity,
                                               const struct chunked_options *options,
                                               struct chunked_sort **sort);

/* Sorts `count` keys, from 0 up to the capacity. lists->permutation is required; sorted_keys and cell_offsets
 * are made where they are not NULL. Stages: STAGE_SORT_*. (Non-blocking.) */
STATUS_CHECKED enum status chunked_sort_run(struct chunked_sort *sort, uint32_t count,
                                            const struct radix_lists *lists);

/* Fills in what `options` leaves open. STATUS_USAGE as chunked_sort_create(). */
STATUS_CHECKED enum status chunked_sort_resolve(const struct device_info *device, uint32_t key_bits,
                                                uint32_t capacity, struct chunked_options *options);

#endif
