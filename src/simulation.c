/* Simulation: one step. */
#include "simulation_internal.h"

#include "base/timer.h"
#include "output/finite.h"

#include <math.h>

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

static enum status deposit_charge(struct simulation *simulation)
{
    struct buffer *rho = simulation->fields.rho;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        const struct particles *list = &simulation->particles[s];
        if (list->count > 0)
            TRY(deposit_species(simulation->deposit, list, s == 0, rho));
        else if (s == 0)
            TRY(buffer_fill(rho, 0));
    }
    return STATUS_OK;
}

static enum status solve_field(struct simulation *simulation)
{
    return field_solver_solve(simulation->field_solver, &simulation->fields);
}

static enum status start(struct simulation *simulation)
{
    if (simulation->step > 0 || simulation->is_restart)
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(stepper_start(&simulation->stepper, &simulation->fields, &simulation->particles[s]));
    return STATUS_OK;
}

/* ---- the particles ---- */

static enum status advance_species(struct simulation *simulation, uint32_t s)
{
    struct stepper *stepper = &simulation->stepper;
    const struct fields *fields = &simulation->fields;
    struct particles *list = &simulation->particles[s];
    const bool measured = (simulation->needs & OUTPUT_NEEDS_MEASURED) != 0;
    if (is_last_step(simulation))
        return stepper->kind->measure(stepper, fields, s, list);
    TRY(stepper->kind->count(stepper, fields, s, measured, list));
    return simulation->exchange ? ranks_exchange(simulation, s)
                                : stepper_move(stepper, fields, s, &stepper->no_room, list);
}

static enum status advance(struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(advance_species(simulation, s));
    return simulation->exchange && !is_last_step(simulation) ? ranks_settle(simulation) : STATUS_OK;
}

/* ---- outputs ---- */

static struct view view_of(const struct simulation *simulation)
{
    return (struct view){
        .config = simulation->config,
        .communicator = &simulation->communicator,
        .slab = &simulation->slab,
        .partition = &simulation->partition,
        .fields = &simulation->fields,
        .particles = simulation->particles,
        .step = simulation->step,
        .first_step = simulation->first_step,
        .stepper = &simulation->stepper,
        .started = simulation->started,
        .time = (double)simulation->step * simulation->config->time.step,
        .log = simulation->log,
        .first_energy = simulation->first_energy,
        .decomposition = simulation->decomposition,
        .ghost = simulation->ghost,
    };
}

/* Before anything of this step is written: a non-finite value must not reach a file. */
static enum status check_fields(struct simulation *simulation, const struct view *view)
{
    struct field_sums *sums = &simulation->field_sums;
    TRY(energy_measure(simulation->energy, &simulation->fields, sums));
    double values[2] = {sums->charge, sums->field_energy};
    communicator_sum(&simulation->communicator, 2, values);
    *sums = (struct field_sums){.charge = values[0], .field_energy = values[1]};
    TRY(finite_require(view, "charge", sums->charge));
    return finite_require(view, "field energy", sums->field_energy);
}

static enum status write_outputs(struct simulation *simulation)
{
    const struct view view = view_of(simulation);
    simulation->needs = outputs_due(simulation->outputs, &view);
    if (simulation->needs == 0)
        return STATUS_OK;
    TRY(check_fields(simulation, &view));
    if (simulation->needs & OUTPUT_NEEDS_POTENTIAL)
        TRY(field_solver_potential(simulation->field_solver, &simulation->fields));
    TRY(outputs_write(simulation->outputs, &view));
    choose_timing(simulation);
    return STATUS_OK;
}

/* Step n: fields as they stand, kinetic energy and momentum as the push met them at n. */
static enum status measure(struct simulation *simulation, struct history_row *row)
{
    const struct history_config *history = &simulation->config->output.history;
    double sums[3] = {0};
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct push_sums species;
        TRY(stepper_read_sums(&simulation->stepper, s, &simulation->particles[s], &species));
        sums[0] += species.kinetic_energy;
        sums[1] += species.momentum[0];
        sums[2] += species.momentum[1];
    }
    communicator_sum(&simulation->communicator, 3, sums);
    *row = (struct history_row){
        .step = simulation->step,
        .field_energy = simulation->field_sums.field_energy,
        .charge = simulation->field_sums.charge,
        .kinetic_energy = sums[0],
        .momentum = {sums[1], sums[2]},
    };
    return field_solver_read_modes(simulation->field_solver, history->mode_count, history->modes,
                                   &row->modes[0][0]);
}

static enum status write_measured(struct simulation *simulation)
{
    struct history_row *row = &simulation->row;
    struct view view = view_of(simulation);
    if ((simulation->needs & OUTPUT_NEEDS_MEASURED) == 0)
        return STATUS_OK;
    TRY(measure(simulation, row));
    TRY(finite_require(&view, "kinetic energy", row->kinetic_energy));
    TRY(finite_require(&view, "momentum", row->momentum[0] + row->momentum[1]));
    if (simulation->step == 0)
        simulation->first_energy = row->field_energy + row->kinetic_energy;
    view.measured = row;
    return outputs_write(simulation->outputs, &view);
}

/* ---- one step ---- */

enum status simulation_step(struct simulation *simulation)
{
    if (simulation->step == simulation->first_step)
        simulation->started = timer_now();
    choose_timing(simulation);
    /* clang-format off */
                                      /* x at n, v at n-1/2; each list sorted, own particles only              */
    TRY(ranks_prepare(simulation));   /* the same; where that is due, rows and their particles change hands    */
    TRY(deposit_charge(simulation));  /* rho at n of this rank's particles                                     */
    TRY(solve_field(simulation));     /* rho at n, summed over ranks and filtered; E at n                      */
    TRY(start(simulation));           /* in the first step v at 0 becomes v at -1/2, otherwise nothing         */
    TRY(write_outputs(simulation));   /* what is due: checkpoint, snapshot, phase space; x and E at n, v at
                                       * n-1/2, all finite or the run stops                                    */
    TRY(advance(simulation));         /* v at n+1/2, x at n+1, sorted, with their ranks; sums of v at n        */
    TRY(write_measured(simulation));  /* history: energies, momentum, charge and modes, all at n               */
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
    if (simulation->row.step + 1 != simulation->step)
        return NAN;
    const double total = simulation->row.field_energy + simulation->row.kinetic_energy;
    return simulation->first_energy != 0 ? total / simulation->first_energy - 1 : 0;
}

uint64_t simulation_own_particles(const struct simulation *simulation)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        sum += simulation->particles[s].count;
    return sum;
}
