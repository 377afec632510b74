/* Random lists options: parsing. */
#include "experiments/random_lists_options.h"

#include "base/arguments.h"
#include "experiments/usual_options.h"

#include <string.h>

enum { KEY_SIZES = 1000, KEY_KEY_BITS, KEY_METHOD };

static const struct argp_option random_options[] = {
    {"sizes", KEY_SIZES, "N,N,...", 0, "Lengths of the lists (N), 1048576,8388608,33554432 without it", 0},
    {"key-bits", KEY_KEY_BITS, "B", 0, "Bits of a key (b), at most 30; 30 without it", 0},
    {"method", KEY_METHOD, "NAME", 0,
     "paper, chunked (for CPUs) or tiled (for GPUs, up to 24 bits); may be repeated; all without it", 0},
    {"radix-bits", KEY_RADIX_BITS, "R", 0,
     "Bits of a digit (r) of paper; as in the paper's Table 3 6 for CPUs and 5 for GPUs without it", 0},
    {"items", KEY_ITEMS, "I", 0, "Items in a group (I) of paper; chosen from the device without it", 0},
    {"groups", KEY_GROUPS, "G", 0, "Groups (G) of paper; chosen from the device without it", 0},
    {"splits", KEY_SPLITS, "S", 0,
     "Parts of the histogram of paper that are scanned apart (s); chosen without it", 0},
    {"transpose", KEY_TRANSPOSE, "on|off", 0,
     "Whether paper transposes the list before and after; on for GPUs without it", 0},
    {"table", KEY_TABLE, "auto|columns|rows", 0,
     "How the histogram of paper lies: a column an item or a row; auto, by the device, without it", 0},
    {"repeat", 'r', "K", 0,
     "Timed sorts of each kind, after two to warm up; 10 without it, on CPUs 3 of long lists", 0},
    {"device", 'd', "SPEC", 0, "cpu, gpu, auto, P:D, or part of a name; see radixpic devices", 0},
    {"csv", KEY_CSV, "FILE", 0, "Write every phase as a row of FILE", 0},
    {0},
};

static const char *const method_names[RANDOM_METHODS + 1] = {
    [RANDOM_PAPER] = "paper", [RANDOM_CHUNKED] = "chunked", [RANDOM_TILED] = "tiled"};

const char *random_method_name(enum random_method method)
{
    return method_names[method];
}

static error_t parse_sizes(struct argp_state *state, const char *text, struct random_lists_options *options)
{
    const error_t error = arguments_numbers32(state, "--sizes", text, 1, UINT32_C(1) << 31,
                                              RANDOM_LISTS_MAX_SIZES, options->sizes, &options->size_count);
    return error ? error : arguments_distinct32(state, "--sizes", options->sizes, options->size_count);
}

static error_t parse_method(struct argp_state *state, const char *text, struct random_lists_options *options)
{
    size_t method = 0;
    const error_t error = arguments_choice(state, "--method", text, method_names, &method);
    if (error == 0)
        options->methods[method] = true;
    return error;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct random_lists_options *options = state->input;
    switch (key) {
    case KEY_SIZES:
        return parse_sizes(state, argument, options);
    case KEY_KEY_BITS:
        return arguments_number32(state, "--key-bits", argument, 1, RANDOM_LISTS_KEY_BITS,
                                  &options->key_bits);
    case KEY_METHOD:
        return parse_method(state, argument, options);
    case KEY_RADIX_BITS:
    case KEY_ITEMS:
    case KEY_GROUPS:
    case KEY_SPLITS:
    case KEY_TRANSPOSE:
        return paper_option_parse(key, argument, state, &options->paper);
    case KEY_TABLE:
        if (options->has_table)
            return arguments_refuse(state, "--table is given twice; a run sorts by one");
        options->has_table = true;
        return paper_table_parse(state, argument, &options->table);
    default:
        return usual_option_parse(key, argument, state, &options->device, &options->csv_path,
                                  &options->repeats);
    }
}

static const struct argp argp = {
    .options = random_options,
    .parser = parse,
    .doc = "Sort lists of random keys.\v"
           "The experiment of section 4.1 and Tables 4 to 6 of P. Helluy, hal-00596730: keys from the C "
           "library's "
           "rand(), sorted by the method of the paper, which returns the sorted list alone, and by the "
           "others of "
           "this program, which always make the permutation too. \"Speedup\" is over the C library's qsort "
           "of the "
           "same list on the host, one thread, timed in the same run; the paper's was over an unoptimised "
           "sort of "
           "the C++ library.\n\n"
           "Examples:\n"
           "  radixpic bench random-lists\n"
           "  radixpic bench random-lists --sizes 1048576 --method paper --device cpu\n"
           "  radixpic bench random-lists --key-bits 24 --csv random_lists.csv\n",
};

enum status random_lists_options_parse(int argc, char **argv, struct random_lists_options *options,
                                       bool *done)
{
    *options = (struct random_lists_options){.device = "auto",
                                             .sizes = {1u << 20, 1u << 23, 1u << 25},
                                             .size_count = 3,
                                             .key_bits = RANDOM_LISTS_KEY_BITS};
    TRY(arguments_parse(&argp, argc, argv, options, done));
    bool any = false;
    for (int method = 0; method < RANDOM_METHODS; method++)
        any = any || options->methods[method];
    for (int method = 0; method < RANDOM_METHODS && !any; method++)
        options->methods[method] = true;
    const char *given = options->has_table              ? "--table"
                        : options->paper.radix_bits > 0 ? "--radix-bits"
                                                        : paper_option_given(&options->paper);
    if (!*done && given && !options->methods[RANDOM_PAPER])
        return status_fail(STATUS_USAGE, "%s: %s is of the method paper, which --method leaves out", argv[0],
                           given);
    return STATUS_OK;
}
