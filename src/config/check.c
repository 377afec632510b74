/* Check: one function for each rule between keys. */
#include "base/integers.h"
#include "config/profile.h"
#include "config/reading.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DENSITY_WAVES = 4 };

bool at(struct reading *reading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reading->path, sizeof reading->path, format, arguments);
    va_end(arguments);
    return is_sound(reading, reading->path);
}

/* ---- the grid and the sort ---- */

static void check_cells(struct reading *reading, const struct grid_config *grid)
{
    const uint64_t cells = (uint64_t)grid->cells[0] * grid->cells[1];
    if (at(reading, "grid.cells") && cells > CONFIG_MAX_CELLS)
        complain(reading, NULL, "expected a product of at most %u, found %" PRIu64 " cells", CONFIG_MAX_CELLS,
                 cells);
}

static void check_sort(struct reading *reading, const struct grid_config *grid,
                       const struct sort_config *sort)
{
    if (!at(reading, "grid.cells") || !at(reading, "sort.key_bits"))
        return;
    /* b of the short key: as many bits as number every cell */
    const uint32_t least = at_least(bits_below((uint64_t)grid->cells[0] * grid->cells[1]), 1);
    const uint32_t bits = sort->key_bits == SORT_AUTO ? least : sort->key_bits;
    if (bits < least)
        complain(reading, NULL, "expected %u to 32, or auto, to number %u x %u cells, found %u", least,
                 grid->cells[0], grid->cells[1], bits);
    else if (at(reading, "sort.passes") && sort->passes > bits)
        complain(reading, NULL, "expected 1 to %u, the bits of the key, found %u", bits, sort->passes);
}

static void check_history_modes(struct reading *reading, const struct grid_config *grid,
                                const struct history_config *history)
{
    for (uint32_t i = 0; at(reading, "grid.cells") && i < history->mode_count; i++)
        for (int axis = 0; axis < 2; axis++) {
            const int32_t mode = history->modes[i][axis], most = (int32_t)(grid->cells[axis] / 2);
            if (at(reading, "output.history.modes.%u", i) && (mode < -most || mode > most))
                complain(reading, NULL, "expected %d to %d along %c, the Nyquist modes of the grid, found %d",
                         -most, most, "xy"[axis], mode);
        }
}

/* ---- species ---- */

/* No item of the list before this one has its name, the first member of items of `size` bytes. */
static void check_name(struct reading *reading, const char *list, const char *what, const void *items,
                       size_t size, uint32_t index)
{
    const char *name = (const char *)items + size * index;
    for (uint32_t j = 0; j < index; j++)
        if (at(reading, "%s.%u.name", list, index) && strcmp(name, (const char *)items + size * j) == 0)
            complain(reading, NULL, "expected one %s of a name, found %s twice", what, name);
}

static void check_lattice(struct reading *reading, const struct species_config *species, uint32_t index)
{
    const uint64_t *counts = species->positions.counts;
    if (species->positions.kind == POSITIONS_LATTICE && at(reading, "species.%u.particles", index) &&
        at(reading, "species.%u.positions.counts", index) &&
        (species->particles % counts[0] != 0 || species->particles / counts[0] != counts[1]))
        complain(reading, NULL,
                 "expected counts whose product is the %" PRIu64 " particles, found %" PRIu64 " x %" PRIu64,
                 species->particles, counts[0], counts[1]);
}

/* Whether the ends of a range are in order, and a double holds their difference. */
static bool check_ends(struct reading *reading, const double range[2], bool may_be_equal)
{
    if ((range[0] < range[1] || (may_be_equal && range[0] == range[1])) && isfinite(range[1] - range[0]))
        return true;
    complain(reading, NULL, "expected [low, high], low %s high and their difference finite, found [%g, %g]",
             may_be_equal ? "at most" : "below", range[0], range[1]);
    return false;
}

