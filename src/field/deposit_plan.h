/* Deposit plan: how the deposit deals its work out on a device: which kernel sums the particles, how
 * long the segments of the list are, and how many items a group has. It decides how long the deposit takes;
 * of the sums it changes the order of the terms alone. */
#ifndef RADIXPIC_FIELD_DEPOSIT_PLAN_H
#define RADIXPIC_FIELD_DEPOSIT_PLAN_H

#include "config/config.h"
#include "device/device.h"

/* Numbers of items are compile-time parameters of kernels/deposit.cl. */
struct deposit_plan {
    uint32_t nodes;       /* that a cell has sums for along an axis */
    bool vectors;         /* CPUs: an item sums a segment, and an item has several nodes, in vectors */
    size_t items;         /* of a group, but for a group that sums a segment */
    size_t segment_items; /* of a group that sums a segment: `shares` for each run of `item_particles` */
    size_t item_particles, shares;
    bool beside;           /* particles that were beside their cell are summed in fixed point, on nodes */
    uint32_t segment_bits; /* log2 of the particles of a segment */
    uint32_t lanes;        /* items per node */
    uint32_t copies;       /* of the grid for sums in fixed point, a power of two */
};

/* cells: of the grid. components: 1 of the charge, 4 with the current. weighs: particles have weights. */
struct deposit_plan deposit_plan_make(const struct device_info *info, uint32_t cells, enum shape_kind shape,
                                      uint32_t components, enum precision precision, bool weighs);

/* Pieces of a cell that are left apart where the list has so many segments; UINT32_MAX: all. */
uint32_t deposit_plan_most(const struct deposit_plan *plan, uint32_t segments);

#endif
