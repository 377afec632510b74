/* radixpic run: a config, or a checkpoint, becomes a run folder. */
#include "commands/commands.h"
#include "commands/consequences.h"
#include "commands/input.h"

#include "base/progress.h"
#include "base/share_watch.h"
#include "base/stop.h"
#include "base/text.h"
#include "input/field_files.h"
#include "input/species_files.h"
#include "output/provenance.h"
#include "output/stage_table.h"
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct common_options common;
    struct overrides overrides;
    const char *restart; /* NULL: from the start */
    bool resume, force;
    enum log_level level;
};

static const struct option_row rows[] = {
    OVERRIDE_ROWS,
    {"restart", 'r', "PATH", OPTION_TEXT, AT(restart), .group = 1,
     .help =
         "Go on from a checkpoint, or from 'latest', the newest whole one of the run folder; without CONFIG "
         "with the run's own"},
    {"resume", 'R', NULL, OPTION_SWITCH, AT(resume), .group = 1,
     .help = "Start where the run folder holds nothing, go on from its newest checkpoint where it has one, "
             "and do nothing where the run is complete: one command to call again until it is"},
    {"force", 'f', NULL, OPTION_SWITCH, AT(force), .group = 1,
     .help = "Replace the run that the folder holds already"},
    {"quiet", 'q', NULL, OPTION_VALUE, AT(level), LOG_QUIET, .group = 1,
     .help = "Print errors and warnings only, on the error output"},
    {"verbose", 'v', NULL, OPTION_VALUE, AT(level), LOG_VERBOSE, .group = 1,
     .help = "Print more: the device, the sort's parameters, the memory"},
};

/* *replaces: an earlier run in the folder goes; *is_complete: there is nothing left to do. */
static enum status read_input(struct session *run, const struct options *options, bool *replaces,
                              bool *is_complete)
{
    const struct overrides *overrides = &options->overrides;
    const char *request = options->restart;
    *is_complete = false;
    *replaces = options->force;
    if (!request)
        TRY(session_agree(run, overrides_read(overrides, &run->config)));
    if (options->resume) {
        enum resume choice;
        TRY(resume_choose(&run->communicator, &run->config, &run->folder, &choice));
        request = choice == RESUME_LATEST ? "latest" : NULL;
        *replaces = choice == RESUME_FRESH && run->folder.lock != 0;
        *is_complete = choice == RESUME_NOTHING;
    }
    if (request)
        config_free(&run->config);
    return request ? restart_open(&run->communicator, overrides, request, options->resume, &run->folder,
                                  &run->checkpoint, &run->config)
                   : STATUS_OK;
}

/* ---- its first lines: what is computed, where and how ---- */

/* "3 ranks, 10 to 11 of 32 rows each" */
static void announce_ranks(const struct simulation *simulation, struct log *log)
{
    const struct partition *partition = &simulation->partition;
    uint32_t fewest = partition->rows, most = 0;
    for (int rank = 0; rank < partition->ranks; rank++) {
        const uint32_t own = partition_rows(partition, rank);
        fewest = own < fewest ? own : fewest;
        most = own > most ? own : most;
    }
    char least[16] = ""; /* "5 to " */
    if (fewest < most)
        snprintf(least, sizeof least, "%u to ", fewest);
    if (partition->ranks > 1)
        log_line(log, LOG_NORMAL, "%d ranks, %s%u of %u rows each", partition->ranks, least, most,
                 partition->rows);
}

static bool is_radix(const struct simulation *simulation)
{
    return simulation->stepper.kind == &radix_step;
}

/* The stepper, how it sorts, and what another one would change. */
static void announce_step(const struct simulation *simulation, struct log *log)
{
    const struct sorter_plan *sort_plan = &simulation->stepper.setup.sort;
    const struct stepper_kind *fused = NULL;
    char sort[256], why[STEPPER_WHY_LENGTH];
    log_line(log, LOG_NORMAL, "step: %s", simulation->stepper.kind->summary);
    sorter_plan_describe(sort_plan, sort, sizeof sort);
    log_line(log, is_radix(simulation) ? LOG_NORMAL : LOG_VERBOSE,
             "sort: radix sort of the short key by histogram, scan and reorder, %s; %s", sort,
             sort_plan->method == SORT_METHOD_PAPER ? "the sort as P. Helluy published it"
                                                    : "the permutation of sort.method=paper, bit for bit");
    const struct device_info *info = device_info(simulation->device);
    const struct stepper_setup *setup = &simulation->stepper.setup;
    stepper_explain(simulation->config->step.method, info, setup, why);
    if (why[0] != '\0')
        log_line(log, LOG_NORMAL, "%s", why);
    if (is_radix(simulation) && stepper_choose(STEP_AUTO, info, setup, &fused) == STATUS_OK &&
        fused != &radix_step)
        log_line(log, LOG_NORMAL,
                 "step.method=fused would take %s; the same particles up to round-off, in less time",
                 fused->summary);
}

