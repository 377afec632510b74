/* Snapshot on several ranks: the one file that all ranks write holds what one rank alone would write, in the
 * order of the ranks; a failure on one rank is that of all and leaves nothing behind.
 *
 * After a failed file a program must not end MPI in the usual way (hdf5_file.h), so the tests of faults run
 * in an mpirun of their own: this program with --faults FOLDER. */
#include "support/mpi_support.h"

#include "output/hdf5_array.h"
#include "output/snapshot.h"
#include "parallel/partition.h"

#include <dirent.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 7, ROWS = 23, COLUMNS = 5, SPECIES = 2, GHOST = 2 };

/* ---- a state, made by hand: a pure function of a particle's number, whatever the ranks ---- */

/* Rows with particles: the last rank owns rows beyond them. */
enum { FULL_ROWS = ROWS - 2 };

struct state {
    struct config config;
    struct communicator communicator;
    struct device *device;
    struct grid box;
    struct slab slab;
    struct fields fields;
    struct particles particles[SPECIES];
};

static struct config example(enum precision precision, uint64_t particles)
{
    return (struct config){
        .title = "by several hands",
        .grid = {{ROWS, COLUMNS}, {6.1, 4.7}},
        .time = {.step = 0.1, .steps = 100},
        .precision = precision,
        .species_count = SPECIES,
        .species = {{.name = "electrons",
                     .charge = -1,
                     .mass = 1,
                     .density = 1,
                     .particles = particles,
                     .ids = true},
                    {.name = "ions", .charge = 2, .mass = 1836, .density = 0.5, .particles = 77}},
        .deposit = {.shape = SHAPE_TSC, .filter_passes = 2},
        .output = {.snapshots = {.every = 1, .particles = true, .compression = 1}},
        .units = {1.0e18, 100},
    };
}

/* Most particles are in the first rows, so that the ranks have unequal parts. */
static uint32_t cell_of(uint64_t k)
{
    const uint32_t row = k % 4 == 0 ? (uint32_t)(k / 4 % FULL_ROWS) : (uint32_t)(k % 2);
    return row * COLUMNS + (uint32_t)(k % 7 % COLUMNS);
}

static double offset_of(uint64_t k, unsigned axis)
{
    return (double)((float)fmod((double)(k + 1) * (axis == 0 ? 0.6180339887 : 0.7548776662), 0.999));
}

/* The velocity along x tells the particle: exact in both precisions. */
static double velocity_of(uint64_t k, unsigned axis)
{
    return axis == 0 ? (double)k : -0.25 * (double)(k % 1024);
}

static double node_of(unsigned array, uint32_t node)
{
    return (array + 1) * 1000.0 + node;
}

static bool is_own(const struct state *state, uint64_t k)
{
    const uint32_t row = cell_of(k) / COLUMNS;
    return row >= state->slab.first_row && row - state->slab.first_row < state->slab.rows;
}

/* The numbers of the own particles, in the order of their cells, and the cell offsets of the local
 * grid. */
static uint32_t choose(const struct state *state, uint64_t all, uint64_t *chosen, uint32_t *offsets)
{
    const uint32_t cells = grid_cells(&state->slab.local), first = state->slab.first_row * COLUMNS;
    uint32_t next[ROWS * COLUMNS + 1];
    for (uint64_t k = 0; k < all; k++)
        if (is_own(state, k))
            offsets[cell_of(k) - first + 1]++;
    for (uint32_t cell = 0; cell < cells; cell++) {
        next[cell] = offsets[cell];
        offsets[cell + 1] += offsets[cell];
    }
    for (uint64_t k = 0; k < all; k++)
        if (is_own(state, k))
            chosen[next[cell_of(k) - first]++] = k;
    return offsets[cells];
}

