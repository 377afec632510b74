/* Checkpoint on several ranks: any number of them writes, any partition reads, and all tell of a failure
 * alike. */
#include "support/mpi_child.h"

#include "support/output_scene.h"

/* One that all ranks know. */
static int make_folder(void **state)
{
    folder = folder_make_for_all();
    return open_device(state);
}

static int remove_folder(void **state)
{
    folder_remove_for_all(&folder);
    return close_device(state);
}

static const char *file_of(uint64_t step)
{
    char name[32];
    snprintf(name, sizeof name, "checkpoint_%llu.h5", (unsigned long long)step);
    return folder_file(&folder, name);
}

static void assert_all_hold(const char *expected)
{
    assert_holds(&folder, expected);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The file is damaged, or mended by the same call, between two steps of all ranks. */
static void damage(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0)
        flip_bit(path, 3000);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks fail with the same sentence, which has these words. */
static void assert_all_fail(enum status status, enum status code, const char *words)
{
    char message[1024];
    assert_int_equal(status, code);
    assert_sentence_holds(words);
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

/* The rows of every other division, and all rows, on each rank. */
static void check_rows(const struct checkpoint *checkpoint, const struct scene_kind *kind)
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

/* The first take several pieces and chunks, the last ones ragged. */
TEST(any_division_is_read)
{
    for (unsigned n = 0; n < 12; n++) {
        const struct scene_kind kind = {
            n & 1 ? PRECISION_DOUBLE : PRECISION_SINGLE, n & 4, n & 2, n < 3 ? 4001 : 1, {0}};
        uint32_t first_rows[SCENE_NX + 1];
        uint64_t bytes;
        struct stat found;
        struct scene scene;
        struct checkpoint *checkpoint;
        uneven_rows(n % 3 == 0, first_rows);
        scene_create(&ranks, &kind, n % 3 == 2 ? NULL : first_rows, &scene);
        const struct view view = scene_view(&scene, n);
        struct hdf5_file *file = NULL;
        const enum status recorded = outputs_record(&checkpoint_output, NULL, folder.path, &view, &file);
        assert_ok(write_now(recorded, file, &ranks, &bytes));
        assert_int_equal(stat(file_of(n), &found), 0);
        assert_int_equal(found.st_size, bytes);
        assert_ok(checkpoint_find(&ranks, folder.file, &checkpoint));
        assert_string_equal(checkpoint->path, folder.file);
        assert_all_hold(strrchr(folder.file, '/') + 1);
        scene_check_frame(&scene, checkpoint, n);
        check_rows(checkpoint, &kind);
        checkpoint_close(&checkpoint);
        assert_ok(checkpoint_find(&alone, folder.path, &checkpoint)); /* one rank reads what all wrote */
        assert_int_equal(checkpoint->partition.ranks, ranks.size);
        scene_check_rows(&kind, checkpoint, 0, SCENE_NX);
        checkpoint_close(&checkpoint);
        MPI_Barrier(MPI_COMM_WORLD);
        unlink(file_of(n));
        scene_destroy(&scene);
    }
}

TEST(all_pass_by_a_broken_one)
{
    struct scene scene;
    struct checkpoint *checkpoint;
    scene_create(&ranks, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 200));
    assert_ok(scene_write(&scene, folder.path, 300));
    damage(file_of(300));
    assert_ok(checkpoint_find(&ranks, folder.path, &checkpoint));
    assert_string_equal(checkpoint->path, file_of(200));
    assert_true((checkpoint->warnings != NULL) == (ranks.rank == 0));
    check_rows(checkpoint, &plain);
    checkpoint_close(&checkpoint);

    assert_all_fail(checkpoint_find(&ranks, file_of(300), &checkpoint), STATUS_FAILED, "is damaged");
    assert_null(checkpoint);
    damage(file_of(200));
    assert_all_fail(checkpoint_find(&ranks, folder.path, &checkpoint), STATUS_FAILED, "no whole checkpoint");
    assert_all_fail(checkpoint_find(&ranks, file_of(1), &checkpoint), STATUS_USAGE,
                    "No such file or directory");
    scene_destroy(&scene);
}

/* In a child: the last rank alone holds a non-finite value, in row 10 behind which there are no particles. */
static int refuse_what_is_no_number(const char *passed)
{
    mpi_tests_begin();
    assert_int_equal(make_folder(NULL), 0);
    struct scene scene;
    struct checkpoint *checkpoint;
    scene_create(&ranks, &plain, NULL, &scene);
    assert_ok(scene_write(&scene, folder.path, 400));
    if (ranks.rank == ranks.size - 1) {
        const struct particles *list = &scene.lists[0];
        list_write_one(list, ATTRIBUTE_VELOCITY, list->count - 1, 0, NAN);
    }
    assert_all_fail(scene_write(&scene, folder.path, 500), STATUS_FAILED,
                    "species electrons, step 500: velocity[0]");
    assert_sentence_holds("cell (10, "); /* a row of the box, not of the rank */
    assert_all_hold("checkpoint_400.h5");
    assert_ok(checkpoint_find(&ranks, folder.path, &checkpoint));
    checkpoint_close(&checkpoint);
    scene_destroy(&scene);
    assert_int_equal(remove_folder(NULL), 0);
    mpi_child_end(passed);
    return EXIT_FAILURE;
}

TEST(all_refuse_what_is_no_number)
{
    mpi_run_child(folder_file(&folder, "passed"));
}

TEST(all_fail_where_nothing_can_be_written)
{
    struct scene scene;
    char place[128];
    scene_create(&ranks, &plain, NULL, &scene);
    snprintf(place, sizeof place, "%s", folder_file(&folder, "missing/missing"));
    assert_all_fail(scene_write(&scene, place, 600), STATUS_FAILED, "No such file or directory");
    assert_all_fail(scene_write(&scene, file_of(200), 600), STATUS_FAILED, "Not a directory");
    if (ranks.rank == 0)
        assert_int_equal(mkdir(file_of(600), 0777), 0);
    assert_all_fail(scene_write(&scene, folder.path, 600), STATUS_FAILED, "Is a directory");
    if (ranks.rank == 0)
        assert_int_equal(rmdir(file_of(600)), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_all_hold("checkpoint_200.h5 checkpoint_300.h5 passed passed.log");
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
