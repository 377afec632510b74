/* Snapshot scene: a state that is a pure function of cells and particles' numbers, so that any rank makes its
 * own part of it and the file of any number of ranks is known to the last bit; and what reads such files. */
#ifndef RADIXPIC_TEST_SNAPSHOT_SCENE_H
#define RADIXPIC_TEST_SNAPSHOT_SCENE_H

#include "support/mpi_child.h"

#include "support/list_support.h"
#include "support/test_folder.h"
#include "support/write_now.h"

#include "output/hdf5_write.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include <float.h>
#include <sys/resource.h>

enum { STEP = 42, SPECIES = 2, NAME = 128, ROWS = 23, GHOST = 2 };

struct scene {
    struct config config;
    struct device *owner;
    struct grid box;
    struct slab slab;
    struct fields fields;
    struct particles particles[SPECIES];
    struct folder folder; /* and in it the snapshot */
};

/* Electrons with ids and ions without; the counts fill no cell evenly. */
static inline struct config config_of(enum precision precision, uint32_t rows, uint64_t electrons)
{
    return (struct config){
        .title = "by hand",
        .grid = {{rows, 5}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 100},
        .precision = precision,
        .species_count = SPECIES,
        .species = {{.name = "electrons",
                     .charge = -1,
                     .mass = 1,
                     .density = 1,
                     .particles = electrons,
                     .ids = true,
                     .push = true,
                     .velocities.dimensions = 3},
                    {.name = "ions", .charge = 2, .mass = 1836, .density = 0.5, .particles = 77}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .output = {.snapshots = {.every = 1,
                                 .fields = {FIELDS, {FIELD_E, FIELD_PHI, FIELD_RHO}},
                                 .species = {1, {"all"}},
                                 .compression = 4}},
        .units = {1.0e18, 100},
    };
}

/* ---- the state ---- */

/* Particles are in all rows or, of several ranks, not in those of the last one. */
static inline uint32_t full_rows(const struct grid *box)
{
    return ranks.size == 1 ? box->nx : box->nx - 2;
}

/* Uneven rows: all but the last two are shared out from the first rank on; the last one has those two. */
static inline struct slab slab_of(int rank_number, const struct grid *box)
{
    const uint32_t size = (uint32_t)ranks.size, rank = (uint32_t)rank_number, full = full_rows(box);
    if (size == 1)
        return slab_whole_box(box);
    const uint32_t first = rank * rank; /* 0, 1, 4: 1, 3, 5 rows, and the last but one takes the rest */
    if (rank + 1 == size)
        return slab_make(box, full, box->nx - full, GHOST);
    return slab_make(box, first, rank + 2 == size ? full - first : 2 * rank + 1, GHOST);
}

/* Cell c holds the particles from this one on; the first cells have most. */
static inline uint32_t first_of(const struct scene *scene, uint64_t count, uint32_t cell)
{
    const uint32_t filled = full_rows(&scene->box) * scene->box.ny;
    return (uint32_t)((double)count * sqrt(cell < filled ? (double)cell / filled : 1));
}

/* Spread over [0, 1), the last one as near to 1 as the precision can say. */
static inline double offset_of(const struct scene *scene, uint64_t count, uint64_t j, unsigned axis)
{
    const bool is_double = scene->config.precision == PRECISION_DOUBLE;
    if (j + 1 == count)
        return is_double ? 1 - DBL_EPSILON / 2 : 1 - (double)FLT_EPSILON / 2;
    const double value = fmod((double)(j + 1) * (axis == 0 ? 0.6180339887 : 0.7548776662), 0.999);
    return is_double ? value : (double)(float)value;
}

static inline double velocity_of(uint64_t j, unsigned axis)
{
    return (axis == 0   ? 1.0
            : axis == 1 ? -0.25
                        : 3) *
           ((double)(j % 1024) - 512) / 64; /* exact in both precisions */
}

static inline double node_of(unsigned array, uint32_t node)
{
    return (array + 1) * 1000.0 + node;
}

static inline void fill_species(struct scene *scene, const struct species_config *species,
                                struct particles *list)
{
    const uint32_t cells = grid_cells(&scene->slab.local), own = slab_own_cells(&scene->slab);
    const uint32_t first_cell = scene->slab.first_row * scene->box.ny;
    const uint32_t first = first_of(scene, species->particles, first_cell);
    uint32_t *starts = test_array(cells + (size_t)1, sizeof *starts);
    for (uint32_t c = 0; c <= cells; c++)
        starts[c] = first_of(scene, species->particles, first_cell + (c < own ? c : own)) - first;
    const uint32_t count = starts[cells];
    double *offsets = test_array(2 * (size_t)count, sizeof *offsets);
    double *velocities = test_array(2 * (size_t)count, sizeof *velocities);
    double *w = test_array(count, sizeof *w);
    uint64_t *ids = test_array(count, sizeof *ids);
    for (uint32_t n = 0; n < 2 * count; n++) {
        w[n / 2] = velocity_of(first + n / 2, 2);
        offsets[n] = offset_of(scene, species->particles, first + n / 2, n % 2);
        velocities[n] = velocity_of(first + n / 2, n % 2);
        ids[n / 2] = species->particles - 1 - (first + n / 2);
    }
    assert_ok(particles_create(scene->owner, &scene->slab, scene->config.precision, LAYOUT_SOA, species,
                               count + 1, list));
    list->count = count;
    list_write_all(list, cells, starts, offsets, velocities, w, ids);
}

/* Rows that are not the rank's own hold NaN. */
static inline void fill_fields(const struct scene *scene)
{
    const uint32_t cells = grid_cells(&scene->slab.local), first = scene->slab.first_row * scene->box.ny;
    double *nodes = test_array(cells, sizeof *nodes);
    for (unsigned a = 0; a < FIELD_COMPONENTS; a++) {
        for (uint32_t n = 0; n < cells; n++)
            nodes[n] = n < slab_own_cells(&scene->slab) ? node_of(a, first + n) : NAN;
        assert_ok(buffer_write_reals(scene->fields.component[a], scene->config.precision, 0, cells, nodes));
    }
}

/* A rank's part, and a folder, which rank 0 makes. */
static inline void begin(const struct config *config, struct scene *scene)
{
    *scene = (struct scene){.config = *config, .box = grid_make(&config->grid)};
    scene->slab = slab_of(ranks.rank, &scene->box);
    assert_ok(device_branch(device, &scene->owner));
    assert_ok(fields_create(scene->owner, &scene->slab.local, config->precision, SOLVER_ELECTROSTATIC, &scene->fields));
    fill_fields(scene);
    for (uint32_t s = 0; s < config->species_count; s++)
        fill_species(scene, &scene->config.species[s], &scene->particles[s]);
    scene->folder = folder_make_for_all();
    folder_file(&scene->folder, "data_42.h5");
}

static inline void end(struct scene *scene)
{
    device_close(&scene->owner);
    folder_remove_for_all(&scene->folder);
}

static inline enum status write_into(const char *folder, const struct scene *scene, uint64_t *bytes)
{
    const struct view view = {.config = &scene->config,
                              .communicator = &ranks,
                              .slab = &scene->slab,
                              .fields = &scene->fields,
                              .particles = scene->particles,
                              .step = STEP,
                              .time = STEP * scene->config.time.step};
    struct hdf5_file *file = NULL;
    void *parts = NULL;
    assert_ok(snapshot_output.create(scene->owner, &scene->config, &parts));
    const enum status recorded = outputs_record(&snapshot_output, parts, folder, &view, &file);
    return write_now(recorded, file, &ranks, bytes);
}

/* The folder holds nothing but a whole snapshot of so many bytes, or nothing where that is 0. Rank 0, which
 * is the one that removes what failed, lists it. */
static inline void check_folder(const struct scene *scene, uint64_t bytes)
{
    struct stat information;
    if (ranks.rank == 0)
        assert_holds(&scene->folder, bytes > 0 ? "data_42.h5" : "");
    assert_int_equal(stat(scene->folder.file, &information), bytes > 0 ? 0 : -1);
    if (bytes > 0)
        assert_int_equal(information.st_size, bytes);
}

/* ---- reading back ---- */

/* Another library would be fairer, but the file's meaning is checked by h5py; here are the numbers. */
static inline double *read_numbers(hid_t file, size_t count, const char *format, ...)
{
    char path[NAME];
    va_list words;
    const int used = snprintf(path, sizeof path, "data/%d/", STEP);
    va_start(words, format);
    vsnprintf(path + used, sizeof path - (size_t)used, format, words);
    va_end(words);
    double *values = test_array(count, sizeof *values);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return values;
}

static inline double read_attribute(hid_t file, const char *species, const char *record,
                                    const char *attribute)
{
    char path[2 * NAME];
    double value = NAN;
    snprintf(path, sizeof path, "data/%d/particles/%s/%s", STEP, species, record);
    const hid_t id = H5Aopen_by_name(file, path, attribute, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(id);
    return value;
}

static inline void check_axis(const struct scene *scene, hid_t file, const struct species_config *species,
                              unsigned axis)
{
    const struct grid *grid = &scene->box;
    const char letter = "xy"[axis], *const name = species->name;
    const size_t count = (size_t)species->particles;
    const double *offsets = read_numbers(file, count, "particles/%s/position/%c", name, letter);
    const double *cells = read_numbers(file, count, "particles/%s/positionOffset/%c", name, letter);
    const double *momenta = read_numbers(file, count, "particles/%s/momentum/%c", name, letter);
    const bool is_rounded = snapshots_precision(&scene->config) != scene->config.precision;
    uint32_t cell = 0;
    for (uint64_t j = 0; j < count; j++) {
        while (first_of(scene, count, cell + 1) <= j)
            cell++;
        const uint32_t index = axis == 0 ? cell / grid->ny : cell % grid->ny;
        assert_near(offsets[j], offset_of(scene, count, j, axis),
                    is_rounded ? FLT_EPSILON / 2.0 : index * DBL_EPSILON); /* so that the sum ... */
        assert_near(cells[j], index, 0);
        assert_true(offsets[j] + cells[j] >= index &&
                    offsets[j] + cells[j] < index + 1);                   /* ... is in the cell */
        assert_near(momenta[j], species->mass * velocity_of(j, axis), 0); /* exact numbers */
    }
    char record[NAME];
    snprintf(record, sizeof record, "position/%c", letter);
    const double spacing = axis == 0 ? grid->dx : grid->dy, unit = units_make(&scene->config.units).length;
    assert_near(read_attribute(file, name, record, "unitSI"), spacing * unit, DBL_EPSILON * unit);
}

/* A patch for each rank with its numbers and rows; of the others check_openpmd.py says whether they fit. */
static inline void check_patches(const struct scene *scene, hid_t file, const struct species_config *species)
{
    static const char format[] = "particles/%s/particlePatches/%s";
    const size_t size = (size_t)ranks.size;
    const double *numbers = read_numbers(file, size, format, species->name, "numParticles");
    const double *offsets = read_numbers(file, size, format, species->name, "offset/x");
    for (int rank = 0; rank < ranks.size; rank++) {
        const struct slab slab = slab_of(rank, &scene->box);
        const uint32_t first = slab.first_row * scene->box.ny, last = first + slab.rows * scene->box.ny;
        assert_near(numbers[rank],
                    first_of(scene, species->particles, last) - first_of(scene, species->particles, first),
                    0);
        assert_near(offsets[rank], slab.first_row, 0);
    }
}

static inline void check_species(const struct scene *scene, hid_t file, uint32_t s)
{
    const struct species_config *species = &scene->config.species[s];
    const size_t count = (size_t)species->particles;
    const struct units units = units_make(&scene->config.units);
    for (unsigned axis = 0; axis < 2; axis++)
        check_axis(scene, file, species, axis);
    if (species_has_w(species)) {
        const double *momenta = read_numbers(file, count, "particles/%s/momentum/z", species->name);
        for (uint64_t j = 0; j < count; j++)
            assert_near(momenta[j], species->mass * velocity_of(j, 2), 0);
    }
    check_patches(scene, file, species);
    assert_near(read_attribute(file, species->name, "weighting", "value") /
                    (scene->particles[s].weight * units.particles),
                1, 1e-15);
    assert_near(read_attribute(file, species->name, "momentum", "timeOffset"), -scene->config.time.step / 2,
                0);
    if (!species->ids)
        return;
    const double *ids = read_numbers(file, count, "particles/%s/id", species->name);
    for (uint64_t j = 0; j < count; j++)
        assert_near(ids[j],
                    (double)(count - 1 - j) + (s == 0 ? 0 : (double)scene->config.species[0].particles), 0);
}

/* Every number of the file, and by the rules of openPMD; rank 0 looks. */
static inline void check_file(const struct scene *scene)
{
    static const char *const names[] = {"fields/E/x", "fields/E/y", "fields/phi", "fields/chargeDensity"};
    char command[2 * NAME];
    if (ranks.rank > 0)
        return;
    const hid_t file = H5Fopen(scene->folder.file, H5F_ACC_RDONLY, H5P_DEFAULT);
    const uint32_t cells = grid_cells(&scene->box);
    for (unsigned a = 0; a < 4; a++) {
        const double *nodes = read_numbers(file, cells, "%s", names[a]);
        for (uint32_t n = 0; n < cells; n++)
            assert_near(nodes[n], node_of(a, n), 0);
    }
    const bool has_particles = scene->config.output.snapshots.particles.kind == PARTICLES_ALL;
    for (uint32_t s = 0; s < scene->config.species_count && has_particles; s++)
        check_species(scene, file, s);
    assert_true(H5Fclose(file) >= 0);
    snprintf(command, sizeof command, "/usr/bin/python3 -B scripts/check_openpmd.py --quiet %s >&2",
             scene->folder.file);
    assert_int_equal(system(command), 0);
}

#endif
