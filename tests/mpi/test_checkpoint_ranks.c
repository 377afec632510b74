/* Checkpoint on several ranks: any number of them writes, any partition reads, and all tell of a failure
 * alike. */
#include "support/mpi_child.h"

#include "support/checkpoint_scene.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct scene_kind plain = {.precision = PRECISION_SINGLE, .ids = true, .cluster = 1};

/* ---- a folder that all ranks know ---- */

static char folder[64];

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/radixpic_checkpoints_XXXXXX");
    if (ranks.rank == 0 && !mkdtemp(folder))
        return -1;
    communicator_broadcast(&ranks, sizeof folder, folder);
    return open_device(state);
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0 && system(command) != 0)
        return -1;
    return close_device(state);
}

static const char *file_of(uint64_t step)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/checkpoint_%llu.h5", folder, (unsigned long long)step);
    return path;
}

/* The checkpoints in the folder, and what is left of unfinished ones. */
static unsigned count_files(void)
{
    unsigned count = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        count += strstr(entry->d_name, "checkpoint_") != NULL;
    closedir(listing);
    MPI_Barrier(MPI_COMM_WORLD);
    return count;
}

/* The file is damaged, or mended by the same call, between two steps of all ranks. */
static void flip_byte(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0) {
        FILE *stream = fopen(path, "r+b");
        assert_non_null(stream);
        assert_int_equal(fseek(stream, 3000, SEEK_SET), 0);
        const int byte = fgetc(stream);
        assert_int_equal(fseek(stream, 3000, SEEK_SET), 0);
        fputc(byte ^ 16, stream);
        assert_int_equal(fclose(stream), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks fail with the same sentence, which has these words. */
static void assert_all_fail(enum status status, const char *words)
{
    char message[1024] = "";
    assert_int_equal(status, STATUS_FAILED);
    if (!strstr(status_message(), words))
        fail_msg("'%s' does not say %s", status_message(), words);
    snprintf(message, sizeof message, "%s", status_message());
    communicator_broadcast(&ranks, sizeof message, message);
    assert_string_equal(message, status_message());
}

/* As unlike an even division as it gets: one row each, and the rest for the first or the last rank. */
static void uneven_rows(bool first_has_rest, uint32_t *first_rows)
{
    first_rows[0] = 0;
    for (int rank = 1; rank <= ranks.size; rank++)
        first_rows[rank] = (uint32_t)(first_has_rest ? SCENE_NX - ranks.size + rank : rank);
    first_rows[ranks.size] = SCENE_NX;
}

/* ---- tests ---- */

static void check_frame(struct checkpoint *checkpoint, const struct scene *scene, uint64_t step)
{
    const struct partition *partition = checkpoint_partition(checkpoint);
    assert_int_equal(partition->ranks, ranks.size);
    assert_memory_equal(partition->first, scene->partition.first,
                        ((size_t)ranks.size + 1) * sizeof *partition->first);
    scene_check_header(scene, checkpoint, step);
    assert_ok(checkpoint_require_same(checkpoint, &scene->config));
    scene_check_loads(&scene->kind, checkpoint);
}

/* The rows of every other division, and all rows, on each rank. */
static void check_rows(struct checkpoint *checkpoint, const struct scene_kind *kind)
{
    for (int parts = 1; parts <= 5; parts++) {
        struct partition partition;
        assert_ok(partition_even(parts, SCENE_NX, &partition));
        const int part = ranks.rank % parts;
        scene_check_rows(kind, checkpoint, partition.first[part], partition_rows(&partition, part));
        partition_destroy(&partition);
    }
    scene_check_rows(kind, checkpoint, 0, SCENE_NX);
}

TEST(any_division_is_read)
{
    for (unsigned n = 0; n < 12; n++) {
        const struct scene_kind kind = {n & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE, n & 1, n & 2,
                                        n < 4 ? 1500 : 1};
        uint32_t *first_rows = calloc((size_t)ranks.size + 1, sizeof *first_rows);
        assert_non_null(first_rows);
        uneven_rows(n % 3 == 0, first_rows);
        struct scene scene;
        scene_create(&ranks, &kind, n % 3 == 2 ? NULL : first_rows, &scene);
        assert_ok(scene_write(&scene, folder, n, 1));
        struct scene_warnings warnings = {0};
        struct checkpoint *checkpoint;
        assert_ok(checkpoint_open(&ranks, file_of(n), scene_warn, &warnings, &checkpoint));
        assert_string_equal(checkpoint_path(checkpoint), file_of(n));
        check_frame(checkpoint, &scene, n);
        check_rows(checkpoint, &kind);
        checkpoint_close(&checkpoint);
        scene_destroy(&scene);
        free(first_rows);
    }
    assert_int_equal(count_files(), 1);
}

/* A file holds the same particles in the same order whatever the ranks that wrote it. */
TEST(one_rank_reads_what_all_wrote)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    struct scene scene;
    scene_create(&ranks, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder, 100, 1));
    struct scene_warnings warnings = {0};
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_open(&alone, folder, scene_warn, &warnings, &checkpoint));
    assert_int_equal(checkpoint_partition(checkpoint)->ranks, ranks.size);
    scene_check_rows(&plain, checkpoint, 0, SCENE_NX);
    checkpoint_close(&checkpoint);
    MPI_Barrier(MPI_COMM_WORLD);
    scene_destroy(&scene);
}

