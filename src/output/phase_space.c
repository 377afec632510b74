/* Phase space: launches of kernels/phase_space.cl, and the permutation. */
#include "output/phase_space.h"

#include "base/integers.h"

#include <inttypes.h>
#include <string.h>

enum { GROUP_ITEMS = 256 /* 1 on a CPU */, GROUPS_PER_UNIT = 16 };

/* ---- volumes ---- */

/* So that a chunk has 4,096 elements: enough for HDF5 to compress, and few enough for local memory. */
static const uint32_t cell_sides[CONFIG_PHASE_AXES + 1] = {0, 4096, 64, 16, 8};

struct phase_volume phase_volume_make(const struct phase_space_config *space)
{
    const uint32_t dimensions = space->axis_count, side = cell_sides[dimensions];
    struct phase_volume volume = {
        .shape = {.dimensions = dimensions, .cell_side = side, .element_bytes = sizeof(uint32_t)},
        .chunk_elements = 1,
        .chunk_count = 1};
    for (uint32_t k = 0; k < dimensions; k++) {
        volume.axes[k] = phase_axis_find(space, phase_axis_written(space, k));
        volume.is_permuted |= volume.axes[k] != k;
    }
    for (uint32_t k = 0; k < dimensions; k++) {
        const uint32_t bins = space->axes[volume.axes[k]].bins, own = space->axes[k].bins;
        volume.shape.sides[k] = volume.is_permuted ? divide_up(own, side) * side : own;
        volume.bins[k] = bins;
        volume.chunk[k] = bins < side ? bins : side;
        volume.chunks[k] = divide_up(bins, volume.chunk[k]);
        volume.chunk_elements *= volume.chunk[k];
        volume.chunk_count *= volume.chunks[k];
    }
    return volume;
}

void phase_volume_read_chunk(const struct phase_volume *volume, const uint32_t *counts, uint64_t number,
                             uint64_t *values)
{
    const uint32_t dimensions = volume->shape.dimensions, last = dimensions - 1, row = volume->chunk[last];
    uint32_t chunk[CONFIG_PHASE_AXES], at[CONFIG_PHASE_AXES];
    ndpa_subscript(dimensions, volume->chunks, number, chunk);
    memset(values, 0, volume->chunk_elements * sizeof *values);
    for (uint64_t first = 0; first < volume->chunk_elements; first += row) {
        bool is_inside = true;
        ndpa_subscript(dimensions, volume->chunk, first, at);
        for (uint32_t k = 0; k < dimensions; k++) {
            at[k] += chunk[k] * volume->chunk[k];
            is_inside &= at[k] < volume->bins[k];
        }
        const uint64_t place = is_inside ? ndpa_place(&volume->shape, volume->axes, at) : 0;
        for (uint32_t n = 0; n < row && at[last] + n < volume->bins[last] && is_inside; n++)
            values[first + n] = counts[place + n];
    }
}

/* ---- creation ---- */

enum status phase_spaces_create(struct device *device, const struct config *config, void **part)
{
    const struct phase_space_config *space = config->output.phase_space;
    const uint32_t count = config->output.phase_space_count;
    struct phase_volume volumes[CONFIG_MAX_PHASE_SPACES];
    struct phase_spaces *spaces;
    size_t room = 0;
    *part = NULL;
    for (uint32_t i = 0; i < count; i++) {
        volumes[i] = phase_volume_make(&space[i]);
        if (ndpa_elements(&volumes[i].shape) > UINT32_MAX)
            return status_fail(STATUS_USAGE,
                               "output.phase_space.%" PRIu32 ".axes: expected at most %" PRIu32
                               " bins, found %" PRIu64 ": in another order than that of axes those of each "
                               "axis are rounded up to a multiple of %" PRIu32,
                               i, UINT32_MAX, ndpa_elements(&volumes[i].shape), volumes[i].shape.cell_side);
        if (space[i].every > 0 && ndpa_bytes(&volumes[i].shape) > room)
            room = ndpa_bytes(&volumes[i].shape);
    }
    if (room == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, spaces));
    *part = spaces;
    spaces->device = device;
    spaces->group_items = device_row_items(device, GROUP_ITEMS);
    TRY(program_build(device, "phase_space.cl", config->precision, &spaces->program, "-D GROUP_ITEMS=%zu",
                      spaces->group_items));
    TRY(kernel_create(spaces->program, "phase_space_count", &spaces->count));
    TRY(buffer_create(device, room, "the bins of phase space", &spaces->room));
    for (uint32_t i = 0; i < count; i++) {
        struct phase_space *item = &spaces->items[i];
        item->volume = volumes[i];
        if (space[i].every > 0 && volumes[i].is_permuted)
            TRY(ndpa_create(device, &volumes[i].shape, volumes[i].axes, NDPA_TABLES, 0, &item->ndpa));
        if (space[i].every > 0)
            TRY(buffer_view(spaces->room, 0, ndpa_bytes(&volumes[i].shape), &item->counts));
    }
    return STATUS_OK;
}

