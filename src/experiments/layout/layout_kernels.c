/* Layout kernels: a program for each layout, and launches. */
#include "experiments/layout/layout.h"

enum { GROUP_ITEMS = 64, TRANSPOSE_ITEMS = 256, TILE = 32 };

struct layout_kernels {
    enum layout_type type;
    size_t group_items, transpose_items;
    struct kernel *operations[LAYOUT_ORDERS][LAYOUT_OPERATIONS], *transpose;
};

enum status layout_kernels_create(struct device *device, enum layout_type type,
                                  struct layout_kernels **kernels)
{
    static const char *const names[LAYOUT_OPERATIONS] = {[LAYOUT_PREFIX_SUM] = "prefix_sum",
                                                         [LAYOUT_BUBBLE_SORT] = "bubble_sort",
                                                         [LAYOUT_BITONIC_SORT] = "bitonic_sort"};
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *kernels));
    struct layout_kernels *made = *kernels;
    made->type = type;
    made->group_items = device_group_items(device, GROUP_ITEMS);
    made->transpose_items = device_group_items(device, TRANSPOSE_ITEMS);
    for (int order = 0; order < LAYOUT_ORDERS; order++) {
        TRY(program_build(
            device, "layout.cl", type == LAYOUT_DOUBLE ? PRECISION_DOUBLE : PRECISION_SINGLE, &program,
            "-D ELEMENT=%s -D COLUMN_WISE=%d -D GROUP_ITEMS=%zu -D TRANSPOSE_ITEMS=%zu -D TILE=%d",
            layout_type_names[type], order == LAYOUT_COLUMN_WISE, made->group_items, made->transpose_items,
            TILE));
        for (int operation = 0; operation < LAYOUT_OPERATIONS; operation++)
            TRY(kernel_create(program, names[operation], &made->operations[order][operation]));
    }
    return kernel_create(program, "transpose", &made->transpose);
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