static void fill_list(struct state *state, uint32_t species, struct particles *list)
{
    const struct species_config *config = &state->config.species[species];
    const enum precision precision = state->config.precision;
    const size_t cells = grid_cells(&state->slab.local);
    uint64_t *chosen = calloc(config->particles, sizeof *chosen);
    uint32_t *offsets = calloc(cells + 1, sizeof *offsets);
    double *pairs = calloc(2 * config->particles, sizeof *pairs);
    assert_true(chosen && offsets && pairs);
    const uint32_t count = choose(state, config->particles, chosen, offsets);
    assert_ok(particles_create(state->device, &state->slab, precision, LAYOUT_SOA, config, count + 1, list));
    list->count = count;
    assert_ok(buffer_write(list->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets));
    for (size_t n = 0; n < 2 * (size_t)count; n++)
        pairs[n] = offset_of(chosen[n / 2], n % 2);
    if (count > 0)
        assert_ok(
            buffer_write_reals(list->attribute[ATTRIBUTE_OFFSET], precision, 0, 2 * (size_t)count, pairs));
    for (size_t n = 0; n < 2 * (size_t)count; n++)
        pairs[n] = velocity_of(chosen[n / 2], n % 2);
    if (count > 0)
        assert_ok(
            buffer_write_reals(list->attribute[ATTRIBUTE_VELOCITY], precision, 0, 2 * (size_t)count, pairs));
    if (count > 0 && list->attribute[ATTRIBUTE_ID])
        assert_ok(buffer_write(list->attribute[ATTRIBUTE_ID], 0, count * sizeof *chosen, chosen));
    free(chosen);
    free(offsets);
    free(pairs);
}

static void fill_fields(struct state *state)
{
    struct buffer *const arrays[] = {state->fields.ex, state->fields.ey, state->fields.phi,
                                     state->fields.rho};
    double nodes[ROWS * COLUMNS];
    const uint32_t cells = grid_cells(&state->slab.local), first = state->slab.first_row * COLUMNS;
    for (unsigned a = 0; a < 4; a++) {
        for (uint32_t n = 0; n < cells; n++)
            nodes[n] = n < slab_own_cells(&state->slab) ? node_of(a, first + n) : NAN;
        assert_ok(buffer_write_reals(arrays[a], state->config.precision, 0, cells, nodes));
    }
}

/* Uneven rows: all but the last two are shared out from the first rank on, the last one has those two. */
static struct slab slab_of(const struct communicator *communicator, const struct grid *box)
{
    const uint32_t size = (uint32_t)communicator->size, rank = (uint32_t)communicator->rank;
    if (size == 1)
        return slab_whole_box(box);
    const uint32_t first = rank * rank; /* 0, 1, 4: 1, 3, 5 rows, and the last but one takes the rest */
    if (rank + 1 == size)
        return slab_make(box, FULL_ROWS, ROWS - FULL_ROWS, GHOST);
    return slab_make(box, first, rank + 2 == size ? FULL_ROWS - first : 2 * rank + 1, GHOST);
}

static void state_create(const struct config *config, const struct communicator *communicator,
                         struct state *state)
{
    *state =
        (struct state){.config = *config, .communicator = *communicator, .box = grid_make(&config->grid)};
    state->slab = slab_of(communicator, &state->box);
    assert_ok(device_open(test_device_spec(), &state->device));
    assert_ok(fields_create(state->device, &state->slab.local, config->precision, &state->fields));
    fill_fields(state);
    for (uint32_t s = 0; s < SPECIES; s++)
        fill_list(state, s, &state->particles[s]);
}

static void state_destroy(struct state *state)
{
    for (uint32_t s = 0; s < SPECIES; s++)
        particles_destroy(&state->particles[s]);
    device_close(&state->device);
}

static enum status state_write(const struct state *state, const char *folder, uint64_t *bytes)
{
    const struct view view = {
        .config = &state->config,
        .communicator = &state->communicator,
        .slab = &state->slab,
        .fields = &state->fields,
        .particles = state->particles,
        .step = STEP,
        .time = 0.7,
    };
    return snapshot_write(NULL, folder, &view, bytes);
}

/* ---- folders ---- */

enum { NAME = 128 };

/* A new folder, the same on all ranks. */
static void make_folder(char folder[NAME])
{
    snprintf(folder, NAME, "/tmp/radixpic_ranks_XXXXXX");
    if (ranks.rank == 0)
        assert_non_null(mkdtemp(folder));
    communicator_broadcast(&ranks, NAME, folder);
}

