/* Cell shuffle: launches of kernels/cell_shuffle.cl. */
#include "sort/cell_shuffle.h"

#include "base/integers.h"
#include "shared/lanes.h"

enum {
    GROUPS_PER_UNIT = 8, /* of a CPU: a late one does not keep all waiting; a GPU has one a cell */
    GROUP_ITEMS = 256,   /* of a GPU; a CPU has one */
    CELL_ITEMS = 64, /* or a multiple, with short cells: an item for each QUAD of particles, as they draw */
    QUAD = 4,
    CELL_MOST = 128, /* particles of a short cell, or a multiple */
    WORD_BYTES = 16, /* of local memory for each */
    TILE = 4096      /* 32 KiB fit the local memory of every OpenCL device */
};

struct cell_shuffle {
    uint32_t cells, capacity;
    struct cell_shuffle_options shape;
    uint32_t cells_of_group;
    struct kernel *sort_cells, *sort_tiles, *far, *near;
    struct buffer *summary; /* struct summary */
    struct buffer *tiles;   /* uint2[most_tiles()], of long cells: the cell, and where in it a tile begins */
};

/* What the device tells of the long cells. */
struct summary {
    uint32_t tiles;
    uint32_t longest; /* most particles of a cell; 0 if none is long */
};

static uint32_t either(uint32_t given, size_t suitable)
{
    return given > 0 ? given : (uint32_t)suitable;
}

/* No more than that: many groups then have room in local memory beside one another. */
static uint32_t choose_most(const struct device_info *info, uint32_t cells, uint32_t capacity)
{
    const uint64_t room = (info->local_memory - GROUP_ITEMS * sizeof(uint32_t)) / WORD_BYTES;
    return at_most(round_up(at_most(cell_shuffle_usual(cells, capacity), room), CELL_MOST), room);
}

/* What `options` leaves open is what suits the device and the list. */
static struct cell_shuffle_options shape_for(const struct device *device, uint32_t cells, uint32_t capacity,
                                             const struct cell_shuffle_options *options)
{
    const struct device_info *info = device_info(device);
    const struct cell_shuffle_options open = {0}, *const given = options ? options : &open;
    const uint32_t most = either(given->cell_most, choose_most(info, cells, capacity));
    const uint32_t items = at_most(round_up(divide_up(most, QUAD), CELL_ITEMS), GROUP_ITEMS);
    return (struct cell_shuffle_options){
        .cell_most = most,
        .cell_items = either(given->cell_items, info->is_cpu ? 1 : device_group_items(device, items)),
        .group_items = either(given->group_items, info->is_cpu ? 1 : device_group_items(device, GROUP_ITEMS)),
        .tile = either(given->tile, TILE)};
}

/* A tile for each cell that can be long, and one for each full tile. */
static size_t most_tiles(const struct cell_shuffle *shuffle)
{
    const uint32_t most_long = shuffle->capacity / (shuffle->shape.cell_most + 1);
    return (size_t)at_most(shuffle->cells, most_long) + shuffle->capacity / shuffle->shape.tile;
}

static enum status build(struct device *device, struct cell_shuffle *shuffle)
{
    const struct cell_shuffle_options *shape = &shuffle->shape;
    struct program *program = NULL;
    TRY(program_build(device, "cell_shuffle.cl", PRECISION_SINGLE, &program,
                      "-D CELL_ITEMS=%u -D CELL_MOST=%u -D GROUP_ITEMS=%u -D TILE=%u -D LANES=%d",
                      shape->cell_items, shape->cell_most, shape->group_items, shape->tile,
                      shape->cell_items == 1 ? CPU_LANES : 1));
    TRY(kernel_create(program, "shuffle_cells", &shuffle->sort_cells));
    TRY(kernel_create(program, "shuffle_tiles", &shuffle->sort_tiles));
    TRY(kernel_create(program, "shuffle_far", &shuffle->far));
    TRY(kernel_create(program, "shuffle_near", &shuffle->near));
    TRY(buffer_create(device, sizeof(struct summary), "cell shuffle's summary", &shuffle->summary));
    return buffer_create(device, most_tiles(shuffle) * 2 * sizeof(uint32_t), "cell shuffle's tiles",
                         &shuffle->tiles);
}

