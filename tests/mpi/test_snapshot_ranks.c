/* Snapshot on several ranks: the one file that all ranks write holds what one rank alone would write; a
 * failure on one rank is that of all and leaves nothing behind. */
#include "support/mpi_child.h"

#include "support/snapshot_scene.h"

#include <signal.h>

enum { ROWS = 23, FULL_ROWS = ROWS - 2, GHOST = 2 };

/* Uneven rows: all but the last two are shared out from the first rank on; the last one has those two, which
 * hold no particles. */
static struct slab slab_of(int rank_number, const struct grid *box)
{
    const uint32_t size = (uint32_t)ranks.size, rank = (uint32_t)rank_number;
    if (size == 1)
        return slab_whole_box(box);
    const uint32_t first = rank * rank; /* 0, 1, 4: 1, 3, 5 rows, and the last but one takes the rest */
    if (rank + 1 == size)
        return slab_make(box, FULL_ROWS, ROWS - FULL_ROWS, GHOST);
    return slab_make(box, first, rank + 2 == size ? FULL_ROWS - first : 2 * rank + 1, GHOST);
}

/* A folder is made and removed by rank 0. */
static void begin(const struct config *config, struct scene *scene, char folder[SCENE_NAME])
{
    const struct grid box = grid_make(&config->grid);
    const struct slab slab = slab_of(ranks.rank, &box);
    scene_create(config, &ranks, &slab, FULL_ROWS, scene);
    if (ranks.rank == 0)
        folder_make(folder);
    communicator_broadcast(&ranks, SCENE_NAME, folder);
}

static void end(struct scene *scene, const char *folder)
{
    device_close(&scene->owner);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0)
        folder_remove(folder);
}

