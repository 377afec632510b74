/* radixpic run: a config becomes a run folder. */
#include "commands/commands.h"
#include "commands/consequences.h"
#include "commands/overrides.h"

#include "base/log.h"
#include "base/progress.h"
#include "config/config_reader.h"
#include "diag/run_folder.h"
#include "diag/stage_table.h"
#include "parallel/communicator.h"
#include "simulation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_FORCE = 'f', KEY_QUIET = 'q', KEY_VERBOSE = 'v' };

static const struct argp_option run_options[] = {
    {"force", KEY_FORCE, NULL, 0, "Replace the run that the folder holds already", 1},
    {"quiet", KEY_QUIET, NULL, 0, "Say nothing but what goes wrong", 1},
    {"verbose", KEY_VERBOSE, NULL, 0, "Say more: the device, the sort's parameters, the memory", 1},
    {0},
};

struct run_arguments {
    struct overrides overrides;
    bool force;
    enum log_level level;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct run_arguments *arguments = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->overrides;
        return 0;
    case KEY_FORCE:
        arguments->force = true;
        return 0;
    case KEY_QUIET:
        arguments->level = LOG_QUIET;
        return 0;
    case KEY_VERBOSE:
        arguments->level = LOG_VERBOSE;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Everything one run holds. */
struct run {
    struct config config;
    struct log log;
    struct device *device;
    struct run_folder folder;
    FILE *log_file;
    struct history *history;
    struct simulation simulation;
};

static enum status write_resolved_config(struct run *run)
{
    FILE *file = NULL;
    TRY(run_folder_open(&run->folder, "config.yaml", "w", &file));
    bool failed = config_echo(&run->config, file) != STATUS_OK;
    failed |= fclose(file) != 0;
    if (failed)
        return status_fail(STATUS_FAILED, "cannot write %s/config.yaml: %s", run->folder.path,
                           strerror(errno));
    return STATUS_OK;
}

static enum status open_outputs(struct run *run)
{
    const struct output_config *output = &run->config.output;
    TRY(run_folder_create(&run->folder));
    TRY(history_open(run->folder.path, &output->history, &run->history));
    TRY(run_folder_clear(&run->folder));
    TRY(run_folder_open(&run->folder, "log.txt", "w", &run->log_file));
    run->log.file = run->log_file;
    TRY(write_resolved_config(run));
    run->simulation.output =
        (struct simulation_output){.history = run->history, .snapshot_folder = run->folder.snapshots};
    return STATUS_OK;
}

static void announce(struct run *run)
{
    const struct config *config = &run->config;
    const struct device_info *info = device_info(run->device);
    const uint64_t particles = simulation_particles(config);
    log_line(&run->log, LOG_NORMAL, "%s", config->title);
    log_line(&run->log, LOG_NORMAL,
             "%llu particles of %u species on %ux%u cells, %llu steps of %g, %s precision, on %s",
             (unsigned long long)particles, config->species_count, config->grid.cells[0],
             config->grid.cells[1], (unsigned long long)config->time.steps, config->time.step,
             config->precision == PRECISION_DOUBLE ? "double" : "single", info->name);
    log_line(&run->log, LOG_VERBOSE, "platform %s, driver %s, %u compute units, %zu KiB local memory",
             info->platform, info->driver, info->compute_units, info->local_memory / 1024);
    log_line(&run->log, LOG_NORMAL, "step: %s", advance_kind_describe(run->simulation.advance_kind));
    char sort[256];
    sorter_plan_describe(&run->simulation.plan, sort, sizeof sort);
    log_line(&run->log, LOG_VERBOSE, "sort: %s", sort);
    if (run->simulation.plan.note[0] != '\0')
        log_line(&run->log, LOG_NORMAL, "warning: %s", run->simulation.plan.note);
    /* Transforms on the host of a GPU cross the bus in every step: whoever runs there should know. */
    const bool on_host_of_gpu =
        !info->is_cpu && strcmp(poisson_solver_name(run->simulation.poisson), "FFTW") == 0;
    log_line(&run->log, on_host_of_gpu ? LOG_NORMAL : LOG_VERBOSE, "field solver: %s%s",
             poisson_solver_name(run->simulation.poisson), on_host_of_gpu ? ", on the host" : "");
    const struct consequences derived = consequences_derive(config);
    consequences_warn(config, &derived, &run->log);
    if (run->folder.held_run)
        log_line(&run->log, LOG_NORMAL, "%s held an earlier run, which this one replaces", run->folder.path);
}

static uint64_t own_particles(const struct simulation *simulation)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < simulation->config->species_count; s++)
        sum += simulation->particles[s].count;
    return sum;
}

