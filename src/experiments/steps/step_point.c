/* Step point: the config in memory, the blocks of steps, and what a right step must leave behind. */
#include "experiments/steps/step_point.h"

#include "config/config_reader.h"
#include "simulation.h"

enum { EARLY_STEPS = 10, HISTORY_EVERY = 10, MOST_BLOCK_STEPS = 1000, LOOKED_AT = 4096, NOISY_PER_CELL = 8 };

static const double usual_cell_length = 4 * M_PI / 32; /* of configs/landau_damping.yaml */
static const double wave_amplitude = 0.1;
static const double thin_density = 1e-9; /* of a hot start: a plasma period is longer than any bench */
static const double block_seconds = 0.3; /* of a block for which the number of steps is chosen here */
static const double least_field = 0.5;   /* of the wave's first energy: coarse shapes smooth the wave */
static const double most_field = 1.5;    /* of it: few particles a cell add their noise */

/* Relative: of the charge, sums in the device's precision; of the field's energy, which they differ by after
 * EARLY_STEPS between ranks that sum in another order. */
static const double most_lost[] = {[PRECISION_SINGLE] = 1e-4, [PRECISION_DOUBLE] = 1e-9};
static const double most_apart[] = {[PRECISION_SINGLE] = 1e-3, [PRECISION_DOUBLE] = 1e-9};

/* What one run holds. */
struct run {
    const struct step_setup *setup;
    uint32_t repeats;               /* pairs of timed blocks */
    const struct step_point *alone; /* the same problem on one rank, or NULL */
    struct step_point *point;
    struct config config;
    struct simulation simulation;
    struct samples wall, stages[STAGE_OTHER];
    uint64_t left_before; /* particles that had left this rank before the timed blocks */
};

/* ---- config ---- */

static double box_length(const struct step_setup *setup)
{
    return setup->length > 0 ? setup->length : usual_cell_length * setup->cells[0];
}

static const char *word_or(const char *word, const char *usual)
{
    return word ? word : usual;
}

/* The wave whose k is nearest to 0.5. */
static uint32_t wave_mode(const struct step_setup *setup)
{
    const double mode = round(0.5 * box_length(setup) / (2 * M_PI));
    return (uint32_t)fmax(1, fmin(mode, setup->cells[0] / 8)); /* 8 cells draw a wave well enough */
}

enum status step_point_config(const struct step_setup *setup, struct config *config)
{
    const double length_x = box_length(setup), length_y = length_x / setup->cells[0] * setup->cells[1];
    char text[1024], wave[128] = "";
    if (!setup->hot)
        snprintf(wave, sizeof wave, "    perturb: {density: [{axis: x, mode: %u, amplitude: %g}]}\n",
                 wave_mode(setup), wave_amplitude);
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
                 "%ssort: {method: %s}\n"
                 "fields: {decomposition: %s}\n"
                 "deposit: {shape: %s}\n"
                 "step: {method: %s}\n"
                 "output: {history: {every: %d}}\n",
                 setup->cells[0], setup->cells[1], length_x, length_y, word_or(setup->precision, "single"),
                 setup->hot ? thin_density : 1.0, (unsigned long long)setup->particles, wave,
                 word_or(setup->sort_method, "auto"), word_or(setup->decomposition, "auto"),
                 word_or(setup->shape, "cic"), word_or(setup->step_method, "auto"), HISTORY_EVERY);
    return config_read_text("radixpic bench", text, (size_t)length, NULL, 0, config);
}

/* Before the first step: half of the particles come to rest in the middle cell. */
static enum status fill_one_cell(struct simulation *simulation)
{
    struct particles *list = &simulation->particles[0];
    const struct grid *grid = &simulation->slab.box;
    const uint32_t cells = grid_cells(grid), middle = grid->nx / 2 * grid->ny + grid->ny / 2;
    const uint32_t half = list->count / 2;
    const size_t bytes = (cells + (size_t)1) * sizeof(uint32_t);
    uint32_t *offsets = NULL;
    char *zeros = NULL;
    TRY(DEVICE_NEW_ARRAY(simulation->device, offsets, cells + (size_t)1));
    TRY(DEVICE_NEW_ARRAY(simulation->device, zeros,
                         half * attribute_bytes(list->precision, ATTRIBUTE_VELOCITY)));
    TRY(buffer_read(list->cell_offsets, 0, bytes, offsets));
    const uint32_t begin = offsets[middle] < half / 2 ? 0 : offsets[middle] - half / 2, end = begin + half;
    for (uint32_t c = 0; c <= cells; c++)
        if (c <= middle ? offsets[c] > begin : offsets[c] < end)
            offsets[c] = c <= middle ? begin : end;
    TRY(buffer_write(list->cell_offsets, 0, bytes, offsets));
    TRY(particles_write(list, ATTRIBUTE_VELOCITY, begin, half, zeros));
    return stepper_list_changed(&simulation->stepper, 0, list);
}