/* ---- counting ---- */

/* The bins along an axis: of `cells` whole cells each from cell `begin` on, or of velocities. Where f is no
 * function of the axis the stride is 0, and x and y have one bin, the whole box, u, v and w none. */
struct bins {
    uint32_t count, stride; /* in elements of the device's volume */
    uint32_t begin, cells;  /* x, y */
    double low, per_unit;   /* u, v, w */
};

static struct bins bins_along(const struct view *view, uint32_t index, const struct phase_volume *volume,
                              enum phase_axis axis)
{
    const struct phase_space_config *space = &view->config->output.phase_space[index];
    const struct grid_config *grid = &view->config->grid;
    const uint32_t k = phase_axis_find(space, axis);
    const bool is_space = phase_axis_is_space(axis);
    if (k == space->axis_count)
        return is_space ? (struct bins){.count = 1, .cells = grid->cells[axis]} : (struct bins){0};
    const double *range = space->axes[k].range;
    struct bins bins = {.count = space->axes[k].bins, .stride = 1};
    for (uint32_t n = k + 1; n < space->axis_count; n++)
        bins.stride *= volume->shape.sides[n];
    if (is_space) {
        bins.begin = phase_axis_edge(grid, axis, range[0]);
        bins.cells = (phase_axis_edge(grid, axis, range[1]) - bins.begin) / bins.count;
    } else {
        bins.low = range[0];
        bins.per_unit = bins.count / (range[1] - range[0]);
    }
    return bins;
}

static enum status count_list(const struct phase_spaces *spaces, const struct view *view, uint32_t index,
                              const struct particles *list)
{
    const struct phase_space *item = &spaces->items[index];
    const struct slab *slab = view->slab;
    const struct bins x = bins_along(view, index, &item->volume, PHASE_AXIS_X);
    const struct bins y = bins_along(view, index, &item->volume, PHASE_AXIS_Y);
    const struct bins u = bins_along(view, index, &item->volume, PHASE_AXIS_U);
    const struct bins v = bins_along(view, index, &item->volume, PHASE_AXIS_V);
    const struct bins w = bins_along(view, index, &item->volume, PHASE_AXIS_W);
    const uint32_t slab_end = slab->first_row + slab->rows, x_end = x.begin + x.count * x.cells;
    const uint32_t begin = x.begin > slab->first_row ? x.begin : slab->first_row;
    const uint32_t end = x_end < slab_end ? x_end : slab_end;
    if (begin >= end || list->count == 0)
        return STATUS_OK;
    /* A group takes a part of a segment, so that all of them keep the device busy. */
    const uint64_t segments = (uint64_t)(end - begin) * y.count;
    const uint64_t wanted = (uint64_t)device_info(spaces->device)->compute_units * GROUPS_PER_UNIT;
    const uint32_t parts = divide_up(wanted, segments);
    const uint64_t read = (u.count + v.count > 0 ? attribute_bytes(list->precision, ATTRIBUTE_VELOCITY) : 0) +
                          (w.count > 0 ? attribute_bytes(list->precision, ATTRIBUTE_W) : 0);
    const uint32_t axes[] = {x.cells, x.stride, y.begin, y.cells,  y.count,  y.stride,
                             u.count, v.count,  w.count, u.stride, v.stride, w.stride};
    const double ranges[] = {u.low, v.low, w.low, u.per_unit, v.per_unit, w.per_unit};
    return KERNEL_LAUNCH(
        spaces->count,
        ((struct launch){segments * parts, spaces->group_items, STAGE_OUTPUT, read * list->count}),
        list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
        particles_first(list, ATTRIBUTE_VELOCITY), particles_w(list), list->cell_offsets, slab->box.ny, parts,
        begin - slab->first_row, begin - x.begin, arg_uints(axes, sizeof axes / sizeof axes[0]),
        arg_reals(ranges, sizeof ranges / sizeof ranges[0]), item->counts);
}

const struct particles *phase_space_list(const struct view *view, uint32_t index)
{
    return &view->particles[species_find(view->config, view->config->output.phase_space[index].species)];
}

enum status phase_space_count(struct phase_spaces *spaces, const struct view *view, uint32_t index,
                              uint32_t *counts)
{
    const struct phase_space *item = &spaces->items[index];
    TRY(buffer_fill(item->counts, 0));
    TRY(count_list(spaces, view, index, phase_space_list(view, index)));
    if (item->ndpa)
        TRY(ndpa_permute(item->ndpa, item->counts));
    return buffer_read(item->counts, 0, buffer_bytes(item->counts), counts);
}
