/* Phase space: f, the number density of a species over some of x, y, u, v and w (output.phase_space), counted
 * on the device and written as openPMD meshes.
 *
 * As in snapshots, positions are at n and velocities at n-1/2. Bins of x and y are whole cells, those of u,
 * v and w begin at their lower edge: [low, high). Particles are counted as integers, so f is the same bits
 * for any order of the axes, any number of ranks and any step method that gives the same particles.
 *
 * On the device the axes are in the order of the config's `axes`, in C order. Where another order is asked
 * for, the volume is permuted in place (ndpa/ndpa_shape.h): its sides are then multiples of the side of an
 * NDPA cell, and a chunk of the written array is such a cell, with its elements in their final order. So the
 * permutation among the cells is no work at all: it is where in the file each chunk is written. */
#ifndef RADIXPIC_OUTPUT_PHASE_SPACE_H
#define RADIXPIC_OUTPUT_PHASE_SPACE_H

#include "ndpa/ndpa.h"
#include "output/view.h"

/* The counts of one item: as they lie on the device, and the chunks of the written array in them. */
struct phase_volume {
    struct ndpa_shape shape;          /* of the device's: as many sides as the item has axes */
    uint32_t axes[CONFIG_PHASE_AXES]; /* axis k of the written array is axis axes[k] of the config's */
    bool is_permuted;
    uint32_t bins[CONFIG_PHASE_AXES];   /* of the written array along each axis */
    uint32_t chunk[CONFIG_PHASE_AXES];  /* sides of its chunks: the NDPA cell's, or the whole if shorter */
    uint32_t chunks[CONFIG_PHASE_AXES]; /* their number along each axis */
    uint64_t chunk_elements, chunk_count;
};

/* Of an item that check_config() accepted. */
struct phase_volume phase_volume_make(const struct phase_space_config *space);

/* values[chunk_elements] <- chunk `number` (in C order) of the written array, in C order, from the device's
 * counts; 0 beyond the end of the array. */
void phase_volume_read_chunk(const struct phase_volume *volume, const uint32_t *counts, uint64_t number,
                             uint64_t *values);

/* An item of the config. */
struct phase_space {
    struct phase_volume volume;
    struct buffer *counts; /* uint[ndpa_elements(&volume.shape)]: a view of the room of all items */
    struct ndpa *ndpa;     /* NULL: not permuted */
    bool is_known;         /* written before: what is to be said once was said */
};

/* What counts and permutes. */
struct phase_spaces {
    struct device *device; /* not owned */
    size_t group_items;
    struct program *program;
    struct kernel *count;
    struct buffer *room; /* uint: for the largest volume */
    struct phase_space items[CONFIG_MAX_PHASE_SPACES];
};

/* Nothing is allocated on the device, and *spaces stays NULL, where no item is ever written. STATUS_USAGE,
 * with the key, where a volume has too many bins once its sides are padded. It dies with the device handle.
 */
STATUS_CHECKED enum status phase_spaces_create(struct device *device, const struct config *config,
                                               void **spaces);

/* Counts this rank's particles for item `index` and permutes them: counts[ndpa_elements()] of its volume.
 * Blocking, not collective. */
STATUS_CHECKED enum status phase_space_count(struct phase_spaces *spaces, const struct view *view,
                                             uint32_t index, uint32_t *counts);

#endif
