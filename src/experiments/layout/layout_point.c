/* Layout point: inputs on host and device, timed launches, and the judge of every result. */
#include "experiments/layout/layout.h"

#include <string.h>

/* ---- kernels ---- */

enum { GROUP_ITEMS = 64, TILE = 32, TILE_ROWS = 8 }; /* or as the device's groups allow */

static enum status create_kernels(struct device *device, struct layout_point *point)
{
    static const char *const names[LAYOUT_OPERATIONS] = {[LAYOUT_PREFIX_SUM] = "prefix_sum",
                                                         [LAYOUT_BUBBLE_SORT] = "bubble_sort",
                                                         [LAYOUT_BITONIC_SORT] = "bitonic_sort"};
    struct program *program = NULL;
    point->group_items = device_group_items(device, GROUP_ITEMS);
    point->tile = device_group_items(device, TILE);
    point->tile_rows = device_group_items(device, TILE_ROWS * point->tile) / point->tile;
    for (int order = 0; order < LAYOUT_ORDERS; order++) {
        TRY(program_build(device, "layout.cl",
                          point->type == LAYOUT_DOUBLE ? PRECISION_DOUBLE : PRECISION_SINGLE, &program,
                          "-D ELEMENT=%s -D COLUMN_WISE=%d -D GROUP_ITEMS=%zu -D TILE=%zu -D TILE_ROWS=%zu",
                          layout_type_names[point->type], order == LAYOUT_COLUMN_WISE, point->group_items,
                          point->tile, point->tile_rows));
        TRY(kernel_create(program, names[point->operation], &point->operations[order]));
    }
    return kernel_create(program, "transpose", &point->transpose);
}

/* The operation on every array, in place. */
static enum status apply(const struct layout_point *point, enum layout_order order, struct buffer *elements,
                         enum stage stage)
{
    const struct launch launch =
        launch_covering(point->size.arrays, point->group_items, stage, 2 * point->bytes);
    return KERNEL_LAUNCH(point->operations[order], launch, elements, point->size.arrays, point->size.length);
}

/* Row-wise arrays to column-wise ones. */
static enum status transpose(const struct layout_point *point, struct layout_size size,
                             const struct buffer *from, struct buffer *to, enum stage stage)
{
    const size_t tiles = (size_t)divide_up(size.arrays, point->tile) * divide_up(size.length, point->tile);
    const struct launch launch = {tiles, point->tile * point->tile_rows, stage, 2 * point->bytes};
    return KERNEL_LAUNCH(point->transpose, launch, from, to, size.arrays, size.length);
}

/* ---- one point ---- */

enum { BEHIND = 64 /* bytes behind all arrays, which must stay: */, UNTOUCHED = 0xff };

static void transpose_on_host(enum layout_type type, struct layout_size size, const void *from, void *to)
{
    const size_t bytes = layout_bytes(type, (struct layout_size){1, 1});
    for (size_t r = 0; r < size.arrays; r++)
        for (size_t c = 0; c < size.length; c++)
            memcpy((char *)to + (c * size.arrays + r) * bytes,
                   (const char *)from + (r * size.length + c) * bytes, bytes);
}

/* The rows that are on the host, and the columns of them, to host and device. */
static enum status upload(const struct layout_point *point)
{
    transpose_on_host(point->type, point->size, point->arrays[LAYOUT_ROW_WISE],
                      point->arrays[LAYOUT_COLUMN_WISE]);
    for (int order = 0; order < LAYOUT_ORDERS; order++)
        TRY(buffer_write(point->input[order], 0, point->bytes, point->arrays[order]));
    return STATUS_OK;
}

/* On the device the input in `first`, and nothing right in `second`. */
static enum status prepare(void *context)
{
    const struct layout_point *point = context;
    if (layout_is_on_host(point->what)) {
        layout_fill(point->type, point->input_kind, point->size, point->work);
        return STATUS_OK;
    }
    TRY(buffer_fill(point->first, UINT32_MAX));
    TRY(buffer_fill(point->second, UINT32_MAX));
    return buffer_copy(point->input[point->what == COLUMNS ? LAYOUT_COLUMN_WISE : LAYOUT_ROW_WISE], 0,
                       point->first, 0, point->bytes, STAGE_LOAD);
}

