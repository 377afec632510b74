/* Scaling: what a step on all ranks costs beside a step on one. */
#include "experiments/steps/step_point.h"

/* What the runs on one rank and on all of them have in common. */
enum kind {
    WEAK,     /* particles and cells of a rank; the box grows along x */
    SAME_BOX, /* particles of a rank; the box */
    STRONG    /* particles and box */
};
static const char *const kind_names[] = {"weak", "same box", "strong"};

struct options {
    struct common_options common;
    enum kind kind;
    struct step_setup setup; /* of the run on one rank */
};

/* ---- figures ---- */

static double step_seconds(const struct step_run *run)
{
    return per_second(run->point.wall.median, run->point.steps);
}

static double rate(const struct step_run *run)
{
    return per_second((double)run->setup.particles, step_seconds(run));
}

/* Rate of a rank over that of the run on one; of as many particles in all that is the speed-up over P. */
static double efficiency(const struct step_run *run)
{
    return run->alone ? per_second(rate(run) / run->point.ranks, rate(run->alone)) : 1;
}

/* ---- on the terminal and in the file, of rank 0 ---- */

static void print_title(const struct bench *bench)
{
    const struct options *options = bench->options;
    const struct step_setup *setup = &options->setup;
    printf("scaling, %s: %s, %s precision, on %s\n", kind_names[options->kind], setup->shape,
           setup->precision, bench->info->name);
    printf("%u blocks of %u steps after a warm-up, wall clock of the slowest rank; as many for the stages, "
           "whose timing takes time itself\n\n",
           bench->repeats, setup->steps);
}

static const struct bench_table run_table = {
    .columns = {WORD("ranks", "ranks", 5), WORD("cells", "cells", 11), WORD("N", "particles", 11),
                WORD("method", "method", 8), WORD("decomposition", "field", 10),
                SPREAD("ms a step", "wall_clock_ms", 1e3), NUMBER("p-steps/s", "particle_steps_1/s", 1),
                NUMBER("of a rank", NULL, 1), NUMBER("efficiency", "efficiency", 1),
                NUMBER("imbalance", NULL, 1), NUMBER("leavers", "leavers", 1), NUMBER("B exchanged", NULL, 1),
                IN_FILE("energy_drift", 1)}};

static void report_run(const struct step_run *run)
{
    const struct bench *bench = run->bench;
    const struct step_point *point = &run->point;
    const struct spread values[] = {
        spread_scaled(point->wall, 1.0 / point->steps),
        spread_of_one(rate(run)),
        spread_of_one(rate(run) / point->ranks),
        spread_of_one(efficiency(run)),
        spread_of_one((double)point->particles_most * point->ranks / (double)run->setup.particles),
        spread_of_one(point->leavers),
        spread_of_one(point->rank_bytes[STAGE_EXCHANGE] + point->rank_bytes[STAGE_HALO]),
        spread_of_one(point->energy_drift)};
    bench_row(bench, &run_table, NULL, values, NULL);
}

/* Of the stages a median is the mean over the ranks, least and most are over them. */
static const struct bench_table stage_table = {"stage",
                                               {SPREAD("ms, mean [min, max]", "_ms", 1e3),
                                                NUMBER("% of a step", NULL, 100),
                                                NUMBER("B a rank", "_B", 1)}};

static void report_stages(const struct step_run *run)
{
    const struct bench *bench = run->bench;
    const struct step_point *point = &run->point;
    double together = 0, bytes = 0;
    printf("\non %d rank%s:\n", point->ranks, point->ranks == 1 ? "" : "s");
    bench_head(&stage_table);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct spread seconds = point->over_ranks[stage];
        together += seconds.median;
        bytes += point->rank_bytes[stage];
        if (seconds.most > 0)
            bench_row(bench, &stage_table, stage_name((enum stage)stage),
                      (struct spread[]){seconds, spread_of_one(per_second(seconds.median, step_seconds(run))),
                                        spread_of_one(point->rank_bytes[stage])},
                      NULL);
    }
    const struct spread sums[] = {spread_of_one(together),
                                  spread_of_one(per_second(together, step_seconds(run))),
                                  spread_of_one(bytes)};
    bench_print(bench, &stage_table, "together", sums, NULL);
    bench_print_verdict(bench, point->verdict);
}

static void name_run(const struct step_run *run)
{
    const struct options *options = run->bench->options;
    const struct step_point *point = &run->point;
    const struct step_setup *setup = &run->setup;
    bench_words(run->bench, false, point->verified,
                "scaling=%s shape=%s precision=%s method=%s decomposition=%s ranks=%d cells=%ux%u rows=%u "
                "ghost=%u N=%llu most=%llu steps=%u",
                kind_names[options->kind], setup->shape, setup->precision, point->method,
                point->ranks == 1  ? "alone"
                : point->has_slabs ? "slabs"
                                   : "replicated",
                point->ranks, setup->cells[0], setup->cells[1], point->rows_most, point->ghost_rows,
                (unsigned long long)setup->particles, (unsigned long long)point->particles_most,
                point->steps);
}

/* ---- runs ---- */

static struct step_run run_on(struct bench *bench, struct communicator ranks, const struct step_run *alone)
{
    const struct options *options = bench->options;
    struct step_run run = {.bench = bench, .setup = options->setup, .ranks = ranks, .alone = alone};
    if (options->kind != STRONG)
        run.setup.particles *= (uint64_t)ranks.size;
    if (options->kind == WEAK)
        run.setup.cells[0] *= (uint32_t)ranks.size;
    return run;
}

