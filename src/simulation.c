/* Simulation: birth and death, one step, and its outputs. */
#include "simulation.h"

#include "output/finite.h"
#include "simulation_parts.h"
#include "simulation_ranks.h"

#include <math.h>

enum {
    FEW_STEPS = 100 /* of a run that is timed throughout */
};

/* ---- birth and death ---- */

static enum status create(struct simulation *simulation, struct checkpoint *restart)
{
    const struct config *config = simulation->config;
    TRY(partition_even(simulation->communicator.size, config->grid.cells[0], &simulation->partition));
    TRY(migration_create(&simulation->communicator, simulation->device, config->precision,
                         &simulation->migration));
    TRY(restart ? ranks_restore(simulation, restart) : ranks_load(simulation));
    TRY(parts_create_for_grid(simulation));
    TRY(ranks_create_crossing(simulation));
    TRY(parts_create_for_lists(simulation));
    TRY(outputs_create(simulation->device, config, &simulation->outputs));
    if (!restart)
        TRY(ranks_create_guests(simulation));
    return device_finish(simulation->device);
}

enum status simulation_create_on(const struct communicator *communicator, const struct config *config,
                                 struct device *device, struct checkpoint *restart,
                                 struct simulation *simulation)
{
    *simulation = (struct simulation){.config = config,
                                      .device = device,
                                      .communicator = *communicator,
                                      .decomposition = config->fields.decomposition};
    return create(simulation, restart);
}

enum status simulation_create(const struct config *config, struct device *device,
                              struct simulation *simulation)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    return simulation_create_on(&alone, config, device, NULL, simulation);
}

void simulation_destroy(struct simulation *simulation)
{
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++)
        particles_destroy(&simulation->particles[s]);
    outputs_destroy(&simulation->outputs);
    ranks_destroy(simulation);
    parts_destroy_for_lists(simulation);
    parts_destroy_for_grid(simulation);
    migration_destroy(&simulation->migration);
    partition_destroy(&simulation->partition);
}

uint64_t simulation_own_particles(const struct simulation *simulation)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        sum += simulation->particles[s].count + (uint64_t)simulation->guests[s].count +
               migration_held(simulation->migration, s);
    return sum;
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

/* ---- the stages of a step ---- */

/* After a fused step the main lists stand in order already. */
static bool is_in_order(const struct simulation *simulation)
{
    return simulation->is_handed_over;
}

/* All lists of a checkpoint stand in order; its guests may be more than their sorter takes. */
static bool is_as_stored(const struct simulation *simulation)
{
    return simulation->is_restart && simulation->step == simulation->first_step;
}

static enum status find_cells(struct simulation *simulation)
{
    if (is_as_stored(simulation))
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        if (!is_in_order(simulation))
            TRY(cell_key_update(simulation->cell_key, &simulation->particles[s]));
        if (simulation->guests[s].count > 0)
            TRY(cell_key_update(simulation->cell_key, &simulation->guests[s]));
    }
    return STATUS_OK;
}

static enum status sort_particles(struct simulation *simulation)
{
    if (is_as_stored(simulation))
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        if (!is_in_order(simulation))
            TRY(parts_sort_list(simulation, simulation->sorter, simulation->permutation,
                                &simulation->particles[s]));
        TRY(parts_sort_list(simulation, simulation->guest_sorter, simulation->guest_permutation,
                            &simulation->guests[s]));
    }
    return STATUS_OK;
}

static enum status deposit_charge(struct simulation *simulation)
{
    struct buffer *rho = simulation->fields.rho;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        const struct particles *particles = &simulation->particles[s];
        if (particles->count > 0)
            TRY(deposit_species(simulation->deposit, particles, s == 0, rho));
        else if (s == 0)
            TRY(buffer_fill(rho, 0));
    }
    return STATUS_OK;
}

static enum status deposit_guests(struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->guests[s].count > 0)
            TRY(deposit_species(simulation->deposit, &simulation->guests[s], false, simulation->fields.rho));
    return STATUS_OK;
}

/* Those who left are taken out, those who came are brought in while the device deposits the others. */
static enum status deposit_and_exchange(struct simulation *simulation)
{
    TRY(ranks_part(simulation));
    TRY(ranks_balance(simulation));
    TRY(deposit_charge(simulation));
    TRY(ranks_receive(simulation));
    return deposit_guests(simulation);
}

static enum status solve_field(struct simulation *simulation)
{
    return field_solver_solve(simulation->field_solver, &simulation->fields);
}

static enum status start_velocities(struct simulation *simulation)
{
    if (simulation->step > 0 || simulation->is_restart)
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        TRY(push_start(simulation->push, &simulation->fields, &simulation->particles[s]));
        if (simulation->guests[s].count > 0)
            TRY(push_start(simulation->push, &simulation->fields, &simulation->guests[s]));
    }
    return STATUS_OK;
}

