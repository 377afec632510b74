/* Simulation ranks: main lists, guests and arrivals. */
#include "simulation_ranks.h"

#include "load/loading.h"
#include "parallel/relocate.h"
#include "simulation_parts.h"
#include "simulation_plan.h"

#include <stdlib.h>
#include <string.h>

static bool is_alone(const struct simulation *simulation)
{
    return simulation->communicator.size == 1;
}

static const struct species_config *species_of(const struct simulation *simulation, uint32_t species)
{
    return &simulation->config->species[species];
}

static struct slab slab_of(const struct simulation *simulation, uint32_t ghost)
{
    const struct partition *partition = &simulation->partition;
    const int rank = simulation->communicator.rank;
    const struct grid box = grid_make(&simulation->config->grid);
    return slab_make(&box, partition->first[rank], partition_rows(partition, rank), ghost);
}

/* `count` and a share more, as far as a list may be long. */
static uint32_t room_for(uint64_t count, uint32_t more)
{
    const uint64_t room = count + count / 8 + more;
    return room > CONFIG_MAX_PARTICLES ? CONFIG_MAX_PARTICLES : (uint32_t)room;
}

/* ---- short lists ---- */

/* A short list for the slab as it is now. */
static enum status create_list(const struct simulation *simulation, uint32_t species, uint32_t capacity,
                               struct particles *list)
{
    return particles_create_list(simulation->device, &simulation->slab, simulation->config->precision,
                                 species_of(simulation, species), capacity, list);
}

enum status ranks_create_guests(struct simulation *simulation)
{
    if (is_alone(simulation))
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        TRY(create_list(simulation, s, parts_guest_capacity(simulation), &simulation->guests[s]));
    }
    return STATUS_OK;
}

void ranks_destroy(struct simulation *simulation)
{
    for (uint32_t s = 0; s < CONFIG_MAX_SPECIES; s++) {
        particles_destroy(&simulation->guests[s]);
    }
    crossing_destroy(&simulation->crossing);
}

/* The arrivals of a species as a list of their own, sorted. The caller destroys it, also after a failure. */
static enum status deliver(struct simulation *simulation, uint32_t species, struct particles *list)
{
    const uint64_t arrived = migration_arrived(simulation->migration, species);
    TRY(create_list(simulation, species, room_for(arrived, 1), list));
    return migration_deliver(simulation->migration, &simulation->slab, species, list);
}

/* ---- every step ---- */

static bool has_guests(const struct simulation *simulation)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->guests[s].count > 0)
            return true;
    return false;
}

enum status ranks_part(struct simulation *simulation)
{
    if (is_alone(simulation) || (simulation->has_crossed && !has_guests(simulation)))
        return STATUS_OK;
    TRY(device_finish(simulation->device)); /* so that the exchange is not timed as waiting for the step */
    const double start = timer_now();
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        struct particles *main = &simulation->particles[s];
        const uint32_t before = main->count;
        if (!simulation->has_crossed)
            TRY(migration_collect(simulation->migration, &simulation->slab, &simulation->partition, s, main));
        TRY(migration_collect(simulation->migration, &simulation->slab, &simulation->partition, s,
                              &simulation->guests[s]));
        if (simulation->is_handed_over && main->count != before)
            TRY(advance_take_over(simulation->advance, s, main));
    }
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return STATUS_OK;
}

/* The main list gets the room that the parts are made for. */
static enum status reserve(struct simulation *simulation, uint32_t species)
{
    return particles_reserve(simulation->device, simulation->config->precision, simulation->capacity[species],
                             &simulation->particles[species]);
}

/* Parts for lists that have outgrown the old ones. */
static enum status grow_parts(struct simulation *simulation)
{
    bool outgrown = false;
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        const uint32_t main = simulation->particles[s].count, guests = simulation->guests[s].count;
        const uint32_t longest = main > guests ? main : guests;
        if (longest > simulation->capacity[s]) {
            simulation->capacity[s] = room_for(longest, 0);
            TRY(reserve(simulation, s));
            outgrown = true;
        }
    }
    if (!outgrown)
        return STATUS_OK;
    TRY(device_finish(simulation->device));
    parts_destroy_for_lists(simulation);
    return parts_create_for_lists(simulation);
}

