/* Sorted order: what one sort reads and writes, and what follows from the order however it was found. */
#ifndef RADIXPIC_SORT_SORTED_ORDER_H
#define RADIXPIC_SORT_SORTED_ORDER_H

#include "device/device.h"

/* Device arrays of the caller, none of them the same as another. */
struct radix_lists {
    const struct buffer *keys;   /* uint[count] or ushort[count], each below 2^b; kept */
    struct buffer *sorted_keys;  /* as `keys`, or NULL where the sort may do without */
    struct buffer *permutation;  /* uint[count], or NULL where the sort was told to make none */
    struct buffer *cell_offsets; /* uint[cells + 1], or NULL: the number of keys below c, for c = 0..cells */
    uint32_t cells;              /* keys are below this where cell_offsets is set */
};

/* For lists of up to `capacity` keys; made by naming device and capacity. */
struct sorted_order {
    struct device *device;                         /* not owned; owns the kernels */
    struct kernel *keys, *mark_cells, *find_cells; /* NULL until the first of them is launched */
    uint32_t capacity;
    bool short_keys;
};

/* KEY of the kernels that read keys. */
static inline const char *key_type(bool short_keys)
{
    return short_keys ? "ushort" : "uint";
}

/* STATUS_FAILED where there are more keys than the capacity, or no permutation is given. */
STATUS_CHECKED enum status sorted_order_check(const struct sorted_order *order, uint32_t count,
                                              const struct radix_lists *lists);

/* lists->sorted_keys, if wanted, from the permutation. (Non-blocking.) */
STATUS_CHECKED enum status sorted_order_keys(struct sorted_order *order, uint32_t count,
                                             const struct radix_lists *lists);

/* lists->cell_offsets from `sorted_keys`, or if NULL, from keys and permutation. (Non-blocking.) */
STATUS_CHECKED enum status sorted_order_cells(struct sorted_order *order, uint32_t count,
                                              const struct radix_lists *lists,
                                              const struct buffer *sorted_keys);

#endif
