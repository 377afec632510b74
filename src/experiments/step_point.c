/* Step point: the config in memory, the blocks of steps, and what a right step must leave behind. */
#include "experiments/step_point.h"

#include "config/config_reader.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP_STEPS = 10, HISTORY_EVERY = 10, MOST_BLOCK_STEPS = 1000, LOOKED_AT = 4096 };

static const double wave_amplitude = 0.1;
static const double thin_density = 1e-9; /* of a hot start: a plasma period is longer than any bench */
static const double block_seconds = 0.3; /* of a block whose steps are chosen here */
static const double most_lost = 1e-4;    /* of the charge: sums in single precision */
enum { FEW_PER_CELL = 8 };
static const double least_field = 0.5; /* of the wave's first energy: coarse shapes smooth the wave */
static const double most_field = 1.5;  /* of it: few particles a cell add their noise */

/* ---- config ---- */

/* The wave whose k is nearest to 0.5. */
static uint32_t wave_mode(const struct step_setup *setup)
{
    const double pi = acos(-1.0), mode = round(0.5 * setup->length[0] / (2 * pi));
    return (uint32_t)fmax(1, fmin(mode, setup->cells[0] / 8)); /* 8 cells draw a wave well enough */
}

enum status step_point_config(const struct step_setup *setup, struct config *config)
{
    char text[1024], wave[128] = "", sort[64] = "";
    if (!setup->hot)
        snprintf(wave, sizeof wave, "    perturb: {density: [{axis: x, mode: %u, amplitude: %g}]}\n",
                 wave_mode(setup), wave_amplitude);
    if (setup->sort_method)
        snprintf(sort, sizeof sort, "sort: {method: %s}\n", setup->sort_method);
    const int length =
        snprintf(text, sizeof text,
                 "grid: {cells: [%u, %u], length: [%.17g, %.17g]}\n"
                 "time: {step: 0.1, steps: 1}\n"
                 "precision: %s\n"
                 "species:\n"
                 "  - name: electrons\n"
                 "    charge: -1\n"
                 "    mass: 1\n"
                 "    density: %g\n"
                 "    particles: %llu\n"
                 "    velocities: {kind: maxwellian}\n"
                 "%s%s"
                 "deposit: {shape: %s}\n"
                 "step: {method: %s}\n"
                 "output: {history: {every: %d}}\n",
                 setup->cells[0], setup->cells[1], setup->length[0], setup->length[1], setup->precision,
                 setup->hot ? thin_density : 1.0, (unsigned long long)setup->particles, wave, sort,
                 setup->shape, setup->step_method, HISTORY_EVERY);
    return config_read_text("radixpic bench step", text, (size_t)length, NULL, 0, config);
}

/* ---- the hot start ---- */

/* Before the first step: the first half of the particles come to rest in the middle cell. */
static enum status crowd_one_cell(struct simulation *simulation)
{
    struct particles *particles = &simulation->particles[0];
    const struct grid *grid = &simulation->slab.box;
    const size_t half = particles->count / 2, pair = 2 * precision_bytes(simulation->config->precision);
    uint32_t *keys = malloc((half + 1) * sizeof *keys);
    void *at_rest = calloc(half + 1, pair);
    enum status status = keys && at_rest
                             ? STATUS_OK
                             : status_fail(STATUS_FAILED, "no memory for %zu particles on the host", half);
    for (size_t j = 0; status == STATUS_OK && j < half; j++)
        keys[j] = grid->nx / 2 * grid->ny + grid->ny / 2;
    if (status == STATUS_OK)
        status = buffer_write(particles->key, 0, half * sizeof *keys, keys);
    if (status == STATUS_OK)
        status = buffer_write(particles->velocity, 0, half * pair, at_rest);
    free(keys);
    free(at_rest);
    return status;
}

/* ---- blocks ---- */

static enum status run_steps(struct simulation *simulation, uint32_t steps, double *seconds)
{
    TRY(device_finish(simulation->device));
    const double start = timer_now();
    for (uint32_t n = 0; n < steps; n++)
        TRY(simulation_step(simulation));
    TRY(device_finish(simulation->device));
    *seconds = timer_now() - start;
    return STATUS_OK;
}

/* The steps of a block: what was asked for, or whole periods of the history for about block_seconds. */
static uint32_t choose_steps(const struct step_setup *setup, double warm_up_seconds)
{
    if (setup->steps > 0)
        return setup->steps;
    const double periods = floor(block_seconds / warm_up_seconds * WARM_UP_STEPS / HISTORY_EVERY);
    return (uint32_t)fmax(HISTORY_EVERY, fmin(periods * HISTORY_EVERY, MOST_BLOCK_STEPS));
}

