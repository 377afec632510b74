/* Snapshot: the one file that all ranks write holds the state of the devices to the last bit that its format
 * allows, by the rules of openPMD and ED-PIC, whatever the number of ranks; and it is whole or not there.
 *
 * A run of this program with arguments is the child of the test of faults. */
#include "support/mpi_child.h"

#include "support/output_scene.h"

#include "base/stop.h"
#include "hdf5/hdf5_write.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include <float.h>
#include <sys/resource.h>

enum { STEP = 42, NAME = 128, MOST_RANKS = 64 };

/* One that all ranks know, and in it the snapshot. */
static int make_folder(void **state)
{
    folder = folder_make_for_all();
    folder_file(&folder, "data_42.h5");
    return open_branch(state);
}

static int remove_folder(void **state)
{
    folder_remove_for_all(&folder);
    return close_branch(state);
}

#undef TEST
#define TEST(name) TEST_WITH(name, make_folder, remove_folder)

/* Electrons with ids and ions without, on 23 x 5 cells. */
static const struct scene_kind usual = {.cluster = 8, .cells = {23, 5}};

/* A rank's part. Uneven rows: of several ranks rank r begins with row r^2, and the last one has the last two
 * rows, which no particles are in. */
static void begin(const struct scene_kind *kind, struct scene *scene)
{
    uint32_t first[MOST_RANKS + 1] = {0};
    const int last = ranks.size - 1;
    for (int rank = 0; rank < last; rank++)
        first[rank] = (uint32_t)(rank * rank);
    first[last] = last > 0 ? kind->cells[0] - 2 : 0;
    first[ranks.size] = kind->cells[0];
    scene_create(&ranks, kind, first, scene);
}

static enum status write_into(const char *path, const struct scene *scene, uint64_t *bytes)
{
    const struct view view = scene_view(scene, STEP);
    struct hdf5_file *file = NULL;
    void *parts = NULL;
    assert_ok(snapshot_output.create(scene->owner, &scene->config, &parts));
    const enum status recorded = outputs_record(&snapshot_output, parts, path, &view, &file);
    return write_now(recorded, file, &ranks, bytes);
}

/* The folder holds nothing but a whole snapshot of so many bytes, or nothing where that is 0. Rank 0, which
 * is the one that removes what failed, lists it. */
static void check_folder(uint64_t bytes)
{
    struct stat information;
    if (ranks.rank == 0)
        assert_holds(&folder, bytes > 0 ? "data_42.h5" : "");
    assert_int_equal(stat(folder.file, &information), bytes > 0 ? 0 : -1);
    if (bytes > 0)
        assert_int_equal(information.st_size, bytes);
}

/* ---- reading back ---- */

/* Another library would be fairer, but the file's meaning is checked by h5py; here are the numbers, of 8
 * bytes. */
static void *read_array(hid_t file, hid_t type, size_t count, const char *format, ...)
{
    char path[NAME];
    va_list words;
    const int used = snprintf(path, sizeof path, "data/%d/", STEP);
    va_start(words, format);
    vsnprintf(path + used, sizeof path - (size_t)used, format, words);
    va_end(words);
    void *values = test_array(count, 8);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return values;
}
#define READ_NUMBERS(file, count, ...)                                                                       \
    ((const double *)read_array(file, H5T_NATIVE_DOUBLE, count, __VA_ARGS__))

