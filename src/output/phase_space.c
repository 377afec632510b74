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

enum { LEAST_EXPONENT = -2000 }; /* as in the kernel */

static bool has_weights(const struct phase_space_config *space)
{
    return space->weight[0] != '\0';
}

static size_t bytes_of(const struct phase_space_config *space)
{
    return phase_volume_make(space).elements * (has_weights(space) ? sizeof(uint64_t) : sizeof(uint32_t));
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

/* Writes a formula as the kernel has it. All species of the item accept it, or check_config() had refused it.
 */
static enum status write_source(const struct config *config, const struct phase_space_config *space,
                                const char *formula, FILE *output)
{
    const struct species_config *species = &config->species[species_find(config, space->species)];
    char *source = NULL, why[FORMULA_WHY_LENGTH];
    if (!particle_formula_source(config, species, formula, &source, why))
        return status_fail(STATUS_FAILED, "output.phase_space: the formula %s: %s", formula, why);
    fputs(source, output);
    free(source);
    return STATUS_OK;
}

/* *lines <- what kernels/phase_space.cl is to have before it, for free(). */
static enum status define_values(const struct phase_spaces *spaces, const struct config *config,
                                 const struct phase_space_config *space, char **lines)
{
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
        fputs(n > 0 ? ", " : "", output);
        if (k < space->axis_count)
            status = write_source(config, space, space->axes[k].formula, output);
        else
            fputs("0", output);
    }
    fputs(has_weights(space) ? "\n#define WEIGHT (" : "\n", output);
    if (has_weights(space)) {
        TRY_IF_OK(write_source(config, space, space->weight, output));
        fputs(")\n", output);
    }
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
    bool any_weights = false;
    *part = NULL;
    for (uint32_t i = 0; i < count; i++) {
        most = space[i].every > 0 ? at_least(most, bytes_of(&space[i])) : most;
        any_weights |= space[i].every > 0 && has_weights(&space[i]);
    }
    if (most == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, spaces));
    *part = spaces;
    spaces->device = device;
    spaces->group_items = device_row_items(device, GROUP_ITEMS);
    TRY(buffer_create(device, most, "the bins of phase space", &spaces->bins));
    if (any_weights)
        TRY(buffer_create(device, sizeof(uint32_t), "the exponent of weights", &spaces->most));
    TRY(DEVICE_NEW_ARRAY(device, spaces->items, count));
    for (uint32_t i = 0; i < count; i++) {
        struct phase_space *item = &spaces->items[i];
        item->volume = phase_volume_make(&space[i]);
        if (space[i].every == 0)
            continue;
        TRY(create_count(spaces, config, &space[i], &item->count));
        TRY(buffer_view(spaces->bins, 0, item->volume.elements * sizeof(uint32_t), &item->counts));
        if (has_weights(&space[i]))
            TRY(buffer_view(spaces->bins, 0, bytes_of(&space[i]), &item->sums));
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

/* is_sum and shift as in the kernel. */
static enum status count_list(const struct phase_spaces *spaces, const struct view *view, uint32_t index,
                              const struct particles *list, bool is_sum, int shift)
{
    const struct phase_space *item = &spaces->items[index];
    const struct slab *slab = view->slab;
    const struct species_config *species = list->species;
    const struct phase_space_config *space = &view->config->output.phase_space[index];
    const bool is_formula = has_formula(space) || has_weights(space);
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
        is_sum ? item->sums : item->counts, arg_if_any(has_weights(space) ? spaces->most : NULL), is_sum,
        (uint32_t)shift);
}

const struct particles *phase_space_list(const struct view *view, uint32_t index, uint32_t n)
{
    const char *name = phase_space_species(&view->config->output.phase_space[index], n);
    return name ? &view->particles[species_find(view->config, name)] : NULL;
}

enum status phase_space_count(struct phase_spaces *spaces, const struct view *view, uint32_t index,
                              const struct particles *list, uint32_t *counts, int *exponent)
{
    const struct phase_space *item = &spaces->items[index];
    uint32_t most = 0;
    TRY(buffer_fill(item->counts, 0));
    if (item->sums)
        TRY(buffer_fill(spaces->most, 0));
    TRY(count_list(spaces, view, index, list, false, 0));
    if (item->sums)
        TRY(buffer_read(spaces->most, 0, sizeof most, &most));
    *exponent = (int)most + LEAST_EXPONENT;
    return buffer_read(item->counts, 0, buffer_bytes(item->counts), counts);
}

int phase_space_shift(int exponent, uint64_t particles)
{
    return 62 - (exponent + 1) - (int)bits_below(particles + 1);
}

enum status phase_space_sum(struct phase_spaces *spaces, const struct view *view, uint32_t index,
                            const struct particles *list, int shift, uint64_t *sums)
{
    const struct phase_space *item = &spaces->items[index];
    TRY(buffer_fill(item->sums, 0));
    TRY(count_list(spaces, view, index, list, true, shift));
    return buffer_read(item->sums, 0, buffer_bytes(item->sums), sums);
}
