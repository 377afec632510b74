/* Scaling: the run on one rank, the run on all, and their tables. */
#include "experiments/scaling.h"

#include "experiments/csv_file.h"
#include "experiments/scaling_options.h"
#include "experiments/scaling_point.h"
#include "parallel/communicator.h"

#include <stdlib.h>

struct bench {
    struct scaling_options options;
    struct communicator communicator;
    struct device *device;
    struct scaling_point alone, together;
    FILE *csv; /* of rank 0 */
};

static double share_of(const struct scaling_point *point, double seconds)
{
    const double step = scaling_point_seconds(point);
    return step > 0 ? seconds / step : 0;
}

/* Rate of a rank over that of the run on one; of as many particles in all that is the speed-up over P. */
static double efficiency(const struct bench *bench, const struct scaling_point *point)
{
    const double one = scaling_point_rate(&bench->alone);
    return one > 0 ? scaling_point_rate(point) / point->ranks / one : 0;
}

static double exchanged_bytes(const struct scaling_point *point)
{
    return point->stages[STAGE_EXCHANGE].bytes + point->stages[STAGE_HALO].bytes;
}

static const char *decomposition_name(const struct scaling_point *point)
{
    if (point->ranks == 1)
        return "alone";
    return point->decomposition == DECOMPOSITION_SLABS ? "slabs" : "replicated";
}

/* ---- on the terminal, of rank 0 ---- */

static void print_title(const struct bench *bench)
{
    const struct step_setup *setup = &bench->options.setup;
    const enum scaling_kind kind = bench->options.kind;
    const char *each = bench->communicator.size > 1 ? " a rank" : "";
    char ranks[32] = "1 rank";
    if (bench->communicator.size > 1)
        snprintf(ranks, sizeof ranks, "1 and %d ranks", bench->communicator.size);
    printf("scaling, %s: %llu particles%s, %ux%u cells%s, %s, %s precision, %s on %s\n",
           scaling_kind_name(kind), (unsigned long long)setup->particles, kind == SCALING_STRONG ? "" : each,
           setup->cells[0], setup->cells[1], kind == SCALING_WEAK ? each : "", setup->shape, setup->precision,
           ranks, device_info(bench->device)->name);
    printf("%u blocks of %u steps after a warm-up, wall clock of the slowest rank; as many for the stages, "
           "whose timing takes time itself\n\n",
           setup->repeats, setup->steps);
    printf("  %5s %11s %11s %-14s %-10s %10s  [%9s, %9s] %11s %10s %10s %9s %9s %12s\n", "ranks", "cells",
           "particles", "method", "field", "ms a step", "min", "max", "M p-steps/s", "a rank", "efficiency",
           "imbalance", "leavers", "B exchanged");
    fflush(stdout); /* points take seconds */
}

static void print_point(const struct bench *bench, const struct scaling_point *point)
{
    const double rate = 1e-6 * scaling_point_rate(point), milliseconds = 1e3 / point->steps;
    char cells[32];
    snprintf(cells, sizeof cells, "%ux%u", point->cells[0], point->cells[1]);
    printf("  %5d %11s %11llu %-14s %-10s %10.4f  [%9.4f, %9.4f] %11.2f %10.2f %10.3f %9.3f %9.0f %12.0f\n",
           point->ranks, cells, (unsigned long long)point->particles, point->method,
           decomposition_name(point), 1e3 * scaling_point_seconds(point),
           milliseconds * samples_minimum(&point->wall), milliseconds * samples_maximum(&point->wall), rate,
           rate / point->ranks, efficiency(bench, point), scaling_point_imbalance(point), point->leavers,
           exchanged_bytes(point));
    fflush(stdout);
}

static void print_stages(const struct scaling_point *point)
{
    double together = 0;
    printf("\n  on %d rank%s      %10s %10s %10s %8s %13s\n", point->ranks, point->ranks == 1 ? "" : "s",
           "ms: min", "mean", "max", "share", "B a rank");
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct stage_spread *spread = &point->stages[stage];
        together += spread->mean;
        if (spread->most > 0)
            printf("  %-18s %8.4f %10.4f %10.4f %6.1f %% %13.0f\n", stage_name((enum stage)stage),
                   1e3 * spread->least, 1e3 * spread->mean, 1e3 * spread->most,
                   100 * share_of(point, spread->mean), spread->bytes);
    }
    printf("  %-18s %8s %10.4f %10s %6.1f %%\n", "stages together", "", 1e3 * together, "",
           100 * share_of(point, together));
}

static void print_verdict(const struct scaling_point *point)
{
    printf("%s, on %d rank%s: %s\n", point->verified ? "verified" : "NOT VERIFIED", point->ranks,
           point->ranks == 1 ? "" : "s", point->verdict);
}

/* ---- the file ---- */

static const char csv_header[] =
    "device,scaling,shape,precision,method,decomposition,ranks,cells_x,cells_y,rows_most,ghost_rows,"
    "particles,particles_most,leavers,steps,repeats,stage,seconds,seconds_min,seconds_max,share,bytes,"
    "particle_steps_per_second,efficiency,energy_drift,verified";

