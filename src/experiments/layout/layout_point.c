/* Layout point: inputs on host and device, timed launches, and the judge of every result. */
#include "experiments/layout/layout.h"

#include <string.h>

enum { MOST_REPEATS = 10 };
static const double usual_seconds = 0.5; /* of timings of one thing, without --repeat */

/* The rows that are on the host, and the columns of them, to host and device. */
static enum status upload(const struct layout_point *point)
{
    layout_transpose(point->type, point->size, point->arrays[LAYOUT_ROW_WISE],
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
    TRY(buffer_fill(point->second, UINT32_MAX));
    return buffer_copy(point->input[point->what == COLUMNS ? LAYOUT_COLUMN_WISE : LAYOUT_ROW_WISE], 0,
                       point->first, 0, point->bytes, STAGE_LOAD);
}

/* Timed as STAGE_OTHER but for what is in one piece. */
static enum status run(void *context)
{
    const struct layout_point *point = context;
    const struct layout_size size = point->size, turned = {size.length, size.arrays};
    struct layout_kernels *kernels = point->kernels;
    switch (point->what) {
    case ROWS:
        return layout_kernels_apply(kernels, point->operation, LAYOUT_ROW_WISE, size, point->first,
                                    STAGE_OTHER);
    case COLUMNS:
        return layout_kernels_apply(kernels, point->operation, LAYOUT_COLUMN_WISE, size, point->first,
                                    STAGE_OTHER);
    case TRANSPOSE:
        return layout_kernels_transpose(kernels, size, point->first, point->second, STAGE_OTHER);
    case TRANSPOSED:
        TRY(layout_kernels_transpose(kernels, size, point->first, point->second, STAGE_PERMUTE));
        TRY(layout_kernels_apply(kernels, point->operation, LAYOUT_COLUMN_WISE, size, point->second,
                                 STAGE_PUSH));
        return layout_kernels_transpose(kernels, turned, point->second, point->first, STAGE_PERMUTE);
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
        TRY(buffer_read(point->what == TRANSPOSE ? point->second : point->first, 0, point->bytes,
                        point->work));
    *right = memcmp(point->work, point->arrays[by_column ? LAYOUT_COLUMN_WISE : LAYOUT_ROW_WISE],
                    point->bytes) == 0;
    return STATUS_OK;
}

static enum status time_what(struct bench *bench, struct layout_point *point, enum layout_what what)
{
    const bool on_host = layout_is_on_host(what), is_open = bench->repeats == 0;
    point->what = what;
    const struct subject subject = {.context = point,
                                    .prepare = prepare,
                                    .run = run,
                                    .verify = judge,
                                    .repeats = !is_open  ? 0
                                               : on_host ? HOST_REPEATS
                                                         : MOST_REPEATS,
                                    .seconds = is_open ? usual_seconds : 0,
                                    .on_host = on_host,
                                    .in_one_piece = what == TRANSPOSED,
                                    .verifies_every = true};
    return (point->wanted >> what & 1U) != 0 ? bench_time(bench, &subject, 1, &point->times[what])
                                             : STATUS_OK;
}

/* The transposition is timed with random numbers, since the transpose of ones is ones however wrong. */
enum status layout_point_measure(struct bench *bench, void *layout_point)
{
    struct layout_point *point = layout_point;
    void *rows;
    point->bytes = layout_bytes(point->type, point->size);
    TRY(DEVICE_NEW_ARRAY(bench->part, point->work, point->bytes));
    for (int n = 0; n < LAYOUT_ORDERS; n++) {
        TRY(DEVICE_NEW_ARRAY(bench->part, point->arrays[n], point->bytes));
        TRY(buffer_create(bench->part, point->bytes, "arrays to work on", &point->input[n]));
    }
    TRY(buffer_create(bench->part, point->bytes, "arrays of results", &point->first));
    TRY(buffer_create(bench->part, point->bytes, "transposed arrays", &point->second));
    rows = point->arrays[LAYOUT_ROW_WISE];
    layout_fill(point->type, LAYOUT_RANDOM, point->size, rows);
    TRY(upload(point));
    TRY(time_what(bench, point, TRANSPOSE));
    layout_fill(point->type, point->input_kind, point->size, rows);
    TRY(upload(point));
    layout_apply(point->type, point->operation == LAYOUT_PREFIX_SUM ? LAYOUT_PREFIX_SUM : LAYOUT_LIBRARY_SORT,
                 point->size, rows);
    layout_transpose(point->type, point->size, rows, point->arrays[LAYOUT_COLUMN_WISE]);
    for (enum layout_what what = ROWS; what < WHATS; what++)
        TRY(time_what(bench, point, what));
    return STATUS_OK;
}
