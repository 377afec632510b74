/* Deposit bench: the tables, and where sorting pays. */
#include "experiments/deposit_bench.h"

#include "experiments/csv_file.h"
#include "experiments/deposit_bench_options.h"
#include "experiments/deposit_bench_point.h"
#include "experiments/usual_options.h"

#include <stdlib.h>

static const size_t least_copy = (size_t)1 << 26, most_copy = (size_t)1 << 30;

/* Words in the table, and in the CSV file. */
static const char *const column_names[DEPOSIT_COLUMNS][2] = {
    [COLUMN_SORTED] = {"sorted", "sorted"},
    [COLUMN_SORT_AND_SORTED] = {"sort+", "sort+sorted"},
    [COLUMN_ATOMIC_ORDERED] = {"atomic", "atomic-ordered"},
    [COLUMN_ATOMIC_SHUFFLED] = {"shuffled", "atomic-shuffled"},
};

/* What is kept of a point until its shape's tables are done. */
struct row {
    double per_cell;
    double seconds[DEPOSIT_COLUMNS]; /* medians */
    uint64_t bytes[DEPOSIT_COLUMNS];
};

struct bench {
    struct deposit_bench_options options;
    struct device *device;
    struct samples copy;
    size_t copy_bytes;
    struct deposit_point point; /* the last one measured */
    struct row rows[DEPOSIT_BENCH_MAX_POINTS];
    bool verified; /* all of them */
    FILE *csv;
};

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

/* A copy of as much as the offsets, but too much for a cache and not more than need be. */
static enum status time_copy(struct bench *bench)
{
    const uint64_t wanted =
        bench->options.particles * (uint64_t)2 * precision_bytes(bench->options.precision);
    bench->copy_bytes = wanted < least_copy ? least_copy : wanted > most_copy ? most_copy : (size_t)wanted;
    return samples_of_copy(bench->device, bench->copy_bytes, bench->options.repeats, &bench->copy);
}

static double copy_bandwidth(const struct bench *bench)
{
    return 1e-9 * per_second(2.0 * (double)bench->copy_bytes, samples_median(&bench->copy));
}

/* ---- tables ---- */

static void print_head(const struct bench *bench, enum shape_kind shape)
{
    printf("\n%s: ms, medians of %u with [min, max]; sort+ is with the sort of a shuffled list, shuffled are "
           "atomic additions to one\n",
           usual_shapes[shape], bench->options.repeats);
    printf("  %8s %10s", "per cell", "cells");
    for (int column = 0; column < DEPOSIT_COLUMNS; column++)
        printf(" %9s [%8s, %8s]", column_names[column][0], "min", "max");
    printf("\n");
}

static void print_row(const struct bench *bench, double per_cell, const uint32_t cells[2])
{
    char grid[32];
    snprintf(grid, sizeof grid, "%ux%u", cells[0], cells[1]);
    printf("  %8g %10s", per_cell, grid);
    for (int column = 0; column < DEPOSIT_COLUMNS; column++) {
        const struct samples *seconds = &bench->point.seconds[column];
        printf(" %9.3f [%8.3f, %8.3f]", 1e3 * samples_median(seconds), 1e3 * samples_minimum(seconds),
               1e3 * samples_maximum(seconds));
    }
    printf("  %s%s\n", bench->point.verified ? "verified" : "NOT VERIFIED: ", bench->point.verdict);
    fflush(stdout);
}

/* The same times per particle and per byte, and how many times faster a list in order is deposited by sorted,
 * and a shuffled one by sort+, than by atomic additions. */
static void print_rates(const struct bench *bench)
{
    printf("  %8s  %-39s  %-39s  %s\n", "", "ns a particle", "GB/s", "times faster than atomic");
    printf("  %8s ", "per cell");
    for (int part = 0; part < 2; part++, printf(" "))
        for (int column = 0; column < DEPOSIT_COLUMNS; column++)
            printf(" %9s", column_names[column][0]);
    printf(" %9s %9s\n", "in order", "shuffled");
    for (uint32_t n = 0; n < bench->options.point_count; n++) {
        const struct row *row = &bench->rows[n];
        printf("  %8g ", row->per_cell);
        for (int column = 0; column < DEPOSIT_COLUMNS; column++)
            printf(" %9.4f", 1e9 * row->seconds[column] / bench->options.particles);
        printf(" ");
        for (int column = 0; column < DEPOSIT_COLUMNS; column++)
            printf(" %9.2f", 1e-9 * per_second((double)row->bytes[column], row->seconds[column]));
        printf("  %9.2f %9.2f\n",
               per_second(row->seconds[COLUMN_ATOMIC_ORDERED], row->seconds[COLUMN_SORTED]),
               per_second(row->seconds[COLUMN_ATOMIC_SHUFFLED], row->seconds[COLUMN_SORT_AND_SORTED]));
    }
}

