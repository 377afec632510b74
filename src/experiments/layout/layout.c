/* Layout: many arrays at once, row-wise against column-wise: Tables I to XVII of D. Takafuji, Y. Ito and K.
 * Nakano, "Comparison of GPU Implementations of Row-wise and Column-wise Fundamental Algorithms". What the
 * tables need is measured once, when the first of them comes to it. */
#include "experiments/layout/layout.h"

#include <string.h>

static const char *const what_names[WHATS] = {"transpose",  "row-wise", "column-wise",
                                              "transposed", "row-wise", "quicksort"};

/* ---- the paper's tables ---- */

enum { TABLES = 17, CASES = 4, MOST_COLUMNS = 4 };

/* Operation and input of the first four tables, and so of all. */
enum table_case { PREFIX, BUBBLE_S, BUBBLE_D, BITONIC };
static const struct {
    enum layout_operation operation;
    enum layout_input input;
    const char *operation_name, *input_name, *title;
} cases[CASES] = {
    [PREFIX] = {LAYOUT_PREFIX_SUM, LAYOUT_ONES, "prefix-sum", "ones", "prefix sums of ones"},
    [BUBBLE_S] = {LAYOUT_BUBBLE_SORT, LAYOUT_DESCENDING, "bubble-sort", "s", "bubble sort of type S"},
    [BUBBLE_D] = {LAYOUT_BUBBLE_SORT, LAYOUT_BY_TURNS, "bubble-sort", "d", "bubble sort of type D"},
    [BITONIC] = {LAYOUT_BITONIC_SORT, LAYOUT_RANDOM, "bitonic-sort", "random",
                 "bitonic sort of random numbers"},
};

struct column_set {
    struct {
        const char *title;
        enum layout_what what;
    } columns[MOST_COLUMNS];
    const char *note, *layout; /* a line below the head; of a table with a column for each type, else NULL */
};
static const struct column_set
    rows_by_type = {{{"int", ROWS}, {"float", ROWS}, {"double", ROWS}}, .layout = "row-wise"},
    columns_by_type = {{{"int", COLUMNS}, {"float", COLUMNS}, {"double", COLUMNS}}, .layout = "column-wise"},
    against_host = {{{"row-wise", ROWS}, {"column-wise", COLUMNS}, {"R/C", RATIO}, {"host", HOST}},
                    .note = "R/C: row-wise over column-wise"},
    with_transposition =
        {{{"(A) row-wise", ROWS}, {"(B)", TRANSPOSED}, {"column-wise", COLUMNS}, {"transpose", TRANSPOSE}},
         .note = "(B): transposed, column-wise, and transposed back, from the first launch to the last"},
    against_quicksort = {.columns = {{"row-wise", ROWS},
                                     {"column-wise", COLUMNS},
                                     {"host, bitonic sort", HOST},
                                     {"host, quicksort", QUICKSORT}}};

static uint32_t columns_of(const struct column_set *set)
{
    return set->layout ? LAYOUT_TYPES : MOST_COLUMNS;
}

static const struct table {
    const char *number;
    enum table_case of;
    const struct column_set *set;
} tables[TABLES] = {
    {"I", PREFIX, &against_host},          {"II", BUBBLE_S, &against_host},
    {"III", BUBBLE_D, &against_host},      {"IV", BITONIC, &against_host},
    {"V", PREFIX, &rows_by_type},          {"VI", PREFIX, &columns_by_type},
    {"VII", BUBBLE_S, &rows_by_type},      {"VIII", BUBBLE_S, &columns_by_type},
    {"IX", BUBBLE_D, &rows_by_type},       {"X", BUBBLE_D, &columns_by_type},
    {"XI", BITONIC, &rows_by_type},        {"XII", BITONIC, &columns_by_type},
    {"XIII", PREFIX, &with_transposition}, {"XIV", BUBBLE_S, &with_transposition},
    {"XV", BUBBLE_D, &with_transposition}, {"XVI", BITONIC, &with_transposition},
    {"XVII", BITONIC, &against_quicksort},
};

/* ---- options ---- */

enum {
    GROUP = 64, /* numbers of arrays are multiples of it */
    MOST_SIZES = 16,
    PAPERS_MOST = 65536,
    SHORT_SWEEP = 2048,
    SHORT_BUBBLE_SWEEP = 256, /* its work grows with the square of the length */
    COPY_REPEATS = 10
};

