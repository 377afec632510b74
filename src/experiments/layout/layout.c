/* Layout: many arrays at once, row-wise against column-wise: Tables I to XVII of the paper of
 * kernels/layout.cl. A row for each time of the chosen tables, which have many of them in common. */
#include "experiments/layout/layout.h"

static const char *const what_names[WHATS] = {"transpose",  "row-wise", "column-wise",
                                              "transposed", "row-wise", "quicksort"};

/* ---- the paper's tables ---- */

enum { TABLES = 17, CASES = 4 };

/* Operation and input of the first four tables, and so of all. */
enum table_case { PREFIX, BUBBLE_S, BUBBLE_D, BITONIC };
static const struct {
    enum layout_operation operation;
    enum layout_input input;
    const char *operation_name, *input_name;
} cases[CASES] = {
    [PREFIX] = {LAYOUT_PREFIX_SUM, LAYOUT_ONES, "prefix-sum", "ones"},
    [BUBBLE_S] = {LAYOUT_BUBBLE_SORT, LAYOUT_DESCENDING, "bubble-sort", "s"},
    [BUBBLE_D] = {LAYOUT_BUBBLE_SORT, LAYOUT_BY_TURNS, "bubble-sort", "d"},
    [BITONIC] = {LAYOUT_BITONIC_SORT, LAYOUT_RANDOM, "bitonic-sort", "random"},
};

/* What a table has, bits of enum layout_what. */
enum {
    OF_ROWS = 1 << ROWS,
    OF_COLUMNS = 1 << COLUMNS,
    AGAINST_HOST = OF_ROWS | OF_COLUMNS | 1 << HOST,
    TRANSPOSITION = OF_ROWS | OF_COLUMNS | 1 << TRANSPOSED | 1 << TRANSPOSE,
    AGAINST_QUICKSORT = AGAINST_HOST | 1 << QUICKSORT
};

static const struct paper_table {
    const char *number;
    enum table_case of;
    uint32_t whats;
    bool all_types;
} tables[TABLES] = {
    {"I", PREFIX, AGAINST_HOST, false},
    {"II", BUBBLE_S, AGAINST_HOST, false},
    {"III", BUBBLE_D, AGAINST_HOST, false},
    {"IV", BITONIC, AGAINST_HOST, false},
    {"V", PREFIX, OF_ROWS, true},
    {"VI", PREFIX, OF_COLUMNS, true},
    {"VII", BUBBLE_S, OF_ROWS, true},
    {"VIII", BUBBLE_S, OF_COLUMNS, true},
    {"IX", BUBBLE_D, OF_ROWS, true},
    {"X", BUBBLE_D, OF_COLUMNS, true},
    {"XI", BITONIC, OF_ROWS, true},
    {"XII", BITONIC, OF_COLUMNS, true},
    {"XIII", PREFIX, TRANSPOSITION, false},
    {"XIV", BUBBLE_S, TRANSPOSITION, false},
    {"XV", BUBBLE_D, TRANSPOSITION, false},
    {"XVI", BITONIC, TRANSPOSITION, false},
    {"XVII", BITONIC, AGAINST_QUICKSORT, false},
};

/* ---- options ---- */

enum {
    GROUP = 64, /* numbers of arrays are multiples of it */
    MOST_SIZES = 16,
    PAPERS_MOST = 65536,
    SHORT_SWEEP = 2048,
    SHORT_BUBBLE_SWEEP = 256, /* its work grows with the square of the length */
    MOST_REPEATS = 10         /* without --repeat */
};
static const double usual_seconds = 0.5; /* of timings of one thing, without --repeat */

struct options {
    struct common_options common;
    struct option_list table_numbers;
    uint32_t operations, inputs; /* bit sets */
    enum layout_type type;
    struct option_list arrays;
    uint32_t length;
    bool chosen[TABLES]; /* the tables that resolve() finds in the options above */
    uint32_t most;       /* the greatest number of arrays in them */
};

/* GROUP, twice that and so on up to `most`. */
static struct option_list doubling(uint32_t most)
{
    struct option_list list = {0};
    for (uint32_t number = GROUP; number <= most; number *= 2)
        list.items[list.count++] = number;
    return list;
}

static struct option_list arrays_of(const struct options *options, enum table_case of)
{
    if (options->arrays.count > 0)
        return options->arrays;
    return doubling(cases[of].operation == LAYOUT_BUBBLE_SORT ? SHORT_BUBBLE_SWEEP : SHORT_SWEEP);
}

