/* Push: launches of kernels/push.cl. */
#include "step/push.h"

enum {
    GPU_GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 1, /* one item runs through its chunk: items side by side would each walk all of it */
    GROUPS_PER_UNIT = 8,
    MOST_GROUPS = 1024 /* so that the sums that leave the device are a few KiB */
};

struct push {
    struct stepper_setup setup;
    size_t group_items;
    uint32_t most_groups;
    uint32_t groups[CONFIG_MAX_SPECIES]; /* that have sums */
    struct kernel *step, *step_and_measure, *measure;
    struct buffer *sums; /* real[species_count][most_groups][PUSH_SUMS] */
};

enum status push_create(struct device *device, const struct stepper_setup *setup, struct push **push)
{
    const struct device_info *info = device_info(device);
    const uint64_t groups = (uint64_t)GROUPS_PER_UNIT * info->compute_units;
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *push));
    **push = (struct push){.setup = *setup,
                           .group_items = info->is_cpu ? CPU_GROUP_ITEMS : GPU_GROUP_ITEMS,
                           .most_groups = groups < MOST_GROUPS ? (uint32_t)groups : MOST_GROUPS};
    while ((*push)->group_items > info->group_limit)
        (*push)->group_items /= 2;
    TRY(program_build(device, "push.cl", setup->precision, &program,
                      "-D SHAPE_ORDER=%d -D GHOST_ROWS=%u -D GROUP_ITEMS=%zu -D MAGNETIC=%d",
                      (int)setup->shape, setup->ghost_rows, (*push)->group_items, setup->magnetic != 0));
    TRY(kernel_create(program, "push_step", &(*push)->step));
    TRY(kernel_create(program, "push_step_and_measure", &(*push)->step_and_measure));
    TRY(kernel_create(program, "push_measure", &(*push)->measure));
    return buffer_create(device,
                         (size_t)setup->species_count * (*push)->most_groups * PUSH_SUMS *
                             precision_bytes(setup->precision),
                         "the push's sums", &(*push)->sums);
}

/* How the particles are dealt out to groups. It depends on the device and their number only, so the sums run
 * in the same order every time. */
struct chunks {
    uint32_t groups, chunk; /* group g owns particles [g chunk, (g + 1) chunk) */
};

static struct chunks deal_out(const struct push *push, uint32_t count)
{
    const uint64_t items = push->group_items;
    const uint64_t pieces = (count + items - 1) / items; /* of one particle an item */
    if (pieces == 0)
        return (struct chunks){0, 0};
    const uint64_t pieces_per_group = (pieces + push->most_groups - 1) / push->most_groups;
    return (struct chunks){.groups = (uint32_t)((pieces + pieces_per_group - 1) / pieces_per_group),
                           .chunk = (uint32_t)(pieces_per_group * items)};
}

/* A launch that moves `reals` reals a particle, `words` key words, and reads the field once. */
static struct launch launch_of(const struct push *push, const struct chunks *chunks, uint32_t count,
                               uint64_t reals, uint64_t words)
{
    const uint64_t real_bytes = precision_bytes(push->setup.precision);
    return (struct launch){chunks->groups, push->group_items, STAGE_PUSH,
                           count * (reals * real_bytes + words * sizeof(uint32_t)) +
                               2 * real_bytes * grid_cells(&push->setup.grid)};
}

/* Where the sums of a species begin, in reals. */
static uint32_t first_sum(const struct push *push, uint32_t species)
{
    return species * push->most_groups * PUSH_SUMS;
}

static struct species_motion motion_of(const struct push *push, const struct particles *list)
{
    return species_motion_make(list->species, push->setup.time_step, push->setup.magnetic);
}

/* MOTION_ARGUMENTS of the kernels. */
#define MOTION_ARGUMENTS(setup, fields, motion, list, chunks)                                                \
    arg_buffer((fields)->ex), arg_buffer((fields)->ey), arg_uint((setup)->grid.nx),                          \
        arg_uint((setup)->grid.ny), arg_real((motion).half_kick), arg_real((motion).tangent),                \
        arg_real((motion).sine), arg_real((setup)->time_step / (setup)->grid.dx),                            \
        arg_real((setup)->time_step / (setup)->grid.dy), arg_uint((list)->count), arg_uint((chunks).chunk),  \
        arg_buffer((list)->cell_offsets), arg_buffer((list)->attribute[ATTRIBUTE_OFFSET]),                   \
        arg_buffer((list)->attribute[ATTRIBUTE_VELOCITY])

enum status push_step(struct push *push, const struct fields *fields, uint32_t species, bool measure,
                      struct particles *list, struct buffer *keys)
{
    const struct species_motion motion = motion_of(push, list);
    const struct chunks chunks = deal_out(push, list->count);
    const struct launch launch = launch_of(push, &chunks, list->count, 8, 1);
    if (!measure)
        return KERNEL_LAUNCH(push->step, launch, MOTION_ARGUMENTS(&push->setup, fields, motion, list, chunks),
                             arg_buffer(keys));
    push->groups[species] = chunks.groups;
    return KERNEL_LAUNCH(push->step_and_measure, launch,
                         MOTION_ARGUMENTS(&push->setup, fields, motion, list, chunks), arg_buffer(keys),
                         arg_uint(first_sum(push, species)), arg_buffer(push->sums));
}

enum status push_measure(struct push *push, const struct fields *fields, uint32_t species,
                         const struct particles *list)
{
    const struct species_motion motion = motion_of(push, list);
    const struct chunks chunks = deal_out(push, list->count);
    push->groups[species] = chunks.groups;
    return KERNEL_LAUNCH(push->measure, launch_of(push, &chunks, list->count, 4, 0),
                         MOTION_ARGUMENTS(&push->setup, fields, motion, list, chunks),
                         arg_uint(first_sum(push, species)), arg_buffer(push->sums));
}

enum status push_read_sums(struct push *push, uint32_t species, const struct particles *list,
                           struct push_sums *sums)
{
    const struct species_motion motion = motion_of(push, list);
    return push_sums_read(push->sums, push->setup.precision, first_sum(push, species), push->groups[species],
                          list, &motion, sums);
}
