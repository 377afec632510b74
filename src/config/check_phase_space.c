/* Check phase space: one function for each rule. */
#include "config/check_phase_space.h"

#include "config/phase_axes.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct check {
    const struct config *config;
    struct complaints *complaints;
    char path[SCHEMA_PATH_LENGTH]; /* of the last at() */
};

/* Complains about the key of the last at(). */
#define BROKEN(check, ...) complain((check)->complaints, NULL, (check)->path, __VA_ARGS__)

/* Whether the key of that path has no complaint; a rule that it breaks is then BROKEN(). */
__attribute__((format(printf, 2, 3))) static bool at(struct check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->path, sizeof check->path, format, arguments);
    va_end(arguments);
    return complaints_sound(check->complaints, check->path);
}

static void check_species(struct check *check, const char *name)
{
    const struct config *config = check->config;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (strcmp(config->species[s].name, name) == 0)
            return;
    BROKEN(check, "expected the name of a species, such as %s, found %s", config->species[0].name, name);
}

/* Whether `value` is an edge of cells, in or at the ends of the box. Digits that a config leaves out, as of 4
 * pi, may be missing. */
static bool is_edge(const struct grid_config *grid, enum phase_axis axis, double value)
{
    const double tolerance = 1e-3, place = value / grid->length[axis] * grid->cells[axis];
    return place >= -tolerance && place <= grid->cells[axis] + tolerance &&
           fabs(place - round(place)) <= tolerance;
}

/* Whether a range is one; where it is of x or y, whether it ends at edges of cells. */
static bool check_range(struct check *check, const struct phase_axis_config *axis, bool has_grid)
{
    const struct grid_config *grid = &check->config->grid;
    const double *range = axis->range;
    if (!(range[0] < range[1]) || !isfinite(range[1] - range[0])) {
        BROKEN(check, "expected [low, high], low below high and their difference finite, found [%g, %g]",
               range[0], range[1]);
        return false;
    }
    for (int end = 0; end < 2 && has_grid && phase_axis_is_space(axis->axis); end++)
        if (!is_edge(grid, axis->axis, range[end])) {
            BROKEN(check, "expected edges of cells along %c, multiples of %.6g from 0 to %.6g, found %g",
                   phase_axis_name(axis->axis), grid->length[axis->axis] / grid->cells[axis->axis],
                   grid->length[axis->axis], range[end]);
            return false;
        }
    return true;
}

/* Bins of x and y have as many whole cells each. */
static void check_bins(struct check *check, const struct phase_axis_config *axis)
{
    const struct grid_config *grid = &check->config->grid;
    const uint32_t cells =
        phase_axis_edge(grid, axis->axis, axis->range[1]) - phase_axis_edge(grid, axis->axis, axis->range[0]);
    if (axis->bins > cells || cells % axis->bins != 0)
        BROKEN(check, "expected a divisor of the %" PRIu32 " cells of the range along %c, found %" PRIu32,
               cells, phase_axis_name(axis->axis), axis->bins);
}

static void check_axes(struct check *check, uint32_t index, const struct phase_space_config *phase_space)
{
    const bool has_grid = complaints_sound(check->complaints, "grid");
    uint64_t bins = 1;
    for (uint32_t k = 0; k < phase_space->axis_count; k++) {
        const struct phase_axis_config *axis = &phase_space->axes[k];
        bins *= axis->bins; /* at most 2^14 each */
        if (at(check, "output.phase_space.%" PRIu32 ".axes.%" PRIu32 ".axis", index, k) &&
            phase_axis_find(phase_space, axis->axis) < k)
            BROKEN(check, "expected each axis once, found %c again", phase_axis_name(axis->axis));
        at(check, "output.phase_space.%" PRIu32 ".axes.%" PRIu32 ".range", index, k);
        const bool has_range = check_range(check, axis, has_grid);
        at(check, "output.phase_space.%" PRIu32 ".axes.%" PRIu32 ".bins", index, k);
        if (has_range && has_grid && phase_axis_is_space(axis->axis))
            check_bins(check, axis);
    }
    if (at(check, "output.phase_space.%" PRIu32 ".axes", index) && bins > CONFIG_MAX_PHASE_BINS)
        BROKEN(check, "expected at most %u bins, the product over the axes, found %" PRIu64,
               CONFIG_MAX_PHASE_BINS, bins);
}

/* Given that the axes differ, equal sets of equal size are the same axes in some order. */
static void check_order(struct check *check, const struct phase_space_config *phase_space)
{
    uint32_t axes = 0, ordered = 0;
    for (uint32_t k = 0; k < phase_space->axis_count; k++)
        axes |= 1U << phase_space->axes[k].axis;
    for (uint32_t k = 0; k < phase_space->order_count; k++)
        ordered |= 1U << phase_space->order[k];
    if (phase_space->order_count > 0 &&
        (phase_space->order_count != phase_space->axis_count || ordered != axes))
        BROKEN(check, "expected every one of the %" PRIu32 " axes, once", phase_space->axis_count);
}

void check_phase_space(const struct config *config, struct complaints *complaints)
{
    struct check check = {.config = config, .complaints = complaints};
    for (uint32_t i = 0; i < config->output.phase_space_count; i++) {
        const struct phase_space_config *phase_space = &config->output.phase_space[i];
        if (!at(&check, "output.phase_space.%" PRIu32, i))
            continue;
        if (complaints_sound(complaints, "species")) {
            at(&check, "output.phase_space.%" PRIu32 ".species", i);
            check_species(&check, phase_space->species);
        }
        check_axes(&check, i, phase_space);
        if (at(&check, "output.phase_space.%" PRIu32 ".axes", i)) {
            at(&check, "output.phase_space.%" PRIu32 ".order", i);
            check_order(&check, phase_space);
        }
    }
}