static void check_velocities(struct reading *reading, const struct species_config *species, uint32_t index)
{
    const struct velocities_config *velocities = &species->velocities;
    const bool is_still = velocities->kind == VELOCITIES_COLD && velocities->drift[0] == 0 &&
                          velocities->drift[1] == 0 && !profile_is_given(species->profile.drift[0], "0") &&
                          !profile_is_given(species->profile.drift[1], "0");
    if (!species->push && !is_still && at(reading, "species.%u.push", index))
        complain(reading, NULL,
                 "a species that is not pushed stands still: expected cold velocities without drift");
    for (int axis = 0; axis < 2; axis++)
        if (velocities->kind == VELOCITIES_UNIFORM && at(reading, "species.%u.velocities.range", index))
            check_ends(reading, velocities->range[axis], true);
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/* Sequences whose bases share a factor repeat each other's pattern: particles would sit on lines. */
static void check_bases(struct reading *reading, const struct species_config *species, uint32_t index)
{
    static const char *const keys[] = {"positions", "velocities"};
    const uint32_t *const bases[] = {species->positions.bases, species->velocities.bases};
    const bool in_use[] = {species->positions.kind == POSITIONS_VAN_DER_CORPUT &&
                               at(reading, "species.%u.positions", index),
                           species->velocities.kind != VELOCITIES_COLD &&
                               species->velocities.generator == GENERATOR_VAN_DER_CORPUT &&
                               at(reading, "species.%u.velocities", index)};
    for (int i = 1; i < 4; i++)
        for (int j = 0; j < i; j++) {
            const uint32_t a = bases[i / 2][i % 2], b = bases[j / 2][j % 2];
            if (in_use[i / 2] && in_use[j / 2] && greatest_common_divisor(a, b) > 1) {
                at(reading, "species.%u.%s.bases", index, keys[i / 2]);
                complain(reading, NULL,
                         "expected bases without a common factor, found %u, and %u in %s.bases", a, b,
                         keys[j / 2]);
            }
        }
}

/* The mode against the grid, the amplitude of a density against 1, and the number of waves along an axis. */
static void check_waves(struct reading *reading, const struct perturbation_list *list, uint32_t index,
                        bool is_density)
{
    const bool has_cells = is_sound(reading, "grid.cells");
    uint32_t along[2] = {0, 0};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct perturbation *wave = &list->items[i];
        const uint32_t nyquist = reading->config->grid.cells[wave->axis] / 2;
        const char axis = "xy"[wave->axis];
        char path[TREE_PATH_LENGTH / 2];
        snprintf(path, sizeof path, "species.%u.perturb.%s.%u", index,
                 is_density ? "density" : "displacement", i);
        if (has_cells && at(reading, "%s.axis", path) && at(reading, "%s.mode", path) && wave->mode > nyquist)
            complain(reading, NULL, "expected 1 to %u, the Nyquist mode along %c, found %u", nyquist, axis,
                     wave->mode);
        if (is_density && at(reading, "%s.amplitude", path) && !(fabs(wave->amplitude) < 1))
            complain(reading, NULL,
                     "expected a number between -1 and 1, or the density is negative, found %g",
                     wave->amplitude);
        if (is_density && at(reading, "%s", path) && ++along[wave->axis] > MOST_DENSITY_WAVES)
            complain(reading, NULL, "expected at most %d density perturbations along %c, found one more",
                     MOST_DENSITY_WAVES, axis);
    }
}

/* Evaluates a formula at all nodes of its table: finite and at least `least` everywhere, not 0 everywhere
 * where that is 0. Stores the greatest modulus. */
