/* Scaling point: the blocks of steps, what the ranks found in them, and what a right run must leave behind.
 */
#include "experiments/scaling_point.h"

#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EARLY_STEP = 10 }; /* of which the config asks for a row of the history */

/* Relative: of the charge, sums in the device's precision; of the field's energy, which they differ by after
 * EARLY_STEP steps between ranks that sum in another order. */
static const double most_lost[] = {[PRECISION_SINGLE] = 1e-4, [PRECISION_DOUBLE] = 1e-9};
static const double most_apart[] = {[PRECISION_SINGLE] = 1e-3, [PRECISION_DOUBLE] = 1e-9};

/* What one run holds. */
struct run {
    const struct step_setup *setup;
    struct config config;
    struct simulation simulation;
    struct samples stages[STAGE_OTHER]; /* seconds of a block on this rank */
    uint64_t stage_bytes[STAGE_OTHER];  /* of the last block */
    uint64_t left;                      /* particles, this rank, in the timed blocks */
};

/* ---- blocks ---- */

/* All ranks begin together; a block takes as long as on the slowest. */
static enum status run_steps(struct run *run, uint32_t steps, double *seconds)
{
    struct simulation *simulation = &run->simulation;
    double together = 0;
    TRY(device_finish(simulation->device));
    communicator_max(&simulation->communicator, 1, &together);
    const uint64_t left = simulation->left;
    const double start = timer_now();
    for (uint32_t n = 0; n < steps; n++)
        TRY(simulation_step(simulation));
    TRY(device_finish(simulation->device));
    *seconds = timer_now() - start;
    run->left += simulation->left - left;
    communicator_max(&simulation->communicator, 1, seconds);
    return STATUS_OK;
}

/* Builds what is built late, and keeps the field's energy before round-off can grow. */
static enum status warm_up(struct run *run, struct scaling_point *point)
{
    double seconds = 0;
    TRY(run_steps(run, EARLY_STEP + 1, &seconds));
    point->early_field_energy = run->simulation.row.field_energy;
    TRY(run_steps(run, run->setup->steps, &seconds));
    run->left = 0;
    return STATUS_OK;
}

/* One block for the wall clock, the next for the stages: timing the launches takes time itself. */
static enum status time_block(struct run *run, struct scaling_point *point)
{
    struct simulation *simulation = &run->simulation;
    double seconds = 0;
    simulation->timing = TIME_NO_STEP;
    TRY(run_steps(run, point->steps, &seconds));
    samples_add(&point->wall, seconds);
    simulation->timing = TIME_EVERY_STEP;
    device_reset_timers(simulation->device);
    TRY(run_steps(run, point->steps, &seconds));
    const struct timers *timers = device_timers(simulation->device);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        samples_add(&run->stages[stage], timers->stages[stage].seconds);
        run->stage_bytes[stage] = timers->stages[stage].bytes;
    }
    return STATUS_OK;
}

/* ---- over the ranks ---- */

static void count_leavers(const struct run *run, struct scaling_point *point)
{
    uint64_t left = run->left;
    communicator_sum_counts(&run->simulation.communicator, 1, &left);
    const double blocks = 2.0 * (double)point->wall.count; /* for the wall clock, for the stages */
    point->leavers = (double)left / (blocks * point->steps * point->ranks);
}

static void spread_stages(const struct run *run, struct scaling_point *point)
{
    const struct communicator *communicator = &run->simulation.communicator;
    double sums[STAGE_OTHER], most[STAGE_OTHER], negative[STAGE_OTHER];
    uint64_t bytes[STAGE_OTHER];
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        sums[stage] = most[stage] = samples_median(&run->stages[stage]) / point->steps;
        negative[stage] = -sums[stage];
        bytes[stage] = run->stage_bytes[stage];
    }
    communicator_sum(communicator, STAGE_OTHER, sums);
    communicator_max(communicator, STAGE_OTHER, most);
    communicator_max(communicator, STAGE_OTHER, negative);
    communicator_sum_counts(communicator, STAGE_OTHER, bytes);
    for (int stage = 0; stage < STAGE_OTHER; stage++)
        point->stages[stage] = (struct stage_spread){
            .least = -negative[stage],
            .mean = sums[stage] / point->ranks,
            .most = most[stage],
            .bytes = (double)bytes[stage] / ((double)point->ranks * point->steps),
        };
}

/* Returns the particles of all ranks. */
static uint64_t count_particles(const struct simulation *simulation, struct scaling_point *point)
{
    uint64_t sum = simulation_own_particles(simulation);
    double most = (double)sum;
    communicator_sum_counts(&simulation->communicator, 1, &sum);
    communicator_max(&simulation->communicator, 1, &most);
    point->particles_most = (uint64_t)most;
    return sum;
}

