/* Phase space: f, the number density of a species over some of x, y, u, v and w (output.phase_space), counted
 * on the device and written as openPMD meshes.
 *
 * As in snapshots, positions are at n and velocities at n-1/2. Bins of x and y are whole cells, those of u,
 * v and w begin at their lower edge: [low, high). Particles are counted as integers, so f is the same bits
 * for any order of the axes, any number of ranks and any step method that gives the same particles.
 *
 * On the device and in the file the axes are in the order that the config asks for, in C order. */
#ifndef RADIXPIC_OUTPUT_PHASE_SPACE_H
#define RADIXPIC_OUTPUT_PHASE_SPACE_H

#include "device/device.h"
#include "output/view.h"

/* The array of one item. */
struct phase_volume {
    uint32_t dimensions;
    uint32_t axes[CONFIG_PHASE_AXES]; /* axis k of the array is axis axes[k] of the config's */
    uint32_t bins[CONFIG_PHASE_AXES];
    uint64_t elements;
};

/* The array of an item that check_config() accepted. */
struct phase_volume phase_volume_make(const struct phase_space_config *space);

/* An item of the config. */
struct phase_space {
    struct phase_volume volume;
    struct kernel *count;  /* NULL: the item is never written */
    struct buffer *counts; /* uint[volume.elements]: a view of the bins of all items */
    bool is_known;         /* written before: the log has its line already */
};

/* The bins of all items, and the kernels that count. */
struct phase_spaces {
    struct device *device; /* not owned */
    size_t group_items;
    struct buffer *bins;       /* uint: as many as the largest volume has */
    struct phase_space *items; /* one for each of the config */
};

/* *spaces stays NULL where no item is ever written. It dies with the device handle. */
STATUS_CHECKED enum status phase_spaces_create(struct device *device, const struct config *config,
                                               void **spaces);

/* The list of the species of item `index`. */
const struct particles *phase_space_list(const struct view *view, uint32_t index);

/* counts[] <- those of this rank's particles, for item `index`. Blocking, not collective. */
STATUS_CHECKED enum status phase_space_count(struct phase_spaces *spaces, const struct view *view,
                                             uint32_t index, uint32_t *counts);

#endif
