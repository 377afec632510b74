/* Scaling: what a step on all ranks costs beside a step on one. */
#include "experiments/steps/step_point.h"

enum { MOST_ALONG = 16384 /* of a config */ };

/* What the runs on one rank and on all of them have in common. */
enum kind {
    WEAK,     /* particles and cells of a rank; the box grows along x */
    SAME_BOX, /* particles of a rank; the box */
    STRONG    /* particles and box */
};
static const char *const kind_names[] = {"weak", "same box", "strong"};

struct options {
    struct common_options common;
    bool weak, same_box, strong;
    enum kind kind;
    struct step_setup setup; /* of the run on one rank; the box is not filled in */
};

/* Of a stage in a step: seconds over the ranks, each rank's the median of its blocks (the median here is
 * their mean), and the bytes of a rank, the mean over the ranks. */
struct stage_row {
    struct spread seconds;
    double bytes;
};

/* One of the two runs. */
struct run {
    struct bench *bench;
    struct step_setup setup;
    struct communicator ranks;
    const struct run *alone; /* that on one rank; NULL: this is it */
    struct step_point point;
    struct stage_row stages[STAGE_OTHER];
};

/* ---- figures ---- */

static double step_seconds(const struct run *run)
{
    return per_second(run->point.wall.median, run->point.steps);
}

static double rate(const struct run *run)
{
    return per_second((double)run->setup.particles, step_seconds(run));
}

/* Rate of a rank over that of the run on one; of as many particles in all that is the speed-up over P. */
static double efficiency(const struct run *run)
{
    return run->alone ? per_second(rate(run) / run->point.ranks, rate(run->alone)) : 1;
}

static const char *decomposition_name(const struct run *run)
{
    return run->point.ranks == 1 ? "alone" : run->point.has_slabs ? "slabs" : "replicated";
}

/* Collective. */
static void spread_stages(struct run *run)
{
    const struct step_point *point = &run->point;
    double sums[STAGE_OTHER], most[STAGE_OTHER], negative[STAGE_OTHER];
    uint64_t bytes[STAGE_OTHER];
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        sums[stage] = most[stage] = point->stages[stage].median / point->steps;
        negative[stage] = -sums[stage];
        bytes[stage] = point->stage_bytes[stage];
    }
    communicator_sum(&run->ranks, STAGE_OTHER, sums);
    communicator_max(&run->ranks, STAGE_OTHER, most);
    communicator_max(&run->ranks, STAGE_OTHER, negative);
    communicator_sum_counts(&run->ranks, STAGE_OTHER, bytes);
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        run->stages[stage] = (struct stage_row){{.median = sums[stage] / point->ranks,
                                                 .least = -negative[stage],
                                                 .most = most[stage],
                                                 .count = point->wall.count},
                                                (double)bytes[stage] / ((double)point->ranks * point->steps)};
}

/* ---- on the terminal and in the file, of rank 0 ---- */

static void print_title(const struct bench *bench)
{
    const struct options *options = bench->options;
    const struct step_setup *setup = &options->setup;
    const char *each = bench->ranks.size > 1 ? " a rank" : "";
    char ranks[32] = "1 rank";
    if (bench->ranks.size > 1)
        snprintf(ranks, sizeof ranks, "1 and %d ranks", bench->ranks.size);
    printf("scaling, %s: %llu particles%s, %ux%u cells%s, %s, %s precision, %s on %s\n",
           kind_names[options->kind], (unsigned long long)setup->particles,
           options->kind == STRONG ? "" : each, setup->cells[0], setup->cells[1],
           options->kind == WEAK ? each : "", setup->shape, setup->precision, ranks, bench->info->name);
    printf("%u blocks of %u steps after a warm-up, wall clock of the slowest rank; as many for the stages, "
           "whose timing takes time itself\n\n",
           setup->repeats, setup->steps);
    printf("  %5s %11s %11s %-14s %-10s %10s  [%9s, %9s] %11s %10s %10s %9s %9s %12s\n", "ranks", "cells",
           "particles", "method", "field", "ms a step", "min", "max", "M p-steps/s", "a rank", "efficiency",
           "imbalance", "leavers", "B exchanged");
    fflush(stdout); /* points take seconds */
}

static void print_run(const struct run *run)
{
    const struct step_point *point = &run->point;
    const double scale = 1e3 / point->steps;
    char cells[32];
    snprintf(cells, sizeof cells, "%ux%u", run->setup.cells[0], run->setup.cells[1]);
    printf("  %5d %11s %11llu %-14s %-10s %10.4f  [%9.4f, %9.4f] %11.2f %10.2f %10.3f %9.3f %9.0f %12.0f\n",
           point->ranks, cells, (unsigned long long)run->setup.particles, point->method,
           decomposition_name(run), scale * point->wall.median, scale * point->wall.least,
           scale * point->wall.most, 1e-6 * rate(run), 1e-6 * rate(run) / point->ranks, efficiency(run),
           (double)point->particles_most * point->ranks / (double)run->setup.particles, point->leavers,
           run->stages[STAGE_EXCHANGE].bytes + run->stages[STAGE_HALO].bytes);
    fflush(stdout);
}

