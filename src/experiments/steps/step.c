/* Step: what whole simulation steps cost, for one size or for a sweep over particles and grids. */
#include "experiments/steps/step_point.h"
#include "simulation.h"

enum { LEAST_PER_CELL = 8, SMALLEST_GRID = 32, GRIDS = 7 /* to 2048 */ };
enum { USUAL_STEPS = 50, USUAL_REPEATS = 5, SWEEP_REPEATS = 3 };

struct options {
    struct common_options common;
    struct step_setup setup;
    bool sweep;
    uint64_t least_particles, most_particles; /* of a sweep */
};

/* ---- one point ---- */

static double nanoseconds(const struct step_run *run)
{
    return 1e9 / ((double)run->point.steps * (double)run->setup.particles);
}

static const struct bench_table stage_table = {
    "stage",
    {SPREAD("ns/p-step", "_ns", 1), NUMBER("% of a step", NULL, 1), NUMBER("GB/s", "_GB/s", 1), OF_COPY}};
static const struct bench_table whole_table = {.columns = {IN_FILE("held_B", 1), IN_FILE("energy_drift", 1)}};

/* Printed but in a sweep. */
static void report_stage(const struct step_run *run, const char *name, struct spread seconds, uint64_t bytes)
{
    const struct options *options = run->bench->options;
    const struct spread values[] = {spread_scaled(seconds, nanoseconds(run)),
                                    spread_of_one(100 * per_second(seconds.median, run->point.wall.median)),
                                    spread_bandwidth(seconds.least > 0 ? bytes : 0, seconds)};
    if (!options->sweep)
        bench_print(run->bench, &stage_table, name, values, NULL);
    bench_write(run->bench, &stage_table, name, values);
}

static double bytes_held(const struct step_run *run)
{
    return (double)run->point.bytes_held / (double)run->setup.particles;
}

static double per_cell(const struct step_setup *setup)
{
    return (double)setup->particles / ((double)setup->cells[0] * setup->cells[1]);
}

static void report_stages(const struct step_run *run)
{
    const struct step_setup *setup = &run->setup;
    const struct step_point *point = &run->point;
    const struct spread whole[] = {spread_of_one(bytes_held(run)), spread_of_one(point->energy_drift)};
    bench_words(run->bench, false, point->verified,
                "method=%s sort=%s precision=%s shape=%s hot=%s cells=%ux%u N=%llu steps=%u", point->method,
                setup->sort_method ? setup->sort_method : "default", setup->precision, setup->shape,
                setup->hot ? "yes" : "no", setup->cells[0], setup->cells[1],
                (unsigned long long)setup->particles, point->steps);
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        if (point->stages[stage].most > 0)
            report_stage(run, stage_name((enum stage)stage), point->stages[stage], point->stage_bytes[stage]);
    report_stage(run, "wall clock", point->wall, point->stages_bytes);
    bench_write(run->bench, &whole_table, NULL, whole);
}

static void print_point(const struct step_run *run)
{
    const struct step_point *point = &run->point;
    const double cost = nanoseconds(run) * point->wall.median;
    bench_print_copy(run->bench);
    if (point->why[0] != '\0')
        printf("%s\n", point->why);
    printf("method: %s%s%s\nheld on the device: %.1f bytes a particle\n", point->method,
           point->sort[0] != '\0' ? "; sort: " : "", point->sort, bytes_held(run));
    printf("%u blocks of %u steps after a warm-up, wall clock from one wait for the device to the next; as "
           "many for the stages, whose timing takes time itself\n",
           point->wall.count, point->steps);
    bench_head(&stage_table);
    report_stages(run);
    printf("\n%.4g ns per particle-step (ns/p-step), %.1f M particle-steps/s\n", cost, per_second(1e3, cost));
    bench_print_verdict(run->bench, point->verdict);
}

static enum status run_point(struct step_run *run)
{
    struct bench *bench = run->bench;
    /* just before, since what else the machine does changes it */
    TRY(bench_copy_like(bench, run->setup.particles, sizeof(float)));
    return bench_case(bench, step_run, run);
}