static void check_formula(struct reading *reading, const char *formula, double least, double *most)
{
    const struct grid_config *grid = &reading->config->grid;
    const size_t along_x = profile_intervals(grid->cells[0]), along_y = profile_intervals(grid->cells[1]);
    const size_t nodes = profile_nodes(grid->cells);
    double *values = malloc(nodes * sizeof *values);
    if (!values || !profile_tabulate(formula, grid->cells, grid->length, values)) {
        complain(reading, NULL, "no memory to evaluate the formula");
        free(values);
        return;
    }
    size_t n = 0;
    *most = 0;
    for (; n < nodes && isfinite(values[n]) && values[n] >= least; n++)
        *most = fmax(*most, fabs(values[n]));
    if (n < nodes)
        complain(reading, NULL, "expected a %s everywhere in the box, found %g at x = %g, y = %g",
                 least == 0 ? "number of at least 0" : "finite number", values[n],
                 (double)(n / (along_y + 1)) * grid->length[0] / (double)along_x,
                 (double)(n % (along_y + 1)) * grid->length[1] / (double)along_y);
    else if (least == 0 && *most == 0)
        complain(reading, NULL, "expected a number above 0 somewhere in the box, found 0 everywhere");
    free(values);
}

/* A formula of the velocities at the path in hand, which belongs to some kinds alone. */
static void check_velocity_formula(struct reading *reading, const char *formula, enum velocity_kind kind,
                                   const char *kinds, double least, double *most)
{
    static const char *const words[] = {
        [VELOCITIES_COLD] = "cold", [VELOCITIES_MAXWELLIAN] = "maxwellian", [VELOCITIES_UNIFORM] = "uniform"};
    if (!strstr(kinds, words[kind]))
        complain(reading, NULL, "belongs to velocities of kind %s, found kind %s", kinds, words[kind]);
    else if (is_sound(reading, "grid"))
        check_formula(reading, formula, least, most);
}

static void check_profile(struct reading *reading, struct species_config *species, uint32_t index)
{
    struct profile_config *profile = &species->profile;
    const enum velocity_kind kind = species->velocities.kind;
    double most;
    if (!at(reading, "species.%u.velocities", index) || !at(reading, "species.%u.perturb", index))
        return;
    if (at(reading, "species.%u.profile.density", index) && profile_is_given(profile->density, "1")) {
        if (species->perturb.density.count > 0)
            complain(reading, NULL, "is the whole density; write the waves of perturb.density into it");
        else if (is_sound(reading, "grid"))
            check_formula(reading, profile->density, 0, &most);
    }
    for (int axis = 0; axis < 2; axis++) {
        if (at(reading, "species.%u.profile.drift", index) && profile_is_given(profile->drift[axis], "0"))
            check_velocity_formula(reading, profile->drift[axis], kind, "cold or maxwellian", -INFINITY,
                                   &profile->most_drift[axis]);
        if (at(reading, "species.%u.profile.thermal", index) && profile_is_given(profile->thermal[axis], "1"))
            check_velocity_formula(reading, profile->thermal[axis], kind, "maxwellian", 0,
                                   &profile->most_thermal[axis]);
    }
}