/* Rank 0 runs, the others sleep, and then know what it found. */
static enum status run_alone(struct bench *bench, struct step_run *run)
{
    run->setup.decomposition = "replicated"; /* slabs are of all ranks of mpirun */
    TRY(communicator_meet(&bench->ranks,
                          bench->ranks.rank == 0 ? bench_case(bench, step_run, run) : STATUS_OK));
    communicator_broadcast(&bench->ranks, sizeof run->point, &run->point);
    bench->is_wrong = !run->point.verified;
    return STATUS_OK;
}

static enum status run_scaling(struct bench *bench)
{
    const bool speaks = bench->ranks.rank == 0;
    const int count = bench->ranks.size > 1 ? 2 : 1;
    struct step_run runs[2];
    runs[0] = run_on(bench, (struct communicator){.size = 1, .local_size = 1}, NULL);
    runs[1] = run_on(bench, bench->ranks, &runs[0]);
    if (speaks) {
        print_title(bench);
        bench_head(&run_table);
        fflush(stdout); /* runs take seconds */
    }
    for (int n = 0; n < count; n++) {
        TRY(n == 0 ? run_alone(bench, &runs[n]) : bench_case(bench, step_run, &runs[n]));
        name_run(&runs[n]);
        if (speaks)
            report_run(&runs[n]);
    }
    for (int n = 0; n < count && speaks; n++) {
        name_run(&runs[n]);
        report_stages(&runs[n]);
    }
    if (speaks)
        printf(
            "\nefficiency: particle-steps a second of a rank over those of the run on one; imbalance: most "
            "particles of a rank over the mean\n"
            "leavers: particles that leave a rank in a step; B exchanged: bytes that stages exchange and "
            "halo move for a rank in a step, on the device too\n");
    return STATUS_OK;
}

/* What a config, and the ranks, need. */
static enum status resolve(struct bench *bench)
{
    const struct options *options = bench->options;
    const struct step_setup *setup = &options->setup;
    const int ranks = bench->ranks.size;
    const uint64_t all = (uint64_t)ranks;
    const uint64_t along = options->kind == WEAK ? setup->cells[0] * all : setup->cells[0];
    if (options->kind != STRONG && setup->particles > CONFIG_MAX_SPECIES_PARTICLES / all)
        return status_fail(STATUS_USAGE, "--particles: %llu on each of %d ranks are more than %llu in all",
                           (unsigned long long)setup->particles, ranks,
                           (unsigned long long)CONFIG_MAX_SPECIES_PARTICLES);
    if (along < all)
        return status_fail(STATUS_USAGE, "--cells: %d ranks want a row of cells each, of %u along x", ranks,
                           setup->cells[0]);
    return along > MOST_ALONG || along * setup->cells[1] > CONFIG_MAX_CELLS
               ? status_fail(
                     STATUS_USAGE,
                     "--cells: %ux%u on each of %d ranks are %llux%u; there can be %d along x and %u in all",
                     setup->cells[0], setup->cells[1], ranks, (unsigned long long)along, setup->cells[1],
                     MOST_ALONG, CONFIG_MAX_CELLS)
               : STATUS_OK;
}

static const struct option_row rows[] = {
    {"weak", 0, NULL, OPTION_VALUE, AT(kind), WEAK,
     .help = "N particles and NX x NY cells a rank: the box grows along x. So it is without an option"},
    {"same-box", 0, NULL, OPTION_VALUE, AT(kind), SAME_BOX,
     .help = "N particles a rank, NX x NY cells in all"},
    {"strong", 0, NULL, OPTION_VALUE, AT(kind), STRONG, .help = "N particles and NX x NY cells in all"},
    PLASMA_ROWS,
    {"steps", 0, "K", OPTION_NUMBER, AT(setup.steps), 1, 1000000, .usual = "50",
     .help = "Steps in a timed block"},
    COMMON_ROWS("5", "Timed blocks, after a warm-up, and as many for the stages"),
    {"decomposition", 0, "NAME", OPTION_WORD, AT(setup.decomposition), .as_in = "fields.decomposition",
     .usual = "auto", .help = "Of the field solve on several ranks: auto, replicated or slabs"},
};

const struct experiment experiment_scaling = {
    .name = "scaling",
    .summary = "whole steps on the ranks of mpirun against those on one",
    .options = OPTION_TABLE(
        rows, NULL,
        "Time whole simulation steps on one rank and on all ranks of mpirun: the plasma of radixpic bench "
        "step, nothing written to disk.\v"
        "Rank 0 runs alone first, while the others sleep. A step takes as long as on the slowest rank. "
        "Particles, charge and drift of the energy are checked, with --strong also the energy of the field "
        "against the run on one rank. Ranks of one machine share its devices, or the cores of a CPU, "
        "evenly.\n\n"
        "Examples:\n"
        "  radixpic bench scaling --particles 1048576\n"
        "  mpirun -n 4 radixpic bench scaling --device gpu --csv weak_4.csv\n"
        "  mpirun -n 2 radixpic bench scaling --strong --decomposition slabs\n"
        "  mpirun -n 2 radixpic bench scaling --same-box --cells 256x64\n"),
    .resolve = resolve,
    .run = run_scaling,
    .wrong = "a step left a wrong result",
    .on_ranks = true,
};
