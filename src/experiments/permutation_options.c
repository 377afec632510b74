/* Permutation options: parsing, and which tables come of it. */
#include "experiments/permutation_options.h"

#include "base/arguments.h"
#include "experiments/usual_options.h"
#include "ndpa/ndpa_shape.h"

#include <string.h>

enum {
    KEY_TABLE = 1000,
    KEY_VOLUME,
    KEY_BLOCK,
    KEY_AXES,
    KEY_PYTHON,
    LARGE_VOLUME = 1 << 24, /* elements: not without --table */
    MOST_SIDE = 1 << 20
};

static const struct argp_option permutation_argp_options[] = {
    {"table", KEY_TABLE, "1..5", 0,
     "A table of the paper with all its volumes; may be repeated. Without it all tables, and of volumes "
     "those "
     "up to 16777216 elements: Table 3 without its 112021056",
     0},
    {"volume", KEY_VOLUME, "N,N,...", 0, "Instead of tables a volume of these sides, the last axis fastest",
     0},
    {"block", KEY_BLOCK, "P", 0,
     "Side of a cell; the paper's block size is P^N. May be repeated; without it those of the tables, of "
     "--volume 2, 3 and 4 as far as they divide the sides and fit local memory",
     0},
    {"axes", KEY_AXES, "K,K,...", 0,
     "Permutation of the axes 0 to N-1 as in numpy.transpose; reversed without it, as in the paper", 0},
    {"repeat", 'r', "K", 0,
     "Timed permutations of each kind, after two to warm up; 10 without it, 3 of large volumes", 0},
    {"python", KEY_PYTHON, "PROGRAM", 0,
     "Python that has numpy, or none to leave numpy out; without it the first of python3 and "
     "/usr/bin/python3 that has",
     0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every kernel's times as a row of FILE", 0},
    {0},
};

/* What was said. */
struct said {
    struct permutation_options *options;
    bool tables[PERMUTATION_TABLES], any_table;
    uint32_t sides[PERMUTATION_MAX_DIMENSIONS], side_count;
    uint32_t cell_sides[PERMUTATION_MAX_CELLS], cell_count;
};

/* A number for each axis. */
static error_t parse_list(const struct argp_state *state, const char *option, const char *text, uint32_t low,
                          uint32_t high, uint32_t *list, uint32_t *count)
{
    const error_t error =
        arguments_numbers32(state, option, text, low, high, PERMUTATION_MAX_DIMENSIONS, list, count);
    if (error == 0 && *count < 2)
        return arguments_refuse(state, "%s: '%s' is one number; a volume has 2 to %d dimensions", option,
                                text, PERMUTATION_MAX_DIMENSIONS);
    return error;
}

static error_t parse_table(const struct argp_state *state, const char *text, struct said *said)
{
    uint32_t number = 0;
    const error_t error = arguments_number32(state, "--table", text, 1, PERMUTATION_TABLES, &number);
    if (error == 0)
        said->tables[number - 1] = said->any_table = true;
    return error;
}

static error_t parse_block(const struct argp_state *state, const char *text, struct said *said)
{
    if (said->cell_count == PERMUTATION_MAX_CELLS)
        return arguments_refuse(state, "--block: given more than %d times", PERMUTATION_MAX_CELLS);
    const error_t error =
        arguments_number32(state, "--block", text, 2, MOST_SIDE, &said->cell_sides[said->cell_count++]);
    return error ? error : arguments_distinct32(state, "--block", said->cell_sides, said->cell_count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct said *said = state->input;
    struct permutation_options *options = said->options;
    switch (key) {
    case KEY_TABLE:
        return parse_table(state, argument, said);
    case KEY_VOLUME:
        return parse_list(state, "--volume", argument, 1, MOST_SIDE, said->sides, &said->side_count);
    case KEY_BLOCK:
        return parse_block(state, argument, said);
    case KEY_AXES:
        return parse_list(state, "--axes", argument, 0, PERMUTATION_MAX_DIMENSIONS - 1, options->axes,
                          &options->axes_count);
    case KEY_PYTHON:
        options->without_numpy = strcmp(argument, "none") == 0;
        options->python = argument;
        return 0;
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->repeats);
    }
}

static const struct argp argp = {
    .options = permutation_argp_options,
    .parser = parse,
    .doc =
        "Permute the axes of volumes of 2 to 8 dimensions in place.\v"
        "Tables 1 to 5 of M. E. Ali and others, \"NDPA: A generalized efficient parallel in-place "
        "N-Dimensional Permutation Algorithm\", 2015: speed-up of the kernels CB (cell-based), BB "
        "(bar-based) and RLBB (rote learning bar-based: with look-up tables) over the same algorithm on "
        "one thread of the host, and over numpy's transpose into a new array, which stands for the paper's "
        "Matlab. Times are the host's from the launch until the device has finished, and those of the "
        "device's clock beside them; the volume stays on the device. \"threads\" is a cell for each "
        "work-item, which is how the paper maps them. Without options it takes about 20 s on two CPU cores, "
        "Table 3 alone a minute or more.\n\n"
        "Examples:\n"
        "  radixpic bench permutation\n"
        "  radixpic bench permutation --table 3 --device gpu\n"
        "  radixpic bench permutation --volume 64,96,128 --block 4 --axes 1,2,0\n",
};

/* ---- which tables ---- */

/* Without --table, large volumes are left out. */
static void leave_out_large(struct permutation_table *table)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < table->volume_count; n++)
        if (permutation_elements(table->dimensions, table->sides[n]) <= LARGE_VOLUME)
            memmove(table->sides[kept++], table->sides[n], sizeof table->sides[n]);
    table->volume_count = kept;
}

