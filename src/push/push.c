/* Push: launches of kernels/push.cl. */
#include "push/push.h"

#include <stdlib.h>

enum {
    GPU_GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 1, /* one item runs through its chunk: items side by side would each walk all of it */
    GROUPS_PER_UNIT = 8,
    MOST_GROUPS = 1024 /* so that the sums that leave the device are a few KiB */
};

struct push {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    double time_step, magnetic;
    uint32_t species_count;
    size_t group_items;
    uint32_t most_groups;
    struct program *program;
    struct kernel *start, *step, *measure;
    struct buffer *sums; /* real[species_count][most_groups][PUSH_SUMS] */
};

static struct species_motion motion_of(const struct push *push, const struct particles *particles)
{
    return species_motion_make(particles->species, push->time_step, push->magnetic);
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

static enum status build(struct push *push, enum shape_kind shape)
{
    TRY(program_build(push->device, "push.cl", push->precision, &push->program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu", (int)shape, push->group_items));
    TRY(kernel_create(push->program, "push_start", &push->start));
    TRY(kernel_create(push->program, "push_step", &push->step));
    TRY(kernel_create(push->program, "push_measure", &push->measure));
    return buffer_create(push->device,
                         (size_t)push->species_count * push->most_groups * PUSH_SUMS *
                             precision_bytes(push->precision),
                         "the push's sums", &push->sums);
}

enum status push_create(struct device *device, const struct grid *grid, enum precision precision,
                        enum shape_kind shape, double time_step, double magnetic, uint32_t species_count,
                        struct push **push)
{
    *push = NULL;
    struct push *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the push");
    const struct device_info *info = device_info(device);
    *created = (struct push){.device = device,
                             .grid = *grid,
                             .precision = precision,
                             .time_step = time_step,
                             .magnetic = magnetic,
                             .species_count = species_count,
                             .group_items = info->is_cpu ? CPU_GROUP_ITEMS : GPU_GROUP_ITEMS};
    while (created->group_items > info->group_limit)
        created->group_items /= 2;
    const uint64_t groups = (uint64_t)GROUPS_PER_UNIT * info->compute_units;
    created->most_groups = groups < MOST_GROUPS ? (uint32_t)groups : MOST_GROUPS;
    const enum status status = build(created, shape);
    if (status != STATUS_OK)
        push_destroy(&created);
    *push = created;
    return status;
}

void push_destroy(struct push **push)
{
    if (!*push)
        return;
    buffer_destroy(&(*push)->sums);
    kernel_destroy(&(*push)->measure);
    kernel_destroy(&(*push)->step);
    kernel_destroy(&(*push)->start);
    program_destroy(&(*push)->program);
    free(*push);
    *push = NULL;
}

/* Bytes that a pass over the particles must move: `reals_per_particle` reals and the key of each, and the
 * field once. */
static uint64_t pass_bytes(const struct push *push, uint32_t count, uint64_t reals_per_particle)
{
    const uint64_t real_bytes = precision_bytes(push->precision);
    return count * (reals_per_particle * real_bytes + sizeof(uint32_t)) +
           2 * real_bytes * grid_cells(&push->grid);
}

enum status push_start(struct push *push, const struct fields *fields, struct particles *particles)
{
    const struct species_motion motion = motion_of(push, particles);
    return KERNEL_LAUNCH(push->start,
                         launch_covering(particles->count, push->group_items, STAGE_PUSH,
                                         pass_bytes(push, particles->count, 6)),
                         arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(push->grid.nx),
                         arg_uint(push->grid.ny), arg_real(motion.half_kick), arg_real(motion.tangent),
                         arg_real(motion.cosine), arg_uint(particles->count), arg_buffer(particles->key),
                         arg_buffer(particles->offset), arg_buffer(particles->velocity));
}

/* Where the sums of a species begin, in reals. */
static uint32_t first_sum(const struct push *push, uint32_t species)
{
    return species * push->most_groups * PUSH_SUMS;
}

enum status push_step(struct push *push, const struct fields *fields, uint32_t species,
                      struct particles *particles)
{
    const struct species_motion motion = motion_of(push, particles);
    const struct chunks chunks = deal_out(push, particles->count);
    const struct grid *grid = &push->grid;
    return KERNEL_LAUNCH(push->step,
                         ((struct launch){chunks.groups, push->group_items, STAGE_PUSH,
                                          pass_bytes(push, particles->count, 8)}),
                         arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(grid->nx),
                         arg_uint(grid->ny), arg_real(motion.half_kick), arg_real(motion.tangent),
                         arg_real(motion.sine), arg_real(push->time_step / grid->dx),
                         arg_real(push->time_step / grid->dy), arg_uint(particles->count),
                         arg_uint(chunks.chunk), arg_buffer(particles->key), arg_buffer(particles->offset),
                         arg_buffer(particles->velocity), arg_uint(first_sum(push, species)),
                         arg_buffer(push->sums));
}

enum status push_measure(struct push *push, const struct fields *fields, uint32_t species,
                         const struct particles *particles)
{
    const struct species_motion motion = motion_of(push, particles);
    const struct chunks chunks = deal_out(push, particles->count);
    return KERNEL_LAUNCH(push->measure,
                         ((struct launch){chunks.groups, push->group_items, STAGE_PUSH,
                                          pass_bytes(push, particles->count, 4)}),
                         arg_buffer(fields->ex), arg_buffer(fields->ey), arg_uint(push->grid.nx),
                         arg_uint(push->grid.ny), arg_real(motion.half_kick), arg_real(motion.tangent),
                         arg_real(motion.sine), arg_uint(particles->count), arg_uint(chunks.chunk),
                         arg_buffer(particles->key), arg_buffer(particles->offset),
                         arg_buffer(particles->velocity), arg_uint(first_sum(push, species)),
                         arg_buffer(push->sums));
}

enum status push_read_sums(struct push *push, uint32_t species, const struct particles *particles,
                           struct push_sums *sums)
{
    const struct species_motion motion = motion_of(push, particles);
    return push_sums_read(push->sums, push->precision, first_sum(push, species),
                          deal_out(push, particles->count).groups, particles, &motion, sums);
}
