/* Phase space: launches of kernels/phase_space.cl, which count particles in bins. */
#include "output/phase_space.h"

#include "base/integers.h"
#include "config/formulas.h"
#include "output/particle_factors.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_ITEMS = 256 /* 1 on a CPU */, GROUPS_PER_UNIT = 16 };

struct phase_volume phase_volume_make(const struct phase_space_config *space)
{
    struct phase_volume volume = {.dimensions = space->axis_count, .elements = 1};
    for (uint32_t k = 0; k < volume.dimensions; k++) {
        volume.axes[k] = space->order_count > 0 ? phase_axis_find(space, space->order[k]) : k;
        volume.bins[k] = space->axes[volume.axes[k]].bins;
        volume.elements *= volume.bins[k];
    }
    return volume;
}

/* ---- creation ---- */

static size_t bytes_of(const struct phase_volume *volume)
{
    return volume->elements * sizeof(uint32_t);
}

static bool has_formula(const struct phase_space_config *space)
{
    return phase_axis_find(space, PHASE_AXIS_FORMULA) < space->axis_count;
}

/* The axis that is value n of the kernel: u, v or w, or where there is a formula the n-th but x and y; or
 * axis_count. */
static uint32_t axis_of_value(const struct phase_space_config *space, uint32_t n)
{
    uint32_t k = 0;
    if (!has_formula(space))
        return phase_axis_find(space, PHASE_AXIS_U + n);
    while (k < space->axis_count && (phase_axis_is_space(space->axes[k].axis) || n-- > 0))
        k++;
    return k;
}

/* *lines <- what kernels/phase_space.cl is to have before it, for free(). */
static enum status define_values(const struct phase_spaces *spaces, const struct config *config,
                                 const struct phase_space_config *space, char **lines)
{
    const struct species_config *species = &config->species[species_find(config, space->species)];
    size_t length;
    enum status status = STATUS_OK;
    FILE *output = open_memstream(lines, &length);
    if (!output)
        return status_fail(STATUS_FAILED, "no memory for the formulas of output.phase_space");
    fprintf(output, "#define GROUP_ITEMS %zu\n#define VALUES ", spaces->group_items);
    if (!has_formula(space))
        fputs("u, v, w", output);
    for (uint32_t n = 0; n < CONFIG_PHASE_VALUES && has_formula(space) && status == STATUS_OK; n++) {
        const uint32_t k = axis_of_value(space, n);
        char *source = NULL, why[FORMULA_WHY_LENGTH];
        if (k < space->axis_count &&
            !particle_formula_source(config, species, space->axes[k].formula, &source, why))
            status = status_fail(STATUS_FAILED, "output.phase_space: the formula %s: %s",
                                 space->axes[k].formula, why);
        fprintf(output, "%s%s", n > 0 ? ", " : "", source ? source : "0");
        free(source);
    }
    fputs("\n", output);
    fclose(output);
    return status;
}

/* All items without a formula have one program. */
static enum status create_count(struct phase_spaces *spaces, const struct config *config,
                                const struct phase_space_config *space, struct kernel **count)
{
    struct program *program = NULL;
    char *lines = NULL;
    enum status status = define_values(spaces, config, space, &lines);
    TRY_IF_OK(program_build_after(spaces->device, lines, "phase_space.cl", config->precision, &program));
    free(lines);
    TRY_IF_OK(kernel_create(program, "phase_space_count", count));
    return status;
}

enum status phase_spaces_create(struct device *device, const struct config *config, void **part)
{
    const struct phase_space_config *space = config->output.phase_space;
    const uint32_t count = config->output.phase_space_count;
    struct phase_spaces *spaces;
    size_t most = 0;
    *part = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct phase_volume volume = phase_volume_make(&space[i]);
        most = space[i].every > 0 ? at_least(most, bytes_of(&volume)) : most;
    }
    if (most == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, spaces));
    *part = spaces;
    spaces->device = device;
    spaces->group_items = device_row_items(device, GROUP_ITEMS);
    TRY(buffer_create(device, most, "the bins of phase space", &spaces->bins));
    TRY(DEVICE_NEW_ARRAY(device, spaces->items, count));
    for (uint32_t i = 0; i < count; i++) {
        struct phase_space *item = &spaces->items[i];
        item->volume = phase_volume_make(&space[i]);
        if (space[i].every == 0)
            continue;
        TRY(create_count(spaces, config, &space[i], &item->count));
        TRY(buffer_view(spaces->bins, 0, bytes_of(&item->volume), &item->counts));
    }
    return STATUS_OK;
}

