/* Simulation start: begin and end, lists that are loaded or restored. */
#include "simulation.h"
#include "simulation_internal.h"

#include "particles/loading.h"
#include "shared/shape.h"

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

static enum status require_room(const struct species_config *species, uint64_t count)
{
    if (count <= CONFIG_MAX_PARTICLES)
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "species %s: %llu particles a rank; a device holds at most %u",
                       species->name, (unsigned long long)count, CONFIG_MAX_PARTICLES);
}

static enum status plan_sort(const struct simulation *simulation, const struct slab *slab, uint32_t count,
                             struct sorter_plan *plan)
{
    return sorter_plan_make(device_info(simulation->device), &simulation->config->sort,
                            grid_key_bits(&slab->local), count, plan);
}

/* A rank's share of the indices of a species, sorted on `slab`. */
static enum status load_share(struct simulation *simulation, const struct slab *slab, uint32_t species)
{
    const struct species_config *config = &simulation->config->species[species];
    uint64_t count;
    const uint64_t first = communicator_share(&simulation->communicator, config->particles, &count);
    if (simulation->communicator.size == 1)
        TRY(particles_require_one_rank(config));
    TRY(require_room(config, count));
    TRY(create_list(simulation, slab, species, (uint32_t)count));
    simulation->particles[species].count = (uint32_t)count;
    struct sorter_plan plan;
    TRY(plan_sort(simulation, slab, (uint32_t)count, &plan));
    return load_sorted(slab, &plan, NULL, first, &simulation->particles[species]);
}

/* Collective. The weights that a density gives become those over their mean, with which the species has its
 * density whatever places the particles have. */
static enum status scale_weights(const struct simulation *simulation, struct particles *list)
{
    const struct species_config *species = list->species;
    const size_t count = list->count;
    double *weights = calloc(count + 1, sizeof *weights);
    enum status status =
        weights ? STATUS_OK
                : status_fail(STATUS_FAILED, "species %s: no memory for its weights", species->name);
    TRY_IF_OK(particles_read(list, ATTRIBUTE_WEIGHT, 0, count, weights));
    status = communicator_agree(&simulation->communicator, status);
    if (status == STATUS_OK && !device_is_counting(list->device)) {
        const double mean = communicator_mean(&simulation->communicator, species->particles, count, weights);
        for (size_t n = 0; n < count && mean > 0; n++) /* in place: a real is no longer than a double */
            store_real(list->precision, weights, n, weights[n] / mean);
        status = mean > 0 ? particles_write(list, ATTRIBUTE_WEIGHT, 0, count, weights)
                          : status_fail(STATUS_USAGE, "species %s: its density is 0 where its particles are",
                                        species->name);
    }
    free(weights);
    return status;
}

static enum status load(struct simulation *simulation)
{
    const struct grid box = grid_make(&simulation->config->grid);
    const struct slab everything = slab_whole_box(&box);
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(load_share(simulation, &everything, s));
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->config->species[s].weights == WEIGHTS_DENSITY)
            TRY(scale_weights(simulation, &simulation->particles[s]));
    simulation->slab = everything;
    return simulation->communicator.size > 1 ? ranks_change_slab(simulation, &everything) : STATUS_OK;
}

enum status simulation_sort_again(struct simulation *simulation, uint32_t species, const uint32_t *keys)
{
    struct particles *list = &simulation->particles[species];
    const struct slab everything = slab_whole_box(&simulation->slab.box);
    struct sorter_plan plan;
    TRY(plan_sort(simulation, &everything, list->count, &plan));
    if (simulation->exchange) { /* there the offsets are those of the slab's cells */
        buffer_destroy(&list->cell_offsets);
        TRY(buffer_create(list->device, (grid_cells(&everything.box) + UINT64_C(1)) * sizeof *keys,
                          "cell offsets", &list->cell_offsets));
        TRY(buffer_fill(list->cell_offsets, 0));
    }
    TRY(load_sorted(&everything, &plan, keys, 0, list));
    simulation->is_solved = false;
    if (!simulation->exchange)
        return stepper_list_changed(&simulation->stepper, species, list);
    TRY(migrate_change_slab(simulation->migrate, &everything, &simulation->slab, species, list));
    const uint32_t changed = simulation->changed | UINT32_C(1) << species;
    TRY(ranks_deliver(simulation));
    simulation->changed |= changed;
    return STATUS_OK;
}