/* ---- blocks ---- */

/* A force of the wrong sign makes the energy swing, back to where it was too: so all measured steps count. */
static enum status step_once(struct run *run)
{
    TRY(simulation_step(&run->simulation));
    const double drift = simulation_energy_drift(&run->simulation); /* of the last measured step */
    if (fabs(drift) > fabs(run->point->energy_drift))
        run->point->energy_drift = drift;
    return STATUS_OK;
}

/* All ranks begin together; a block takes as long as on the slowest. */
static enum status run_steps(struct run *run, uint32_t steps, double *seconds)
{
    struct simulation *simulation = &run->simulation;
    double together = 0;
    TRY(device_finish(simulation->device));
    communicator_max(&simulation->communicator, 1, &together);
    const double start = timer_now();
    for (uint32_t n = 0; n < steps; n++)
        TRY(step_once(run));
    TRY(device_finish(simulation->device));
    *seconds = timer_now() - start;
    communicator_max(&simulation->communicator, 1, seconds);
    return STATUS_OK;
}

/* The first step builds what is built late and holds the start's energy; the warm-up follows it. Where no
 * steps of a block were asked for it has whole periods of the history for about block_seconds. */
static enum status warm_up(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct step_point *point = run->point;
    double seconds = 0;
    TRY(run_steps(run, 1, &seconds));
    point->first_field = simulation->row.field_energy;
    TRY(run_steps(run, EARLY_STEPS, &seconds));
    point->early_field = simulation->row.field_energy;
    const double periods = floor(block_seconds / seconds * EARLY_STEPS / HISTORY_EVERY);
    point->steps = (uint32_t)fmax(HISTORY_EVERY, fmin(periods * HISTORY_EVERY, MOST_BLOCK_STEPS));
    if (run->setup->steps > 0) {
        point->steps = run->setup->steps;
        TRY(run_steps(run, point->steps, &seconds));
    }
    run->left_before = simulation->left;
    return STATUS_OK;
}

/* Timing launches takes time itself: the wall clock is of a block without, the stages are of the next. */
static enum status time_block(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    struct step_point *point = run->point;
    double seconds = 0;
    simulation->timing = TIME_NO_STEP;
    TRY(run_steps(run, point->steps, &seconds));
    samples_add(&run->wall, seconds);
    simulation->timing = TIME_EVERY_STEP;
    device_reset_timers(simulation->device);
    TRY(run_steps(run, point->steps, &seconds));
    const struct timers *timers = device_timers(simulation->device);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        samples_add(&run->stages[stage], timers->stages[stage].seconds);
        point->stage_bytes[stage] = timers->stages[stage].bytes;
    }
    return STATUS_OK;
}

static void spread_over_ranks(const struct communicator *ranks, struct step_point *point)
{
    double sums[STAGE_OTHER], most[STAGE_OTHER], negative[STAGE_OTHER];
    uint64_t bytes[STAGE_OTHER];
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        sums[stage] = most[stage] = point->stages[stage].median / point->steps;
        negative[stage] = -sums[stage];
        bytes[stage] = point->stage_bytes[stage];
    }
    communicator_sum(ranks, STAGE_OTHER, sums);
    communicator_max(ranks, STAGE_OTHER, most);
    communicator_max(ranks, STAGE_OTHER, negative);
    communicator_sum_counts(ranks, STAGE_OTHER, bytes);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        point->over_ranks[stage] = (struct spread){.median = sums[stage] / ranks->size,
                                                   .least = -negative[stage],
                                                   .most = most[stage],
                                                   .count = point->wall.count};
        point->rank_bytes[stage] = (double)bytes[stage] / ((double)ranks->size * point->steps);
    }
}

