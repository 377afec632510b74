/* Simulation ranks: the exchange of a step, and rows that change hands. */
#include "simulation.h"
#include "simulation_internal.h"

/* ---- every step ---- */

/* Whether a species that moves follows. */
static bool is_last(const struct simulation *simulation, uint32_t species)
{
    for (uint32_t s = species + 1; s < simulation->config->species_count; s++)
        if (simulation->config->species[s].push)
            return false;
    return true;
}

enum status ranks_move(struct simulation *simulation, uint32_t species)
{
    struct stepper *stepper = &simulation->stepper;
    struct particles *list = &simulation->particles[species];
    struct arrival_gaps gaps;
    TRY(stepper_leavers(stepper, species, list));
    TRY(exchange_announce(simulation->exchange, stepper->leavers, list->capacity - list->count, &gaps));
    return stepper_move(stepper, &simulation->felt, species, &gaps, list);
}

enum status ranks_follow(struct simulation *simulation, uint32_t species)
{
    return exchange_follow(simulation->exchange, species, is_last(simulation, species),
                           simulation->stepper.leaving_begins[species], &simulation->particles[species],
                           &simulation->left);
}

enum status ranks_deliver(struct simulation *simulation)
{
    const uint32_t species = simulation->config->species_count;
    const double start = timer_now();
    TRY(migrate_deliver(simulation->migrate, &simulation->slab, species, simulation->particles,
                        &simulation->changed, &simulation->left));
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return STATUS_OK;
}

/* ---- rows change hands ---- */

void ranks_set_slab(struct simulation *simulation, uint32_t ghost)
{
    const struct partition *partition = &simulation->partition;
    const int rank = simulation->communicator.rank;
    const struct grid box = grid_make(&simulation->config->grid);
    simulation->ghost = ghost;
    simulation->slab = slab_make(&box, partition->first[rank], partition_rows(partition, rank), ghost);
}

enum status ranks_change_slab(struct simulation *simulation, const struct slab *from)
{
    const uint32_t species = simulation->config->species_count;
    struct particles *lists = simulation->particles;
    uint32_t changed;
    uint64_t left = 0;
    ranks_set_slab(simulation, plan_ghost_rows(simulation->config));
    for (uint32_t s = 0; s < species; s++)
        TRY(migrate_change_slab(simulation->migrate, from, &simulation->slab, s, &lists[s]));
    TRY(migrate_deliver(simulation->migrate, &simulation->slab, species, lists, &changed, &left));
    for (uint32_t s = 0; s < species; s++)
        TRY(particles_reserve(&lists[s], plan_capacity(lists[s].count)));
    return STATUS_OK;
}

/* Particles of every row of the box, on all ranks, in memory of `branch`. */
static enum status count_loads(struct simulation *simulation, struct device *branch, uint64_t **loads)
{
    const struct slab *slab = &simulation->slab;
    const size_t ny = slab->box.ny, offset_count = slab_own_cells(slab) + (size_t)1;
    uint32_t *offsets = NULL;
    TRY(DEVICE_NEW_ARRAY(branch, *loads, slab->box.nx));
    TRY(DEVICE_NEW_ARRAY(branch, offsets, offset_count));
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        TRY(buffer_read(simulation->particles[s].cell_offsets, 0, offset_count * sizeof *offsets, offsets));
        for (size_t row = 0; row < slab->rows; row++)
            (*loads)[slab->first_row + row] += offsets[(row + 1) * ny] - offsets[row * ny];
    }
    communicator_sum_counts(&simulation->communicator, slab->box.nx, *loads);
    return STATUS_OK;
}

static enum status balance_with(struct simulation *simulation, struct device *branch, const uint64_t *loads)
{
    struct partition *partition = &simulation->partition;
    const struct slab from = simulation->slab;
    const double before = partition_imbalance(partition, loads);
    if (before <= simulation->config->parallel.threshold || !partition_balance(partition, loads))
        return STATUS_OK;
    if (simulation->log)
        log_line(
            simulation->log, LOG_NORMAL,
            "step %llu: rows change hands: the fullest rank had %.3f times the mean particles, and has %.3f",
            (unsigned long long)simulation->step, before, partition_imbalance(partition, loads));
    TRY(sums_read(simulation));
    TRY(external_require_finite(simulation->external, simulation->step));
    const struct waves *waves = simulation->fields.waves;
    const size_t bytes = waves ? buffer_bytes(waves->modes) : 0; /* columns stay with their rank */
    const uint64_t n = waves ? waves->step : 0;
    unsigned char *modes = NULL;
    TRY(DEVICE_NEW_ARRAY(branch, modes, bytes));
    if (waves)
        TRY(buffer_read(waves->modes, 0, bytes, modes));
    device_close(&simulation->list_parts);
    device_close(&simulation->grid_parts);
    TRY(ranks_change_slab(simulation, &from));
    TRY(parts_create_for_grid(simulation));
    if (simulation->fields.waves) {
        simulation->fields.waves->step = n;
        TRY(buffer_write(simulation->fields.waves->modes, 0, bytes, modes));
    }
    return parts_create_for_lists(simulation);
}

static enum status balance(struct simulation *simulation)
{
    TRY(device_finish(simulation->device)); /* so that the exchange is not timed as waiting for the step */
    const double start = timer_now();
    struct device *branch = NULL;
    uint64_t *loads = NULL;
    TRY(device_branch(simulation->device, &branch));
    enum status status = count_loads(simulation, branch, &loads);
    TRY_IF_OK(balance_with(simulation, branch, loads));
    device_close(&branch);
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return status;
}

/* ---- before a step ---- */

/* The stepper learns which lists the last step's general path changed. */
static enum status take_up_changes(struct simulation *simulation)
{
    const uint32_t changed = simulation->changed;
    simulation->changed = 0;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->particles[s].capacity > simulation->stepper.setup.capacity) {
            TRY(sums_read(simulation));
            return parts_create_for_lists(simulation); /* those there are for shorter lists */
        }
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (changed & UINT32_C(1) << s)
            TRY(stepper_list_changed(&simulation->stepper, s, &simulation->particles[s]));
    return STATUS_OK;
}

enum status ranks_prepare(struct simulation *simulation)
{
    const uint64_t every = simulation->config->parallel.balance_every;
    if (!simulation->exchange)
        return STATUS_OK;
    TRY(take_up_changes(simulation));
    return every > 0 && simulation->step % every == 0 ? balance(simulation) : STATUS_OK;
}
