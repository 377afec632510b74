/* radixpic check: what a config says, resolved, and what follows from it. */
#include "commands/commands.h"
#include "commands/overrides.h"

#include "config/config_reader.h"
#include "diag/snapshot.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>

/* Numbers that follow from a config, the same for the print and the warnings. */
struct consequences {
    struct grid grid;
    double plasma_frequency; /* sqrt(sum over species of n q^2/m) */
    double debye_length;     /* of all thermal species together; 0 when none is thermal */
    double fastest; /* cells that a thermal particle (drift + 3 thermal velocities) crosses in a step */
    double particles_per_cell;  /* of the species with the fewest */
    const char *fewest_species; /* its name */
    const char *fastest_species;
};

static double thermal_velocity(const struct species_config *species, int axis)
{
    switch (species->velocities.kind) {
    case VELOCITIES_MAXWELLIAN:
        return species->velocities.thermal[axis];
    case VELOCITIES_UNIFORM: /* standard deviation of a uniform distribution */
        return (species->velocities.range[axis][1] - species->velocities.range[axis][0]) / sqrt(12.0);
    case VELOCITIES_COLD:
        break;
    }
    return 0;
}

static double fastest_velocity(const struct species_config *species, int axis)
{
    const struct velocities_config *velocities = &species->velocities;
    if (velocities->kind == VELOCITIES_UNIFORM)
        return fmax(fabs(velocities->range[axis][0]), fabs(velocities->range[axis][1]));
    return fabs(velocities->drift[axis]) + 3 * thermal_velocity(species, axis);
}

static struct consequences derive(const struct config *config)
{
    struct consequences derived = {.grid = grid_make(&config->grid), .particles_per_cell = INFINITY};
    double frequency_squared = 0, inverse_length_squared = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const double response = species->density * species->charge * species->charge / species->mass;
        const double thermal_squared =
            (pow(thermal_velocity(species, 0), 2) + pow(thermal_velocity(species, 1), 2)) / 2;
        frequency_squared += response;
        if (thermal_squared > 0)
            inverse_length_squared +=
                response / thermal_squared; /* lambda_D = v_th / omega_p of each species */
        const double per_cell = (double)species->particles / grid_cells(&derived.grid);
        if (per_cell < derived.particles_per_cell) {
            derived.particles_per_cell = per_cell;
            derived.fewest_species = species->name;
        }
        const double crossed = config->time.step * fmax(fastest_velocity(species, 0) / derived.grid.dx,
                                                        fastest_velocity(species, 1) / derived.grid.dy);
        if (crossed >= derived.fastest) {
            derived.fastest = crossed;
            derived.fastest_species = species->name;
        }
    }
    derived.plasma_frequency = sqrt(frequency_squared);
    derived.debye_length = inverse_length_squared > 0 ? 1 / sqrt(inverse_length_squared) : 0;
    return derived;
}

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
    struct radix_plan plan;
    uint64_t bytes = 0;
    enum status status = radix_plan_make(info, &config->sort, grid_key_bits(&derived->grid), &plan);
    if (status == STATUS_OK)
        status = simulation_bytes(config, info, &bytes);
    if (status == STATUS_OK) {
        printf("device                    %s\n", info->name);
        printf("key                       b = %u bits, r = %u, p = %u passes; I = %u, G = %u, s = %u, "
               "transpose %s\n",
               plan.key_bits, plan.radix_bits, plan.passes, plan.items_per_group, plan.groups,
               plan.histogram_splits, plan.transpose ? "on" : "off");
        printf("memory on the device      %.1f MiB, %.1f bytes a particle\n", (double)bytes / 0x1p20,
               (double)bytes / (double)simulation_particles(config));
    }
    device_close(&device);
    return status;
}

static void print_warnings(const struct config *config, const struct consequences *derived)
{
    const double pi = acos(-1.0), widest = fmax(derived->grid.dx, derived->grid.dy);
    const double frequency_step = derived->plasma_frequency * config->time.step;
    if (derived->debye_length > 0 && widest > pi * derived->debye_length)
        printf("warning: a cell of %g is longer than pi Debye lengths (%g): the plasma will heat itself; "
               "take more cells\n",
               widest, pi * derived->debye_length);
    if (frequency_step > 1.62)
        printf("warning: omega_p dt = %g is above 1.62: plasma oscillations are badly resolved, from 2 on "
               "unstable; take a "
               "smaller time.step\n",
               frequency_step);
    if (derived->fastest > 1)
        printf("warning: thermal particles of %s cross %g cells in a step: more than one; take a smaller "
               "time.step\n",
               derived->fastest_species, derived->fastest);
    if (derived->particles_per_cell < 8)
        printf("warning: %g particles per cell of %s: fewer than 8 are mostly noise\n",
               derived->particles_per_cell, derived->fewest_species);
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
    const struct consequences derived = derive(&config);
    printf("\n");
    print_consequences(&config, &derived);
    print_output_size(&config);
    TRY(print_device_part(&config, &derived));
    print_warnings(&config, &derived);
    return STATUS_OK;
}
