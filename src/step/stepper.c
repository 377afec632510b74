/* Stepper: the table, and what its rows share. */
#include "step/gaps.h"
#include "step/stepper_internal.h"

/* The row that a method names; `auto` and `fused` that of the device. */
static const struct stepper_kind *named(enum step_method method, const struct device_info *info)
{
    switch (method) {
    case STEP_RADIX:
        return &radix_step;
    case STEP_TILED:
        return &tiled_step;
    case STEP_CHUNKED:
        return &chunked_step;
    case STEP_AUTO:
    case STEP_FUSED:
        break;
    }
    return info->is_cpu ? &chunked_step : &tiled_step;
}

enum status stepper_choose(enum step_method method, const struct device_info *info,
                           const struct stepper_setup *setup, const struct stepper_kind **kind)
{
    const char *why = "";
    *kind = named(method, info);
    if (!(*kind)->fits || (*kind)->fits(info, setup, &why))
        return STATUS_OK;
    if (method == STEP_TILED)
        return status_fail(STATUS_USAGE,
                           "step.method: %s cannot take the %s step on %ux%u cells: %s; radix fits",
                           info->name, (*kind)->name, setup->grid.nx, setup->grid.ny, why);
    *kind = &radix_step;
    return STATUS_OK;
}

void stepper_explain(enum step_method method, const struct device_info *info,
                     const struct stepper_setup *setup, char why[static STEPPER_WHY_LENGTH])
{
    const struct stepper_kind *asked = named(method, info), *kind = NULL;
    const bool is_replaced =
        asked == &tiled_step && stepper_choose(STEP_TILED, info, setup, &kind) != STATUS_OK;
    snprintf(why, STEPPER_WHY_LENGTH, "%s", is_replaced ? status_message() : "");
}

enum particle_layout stepper_layout(enum step_method method, const struct device_info *info)
{
    return named(method, info)->layout[info->is_cpu];
}

enum status stepper_create(struct device *device, const struct stepper_kind *kind,
                           const struct stepper_setup *setup, struct stepper *stepper)
{
    const size_t word = sizeof(uint32_t);
    *stepper = (struct stepper){.kind = kind, .device = device, .setup = *setup};
    TRY(buffer_create(device, (grid_cells(&setup->grid) + (size_t)1) * word, "spare cell offsets",
                      &stepper->new_offsets));
    stepper->no_gaps = (struct arrival_gaps){0, stepper->new_offsets, stepper->new_offsets};
    if (setup->leaves_gaps) {
        void *memory = NULL;
        TRY(host_memory_create(device, (stepper_cells_beside(setup) + (size_t)1) * word, &memory));
        stepper->leavers = memory;
    }
    TRY(kind->create(stepper));
    return setup->leaves_gaps && !kind->leavers
               ? gaps_create(device, &setup->grid, setup->capacity, &stepper->gaps)
               : STATUS_OK;
}

enum status stepper_list_changed(struct stepper *stepper, uint32_t species, struct particles *list)
{
    if (list->count > stepper->setup.capacity)
        return status_fail(STATUS_FAILED,
                           "species %s: %u particles have come together where the step has room for %u; "
                           "spread them more evenly, or take fewer",
                           list->species->name, list->count, stepper->setup.capacity);
    return stepper->kind->list_changed ? stepper->kind->list_changed(stepper, species, list) : STATUS_OK;
}

/* ---- the start ---- */

/* On a branch, which lasts for this launch. */
static enum status launch_start(struct device *branch, const struct stepper_setup *setup,
                                const struct fields *fields, struct particles *list)
{
    const struct pusher pusher = species_pusher(list->species, setup);
    struct program *program = NULL;
    struct kernel *kernel = NULL;
    TRY(program_build(branch, "start.cl", setup->precision, &program,
                      "-D SHAPE_ORDER=%d -D VELOCITIES=%u -D FELT=%u -D ELECTROMAGNETIC=%d -D PUSHER=%d",
                      (int)setup->shape, species_dimensions(list->species), setup->felt,
                      is_electromagnetic(setup), (int)setup->pusher));
    TRY(kernel_create(program, "start_velocities", &kernel));
    TRY(KERNEL_LAUNCH(kernel, launch_flat(list->count, STAGE_PUSH, 2 * state_bytes(list) * list->count),
                      fields->felt, fields->stride, setup->grid.nx, setup->grid.ny, list->count,
                      list->cell_offsets, list->attribute[ATTRIBUTE_OFFSET],
                      list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
                      particles_first(list, ATTRIBUTE_VELOCITY), particles_w(list), arg_pusher(&pusher)));
    return device_finish(branch);
}

