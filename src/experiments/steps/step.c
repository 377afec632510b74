/* Step: what whole simulation steps cost, for one size or for a sweep over particles and grids. */
#include "experiments/steps/step_point.h"
#include "simulation.h"

#include <unistd.h>

enum { LEAST_PER_CELL = 8, SMALLEST_GRID = 32, GRIDS = 7 /* to 2048 */, MOST_SIZES = 33 };
enum { USUAL_STEPS = 50, USUAL_REPEATS = 5, SWEEP_REPEATS = 3 };

struct options {
    struct common_options common;
    struct step_setup setup; /* length[0] is 0 where cells of the usual size are wanted */
    bool sweep;
    uint64_t least_particles, most_particles; /* of a sweep */
};

/* ---- one point ---- */

static double nanoseconds(const struct step_run *run)
{
    return 1e9 / ((double)run->point.steps * (double)run->setup.particles);
}

/* A row of the table, but for a sweep, and of the file. */
static void report_row(const struct step_run *run, const char *name, struct spread seconds, uint64_t bytes)
{
    const struct options *options = run->bench->options;
    const struct spread bandwidth = spread_bandwidth(bytes, seconds);
    bench_row(run->bench, seconds, nanoseconds(run), "%s_ns", name);
    if (bytes > 0 && seconds.least > 0)
        bench_row(run->bench, bandwidth, 1, "%s_GB/s", name);
    if (options->sweep)
        return;
    printf("  %-18s", name);
    spread_print(seconds, nanoseconds(run), 9, 4);
    printf(" %6.1f %%", 100 * per_second(seconds.median, run->point.wall.median));
    if (bytes > 0)
        printf(" %9.2f %8.1f %%", bandwidth.median, bench_copy_share(run->bench, bandwidth.median));
    printf("\n");
}

/* Words of a case. */
#define PLASMA_WORDS     "precision=%s shape=%s hot=%s"
#define PLASMA_OF(setup) (setup)->precision, (setup)->shape, (setup)->hot ? "yes" : "no"

static void report_rows(const struct step_run *run)
{
    const struct step_setup *setup = &run->setup;
    const struct step_point *point = &run->point;
    bench_words(run->bench, false, point->verified,
                "method=%s sort=%s " PLASMA_WORDS " cells=%ux%u N=%llu steps=%u", point->method,
                setup->sort_method ? setup->sort_method : "default", PLASMA_OF(setup), setup->cells[0],
                setup->cells[1], (unsigned long long)setup->particles, point->steps);
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        if (point->stages[stage].most > 0)
            report_row(run, stage_name((enum stage)stage), point->stages[stage], point->stage_bytes[stage]);
    report_row(run, "wall clock", point->wall, point->stages_bytes);
    bench_row(run->bench, spread_of_one((double)point->bytes_held / (double)setup->particles), 1, "held_B");
    bench_row(run->bench, spread_of_one(point->energy_drift), 1, "energy_drift");
}

static void print_point(const struct step_run *run)
{
    const struct step_point *point = &run->point;
    const double cost = nanoseconds(run) * point->wall.median;
    bench_print_copy(run->bench);
    printf("method: %s%s%s\nheld on the device: %.1f bytes a particle\n", point->method,
           point->sort[0] != '\0' ? "; sort: " : "", point->sort,
           (double)point->bytes_held / (double)run->setup.particles);
    printf("%u blocks of %u steps after a warm-up, wall clock from one wait for the device to the next; as "
           "many for the stages, whose timing takes time itself\n",
           point->wall.count, point->steps);
    printf("\n  %-18s %9s  [%8s, %8s] %8s %9s %10s\n", "stage", "ns/p-step", "min", "max", "share", "GB/s",
           "of a copy");
    report_rows(run);
    printf("\n%.4g ns per particle-step (ns/p-step), %.1f M particle-steps/s\n", cost, per_second(1e3, cost));
    printf("%s: %s\n", point->verified ? "verified" : "NOT VERIFIED", point->verdict);
}

