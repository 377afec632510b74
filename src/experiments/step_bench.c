/* Step bench: one point with its stages, or the table of a sweep. */
#include "experiments/step_bench.h"

#include "experiments/csv_file.h"
#include "experiments/step_bench_options.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FULL_CELL = 32, LEAST_PER_CELL = 8, SMALLEST_GRID = 32, GRIDS = 7 /* to 2048 */ };
enum { MOST_SIZES = 33 };

static const size_t least_copy = (size_t)1 << 26, most_copy = (size_t)1 << 30;
static const double usual_cell = 4 * M_PI / 32; /* of configs/landau_damping.yaml */

struct bench {
    struct step_bench_options options;
    struct device *device;
    struct samples copy;
    size_t copy_bytes;
    struct step_point point; /* the last one measured */
    bool verified;           /* all of them */
    FILE *csv;
};

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

/* ---- the box, the memory and the copy ---- */

static void choose_box(struct step_setup *setup)
{
    if (setup->length[0] <= 0)
        setup->length[0] = usual_cell * setup->cells[0];
    setup->length[1] = setup->length[0] / setup->cells[0] * setup->cells[1];
}

/* A copy of as much as the offsets of all particles, but too much for a cache and not more than need be. */
static enum status time_copy(struct bench *bench)
{
    const uint64_t wanted = bench->options.setup.particles * 2 * sizeof(float);
    bench->copy_bytes = wanted < least_copy ? least_copy : wanted > most_copy ? most_copy : (size_t)wanted;
    return samples_of_copy(bench->device, bench->copy_bytes, bench->options.setup.repeats, &bench->copy);
}

static double copy_bandwidth(const struct bench *bench)
{
    return 1e-9 * per_second(2.0 * (double)bench->copy_bytes, samples_median(&bench->copy));
}

/* Half of what the device tells, and of the machine's where the device is its processor: drivers of CPUs tell
 * what they like. */
static uint64_t half_of_memory(const struct device_info *info)
{
    uint64_t bytes = info->global_memory;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    if (info->is_cpu && pages > 0 && page > 0 && (uint64_t)pages * (uint64_t)page < bytes)
        bytes = (uint64_t)pages * (uint64_t)page;
    return bytes / 2;
}

/* ---- one point ---- */

static int longest_stage(const struct step_point *point)
{
    int longest = 0;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        if (samples_median(&point->stages[stage]) > samples_median(&point->stages[longest]))
            longest = stage;
    return longest;
}

static double seconds_of_stages(const struct step_point *point)
{
    double sum = 0;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        sum += samples_median(&point->stages[stage]);
    return sum;
}

static void print_row(const struct bench *bench, const char *name, double seconds, double least, double most,
                      uint64_t bytes)
{
    const struct step_setup *setup = &bench->options.setup;
    const struct step_point *point = &bench->point;
    const double bandwidth = 1e-9 * per_second((double)bytes, seconds);
    printf("  %-18s %9.4f  [%8.4f, %8.4f] %6.1f %%", name, step_point_nanoseconds(setup, point, seconds),
           step_point_nanoseconds(setup, point, least), step_point_nanoseconds(setup, point, most),
           100 * per_second(seconds, samples_median(&point->wall)));
    if (bytes > 0)
        printf(" %9.2f %8.1f %%", bandwidth, 100 * per_second(bandwidth, copy_bandwidth(bench)));
    printf("\n");
}

static void print_stages(const struct bench *bench)
{
    const struct step_point *point = &bench->point;
    uint64_t bytes = 0;
    printf("\n  %-18s %9s  [%8s, %8s] %8s %9s %10s\n", "stage", "ns/p-step", "min", "max", "share", "GB/s",
           "of a copy");
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct samples *samples = &point->stages[stage];
        bytes += point->stage_bytes[stage];
        if (samples_maximum(samples) > 0)
            print_row(bench, stage_name((enum stage)stage), samples_median(samples), samples_minimum(samples),
                      samples_maximum(samples), point->stage_bytes[stage]);
    }
    const struct samples *wall = &point->wall;
    print_row(bench, "wall clock", samples_median(wall), samples_minimum(wall), samples_maximum(wall), bytes);
}