static void announce(const struct simulation *simulation, struct log *log)
{
    const struct config *config = simulation->config;
    const struct device_info *info = device_info(simulation->device);
    const uint64_t particles = simulation_particles(config);
    log_line(log, LOG_NORMAL, "%s", config->title);
    log_line(log, LOG_NORMAL,
             "%llu particles of %u species on %ux%u cells, %llu steps of %g, %s precision, on %s",
             (unsigned long long)particles, config->species_count, config->grid.cells[0],
             config->grid.cells[1], (unsigned long long)config->time.steps, config->time.step,
             config->precision == PRECISION_DOUBLE ? "double" : "single", info->name);
    announce_ranks(simulation, log);
    species_files_announce(config, log);
    field_files_announce(config, log);
    char threads[256];
    device_describe_threads(info, sizeof threads, threads);
    if (threads[0] != '\0')
        log_line(log, LOG_NORMAL, "threads%s: %s", simulation->communicator.size > 1 ? " of a rank" : "",
                 threads);
    log_line(log, LOG_VERBOSE, "%u compute units, %zu KiB local memory", info->compute_units,
             info->local_memory / 1024);
    announce_step(simulation, log);
    /* Transforms on the host of a GPU cross the bus in every step, which the log should show. */
    const char *solver = field_solver_name(simulation->field_solver);
    const bool on_host_of_gpu = !info->is_cpu && strncmp(solver, "FFTW", 4) == 0;
    log_line(log, on_host_of_gpu ? LOG_NORMAL : LOG_VERBOSE, "field solver: %s%s%s", solver,
             on_host_of_gpu ? ", on the host" : "",
             strstr(solver, "FFT") ? "; its plans transformed known functions rightly" : "");
    const struct consequences derived = consequences_derive(config);
    consequences_warn(config, &derived, log);
    consequences_warn_idle(config, simulation->stepper.setup.sort.method, !is_radix(simulation), log);
}

static void announce_start(struct session *run)
{
    const struct checkpoint *checkpoint = run->checkpoint;
    if (checkpoint)
        log_line(&run->log, LOG_NORMAL, "goes on from step %llu, from %s",
                 (unsigned long long)checkpoint->step, checkpoint->path);
    if (run->folder.repeated > 0)
        log_line(&run->log, LOG_NORMAL, "makes %" PRIu64 " steps again, which the complete run has behind it",
                 run->folder.repeated);
    const uint64_t kernels = device_info(run->device)->kernels;
    if (checkpoint && checkpoint->kernels != 0 && checkpoint->kernels != kernels)
        log_warning(&run->log,
                    "the kernels in %s have digest %016" PRIx64
                    ", but those that made the checkpoint had %016" PRIx64
                    ": the run goes on with other code than it began with",
                    program_folder(), kernels, checkpoint->kernels);
    char *rest = checkpoint ? checkpoint->warnings : NULL;
    for (char *warning; (warning = strsep(&rest, "\n"));)
        log_line(&run->log, LOG_QUIET, "%s", warning);
    log_line(&run->log, LOG_VERBOSE, "run %016" PRIx64, run->folder.manifest.run);
    if (run->folder.has_no_locks)
        log_warning(&run->log,
                    "the file system of %s has no locks, so two runs that write there at once are not "
                    "noticed",
                    run->folder.path);
    if (run->folder.held_run && run->folder.use == RUN_FOLDER_REPLACE)
        log_line(&run->log, LOG_NORMAL, "%s held an earlier run, which this one replaces", run->folder.path);
}

/* ---- the run ---- */

