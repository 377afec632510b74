/* Deposit bench options: parsing. */
#include "experiments/deposit_bench_options.h"

#include "base/arguments.h"
#include "experiments/usual_options.h"

#include <string.h>

enum { KEY_PER_CELL = 1000, KEY_SHAPE, KEY_PRECISION, KEY_ATOMICS };
enum { USUAL_PARTICLES = 1 << 19, USUAL_REPEATS = 5, MOST_PER_CELL = 8192 };

static const struct argp_option deposit_options[] = {
    {"particles", 'N', "N", 0, "Particles (N), the same for every row, 524288 without it", 0},
    {"per-cell", KEY_PER_CELL, "P,P,...", 0,
     "Particles in a cell, on average: 1,2,4 and so on to 8192 without it, as far as N makes 2 x 2 cells of "
     "them. Grids are of powers of two, so a cell may hold up to twice as many",
     0},
    {"shape", KEY_SHAPE, "NAME,...", 0, "ngp, cic or tsc; cic without it", 0},
    {"precision", KEY_PRECISION, "NAME", 0, "single or double; single without it", 0},
    {"atomics", KEY_ATOMICS, "BITS", 0,
     "How 64 bits are added: 64 (at once), 32 (by two words and a carry) or auto, 64 where the device can, "
     "as "
     "without it",
     0},
    {"repeat", 'r', "K", 0, "Timed deposits of each kind, after two to warm up; 5 without it", 0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every time as a row of FILE", 0},
    {0},
};

bool deposit_bench_cells(uint32_t particles, uint32_t per_cell, uint32_t cells[2])
{
    const uint64_t most = particles / per_cell;
    uint32_t bits = 0;
    while (most >> (bits + 1) != 0)
        bits++;
    cells[0] = UINT32_C(1) << (bits + 1) / 2;
    cells[1] = UINT32_C(1) << bits / 2;
    return bits >= 2 && cells[0] <= CONFIG_MAX_CELLS / cells[1];
}

static error_t parse_per_cell(struct argp_state *state, const char *text,
                              struct deposit_bench_options *options)
{
    return arguments_numbers32(state, "--per-cell", text, 1, UINT32_C(1) << 29, DEPOSIT_BENCH_MAX_POINTS,
                               options->per_cell, &options->point_count);
}

static error_t parse_shapes(struct argp_state *state, const char *text, struct deposit_bench_options *options)
{
    error_t error = 0;
    for (const char *next = text; error == 0 && next;) {
        char word[ARGUMENTS_WORD];
        size_t shape = 0;
        next = arguments_next_word(next, word);
        error = arguments_choice(state, "--shape", word, usual_shapes, &shape);
        options->shapes[shape] = true;
    }
    return error;
}

static error_t parse_precision(struct argp_state *state, const char *text, enum precision *precision)
{
    size_t which = 0;
    const error_t error = arguments_choice(state, "--precision", text, usual_precisions, &which);
    *precision = which == 0 ? PRECISION_SINGLE : PRECISION_DOUBLE;
    return error;
}

static error_t parse_way(struct argp_state *state, const char *text, enum atomic_way *way)
{
    static const char *const words[] = {"auto", "64", "32", NULL};
    static const enum atomic_way ways[] = {ATOMIC_AUTO, ATOMIC_64, ATOMIC_32_AND_CARRY};
    size_t which = 0;
    const error_t error = arguments_choice(state, "--atomics", text, words, &which);
    *way = ways[which];
    return error;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct deposit_bench_options *options = state->input;
    switch (key) {
    case 'N':
        return arguments_number32(state, "--particles", argument, 4, UINT32_C(1) << 31, &options->particles);
    case KEY_PER_CELL:
        return parse_per_cell(state, argument, options);
    case KEY_SHAPE:
        return parse_shapes(state, argument, options);
    case KEY_PRECISION:
        return parse_precision(state, argument, &options->precision);
    case KEY_ATOMICS:
        return parse_way(state, argument, &options->way);
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->repeats);
    }
}

static const struct argp argp = {
    .options = deposit_options,
    .parser = parse,
    .doc = "Deposit particles cell by cell from a sorted list, and by atomic additions.\v"
           "So many particles are put into cells at random, on grids of more and more particles in a cell. "
           "\"sorted\" deposits the list in order, as deposit.method: sorted does; \"sort+\" sorts the "
           "shuffled list before, keys and particles. \"atomic\" adds each particle's weights to its nodes, "
           "as deposit.method: atomic does, in lists in order and shuffled. Every density is compared with "
           "the host's in double precision, and those of both orders bit by bit. Without options it takes "
           "about 10 s on two CPU cores.\n\n"
           "Examples:\n"
           "  radixpic bench deposit\n"
           "  radixpic bench deposit --device gpu --particles 134217728 --repeat 20 --csv deposit.csv\n"
           "  radixpic bench deposit --shape ngp,cic,tsc --per-cell 8,64,512\n"
           "  radixpic bench deposit --atomics 32 --precision double\n",
};

/* The n-th point of --per-cell must have a grid, and one of its own. */
static enum status check_point(const char *name, const struct deposit_bench_options *options, uint32_t n)
{
    const uint32_t particles = options->particles;
    uint32_t cells[2], others[2] = {0, 0};
    if (!deposit_bench_cells(particles, options->per_cell[n], cells))
        return status_fail(STATUS_USAGE,
                           "%s: --per-cell: %u of %u particles in a cell make no grid of 2 x 2 to %u cells",
                           name, options->per_cell[n], particles, CONFIG_MAX_CELLS);
    for (uint32_t before = 0; before < n; before++)
        if (deposit_bench_cells(particles, options->per_cell[before], others) && others[0] == cells[0] &&
            others[1] == cells[1])
            return status_fail(STATUS_USAGE,
                               "%s: --per-cell: %u and %u make the same grid of %ux%u cells, with %g "
                               "particles in each; leave one out",
                               name, options->per_cell[before], options->per_cell[n], cells[0], cells[1],
                               (double)particles / cells[0] / cells[1]);
    return STATUS_OK;
}

/* Without --per-cell the powers of two that make a grid; else all that are asked for, or a refusal. */
static enum status settle_points(const char *name, struct deposit_bench_options *options)
{
    uint32_t cells[2];
    for (uint32_t n = 0; n < options->point_count; n++)
        TRY(check_point(name, options, n));
    if (options->point_count > 0)
        return STATUS_OK;
    for (uint32_t per_cell = 1; per_cell <= MOST_PER_CELL; per_cell *= 2)
        if (deposit_bench_cells(options->particles, per_cell, cells))
            options->per_cell[options->point_count++] = per_cell;
    return STATUS_OK;
}

enum status deposit_bench_options_parse(int argc, char **argv, struct deposit_bench_options *options,
                                        bool *done)
{
    *options = (struct deposit_bench_options){
        .device = "auto", .particles = USUAL_PARTICLES, .way = ATOMIC_AUTO, .repeats = USUAL_REPEATS};
    TRY(arguments_parse(&argp, argc, argv, options, done));
    if (!options->shapes[SHAPE_NGP] && !options->shapes[SHAPE_TSC])
        options->shapes[SHAPE_CIC] = true;
    return *done ? STATUS_OK : settle_points(argv[0], options);
}