static void print_point(const struct bench *bench)
{
    const struct step_setup *setup = &bench->options.setup;
    const struct step_point *point = &bench->point;
    const double nanoseconds = step_point_nanoseconds(setup, point, samples_median(&point->wall));
    printf("copy of %.1f MB on the device: %.2f GB/s, median of %zu\n", 1e-6 * (double)bench->copy_bytes,
           copy_bandwidth(bench), bench->copy.count);
    printf("method: %s%s%s\nheld on the device: %.1f bytes a particle\n", point->step,
           point->sort[0] != '\0' ? "; sort: " : "", point->sort,
           (double)point->bytes_held / (double)setup->particles);
    printf("%zu blocks of %u steps after a warm-up, wall clock from one wait for the device to the next; as "
           "many "
           "for the stages, whose timing takes time itself\n",
           point->wall.count, point->steps);
    print_stages(bench);
    printf("\n%.4g ns per particle-step (ns/p-step), %.1f M particle-steps/s\n", nanoseconds,
           1e3 / nanoseconds);
    printf("%s: %s\n", point->verified ? "verified" : "NOT VERIFIED", point->verdict);
}

static const char csv_header[] =
    "device,method,sort,precision,shape,hot,cells_x,cells_y,particles,stage,ns_per_particle_step,min_ns,max_"
    "ns,"
    "share,gigabytes_per_second,of_copy,steps,repeats,bytes_per_particle,energy_drift,verified";

static void write_csv_row(const struct bench *bench, const char *stage, const struct samples *samples,
                          uint64_t bytes)
{
    const struct step_setup *setup = &bench->options.setup;
    const struct step_point *point = &bench->point;
    const double seconds = samples_median(samples), bandwidth = 1e-9 * per_second((double)bytes, seconds);
    fprintf(
        bench->csv, "\"%s\",%s,%s,%s,%s,%s,%u,%u,%llu,%s,%.6g,%.6g,%.6g,%.4f,%.6g,%.4f,%u,%zu,%.6g,%.3g,%s\n",
        device_info(bench->device)->name, point->step, setup->sort_method ? setup->sort_method : "default",
        setup->precision, setup->shape, setup->hot ? "yes" : "no", setup->cells[0], setup->cells[1],
        (unsigned long long)setup->particles, stage, step_point_nanoseconds(setup, point, seconds),
        step_point_nanoseconds(setup, point, samples_minimum(samples)),
        step_point_nanoseconds(setup, point, samples_maximum(samples)),
        per_second(seconds, samples_median(&point->wall)), bandwidth,
        per_second(bandwidth, copy_bandwidth(bench)), point->steps, samples->count,
        (double)point->bytes_held / (double)setup->particles, point->energy_drift,
        point->verified ? "yes" : "no");
}

static void write_csv(const struct bench *bench)
{
    const struct step_point *point = &bench->point;
    uint64_t bytes = 0;
    for (int stage = 0; bench->csv && stage < STAGE_OTHER; stage++) {
        bytes += point->stage_bytes[stage];
        if (samples_maximum(&point->stages[stage]) > 0)
            write_csv_row(bench, stage_name((enum stage)stage), &point->stages[stage],
                          point->stage_bytes[stage]);
    }
    if (bench->csv)
        write_csv_row(bench, "wall clock", &point->wall, bytes);
}

/* Measures the point of options.setup and writes its rows. */
static enum status run_point(struct bench *bench)
{
    TRY(time_copy(bench)); /* beside every point: what else the machine does changes it */
    TRY(step_point_run(&bench->options.setup, bench->device, &bench->point));
    write_csv(bench);
    bench->verified = bench->verified && bench->point.verified;
    return STATUS_OK;
}

