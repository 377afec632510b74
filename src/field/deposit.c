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

struct deposit {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    enum deposit_variant variant;
    uint32_t capacity;
    uint32_t filled_cells;
    struct deposit_atomic *atomic; /* of that method, which needs nothing below; else NULL */
    uint32_t planes;               /* sums of a piece: the nodes its particles touch */
    size_t group_items, segment_items, item_particles;
    uint32_t segment_bits; /* log2 of the particles of a group per segment */
    struct kernel *sum[DEPOSIT_VARIANTS], *long_cells, *nodes;
    struct buffer *sums;         /* real[places][planes] */
    struct buffer *segment_cell; /* uint[segments] */
};

static uint32_t segments_of(uint32_t count, uint32_t segment_bits)
{
    return (uint32_t)(((uint64_t)count + (UINT64_C(1) << segment_bits) - 1) >> segment_bits);
}

/* Powers of two that the device allows. A group per piece needs local memory for half its items' sums
 * (shared/sum.h); a group per segment needs it for its particles, a gap after those of each item, and three
 * words an item. Neither asks for all there is: several groups share it. */
static void choose_items(struct deposit *deposit)
{
    const struct device_info *info = device_info(deposit->device);
    const size_t real_bytes = precision_bytes(deposit->precision), words = 3 * sizeof(uint32_t);
    deposit->group_items = info->is_cpu ? CPU_GROUP_ITEMS : GROUP_ITEMS;
    deposit->segment_items = SEGMENT_ITEMS;
    deposit->item_particles = ITEM_PARTICLES;
    while (deposit->group_items > 1 &&
           (deposit->group_items > info->group_limit ||
            deposit->group_items / 2 * deposit->planes * real_bytes > info->local_memory / 2))
        deposit->group_items /= 2;
    while (deposit->segment_items > info->group_limit)
        deposit->segment_items /= 2;
    while (deposit->segment_items > 1 &&
           deposit->segment_items * ((deposit->item_particles + 1) * 2 * real_bytes + words) >
               info->local_memory / 4 * 3) {
        const bool many = deposit->item_particles > FEWEST_ITEM_PARTICLES;
        *(many ? &deposit->item_particles : &deposit->segment_items) /= 2;
    }
    while (UINT32_C(1) << deposit->segment_bits < deposit->segment_items * deposit->item_particles)
        deposit->segment_bits++;
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
    static const char *const names[DEPOSIT_VARIANTS] = {
        [DEPOSIT_GROUP_PER_PIECE] = "deposit_group_per_piece",
        [DEPOSIT_GROUP_PER_SEGMENT] = "deposit_group_per_segment",
        [DEPOSIT_ITEM_PER_SEGMENT] = "deposit_item_per_segment",
    };
    struct program *program = NULL;
    TRY(program_build(deposit->device, "deposit.cl", deposit->precision, &program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu -D SEGMENT_ITEMS=%zu -D ITEM_PARTICLES=%zu",
                      (int)shape, deposit->group_items, deposit->segment_items, deposit->item_particles));
    for (int n = DEPOSIT_AUTO + 1; n < DEPOSIT_VARIANTS; n++)
        TRY(kernel_create(program, names[n], &deposit->sum[n]));
    TRY(kernel_create(program, "deposit_long_cells", &deposit->long_cells));
    return kernel_create(program, "deposit_nodes", &deposit->nodes);
}

static enum status create_sorted(struct deposit *deposit, enum shape_kind shape)
{
    const uint32_t nodes = (uint32_t)SHAPE_NODES_OF((int)shape);
    deposit->planes = nodes * nodes;
    choose_items(deposit);
    TRY(build(deposit, shape));
    const uint32_t bits =
        deposit->segment_bits < ITEM_SEGMENT_BITS ? deposit->segment_bits : ITEM_SEGMENT_BITS;
    const size_t segments = segments_of(deposit->capacity, bits); /* the most of any variant */
    const size_t sums = (grid_cells(&deposit->grid) + segments) * deposit->planes;
    TRY(buffer_create(deposit->device, sums * precision_bytes(deposit->precision), "the deposit's sums",
                      &deposit->sums));
    return buffer_create(deposit->device, segments * sizeof(uint32_t), "the cells of the deposit's segments",
                         &deposit->segment_cell);
}

enum status deposit_create(struct device *device, const struct grid *grid, enum precision precision,
                           const struct deposit_config *config, uint32_t filled_cells, uint32_t capacity,
                           struct deposit **deposit)
{
    TRY(DEVICE_NEW(device, *deposit));
    **deposit = (struct deposit){.device = device,
                                 .grid = *grid,
                                 .precision = precision,
                                 .capacity = capacity,
                                 .filled_cells = filled_cells};
    return config->method == DEPOSIT_METHOD_ATOMIC
               ? deposit_atomic_create(device, grid, precision, config->shape, ATOMIC_AUTO,
                                       &(*deposit)->atomic)
               : create_sorted(*deposit, config->shape);
}

