/* Run folder: what the manifest names is the run, and nothing else; one run at a time has the folder. */
#include "support/output_scene.h"

#include "folder/file_list.h"
#include "folder/run_check.h"
#include "output/outputs.h"

#include <inttypes.h>

enum { BYTES_A_STEP = 1000 }; /* of history, made up */

static struct folder checkpoints; /* below the run folder, which is `folder` */

static struct folder folder_below(const struct folder *above, const char *name)
{
    struct folder below;
    snprintf(below.path, sizeof below.path, "%.40s/%s", above->path, name);
    return below;
}

static int begin_folders(void **state)
{
    begin_folder(state);
    checkpoints = folder_below(&folder, "checkpoints");
    return mkdir(checkpoints.path, 0777);
}

#define TEST_IN_FOLDERS(name) TEST_WITH(name, begin_folders, end_folder)

static void clear(struct run_folder *run)
{
    char *again = NULL;
    assert_ok(run_folder_clear(run, &again));
    free(again);
}

static struct run_folder begin_run(void)
{
    struct run_folder run = {.path = folder.path, .use = RUN_FOLDER_REPLACE};
    rmdir(checkpoints.path);
    assert_ok(run_folder_look(&run));
    assert_ok(run_folder_begin(&run));
    clear(&run);
    write_text(folder_file(&folder, FILE_LIST_NAME), FILE_LIST_HEAD "\n");
    assert_ok(run_folder_set(&run, MANIFEST_RUNNING, 0));
    assert_ok(run_folder_make_inner(&run, "checkpoints"));
    return run;
}

/* Without a digest. */
static void list(const char *inner, const char *form, uint64_t step)
{
    char name[64], line[FILE_LIST_LINE];
    FILE *stream = fopen(folder_file(&folder, FILE_LIST_NAME), "a");
    assert_non_null(stream);
    snprintf(name, sizeof name, "%s/%s%" PRIu64 ".h5", inner, form, step);
    file_list_line(line, name, NULL);
    fputs(line, stream);
    assert_int_equal(fclose(stream), 0);
}

static void add(struct run_folder *run, uint64_t step, uint32_t keep)
{
    const struct manifest_checkpoint file = {step, run->manifest.run, {{BYTES_A_STEP * step, ~step}}};
    list("checkpoints", checkpoint_files.prefix, step);
    assert_ok(scene_write(&plain_scene, checkpoints.path, step));
    assert_ok(run_folder_add(run, &file, keep));
}

/* What another process would find. */
static void assert_names(const char *steps)
{
    struct manifest manifest;
    char text[256] = "";
    assert_ok(manifest_read(folder.path, &manifest));
    for (uint32_t n = 0; n < manifest.checkpoint_count; n++) {
        const struct manifest_checkpoint *checkpoint = &manifest.checkpoints[n];
        assert_int_equal(checkpoint->appended[0].bytes, BYTES_A_STEP * checkpoint->step);
        assert_true(checkpoint->appended[0].digest == ~checkpoint->step);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRIu64, n ? " " : "",
                 checkpoint->step);
    }
    assert_string_equal(text, steps);
}

TEST_IN_FOLDERS(newest_are_kept)
{
    struct run_folder run = begin_run();
    for (uint64_t step = 8; step <= 11; step++)
        add(&run, step, 2);
    assert_holds(&checkpoints, "checkpoint_10.h5 checkpoint_11.h5");
    assert_names("10 11");

    /* Files of others are not touched. */
    static const char *const strange[] = {"checkpoint_05.h5", "checkpoint_5.h5.bak", "checkpoint_.h5",
                                          "checkpoint_x.h5",  "checkpoint_-1.h5",    ".checkpoint_x.h5.tmp",
                                          "data_5.h5",        "checkpoint_4.h5"};
    for (size_t n = 0; n < sizeof strange / sizeof strange[0]; n++)
        write_file(folder_file(&checkpoints, strange[n]), "", 0);
    assert_int_equal(mkdir(folder_file(&checkpoints, "checkpoint_3.h5"), 0777), 0);
    add(&run, 12, 3);
    assert_holds(&checkpoints, ".checkpoint_x.h5.tmp checkpoint_-1.h5 checkpoint_.h5 checkpoint_05.h5 "
                               "checkpoint_10.h5 checkpoint_11.h5 checkpoint_12.h5 checkpoint_3.h5 "
                               "checkpoint_4.h5 checkpoint_5.h5.bak checkpoint_x.h5 data_5.h5");
    run_folder_unlock(&run);
}

TEST_IN_FOLDERS(broken_ones_do_not_count)
{
    struct run_folder run = begin_run();
    add(&run, 10, 2);
    add(&run, 20, 2);
    assert_int_equal(truncate(folder_file(&checkpoints, "checkpoint_20.h5"), 5000), 0);
    add(&run, 30, 2);
    assert_names("10 20 30");
    assert_holds(&checkpoints, "checkpoint_10.h5 checkpoint_20.h5 checkpoint_30.h5");
    add(&run, 40, 2);
    assert_names("30 40");
    assert_holds(&checkpoints, "checkpoint_30.h5 checkpoint_40.h5");
    run_folder_unlock(&run);
}

/* Looks, and goes on from the checkpoint of a step. */
static enum status go_on(struct run_folder *run, uint64_t step, uint64_t from_run)
{
    *run = (struct run_folder){.path = folder.path, .from_step = step, .from_run = from_run};
    TRY(run_folder_look(run));
    return run_folder_continue(run);
}