static enum status run_single(struct bench *bench)
{
    struct step_setup *setup = &bench->options.setup;
    const double cells = (double)setup->cells[0] * setup->cells[1];
    choose_box(setup);
    printf("step: %llu particles in %ux%u cells (%.4g a cell%s), %s, %s precision, on %s\n",
           (unsigned long long)setup->particles, setup->cells[0], setup->cells[1],
           (double)setup->particles / cells, setup->hot ? ", half of them in one" : "", setup->shape,
           setup->precision, device_info(bench->device)->name);
    TRY(run_point(bench));
    print_point(bench);
    return STATUS_OK;
}

/* ---- sweep ---- */

/* Nanoseconds per particle-step by grid and size; 0 where there is no point. */
struct cost_table {
    uint64_t sizes[MOST_SIZES];
    uint32_t size_count;
    double cost[GRIDS][MOST_SIZES];
    double best; /* with at least FULL_CELL particles a cell; 0 without such a point */
};

/* Why this device has no room for the point; "" where it has. */
static enum status find_room(const struct bench *bench, char *reason, size_t size)
{
    const struct device_info *info = device_info(bench->device);
    const uint64_t half = half_of_memory(info);
    struct config *config = calloc(1, sizeof *config);
    uint64_t bytes = 0;
    reason[0] = '\0';
    if (!config)
        return status_fail(STATUS_FAILED, "no memory for a config");
    enum status status = step_point_config(&bench->options.setup, config);
    if (status == STATUS_OK)
        status = simulation_bytes(config, info, &bytes);
    const uint64_t largest = bench->options.setup.particles * 4 * precision_bytes(config->precision);
    if (status == STATUS_USAGE) { /* parameters that do not fit are a reason, not an end */
        snprintf(reason, size, "%s", status_message());
        status = STATUS_OK;
    } else if (bytes > half)
        snprintf(reason, size, "it needs %.2f GB, more than half of the memory, %.2f GB",
                 1e-9 * (double)bytes, 1e-9 * (double)half);
    else if (largest > info->largest_buffer)
        snprintf(reason, size, "an array of %.2f GB is larger than the device allows, %.2f GB",
                 1e-9 * (double)largest, 1e-9 * (double)info->largest_buffer);
    free(config);
    return status;
}

/* "push 41 %, at 63 % of a copy", or what the host spends between the stages where that is more. */
static void describe_limit(const struct bench *bench, char *text, size_t size)
{
    const struct step_point *point = &bench->point;
    const double wall = samples_median(&point->wall), between = wall - seconds_of_stages(point);
    const int stage = longest_stage(point);
    const double seconds = samples_median(&point->stages[stage]);
    const double bandwidth = 1e-9 * per_second((double)point->stage_bytes[stage], seconds);
    if (between > seconds)
        snprintf(text, size, "between stages %.0f %%", 100 * per_second(between, wall));
    else if (bandwidth > 0)
        snprintf(text, size, "%s %.0f %%, at %.0f %% of a copy", stage_name((enum stage)stage),
                 100 * per_second(seconds, wall), 100 * per_second(bandwidth, copy_bandwidth(bench)));
    else
        snprintf(text, size, "%s %.0f %%", stage_name((enum stage)stage), 100 * per_second(seconds, wall));
}

static enum status sweep_point(struct bench *bench, double *cost)
{
    const struct step_setup *setup = &bench->options.setup;
    const struct step_point *point = &bench->point;
    const double per_cell = (double)setup->particles / ((double)setup->cells[0] * setup->cells[1]);
    char text[512];
    printf("  %5u^2 %11llu %9.4g", setup->cells[0], (unsigned long long)setup->particles, per_cell);
    TRY(find_room(bench, text, sizeof text));
    if (text[0] != '\0') {
        printf("  skipped: %s\n", text);
        return STATUS_OK;
    }
    fflush(stdout); /* points take seconds: show which one is running */
    TRY(run_point(bench));
    *cost = step_point_nanoseconds(setup, point, samples_median(&point->wall));
    describe_limit(bench, text, sizeof text);
    printf(" %9.4f  [%8.4f, %8.4f] %9.1f %8.1f %9.2f  %-13s %s\n", *cost,
           step_point_nanoseconds(setup, point, samples_minimum(&point->wall)),
           step_point_nanoseconds(setup, point, samples_maximum(&point->wall)), 1e3 / *cost,
           (double)point->bytes_held / (double)setup->particles, copy_bandwidth(bench), point->step, text);
    if (!point->verified)
        printf("        NOT VERIFIED: %s\n", point->verdict);
    return STATUS_OK;
}

