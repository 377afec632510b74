/* Phase space: launches of kernels/phase_space.cl, and the permutation. */
#include "output/phase_space.h"

#include "config/phase_axes.h"
#include "ndpa/ndpa.h"

#include <inttypes.h>
#include <string.h>

enum { GPU_GROUP_ITEMS = 256, CPU_GROUP_ITEMS = 1, GROUPS_PER_UNIT = 16, ELEMENT_BYTES = sizeof(uint32_t) };

struct phase_spaces {
    struct device *device; /* not owned */
    const struct config *config;
    size_t group_items;
    struct program *program;
    struct kernel *count;
    struct buffer *room; /* uint: for the largest volume */
    struct phase_volume volumes[CONFIG_MAX_PHASE_SPACES];
    struct buffer *counts[CONFIG_MAX_PHASE_SPACES]; /* of each volume: a view of `room`, from its begin on */
    struct ndpa *ndpa[CONFIG_MAX_PHASE_SPACES];     /* NULL: not permuted */
    uint32_t met;                                   /* a bit for each item, of phase_spaces_is_first() */
};

/* ---- creation ---- */

static bool is_wanted(const struct config *config, uint32_t index)
{
    return config->output.phase_space[index].every > 0;
}

static uint64_t volume_bytes(const struct phase_volume *volume)
{
    return phase_volume_elements(volume) * ELEMENT_BYTES;
}

/* Of the largest volume; 0 where no item is ever written. */
static uint64_t room_bytes(const struct config *config)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < config->output.phase_space_count; i++) {
        const struct phase_volume volume = phase_volume_make(&config->output.phase_space[i]);
        if (is_wanted(config, i) && volume_bytes(&volume) > most)
            most = volume_bytes(&volume);
    }
    return most;
}

static enum status check_volumes(const struct config *config)
{
    for (uint32_t i = 0; i < config->output.phase_space_count; i++) {
        const struct phase_volume volume = phase_volume_make(&config->output.phase_space[i]);
        const uint64_t elements = phase_volume_elements(&volume);
        if (elements > UINT32_MAX)
            return status_fail(STATUS_USAGE,
                               "output.phase_space.%" PRIu32 ".axes: in another order than that of axes the "
                               "bins of each axis are rounded up to a multiple of %" PRIu32 ", and %" PRIu64
                               " are then too many; allowed: 4294967295",
                               i, volume.cell_side, elements);
    }
    return STATUS_OK;
}

static struct ndpa_shape ndpa_shape_of(const struct phase_volume *volume)
{
    struct ndpa_shape shape = {
        .dimensions = volume->dimensions, .cell_side = volume->cell_side, .element_bytes = ELEMENT_BYTES};
    memcpy(shape.sides, volume->sides, sizeof volume->sides);
    return shape;
}

static enum status create_item(struct phase_spaces *spaces, uint32_t index)
{
    struct phase_volume *volume = &spaces->volumes[index];
    *volume = phase_volume_make(&spaces->config->output.phase_space[index]);
    if (!is_wanted(spaces->config, index))
        return STATUS_OK;
    const struct ndpa_shape shape = ndpa_shape_of(volume);
    if (volume->is_permuted)
        TRY(ndpa_create(spaces->device, &shape, volume->axes, NDPA_TABLES, &spaces->ndpa[index]));
    return buffer_view(spaces->room, 0, (size_t)volume_bytes(volume), &spaces->counts[index]);
}

enum status phase_spaces_create(struct device *device, const struct config *config, void **part)
{
    struct phase_spaces *spaces;
    *part = NULL;
    TRY(check_volumes(config));
    if (room_bytes(config) == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, spaces));
    *part = spaces;
    spaces->device = device;
    spaces->config = config;
    spaces->group_items =
        device_group_items(device, device_info(device)->is_cpu ? CPU_GROUP_ITEMS : GPU_GROUP_ITEMS);
    TRY(program_build(device, "phase_space.cl", config->precision, &spaces->program, "-D GROUP_ITEMS=%zu",
                      spaces->group_items));
    TRY(kernel_create(spaces->program, "phase_space_count", &spaces->count));
    TRY(buffer_create(device, (size_t)room_bytes(config), "the bins of phase space", &spaces->room));
    for (uint32_t i = 0; i < config->output.phase_space_count; i++)
        TRY(create_item(spaces, i));
    return STATUS_OK;
}

/* ---- counting ---- */

/* The cells of an axis x or y that an item looks at, and those of one bin. */
struct cells_of_axis {
    uint32_t begin, end, per_bin;
};

static struct cells_of_axis cells_of_axis(const struct config *config, const struct phase_space_config *space,
                                          enum phase_axis axis)
{
    const uint32_t k = phase_axis_find(space, axis);
    const uint32_t cells = config->grid.cells[axis];
    if (k == space->axis_count)
        return (struct cells_of_axis){0, cells, cells};
    const uint32_t begin = phase_axis_edge(&config->grid, axis, space->axes[k].range[0]);
    const uint32_t end = phase_axis_edge(&config->grid, axis, space->axes[k].range[1]);
    return (struct cells_of_axis){begin, end, (end - begin) / space->axes[k].bins};
}

