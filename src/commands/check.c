/* radixpic check: what a config says, resolved, and what follows from it. */
#include "commands/commands.h"
#include "commands/consequences.h"
#include "commands/overrides.h"

#include "config/config_reader.h"
#include "diag/checkpoint.h"
#include "diag/snapshot.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>

static void print_consequences(const struct config *config, const struct consequences *derived)
{
    const double widest = fmax(derived->grid.dx, derived->grid.dy);
    printf("# what follows from it\n");
    printf("cell size dx, dy          %g, %g\n", derived->grid.dx, derived->grid.dy);
    if (derived->debye_length > 0)
        printf("Debye length              %g, %g to a cell\n", derived->debye_length,
               derived->debye_length / widest);
    else
        printf("Debye length              0: every species is cold\n");
    printf("omega_p dt                %g\n", derived->plasma_frequency * config->time.step);
    printf("end of the run            t = %g\n", (double)config->time.steps * config->time.step);
    for (uint32_t s = 0; s < config->species_count; s++)
        printf("particles per cell        %g of %s\n",
               (double)config->species[s].particles / grid_cells(&derived->grid), config->species[s].name);
    printf("cells crossed in a step   %g at most, by a particle of %s at drift + 3 thermal velocities\n",
           derived->fastest, derived->fastest_species);
    printf("MPI ranks                 %u at most, each with a row of cells or more\n", derived->grid.nx);
}

/* Of the state, to which the file adds some kilobytes: main lists and guests, each with the particles of
 * every cell counted. */
static uint64_t checkpoint_bytes(const struct config *config)
{
    const struct grid grid = grid_make(&config->grid);
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const uint64_t each = 4 * precision_bytes(config->precision) + (species->ids ? sizeof(uint64_t) : 0);
        bytes += species->particles * each + CHECKPOINT_LISTS * sizeof(uint32_t) * grid_cells(&grid);
    }
    return bytes;
}

static void print_checkpoints(const struct config *config)
{
    const struct checkpoints_config *checkpoints = &config->output.checkpoints;
    const uint64_t every = checkpoints->every, steps = config->time.steps;
    const double megabytes = 1e-6 * (double)checkpoint_bytes(config);
    printf("checkpoints               ");
    if (every > 0) /* none of the loaded state, one of the last */
        printf("%llu, ", (unsigned long long)(steps / every + (steps % every != 0)));
    if (checkpoints->minutes > 0)
        printf("one every %g minutes, ", checkpoints->minutes);
    printf("one when a signal stops the run; about %.3g MB each, the newest %u kept: %.3g MB\n", megabytes,
           checkpoints->keep, checkpoints->keep * megabytes);
}

static void print_output_size(const struct config *config)
{
    const uint64_t every = config->output.snapshots.every, steps = config->time.steps;
    const uint64_t rows =
        steps / config->output.history.every + 1 + (steps % config->output.history.every != 0);
    const uint64_t snapshots = every > 0 ? steps / every + 1 + (steps % every != 0) : 0;
    const double row_bytes = 8 + 24.0 * (7 + 2 * config->output.history.mode_count);
    printf("history                   %llu rows, about %.3g MB\n", (unsigned long long)rows,
           1e-6 * row_bytes * (double)rows);
    printf("snapshots                 %llu, at most %.3g MB each before compression, %.3g MB in all\n",
           (unsigned long long)snapshots, 1e-6 * (double)snapshot_bytes(config),
           1e-6 * (double)snapshot_bytes(config) * (double)snapshots);
    print_checkpoints(config);
}

/* The device may be missing where a config is only looked at: then its part is left out, with the reason. */
static enum status print_device_part(const struct config *config, const struct consequences *derived)
{
    struct device *device = NULL;
    if (device_open(config->device, &device) != STATUS_OK) {
        printf("device                    %s\n", status_message());
        printf("key                       b = %u bits\n", grid_key_bits(&derived->grid));
        return STATUS_OK;
    }
    const struct device_info *info = device_info(device);
    struct sorter_plan plan;
    char sort[256];
    uint64_t bytes = 0;
    enum advance_kind kind = ADVANCE_NONE;
    enum status status = simulation_plan_sort(config, info, &plan);
    if (status == STATUS_OK)
        status = simulation_plan_step(config, info, &kind);
    if (status == STATUS_OK)
        status = simulation_bytes(config, info, &bytes);
    if (status == STATUS_OK) {
        printf("device                    %s\n", info->name);
        printf("step                      %s\n", advance_kind_describe(kind));
        sorter_plan_describe(&plan, sort, sizeof sort);
        printf("key                       %s\n", sort);
        printf("memory on the device      %.1f MiB on one rank, %.1f bytes a particle\n",
               (double)bytes / 0x1p20, (double)bytes / (double)simulation_particles(config));
        if (plan.note[0] != '\0')
            printf("warning: %s\n", plan.note);
    }
    device_close(&device);
    return status;
}

enum { KEY_KEYS = 'k' };

static const struct argp_option check_options[] = {
    {"keys", KEY_KEYS, NULL, 0, "List every key a config may have: type, default, range, meaning", 1},
    {0},
};

struct check_arguments {
    struct overrides overrides;
    bool keys;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct check_arguments *arguments = state->input;
    (void)argument;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->overrides;
        return 0;
    case KEY_KEYS:
        arguments->keys = true;
        arguments->overrides.config_is_optional = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum status command_check(int argc, char **argv)
{
    static const struct argp override_argp = {.options = override_options, .parser = overrides_parse};
    static const struct argp_child children[] = {{&override_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = check_options,
        .parser = parse,
        .args_doc = "CONFIG\n--keys",
        .doc = "Validate the YAML file CONFIG, then print it with every key resolved and what "
               "follows from it.\v"
               "Warnings point at numerical trouble and refuse nothing. Nothing is created.\n\n"
               "Examples:\n"
               "  radixpic check configs/landau_damping.yaml\n"
               "  radixpic check configs/landau_damping.yaml --set grid.cells=[8,8]\n"
               "  radixpic check --keys\n",
        .children = children,
    };
    struct check_arguments arguments = {0};
    bool done = false;
    TRY(arguments_parse(&argp, argc, argv, &arguments, &done));
    if (done)
        return STATUS_OK;
    if (arguments.keys) {
        config_describe(stdout);
        return STATUS_OK;
    }
    static struct config config; /* large */
    TRY(overrides_read(&arguments.overrides, &config));
    TRY(config_echo(&config, stdout));
    const struct consequences derived = consequences_derive(&config);
    printf("\n");
    print_consequences(&config, &derived);
    print_output_size(&config);
    TRY(print_device_part(&config, &derived));
    consequences_warn(&config, &derived, &(struct log){.terminal = stdout, .level = LOG_NORMAL});
    return STATUS_OK;
}
