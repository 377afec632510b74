/* Layout kernels: a program for each layout, and launches. */
#include "experiments/layout/layout.h"

enum { GROUP_ITEMS = 64, TRANSPOSE_ITEMS = 256, TILE = 32 };

struct layout_kernels {
    enum layout_type type;
    size_t group_items, transpose_items;
    struct program *programs[LAYOUT_ORDERS];
    struct kernel *operations[LAYOUT_ORDERS][LAYOUT_OPERATIONS];
    struct kernel *transpose;
};

static enum status build(struct device *device, struct layout_kernels *kernels)
{
    static const char *const names[LAYOUT_OPERATIONS] = {[LAYOUT_PREFIX_SUM] = "prefix_sum",
                                                         [LAYOUT_BUBBLE_SORT] = "bubble_sort",
                                                         [LAYOUT_BITONIC_SORT] = "bitonic_sort"};
    const enum precision precision = kernels->type == LAYOUT_DOUBLE ? PRECISION_DOUBLE : PRECISION_SINGLE;
    for (int order = 0; order < LAYOUT_ORDERS; order++) {
        TRY(program_build(
            device, "layout.cl", precision, &kernels->programs[order],
            "-D ELEMENT=%s -D COLUMN_WISE=%d -D GROUP_ITEMS=%zu -D TRANSPOSE_ITEMS=%zu -D TILE=%d",
            layout_type_names[kernels->type], order == LAYOUT_COLUMN_WISE, kernels->group_items,
            kernels->transpose_items, TILE));
        for (int operation = 0; operation < LAYOUT_OPERATIONS; operation++)
            TRY(kernel_create(kernels->programs[order], names[operation],
                              &kernels->operations[order][operation]));
    }
    return kernel_create(kernels->programs[LAYOUT_ROW_WISE], "transpose", &kernels->transpose);
}

enum status layout_kernels_create(struct device *device, enum layout_type type,
                                  struct layout_kernels **kernels)
{
    TRY(DEVICE_NEW(device, *kernels));
    (*kernels)->type = type;
    (*kernels)->group_items = device_group_items(device, GROUP_ITEMS);
    (*kernels)->transpose_items = device_group_items(device, TRANSPOSE_ITEMS);
    return build(device, *kernels);
}

enum status layout_kernels_apply(struct layout_kernels *kernels, enum layout_operation operation,
                                 enum layout_order order, struct layout_size size, struct buffer *elements,
                                 enum stage stage)
{
    const struct launch launch =
        launch_covering(size.arrays, kernels->group_items, stage, 2 * layout_bytes(kernels->type, size));
    return KERNEL_LAUNCH(kernels->operations[order][operation], launch, arg_buffer(elements),
                         arg_uint(size.arrays), arg_uint(size.length));
}

enum status layout_kernels_transpose(struct layout_kernels *kernels, uint32_t rows, uint32_t columns,
                                     const struct buffer *from, struct buffer *to, enum stage stage)
{
    const struct layout_size size = {rows, columns};
    const size_t tiles = (size_t)((rows + TILE - 1) / TILE) * ((columns + TILE - 1) / TILE);
    const struct launch launch = {tiles, kernels->transpose_items, stage,
                                  2 * layout_bytes(kernels->type, size)};
    return KERNEL_LAUNCH(kernels->transpose, launch, arg_buffer(from), arg_buffer(to), arg_uint(rows),
                         arg_uint(columns));
}