/* ---- from a checkpoint ---- */

/* The particles of the slab's rows, attribute by attribute through the host. */
static enum status restore_particles(const struct slab *slab, const struct checkpoint *checkpoint,
                                     uint32_t species, struct particles *list)
{
    const size_t cells = grid_cells(&slab->local), most_bytes = 2 * sizeof(double); /* of an attribute */
    uint32_t *offsets = calloc(cells + 1, sizeof *offsets);
    void *values = malloc(list->count * most_bytes + 1);
    enum status status = STATUS_OK;
    if (!offsets || !values)
        TRY_CLEANUP(status_fail(STATUS_FAILED, "species %s: no memory to restore it", list->species->name));
    TRY_CLEANUP(checkpoint_read_cells(checkpoint, species, slab->first_row, slab->rows, offsets + 1));
    for (size_t cell = 0; cell < cells; cell++)
        offsets[cell + 1] += offsets[cell];
    TRY_CLEANUP(buffer_write(list->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets));
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        if (!list->attribute[a])
            continue;
        TRY_CLEANUP(checkpoint_read_attribute(checkpoint, species, a, slab->first_row, slab->rows, values));
        TRY_CLEANUP(particles_write(list, a, 0, list->count, values));
    }

cleanup:
    free(values);
    free(offsets);
    return status;
}

/* A list; its room is `capacity`, or what it needs if that is more. */
static enum status restore_list(struct simulation *simulation, const struct checkpoint *checkpoint,
                                uint32_t species, uint32_t capacity)
{
    struct particles *list = &simulation->particles[species];
    const struct slab *slab = &simulation->slab;
    const uint64_t count = checkpoint_row_start(checkpoint, species, slab->first_row + slab->rows) -
                           checkpoint_row_start(checkpoint, species, slab->first_row);
    TRY(require_room(&simulation->config->species[species], count));
    TRY(create_list(simulation, slab, species, count > capacity ? (uint32_t)count : capacity));
    list->count = (uint32_t)count;
    return restore_particles(slab, checkpoint, species, list);
}

/* Rows shared by their particles. */
static enum status balance_partition(struct partition *partition, const struct checkpoint *checkpoint)
{
    uint64_t *loads = calloc(partition->rows, sizeof *loads);
    if (!loads)
        return status_fail(STATUS_FAILED, "no memory to count the particles of %u rows", partition->rows);
    for (uint32_t s = 0; s < checkpoint->config.species_count; s++)
        for (uint32_t row = 0; row < partition->rows; row++)
            loads[row] +=
                checkpoint_row_start(checkpoint, s, row + 1) - checkpoint_row_start(checkpoint, s, row);
    partition_balance(partition, loads);
    free(loads);
    return STATUS_OK;
}

/* On as many ranks as before with the same rows, room and bits. */
static enum status restore(struct simulation *simulation, const struct checkpoint *checkpoint)
{
    const struct partition *old = &checkpoint->partition;
    const uint32_t rank = (uint32_t)simulation->communicator.rank, species = checkpoint->config.species_count;
    const bool as_many = old->ranks == simulation->communicator.size;
    if (as_many)
        memcpy(simulation->partition.first, old->first, ((size_t)old->ranks + 1) * sizeof *old->first);
    else
        TRY(balance_partition(&simulation->partition, checkpoint));
    ranks_set_slab(simulation, as_many ? checkpoint->ghost : plan_ghost_rows(simulation->config));
    simulation->is_restart = true;
    simulation->step = simulation->first_step = checkpoint->step;
    simulation->first_energy = checkpoint->first_energy;
    simulation->drive_work = checkpoint->drive_work;
    memcpy(simulation->work, checkpoint->work, sizeof simulation->work);
    for (uint32_t s = 0; s < species; s++) {
        struct particles *list = &simulation->particles[s];
        TRY(restore_list(simulation, checkpoint, s,
                         as_many ? checkpoint->capacities[rank * species + s] : 0));
        if (simulation->communicator.size > 1 && !as_many)
            TRY(particles_reserve(list, plan_capacity(list->count)));
    }
    return STATUS_OK;
}

/* ---- begin and end ---- */

/* With the rows of the first of so many ranks, which are those of the communicator; or, where that has one
 * rank and the device counts, more. */
