/* Check, output: the rules between the keys of outputs. */
#include "config/check.h"

#include "config/formulas.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Windows of an average do not overlap, and there are some unless `every` is 0. `path`: of an output. */
static void check_average(struct reading *reading, const char *path, uint64_t every, uint64_t average)
{
    const bool is_given = at(reading, "%s.every", path) && (every > 0 || !written(reading));
    if (!at(reading, "%s.average", path) || !is_given || average <= (every > 0 ? every : 1))
        return;
    if (every > 0)
        complain(reading, NULL, "expected at most %" PRIu64 ", as every is, found %" PRIu64, every, average);
    else
        complain(reading, NULL, "expected every beside it: no file would be written");
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

/* Whether `value` is an edge of cells, in or at the ends of the box. Digits may be missing, as of 4 pi. */
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

/* An axis of scale log becomes one of the logarithm. `path` is the axis. */
static void take_logarithm(struct reading *reading, const char *path, struct phase_axis_config *axis)
{
    char text[CONFIG_FORMULA_LENGTH];
    if (!at(reading, "%s.axis", path) || !at(reading, "%s.range", path))
        return;
    const int length = snprintf(text, sizeof text, "log10(%s)", axis->formula);
    if (axis->range[0] <= 0) {
        complain(reading, NULL, "expected numbers above 0 where scale is log, found %g", axis->range[0]);
    } else if (length < (int)sizeof text) {
        strcpy(axis->formula, text);
        for (int end = 0; end < 2; end++)
            axis->range[end] = log10(axis->range[end]);
        axis->scale = SCALE_LINEAR;
    } else if (at(reading, "%s.axis", path)) {
        complain(reading, NULL, "expected at most %zu bytes where scale is log, found %zu",
                 sizeof text - sizeof "log10()", strlen(axis->formula));
    }
}

/* One that is a letter is that axis, and all else a formula. */
static void set_axis(struct phase_axis_config *axis)
{
    const char *const letters = "xyuvw", *letter = strchr(letters, axis->formula[0]);
    axis->axis =
        letter && axis->formula[1] == '\0' ? (enum phase_axis)(letter - letters) : PHASE_AXIS_FORMULA;
}

/* Of the values of a species' particles. */
static void check_particle_formula(struct reading *reading, const char *text,
                                   const struct species_config *species)
{
    char why[FORMULA_WHY_LENGTH], *source;
    if (!particle_formula_source(reading->config, species, text, &source, why))
        complain(reading, NULL, "expected a formula of species %s, found \"%s\"; %s", species->name, text,
                 why);
    free(source);
}

/* Of all species of a phase space; `key` at `path`. */
static void check_formula_of_all(struct reading *reading, const char *path, const char *key, const char *text,
                                 const struct phase_space_config *phase_space)
{
    const struct config *config = reading->config;
    const char *name;
    for (uint32_t n = 0; (name = phase_space_species(phase_space, n)) && is_sound(reading, "species"); n++) {
        const uint32_t s = species_find(config, name);
        if (s < config->species_count && at(reading, "%s.%s", path, key))
            check_particle_formula(reading, text, &config->species[s]);
    }
}

/* An axis of w: all species have it. */
static void check_axis_w(struct reading *reading, const char *path,
                         const struct phase_space_config *phase_space)
{
    const struct config *config = reading->config;
    const char *name;
    for (uint32_t n = 0; (name = phase_space_species(phase_space, n)) && is_sound(reading, "species"); n++) {
        const uint32_t s = species_find(config, name);
        if (s < config->species_count && !species_has_w(&config->species[s]) && at(reading, "%s.axis", path))
            complain(reading, NULL,
                     "expected an axis of species %s, which has no w: set species.%s.velocities.dimensions=3",
                     name, name);
    }
}

static void check_axes(struct reading *reading, uint32_t index, struct phase_space_config *phase_space)
{
    uint64_t bins = 1;
    uint32_t values = 0;
    for (uint32_t k = 0; k < phase_space->axis_count; k++) {
        struct phase_axis_config *axis = &phase_space->axes[k];
        char path[TREE_PATH_LENGTH / 2];
        snprintf(path, sizeof path, "output.phase_space.%u.axes.%u", index, k);
        bins *= axis->bins; /* at most 2^14 each */
        at(reading, "%s.range", path);
        const bool has_ends = check_ends(reading, axis->range, false);
        if (axis->scale == SCALE_LOG)
            take_logarithm(reading, path, axis);
        set_axis(axis);
        values += !phase_axis_is_space(axis->axis);
        if (axis->axis == PHASE_AXIS_FORMULA)
            check_formula_of_all(reading, path, "axis", axis->formula, phase_space);
        for (uint32_t other = 0; other < k; other++)
            if (at(reading, "%s.axis", path) && strcmp(phase_space->axes[other].formula, axis->formula) == 0)
                complain(reading, NULL, "expected each axis once, found %s again", axis->formula);
        if (axis->axis == PHASE_AXIS_W)
            check_axis_w(reading, path, phase_space);
        at(reading, "%s.range", path);
        if (has_ends && phase_axis_is_space(axis->axis) && is_sound(reading, "grid"))
            check_cells_of_axis(reading, axis, path);
    }
    if (at(reading, "output.phase_space.%u.axes", index) && values > CONFIG_PHASE_VALUES)
        complain(reading, NULL, "expected at most %u axes beside x and y, found %u", CONFIG_PHASE_VALUES,
                 values);
    if (at(reading, "output.phase_space.%u.axes", index) && bins > CONFIG_MAX_PHASE_BINS)
        complain(reading, NULL, "expected at most %u bins, the product over the axes, found %" PRIu64,
                 CONFIG_MAX_PHASE_BINS, bins);
}

/* Whether `order` is left out, or has the axes, which differ: then equal sets of equal size are the same. */
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

static void check_species_names(struct reading *reading, const struct species_names *names, const char *path)
{
    for (uint32_t i = 0; i < names->count; i++) {
        at(reading, "%s.%u", path, i);
        if (strcmp(names->items[i], "all") != 0)
            check_species_name(reading, names->items[i], ", or all");
    }
}

/* Particles are chosen by their ids; `or_else` is what the key takes without them. */
static void check_has_ids(struct reading *reading, const struct species_config *species, const char *or_else)
{
    if (!species->ids)
        complain(reading, NULL,
                 "chooses particles by their ids, which species %s does not carry: set species.%s.ids=true%s",
                 species->name, species->name, or_else);
}

/* A range of the meshes lies in the box and has nodes. */
static void check_mesh_range(struct reading *reading, const struct snapshots_config *snapshots)
{
    const struct grid_config *grid = &reading->config->grid;
    if (!is_sound(reading, "grid") || !is_sound(reading, "output.snapshots"))
        return;
    const struct mesh_window window = snapshots_window(reading->config);
    for (int axis = 0; axis < 2 && at(reading, "output.snapshots.mesh_range"); axis++) {
        const double *range = snapshots->mesh_range[axis];
        const bool is_all = range[0] == 0 && range[1] == 0;
        if (!is_all && check_ends(reading, range, true) && range[1] > grid->length[axis])
            complain(reading, NULL, "expected a range in the box, 0 to %g along %c, found %g",
                     grid->length[axis], "xy"[axis], range[1]);
        else if (window.count[axis] == 0 && at(reading, "output.snapshots.mesh_range"))
            complain(reading, NULL, "expected a node of the grid, each %g along %c, found none from %g to %g",
                     grid->length[axis] / grid->cells[axis], "xy"[axis], range[0], range[1]);
    }
}

static void check_snapshots(struct reading *reading, const struct snapshots_config *snapshots)
{
    check_field_list(reading, "output.snapshots", "fields", &snapshots->fields);
    check_average(reading, "output.snapshots", snapshots->every, snapshots->average);
    check_mesh_range(reading, snapshots);
    check_species_names(reading, &snapshots->species, "output.snapshots.species");
    const struct selection_config *particles = &snapshots->particles;
    for (uint32_t s = 0; s < reading->config->species_count && is_sound(reading, "species"); s++) {
        const struct species_config *species = &reading->config->species[s];
        if (!snapshots_hold(snapshots, species->name))
            continue;
        if (particles->kind == PARTICLES_FRACTION && at(reading, "output.snapshots.particles.fraction"))
            check_has_ids(reading, species, ", or take particles: {every_nth: K}");
        if (particles->where[0] != '\0' && at(reading, "output.snapshots.particles.where"))
            check_particle_formula(reading, particles->where, species);
    }
    if (particles->kind == PARTICLES_NONE && particles->where[0] != '\0' &&
        at(reading, "output.snapshots.particles.where"))
        complain(reading, NULL, "expected no condition where kind is none: no particles are written");
}

/* What takes all particles of a species as equal is refused where it has weights. */
static void check_counts(struct reading *reading, const char *name, const char *what)
{
    const struct config *config = reading->config;
    const uint32_t s = species_find(config, name);
    if (s < config->species_count && config->species[s].weights != WEIGHTS_EQUAL)
        complain(reading, NULL, "species %s has weights, which %s does not take", name, what);
}

static void check_phase_space(struct reading *reading, uint32_t index)
{
    struct phase_space_config *phase_space = &reading->config->output.phase_space[index];
    if (!at(reading, "output.phase_space.%u", index))
        return;
    char path[TREE_PATH_LENGTH / 2];
    const char *name;
    snprintf(path, sizeof path, "output.phase_space.%u", index);
    for (uint32_t n = 0; (name = phase_space_species(phase_space, n)); n++) {
        const bool is_read =
            n == 0 ? at(reading, "%s.species", path) : at(reading, "%s.with_species.%u", path, n - 1);
        check_species_name(reading, name, "");
        check_counts(reading, name, "a phase space");
        for (uint32_t before = 0; before < n && is_read; before++)
            if (strcmp(phase_space_species(phase_space, before), name) == 0)
                complain(reading, NULL, "expected each species once, found %s again", name);
    }
    check_axes(reading, index, phase_space);
    if (phase_space->weight[0] != '\0')
        check_formula_of_all(reading, path, "weight", phase_space->weight, phase_space);
    if (at(reading, "output.phase_space.%u.axes", index) &&
        at(reading, "output.phase_space.%u.order", index) && !is_order(phase_space))
        complain(reading, NULL, "expected every one of the %u axes, once%s", phase_space->axis_count,
                 phase_axis_find(phase_space, PHASE_AXIS_FORMULA) < phase_space->axis_count
                     ? "; it has no names for formulas: leave it out"
                     : "");
}

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
    const uint32_t s = species_find(config, tracks->species);
    uint64_t first = 0;
    if (tracks->every == 0 || !is_sound(reading, "species") || !at(reading, "output.tracks.species"))
        return;
    check_species_name(reading, tracks->species, "");
    check_counts(reading, tracks->species, "a file of tracks");
    if (s == config->species_count)
        return;
    for (uint32_t before = 0; before < s; before++)
        first += config->species[before].particles;
    check_has_ids(reading, &config->species[s], "");
    if (at(reading, "output.tracks.count") && (tracks->count > 0) == (tracks->id_count > 0))
        complain(reading, NULL, "expected either ids or a count of particles, found %s",
                 tracks->count > 0 ? "both" : "neither");
    else if (at(reading, "output.tracks.count") && tracks->count > config->species[s].particles)
        complain(reading, NULL, "expected at most the %" PRIu64 " particles of species %s, found %u",
                 config->species[s].particles, tracks->species, tracks->count);
    check_ids(reading, first, config->species[s].particles);
    if (tracks->rule.where[0] != '\0' && at(reading, "output.tracks.where")) {
        if (tracks->id_count > 0)
            complain(reading, NULL, "expected no condition beside ids: give a count, the most at a time");
        else
            check_particle_formula(reading, tracks->rule.where, &config->species[s]);
    }
    if (tracks->keep && tracks->rule.where[0] == '\0' && at(reading, "output.tracks.keep"))
        complain(reading, NULL, "expected output.tracks.where beside it: ids and count are followed anyhow");
}