/* The first step builds what is built late and holds the start's energy; the timed warm-up follows it. */
static enum status warm_up(struct simulation *simulation, const struct step_setup *setup,
                           struct step_point *point, double *first_field_energy)
{
    double seconds = 0;
    TRY(run_steps(simulation, 1, &seconds));
    *first_field_energy = simulation->row.field_energy;
    TRY(run_steps(simulation, setup->steps > 0 ? setup->steps : WARM_UP_STEPS, &seconds));
    point->steps = choose_steps(setup, seconds);
    return STATUS_OK;
}

/* Timing the launches takes time itself: the wall clock is read over a block without, the stages over the
 * next. */
static enum status time_block(struct simulation *simulation, struct step_point *point)
{
    double seconds = 0;
    simulation->timing = TIME_NO_STEP;
    TRY(run_steps(simulation, point->steps, &seconds));
    samples_add(&point->wall, seconds);
    simulation->timing = TIME_EVERY_STEP;
    device_reset_timers(simulation->device);
    TRY(run_steps(simulation, point->steps, &seconds));
    const struct timers *timers = device_timers(simulation->device);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        samples_add(&point->stages[stage], timers->stages[stage].seconds);
        point->stage_bytes[stage] = timers->stages[stage].bytes;
    }
    return STATUS_OK;
}

/* ---- verification ---- */

struct findings {
    double first_field_energy;
    bool offsets_right;   /* cell offsets rise from 0 to the number of particles */
    bool positions_right; /* in [0, 1] of a cell, the velocities numbers */
};

static enum status check_cell_offsets(const struct simulation *simulation, struct findings *findings)
{
    const struct particles *particles = &simulation->particles[0];
    const uint32_t cells = grid_cells(&simulation->slab.box);
    const size_t bytes = (cells + (size_t)1) * sizeof(uint32_t);
    uint32_t *offsets = malloc(bytes);
    if (!offsets)
        return status_fail(STATUS_FAILED, "no memory for %u cell offsets on the host", cells);
    const enum status status = buffer_read(particles->cell_offsets, 0, bytes, offsets);
    findings->offsets_right = status == STATUS_OK && offsets[0] == 0 && offsets[cells] == particles->count;
    for (uint32_t c = 0; findings->offsets_right && c < cells; c++)
        findings->offsets_right = offsets[c] <= offsets[c + 1];
    free(offsets);
    return status;
}

/* Looks at the first and the last particles. */
static enum status check_positions(const struct simulation *simulation, struct findings *findings)
{
    const struct particles *particles = &simulation->particles[0];
    const enum precision precision = simulation->config->precision;
    const size_t count = particles->count < LOOKED_AT ? particles->count : LOOKED_AT;
    double offsets[2 * LOOKED_AT], velocities[2 * LOOKED_AT];
    findings->positions_right = true;
    for (int end = 0; end < 2; end++) {
        const size_t first = end == 0 ? 0 : particles->count - count;
        TRY(particles_read_offsets(particles, precision, first, count, offsets));
        TRY(particles_read_velocities(particles, precision, first, count, velocities));
        for (size_t n = 0; n < 2 * count; n++)
            if (!(offsets[n] >= 0 && offsets[n] <= 1) || !isfinite(velocities[n]))
                findings->positions_right = false;
    }
    return STATUS_OK;
}

/* Energy per area of E = (a/k) sin(k x). */
static double wave_energy(const struct step_setup *setup)
{
    const double pi = acos(-1.0), k = 2 * pi * wave_mode(setup) / setup->length[0];
    return pow(wave_amplitude / k, 2) / 4;
}

/* Relative to the kinetic energy, which is 1 per area: a fifth of the wave's energy, which a wrong force
 * changes by all of it, the noise of few particles, and how they heat themselves: per step and in cells of
 * one Debye length, at 1.2 to 3 times what 8 and 100 particles a cell were seen to do in cells of 0.4 to 3.
 */
double step_point_allowed_drift(const struct step_setup *setup, const struct config *config, uint64_t steps)
{
    static const double heating[] = {[SHAPE_NGP] = 2.5e-3, [SHAPE_CIC] = 1.5e-4, [SHAPE_TSC] = 1.5e-5};
    const struct grid grid = grid_make(&config->grid);
    const double per_cell = (double)setup->particles / grid_cells(&grid);
    const double per_step = heating[config->deposit.shape] * pow(fmax(grid.dx, grid.dy), 2.5);
    const double wave = setup->hot ? 0 : 0.2 * wave_energy(setup);
    return wave + 1e-5 + (2e-3 + per_step * (double)steps) / per_cell;
}

