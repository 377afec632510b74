/* Scaling options: parsing, and the sizes of a run. */
#include "experiments/scaling_options.h"

#include "base/arguments.h"
#include "experiments/cells_option.h"
#include "experiments/usual_options.h"

#include <math.h>

enum {
    KEY_WEAK = 1000,
    KEY_SAME_BOX,
    KEY_STRONG,
    KEY_CELLS,
    KEY_STEPS,
    KEY_DECOMPOSITION,
    KEY_PRECISION,
    KEY_SHAPE
};

enum { LEAST_CELLS = 8, MOST_ALONG = 16384 /* of a config */, MOST_STEPS = 1000000 };
enum { USUAL_PARTICLES = 1 << 22, USUAL_CELLS = 128, USUAL_STEPS = 50, USUAL_REPEATS = 5 };

static const double usual_cell = 4 * M_PI / 32; /* of configs/landau_damping.yaml */

static const struct argp_option scaling_options[] = {
    {"weak", KEY_WEAK, NULL, 0,
     "N particles and NX x NY cells a rank: the box grows along x. So it is without an option", 0},
    {"same-box", KEY_SAME_BOX, NULL, 0, "N particles a rank, NX x NY cells in all", 0},
    {"strong", KEY_STRONG, NULL, 0, "N particles and NX x NY cells in all", 0},
    {"particles", 'N', "N", 0, "Particles (N), 4194304 without it", 0},
    {"cells", KEY_CELLS, "C", 0, "Cells: N for N x N, or NXxNY, each 8 or more; 128 without it", 0},
    {"steps", KEY_STEPS, "K", 0, "Steps in a timed block, 50 without it", 0},
    {"repeat", 'r', "R", 0, "Timed blocks, after a warm-up, and as many for the stages; 5 without it", 0},
    {"decomposition", KEY_DECOMPOSITION, "NAME", 0,
     "Of the field solve on several ranks: auto, replicated or slabs; auto without it", 0},
    {"precision", KEY_PRECISION, "NAME", 0, "single or double; single without it", 0},
    {"shape", KEY_SHAPE, "NAME", 0, "ngp, cic or tsc; cic without it", 0},
    {"device", 'd', "SPEC", 0,
     "cpu, gpu, auto, P:D, or part of a name; see radixpic devices. Ranks share what fits", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every stage of both runs as a row of FILE", 0},
    {0},
};

/* What the command line says, before the defaults. */
struct parsed {
    struct scaling_options *options;
    bool is_weak, is_same_box, is_strong;
};

const char *scaling_kind_name(enum scaling_kind kind)
{
    static const char *const names[] = {
        [SCALING_WEAK] = "weak", [SCALING_SAME_BOX] = "same box", [SCALING_STRONG] = "strong"};
    return names[kind];
}

static error_t parse_choice(int key, char *argument, struct argp_state *state,
                            struct scaling_options *options)
{
    static const char *const decompositions[] = {"auto", "replicated", "slabs", NULL};
    static const enum decomposition_kind kinds[] = {DECOMPOSITION_AUTO, DECOMPOSITION_REPLICATED,
                                                    DECOMPOSITION_SLABS};
    if (key == KEY_SHAPE)
        return arguments_word(state, "--shape", argument, usual_shapes, &options->setup.shape);
    if (key == KEY_PRECISION)
        return arguments_word(state, "--precision", argument, usual_precisions, &options->setup.precision);
    size_t which = 0;
    const error_t error = arguments_choice(state, "--decomposition", argument, decompositions, &which);
    options->decomposition = kinds[which];
    return error;
}

static error_t parse_size(int key, char *argument, struct argp_state *state, struct step_setup *setup)
{
    switch (key) {
    case 'N':
        return arguments_number(state, "--particles", argument, 1, CONFIG_MAX_PARTICLES, &setup->particles);
    case KEY_CELLS:
        return cells_option_parse(state, argument, LEAST_CELLS, setup->cells);
    case KEY_STEPS:
        return arguments_number32(state, "--steps", argument, 1, MOST_STEPS, &setup->steps);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsed *parsed = state->input;
    struct scaling_options *options = parsed->options;
    switch (key) {
    case KEY_WEAK:
        parsed->is_weak = true;
        return 0;
    case KEY_SAME_BOX:
        parsed->is_same_box = true;
        return 0;
    case KEY_STRONG:
        parsed->is_strong = true;
        return 0;
    case KEY_SHAPE:
    case KEY_PRECISION:
    case KEY_DECOMPOSITION:
        return parse_choice(key, argument, state, options);
    case 'N':
    case KEY_CELLS:
    case KEY_STEPS:
        return parse_size(key, argument, state, &options->setup);
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->setup.repeats);
    }
}

static const struct argp argp = {
    .options = scaling_options,
    .parser = parse,
    .doc =
        "Time whole simulation steps on one rank and on all ranks of mpirun: the plasma of radixpic bench "
        "step, nothing written to disk.\v"
        "Rank 0 runs alone first, while the others sleep. A step takes as long as on the slowest rank; the "
        "stages are timed in blocks of their own, and tell least, mean and most over the ranks. What a rank "
        "waits for others counts in the stage in which it waits. Particles, charge and drift of the energy "
        "are checked, with --strong also the energy of the field against the run on one rank: a wrong step "
        "ends the program with exit code 1. Ranks of one machine share its devices evenly; of a CPU give "
        "each rank its share of the cores, or the run on one rank has all of them "
        "(POCL_MAX_PTHREAD_COUNT).\n\n"
        "Examples:\n"
        "  radixpic bench scaling --particles 1048576\n"
        "  mpirun -n 4 radixpic bench scaling --device gpu --csv weak_4.csv\n"
        "  mpirun -n 2 radixpic bench scaling --strong --decomposition slabs\n"
        "  mpirun -n 2 radixpic bench scaling --same-box --cells 256x64\n",
};

/* What a config, and the ranks, need. */
static enum status check_sizes(const struct scaling_options *options, int ranks)
{
    const struct step_setup *setup = &options->setup;
    const uint64_t all = (uint64_t)ranks;
    const uint64_t along = options->kind == SCALING_WEAK ? setup->cells[0] * all : setup->cells[0];
    if (options->kind != SCALING_STRONG && setup->particles > CONFIG_MAX_SPECIES_PARTICLES / all)
        return status_fail(STATUS_USAGE, "--particles: %llu on each of %d ranks are more than %llu in all",
                           (unsigned long long)setup->particles, ranks,
                           (unsigned long long)CONFIG_MAX_SPECIES_PARTICLES);
    if (along < all)
        return status_fail(STATUS_USAGE, "--cells: %d ranks want a row of cells each, of %u along x", ranks,
                           setup->cells[0]);
    if (along > MOST_ALONG || along * setup->cells[1] > CONFIG_MAX_CELLS)
        return status_fail(STATUS_USAGE,
                           "--cells: %ux%u on each of %d ranks are %llux%u; there can be %d along x and %u "
                           "in all",
                           setup->cells[0], setup->cells[1], ranks, (unsigned long long)along,
                           setup->cells[1], MOST_ALONG, CONFIG_MAX_CELLS);
    return STATUS_OK;
}

static void fill_defaults(struct step_setup *setup)
{
    if (setup->particles == 0)
        setup->particles = USUAL_PARTICLES;
    if (setup->cells[0] == 0)
        setup->cells[0] = setup->cells[1] = USUAL_CELLS;
    if (setup->steps == 0)
        setup->steps = USUAL_STEPS;
    if (setup->repeats == 0)
        setup->repeats = USUAL_REPEATS;
}

enum status scaling_options_parse(int argc, char **argv, int ranks, struct scaling_options *options,
                                  bool *done)
{
    struct parsed parsed = {.options = options};
    *options = (struct scaling_options){
        .device = "auto",
        .decomposition = DECOMPOSITION_AUTO,
        .setup = {.shape = "cic", .precision = "single", .step_method = "auto"},
    };
    TRY(arguments_parse(&argp, argc, argv, &parsed, done));
    if (*done)
        return STATUS_OK;
    if (parsed.is_weak + parsed.is_same_box + parsed.is_strong > 1)
        return status_fail(STATUS_USAGE, "--weak, --same-box and --strong exclude one another");
    options->kind = parsed.is_strong ? SCALING_STRONG : parsed.is_same_box ? SCALING_SAME_BOX : SCALING_WEAK;
    fill_defaults(&options->setup);
    return check_sizes(options, ranks);
}

struct step_setup scaling_setup(const struct scaling_options *options, int ranks)
{
    struct step_setup setup = options->setup;
    if (options->kind != SCALING_STRONG)
        setup.particles *= (uint64_t)ranks;
    if (options->kind == SCALING_WEAK)
        setup.cells[0] *= (uint32_t)ranks;
    setup.length[0] = usual_cell * setup.cells[0];
    setup.length[1] = usual_cell * setup.cells[1];
    return setup;
}