/* A few are sorted with the guests that are there; a crowd is merged into them. */
static enum status bring_in(struct simulation *simulation, uint32_t species, uint64_t arrived)
{
    struct particles *guests = &simulation->guests[species];
    const uint32_t sortable = parts_guest_capacity(simulation);
    if (guests->count + arrived <= (guests->capacity < sortable ? guests->capacity : sortable)) {
        TRY(migration_append(simulation->migration, &simulation->slab, species, guests));
        return parts_sort_list(simulation, simulation->guest_sorter, simulation->guest_permutation, guests);
    }
    struct particles crowd = {0};
    enum status status = deliver(simulation, species, &crowd);
    if (status == STATUS_OK)
        status = merge_lists(simulation->merge, guests, &crowd);
    if (status == STATUS_OK)
        status = device_finish(simulation->device);
    particles_destroy(&crowd);
    return status;
}

enum status ranks_receive(struct simulation *simulation)
{
    if (is_alone(simulation))
        return STATUS_OK;
    const uint32_t species = simulation->config->species_count;
    const double start = timer_now();
    TRY(migration_exchange(simulation->migration, species));
    uint64_t travelled = 0;
    for (uint32_t s = 0; s < species; s++) {
        const uint64_t arrived = migration_arrived(simulation->migration, s);
        const uint64_t left = migration_left(simulation->migration, s);
        travelled += arrived + left;
        simulation->left += left;
        if (arrived == 0)
            continue;
        TRY(bring_in(simulation, s, arrived));
    }
    const uint64_t each = 4 * precision_bytes(simulation->config->precision) + sizeof(uint64_t);
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, travelled * each);
    return grow_parts(simulation);
}

static enum status merge_guests(struct simulation *simulation, uint32_t species)
{
    struct particles *main = &simulation->particles[species];
    TRY(merge_lists(simulation->merge, main, &simulation->guests[species]));
    return simulation->is_handed_over && main->count <= simulation->capacity[species]
               ? advance_take_over(simulation->advance, species, main)
               : STATUS_OK;
}

enum status ranks_settle_guests(struct simulation *simulation)
{
    if (is_alone(simulation))
        return STATUS_OK;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        if (simulation->guests[s].count > parts_guest_limit(simulation, s))
            TRY(merge_guests(simulation, s));
    return grow_parts(simulation);
}

/* ---- in a fused step ---- */

enum status ranks_create_crossing(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    if (is_alone(simulation))
        return STATUS_OK;
    const struct advance_setup setup = plan_advance(config, &simulation->slab, simulation->communicator.size,
                                                    plan_largest(config, simulation->capacity));
    const enum advance_kind kind = plan_kind(config, device_info(simulation->device), &setup);
    double cannot = advance_can_leave_room(kind) ? 0 : 1;
    communicator_max(&simulation->communicator, 1, &cannot);
    if (cannot > 0)
        return STATUS_OK;
    return crossing_create(&simulation->communicator, simulation->device, &simulation->partition,
                           &simulation->slab, simulation->ghost, config->precision, simulation->migration,
                           &simulation->crossing);
}

static enum status cross(struct simulation *simulation, uint32_t species)
{
    TRY(crossing_follow(simulation->crossing, species, &simulation->particles[species]));
    simulation->left += crossing_left(simulation->crossing);
    device_add_time(simulation->device, STAGE_EXCHANGE, 0, crossing_bytes(simulation->crossing));
    return STATUS_OK;
}

enum status ranks_push_and_cross(struct simulation *simulation, uint32_t species, bool measured)
{
    struct particles *main = &simulation->particles[species];
    const struct fields *fields = &simulation->fields;
    const uint32_t *leavers = NULL;
    struct arrival_room room;
    TRY(advance_count(simulation->advance, fields, species, measured, main));
    TRY(advance_read_leavers(simulation->advance, species, main, &leavers));
    /* The list itself has more room, but not after a restart. */
    TRY(crossing_announce(simulation->crossing, leavers, simulation->capacity[species] - main->count, &room));
    TRY(advance_move(simulation->advance, fields, species, &room, main));
    return cross(simulation, species);
}

