/* radixpic check: what follows from a config, and its keys resolved. */
#include "commands/commands.h"
#include "commands/consequences.h"
#include "commands/input.h"

#include "base/stop.h"
#include "config/config_reader.h"
#include "folder/run_check.h"
#include "input/field_files.h"
#include "input/species_files.h"
#include "simulation.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t least_ranks(const struct config *config)
{
    uint64_t most = 1;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (particles_least_ranks(&config->species[s]) > most)
            most = particles_least_ranks(&config->species[s]);
    return most;
}

static void print_ranks(const struct config *config)
{
    const uint64_t least = least_ranks(config);
    printf("MPI ranks                 ");
    if (least > 1)
        printf("%llu at least, each with %u particles of a species or fewer, and ", (unsigned long long)least,
               CONFIG_MAX_PARTICLES);
    printf("%u at most, each with a row of cells or more; on another number sums differ in their last "
           "digits%s\n",
           config->grid.cells[0],
           config->deposit.shape == SHAPE_NGP
               ? ", by which a particle beside an edge may take another node (ngp)"
               : "");
}

/* Where the program runs at all: on as many ranks as there are rows, or fewer. */
static enum status require_enough_rows(const struct config *config)
{
    const uint64_t least = least_ranks(config);
    if (least <= config->grid.cells[0])
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE,
        "grid.cells: the particles need %llu ranks, of at most %u of a species each, and there are %u rows "
        "of cells along x for them; take more rows or fewer particles",
        (unsigned long long)least, CONFIG_MAX_PARTICLES, config->grid.cells[0]);
}

/* What the device's part of a config follows from, where `share` has the particles of one of the fewest
 * ranks, `ranks`. */
static enum status print_plan(const struct config *config, const struct config *share, uint64_t ranks,
                              const struct device_info *info, struct log *log)
{
    const uint32_t passes = config->deposit.filter_passes;
    struct simulation_plan plan;
    char sort[256], threads[256], place[64] = "on one rank";
    TRY(simulation_plan(share, info, &plan));
    sorter_plan_describe(&plan.sort, sort, sizeof sort);
    if (ranks > 1)
        snprintf(place, sizeof place, "and more on each of %llu ranks", (unsigned long long)ranks);
    log_line(log, LOG_NORMAL, "device                    %s", info->name);
    device_describe_threads(info, sizeof threads, threads);
    if (threads[0] != '\0')
        printf("threads                   %s\n", threads);
    printf("step                      %s\n", plan.stepper->summary);
    if (plan.why[0] != '\0')
        printf("                          %s\n", plan.why);
    printf("key                       %s\n", sort);
    printf("deposit                   cell by cell, in a fixed order");
    if (passes > 0)
        printf("; densities smoothed by %u binomial pass%s%s", passes, passes > 1 ? "es" : "",
               config->deposit.filter_compensator ? " and a compensator" : "");
    printf("\nmemory on the device      %.1f MiB %s, %.1f bytes a particle\n", (double)plan.bytes / 0x1p20,
           place, (double)plan.bytes / (double)simulation_particles(share));
    consequences_warn_idle(config, plan.sort.method, plan.stepper != &radix_step, log);
    return STATUS_OK;
}

/* The device may be missing where a config is only looked at: then its part is left out, with the reason. */
static enum status print_device_part(const struct config *config, const struct grid *grid, struct log *log)
{
    struct device *device = NULL;
    if (device_open(config->device, 0, 0, &device) != STATUS_OK) {
        log_line(log, LOG_NORMAL, "device                    %s", status_message());
        printf("key                       b = %u bits\n", grid_key_bits(grid));
        return STATUS_OK;
    }
    struct config share = *config;
    const uint64_t ranks = least_ranks(config);
    enum status status = DEVICE_NEW_ARRAY(device, share.species, config->species_count);
    for (uint32_t s = 0; s < config->species_count && status == STATUS_OK; s++) {
        share.species[s] = config->species[s];
        share.species[s].particles = (config->species[s].particles + ranks - 1) / ranks;
    }
    TRY_IF_OK(print_plan(config, &share, ranks, device_info(device), log));
    device_close(&device);
    return status;
}

/* ---- the probe: the steps and files of a short run, and what follows for a long one ---- */

static const double probe_seconds = 2;

struct probe {
    const struct config *config;
    struct config taken; /* the config, without files that would be written again */
    struct run_folder folder;
    double start;         /* seconds from the call to the end of the files */
    double step;          /* of a step, without outputs */
    double copies;        /* that the steps waited for them */
    struct written files; /* one of each output */
};

/* One file of each output: the first step has all but a checkpoint, which the second one has. The first step
 * builds what is built late, so these two count as the start. */
