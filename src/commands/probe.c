/* Probe: the steps and files of a short run, and what follows for a long one. */
#include "commands/probe.h"
#include "commands/consequences.h"

#include "base/stop.h"
#include "base/timer.h"
#include "output/outputs.h"
#include "simulation.h"

#include <string.h>
#include <unistd.h>

static const double probe_seconds = 2;

struct probe {
    const struct config *config;
    struct config taken; /* the same, but for files that would be written again */
    struct run_folder folder;
    double start;         /* seconds from the call to the end of the files */
    double step;          /* of a step, without outputs */
    double copies;        /* that the steps waited for them */
    struct written files; /* one of each output */
};

/* The outputs read this config in each step. */
static void leave_files(struct output_config *output)
{
    output->snapshots.every = output->moments.every = output->checkpoints.every = 0;
    output->tracks.every = 0;
    output->checkpoints.minutes = 0;
    for (uint32_t n = 0; n < output->phase_space_count; n++)
        output->phase_space[n].every = 0;
    for (uint32_t n = 0; n < output->line_count; n++)
        output->lines[n].every = 0;
}

/* One file of each output: the first step has all but a checkpoint, which the second one has. The first step
 * builds what is built late, so these two count as the start. */
static enum status write_files(struct probe *probe, struct simulation *simulation)
{
    const char *cheaper_by = "";
    const bool is_kept = probe->config->output.checkpoints.every > 0;
    TRY(simulation_step(simulation));
    leave_files(&probe->taken.output);
    probe->taken.output.checkpoints.every = is_kept;
    if (!simulation_done(simulation))
        TRY(simulation_step(simulation));
    probe->taken.output.checkpoints.every = 0;
    TRY(outputs_finish(simulation->outputs));
    probe->copies = outputs_seconds(simulation->outputs, &cheaper_by);
    probe->files = outputs_written(simulation->outputs);
    return device_finish(simulation->device);
}

static enum status take_steps(struct probe *probe, struct simulation *simulation, double called)
{
    uint64_t steps = 0;
    TRY(write_files(probe, simulation));
    const double begin = timer_now();
    probe->start = begin - called;
    for (; !simulation_done(simulation) && timer_now() - begin < probe_seconds; steps++)
        TRY(simulation_step(simulation));
    TRY(device_finish(simulation->device));
    probe->step = steps > 0 ? (timer_now() - begin) / (double)steps : 0;
    return STATUS_OK;
}

static enum status run(struct probe *probe, struct device *device)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    struct simulation simulation = {0};
    const double called = timer_now();
    enum status status = simulation_create(&probe->taken, device, &simulation);
    stop_watch_all(); /* from here on there is a folder to remove */
    if (status == STATUS_OK)
        status = outputs_open(simulation.outputs, &alone, &probe->folder);
    if (status == STATUS_OK)
        status = take_steps(probe, &simulation, called);
    char *sentence = status_take();
    status = status_keep(status, sentence, outputs_close(simulation.outputs));
    simulation_destroy(&simulation);
    run_folder_unlock(&probe->folder);
    return status;
}

/* Files are written beside the steps, so the slower of both counts; copying takes the steps' time. The files
 * of the run take as many times the seconds of these as they have expected bytes. */
static void print(const struct probe *probe)
{
    uint64_t each = 0;
    const double all = (double)outputs_expected_bytes(probe->config, &each);
    const double times = each > 0 ? all / (double)each : 0;
    const double steps = (double)probe->config->time.steps * probe->step;
    const double copies = times * probe->copies, writing = times * probe->files.seconds;
    /* The start has those files already. */
    const double start = probe->start - probe->copies - probe->files.seconds;
    const double seconds = start + copies + (steps > writing ? steps : writing);
    printf("probe                     %.3g s a step; start, with the files, %.3g s\n", probe->step,
           probe->start);
    if (probe->files.files > 0)
        printf(
            "probe, files              %.3g MB in %.3g s, beside %.3g s that the steps waited for copies\n",
            1e-6 * (double)probe->files.bytes, probe->files.seconds, probe->copies);
    else
        printf("probe, files              none is due\n");
    if (probe->files.files > 0 && probe->files.seconds > 0)
        consequences_print_last_checkpoint(probe->config, (double)probe->files.bytes / probe->files.seconds,
                                           ", as in the probe");
    else
        consequences_print_last_checkpoint(probe->config, ASSUMED_RATE,
                                           ", which is assumed: no file was due");
    printf("the run                   about %.3g s, %.0f %% of it for output\n", seconds,
           seconds > 0 ? 100 * (seconds - start - steps) / seconds : 0);
}

static size_t length_without_slashes(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

enum status probe_run(const struct config *config)
{
    struct device *device = NULL;
    char path[CONFIG_TEXT_LENGTH + 32];
    snprintf(path, sizeof path, "%.*s.probe-%ld", (int)length_without_slashes(config->output.directory),
             config->output.directory, (long)getpid());
    if (access(path, F_OK) == 0)
        return status_fail(STATUS_FAILED, "%s is there already; remove it", path);
    static struct probe probe; /* large */
    probe =
        (struct probe){.config = config, .taken = *config, .folder = {.path = path, .use = RUN_FOLDER_NEW}};
    TRY(device_open(config->device, 0, &device));
    enum status status = run(&probe, device);
    device_close(&device);
    if ((status == STATUS_OK || status == STATUS_STOPPED) && stop_signal() != 0)
        status = status_fail(STATUS_STOPPED, "the probe was stopped by SIG%s; nothing of it is kept",
                             stop_name(stop_signal()));
    char *sentence = status_take();
    status = status_keep(status, sentence, run_folder_remove(path));
    if (status == STATUS_OK)
        print(&probe);
    return status;
}
