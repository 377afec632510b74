/* Check phase space: one function for each rule. */
#include "config/check_phase_space.h"

#include "config/phase_axes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* An item under check. */
struct item {
    const struct config *config;
    const struct phase_space_config *phase_space;
    uint32_t index;
    struct complaints *complaints;
};

static void write_path(const struct item *item, const char *key, char path[SCHEMA_PATH_LENGTH])
{
    snprintf(path, SCHEMA_PATH_LENGTH, "output.phase_space.%" PRIu32 ".%s", item->index, key);
}

static void write_place(const struct item *item, const char *key, uint32_t k, char path[SCHEMA_PATH_LENGTH])
{
    snprintf(path, SCHEMA_PATH_LENGTH, "output.phase_space.%" PRIu32 ".%s.%" PRIu32, item->index, key, k);
}

static bool is_sound(const struct item *item, const char *key)
{
    char path[SCHEMA_PATH_LENGTH];
    write_path(item, key, path);
    return complaints_sound(item->complaints, path);
}

static void check_species(const struct item *item)
{
    char path[SCHEMA_PATH_LENGTH];
    write_path(item, "species", path);
    if (!complaints_sound(item->complaints, path) || !complaints_sound(item->complaints, "species"))
        return;
    const struct config *config = item->config;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (strcmp(config->species[s].name, item->phase_space->species) == 0)
            return;
    complain(item->complaints, NULL, path, "\"%s\" is no species; allowed: the name of one, such as %s",
             item->phase_space->species, config->species[0].name);
}

static void check_axes(const struct item *item)
{
    const struct phase_space_config *phase_space = item->phase_space;
    for (uint32_t k = 1; k < phase_space->axis_count && is_sound(item, "axes"); k++) {
        char path[SCHEMA_PATH_LENGTH];
        write_place(item, "axes", k, path);
        if (phase_axis_find(phase_space->axes, k, phase_space->axes[k]) < k)
            complain(item->complaints, NULL, path, "%c stands here twice; allowed: each axis once",
                     phase_axis_name(phase_space->axes[k]));
    }
}

/* Whether a list with an item for each axis, and the axes, are there to be looked at. */
static bool fits_axes(const struct item *item, const char *key, uint32_t count)
{
    char path[SCHEMA_PATH_LENGTH];
    write_path(item, key, path);
    if (!is_sound(item, "axes") || !complaints_sound(item->complaints, path))
        return false;
    if (count == item->phase_space->axis_count)
        return true;
    complain(item->complaints, NULL, path, "a list of %" PRIu32 " for %" PRIu32 " axes; allowed: one an axis",
             count, item->phase_space->axis_count);
    return false;
}

static void check_order(const struct item *item)
{
    const struct phase_space_config *phase_space = item->phase_space;
    if (phase_space->order_count == 0 || !fits_axes(item, "order", phase_space->order_count))
        return;
    for (uint32_t k = 0; k < phase_space->order_count; k++) {
        char path[SCHEMA_PATH_LENGTH];
        write_place(item, "order", k, path);
        const enum phase_axis axis = phase_space->order[k];
        const bool is_axis =
            phase_axis_find(phase_space->axes, phase_space->axis_count, axis) < phase_space->axis_count;
        if (is_axis && phase_axis_find(phase_space->order, k, axis) == k)
            continue;
        complain(item->complaints, NULL, path, "%c %s; allowed: every one of axes, once",
                 phase_axis_name(axis), is_axis ? "stands here twice" : "is not among axes");
        return;
    }
}

/* Whether `value` is an edge of cells, in or at the ends of the box. Digits that nobody writes down, as of
 * 4 pi, may be missing. */
static bool is_edge(const struct grid_config *grid, enum phase_axis axis, double value)
{
    const double tolerance = 1e-3, place = value / grid->length[axis] * grid->cells[axis];
    return place >= -tolerance && place <= grid->cells[axis] + tolerance &&
           fabs(place - round(place)) <= tolerance;
}