/* ---- the variant ---- */

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
        return deposit->segment_bits;
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
    uint32_t segment_bits, segments;
    uint32_t lanes; /* items per node */
    uint32_t most;  /* pieces of a cell that are left apart */
};

static struct deposit_pass plan_pass(const struct deposit *deposit, uint32_t count)
{
    struct deposit_pass pass = {.variant = chosen_variant(deposit, count), .lanes = 1};
    pass.segment_bits = segment_bits_of(deposit, pass.variant, count);
    pass.segments = segments_of(count, pass.segment_bits);
    const uint64_t cells = grid_cells(&deposit->grid);
    while (pass.variant != DEPOSIT_ITEM_PER_SEGMENT && pass.lanes < MOST_NODE_LANES &&
           2 * pass.lanes <= deposit->group_items && 2 * pass.lanes * cells <= NODE_ITEMS)
        pass.lanes *= 2;
    pass.most = pass.segments > LANE_PIECES * pass.lanes ? SHORT_CELL : UINT32_MAX;
    return pass;
}

/* The sums of all pieces. */
static enum status sum_particles(struct deposit *deposit, const struct deposit_pass *pass,
                                 const struct particles *particles)
{
    const uint32_t filled = deposit->filled_cells, count = particles->count;
    const uint32_t stride = particles_stride(particles, ATTRIBUTE_OFFSET);
    const uint64_t real_bytes = precision_bytes(deposit->precision);
    const uint64_t places = pass->segments + (uint64_t)filled - 1;
    const bool per_piece = pass->variant == DEPOSIT_GROUP_PER_PIECE;
    const size_t items[DEPOSIT_VARIANTS] = {[DEPOSIT_GROUP_PER_PIECE] = deposit->group_items,
                                            [DEPOSIT_GROUP_PER_SEGMENT] = deposit->segment_items,
                                            [DEPOSIT_ITEM_PER_SEGMENT] = 1};
    const struct launch launch = {
        per_piece ? (size_t)places : pass->segments, items[pass->variant], STAGE_DEPOSIT,
        2 * stride * real_bytes * count + sizeof(uint32_t) * (filled + UINT64_C(1)) +
            real_bytes * deposit->planes * places};
    return KERNEL_LAUNCH(deposit->sum[pass->variant], launch, arg_buffer(particles->cell_offsets),
                         arg_buffer(particles->attribute[ATTRIBUTE_OFFSET]), arg_uint(stride),
                         arg_uint(filled), arg_uint(count), arg_uint(pass->segment_bits),
                         arg_buffer(deposit->sums), arg_buffer(deposit->segment_cell));
}

/* Brings cells of many pieces to one. */
static enum status join_pieces(struct deposit *deposit, const struct deposit_pass *pass,
                               const struct particles *particles)
{
    if (pass->most == UINT32_MAX)
        return STATUS_OK;
    const struct launch launch = {(pass->segments + pass->most - 1) / pass->most, deposit->group_items,
                                  STAGE_DEPOSIT, 0};
    return KERNEL_LAUNCH(deposit->long_cells, launch, arg_buffer(particles->cell_offsets),
                         arg_buffer(deposit->segment_cell), arg_uint(pass->segment_bits),
                         arg_uint(pass->most), arg_buffer(deposit->sums));
}

static enum status add_nodes(struct deposit *deposit, const struct deposit_pass *pass,
                             const struct particles *particles, bool first, struct buffer *rho)
{
    const struct grid *grid = &deposit->grid;
    const uint64_t cells = grid_cells(grid),
                   reals_per_node = deposit->planes + (first ? UINT64_C(1) : UINT64_C(2));
    const double factor = particles->species->charge * particles->weight / (grid->dx * grid->dy);
    return KERNEL_LAUNCH(deposit->nodes,
                         launch_covering(cells * pass->lanes, deposit->group_items, STAGE_DEPOSIT,
                                         cells * reals_per_node * precision_bytes(deposit->precision)),
                         arg_buffer(particles->cell_offsets), arg_buffer(deposit->sums), arg_uint(grid->nx),
                         arg_uint(grid->ny), arg_uint(pass->segment_bits), arg_uint(pass->most),
                         arg_uint(pass->lanes), arg_real(factor), arg_uint(first), arg_buffer(rho));
}

enum status deposit_species(struct deposit *deposit, const struct particles *particles, bool first,
                            struct buffer *rho)
{
    if (particles->count > deposit->capacity)
        return status_fail(STATUS_FAILED, "a deposit made for %u particles was given %u", deposit->capacity,
                           particles->count);
    if (deposit->atomic)
        return deposit_atomic_species(deposit->atomic, particles, NULL, deposit->filled_cells, first, rho);
    const struct deposit_pass pass = plan_pass(deposit, particles->count);
    TRY(sum_particles(deposit, &pass, particles));
    TRY(join_pieces(deposit, &pass, particles));
    return add_nodes(deposit, &pass, particles, first, rho);
}
