/* NDPA: launch shapes, tables and launches of kernels/ndpa.cl. */
#include "experiments/permutation/ndpa.h"

#include "base/integers.h"

#include <inttypes.h>

enum {
    WARP = 32,
    MOST_GROUP_ITEMS = 256,
    CELLS_GROUP_ITEMS = 128,  /* so many at least, as small cells as may be */
    THREADS_GROUP_ITEMS = 64, /* at most */
    CPU_HELD_BYTES = 16384,   /* of the cells of a group: stays in the first cache */
    GPU_BAR_BYTES = 8192,     /* eight groups of a compute unit have room for such bars */
    CPU_BAR_BYTES = 16384
};

/* What a launch of the chosen kind needs. */
struct ndpa_plan {
    uint32_t cell_elements;
    uint32_t group_items, team;           /* items of a group, and of those one cell's */
    uint32_t bar_cells;                   /* at most; 1 where the kind is not of bars */
    uint32_t counts[NDPA_MAX_DIMENSIONS]; /* cells along each axis; bars along the last */
    uint32_t steps[NDPA_MAX_DIMENSIONS];  /* between them, in elements of the volume */
    uint32_t pieces;                      /* cells or bars in all */
    uint32_t width;                       /* elements of a row of a whole bar */
    uint32_t split;                       /* the first axis of the table `low` */
};

struct ndpa {
    struct device *device; /* not owned */
    struct ndpa_shape shape;
    enum ndpa_kind kind;
    struct ndpa_plan plan;
    uint32_t strides[NDPA_MAX_DIMENSIONS]; /* of the volume, in elements */
    struct kernel *permute;
    struct buffer *map;                        /* of all kinds but NDPA_TABLES */
    struct buffer *high, *low, *rows, *inside; /* of NDPA_TABLES */
};

static bool takes_bars(enum ndpa_kind kind)
{
    return kind == NDPA_BARS || kind == NDPA_TABLES;
}

/* ---- launch shapes ---- */

/* An item has a cell of its own: `wanted` of them, or the power of two that local memory holds. */
static void plan_threads(const struct device *device, size_t cell_bytes, uint32_t wanted,
                         struct ndpa_plan *plan)
{
    const struct device_info *info = device_info(device);
    const size_t held = info->is_cpu ? at_most(info->local_memory, CPU_HELD_BYTES) : info->local_memory;
    const uint32_t limit = (uint32_t)device_group_items(device, wanted > 0 ? wanted : THREADS_GROUP_ITEMS);
    plan->team = plan->group_items = 1;
    while (2 * plan->group_items <= limit && 2 * plan->group_items * cell_bytes <= held)
        plan->group_items *= 2;
}

/* An item for each element of a cell, and in a group as many cells as make it large enough. */
static void plan_cells(const struct device *device, size_t cell_bytes, uint32_t wanted,
                       struct ndpa_plan *plan)
{
    const uint32_t limit = (uint32_t)device_group_items(device, wanted > 0 ? wanted : MOST_GROUP_ITEMS);
    const uint32_t group = limit < CELLS_GROUP_ITEMS ? limit : CELLS_GROUP_ITEMS;
    plan->team = at_most(plan->cell_elements, limit);
    plan->group_items =
        plan->team * at_most(at_least(group / plan->team, 1), device_info(device)->local_memory / cell_bytes);
}

/* As many cells as make a bar of a good size, all bars of a row of cells about as long. */
static void plan_bars(const struct device *device, const struct ndpa_shape *shape, size_t cell_bytes,
                      uint32_t wanted, struct ndpa_plan *plan)
{
    const struct device_info *info = device_info(device);
    const uint32_t last = shape->dimensions - 1, cells = shape->sides[last] / shape->cell_side;
    const size_t good = info->is_cpu ? CPU_BAR_BYTES : GPU_BAR_BYTES;
    const uint32_t most = at_least(at_most(cells, at_most(info->local_memory, good) / cell_bytes), 1);
    plan->bar_cells = divide_up(cells, divide_up(cells, most));
    plan->counts[last] = divide_up(cells, plan->bar_cells);
    plan->width = plan->steps[last] = plan->bar_cells * shape->cell_side;
    const uint64_t elements = (uint64_t)plan->cell_elements * plan->bar_cells;
    /* a CPU's item has a bar for itself */
    const uint32_t usual = info->is_cpu ? 1 : at_most(round_up(elements, WARP), MOST_GROUP_ITEMS);
    plan->group_items = (uint32_t)device_group_items(device, wanted > 0 ? wanted : usual);
}

/* Cells or bars along axes `begin` to `end` - 1, together. */
static uint32_t count_pieces(const struct ndpa_plan *plan, uint32_t begin, uint32_t end)
{
    uint32_t count = 1;
    for (uint32_t k = begin; k < end; k++)
        count *= plan->counts[k];
    return count;
}