static void remove_folder(const char *folder)
{
    char command[NAME + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (ranks.rank == 0)
        assert_int_equal(system(command), 0);
}

static unsigned files_in(const char *folder)
{
    unsigned found = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        found += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return found;
}

/* ---- reading back, on one rank ---- */

static hid_t open_snapshot(const char *folder)
{
    char path[NAME + 32];
    snprintf(path, sizeof path, "%s/data_%d.h5", folder, STEP);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static double *read_array(hid_t file, const char *name, size_t *count)
{
    char path[NAME];
    snprintf(path, sizeof path, "data/%d/%s", STEP, name);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    *count = (size_t)H5Sget_simple_extent_npoints(space);
    double *values = calloc(*count, sizeof *values);
    assert_non_null(values);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return values;
}

/* A column of a species, ordered by the particles' numbers, which the momenta along x tell. */
static double *read_column(hid_t file, const struct species_config *species, const char *name)
{
    char path[NAME];
    size_t count, momenta_count;
    snprintf(path, sizeof path, "particles/%s/momentum/x", species->name);
    double *momenta = read_array(file, path, &momenta_count);
    snprintf(path, sizeof path, "particles/%s/%s", species->name, name);
    double *values = read_array(file, path, &count);
    assert_int_equal(momenta_count, species->particles);
    assert_int_equal(count, species->particles);
    double *ordered = calloc(count, sizeof *ordered);
    assert_non_null(ordered);
    for (size_t n = 0; n < count; n++)
        ordered[n] = NAN;
    for (size_t n = 0; n < count; n++) {
        const size_t k = (size_t)(momenta[n] / species->mass);
        assert_true(k < count && isnan(ordered[k]));
        ordered[k] = values[n];
    }
    free(momenta);
    free(values);
    return ordered;
}

static void assert_same_columns(const struct config *config, hid_t file, hid_t alone)
{
    static const char *const names[] = {"position/x",       "position/y", "positionOffset/x",
                                        "positionOffset/y", "momentum/y", "id"};
    for (uint32_t s = 0; s < SPECIES; s++) {
        for (unsigned n = 0; n < (config->species[s].ids ? 6 : 5); n++) {
            double *values = read_column(file, &config->species[s], names[n]);
            double *expected = read_column(alone, &config->species[s], names[n]);
            assert_memory_equal(values, expected, config->species[s].particles * sizeof *values);
            free(values);
            free(expected);
        }
    }
}

static void assert_same_fields(hid_t file, hid_t alone)
{
    static const char *const names[] = {"fields/E/x", "fields/E/y", "fields/phi", "fields/chargeDensity"};
    for (unsigned a = 0; a < 4; a++) {
        size_t count, expected_count;
        double *values = read_array(file, names[a], &count);
        double *expected = read_array(alone, names[a], &expected_count);
        assert_int_equal(count, ROWS * COLUMNS);
        assert_int_equal(expected_count, ROWS * COLUMNS);
        for (uint32_t n = 0; n < ROWS * COLUMNS; n++)
            assert_near(values[n], node_of(a, n), 0);
        assert_memory_equal(values, expected, count * sizeof *values);
        free(values);
        free(expected);
    }
}

/* A patch for each rank with its numbers and rows; of the others check_openpmd.py says whether they fit. */
static void check_patches(const struct config *config, const struct grid *box, hid_t file)
{
    for (uint32_t s = 0; s < SPECIES; s++) {
        char name[NAME];
        size_t count, offset_count;
        snprintf(name, sizeof name, "particles/%s/particlePatches/numParticles", config->species[s].name);
        double *numbers = read_array(file, name, &count);
        snprintf(name, sizeof name, "particles/%s/particlePatches/offset/x", config->species[s].name);
        double *offsets = read_array(file, name, &offset_count);
        assert_int_equal(count, ranks.size);
        for (int rank = 0; rank < ranks.size; rank++) {
            const struct communicator other = {.rank = rank, .size = ranks.size};
            const struct state state = {.communicator = other, .slab = slab_of(&other, box)};
            uint64_t own = 0;
            for (uint64_t k = 0; k < config->species[s].particles; k++)
                own += is_own(&state, k);
            assert_near(numbers[rank], (double)own, 0);
            assert_near(offsets[rank], state.slab.first_row * box->dx, 0);
        }
        assert_true(ranks.size == 1 || numbers[ranks.size - 1] == 0);
        free(numbers);
        free(offsets);
    }
}

static void check_file(const struct state *state, const char *folder)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    char other[NAME + 16], command[2 * NAME];
    snprintf(other, sizeof other, "%s/alone", folder);
    assert_int_equal(mkdir(other, 0777), 0);
    struct state whole;
    uint64_t bytes;
    state_create(&state->config, &alone, &whole);
    assert_ok(state_write(&whole, other, &bytes));
    state_destroy(&whole);

    const hid_t file = open_snapshot(folder), reference = open_snapshot(other);
    assert_same_fields(file, reference);
    assert_same_columns(&state->config, file, reference);
    check_patches(&state->config, &state->box, file);
    H5Fclose(reference);
    H5Fclose(file);
    snprintf(command, sizeof command,
             "/usr/bin/python3 -B scripts/check_openpmd.py --quiet %s/data_%d.h5 >&2", folder, STEP);
    assert_int_equal(system(command), 0);
}

static void write_and_check(const struct config *config)
{
    char folder[NAME], path[NAME + 32];
    make_folder(folder);
    struct state state;
    state_create(config, &ranks, &state);
    uint64_t bytes;
    assert_ok(state_write(&state, folder, &bytes));
    struct stat information;
    snprintf(path, sizeof path, "%s/data_%d.h5", folder, STEP);
    assert_int_equal(stat(path, &information), 0);
    assert_int_equal(information.st_size, bytes);
    assert_true(bytes <= snapshot_bytes(config));
    if (ranks.rank == 0) {
        assert_int_equal(files_in(folder), 1);
        check_file(&state, folder);
    }
    state_destroy(&state);
    remove_folder(folder);
}

/* ---- tests of the content ---- */

static void same_as_alone(void **unused)
{
    (void)unused;
    for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        struct config config = example((enum precision)precision, 1001);
        write_and_check(&config);
        config.output.snapshots.compression = 0;
        write_and_check(&config);
    }
}

