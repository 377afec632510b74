/* Simulation ranks: the exchange of a step, and rows that change hands. */
#include "simulation_internal.h"

#include "parallel/relocate.h"

#include <stdlib.h>

/* ---- every step ---- */

enum status ranks_exchange(struct simulation *simulation, uint32_t species)
{
    struct stepper *stepper = &simulation->stepper;
    struct particles *list = &simulation->particles[species];
    struct arrival_room room;
    TRY(stepper->kind->leavers(stepper, species, list));
    TRY(exchange_announce(simulation->exchange, stepper->leavers, list->capacity - list->count, &room));
    TRY(stepper->kind->move(stepper, &simulation->fields, species, &room, list));
    TRY(exchange_follow(simulation->exchange, species, list));
    simulation->left += exchange_left(simulation->exchange);
    device_add_time(simulation->device, STAGE_EXCHANGE, 0, exchange_bytes(simulation->exchange));
    return STATUS_OK;
}

enum status ranks_settle(struct simulation *simulation)
{
    const uint32_t species = simulation->config->species_count;
    const double start = timer_now();
    TRY(migrate_settle(simulation->migrate, &simulation->slab, species, simulation->particles,
                       &simulation->changed));
    simulation->left += migrate_left(simulation->migrate);
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return STATUS_OK;
}

/* ---- rows change hands ---- */

struct slab ranks_slab(const struct simulation *simulation, uint32_t ghost)
{
    const struct partition *partition = &simulation->partition;
    const int rank = simulation->communicator.rank;
    const struct grid box = grid_make(&simulation->config->grid);
    return slab_make(&box, partition->first[rank], partition_rows(partition, rank), ghost);
}

enum status ranks_change_slab(struct simulation *simulation, const struct slab *from)
{
    const uint32_t species = simulation->config->species_count;
    const struct slab whole = ranks_slab(simulation, 0); /* on which every particle has a place */
    uint32_t changed;
    for (uint32_t s = 0; s < species; s++) {
        TRY(relocate_list(from, &whole, &simulation->particles[s]));
        TRY(migrate_collect(simulation->migrate, &whole, s, &simulation->particles[s]));
    }
    TRY(migrate_settle(simulation->migrate, &whole, species, simulation->particles, &changed));
    simulation->ghost = plan_ghost_rows(simulation->config);
    simulation->slab = ranks_slab(simulation, simulation->ghost);
    for (uint32_t s = 0; s < species; s++) {
        struct particles *list = &simulation->particles[s];
        TRY(relocate_list(&whole, &simulation->slab, list));
        TRY(particles_reserve(list, plan_capacity(list->count)));
    }
    return STATUS_OK;
}

/* Particles of every row of the box, on all ranks. The caller frees them. */
static enum status count_loads(struct simulation *simulation, uint64_t **loads)
{
    const uint32_t rows = simulation->slab.box.nx;
    *loads = calloc(rows, sizeof **loads);
    if (!*loads)
        return status_fail(STATUS_FAILED, "no memory to count the particles of %u rows", rows);
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(relocate_count_rows(&simulation->slab, &simulation->particles[s], *loads));
    communicator_sum_counts(&simulation->communicator, rows, *loads);
    return STATUS_OK;
}

static enum status balance_with(struct simulation *simulation, const uint64_t *loads)
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
    parts_close(simulation);
    TRY(ranks_change_slab(simulation, &from));
    TRY(parts_create_for_grid(simulation));
    return parts_create_for_lists(simulation);
}

static enum status balance(struct simulation *simulation)
{
    TRY(device_finish(simulation->device)); /* so that the exchange is not timed as waiting for the step */
    const double start = timer_now();
    uint64_t *loads = NULL;
    enum status status = count_loads(simulation, &loads);
    if (status == STATUS_OK)
        status = balance_with(simulation, loads);
    free(loads);
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return status;
}

/* ---- before a step ---- */

/* Whether a list is longer than the parts are made for. */
static bool has_outgrown_parts(const struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->particles[s].capacity > simulation->setup.capacity)
            return true;
    return false;
}

/* The stepper learns which lists the last step's general path changed; sums of that step are read by now. */
static enum status take_up_changes(struct simulation *simulation)
{
    const uint32_t changed = simulation->changed;
    simulation->changed = 0;
    if (has_outgrown_parts(simulation))
        return parts_create_for_lists(simulation);
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (changed & UINT32_C(1) << s)
            TRY(stepper_renew(&simulation->stepper, s, &simulation->particles[s]));
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