enum status ranks_cross_nobody(struct simulation *simulation, uint32_t species)
{
    struct arrival_room room;
    TRY(crossing_announce(simulation->crossing, NULL, 0, &room));
    return cross(simulation, species);
}

/* ---- rows change hands ---- */

/* Brings the main lists from the slab `from`, all of whose particles are in own cells of it, to the slab that
 * the partition gives this rank. Keys are those of the new slab. */
static enum status change_slab(struct simulation *simulation, const struct slab *from)
{
    const enum precision precision = simulation->config->precision;
    const uint32_t species = simulation->config->species_count;
    struct device *device = simulation->device;
    simulation->slab = slab_of(simulation, 0); /* whole: every particle has a place, wherever it is */
    for (uint32_t s = 0; s < species; s++) {
        TRY(relocate_list(device, precision, from, &simulation->slab, &simulation->particles[s]));
        TRY(migration_collect(simulation->migration, &simulation->slab, &simulation->partition, s,
                              &simulation->particles[s]));
    }
    TRY(migration_exchange(simulation->migration, species));
    struct merge *merge = NULL;
    enum status status = merge_create(device, grid_cells(&simulation->slab.local), precision, &merge);
    for (uint32_t s = 0; s < species && status == STATUS_OK; s++) {
        struct particles arrivals = {0};
        status = deliver(simulation, s, &arrivals);
        if (status == STATUS_OK)
            status =
                merge_lists(merge, &simulation->particles[s], &arrivals); /* also for none: sets the keys */
        if (status == STATUS_OK)
            status = device_finish(device);
        particles_destroy(&arrivals);
    }
    merge_destroy(&merge);
    TRY(status);
    const struct slab whole = simulation->slab;
    simulation->ghost = plan_ghost_rows(simulation->config);
    simulation->slab = slab_of(simulation, simulation->ghost);
    for (uint32_t s = 0; s < species; s++)
        TRY(relocate_list(device, precision, &whole, &simulation->slab, &simulation->particles[s]));
    return STATUS_OK;
}

/* Room for the main lists as they are, and some more. */
static enum status choose_capacities(struct simulation *simulation)
{
    enum { LEAST = 4096 };
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        simulation->capacity[s] = room_for(simulation->particles[s].count, LEAST);
        TRY(reserve(simulation, s));
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
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        TRY(relocate_count_rows(&simulation->slab, &simulation->particles[s], *loads));
        TRY(relocate_count_rows(&simulation->slab, &simulation->guests[s], *loads));
    }
    communicator_sum_counts(&simulation->communicator, rows, *loads);
    return STATUS_OK;
}

/* With the new partition: lists to their new owners, and every part made anew. */
static enum status take_new_rows(struct simulation *simulation)
{
    const struct slab from = simulation->slab;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(merge_lists(simulation->merge, &simulation->particles[s], &simulation->guests[s]));
    TRY(device_finish(simulation->device));
    parts_destroy_for_lists(simulation);
    parts_destroy_for_grid(simulation);
    ranks_destroy(simulation);
    TRY(change_slab(simulation, &from));
    TRY(choose_capacities(simulation));
    TRY(parts_create_for_grid(simulation));
    TRY(ranks_create_crossing(simulation));
    TRY(parts_create_for_lists(simulation));
    return ranks_create_guests(simulation);
}

static enum status balance_with(struct simulation *simulation, const uint64_t *loads)
{
    struct partition *partition = &simulation->partition;
    const double before = partition_imbalance(partition, loads);
    if (before <= simulation->config->parallel.threshold || !partition_balance(partition, loads))
        return STATUS_OK;
    const double after = partition_imbalance(partition, loads);
    if (simulation->log)
        log_line(
            simulation->log, LOG_NORMAL,
            "step %llu: rows change hands: the fullest rank had %.3f times the mean particles, and has %.3f",
            (unsigned long long)simulation->step, before, after);
    return take_new_rows(simulation);
}

enum status ranks_balance(struct simulation *simulation)
{
    const uint64_t every = simulation->config->parallel.balance_every;
    if (is_alone(simulation) || every == 0 || simulation->step % every != 0)
        return STATUS_OK;
    TRY(ranks_receive(simulation));
    const double start = timer_now();
    uint64_t *loads = NULL;
    enum status status = count_loads(simulation, &loads);
    if (status == STATUS_OK)
        status = balance_with(simulation, loads);
    free(loads);
    device_add_time(simulation->device, STAGE_EXCHANGE, timer_now() - start, 0);
    return status;
}