static void judge(const struct simulation *simulation, const struct step_setup *setup,
                  const struct findings *findings, struct step_point *point)
{
    const struct grid *grid = &simulation->slab.box;
    const double charge = -simulation->config->species[0].density * grid->lx * grid->ly;
    const double lost = simulation->row.charge / charge - 1;
    const double field = findings->first_field_energy / (wave_energy(setup) * grid->lx * grid->ly);
    /* Of few particles a cell the field is mostly noise, and not held against the wave's. */
    const bool shows_wave = !setup->hot && setup->particles >= FEW_PER_CELL * (uint64_t)grid_cells(grid);
    char *verdict = point->verdict;
    const size_t size = sizeof point->verdict;
    point->verified = false;
    if (!findings->offsets_right)
        snprintf(verdict, size, "the cell offsets do not rise from 0 to the number of particles");
    else if (!findings->positions_right)
        snprintf(verdict, size, "a particle lies outside its cell, or its velocity is no number");
    else if (!(fabs(lost) <= most_lost))
        snprintf(verdict, size, "the charge on the grid differs by %.2g of it from the particles'", lost);
    else if (shows_wave && !(field >= least_field && field <= most_field))
        snprintf(verdict, size, "the field of the wave at the start holds %.2g times its energy", field);
    else if (!(fabs(point->energy_drift) <=
               step_point_allowed_drift(setup, simulation->config, point->steps_done)))
        snprintf(verdict, size,
                 "the energy drifted by %.2g in %llu steps: the step is wrong, or a cell is many Debye "
                 "lengths long and the plasma heats itself",
                 point->energy_drift, (unsigned long long)point->steps_done);
    else
        point->verified = true;
    if (point->verified)
        snprintf(verdict, size,
                 "all %u particles are in the cells, the charge is right to %.1g, the energy drifted by %.1g "
                 "in %llu steps%s",
                 simulation->particles[0].count, fabs(lost), fabs(point->energy_drift),
                 (unsigned long long)point->steps_done,
                 setup->hot || shows_wave ? "" : "; too few a cell to judge the field of the wave");
}

/* One more step, the run's last: it sorts and measures, and moves nothing. */
static enum status verify(struct simulation *simulation, struct config *config,
                          const struct step_setup *setup, struct findings *findings, struct step_point *point)
{
    config->time.steps = simulation->step;
    point->steps_done = simulation->step;
    TRY(simulation_step(simulation));
    point->energy_drift = simulation_energy_drift(simulation);
    TRY(check_cell_offsets(simulation, findings));
    TRY(check_positions(simulation, findings));
    judge(simulation, setup, findings, point);
    return STATUS_OK;
}

/* ---- one point ---- */

static void describe_step(const struct simulation *simulation, struct step_point *point)
{
    if (simulation->advance_kind == ADVANCE_NONE) {
        snprintf(point->step, sizeof point->step, "plain");
        sorter_plan_describe(&simulation->plan, point->sort, sizeof point->sort);
    } else
        snprintf(point->step, sizeof point->step, "fused %s", advance_kind_name(simulation->advance_kind));
}

static enum status run(const struct step_setup *setup, struct device *device, struct config *config,
                       struct simulation *simulation, struct step_point *point)
{
    struct findings findings = {0};
    TRY(step_point_config(setup, config));
    config->time.steps = UINT64_MAX; /* until verify() says which is the last */
    TRY(simulation_create(config, device, simulation));
    if (setup->hot)
        TRY(crowd_one_cell(simulation));
    describe_step(simulation, point);
    TRY(warm_up(simulation, setup, point, &findings.first_field_energy));
    for (uint32_t n = 0; n < setup->repeats; n++)
        TRY(time_block(simulation, point));
    point->bytes_held = device_bytes_held(device);
    return verify(simulation, config, setup, &findings, point);
}

enum status step_point_run(const struct step_setup *setup, struct device *device, struct step_point *point)
{
    struct config *config = calloc(1, sizeof *config);
    struct simulation *simulation = calloc(1, sizeof *simulation);
    memset(point, 0, sizeof *point);
    enum status status = config && simulation ? run(setup, device, config, simulation, point)
                                              : status_fail(STATUS_FAILED, "no memory for a simulation");
    if (simulation)
        simulation_destroy(simulation);
    free(simulation);
    free(config);
    return status;
}

double step_point_nanoseconds(const struct step_setup *setup, const struct step_point *point, double seconds)
{
    return 1e9 * seconds / ((double)point->steps * (double)setup->particles);
}