static void describe(const struct simulation *simulation, struct scaling_point *point)
{
    point->decomposition = simulation->decomposition;
    point->ghost_rows = simulation->slab.ghost;
    for (int rank = 0; rank < point->ranks; rank++) {
        const uint32_t rows = partition_rows(&simulation->partition, rank);
        point->rows_most = rows > point->rows_most ? rows : point->rows_most;
    }
    if (simulation->advance_kind == ADVANCE_NONE)
        snprintf(point->method, sizeof point->method, "plain");
    else
        snprintf(point->method, sizeof point->method, "fused %s",
                 advance_kind_name(simulation->advance_kind));
}

/* ---- verification ---- */

static void judge(const struct run *run, uint64_t counted, const struct scaling_point *alone,
                  struct scaling_point *point)
{
    const struct config *config = &run->config;
    const struct grid grid = grid_make(&config->grid);
    const double charge = -config->species[0].density * grid.lx * grid.ly;
    const double lost = run->simulation.row.charge / charge - 1;
    const double apart = alone ? point->early_field_energy / alone->early_field_energy - 1 : 0;
    char *verdict = point->verdict;
    const size_t size = sizeof point->verdict;
    point->verified = false;
    if (counted != point->particles)
        snprintf(verdict, size, "the ranks hold %llu particles, not %llu", (unsigned long long)counted,
                 (unsigned long long)point->particles);
    else if (!(fabs(lost) <= most_lost[config->precision]))
        snprintf(verdict, size, "the charge on the grid differs by %.2g of it from the particles'", lost);
    else if (!(fabs(point->energy_drift) <= step_point_allowed_drift(run->setup, config, point->steps_done)))
        snprintf(verdict, size, "the energy drifted by %.2g in %llu steps", point->energy_drift,
                 (unsigned long long)point->steps_done);
    else if (!(fabs(apart) <= most_apart[config->precision]))
        snprintf(verdict, size,
                 "the field's energy at step %d differs by %.2g of it from that of the run on one rank",
                 EARLY_STEP, apart);
    else
        point->verified = true;
    if (!point->verified)
        return;
    const int written = snprintf(verdict, size,
                                 "all %llu particles are there, the charge is right to %.1g, the energy "
                                 "drifted by %.1g in %llu steps",
                                 (unsigned long long)counted, fabs(lost), fabs(point->energy_drift),
                                 (unsigned long long)point->steps_done);
    if (alone)
        snprintf(verdict + written, size - (size_t)written,
                 ", the field's energy is that of one rank to %.1g", fabs(apart));
}

/* One more step, the run's last: it exchanges and measures, and moves nothing. */
static enum status verify(struct run *run, const struct scaling_point *alone, struct scaling_point *point)
{
    struct simulation *simulation = &run->simulation;
    run->config.time.steps = simulation->step;
    point->steps_done = simulation->step;
    TRY(simulation_step(simulation));
    TRY(device_finish(simulation->device));
    point->energy_drift = simulation_energy_drift(simulation);
    judge(run, count_particles(simulation, point), alone, point);
    return STATUS_OK;
}

/* ---- one run ---- */

static enum status create(struct run *run, enum decomposition_kind decomposition,
                          const struct communicator *communicator, struct device *device)
{
    enum status status = step_point_config(run->setup, &run->config);
    run->config.fields.decomposition = decomposition;
    run->config.time.steps = UINT64_MAX; /* until verify() says which is the last */
    TRY(communicator_agree(communicator, status));
    status = simulation_create_on(communicator, &run->config, device, NULL, &run->simulation);
    return communicator_meet(communicator, status);
}

static enum status measure(struct run *run, enum decomposition_kind decomposition,
                           const struct communicator *communicator, struct device *device,
                           const struct scaling_point *alone, struct scaling_point *point)
{
    TRY(create(run, decomposition, communicator, device));
    TRY(warm_up(run, point));
    for (uint32_t n = 0; n < run->setup->repeats; n++)
        TRY(time_block(run, point));
    describe(&run->simulation, point);
    spread_stages(run, point);
    count_leavers(run, point);
    return verify(run, alone, point);
}

enum status scaling_point_run(const struct step_setup *setup, enum decomposition_kind decomposition,
                              const struct communicator *communicator, struct device *device,
                              const struct scaling_point *alone, struct scaling_point *point)
{
    struct run *run = calloc(1, sizeof *run);
    *point = (struct scaling_point){.ranks = communicator->size,
                                    .particles = setup->particles,
                                    .cells = {setup->cells[0], setup->cells[1]},
                                    .steps = setup->steps};
    enum status status = run ? STATUS_OK : status_fail(STATUS_FAILED, "no memory for a simulation");
    status = communicator_agree(communicator, status);
    if (run && status == STATUS_OK) {
        run->setup = setup;
        status = measure(run, decomposition, communicator, device, alone, point);
        simulation_destroy(&run->simulation);
    }
    free(run);
    return status;
}

double scaling_point_seconds(const struct scaling_point *point)
{
    return samples_median(&point->wall) / point->steps;
}

double scaling_point_rate(const struct scaling_point *point)
{
    const double seconds = scaling_point_seconds(point);
    return seconds > 0 ? (double)point->particles / seconds : 0;
}

double scaling_point_imbalance(const struct scaling_point *point)
{
    return (double)point->particles_most * point->ranks / (double)point->particles;
}
