/* Deposit: launches of kernels/deposit.cl. */
#include "field/deposit.h"

#include "base/integers.h"
#include "shared/lanes.h"

struct deposit {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    uint32_t filled_cells, capacity;
    uint32_t components; /* 1: the charge; 4: the charge and the current */
    double half_step[3]; /* struct half_step of the kernels, for the current */
    struct deposit_plan plan;
    uint32_t planes; /* sums of a piece: the nodes its particles touch, for each component */
    uint32_t places; /* of pieces in a plane */
    struct kernel *sum, *long_cells, *nodes;
    struct buffer *sums;         /* real[planes * places]; SUM_PLACE() of the kernels */
    struct buffer *segment_cell; /* uint[segments] */
    struct buffer *beside;       /* long[copies][3][nodes] in units of 1/scale, 0 between species */
    double scale;
};

static bool of_current(const struct deposit *deposit)
{
    return deposit->components > 1;
}

static uint32_t segments_of(const struct deposit *deposit, uint32_t count)
{
    return divide_up(count, UINT64_C(1) << deposit->plan.segment_bits);
}

/* ---- creation ---- */

static enum status create_kernels(struct deposit *deposit, enum shape_kind shape)
{
    const struct deposit_plan *plan = &deposit->plan;
    struct program *program = NULL;
    TRY(program_build(deposit->device, "deposit.cl", deposit->precision, &program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu -D SEGMENT_ITEMS=%zu -D ITEM_PARTICLES=%zu "
                      "-D SHARES=%zu -D LANES=%d -D CURRENT=%d -D ELECTROMAGNETIC=%d -D BESIDE=%d",
                      (int)shape, plan->items, plan->segment_items, plan->item_particles, plan->shares,
                      plan->vectors ? CPU_LANES : 1, of_current(deposit), of_current(deposit), plan->beside));
    TRY(kernel_create(program, plan->vectors ? "deposit_item_per_segment" : "deposit_group_per_segment",
                      &deposit->sum));
    if (!plan->vectors)
        TRY(kernel_create(program, "deposit_long_cells", &deposit->long_cells));
    return kernel_create(program, plan->vectors ? "deposit_node_vectors" : "deposit_nodes", &deposit->nodes);
}

static enum status create_parts(struct deposit *deposit, enum shape_kind shape)
{
    struct device *device = deposit->device;
    const uint32_t cells = grid_cells(&deposit->grid);
    const size_t real_bytes = precision_bytes(deposit->precision);
    deposit->plan =
        deposit_plan_make(device_info(device), cells, shape, deposit->components, deposit->precision);
    deposit->planes = deposit->components * deposit->plan.nodes * deposit->plan.nodes;
    const size_t segments = segments_of(deposit, deposit->capacity);
    /* Planes are a cache line more than whole pages: an item stores to all of them at once. */
    deposit->places = round_up(cells + segments, (uint32_t)(4096 / real_bytes)) + (uint32_t)(64 / real_bytes);
    TRY(create_kernels(deposit, shape));
    TRY(buffer_create(device, (size_t)deposit->places * deposit->planes * real_bytes, "the deposit's sums",
                      &deposit->sums));
    TRY(buffer_create_zeroed(device, segments * sizeof(uint32_t), "the cells of the deposit's segments",
                             &deposit->segment_cell));
    deposit->beside = deposit->sums; /* stands in for one that is not needed */
    if (!deposit->plan.beside)
        return STATUS_OK;
    return buffer_create_zeroed(device, (size_t)deposit->plan.copies * 3 * cells * sizeof(int64_t),
                                "the deposit's sums on nodes", &deposit->beside);
}

enum status deposit_create(struct device *device, const struct grid *grid, enum precision precision,
                           enum shape_kind shape, const struct deposit_current *current,
                           uint32_t filled_cells, uint32_t capacity, struct deposit **deposit)
{
    TRY(DEVICE_NEW(device, *deposit));
    struct deposit *created = *deposit;
    *created = (struct deposit){.device = device,
                                .grid = *grid,
                                .precision = precision,
                                .components = current ? 4 : 1,
                                .filled_cells = filled_cells,
                                .capacity = capacity};
    if (current) {
        created->half_step[0] = 0.5 * current->time_step / grid->dx;
        created->half_step[1] = 0.5 * current->time_step / grid->dy;
        created->half_step[2] = current->per_c_squared;
        /* So that as many particles as a list can have, each as fast as light, come to less than 2^62. */
        created->scale = ldexp(1, 62 - 32 - 1 - ilogb(1 / sqrt(current->per_c_squared)));
    }
    return create_parts(created, shape);
}