/* The ranks need unequal numbers of writes, and share chunks. */
static void several_pieces(void **unused)
{
    (void)unused;
    const struct config config = example(PRECISION_SINGLE, 2 * HDF5_PIECE + 12345);
    write_and_check(&config);
}

static void few_particles(void **unused)
{
    (void)unused;
    const struct config config = example(PRECISION_DOUBLE, 1);
    write_and_check(&config);
}

/* ---- tests of faults, in an mpirun of their own ---- */

/* On rank 0, where everything that is wrong is told. */
static unsigned wrong;

static void expect(bool is_right, const char *what, const char *where)
{
    if (is_right)
        return;
    fprintf(stderr, "rank %d: %s: not %s; last message: %s\n", ranks.rank, where, what, status_message());
    wrong++;
}

/* What every rank must find after a failed file; rank 0 looks into the folder. */
static void expect_failure(enum status status, const char *folder, const char *reason, const char *where)
{
    expect(status == STATUS_FAILED, "STATUS_FAILED", where);
    expect(strstr(status_message(), folder) != NULL, "the folder in the message", where);
    expect(strstr(status_message(), reason) != NULL, reason, where);
    if (ranks.rank == 0)
        expect(files_in(folder) == 0, "an empty folder", where);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Fails on the last rank, in the second piece. */
static enum status fill_or_fail(const void *source, uint64_t first, size_t count, void *values)
{
    memset(values, 0, count);
    if (ranks.rank + 1 == ranks.size && first > 0)
        return status_fail(STATUS_FAILED, "%s: the source runs dry", (const char *)source);
    return STATUS_OK;
}

static void failing_source(const char *folder)
{
    struct hdf5_file file;
    uint64_t bytes = 1;
    const uint64_t rows = 2 * HDF5_PIECE;
    const struct hdf5_array array = {
        .type = H5T_NATIVE_UINT8,
        .dimensions = 1,
        .shape = {rows * (uint64_t)ranks.size, 0},
        .first_row = rows * (uint64_t)ranks.rank,
        .rows = rows,
        .fill = fill_or_fail,
        .source = folder,
    };
    expect(hdf5_file_create(&ranks, folder, "dry.h5", 1, 0, &file) == STATUS_OK, "created", "source");
    hdf5_close(&file, hdf5_dataset(&file, file.id, "first", &array));
    hdf5_close(&file, hdf5_dataset(&file, file.id, "second", &array));
    expect_failure(hdf5_file_finish(&file, &bytes), folder, "runs dry", "failing source");
}

static void unusable_folders(const struct state *state, const char *folder)
{
    char path[NAME + 32];
    uint64_t bytes;
    snprintf(path, sizeof path, "%s/missing", folder);
    expect_failure(state_write(state, path, &bytes), folder, "No such file or directory", "missing folder");

    /* Something else has the name. */
    snprintf(path, sizeof path, "%s/data_%d.h5", folder, STEP);
    if (ranks.rank == 0)
        expect(mkdir(path, 0777) == 0, "made", path);
    MPI_Barrier(MPI_COMM_WORLD);
    const enum status status = state_write(state, folder, &bytes);
    if (ranks.rank == 0)
        expect(rmdir(path) == 0, "removed", path);
    expect_failure(status, folder, "Is a directory", "name of a folder");
}

/* The last rank can open no file. */
static void blind_rank(const struct state *state, const char *folder)
{
    struct rlimit limit, none = {0, 0};
    uint64_t bytes;
    expect(getrlimit(RLIMIT_NOFILE, &limit) == 0, "asked", "blind rank");
    none.rlim_max = limit.rlim_max;
    if (ranks.rank + 1 == ranks.size)
        setrlimit(RLIMIT_NOFILE, &none);
    const enum status status = state_write(state, folder, &bytes);
    setrlimit(RLIMIT_NOFILE, &limit);
    expect_failure(status, folder, "Too many open files", "blind rank");
}

/* The disk is full at `most` bytes, for one rank or, where that is -1, for all. */
static void full_disk(const struct state *state, const char *folder, uint64_t most, int rank)
{
    struct rlimit limit = {most, RLIM_INFINITY};
    uint64_t bytes;
    char where[64];
    snprintf(where, sizeof where, "file of at most %llu bytes, rank %d", (unsigned long long)most, rank);
    if (rank < 0 || rank == ranks.rank)
        setrlimit(RLIMIT_FSIZE, &limit);
    const enum status status = state_write(state, folder, &bytes);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    expect_failure(status, folder, "File too large", where);
}

/* A failed run ends as main() ends one; a file FOLDER/passed tells that all was right. */
static int faults(const char *folder)
{
    if (communicator_start(&ranks) != STATUS_OK)
        return EXIT_FAILURE;
    signal(SIGXFSZ, SIG_IGN);
    const struct config config = example(PRECISION_DOUBLE, 200000);
    struct state state;
    state_create(&config, &ranks, &state);
    uint64_t bytes = 0;
    char path[NAME + 32];
    expect(state_write(&state, folder, &bytes) == STATUS_OK, "written", "whole file");
    snprintf(path, sizeof path, "%s/data_%d.h5", folder, STEP);
    if (ranks.rank == 0)
        expect(unlink(path) == 0, "there", "whole file");

    unusable_folders(&state, folder);
    blind_rank(&state, folder);
    failing_source(folder);
    const uint64_t limits[] = {0, bytes / 8, bytes / 2, 100, 10000, bytes - 20000, bytes - 1};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++)
        full_disk(&state, folder, limits[n], -1);
    /* One rank alone: the first writes the end of the file too, the last but one most particles. */
    for (size_t n = 0; n < 3; n++) {
        full_disk(&state, folder, limits[n], 0);
        full_disk(&state, folder, limits[n], ranks.size > 1 ? ranks.size - 2 : 0);
    }
    expect(state_write(&state, folder, &bytes) == STATUS_OK, "written", "file after failures");

    uint64_t all_wrong = wrong;
    communicator_sum_counts(&ranks, 1, &all_wrong);
    char passed[NAME + 32];
    snprintf(passed, sizeof passed, "%s/passed", folder);
    if (ranks.rank == 0 && all_wrong == 0)
        (void)!rename(path, passed);
    state_destroy(&state);
    communicator_stop(STATUS_FAILED);
    _exit(EXIT_FAILURE);
}

