/* Cell shuffle: launches of kernels/cell_shuffle.cl. */
#include "sort/cell_shuffle.h"

#include "base/integers.h"
#include "shared/lanes.h"

enum {
    GROUPS_PER_UNIT = 8, /* a late one does not keep all waiting; of short cells a GPU has one each */
    MOST_ITEMS = 256,    /* of a GPU's group; a CPU's has one */
    CELL_ITEMS = 64, /* or a multiple, with short cells: an item for each QUAD of particles, as they draw */
    QUAD = 4,
    CELL_MOST = 128,    /* particles of a short cell, at least */
    WORD_BYTES = 16,    /* of local memory for each */
    LONG_BUCKETS = 4096 /* 16 KiB of local memory */
};

struct cell_shuffle {
    uint32_t cells, capacity;
    struct cell_shuffle_options shape;
    uint32_t cells_of_group, long_cells_of_group, most_long;
    struct kernel *short_cells, *long_cells;
    struct buffer *number, *listed; /* uint: how many long cells there are, and these */
};

static uint32_t either(uint32_t given, size_t suitable)
{
    return given > 0 ? given : (uint32_t)suitable;
}

/* The options, and where they are open what suits the device and the list. */
static struct cell_shuffle_options shape_for(const struct device *device, uint32_t cells, uint32_t capacity,
                                             const struct cell_shuffle_options *options)
{
    const struct device_info *info = device_info(device);
    const struct cell_shuffle_options open = {0}, *const given = options ? options : &open;
    const uint64_t fitting = (info->local_memory - MOST_ITEMS * sizeof(uint32_t)) / WORD_BYTES;
    /* No more than that, so that the local memory of a GPU holds many groups beside one another; on a CPU in
     * powers of two, which few programs have. */
    const uint32_t usual = at_least(at_most(cell_shuffle_usual(cells, capacity), fitting), CELL_MOST);
    const uint32_t rounded = info->is_cpu ? UINT32_C(1) << bits_below(usual) : round_up(usual, CELL_MOST);
    const uint32_t most = either(given->cell_most, at_most(rounded, fitting));
    const uint32_t items = at_most(round_up(divide_up(most, QUAD), CELL_ITEMS), MOST_ITEMS);
    return (struct cell_shuffle_options){
        .cell_most = most,
        .cell_items = either(given->cell_items, info->is_cpu ? 1 : device_group_items(device, items)),
        .long_buckets = either(given->long_buckets, LONG_BUCKETS)};
}

static enum status build(struct device *device, struct cell_shuffle *shuffle)
{
    const struct cell_shuffle_options *shape = &shuffle->shape;
    struct program *program = NULL;
    TRY(program_build(device, "cell_shuffle.cl", PRECISION_SINGLE, &program,
                      "-D CELL_ITEMS=%u -D CELL_MOST=%u -D LONG_BUCKETS=%u -D LANES=%d", shape->cell_items,
                      shape->cell_most, shape->long_buckets, shape->cell_items == 1 ? CPU_LANES : 1));
    TRY(kernel_create(program, "shuffle_cells", &shuffle->short_cells));
    TRY(kernel_create(program, "shuffle_long_cells", &shuffle->long_cells));
    TRY(buffer_create(device, sizeof(uint32_t), "the number of long cells", &shuffle->number));
    return buffer_create(device, shuffle->most_long * sizeof(uint32_t), "the long cells", &shuffle->listed);
}

enum status cell_shuffle_create(struct device *device, uint32_t cells, uint32_t capacity,
                                const struct cell_shuffle_options *options, struct cell_shuffle **shuffle)
{
    TRY(DEVICE_NEW(device, *shuffle));
    const struct device_info *info = device_info(device);
    const uint64_t groups = (uint64_t)GROUPS_PER_UNIT * info->compute_units;
    const struct cell_shuffle_options shape = shape_for(device, cells, capacity, options);
    const uint32_t most_long = at_most(cells, capacity / (shape.cell_most + 1));
    **shuffle = (struct cell_shuffle){.cells = cells,
                                      .capacity = capacity,
                                      .shape = shape,
                                      .cells_of_group = info->is_cpu ? divide_up(cells, groups) : 1,
                                      .long_cells_of_group = divide_up(most_long, groups),
                                      .most_long = most_long};
    return build(device, *shuffle);
}

enum status cell_shuffle_run(struct cell_shuffle *shuffle, const struct buffer *cell_offsets, uint32_t count,
                             uint64_t seed, uint32_t species, uint64_t step, const struct buffer *permutation)
{
    if (count > shuffle->capacity)
        return status_fail(STATUS_FAILED, "cannot shuffle %u particles: the cell shuffle has room for %u",
                           count, shuffle->capacity);
    if (count == 0)
        return STATUS_OK;
    const uint32_t items = shuffle->shape.cell_items;
    TRY(buffer_fill(shuffle->number, 0));
    TRY(KERNEL_LAUNCH(
        shuffle->short_cells,
        ((struct launch){divide_up(shuffle->cells, shuffle->cells_of_group), items, STAGE_COLLISIONS,
                         ((uint64_t)count + shuffle->cells) * sizeof(uint32_t)}),
        cell_offsets, shuffle->cells, shuffle->cells_of_group, seed, species, step, shuffle->number,
        shuffle->listed, permutation));
    if (shuffle->most_long == 0)
        return STATUS_OK;
    return KERNEL_LAUNCH(shuffle->long_cells,
                         ((struct launch){divide_up(shuffle->most_long, shuffle->long_cells_of_group), items,
                                          STAGE_COLLISIONS, 0}),
                         cell_offsets, shuffle->long_cells_of_group, seed, species, step, shuffle->number,
                         shuffle->listed, permutation);
}