static void check_species(struct reading *reading, uint32_t index)
{
    struct species_config *species = &reading->config->species[index];
    check_name(reading, "species", "species", reading->config->species, sizeof *species, index);
    check_lattice(reading, species, index);
    check_velocities(reading, species, index);
    check_bases(reading, species, index);
    check_waves(reading, &species->perturb.density, index, true);
    check_waves(reading, &species->perturb.displacement, index, false);
    check_profile(reading, species, index);
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

/* A range of x or y begins and ends with cells, of which all bins have as many. `path` is the axis. */
static void check_cells_of_axis(struct reading *reading, const struct phase_axis_config *axis,
                                const char *path)
{
    const struct grid_config *grid = &reading->config->grid;
    const char name = phase_axis_name(axis->axis);
    for (int end = 0; end < 2; end++)
        if (!is_edge(grid, axis->axis, axis->range[end])) {
            complain(reading, NULL,
                     "expected edges of cells along %c, multiples of %.6g from 0 to %.6g, found %g", name,
                     grid->length[axis->axis] / grid->cells[axis->axis], grid->length[axis->axis],
                     axis->range[end]);
            return;
        }
    const uint32_t cells =
        phase_axis_edge(grid, axis->axis, axis->range[1]) - phase_axis_edge(grid, axis->axis, axis->range[0]);
    at(reading, "%s.bins", path);
    if (axis->bins > cells || cells % axis->bins != 0)
        complain(reading, NULL, "expected a divisor of the %u cells of the range along %c, found %u", cells,
                 name, axis->bins);
}

static void check_axes(struct reading *reading, uint32_t index, const struct phase_space_config *phase_space)
{
    uint64_t bins = 1;
    for (uint32_t k = 0; k < phase_space->axis_count; k++) {
        const struct phase_axis_config *axis = &phase_space->axes[k];
        char path[TREE_PATH_LENGTH / 2];
        snprintf(path, sizeof path, "output.phase_space.%u.axes.%u", index, k);
        bins *= axis->bins; /* at most 2^14 each */
        if (at(reading, "%s.axis", path) && phase_axis_find(phase_space, axis->axis) < k)
            complain(reading, NULL, "expected each axis once, found %c again", phase_axis_name(axis->axis));
        at(reading, "%s.range", path);
        if (check_ends(reading, axis->range, false) && phase_axis_is_space(axis->axis) &&
            is_sound(reading, "grid"))
            check_cells_of_axis(reading, axis, path);
    }
    if (at(reading, "output.phase_space.%u.axes", index) && bins > CONFIG_MAX_PHASE_BINS)
        complain(reading, NULL, "expected at most %u bins, the product over the axes, found %" PRIu64,
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

/* The species of that name; a complaint, which ends with `or`, where there is none. */
static void check_species_name(struct reading *reading, const char *name, const char * or)
{
    const struct config *config = reading->config;
    uint32_t s = 0;
    while (s < config->species_count && strcmp(config->species[s].name, name) != 0)
        s++;
    if (s == config->species_count && is_sound(reading, "species") && is_sound(reading, reading->path))
        complain(reading, NULL, "expected the name of a species, such as %s%s, found %s",
                 config->species[0].name, or, name);
}

static void check_species_names(struct reading *reading, const struct species_names *names, const char *path)
{
    for (uint32_t i = 0; i < names->count; i++) {
        at(reading, "%s.%u", path, i);
        if (strcmp(names->items[i], "all") != 0)
            check_species_name(reading, names->items[i], ", or all");
    }
}

static void check_snapshots(struct reading *reading, const struct snapshots_config *snapshots)
{
    check_species_names(reading, &snapshots->species, "output.snapshots.species");
    const bool needs_ids = snapshots->particles.kind == PARTICLES_FRACTION && is_sound(reading, "species");
    for (uint32_t s = 0; s < reading->config->species_count && needs_ids; s++) {
        const struct species_config *species = &reading->config->species[s];
        if (at(reading, "output.snapshots.particles.fraction") && !species->ids &&
            snapshots_hold(snapshots, species->name))
            complain(reading, NULL,
                     "chooses particles by their ids, which species %s does not carry: set "
                     "species.%s.ids=true, or take particles: {every_nth: K}",
                     species->name, species->name);
    }
}

static void check_phase_space(struct reading *reading, uint32_t index)
{
    const struct phase_space_config *phase_space = &reading->config->output.phase_space[index];
    if (!at(reading, "output.phase_space.%u", index))
        return;
    at(reading, "output.phase_space.%u.species", index);
    check_species_name(reading, phase_space->species, "");
    check_axes(reading, index, phase_space);
    if (at(reading, "output.phase_space.%u.axes", index) &&
        at(reading, "output.phase_space.%u.order", index) && !is_order(phase_space))
        complain(reading, NULL, "expected every one of the %u axes, once", phase_space->axis_count);
}

/* ---- probes and lines ---- */

static void check_place(struct reading *reading, const char *path, uint32_t index, const char *key,
                        const double place[2])
{
    const double *length = reading->config->grid.length;
    for (int axis = 0; axis < 2; axis++)
        if (is_sound(reading, "grid") && at(reading, "%s.%u.%s", path, index, key) &&
            place[axis] > length[axis])
            complain(reading, NULL, "expected a place in the box, 0 to %g along %c, found %g", length[axis],
                     "xy"[axis], place[axis]);
}

static void check_probe(struct reading *reading, uint32_t index)
{
    const struct probe_config *probes = reading->config->output.probes;
    check_name(reading, "output.probes", "probe", probes, sizeof *probes, index);
    check_place(reading, "output.probes", index, "at", probes[index].at);
}

static void check_line(struct reading *reading, uint32_t index)
{
    const struct line_config *lines = reading->config->output.lines, *line = &lines[index];
    check_name(reading, "output.lines", "line", lines, sizeof *lines, index);
    check_place(reading, "output.lines", index, "from", line->from);
    check_place(reading, "output.lines", index, "to", line->to);
    if (at(reading, "output.lines.%u.from", index) && at(reading, "output.lines.%u.to", index) &&
        line->from[0] == line->to[0] && line->from[1] == line->to[1])
        complain(reading, NULL, "expected another place than that of from, found [%g, %g]", line->to[0],
                 line->to[1]);
}

/* ---- tracks ---- */

static void check_ids(struct reading *reading, uint64_t first, uint64_t particles)
{
    const struct tracks_config *tracks = &reading->config->output.tracks;
    for (uint32_t i = 0; i < tracks->id_count; i++) {
        const uint64_t id = tracks->ids[i];
        bool is_twice = false;
        for (uint32_t j = 0; j < i; j++)
            is_twice |= tracks->ids[j] == id;
        if (at(reading, "output.tracks.ids.%u", i) && (is_twice || id < first || id - first >= particles))
            complain(reading, NULL,
                     "expected an id of species %s once, %" PRIu64 " to %" PRIu64 ", found %" PRIu64 "%s",
                     tracks->species, first, first + particles - 1, id, is_twice ? " twice" : "");
    }
}

static void check_tracks(struct reading *reading)
{
    const struct config *config = reading->config;
    const struct tracks_config *tracks = &config->output.tracks;
    uint64_t first = 0;
    uint32_t s = 0;
    if (tracks->every == 0 || !is_sound(reading, "species") || !at(reading, "output.tracks.species"))
        return;
    check_species_name(reading, tracks->species, "");
    while (s < config->species_count && strcmp(config->species[s].name, tracks->species) != 0)
        first += config->species[s++].particles;
    if (s == config->species_count)
        return;
    if (!config->species[s].ids)
        complain(reading, NULL,
                 "chooses particles by their ids, which species %s does not carry: set species.%s.ids=true",
                 tracks->species, tracks->species);
    if (at(reading, "output.tracks.count") && (tracks->count > 0) == (tracks->id_count > 0))
        complain(reading, NULL, "expected either ids or a count of particles, found %s",
                 tracks->count > 0 ? "both" : "neither");
    else if (at(reading, "output.tracks.count") && tracks->count > config->species[s].particles)
        complain(reading, NULL, "expected at most the %" PRIu64 " particles of species %s, found %u",
                 config->species[s].particles, tracks->species, tracks->count);
    check_ids(reading, first, config->species[s].particles);
}

void check_config(struct reading *reading)
{
    const struct config *config = reading->config;
    check_cells(reading, &config->grid);
    check_sort(reading, &config->grid, &config->sort);
    check_history_modes(reading, &config->grid, &config->output.history);
    check_fields(reading);
    check_species_names(reading, &config->output.history.species, "output.history.species");
    check_snapshots(reading, &config->output.snapshots);
    for (uint32_t i = 0; i < config->output.phase_space_count; i++)
        check_phase_space(reading, i);
    for (uint32_t i = 0; i < config->output.probe_count; i++)
        check_probe(reading, i);
    check_tracks(reading);
    for (uint32_t i = 0; i < config->output.line_count; i++)
        check_line(reading, i);
    for (uint32_t i = 0; i < config->species_count; i++)
        check_species(reading, i);
}
