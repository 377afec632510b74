/* Deposit: launches of kernels/deposit.cl, and the door to the atomic method. */
#include "field/deposit.h"

#include "field/deposit_atomic.h"
#include "shared/shape.h"

enum {
    GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 64, /* a group is a loop there */

    /* Many per cell: each item of a group per piece then has several particles to add before the tree. */
    MANY_PER_CELL = 2048,

    /* A group per segment, where local memory allows: 128 items with 16 particles were the fastest on an
     * H200, from 8 to 512 particles a cell. */
    SEGMENT_ITEMS = 128,
    ITEM_PARTICLES = 16,
    FEWEST_ITEM_PARTICLES = 8, /* local memory for a segment's particles then holds the items' sums too */

    /* log2 of a segment's particles where an item takes it: some 10 us, nothing beside the whole list, much
     * beside a launch. Where a group takes it: long enough to make little of its tree and of the search for
     * its cell, short enough for GROUPS_PER_UNIT groups on each compute unit. */
    ITEM_SEGMENT_BITS = 13,
    LEAST_PIECE_BITS = 12,
    MOST_PIECE_BITS = 15,
    GROUPS_PER_UNIT = 8,

    /* Items that add up the pieces around a node: enough of them to fill a GPU where there are few nodes. */
    NODE_ITEMS = 1 << 17,
    MOST_NODE_LANES = 32,
    LANE_PIECES = 64, /* pieces that an item adds before deposit_long_cells pays for its launch */
    SHORT_CELL = 16   /* pieces of a cell that deposit_long_cells leaves apart */
};

/* Sizes that depend on the device. */
struct deposit_shape {
    uint32_t planes; /* sums of a piece: the nodes its particles touch */
    size_t group_items, segment_items, item_particles;
    uint32_t segment_bits; /* log2 of the particles of a group per segment */
};

struct deposit {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    enum deposit_variant variant;
    uint32_t capacity;
    uint32_t filled_cells;         /* the first of the grid's, outside which no particles are */
    struct deposit_atomic *atomic; /* of that method, which needs nothing below; else NULL */
    struct deposit_shape shape;
    struct program *program;
    struct kernel *group_per_piece, *group_per_segment, *item_per_segment;
    struct kernel *long_cells, *nodes;
    struct buffer *sums;         /* real[places][planes] */
    struct buffer *segment_cell; /* uint[segments] */
};

/* ---- sizes ---- */

static uint32_t segments_of(uint32_t count, uint32_t segment_bits)
{
    return (uint32_t)(((uint64_t)count + (UINT64_C(1) << segment_bits) - 1) >> segment_bits);
}

/* Powers of two that the device allows. A group per piece needs local memory for half its items' sums
 * (shared/sum.h); a group per segment needs it for its particles, a gap after those of each item, and three
 * words an item. Neither asks for all there is: several groups share it. */
static struct deposit_shape choose_shape(const struct device_info *info, enum precision precision,
                                         enum shape_kind shape)
{
    const size_t real_bytes = precision_bytes(precision);
    const uint32_t nodes = (uint32_t)SHAPE_NODES_OF((int)shape);
    struct deposit_shape chosen = {.planes = nodes * nodes,
                                   .group_items = info->is_cpu ? CPU_GROUP_ITEMS : GROUP_ITEMS,
                                   .segment_items = SEGMENT_ITEMS,
                                   .item_particles = ITEM_PARTICLES};
    while (chosen.group_items > 1 &&
           (chosen.group_items > info->group_limit ||
            chosen.group_items / 2 * chosen.planes * real_bytes > info->local_memory / 2))
        chosen.group_items /= 2;
    while (chosen.segment_items > info->group_limit)
        chosen.segment_items /= 2;
    const size_t words = 3 * sizeof(uint32_t);
    while (chosen.segment_items * ((chosen.item_particles + 1) * 2 * real_bytes + words) >
           info->local_memory / 4 * 3) {
        if (chosen.item_particles > FEWEST_ITEM_PARTICLES)
            chosen.item_particles /= 2;
        else if (chosen.segment_items > 1)
            chosen.segment_items /= 2;
        else
            break; /* the build will say that it is too much */
    }
    while ((UINT32_C(1) << chosen.segment_bits) < chosen.segment_items * chosen.item_particles)
        chosen.segment_bits++;
    return chosen;
}

/* The most segments of any variant. */
static uint32_t most_segments(const struct deposit_shape *shape, uint32_t capacity)
{
    const uint32_t least_bits =
        shape->segment_bits < ITEM_SEGMENT_BITS ? shape->segment_bits : ITEM_SEGMENT_BITS;
    return segments_of(capacity, least_bits);
}

const char *deposit_describe(const struct device_info *info, const struct deposit_config *config)
{
    if (config->method == DEPOSIT_METHOD_SORTED)
        return "sorted: cell by cell, in a fixed order";
    return info->has_int64_atomics ? "atomic: particle by particle, 64 bits at once"
                                   : "atomic: particle by particle, 64 bits as two words of 32";
}