static double read_attribute(hid_t file, const char *species, const char *record, const char *attribute)
{
    char path[2 * NAME];
    double value = NAN;
    snprintf(path, sizeof path, "data/%d/particles/%s/%s", STEP, species, record);
    const hid_t id = H5Aopen_by_name(file, path, attribute, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Aread(id, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(id);
    return value;
}

/* Offsets, cells and momenta along an axis. */
static void check_axis(const struct scene *scene, hid_t file, uint32_t s, unsigned axis)
{
    const struct species_config *species = &scene->config.species[s];
    const enum precision precision = scene->kind.precision, stored = snapshots_precision(&scene->config);
    const struct grid *grid = &scene->grid;
    const char letter = "xyz"[axis], *const name = species->name;
    const size_t count = species->particles;
    const double *momenta = READ_NUMBERS(file, count, "particles/%s/momentum/%c", name, letter), *offsets,
                 *cells;
    if (axis < 2) {
        offsets = READ_NUMBERS(file, count, "particles/%s/position/%c", name, letter);
        cells = READ_NUMBERS(file, count, "particles/%s/positionOffset/%c", name, letter);
    }
    size_t j = 0;
    for (uint32_t cell = 0; cell < grid_cells(grid); cell++)
        for (uint32_t n = 0; n < scene_count(&scene->kind, s, cell); n++, j++) {
            const uint32_t index = axis == 0 ? cell / grid->ny : cell % grid->ny;
            const double momentum =
                species->mass * scene_value(precision, s, cell, n, axis < 2 ? 2 + axis : 5);
            assert_near(momenta[j], stored == PRECISION_SINGLE ? (double)(float)momentum : momentum, 0);
            if (axis == 2)
                continue;
            assert_near(offsets[j], scene_value(precision, s, cell, n, axis),
                        stored != precision ? FLT_EPSILON / 2.0
                                            : index * DBL_EPSILON); /* so that the sum ... */
            assert_near(cells[j], index, 0);
            assert_true(offsets[j] + cells[j] >= index &&
                        offsets[j] + cells[j] < index + 1); /* ... is in it */
        }
    assert_int_equal(j, count);
    char record[NAME];
    snprintf(record, sizeof record, "position/%c", letter);
    const double spacing = axis == 0 ? grid->dx : grid->dy, unit = units_make(&scene->config.units).length;
    if (axis < 2)
        assert_near(read_attribute(file, name, record, "unitSI"), spacing * unit, DBL_EPSILON * unit);
}

/* A patch for each rank with its numbers and rows; of the others check_openpmd.py says whether they fit. */
static void check_patches(const struct scene *scene, hid_t file, uint32_t s)
{
    static const char format[] = "particles/%s/particlePatches/%s";
    const char *const name = scene->config.species[s].name;
    const uint32_t *first = scene->partition.first, ny = scene->grid.ny;
    const double *numbers = READ_NUMBERS(file, (size_t)ranks.size, format, name, "numParticles");
    const double *offsets = READ_NUMBERS(file, (size_t)ranks.size, format, name, "offset/x");
    for (int rank = 0; rank < ranks.size; rank++) {
        assert_near(numbers[rank], scene_count_in(&scene->kind, s, first[rank] * ny, first[rank + 1] * ny),
                    0);
        assert_near(offsets[rank], first[rank], 0);
    }
}

static void check_species(const struct scene *scene, hid_t file, uint32_t s)
{
    const struct species_config *species = &scene->config.species[s];
    const struct units units = units_make(&scene->config.units);
    for (unsigned axis = 0; axis < species_dimensions(species); axis++)
        check_axis(scene, file, s, axis);
    check_patches(scene, file, s);
    assert_near(read_attribute(file, species->name, "weighting", "value") /
                    (scene->lists[s].weight * units.particles),
                1, 1e-15);
    assert_near(read_attribute(file, species->name, "momentum", "timeOffset"), -scene->config.time.step / 2,
                0);
    if (!species->ids)
        return;
    const uint64_t *ids =
        read_array(file, H5T_NATIVE_UINT64, species->particles, "particles/%s/id", species->name);
    for (uint32_t cell = 0; cell < grid_cells(&scene->grid); cell++)
        for (uint32_t n = 0; n < scene_count(&scene->kind, s, cell); n++)
            assert_true(*ids++ ==
                        scene_bits(s, cell, n, 4) + (s == 0 ? 0 : scene->config.species[0].particles));
}

/* Every number of the file, and by the rules of openPMD; rank 0 looks. */
static void check_file(const struct scene *scene)
{
    static const struct {
        const char *name;
        enum field field;
        uint32_t axis;
    } meshes[] = {
        {"E/x", FIELD_E, 0}, {"E/y", FIELD_E, 1}, {"phi", FIELD_PHI, 0}, {"chargeDensity", FIELD_RHO, 0}};
    char command[2 * NAME];
    if (ranks.rank > 0)
        return;
    const hid_t file = H5Fopen(folder.file, H5F_ACC_RDONLY, H5P_DEFAULT);
    const uint32_t cells = grid_cells(&scene->grid);
    for (size_t n = 0; n < sizeof meshes / sizeof meshes[0]; n++) {
        const double *nodes = READ_NUMBERS(file, cells, "fields/%s", meshes[n].name);
        const uint32_t component = field_first(scene->fields.solver, meshes[n].field) + meshes[n].axis;
        for (uint32_t node = 0; node < cells; node++)
            assert_near(nodes[node], scene_node(component, node), 0);
    }
    const bool has_particles = scene->config.output.snapshots.particles.kind == PARTICLES_ALL;
    for (uint32_t s = 0; s < scene->config.species_count && has_particles; s++)
        check_species(scene, file, s);
    assert_true(H5Fclose(file) >= 0);
    snprintf(command, sizeof command, "/usr/bin/python3 -B scripts/check_openpmd.py --quiet %s >&2",
             folder.file);
    if (ranks.size % 2) /* one, and more than two, each with a patch of particles */
        assert_int_equal(system(command), 0);
}

static void write_and_check(const struct scene *scene)
{
    const struct config *config = &scene->config;
    uint64_t bytes;
    assert_ok(write_into(folder.path, scene, &bytes));
    check_folder(bytes);
    /* An estimate is of use within a factor of two; it may be far above where arrays compress. */
    assert_true(bytes <= outputs_size(&snapshot_output, config).bytes);
    if (config->output.snapshots.compression == 0)
        assert_true(outputs_size(&snapshot_output, config).bytes < 2 * bytes);
    check_file(scene);
    MPI_Barrier(MPI_COMM_WORLD); /* before another one is written */
}

/* ---- tests of the content ---- */

TEST(content)
{
    for (int n = 0; n < 2; n++) {
        struct scene_kind kind = usual;
        struct scene scene;
        kind.precision = n ? PRECISION_DOUBLE : PRECISION_SINGLE;
        begin(&kind, &scene);
        write_and_check(&scene);
        scene_destroy(&scene);
        kind.ids = true;
        begin(&kind, &scene);
        scene.config.output.snapshots.compression = 0;
        scene.config.deposit = (struct deposit_config){.shape = SHAPE_NGP};
        scene.config.fields.gradient = GRADIENT_CENTRED;
        write_and_check(&scene);
        scene.config.output.snapshots.precision = SNAPSHOT_PRECISION_SINGLE;
        write_and_check(&scene);
        scene.config.output.snapshots.particles.kind = PARTICLES_NONE;
        write_and_check(&scene);
        scene_destroy(&scene);
        kind.cluster = 0;
        begin(&kind, &scene);
        write_and_check(&scene);
        scene_destroy(&scene);
    }
}

/* More particles than one chunk, and nodes in several chunks, the last ones ragged. The ranks have unequal
 * numbers of chunks, and share some. Then two chunks, of which the last rank of four begins within the
 * second. */
TEST(several_chunks)
{
    const struct scene_kind kinds[] = {{.cluster = 2, .cells = {301, 1001}},
                                       {.cluster = 14, .cells = {301, 7}}};
    for (int n = 0; n < 2; n++) {
        struct scene scene;
        begin(&kinds[n], &scene);
        scene.config.species_count = 1;
        scene.config.output.snapshots.compression = 1;
        write_and_check(&scene);
        scene_destroy(&scene);
    }
}

/* The same file is checked on one rank alone. */
TEST(spoiled_files_are_seen)
{
    struct scene scene;
    char command[2 * NAME];
    uint64_t bytes;
    if (ranks.size > 1)
        return;
    begin(&(struct scene_kind){.cluster = 20, .cells = {8, 5}}, &scene);
    assert_ok(write_into(folder.path, &scene, &bytes));
    snprintf(command, sizeof command, "/usr/bin/python3 -B tests/support/openpmd_mutations.py %s",
             folder.file);
    assert_int_equal(system(command), 0);
    scene_destroy(&scene);
}

/* ---- tests of faults, in a child ---- */

/* What every rank must find: the failure, and the older file, of so many bytes, or none where that is 0. */
static void assert_all_fail(enum status status, const char *reason, uint64_t older)
{
    assert_fails(status, folder.path, reason);
    check_folder(older);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Fails on the last rank, behind the first chunk. */
static enum status fill_or_fail(const void *source, uint64_t first, size_t count, void *values)
{
    memset(values, 0, count);
    if (ranks.rank + 1 == ranks.size && first > 1 << 17)
        return status_fail(STATUS_FAILED, "%s: the source runs dry", (const char *)source);
    return STATUS_OK;
}

/* In chunks of all ranks through the first one, and where each rank writes its own part. */
static void failing_source(bool is_plain, uint64_t older)
{
    struct hdf5_file *file;
    uint64_t bytes = 1;
    const uint64_t count = 3 << 20;
    struct hdf5_array array = {.type = HDF5_UINT8,
                               .dimensions = 1,
                               .shape = {count * (uint64_t)ranks.size},
                               .first = count * (uint64_t)ranks.rank,
                               .count = count,
                               .fill = fill_or_fail,
                               .source = folder.path};
    hdf5_choose_chunks(&array);
    assert_ok(hdf5_file_create(&ranks, folder.path, "dry.h5", &file));
    file->is_plain = is_plain;
    hdf5_dataset(&file->root, "first", &array);
    hdf5_dataset(&file->root, "second", &array);
    assert_all_fail(write_now(STATUS_OK, file, &ranks, &bytes), "runs dry", older);
}

/* Writes while one rank, or all where `rank` is -1, has a limit, and then has none any more. */
static void limited(const struct scene *scene, __rlimit_resource_t resource, rlim_t most, int rank,
                    const char *reason, uint64_t older)
{
    struct rlimit before, limit;
    uint64_t bytes;
    assert_int_equal(getrlimit(resource, &before), 0);
    limit = (struct rlimit){most, before.rlim_max};
    if (rank < 0 || rank == ranks.rank)
        setrlimit(resource, &limit);
    const enum status status = write_into(folder.path, scene, &bytes);
    setrlimit(resource, &before);
    assert_all_fail(status, reason, older);
}

/* The others must not wait for it in the recording, which is collective. */
static void one_rank_cannot_begin(const struct scene *scene)
{
    uint64_t bytes;
    char path[PATH_MAX];
    const int used = snprintf(path, sizeof path, "%s/", folder.path);
    const bool is_last = ranks.rank + 1 == ranks.size;
    memset(path + used, is_last ? 'x' : '\0', sizeof path - (size_t)used);
    path[sizeof path - 1] = '\0';
    assert_all_fail(write_into(path, scene, &bytes), "this name of a folder is too long", 0);
}

static int faults(const char *passed)
{
    static const char full[] = "File too large";
    const struct scene_kind kind = {.precision = PRECISION_DOUBLE, .cluster = 1000, .cells = {23, 5}};
    struct scene scene;
    char missing[NAME + 16];
    uint64_t bytes = 0;
    mpi_tests_begin();
    assert_ok(stop_begin());
    assert_int_equal(open_device(NULL), 0);
    assert_int_equal(make_folder(NULL), 0);
    begin(&kind, &scene);
    snprintf(missing, sizeof missing, "%s/missing", folder.path);
    assert_all_fail(write_into(missing, &scene, &bytes), "No such file or directory", 0);
    one_rank_cannot_begin(&scene);
    assert_ok(write_into(folder.path, &scene, &bytes)); /* the older file */
    limited(&scene, RLIMIT_NOFILE, 0, 0, "Too many open files", bytes);
    failing_source(false, bytes);
    failing_source(true, bytes);
    const uint64_t limits[] = {0, bytes / 8, bytes / 2, 100, 10000, bytes - 20000, bytes - 1};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++)
        limited(&scene, RLIMIT_FSIZE, limits[n], -1, full, bytes);
    for (size_t n = 0; n < 3; n++)
        limited(&scene, RLIMIT_FSIZE, limits[n], 0, full, bytes); /* the first rank alone writes */
    assert_ok(write_into(folder.path, &scene, &bytes));
    check_file(&scene);
    scene_destroy(&scene);
    assert_int_equal(remove_folder(NULL), 0);
    mpi_child_end(passed);
    return EXIT_FAILURE;
}

TEST(failures_leave_no_trace)
{
    mpi_run_child(folder_file(&folder, "passed"));
}

/* With arguments, the child. */
int main(int argc, char **argv)
{
    if (mpi_is_child(argc, argv))
        return faults(argv[2]);
    mpi_tests_begin();
    return mpi_tests_end(run_listed_tests(open_device, close_device));
}
