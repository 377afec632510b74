/* Simulation: one step. */
#include "simulation.h"
#include "simulation_internal.h"

enum {
    FEW_STEPS = 100 /* of a run that is timed throughout */
};

static bool is_last_step(const struct simulation *simulation)
{
    return simulation->step >= simulation->config->time.steps;
}

/* ---- which launches are timed ---- */

bool simulation_samples_times(const struct simulation *simulation)
{
    return simulation->timing == TIME_SAMPLES && !device_info(simulation->device)->is_cpu &&
           simulation->config->time.steps >= FEW_STEPS;
}

/* The first step, which does more than the others, stands for itself. */
static void choose_timing(const struct simulation *simulation)
{
    uint32_t weight = simulation->timing == TIME_NO_STEP ? 0 : 1;
    if (simulation_samples_times(simulation) && simulation->step > 0)
        weight = simulation->step % SIMULATION_TIMED_EVERY == SIMULATION_TIMED_EVERY / 2
                     ? SIMULATION_TIMED_EVERY
                     : 0;
    device_weigh_times(simulation->device, weight);
}

/* ---- the field ---- */

/* Whether the charge of a species is deposited with its current, as that of electromagnetic runs. */
static bool has_current(const struct simulation *simulation, uint32_t s)
{
    return simulation->deposit_sources && simulation->config->species[s].push;
}

/* rho at n of a species, of this rank's particles, set where `*is_first`, else added to; or both sources. */
static enum status deposit_one(struct simulation *simulation, uint32_t s, bool both, bool *is_first,
                               struct buffer *rho)
{
    const struct particles *list = &simulation->particles[s];
    const struct fields *fields = &simulation->fields;
    if (list->count == 0 || !simulation->config->species[s].charge_density)
        return STATUS_OK;
    TRY(deposit_species(both ? simulation->deposit_sources : simulation->deposit, list, *is_first,
                        both ? fields->sources : rho, fields->stride));
    *is_first = false;
    return STATUS_OK;
}

static enum status deposit(struct simulation *simulation)
{
    const uint32_t species = simulation->config->species_count;
    struct buffer *rho = field_component(&simulation->fields, FIELD_RHO, 0);
    bool is_first = true;
    for (uint32_t s = 0; s < species; s++)
        if (has_current(simulation, s))
            TRY(deposit_one(simulation, s, true, &is_first, rho));
    if (simulation->deposit_sources && is_first)
        TRY(buffer_fill(simulation->fields.of[FIELD_J], 0));
    for (uint32_t s = 0; s < species; s++)
        if (!has_current(simulation, s))
            TRY(deposit_one(simulation, s, false, &is_first, rho));
    return is_first ? buffer_fill(rho, 0) : STATUS_OK;
}

/* After the last step, which moves nothing, the particles are still at time.steps. */
static enum status solve_field(struct simulation *simulation)
{
    const uint64_t last = simulation->config->time.steps;
    return field_solver_solve(simulation->field_solver, &simulation->fields,
                              simulation->step < last ? simulation->step : last);
}

/* The charge density of each species by itself, summed over ranks and filtered as rho is. */
static enum status separate_species(struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct buffer *density = simulation->fields.species_rho[s];
        if (!density)
            continue;
        bool is_first = true;
        TRY(deposit_one(simulation, s, false, &is_first, density));
        if (is_first)
            TRY(buffer_fill(density, 0));
        TRY(field_solver_sum(simulation->field_solver, density));
    }
    return STATUS_OK;
}

/* External fields at n, for the particles alone. */
static enum status add_external(struct simulation *simulation)
{
    return external_apply(simulation->external, &simulation->fields, simulation->step, &simulation->felt);
}

static enum status start(struct simulation *simulation)
{
    if (simulation->step > 0 || simulation->is_restart)
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->config->species[s].push && !simulation->config->species[s].read.starts_back)
            TRY(stepper_start(&simulation->stepper, &simulation->felt, &simulation->particles[s]));
    return STATUS_OK;
}

/* ---- the particles ---- */

static enum status count(struct simulation *simulation, uint32_t s)
{
    struct stepper *stepper = &simulation->stepper;
    const bool measured =
        simulation->needs & OUTPUT_NEEDS_MEASURED || simulation->config->output.history.work;
    return is_last_step(simulation)
               ? stepper->kind->measure(stepper, &simulation->felt, s, &simulation->particles[s])
               : stepper->kind->count(stepper, &simulation->felt, s, measured, &simulation->particles[s]);
}

static enum status move(struct simulation *simulation, uint32_t s)
{
    struct stepper *stepper = &simulation->stepper;
    if (is_last_step(simulation))
        return STATUS_OK;
    return simulation->exchange
               ? ranks_move(simulation, s)
               : stepper_move(stepper, &simulation->felt, s, &stepper->no_gaps, &simulation->particles[s]);
}

