/* Fast sorts: the two methods beside the paper's, for short keys. They give bit for bit what the radix sort
 * of sort/radix_sort.h gives, the one stable permutation.
 *
 *   tiled    for GPUs (kernels/tiled_sort.cl), in one pass over keys of up to 12 bits or two of up to 24;
 *            fast where a chunk holds few distinct keys, as particles in PIC order do
 *   chunked  for CPUs (kernels/chunked_sort.cl), in one pass over keys that are short enough; made for lists
 *            that were in order a step ago
 */
#ifndef RADIXPIC_SORT_FAST_SORTS_H
#define RADIXPIC_SORT_FAST_SORTS_H

#include "sort/sorted_order.h"

/* 0 and false everywhere: chosen from the device and the key. */
struct fast_options {
    uint32_t passes; /* p: of tiled 1, 2, or the fewest */
    uint32_t chunks; /* pieces that the list is cut into: of chunked the work-items, of tiled as many as there
                        are tiles or places for */
    uint32_t items;  /* of tiled: items of a group in the reorder: 128, 64 or 32, or as many as local memory
                        allows */
    uint32_t reorders; /* of tiled: kernels of the reorder: 2, one of them for chunks of few distinct digits;
                          or 1, a launch less, for short lists */
    bool any_order;    /* of tiled: the list is not nearly in order; tiles are longer then */
    bool portable;     /* of chunked: without the fast path that some CPUs have */
    bool short_keys;   /* ushorts, not uints */
};

enum { TILED_SORT_MAX_KEY_BITS = 24 };

/* A sort of up to `capacity` keys below 2^key_bits, key_bits = 1..32. */
struct fast_sort {
    /* Fills in the passes, and the chunks of chunked, that the options leave open. STATUS_USAGE, with a
     * sentence, where the device lacks the local memory or the group size for tiles of keys of `key_bits`
     * bits, the passes do not fit the keys, or a pass would have a digit of more than 16 bits. */
    enum status (*resolve)(const struct device_info *info, uint32_t key_bits, uint32_t capacity,
                           struct fast_options *options);
    /* *sort dies with the device handle. STATUS_USAGE as above. */
    enum status (*create)(struct device *device, uint32_t key_bits, uint32_t capacity,
                          struct fast_options options, void **sort);
    /* Sorts as sorter_run() does; tiled has at most 2^key_bits cells. */
    enum status (*run)(void *sort, uint32_t count, const struct radix_lists *lists);
};
extern const struct fast_sort tiled_sort, chunked_sort;

#endif