/* Takes away the tables that --operation and --input leave out. What then has no effect is refused. */
static enum status choose_tables(struct options *options)
{
    const struct option_list *numbers = &options->table_numbers;
    bool any = false, of_bubbles = false, of_a_type = false;
    for (uint32_t t = 0; t < TABLES; t++) {
        const enum layout_operation operation = cases[tables[t].of].operation;
        const bool is_bubble = operation == LAYOUT_BUBBLE_SORT;
        bool chosen = false;
        for (uint32_t n = 0; n < numbers->count; n++)
            chosen = chosen || numbers->items[n] == 0 || numbers->items[n] == t + 1;
        chosen = chosen && (options->operations >> operation & 1U) != 0;
        of_bubbles = of_bubbles || (chosen && is_bubble);
        chosen = chosen && (!is_bubble || (options->inputs >> cases[tables[t].of].input & 1U) != 0);
        any = any || chosen;
        of_a_type = of_a_type || (chosen && !tables[t].all_types);
        options->chosen[t] = chosen;
    }
    if (!any)
        return status_fail(STATUS_USAGE,
                           "no table is left: those of --table are none of --operation and --input");
    if (options_given(&options->common, "input") && !of_bubbles)
        return status_fail(STATUS_USAGE, "--input is of bubble-sort alone, and no table of it is asked for");
    return options_given(&options->common, "type") && !of_a_type
               ? status_fail(STATUS_USAGE, "--type: the tables that are asked for are of all three types")
               : STATUS_OK;
}

static enum status resolve(struct bench *bench)
{
    struct options *options = bench->options;
    for (uint32_t n = 0; n < options->arrays.count; n++)
        if (options->arrays.items[n] % GROUP != 0)
            return status_fail(STATUS_USAGE, "--arrays: %u is not a multiple of %d", options->arrays.items[n],
                               GROUP);
        else if (options->arrays.items[n] == 0) /* the word paper */
            options->arrays = doubling(PAPERS_MOST);
    TRY(choose_tables(options));
    for (size_t t = 0; t < TABLES; t++) {
        const struct option_list arrays = arrays_of(options, tables[t].of);
        if (!options->chosen[t])
            continue;
        if (cases[tables[t].of].operation == LAYOUT_BITONIC_SORT &&
            (options->length & (options->length - 1)) != 0)
            return status_fail(STATUS_USAGE,
                               "--length: bitonic-sort (Table %s) needs a power of two, not %u; any length "
                               "suits --operation prefix-sum and bubble-sort",
                               tables[t].number, options->length);
        options->most = at_least(option_list_greatest(&arrays), options->most);
    }
    return (uint64_t)options->most * options->length <= UINT32_MAX
               ? STATUS_OK
               : status_fail(STATUS_USAGE,
                             "--arrays: %u arrays of %u elements (--length) are more than 2^32 - 1 in all",
                             options->most, options->length);
}

/* ---- the whole ---- */

static const struct bench_table report_table = {
    .columns = {WORD("operation", "operation", 12), WORD("input", "input", 6), WORD("type", "type", 6),
                WORD("L", "L", 6), WORD("layout", "layout", 11), SPREAD("ms", "time_ms", 1e3),
                NUMBER("over column-wise", "ratio", 1)}};

static enum status run_point(struct bench *bench, enum table_case of, struct layout_point *point)
{
    TRY(bench_case(bench, layout_point_measure, point));
    for (enum layout_what what = TRANSPOSE; what < WHATS; what++) {
        const struct times *times = &point->times[what];
        const struct spread values[] = {times->total,
                                        spread_over(times->total, point->times[COLUMNS].total.median)};
        const bool on_host = layout_is_on_host(what);
        bench_words(bench, on_host, times->verified, "operation=%s input=%s type=%s L=%u N=%u layout=%s",
                    cases[of].operation_name, cases[of].input_name, layout_type_names[point->type],
                    point->size.arrays, point->size.length, what_names[what]);
        if ((point->wanted >> what & 1U) != 0)
            bench_row(bench, &report_table, NULL, values, on_host ? "on the host" : NULL);
    }
    return STATUS_OK;
}

static enum status run_case(struct bench *bench, enum table_case of, enum layout_type type)
{
    const struct options *options = bench->options;
    const struct option_list arrays = arrays_of(options, of);
    uint32_t wanted = 0; /* bits of what the chosen tables have of it: measured once for all of them */
    for (int t = 0; t < TABLES; t++)
        if (options->chosen[t] && tables[t].of == of && (tables[t].all_types || options->type == type))
            wanted |= tables[t].whats;
    if (wanted == 0)
        return STATUS_OK;
    if (type == LAYOUT_DOUBLE && !bench->info->has_fp64) {
        printf("  %s, double: this device has none\n", cases[of].operation_name);
        return STATUS_OK;
    }
    for (uint32_t n = 0; n < arrays.count; n++) {
        struct layout_point point = {.operation = cases[of].operation,
                                     .input_kind = cases[of].input,
                                     .type = type,
                                     .size = {arrays.items[n], options->length},
                                     .wanted = wanted,
                                     .seconds = options->common.repeats > 0 ? 0 : usual_seconds};
        TRY(run_point(bench, of, &point));
    }
    return STATUS_OK;
}