static enum status create(const struct communicator *communicator, const struct config *config, int ranks,
                          struct device *device, const struct checkpoint *restart,
                          struct simulation *simulation)
{
    *simulation = (struct simulation){
        .config = config,
        .communicator = *communicator,
        .decomposition = config->fields.decomposition,
        .row = {.field_energy = (double)NAN},
    };
    /* The current is of half a step before, where particles reach as many rows as with the next order. */
    const int order = (int)config->deposit.shape + (config->fields.solver == SOLVER_ELECTROMAGNETIC);
    if (communicator->size > 1 && SHAPE_NODES_OF(order) > SLAB_NODES_BESIDE + 1)
        return status_fail(STATUS_USAGE,
                           "deposit.shape: this shape reaches more rows than several ranks exchange; take "
                           "a lower order, or one rank");
    TRY(device_branch(device, &simulation->device));
    TRY(partition_even(ranks, config->grid.cells[0], &simulation->partition));
    if (communicator->size > 1)
        TRY(migrate_create(simulation->device, &simulation->communicator, &simulation->partition,
                           config->precision, &simulation->migrate));
    TRY(restart ? restore(simulation, restart) : load(simulation));
    if (ranks > communicator->size)
        ranks_set_slab(simulation, plan_ghost_rows(config));
    TRY(parts_create_for_grid(simulation));
    if (restart && simulation->fields.waves)
        TRY(checkpoint_read_waves(restart, simulation->fields.waves));
    TRY(parts_create_for_lists(simulation));
    TRY(outputs_create(simulation->device, config, &simulation->outputs));
    const struct view view = view_of(simulation, simulation->step);
    TRY(outputs_begin(simulation->outputs, &view, restart ? &restart->config : NULL,
                      restart ? &restart->source : NULL));
    return device_finish(simulation->device);
}

enum status simulation_create_on(const struct communicator *communicator, const struct config *config,
                                 struct device *device, const struct checkpoint *restart,
                                 struct simulation *simulation)
{
    return create(communicator, config, communicator->size, device, restart, simulation);
}

static const struct communicator alone = {.size = 1, .local_size = 1};

enum status simulation_create(const struct config *config, struct device *device,
                              struct simulation *simulation)
{
    return simulation_create_on(&alone, config, device, NULL, simulation);
}

void simulation_destroy(struct simulation *simulation)
{
    device_close(&simulation->device);
    partition_destroy(&simulation->partition);
}

/* A rank's part of a species. No program depends on its formulas, which take long. */
static void simplify(struct species_config *species, int ranks)
{
    species->particles = (species->particles + (uint64_t)ranks - 1) / (uint64_t)ranks;
    species->profile = (struct profile_config){0};
    for (int axis = 0; axis < 3 && species->velocities.kind == VELOCITIES_FORMULA; axis++)
        strcpy(species->velocities.density[axis], "1");
}

void simulation_build_ahead(const struct config *config, const struct communicator *communicator,
                            const struct device *device)
{
    struct simulation simulation = {0};
    struct device *counting = NULL;
    struct config plain = *config;
    const size_t bytes = config->species_count * sizeof *config->species;
    plain.species = malloc(bytes);
    if (plain.species && device_open_counting(device_info(device), &counting) == STATUS_OK) {
        memcpy(plain.species, config->species, bytes);
        for (uint32_t s = 0; s < config->species_count; s++)
            simplify(&plain.species[s], communicator->size);
        if (communicator->size > 1 && config->fields.decomposition == DECOMPOSITION_SLABS)
            plain.fields.transforms = TRANSFORMS_FFTW; /* no rank transforms the whole box */
        if (create(&alone, &plain, communicator->size, counting, NULL, &simulation) == STATUS_OK)
            device_start_builders(device, counting, communicator->local_size);
        simulation_destroy(&simulation);
        device_close(&counting);
    }
    free(plain.species);
}

enum status simulation_plan(const struct config *config, const struct device_info *info,
                            struct simulation_plan *plan)
{
    struct simulation simulation = {0};
    struct device *counting = NULL;
    TRY(device_open_counting(info, &counting));
    const enum status status = simulation_create(config, counting, &simulation);
    *plan = (struct simulation_plan){simulation.stepper.kind, simulation.stepper.setup.sort,
                                     device_most_bytes_held(counting), ""};
    if (status == STATUS_OK)
        stepper_explain(config->step.method, info, &simulation.stepper.setup, plan->why);
    simulation_destroy(&simulation);
    device_close(&counting);
    return status;
}
