/* Snapshot scene: a state that is a pure function of cells and particles' numbers, so that any rank makes its
 * own part of it and the file of any number of ranks is known to the last bit; and what reads such files. */
#ifndef RADIXPIC_TEST_SNAPSHOT_SCENE_H
#define RADIXPIC_TEST_SNAPSHOT_SCENE_H

#include "support/list_support.h"

#include "output/hdf5_array.h"
#include "output/snapshot.h"
#include "output/units.h"

#include <dirent.h>
#include <float.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCENE_STEP = 42, SCENE_SPECIES = 2, SCENE_NAME = 128 };

struct scene {
    struct config config;
    const struct communicator *communicator;
    struct device *owner;
    struct grid box;
    struct slab slab;
    uint32_t filled; /* cells from cell 0 on that hold particles */
    struct fields fields;
    struct particles particles[SCENE_SPECIES];
};

/* Electrons with ids and ions without; the counts fill no cell evenly. */
static inline struct config scene_config(enum precision precision, uint32_t rows, uint64_t electrons)
{
    return (struct config){
        .title = "by hand",
        .grid = {{rows, 5}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 100},
        .precision = precision,
        .species_count = SCENE_SPECIES,
        .species = {{.name = "electrons",
                     .charge = -1,
                     .mass = 1,
                     .density = 1,
                     .particles = electrons,
                     .ids = true},
                    {.name = "ions", .charge = 2, .mass = 1836, .density = 0.5, .particles = 77}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .output = {.snapshots = {.every = 1, .particles = true, .compression = 4}},
        .units = {1.0e18, 100},
    };
}

/* ---- the state ---- */

/* Cell c holds the particles from this one on; the first cells have most. */
static inline uint32_t scene_first(const struct scene *scene, uint64_t count, uint32_t cell)
{
    const double share = cell < scene->filled ? (double)cell / scene->filled : 1;
    return (uint32_t)((double)count * sqrt(share));
}

/* Spread over [0, 1), the last one as near to 1 as the precision can say. */
static inline double scene_offset(const struct scene *scene, uint64_t count, uint64_t j, unsigned axis)
{
    const bool is_double = scene->config.precision == PRECISION_DOUBLE;
    if (j + 1 == count)
        return is_double ? 1 - DBL_EPSILON / 2 : 1 - (double)FLT_EPSILON / 2;
    const double value = fmod((double)(j + 1) * (axis == 0 ? 0.6180339887 : 0.7548776662), 0.999);
    return is_double ? value : (double)(float)value;
}

static inline double scene_velocity(uint64_t j, unsigned axis)
{
    return (axis == 0 ? 1.0 : -0.25) * ((double)(j % 1024) - 512) / 64; /* exact in both precisions */
}

static inline double scene_node(unsigned array, uint32_t node)
{
    return (array + 1) * 1000.0 + node;
}

static inline void scene_fill_species(struct scene *scene, uint32_t species)
{
    const struct species_config *config = &scene->config.species[species];
    struct particles *list = &scene->particles[species];
    const uint32_t cells = grid_cells(&scene->slab.local), own = slab_own_cells(&scene->slab);
    const uint32_t first_cell = scene->slab.first_row * scene->box.ny;
    const uint32_t first = scene_first(scene, config->particles, first_cell);
    uint32_t *starts = calloc(cells + (size_t)1, sizeof *starts);
    assert_non_null(starts);
    for (uint32_t c = 0; c <= cells; c++)
        starts[c] = scene_first(scene, config->particles, first_cell + (c < own ? c : own)) - first;
    const uint32_t count = starts[cells];
    double *offsets = calloc(2 * (size_t)count + 1, sizeof *offsets);
    double *velocities = calloc(2 * (size_t)count + 1, sizeof *velocities);
    uint64_t *ids = calloc(count + (size_t)1, sizeof *ids);
    assert_true(offsets && velocities && ids);
    for (uint32_t n = 0; n < 2 * count; n++) {
        offsets[n] = scene_offset(scene, config->particles, first + n / 2, n % 2);
        velocities[n] = scene_velocity(first + n / 2, n % 2);
        ids[n / 2] = config->particles - 1 - (first + n / 2);
    }
    assert_ok(particles_create(scene->owner, &scene->slab, scene->config.precision, LAYOUT_SOA, config,
                               count + 1, list));
    list->count = count;
    list_write(list, ATTRIBUTE_OFFSET, offsets);
    list_write(list, ATTRIBUTE_VELOCITY, velocities);
    list_write_ids(list, ids);
    list_write_starts(list, cells, starts);
    free(starts);
    free(offsets);
    free(velocities);
    free(ids);
}

/* Rows that are not the rank's own hold numbers that are none. */
static inline void scene_fill_fields(struct scene *scene)
{
    struct buffer *const arrays[] = {scene->fields.ex, scene->fields.ey, scene->fields.phi,
                                     scene->fields.rho};
    const uint32_t cells = grid_cells(&scene->slab.local), first = scene->slab.first_row * scene->box.ny;
    double *nodes = calloc(cells, sizeof *nodes);
    assert_non_null(nodes);
    for (unsigned a = 0; a < 4; a++) {
        for (uint32_t n = 0; n < cells; n++)
            nodes[n] = n < slab_own_cells(&scene->slab) ? scene_node(a, first + n) : NAN;
        assert_ok(buffer_write_reals(arrays[a], scene->config.precision, 0, cells, nodes));
    }
    free(nodes);
}

/* The part of a rank, with particles in the first `full_rows` rows of the box. */
static inline void scene_create(const struct config *config, const struct communicator *communicator,
                                const struct slab *slab, uint32_t full_rows, struct scene *scene)
{
    *scene = (struct scene){.config = *config,
                            .communicator = communicator,
                            .box = grid_make(&config->grid),
                            .slab = *slab,
                            .filled = full_rows * config->grid.cells[1]};
    assert_ok(device_branch(device, &scene->owner));
    assert_ok(fields_create(scene->owner, &slab->local, config->precision, &scene->fields));
    scene_fill_fields(scene);
    for (uint32_t s = 0; s < config->species_count; s++)
        scene_fill_species(scene, s);
}

static inline enum status scene_write(const struct scene *scene, const char *folder, uint64_t *bytes)
{
    const struct view view = {.config = &scene->config,
                              .communicator = scene->communicator,
                              .slab = &scene->slab,
                              .fields = &scene->fields,
                              .particles = scene->particles,
                              .step = SCENE_STEP,
                              .time = SCENE_STEP * scene->config.time.step};
    return snapshot_write(NULL, folder, &view, bytes);
}

/* ---- reading back ---- */

static inline const char *scene_path(const char *folder)
{
    static char path[SCENE_NAME + 32];
    snprintf(path, sizeof path, "%s/data_%d.h5", folder, SCENE_STEP);
    return path;
}

/* Another library would be fairer, but the file's meaning is checked by h5py; here are the numbers. */
static inline double *scene_read(hid_t file, const char *format, const char *species, const char *axis,
                                 size_t count)
{
    char name[SCENE_NAME], path[SCENE_NAME + 32];
    snprintf(name, sizeof name, format, species, axis);
    snprintf(path, sizeof path, "data/%d/%s", SCENE_STEP, name);
    double *values = calloc(count + 1, sizeof *values);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(values && dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return values;
}

static inline double scene_read_number(hid_t file, const char *species, const char *record,
                                       const char *attribute)
{
    char path[SCENE_NAME];
    double value = NAN;
    snprintf(path, sizeof path, "data/%d/particles/%s/%s", SCENE_STEP, species, record);
    const hid_t id = H5Aopen_by_name(file, path, attribute, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(id >= 0);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(id);
    return value;
}

static inline void scene_check_axis(const struct scene *scene, hid_t file,
                                    const struct species_config *species, unsigned axis)
{
    const struct grid *grid = &scene->box;
    const char *const letter = axis == 0 ? "x" : "y";
    const double length = axis == 0 ? grid->lx : grid->ly, spacing = axis == 0 ? grid->dx : grid->dy;
    /* The way in the cell is rounded once, to the run's precision; the sum once, to double. */
    const double rounding = scene->config.precision == PRECISION_DOUBLE ? 0 : (double)FLT_EPSILON / 2;
    const size_t count = (size_t)species->particles;
    double *ways = scene_read(file, "particles/%s/position/%s", species->name, letter, count);
    double *corners = scene_read(file, "particles/%s/positionOffset/%s", species->name, letter, count);
    double *momenta = scene_read(file, "particles/%s/momentum/%s", species->name, letter, count);
    uint32_t cell = 0;
    for (uint64_t j = 0; j < count; j++) {
        while (scene_first(scene, count, cell + 1) <= j)
            cell++;
        const uint32_t index = axis == 0 ? cell / grid->ny : cell % grid->ny;
        const double expected = (index + scene_offset(scene, count, j, axis)) * spacing;
        assert_near(ways[j] + corners[j], expected, spacing * rounding + 4 * DBL_EPSILON * length);
        assert_near(corners[j], index * spacing, DBL_EPSILON * length);
        assert_true(ways[j] + corners[j] >= 0 && ways[j] + corners[j] < length);
        assert_near(momenta[j], species->mass * scene_velocity(j, axis), 0); /* exact numbers */
    }
    free(ways);
    free(corners);
    free(momenta);
}

static inline void scene_check_species(const struct scene *scene, hid_t file, uint32_t s)
{
    const struct species_config *species = &scene->config.species[s];
    const size_t count = (size_t)species->particles;
    const struct units units = units_make(&scene->config.units);
    for (unsigned axis = 0; axis < 2; axis++)
        scene_check_axis(scene, file, species, axis);
    assert_near(scene_read_number(file, species->name, "weighting", "value") /
                    (scene->particles[s].weight * units.particles),
                1, 1e-15);
    assert_near(scene_read_number(file, species->name, "momentum", "timeOffset"),
                -scene->config.time.step / 2, 0);
    if (!species->ids)
        return;
    double *ids = scene_read(file, "particles/%s/%s", species->name, "id", count);
    for (uint64_t j = 0; j < count; j++)
        assert_near(ids[j],
                    (double)(count - 1 - j) + (s == 0 ? 0 : (double)scene->config.species[0].particles), 0);
    free(ids);
}

/* Every number of the file in the folder, and by the rules of openPMD. */
static inline void scene_check_file(const struct scene *scene, const char *folder)
{
    static const char *const names[] = {"fields/E/x", "fields/E/y", "fields/phi", "fields/chargeDensity"};
    char command[2 * SCENE_NAME];
    const hid_t file = H5Fopen(scene_path(folder), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    const uint32_t cells = grid_cells(&scene->box);
    for (unsigned a = 0; a < 4; a++) {
        double *nodes = scene_read(file, names[a], "", "", cells);
        for (uint32_t n = 0; n < cells; n++)
            assert_near(nodes[n], scene_node(a, n), 0);
        free(nodes);
    }
    for (uint32_t s = 0; s < scene->config.species_count && scene->config.output.snapshots.particles; s++)
        scene_check_species(scene, file, s);
    assert_true(H5Fclose(file) >= 0);
    snprintf(command, sizeof command, "/usr/bin/python3 -B scripts/check_openpmd.py --quiet %s >&2",
             scene_path(folder));
    assert_int_equal(system(command), 0);
}

/* ---- folders ---- */

static inline void folder_make(char folder[SCENE_NAME])
{
    snprintf(folder, SCENE_NAME, "/tmp/radixpic_snapshot_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static inline void folder_remove(const char *folder)
{
    char command[SCENE_NAME + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* The files in the folder; those that are not named `expected` fail the test where it is not NULL. */
static inline unsigned folder_count(const char *folder, const char *expected)
{
    unsigned found = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        found++;
        if (expected && strcmp(entry->d_name, expected) != 0)
            fail_msg("%s holds %s", folder, entry->d_name);
    }
    closedir(listing);
    return found;
}

#endif