/* The split of the axes at which the two tables of bars have the fewest entries together. */
static uint32_t best_split(const struct ndpa_shape *shape, const struct ndpa_plan *plan)
{
    uint32_t best = 0;
    uint64_t fewest = UINT64_MAX;
    for (uint32_t split = 0; split < shape->dimensions; split++) {
        const uint64_t low = count_pieces(plan, split, shape->dimensions);
        const uint64_t entries = count_pieces(plan, 0, split) + 2 * low;
        if (entries < fewest) {
            fewest = entries;
            best = split;
        }
    }
    return best;
}

/* With `wanted` items in a group, or as suits the device where that is 0. */
static enum status make_plan(struct ndpa *ndpa, uint32_t wanted)
{
    const struct ndpa_shape *shape = &ndpa->shape;
    struct ndpa_plan *plan = &ndpa->plan;
    const size_t local_memory = device_info(ndpa->device)->local_memory;
    const uint64_t cell_elements = ndpa_cell_elements(shape);
    const uint64_t cell_bytes = cell_elements * sizeof(uint32_t);
    if (cell_bytes > local_memory)
        return status_fail(STATUS_USAGE,
                           "a cell of %" PRIu32 "^%" PRIu32 " elements, %" PRIu64
                           " bytes, does not fit the %zu bytes of local memory of %s: take a smaller cell",
                           shape->cell_side, shape->dimensions, cell_bytes, local_memory,
                           device_info(ndpa->device)->name);
    *plan = (struct ndpa_plan){.cell_elements = (uint32_t)cell_elements, .bar_cells = 1, .team = 1};
    uint32_t stride = 1;
    for (uint32_t k = shape->dimensions; k-- > 0; stride *= shape->sides[k]) {
        ndpa->strides[k] = stride;
        plan->counts[k] = shape->sides[k] / shape->cell_side;
        plan->steps[k] = stride * shape->cell_side;
    }
    const bool alone = device_info(ndpa->device)->is_cpu && wanted == 0;
    if (takes_bars(ndpa->kind))
        plan_bars(ndpa->device, shape, cell_bytes, wanted, plan);
    else if (ndpa->kind == NDPA_CELLS && !alone)
        plan_cells(ndpa->device, cell_bytes, wanted, plan);
    else
        plan_threads(ndpa->device, cell_bytes, wanted, plan);
    plan->pieces = count_pieces(plan, 0, shape->dimensions);
    plan->split = best_split(shape, plan);
    return STATUS_OK;
}

/* ---- tables ---- */

static enum status keep_table(struct ndpa *ndpa, const uint32_t *table, size_t count, struct buffer **buffer)
{
    return buffer_create_with(ndpa->device, count * sizeof *table, "a table of places in a volume", table,
                              buffer);
}

static enum status create_map(struct ndpa *ndpa, const uint32_t *axes)
{
    const uint32_t dimensions = ndpa->shape.dimensions;
    uint32_t map[4 * NDPA_MAX_DIMENSIONS], inside_stride[NDPA_MAX_DIMENSIONS], stride = 1;
    for (uint32_t k = dimensions; k-- > 0; stride *= ndpa->shape.cell_side)
        inside_stride[k] = stride;
    for (uint32_t k = 0; k < dimensions; k++) {
        map[k] = ndpa->plan.counts[k];
        map[dimensions + k] = ndpa->plan.steps[k];
        map[2 * dimensions + k] = ndpa->strides[k];
        map[3 * dimensions + k] = inside_stride[axes[k]];
    }
    return keep_table(ndpa, map, 4 * (size_t)dimensions, &ndpa->map);
}

/* Place of piece `number` among those along axes `begin` to `end` - 1. */
static uint32_t partial_place(const struct ndpa_plan *plan, uint32_t begin, uint32_t end, uint32_t number)
{
    uint32_t place = 0;
    for (uint32_t k = end; k-- > begin; number /= plan->counts[k])
        place += number % plan->counts[k] * plan->steps[k];
    return place;
}

/* Columns of bar `along` of a row of bars. */
static uint32_t columns_of(const struct ndpa *ndpa, uint32_t along)
{
    return at_most(ndpa->shape.sides[ndpa->shape.dimensions - 1] - (uint64_t)along * ndpa->plan.width,
                   ndpa->plan.width);
}

