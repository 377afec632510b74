/* Check: one function for each rule. */
#include "config/check.h"

#include "config/check_phase_space.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DENSITY_WAVES = 4, BASES_OF_A_SPECIES = 4 };

/* A number in use by a van der Corput sequence, and the key that says it. */
struct base {
    uint32_t value;
    const char *key;
    char path[SCHEMA_PATH_LENGTH];
};

__attribute__((format(printf, 2, 3))) static void write_path(char path[SCHEMA_PATH_LENGTH],
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, SCHEMA_PATH_LENGTH, format, arguments);
    va_end(arguments);
}

/* b of the short key: the least number of bits that numbers every cell. */
static uint32_t least_key_bits(const struct grid_config *grid)
{
    const uint64_t cells = (uint64_t)grid->cells[0] * grid->cells[1];
    uint32_t bits = 1;
    while (UINT64_C(1) << bits < cells)
        bits++;
    return bits;
}

static void check_cells(const struct config *config, struct complaints *complaints)
{
    const uint64_t cells = (uint64_t)config->grid.cells[0] * config->grid.cells[1];
    if (complaints_sound(complaints, "grid.cells") && cells > CONFIG_MAX_CELLS)
        complain(complaints, NULL, "grid.cells",
                 "%" PRIu64 " cells are too many; allowed: a product of at most %u", cells, CONFIG_MAX_CELLS);
}

static void check_sort(const struct config *config, struct complaints *complaints)
{
    if (!complaints_sound(complaints, "grid.cells") || !complaints_sound(complaints, "sort.key_bits"))
        return;
    const uint32_t least = least_key_bits(&config->grid);
    const uint32_t bits = config->sort.key_bits == SORT_AUTO ? least : config->sort.key_bits;
    if (bits < least) {
        complain(complaints, NULL, "sort.key_bits",
                 "%u bits cannot number %u x %u cells; allowed: %u to 32, or auto", bits,
                 config->grid.cells[0], config->grid.cells[1], least);
        return;
    }
    if (complaints_sound(complaints, "sort.passes") && config->sort.passes > bits)
        complain(complaints, NULL, "sort.passes",
                 "%u passes are more than the key has bits; allowed: 1 to %u", config->sort.passes, bits);
}

static void check_history_modes(const struct config *config, struct complaints *complaints)
{
    if (!complaints_sound(complaints, "grid.cells"))
        return;
    for (uint32_t i = 0; i < config->output.history.mode_count; i++) {
        char path[SCHEMA_PATH_LENGTH];
        write_path(path, "output.history.modes.%u", i);
        for (int axis = 0; axis < 2 && complaints_sound(complaints, path); axis++) {
            const int32_t mode = config->output.history.modes[i][axis];
            const int32_t most = (int32_t)(config->grid.cells[axis] / 2);
            if (mode < -most || mode > most)
                complain(complaints, NULL, path,
                         "mode %d along %c is beyond the Nyquist mode of the grid; allowed: %d to %d", mode,
                         "xy"[axis], -most, most);
        }
    }
}

static void check_names(const struct config *config, struct complaints *complaints)
{
    for (uint32_t i = 1; i < config->species_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            char path[SCHEMA_PATH_LENGTH];
            write_path(path, "species.%u.name", i);
            if (!complaints_sound(complaints, path) ||
                strcmp(config->species[i].name, config->species[j].name) != 0)
                continue;
            complain(complaints, NULL, path,
                     "\"%s\" is the name of an earlier species too; allowed: one species of a name",
                     config->species[i].name);
        }
    }
}

/* Whether a key of species `index` has no complaint. */
static bool species_sound(const struct complaints *complaints, uint32_t index, const char *key)
{
    char path[SCHEMA_PATH_LENGTH];
    write_path(path, "species.%u.%s", index, key);
    return complaints_sound(complaints, path);
}

static void check_lattice(const struct species_config *species, uint32_t index, struct complaints *complaints)
{
    if (species->positions.kind != POSITIONS_LATTICE || !species_sound(complaints, index, "positions") ||
        !species_sound(complaints, index, "particles"))
        return;
    char counts[SCHEMA_PATH_LENGTH];
    write_path(counts, "species.%u.positions.counts", index);
    const uint64_t x = species->positions.counts[0];
    const uint64_t y = species->positions.counts[1];
    if (species->particles % x != 0 || species->particles / x != y)
        complain(complaints, NULL, counts,
                 "%" PRIu64 " x %" PRIu64 " are not the %" PRIu64 " particles of the species; "
                 "allowed: counts whose product is particles",
                 x, y, species->particles);
}

