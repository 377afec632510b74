/* Simulation parts: what is built for the grid, what for the lists, and the change from plain to fused. */
#include "simulation_parts.h"

#include "simulation_plan.h"

/* ---- for the grid ---- */

enum status parts_create_for_grid(struct simulation *simulation)
{
    const struct config *config = simulation->config;
    struct device *device = simulation->device;
    const struct slab *slab = &simulation->slab;
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
    field_solver_destroy(&simulation->field_solver);
    fields_destroy(&simulation->fields);
    energy_destroy(&simulation->energy);
    merge_destroy(&simulation->merge);
}

/* ---- for the lists ---- */

uint32_t parts_guest_limit(const struct simulation *simulation, uint32_t species)
{
    enum { LEAST = 1024, SHARE = 64 };
    const uint32_t share = simulation->capacity[species] / SHARE;
    return share > LEAST ? share : LEAST;
}

static uint32_t largest_guest_limit(const struct simulation *simulation)
{
    uint32_t limits[CONFIG_MAX_SPECIES];
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        limits[s] = parts_guest_limit(simulation, s);
    return plan_largest(simulation->config, limits);
}

enum status parts_create_sort(struct simulation *simulation, uint32_t capacity)
{
    const struct config *config = simulation->config;
    struct device *device = simulation->device;
    const struct grid *grid = &simulation->slab.local;
    TRY(sorter_plan_make(device_info(device), &config->sort, grid_key_bits(grid), capacity,
                         &simulation->plan));
    TRY(buffer_create(device, capacity * sizeof(uint32_t), "the sort's permutation",
                      &simulation->permutation));
    TRY(cell_key_create(device, grid, simulation->slab.guard, config->precision, &simulation->cell_key));
    TRY(sorter_create(device, &simulation->plan, capacity, &simulation->sorter));
    return permute_create(device, config->precision, &simulation->permute);
}

void parts_destroy_sort(struct simulation *simulation)
{
    buffer_destroy(&simulation->permutation);
    cell_key_destroy(&simulation->cell_key);
    sorter_destroy(&simulation->sorter);
    permute_destroy(&simulation->permute);
}

static enum status create_push(const struct simulation *simulation, struct push **push)
{
    const struct config *config = simulation->config;
    return push_create(simulation->device, &simulation->slab.local, config->precision, config->deposit.shape,
                       config->time.step, config->fields.magnetic, config->species_count, push);
}

static enum status create_advance(struct simulation *simulation, uint32_t capacity)
{
    const struct config *config = simulation->config;
    const struct advance_setup setup =
        plan_advance(config, &simulation->slab, simulation->communicator.size, capacity);
    TRY(plan_step(config, device_info(simulation->device), &setup, &simulation->advance_kind));
    if (simulation->advance_kind == ADVANCE_NONE)
        return STATUS_OK;
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
    const uint32_t guests = largest_guest_limit(simulation);
    TRY(parts_create_sort(simulation, simulation->is_handed_over ? guests
                                      : capacity > guests        ? capacity
                                                                 : guests));
    TRY(deposit_create(simulation->device, &simulation->slab.local, config->precision, config->deposit.shape,
                       capacity, &simulation->deposit));
    TRY(create_advance(simulation, capacity));
    TRY(create_push(simulation, &simulation->push));
    return simulation->communicator.size > 1 ? create_push(simulation, &simulation->guest_push) : STATUS_OK;
}

void parts_destroy_for_lists(struct simulation *simulation)
{
    parts_destroy_sort(simulation);
    advance_destroy(&simulation->advance);
    deposit_destroy(&simulation->deposit);
    push_destroy(&simulation->push);
    push_destroy(&simulation->guest_push);
}

enum status parts_hand_over(struct simulation *simulation)
{
    if (!simulation->advance || simulation->is_handed_over)
        return STATUS_OK;
    parts_destroy_sort(simulation);
    for (uint32_t s = 0; s < simulation->config->species_count; s++) {
        buffer_destroy(&simulation->particles[s].key);
        buffer_destroy(&simulation->particles[s].key_spare);
    }
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        TRY(advance_take_over(simulation->advance, s, &simulation->particles[s]));
    simulation->is_handed_over = true;
    return simulation->communicator.size > 1 ? parts_create_sort(simulation, largest_guest_limit(simulation))
                                             : STATUS_OK;
}
