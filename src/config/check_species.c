/* Check, species: the rules of positions, velocities, densities and waves. */
#include "config/check.h"

#include "config/formulas.h"
#include "config/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DENSITY_WAVES = 4 };

/* Of a density, unless there is a complaint about it. */
static void check_greatest(struct reading *reading, double most)
{
    if (is_sound(reading, reading->path) && !density_is_sound(most))
        complain(reading, NULL, "expected a greatest value from " DENSITIES ", found %g", most);
}

static void check_profile_formula(struct reading *reading, const char *formula, double least, double *most)
{
    const struct nodes nodes = profile_nodes(reading->config->grid.cells, reading->config->grid.length);
    check_formula(reading, &nodes, formula, least, most);
}

/* Beside positions of a file its velocities are the default, and nothing else moves particles. */
static void check_files(struct reading *reading, struct species_config *species, uint32_t index)
{
    const bool is_read = species->positions.kind == POSITIONS_FILE;
    const bool has_density = profile_is_given(species->profile.density, "1");
    const bool has_waves = species->perturb.density.count > 0, has_array = species->profile.file[0] != '\0';
    const bool is_right = at(reading, "species.%u.velocities", index);
    const struct tree_node *node = written(reading);
    const bool has_kind = node && (node->kind == TREE_SCALAR || tree_value(node, "kind"));
    if (is_read && !has_kind && species->velocities.kind == VELOCITIES_COLD)
        species->velocities.kind = VELOCITIES_FILE;
    if (!is_read && species->velocities.kind == VELOCITIES_FILE && is_right)
        complain(reading, NULL, "velocities of kind file belong to positions of kind file");
    if (has_array && (has_density || has_waves) && at(reading, "species.%u.profile.file", index))
        complain(reading, NULL, "is the whole density: expected neither profile.density nor perturb.density");
    if (is_read && (has_array || has_density || has_waves || species->perturb.displacement.count > 0) &&
        at(reading, "species.%u.positions", index))
        complain(reading, NULL,
                 "positions of a file stay as they are: expected no density and no waves beside");
}

