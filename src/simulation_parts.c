/* Simulation parts: their creation, in two device handles. */
#include "simulation.h"
#include "simulation_internal.h"

void parts_close(struct simulation *simulation)
{
    device_close(&simulation->list_parts);
    device_close(&simulation->grid_parts);
}

enum status parts_create_for_grid(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    const struct slab *slab = &simulation->slab;
    TRY(device_branch(simulation->device, &simulation->grid_parts));
    struct device *device = simulation->grid_parts;
    const struct rank_place place = {device, &simulation->communicator, &simulation->partition,
                                     slab,   simulation->ghost,         config->precision};
    TRY(fields_create(device, &slab->local, config->precision, config->fields.solver, &simulation->fields));
    for (uint32_t s = 0; s < config->species_count; s++)
        if (snapshots_separate(&config->output.snapshots, &config->species[s]))
            TRY(buffer_create(device, grid_cells(&slab->local) * precision_bytes(config->precision),
                              "the charge density of a species", &simulation->fields.species_rho[s]));
    TRY(buffer_fill(simulation->fields.all, 0)); /* nothing sets the rows far from the own ones */
    TRY(field_solver_create(&place, config, &simulation->decomposition, &simulation->field_solver));
    TRY(drives_create(device, config, slab, &simulation->drives));
    struct grid own = slab->local;
    own.nx = slab->rows;
    TRY(energy_create(device, &own, config->precision, field_solver_modes(simulation->field_solver),
                      &simulation->energy));
    if (simulation->communicator.size == 1)
        return STATUS_OK;
    return exchange_create(&place, simulation->migrate, &simulation->exchange);
}

/* At the start the config's choice must fit; a rank whose rows changed takes what fits. */
static enum status choose_stepper(const struct simulation *simulation, const struct stepper_setup *setup,
                                  const struct stepper_kind **kind)
{
    const struct config *config = simulation->config;
    const struct stepper_kind *last = simulation->stepper.kind;
    const struct device_info *info = device_info(simulation->device);
    const enum status status = stepper_choose(config->step.method, info, setup, kind);
    const bool goes_on = last || (simulation->is_restart && simulation->communicator.size > 1);
    if (status == STATUS_USAGE && goes_on)
        TRY(stepper_choose(STEP_RADIX, info, setup, kind));
    else
        TRY(status);
    if (last && *kind != last && simulation->log)
        log_line(simulation->log, LOG_NORMAL,
                 "step %llu: with %u rows of %u cells rank %d takes the %s step from now on",
                 (unsigned long long)simulation->step, simulation->slab.rows, simulation->slab.box.ny,
                 simulation->communicator.rank, (*kind)->name);
    return STATUS_OK;
}

enum status parts_create_for_lists(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    const struct stepper_kind *kind = NULL;
    struct stepper_setup setup;
    TRY(device_finish(simulation->device));
    device_close(&simulation->list_parts);
    TRY(device_branch(simulation->device, &simulation->list_parts));
    uint32_t capacity = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (simulation->particles[s].capacity > capacity)
            capacity = simulation->particles[s].capacity;
    TRY(plan_step(config, device_info(simulation->device), &simulation->slab, simulation->communicator.size,
                  capacity, &setup));
    TRY(choose_stepper(simulation, &setup, &kind));
    TRY(stepper_create(simulation->list_parts, kind, &setup, &simulation->stepper));
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(stepper_renew(&simulation->stepper, s, &simulation->particles[s]));
    TRY(collisions_create(simulation->list_parts, config, &simulation->slab, simulation->communicator.rank,
                          capacity, 0, &simulation->collisions));
    return deposit_create(simulation->list_parts, &simulation->slab.local, config->precision,
                          &config->deposit, slab_own_cells(&simulation->slab), capacity,
                          &simulation->deposit);
}
