/* Layout: what the tables need is measured once, when the first of them comes to it, and printed. */
#include "experiments/layout.h"

#include "experiments/csv_file.h"
#include "experiments/layout_options.h"
#include "experiments/samples.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 4, COPY_REPEATS = 10 }; /* the cases are those of the first four tables */
enum { CELL_WIDTH = 34 };

struct experiment {
    struct layout_options options;
    struct device *device;
    struct layout_kernels *kernels[LAYOUT_TYPES]; /* made when needed */
    struct layout_point points[CASES][LAYOUT_TYPES][LAYOUT_MAX_SIZES];
    bool measured[CASES][LAYOUT_TYPES][LAYOUT_MAX_SIZES];
    bool verified;
    FILE *csv;
};

static size_t case_of(const struct layout_table *table)
{
    size_t n = 0;
    while (layout_tables[n].operation != table->operation || layout_tables[n].input != table->input)
        n++;
    return n;
}

static bool lacks(const struct experiment *experiment, enum layout_type type)
{
    return type == LAYOUT_DOUBLE && !device_info(experiment->device)->has_fp64;
}

/* ---- measuring ---- */

static void want_column(struct experiment *experiment, size_t case_number, const struct layout_column *column)
{
    for (size_t n = 0; n < LAYOUT_MAX_SIZES; n++) {
        bool *wanted = experiment->points[case_number][column->type][n].wanted;
        if (column->what == LAYOUT_RATIO)
            wanted[LAYOUT_ROWS] = wanted[LAYOUT_COLUMNS] = true;
        else
            wanted[column->what] = true;
    }
}

/* Fills all points but for their times, so that tables of the same times share them. */
static void plan_points(struct experiment *experiment)
{
    const struct layout_options *options = &experiment->options;
    for (size_t c = 0; c < CASES; c++) {
        uint32_t arrays[LAYOUT_MAX_SIZES] = {0};
        layout_options_arrays(options, layout_tables[c].operation, arrays);
        for (enum layout_type type = LAYOUT_INT; type < LAYOUT_TYPES; type++)
            for (size_t n = 0; n < LAYOUT_MAX_SIZES; n++)
                experiment->points[c][type][n] =
                    (struct layout_point){.operation = layout_tables[c].operation,
                                          .input = layout_tables[c].input,
                                          .type = type,
                                          .size = {arrays[n], options->length}};
    }
    for (size_t t = 0; t < LAYOUT_TABLES; t++) {
        struct layout_column columns[LAYOUT_MOST_COLUMNS];
        if (!options->tables[t])
            continue;
        const size_t count = layout_table_columns(&layout_tables[t], options->type, columns);
        for (size_t n = 0; n < count; n++)
            want_column(experiment, case_of(&layout_tables[t]), &columns[n]);
    }
}

static void write_csv(const struct experiment *experiment, const struct layout_point *point)
{
    static const char *const inputs[LAYOUT_INPUTS] = {[LAYOUT_ONES] = "ones",
                                                      [LAYOUT_DESCENDING] = "s",
                                                      [LAYOUT_BY_TURNS] = "d",
                                                      [LAYOUT_RANDOM] = "random"};
    static const char *const whats[LAYOUT_WHATS] = {
        [LAYOUT_TRANSPOSE] = "transpose",   [LAYOUT_ROWS] = "row-wise", [LAYOUT_COLUMNS] = "column-wise",
        [LAYOUT_TRANSPOSED] = "transposed", [LAYOUT_HOST] = "row-wise", [LAYOUT_QUICKSORT] = "quicksort"};
    for (int what = 0; what < LAYOUT_WHATS; what++) {
        const struct layout_time *time = &point->times[what];
        const bool on_host = what == LAYOUT_HOST || what == LAYOUT_QUICKSORT;
        if (time->count == 0)
            continue;
        fprintf(experiment->csv, "\"%s\",%s,%s,%s,%u,%u,%s,%.6f,%.6f,%.6f,%u,%s\n",
                on_host ? "host" : device_info(experiment->device)->name,
                layout_operation_names[point->operation], inputs[point->input],
                layout_type_names[point->type], point->size.arrays, point->size.length, whats[what],
                1e3 * time->median, 1e3 * time->minimum, 1e3 * time->maximum, time->count,
                time->verified ? "yes" : "no");
    }
}