enum status cell_shuffle_create(struct device *device, uint32_t cells, uint32_t capacity,
                                const struct cell_shuffle_options *options, struct cell_shuffle **shuffle)
{
    TRY(DEVICE_NEW(device, *shuffle));
    const struct device_info *info = device_info(device);
    const uint32_t groups =
        info->is_cpu ? at_most(cells, (uint64_t)GROUPS_PER_UNIT * info->compute_units) : cells;
    **shuffle = (struct cell_shuffle){.cells = cells,
                                      .capacity = capacity,
                                      .shape = shape_for(device, cells, capacity, options),
                                      .cells_of_group = divide_up(cells, groups)};
    return build(device, *shuffle);
}

/* ---- shuffling ---- */

/* What every launch for long cells needs. */
struct run {
    const struct buffer *cell_offsets, *permutation;
    uint64_t seed, step;
    uint32_t species;
};

#define TILE_ARGUMENTS(shuffle, run)                                                                         \
    (run)->cell_offsets, (shuffle)->tiles, (run)->seed, (run)->species, (run)->step

/* Merges sorted runs of `length` in all cells longer than that. */
static enum status merge_runs(struct cell_shuffle *shuffle, const struct run *run, struct launch launch,
                              uint32_t length)
{
    uint32_t mask = 2 * length - 1; /* all ones where the double has no room */
    for (uint32_t half = length; half >= shuffle->shape.tile; half /= 2, mask = half)
        TRY(KERNEL_LAUNCH(shuffle->far, launch, TILE_ARGUMENTS(shuffle, run), length, half, mask,
                          run->permutation));
    return KERNEL_LAUNCH(shuffle->near, launch, TILE_ARGUMENTS(shuffle, run), length, run->permutation);
}

static enum status shuffle_tiles(struct cell_shuffle *shuffle, const struct run *run,
                                 const struct summary *summary)
{
    const uint64_t bytes = (uint64_t)summary->tiles * shuffle->shape.tile * sizeof(uint32_t);
    const struct launch launch = {summary->tiles, shuffle->shape.group_items, STAGE_COLLISIONS, bytes};
    TRY(KERNEL_LAUNCH(shuffle->sort_tiles, launch, TILE_ARGUMENTS(shuffle, run), run->permutation));
    for (uint64_t length = shuffle->shape.tile; length < summary->longest; length *= 2)
        TRY(merge_runs(shuffle, run, launch, (uint32_t)length));
    return STATUS_OK;
}

enum status cell_shuffle_run(struct cell_shuffle *shuffle, const struct buffer *cell_offsets, uint32_t count,
                             uint64_t seed, uint32_t species, uint64_t step, const struct buffer *permutation)
{
    if (count > shuffle->capacity)
        return status_fail(STATUS_FAILED, "cannot shuffle %u particles: the cell shuffle has room for %u",
                           count, shuffle->capacity);
    if (count == 0)
        return STATUS_OK;
    const struct cell_shuffle_options *shape = &shuffle->shape;
    const struct launch launch = {divide_up(shuffle->cells, shuffle->cells_of_group), shape->cell_items,
                                  STAGE_COLLISIONS, ((uint64_t)count + shuffle->cells) * sizeof(uint32_t)};
    TRY(buffer_fill(shuffle->summary, 0));
    TRY(KERNEL_LAUNCH(shuffle->sort_cells, launch, cell_offsets, shuffle->cells, shuffle->cells_of_group,
                      seed, species, step, shuffle->summary, shuffle->tiles, permutation));
    struct summary summary;
    TRY(buffer_read(shuffle->summary, 0, sizeof summary, &summary));
    const struct run run = {cell_offsets, permutation, seed, step, species};
    return shuffle_tiles(shuffle, &run, &summary);
}
