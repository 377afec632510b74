/* Layout options: parsing. */
#include "experiments/layout_options.h"

#include "base/arguments.h"
#include "experiments/usual_options.h"

#include <string.h>

enum {
    KEY_TABLE = 1000,
    KEY_OPERATION,
    KEY_INPUT,
    KEY_TYPE,
    KEY_ARRAYS,
    KEY_LENGTH,
    PAPERS_LENGTH = 1024,
    MOST_ARRAYS = 1 << 24,
    SHORT_SWEEP = 2048,
    SHORT_BUBBLE_SWEEP = 256 /* its work grows with the square of the length */
};

static const struct argp_option layout_options[] = {
    {"table", KEY_TABLE, "T,T,...", 0,
     "The paper's tables to print: I to XVII, 1 to 17, or all; I,II,III,IV without it", 0},
    {"operation", KEY_OPERATION, "NAME", 0,
     "Of these tables only those of prefix-sum, bubble-sort or bitonic-sort; may be repeated", 0},
    {"input", KEY_INPUT, "s|d", 0,
     "Of those of bubble-sort only those of this input: s, all arrays descending, or d, those of odd number "
     "ascending; may be repeated",
     0},
    {"type", KEY_TYPE, "NAME", 0,
     "int, float or double, in the tables that are not of all three (V to XII are); int without it", 0},
    {"arrays", KEY_ARRAYS, "L,L,...", 0,
     "Numbers of arrays (L), multiples of 64, or paper for the paper's 64,128,...,65536; 64 to 2048, for "
     "bubble-sort 64 to 256, without it",
     0},
    {"length", KEY_LENGTH, "N", 0,
     "Elements of an array (N); for bitonic-sort a power of two; 1024, as in the paper, without it", 0},
    {"repeat", 'r', "K", 0,
     "Timed launches of each kind, after a warm-up, on the host at most 3; without it as many as half a "
     "second allows, from 1 to 10",
     0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every time as a row of FILE", 0},
    {0},
};

static const char *const input_names[] = {"s", "d", NULL};

/* What argv says, before it is put together. */
struct parsed {
    struct layout_options *options;
    bool operations[LAYOUT_OPERATIONS], any_operation;
    bool inputs[2], any_input, any_type;
};

static error_t add_table(const struct argp_state *state, const char *word, struct layout_options *options)
{
    const size_t table = layout_table_find(word);
    const bool all = strcmp(word, "all") == 0;
    if (table == LAYOUT_TABLES && !all)
        return arguments_refuse(state, "--table: '%s' is none of I to XVII, 1 to %d, all", word,
                                LAYOUT_TABLES);
    for (size_t n = 0; n < LAYOUT_TABLES; n++)
        options->tables[n] = options->tables[n] || all || n == table;
    return 0;
}

static error_t parse_tables(const struct argp_state *state, const char *text, struct layout_options *options)
{
    error_t error = 0;
    for (const char *next = text; error == 0 && next;) {
        char word[ARGUMENTS_WORD];
        next = arguments_next_word(next, word);
        error = add_table(state, word, options);
    }
    return error;
}

/* LAYOUT_GROUP, twice that and so on up to `most`; returns how many. */
static uint32_t doubling(uint32_t most, uint32_t arrays[LAYOUT_MAX_SIZES])
{
    uint32_t count = 0;
    for (uint32_t number = LAYOUT_GROUP; number <= most; number *= 2)
        arrays[count++] = number;
    return count;
}

static error_t parse_arrays(struct argp_state *state, const char *text, struct layout_options *options)
{
    if (strcmp(text, "paper") == 0) {
        options->array_count = doubling(65536, options->arrays);
        return 0;
    }
    const error_t error = arguments_numbers32(state, "--arrays", text, LAYOUT_GROUP, MOST_ARRAYS,
                                              LAYOUT_MAX_SIZES, options->arrays, &options->array_count);
    for (uint32_t n = 0; error == 0 && n < options->array_count; n++)
        if (options->arrays[n] % LAYOUT_GROUP != 0)
            return arguments_refuse(state, "--arrays: %u is not a multiple of %d", options->arrays[n],
                                    LAYOUT_GROUP);
    return error ? error : arguments_distinct32(state, "--arrays", options->arrays, options->array_count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsed *parsed = state->input;
    struct layout_options *options = parsed->options;
    size_t which = 0;
    error_t error = 0;
    switch (key) {
    case KEY_TABLE:
        return parse_tables(state, argument, options);
    case KEY_OPERATION:
        error = arguments_choice(state, "--operation", argument, layout_operation_names, &which);
        parsed->operations[which] = parsed->any_operation = true;
        return error;
    case KEY_INPUT:
        error = arguments_choice(state, "--input", argument, input_names, &which);
        parsed->inputs[which] = parsed->any_input = true;
        return error;
    case KEY_TYPE:
        error = arguments_choice(state, "--type", argument, layout_type_names, &which);
        options->type = (enum layout_type)which;
        parsed->any_type = true;
        return error;
    case KEY_ARRAYS:
        return parse_arrays(state, argument, options);
    case KEY_LENGTH:
        return arguments_number32(state, "--length", argument, 1, LAYOUT_MOST_LENGTH, &options->length);
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->repeats);
    }
}

static const struct argp argp = {
    .options = layout_options,
    .parser = parse,
    .doc = "Compare arrays that lie row-wise with arrays that lie column-wise.\v"
           "The experiment of D. Takafuji, Y. Ito and K. Nakano, \"Comparison of GPU Implementations of "
           "Row-wise and Column-wise Fundamental Algorithms\": L arrays of N elements in global memory, one "
           "work-item per array, so that neighbouring items read neighbouring elements only where the "
           "arrays lie column-wise. Prefix sums of ones; bubble sort of descending arrays (s) and of arrays "
           "half of which are in order (d); bitonic sort of random numbers. Every result of every launch is "
           "compared with the host's, bit by bit in each type: the sums are exact, and sorting only moves "
           "values. Without options it takes about 20 s on two CPU cores.\n\n"
           "Examples:\n"
           "  radixpic bench layout\n"
           "  radixpic bench layout --table all --device gpu --arrays paper --csv layout.csv\n"
           "  radixpic bench layout --operation bubble-sort --input s --length 256 --arrays 64,1024\n"
           "  radixpic bench layout --table XIII,XVI --type double\n",
};

uint32_t layout_options_arrays(const struct layout_options *options, enum layout_operation operation,
                               uint32_t arrays[LAYOUT_MAX_SIZES])
{
    if (options->array_count == 0)
        return doubling(operation == LAYOUT_BUBBLE_SORT ? SHORT_BUBBLE_SWEEP : SHORT_SWEEP, arrays);
    memcpy(arrays, options->arrays, options->array_count * sizeof *arrays);
    return options->array_count;
}

/* Takes away the tables that --operation and --input leave out. What then has no effect is refused. */
static enum status choose_tables(const char *name, const struct parsed *parsed)
{
    struct layout_options *options = parsed->options;
    bool any = false, of_bubbles = false, of_a_type = false;
    for (size_t n = 0; n < LAYOUT_TABLES; n++)
        any = any || options->tables[n];
    for (size_t n = 0; n < 4 && !any; n++)
        options->tables[n] = true;
    any = false;
    for (size_t n = 0; n < LAYOUT_TABLES; n++) {
        const struct layout_table *table = &layout_tables[n];
        const bool by_turns = table->input == LAYOUT_BY_TURNS;
        if (parsed->any_operation && !parsed->operations[table->operation])
            options->tables[n] = false;
        of_bubbles = of_bubbles || (options->tables[n] && table->operation == LAYOUT_BUBBLE_SORT);
        if (parsed->any_input && table->operation == LAYOUT_BUBBLE_SORT && !parsed->inputs[by_turns])
            options->tables[n] = false;
        any = any || options->tables[n];
        of_a_type = of_a_type || (options->tables[n] && table->kind != LAYOUT_BY_TYPE);
    }
    if (any && parsed->any_input && !of_bubbles)
        return status_fail(STATUS_USAGE,
                           "%s: --input is of bubble-sort alone, and no table of it is asked for", name);
    if (any && parsed->any_type && !of_a_type)
        return status_fail(STATUS_USAGE, "%s: --type: the tables that are asked for are of all three types",
                           name);
    return any ? STATUS_OK
               : status_fail(STATUS_USAGE,
                             "%s: no table is left: those of --table are none of --operation and --input",
                             name);
}

static enum status check_table(const char *name, const struct layout_options *options,
                               const struct layout_table *table)
{
    const bool is_power = (options->length & (options->length - 1)) == 0;
    uint32_t arrays[LAYOUT_MAX_SIZES];
    const uint32_t count = layout_options_arrays(options, table->operation, arrays);
    if (table->operation == LAYOUT_BITONIC_SORT && !is_power)
        return status_fail(STATUS_USAGE,
                           "%s: --length: bitonic-sort (Table %s) needs a power of two, not %u; any length "
                           "suits --operation prefix-sum and bubble-sort",
                           name, table->number, options->length);
    for (uint32_t n = 0; n < count; n++)
        if ((uint64_t)arrays[n] * options->length > UINT32_MAX)
            return status_fail(STATUS_USAGE,
                               "%s: --arrays: %u arrays of %u elements (--length) are more than 2^32 - 1 in "
                               "all",
                               name, arrays[n], options->length);
    return STATUS_OK;
}

enum status layout_options_parse(int argc, char **argv, struct layout_options *options, bool *done)
{
    *options = (struct layout_options){.device = "auto", .length = PAPERS_LENGTH};
    struct parsed parsed = {.options = options};
    TRY(arguments_parse(&argp, argc, argv, &parsed, done));
    if (*done)
        return STATUS_OK;
    TRY(choose_tables(argv[0], &parsed));
    for (size_t n = 0; n < LAYOUT_TABLES; n++)
        if (options->tables[n])
            TRY(check_table(argv[0], options, &layout_tables[n]));
    return STATUS_OK;
}