/* ---- sweep ---- */

/* Why this device has no room for the point; "" where it has. */
static enum status find_obstacle(struct bench *bench, const struct step_setup *setup, size_t size,
                                 char *reason)
{
    const uint64_t half = bench->info->global_memory / 2;
    struct config config = {0};
    struct simulation_plan plan = {0};
    reason[0] = '\0';
    enum status status = step_point_config(setup, &config);
    TRY_IF_OK(simulation_plan(&config, bench->info, &plan));
    const uint64_t largest = setup->particles * 4 * precision_bytes(config.precision);
    config_free(&config);
    if (status == STATUS_USAGE) /* parameters that do not fit are a reason, not an end */
        snprintf(reason, size, "%s", status_message());
    else if (plan.bytes > half)
        snprintf(reason, size, "it needs %.2f GB, more than half of the memory, %.2f GB",
                 1e-9 * (double)plan.bytes, 1e-9 * (double)half);
    else if (largest > bench->info->largest_buffer)
        snprintf(reason, size, "an array of %.2f GB is larger than the device allows, %.2f GB",
                 1e-9 * (double)largest, 1e-9 * (double)bench->info->largest_buffer);
    return status == STATUS_USAGE ? STATUS_OK : status;
}

static const struct bench_table sweep_table = {
    .columns = {WORD("cells", "cells", 11), WORD("N", "particles", 11), WORD("method", "method", 13),
                NUMBER("a cell", NULL, 1), SPREAD("ns/p-step", NULL, 1), NUMBER("M p-steps/s", NULL, 1),
                NUMBER("B/particle", NULL, 1), NUMBER("copy GB/s", NULL, 1)}};

static enum status sweep_point(struct step_run *run)
{
    const struct step_setup *setup = &run->setup;
    const struct step_point *point = &run->point;
    char text[512];
    TRY(find_obstacle(run->bench, setup, sizeof text, text));
    if (text[0] != '\0') {
        printf("  %ux%u, %llu particles: skipped: %s\n", setup->cells[0], setup->cells[1],
               (unsigned long long)setup->particles, text);
        return STATUS_OK;
    }
    TRY(run_point(run));
    const struct spread seconds = spread_scaled(point->wall, nanoseconds(run));
    const struct spread values[] = {
        spread_of_one(per_cell(setup)), seconds, spread_of_one(per_second(1e3, seconds.median)),
        spread_of_one(bytes_held(run)), spread_of_one(bench_copy_rate(run->bench))};
    report_stages(run);
    bench_print(run->bench, &sweep_table, NULL, values, point->verified ? NULL : point->verdict);
    return STATUS_OK;
}

static enum status sweep_grid(struct step_run *run, uint32_t cells)
{
    const struct options *options = run->bench->options;
    struct step_setup *setup = &run->setup;
    setup->cells[0] = setup->cells[1] = cells;
    for (setup->particles = 1; setup->particles <= options->most_particles; setup->particles *= 2)
        if (setup->particles >= options->least_particles && per_cell(setup) >= LEAST_PER_CELL)
            TRY(sweep_point(run));
    return STATUS_OK;
}