static void write_row(const struct bench *bench, const struct scaling_point *point, const char *stage,
                      const struct stage_spread *spread)
{
    const struct scaling_options *options = &bench->options;
    fprintf(bench->csv, "\"%s\",%s,%s,%s,%s,%s,%d,%u,%u,%u,%u,%llu,%llu,%.6g,%u,%zu,",
            device_info(bench->device)->name, scaling_kind_name(options->kind), options->setup.shape,
            options->setup.precision, point->method, decomposition_name(point), point->ranks, point->cells[0],
            point->cells[1], point->rows_most, point->ghost_rows, (unsigned long long)point->particles,
            (unsigned long long)point->particles_most, point->leavers, point->steps, point->wall.count);
    fprintf(bench->csv, "%s,%.9g,%.9g,%.9g,%.4f,%.9g,%.6g,%.4f,%.3g,%s\n", stage, spread->mean, spread->least,
            spread->most, share_of(point, spread->mean), spread->bytes, scaling_point_rate(point),
            efficiency(bench, point), point->energy_drift, point->verified ? "yes" : "no");
}

/* The wall clock's row tells median, least and most over the blocks; those of the stages over the ranks. */
static void write_point(const struct bench *bench, const struct scaling_point *point)
{
    struct stage_spread wall = {.least = samples_minimum(&point->wall) / point->steps,
                                .mean = scaling_point_seconds(point),
                                .most = samples_maximum(&point->wall) / point->steps};
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        wall.bytes += point->stages[stage].bytes;
        if (point->stages[stage].most > 0)
            write_row(bench, point, stage_name((enum stage)stage), &point->stages[stage]);
    }
    write_row(bench, point, "wall clock", &wall);
}

/* ---- runs ---- */

/* Rank 0 runs, the others sleep, and then know what it found. */
static enum status run_alone(struct bench *bench)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    const struct step_setup setup = scaling_setup(&bench->options, 1);
    enum status status = STATUS_OK;
    if (bench->communicator.rank == 0)
        status =
            scaling_point_run(&setup, DECOMPOSITION_REPLICATED, &alone, bench->device, NULL, &bench->alone);
    communicator_wait(&bench->communicator);
    TRY(communicator_agree(&bench->communicator, status));
    communicator_broadcast(&bench->communicator, sizeof bench->alone, &bench->alone);
    return STATUS_OK;
}

static enum status run_together(struct bench *bench)
{
    const struct scaling_options *options = &bench->options;
    const struct step_setup setup = scaling_setup(options, bench->communicator.size);
    return scaling_point_run(&setup, options->decomposition, &bench->communicator, bench->device,
                             options->kind == SCALING_STRONG ? &bench->alone : NULL, &bench->together);
}

static void report(const struct bench *bench)
{
    const bool several = bench->communicator.size > 1;
    print_stages(&bench->alone);
    if (several)
        print_stages(&bench->together);
    printf("\nefficiency: particle-steps a second of a rank over those of the run on one; imbalance: most "
           "particles of a rank over the mean\n"
           "leavers: particles that leave a rank in a step; B exchanged: bytes that stages exchange and halo "
           "move for a rank in a step, on the device too\n");
    print_verdict(&bench->alone);
    if (several)
        print_verdict(&bench->together);
    if (bench->csv)
        write_point(bench, &bench->alone);
    if (bench->csv && several)
        write_point(bench, &bench->together);
}

static enum status run(struct bench *bench)
{
    const bool speaks = bench->communicator.rank == 0, several = bench->communicator.size > 1;
    if (speaks)
        print_title(bench);
    TRY(run_alone(bench));
    if (speaks)
        print_point(bench, &bench->alone);
    if (several)
        TRY(run_together(bench));
    if (speaks && several)
        print_point(bench, &bench->together);
    if (speaks)
        report(bench);
    if (!bench->alone.verified || (several && !bench->together.verified))
        return communicator_agree(&bench->communicator,
                                  status_fail(STATUS_FAILED, "a step left a wrong result; see above"));
    return STATUS_OK;
}

static enum status open_and_run(struct bench *bench)
{
    const struct communicator *communicator = &bench->communicator;
    FILE **csv = &bench->csv;
    const char *path = bench->options.csv_path;
    enum status status =
        device_open_share(bench->options.device, (uint32_t)communicator->local_rank, &bench->device);
    TRY(communicator_agree(communicator, status));
    if (communicator->rank == 0)
        status = csv_file_open(path, csv_header, csv);
    TRY(communicator_agree(communicator, status));
    status = run(bench);
    if (status != STATUS_OK) /* which all have, or it ends the others */
        return csv_file_close(path, csv, status);
    return communicator_agree(communicator, csv_file_close(path, csv, status));
}

/* Rank 0 reads the command line first, and alone prints the help. */
static enum status parse(int argc, char **argv, struct bench *bench, bool *done)
{
    const struct communicator *communicator = &bench->communicator;
    enum status status = STATUS_OK;
    if (communicator->rank == 0)
        status = scaling_options_parse(argc, argv, communicator->size, &bench->options, done);
    TRY(communicator_agree(communicator, status));
    communicator_broadcast(communicator, sizeof *done, done);
    if (communicator->rank > 0 && !*done)
        status = scaling_options_parse(argc, argv, communicator->size, &bench->options, done);
    return communicator_agree(communicator, status);
}

enum status experiment_scaling(int argc, char **argv)
{
    bool done = false;
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    bench->communicator = (struct communicator){.size = 1, .local_size = 1};
    enum status status = communicator_is_parallel() ? communicator_start(&bench->communicator) : STATUS_OK;
    if (status == STATUS_OK)
        status = parse(argc, argv, bench, &done);
    if (status == STATUS_OK && !done)
        status = open_and_run(bench);
    device_close(&bench->device);
    free(bench);
    return status;
}