static void check_weights(struct reading *reading, const struct species_config *species, uint32_t index)
{
    const bool has_density = profile_is_given(species->profile.density, "1") || species->profile.file[0] ||
                             species->perturb.density.count > 0;
    if (!at(reading, "species.%u.weights", index))
        return;
    if (species->weights == WEIGHTS_FILE && species->positions.kind != POSITIONS_FILE)
        complain(reading, NULL, "weights of a file belong to positions of kind file");
    if (species->weights == WEIGHTS_DENSITY && !has_density)
        complain(reading, NULL,
                 "expected a density for the weights: profile.density, profile.file or perturb.density");
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

static void check_velocities(struct reading *reading, const struct species_config *species, uint32_t index)
{
    const struct velocities_config *velocities = &species->velocities;
    bool is_still = velocities->kind == VELOCITIES_COLD;
    for (uint32_t axis = 0; axis < velocities->dimensions; axis++)
        is_still &= velocities->drift[axis] == 0 && !profile_is_given(species->profile.drift[axis], "0");
    if (!species->push && !is_still && at(reading, "species.%u.push", index))
        complain(reading, NULL,
                 "a species that is not pushed stands still: expected cold velocities without drift");
    for (uint32_t axis = 0; axis < velocities->dimensions; axis++)
        if (at(reading, "species.%u.velocities.range", index))
            check_ends(reading, velocities->range[axis], true);
}

/* The part of a density at nodes that changes along a row as fast as a wave of three steps: a tenth of a peak
 * as narrow as a step, 3e-4 of one twice as wide. */
static double find_ripple(const struct nodes *nodes, const double *values)
{
    double most = 0;
    for (int axis = 0; axis < 2 && nodes->intervals[axis] > 0; axis++) {
        const size_t length = nodes->intervals[axis] + 1, rows = nodes->intervals[!axis] + 1;
        double ripple = 0, all = 0;
        for (size_t row = 0; row < rows; row++) {
            double sums[3] = {0};
            for (size_t n = 0; n < length; n++)
                sums[n % 3] += values[axis == 0 ? n * rows + row : row * length + n];
            const double a = sums[0] - sums[1], b = sums[1] - sums[2];
            ripple += sqrt(a * a + a * b + b * b); /* the modulus of the wave's amplitude */
            all += sums[0] + sums[1] + sums[2];
        }
        most = fmax(most, ripple / all);
    }
    return most;
}

/* Loading is linear between nodes: a density that has as much in a peak of a step, at the nodes or in the
 * middles, is another one. */
static void check_width(struct reading *reading, const struct velocities_config *velocities,
                        struct density_part part, double *values)
{
    const double most = 0.1;
    double ripple = find_ripple(&part.nodes, values);
    for (uint32_t axis = 0; axis < part.axes; axis++) {
        double *ends = part.nodes.ends[axis], half = 0.5 * (ends[1] - ends[0]) / part.nodes.intervals[axis]--;
        ends[0] += half;
        ends[1] -= half;
    }
    if (density_tabulate(velocities, &part, values))
        ripple = fmax(ripple, find_ripple(&part.nodes, values));
    if (ripple > most)
        complain(
            reading, NULL,
            "expected no peak as narrow as 1/%u of the range, the step of its table: take a smaller range",
            part.nodes.intervals[0] + 1);
}

/* The formulas of u and v may have both, that of w has w alone. */
static void check_density(struct reading *reading, struct velocities_config *velocities, uint32_t index)
{
    char why[FORMULA_WHY_LENGTH];
    if (velocities->kind != VELOCITIES_FORMULA || !at(reading, "species.%u.velocities", index))
        return;
    for (uint32_t axis = 0; axis < velocities->dimensions; axis++) {
        at(reading, "species.%u.velocities.density.%u", index, axis);
        if (!formula_is_sound(velocities->density[axis], axis < 2 ? "uv" : "w", NULL, why)) {
            complain(reading, NULL, "expected a formula of %s; %s", axis < 2 ? "u and v" : "w alone", why);
            return;
        }
    }
    for (uint32_t axis = 0, axes; axis < velocities->dimensions; axis += axes) {
        const struct density_part part = density_part(velocities, axis);
        double *values = malloc(nodes_count(&part.nodes) * sizeof *values), most;
        axes = part.axes;
        at(reading, "species.%u.velocities.density.%u", index, axis);
        check_values(reading, &part.nodes, density_tabulate(velocities, &part, values) ? values : NULL, 0,
                     &most);
        check_greatest(reading, most);
        if (is_sound(reading, reading->path))
            check_width(reading, velocities, part, values);
        free(values);
    }
    if (at(reading, "species.%u.velocities", index) && !density_measure(velocities))
        complain(reading, NULL, "no memory to evaluate the formula");
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
    const bool in_use[] = {
        species->positions.kind == POSITIONS_VAN_DER_CORPUT && at(reading, "species.%u.positions", index),
        species->velocities.kind != VELOCITIES_COLD && species->velocities.kind != VELOCITIES_FILE &&
            species->velocities.generator == GENERATOR_VAN_DER_CORPUT &&
            at(reading, "species.%u.velocities", index)};
    for (uint32_t i = 1; i < 2 + species->velocities.dimensions; i++)
        for (uint32_t j = 0; j < i; j++) {
            const bool of[] = {i >= 2, j >= 2}; /* the velocities */
            const uint32_t a = bases[of[0]][i - 2 * of[0]], b = bases[of[1]][j - 2 * of[1]];
            if (in_use[of[0]] && in_use[of[1]] && greatest_common_divisor(a, b) > 1) {
                at(reading, "species.%u.%s.bases", index, keys[of[0]]);
                complain(reading, NULL,
                         "expected bases without a common factor, found %u, and %u in %s.bases", a, b,
                         keys[of[1]]);
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

/* A formula of the velocities at the path in hand, which belongs to some kinds alone. */
static void check_velocity_formula(struct reading *reading, const char *formula, enum velocity_kind kind,
                                   const char *kinds, double least, double *most)
{
    const char *word = value_word(schema_find(&config_schema, "species[].velocities.kind")->choices, kind);
    if (!strstr(kinds, word))
        complain(reading, NULL, "belongs to velocities of kind %s, found kind %s", kinds, word);
    else if (is_sound(reading, "grid"))
        check_profile_formula(reading, formula, least, most);
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
        else if (is_sound(reading, "grid")) {
            check_profile_formula(reading, profile->density, 0, &most);
            check_greatest(reading, most);
        }
    }
    for (uint32_t axis = 0; axis < species->velocities.dimensions; axis++) {
        if (at(reading, "species.%u.profile.drift", index) && profile_is_given(profile->drift[axis], "0"))
            check_velocity_formula(reading, profile->drift[axis], kind, "cold or maxwellian", -INFINITY,
                                   &profile->most_drift[axis]);
        if (at(reading, "species.%u.profile.thermal", index) && profile_is_given(profile->thermal[axis], "1"))
            check_velocity_formula(reading, profile->thermal[axis], kind, "maxwellian", 0,
                                   &profile->most_thermal[axis]);
    }
}

/* B in the plane turns velocities along z, and Ez makes them. */
static void check_dimensions(struct reading *reading, const struct species_config *species)
{
    const struct fields_config *fields = &reading->config->fields;
    const struct {
        const char *key, *what;
        bool is_given;
    } cases[] = {
        {"fields.magnetic", "a field in the plane", fields->magnetic[0] != 0 || fields->magnetic[1] != 0},
        {"fields.external.E", "Ez", fields_external(fields, 2) != NULL},
        {"fields.external.B", "a field in the plane",
         fields_external(fields, 3) || fields_external(fields, 4)}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        if (cases[n].is_given && species->push && species->charge != 0 && !species_has_w(species) &&
            is_sound(reading, "species") && at(reading, "%s", cases[n].key))
            complain(reading, NULL,
                     "%s needs velocities in three dimensions, which species %s lacks: set "
                     "species.%s.velocities.dimensions=3",
                     cases[n].what, species->name, species->name);
}

void check_species(struct reading *reading)
{
    const struct config *config = reading->config;
    for (uint32_t i = 0; i < config->species_count; i++) {
        struct species_config *species = &config->species[i];
        check_name(reading, "species", "species", config->species, sizeof *species, i);
        check_files(reading, species, i);
        check_weights(reading, species, i);
        check_lattice(reading, species, i);
        check_velocities(reading, species, i);
        check_density(reading, &species->velocities, i);
        check_dimensions(reading, species);
        check_bases(reading, species, i);
        check_waves(reading, &species->perturb.density, i, true);
        check_waves(reading, &species->perturb.displacement, i, false);
        check_profile(reading, species, i);
    }
}