/* ---- the start ---- */

static enum status load_alone(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    simulation->slab = slab_of(simulation, 0);
    for (uint32_t s = 0; s < config->species_count; s++) {
        TRY(particles_create(simulation->device, &simulation->slab.local, config->precision,
                             &config->species[s], &simulation->particles[s]));
        simulation->capacity[s] = simulation->particles[s].count;
    }
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(loading_fill(simulation->device, &simulation->slab.box, config->precision, 0,
                         &simulation->particles[s]));
    return STATUS_OK;
}

/* Indices [first, first + count) of a species are this rank's to load. */
static enum status load_share(struct simulation *simulation, uint32_t species)
{
    const struct config *config = simulation->config;
    const uint64_t all = config->species[species].particles;
    const uint64_t ranks = (uint64_t)simulation->communicator.size,
                   rank = (uint64_t)simulation->communicator.rank;
    const uint64_t part = all / ranks, rest = all % ranks;
    const uint64_t first = rank * part + (rank < rest ? rank : rest), count = part + (rank < rest);
    struct particles *list = &simulation->particles[species];
    if (count > CONFIG_MAX_PARTICLES)
        return status_fail(STATUS_USAGE, "species %s: %llu particles a rank; a device holds at most %u",
                           config->species[species].name, (unsigned long long)count, CONFIG_MAX_PARTICLES);
    TRY(create_list(simulation, species, (uint32_t)count, list));
    list->count = (uint32_t)count;
    return loading_fill(simulation->device, &simulation->slab.box, config->precision, first, list);
}

enum status ranks_load(struct simulation *simulation)
{
    if (is_alone(simulation))
        return load_alone(simulation);
    const struct grid box = grid_make(&simulation->config->grid);
    const struct slab everything = slab_whole_box(&box);
    const uint32_t species = simulation->config->species_count;
    simulation->slab = everything;
    for (uint32_t s = 0; s < species; s++) {
        TRY(load_share(simulation, s));
        simulation->capacity[s] = simulation->particles[s].count;
    }
    const uint32_t largest = plan_largest(simulation->config, simulation->capacity);
    TRY(parts_create_sort(simulation, largest > 0 ? largest : 1));
    for (uint32_t s = 0; s < species; s++)
        TRY(parts_sort_list(simulation, simulation->sorter, simulation->permutation,
                            &simulation->particles[s]));
    TRY(device_finish(simulation->device));
    parts_destroy_for_lists(simulation);
    TRY(change_slab(simulation, &everything));
    return choose_capacities(simulation);
}

/* ---- from a checkpoint ---- */

/* Offsets and keys of the slab's local grid, from the counts of own cells. */
static enum status restore_cells(const struct slab *slab, const struct host_list *stored, uint32_t *keys,
                                 struct particles *list)
{
    const size_t own = slab_own_cells(slab), cells = grid_cells(&slab->local);
    uint32_t *offsets = malloc((cells + 1) * sizeof *offsets);
    if (!offsets)
        return status_fail(STATUS_FAILED, "species %s: no memory for its cell offsets", list->species->name);
    uint32_t sum = 0;
    for (size_t cell = 0; cell <= cells; cell++) {
        offsets[cell] = sum;
        for (uint32_t n = 0; cell < own && n < stored->cell_counts[cell]; n++)
            keys[sum++] = (uint32_t)cell;
    }
    const enum status status = buffer_write(list->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets);
    free(offsets);
    return status;
}

static enum status upload(const struct simulation *simulation, const struct host_list *stored,
                          struct particles *list)
{
    const size_t count = (size_t)stored->count, pair = 2 * precision_bytes(simulation->config->precision);
    uint32_t *keys = malloc((count + 1) * sizeof *keys);
    if (!keys)
        return status_fail(STATUS_FAILED, "species %s: no memory for its keys", list->species->name);
    enum status status = restore_cells(&simulation->slab, stored, keys, list);
    if (status == STATUS_OK)
        status = buffer_write(list->key, 0, count * sizeof *keys, keys);
    free(keys);
    TRY(status);
    list->count = (uint32_t)count;
    TRY(buffer_write(list->offset, 0, count * pair, stored->offset));
    TRY(buffer_write(list->velocity, 0, count * pair, stored->velocity));
    return list->id ? buffer_write(list->id, 0, count * sizeof *stored->id, stored->id) : STATUS_OK;
}