static void print_stages(const struct run *run)
{
    double together = 0;
    printf("\n  on %d rank%s      %10s %10s %10s %8s %13s\n", run->point.ranks,
           run->point.ranks == 1 ? "" : "s", "ms: min", "mean", "max", "share", "B a rank");
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        const struct spread *seconds = &run->stages[stage].seconds;
        together += seconds->median;
        if (seconds->most > 0)
            printf("  %-18s %8.4f %10.4f %10.4f %6.1f %% %13.0f\n", stage_name((enum stage)stage),
                   1e3 * seconds->least, 1e3 * seconds->median, 1e3 * seconds->most,
                   100 * per_second(seconds->median, step_seconds(run)), run->stages[stage].bytes);
    }
    printf("  %-18s %8s %10.4f %10s %6.1f %%\n", "stages together", "", 1e3 * together, "",
           100 * per_second(together, step_seconds(run)));
}

static void print_verdict(const struct run *run)
{
    printf("%s, on %d rank%s: %s\n", run->point.verified ? "verified" : "NOT VERIFIED", run->point.ranks,
           run->point.ranks == 1 ? "" : "s", run->point.verdict);
}

/* The wall clock's row has median, least and most over the blocks; those of the stages mean, least and most
 * over the ranks. */
static void write_run(const struct run *run)
{
    struct bench *bench = run->bench;
    const struct options *options = bench->options;
    const struct step_point *point = &run->point;
    const struct step_setup *setup = &run->setup;
    char kind[BENCH_WORD], method[BENCH_WORD], quantity[48];
    bench_words(bench, false,
                "scaling=%s shape=%s precision=%s method=%s decomposition=%s ranks=%d cells=%ux%u rows=%u "
                "ghost=%u N=%llu most=%llu steps=%u",
                bench_word(kind_names[options->kind], kind), setup->shape, setup->precision,
                bench_word(point->method, method), decomposition_name(run), point->ranks, setup->cells[0],
                setup->cells[1], point->rows_most, point->ghost_rows, (unsigned long long)setup->particles,
                (unsigned long long)point->particles_most, point->steps);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        if (run->stages[stage].seconds.most <= 0)
            continue;
        snprintf(quantity, sizeof quantity, "%s_s", stage_name((enum stage)stage));
        bench_row(bench, quantity, run->stages[stage].seconds, 1, point->verified);
        snprintf(quantity, sizeof quantity, "%s_B", stage_name((enum stage)stage));
        bench_row(bench, quantity, spread_of_one(run->stages[stage].bytes), 1, point->verified);
    }
    bench_row(bench, "wall clock_s", point->wall, 1.0 / point->steps, point->verified);
    bench_row(bench, "particle_steps_1/s", spread_of_one(rate(run)), 1, point->verified);
    bench_row(bench, "efficiency", spread_of_one(efficiency(run)), 1, point->verified);
    bench_row(bench, "leavers", spread_of_one(point->leavers), 1, point->verified);
    bench_row(bench, "energy_drift", spread_of_one(point->energy_drift), 1, point->verified);
}

/* ---- runs ---- */

static enum status take_steps(struct bench *bench, void *context)
{
    struct run *run = context;
    const struct options *options = bench->options;
    const struct step_point *alone = run->alone && options->kind == STRONG ? &run->alone->point : NULL;
    TRY(step_point_run(&run->setup, &run->ranks, bench->part, alone, &run->point));
    spread_stages(run);
    return STATUS_OK;
}

static void fill_setup(const struct options *options, int ranks, struct step_setup *setup)
{
    *setup = options->setup;
    if (options->kind != STRONG)
        setup->particles *= (uint64_t)ranks;
    if (options->kind == WEAK)
        setup->cells[0] *= (uint32_t)ranks;
    for (int axis = 0; axis < 2; axis++)
        setup->length[axis] = usual_cell_length * setup->cells[axis];
}

/* Rank 0 runs, the others sleep, and then know what it found. */
static enum status run_alone(struct bench *bench, struct run *run)
{
    enum status status = STATUS_OK;
    *run = (struct run){.bench = bench, .ranks = {.size = 1, .local_size = 1}};
    fill_setup(bench->options, 1, &run->setup);
    run->setup.decomposition = "replicated"; /* slabs are of all ranks of mpirun */
    if (bench->ranks.rank == 0)
        status = bench_case(bench, take_steps, run);
    communicator_wait(&bench->ranks);
    TRY(communicator_agree(&bench->ranks, status));
    communicator_broadcast(&bench->ranks, sizeof run->point, &run->point);
    return STATUS_OK;
}