/* The memory of the host is that of `scratch`. */
static enum status create_tables(struct ndpa *ndpa, struct device *scratch, const uint32_t *axes)
{
    const struct ndpa_shape *shape = &ndpa->shape;
    const struct ndpa_plan *plan = &ndpa->plan;
    const uint32_t p = shape->cell_side, elements = plan->cell_elements, dimensions = shape->dimensions;
    const uint32_t high_count = count_pieces(plan, 0, plan->split);
    const uint32_t low_count = count_pieces(plan, plan->split, dimensions);
    uint32_t *high, (*low)[2], *rows, *inside;
    TRY(DEVICE_NEW_ARRAY(scratch, high, high_count));
    TRY(DEVICE_NEW_ARRAY(scratch, low, low_count));
    TRY(DEVICE_NEW_ARRAY(scratch, rows, elements / p));
    TRY(DEVICE_NEW_ARRAY(scratch, inside, elements));
    for (uint32_t n = 0; n < high_count; n++)
        high[n] = partial_place(plan, 0, plan->split, n);
    for (uint32_t n = 0; n < low_count; n++) {
        low[n][0] = partial_place(plan, plan->split, dimensions, n);
        low[n][1] = columns_of(ndpa, n % plan->counts[dimensions - 1]);
    }
    for (uint32_t n = 0; n < elements / p; n++)
        rows[n] = ndpa_place_in_cell(shape, n * p);
    for (uint32_t e = 0; e < elements; e++) {
        const uint32_t before = ndpa_source_in_cell(shape, axes, e);
        inside[e] = before / p * plan->width + before % p;
    }
    TRY(keep_table(ndpa, high, high_count, &ndpa->high));
    TRY(keep_table(ndpa, low[0], 2 * (size_t)low_count, &ndpa->low));
    TRY(keep_table(ndpa, rows, elements / p, &ndpa->rows));
    return keep_table(ndpa, inside, elements, &ndpa->inside);
}

/* ---- creation ---- */

static enum status build(struct ndpa *ndpa)
{
    static const char *const kernels[NDPA_KINDS] = {[NDPA_THREADS] = "ndpa_cells",
                                                    [NDPA_CELLS] = "ndpa_cells",
                                                    [NDPA_BARS] = "ndpa_bars",
                                                    [NDPA_TABLES] = "ndpa_tables"};
    const struct ndpa_plan *plan = &ndpa->plan;
    struct program *program = NULL;
    TRY(program_build(ndpa->device, "ndpa.cl", PRECISION_SINGLE, &program,
                      "-D DIMENSIONS=%" PRIu32 " -D CELL_SIDE=%" PRIu32 " -D CELL_ELEMENTS=%" PRIu32
                      " -D ALONE=%d -D TEAM=%" PRIu32,
                      ndpa->shape.dimensions, ndpa->shape.cell_side, plan->cell_elements,
                      plan->group_items == 1, plan->team));
    return kernel_create(program, kernels[ndpa->kind], &ndpa->permute);
}

enum status ndpa_create(struct device *device, const struct ndpa_shape *shape, const uint32_t *axes,
                        enum ndpa_kind kind, uint32_t group_items, struct ndpa **ndpa)
{
    struct ndpa *created = NULL;
    struct device *scratch = NULL;
    *ndpa = NULL;
    TRY(ndpa_check(shape, axes));
    TRY(DEVICE_NEW(device, created));
    created->device = device;
    created->shape = *shape;
    created->kind = kind;
    TRY(make_plan(created, group_items));
    TRY(build(created));
    TRY(device_branch(device, &scratch));
    TRY(kind == NDPA_TABLES ? create_tables(created, scratch, axes) : create_map(created, axes));
    device_close(&scratch);
    *ndpa = created;
    return STATUS_OK;
}

/* ---- launches ---- */

enum status ndpa_permute(struct ndpa *ndpa, struct buffer *volume)
{
    const struct ndpa_shape *shape = &ndpa->shape;
    const struct ndpa_plan *plan = &ndpa->plan;
    const size_t bytes = ndpa_bytes(shape), cell_bytes = plan->cell_elements * sizeof(uint32_t);
    const size_t held =
        takes_bars(ndpa->kind) ? cell_bytes * plan->bar_cells : cell_bytes * (plan->group_items / plan->team);
    if (buffer_bytes(volume) < bytes)
        return status_fail(STATUS_FAILED, "a volume to permute has %zu bytes, less than the %zu of its shape",
                           buffer_bytes(volume), bytes);
    const struct launch by_bar = {plan->pieces, plan->group_items, STAGE_OUTPUT, 2 * bytes};
    const struct launch by_cell =
        launch_covering((uint64_t)plan->pieces * plan->team, plan->group_items, STAGE_OUTPUT, 2 * bytes);
    const uint32_t last = shape->dimensions - 1, last_columns = columns_of(ndpa, plan->counts[last] - 1);
    const uint64_t whole = UINT64_C(1) << 32; /* the reciprocals are parts of it */
    if (ndpa->kind == NDPA_TABLES)
        return KERNEL_LAUNCH(ndpa->permute, by_bar, volume, ndpa->high, ndpa->low, ndpa->rows, ndpa->inside,
                             count_pieces(plan, plan->split, shape->dimensions), plan->width,
                             divide_up(whole, plan->width), divide_up(whole, last_columns), arg_local(held));
    if (ndpa->kind == NDPA_BARS)
        return KERNEL_LAUNCH(ndpa->permute, by_bar, volume, ndpa->map, plan->width, shape->sides[last],
                             arg_local(held));
    return KERNEL_LAUNCH(ndpa->permute, by_cell, volume, ndpa->map, plan->pieces, arg_local(held));
}