static enum status sweep_grid(struct bench *bench, uint32_t grid, struct cost_table *table)
{
    struct step_setup *setup = &bench->options.setup;
    setup->cells[0] = setup->cells[1] = (uint32_t)SMALLEST_GRID << grid;
    const uint64_t cells = (uint64_t)setup->cells[0] * setup->cells[1];
    for (uint32_t n = 0; n < table->size_count; n++) {
        setup->particles = table->sizes[n];
        setup->length[0] = 0;
        choose_box(setup);
        double *cost = &table->cost[grid][n];
        if (setup->particles < LEAST_PER_CELL * cells)
            continue;
        TRY(sweep_point(bench, cost));
        if (*cost > 0 && setup->particles >= FULL_CELL * cells && (table->best == 0 || *cost < table->best))
            table->best = *cost;
    }
    return STATUS_OK;
}

static void print_growth_of(const struct cost_table *table, uint32_t grid)
{
    bool any = false;
    for (uint32_t n = 0; n < table->size_count; n++)
        any = any || table->cost[grid][n] > 0;
    if (!any)
        return;
    printf("  %5u^2", (uint32_t)SMALLEST_GRID << grid);
    for (uint32_t n = 0; n < table->size_count; n++)
        if (table->cost[grid][n] > 0)
            printf(" %10.2f", table->cost[grid][n] / table->best);
        else
            printf(" %10s", "-");
    printf("\n");
}

static void print_growth(const struct cost_table *table)
{
    if (table->best == 0)
        return;
    printf(
        "\nhow the cost grows: ns per particle-step over the best with at least %d particles a cell, %.4f\n",
        FULL_CELL, table->best);
    printf("  %7s", "cells");
    for (uint32_t n = 0; n < table->size_count; n++)
        printf(" %10llu", (unsigned long long)table->sizes[n]);
    printf("\n");
    for (uint32_t grid = 0; grid < GRIDS; grid++)
        print_growth_of(table, grid);
}

static enum status run_sweep(struct bench *bench)
{
    const struct step_bench_options *options = &bench->options;
    struct cost_table table = {0};
    for (uint64_t size = 1; size <= options->most_particles; size *= 2)
        if (size >= options->least_particles)
            table.sizes[table.size_count++] = size;
    if (table.size_count == 0)
        return status_fail(STATUS_USAGE, "no power of two lies between --min-particles and --max-particles");
    printf("step: sweep, %s, %s precision, on %s\n", options->setup.shape, options->setup.precision,
           device_info(bench->device)->name);
    printf("\n");
    printf("  %7s %11s %9s %9s  [%8s, %8s] %9s %8s %9s  %-13s %s\n", "cells", "particles", "a cell",
           "ns/p-step", "min", "max", "M p-st/s", "B/part.", "copy GB/s", "method", "what limits");
    for (uint32_t grid = 0; grid < GRIDS; grid++)
        TRY(sweep_grid(bench, grid, &table));
    print_growth(&table);
    return STATUS_OK;
}

enum status experiment_step(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bool done = false;
    if (!bench)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    bench->verified = true;
    enum status status = step_bench_options_parse(argc, argv, &bench->options, &done);
    if (status == STATUS_OK && !done) {
        status = device_open(bench->options.device, &bench->device);
        if (status == STATUS_OK)
            status = csv_file_open(bench->options.csv_path, csv_header, &bench->csv);
        if (status == STATUS_OK)
            status = bench->options.sweep ? run_sweep(bench) : run_single(bench);
        if (status == STATUS_OK && !bench->verified)
            status = status_fail(STATUS_FAILED, "a step left a wrong result; see above");
        status = csv_file_close(bench->options.csv_path, &bench->csv, status);
        device_close(&bench->device);
    }
    free(bench);
    return status;
}
