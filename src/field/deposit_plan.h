/* Deposit plan: how the sorted deposit deals its work out on a device: which kernel sums the particles, how
 * long the segments of the list are, and how many items a group has. It decides how long the deposit takes;
 * of the sums it changes the order of the terms alone.
 */
#ifndef RADIXPIC_FIELD_DEPOSIT_PLAN_H
#define RADIXPIC_FIELD_DEPOSIT_PLAN_H

#include "config/config.h"
#include "device/device.h"

/* How the particles are summed. All variants sum the same terms, in a different order, and take both layouts.
 */
enum deposit_variant {
    DEPOSIT_AUTO,              /* by the device and the particles per cell; the default */
    DEPOSIT_GROUP_PER_PIECE,   /* one work-group a piece of up to 4,096 to 32,768 particles of one cell: GPUs
                                  and many particles a cell */
    DEPOSIT_GROUP_PER_SEGMENT, /* one work-group a few thousand particles of any cells: GPUs */
    DEPOSIT_ITEM_PER_SEGMENT,  /* one work-item 8,192 particles of any cells, in vectors: CPUs */
    DEPOSIT_VARIANTS           /* how many there are */
};

/* What follows from the device; powers of two, compile-time parameters of kernels/deposit.cl. */
struct deposit_groups {
    size_t items;         /* of a group, but for a group per segment */
    size_t segment_items; /* of that, and the particles of each item */
    size_t item_particles;
    uint32_t segment_bits; /* log2 of the particles of that group; no variant has fewer in a segment */
};

/* What the launches for one list share. */
struct deposit_pass {
    enum deposit_variant variant; /* never DEPOSIT_AUTO */
    struct launch sum;            /* of its kernel, for all particles; the bytes are left to the caller */
    uint32_t segment_bits;        /* log2 of the particles of a segment */
    uint32_t segments;
    uint32_t lanes; /* items per node */
    uint32_t most;  /* pieces of a cell that are left apart; UINT32_MAX: all */
};

/* One line for the log: the method, and how the device adds where that is atomic. */
const char *deposit_describe(const struct device_info *info, const struct deposit_config *config);

/* planes: sums of a piece. */
struct deposit_groups deposit_groups_for(const struct device_info *info, uint32_t planes, size_t real_bytes);

/* For `count` particles in the first `filled` of `cells` cells, by `variant`, or what DEPOSIT_AUTO chooses.
 */
struct deposit_pass deposit_plan_pass(const struct device_info *info, const struct deposit_groups *groups,
                                      enum deposit_variant variant, uint32_t cells, uint32_t filled,
                                      uint32_t count);

#endif