/* One list of a species; its room is `capacity`, or what it needs if that is more. */
static enum status restore_list(struct simulation *simulation, struct checkpoint *checkpoint,
                                uint32_t species, enum checkpoint_list which, uint32_t capacity,
                                struct particles *list)
{
    struct host_list stored = {0};
    const struct slab *slab = &simulation->slab;
    TRY(checkpoint_read_list(checkpoint, species, which, slab->first_row, slab->rows, &stored));
    enum status status = STATUS_OK;
    if (stored.count > CONFIG_MAX_PARTICLES)
        status = status_fail(
            STATUS_FAILED, "species %s: %llu particles for one rank; a device holds at most %u",
            species_of(simulation, species)->name, (unsigned long long)stored.count, CONFIG_MAX_PARTICLES);
    if (status == STATUS_OK)
        status = create_list(simulation, species, stored.count > capacity ? (uint32_t)stored.count : capacity,
                             list);
    if (status == STATUS_OK)
        status = upload(simulation, &stored, list);
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
    const enum status status = checkpoint_read_loads(checkpoint, loads);
    if (status == STATUS_OK)
        partition_balance(&simulation->partition, loads);
    free(loads);
    return status;
}

/* After the main lists: on another number of ranks nobody is a guest. */
static enum status restore_as_others(struct simulation *simulation, struct checkpoint *checkpoint)
{
    struct merge *merge = NULL;
    enum status status = merge_create(simulation->device, grid_cells(&simulation->slab.local),
                                      simulation->config->precision, &merge);
    for (uint32_t s = 0; s < simulation->config->species_count && status == STATUS_OK; s++) {
        struct particles guests = {0};
        status = restore_list(simulation, checkpoint, s, CHECKPOINT_GUESTS, 1, &guests);
        if (status == STATUS_OK)
            status = merge_lists(merge, &simulation->particles[s], &guests);
        if (status == STATUS_OK)
            status = device_finish(simulation->device);
        particles_destroy(&guests);
    }
    merge_destroy(&merge);
    TRY(status);
    TRY(choose_capacities(simulation));
    return ranks_create_guests(simulation);
}

enum status ranks_restore(struct simulation *simulation, struct checkpoint *checkpoint)
{
    const bool as_many = checkpoint_partition(checkpoint)->ranks == simulation->communicator.size;
    struct checkpoint_header header;
    TRY(checkpoint_header(checkpoint, as_many ? simulation->communicator.rank : 0, &header));
    TRY(restore_partition(simulation, checkpoint));
    simulation->ghost = as_many ? header.ghost : plan_ghost_rows(simulation->config);
    simulation->slab = slab_of(simulation, simulation->ghost);
    simulation->is_restart = true;
    simulation->step = simulation->first_step = header.step;
    simulation->first_energy = header.first_energy;
    const uint32_t species = simulation->config->species_count;
    for (uint32_t s = 0; s < species; s++)
        TRY(restore_list(simulation, checkpoint, s, CHECKPOINT_MAIN,
                         as_many ? (uint32_t)header.capacity[s] : 0, &simulation->particles[s]));
    if (!as_many)
        return restore_as_others(simulation, checkpoint);
    for (uint32_t s = 0; s < species; s++)
        simulation->capacity[s] = (uint32_t)header.capacity[s];
    if (simulation->decomposition == DECOMPOSITION_AUTO)
        simulation->decomposition = checkpoint_config(checkpoint)->fields.decomposition;
    for (uint32_t s = 0; s < species && !is_alone(simulation); s++) {
        const uint32_t capacity = parts_guest_capacity(simulation);
        TRY(restore_list(simulation, checkpoint, s, CHECKPOINT_GUESTS, capacity, &simulation->guests[s]));
    }
    return STATUS_OK;
}