static void failures_leave_no_trace(void **unused)
{
    (void)unused;
    char folder[NAME], command[4 * NAME], passed[NAME + 32];
    make_folder(folder);
    snprintf(passed, sizeof passed, "%s/passed", folder);
    /* A second mpirun must not find the variables of the first. */
    snprintf(command, sizeof command,
             "for name in $(env | grep -oE '^(OMPI_|PMIX_|ORTE_|PRTE_)[A-Za-z_0-9]*' | grep -vE "
             "'ALLOW_RUN|MCA_rmaps|MCA_hwloc|MCA_mpi_yield'); do unset $name; done; "
             "timeout 1000 mpirun -n %d /proc/$PPID/exe --faults %s >%s.log 2>&1",
             ranks.size, folder, folder);
    if (ranks.rank == 0) {
        (void)!system(command); /* ends with a failure, as a failed run does; its log tells the rest */
        struct stat information;
        if (stat(passed, &information) != 0)
            fail_msg("see %s.log", folder);
        snprintf(command, sizeof command, "rm %s.log", folder);
        assert_int_equal(system(command), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    remove_folder(folder);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--faults"))
        return faults(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_alone),
        cmocka_unit_test(several_pieces),
        cmocka_unit_test(few_particles),
        cmocka_unit_test(failures_leave_no_trace),
    };
    return mpi_run_tests("snapshot", tests, NULL, NULL);
}