struct options {
    struct common_options common;
    struct option_list table_numbers;
    uint32_t operations, inputs; /* bit sets */
    enum layout_type type;
    struct option_list arrays;
    uint32_t length;
    bool chosen[TABLES]; /* what settles() makes of these */
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

static enum layout_type type_of(const struct options *options, const struct column_set *set, uint32_t column)
{
    return set->layout ? (enum layout_type)column : options->type;
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
        of_a_type = of_a_type || (chosen && !tables[t].set->layout);
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

static enum status check_table(const struct options *options, const struct table *table)
{
    const struct option_list arrays = arrays_of(options, table->of);
    if (cases[table->of].operation == LAYOUT_BITONIC_SORT && (options->length & (options->length - 1)) != 0)
        return status_fail(STATUS_USAGE,
                           "--length: bitonic-sort (Table %s) needs a power of two, not %u; any length "
                           "suits --operation prefix-sum and bubble-sort",
                           table->number, options->length);
    for (uint32_t n = 0; n < arrays.count; n++)
        if ((uint64_t)arrays.items[n] * options->length > UINT32_MAX)
            return status_fail(STATUS_USAGE,
                               "--arrays: %u arrays of %u elements (--length) are more than 2^32 - 1 in all",
                               arrays.items[n], options->length);
    return STATUS_OK;
}

static enum status settle(struct bench *bench)
{
    struct options *options = bench->options;
    for (uint32_t n = 0; n < options->arrays.count; n++)
        if (options->arrays.items[n] % GROUP != 0)
            return status_fail(STATUS_USAGE, "--arrays: %u is not a multiple of %d", options->arrays.items[n],
                               GROUP);
        else if (options->arrays.items[n] == 0) /* the word paper */
            options->arrays = doubling(PAPERS_MOST);
    TRY(choose_tables(options));
    for (size_t t = 0; t < TABLES; t++)
        if (options->chosen[t])
            TRY(check_table(options, &tables[t]));
    return STATUS_OK;
}

/* ---- measuring ---- */

struct run {
    struct bench *bench;
    const struct options *options;
    struct layout_point points[CASES][LAYOUT_TYPES][MOST_SIZES];
};

/* What the chosen tables have in their columns, bits: measured once for all of them. */
static uint32_t wanted_of(const struct options *options, enum table_case of, enum layout_type type)
{
    uint32_t wanted = 0;
    for (const struct table *table = tables; table < tables + TABLES; table++)
        for (uint32_t c = 0; c < columns_of(table->set); c++)
            if (options->chosen[table - tables] && table->of == of && type_of(options, table->set, c) == type)
                wanted |= 1U << table->set->columns[c].what;
    return wanted;
}

static enum status measure_point(struct run *run, enum table_case of, struct layout_point *point)
{
    struct bench *bench = run->bench;
    if (point->measured)
        return STATUS_OK;
    point->operation = cases[of].operation;
    point->input_kind = cases[of].input;
    point->wanted = wanted_of(run->options, of, point->type);
    TRY(bench_case(bench, layout_point_measure, point));
    point->measured = true;
    for (enum layout_what what = TRANSPOSE; what < WHATS; what++) {
        bench_words(bench, layout_is_on_host(what), point->times[what].verified,
                    "operation=%s input=%s type=%s L=%u N=%u layout=%s", cases[of].operation_name,
                    cases[of].input_name, layout_type_names[point->type], point->size.arrays,
                    point->size.length, what_names[what]);
        if ((point->wanted >> what & 1U) != 0)
            bench_row(bench, point->times[what].total, 1e3, "time_ms");
    }
    return STATUS_OK;
}

/* ---- printing ---- */

enum { CELL_WIDTH = 34 };

static bool lacks(const struct run *run, enum layout_type type)
{
    return type == LAYOUT_DOUBLE && !run->bench->info->has_fp64;
}

static void print_head(const struct options *options, const struct table *table)
{
    const struct column_set *set = table->set;
    printf("\nTable %s: %s, %s, N = %u, ms, median [min, max] (number of timings):\n", table->number,
           cases[table->of].title, set->layout ? set->layout : layout_type_names[options->type],
           options->length);
    if (set->note)
        printf("  %s\n", set->note);
    printf("  %17s", "T x B = L");
    for (uint32_t n = 0; n < columns_of(set); n++)
        printf("  %*s", set->columns[n].what == RATIO ? 7 : CELL_WIDTH, set->columns[n].title);
    printf("\n");
}

/* Prints one cell; false where the result behind it was wrong. */
static bool print_cell(const struct layout_point *point, enum layout_what what)
{
    char text[SPREAD_TEXT], cell[SPREAD_TEXT + 16];
    if (what == RATIO) {
        printf("  %7.2f", per_second(point->times[ROWS].total.median, point->times[COLUMNS].total.median));
        return true;
    }
    const struct spread seconds = point->times[what].total;
    snprintf(cell, sizeof cell, "%s (%u)", spread_text(seconds, 1e3, text), seconds.count);
    printf("  %*s", CELL_WIDTH, seconds.count > 0 ? cell : "-");
    return seconds.count == 0 || point->times[what].verified;
}

static enum status print_row(struct run *run, const struct table *table, uint32_t number, uint32_t arrays)
{
    const struct column_set *set = table->set;
    struct layout_point *points[MOST_COLUMNS];
    char text[64];
    bool right = true;
    for (uint32_t n = 0; n < columns_of(set); n++) {
        const enum layout_type type = type_of(run->options, set, n);
        points[n] = &run->points[table->of][type][number];
        points[n]->type = type;
        points[n]->size = (struct layout_size){arrays, run->options->length};
        if (!lacks(run, type))
            TRY(measure_point(run, table->of, points[n]));
    }
    snprintf(text, sizeof text, "%d x %u = %u", GROUP, arrays / GROUP, arrays);
    printf("  %17s", text);
    for (uint32_t n = 0; n < columns_of(set); n++)
        right = print_cell(points[n], set->columns[n].what) && right;
    printf("  %s\n", right ? "verified" : "NOT VERIFIED");
    fflush(stdout);
    return STATUS_OK;
}

static enum status print_table(struct run *run, const struct table *table)
{
    const struct option_list arrays = arrays_of(run->options, table->of);
    print_head(run->options, table);
    for (uint32_t n = 0; n < arrays.count; n++)
        TRY(print_row(run, table, n, arrays.items[n]));
    if (table->set->layout && lacks(run, LAYOUT_DOUBLE))
        printf("  double: this device has none\n");
    return STATUS_OK;
}

/* ---- the whole ---- */

static enum status run_layout(struct bench *bench)
{
    const struct options *options = bench->options;
    uint32_t most = 0;
    struct run *run = NULL;
    TRY(DEVICE_NEW(bench->device, run));
    run->bench = bench;
    run->options = options;
    if (lacks(run, options->type))
        return status_fail(STATUS_FAILED, "--type double: %s has no double precision", bench->info->name);
    for (size_t t = 0; t < TABLES; t++) {
        const struct option_list arrays = arrays_of(options, tables[t].of);
        for (uint32_t n = 0; n < arrays.count && options->chosen[t]; n++)
            most = arrays.items[n] > most ? arrays.items[n] : most;
    }
    bench->repeats = COPY_REPEATS; /* of the largest int arrays */
    TRY(bench_copy(bench, layout_bytes(LAYOUT_INT, (struct layout_size){most, options->length})));
    bench->repeats = options->common.repeats;
    printf("layout: T = %d items a group, an array each, on %s\n", GROUP, bench->info->name);
    bench_print_copy(bench);
    for (size_t t = 0; t < TABLES; t++)
        if (options->chosen[t])
            TRY(print_table(run, &tables[t]));
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
        "Row-wise and Column-wise Fundamental Algorithms\": L arrays of N elements in global memory, one "
        "work-item per array, so that neighbouring items read neighbouring elements only where the arrays "
        "lie column-wise. Prefix sums of ones; bubble sort of descending arrays (s) and of arrays half of "
        "which are in order (d); bitonic sort of random numbers. Every result of every launch is compared "
        "with the host's, bit by bit in each type: the sums are exact, and sorting only moves values. "
        "Without options it takes about 20 s on two CPU cores.\n\n"
        "Examples:\n"
        "  radixpic bench layout\n"
        "  radixpic bench layout --table all --device gpu --arrays paper --csv layout.csv\n"
        "  radixpic bench layout --operation bubble-sort --input s --length 256 --arrays 64,1024\n"
        "  radixpic bench layout --table XIII,XVI --type double\n"),
    .settle = settle,
    .run = run_layout,
    .wrong = "a result is not the host's",
    .warm_ups = 1,
};