/* The bins of u or v; none where f is no function of it. */
struct velocity_axis {
    double low, scale;
    uint32_t bins, stride;
};

static struct velocity_axis velocity_axis(const struct phase_volume *volume,
                                          const struct phase_space_config *space, enum phase_axis axis)
{
    const uint32_t k = phase_axis_find(space, axis);
    if (k == space->axis_count)
        return (struct velocity_axis){0};
    const double *range = space->axes[k].range;
    const uint32_t bins = space->axes[k].bins;
    return (struct velocity_axis){range[0], bins / (range[1] - range[0]), bins,
                                  phase_volume_stride(volume, space, axis)};
}

/* Parts of a segment, so that all segments together keep the device busy. */
static uint32_t parts_for(const struct phase_spaces *spaces, uint64_t segments)
{
    const uint64_t wanted = (uint64_t)device_info(spaces->device)->compute_units * GROUPS_PER_UNIT;
    return (uint32_t)((wanted + segments - 1) / segments);
}

static enum status count_list(struct phase_spaces *spaces, const struct view *view, uint32_t index,
                              const struct particles *list)
{
    const struct phase_space_config *space = &view->config->output.phase_space[index];
    const struct phase_volume *volume = &spaces->volumes[index];
    const struct slab *slab = view->slab;
    const struct cells_of_axis x = cells_of_axis(view->config, space, PHASE_AXIS_X);
    const struct cells_of_axis y = cells_of_axis(view->config, space, PHASE_AXIS_Y);
    const struct velocity_axis u = velocity_axis(volume, space, PHASE_AXIS_U);
    const struct velocity_axis v = velocity_axis(volume, space, PHASE_AXIS_V);
    const uint32_t slab_end = slab->first_row + slab->rows;
    const uint32_t begin = x.begin > slab->first_row ? x.begin : slab->first_row;
    const uint32_t end = x.end < slab_end ? x.end : slab_end;
    if (begin >= end || list->count == 0)
        return STATUS_OK;
    const uint32_t y_bins = (y.end - y.begin) / y.per_bin;
    const uint64_t segments = (uint64_t)(end - begin) * y_bins;
    const uint32_t parts = parts_for(spaces, segments);
    const bool reads_velocities = u.bins > 0 || v.bins > 0;
    const struct launch launch = {
        (size_t)(segments * parts), spaces->group_items, STAGE_OUTPUT,
        reads_velocities ? 2 * precision_bytes(view->config->precision) * (uint64_t)list->count : 0};
    return KERNEL_LAUNCH(
        spaces->count, launch, arg_buffer(list->attribute[ATTRIBUTE_VELOCITY]),
        arg_uint(particles_stride(list, ATTRIBUTE_VELOCITY)),
        arg_uint(particles_first(list, ATTRIBUTE_VELOCITY)), arg_buffer(list->cell_offsets),
        arg_uint(slab->box.ny), arg_uint(parts), arg_uint(begin - slab->first_row), arg_uint(begin - x.begin),
        arg_uint(x.per_bin), arg_uint(phase_volume_stride(volume, space, PHASE_AXIS_X)), arg_uint(y.begin),
        arg_uint(y.per_bin), arg_uint(y_bins), arg_uint(phase_volume_stride(volume, space, PHASE_AXIS_Y)),
        arg_real(u.low), arg_real(u.scale), arg_uint(u.bins), arg_uint(u.stride), arg_real(v.low),
        arg_real(v.scale), arg_uint(v.bins), arg_uint(v.stride), arg_buffer(spaces->counts[index]));
}

uint32_t phase_space_species(const struct config *config, uint32_t index)
{
    uint32_t s = 0;
    while (strcmp(config->species[s].name, config->output.phase_space[index].species) != 0)
        s++;
    return s;
}

enum status phase_spaces_count(struct phase_spaces *spaces, const struct view *view, uint32_t index,
                               uint32_t *counts)
{
    const uint32_t s = phase_space_species(view->config, index);
    struct buffer *volume = spaces->counts[index];
    TRY(buffer_fill(volume, 0));
    TRY(count_list(spaces, view, index, &view->particles[s]));
    if (spaces->ndpa[index])
        TRY(ndpa_permute(spaces->ndpa[index], volume));
    return buffer_read(volume, 0, buffer_bytes(volume), counts);
}

/* ---- what is due ---- */

bool phase_spaces_is_first(struct phase_spaces *spaces, uint32_t index)
{
    const uint32_t bit = UINT32_C(1) << index;
    const bool is_first = (spaces->met & bit) == 0;
    spaces->met |= bit;
    return is_first;
}

bool phase_spaces_are_due(void *spaces, const struct view *view)
{
    bool is_due = false;
    (void)spaces;
    for (uint32_t i = 0; i < view->config->output.phase_space_count; i++)
        is_due |= view_is_due(view, view->config->output.phase_space[i].every);
    return is_due;
}
