/* Builders: processes of this program that build kernels beside it at a cold start.
 *
 * PoCL and NVIDIA's driver build one program at a time in a process, and share what they built by a folder.
 * So each builder goes through the programs of a run from another one on, and passes over what is built or
 * is being built (kept.c), until nothing is left. Its own results are not used: the driver's folder has them.
 */
#include "device/internal.h"

#include "base/integers.h"
#include "base/pool.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_BUILDERS = 8,
    BYTES_ON_GPU = 1 << 29 /* that a builder holds of a GPU's memory */
};

static struct {
    pid_t processes[MOST_BUILDERS];
    size_t count;
} builders;

static size_t new_programs(const struct core *counting)
{
    size_t count = 0;
    for (const struct built *built = counting->built; built; built = built->next)
        count += kept_is_new(counting, built->options, built->source);
    return count;
}

/* Nothing of this process is open in a builder: neither the lock of the run folder nor a socket of MPI. */
static void start_builder(char **arguments)
{
    posix_spawn_file_actions_t files;
    pid_t process;
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    bool is_ready = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1) == 0;
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        is_ready &= posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0) == 0;
    if (is_ready && posix_spawn(&process, "/proc/self/exe", &files, NULL, arguments, environ) == 0)
        builders.processes[builders.count++] = process;
    posix_spawn_file_actions_destroy(&files);
}

/* The run begins with its first program. Builders begin with the last one, which the list has first, and at
 * equal distances. */
static void start_builders(const struct core *counting, size_t wanted, char *spec)
{
    size_t programs = 0;
    for (const struct built *built = counting->built; built; built = built->next)
        programs++;
    char **arguments = calloc(3 * programs + 4, sizeof *arguments);
    for (size_t n = 0; arguments && n < wanted; n++) {
        size_t place = programs - n * programs / wanted;
        arguments[0] = "radixpic";
        arguments[1] = BUILDERS_COMMAND;
        arguments[2] = spec;
        for (struct built *built = counting->built; built; built = built->next, place++) {
            arguments[3 + 3 * (place % programs)] = built->before;
            arguments[4 + 3 * (place % programs)] = built->file;
            arguments[5 + 3 * (place % programs)] = built->options;
        }
        start_builder(arguments);
    }
    free(arguments);
}

void device_start_builders(const struct device *device, const struct device *counting, int ranks)
{
    const struct device_info *info = device_info(device);
    const size_t missing = new_programs(counting->core),
                 held = counting->core->most_bytes_held * (size_t)ranks;
    const size_t left = info->global_memory > held ? info->global_memory - held : 0;
    const uint32_t most = info->is_cpu ? MOST_BUILDERS : at_most(left / BYTES_ON_GPU, MOST_BUILDERS);
    char spec[32];
    snprintf(spec, sizeof spec, "%u:%u", info->platform_index, info->device_index);
    if (missing > 1)
        start_builders(counting->core, at_most(at_most(missing, pool_processors()) - 1, most), spec);
}

void device_end_builders(bool wait)
{
    for (size_t n = 0; n < builders.count; n++)
        if (waitpid(builders.processes[n], NULL, wait ? 0 : WNOHANG) != 0)
            builders.processes[n--] = builders.processes[--builders.count];
}

#define LIBRARY "LIBRARY" /* in place of a file */

enum status device_begin_library(struct device *device, const char *options)
{
    struct core *core = device->core;
    if (core->is_counting)
        return program_note(core, LIBRARY, options);
    const double start = timer_now();
    kept_begin(&core->library, core, options, LIBRARY);
    device_add_time(device, STAGE_START_KERNELS, timer_now() - start, 0);
    return STATUS_OK;
}

void device_end_library(struct device *device, bool is_built)
{
    if (!device->core->is_counting)
        kept_end(&device->core->library, is_built);
}

enum status device_build_for_others(int count, char **arguments,
                                    enum status (*build_library)(struct device *device, const char *options))
{
    struct device *device = NULL;
    struct built *built;
    enum status status = STATUS_OK;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (count < 1)
        return status_fail(STATUS_USAGE, "radixpic " BUILDERS_COMMAND ": the device is missing");
    TRY(device_open(arguments[0], 0, 1, &device));
    for (int n = 1; n + 2 < count && status == STATUS_OK; n += 3) {
        char *source = NULL, **program = &arguments[n];
        const bool is_library = strcmp(program[1], LIBRARY) == 0;
        if (!is_library)
            status = source_read(program[0], program[1], &source);
        if (status == STATUS_OK && kept_is_new(device->core, program[2], is_library ? LIBRARY : source))
            status = is_library
                         ? build_library(device, program[2])
                         : program_build_once(device->core, program[0], program[1], program[2], &built);
        free(source);
    }
    return device_close_after(&device, status);
}