static void check_range(const struct item *item, uint32_t k)
{
    const struct grid_config *grid = &item->config->grid;
    const enum phase_axis axis = item->phase_space->axes[k];
    const double *range = item->phase_space->ranges[k];
    char path[SCHEMA_PATH_LENGTH];
    write_place(item, "ranges", k, path);
    if (!(range[0] < range[1])) {
        complain(item->complaints, NULL, path, "%c from %g to %g does not run upwards; allowed: [low, high]",
                 phase_axis_name(axis), range[0], range[1]);
        return;
    }
    if (!isfinite(range[1] - range[0])) {
        complain(item->complaints, NULL, path, "%c from %g to %g is wider than a double holds",
                 phase_axis_name(axis), range[0], range[1]);
        return;
    }
    if (!phase_axis_is_space(axis) || !complaints_sound(item->complaints, "grid"))
        return;
    for (int end = 0; end < 2; end++)
        if (!is_edge(grid, axis, range[end])) {
            complain(item->complaints, NULL, path,
                     "%g is no edge of the cells along %c; allowed: multiples of %.6g from 0 to %.6g",
                     range[end], phase_axis_name(axis), grid->length[axis] / grid->cells[axis],
                     grid->length[axis]);
            return;
        }
}

/* Bins of x and y have as many whole cells each. */
static void check_cells_of_bins(const struct item *item, uint32_t k)
{
    const struct grid_config *grid = &item->config->grid;
    const enum phase_axis axis = item->phase_space->axes[k];
    char path[SCHEMA_PATH_LENGTH];
    write_place(item, "ranges", k, path);
    if (!phase_axis_is_space(axis) || !complaints_sound(item->complaints, "grid") ||
        !complaints_sound(item->complaints, path))
        return;
    const double *range = item->phase_space->ranges[k];
    const uint32_t cells = phase_axis_edge(grid, axis, range[1]) - phase_axis_edge(grid, axis, range[0]);
    write_place(item, "bins", k, path);
    if (item->phase_space->bins[k] > cells || cells % item->phase_space->bins[k] != 0)
        complain(item->complaints, NULL, path,
                 "%" PRIu32 " bins do not divide the %" PRIu32 " cells of the range along %c; allowed: a "
                 "divisor of %" PRIu32,
                 item->phase_space->bins[k], cells, phase_axis_name(axis), cells);
}

static void check_bins(const struct item *item)
{
    const struct phase_space_config *phase_space = item->phase_space;
    uint64_t bins = 1;
    char path[SCHEMA_PATH_LENGTH];
    for (uint32_t k = 0; k < phase_space->bin_count; k++)
        bins *= phase_space->bins[k]; /* below 2^14 each */
    write_path(item, "bins", path);
    if (bins > CONFIG_MAX_PHASE_BINS)
        complain(item->complaints, NULL, path,
                 "%" PRIu64 " bins are too many; allowed: a product of at most %u", bins,
                 CONFIG_MAX_PHASE_BINS);
}

static void check_item(const struct item *item)
{
    const struct phase_space_config *phase_space = item->phase_space;
    check_species(item);
    check_axes(item);
    check_order(item);
    const bool has_ranges = fits_axes(item, "ranges", phase_space->range_count);
    const bool has_bins = fits_axes(item, "bins", phase_space->bin_count);
    for (uint32_t k = 0; k < phase_space->axis_count && has_ranges; k++) {
        check_range(item, k);
        if (has_bins)
            check_cells_of_bins(item, k);
    }
    if (has_bins && is_sound(item, "bins"))
        check_bins(item);
}

void check_phase_space(const struct config *config, struct complaints *complaints)
{
    if (!complaints_sound(complaints, "output.phase_space"))
        return; /* whose number of items may not be known */
    for (uint32_t i = 0; i < config->output.phase_space_count; i++) {
        const struct item item = {config, &config->output.phase_space[i], i, complaints};
        check_item(&item);
    }
}
