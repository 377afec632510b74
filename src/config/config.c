/* Config: how fast loading makes particles, which of them snapshots hold, units, and the field table. */
#include "config/config.h"

#include "config/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

struct config_block {
    struct config_block *next;
    max_align_t items[];
};

void *config_new_items(struct config *config, size_t count, size_t size)
{
    struct config_block *block = calloc(1, sizeof *block + count * size);
    if (!block)
        return NULL;
    block->next = config->blocks;
    config->blocks = block;
    return block->items;
}

void config_free(struct config *config)
{
    while (config->blocks) {
        struct config_block *next = config->blocks->next;
        free(config->blocks);
        config->blocks = next;
    }
    *config = (struct config){0};
}

/* ---- what is asked of a config ---- */

bool species_are_named(const struct species_names *names, const char *species)
{
    bool is_named = false;
    for (uint32_t n = 0; n < names->count; n++)
        is_named |= strcmp(names->items[n], "all") == 0 || strcmp(names->items[n], species) == 0;
    return is_named;
}

struct mesh_window snapshots_window(const struct config *config)
{
    static const double tolerance = 1e-3; /* of a cell */
    const struct snapshots_config *snapshots = &config->output.snapshots;
    struct mesh_window window = {.stride = {snapshots->mesh_stride[0], snapshots->mesh_stride[1]}};
    for (int axis = 0; axis < 2; axis++) {
        const double *range = snapshots->mesh_range[axis], cells = config->grid.cells[axis];
        const double per_length = cells / config->grid.length[axis];
        const double low = fmax(ceil(range[0] * per_length - tolerance), 0);
        const double end = range[1] > 0 ? fmin(floor(range[1] * per_length + tolerance) + 1, cells) : cells;
        window.first[axis] = (uint32_t)fmin(low, cells);
        window.count[axis] = end > low ? (uint32_t)ceil((end - low) / window.stride[axis]) : 0;
    }
    return window;
}

bool snapshots_hold(const struct snapshots_config *snapshots, const char *species)
{
    return species_are_named(&snapshots->species, species) && snapshots->particles.kind != PARTICLES_NONE;
}

uint32_t species_find(const struct config *config, const char *name)
{
    uint32_t s = 0;
    while (s < config->species_count && strcmp(config->species[s].name, name) != 0)
        s++;
    return s;
}

bool fields_hold(const struct field_list *fields, enum field field)
{
    uint32_t n = 0;
    while (n < fields->count && fields->items[n] != field)
        n++;
    return n < fields->count;
}

bool snapshots_separate(const struct snapshots_config *snapshots, const struct species_config *species)
{
    return snapshots->every > 0 && species->charge_density &&
           fields_hold(&snapshots->fields, FIELD_SPECIES_RHO);
}

double juttner_thermal(const struct velocities_config *velocities)
{
    const double *thermal = velocities->thermal;
    return thermal[0] == thermal[1] || thermal[0] == thermal[2] ? thermal[0] : thermal[1];
}

double juttner_end(double thermal, double per_c_squared)
{
    const double gamma = 1 + 45 * thermal * thermal * per_c_squared;
    return sqrt((gamma * gamma - 1) / per_c_squared);
}

/* Of v = u/gamma at rest, by the midpoint rule: s is u, but along the axis of another temperature u over
 * `ratio`. The density of |s| is that of add_juttner() in particles/recipe.c, its directions are even. */
static double juttner_speed(const struct velocities_config *velocities, double per_c_squared, int axis)
{
    enum { SIZES = 256, COSINES = 32 };
    const double *thermal = velocities->thermal, pair = juttner_thermal(velocities);
    const double ratio = thermal[0] / pair * (thermal[1] / pair) * (thermal[2] / pair);
    const double end = juttner_end(pair, per_c_squared);
    double sum = 0, all = 0;
    for (int n = 0; n < SIZES; n++) {
        const double s = (n + 0.5) / SIZES * end, gamma = sqrt(1 + s * s * per_c_squared);
        const double weight = s * s * exp(-s * s / ((gamma + 1) * pair * pair));
        for (int m = 0; m < COSINES; m++) {
            const double cosine = (m + 0.5) / COSINES, along = pow(ratio * s * cosine, 2);
            const double across = s * s * (1 - cosine * cosine);
            sum += weight * (thermal[axis] != pair ? along : across / 2) /
                   (1 + (along + across) * per_c_squared);
            all += weight;
        }
    }
    return sqrt(sum / all);
}