static bool is_last_step(const struct simulation *simulation)
{
    return simulation->step >= simulation->config->time.steps;
}

/* Particles of species s in one list, by the kernels of the plain step. */
static enum status push_list(struct simulation *simulation, struct push *push, uint32_t s,
                             struct particles *particles)
{
    if (is_last_step(simulation))
        return push_measure(push, &simulation->fields, s, particles);
    return push_step(push, &simulation->fields, s, particles);
}

static enum status push_and_sort(struct simulation *simulation, uint32_t s, struct particles *particles)
{
    const bool measured = (simulation->needs & OUTPUT_NEEDS_MEASURED) != 0;
    if (is_last_step(simulation))
        return advance_measure(simulation->advance, &simulation->fields, s, particles);
    if (simulation->crossing)
        return ranks_push_and_cross(simulation, s, measured);
    return advance_step(simulation->advance, &simulation->fields, s, measured, particles);
}

/* A plain step of this rank among the fused ones of others: it sends nobody now, but some may come. */
static enum status push_plainly(struct simulation *simulation, uint32_t s, struct particles *particles)
{
    TRY(push_list(simulation, simulation->push, s, particles));
    return simulation->crossing && !is_last_step(simulation) ? ranks_cross_nobody(simulation, s) : STATUS_OK;
}

static enum status push_particles(struct simulation *simulation)
{
    TRY(parts_hand_over(simulation));
    simulation->has_crossed = simulation->advance && simulation->crossing;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct particles *particles = &simulation->particles[s];
        TRY(simulation->advance ? push_and_sort(simulation, s, particles)
                                : push_plainly(simulation, s, particles));
        if (simulation->guests[s].count > 0)
            TRY(push_list(simulation, simulation->guest_push, s, &simulation->guests[s]));
    }
    return STATUS_OK;
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
        .guests = simulation->communicator.size > 1 ? simulation->guests : NULL,
        .step = simulation->step,
        .first_step = simulation->first_step,
        .time = (double)simulation->step * simulation->config->time.step,
        .log = simulation->log,
        .first_energy = simulation->first_energy,
        .decomposition = simulation->decomposition,
        .ghost = simulation->ghost,
        .capacity = simulation->capacity,
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

/* The sums at n of all lists of a species on this rank. */
static enum status measure_species(struct simulation *simulation, uint32_t s, double values[3])
{
    struct push_sums sums;
    if (simulation->advance)
        TRY(advance_read_sums(simulation->advance, s, &simulation->particles[s], &sums));
    else
        TRY(push_read_sums(simulation->push, s, &simulation->particles[s], &sums));
    values[0] += sums.kinetic_energy;
    values[1] += sums.momentum[0];
    values[2] += sums.momentum[1];
    if (simulation->guests[s].count == 0)
        return STATUS_OK;
    TRY(push_read_sums(simulation->guest_push, s, &simulation->guests[s], &sums));
    values[0] += sums.kinetic_energy;
    values[1] += sums.momentum[0];
    values[2] += sums.momentum[1];
    return STATUS_OK;
}

/* Step n: fields as they stand, kinetic energy and momentum as the push met them at n. */
static enum status measure(struct simulation *simulation, struct history_row *row)
{
    const struct history_config *history = &simulation->config->output.history;
    double sums[3] = {0};
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(measure_species(simulation, s, sums));
    communicator_sum(&simulation->communicator, 3, sums);
    *row = (struct history_row){
        .step = simulation->step,
        .time = (double)simulation->step * simulation->config->time.step,
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
    choose_timing(simulation);
    /* clang-format off */
    TRY(find_cells(simulation));           /* x at n, v at n-1/2, E at n-1; keys: the cell of every x        */
    TRY(sort_particles(simulation));       /* the same, in the order of their cells, where they are not yet  */
    TRY(deposit_and_exchange(simulation)); /* rho at n of this rank; every particle with the owner of its row */
    TRY(solve_field(simulation));          /* rho at n, summed over ranks and filtered; E at n               */
    TRY(start_velocities(simulation));     /* in the first step v at 0 becomes v at -1/2, otherwise nothing  */
    TRY(write_outputs(simulation));        /* what is due: checkpoint, snapshot, phase space; x and E at n, v
                                            * at n-1/2, all finite or the run stops                          */
    TRY(ranks_settle_guests(simulation));  /* not before: a restart deposits from the same lists             */
    TRY(push_particles(simulation));       /* v at n+1/2, x at n+1; the sums of v at n were taken on the way;
                                            * a fused step leaves the particles in order                     */
    TRY(write_measured(simulation));       /* history: energies, momentum, charge and modes, all at n        */
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