/* ---- one species ---- */

/* The sums of all pieces. */
static enum status sum_particles(struct deposit *deposit, const struct particles *particles,
                                 uint32_t segments)
{
    const struct deposit_plan *plan = &deposit->plan;
    const uint32_t filled = deposit->filled_cells, count = particles->count;
    const uint32_t stride = particles_stride(particles, ATTRIBUTE_OFFSET);
    const uint64_t each = of_current(deposit) ? 5 : 2 * stride; /* reals of a particle */
    const uint64_t numbers = each * count +                     /* reals read, and written */
                             deposit->planes * (segments + (uint64_t)filled - 1);
    const struct launch launch = {segments, plan->vectors ? 1 : plan->segment_items, STAGE_DEPOSIT,
                                  precision_bytes(deposit->precision) * numbers +
                                      sizeof(uint32_t) * (filled + UINT64_C(1))};
    if (of_current(deposit))
        return KERNEL_LAUNCH(
            deposit->sum, launch, particles->cell_offsets, particles->attribute[ATTRIBUTE_OFFSET], stride,
            particles->attribute[ATTRIBUTE_VELOCITY], particles_first(particles, ATTRIBUTE_VELOCITY),
            particles_w(particles), arg_reals(deposit->half_step, 3), deposit->beside, plan->copies,
            deposit->grid.nx, deposit->grid.ny, deposit->scale, filled, count, plan->segment_bits,
            deposit->sums, deposit->places, deposit->segment_cell);
    return KERNEL_LAUNCH(deposit->sum, launch, particles->cell_offsets,
                         particles->attribute[ATTRIBUTE_OFFSET], stride, filled, count, plan->segment_bits,
                         deposit->sums, deposit->places, deposit->segment_cell);
}

/* Brings cells of many pieces to one. */
static enum status join_pieces(struct deposit *deposit, const struct particles *particles, uint32_t segments,
                               uint32_t most)
{
    const struct deposit_plan *plan = &deposit->plan;
    if (most == UINT32_MAX)
        return STATUS_OK;
    const struct launch launch = {divide_up(segments, most), plan->items, STAGE_DEPOSIT, 0};
    return KERNEL_LAUNCH(deposit->long_cells, launch, particles->cell_offsets, deposit->segment_cell,
                         plan->segment_bits, most, deposit->sums, deposit->places);
}

static enum status add_nodes(struct deposit *deposit, const struct particles *particles, uint32_t most,
                             bool first, struct buffer *density, uint32_t density_stride)
{
    const struct deposit_plan *plan = &deposit->plan;
    const struct grid *grid = &deposit->grid;
    const uint64_t cells = grid_cells(grid);
    const uint64_t reals_per_node =
        deposit->planes + deposit->components * (first ? UINT64_C(1) : UINT64_C(2));
    const double factor = particles->species->charge * particles->weight / (grid->dx * grid->dy);
    const uint64_t items =
        plan->vectors ? (uint64_t)grid->nx * divide_up(grid->ny, CPU_LANES) : cells * plan->lanes;
    return KERNEL_LAUNCH(deposit->nodes,
                         launch_covering(items, plan->items, STAGE_DEPOSIT,
                                         cells * reals_per_node * precision_bytes(deposit->precision)),
                         particles->cell_offsets, deposit->sums, deposit->places, grid->nx, grid->ny,
                         plan->segment_bits, most, plan->lanes, factor, first, density, density_stride,
                         deposit->beside, plan->copies, 1 / deposit->scale);
}

enum status deposit_species(struct deposit *deposit, const struct particles *particles, bool first,
                            struct buffer *density, uint32_t stride)
{
    if (particles->count > deposit->capacity)
        return status_fail(STATUS_FAILED, "a deposit made for %u particles was given %u", deposit->capacity,
                           particles->count);
    const uint32_t segments = segments_of(deposit, particles->count);
    const uint32_t most = deposit_plan_most(&deposit->plan, segments);
    TRY(sum_particles(deposit, particles, segments));
    TRY(join_pieces(deposit, particles, segments, most));
    return add_nodes(deposit, particles, most, first, density, stride);
}