/* ---- creation ---- */

static enum status build(struct deposit *deposit, enum shape_kind shape)
{
    const struct deposit_shape *chosen = &deposit->shape;
    TRY(program_build(deposit->device, "deposit.cl", deposit->precision, &deposit->program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu -D SEGMENT_ITEMS=%zu -D ITEM_PARTICLES=%zu",
                      (int)shape, chosen->group_items, chosen->segment_items, chosen->item_particles));
    TRY(kernel_create(deposit->program, "deposit_group_per_piece", &deposit->group_per_piece));
    TRY(kernel_create(deposit->program, "deposit_group_per_segment", &deposit->group_per_segment));
    TRY(kernel_create(deposit->program, "deposit_item_per_segment", &deposit->item_per_segment));
    TRY(kernel_create(deposit->program, "deposit_long_cells", &deposit->long_cells));
    return kernel_create(deposit->program, "deposit_nodes", &deposit->nodes);
}

static enum status create_sorted(struct deposit *deposit, enum shape_kind shape)
{
    deposit->shape = choose_shape(device_info(deposit->device), deposit->precision, shape);
    const size_t segments = most_segments(&deposit->shape, deposit->capacity);
    const size_t places = grid_cells(&deposit->grid) + segments;
    TRY(build(deposit, shape));
    TRY(buffer_create(deposit->device, places * deposit->shape.planes * precision_bytes(deposit->precision),
                      "the deposit's sums", &deposit->sums));
    return buffer_create(deposit->device, segments * sizeof(uint32_t), "the cells of the deposit's segments",
                         &deposit->segment_cell);
}

enum status deposit_create(struct device *device, const struct grid *grid, enum precision precision,
                           const struct deposit_config *config, uint32_t capacity, struct deposit **deposit)
{
    TRY(DEVICE_NEW(device, *deposit));
    **deposit = (struct deposit){.device = device,
                                 .grid = *grid,
                                 .precision = precision,
                                 .capacity = capacity,
                                 .filled_cells = grid_cells(grid)};
    return config->method == DEPOSIT_METHOD_ATOMIC
               ? deposit_atomic_create(device, grid, precision, config->shape, ATOMIC_AUTO,
                                       &(*deposit)->atomic)
               : create_sorted(*deposit, config->shape);
}

/* ---- the variant ---- */

void deposit_within(struct deposit *deposit, uint32_t cells)
{
    deposit->filled_cells = cells;
}

void deposit_choose(struct deposit *deposit, enum deposit_variant variant)
{
    deposit->variant = variant;
}

/* The host knows only the mean of the particles per cell, so no variant is chosen that a single full cell can
 * slow down. On a CPU one item with vectors is worth a whole group. On a GPU a group per segment costs the
 * same for any spread of the particles over the cells, but passes them through local memory; a group per
 * piece does without, and needs more than a handful of particles for each of its items, for the mean cell at
 * least: a nearly empty one idles a group for a moment. */
static enum deposit_variant chosen_variant(const struct deposit *deposit, uint32_t count)
{
    if (deposit->variant != DEPOSIT_AUTO)
        return deposit->variant;
    if (device_info(deposit->device)->is_cpu)
        return DEPOSIT_ITEM_PER_SEGMENT;
    const bool many = count / deposit->filled_cells >= MANY_PER_CELL;
    return many ? DEPOSIT_GROUP_PER_PIECE : DEPOSIT_GROUP_PER_SEGMENT;
}

/* log2 of the particles of a segment. */
static uint32_t segment_bits_of(const struct deposit *deposit, enum deposit_variant variant, uint32_t count)
{
    if (variant == DEPOSIT_GROUP_PER_SEGMENT)
        return deposit->shape.segment_bits;
    if (variant == DEPOSIT_ITEM_PER_SEGMENT)
        return ITEM_SEGMENT_BITS;
    const uint64_t groups = (uint64_t)device_info(deposit->device)->compute_units * GROUPS_PER_UNIT;
    uint32_t bits = LEAST_PIECE_BITS;
    while (bits < MOST_PIECE_BITS && count >> (bits + 1) >= groups)
        bits++;
    return bits;
}

/* ---- one species ---- */

/* What the launches of one deposit share. */
struct deposit_pass {
    enum deposit_variant variant;
    uint32_t count, segment_bits, segments;
    const struct buffer *cell_offsets;
    const struct buffer *offset; /* (dx, dy) of the first particle */
    uint32_t stride;             /* real2 from one particle to the next */
    uint32_t lanes;              /* items per node */
    uint32_t most;               /* pieces of a cell that are left apart */
};

