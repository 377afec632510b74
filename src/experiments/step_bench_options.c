/* Step bench options: parsing. */
#include "experiments/step_bench_options.h"

#include "base/arguments.h"
#include "experiments/cells_option.h"
#include "experiments/usual_options.h"

#include <stdlib.h>

enum {
    KEY_CELLS = 1000,
    KEY_LENGTH,
    KEY_SHAPE,
    KEY_PRECISION,
    KEY_STEPS,
    KEY_METHOD,
    KEY_SORT,
    KEY_HOT,
    KEY_SWEEP,
    KEY_LEAST,
    KEY_MOST
};

enum { LEAST_CELLS = 8, MOST_STEPS = 1000000, USUAL_STEPS = 50, USUAL_REPEATS = 5, SWEEP_REPEATS = 3 };

static const double least_length = 1e-6,
                    most_length = 1e9; /* far beyond either, squares overflow in single precision */

static const struct argp_option step_options[] = {
    {"particles", 'N', "N", 0, "Particles (N), 4194304 without it", 0},
    {"cells", KEY_CELLS, "C", 0, "Cells: N for N x N, or NXxNY, each 8 or more; 128 without it", 0},
    {"length", KEY_LENGTH, "L", 0,
     "Length of the box along x in Debye lengths, its cells square; without it a cell is 4 pi/32 long, "
     "whatever the "
     "number of cells",
     0},
    {"shape", KEY_SHAPE, "NAME", 0, "ngp, cic or tsc; cic without it", 0},
    {"precision", KEY_PRECISION, "NAME", 0, "single or double; single without it", 0},
    {"method", KEY_METHOD, "NAME", 0, "Of the step: auto, plain, fused, tiled or chunked; auto without it",
     0},
    {"sort", KEY_SORT, "NAME", 0,
     "Method of the sort: auto, paper, tiled or chunked; as a config's default without it", 0},
    {"hot", KEY_HOT, NULL, 0,
     "Half of the particles stand still in one cell; the plasma is so thin that nothing else changes", 0},
    {"steps", KEY_STEPS, "K", 0, "Steps in a timed block, 50 without it; in a sweep as many as take 0.3 s",
     0},
    {"repeat", 'r', "K", 0,
     "Timed blocks, after a warm-up of one, and as many for the stages; 5 without it, 3 in a sweep", 0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every stage as a row of FILE", 0},
    {"sweep", KEY_SWEEP, NULL, 0,
     "Every power of two of particles on grids of 32^2 to 2048^2, with at least 8 particles a cell", 0},
    {"min-particles", KEY_LEAST, "N", 0, "Least particles of a sweep, 262144 without it", 0},
    {"max-particles", KEY_MOST, "N", 0,
     "Most particles of a sweep; 134217728 without it, or what half of the memory holds", 0},
    {0},
};

static error_t parse_length(struct argp_state *state, const char *text, double *length)
{
    char *end = NULL;
    *length = strtod(text, &end);
    if (end == text || *end != '\0' || !(*length >= least_length && *length <= most_length))
        return arguments_refuse(state, "--length: '%s' is not a length from %g to %g", text, least_length,
                                most_length);
    return 0;
}

static error_t parse_setup(int key, char *argument, struct argp_state *state, struct step_setup *setup)
{
    static const char *const methods[] = {"auto", "plain", "fused", "tiled", "chunked", NULL},
                             *const sorts[] = {"auto", "paper", "tiled", "chunked", NULL};
    switch (key) {
    case 'N':
        return arguments_number(state, "--particles", argument, 1, CONFIG_MAX_PARTICLES, &setup->particles);
    case KEY_CELLS:
        return cells_option_parse(state, argument, LEAST_CELLS, setup->cells);
    case KEY_LENGTH:
        return parse_length(state, argument, &setup->length[0]);
    case KEY_SHAPE:
        return arguments_word(state, "--shape", argument, usual_shapes, &setup->shape);
    case KEY_PRECISION:
        return arguments_word(state, "--precision", argument, usual_precisions, &setup->precision);
    case KEY_METHOD:
        return arguments_word(state, "--method", argument, methods, &setup->step_method);
    case KEY_SORT:
        return arguments_word(state, "--sort", argument, sorts, &setup->sort_method);
    case KEY_HOT:
        setup->hot = true;
        return 0;
    case KEY_STEPS:
        return arguments_number32(state, "--steps", argument, 1, MOST_STEPS, &setup->steps);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct step_bench_options *options = state->input;
    switch (key) {
    case KEY_SWEEP:
        options->sweep = true;
        return 0;
    case KEY_LEAST:
        return arguments_number(state, "--min-particles", argument, 1, CONFIG_MAX_PARTICLES,
                                &options->least_particles);
    case KEY_MOST:
        return arguments_number(state, "--max-particles", argument, 1, CONFIG_MAX_PARTICLES,
                                &options->most_particles);
    case 'r':
    case 'd':
    case KEY_CSV:
    case ARGP_KEY_ARG:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->setup.repeats);
    default:
        return parse_setup(key, argument, state, &options->setup);
    }
}

static const struct argp argp = {
    .options = step_options,
    .parser = parse,
    .doc =
        "Time whole simulation steps: electrons of thermal velocity 1 with a wave of k = 0.5, dt = 0.1, "
        "energies every 10 steps, nothing written to disk.\v"
        "The wall clock is the host's over blocks of steps, from one wait for the device to the next; the "
        "stages are timed by events in blocks of their own, since that takes time itself. Particles, charge, "
        "the field at the start and the drift of the energy are checked: a wrong step is not reported as "
        "fast but ends the program with exit code 1. A copy on the device is timed just before each point; "
        "so short a list that caches hold it can beat it.\n\n"
        "Examples:\n"
        "  radixpic bench step\n"
        "  radixpic bench step --particles 1048576 --cells 64 --length 12.566 --method plain\n"
        "  radixpic bench step --sweep --max-particles 4194304 --device cpu --csv step.csv\n",
};

static enum status check_together(struct step_bench_options *options)
{
    const struct step_setup *setup = &options->setup;
    if (options->sweep && (setup->particles > 0 || setup->cells[0] > 0 || setup->length[0] > 0))
        return status_fail(STATUS_USAGE,
                           "--sweep chooses particles and cells itself; leave --particles, --cells "
                           "and --length out");
    if (!options->sweep && (options->least_particles > 0 || options->most_particles > 0))
        return status_fail(STATUS_USAGE, "--min-particles and --max-particles are of a --sweep alone");
    return STATUS_OK;
}

static void fill_defaults(struct step_bench_options *options)
{
    struct step_setup *setup = &options->setup;
    if (setup->particles == 0)
        setup->particles = 1u << 22;
    if (setup->cells[0] == 0)
        setup->cells[0] = setup->cells[1] = 128;
    if (setup->steps == 0 && !options->sweep)
        setup->steps = USUAL_STEPS;
    if (setup->repeats == 0)
        setup->repeats = options->sweep ? SWEEP_REPEATS : USUAL_REPEATS;
    if (options->least_particles == 0)
        options->least_particles = 1u << 18;
    if (options->most_particles == 0)
        options->most_particles = 1u << 27;
}

enum status step_bench_options_parse(int argc, char **argv, struct step_bench_options *options, bool *done)
{
    *options = (struct step_bench_options){
        .device = "auto", .setup = {.shape = "cic", .precision = "single", .step_method = "auto"}};
    TRY(arguments_parse(&argp, argc, argv, options, done));
    TRY(check_together(options));
    fill_defaults(options);
    if (options->sweep && options->most_particles < options->least_particles)
        return status_fail(STATUS_USAGE, "--max-particles %llu is less than --min-particles %llu",
                           (unsigned long long)options->most_particles,
                           (unsigned long long)options->least_particles);
    return STATUS_OK;
}