static enum status run_point(struct step_run *run)
{
    struct bench *bench = run->bench;
    /* just before, since what else the machine does changes it */
    TRY(bench_copy_like(bench, run->setup.particles, sizeof(float)));
    return bench_case(bench, step_run, run);
}

static void choose_box(struct step_setup *setup, double length)
{
    setup->length[0] = length > 0 ? length : usual_cell_length * setup->cells[0];
    setup->length[1] = setup->length[0] / setup->cells[0] * setup->cells[1];
}

static enum status run_single(struct step_run *run)
{
    struct step_setup *setup = &run->setup;
    choose_box(setup, setup->length[0]);
    printf("step: %llu particles in %ux%u cells (%.4g a cell%s), %s, %s precision, on %s\n",
           (unsigned long long)setup->particles, setup->cells[0], setup->cells[1],
           (double)setup->particles / ((double)setup->cells[0] * setup->cells[1]),
           setup->hot ? ", half of them in one" : "", setup->shape, setup->precision, run->bench->info->name);
    TRY(run_point(run));
    print_point(run);
    return STATUS_OK;
}

/* ---- sweep ---- */

/* Nanoseconds per particle-step by grid and size; 0 where there is no point. */
struct cost_table {
    uint64_t sizes[MOST_SIZES];
    uint32_t size_count;
    double cost[GRIDS][MOST_SIZES];
    double least; /* of all; 0 without a point */
};

/* The points that tell how the cost grows, and how many times the least the largest may be. */
struct growth_rule {
    uint64_t particles[2];
    uint32_t per_cell[2];
    double wanted;
    const char *words;
};
static const struct growth_rule growth_rules[] = {
    [false] = {{1 << 23, 1 << 27}, {32, UINT32_MAX}, 1.5, "2^23 to 2^27 particles, at least 32 a cell"},
    [true] = {{1, UINT64_MAX}, {16, 1024}, 2, "16 to 1,024 particles a cell"}, /* of a CPU */
};

/* Half of what the device tells, and of the machine's where the device is its processor: what drivers of CPUs
 * tell is not always the machine's. */
static uint64_t half_of_memory(const struct device_info *info)
{
    uint64_t bytes = info->global_memory;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    if (info->is_cpu && pages > 0 && page > 0 && (uint64_t)pages * (uint64_t)page < bytes)
        bytes = (uint64_t)pages * (uint64_t)page;
    return bytes / 2;
}

