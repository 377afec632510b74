/* Sorted order: sorted keys and cell offsets from a list that was sorted by any method. */
#ifndef RADIXPIC_SORT_SORTED_ORDER_H
#define RADIXPIC_SORT_SORTED_ORDER_H

#include "device/device.h"

struct sorted_order {
    struct kernel *keys, *mark_cells, *find_cells;
    size_t items; /* of a group */
};

STATUS_CHECKED enum status sorted_order_create(struct device *device, struct sorted_order *order);

/* sorted_keys[j] = keys[permutation[j]]. (Non-blocking.) */
STATUS_CHECKED enum status sorted_order_keys(const struct sorted_order *order, const struct buffer *keys,
                                             const struct buffer *permutation, struct buffer *sorted_keys,
                                             uint32_t count);

/* cell_offsets[c] = the number of keys below c, for c = 0..cells. `permutation` is NULL where the keys
 * themselves are sorted. (Non-blocking.) */
STATUS_CHECKED enum status sorted_order_cells(const struct sorted_order *order, const struct buffer *keys,
                                              const struct buffer *permutation, struct buffer *cell_offsets,
                                              uint32_t count, uint32_t cells);

#endif
