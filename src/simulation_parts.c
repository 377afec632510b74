/* Simulation parts: what follows from a config alone, and the parts, in two device handles. */
#include "simulation.h"
#include "simulation_internal.h"

#include "base/integers.h"

uint64_t simulation_particles(const struct config *config)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        sum += config->species[s].particles;
    return sum;
}

uint32_t plan_capacity(uint64_t count)
{
    enum { LEAST = 4096 };
    return at_most(count + count / 8 + LEAST, CONFIG_MAX_PARTICLES);
}

/* Cells along an axis that the fastest species crosses in a step. */
static uint32_t cells_crossed(const struct config *config, const struct grid *grid, int axis)
{
    const double spacing = axis == 0 ? grid->dx : grid->dy, most = config->grid.cells[axis];
    double crossed = 0;
    for (uint32_t s = 0; s < config->species_count; s++)
        crossed =
            fmax(crossed, species_fastest_speed(&config->species[s], axis) * config->time.step / spacing);
    return (uint32_t)fmin(ceil(crossed), most);
}

uint32_t plan_ghost_rows(const struct config *config)
{
    if (config->parallel.ghost_rows != GHOST_AUTO)
        return config->parallel.ghost_rows;
    const struct grid box = grid_make(&config->grid);
    return at_least(cells_crossed(config, &box, 0) + UINT64_C(1), SLAB_LEAST_GHOST);
}

/* What the stepper of a rank is made for: lists of up to `capacity` particles on a slab. STATUS_USAGE when
 * the sort's parameters do not fit the device. */
static enum status plan_step(const struct config *config, const struct device_info *info,
                             const struct slab *slab, int ranks, uint32_t capacity,
                             struct stepper_setup *setup)
{
    const double *magnetic = config->fields.magnetic;
    uint64_t smallest = CONFIG_MAX_SPECIES_PARTICLES;
    bool carries = false, sorts[2] = {false, false};
    for (uint32_t s = 0; s < config->species_count; s++) {
        smallest = config->species[s].particles < smallest ? config->species[s].particles : smallest;
        sorts[species_has_w(&config->species[s])] = true;
        for (enum attribute a = ATTRIBUTE_W + 1; a < ATTRIBUTES; a++)
            carries |= attribute_present(&config->species[s], a);
    }
    *setup = (struct stepper_setup){
        .grid = slab->local,
        .ghost_rows = slab->ghost,
        .own_rows = slab->rows,
        .leaves_gaps = ranks > 1,
        .carries = carries,
        .weighs = config->species[0].carries_weights,
        .sums_work = config->output.history.work,
        .sorts = {sorts[false], sorts[true]},
        .reach = {cells_crossed(config, &slab->box, 0), cells_crossed(config, &slab->box, 1)},
        .precision = config->precision,
        .rounding = config->step.rounding,
        .pusher = config->step.pusher,
        .layout = stepper_layout(config->step.method, info),
        .shape = config->deposit.shape,
        .time_step = config->time.step,
        .magnetic = {magnetic[0], magnetic[1], magnetic[2]},
        .felt = fields_felt(&config->fields),
        .per_c_squared = config->species[0].per_c_squared,
        .species_count = config->species_count,
        .capacity = capacity,
        .fewest = at_most((smallest + (uint64_t)ranks - 1) / (uint64_t)ranks, CONFIG_MAX_PARTICLES),
    };
    return sorter_plan_make(info, &config->sort, grid_key_bits(&slab->local), capacity, &setup->sort);
}

/* ---- the parts ---- */

enum status simulation_make_species_rho(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    const size_t bytes = grid_cells(&simulation->slab.local) * precision_bytes(config->precision);
    for (uint32_t s = 0; s < config->species_count; s++)
        if (snapshots_separate(&config->output.snapshots, &config->species[s]))
            TRY(buffer_create(simulation->grid_parts, bytes, "the charge density of a species",
                              &simulation->fields.species_rho[s]));
    return STATUS_OK;
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
    TRY(simulation_make_species_rho(simulation));
    TRY(buffer_fill(simulation->fields.all, 0)); /* nothing sets the rows far from the own ones */
    TRY(field_solver_create(&place, config, &simulation->decomposition, &simulation->field_solver));
    simulation->fields.waves = field_solver_waves(simulation->field_solver);
    TRY(external_create(&place, config, &simulation->external));
    struct grid own = slab->local;
    own.nx = slab->rows;
    TRY(energy_create(device, &own, config->precision, &config->fields,
                      field_solver_modes(simulation->field_solver), &simulation->energy));
    if (simulation->communicator.size == 1)
        return STATUS_OK;
    return exchange_create(&place, simulation->migrate, EXCHANGE_OUTBOX, &simulation->exchange);
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
        capacity = at_least(simulation->particles[s].capacity, capacity);
    TRY(plan_step(config, device_info(simulation->device), &simulation->slab, simulation->communicator.size,
                  capacity, &setup));
    TRY(choose_stepper(simulation, &setup, &kind));
    TRY(stepper_create(simulation->list_parts, kind, &setup, &simulation->stepper));
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(stepper_list_changed(&simulation->stepper, s, &simulation->particles[s]));
    TRY(collisions_create(simulation->list_parts, config, &simulation->slab, simulation->communicator.rank,
                          capacity, 0, &simulation->collisions));
    const struct grid *grid = &simulation->slab.local;
    const uint32_t own_cells = slab_own_cells(&simulation->slab);
    const struct deposit_current current = {config->time.step, setup.per_c_squared};
    TRY(deposit_create(simulation->list_parts, grid, config->precision, config->deposit.shape, setup.weighs,
                       NULL, own_cells, capacity, &simulation->deposit));
    return config->fields.solver == SOLVER_ELECTROMAGNETIC
               ? deposit_create(simulation->list_parts, grid, config->precision, config->deposit.shape,
                                setup.weighs, &current, own_cells, capacity, &simulation->deposit_sources)
               : STATUS_OK;
}