/* What is asked of the blocks and of the simulation that made them. */
static void describe(const struct run *run)
{
    const struct simulation *simulation = &run->simulation;
    struct step_point *point = run->point;
    uint64_t left = simulation->left - run->left_before;
    communicator_sum_counts(&simulation->communicator, 1, &left);
    point->wall = spread_of(&run->wall);
    for (int stage = 0; stage < STAGE_OTHER; stage++) {
        point->stages[stage] = spread_of(&run->stages[stage]);
        point->stages_bytes += point->stage_bytes[stage];
    }
    spread_over_ranks(&simulation->communicator, point);
    point->leavers = (double)left / (2.0 * run->repeats * point->steps * point->ranks);
    point->bytes_held = device_bytes_held(simulation->device);
    point->has_slabs = simulation->decomposition == DECOMPOSITION_SLABS;
    point->ghost_rows = simulation->slab.ghost;
    for (int rank = 0; rank < point->ranks; rank++)
        point->rows_most = at_least(partition_rows(&simulation->partition, rank), point->rows_most);
    snprintf(point->method, sizeof point->method, "%s", simulation->stepper.kind->name);
    stepper_explain(simulation->config->step.method, device_info(simulation->device),
                    &simulation->stepper.setup, point->why);
    if (simulation->stepper.kind == &radix_step)
        sorter_plan_describe(&simulation->stepper.setup.sort, point->sort, sizeof point->sort);
}

/* ---- verification ---- */

/* What is wrong in one rank's list of all particles: in the cell offsets, the first and last particles. */
static enum status check_list(const struct simulation *simulation, const char **wrong)
{
    const struct particles *list = &simulation->particles[0];
    const uint32_t cells = grid_cells(&simulation->slab.box);
    const size_t count = at_most(list->count, LOOKED_AT);
    double offsets[2 * LOOKED_AT], velocities[2 * LOOKED_AT];
    uint32_t *begins = NULL;
    for (int end = 0; end < 2; end++) {
        const size_t first = end == 0 ? 0 : list->count - count;
        TRY(particles_read(list, ATTRIBUTE_OFFSET, first, count, offsets));
        TRY(particles_read(list, ATTRIBUTE_VELOCITY, first, count, velocities));
        for (size_t n = 0; n < 2 * count; n++)
            if (!(offsets[n] >= 0 && offsets[n] <= 1) || !isfinite(velocities[n]))
                *wrong = "a particle lies outside its cell, or its velocity is not finite";
    }
    TRY(DEVICE_NEW_ARRAY(simulation->device, begins, cells + (size_t)1));
    TRY(buffer_read(list->cell_offsets, 0, (cells + (size_t)1) * sizeof *begins, begins));
    bool rises = begins[0] == 0 && begins[cells] == list->count;
    for (uint32_t c = 0; c < cells; c++)
        rises = rises && begins[c] <= begins[c + 1];
    if (!rises)
        *wrong = "the cell offsets do not rise from 0 to the number of particles";
    return STATUS_OK;
}

/* Energy per area of E = (a/k) sin(k x). */
static double wave_energy(const struct step_setup *setup)
{
    const double k = 2 * M_PI * wave_mode(setup) / box_length(setup);
    return pow(wave_amplitude / k, 2) / 4;
}

/* The relative change of the total energy that so many right steps may show. Relative to the kinetic energy,
 * which is 1 per area: a fifth of the wave's energy, which a wrong force changes by all of it, the noise of
 * few particles, which swings by the energy of one of them where there are few in all, and how they heat
 * themselves: per step and in cells of one Debye length, at 1.2 to 3 times what 8 and 100 particles a cell
 * were seen to do in cells of 0.4 to 3, and by each order of the shape 13 times less. */
static double allowed_drift(const struct run *run)
{
    const struct step_setup *setup = run->setup;
    const struct grid grid = grid_make(&run->config.grid);
    const double per_cell = (double)setup->particles / grid_cells(&grid);
    const double per_step =
        2.5e-3 * pow(13, -(double)run->config.deposit.shape) * pow(fmax(grid.dx, grid.dy), 2.5);
    const double wave = setup->hot ? 0 : 0.2 * wave_energy(setup);
    return wave + 1e-5 + 1.0 / (double)setup->particles +
           (2e-3 + per_step * (double)run->point->steps_done) / per_cell;
}