static struct deposit_pass plan_pass(const struct deposit *deposit, const struct particles *particles)
{
    struct deposit_pass pass = {.count = particles->count,
                                .cell_offsets = particles->cell_offsets,
                                .offset = particles->attribute[ATTRIBUTE_OFFSET],
                                .stride = particles_stride(particles, ATTRIBUTE_OFFSET),
                                .lanes = 1};
    pass.variant = chosen_variant(deposit, pass.count);
    pass.segment_bits = segment_bits_of(deposit, pass.variant, pass.count);
    pass.segments = segments_of(pass.count, pass.segment_bits);
    const uint64_t cells = grid_cells(&deposit->grid);
    while (pass.variant != DEPOSIT_ITEM_PER_SEGMENT && pass.lanes < MOST_NODE_LANES &&
           2 * pass.lanes <= deposit->shape.group_items && 2 * pass.lanes * cells <= NODE_ITEMS)
        pass.lanes *= 2;
    pass.most = pass.segments > LANE_PIECES * pass.lanes ? SHORT_CELL : UINT32_MAX;
    return pass;
}

/* The sums of all pieces. */
static enum status sum_particles(struct deposit *deposit, const struct deposit_pass *pass)
{
    const uint32_t filled = deposit->filled_cells;
    const uint64_t real_bytes = precision_bytes(deposit->precision);
    const uint64_t places = pass->segments + (uint64_t)filled - 1;
    const uint64_t bytes = 2 * pass->stride * real_bytes * pass->count +
                           sizeof(uint32_t) * (filled + UINT64_C(1)) +
                           real_bytes * deposit->shape.planes * places;
    const struct kernel_argument offsets = arg_buffer(pass->cell_offsets), cells = arg_uint(filled);
    const struct kernel_argument offset = arg_buffer(pass->offset), stride = arg_uint(pass->stride);
    const struct kernel_argument sums = arg_buffer(deposit->sums), cell = arg_buffer(deposit->segment_cell);
    const struct kernel_argument count = arg_uint(pass->count), bits = arg_uint(pass->segment_bits);
    struct launch launch = {pass->segments, 1, STAGE_DEPOSIT, bytes};
    if (pass->variant == DEPOSIT_ITEM_PER_SEGMENT)
        return KERNEL_LAUNCH(deposit->item_per_segment, launch, offsets, offset, stride, cells, count, bits,
                             sums, cell);
    launch.items = deposit->shape.segment_items;
    if (pass->variant == DEPOSIT_GROUP_PER_SEGMENT)
        return KERNEL_LAUNCH(deposit->group_per_segment, launch, offsets, offset, stride, cells, count, sums,
                             cell);
    launch.groups = (size_t)places;
    launch.items = deposit->shape.group_items;
    return KERNEL_LAUNCH(deposit->group_per_piece, launch, offsets, offset, stride, cells, bits, sums, cell);
}

/* Brings cells of many pieces to one. */
static enum status join_pieces(struct deposit *deposit, const struct deposit_pass *pass)
{
    if (pass->most == UINT32_MAX)
        return STATUS_OK;
    const struct launch launch = {(pass->segments + pass->most - 1) / pass->most, deposit->shape.group_items,
                                  STAGE_DEPOSIT, 0};
    return KERNEL_LAUNCH(deposit->long_cells, launch, arg_buffer(pass->cell_offsets),
                         arg_buffer(deposit->segment_cell), arg_uint(pass->segment_bits),
                         arg_uint(pass->most), arg_buffer(deposit->sums));
}

static enum status add_nodes(struct deposit *deposit, const struct deposit_pass *pass, double factor,
                             bool first, struct buffer *rho)
{
    const uint32_t cells = grid_cells(&deposit->grid);
    const uint64_t reals_per_node = deposit->shape.planes + (first ? UINT64_C(1) : UINT64_C(2));
    const uint64_t bytes = cells * reals_per_node * precision_bytes(deposit->precision);
    return KERNEL_LAUNCH(
        deposit->nodes,
        launch_covering((uint64_t)cells * pass->lanes, deposit->shape.group_items, STAGE_DEPOSIT, bytes),
        arg_buffer(pass->cell_offsets), arg_buffer(deposit->sums), arg_uint(deposit->grid.nx),
        arg_uint(deposit->grid.ny), arg_uint(pass->segment_bits), arg_uint(pass->most), arg_uint(pass->lanes),
        arg_real(factor), arg_uint(first), arg_buffer(rho));
}

enum status deposit_species(struct deposit *deposit, const struct particles *particles, bool first,
                            struct buffer *rho)
{
    if (particles->count > deposit->capacity)
        return status_fail(STATUS_FAILED, "a deposit made for %u particles was given %u", deposit->capacity,
                           particles->count);
    if (deposit->atomic)
        return deposit_atomic_species(deposit->atomic, particles, NULL, deposit->filled_cells, first, rho);
    const struct grid *grid = &deposit->grid;
    const struct deposit_pass pass = plan_pass(deposit, particles);
    TRY(sum_particles(deposit, &pass));
    TRY(join_pieces(deposit, &pass));
    return add_nodes(deposit, &pass, particles->species->charge * particles->weight / (grid->dx * grid->dy),
                     first, rho);
}
