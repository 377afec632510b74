/* Deposit atomic: launches of kernels/deposit_atomic.cl. */
#include "field/deposit_atomic.h"

#include "base/integers.h"

#include <math.h>

enum {
    GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 64, /* a group is a loop there */
    SUM_BITS = 63         /* of 64; the last one marks a non-finite sum */
};

struct deposit_atomic {
    struct grid grid;
    enum precision precision;
    enum atomic_width width;
    size_t group_items;
    struct kernel *particles, *nodes;
    struct buffer *sums; /* ulong[cells]: 0 between deposits */
};

uint32_t deposit_atomic_fraction_bits(uint32_t count)
{
    return SUM_BITS - bits_below(count + UINT64_C(1)); /* count < 2^bits */
}

static enum status choose_width(const struct device_info *info, enum atomic_width wanted,
                                enum atomic_width *width)
{
    *width = wanted;
    if (wanted == ATOMIC_AUTO)
        *width = info->has_int64_atomics ? ATOMIC_64 : ATOMIC_32_AND_CARRY;
    if (*width == ATOMIC_64 && !info->has_int64_atomics)
        return status_fail(STATUS_FAILED, "%s adds no 64 bits at once (cl_khr_int64_base_atomics)",
                           info->name);
    return STATUS_OK;
}

enum status deposit_atomic_create(struct device *device, const struct grid *grid, enum precision precision,
                                  enum shape_kind shape, enum atomic_width width,
                                  struct deposit_atomic **deposit)
{
    const struct device_info *info = device_info(device);
    struct deposit_atomic *created = NULL;
    struct program *program = NULL;
    TRY(choose_width(info, width, &width));
    TRY(DEVICE_NEW(device, created));
    created->grid = *grid;
    created->precision = precision;
    created->width = width;
    created->group_items = device_group_items(device, info->is_cpu ? CPU_GROUP_ITEMS : GROUP_ITEMS);
    TRY(program_build(device, "deposit_atomic.cl", precision, &program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu -D ADD_64_BITS=%d", (int)shape,
                      created->group_items, width == ATOMIC_64));
    TRY(kernel_create(program, "deposit_atomic_particles", &created->particles));
    TRY(kernel_create(program, "deposit_atomic_nodes", &created->nodes));
    TRY(buffer_create(device, grid_cells(grid) * sizeof(uint64_t), "the atomic deposit's sums",
                      &created->sums));
    *deposit = created;
    return buffer_fill(created->sums, 0);
}

enum atomic_width deposit_atomic_width(const struct deposit_atomic *deposit)
{
    return deposit->width;
}

enum status deposit_atomic_species(struct deposit_atomic *deposit, const struct particles *particles,
                                   const struct buffer *keys, struct buffer *rho)
{
    const struct grid *grid = &deposit->grid;
    const uint32_t cells = grid_cells(grid), count = particles->count;
    const uint32_t fraction_bits = deposit_atomic_fraction_bits(count);
    const uint32_t stride =
        particles_stride(particles, ATTRIBUTE_OFFSET); /* real2 from one particle to the next */
    const double scale = ldexp(1, (int)fraction_bits);
    const double factor = particles->species->charge * particles->weight / (grid->dx * grid->dy);
    /* What must come from memory. That of the atomic additions depends on the caches. */
    const uint64_t particle_bytes = 2 * stride * precision_bytes(deposit->precision) + sizeof(uint32_t);
    const uint64_t node_bytes = 2 * sizeof(uint64_t) + precision_bytes(deposit->precision);
    TRY(KERNEL_LAUNCH(deposit->particles,
                      launch_covering(count, deposit->group_items, STAGE_DEPOSIT, count * particle_bytes),
                      keys, particles->attribute[ATTRIBUTE_OFFSET], stride, count, grid->nx, grid->ny, scale,
                      deposit->sums));
    return KERNEL_LAUNCH(deposit->nodes,
                         launch_covering(cells, deposit->group_items, STAGE_DEPOSIT, cells * node_bytes),
                         deposit->sums, cells, 1 / scale, factor, rho);
}
