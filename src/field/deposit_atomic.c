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
    enum atomic_way way;
    size_t group_items;
    struct kernel *by_key, *by_order, *nodes;
    struct buffer *sums; /* ulong[cells]: 0 between deposits */
};

uint32_t deposit_atomic_fraction_bits(uint32_t count)
{
    return SUM_BITS - bits_below(count + UINT64_C(1)); /* count < 2^bits */
}

static enum status choose_way(const struct device_info *info, enum atomic_way wanted, enum atomic_way *way)
{
    *way = wanted;
    if (wanted == ATOMIC_AUTO)
        *way = info->has_int64_atomics ? ATOMIC_64 : ATOMIC_32_AND_CARRY;
    if (*way == ATOMIC_64 && !info->has_int64_atomics)
        return status_fail(STATUS_FAILED, "%s adds no 64 bits at once (cl_khr_int64_base_atomics)",
                           info->name);
    return STATUS_OK;
}

enum status deposit_atomic_create(struct device *device, const struct grid *grid, enum precision precision,
                                  enum shape_kind shape, enum atomic_way way, struct deposit_atomic **deposit)
{
    const struct device_info *info = device_info(device);
    struct deposit_atomic *created = NULL;
    struct program *program = NULL;
    TRY(choose_way(info, way, &way));
    TRY(DEVICE_NEW(device, created));
    created->grid = *grid;
    created->precision = precision;
    created->way = way;
    created->group_items = device_group_items(device, info->is_cpu ? CPU_GROUP_ITEMS : GROUP_ITEMS);
    TRY(program_build(device, "deposit_atomic.cl", precision, &program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu -D ADD_64_BITS=%d", (int)shape,
                      created->group_items, way == ATOMIC_64));
    TRY(kernel_create(program, "deposit_atomic_by_key", &created->by_key));
    TRY(kernel_create(program, "deposit_atomic_by_order", &created->by_order));
    TRY(kernel_create(program, "deposit_atomic_nodes", &created->nodes));
    TRY(buffer_create(device, grid_cells(grid) * sizeof(uint64_t), "the atomic deposit's sums",
                      &created->sums));
    *deposit = created;
    return buffer_fill(created->sums, 0);
}

enum atomic_way deposit_atomic_way(const struct deposit_atomic *deposit)
{
    return deposit->way;
}

/* ---- one species ---- */

/* bytes: what must come from memory. That of the atomic additions depends on the caches. */
static enum status add_particles(struct deposit_atomic *deposit, const struct particles *particles,
                                 const struct buffer *keys, uint32_t filled, uint32_t fraction_bits)
{
    const struct grid *grid = &deposit->grid;
    const bool has_keys = keys != NULL;
    const uint32_t stride =
        particles_stride(particles, ATTRIBUTE_OFFSET); /* real2 from one particle to the next */
    const uint64_t offset_bytes = UINT64_C(2) * stride * precision_bytes(deposit->precision);
    const uint64_t cell_bytes = sizeof(uint32_t) * (has_keys ? (uint64_t)particles->count : filled);
    const struct launch launch = launch_covering(particles->count, deposit->group_items, STAGE_DEPOSIT,
                                                 offset_bytes * particles->count + cell_bytes);
    const struct buffer *cells = has_keys ? keys : particles->cell_offsets;
    const struct buffer *offset = particles->attribute[ATTRIBUTE_OFFSET];
    const double scale = ldexp(1, (int)fraction_bits);
    return KERNEL_LAUNCH(has_keys ? deposit->by_key : deposit->by_order, launch, cells, filled, offset,
                         stride, particles->count, grid->nx, grid->ny, scale, deposit->sums);
}

enum status deposit_atomic_species(struct deposit_atomic *deposit, const struct particles *particles,
                                   const struct buffer *keys, uint32_t filled, bool first, struct buffer *rho)
{
    const struct grid *grid = &deposit->grid;
    const uint32_t cells = grid_cells(grid), fraction_bits = deposit_atomic_fraction_bits(particles->count);
    const double factor = particles->species->charge * particles->weight / (grid->dx * grid->dy);
    const uint64_t node_bytes =
        2 * sizeof(uint64_t) + (first ? UINT64_C(1) : UINT64_C(2)) * precision_bytes(deposit->precision);
    TRY(add_particles(deposit, particles, keys, filled, fraction_bits));
    return KERNEL_LAUNCH(deposit->nodes,
                         launch_covering(cells, deposit->group_items, STAGE_DEPOSIT, cells * node_bytes),
                         deposit->sums, cells, ldexp(1, -(int)fraction_bits), factor, first, rho);
}
