/* Phase space: f, the number density of one or more species over some of x, y, u, v and w, or the sum of a
 * formula over their particles (output.phase_space), counted on the device and written as openPMD meshes.
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
    struct buffer *sums;   /* ulong[volume.elements], another one, where particles have weights; else NULL */
    bool is_known;         /* written before: the log has its line already */
};

/* The bins of all items, and the kernels that count. */
struct phase_spaces {
    struct device *device; /* not owned */
    size_t group_items;
    struct buffer *bins;       /* as many as the largest volume has */
    struct buffer *most;       /* uint: an exponent of weights */
    struct phase_space *items; /* one for each of the config */
};

/* *spaces stays NULL where no item is ever written. It dies with the device handle. */
STATUS_CHECKED enum status phase_spaces_create(struct device *device, const struct config *config,
                                               void **spaces);

/* The list of species n of item `index`; NULL behind the last. */
const struct particles *phase_space_list(const struct view *view, uint32_t index, uint32_t n);

/* counts[] <- those of this rank's particles in one of these lists, for item `index`. *exponent <- with
 * weights, one that the binary exponent of none of them exceeds. Blocking, not collective. */
STATUS_CHECKED enum status phase_space_count(struct phase_spaces *spaces, const struct view *view,
                                             uint32_t index, const struct particles *list, uint32_t *counts,
                                             int *exponent);

/* The sum of so many weights, none above this exponent, has 63 bits at most after it is multiplied by
 * 2^shift. */
int phase_space_shift(int exponent, uint64_t particles);

/* sums[] <- those of weights times 2^shift, of two's complement. Blocking, not collective. */
STATUS_CHECKED enum status phase_space_sum(struct phase_spaces *spaces, const struct view *view,
                                           uint32_t index, const struct particles *list, int shift,
                                           uint64_t *sums);

#endif