/* Why this device has no room for the point; "" where it has. */
static enum status find_room(struct bench *bench, const struct step_setup *setup, size_t size, char *reason)
{
    const uint64_t half = half_of_memory(bench->info);
    struct config *config = NULL;
    struct simulation_plan plan = {0};
    reason[0] = '\0';
    TRY(DEVICE_NEW(bench->device, config));
    enum status status = step_point_config(setup, config);
    if (status == STATUS_OK)
        status = simulation_plan(config, bench->info, &plan);
    const uint64_t largest = setup->particles * 4 * precision_bytes(config->precision);
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

/* "push 41 %, at 63 % of a copy", or what the host spends between the stages where that is more. */
static void describe_limit(const struct step_run *run, size_t size, char *text)
{
    const struct step_point *point = &run->point;
    const char *longest = "between stages";
    double seconds = point->wall.median - point->stages_seconds, bandwidth = 0;
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        if (point->stages[stage].median >= seconds) {
            longest = stage_name((enum stage)stage);
            seconds = point->stages[stage].median;
            bandwidth = spread_bandwidth(point->stage_bytes[stage], point->stages[stage]).median;
        }
    const int length =
        snprintf(text, size, "%s %.0f %%", longest, 100 * per_second(seconds, point->wall.median));
    if (bandwidth > 0)
        snprintf(text + length, size - (size_t)length, ", at %.0f %% of a copy",
                 bench_copy_share(run->bench, bandwidth));
}

static enum status sweep_point(struct step_run *run, struct cost_table *table, double *cost)
{
    const struct step_setup *setup = &run->setup;
    const struct step_point *point = &run->point;
    char text[512];
    printf("  %5u^2 %11llu %9.4g", setup->cells[0], (unsigned long long)setup->particles,
           (double)setup->particles / ((double)setup->cells[0] * setup->cells[1]));
    TRY(find_room(run->bench, setup, sizeof text, text));
    if (text[0] != '\0') {
        printf("  skipped: %s\n", text);
        return STATUS_OK;
    }
    fflush(stdout); /* points take seconds: show which one is running */
    TRY(run_point(run));
    const double scale = nanoseconds(run);
    *cost = scale * point->wall.median;
    table->least = table->least > 0 ? fmin(table->least, *cost) : *cost;
    report_rows(run);
    describe_limit(run, sizeof text, text);
    spread_print(point->wall, scale, 9, 4);
    printf(" %10.2f %9.1f %8.1f %9.2f  %-13s %s\n", *cost / table->least, per_second(1e3, *cost),
           (double)point->bytes_held / (double)setup->particles, bench_copy_rate(run->bench), point->method,
           text);
    if (!point->verified)
        printf("        NOT VERIFIED: %s\n", point->verdict);
    return STATUS_OK;
}

static enum status sweep_grid(struct step_run *run, uint32_t grid, struct cost_table *table)
{
    struct step_setup *setup = &run->setup;
    setup->cells[0] = setup->cells[1] = (uint32_t)SMALLEST_GRID << grid;
    const uint64_t cells = (uint64_t)setup->cells[0] * setup->cells[1];
    choose_box(setup, 0);
    for (uint32_t n = 0; n < table->size_count; n++) {
        setup->particles = table->sizes[n];
        if (setup->particles >= LEAST_PER_CELL * cells)
            TRY(sweep_point(run, table, &table->cost[grid][n]));
    }
    return STATUS_OK;
}

/* The table of how the cost grows, and its rows. */
static void report_ratios(const struct step_run *run, const struct cost_table *table)
{
    printf("\nhow the cost grows: ns per particle-step over the least of all, %.4f\n  %7s", table->least,
           "cells");
    for (uint32_t n = 0; n < table->size_count; n++)
        printf(" %10llu", (unsigned long long)table->sizes[n]);
    printf("\n");
    for (uint32_t grid = 0; grid < GRIDS; grid++) {
        bool any = false;
        for (uint32_t n = 0; n < table->size_count; n++)
            any = any || table->cost[grid][n] > 0;
        if (!any)
            continue;
        const uint32_t cells = (uint32_t)SMALLEST_GRID << grid;
        printf("  %5u^2", cells);
        for (uint32_t n = 0; n < table->size_count; n++) {
            const double ratio = table->cost[grid][n] / table->least;
            if (ratio == 0) {
                printf(" %10s", "-");
                continue;
            }
            printf(" %10.2f", ratio);
            bench_words(run->bench, false, !run->bench->is_wrong, PLASMA_WORDS " cells=%ux%u N=%llu",
                        PLASMA_OF(&run->setup), cells, cells, (unsigned long long)table->sizes[n]);
            bench_row(run->bench, spread_of_one(ratio), 1, "over_least");
        }
        printf("\n");
    }
}

struct growth_point {
    uint32_t cells;
    uint64_t particles;
    double cost;
};

static void print_growth_point(const char *name, const struct growth_point *point)
{
    printf("  %-7s %5u^2 %11llu %9.4g %9.4f\n", name, point->cells, (unsigned long long)point->particles,
           (double)point->particles / ((double)point->cells * point->cells), point->cost);
}

/* The largest cost over the least of the points that count, beside what is wanted. */
static void report_growth(const struct step_run *run, const struct cost_table *table)
{
    const struct growth_rule *rule = &growth_rules[run->bench->info->is_cpu];
    struct growth_point least = {0}, largest = {0};
    uint32_t points = 0;
    for (uint32_t grid = 0; grid < GRIDS; grid++)
        for (uint32_t n = 0; n < table->size_count; n++) {
            const struct growth_point point = {(uint32_t)SMALLEST_GRID << grid, table->sizes[n],
                                               table->cost[grid][n]};
            const uint64_t cells = (uint64_t)point.cells * point.cells;
            if (point.cost == 0 || point.particles < rule->particles[0] ||
                point.particles > rule->particles[1] || point.particles < rule->per_cell[0] * cells ||
                point.particles > rule->per_cell[1] * cells)
                continue;
            least = points == 0 || point.cost < least.cost ? point : least;
            largest = point.cost > largest.cost ? point : largest;
            points++;
        }
    printf("\npoints that count: %u of those with %s\n", points, rule->words);
    if (points == 0)
        return;
    const double growth = largest.cost / least.cost;
    printf("  %-7s %7s %11s %9s %9s\n", "", "cells", "particles", "a cell", "ns/p-step");
    print_growth_point("least", &least);
    print_growth_point("largest", &largest);
    printf("cost growth: the largest is %.2f times the least; at most %g is wanted: %s\n", growth,
           rule->wanted, growth <= rule->wanted ? "met" : "not met");
    bench_words(run->bench, false, !run->bench->is_wrong, PLASMA_WORDS " points=%u wanted=%g",
                PLASMA_OF(&run->setup), points, rule->wanted);
    bench_row(run->bench, spread_of_one(growth), 1, "cost_growth");
}

static enum status run_sweep(struct step_run *run)
{
    const struct options *options = run->bench->options;
    struct cost_table table = {0};
    for (uint64_t size = 1; size <= options->most_particles; size *= 2)
        if (size >= options->least_particles)
            table.sizes[table.size_count++] = size;
    if (table.size_count == 0)
        return status_fail(STATUS_USAGE, "no power of two lies between --min-particles and --max-particles");
    printf("step: sweep, %s, %s precision, on %s; over least: over the least ns/p-step up to that line\n\n",
           options->setup.shape, options->setup.precision, run->bench->info->name);
    printf("  %7s %11s %9s %9s  [%8s, %8s] %10s %9s %8s %9s  %-13s %s\n", "cells", "particles", "a cell",
           "ns/p-step", "min", "max", "over least", "M p-st/s", "B/part.", "copy GB/s", "method",
           "what limits");
    for (uint32_t grid = 0; grid < GRIDS; grid++)
        TRY(sweep_grid(run, grid, &table));
    if (table.least > 0)
        report_ratios(run, &table);
    report_growth(run, &table);
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status run_step(struct bench *bench)
{
    const struct options *options = bench->options;
    struct step_run run = {.bench = bench, .setup = options->setup, .ranks = bench->ranks};
    return options->sweep ? run_sweep(&run) : run_single(&run);
}

static enum status settle(struct bench *bench)
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
    if (options->most_particles < options->least_particles)
        return status_fail(STATUS_USAGE, "--max-particles %llu is less than --min-particles %llu",
                           (unsigned long long)options->most_particles,
                           (unsigned long long)options->least_particles);
    if (options->common.repeats == 0)
        options->common.repeats = options->sweep ? SWEEP_REPEATS : USUAL_REPEATS;
    if (setup->steps == 0 && !options->sweep)
        setup->steps = USUAL_STEPS;
    setup->repeats = options->common.repeats;
    setup->decomposition = "auto";
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
    .summary = "whole simulation steps: times of the stages, how cost grows",
    .options = OPTION_TABLE(
        rows, NULL,
        "Time whole simulation steps: electrons of thermal velocity 1 with a wave of k = 0.5, dt = 0.1, "
        "energies every 10 steps, nothing written to disk.\v"
        "The wall clock is the host's over blocks of steps, from one wait for the device to the next; the "
        "stages are timed by events in blocks of their own, since that takes time itself. Particles, charge, "
        "the field at the start and the drift of the energy are checked: a wrong step is not reported as "
        "fast but ends the program with exit code 1. A copy on the device is timed just before each point; "
        "so short a list that caches hold it can beat it.\n\n"
        "Examples:\n"
        "  radixpic bench step\n"
        "  radixpic bench step --particles 1048576 --cells 64 --length 12.566 --method radix\n"
        "  radixpic bench step --sweep --max-particles 4194304 --device cpu --csv step.csv\n"),
    .settle = settle,
    .run = run_step,
    .wrong = "a step left a wrong result",
};