static enum status run_layout(struct bench *bench)
{
    const struct options *options = bench->options;
    if (options->type == LAYOUT_DOUBLE && !bench->info->has_fp64)
        return status_fail(STATUS_FAILED, "--type double: %s has no double precision", bench->info->name);
    printf("layout: T = %d items a group, an array each, N = %u, on %s; of the paper's tables", GROUP,
           options->length, bench->info->name);
    for (size_t t = 0; t < TABLES; t++)
        if (options->chosen[t])
            printf(" %s", tables[t].number);
    printf("\n");
    if (bench->repeats == 0)
        bench->repeats = MOST_REPEATS;
    TRY(bench_copy(bench, layout_bytes(LAYOUT_INT, (struct layout_size){options->most, options->length})));
    bench_print_copy(bench);
    bench_head(&report_table);
    for (int of = 0; of < CASES; of++)
        for (int type = 0; type < LAYOUT_TYPES; type++)
            TRY(run_case(bench, (enum table_case)of, (enum layout_type)type));
    return STATUS_OK;
}

static const struct option_row rows[] = {
    {"table", 0, "T,...", OPTION_LIST, AT(table_numbers), 1, TABLES,
     WORDS({"all", 0}, {"I", 1}, {"II", 2}, {"III", 3}, {"IV", 4}, {"V", 5}, {"VI", 6}, {"VII", 7},
           {"VIII", 8}, {"IX", 9}, {"X", 10}, {"XI", 11}, {"XII", 12}, {"XIII", 13}, {"XIV", 14}, {"XV", 15},
           {"XVI", 16}, {"XVII", 17}),
     .most = OPTION_LIST_MOST, .usual = "I,II,III,IV",
     .help = "The paper's tables to print: I to XVII, 1 to 17, or all"},
    {"operation", 0, "NAME,...", OPTION_SET, AT(operations),
     WORDS({"prefix-sum", LAYOUT_PREFIX_SUM}, {"bubble-sort", LAYOUT_BUBBLE_SORT},
           {"bitonic-sort", LAYOUT_BITONIC_SORT}),
     .usual = "prefix-sum,bubble-sort,bitonic-sort",
     .help = "Of these tables only those of prefix-sum, bubble-sort or bitonic-sort"},
    {"input", 0, "s|d,...", OPTION_SET, AT(inputs), WORDS({"s", LAYOUT_DESCENDING}, {"d", LAYOUT_BY_TURNS}),
     .usual = "s,d",
     .help = "Of those of bubble-sort only those of this input: s, all arrays descending, or d, those of odd "
             "number ascending"},
    {"type", 0, "NAME", OPTION_CHOICE, AT(type),
     WORDS({"int", LAYOUT_INT}, {"float", LAYOUT_FLOAT}, {"double", LAYOUT_DOUBLE}), .usual = "int",
     .help = "int, float or double, in the tables that are not of all three (V to XII are)"},
    {"arrays", 0, "L,...", OPTION_LIST, AT(arrays), GROUP, 1 << 24, WORDS({"paper", 0}), .most = MOST_SIZES,
     .distinct = true,
     .help = "Numbers of arrays (L), multiples of 64, or paper for the paper's 64,128,...,65536; 64 to 2048, "
             "for bubble-sort 64 to 256, without it"},
    {"length", 0, "N", OPTION_NUMBER, AT(length), 1, 1 << 20, .usual = "1024",
     .help = "Elements of an array (N); for bitonic-sort a power of two; as in the paper"},
    COMMON_ROWS(NULL, "Timed launches of each kind, after a warm-up, on the host at most 3; without it as "
                      "many as half a second allows, from 1 to 10"),
};

const struct experiment experiment_layout = {
    .name = "layout",
    .summary = "many arrays at once, row-wise against column-wise",
    .options = OPTION_TABLE(
        rows, NULL,
        "Compare arrays that lie row-wise with arrays that lie column-wise.\v"
        "The experiment of D. Takafuji, Y. Ito and K. Nakano, \"Comparison of GPU Implementations of "
        "Row-wise and Column-wise Fundamental Algorithms\": L arrays of N elements, one work-item per array. "
        "Prefix sums of ones; bubble sort of descending arrays (s) and of arrays half of which are in order "
        "(d); bitonic sort of random numbers. Every result is compared with the host's, bit by bit. Without "
        "options it takes about 20 s on two CPU cores.\n\n"
        "Examples:\n"
        "  radixpic bench layout\n"
        "  radixpic bench layout --table all --device gpu --arrays paper --csv layout.csv\n"
        "  radixpic bench layout --operation bubble-sort --input s --length 256 --arrays 64,1024\n"
        "  radixpic bench layout --table XIII,XVI --type double\n"),
    .resolve = resolve,
    .run = run_layout,
    .wrong = "a result is not the host's",
    .warm_ups = 1,
};