/* Timed as STAGE_OTHER but for what is in one piece. */
static enum status run(void *context)
{
    const struct layout_point *point = context;
    const struct layout_size size = point->size, turned = {size.length, size.arrays};
    switch (point->what) {
    case ROWS:
        return apply(point, LAYOUT_ROW_WISE, point->first, STAGE_OTHER);
    case COLUMNS:
        return apply(point, LAYOUT_COLUMN_WISE, point->first, STAGE_OTHER);
    case TRANSPOSE:
        return transpose(point, size, point->first, point->second, STAGE_OTHER);
    case TRANSPOSED:
        TRY(transpose(point, size, point->first, point->second, STAGE_PERMUTE));
        TRY(apply(point, LAYOUT_COLUMN_WISE, point->second, STAGE_PUSH));
        return transpose(point, turned, point->second, point->first, STAGE_PERMUTE);
    default:
        layout_apply(point->type, point->what == QUICKSORT ? LAYOUT_QUICKSORT : point->operation, size,
                     point->work);
        return STATUS_OK;
    }
}

static enum status judge(void *context, bool *right)
{
    const struct layout_point *point = context;
    const bool by_column = point->what == TRANSPOSE || point->what == COLUMNS;
    if (!layout_is_on_host(point->what))
        TRY(buffer_read(point->what == TRANSPOSE ? point->second : point->first, 0, point->bytes + BEHIND,
                        point->work));
    *right = memcmp(point->work, point->arrays[by_column ? LAYOUT_COLUMN_WISE : LAYOUT_ROW_WISE],
                    point->bytes + BEHIND) == 0;
    return STATUS_OK;
}

static enum status time_what(struct bench *bench, struct layout_point *point, enum layout_what what)
{
    const struct subject subject = {.context = point,
                                    .prepare = prepare,
                                    .run = run,
                                    .verify = judge,
                                    .seconds = point->seconds,
                                    .on_host = layout_is_on_host(what),
                                    .in_one_piece = what == TRANSPOSED};
    point->what = what;
    return (point->wanted >> what & 1U) != 0 ? bench_time(bench, &subject, 1, &point->times[what])
                                             : STATUS_OK;
}

/* The transposition is timed with random numbers, since the transpose of ones is ones however wrong. */
enum status layout_point_measure(struct bench *bench, void *layout_point)
{
    struct layout_point *point = layout_point;
    point->bytes = layout_bytes(point->type, point->size);
    TRY(create_kernels(bench->part, point));
    TRY(DEVICE_NEW_ARRAY(bench->part, point->work, point->bytes + BEHIND));
    memset(point->work + point->bytes, UNTOUCHED, BEHIND);
    for (int n = 0; n < LAYOUT_ORDERS; n++) {
        TRY(DEVICE_NEW_ARRAY(bench->part, point->arrays[n], point->bytes + BEHIND));
        memset(point->arrays[n] + point->bytes, UNTOUCHED, BEHIND);
        TRY(buffer_create(bench->part, point->bytes, "arrays to work on", &point->input[n]));
    }
    TRY(buffer_create(bench->part, point->bytes + BEHIND, "arrays of results", &point->first));
    TRY(buffer_create(bench->part, point->bytes + BEHIND, "transposed arrays", &point->second));
    char *const rows = point->arrays[LAYOUT_ROW_WISE];
    layout_fill(point->type, LAYOUT_RANDOM, point->size, rows);
    TRY(upload(point));
    TRY(time_what(bench, point, TRANSPOSE));
    layout_fill(point->type, point->input_kind, point->size, rows);
    TRY(upload(point));
    layout_apply(point->type, point->operation == LAYOUT_PREFIX_SUM ? LAYOUT_PREFIX_SUM : LAYOUT_QUICKSORT,
                 point->size, rows);
    transpose_on_host(point->type, point->size, rows, point->arrays[LAYOUT_COLUMN_WISE]);
    for (enum layout_what what = ROWS; what < WHATS; what++)
        TRY(time_what(bench, point, what));
    return STATUS_OK;
}
