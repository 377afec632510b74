/* Snapshot: the one file that all ranks write holds the state of the devices to the last bit that its format
 * allows, by the rules of openPMD and ED-PIC, whatever the number of ranks; and it is whole or not there.
 *
 * A run of this program with arguments is the child of the test of faults. */
#include "support/snapshot_scene.h"

#include "base/stop.h"

static void write_and_check(const struct config *config)
{
    struct scene scene;
    uint64_t bytes;
    begin(config, &scene);
    assert_ok(write_into(scene.folder.path, &scene, &bytes));
    check_folder(&scene, bytes);
    /* An estimate is of use within a factor of two; it may be far above where arrays compress. */
    assert_true(bytes <= outputs_bytes(&snapshot_output, config));
    if (config->output.snapshots.compression == 0)
        assert_true(outputs_bytes(&snapshot_output, config) < 2 * bytes);
    check_file(&scene);
    end(&scene);
}

/* ---- tests of the content ---- */

TEST(content)
{
    for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        struct config config = config_of((enum precision)precision, ROWS, 1001);
        write_and_check(&config);
        config.output.snapshots.compression = 0;
        config.species[0].ids = false;
        config.species[1].ids = true;
        config.deposit = (struct deposit_config){.shape = SHAPE_NGP};
        config.fields.gradient = GRADIENT_CENTRED;
        write_and_check(&config);
        config.output.snapshots.precision = SNAPSHOT_PRECISION_SINGLE;
        write_and_check(&config);
        config.output.snapshots.particles.kind = PARTICLES_NONE;
        write_and_check(&config);
        config = config_of((enum precision)precision, ROWS, 1);
        write_and_check(&config);
    }
}

/* More particles than one chunk, and nodes in several chunks, the last ones ragged. The ranks have unequal
 * numbers of chunks, and share some. */
TEST(several_chunks)
{
    struct config config = config_of(PRECISION_SINGLE, 301, 5 << 18);
    config.species_count = 1;
    config.grid.cells[1] = 1001;
    config.output.snapshots.compression = 1;
    write_and_check(&config);
    /* Two chunks, and the last rank of four begins within the second one. */
    config.grid.cells[1] = 7;
    config.species[0].particles = 70001;
    write_and_check(&config);
}

/* The same file is checked on one rank alone. */
TEST(spoiled_files_are_seen)
{
    const struct config config = config_of(PRECISION_SINGLE, 6, 1001);
    struct scene scene;
    char command[2 * NAME];
    uint64_t bytes;
    if (ranks.size > 1)
        return;
    begin(&config, &scene);
    assert_ok(write_into(scene.folder.path, &scene, &bytes));
    snprintf(command, sizeof command, "/usr/bin/python3 -B tests/support/openpmd_mutations.py %s",
             scene.folder.file);
    assert_int_equal(system(command), 0);
    end(&scene);
}

static unsigned char *write_and_read(const struct scene *scene, uint64_t *bytes)
{
    size_t found;
    assert_ok(write_into(scene->folder.path, scene, bytes));
    unsigned char *content = read_file(scene->folder.file, &found);
    assert_int_equal(found, *bytes);
    return content;
}

TEST(same_state_same_bytes)
{
    const struct config config = config_of(PRECISION_SINGLE, ROWS, 1001);
    struct scene scene;
    uint64_t bytes, bytes_again;
    begin(&config, &scene);
    const unsigned char *first = write_and_read(&scene, &bytes);
    sleep(1); /* so that the date does differ, and is the only thing */
    const unsigned char *second = write_and_read(&scene, &bytes_again);
    assert_int_equal(bytes, bytes_again);
    size_t from = bytes, to = 0;
    for (size_t n = 0; n < bytes; n++) {
        if (first[n] != second[n]) {
            from = n < from ? n : from;
            to = n;
        }
    }
    /* The checksum of the object header with the date ends its block, whose length is a few hundred bytes. */
    assert_true(from <= to && to - from < 1024);
    end(&scene);
}

/* ---- tests of faults, in a child ---- */

/* What every rank must find: the failure, and the older file, of so many bytes, or none where that is 0. */
static void assert_all_fail(enum status status, const struct scene *scene, const char *reason, uint64_t older)
{
    assert_fails(status, scene->folder.path, reason);
    check_folder(scene, older);
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
static void failing_source(const struct scene *scene, bool is_plain, uint64_t older)
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
                               .source = scene->folder.path};
    hdf5_choose_chunks(&array);
    assert_ok(hdf5_file_create(&ranks, scene->folder.path, "dry.h5", &file));
    file->is_plain = is_plain;
    hdf5_dataset(&file->root, "first", &array);
    hdf5_dataset(&file->root, "second", &array);
    assert_all_fail(write_now(STATUS_OK, file, &ranks, &bytes), scene, "runs dry", older);
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
    const enum status status = write_into(scene->folder.path, scene, &bytes);
    setrlimit(resource, &before);
    assert_all_fail(status, scene, reason, older);
}

/* The others must not wait for it in the recording, which is collective. */
static void one_rank_cannot_begin(const struct scene *scene)
{
    uint64_t bytes;
    char path[PATH_MAX];
    const int used = snprintf(path, sizeof path, "%s/", scene->folder.path);
    const bool is_last = ranks.rank + 1 == ranks.size;
    memset(path + used, is_last ? 'x' : '\0', sizeof path - (size_t)used);
    path[sizeof path - 1] = '\0';
    assert_all_fail(write_into(path, scene, &bytes), scene, "this name of a folder is too long", 0);
}

static int faults(const char *passed)
{
    static const char full[] = "File too large";
    const struct config config = config_of(PRECISION_DOUBLE, ROWS, 200000);
    struct scene scene;
    char missing[NAME + 16];
    uint64_t bytes = 0;
    mpi_tests_begin();
    assert_ok(stop_begin());
    assert_int_equal(open_device(NULL), 0);
    begin(&config, &scene);
    snprintf(missing, sizeof missing, "%s/missing", scene.folder.path);
    assert_all_fail(write_into(missing, &scene, &bytes), &scene, "No such file or directory", 0);
    one_rank_cannot_begin(&scene);
    assert_ok(write_into(scene.folder.path, &scene, &bytes)); /* the older file */
    limited(&scene, RLIMIT_NOFILE, 0, 0, "Too many open files", bytes);
    failing_source(&scene, false, bytes);
    failing_source(&scene, true, bytes);
    const uint64_t limits[] = {0, bytes / 8, bytes / 2, 100, 10000, bytes - 20000, bytes - 1};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++)
        limited(&scene, RLIMIT_FSIZE, limits[n], -1, full, bytes);
    for (size_t n = 0; n < 3; n++)
        limited(&scene, RLIMIT_FSIZE, limits[n], 0, full, bytes); /* the first rank alone writes */
    assert_ok(write_into(scene.folder.path, &scene, &bytes));
    check_file(&scene);
    end(&scene);
    mpi_child_end(passed);
    return EXIT_FAILURE;
}

TEST(failures_leave_no_trace)
{
    struct folder folder = folder_make_for_all();
    mpi_run_child(folder_file(&folder, "passed"));
    folder_remove_for_all(&folder);
}

/* With arguments, the child. */
int main(int argc, char **argv)
{
    if (mpi_is_child(argc, argv))
        return faults(argv[2]);
    mpi_tests_begin();
    return mpi_tests_end(run_listed_tests(open_device, close_device));
}