TEST_IN_FOLDERS(what_is_later_does_not_count)
{
    struct run_folder run = begin_run(), other;
    const uint64_t id = run.manifest.run;
    for (uint64_t step = 10; step <= 40; step += 10)
        add(&run, step, 5);
    assert_int_equal(mkdir(folder_file(&folder, "snapshots"), 0777), 0);
    for (int step = 10; step <= 40; step += 10) {
        char name[32];
        snprintf(name, sizeof name, "snapshots/data_%d.h5", step);
        list("snapshots", "data_", (uint64_t)step);
        write_text(folder_file(&folder, name), "");
    }
    write_text(folder_file(&folder, "snapshots/data_35.h5"), "the user's");
    run_folder_unlock(&run);

    assert_int_equal(go_on(&other, 20, id + 1), STATUS_USAGE); /* of another run */
    run_folder_unlock(&other);
    assert_int_equal(go_on(&other, 15, id), STATUS_USAGE);
    run_folder_unlock(&other);
    assert_ok(go_on(&other, 20, id));
    write_text(folder_file(&folder, "history.csv"), "");
    assert_int_equal(unlink(folder_file(&checkpoints, "checkpoint_10.h5")), 0);
    assert_ok(run_folder_begin(&other)); /* now a killed run has gone back to step 20 */
    assert_names("20");
    assert_true(other.manifest.run != id && other.manifest.from_run == id && other.manifest.from_step == 20);
    assert_holds(&checkpoints, "checkpoint_20.h5 checkpoint_30.h5 checkpoint_40.h5");
    clear(&other);
    assert_holds(&checkpoints, "checkpoint_20.h5");
    const struct folder snapshots = folder_below(&folder, "snapshots");
    assert_holds(&snapshots, "data_10.h5 data_20.h5 data_35.h5");
    run_folder_unlock(&other);
}

TEST_IN_FOLDERS(a_replaced_run_is_gone_at_once)
{
    struct run_folder run = begin_run(), other = {.path = folder.path, .use = RUN_FOLDER_REPLACE};
    add(&run, 10, 2);
    run_folder_unlock(&run);
    assert_ok(run_folder_look(&other));
    assert_int_equal(other.manifest.checkpoint_count, 1);
    assert_ok(run_folder_begin(&other));
    assert_names("");
    assert_int_equal(other.manifest.state, MANIFEST_STARTING);
    clear(&other);
    assert_int_equal(access(checkpoints.path, F_OK), -1);
    run_folder_unlock(&other);
}

/* One run at a time has the folder, and does not write to one that has replaced it. */
TEST_IN_FOLDERS(a_folder_has_one_run)
{
    char own[32];
    struct run_folder run = begin_run(), other = {.path = folder.path};
    snprintf(own, sizeof own, "process %ld on ", (long)getpid());
    assert_refuses(run_folder_look(&other), folder.path, own);
    assert_refuses(run_folder_begin(&other), folder.path, own);
    assert_int_equal(unlink(folder_file(&folder, ".lock")), 0);
    assert_int_equal(unlink(folder_file(&folder, MANIFEST_NAME)), 0);
    assert_int_equal(unlink(folder_file(&folder, FILE_LIST_NAME)), 0);
    rmdir(checkpoints.path);
    assert_ok(run_folder_look(&other));
    assert_ok(run_folder_begin(&other));
    assert_fails(run_folder_set(&run, MANIFEST_COMPLETE, 1), "was removed or replaced", folder.path);
    run_folder_unlock(&run);
    run_folder_unlock(&other);
}

TEST_IN_FOLDERS(a_step_has_one_checkpoint)
{
    struct run_folder run = begin_run();
    add(&run, 10, 3);
    add(&run, 20, 3);
    add(&run, 20, 3);
    assert_names("10 20");
    run_folder_unlock(&run);
}

/* Of two that found nothing the slower one finds the faster one's run. */
TEST_IN_FOLDERS(a_new_run_looks_again)
{
    struct run_folder slow = {.path = folder.path};
    rmdir(checkpoints.path);
    assert_ok(run_folder_look(&slow));
    assert_ok(run_folder_check(&slow));
    struct run_folder fast = begin_run();
    run_folder_unlock(&fast);
    assert_refuses(run_folder_begin(&slow), "holds a run already");
    run_folder_unlock(&slow);
}

TEST_IN_FOLDERS(a_damaged_manifest_is_refused)
{
    struct run_folder run = begin_run(), other = {.path = folder.path};
    size_t bytes;
    add(&run, 10, 2);
    run_folder_unlock(&run);
    char *manifest = read_file(folder_file(&folder, MANIFEST_NAME), &bytes);
    for (size_t n = 0; n < bytes; n++) {
        manifest[n] ^= 1;
        write_file(folder.file, manifest, bytes);
        manifest[n] ^= 1;
        assert_fails(run_folder_look(&other), folder.file);
        run_folder_unlock(&other);
        write_file(folder.file, manifest, n); /* cut off */
        assert_int_equal(run_folder_look(&other), STATUS_FAILED);
        run_folder_unlock(&other);
    }
}

TEST_IN_FOLDERS(foreign_files_are_refused)
{
    static const char *const names[] = {"history.csv", "log.txt", "config.yaml", "timers.csv", "snapshots"};
    rmdir(checkpoints.path);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct run_folder run = {.path = folder.path, .use = RUN_FOLDER_REPLACE};
        write_text(folder_file(&folder, names[n]), "");
        assert_ok(run_folder_look(&run));
        assert_refuses(run_folder_check(&run), names[n], folder.path);
        unlink(folder.file);
    }
}

TEST_MAIN(open_device, close_device)
