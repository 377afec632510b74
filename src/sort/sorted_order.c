/* Sorted order: launches of kernels/sorted_order.cl. */
#include "sort/sorted_order.h"

enum {
    /* Keys a cell from which on a search beats passing all keys: in order, or through the permutation. */
    SEARCH_KEYS = 512,
    SEARCH_KEYS_THROUGH = 192,
    MARKED_KEYS = 4 /* by an item of order_mark_cells() */
};

/* Most sorts of a run need none of the kernels: the first call that does builds them. */
static enum status need_kernels(struct sorted_order *order)
{
    struct program *program = NULL;
    if (order->find_cells)
        return STATUS_OK;
    TRY(program_build(order->device, "sorted_order.cl", PRECISION_SINGLE, &program,
                      "-D KEY=%s -D MARKED_KEYS=%d", key_type(order->short_keys), MARKED_KEYS));
    TRY(kernel_create(program, "order_keys", &order->keys));
    TRY(kernel_create(program, "order_mark_cells", &order->mark_cells));
    return kernel_create(program, "order_find_cells", &order->find_cells);
}

enum status sorted_order_check(const struct sorted_order *order, uint32_t count,
                               const struct radix_lists *lists)
{
    if (count > order->capacity)
        return status_fail(STATUS_FAILED, "sort: %u keys are more than the %u it was made for", count,
                           order->capacity);
    return lists->permutation ? STATUS_OK
                              : status_fail(STATUS_FAILED, "sort: no array was given for the permutation");
}

enum status sorted_order_keys(struct sorted_order *order, uint32_t count, const struct radix_lists *lists)
{
    const uint64_t bytes = 3 * sizeof(uint32_t) * (uint64_t)count;
    if (!lists->sorted_keys)
        return STATUS_OK;
    TRY(need_kernels(order));
    return KERNEL_LAUNCH(order->keys, launch_flat(count, STAGE_SORT_REORDER, bytes), lists->keys,
                         lists->permutation, lists->sorted_keys, count);
}

enum status sorted_order_cells(struct sorted_order *order, uint32_t count, const struct radix_lists *lists,
                               const struct buffer *sorted_keys)
{
    const uint32_t cells = lists->cells;
    const bool search = cells <= count / (sorted_keys ? SEARCH_KEYS : SEARCH_KEYS_THROUGH) || cells > count;
    const uint64_t items = (search ? cells : count / MARKED_KEYS) + UINT64_C(1), word = sizeof(uint32_t);
    const uint64_t read = search ? 0 : (sorted_keys ? 1 : 2) * (uint64_t)count;
    TRY(need_kernels(order));
    return KERNEL_LAUNCH(search ? order->find_cells : order->mark_cells,
                         launch_flat(items, STAGE_SORT_OFFSETS, word * (read + cells + 1)),
                         sorted_keys ? sorted_keys : lists->keys,
                         sorted_keys ? sorted_keys : lists->permutation, sorted_keys == NULL,
                         lists->cell_offsets, count, cells);
}
