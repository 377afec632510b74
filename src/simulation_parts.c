/* Simulation parts: what is built for the grid, what for the lists, and the change from plain to fused. */
#include "simulation_parts.h"

#include "simulation_plan.h"

/* ---- for the grid ---- */

enum status parts_create_for_grid(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    struct device *device = NULL;
    const struct slab *slab = &simulation->slab;
    TRY(device_branch(simulation->device, &simulation->grid_parts));
    device = simulation->grid_parts;
    const struct field_place place = {device, &simulation->communicator, &simulation->partition, slab};
    /* Once measured, the way of solving the field stays. */
    const enum decomposition_kind decomposition = simulation->decomposition != DECOMPOSITION_AUTO
                                                      ? simulation->decomposition
                                                      : config->fields.decomposition;
    TRY(fields_create(device, &slab->local, config->precision, &simulation->fields));
    TRY(buffer_fill(simulation->fields.e, 0)); /* nobody sets the rows far from the own ones */
    TRY(field_solver_create(&place, config, decomposition, &simulation->field_solver));
    simulation->decomposition = field_solver_decomposition(simulation->field_solver);
    struct grid own = slab->local;
    own.nx = slab->rows;
    TRY(energy_create(device, &own, config->precision, &simulation->energy));
    if (simulation->communicator.size == 1)
        return STATUS_OK;
    return merge_create(device, grid_cells(&slab->local), config->precision, &simulation->merge);
}

void parts_destroy_for_grid(struct simulation *simulation)
{
    energy_destroy(&simulation->energy);
    merge_destroy(&simulation->merge);
    device_close(&simulation->grid_parts);
}

/* ---- for the lists ---- */

uint32_t parts_guest_limit(const struct simulation *simulation, uint32_t species)
{
    enum {
        LEAST = 1024,
        SHARE = 256
    }; /* few, so that their own step is short; not so few that merging is often */
    const uint32_t share = simulation->capacity[species] / SHARE;
    return share > LEAST ? share : LEAST;
}

uint32_t parts_guest_capacity(const struct simulation *simulation)
{
    uint32_t limits[CONFIG_MAX_SPECIES];
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        limits[s] = parts_guest_limit(simulation, s);
    return 2 * plan_largest(simulation->config, limits); /* as many again may come in a step */
}

static enum status create_sort(struct simulation *simulation, uint32_t capacity)
{
    struct device *device = simulation->device;
    TRY(sorter_plan_make(device_info(device), &simulation->config->sort,
                         grid_key_bits(&simulation->slab.local), capacity, &simulation->plan));
    TRY(buffer_create(device, capacity * sizeof(uint32_t), "the sort's permutation",
                      &simulation->permutation));
    return sorter_create(device, &simulation->plan, capacity, &simulation->sorter);
}

static void destroy_sort(struct simulation *simulation)
{
    buffer_destroy(&simulation->permutation);
    sorter_destroy(&simulation->sorter);
}

static enum status create_push(const struct simulation *simulation, struct push **push)
{
    const struct config *config = simulation->config;
    return push_create(simulation->device, &simulation->slab.local, config->precision, config->deposit.shape,
                       config->time.step, config->fields.magnetic, config->species_count, push);
}

/* Guests are few, and their order is near to random. A GPU sorts such a list fastest by the paper's method
 * with short digits: many groups, none of which has much to do. */
static enum status create_guest_sort(struct simulation *simulation)
{
    enum { DIGIT_BITS = 5 };
    struct device *device = simulation->device;
    const struct device_info *info = device_info(device);
    const uint32_t capacity = parts_guest_capacity(simulation), bits = grid_key_bits(&simulation->slab.local);
    const struct sort_choice choice = {.config = {.method = SORT_METHOD_PAPER,
                                                  .passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS,
                                                  .key_bits = bits}};
    struct sorter_plan plan;
    TRY(info->is_cpu ? sorter_plan_default(info, &simulation->config->sort, bits, capacity, &plan)
                     : sorter_plan_choose(info, &choice, capacity / 4 /* as many as mostly */, &plan));
    TRY(buffer_create(device, capacity * sizeof(uint32_t), "the permutation of guests",
                      &simulation->guest_permutation));
    TRY(sorter_create(device, &plan, capacity, &simulation->guest_sorter));
    return create_push(simulation, &simulation->guest_push);
}

enum status parts_create_sort(struct simulation *simulation, uint32_t capacity)
{
    const enum precision precision = simulation->config->precision;
    struct device *device = simulation->device;
    TRY(cell_key_create(device, &simulation->slab.local, simulation->slab.ghost, precision,
                        &simulation->cell_key));
    TRY(permute_create(device, precision, &simulation->permute));
    return capacity > 0 ? create_sort(simulation, capacity) : STATUS_OK;
}