TEST(all_pass_by_a_broken_one)
{
    struct scene scene;
    scene_create(&ranks, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder, 200, 2));
    assert_ok(scene_write(&scene, folder, 300, 2));
    flip_byte(file_of(300));
    struct scene_warnings warnings = {0};
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_open(&ranks, folder, scene_warn, &warnings, &checkpoint));
    assert_string_equal(checkpoint_path(checkpoint), file_of(200));
    assert_int_equal(warnings.count, ranks.rank == 0 ? 1 : 0);
    check_rows(checkpoint, &plain);
    checkpoint_close(&checkpoint);

    assert_all_fail(checkpoint_open(&ranks, file_of(300), scene_warn, &warnings, &checkpoint), "is damaged");
    assert_null(checkpoint);
    flip_byte(file_of(200));
    assert_all_fail(checkpoint_open(&ranks, folder, scene_warn, &warnings, &checkpoint),
                    "no whole checkpoint");
    assert_all_fail(checkpoint_open(&ranks, file_of(1), scene_warn, &warnings, &checkpoint),
                    "No such file or directory");
    scene_destroy(&scene);
}

/* In a child: the last rank alone holds a non-finite value. */
static int refuse_what_is_no_number(const char *passed)
{
    mpi_tests_begin();
    assert_int_equal(make_folder(NULL), 0);
    struct scene scene;
    scene_create(&ranks, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder, 400, 1));
    if (ranks.rank == ranks.size - 1) {
        const struct particles *list = &scene.lists[0];
        list_write_one(list, ATTRIBUTE_VELOCITY, list->count - 1, 0, NAN);
    }
    assert_all_fail(scene_write(&scene, folder, 500, 1), "species electrons, step 500: velocity[0]");
    assert_non_null(strstr(status_message(), "cell (12, ")); /* a row of the box, not of the rank */
    assert_int_equal(count_files(), 1);
    struct scene_warnings warnings = {0};
    struct checkpoint *checkpoint;
    assert_ok(checkpoint_open(&ranks, folder, scene_warn, &warnings, &checkpoint));
    assert_string_equal(checkpoint_path(checkpoint), file_of(400));
    checkpoint_close(&checkpoint);
    scene_destroy(&scene);
    assert_int_equal(remove_folder(NULL), 0);
    mpi_child_end(passed);
    return EXIT_FAILURE;
}

TEST(all_refuse_what_is_no_number)
{
    char passed[96];
    snprintf(passed, sizeof passed, "%s/passed", folder);
    mpi_run_child(passed);
}

TEST(all_fail_where_nothing_can_be_written)
{
    struct scene scene;
    char missing[128];
    snprintf(missing, sizeof missing, "%s/missing/missing", folder);
    scene_create(&ranks, &plain, NULL, &scene);
    assert_all_fail(scene_write(&scene, missing, 600, 1), "No such file or directory");
    if (ranks.rank == 0)
        assert_int_equal(mkdir(file_of(600), 0777), 0);
    assert_all_fail(scene_write(&scene, folder, 600, 1), "Is a directory");
    if (ranks.rank == 0)
        assert_int_equal(rmdir(file_of(600)), 0);
    assert_int_equal(count_files(), 2); /* those of 200 and 300 */
    scene_destroy(&scene);
}

/* With arguments, the child. */
int main(int argc, char **argv)
{
    if (mpi_is_child(argc, argv))
        return refuse_what_is_no_number(argv[2]);
    mpi_tests_begin();
    return mpi_tests_end(run_listed_tests(make_folder, remove_folder));
}
