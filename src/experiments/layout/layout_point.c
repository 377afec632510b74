/* Layout point: inputs on host and device, timed launches, and the judge of every result. */
#include "experiments/layout/layout.h"

#include <string.h>

enum { MOST_REPEATS = 10 };
static const double usual_seconds = 0.5; /* of timings of one thing, without --repeat */

/* What a point has on host and device. */
struct scene {
    struct bench *bench;
    struct layout_point *point;
    enum layout_what what; /* that is timed */
    size_t bytes;
    char *arrays[LAYOUT_ORDERS], *work; /* on the host: the input, later the result */
    struct buffer *input[LAYOUT_ORDERS], *first, *second;
};

static void turn_rows(const struct scene *scene)
{
    layout_transpose(scene->point->type, scene->point->size, scene->arrays[LAYOUT_ROW_WISE],
                     scene->arrays[LAYOUT_COLUMN_WISE]);
}

static enum status upload(struct scene *scene, enum layout_input input)
{
    layout_fill(scene->point->type, input, scene->point->size, scene->arrays[LAYOUT_ROW_WISE]);
    turn_rows(scene);
    for (int order = 0; order < LAYOUT_ORDERS; order++)
        TRY(buffer_write(scene->input[order], 0, scene->bytes, scene->arrays[order]));
    return STATUS_OK;
}

/* On the device the input in `first`, and nothing right in `second`. */
static enum status prepare(void *context)
{
    const struct scene *scene = context;
    const struct layout_point *point = scene->point;
    if (layout_is_on_host(scene->what)) {
        layout_fill(point->type, point->input, point->size, scene->work);
        return STATUS_OK;
    }
    TRY(buffer_fill(scene->second, UINT32_MAX));
    return buffer_copy(scene->input[scene->what == COLUMNS ? LAYOUT_COLUMN_WISE : LAYOUT_ROW_WISE], 0,
                       scene->first, 0, scene->bytes, STAGE_LOAD);
}

/* Timed into STAGE_OTHER; of three launches that is the whole. */
static enum status run(void *context)
{
    const struct scene *scene = context;
    const struct layout_point *point = scene->point;
    const struct layout_size size = point->size;
    if (layout_is_on_host(scene->what)) {
        layout_apply(point->type, scene->what == QUICKSORT ? LAYOUT_QUICKSORT : point->operation, size,
                     scene->work);
        return STATUS_OK;
    }
    if (scene->what == ROWS || scene->what == COLUMNS)
        return layout_kernels_apply(point->kernels, point->operation,
                                    scene->what == ROWS ? LAYOUT_ROW_WISE : LAYOUT_COLUMN_WISE, size,
                                    scene->first, STAGE_OTHER);
    TRY(layout_kernels_transpose(point->kernels, size, scene->first, scene->second,
                                 scene->what == TRANSPOSE ? STAGE_OTHER : STAGE_PERMUTE));
    if (scene->what == TRANSPOSE)
        return STATUS_OK;
    TRY(layout_kernels_apply(point->kernels, point->operation, LAYOUT_COLUMN_WISE, size, scene->second,
                             STAGE_PUSH));
    return layout_kernels_transpose(point->kernels, (struct layout_size){size.length, size.arrays},
                                    scene->second, scene->first, STAGE_PERMUTE);
}

static enum status judge(void *context, bool *right)
{
    const struct scene *scene = context;
    const bool by_column = scene->what == TRANSPOSE || scene->what == COLUMNS;
    const void *expected = scene->arrays[by_column ? LAYOUT_COLUMN_WISE : LAYOUT_ROW_WISE];
    struct buffer *result = scene->what == TRANSPOSE ? scene->second : scene->first;
    void *memory = scene->work;
    if (!layout_is_on_host(scene->what))
        TRY(buffer_map(result, &memory));
    *right = memcmp(memory, expected, scene->bytes) == 0;
    return layout_is_on_host(scene->what) ? STATUS_OK : buffer_unmap(result, memory);
}

static enum status time_what(struct scene *scene, enum layout_what what)
{
    scene->what = what;
    const bool on_host = layout_is_on_host(scene->what);
    const bool is_open = scene->bench->repeats == 0;
    const struct subject subject = {.context = scene,
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
    return (scene->point->wanted >> what & 1U) == 0
               ? STATUS_OK
               : bench_time(scene->bench, &subject, 1, &scene->point->times[what]);
}

/* The transposition is timed with random numbers, since the transpose of ones is ones however wrong. */
enum status layout_point_measure(struct bench *bench, void *layout_point)
{
    struct layout_point *point = layout_point;
    struct scene all = {.bench = bench, .point = point}, *scene = &all;
    scene->bytes = layout_bytes(point->type, point->size);
    TRY(DEVICE_NEW_ARRAY(bench->part, scene->work, scene->bytes));
    for (int n = 0; n < LAYOUT_ORDERS; n++) {
        TRY(DEVICE_NEW_ARRAY(bench->part, scene->arrays[n], scene->bytes));
        TRY(buffer_create(bench->part, scene->bytes, "arrays to work on", &scene->input[n]));
    }
    TRY(buffer_create(bench->part, scene->bytes, "arrays of results", &scene->first));
    TRY(buffer_create(bench->part, scene->bytes, "transposed arrays", &scene->second));
    TRY(upload(scene, LAYOUT_RANDOM));
    TRY(time_what(scene, TRANSPOSE));
    TRY(upload(scene, point->input));
    layout_apply(point->type, point->operation == LAYOUT_PREFIX_SUM ? LAYOUT_PREFIX_SUM : LAYOUT_LIBRARY_SORT,
                 point->size, scene->arrays[LAYOUT_ROW_WISE]);
    turn_rows(scene);
    for (enum layout_what what = ROWS; what < WHATS; what++)
        TRY(time_what(scene, what));
    return STATUS_OK;
}