static enum status write_files(struct probe *probe, struct simulation *simulation)
{
    const char *cheaper_by = "";
    const struct output_config *asked = &probe->config->output;
    struct output_config *taken = &probe->taken.output; /* which the outputs read in each step */
    TRY(simulation_step(simulation));
    *taken = (struct output_config){
        .history = asked->history, .probe_count = asked->probe_count, .probes = asked->probes};
    taken->checkpoints.keep = asked->checkpoints.keep;
    taken->checkpoints.every = asked->checkpoints.every > 0;
    if (!simulation_done(simulation))
        TRY(simulation_step(simulation));
    taken->checkpoints.every = 0;
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

static enum status run_probe(struct probe *probe, struct device *device)
{
    static const struct communicator alone = {.size = 1, .local_size = 1};
    struct simulation simulation = {0};
    const double called = timer_now();
    enum status status = simulation_create(&probe->taken, device, &simulation);
    stop_watch_all(); /* from here on there is a folder to remove */
    TRY_IF_OK(outputs_open(simulation.outputs, &alone, &probe->folder));
    TRY_IF_OK(take_steps(probe, &simulation, called));
    char *sentence = status_take();
    status = status_keep(status, sentence, outputs_close(simulation.outputs));
    simulation_destroy(&simulation);
    run_folder_unlock(&probe->folder);
    return status;
}

/* Files are written beside the steps, so the slower of both counts; copying takes the steps' time. The files
 * of the run take as many times the seconds of these as they have expected bytes. */
static void print_probe(const struct probe *probe)
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
    const bool is_known = probe->files.files > 0 && probe->files.seconds > 0;
    consequences_print_last_checkpoint(
        probe->config, is_known ? (double)probe->files.bytes / probe->files.seconds : ASSUMED_RATE,
        is_known ? ", as in the probe" : ", which is assumed: no file was due");
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

/* Takes steps and writes one file of each output that the config asks for, in a folder beside that of the
 * run, which it removes, but not parents that it had to create, nor where a second signal ends it. */
static enum status probe_run(const struct config *config)
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
    TRY(device_open(config->device, 0, 0, &device));
    enum status status = run_probe(&probe, device);
    device_close(&device);
    if ((status == STATUS_OK || status == STATUS_STOPPED) && stop_signal() != 0)
        status = status_fail(STATUS_STOPPED, "the probe was stopped by SIG%s; nothing of it is kept",
                             stop_name(stop_signal()));
    char *sentence = status_take();
    status = status_keep(status, sentence, run_folder_remove(path));
    if (status == STATUS_OK)
        print_probe(&probe);
    return status;
}

/* ---- the command ---- */

struct options {
    struct common_options common;
    struct overrides overrides;
    bool keys, probe, full;
    enum describe_form form;
};

static const struct option_row rows[] = {
    OVERRIDE_ROWS,
    {"keys", 'k', NULL, OPTION_SWITCH, AT(keys), .group = 1,
     .help = "List every key a config may have, or KEY and those below it: type, default, range, meaning"},
    {"probe", 'p', NULL, OPTION_SWITCH, AT(probe), .group = 1,
     .help = "Take steps for two seconds at most and write each kind of file once, to estimate the time of "
             "the run"},
    {"full", 'F', NULL, OPTION_SWITCH, AT(full), .group = 1,
     .help = "Print the config with every key resolved, too"},
    {"markdown", 'm', NULL, OPTION_VALUE, AT(form), DESCRIBE_MARKDOWN, .group = 1,
     .help = "With --keys: as a Markdown page"},
};

static enum status check_config(struct config *config, const struct options *options, struct log *log)
{
    TRY(require_enough_rows(config));
    const struct communicator alone = {.size = 1, .local_size = 1};
    TRY(species_files_read(&alone, config));
    TRY(field_files_read(&alone, config, NULL));
    const struct grid grid = grid_make(&config->grid);
    const struct consequences derived = consequences_derive(config);
    consequences_print(config, &derived);
    species_files_announce(config, log);
    field_files_announce(config, log);
    print_ranks(config);
    outputs_print_sizes(config);
    if (!options->probe)
        consequences_print_last_checkpoint(config, ASSUMED_RATE, ", which is assumed: --probe measures it");
    TRY(print_device_part(config, &grid, log));
    consequences_warn(config, &derived, log);
    if (options->probe)
        TRY(probe_run(config));
    if (!options->full)
        return STATUS_OK;
    printf("\n");
    return config_echo(config, stdout);
}

enum status command_check(int argc, char **argv)
{
    static const struct option_table table = OPTION_TABLE(
        rows, NULL,
        "Validate the YAML file CONFIG and print what follows from it, by --full every key too; of a run "
        "folder RUN verify every file against the digest that the run wrote down.\v"
        "Warnings point at numerical problems; they refuse nothing. Nothing is created, but with --probe a "
        "folder beside that of the run, which is removed again. Each damaged or missing file of RUN is named "
        "on a line, and the exit code is 1 where there is one.\n\n"
        "Examples:\n"
        "  radixpic check configs/landau_damping.yaml\n"
        "  radixpic check configs/landau_damping.yaml --set 'grid.cells=[8,8]'\n"
        "  radixpic check configs/landau_damping.yaml --probe\n"
        "  radixpic check output/landau_damping\n"
        "  radixpic check --keys\n"
        "  radixpic check --keys species\n",
        .arguments = "CONFIG\nRUN\n--keys [KEY]");
    struct options options = {0};
    struct log log = {.terminal = stdout, .level = LOG_NORMAL};
    struct stat found;
    if (!communicator_is_first())
        return STATUS_OK; /* the ranks of mpirun would repeat it */
    TRY(options_parse(&table, argc, argv, &options.common));
    if (options.common.is_help_shown)
        return STATUS_OK;
    if (options.keys)
        return config_describe(options.form, options.overrides.config_path, stdout);
    TRY(overrides_require(argv[0], &options.overrides));
    if (stat(options.overrides.config_path, &found) == 0 && S_ISDIR(found.st_mode))
        return run_check(options.overrides.config_path, &log);
    struct config config;
    TRY(overrides_read(&options.overrides, &config));
    const enum status status = check_config(&config, &options, &log);
    species_files_free(&config);
    for (int group = 0; group < FIELD_GROUPS; group++)
        field_file_free(&config.fields.file[group]);
    config_free(&config);
    return status;
}
