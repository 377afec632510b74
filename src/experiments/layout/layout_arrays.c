/* Layout arrays: values of the inputs, and the operations for each type, on the host and on the device. */
#include "experiments/layout/layout.h"
#include "shared/real.h" /* uint */

#include <stdlib.h>
#include <string.h>

/* ---- the host ---- */

enum { SHIFT_COUNT = 1021 /* arrays next to one another differ; a prime */ };

/* Marsaglia's xorshift64* of a number that differs for every element, multiplied first so that neighbours
 * have nothing in common. */
static uint64_t scrambled(uint64_t number)
{
    uint64_t bits = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    bits ^= bits >> 12;
    bits ^= bits << 25;
    bits ^= bits >> 27;
    return bits * UINT64_C(2685821657736338717);
}

/* Element j of array i. Random ones are multiples of 2^-21 within the range of int. */
static double value_at(enum layout_input input, struct layout_size size, uint32_t i, uint32_t j)
{
    const double shift = i % SHIFT_COUNT;
    switch (input) {
    case LAYOUT_DESCENDING:
        return shift + (size.length - j);
    case LAYOUT_BY_TURNS:
        return shift + (i % 2 == 0 ? size.length - j : j + 1);
    case LAYOUT_RANDOM:
        return (double)(scrambled((uint64_t)i * size.length + j) >> 11) * 0x1p-21 - 0x1p31;
    default:
        return 1;
    }
}

void layout_set(enum layout_type type, void *elements, size_t n, double value)
{
    if (type == LAYOUT_INT)
        ((int32_t *)elements)[n] = (int32_t)value;
    else if (type == LAYOUT_FLOAT)
        ((float *)elements)[n] = (float)value;
    else
        ((double *)elements)[n] = value;
}

void layout_fill(enum layout_type type, enum layout_input input, struct layout_size size, void *elements)
{
    for (uint32_t i = 0; i < size.arrays; i++)
        for (uint32_t j = 0; j < size.length; j++)
            layout_set(type, elements, (size_t)i * size.length + j, value_at(input, size, i, j));
}

void layout_transpose(enum layout_type type, struct layout_size size, const void *from, void *to)
{
    const size_t bytes = layout_bytes(type, (struct layout_size){1, 1});
    for (size_t r = 0; r < size.arrays; r++)
        for (size_t c = 0; c < size.length; c++)
            memcpy((char *)to + (c * size.arrays + r) * bytes,
                   (const char *)from + (r * size.length + c) * bytes, bytes);
}

#define ARRAY    ELEMENT *elements
#define PLACE(j) elements[j]

#define ELEMENT      int32_t
#define SERIAL(name) name##_int
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#undef SERIAL

#define ELEMENT      float
#define SERIAL(name) name##_float
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#undef SERIAL

#define ELEMENT      double
#define SERIAL(name) name##_double
#include "experiments/layout/layout_host_type.h"

void layout_apply(enum layout_type type, enum layout_operation operation, struct layout_size size,
                  void *elements)
{
    static void (*const of_types[LAYOUT_TYPES])(enum layout_operation, struct layout_size, void *) = {
        [LAYOUT_INT] = apply_int, [LAYOUT_FLOAT] = apply_float, [LAYOUT_DOUBLE] = apply_double};
    of_types[type](operation, size, elements);
}

/* ---- the device ---- */

enum { GROUP_ITEMS = 64, TILE = 32, TILE_ROWS = 8 }; /* or as the device's groups allow */

struct layout_kernels {
    enum layout_type type;
    size_t group_items, tile, tile_rows;
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
    made->tile = device_group_items(device, TILE);
    made->tile_rows = device_group_items(device, TILE_ROWS * made->tile) / made->tile;
    for (int order = 0; order < LAYOUT_ORDERS; order++) {
        TRY(program_build(device, "layout.cl", type == LAYOUT_DOUBLE ? PRECISION_DOUBLE : PRECISION_SINGLE,
                          &program,
                          "-D ELEMENT=%s -D COLUMN_WISE=%d -D GROUP_ITEMS=%zu -D TILE=%zu -D TILE_ROWS=%zu",
                          layout_type_names[type], order == LAYOUT_COLUMN_WISE, made->group_items, made->tile,
                          made->tile_rows));
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
    return KERNEL_LAUNCH(kernels->operations[order][operation], launch, elements, size.arrays, size.length);
}

enum status layout_kernels_transpose(struct layout_kernels *kernels, struct layout_size size,
                                     const struct buffer *from, struct buffer *to, enum stage stage)
{
    const size_t tile = kernels->tile;
    const struct launch launch = {(size.arrays + tile - 1) / tile * ((size.length + tile - 1) / tile),
                                  tile * kernels->tile_rows, stage, 2 * layout_bytes(kernels->type, size)};
    return KERNEL_LAUNCH(kernels->transpose, launch, from, to, size.arrays, size.length);
}