static enum status run_sweep(struct step_run *run)
{
    const struct options *options = run->bench->options;
    printf("step: sweep, %s, %s precision, on %s\n", options->setup.shape, options->setup.precision,
           run->bench->info->name);
    bench_head(&sweep_table);
    for (uint32_t grid = 0; grid < GRIDS; grid++)
        TRY(sweep_grid(run, (uint32_t)SMALLEST_GRID << grid));
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status run_step(struct bench *bench)
{
    const struct options *options = bench->options;
    const struct step_setup *setup = &options->setup;
    struct step_run run = {.bench = bench, .setup = *setup, .ranks = bench->ranks};
    if (options->sweep)
        return run_sweep(&run);
    printf("step: %llu particles in %ux%u cells (%.4g a cell%s), %s, %s precision, on %s\n",
           (unsigned long long)setup->particles, setup->cells[0], setup->cells[1], per_cell(setup),
           setup->hot ? ", half of them in one" : "", setup->shape, setup->precision, bench->info->name);
    TRY(run_point(&run));
    print_point(&run);
    return STATUS_OK;
}

static enum status resolve(struct bench *bench)
{
    struct options *options = bench->options;
    struct step_setup *setup = &options->setup;
    if (options->sweep &&
        (options_given(&options->common, "particles") || options_given(&options->common, "cells") ||
         options_given(&options->common, "length")))
        return status_fail(
            STATUS_USAGE,
            "--sweep chooses particles and cells itself; leave --particles, --cells and --length out");
    if (!options->sweep && (options_given(&options->common, "min-particles") ||
                            options_given(&options->common, "max-particles")))
        return status_fail(STATUS_USAGE, "--min-particles and --max-particles are of a --sweep alone");
    uint64_t size = 1;
    while (size < options->least_particles)
        size *= 2;
    if (size > options->most_particles)
        return status_fail(STATUS_USAGE, "no power of two lies between --min-particles and --max-particles");
    if (options->common.repeats == 0)
        options->common.repeats = options->sweep ? SWEEP_REPEATS : USUAL_REPEATS;
    if (setup->steps == 0 && !options->sweep)
        setup->steps = USUAL_STEPS;
    return STATUS_OK;
}

static const struct option_row rows[] = {
    PLASMA_ROWS,
    {"length", 0, "L", OPTION_REAL, AT(setup.length), 1e-6, 1e9,
     .help = "Length of the box along x in Debye lengths, its cells square; without it a cell is 4 pi/32 "
             "long, whatever the number of cells"},
    {"method", 0, "NAME", OPTION_WORD, AT(setup.step_method), .as_in = "step.method", .usual = "auto",
     .help = "Of the step, as the config's step.method"},
    {"sort", 0, "NAME", OPTION_WORD, AT(setup.sort_method), .as_in = "sort.method",
     .help = "Method of the sort: auto, paper, tiled or chunked; as a config's default without it"},
    {"hot", 0, NULL, OPTION_SWITCH, AT(setup.hot),
     .help =
         "Half of the particles stand still in one cell; the plasma is so thin that nothing else changes"},
    {"steps", 0, "K", OPTION_NUMBER, AT(setup.steps), 1, 1000000,
     .help = "Steps in a timed block, 50 without it; in a sweep as many as take 0.3 s"},
    COMMON_ROWS(
        NULL, "Timed blocks, after a warm-up of one, and as many for the stages; 5 without it, 3 in a sweep"),
    {"sweep", 0, NULL, OPTION_SWITCH, AT(sweep),
     .help = "Every power of two of particles on grids of 32^2 to 2048^2, with at least 8 particles a cell"},
    {"min-particles", 0, "N", OPTION_NUMBER64, AT(least_particles), 1, CONFIG_MAX_PARTICLES,
     .usual = "262144", .help = "Least particles of a sweep"},
    {"max-particles", 0, "N", OPTION_NUMBER64, AT(most_particles), 1, CONFIG_MAX_PARTICLES,
     .usual = "134217728", .help = "Most particles of a sweep, as far as half of the memory holds them"},
};

const struct experiment experiment_step = {
    .name = "step",
    .summary = "whole simulation steps: times of the stages, sweeps over sizes",
    .options = OPTION_TABLE(
        rows, NULL,
        "Time whole simulation steps: electrons of thermal velocity 1 with a wave of k = 0.5, dt = 0.1, "
        "energies every 10 steps, nothing written to disk.\v"
        "The wall clock is the host's over blocks of steps; the stages are timed by events in blocks of "
        "their own, since that takes time itself. Particles, charge, the field at the start and the drift of "
        "the energy are checked.\n\n"
        "Examples:\n"
        "  radixpic bench step\n"
        "  radixpic bench step --particles 1048576 --cells 64 --method radix\n"
        "  radixpic bench step --sweep --max-particles 4194304 --csv step.csv\n"),
    .resolve = resolve,
    .run = run_step,
    .wrong = "a step left a wrong result",
};
