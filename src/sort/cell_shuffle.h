/* Cell shuffle: a random order of the particles inside each cell of a sorted list, for binary collisions
 * (particles/collisions.h): particles permutation[n] and permutation[n + 1], for n = start, start + 2, ... of
 * each cell, are partners; in a cell with an odd number of particles the last one has none.
 *
 * Every order of a cell is as likely as any other, and follows from seed, species, step and the number of the
 * cell in the list alone: the same bits on any device.
 */
#ifndef RADIXPIC_SORT_CELL_SHUFFLE_H
#define RADIXPIC_SORT_CELL_SHUFFLE_H

#include "device/device.h"

struct cell_shuffle;

/* 0 everywhere: chosen from the device and the list. Any choice makes the same permutation. */
struct cell_shuffle_options {
    uint32_t cell_items;   /* of a group */
    uint32_t cell_most;    /* particles of a short cell; each takes 16 bytes of local memory */
    uint32_t long_buckets; /* of a long cell; each takes 4 */
};

/* A number of particles that few cells exceed: a quarter and 64 above the average. */
static inline uint64_t cell_shuffle_usual(uint32_t cells, uint32_t capacity)
{
    const uint64_t mean = capacity / cells;
    return mean + mean / 4 + 64;
}

/* For lists of up to `capacity` particles in `cells` cells. `options` may be NULL. It dies with the
 * handle. */
STATUS_CHECKED enum status cell_shuffle_create(struct device *device, uint32_t cells, uint32_t capacity,
                                               const struct cell_shuffle_options *options,
                                               struct cell_shuffle **shuffle);

/* permutation: uint[count], gets the random order of a sorted list of `count` particles. species < 256, step
 * < 2^56. Lists of several ranks need a seed each, or they are shuffled alike. What draws other numbers
 * (kernels/shared/random.h) by the same seed sets one of the two highest bits in the second word of the
 * counter: here they are 0. STATUS_FAILED for more particles than the capacity. (Non-blocking.) */
STATUS_CHECKED enum status cell_shuffle_run(struct cell_shuffle *shuffle, const struct buffer *cell_offsets,
                                            uint32_t count, uint64_t seed, uint32_t species, uint64_t step,
                                            const struct buffer *permutation);

#endif