enum status parts_sort_list(struct simulation *simulation, struct sorter *sorter, struct buffer *permutation,
                            struct particles *list)
{
    const struct radix_lists lists = {
        .keys = list->key,
        .sorted_keys = list->key_spare,
        .permutation = permutation,
        .cell_offsets = list->cell_offsets,
        .cells = grid_cells(&simulation->slab.local),
    };
    if (list->count == 0)
        return STATUS_OK;
    TRY(sorter_run(sorter, list->count, &lists));
    buffer_swap(list->key, list->key_spare);
    return permute_apply(simulation->permute, permutation, list);
}

static enum status choose_step(struct simulation *simulation, const struct advance_setup *setup)
{
    const struct config *config = simulation->config;
    const struct device_info *info = device_info(simulation->device);
    const bool goes_on = simulation->is_restart || simulation->may_go_plain;
    simulation->may_go_plain = simulation->communicator.size > 1;
    if (!simulation->may_go_plain || !goes_on)
        return plan_step(config, info, setup, &simulation->advance_kind);
    simulation->advance_kind = plan_kind(config, info, setup);
    return STATUS_OK;
}

/* Key arrays for a main list in order, and the keys of its cells. */
static enum status give_keys(const struct simulation *simulation, struct particles *list)
{
    struct device *device = simulation->device;
    const size_t bytes = list->capacity * sizeof(uint32_t);
    struct particles nobody = {0};
    TRY(buffer_create(device, bytes, "particle keys", &list->key));
    TRY(buffer_create(device, bytes, "spare particle keys", &list->key_spare));
    enum status status = particles_create_list(device, &simulation->slab, simulation->config->precision,
                                               list->species, 1, &nobody);
    if (status == STATUS_OK)
        status = merge_lists(simulation->merge, list, &nobody); /* which sets them */
    if (status == STATUS_OK)
        status = device_finish(device);
    particles_destroy(&nobody);
    return status;
}

/* The way back from parts_hand_over(), on one of several ranks, at a time when all particles are in the cells
 * of their offsets. The lists are in pairs: only the tiled step does without some grids. */
static enum status take_back(struct simulation *simulation, uint32_t capacity)
{
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(give_keys(simulation, &simulation->particles[s]));
    simulation->is_handed_over = false;
    if (simulation->log)
        log_line(simulation->log, LOG_NORMAL,
                 "step %llu: %s has no fused step for the %u rows of %u cells and the particles that came to "
                 "rank %d; it takes plain steps until it has",
                 (unsigned long long)simulation->step, device_info(simulation->device)->name,
                 simulation->slab.rows, simulation->slab.box.ny, simulation->communicator.rank);
    return create_sort(simulation, capacity);
}

static enum status create_advance(struct simulation *simulation, uint32_t capacity)
{
    const struct config *config = simulation->config;
    struct advance_setup setup =
        plan_advance(config, &simulation->slab, simulation->communicator.size, capacity);
    setup.leaves_room = simulation->crossing != NULL;
    TRY(choose_step(simulation, &setup));
    if (simulation->advance_kind == ADVANCE_NONE)
        return simulation->is_handed_over ? take_back(simulation, capacity) : STATUS_OK;
    TRY(advance_create(simulation->device, simulation->advance_kind, &setup, &simulation->advance));
    if (!simulation->is_handed_over)
        return STATUS_OK;
    for (uint32_t s = 0; s < config->species_count; s++)
        TRY(advance_take_over(simulation->advance, s, &simulation->particles[s]));
    return STATUS_OK;
}

enum status parts_create_for_lists(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    const uint32_t capacity = plan_largest(config, simulation->capacity);
    TRY(parts_create_sort(simulation, simulation->is_handed_over ? 0 : capacity));
    TRY(device_branch(simulation->device, &simulation->list_parts));
    TRY(deposit_create(simulation->list_parts, &simulation->slab.local, config->precision, &config->deposit,
                       capacity, &simulation->deposit));
    deposit_within(simulation->deposit, slab_own_cells(&simulation->slab));
    TRY(create_advance(simulation, capacity));
    TRY(create_push(simulation, &simulation->push));
    return simulation->communicator.size > 1 ? create_guest_sort(simulation) : STATUS_OK;
}

void parts_destroy_for_lists(struct simulation *simulation)
{
    destroy_sort(simulation);
    cell_key_destroy(&simulation->cell_key);
    permute_destroy(&simulation->permute);
    buffer_destroy(&simulation->guest_permutation);
    sorter_destroy(&simulation->guest_sorter);
    push_destroy(&simulation->guest_push);
    advance_destroy(&simulation->advance);
    device_close(&simulation->list_parts);
    push_destroy(&simulation->push);
}

enum status parts_hand_over(struct simulation *simulation)
{
    if (!simulation->advance || simulation->is_handed_over)
        return STATUS_OK;
    destroy_sort(simulation);
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        buffer_destroy(&simulation->particles[s].key);
        buffer_destroy(&simulation->particles[s].key_spare);
    }
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(advance_take_over(simulation->advance, s, &simulation->particles[s]));
    simulation->is_handed_over = true;
    return STATUS_OK;
}
