/* radixpic check: a config with every key resolved, and what follows from it. */
#include "commands/commands.h"
#include "commands/consequences.h"
#include "commands/input.h"
#include "commands/probe.h"

#include "config/config_reader.h"
#include "output/outputs.h"
#include "output/run_check.h"
#include "parallel/communicator.h"
#include "simulation.h"
#include "step/stepper.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

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
    if (least > 1)
        printf("MPI ranks                 %llu at least, each with %u particles of a species or fewer\n",
               (unsigned long long)least, CONFIG_MAX_PARTICLES);
    printf("MPI ranks                 %u at most, each with a row of cells or more\n", config->grid.cells[0]);
    printf("MPI ranks                 on another number sums differ in their last digits%s\n",
           config->deposit.shape == SHAPE_NGP
               ? ", by which a particle beside an edge may take another node (ngp)"
               : "");
}

static bool is_folder(const char *path)
{
    struct stat found;
    return path && stat(path, &found) == 0 && S_ISDIR(found.st_mode);
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

/* What the device's part of a config follows from: the particles of one of the fewest ranks. */
static enum status print_plan(const struct config *config, const struct device_info *info)
{
    const uint64_t ranks = least_ranks(config);
    const uint32_t passes = config->deposit.filter_passes;
    struct config share = *config;
    for (uint32_t s = 0; s < config->species_count; s++)
        share.species[s].particles = (config->species[s].particles + ranks - 1) / ranks;
    struct simulation_plan plan;
    struct log log = {.terminal = stdout, .level = LOG_NORMAL};
    char sort[256], place[64] = "on one rank";
    TRY(simulation_plan(&share, info, &plan));
    sorter_plan_describe(&plan.sort, sort, sizeof sort);
    if (ranks > 1)
        snprintf(place, sizeof place, "and more on each of %llu ranks", (unsigned long long)ranks);
    log_line(&log, LOG_NORMAL, "device                    %s", info->name);
    printf("step                      %s\n", plan.stepper->summary);
    printf("key                       %s\n", sort);
    printf("deposit                   %s", deposit_describe(info, &config->deposit));
    if (passes > 0)
        printf("; the charge density smoothed by %u binomial pass%s", passes, passes > 1 ? "es" : "");
    printf("\nmemory on the device      %.1f MiB %s, %.1f bytes a particle\n", (double)plan.bytes / 0x1p20,
           place, (double)plan.bytes / (double)simulation_particles(&share));
    if (plan.sort.note[0] != '\0')
        log_line(&log, LOG_QUIET, "warning: %s", plan.sort.note);
    consequences_warn_idle(config, plan.sort.method, plan.stepper != &radix_step, &log);
    return STATUS_OK;
}

/* The device may be missing where a config is only looked at: then its part is left out, with the reason. */
static enum status print_device_part(const struct config *config, const struct grid *grid)
{
    struct device *device = NULL;
    if (device_open(config->device, 0, &device) != STATUS_OK) {
        log_line(&(struct log){.terminal = stdout, .level = LOG_NORMAL}, LOG_NORMAL,
                 "device                    %s", status_message());
        printf("key                       b = %u bits\n", grid_key_bits(grid));
        return STATUS_OK;
    }
    const enum status status = print_plan(config, device_info(device));
    device_close(&device);
    return status;
}

struct options {
    struct common_options common;
    struct overrides overrides;
    bool keys, probe;
    enum describe_form form;
};

static const struct option_row rows[] = {
    OVERRIDE_ROWS,
    {"keys", 'k', NULL, OPTION_SWITCH, AT(keys), .group = 1,
     .help = "List every key a config may have, or KEY and those below it: type, default, range, meaning"},
    {"probe", 'p', NULL, OPTION_SWITCH, AT(probe), .group = 1,
     .help = "Take steps for two seconds at most and write each kind of file once, to foretell the time of "
             "the run"},
    {"markdown", 'm', NULL, OPTION_VALUE, AT(form), DESCRIBE_MARKDOWN, .group = 1,
     .help = "With --keys: as a Markdown page"},
};

enum status command_check(int argc, char **argv)
{
    static const struct option_table table = OPTION_TABLE(
        rows, NULL,
        "Validate the YAML file CONFIG, then print it with every key resolved and what follows from "
        "it; of a run folder RUN verify every file against the digest that the run wrote down.\v"
        "Warnings point at numerical problems; they refuse nothing. Nothing is created, but with --probe a "
        "folder beside that of the run, which is removed again. Each damaged or missing file of RUN is named "
        "on a line, and the exit code is 1 where there is one.\n\n"
        "Examples:\n"
        "  radixpic check configs/landau_damping.yaml\n"
        "  radixpic check configs/landau_damping.yaml --set grid.cells=[8,8]\n"
        "  radixpic check configs/landau_damping.yaml --probe\n"
        "  radixpic check output/landau_damping\n"
        "  radixpic check --keys\n"
        "  radixpic check --keys species\n",
        .arguments = "CONFIG\nRUN\n--keys [KEY]");
    struct options options = {0};
    if (!communicator_is_first())
        return STATUS_OK; /* the ranks of mpirun would repeat it */
    TRY(options_parse(&table, argc, argv, &options.common));
    if (options.common.is_help_shown)
        return STATUS_OK;
    if (options.keys)
        return config_describe(options.form, options.overrides.config_path, stdout);
    TRY(overrides_require(argv[0], &options.overrides, false));
    if (is_folder(options.overrides.config_path))
        return run_check(options.overrides.config_path,
                         &(struct log){.terminal = stdout, .level = LOG_NORMAL});
    static struct config config; /* large */
    TRY(overrides_read(&options.overrides, &config));
    TRY(require_enough_rows(&config));
    TRY(config_echo(&config, stdout));
    const struct grid grid = grid_make(&config.grid);
    printf("\n");
    consequences_print(&config);
    print_ranks(&config);
    outputs_print_sizes(&config);
    if (!options.probe)
        consequences_print_last_checkpoint(&config, ASSUMED_RATE, ", which is assumed: --probe measures it");
    TRY(print_device_part(&config, &grid));
    consequences_warn(&config, &(struct log){.terminal = stdout, .level = LOG_NORMAL});
    return options.probe ? probe_run(&config) : STATUS_OK;
}
