/* Check: one function for each rule between keys. */
#include "config/phase_axes.h"
#include "config/stages.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DENSITY_WAVES = 4 };

struct check {
    const struct config *config;
    struct complaints *complaints;
    char path[TREE_PATH_LENGTH]; /* of the last at() */
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

/* ---- the grid and the sort ---- */

static void check_cells(struct check *check)
{
    const uint64_t cells = (uint64_t)check->config->grid.cells[0] * check->config->grid.cells[1];
    if (at(check, "grid.cells") && cells > CONFIG_MAX_CELLS)
        BROKEN(check, "expected a product of at most %u, found %" PRIu64 " cells", CONFIG_MAX_CELLS, cells);
}

static void check_sort(struct check *check)
{
    const struct config *config = check->config;
    if (!at(check, "grid.cells") || !at(check, "sort.key_bits"))
        return;
    const uint64_t cells = (uint64_t)config->grid.cells[0] * config->grid.cells[1];
    uint32_t least = 1; /* b of the short key: as many bits as number every cell */
    while (UINT64_C(1) << least < cells)
        least++;
    const uint32_t bits = config->sort.key_bits == SORT_AUTO ? least : config->sort.key_bits;
    if (bits < least)
        BROKEN(check, "expected %u to 32, or auto, to number %u x %u cells, found %u", least,
               config->grid.cells[0], config->grid.cells[1], bits);
    else if (at(check, "sort.passes") && config->sort.passes > bits)
        BROKEN(check, "expected 1 to %u, the bits of the key, found %u", bits, config->sort.passes);
}

static void check_history_modes(struct check *check)
{
    const struct config *config = check->config;
    for (uint32_t i = 0; i < config->output.history.mode_count; i++)
        for (int axis = 0; axis < 2; axis++) {
            const int32_t mode = config->output.history.modes[i][axis];
            const int32_t most = (int32_t)(config->grid.cells[axis] / 2);
            if (at(check, "grid.cells") && at(check, "output.history.modes.%u", i) &&
                (mode < -most || mode > most))
                BROKEN(check, "expected %d to %d along %c, the Nyquist modes of the grid, found %d", -most,
                       most, "xy"[axis], mode);
        }
}

/* ---- species ---- */

static void check_name(struct check *check, uint32_t index)
{
    const struct species_config *species = check->config->species;
    for (uint32_t j = 0; j < index; j++)
        if (at(check, "species.%u.name", index) && strcmp(species[index].name, species[j].name) == 0)
            BROKEN(check, "expected one species of a name, found %s twice", species[index].name);
}

static void check_lattice(struct check *check, uint32_t index)
{
    const struct species_config *species = &check->config->species[index];
    const uint64_t *counts = species->positions.counts;
    if (species->positions.kind == POSITIONS_LATTICE && at(check, "species.%u.positions", index) &&
        at(check, "species.%u.particles", index) && at(check, "species.%u.positions.counts", index) &&
        (species->particles % counts[0] != 0 || species->particles / counts[0] != counts[1]))
        BROKEN(check,
               "expected counts whose product is the %" PRIu64 " particles, found %" PRIu64 " x %" PRIu64,
               species->particles, counts[0], counts[1]);
}

/* Whether the ends of a range are in order, and a double holds their difference. */
static bool check_ends(struct check *check, const double range[2], bool may_be_equal)
{
    if ((range[0] < range[1] || (may_be_equal && range[0] == range[1])) && isfinite(range[1] - range[0]))
        return true;
    BROKEN(check, "expected [low, high], low %s high and their difference finite, found [%g, %g]",
           may_be_equal ? "at most" : "below", range[0], range[1]);
    return false;
}

static void check_velocities(struct check *check, uint32_t index)
{
    const struct velocities_config *velocities = &check->config->species[index].velocities;
    for (int axis = 0; axis < 2; axis++)
        if (velocities->kind == VELOCITIES_UNIFORM && at(check, "species.%u.velocities.range", index))
            check_ends(check, velocities->range[axis], true);
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/* Sequences whose bases share a factor repeat each other's pattern: particles would sit on lines. */
static void check_bases(struct check *check, uint32_t index)
{
    const struct species_config *species = &check->config->species[index];
    const struct {
        const uint32_t *bases;
        const char *key;
        bool in_use;
    } pairs[] = {
        {species->positions.bases, "positions",
         species->positions.kind == POSITIONS_VAN_DER_CORPUT && at(check, "species.%u.positions", index)},
        {species->velocities.bases, "velocities",
         species->velocities.kind != VELOCITIES_COLD && at(check, "species.%u.velocities", index)}};
    for (int i = 1; i < 4; i++)
        for (int j = 0; j < i; j++) {
            const uint32_t a = pairs[i / 2].bases[i % 2], b = pairs[j / 2].bases[j % 2];
            if (pairs[i / 2].in_use && pairs[j / 2].in_use && greatest_common_divisor(a, b) > 1) {
                at(check, "species.%u.%s.bases", index, pairs[i / 2].key);
                BROKEN(check, "expected bases without a common factor, found %u, and %u in %s.bases", a, b,
                       pairs[j / 2].key);
            }
        }
}

/* The mode against the grid, the amplitude of a density against 1, and the number of waves along an axis. */
static void check_waves(struct check *check, uint32_t index, const char *key,
                        const struct perturbation_list *list)
{
    const bool is_density = list == &check->config->species[index].perturb.density;
    const bool has_cells = complaints_sound(check->complaints, "grid.cells");
    uint32_t along[2] = {0, 0};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct perturbation *wave = &list->items[i];
        const uint32_t nyquist = check->config->grid.cells[wave->axis] / 2;
        if (has_cells && at(check, "species.%u.perturb.%s.%u.axis", index, key, i) &&
            at(check, "species.%u.perturb.%s.%u.mode", index, key, i) && wave->mode > nyquist)
            BROKEN(check, "expected 1 to %u, the Nyquist mode along %c, found %u", nyquist, "xy"[wave->axis],
                   wave -> mode);
        if (is_density && at(check, "species.%u.perturb.%s.%u.amplitude", index, key, i) &&
            !(fabs(wave->amplitude) < 1))
            BROKEN(check, "expected a number between -1 and 1, or the density is negative, found %g",
                   wave->amplitude);
        if (is_density && at(check, "species.%u.perturb.%s.%u", index, key, i) &&
            ++along[wave->axis] > MOST_DENSITY_WAVES)
            BROKEN(check, "expected at most %d density perturbations along %c, found one more",
                   MOST_DENSITY_WAVES, "xy"[wave->axis]);
    }
}

/* ---- phase space ---- */

/* Whether `value` is an edge of cells, in or at the ends of the box. Digits that a config leaves out, as of 4
 * pi, may be missing. */
static bool is_edge(const struct grid_config *grid, enum phase_axis axis, double value)
{
    const double tolerance = 1e-3, place = value / grid->length[axis] * grid->cells[axis];
    return place >= -tolerance && place <= grid->cells[axis] + tolerance &&
           fabs(place - round(place)) <= tolerance;
}

/* A range of x or y begins and ends with cells, of which all bins have as many. */
static void check_cells_of_axis(struct check *check, uint32_t index, uint32_t k)
{
    const struct phase_axis_config *axis = &check->config->output.phase_space[index].axes[k];
    const struct grid_config *grid = &check->config->grid;
    const double *range = axis->range;
    const char name = phase_axis_name(axis->axis);
    at(check, "output.phase_space.%u.axes.%u.range", index, k);
    for (int end = 0; end < 2; end++)
        if (!is_edge(grid, axis->axis, range[end])) {
            BROKEN(check, "expected edges of cells along %c, multiples of %.6g from 0 to %.6g, found %g",
                   name, grid->length[axis->axis] / grid->cells[axis->axis], grid->length[axis->axis],
                   range[end]);
            return;
        }
    const uint32_t cells =
        phase_axis_edge(grid, axis->axis, range[1]) - phase_axis_edge(grid, axis->axis, range[0]);
    at(check, "output.phase_space.%u.axes.%u.bins", index, k);
    if (axis->bins > cells || cells % axis->bins != 0)
        BROKEN(check, "expected a divisor of the %u cells of the range along %c, found %u", cells, name,
               axis->bins);
}

static void check_axes(struct check *check, uint32_t index, const struct phase_space_config *phase_space)
{
    uint64_t bins = 1;
    for (uint32_t k = 0; k < phase_space->axis_count; k++) {
        const struct phase_axis_config *axis = &phase_space->axes[k];
        bins *= axis->bins; /* at most 2^14 each */
        if (at(check, "output.phase_space.%u.axes.%u.axis", index, k) &&
            phase_axis_find(phase_space, axis->axis) < k)
            BROKEN(check, "expected each axis once, found %c again", phase_axis_name(axis->axis));
        at(check, "output.phase_space.%u.axes.%u.range", index, k);
        if (check_ends(check, axis->range, false) && phase_axis_is_space(axis->axis) &&
            complaints_sound(check->complaints, "grid"))
            check_cells_of_axis(check, index, k);
    }
    if (at(check, "output.phase_space.%u.axes", index) && bins > CONFIG_MAX_PHASE_BINS)
        BROKEN(check, "expected at most %u bins, the product over the axes, found %" PRIu64,
               CONFIG_MAX_PHASE_BINS, bins);
}

/* Whether `order` is left out, or has the axes, which differ from one another: then equal sets of equal size
 * are the same. */
static bool is_order(const struct phase_space_config *phase_space)
{
    uint32_t axes = 0, ordered = 0;
    for (uint32_t k = 0; k < phase_space->axis_count; k++)
        axes |= 1U << phase_space->axes[k].axis;
    for (uint32_t k = 0; k < phase_space->order_count; k++)
        ordered |= 1U << phase_space->order[k];
    return phase_space->order_count == 0 ||
           (phase_space->order_count == phase_space->axis_count && ordered == axes);
}

static void check_phase_space(struct check *check, uint32_t index)
{
    const struct config *config = check->config;
    const struct phase_space_config *phase_space = &config->output.phase_space[index];
    if (!at(check, "output.phase_space.%u", index))
        return;
    uint32_t s = 0;
    while (s < config->species_count && strcmp(config->species[s].name, phase_space->species) != 0)
        s++;
    if (s == config->species_count && at(check, "species") &&
        at(check, "output.phase_space.%u.species", index))
        BROKEN(check, "expected the name of a species, such as %s, found %s", config->species[0].name,
               phase_space->species);
    check_axes(check, index, phase_space);
    if (at(check, "output.phase_space.%u.axes", index) && !is_order(phase_space)) {
        at(check, "output.phase_space.%u.order", index);
        BROKEN(check, "expected every one of the %u axes, once", phase_space->axis_count);
    }
}

void check_config(const struct config *config, struct complaints *complaints)
{
    struct check check = {.config = config, .complaints = complaints};
    check_cells(&check);
    check_sort(&check);
    check_history_modes(&check);
    for (uint32_t i = 0; i < config->output.phase_space_count; i++)
        check_phase_space(&check, i);
    for (uint32_t i = 0; i < config->species_count; i++) {
        check_name(&check, i);
        check_lattice(&check, i);
        check_velocities(&check, i);
        check_bases(&check, i);
        check_waves(&check, i, "density", &config->species[i].perturb.density);
        check_waves(&check, i, "displacement", &config->species[i].perturb.displacement);
    }
}
