/* Sorted order: launches of kernels/sorted_order.cl. */
#include "sort/sorted_order.h"

enum {
    ITEMS = 64,
    SEARCH_KEYS = 512 /* keys a cell from which on searching its offset beats passing all keys */
};

enum status sorted_order_create(struct device *device, struct sorted_order *order)
{
    struct program *program = NULL;
    order->items = device_group_items(device, ITEMS);
    TRY(program_build(device, "sorted_order.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "order_keys", &order->keys));
    TRY(kernel_create(program, "order_mark_cells", &order->mark_cells));
    return kernel_create(program, "order_find_cells", &order->find_cells);
}

enum status sorted_order_keys(const struct sorted_order *order, const struct buffer *keys,
                              const struct buffer *permutation, struct buffer *sorted_keys, uint32_t count)
{
    const uint64_t bytes = 3 * sizeof(uint32_t) * (uint64_t)count;
    return KERNEL_LAUNCH(order->keys, launch_covering(count, order->items, STAGE_SORT_REORDER, bytes),
                         arg_buffer(keys), arg_buffer(permutation), arg_buffer(sorted_keys), arg_uint(count));
}

enum status sorted_order_cells(const struct sorted_order *order, const struct buffer *keys,
                               const struct buffer *permutation, struct buffer *cell_offsets, uint32_t count,
                               uint32_t cells)
{
    const bool search = cells <= count / SEARCH_KEYS || cells > count;
    const uint64_t items = (search ? (uint64_t)cells : count) + 1, word = sizeof(uint32_t);
    const uint64_t read = search ? 0 : (permutation ? 2 : 1) * (uint64_t)count;
    return KERNEL_LAUNCH(search ? order->find_cells : order->mark_cells,
                         launch_covering(items, order->items, STAGE_SORT_OFFSETS, word * (read + cells + 1)),
                         arg_buffer(keys), arg_buffer(permutation ? permutation : keys),
                         arg_uint(permutation != NULL), arg_buffer(cell_offsets), arg_uint(count),
                         arg_uint(cells));
}