enum status stepper_start(struct stepper *stepper, const struct fields *fields, struct particles *list)
{
    struct device *branch = NULL;
    TRY(device_branch(stepper->device, &branch));
    return device_close_after(&branch, launch_start(branch, &stepper->setup, fields, list));
}

/* ---- leavers and the move ---- */

enum status stepper_leavers(struct stepper *stepper, uint32_t species, const struct particles *list)
{
    const uint32_t beside = stepper_cells_beside(&stepper->setup);
    const size_t own = grid_cells(&stepper->setup.grid) - beside, word = sizeof(uint32_t);
    if (stepper->kind->leavers)
        return stepper->kind->leavers(stepper, species, list);
    TRY(buffer_read(stepper->new_offsets, own * word, (beside + (size_t)1) * word, stepper->leavers));
    for (uint32_t cell = 0; cell < beside; cell++)
        stepper->leavers[cell] = stepper->leavers[cell + 1] - stepper->leavers[cell];
    return STATUS_OK;
}

enum status stepper_move(struct stepper *stepper, const struct fields *fields, uint32_t species,
                         const struct arrival_gaps *gaps, struct particles *list)
{
    if (stepper->gaps && gaps->count > 0)
        TRY(gaps_open(stepper->gaps, gaps, list->count, stepper->new_offsets, stepper->origin));
    else if (stepper->setup.carries && gaps->count > 0) /* the places of arrivals have no old one */
        TRY(buffer_fill(stepper->origin, 0));
    TRY(stepper->kind->move(stepper, fields, species, gaps, list));
    buffer_swap(list->cell_offsets, stepper->new_offsets);
    return stepper->setup.leaves_gaps && !stepper->kind->forks ? device_fork(stepper->device) : STATUS_OK;
}

/* ---- sums ---- */

/* Reals that one species has in a slot; with w as soon as any species has it. */
static uint32_t species_reals(const struct stepper *stepper)
{
    return stepper->most_groups * push_sum_count(&stepper->setup, stepper->setup.sorts[true] ? 3 : 2);
}

static size_t slot_reals(const struct stepper *stepper)
{
    return (size_t)stepper->setup.species_count * species_reals(stepper);
}

enum status stepper_create_sums(struct stepper *stepper, uint32_t most_groups)
{
    stepper->most_groups = most_groups;
    const size_t numbers = SUM_SLOTS * slot_reals(stepper);
    TRY(DEVICE_NEW_ARRAY(stepper->device, stepper->read_sums, numbers));
    return buffer_create(stepper->device, numbers * precision_bytes(stepper->setup.precision),
                         "the push's sums", &stepper->sums);
}

uint32_t stepper_first_sum(const struct stepper *stepper, uint32_t slot, uint32_t species)
{
    return (slot * stepper->setup.species_count + species) * species_reals(stepper);
}

enum status stepper_read_sums(struct stepper *stepper, uint32_t first, uint32_t count)
{
    const size_t numbers = slot_reals(stepper);
    return buffer_read_reals(stepper->sums, stepper->setup.precision, first * numbers, count * numbers,
                             stepper->read_sums + first * numbers);
}

struct push_sums stepper_sums(const struct stepper *stepper, uint32_t slot, uint32_t species,
                              const struct particles *list)
{
    const double *sums = stepper->read_sums + stepper_first_sum(stepper, slot, species);
    const struct species_config *own = list->species;
    const uint32_t dimensions = species_dimensions(own), count = push_sum_count(&stepper->setup, dimensions);
    double added[MOST_PUSH_SUMS] = {0};
    for (uint32_t n = 0; n < stepper->groups[slot][species] * count; n++)
        added[n % count] += sums[n];
    const double mass = list->weight * own->mass; /* of a macro-particle */
    const double kick = 0.5 * stepper->setup.time_step * list->weight * own->charge;
    const double *work = added + 1 + dimensions; /* zeros, where there are no such sums */
    return (struct push_sums){
        .kinetic_energy = 0.5 * mass * added[0],
        .momentum = {mass * added[1], mass * added[2], dimensions > 2 ? mass * added[3] : 0},
        .work = {kick * work[0], kick * work[1]},
    };
}

/* ---- carried attributes ---- */

enum status stepper_create_origin(struct stepper *stepper, struct buffer *any)
{
    stepper->origin = any;
    if (!stepper->setup.carries)
        return STATUS_OK;
    TRY(permute_create(stepper->device, &stepper->permute));
    return buffer_create(stepper->device, stepper->setup.capacity * sizeof(uint32_t),
                         "the old places of particles", &stepper->origin);
}

enum status stepper_move_carried(struct stepper *stepper, uint32_t count, struct particles *list)
{
    if (!stepper->setup.carries)
        return STATUS_OK;
    return permute_attributes(stepper->permute, stepper->origin, count, ATTRIBUTE_W + 1, list);
}
