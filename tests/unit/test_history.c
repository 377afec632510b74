/* History: a file that is gone on with holds what one written straight through holds, and is whole or
 * untouched whatever happens. */
#include "support/test_folder.h"

#include "base/below.h"
#include "base/stop.h"
#include "output/outputs.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static struct folder folder;
static const char *const path = folder.file;
static const struct config modes = {
    .output.history = {
        .every = 2, .mode_count = 2, .modes = {{1, 0}, {-3, 4}}, .mode_fields = {2, {FIELD_RHO, FIELD_E}}}};

static struct run_folder run;
static struct append_files files;

static enum status open_new(void **history)
{
    run_folder_unlock(&run);
    run = (struct run_folder){.path = folder.path, .use = RUN_FOLDER_NEW};
    run.descriptor = in_folder_begin(folder.path, 0);
    files = (struct append_files){.folder = &run};
    TRY(history_output.open(&files, &modes, history));
    return append_files_begin(&files, "");
}

static enum status go_on(const struct config *config, const struct append_mark *kept, void **history)
{
    run_folder_unlock(&run);
    run = (struct run_folder){.path = folder.path, .use = RUN_FOLDER_CONTINUE, .kept = {*kept}};
    run.descriptor = in_folder_begin(folder.path, 0);
    files = (struct append_files){.folder = &run};
    manifest_appended(&run.manifest, "history.csv", true);
    return history_output.open(&files, config, history);
}

static void clear(void)
{
    char *again = NULL;
    assert_ok(run_folder_clear(&run, &again));
    free(again);
}

/* Goes on from what was kept, and writes nothing. */
static void go_on_and_close(const struct append_mark *kept)
{
    void *history = NULL;
    assert_ok(go_on(&modes, kept, &history));
    assert_ok(append_files_begin(&files, ""));
    clear();
    assert_ok(append_files_close(&files));
}

static int make_folder(void **state)
{
    (void)state;
    folder = folder_make();
    folder_file(&folder, "history.csv");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return folder_remove_with_file(&folder);
}

static struct history_row row_of(uint64_t step)
{
    const double n = (double)step;
    return (struct history_row){.step = step,
                                .field_energy = 1 / (n + 1),
                                .kinetic_energy = -n,
                                .momentum = {1e-300 * n, n},
                                .charge = 1e300,
                                .modes = {{n, 2}, {3, -n}}};
}

static void append(void *history, uint64_t first, uint64_t last)
{
    for (uint64_t step = first; step <= last; step += 2) {
        const struct history_row row = row_of(step);
        const struct view view = {.config = &modes, .step = step, .time = (double)step / 3, .measured = &row};
        assert_ok(history_output.write(history, &view));
    }
}

/* Rows up to `last`; *kept: what there is of them before the row of `step`. */
static char *write_straight(uint64_t step, uint64_t last, struct append_mark *kept)
{
    void *history = NULL;
    const uint64_t row = (step + 1) / 2 * 2;
    assert_ok(open_new(&history));
    for (uint64_t n = 0; n < row && n <= last; n += 2)
        append(history, n, n);
    struct append_mark marks[MANIFEST_APPENDED];
    append_files_mark(&files, marks);
    *kept = marks[0];
    append(history, row, last);
    assert_ok(append_files_close(&files));
    return read_text(path);
}

TEST(going_on_gives_the_bytes_of_going_through)
{
    static const uint64_t steps[] = {0, 1, 2, 7, 8, 20, 21, 1000};
    for (size_t n = 0; n < sizeof steps / sizeof steps[0]; n++) {
        struct append_mark kept;
        void *history = NULL;
        char *straight = write_straight(steps[n], 20, &kept);
        assert_ok(go_on(&modes, &kept, &history));
        assert_string_equal(read_text(path), straight); /* nothing is cut before the run has begun */
        clear();
        append(history, (steps[n] + 1) / 2 * 2, 20);
        assert_ok(append_files_close(&files));
        assert_string_equal(read_text(path), straight);
    }
}

