/* Power loss: a checkpoint on the disk never knows of steps whose history rows are not there, too; and one
 * that does not come to the disk is a failure.
 *
 * What is on the disk is what fsync() was called for; this program notes it, or lets it fail. */
#include "support/physics_support.h"
#include "support/test_folder.h"

#include <errno.h>
#include <sys/syscall.h>

static const char config_text[] =
    "grid: {cells: [16, 8], length: [10, 7]}\n"
    "time: {step: 0.2, steps: 11}\n"
    "species: [{name: electrons, charge: -1, mass: 1, density: 1, particles: 1000}]\n"
    "output: {checkpoints: {every: 4}}\n";

static struct folder folder;
static char history_path[128], checkpoint_folder[128];
static int rows_on_disk, checkpoints; /* a thread writes checkpoints while the rows grow */
static bool rows_are_missing, disk_fails;

static int lines_of(const char *path)
{
    FILE *file = fopen(path, "r");
    int lines = 0;
    for (int c; file && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

/* The C library's is called through this one. */
int fsync(int descriptor)
{
    char link[64], path[256] = "";
    int step = 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (readlink(link, path, sizeof path - 1) > 0 && strcmp(path, history_path) == 0)
        rows_on_disk = lines_of(path) - 1;
    const char *const name = strrchr(path, '/');
    if (name && sscanf(name, "/.checkpoint_%d.h5", &step) == 1) {
        rows_are_missing |= rows_on_disk < step; /* 0 to step-1 */
        checkpoints++;
        if (disk_fails) {
            errno = EIO;
            return -1;
        }
    }
    return (int)syscall(SYS_fsync, descriptor);
}

/* To the end, or the first failure. */
static enum status run(void)
{
    const struct config config = physics_config(config_text);
    struct simulation simulation;
    struct run_folder run_folder = {.path = folder.path, .use = RUN_FOLDER_NEW};
    enum status status = STATUS_OK;
    folder = folder_make();
    snprintf(history_path, sizeof history_path, "%s/history.csv", folder.path);
    snprintf(checkpoint_folder, sizeof checkpoint_folder, "%s/checkpoints", folder.path);
    rows_on_disk = checkpoints = 0;
    assert_ok(simulation_create(&config, device, &simulation));
    assert_ok(outputs_open(simulation.outputs, &simulation.communicator, &run_folder));
    while (status == STATUS_OK && !simulation_done(&simulation))
        status = simulation_step(&simulation);
    const enum status closed = outputs_close(simulation.outputs);
    status = status == STATUS_OK ? closed : status;
    simulation_destroy(&simulation);
    return status;
}

TEST(the_rows_are_there_before_the_checkpoint)
{
    assert_ok(run());
    assert_true(checkpoints >= 3); /* of steps 4, 8 and 11 */
    assert_false(rows_are_missing);
    folder_remove(&folder);
}

TEST(a_disk_that_fails_is_a_failure)
{
    char path[160];
    disk_fails = true;
    assert_fails(run(), "checkpoint_4.h5");
    assert_non_null(strstr(status_message(), strerror(EIO)));
    snprintf(path, sizeof path, "%s/checkpoint_4.h5", checkpoint_folder);
    assert_int_equal(access(path, F_OK), -1);
    folder_remove(&folder);
}

TEST_MAIN(open_device, close_device)
