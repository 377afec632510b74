/* Probe: the steps and files of a short run, and what follows for a long one. */
#include "commands/probe.h"

#include "base/timer.h"
#include "output/outputs.h"
#include "simulation.h"

#include <unistd.h>

static const double probe_seconds = 2;

struct probe {
    const struct config *config;
    struct run_folder folder;
    double start;         /* seconds from the call to the first step, with its files */
    double step;          /* of a step, without outputs */
    double copies;        /* that the first step took for its outputs */
    struct written files; /* of the first step */
};

/* The first step builds what is built late, so it counts as the start. */
static enum status take_steps(struct probe *probe, struct simulation *simulation, double called)
{
    const char *thrift = "";
    uint64_t steps = 0;
    TRY(simulation_step(simulation));
    TRY(outputs_finish(simulation->outputs));
    probe->copies = outputs_seconds(simulation->outputs, &thrift);
    probe->files = outputs_written(simulation->outputs);
    TRY(device_finish(simulation->device));
    const double begin = timer_now();
    probe->start = begin - called;
    for (; !simulation_done(simulation) && timer_now() - begin < probe_seconds; steps++)
        TRY(simulation_step(simulation));
    TRY(device_finish(simulation->device));
    const double spent = outputs_seconds(simulation->outputs, &thrift) - probe->copies;
    probe->step = steps > 0 ? (timer_now() - begin - spent) / (double)steps : 0;
    return STATUS_OK;
}

static enum status run(struct probe *probe, struct device *device)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    struct simulation simulation = {0};
    const double called = timer_now();
    enum status status = simulation_create(probe->config, device, &simulation);
    if (status == STATUS_OK)
        status = outputs_open(simulation.outputs, &alone, &probe->folder, 0);
    if (status == STATUS_OK)
        status = take_steps(probe, &simulation, called);
    const enum status closed = outputs_close(simulation.outputs);
    simulation_destroy(&simulation);
    return status == STATUS_OK ? closed : status;
}

/* Files are written beside the steps, so the slower of both counts; copying them for it takes the steps'
 * time. What the first step's files were, in MB and seconds, all files are in proportion to what is foretold.
 */
static void print(const struct probe *probe)
{
    uint64_t first = 0;
    const double all = (double)outputs_foretold(probe->config, &first);
    const double times = first > 0 ? all / (double)first : 0;
    const double steps = (double)probe->config->time.steps * probe->step;
    const double copies = times * probe->copies, writing = times * probe->files.seconds;
    const double seconds = probe->start + copies + (steps > writing ? steps : writing);
    printf("probe                     %.3g s a step; start and first step %.3g s\n", probe->step,
           probe->start);
    if (probe->files.files > 0)
        printf("probe, files              %.3g MB in %.3g s, beside %.3g s that the step waited for copies\n",
               1e-6 * (double)probe->files.bytes, probe->files.seconds, probe->copies);
    else
        printf("probe, files              none is due at the start, so none is counted\n");
    printf("the run                   about %.3g s, %.0f %% of it for output\n", seconds,
           seconds > 0 ? 100 * (seconds - probe->start - steps) / seconds : 0);
}

enum status probe_run(const struct config *config)
{
    struct device *device = NULL;
    char path[CONFIG_TEXT_LENGTH + 32];
    snprintf(path, sizeof path, "%s.probe-%ld", config->output.directory, (long)getpid());
    struct probe probe = {.config = config, .folder = {.path = path, .use = RUN_FOLDER_NEW}};
    TRY(device_open(config->device, 0, &device));
    enum status status = run(&probe, device);
    device_close(&device);
    const enum status removed = run_folder_remove(path);
    status = status == STATUS_OK ? removed : status;
    if (status == STATUS_OK)
        print(&probe);
    return status;
}