TEST(a_last_line_written_by_half_is_cut)
{
    static const char *const halves[] = {"7", "7,", "7,2.33", "junk", "7,1,1,1,1,1,1,1,1,1,1,1"};
    struct append_mark kept;
    char *straight = write_straight(1000, 6, &kept), longer[8192];
    for (size_t n = 0; n < sizeof halves / sizeof halves[0]; n++) {
        snprintf(longer, sizeof longer, "%s%s", straight, halves[n]);
        write_text(path, longer);
        go_on_and_close(&kept);
        assert_string_equal(read_text(path), straight);
    }
}

static void assert_refused(const char *fragment, const struct config *config, const struct append_mark *kept)
{
    char *before = read_text(path);
    void *history = NULL;
    assert_int_equal(go_on(config, kept, &history), STATUS_USAGE);
    if (!strstr(status_message(), fragment) || !strstr(status_message(), path))
        fail_msg("\"%s\" lacks %s or %s", status_message(), fragment, path);
    assert_ok(append_files_close(&files));
    assert_string_equal(read_text(path), before);
}

TEST(other_columns_are_refused)
{
    struct config fewer = modes, other = modes, fields = modes;
    struct append_mark kept;
    fewer.output.history.mode_count = 1;
    other.output.history.modes[1][1] = 5;
    fields.output.history.mode_fields.count = 1;
    write_straight(4, 6, &kept);
    assert_refused("output.history.modes", &fewer, &kept);
    assert_refused("output.history.modes", &other, &kept);
    assert_refused("output.history.modes", &fields, &kept);
}

TEST(missing_and_changed_rows_are_refused)
{
    struct append_mark kept;
    char *straight = write_straight(20, 20, &kept), changed[8192];
    char *second = strchr(straight, '\n') + 1, *third = strchr(second, '\n') + 1;
    write_text(path, "");
    assert_refused("does not hold the rows", &modes, &kept);
    snprintf(changed, sizeof changed, "%.*s%s", (int)(second - straight), straight, third);
    write_text(path, changed);
    assert_refused("does not hold the rows", &modes, &kept);
    snprintf(changed, sizeof changed, "%s", straight);
    changed[second - straight] = '3'; /* another step, of the same length */
    write_text(path, changed);
    assert_refused("does not hold the rows", &modes, &kept);
}

TEST(on_a_full_disk_the_old_rows_are_cut_and_stay)
{
    struct rlimit limit, none = {0, RLIM_INFINITY};
    struct append_mark kept;
    char *straight = write_straight(8, 6, &kept);
    write_straight(8, 20, &kept);
    assert_ok(stop_begin());
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0); /* no file may grow */
    go_on_and_close(&kept);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_string_equal(read_text(path), straight);
}

TEST(without_a_file_there_is_nothing_to_go_on_with)
{
    const struct append_mark kept = {.bytes = 1};
    void *history = NULL;
    unlink(path);
    assert_refuses(go_on(&modes, &kept, &history), "does not hold the rows", path);
    assert_ok(append_files_close(&files));
}

/* The C library's is called through this one, which notes what reached the disk and can fail. */
static struct {
    int calls, error; /* errno of the next call, or 0 */
    struct stat file; /* of the last call */
} synced;

int fsync(int descriptor)
{
    synced.calls++;
    fstat(descriptor, &synced.file);
    if (synced.error == 0)
        return (int)syscall(SYS_fsync, descriptor);
    errno = synced.error;
    synced.error = 0;
    return -1;
}

TEST(every_row_reaches_the_disk)
{
    void *history = NULL;
    struct stat found;
    assert_ok(open_new(&history));
    for (uint64_t step = 0; step <= 4; step += 2) {
        append(history, step, step);
        const int before = synced.calls;
        assert_ok(append_files_sync(&files));
        assert_int_equal(synced.calls, before + 1);
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(synced.file.st_ino, found.st_ino);
        assert_int_equal(synced.file.st_size, found.st_size);
    }
    synced.error = EIO;
    assert_fails(append_files_sync(&files), path);
    assert_non_null(strstr(status_message(), strerror(EIO)));
    synced.error = EINVAL; /* not a file of a disk */
    assert_ok(append_files_sync(&files));
    assert_ok(append_files_close(&files));
}

TEST_MAIN(make_folder, remove_folder)
