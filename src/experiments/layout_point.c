/* Layout point: inputs on host and device, timed launches, and the judge of every result. */
#include "experiments/layout_point.h"

#include "experiments/layout_host.h"
#include "experiments/samples.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_REPEATS = 10, MOST_HOST_REPEATS = 3 };
static const double usual_seconds = 0.5; /* of timings of one thing, without --repeat */

/* What is timed now. */
struct bench {
    struct device *device;
    struct layout_kernels *kernels;
    uint32_t repeats;
    struct layout_point *point;
    size_t bytes;
    void *rows, *columns; /* on the host: the input in both layouts, later the result */
    void *work;
    struct buffer *input_rows, *input_columns, *first, *second;
    struct samples samples;
};

static enum status create(struct bench *bench)
{
    const struct layout_point *point = bench->point;
    bench->rows = malloc(bench->bytes);
    bench->columns = malloc(bench->bytes);
    bench->work = malloc(bench->bytes);
    if (!bench->rows || !bench->columns || !bench->work)
        return status_fail(STATUS_FAILED, "no memory for three times %u arrays of %u on the host",
                           point->size.arrays, point->size.length);
    TRY(buffer_create(bench->device, bench->bytes, "row-wise arrays", &bench->input_rows));
    TRY(buffer_create(bench->device, bench->bytes, "column-wise arrays", &bench->input_columns));
    TRY(buffer_create(bench->device, bench->bytes, "arrays of results", &bench->first));
    return buffer_create(bench->device, bench->bytes, "transposed arrays", &bench->second);
}

static enum status upload(struct bench *bench, enum layout_input input)
{
    const struct layout_point *point = bench->point;
    layout_host_fill(input, point->type, point->size, bench->rows);
    layout_host_transpose(point->type, point->size.arrays, point->size.length, bench->rows, bench->columns);
    TRY(buffer_write(bench->input_rows, 0, bench->bytes, bench->rows));
    return buffer_write(bench->input_columns, 0, bench->bytes, bench->columns);
}

static void destroy(struct bench *bench)
{
    buffer_destroy(&bench->input_rows);
    buffer_destroy(&bench->input_columns);
    buffer_destroy(&bench->first);
    buffer_destroy(&bench->second);
    free(bench->rows);
    free(bench->columns);
    free(bench->work);
}

/* Puts the results where the inputs were, in both layouts. */
static void make_results(struct bench *bench)
{
    const struct layout_point *point = bench->point;
    if (point->operation == LAYOUT_PREFIX_SUM)
        layout_host_apply(point->operation, point->type, point->size, bench->rows);
    else
        layout_host_library_sort(point->type, point->size, bench->rows);
    layout_host_transpose(point->type, point->size.arrays, point->size.length, bench->rows, bench->columns);
}

/* ---- the device ---- */

/* The input for `what` in `first`, and nothing right in `second`. */
static enum status prepare(struct bench *bench, enum layout_what what)
{
    const struct buffer *input = what == LAYOUT_COLUMNS ? bench->input_columns : bench->input_rows;
    TRY(buffer_fill(bench->second, UINT32_MAX));
    return buffer_copy(input, bench->first, bench->bytes, STAGE_LOAD);
}

static enum status transpose(struct bench *bench, enum stage stage)
{
    const struct layout_size size = bench->point->size;
    return layout_kernels_transpose(bench->kernels, size.arrays, size.length, bench->first, bench->second,
                                    stage);
}

/* Three launches, timed from before the first to after the last. */
static enum status launch_transposed(struct bench *bench)
{
    const struct layout_point *point = bench->point;
    const struct layout_size size = point->size;
    TRY(device_region_begin(bench->device));
    TRY(transpose(bench, STAGE_PERMUTE));
    TRY(layout_kernels_apply(bench->kernels, point->operation, LAYOUT_COLUMN_WISE, size, bench->second,
                             STAGE_PUSH));
    TRY(layout_kernels_transpose(bench->kernels, size.length, size.arrays, bench->second, bench->first,
                                 STAGE_PERMUTE));
    return device_region_end(bench->device, STAGE_OTHER, 0);
}