/* How long everything took, also of a run that was stopped. Collective. */
static enum status report_times(struct session *run, double step_seconds)
{
    const struct simulation *simulation = &run->simulation;
    const uint64_t last = run->config.time.steps, end = simulation->step < last ? simulation->step : last;
    const struct run_cost cost = {.steps = simulation->step - simulation->first_step,
                                  .advances = end - simulation->first_step,
                                  .particles = simulation_particles(&run->config),
                                  .own_particles = simulation_own_particles(simulation),
                                  .step_seconds = step_seconds,
                                  .wall_seconds = timer_since_begin(),
                                  .timed_every =
                                      simulation_samples_times(simulation) ? SIMULATION_TIMED_EVERY : 1};
    log_line(&run->log, LOG_VERBOSE, "device memory held: %.1f MiB at most",
             (double)device_most_bytes_held(run->device) / 0x1p20);
    TRY(stage_table_write(&run->log, &run->folder, &run->communicator, device_timers(run->device), &cost));
    TRY(session_agree(run,
                      session_is_first(run) ? outputs_list(simulation->outputs, "timers.csv") : STATUS_OK));
    const struct written written = outputs_written(simulation->outputs);
    if (written.files > 0)
        log_line(&run->log, LOG_NORMAL,
                 "files: %" PRIu64 " of %.4g MB together, written in %.3g s (%.3g MB/s)", written.files,
                 1e-6 * (double)written.bytes, written.seconds,
                 1e-6 * (double)written.bytes / written.seconds);
    return STATUS_OK;
}

/* A stopped run prints the command that goes on with it. Collective. */
static enum status report_stop(struct session *run)
{
    char *command = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&command, &length);
    if (stream) {
        if (run->communicator.size > 1)
            fprintf(stream, "mpirun -n %d ", run->communicator.size);
        fputs("radixpic run --restart latest --output ", stream);
        text_print_word(stream, run->folder.path);
        fclose(stream);
    }
    const enum status status = status_fail(STATUS_STOPPED, "%s; go on with: %s", status_message(),
                                           command ? command : "radixpic run --restart latest");
    free(command);
    return session_agree(run, status);
}

/* The log of the other ranks goes nowhere. */
static void watch_outputs(struct session *run, struct share_watch *watch)
{
    const char *cheaper_by = "";
    if (share_watch_is_most(watch, timer_now(), outputs_seconds(run->simulation.outputs, &cheaper_by)))
        log_warning(&run->log, "output took more than half of the last %d s; what would change that most: %s",
                    SHARE_WATCH_SECONDS, cheaper_by);
}

/* The steps begin: what of the time until now belongs to no stage yet is the start's. */
static void time_start(const struct session *run)
{
    static const enum stage stages[] = {STAGE_START_MPI, STAGE_START_DEVICE, STAGE_START_KERNELS, STAGE_LOAD};
    const struct timers *timers = device_timers(run->device);
    double rest = timer_since_begin();
    for (size_t n = 0; n < sizeof stages / sizeof stages[0]; n++)
        rest -= timers->stages[stages[n]].seconds;
    device_add_time(run->device, STAGE_START_OTHER, rest > 0 ? rest : 0, 0);
}

static enum status step_through(struct session *run)
{
    struct simulation *simulation = &run->simulation;
    time_start(run);
    struct progress progress = progress_begin(&run->log, simulation->first_step, run->config.time.steps,
                                              simulation_particles(&run->config));
    progress.live &= run->communicator.size == 1; /* mpirun shows a terminal to a rank that has none */
    struct share_watch watch = {.began = progress.started};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !simulation_done(simulation)) {
        const uint64_t step = simulation->step;
        status = simulation_step(simulation);
        if (step == simulation->first_step && status == STATUS_OK) {
            status = device_finish(run->device);
            stop_explain_end(); /* what the kernels of a step are compiled to is sound */
        }
        if (status == STATUS_OK && progress_is_due(&progress, step)) {
            status = device_finish(run->device); /* the rate is of steps that are done */
            if (status == STATUS_OK)
                progress_update(&progress, step, simulation_energy_drift(simulation));
        }
        watch_outputs(run, &watch);
    }
    progress_end(&progress);
    if (status != STATUS_OK && status != STATUS_STOPPED)
        return status;
    TRY(device_finish(run->device));
    TRY(session_agree(run, outputs_finish(simulation->outputs)));
    TRY(report_times(run, timer_now() - progress.started));
    return status == STATUS_STOPPED ? report_stop(run) : STATUS_OK;
}

/* A closed pipe or terminal ends no run, but is no success. */
static enum status require_terminal(const struct session *run)
{
    if (!session_is_first(run) || run->log.terminal)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "cannot write to the %s output; the run is complete, and %s/log.txt has all of its "
                       "lines",
                       run->log.level == LOG_QUIET ? "error" : "standard", run->folder.path);
}