static bool divides_all(uint32_t p, uint32_t dimensions, const uint32_t *sides)
{
    for (uint32_t k = 0; k < dimensions; k++)
        if (sides[k] % p != 0)
            return false;
    return true;
}

static void table_of_volume(const struct said *said, struct permutation_table *table)
{
    *table = (struct permutation_table){.dimensions = said->side_count, .volume_count = 1};
    memcpy(table->sides[0], said->sides, sizeof said->sides);
    for (uint32_t p = 2; p <= 4; p++)
        if (divides_all(p, said->side_count, said->sides))
            table->cell_sides[table->cell_count++] = p;
}

/* The sentence of what just failed, with the option it comes from. */
static enum status blame(const char *name, const char *option)
{
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s", status_message());
    return status_fail(STATUS_USAGE, "%s: %s: %s", name, option, sentence);
}

static enum status check_axes(const char *name, const struct permutation_options *options,
                              const struct permutation_table *table)
{
    struct ndpa_shape any = {.dimensions = table->dimensions, .cell_side = 2, .element_bytes = 4};
    if (options->axes_count == 0)
        return STATUS_OK;
    if (options->axes_count != table->dimensions)
        return status_fail(STATUS_USAGE, "%s: --axes: %u axes for a volume of %u dimensions", name,
                           options->axes_count, table->dimensions);
    for (uint32_t k = 0; k < table->dimensions; k++)
        any.sides[k] = any.cell_side;
    return ndpa_check(&any, options->axes) == STATUS_OK ? STATUS_OK : blame(name, "--axes");
}

/* Cells must divide every volume of the table. */
static enum status check_cells(const char *name, const struct permutation_table *table)
{
    static const uint32_t any_axes[PERMUTATION_MAX_DIMENSIONS] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (uint32_t cell = 0; cell < table->cell_count; cell++)
        for (uint32_t n = 0; n < table->volume_count; n++) {
            struct ndpa_shape shape = {.dimensions = table->dimensions,
                                       .cell_side = table->cell_sides[cell],
                                       .element_bytes = sizeof(uint32_t)};
            memcpy(shape.sides, table->sides[n], sizeof shape.sides);
            if (ndpa_check(&shape, any_axes) != STATUS_OK)
                return blame(name, ndpa_elements(&shape) > UINT32_MAX ? "--volume" : "--block");
        }
    return STATUS_OK;
}

/* With --axes alone, the tables of as many dimensions. */
static enum status choose_tables(const char *name, const struct said *said,
                                 struct permutation_options *options)
{
    if (said->side_count > 0 && said->any_table)
        return status_fail(STATUS_USAGE, "%s: --volume and --table exclude each other", name);
    if (said->side_count > 0)
        table_of_volume(said, &options->tables[options->table_count++]);
    for (uint32_t number = 1; number <= PERMUTATION_TABLES && said->side_count == 0; number++) {
        const struct permutation_table *table = permutation_table(number);
        const bool fits = options->axes_count == 0 || options->axes_count == table->dimensions;
        if (said->any_table ? !said->tables[number - 1] : !fits)
            continue;
        options->tables[options->table_count] = *table;
        if (!said->any_table)
            leave_out_large(&options->tables[options->table_count]);
        options->table_count++;
    }
    if (options->table_count == 0)
        return status_fail(STATUS_USAGE, "%s: --axes: no table is of %u dimensions; say --volume", name,
                           options->axes_count);
    return STATUS_OK;
}

static enum status check_tables(const char *name, const struct said *said,
                                struct permutation_options *options)
{
    for (uint32_t n = 0; n < options->table_count; n++) {
        struct permutation_table *table = &options->tables[n];
        if (said->cell_count > 0) {
            memcpy(table->cell_sides, said->cell_sides, sizeof table->cell_sides);
            table->cell_count = said->cell_count;
            options->cells_are_given = true;
        }
        if (table->cell_count == 0)
            return status_fail(STATUS_USAGE,
                               "%s: --volume: neither 2 nor 3 nor 4 divides all sides; say --block", name);
        TRY(check_axes(name, options, table));
        TRY(check_cells(name, table));
    }
    return STATUS_OK;
}

enum status permutation_options_parse(int argc, char **argv, struct permutation_options *options, bool *done)
{
    struct said said = {.options = options};
    *options = (struct permutation_options){.device = "auto"};
    TRY(arguments_parse(&argp, argc, argv, &said, done));
    if (*done)
        return STATUS_OK;
    TRY(choose_tables(argv[0], &said, options));
    return check_tables(argv[0], &said, options);
}
