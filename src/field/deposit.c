/* Deposit: launches of kernels/deposit.cl. */
#include "field/deposit.h"

#include "shared/shape_nodes.h"

#include <stdlib.h>

enum {
    GPU_GROUP_ITEMS = 256,
    CPU_GROUP_ITEMS = 16, /* a group is a loop there */
    FEW_PER_CELL = 32     /* fewer particles than a GPU's hardware threads run together leave a group idle */
};

struct deposit {
    struct device *device; /* not owned */
    struct grid grid;
    enum precision precision;
    enum deposit_variant variant;
    uint32_t planes; /* sums of a cell: the nodes its particles touch */
    size_t group_items;
    struct program *program;
    struct kernel *item_per_cell, *group_per_cell, *nodes;
    struct buffer *cell_sums; /* real[planes][cells] */
};

/* The nodes that the particles of a cell touch. */
static uint32_t touched_nodes(enum shape_kind shape)
{
    return (uint32_t)(SHAPE_NODES_OF((int)shape) * SHAPE_NODES_OF((int)shape));
}

uint64_t deposit_bytes(const struct grid *grid, enum precision precision, enum shape_kind shape)
{
    return (uint64_t)touched_nodes(shape) * grid_cells(grid) * precision_bytes(precision);
}

/* A power of two that the device allows, with local memory for half a group's sums (shared/sum.h). */
static size_t choose_group_items(const struct deposit *deposit)
{
    const struct device_info *info = device_info(deposit->device);
    const size_t sums = deposit->planes * precision_bytes(deposit->precision);
    size_t items = info->is_cpu ? CPU_GROUP_ITEMS : GPU_GROUP_ITEMS;
    while (items > 1 && (items > info->group_limit || items / 2 * sums > info->local_memory / 2))
        items /= 2;
    return items;
}

static enum status build(struct deposit *deposit, enum shape_kind shape)
{
    TRY(program_build(deposit->device, "deposit.cl", deposit->precision, &deposit->program,
                      "-D SHAPE_ORDER=%d -D GROUP_ITEMS=%zu", (int)shape, deposit->group_items));
    TRY(kernel_create(deposit->program, "deposit_item_per_cell", &deposit->item_per_cell));
    TRY(kernel_create(deposit->program, "deposit_group_per_cell", &deposit->group_per_cell));
    TRY(kernel_create(deposit->program, "deposit_nodes", &deposit->nodes));
    return buffer_create(deposit->device, (size_t)deposit_bytes(&deposit->grid, deposit->precision, shape),
                         "the deposit's cell sums", &deposit->cell_sums);
}

enum status deposit_create(struct device *device, const struct grid *grid, enum precision precision,
                           enum shape_kind shape, struct deposit **deposit)
{
    *deposit = NULL;
    struct deposit *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(STATUS_FAILED, "no memory for the deposit");
    created->device = device;
    created->grid = *grid;
    created->precision = precision;
    created->variant = DEPOSIT_AUTO;
    created->planes = touched_nodes(shape);
    created->group_items = choose_group_items(created);
    const enum status status = build(created, shape);
    if (status != STATUS_OK)
        deposit_destroy(&created);
    *deposit = created;
    return status;
}

void deposit_destroy(struct deposit **deposit)
{
    if (!*deposit)
        return;
    buffer_destroy(&(*deposit)->cell_sums);
    kernel_destroy(&(*deposit)->nodes);
    kernel_destroy(&(*deposit)->group_per_cell);
    kernel_destroy(&(*deposit)->item_per_cell);
    program_destroy(&(*deposit)->program);
    free(*deposit);
    *deposit = NULL;
}

void deposit_choose(struct deposit *deposit, enum deposit_variant variant)
{
    deposit->variant = variant;
}

static enum deposit_variant chosen_variant(const struct deposit *deposit, uint32_t particles)
{
    if (deposit->variant != DEPOSIT_AUTO)
        return deposit->variant;
    const bool few = particles / grid_cells(&deposit->grid) < FEW_PER_CELL;
    return device_info(deposit->device)->is_cpu || few ? DEPOSIT_ITEM_PER_CELL : DEPOSIT_GROUP_PER_CELL;
}

static enum status sum_cells(struct deposit *deposit, const struct particles *particles)
{
    const uint32_t cells = grid_cells(&deposit->grid);
    const uint64_t real_bytes = precision_bytes(deposit->precision);
    const uint64_t bytes = 2 * real_bytes * particles->count + sizeof(uint32_t) * (cells + UINT64_C(1)) +
                           real_bytes * deposit->planes * cells;
    const bool by_item = chosen_variant(deposit, particles->count) == DEPOSIT_ITEM_PER_CELL;
    const struct launch launch = by_item ? launch_covering(cells, deposit->group_items, STAGE_DEPOSIT, bytes)
                                         : (struct launch){cells, deposit->group_items, STAGE_DEPOSIT, bytes};
    return KERNEL_LAUNCH(by_item ? deposit->item_per_cell : deposit->group_per_cell, launch,
                         arg_buffer(particles->cell_offsets), arg_buffer(particles->offset), arg_uint(cells),
                         arg_buffer(deposit->cell_sums));
}

enum status deposit_species(struct deposit *deposit, const struct particles *particles, bool first,
                            struct buffer *rho)
{
    TRY(sum_cells(deposit, particles));
    const struct grid *grid = &deposit->grid;
    const uint32_t cells = grid_cells(grid);
    const double factor = particles->species->charge * particles->weight / (grid->dx * grid->dy);
    const uint64_t reals_per_node = deposit->planes + (first ? UINT64_C(1) : UINT64_C(2));
    return KERNEL_LAUNCH(deposit->nodes,
                         launch_covering(cells, deposit->group_items, STAGE_DEPOSIT,
                                         cells * reals_per_node * precision_bytes(deposit->precision)),
                         arg_buffer(deposit->cell_sums), arg_uint(grid->nx), arg_uint(grid->ny),
                         arg_real(factor), arg_uint(first), arg_buffer(rho));
}
