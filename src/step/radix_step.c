/* Radix step: the textbook. Each particle is pushed in place and gets the short key of its new cell; the
 * radix sort turns the keys into the permutation that sorts them and the offsets of the cells; and permute
 * brings the particles into that order:
 *
 *   push     v n-1/2 -> n+1/2, x n -> n+1; key = ny i + j of the new cell (launches of kernels/push.cl)
 *   sort     sorted[j] = original[sigma(j)], by P. Helluy's radix sort in p passes, or a faster method
 *   permute  every attribute in the new order
 */
#include "base/integers.h"
#include "step/stepper_internal.h"

enum {
    GPU_GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 1, /* one item runs through its chunk: items side by side would each walk all of it */
    GROUPS_PER_UNIT = 8,
    MOST_GROUPS = 1024 /* so that the sums that leave the device are a few KiB */
};

enum push { PUSH, PUSH_AND_MEASURE, MEASURE, PUSHES };

struct radix_step {
    size_t group_items;             /* of the push */
    struct kernel *push[2][PUSHES]; /* of species without w, and with it */
    struct sorter *sorter;
    struct buffer *keys; /* uint[capacity]: the cell at n+1 of the particles in the order of n */
};

static enum status create_kernels(struct stepper *stepper, bool has_w, struct radix_step *step)
{
    static const char *const names[PUSHES] = {"push_step", "push_step_and_measure", "push_measure"};
    const struct stepper_setup *setup = &stepper->setup;
    struct program *program = NULL;
    TRY(program_build(stepper->device, "push.cl", setup->precision, &program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu -D LANES=%d -D MAGNETIC=%d "
                      "-D VELOCITIES=%d -D FELT=%u -D ELECTROMAGNETIC=%d -D DITHERS=%d -D WEIGHTS=%d -D "
                      "WORK=%d -D PUSHER=%d",
                      (int)setup->shape, step->group_items, setup->layout == LAYOUT_AOS ? CPU_LANES : 1,
                      is_magnetic(setup), 2 + has_w, setup->felt, is_electromagnetic(setup), dithers(setup),
                      setup->weighs, setup->sums_work, (int)setup->pusher));
    for (int n = 0; n < PUSHES; n++)
        TRY(kernel_create(program, names[n], &step->push[has_w][n]));
    return STATUS_OK;
}

static enum status create_push(struct stepper *stepper, struct radix_step *step)
{
    const struct device_info *info = device_info(stepper->device);
    const uint64_t groups = (uint64_t)GROUPS_PER_UNIT * info->compute_units;
    step->group_items = info->is_cpu ? CPU_GROUP_ITEMS : GPU_GROUP_ITEMS;
    while (step->group_items > info->group_limit)
        step->group_items /= 2;
    for (int has_w = 0; has_w < 2; has_w++)
        if (stepper->setup.sorts[has_w])
            TRY(create_kernels(stepper, has_w, step));
    return stepper_create_sums(stepper, at_most(groups, MOST_GROUPS));
}

static enum status create(struct stepper *stepper)
{
    struct device *device = stepper->device;
    const struct stepper_setup *setup = &stepper->setup;
    const size_t bytes = setup->capacity * sizeof(uint32_t);
    struct radix_step *step = NULL;
    TRY(DEVICE_NEW(device, step));
    stepper->own = step;
    TRY(create_push(stepper, step));
    TRY(sorter_create(device, &setup->sort, setup->capacity, &step->sorter));
    TRY(permute_create(device, &stepper->permute));
    TRY(buffer_create(device, bytes, "particle keys", &step->keys));
    return buffer_create(device, bytes, "the sort's permutation", &stepper->origin);
}

/* One of the three kernels. Group g owns the particles [g chunk, (g + 1) chunk): the sums run in the same
 * order every time, on the same device. */
static enum status launch_push(struct stepper *stepper, enum push push, const struct fields *fields,
                               uint32_t species, const struct particles *list)
{
    const struct radix_step *step = stepper->own;
    const struct stepper_setup *setup = &stepper->setup;
    const struct pusher pusher = species_pusher(list->species, setup);
    const uint32_t chunk = round_up(divide_up(list->count, stepper->most_groups),
                                    at_least((uint32_t)step->group_items, CPU_LANES));
    const uint32_t groups = chunk > 0 ? divide_up(list->count, chunk) : 0;
    const uint64_t each = push == MEASURE ? state_bytes(list) : 2 * state_bytes(list) + sizeof(uint32_t);
    const uint64_t field_bytes = 2 * precision_bytes(setup->precision) * (uint64_t)grid_cells(&setup->grid);
    if (push != PUSH)
        stepper->groups[stepper->slot][species] = groups;
    return KERNEL_LAUNCH(
        step->push[species_has_w(list->species)][push],
        ((struct launch){groups, step->group_items, STAGE_PUSH, list->count * each + field_bytes}),
        MOTION_ARGUMENTS(stepper, fields, &pusher), list->count, chunk, list->cell_offsets,
        list->attribute[ATTRIBUTE_OFFSET], list->attribute[ATTRIBUTE_VELOCITY], particles_w(list), step->keys,
        stepper_first_sum(stepper, stepper->slot, species), stepper->sums, SUM_ARGUMENTS(fields, list));
}

static enum status count(struct stepper *stepper, const struct fields *fields, uint32_t species, bool measure,
                         struct particles *list)
{
    struct radix_step *step = stepper->own;
    const struct radix_lists lists = {.keys = step->keys,
                                      .permutation = stepper->origin, /* sigma */
                                      .cell_offsets = stepper->new_offsets,
                                      .cells = grid_cells(&stepper->setup.grid)};
    TRY(launch_push(stepper, measure ? PUSH_AND_MEASURE : PUSH, fields, species, list));
    return sorter_run(step->sorter, list->count, &lists);
}

static enum status move(struct stepper *stepper, const struct fields *fields, uint32_t species,
                        const struct arrival_gaps *gaps, struct particles *list)
{
    (void)fields;
    (void)species;
    return permute_apply(stepper->permute, stepper->origin, list->count + gaps->count, list);
}

static enum status measure(struct stepper *stepper, const struct fields *fields, uint32_t species,
                           struct particles *list)
{
    return launch_push(stepper, MEASURE, fields, species, list);
}

const struct stepper_kind radix_step = {
    .name = "radix",
    .summary = "radix: push, radix sort of the short keys, permute, a kernel a stage",
    .layout = {LAYOUT_SOA, LAYOUT_AOS},
    .create = create,
    .count = count,
    .move = move,
    .measure = measure,
};