/* On several ranks leaving particles of a species go to others while the device counts the next one. */
static enum status advance(struct simulation *simulation)
{
    const bool exchanges = simulation->exchange && !is_last_step(simulation);
    uint32_t last = CONFIG_MAX_SPECIES; /* that has moved */
    simulation->is_solved = is_last_step(simulation);
    simulation->stepper.step = simulation->step;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        if (!simulation->config->species[s].push)
            continue;
        if (exchanges && last < CONFIG_MAX_SPECIES)
            TRY(device_join(simulation->device));
        TRY(count(simulation, s));
        if (exchanges && last < CONFIG_MAX_SPECIES)
            TRY(ranks_follow(simulation, last));
        TRY(move(simulation, s));
        last = s;
    }
    if (exchanges && last < CONFIG_MAX_SPECIES)
        TRY(ranks_follow(simulation, last));
    return exchanges ? ranks_deliver(simulation) : STATUS_OK;
}

/* The collisions change velocities at n-1/2, before the kick of the push: the energies that it sums at n are
 * those after the collisions. In the last step too, whose sums are then those of a longer run. */
static enum status collide(struct simulation *simulation)
{
    return collisions_run(simulation->collisions, simulation->step, simulation->particles);
}

/* ---- outputs ---- */

static enum status write_outputs(struct simulation *simulation)
{
    struct view view = view_of(simulation, simulation->step);
    simulation->needs = outputs_due(simulation->outputs, &view);
    if (simulation->needs == 0)
        return sums_measure_fields(simulation);
    if (simulation->needs & OUTPUT_NEEDS_SPECIES)
        TRY(separate_species(simulation));
    TRY(sums_measure_fields(simulation));
    view = view_of(simulation, simulation->step); /* with the first energy, where it was read just now */
    if (simulation->needs & OUTPUT_NEEDS_POTENTIAL)
        TRY(field_solver_potential(simulation->field_solver, &simulation->fields));
    TRY(outputs_measure(simulation->outputs, &view, (uint32_t)(simulation->step % SUM_SLOTS)));
    TRY(outputs_write(simulation->outputs, &view));
    choose_timing(simulation);
    return STATUS_OK;
}

/* ---- one step ---- */

enum status simulation_solve(struct simulation *simulation)
{
    if (simulation->is_solved)
        return STATUS_OK;
    /* clang-format off */
                                      /* x at n, v at n-1/2; each list sorted, own particles only              */
    TRY(ranks_prepare(simulation));   /* the same; where that is due, rows and their particles change hands    */
    TRY(deposit(simulation));         /* rho at n of this rank's particles; electromagnetic: J at n-1/2, too,
                                       * from x at n and v at n-1/2                                            */
    TRY(solve_field(simulation));     /* rho and J, summed over ranks and filtered; E at n, and B              */
    /* clang-format on */
    simulation->is_solved = true;
    return STATUS_OK;
}

enum status simulation_step(struct simulation *simulation)
{
    if (simulation->step == simulation->first_step)
        simulation->started = timer_now();
    choose_timing(simulation);
    /* clang-format off */
                                      /* x at n, v at n-1/2                                                    */
    TRY(simulation_solve(simulation)); /* rho and E at n                                                       */
    TRY(add_external(simulation));    /* E and B that the particles feel at n                                  */
    TRY(start(simulation));           /* in the first step v at 0 becomes v at -1/2, otherwise nothing         */
    TRY(write_outputs(simulation));   /* what is due: checkpoint, snapshot, phase space; x and E at n, v at
                                       * n-1/2, all finite or the run stops                                    */
    TRY(collide(simulation));         /* v at n-1/2 after the collisions that are due                          */
    TRY(advance(simulation));         /* v at n+1/2, x at n+1, sorted, with their ranks; sums of v at n        */
    TRY(sums_write(simulation));      /* history: energies, momentum, charge and modes, all at n or, late, at
                                       * earlier steps                                                         */
    /* clang-format on */
    simulation->step++;
    return STATUS_OK;
}

bool simulation_done(const struct simulation *simulation)
{
    return simulation->step > simulation->config->time.steps;
}

double simulation_energy_drift(const struct simulation *simulation)
{
    const struct history_row *row = &simulation->row;
    const double total = history_total_energy(row) - row->drive_work;
    return simulation->first_energy == 0 && !isnan(total) ? 0 : total / simulation->first_energy - 1;
}

uint64_t simulation_own_particles(const struct simulation *simulation)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        sum += simulation->particles[s].count;
    return sum;
}
