/* Push: launches of kernels/push.cl. */
#include "step/push.h"

#include "step/stepper_internal.h"

enum {
    GPU_GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 1, /* one item runs through its chunk: items side by side would each walk all of it */
    GROUPS_PER_UNIT = 8,
    MOST_GROUPS = 1024 /* so that the sums that leave the device are a few KiB */
};

enum status push_create(struct stepper *stepper, struct push *push)
{
    const struct stepper_setup *setup = &stepper->setup;
    const struct device_info *info = device_info(stepper->device);
    const uint64_t groups = (uint64_t)GROUPS_PER_UNIT * info->compute_units;
    struct program *program = NULL;
    push->group_items = info->is_cpu ? CPU_GROUP_ITEMS : GPU_GROUP_ITEMS;
    while (push->group_items > info->group_limit)
        push->group_items /= 2;
    TRY(program_build(stepper->device, "push.cl", setup->precision, &program,
                      "-D SHAPE_ORDER=%d -D GHOST_ROWS=%u -D GROUP_ITEMS=%zu -D MAGNETIC=%d",
                      (int)setup->shape, setup->ghost_rows, push->group_items, setup->magnetic != 0));
    TRY(kernel_create(program, "push_step", &push->step));
    TRY(kernel_create(program, "push_step_and_measure", &push->step_and_measure));
    TRY(kernel_create(program, "push_measure", &push->measure));
    return stepper_create_sums(stepper, groups < MOST_GROUPS ? (uint32_t)groups : MOST_GROUPS);
}

/* How the particles are dealt out to groups. It depends on the device and their number only, so the sums run
 * in the same order every time. */
struct chunks {
    uint32_t groups, chunk; /* group g owns particles [g chunk, (g + 1) chunk) */
};

static struct chunks deal_out(const struct push *push, uint32_t most_groups, uint32_t count)
{
    const uint64_t items = push->group_items;
    const uint64_t pieces = (count + items - 1) / items; /* of one particle an item */
    if (pieces == 0)
        return (struct chunks){0, 0};
    const uint64_t pieces_per_group = (pieces + most_groups - 1) / most_groups;
    return (struct chunks){.groups = (uint32_t)((pieces + pieces_per_group - 1) / pieces_per_group),
                           .chunk = (uint32_t)(pieces_per_group * items)};
}

/* A launch that moves `reals` reals a particle, `words` key words, and reads the field once. */
static struct launch launch_of(const struct push *push, const struct stepper *stepper, uint32_t groups,
                               uint32_t count, uint64_t reals, uint64_t words)
{
    const uint64_t real_bytes = precision_bytes(stepper->setup.precision);
    return (struct launch){groups, push->group_items, STAGE_PUSH,
                           count * (reals * real_bytes + words * sizeof(uint32_t)) +
                               2 * real_bytes * grid_cells(&stepper->setup.grid)};
}

/* MOTION_ARGUMENTS and LIST_ARGUMENTS of the kernels. */
#define PUSH_ARGUMENTS                                                                                       \
    MOTION_ARGUMENTS(&stepper->setup, fields, motion), arg_uint(list->count), arg_uint(chunks.chunk),        \
        arg_buffer(list->cell_offsets), arg_buffer(list->attribute[ATTRIBUTE_OFFSET]),                       \
        arg_buffer(list->attribute[ATTRIBUTE_VELOCITY])

enum status push_step(struct push *push, struct stepper *stepper, const struct fields *fields,
                      uint32_t species, bool measure, struct particles *list, struct buffer *keys)
{
    const struct species_motion motion = species_motion_make(list->species, &stepper->setup);
    const struct chunks chunks = deal_out(push, stepper->most_groups, list->count);
    const struct launch launch = launch_of(push, stepper, chunks.groups, list->count, 8, 1);
    if (!measure)
        return KERNEL_LAUNCH(push->step, launch, PUSH_ARGUMENTS, arg_buffer(keys));
    stepper->groups[species] = chunks.groups;
    return KERNEL_LAUNCH(push->step_and_measure, launch, PUSH_ARGUMENTS, arg_buffer(keys),
                         arg_uint(stepper_first_sum(stepper, species)), arg_buffer(stepper->sums));
}

enum status push_measure(struct push *push, struct stepper *stepper, const struct fields *fields,
                         uint32_t species, const struct particles *list)
{
    const struct species_motion motion = species_motion_make(list->species, &stepper->setup);
    const struct chunks chunks = deal_out(push, stepper->most_groups, list->count);
    stepper->groups[species] = chunks.groups;
    return KERNEL_LAUNCH(push->measure, launch_of(push, stepper, chunks.groups, list->count, 4, 0),
                         PUSH_ARGUMENTS, arg_uint(stepper_first_sum(stepper, species)),
                         arg_buffer(stepper->sums));
}