static enum status measure_point(struct experiment *experiment, size_t case_number, enum layout_type type,
                                 size_t number)
{
    struct layout_point *point = &experiment->points[case_number][type][number];
    bool *measured = &experiment->measured[case_number][type][number];
    if (*measured)
        return STATUS_OK;
    if (!experiment->kernels[type])
        TRY(layout_kernels_create(experiment->device, type, &experiment->kernels[type]));
    TRY(layout_point_measure(experiment->device, experiment->kernels[type], experiment->options.repeats,
                             point));
    *measured = true;
    if (experiment->csv)
        write_csv(experiment, point);
    return STATUS_OK;
}

/* ---- printing ---- */

static const char *title_of(const struct layout_table *table)
{
    switch (table->input) {
    case LAYOUT_ONES:
        return "prefix sums of ones";
    case LAYOUT_DESCENDING:
        return "bubble sort of type S";
    case LAYOUT_BY_TURNS:
        return "bubble sort of type D";
    default:
        return "bitonic sort of random numbers";
    }
}

static void print_head(const struct experiment *experiment, const struct layout_table *table,
                       const struct layout_column *columns, size_t count)
{
    const struct layout_options *options = &experiment->options;
    const bool by_type = table->kind == LAYOUT_BY_TYPE;
    printf("\nTable %s: %s, %s, N = %u, ms, median [min, max] (number of timings):\n", table->number,
           title_of(table),
           !by_type                     ? layout_type_names[options->type]
           : table->what == LAYOUT_ROWS ? "row-wise"
                                        : "column-wise",
           options->length);
    if (table->kind == LAYOUT_AGAINST_HOST)
        printf("  R/C: row-wise over column-wise\n");
    if (table->kind == LAYOUT_WITH_TRANSPOSITION)
        printf("  (B): transposed, column-wise, and transposed back, from the first launch to the last\n");
    printf("  %17s", "T x B = L");
    for (size_t n = 0; n < count; n++)
        printf("  %*s", columns[n].what == LAYOUT_RATIO ? 7 : CELL_WIDTH, columns[n].title);
    printf("\n");
}

static void print_time(const struct layout_time *time)
{
    char text[96];
    snprintf(text, sizeof text, "%.3f [%.3f, %.3f] (%u)", 1e3 * time->median, 1e3 * time->minimum,
             1e3 * time->maximum, time->count);
    printf("  %*s", CELL_WIDTH, time->count > 0 ? text : "-");
}

/* Row-wise over column-wise. */
static double ratio_of(const struct layout_point *point)
{
    const double by_column = point->times[LAYOUT_COLUMNS].median;
    return by_column > 0 ? point->times[LAYOUT_ROWS].median / by_column : 0;
}

/* Prints one cell; false where a result behind it was wrong. */
static bool print_cell(const struct layout_point *point, int what)
{
    if (what == LAYOUT_RATIO) {
        printf("  %7.2f", ratio_of(point));
        return true;
    }
    print_time(&point->times[what]);
    return point->times[what].count == 0 || point->times[what].verified;
}

static enum status print_row(struct experiment *experiment, const struct layout_table *table, size_t number,
                             const struct layout_column *columns, size_t count)
{
    const size_t case_number = case_of(table);
    const uint32_t arrays = experiment->points[case_number][0][number].size.arrays;
    bool right = true;
    for (size_t n = 0; n < count; n++)
        if (!lacks(experiment, columns[n].type))
            TRY(measure_point(experiment, case_number, columns[n].type, number));
    char text[64];
    snprintf(text, sizeof text, "%d x %u = %u", LAYOUT_GROUP, arrays / LAYOUT_GROUP, arrays);
    printf("  %17s", text);
    for (size_t n = 0; n < count; n++)
        right =
            print_cell(&experiment->points[case_number][columns[n].type][number], columns[n].what) && right;
    printf("  %s\n", right ? "verified" : "NOT VERIFIED");
    fflush(stdout);
    experiment->verified = experiment->verified && right;
    return STATUS_OK;
}