/* `particles` of all ranks; `wrong`: what is wrong in their list, or NULL. */
static void judge(const struct run *run, uint64_t particles, const char *wrong)
{
    const struct step_setup *setup = run->setup;
    const struct step_point *alone = run->alone;
    struct step_point *point = run->point;
    const struct grid grid = grid_make(&run->config.grid);
    const enum precision precision = run->config.precision;
    const double lost =
        run->simulation.row.charge / (-run->config.species[0].density * grid.lx * grid.ly) - 1;
    const double field = point->first_field / (wave_energy(setup) * grid.lx * grid.ly);
    const double apart = alone ? point->early_field / alone->early_field - 1 : 0;
    /* With few particles a cell the field is mostly noise, and is not compared with the wave's. */
    const bool is_noise = setup->particles < NOISY_PER_CELL * (uint64_t)grid_cells(&grid);
    char *verdict = point->verdict, agreement[96] = "";
    const size_t size = sizeof point->verdict;
    if (particles != setup->particles)
        snprintf(verdict, size, "the ranks hold %llu particles, not %llu", (unsigned long long)particles,
                 (unsigned long long)setup->particles);
    else if (wrong)
        snprintf(verdict, size, "%s", wrong);
    else if (!(fabs(lost) <= most_lost[precision]))
        snprintf(verdict, size, "the charge on the grid differs by %.2g of it from the particles'", lost);
    else if (!setup->hot && !is_noise && !(field >= least_field && field <= most_field))
        snprintf(verdict, size, "the field of the wave at the start holds %.2g times its energy", field);
    else if (!(fabs(point->energy_drift) <= allowed_drift(run)))
        snprintf(verdict, size,
                 "the energy drifted by %.2g in %llu steps: the step is wrong, or a cell is many Debye "
                 "lengths long and the plasma heats itself",
                 point->energy_drift, (unsigned long long)point->steps_done);
    else if (!(fabs(apart) <= most_apart[precision]))
        snprintf(verdict, size,
                 "the field's energy at step %d differs by %.2g of it from that of the run on one rank",
                 EARLY_STEPS, apart);
    else
        point->verified = true;
    if (alone)
        snprintf(agreement, sizeof agreement, ", the field's energy is that of one rank to %.1g",
                 fabs(apart));
    if (point->verified)
        snprintf(verdict, size,
                 "all %llu particles are in the cells, the charge is right to %.1g, the energy drifted by "
                 "%.1g in %llu steps%s%s",
                 (unsigned long long)particles, fabs(lost), fabs(point->energy_drift),
                 (unsigned long long)point->steps_done, agreement,
                 is_noise && !setup->hot ? "; too few a cell to judge the field of the wave" : "");
}

/* Makes one more step, the run's last: it measures and moves nothing, so that the lists are judged as the
 * blocks left them. */
static enum status verify(struct run *run)
{
    struct simulation *simulation = &run->simulation;
    const char *wrong = NULL;
    run->config.time.steps = simulation->step;
    run->point->steps_done = simulation->step;
    TRY(step_once(run));
    if (simulation->row.step != run->config.time.steps) /* the last step is measured, or none is judged */
        run->point->energy_drift = NAN;
    TRY(device_finish(simulation->device));
    uint64_t particles = simulation_own_particles(simulation);
    double most = (double)particles;
    communicator_sum_counts(&simulation->communicator, 1, &particles);
    communicator_max(&simulation->communicator, 1, &most);
    run->point->particles_most = (uint64_t)most;
    if (run->point->ranks == 1)
        TRY(check_list(simulation, &wrong));
    judge(run, particles, wrong);
    return STATUS_OK;
}

/* ---- one point ---- */

static enum status measure(struct run *run, const struct communicator *ranks, struct device *device)
{
    TRY(communicator_agree(ranks, step_point_config(run->setup, &run->config)));
    run->config.time.steps = UINT64_MAX; /* until verify() says which is the last */
    TRY(communicator_meet(ranks, simulation_create_on(ranks, &run->config, device, NULL, &run->simulation)));
    if (run->setup->hot)
        TRY(fill_one_cell(&run->simulation));
    TRY(warm_up(run));
    for (uint32_t n = 0; n < run->repeats; n++)
        TRY(time_block(run));
    describe(run);
    return verify(run);
}

enum status step_run(struct bench *bench, void *context)
{
    struct step_run *of = context;
    struct run *run = NULL;
    of->point = (struct step_point){.ranks = of->ranks.size};
    TRY(communicator_agree(&of->ranks, DEVICE_NEW(bench->part, run)));
    run->setup = &of->setup;
    run->repeats = bench->repeats;
    if (of->alone && of->alone->setup.particles == of->setup.particles &&
        of->alone->setup.cells[0] == of->setup.cells[0])
        run->alone = &of->alone->point;
    run->point = &of->point;
    const enum status status = measure(run, &of->ranks, bench->part);
    simulation_destroy(&run->simulation);
    config_free(&run->config);
    bench->is_wrong = bench->is_wrong || !of->point.verified;
    return status;
}
