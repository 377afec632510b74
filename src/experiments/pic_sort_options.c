/* PIC sort options: parsing. */
#include "experiments/pic_sort_options.h"

#include "base/arguments.h"
#include "experiments/usual_options.h"
#include "sort/sorter.h"

enum { KEY_CELLS = 1000, KEY_KEY_BITS, KEY_METHOD, KEY_NO_HOST, KEY_WRITE_KEYS };

static const struct argp_option pic_sort_options[] = {
    {"particles", 'N', "N", 0, "Particles (N), 8388608 without it", 0},
    {"cells", KEY_CELLS, "C", 0, "Cells along each side of the unit square, 32 without it", 0},
    {"key-bits", KEY_KEY_BITS, "B", 0,
     "Bits of the key (b); may be repeated, one sort each. Without it the short key, ceil(log2 C^2) bits, "
     "and 30",
     0},
    {"radix-bits", KEY_RADIX_BITS, "R", 0, "Bits of a digit (r), 5 without it; the passes are p = ceil(b/r)",
     0},
    {"items", KEY_ITEMS, "I", 0, "Items in a group (I); chosen from the device without it", 0},
    {"groups", KEY_GROUPS, "G", 0, "Groups (G); chosen from the device without it", 0},
    {"splits", KEY_SPLITS, "S", 0, "Parts of the histogram scanned apart (s); chosen without it", 0},
    {"transpose", KEY_TRANSPOSE, "on|off", 0, "Transpose the list before and after; on for GPUs without it",
     0},
    {"table", KEY_TABLE, "auto|columns|rows", 0,
     "How the histogram lies: a column an item or a row; may be repeated, one sort of every key each. auto, "
     "by the device, without it",
     0},
    {"method", KEY_METHOD, "NAME", 0,
     "paper, tiled (for GPUs) or chunked (for CPUs); paper without it. --items, --groups, --splits, "
     "--transpose "
     "and --table are of paper alone",
     0},
    {"repeat", 'r', "K", 0, "Timed sorts of each kind, after two to warm up; 10 without it", 0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every phase as a row of FILE", 0},
    {"no-host", KEY_NO_HOST, NULL, 0, "Leave out the sorts on the host, which take long for many keys", 0},
    {"write-keys", KEY_WRITE_KEYS, "FILE", 0,
     "Write the keys that are sorted, the cells of the moved particles, to FILE: raw 32-bit numbers, for "
     "another "
     "program to sort",
     0},
    {0},
};

/* What argv says, before it is put together. */
struct parsed {
    struct pic_sort_options *options;
    bool has_method;
};

static error_t parse_method(struct argp_state *state, const char *text, struct parsed *parsed)
{
    static const char *const words[] = {"paper", "tiled", "chunked", NULL};
    static const enum sort_method methods[] = {SORT_METHOD_PAPER, SORT_METHOD_TILED, SORT_METHOD_CHUNKED};
    size_t which = 0;
    if (parsed->has_method)
        return arguments_refuse(state, "--method is given twice; a run sorts by one");
    const error_t error = arguments_choice(state, "--method", text, words, &which);
    parsed->options->method = methods[which];
    parsed->has_method = true;
    return error;
}

static error_t parse_key_bits(struct argp_state *state, const char *text, struct pic_sort_options *options)
{
    if (options->case_count == PIC_SORT_MAX_CASES)
        return arguments_refuse(state, "more than %d --key-bits", PIC_SORT_MAX_CASES);
    const error_t error =
        arguments_number32(state, "--key-bits", text, 1, 32, &options->key_bits[options->case_count++]);
    return error ? error : arguments_distinct32(state, "--key-bits", options->key_bits, options->case_count);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsed *parsed = state->input;
    struct pic_sort_options *options = parsed->options;
    switch (key) {
    case 'N':
        return arguments_number32(state, "--particles", argument, 1, UINT32_C(1) << 31, &options->particles);
    case KEY_CELLS:
        return arguments_number32(state, "--cells", argument, 2, 16384, &options->cells);
    case KEY_KEY_BITS:
        return parse_key_bits(state, argument, options);
    case KEY_RADIX_BITS:
    case KEY_ITEMS:
    case KEY_GROUPS:
    case KEY_SPLITS:
    case KEY_TRANSPOSE:
        return paper_option_parse(key, argument, state, &options->paper);
    case KEY_TABLE:
        if (options->table_count == PIC_SORT_MAX_TABLES)
            return arguments_refuse(state, "more than %d --table", PIC_SORT_MAX_TABLES);
        return paper_table_parse(state, argument, &options->tables[options->table_count++]);
    case KEY_METHOD:
        return parse_method(state, argument, parsed);
    case KEY_NO_HOST:
        options->device_alone = true;
        return 0;
    case KEY_WRITE_KEYS:
        options->keys_path = argument;
        return 0;
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->repeats);
    }
}

static const struct argp argp = {
    .options = pic_sort_options,
    .parser = parse,
    .doc = "Sort particles that have moved by up to one cell, by a short key and by a long one.\v"
           "The experiment of section 4.2 and Table 7 of P. Helluy, hal-00596730: positions and velocities "
           "from four van der "
           "Corput sequences in the unit square, a first sort, a move by u/C and v/C modulo 1, then the sort "
           "that is timed, "
           "with its permutation. Beside it, on the host, the C library's qsort and a serial counting sort "
           "of the same "
           "keys.\n\n"
           "Examples:\n"
           "  radixpic bench pic-sort\n"
           "  radixpic bench pic-sort --particles 1048576 --radix-bits 10 --device cpu\n"
           "  radixpic bench pic-sort --key-bits 10 --key-bits 20 --csv pic_sort.csv\n"
           "  radixpic bench pic-sort --table columns --table rows\n",
};

/* Refuses what would have no effect. */
static enum status check_together(const char *name, const struct pic_sort_options *options)
{
    const char *given = options->table_count > 0 ? "--table" : paper_option_given(&options->paper);
    if (options->method != SORT_METHOD_PAPER && given)
        return status_fail(STATUS_USAGE, "%s: %s is of the method paper alone, not of %s", name, given,
                           sort_method_name(options->method));
    if (options->table_count == PIC_SORT_MAX_TABLES && options->tables[0] == options->tables[1])
        return status_fail(STATUS_USAGE, "%s: --table gives one order twice", name);
    return STATUS_OK;
}

enum status pic_sort_options_parse(int argc, char **argv, struct pic_sort_options *options, bool *done)
{
    *options = (struct pic_sort_options){.device = "auto",
                                         .particles = 1u << 23,
                                         .cells = 32,
                                         .repeats = 10,
                                         .paper.radix_bits = 5,
                                         .method = SORT_METHOD_PAPER};
    struct parsed parsed = {.options = options};
    TRY(arguments_parse(&argp, argc, argv, &parsed, done));
    return *done ? STATUS_OK : check_together(argv[0], options);
}
