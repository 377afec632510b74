/* Filter: binomial smoothing of the charge density, (1/4, 1/2, 1/4) along x and along y in every pass, and a
 * compensator behind the passes: deposit_filter() is what is left of a mode.
 */
#ifndef RADIXPIC_FIELD_FILTER_H
#define RADIXPIC_FIELD_FILTER_H

#include "config/config.h"
#include "device/device.h"
#include "domain/grid.h"

struct filter;

/* How a group goes over the grid: with `rows` > 0 it stages a tile of rows x columns nodes and those around
 * it in local memory, and each item smooths `item_rows` nodes of a column; `item_rows` divides `rows`.
 * Without rows each item reads its nine nodes from global memory. The bits of the result are the same. */
struct filter_tile {
    uint32_t rows, columns, item_rows;
};

/* The tile for a device and numbers of `precision`: none where local memory is ordinary memory, as it is for
 * CPUs, or too small, or groups are. */
struct filter_tile filter_tile_of(const struct device_info *info, enum precision precision);

/* With a tile; NULL: filter_tile_of() this device. STATUS_FAILED where the device has no room for it. */
STATUS_CHECKED enum status filter_create(struct device *device, const struct grid *grid,
                                         enum precision precision, const struct filter_tile *tile,
                                         struct filter **filter);

/* Smooths rho (real[cells]) by the passes of `deposit`, and its compensator. (Non-blocking.) */
STATUS_CHECKED enum status filter_apply(struct filter *filter, const struct deposit_config *deposit,
                                        struct buffer *rho);

#endif