/* Sums that cost time have fields that do work, and columns. */
static void check_work(struct reading *reading, const struct config *config)
{
    bool has_fields = config->fields.drive_count > 0 || config->fields.file[FIELDS_EXTERNAL].path[0];
    for (uint32_t c = 0; c < 3; c++)
        has_fields |= fields_external(&config->fields, c) != NULL;
    if (!config->output.history.work || !at(reading, "output.history.work"))
        return;
    if (config->output.history.species.count == 0)
        complain(reading, NULL, "expected output.history.species beside it: no species has columns");
    else if (!has_fields && is_sound(reading, "fields"))
        complain(reading, NULL, "expected fields.drive or fields.external.E beside it: no field does work");
}

void check_output(struct reading *reading)
{
    const struct config *config = reading->config;
    const struct output_config *output = &config->output;
    char path[TREE_PATH_LENGTH / 2];
    check_history_modes(reading, &config->grid, &output->history);
    check_field_list(reading, "output.history", "mode_fields", &output->history.mode_fields);
    if (output->history.mode_count == 0 && at(reading, "output.history.mode_fields") &&
        (fields_hold(&output->history.mode_fields, FIELD_E) ||
         fields_hold(&output->history.mode_fields, FIELD_B)))
        complain(reading, NULL, "expected output.history.modes beside it: no mode is followed");
    check_species_names(reading, &output->history.species, "output.history.species");
    check_work(reading, config);
    check_snapshots(reading, &output->snapshots);
    check_average(reading, "output.moments", output->moments.every, output->moments.average);
    for (uint32_t i = 0; i < output->phase_space_count; i++)
        check_phase_space(reading, i);
    for (uint32_t i = 0; i < output->probe_count; i++) {
        check_name(reading, "output.probes", "probe", output->probes, sizeof *output->probes, i);
        check_place(reading, "output.probes", i, "at", output->probes[i].at);
        snprintf(path, sizeof path, "output.probes.%u", i);
        check_field_list(reading, path, "fields", &output->probes[i].fields);
        check_average(reading, path, output->probes[i].every, output->probes[i].average);
    }
    check_tracks(reading);
    for (uint32_t i = 0; i < output->line_count; i++) {
        const struct line_config *line = &output->lines[i];
        check_name(reading, "output.lines", "line", output->lines, sizeof *line, i);
        check_place(reading, "output.lines", i, "from", line->from);
        check_place(reading, "output.lines", i, "to", line->to);
        if (at(reading, "output.lines.%u.from", i) && at(reading, "output.lines.%u.to", i) &&
            line->from[0] == line->to[0] && line->from[1] == line->to[1])
            complain(reading, NULL, "expected another place than that of from, found [%g, %g]", line->to[0],
                     line->to[1]);
        snprintf(path, sizeof path, "output.lines.%u", i);
        check_field_list(reading, path, "fields", &line->fields);
        check_average(reading, path, line->every, line->average);
    }
}