static void check_range(const struct species_config *species, uint32_t index, struct complaints *complaints)
{
    char path[SCHEMA_PATH_LENGTH];
    write_path(path, "species.%u.velocities.range", index);
    if (species->velocities.kind != VELOCITIES_UNIFORM || !complaints_sound(complaints, path))
        return;
    for (int axis = 0; axis < 2; axis++) {
        const double *range = species->velocities.range[axis];
        if (range[0] > range[1])
            complain(complaints, NULL, path, "%c from %g to %g runs downwards; allowed: [low, high]",
                     "uv"[axis], range[0], range[1]);
        else if (!isfinite(range[1] - range[0]))
            complain(complaints, NULL, path, "%c from %g to %g is wider than a double holds", "uv"[axis],
                     range[0], range[1]);
    }
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Appends the pair of bases at `key` of species `index`. Returns the new number of bases. */
static size_t collect_bases(const uint32_t values[2], const char *key, uint32_t index, struct base *bases,
                            size_t count)
{
    char path[SCHEMA_PATH_LENGTH];
    write_path(path, "species.%u.%s", index, key);
    for (int axis = 0; axis < 2; axis++) {
        bases[count] = (struct base){.value = values[axis], .key = key};
        memcpy(bases[count].path, path, sizeof path);
        count++;
    }
    return count;
}

/* Sequences whose bases share a factor repeat each other's pattern: particles would sit on lines. */
static void check_bases(const struct species_config *species, uint32_t index, struct complaints *complaints)
{
    struct base bases[BASES_OF_A_SPECIES];
    size_t count = 0;
    if (species->positions.kind == POSITIONS_VAN_DER_CORPUT && species_sound(complaints, index, "positions"))
        count = collect_bases(species->positions.bases, "positions.bases", index, bases, count);
    if (species->velocities.kind != VELOCITIES_COLD && species_sound(complaints, index, "velocities"))
        count = collect_bases(species->velocities.bases, "velocities.bases", index, bases, count);
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            const uint32_t factor = greatest_common_divisor(bases[i].value, bases[j].value);
            if (bases[i].value == bases[j].value)
                complain(complaints, NULL, bases[i].path,
                         "base %u is used twice (%s); allowed: bases without a common factor", bases[i].value,
                         bases[j].key);
            else if (factor > 1)
                complain(
                    complaints, NULL, bases[i].path,
                    "base %u shares the factor %u with base %u of %s; allowed: bases without a common factor",
                    bases[i].value, factor, bases[j].value, bases[j].key);
        }
    }
}

/* The keys of one perturbation: mode against the grid, amplitude of a density against 1, waves per axis. */
static void check_wave(const struct config *config, const struct perturbation *wave, const char *path,
                       bool is_density, struct complaints *complaints)
{
    char axis[SCHEMA_PATH_LENGTH];
    char mode[SCHEMA_PATH_LENGTH];
    char amplitude[SCHEMA_PATH_LENGTH];
    write_path(axis, "%.64s.axis", path);
    write_path(mode, "%.64s.mode", path);
    write_path(amplitude, "%.64s.amplitude", path);
    const uint32_t nyquist = config->grid.cells[wave->axis] / 2;
    if (complaints_sound(complaints, "grid.cells") && complaints_sound(complaints, axis) &&
        complaints_sound(complaints, mode) && wave->mode > nyquist)
        complain(complaints, NULL, mode, "mode %u is above the Nyquist mode of %u cells; allowed: 1 to %u",
                 wave->mode, config->grid.cells[wave->axis], nyquist);
    if (is_density && complaints_sound(complaints, amplitude) && !(fabs(wave->amplitude) < 1))
        complain(complaints, NULL, amplitude,
                 "%g would make the density negative; allowed: a number between -1 and 1", wave->amplitude);
}

static void check_waves(const struct config *config, uint32_t index, const char *key,
                        const struct perturbation_list *list, struct complaints *complaints)
{
    const bool is_density = list == &config->species[index].perturb.density;
    uint32_t along[2] = {0, 0};
    for (uint32_t i = 0; i < list->count; i++) {
        char path[SCHEMA_PATH_LENGTH];
        write_path(path, "species.%u.perturb.%s.%u", index, key, i);
        check_wave(config, &list->items[i], path, is_density, complaints);
        if (is_density && complaints_sound(complaints, path) &&
            ++along[list->items[i].axis] > MOST_DENSITY_WAVES)
            complain(complaints, NULL, path,
                     "one density perturbation too many along %c; allowed: %d along an axis",
                     "xy"[list->items[i].axis], MOST_DENSITY_WAVES);
    }
}

void check_config(const struct config *config, struct complaints *complaints)
{
    check_cells(config, complaints);
    check_sort(config, complaints);
    check_history_modes(config, complaints);
    check_names(config, complaints);
    check_phase_space(config, complaints);
    for (uint32_t i = 0; i < config->species_count; i++) {
        check_lattice(&config->species[i], i, complaints);
        check_range(&config->species[i], i, complaints);
        check_bases(&config->species[i], i, complaints);
        check_waves(config, i, "density", &config->species[i].perturb.density, complaints);
        check_waves(config, i, "displacement", &config->species[i].perturb.displacement, complaints);
    }
}