/* ---- counting ---- */

/* The bins along an axis: of `cells` whole cells each from cell `begin` on, or of values. Where f is no
 * function of the axis the stride is 0, and x and y have one bin, the whole box, values none. */
struct bins {
    uint32_t count, stride; /* in elements of the device's volume */
    uint32_t begin, cells;  /* x, y */
    double low, per_unit;   /* of values */
};

/* `axis`: x, y, or one of the values behind them. */
static struct bins bins_along(const struct view *view, uint32_t index, const struct phase_volume *volume,
                              uint32_t axis)
{
    const struct phase_space_config *space = &view->config->output.phase_space[index];
    const struct grid_config *grid = &view->config->grid;
    const bool is_space = axis < PHASE_AXIS_U;
    const uint32_t k = is_space ? phase_axis_find(space, axis) : axis_of_value(space, axis - PHASE_AXIS_U);
    if (k == space->axis_count)
        return is_space ? (struct bins){.count = 1, .cells = grid->cells[axis]} : (struct bins){0};
    const double *range = space->axes[k].range;
    struct bins bins = {.count = space->axes[k].bins, .stride = 1};
    for (uint32_t n = volume->dimensions - 1; volume->axes[n] != k; n--)
        bins.stride *= volume->bins[n];
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
    const struct species_config *species = list->species;
    const bool is_formula = has_formula(&view->config->output.phase_space[index]);
    struct bins bins[PHASE_AXIS_U + CONFIG_PHASE_VALUES];
    for (uint32_t axis = 0; axis < PHASE_AXIS_U + CONFIG_PHASE_VALUES; axis++)
        bins[axis] = bins_along(view, index, &item->volume, axis);
    const struct bins x = bins[PHASE_AXIS_X], y = bins[PHASE_AXIS_Y], *values = &bins[PHASE_AXIS_U];
    const uint32_t slab_end = slab->first_row + slab->rows, x_end = x.begin + x.count * x.cells;
    const uint32_t begin = x.begin > slab->first_row ? x.begin : slab->first_row;
    const uint32_t end = x_end < slab_end ? x_end : slab_end;
    if (begin >= end || list->count == 0)
        return STATUS_OK;
    /* A group has a part of a segment, so that all of them keep the device busy. */
    const uint64_t segments = (uint64_t)(end - begin) * y.count;
    const uint64_t wanted = (uint64_t)device_info(spaces->device)->compute_units * GROUPS_PER_UNIT;
    const uint32_t parts = divide_up(wanted, segments);
    const bool has_w = is_formula ? species_has_w(species) : values[2].count > 0;
    const uint64_t read =
        (values[0].count + values[1].count > 0 ? attribute_bytes(list->precision, ATTRIBUTE_VELOCITY) : 0) +
        (has_w ? attribute_bytes(list->precision, ATTRIBUTE_W) : 0);
    const struct particle_factors factors = particle_factors(&slab->box, species);
    const uint32_t axes[] = {x.cells,         x.stride,         y.begin,          y.cells,
                             y.count,         y.stride,         values[0].count,  values[1].count,
                             values[2].count, values[0].stride, values[1].stride, values[2].stride};
    const double ranges[] = {values[0].low,      values[1].low,      values[2].low,
                             values[0].per_unit, values[1].per_unit, values[2].per_unit};
    return KERNEL_LAUNCH(
        item->count,
        ((struct launch){segments * parts, spaces->group_items, STAGE_OUTPUT, read * list->count}),
        list->attribute[ATTRIBUTE_VELOCITY], particles_stride(list, ATTRIBUTE_VELOCITY),
        particles_first(list, ATTRIBUTE_VELOCITY), particles_w(list), has_w,
        list->attribute[ATTRIBUTE_OFFSET], particles_stride(list, ATTRIBUTE_OFFSET),
        particles_first(list, ATTRIBUTE_OFFSET), arg_reals(factors.values, PARTICLE_FACTORS),
        list->cell_offsets, slab->box.ny, parts, begin - slab->first_row, begin, begin - x.begin,
        arg_uints(axes, sizeof axes / sizeof axes[0]), arg_reals(ranges, sizeof ranges / sizeof ranges[0]),
        item->counts);
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
    return buffer_read(item->counts, 0, buffer_bytes(item->counts), counts);
}
