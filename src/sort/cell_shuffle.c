/* Cell shuffle: launches of kernels/cell_shuffle.cl. */
#include "sort/cell_shuffle.h"

#include "base/integers.h"

/* What suits each kind of device. More slots than compute units, so that a late one does not keep
 * all waiting. A tile of 32 KiB fits the local memory of every OpenCL device. */
enum { SLOTS_PER_UNIT = 8, TILE = 4096 };

/* A cell's words, 96 KiB, stay in the second cache of a CPU, and those of 1,024 in the first. */
static const struct cell_shuffle_options for_cpu = {
    .column_items = 1, .way = SHUFFLE_BY_BUCKETS, .column_most = 4096, .group_items = 1, .tile = TILE};
/* An estimate: 1 KiB of scratch an item, so that the caches hold that of many. */
static const struct cell_shuffle_options for_gpu = {
    .column_items = 64, .way = SHUFFLE_BY_NETWORK, .column_most = 128, .group_items = 256, .tile = TILE};

struct cell_shuffle {
    uint32_t cells, capacity;
    struct cell_shuffle_options shape;
    struct kernel *columns, *sort_tiles, *far, *near;
    struct buffer *scratch; /* ulong[slots][SLOT_WORDS] */
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

/* What `options` leaves open is what suits the device. */
static struct cell_shuffle_options shape_for(const struct device *device, uint32_t cells,
                                             const struct cell_shuffle_options *options)
{
    const struct device_info *info = device_info(device);
    const struct cell_shuffle_options open = {0}, *const given = options ? options : &open;
    const struct cell_shuffle_options *const suitable = info->is_cpu ? &for_cpu : &for_gpu;
    struct cell_shuffle_options shape = {
        .column_items = either(given->column_items, device_group_items(device, suitable->column_items)),
        .way = (enum shuffle_way)either(given->way, suitable->way),
        .column_most = either(given->column_most, suitable->column_most),
        .slots = either(given->slots, (size_t)SLOTS_PER_UNIT * info->compute_units),
        .group_items = either(given->group_items, device_group_items(device, suitable->group_items)),
        .tile = either(given->tile, suitable->tile)};
    shape.slots = at_most(shape.slots, divide_up(cells, shape.column_items));
    return shape;
}

/* A tile for each cell that can be long, and one for each full tile. */
static size_t most_tiles(const struct cell_shuffle *shuffle)
{
    const uint32_t most_long = shuffle->capacity / (shuffle->shape.column_most + 1);
    return (size_t)at_most(shuffle->cells, most_long) + shuffle->capacity / shuffle->shape.tile;
}

static enum status build(struct device *device, struct cell_shuffle *shuffle)
{
    const struct cell_shuffle_options *shape = &shuffle->shape;
    struct program *program = NULL;
    TRY(program_build(device, "cell_shuffle.cl", PRECISION_SINGLE, &program,
                      "-D COLUMN_ITEMS=%u -D BUCKETS=%d -D COLUMN_MOST=%u -D GROUP_ITEMS=%u -D TILE=%u",
                      shape->column_items, shape->way == SHUFFLE_BY_BUCKETS, shape->column_most,
                      shape->group_items, shape->tile));
    TRY(kernel_create(program, "shuffle_columns", &shuffle->columns));
    TRY(kernel_create(program, "shuffle_tiles", &shuffle->sort_tiles));
    TRY(kernel_create(program, "shuffle_far", &shuffle->far));
    TRY(kernel_create(program, "shuffle_near", &shuffle->near));
    const size_t row =
        shape->way == SHUFFLE_BY_BUCKETS ? 3 : shape->column_items; /* SLOT_WORDS of the kernel */
    const size_t words = (size_t)shape->slots * shape->column_most * row;
    TRY(buffer_create(device, words * sizeof(uint64_t), "cell shuffle's scratch", &shuffle->scratch));
    TRY(buffer_create(device, sizeof(struct summary), "cell shuffle's summary", &shuffle->summary));
    return buffer_create(device, most_tiles(shuffle) * 2 * sizeof(uint32_t), "cell shuffle's tiles",
                         &shuffle->tiles);
}

enum status cell_shuffle_create(struct device *device, uint32_t cells, uint32_t capacity,
                                const struct cell_shuffle_options *options, struct cell_shuffle **shuffle)
{
    TRY(DEVICE_NEW(device, *shuffle));
    **shuffle = (struct cell_shuffle){
        .cells = cells, .capacity = capacity, .shape = shape_for(device, cells, options)};
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
    const struct launch launch = {shape->slots, shape->column_items, STAGE_COLLISIONS,
                                  ((uint64_t)count + shuffle->cells) * sizeof(uint32_t)};
    TRY(buffer_fill(shuffle->summary, 0));
    TRY(KERNEL_LAUNCH(shuffle->columns, launch, cell_offsets, shuffle->cells, seed, species, step,
                      shuffle->scratch, shuffle->summary, shuffle->tiles, permutation));
    struct summary summary;
    TRY(buffer_read(shuffle->summary, 0, sizeof summary, &summary));
    const struct run run = {cell_offsets, permutation, seed, step, species};
    return shuffle_tiles(shuffle, &run, &summary);
}
