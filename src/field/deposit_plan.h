/* Deposit plan: how the deposit deals its work out on a device: which kernel sums the particles, how
 * long the segments of the list are, and how many items a group has. It decides how long the deposit takes;
 * of the sums it changes the order of the terms alone. */
#ifndef RADIXPIC_FIELD_DEPOSIT_PLAN_H
#define RADIXPIC_FIELD_DEPOSIT_PLAN_H

#include "config/config.h"
#include "device/device.h"

/* Numbers of items are compile-time parameters of kernels/deposit.cl. */
struct deposit_plan {
    bool vectors;         /* CPUs: an item sums a segment, and an item has several nodes, in vectors */
    size_t items;         /* of a group, but for a group that sums a segment */
    size_t segment_items; /* of a group that sums a segment: `shares` for each run of `item_particles` */
    size_t item_particles, shares;
    uint32_t segment_bits; /* log2 of the particles of a segment */
    uint32_t lanes;        /* items per node */
};

/* nodes: that particles of a cell touch along an axis. cells: of the grid. components: of the quantity. */
struct deposit_plan deposit_plan_make(const struct device_info *info, uint32_t cells, uint32_t nodes,
                                      uint32_t components, size_t real_bytes);

/* Pieces of a cell that are left apart where the list has so many segments; UINT32_MAX: all. */
uint32_t deposit_plan_most(const struct deposit_plan *plan, uint32_t segments);

#endif