/* The particles per cell at which one column takes less time than another. */
static void print_where(const struct bench *bench, const char *what, enum deposit_column faster,
                        enum deposit_column slower)
{
    uint32_t found = 0;
    printf("%s: at", what);
    for (uint32_t n = 0; n < bench->options.point_count; n++)
        if (bench->rows[n].seconds[faster] < bench->rows[n].seconds[slower])
            printf("%s %g", found++ > 0 ? "," : "", bench->rows[n].per_cell);
    printf("%s particles a cell\n", found > 0 ? "" : " none of these numbers of");
}

static void print_verdict(const struct bench *bench)
{
    print_where(bench, "sorting a shuffled list first pays", COLUMN_SORT_AND_SORTED, COLUMN_ATOMIC_SHUFFLED);
    print_where(bench, "in a list that is in order anyway, sorted beats atomic", COLUMN_SORTED,
                COLUMN_ATOMIC_ORDERED);
}

static const char csv_header[] =
    "device,shape,precision,atomics,particles,cells_x,cells_y,per_cell,method,median_ms,min_ms,max_ms,"
    "ns_per_particle,gigabytes_per_second,copy_gigabytes_per_second,repeats,verified";

static void write_csv(const struct bench *bench, enum shape_kind shape, double per_cell,
                      const uint32_t cells[2])
{
    const struct deposit_point *point = &bench->point;
    for (int column = 0; column < DEPOSIT_COLUMNS; column++) {
        const struct samples *samples = &point->seconds[column];
        const double seconds = samples_median(samples);
        fprintf(bench->csv, "\"%s\",%s,%s,%s,%u,%u,%u,%g,%s,%.6f,%.6f,%.6f,%.6g,%.6g,%.6g,%u,%s\n",
                device_info(bench->device)->name, usual_shapes[shape],
                usual_precisions[bench->options.precision], point->way == ATOMIC_64 ? "64" : "32",
                bench->options.particles, cells[0], cells[1], per_cell, column_names[column][1],
                1e3 * seconds, 1e3 * samples_minimum(samples), 1e3 * samples_maximum(samples),
                1e9 * seconds / bench->options.particles,
                1e-9 * per_second((double)point->bytes[column], seconds), copy_bandwidth(bench),
                bench->options.repeats, point->verified ? "yes" : "no");
    }
}

/* ---- the whole ---- */

static enum status run_point(struct bench *bench, enum shape_kind shape, uint32_t n)
{
    const struct deposit_bench_options *options = &bench->options;
    struct deposit_setup setup = {.particles = options->particles,
                                  .shape = shape,
                                  .precision = options->precision,
                                  .way = options->way,
                                  .repeats = options->repeats};
    (void)deposit_bench_cells(options->particles, options->per_cell[n], setup.cells); /* as settled before */
    TRY(deposit_point_run(&setup, bench->device, &bench->point));
    struct row *row = &bench->rows[n];
    row->per_cell = (double)options->particles / setup.cells[0] / setup.cells[1];
    for (int column = 0; column < DEPOSIT_COLUMNS; column++) {
        row->seconds[column] = samples_median(&bench->point.seconds[column]);
        row->bytes[column] = bench->point.bytes[column];
    }
    print_row(bench, row->per_cell, setup.cells);
    if (bench->csv)
        write_csv(bench, shape, row->per_cell, setup.cells);
    bench->verified = bench->verified && bench->point.verified;
    return STATUS_OK;
}

static enum status run(struct bench *bench)
{
    const struct deposit_bench_options *options = &bench->options;
    TRY(device_open(options->device, &bench->device));
    TRY(csv_file_open(options->csv_path, csv_header, &bench->csv));
    TRY(time_copy(bench));
    const bool at_once = options->way == ATOMIC_64 ||
                         (options->way == ATOMIC_AUTO && device_info(bench->device)->has_int64_atomics);
    char size[SAMPLES_SIZE_TEXT];
    printf("deposit: %u particles in %s precision, on %s; atomic additions of %s\n", options->particles,
           usual_precisions[options->precision], device_info(bench->device)->name,
           at_once ? "64 bits at once" : "two words of 32 bits");
    printf("copy of %s on the device: %.2f GB/s; shorter lists stay in caches and can beat it\n",
           samples_size(bench->copy_bytes, size), copy_bandwidth(bench));
    for (int shape = 0; shape < DEPOSIT_BENCH_SHAPES; shape++) {
        if (!options->shapes[shape])
            continue;
        print_head(bench, (enum shape_kind)shape);
        for (uint32_t n = 0; n < options->point_count; n++)
            TRY(run_point(bench, (enum shape_kind)shape, n));
        printf("\n");
        print_rates(bench);
        print_verdict(bench);
    }
    return bench->verified ? STATUS_OK
                           : status_fail(STATUS_FAILED, "a density was not the host's; see above");
}

enum status experiment_deposit(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bool done = false;
    if (!bench)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    bench->verified = true;
    enum status status = deposit_bench_options_parse(argc, argv, &bench->options, &done);
    if (status == STATUS_OK && !done)
        status = run(bench);
    status = csv_file_close(bench->options.csv_path, &bench->csv, status);
    device_close(&bench->device);
    free(bench);
    return status;
}