/* A patch for each rank with its numbers and rows; of the others check_openpmd.py says whether they fit. */
static void check_patches(const struct scene *scene, const char *folder)
{
    static const char patches[] = "particles/%s/particlePatches/%s";
    const hid_t file = H5Fopen(scene_path(folder), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (uint32_t s = 0; s < SCENE_SPECIES; s++) {
        const struct species_config *species = &scene->config.species[s];
        double *numbers = scene_read(file, patches, species->name, "numParticles", (size_t)ranks.size);
        double *offsets = scene_read(file, patches, species->name, "offset/x", (size_t)ranks.size);
        for (int rank = 0; rank < ranks.size; rank++) {
            const struct slab slab = slab_of(rank, &scene->box);
            const uint32_t first = slab.first_row * scene->box.ny, end = first + slab.rows * scene->box.ny;
            assert_near(numbers[rank],
                        scene_first(scene, species->particles, end) -
                            scene_first(scene, species->particles, first),
                        0);
            assert_near(offsets[rank], slab.first_row * scene->box.dx, 0);
        }
        assert_true(ranks.size == 1 || numbers[ranks.size - 1] == 0);
        free(numbers);
        free(offsets);
    }
    H5Fclose(file);
}

static void write_and_check(const struct config *config)
{
    struct scene scene;
    struct stat information;
    char folder[SCENE_NAME];
    uint64_t bytes;
    begin(config, &scene, folder);
    assert_ok(scene_write(&scene, folder, &bytes));
    assert_int_equal(stat(scene_path(folder), &information), 0);
    assert_int_equal(information.st_size, bytes);
    assert_true(bytes <= snapshot_bytes(config));
    if (ranks.rank == 0) {
        assert_int_equal(folder_count(folder, "data_42.h5"), 1);
        scene_check_file(&scene, folder);
        check_patches(&scene, folder);
    }
    end(&scene, folder);
}

/* ---- tests of the content ---- */

TEST(same_as_alone)
{
    for (int precision = PRECISION_SINGLE; precision <= PRECISION_DOUBLE; precision++) {
        struct config config = scene_config((enum precision)precision, ROWS, 1001);
        config.output.snapshots.compression = 1;
        write_and_check(&config);
        config.output.snapshots.compression = 0;
        write_and_check(&config);
    }
}

/* The ranks need unequal numbers of writes, and share chunks. */
TEST(several_pieces)
{
    struct config config = scene_config(PRECISION_SINGLE, ROWS, 2 * HDF5_PIECE + 12345);
    config.output.snapshots.compression = 1;
    write_and_check(&config);
}

TEST(few_particles)
{
    const struct config config = scene_config(PRECISION_DOUBLE, ROWS, 1);
    write_and_check(&config);
}

/* ---- tests of faults, in a child ---- */

/* What every rank must find after a failed file; rank 0 looks into the folder. */
static void assert_all_fail(enum status status, const char *folder, const char *reason)
{
    assert_int_equal(status, STATUS_FAILED);
    if (!strstr(status_message(), folder) || !strstr(status_message(), reason))
        fail_msg("'%s' names not both %s and %s", status_message(), folder, reason);
    if (ranks.rank == 0)
        assert_int_equal(folder_count(folder, NULL), 0);
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
    assert_ok(hdf5_file_create(&ranks, folder, "dry.h5", 1, 0, &file));
    hdf5_close(&file, hdf5_dataset(&file, file.id, "first", &array));
    hdf5_close(&file, hdf5_dataset(&file, file.id, "second", &array));
    assert_all_fail(hdf5_file_finish(&file, &bytes), folder, "runs dry");
}

static void unusable_folders(const struct scene *scene, const char *folder)
{
    char missing[SCENE_NAME + 16];
    uint64_t bytes;
    snprintf(missing, sizeof missing, "%s/missing", folder);
    assert_int_equal(scene_write(scene, missing, &bytes), STATUS_FAILED);
    assert_all_fail(STATUS_FAILED, folder, "No such file or directory");

    /* Something else has the name. */
    if (ranks.rank == 0)
        assert_int_equal(mkdir(scene_path(folder), 0777), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    const enum status status = scene_write(scene, folder, &bytes);
    if (ranks.rank == 0)
        assert_int_equal(rmdir(scene_path(folder)), 0);
    assert_all_fail(status, folder, "Is a directory");
}

/* The last rank can open no file. */
static void blind_rank(const struct scene *scene, const char *folder)
{
    struct rlimit limit, none = {0, 0};
    uint64_t bytes;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none.rlim_max = limit.rlim_max;
    if (ranks.rank + 1 == ranks.size)
        setrlimit(RLIMIT_NOFILE, &none);
    const enum status status = scene_write(scene, folder, &bytes);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_all_fail(status, folder, "Too many open files");
}

/* The disk is full at `most` bytes, for one rank or, where that is -1, for all. */
static void full_disk(const struct scene *scene, const char *folder, uint64_t most, int rank)
{
    struct rlimit limit = {most, RLIM_INFINITY};
    uint64_t bytes;
    if (rank < 0 || rank == ranks.rank)
        setrlimit(RLIMIT_FSIZE, &limit);
    const enum status status = scene_write(scene, folder, &bytes);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_all_fail(status, folder, "File too large");
}

static int faults(const char *passed)
{
    const struct config config = scene_config(PRECISION_DOUBLE, ROWS, 200000);
    struct scene scene;
    char folder[SCENE_NAME];
    uint64_t bytes = 0;
    mpi_tests_begin();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(open_device(NULL), 0);
    begin(&config, &scene, folder);
    assert_ok(scene_write(&scene, folder, &bytes));
    if (ranks.rank == 0)
        assert_int_equal(unlink(scene_path(folder)), 0);

    unusable_folders(&scene, folder);
    blind_rank(&scene, folder);
    failing_source(folder);
    const uint64_t limits[] = {0, bytes / 8, bytes / 2, 100, 10000, bytes - 20000, bytes - 1};
    for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++)
        full_disk(&scene, folder, limits[n], -1);
    /* One rank alone: the first writes the end of the file too, the last but one most particles. */
    for (size_t n = 0; n < 3; n++) {
        full_disk(&scene, folder, limits[n], 0);
        full_disk(&scene, folder, limits[n], ranks.size > 1 ? ranks.size - 2 : 0);
    }
    assert_ok(scene_write(&scene, folder, &bytes));
    end(&scene, folder);
    mpi_child_end(passed);
    return EXIT_FAILURE;
}

TEST(failures_leave_no_trace)
{
    char folder[SCENE_NAME], passed[SCENE_NAME + 16];
    if (ranks.rank == 0)
        folder_make(folder);
    communicator_broadcast(&ranks, SCENE_NAME, folder);
    snprintf(passed, sizeof passed, "%s/passed", folder);
    mpi_run_child(passed);
    if (ranks.rank == 0)
        folder_remove(folder);
}

/* With arguments, the child. */
int main(int argc, char **argv)
{
    if (mpi_is_child(argc, argv))
        return faults(argv[2]);
    mpi_tests_begin();
    return mpi_tests_end(run_listed_tests(open_device, close_device));
}