static enum status print_table(struct experiment *experiment, const struct layout_table *table)
{
    struct layout_column columns[LAYOUT_MOST_COLUMNS];
    uint32_t arrays[LAYOUT_MAX_SIZES];
    const size_t count = layout_table_columns(table, experiment->options.type, columns);
    const uint32_t rows = layout_options_arrays(&experiment->options, table->operation, arrays);
    print_head(experiment, table, columns, count);
    for (size_t n = 0; n < rows; n++)
        TRY(print_row(experiment, table, n, columns, count));
    if (table->kind == LAYOUT_BY_TYPE && lacks(experiment, LAYOUT_DOUBLE))
        printf("  double: this device has none\n");
    return STATUS_OK;
}

/* A copy of as many bytes as the largest int arrays of the tables have. */
static enum status print_copy(struct experiment *experiment)
{
    struct samples *copy = calloc(1, sizeof *copy);
    size_t bytes = 0;
    if (!copy)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    for (size_t t = 0; t < LAYOUT_TABLES; t++) {
        const struct layout_point *points = experiment->points[case_of(&layout_tables[t])][LAYOUT_INT];
        for (size_t n = 0; n < LAYOUT_MAX_SIZES && experiment->options.tables[t]; n++)
            if (layout_bytes(LAYOUT_INT, points[n].size) > bytes)
                bytes = layout_bytes(LAYOUT_INT, points[n].size);
    }
    const enum status status = samples_of_copy(experiment->device, bytes, COPY_REPEATS, copy);
    const double seconds = samples_median(copy);
    char size[SAMPLES_SIZE_TEXT];
    if (status == STATUS_OK)
        printf("layout: T = %d items a group, an array each, on %s; a copy of %s there: %.2f GB/s\n",
               LAYOUT_GROUP, device_info(experiment->device)->name, samples_size(bytes, size),
               seconds > 0 ? 2e-9 * (double)bytes / seconds : 0);
    free(copy);
    return status;
}

static const char csv_header[] =
    "device,operation,input,type,arrays,length,layout,median_ms,min_ms,max_ms,repeats,verified";

static enum status run(struct experiment *experiment)
{
    const struct layout_options *options = &experiment->options;
    TRY(device_open(options->device, &experiment->device));
    if (lacks(experiment, options->type))
        return status_fail(STATUS_FAILED, "--type double: %s has no double precision",
                           device_info(experiment->device)->name);
    TRY(csv_file_open(options->csv_path, csv_header, &experiment->csv));
    plan_points(experiment);
    TRY(print_copy(experiment));
    for (size_t n = 0; n < LAYOUT_TABLES; n++)
        if (options->tables[n])
            TRY(print_table(experiment, &layout_tables[n]));
    return experiment->verified ? STATUS_OK
                                : status_fail(STATUS_FAILED, "a result is not the host's; see above");
}

enum status experiment_layout(int argc, char **argv)
{
    struct experiment *experiment = calloc(1, sizeof *experiment);
    bool done = false;
    if (!experiment)
        return status_fail(STATUS_FAILED, "no memory for the times");
    experiment->verified = true;
    enum status status = layout_options_parse(argc, argv, &experiment->options, &done);
    if (status == STATUS_OK && !done)
        status = run(experiment);
    status = csv_file_close(experiment->options.csv_path, &experiment->csv, status);
    for (int type = 0; type < LAYOUT_TYPES; type++)
        layout_kernels_destroy(&experiment->kernels[type]);
    device_close(&experiment->device);
    free(experiment);
    return status;
}