static enum status run_scaling(struct bench *bench)
{
    const bool speaks = bench->ranks.rank == 0, several = bench->ranks.size > 1;
    struct run *runs = NULL;
    TRY(DEVICE_NEW_ARRAY(bench->device, runs, 2));
    const struct run *alone = &runs[0];
    struct run *together = &runs[1];
    if (speaks)
        print_title(bench);
    TRY(run_alone(bench, &runs[0]));
    if (speaks)
        print_run(alone);
    *together = (struct run){.bench = bench, .ranks = bench->ranks, .alone = alone};
    fill_setup(bench->options, bench->ranks.size, &together->setup);
    if (several)
        TRY(bench_case(bench, take_steps, together));
    if (speaks && several)
        print_run(together);
    bench->is_wrong = !alone->point.verified || (several && !together->point.verified);
    for (const struct run *run = runs; run < runs + 1 + several && speaks; run++) {
        print_stages(run);
        write_run(run);
    }
    if (!speaks)
        return STATUS_OK;
    printf("\nefficiency: particle-steps a second of a rank over those of the run on one; imbalance: most "
           "particles of a rank over the mean\n"
           "leavers: particles that leave a rank in a step; B exchanged: bytes that stages exchange and halo "
           "move for a rank in a step, on the device too\n");
    for (const struct run *run = runs; run < runs + 1 + several; run++)
        print_verdict(run);
    return STATUS_OK;
}

/* What a config, and the ranks, need. */
static enum status settle(struct bench *bench)
{
    struct options *options = bench->options;
    struct step_setup *setup = &options->setup;
    const int ranks = bench->ranks.size;
    const uint64_t all = (uint64_t)ranks;
    if (options->weak + options->same_box + options->strong > 1)
        return status_fail(STATUS_USAGE, "--weak, --same-box and --strong exclude one another");
    options->kind = options->strong ? STRONG : options->same_box ? SAME_BOX : WEAK;
    setup->repeats = options->common.repeats;
    setup->step_method = "auto";
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
    {"weak", 0, NULL, OPTION_SWITCH, AT(weak),
     .help = "N particles and NX x NY cells a rank: the box grows along x. So it is without an option"},
    {"same-box", 0, NULL, OPTION_SWITCH, AT(same_box), .help = "N particles a rank, NX x NY cells in all"},
    {"strong", 0, NULL, OPTION_SWITCH, AT(strong), .help = "N particles and NX x NY cells in all"},
    {"particles", 'N', "N", OPTION_NUMBER64, AT(setup.particles), 1, CONFIG_MAX_PARTICLES, .usual = "4194304",
     .help = "Particles (N)"},
    {"cells", 0, "C", OPTION_CELLS, AT(setup.cells), 8, MOST_ALONG, .usual = "128",
     .help = "Cells: N for N x N, or NXxNY, each 8 or more"},
    {"steps", 0, "K", OPTION_NUMBER, AT(setup.steps), 1, 1000000, .usual = "50",
     .help = "Steps in a timed block"},
    COMMON_ROWS("5", "Timed blocks, after a warm-up, and as many for the stages"),
    {"decomposition", 0, "NAME", OPTION_WORD, AT(setup.decomposition), .as_in = "fields.decomposition",
     .usual = "auto", .help = "Of the field solve on several ranks: auto, replicated or slabs"},
    {"precision", 0, "NAME", OPTION_WORD, AT(setup.precision), .as_in = "precision", .usual = "single",
     .help = "single or double"},
    {"shape", 0, "NAME", OPTION_WORD, AT(setup.shape), .as_in = "deposit.shape", .usual = "cic",
     .help = "ngp, cic or tsc"},
};

const struct experiment experiment_scaling = {
    .name = "scaling",
    .summary = "whole steps on the ranks of mpirun against those on one",
    .options = OPTION_TABLE(
        rows, NULL,
        "Time whole simulation steps on one rank and on all ranks of mpirun: the plasma of radixpic bench "
        "step, nothing written to disk.\v"
        "Rank 0 runs alone first, while the others sleep. A step takes as long as on the slowest rank; the "
        "stages are timed in blocks of their own, and tell least, mean and most over the ranks. What a rank "
        "waits for others counts in the stage in which it waits. Particles, charge and drift of the energy "
        "are checked, with --strong also the energy of the field against the run on one rank: a wrong step "
        "ends the program with exit code 1. Ranks of one machine share its devices evenly; of a CPU give "
        "each rank its share of the cores, or the run on one rank has all of them "
        "(POCL_MAX_PTHREAD_COUNT).\n\n"
        "Examples:\n"
        "  radixpic bench scaling --particles 1048576\n"
        "  mpirun -n 4 radixpic bench scaling --device gpu --csv weak_4.csv\n"
        "  mpirun -n 2 radixpic bench scaling --strong --decomposition slabs\n"
        "  mpirun -n 2 radixpic bench scaling --same-box --cells 256x64\n"),
    .options_size = sizeof(struct options),
    .settle = settle,
    .run = run_scaling,
    .wrong = "a step left a wrong result",
    .on_ranks = true,
};