double species_thermal_speed(const struct species_config *species, int axis)
{
    const struct velocities_config *velocities = &species->velocities;
    if (velocities->kind == VELOCITIES_JUTTNER && species->per_c_squared > 0)
        return juttner_speed(velocities, species->per_c_squared, axis);
    const bool is_read = velocities->kind == VELOCITIES_COLD || velocities->kind == VELOCITIES_FILE;
    return is_read ? species->read.facts.thermal[axis] : velocities->thermal[axis];
}

double species_fastest_speed(const struct species_config *species, int axis)
{
    const struct velocities_config *velocities = &species->velocities;
    const struct profile_config *profile = &species->profile;
    const double fastest = fabs(velocities->drift[axis]) + profile->most_drift[axis] +
                           fabs(species->read.facts.mean[axis]) +
                           3 * fmax(1, profile->most_thermal[axis]) * species_thermal_speed(species, axis);
    if (velocities->kind == VELOCITIES_FORMULA)
        return fmin(fastest, fmax(fabs(velocities->range[axis][0]), fabs(velocities->range[axis][1])));
    return species->per_c_squared > 0 ? fmin(fastest, 1 / sqrt(species->per_c_squared)) : fastest;
}

double precision_fastest(enum precision precision)
{
    return precision == PRECISION_SINGLE ? 1e18 : 1e150;
}

double deposit_filter(const struct deposit_config *deposit, double angle)
{
    const double pass = (1 + cos(angle)) / 2, passes = deposit->filter_passes;
    return pow(pass, passes) * (deposit->filter_compensator ? 1 + passes * (1 - pass) : 1);
}

double config_longest_step(const struct config *config)
{
    const struct grid_config *grid = &config->grid;
    return 1 / (config->fields.speed_of_light *
                hypot(grid->cells[0] / grid->length[0], grid->cells[1] / grid->length[1]));
}

/* ---- units ---- */

/* CODATA 2018; e and k are exact by the definition of the SI, and a temperature in eV needs no k. */
static const double elementary_charge = 1.602176634e-19;    /* C */
static const double electron_mass = 9.1093837015e-31;       /* kg */
static const double speed_of_light = 299792458;             /* m/s, exact */
static const double vacuum_permittivity = 8.8541878128e-12; /* F/m */

struct units units_make(const struct units_config *config)
{
    const double n = config->density_per_m3;
    const double e = elementary_charge;
    const double omega_p = e * sqrt(n / (vacuum_permittivity * electron_mass));
    /* With T in volts, kT = e T. */
    const double lambda_d = sqrt(vacuum_permittivity * config->temperature_eV / (n * e));
    const double v_th = lambda_d * omega_p;
    return (struct units){
        .length = lambda_d,
        .time = 1 / omega_p,
        .velocity = v_th,
        .charge = e,
        .mass = electron_mass,
        .momentum = electron_mass * v_th,
        .electric_field = electron_mass * omega_p * v_th / e,
        .potential = config->temperature_eV,
        .charge_density = n * e,
        .magnetic_field = electron_mass * omega_p / e,
        .current_density = n * e * v_th,
        .speed_of_light = speed_of_light / v_th,
        .particles = n * lambda_d * lambda_d * lambda_d,
    };
}

/* ---- fields ---- */

const struct field_group field_groups[FIELD_GROUPS] = {
    [FIELDS_INITIAL] = {"initial", "initialFileDigest"},
    [FIELDS_EXTERNAL] = {"external", "externalFileDigest"}};

const char *fields_external(const struct fields_config *fields, uint32_t component)
{
    const char *formula = fields->external[component / 3][component % 3];
    return profile_is_given(formula, "0") ? formula : NULL;
}

uint32_t fields_felt(const struct fields_config *fields)
{
    bool has_others = fields->solver == SOLVER_ELECTROMAGNETIC;
    for (uint32_t c = 2; c < 6; c++)
        has_others |= fields_external(fields, c) || fields->file[FIELDS_EXTERNAL].values[c];
    return has_others ? 6 : 2;
}

#define ROW(name, word, electrostatic, electromagnetic, record, length, mass, time, current, unit, level,    \
            provider, noun)                                                                                  \
    {word,                                                                                                   \
     {electrostatic, electromagnetic},                                                                       \
     record,                                                                                                 \
     {length, mass, time, current},                                                                          \
     offsetof(struct units, unit),                                                                           \
     level,                                                                                                  \
     provider,                                                                                               \
     noun},

const struct field_row field_table[FIELDS] = {FIELD_TABLE(ROW)};

const char *field_record(const char *name)
{
    for (enum field f = 0; f < FIELDS; f++)
        if (strcmp(field_table[f].word, name) == 0)
            return field_table[f].record;
    return name;
}