static enum status run_config(struct session *run, const struct options *options)
{
    const struct communicator *communicator = &run->communicator;
    bool replaces, is_complete;
    TRY(read_input(run, options, &replaces, &is_complete));
    TRY(session_require_same(communicator, &run->config));
    if (!session_is_first(run))
        run->log.terminal = NULL;
    if (is_complete) {
        log_line(&run->log, LOG_NORMAL,
                 "%s holds the complete run of %" PRIu64 " steps; nothing is left to do", run->folder.path,
                 run->folder.manifest.complete_step);
        return STATUS_OK;
    }
    TRY(session_choose_folder(run, replaces));
    run->builds_ahead = true;
    TRY(session_begin(run));
    /* On a CPU a wait costs next to nothing, and rows are there at once. */
    double is_gpu = !device_info(run->device)->is_cpu;
    communicator_max(communicator, 1, &is_gpu);
    run->simulation.reads_late = is_gpu > 0;
    const struct checkpoints_config *checkpoints = &run->config.output.checkpoints;
    /* From here on there are files, and a signal leaves a checkpoint beside them. */
    stop_watch(checkpoints->on_signals, checkpoints->signal_count);
    TRY(session_open_outputs(run));
    announce(&run->simulation, &run->log);
    announce_start(run);
    field_file_free(&run->config.fields.file[FIELDS_INITIAL]);
    checkpoint_close(&run->checkpoint);
    TRY(step_through(run));
    TRY(session_complete(run));
    log_line(&run->log, LOG_NORMAL, "written to %s", run->folder.path);
    return session_agree(run, require_terminal(run));
}

static enum status read_command_line(const struct option_table *table, int argc, char **argv,
                                     struct options *options)
{
    TRY(options_parse(table, argc, argv, &options->common));
    if (options->common.is_help_shown)
        return STATUS_OK;
    if (!options->restart)
        TRY(overrides_require(argv[0], &options->overrides));
    if (options->restart && options->restart[0] == '\0')
        return status_fail(STATUS_USAGE, "%s: --restart: the text is empty", argv[0]);
    return !options->resume || (!options->restart && !options->force)
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: --resume goes with neither --restart nor --force", argv[0]);
}

/* Ranks without the same would wait for one another for ever. --force and --quiet are those of rank 0. */
static enum status require_same_start(const struct communicator *communicator, const struct options *options)
{
    TRY(communicator_require_same(communicator, "the program", provenance_version));
    return communicator_require_same(communicator, "--help, --resume or --restart",
                                     options->common.is_help_shown ? "--help"
                                     : options->resume             ? "--resume"
                                     : options->restart            ? options->restart
                                                                   : "none");
}

enum status command_run(int argc, char **argv)
{
    static const struct option_table table = OPTION_TABLE(
        rows, NULL,
        "Run the simulation that the YAML file CONFIG describes, or go on with one from a checkpoint.\v"
        "The run folder gets history.csv, config.yaml (every key, resolved), timers.csv, log.txt, "
        "manifest.yaml (what belongs to the run) and, where asked for, snapshots/, phase_space/, moments/, "
        "probes/, lines/, tracks/ and checkpoints/. One that holds a run already is left alone without "
        "--force. SIGTERM, Ctrl-C, SIGHUP, SIGUSR1 and SIGXCPU end a run after a step, with a checkpoint and "
        "exit code 4. Under mpirun all ranks make one run.\n\n"
        "Examples:\n"
        "  radixpic run configs/landau_damping.yaml\n"
        "  radixpic run configs/two_stream.yaml --steps 100 --output /tmp/try --force\n"
        "  radixpic run configs/landau_damping.yaml --restart latest\n"
        "  radixpic run configs/landau_damping.yaml --resume\n"
        "  radixpic run configs/landau_damping.yaml --set time.step=0.05 --quiet\n",
        .arguments = "CONFIG\n--restart PATH");
    struct options options = {.level = LOG_NORMAL};
    struct communicator communicator;
    TRY(communicator_start(
        &communicator)); /* first, so that all ranks agree on what is wrong, and one says it */
    const double mpi_seconds = timer_since_begin();
    TRY(communicator_agree(&communicator, read_command_line(&table, argc, argv, &options)));
    TRY(require_same_start(&communicator, &options));
    if (options.common.is_help_shown)
        return STATUS_OK;

    struct session *run = calloc(1, sizeof *run);
    if (!run)
        return status_fail(STATUS_FAILED, "no memory for the run");
    run->communicator = communicator;
    run->mpi_seconds = mpi_seconds;
    run->log = (struct log){.terminal = options.level == LOG_QUIET ? stderr : stdout, .level = options.level};
    const enum status status = session_end(run, run_config(run, &options));
    config_free(&run->config);
    free(run);
    return status;
}