static enum status step_through(struct run *run, const struct communicator *communicator)
{
    const uint64_t particles = simulation_particles(&run->config);
    struct progress progress = progress_begin(&run->log, run->config.time.steps, particles);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !simulation_done(&run->simulation)) {
        const uint64_t step = run->simulation.step;
        status = simulation_step(&run->simulation);
        if (status == STATUS_OK && step > 0)
            progress_update(&progress, step, simulation_energy_drift(&run->simulation));
    }
    if (status == STATUS_OK)
        status = device_finish(run->device);
    progress_end(&progress);
    TRY(status);

    const struct run_cost cost = {
        .steps = run->config.time.steps + 1,
        .particles = particles,
        .own_particles = own_particles(&run->simulation),
        .wall_seconds = timer_now() - progress.started,
        .timed_every = simulation_samples_times(&run->simulation) ? SIMULATION_TIMED_EVERY : 1};
    log_line(&run->log, LOG_VERBOSE, "device memory held: %.1f MiB at most",
             (double)device_most_bytes_held(run->device) / 0x1p20);
    const struct timers *timers = device_timers(run->device);
    stage_table_print(&run->log, communicator, timers, &cost);
    return stage_table_write(run->folder.path, communicator, timers, &cost);
}

/* Closes the log, with the reason in it where the run failed. */
static enum status close_log(struct run *run, enum status status)
{
    if (!run->log_file)
        return status;
    if (status != STATUS_OK)
        fprintf(run->log_file, "stopped: %s\n", status_message());
    bool failed = ferror(run->log_file) != 0;
    failed |= fclose(run->log_file) != 0;
    run->log.file = run->log_file = NULL;
    if (failed && status == STATUS_OK)
        return status_fail(STATUS_FAILED, "cannot write %s/log.txt: %s", run->folder.path, strerror(errno));
    return status;
}

/* The first failure keeps its sentence. */
static enum status close_outputs(struct run *run, enum status status)
{
    char *first = status == STATUS_OK ? NULL : strdup(status_message());
    const enum status closed = history_close(&run->history);
    if (status == STATUS_OK)
        status = closed;
    else
        (void)status_fail(status, "%s", first ? first : "out of memory");
    free(first);
    status = close_log(run, status);
    run_folder_destroy(&run->folder);
    return status;
}

static enum status run_config(struct run *run, const struct run_arguments *arguments)
{
    TRY(overrides_read(&arguments->overrides, &run->config));
    TRY(run_folder_name(run->config.output.directory, arguments->force ? RUN_FOLDER_REPLACE : RUN_FOLDER_NEW,
                        &run->folder));
    TRY(run_folder_check(&run->folder));
    struct communicator communicator;
    TRY(communicator_start(&communicator));
    if (communicator.size > 1)
        return communicator_agree(&communicator,
                                  status_fail(STATUS_USAGE,
                                              "mpirun started %d ranks; this version of RadixPIC runs on one",
                                              communicator.size));
    TRY(device_open(run->config.device, &run->device));
    TRY(simulation_create(&run->config, run->device, &run->simulation));
    TRY(open_outputs(run));
    announce(run);
    TRY(step_through(run, &communicator));
    log_line(&run->log, LOG_NORMAL, "written to %s", run->folder.path);
    return STATUS_OK;
}

enum status command_run(int argc, char **argv)
{
    static const struct argp override_argp = {.options = override_options, .parser = overrides_parse};
    static const struct argp_child children[] = {{&override_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = run_options,
        .parser = parse,
        .args_doc = "CONFIG",
        .doc = "Run the simulation that the YAML file CONFIG describes.\v"
               "The run folder gets history.csv, snapshots/, config.yaml (every key, resolved), timers.csv "
               "and log.txt. One that holds a run already is left alone without --force.\n\n"
               "Examples:\n"
               "  radixpic run configs/landau_damping.yaml\n"
               "  radixpic run configs/two_stream.yaml --steps 100 --output /tmp/try --force\n"
               "  radixpic run configs/landau_damping.yaml --set time.step=0.05 --quiet\n",
        .children = children,
    };
    struct run_arguments arguments = {.level = LOG_NORMAL};
    bool done = false;
    TRY(arguments_parse(&argp, argc, argv, &arguments, &done));
    if (done)
        return STATUS_OK;

    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return status_fail(STATUS_FAILED, "no memory for the run");
    run->log = (struct log){.terminal = stdout, .level = arguments.level};
    enum status status = close_outputs(run, run_config(run, &arguments));
    simulation_destroy(&run->simulation);
    device_close(&run->device);
    free(run);
    return status;
}