/* Times into STAGE_OTHER. */
static enum status launch(struct bench *bench, enum layout_what what)
{
    const struct layout_point *point = bench->point;
    if (what == LAYOUT_TRANSPOSED)
        return launch_transposed(bench);
    if (what == LAYOUT_TRANSPOSE)
        return transpose(bench, STAGE_OTHER);
    return layout_kernels_apply(bench->kernels, point->operation,
                                what == LAYOUT_ROWS ? LAYOUT_ROW_WISE : LAYOUT_COLUMN_WISE, point->size,
                                bench->first, STAGE_OTHER);
}

static enum status judge(const struct bench *bench, enum layout_what what, bool *right)
{
    struct buffer *result = what == LAYOUT_TRANSPOSE ? bench->second : bench->first;
    const bool by_column = what == LAYOUT_TRANSPOSE || what == LAYOUT_COLUMNS;
    void *memory = NULL;
    TRY(buffer_map(result, &memory));
    *right = memcmp(memory, by_column ? bench->columns : bench->rows, bench->bytes) == 0;
    return buffer_unmap(result, memory);
}

/* Whether another timing is due after those in bench->samples. */
static bool goes_on(const struct bench *bench, uint32_t most)
{
    const size_t done = bench->samples.count;
    double spent = 0;
    if (bench->repeats > 0)
        return done < bench->repeats && done < most;
    for (size_t n = 0; n < done; n++)
        spent += bench->samples.seconds[n];
    return done == 0 || (spent < usual_seconds && done < most);
}

static void summarise(const struct samples *samples, struct layout_time *time)
{
    time->median = samples_median(samples);
    time->minimum = samples_minimum(samples);
    time->maximum = samples_maximum(samples);
    time->count = (uint32_t)samples->count;
}

static enum status time_on_device(struct bench *bench, enum layout_what what)
{
    struct layout_time *time = &bench->point->times[what];
    bool warm = false, right = false;
    bench->samples.count = 0;
    time->verified = true;
    while (goes_on(bench, bench->repeats > 0 ? SAMPLES_MAX : MOST_REPEATS)) {
        TRY(prepare(bench, what));
        device_reset_timers(bench->device);
        TRY(launch(bench, what));
        TRY(device_finish(bench->device));
        if (warm)
            samples_add(&bench->samples, device_timers(bench->device)->stages[STAGE_OTHER].seconds);
        warm = true;
        TRY(judge(bench, what, &right));
        time->verified = time->verified && right;
    }
    summarise(&bench->samples, time);
    return STATUS_OK;
}

/* ---- the host ---- */

static void time_on_host(struct bench *bench, enum layout_what what)
{
    const struct layout_point *point = bench->point;
    struct layout_time *time = &bench->point->times[what];
    bench->samples.count = 0;
    time->verified = true;
    while (goes_on(bench, MOST_HOST_REPEATS)) {
        layout_host_fill(point->input, point->type, point->size, bench->work);
        const double start = timer_now();
        if (what == LAYOUT_HOST)
            layout_host_apply(point->operation, point->type, point->size, bench->work);
        else
            layout_host_quicksort(point->type, point->size, bench->work);
        samples_add(&bench->samples, timer_now() - start);
        time->verified = time->verified && memcmp(bench->work, bench->rows, bench->bytes) == 0;
    }
    summarise(&bench->samples, time);
}

/* The transposition is timed with random numbers, since the transpose of ones is ones however wrong. */
static enum status measure(struct bench *bench)
{
    const bool *wanted = bench->point->wanted;
    TRY(create(bench));
    if (wanted[LAYOUT_TRANSPOSE]) {
        TRY(upload(bench, LAYOUT_RANDOM));
        TRY(time_on_device(bench, LAYOUT_TRANSPOSE));
    }
    TRY(upload(bench, bench->point->input));
    make_results(bench);
    for (enum layout_what what = LAYOUT_ROWS; what <= LAYOUT_TRANSPOSED; what++)
        if (wanted[what])
            TRY(time_on_device(bench, what));
    for (enum layout_what what = LAYOUT_HOST; what <= LAYOUT_QUICKSORT; what++)
        if (wanted[what])
            time_on_host(bench, what);
    return STATUS_OK;
}

enum status layout_point_measure(struct device *device, struct layout_kernels *kernels, uint32_t repeats,
                                 struct layout_point *point)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    bench->device = device;
    bench->kernels = kernels;
    bench->repeats = repeats;
    bench->point = point;
    bench->bytes = layout_bytes(point->type, point->size);
    const enum status status = measure(bench);
    destroy(bench);
    free(bench);
    return status;
}
