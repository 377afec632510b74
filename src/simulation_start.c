/* Simulation start: birth and death, lists that are loaded or restored. */
#include "simulation.h"

#include "particles/load_sorted.h"
#include "simulation_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

static enum status create_list(struct simulation *simulation, const struct slab *slab, uint32_t species,
                               uint32_t capacity)
{
    const struct config *config = simulation->config;
    return particles_create(simulation->device, slab, config->precision,
                            stepper_layout(config->step.method, device_info(simulation->device)),
                            &config->species[species], capacity, &simulation->particles[species]);
}

/* Indices [first, first + count) of a species are this rank's to load, sorted on `slab`. */
static enum status load_share(struct simulation *simulation, const struct slab *slab, uint32_t species)
{
    const struct species_config *config = &simulation->config->species[species];
    const uint64_t ranks = (uint64_t)simulation->communicator.size,
                   rank = (uint64_t)simulation->communicator.rank;
    const uint64_t part = config->particles / ranks, rest = config->particles % ranks;
    const uint64_t first = rank * part + (rank < rest ? rank : rest), count = part + (rank < rest);
    if (ranks == 1)
        TRY(particles_require_one_rank(config));
    if (count > CONFIG_MAX_PARTICLES)
        return status_fail(STATUS_USAGE, "species %s: %llu particles a rank; a device holds at most %u",
                           config->name, (unsigned long long)count, CONFIG_MAX_PARTICLES);
    TRY(create_list(simulation, slab, species, (uint32_t)count));
    simulation->particles[species].count = (uint32_t)count;
    struct sorter_plan plan;
    TRY(sorter_plan_make(device_info(simulation->device), &simulation->config->sort,
                         grid_key_bits(&slab->local), (uint32_t)count, &plan));
    return load_sorted(slab, &plan, first, &simulation->particles[species]);
}

static enum status load(struct simulation *simulation)
{
    const struct grid box = grid_make(&simulation->config->grid);
    const struct slab everything = slab_whole_box(&box);
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(load_share(simulation, &everything, s));
    simulation->slab = everything;
    return simulation->communicator.size > 1 ? ranks_change_slab(simulation, &everything) : STATUS_OK;
}

/* ---- from a checkpoint ---- */

/* Offsets of the slab's local grid, from the counts of own cells. */
static enum status restore_cells(const struct slab *slab, const struct host_list *stored,
                                 struct particles *list)
{
    const size_t own = slab_own_cells(slab), cells = grid_cells(&slab->local);
    uint32_t *offsets = malloc((cells + 1) * sizeof *offsets);
    if (!offsets)
        return status_fail(STATUS_FAILED, "species %s: no memory for its cell offsets", list->species->name);
    uint32_t sum = 0;
    for (size_t cell = 0; cell <= cells; cell++) {
        offsets[cell] = sum;
        sum += cell < own ? stored->cell_counts[cell] : 0;
    }
    const enum status status = buffer_write(list->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets);
    free(offsets);
    return status;
}

/* A list; its room is `capacity`, or what it needs if that is more. */
static enum status restore_list(struct simulation *simulation, struct checkpoint *checkpoint,
                                uint32_t species, uint32_t capacity)
{
    struct particles *list = &simulation->particles[species];
    struct host_list stored = {0};
    const struct slab *slab = &simulation->slab;
    TRY(checkpoint_read_list(checkpoint, species, slab->first_row, slab->rows, &stored));
    enum status status = STATUS_OK;
    if (stored.count > CONFIG_MAX_PARTICLES)
        status =
            status_fail(STATUS_FAILED, "species %s: %llu particles for one rank; a device holds at most %u",
                        simulation->config->species[species].name, (unsigned long long)stored.count,
                        CONFIG_MAX_PARTICLES);
    if (status == STATUS_OK)
        status = create_list(simulation, slab, species,
                             stored.count > capacity ? (uint32_t)stored.count : capacity);
    if (status == STATUS_OK) {
        list->count = (uint32_t)stored.count;
        status = restore_cells(slab, &stored, list);
    }
    for (enum attribute a = 0; a < ATTRIBUTES && status == STATUS_OK; a++)
        if (list->attribute[a])
            status = particles_write(list, a, stored.attribute[a]);
    host_list_free(&stored);
    return status;
}

/* The rows as they were, on as many ranks; else shared anew by their particles. */
static enum status restore_partition(struct simulation *simulation, struct checkpoint *checkpoint)
{
    const struct partition *old = checkpoint_partition(checkpoint);
    partition_destroy(&simulation->partition);
    if (old->ranks == simulation->communicator.size)
        return partition_given(old->ranks, old->first, &simulation->partition);
    const uint32_t rows = simulation->config->grid.cells[0];
    TRY(partition_even(simulation->communicator.size, rows, &simulation->partition));
    uint64_t *loads = calloc(rows, sizeof *loads);
    if (!loads)
        return status_fail(STATUS_FAILED, "no memory to count the particles of %u rows", rows);
    checkpoint_loads(checkpoint, loads);
    partition_balance(&simulation->partition, loads);
    free(loads);
    return STATUS_OK;
}

static enum status restore(struct simulation *simulation, struct checkpoint *checkpoint)
{
    const bool as_many = checkpoint_partition(checkpoint)->ranks == simulation->communicator.size;
    struct checkpoint_header header;
    TRY(checkpoint_header(checkpoint, as_many ? simulation->communicator.rank : 0, &header));
    TRY(restore_partition(simulation, checkpoint));
    simulation->ghost = as_many ? header.ghost : plan_ghost_rows(simulation->config);
    simulation->slab = ranks_slab(simulation, simulation->ghost);
    simulation->is_restart = true;
    simulation->step = simulation->first_step = header.step;
    simulation->first_energy = header.first_energy;
    if (as_many && simulation->decomposition == DECOMPOSITION_AUTO)
        simulation->decomposition = checkpoint_config(checkpoint)->fields.decomposition;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct particles *list = &simulation->particles[s];
        TRY(restore_list(simulation, checkpoint, s, as_many ? header.capacity[s] : 0));
        if (simulation->communicator.size > 1 && !as_many)
            TRY(particles_reserve(list, plan_capacity(list->count)));
    }
    return STATUS_OK;
}

/* ---- birth and death ---- */

static enum status create(struct simulation *simulation, struct checkpoint *restart)
{
    const struct config *config = simulation->config;
    TRY(partition_even(simulation->communicator.size, config->grid.cells[0], &simulation->partition));
    if (simulation->communicator.size > 1)
        TRY(migrate_create(simulation->device, &simulation->communicator, &simulation->partition,
                           config->precision, &simulation->migrate));
    TRY(restart ? restore(simulation, restart) : load(simulation));
    TRY(parts_create_for_grid(simulation));
    TRY(parts_create_for_lists(simulation));
    TRY(outputs_create(simulation->device, config, &simulation->outputs));
    return device_finish(simulation->device);
}

enum status simulation_create_on(const struct communicator *communicator, const struct config *config,
                                 struct device *device, struct checkpoint *restart,
                                 struct simulation *simulation)
{
    *simulation = (struct simulation){
        .config = config, .communicator = *communicator, .decomposition = config->fields.decomposition};
    TRY(device_branch(device, &simulation->device));
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
    device_close(&simulation->device);
    partition_destroy(&simulation->partition);
}
