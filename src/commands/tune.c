/* radixpic tune: one grid of sorts, timed for particles in PIC order on this device; the fastest of each
 * method and number of passes are printed, and the fastest of all as the block sort: of a config. */
#include "commands/commands.h"
#include "experiments/sorting/sorting.h"

#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct common_options common;
    uint32_t particles; /* 0: by the device */
    uint32_t cells[2];
    uint32_t seconds;
};

static const struct option_row rows[] = {
    DEVICE_ROW,
    {"particles", 'N', "N", OPTION_NUMBER, AT(particles), 1, UINT32_C(1) << 31,
     .help = "Particles (N); without it 8388608, on a CPU 1048576"},
    {"cells", 0, "C|CxD", OPTION_CELLS, AT(cells), 2, 16384, .usual = "32",
     .help = "Cells along x and y, which give the key's bits (b)"},
    {"seconds", 0, "T", OPTION_NUMBER, AT(seconds), 1, 3600, .usual = "50",
     .help = "Stop after T seconds with what is found"},
};

enum { TRIALS_MOST = 512, MOST_REPEATS = 25, MOST_PASSES = 6 };
static const double enough_seconds = 0.05; /* of timed sorts of one trial */

struct trial {
    double seconds; /* the least, since other load only makes a sort slower; first, for by_seconds() */
    struct sort_config sort;
    struct sorter_plan plan;
};

struct search {
    struct bench *bench;
    struct pic_keys keys;
    double ends;     /* on timer_now(): no trial begins later */
    bool is_time_up; /* before all were tried */
    struct trial trials[TRIALS_MOST];
    size_t count;
};

/* The fastest by the method in so many passes; NULL where there is none. */
static const struct trial *best_of(const struct search *search, enum sort_method method, uint32_t passes)
{
    const struct trial *best = NULL;
    for (const struct trial *trial = search->trials; trial < search->trials + search->count; trial++)
        if (method == trial->plan.method && passes == trial->plan.passes &&
            (!best || trial->seconds < best->seconds))
            best = trial;
    return best;
}

static const struct bench_table trial_table = {
    .columns = {WORD("method", "method", 7), WORD("b", "b", 2), WORD("p", "p", 2), WORD("r", "r", 2),
                WORD("I", "I", 4), WORD("G", "G", 5), WORD("s", "s", 5), WORD("transpose", "transpose", 9),
                WORD("table", "table", 7), NUMBER("ms", NULL, 1e3), NUMBER("Mkeys/s", NULL, 1e-6)}};

static void print_trial(const struct search *search, const struct trial *trial)
{
    const struct spread seconds = spread_of_one(trial->seconds);
    const struct spread values[] = {seconds, spread_rate(search->keys.list.count, seconds)};
    char words[SORT_WORDS_LENGTH];
    bench_words(search->bench, false, NOT_COMPARED, "%s", sort_words_of(&trial->plan, words));
    bench_print(search->bench, &trial_table, NULL, values, NULL);
}

/* A bench_case() of the search for the trial behind its last one. Every sort gives the one stable permutation
 * and the cell offsets: one that may be kept is judged, and no earlier result passes for its own. */
static enum status time_trial(struct bench *bench, void *context)
{
    struct search *search = context;
    struct trial *trial = &search->trials[search->count];
    const struct trial *best = best_of(search, trial->plan.method, trial->plan.passes);
    struct sort_case one = {.list = &search->keys.list, .plan = trial->plan, .wants_cells = true};
    const struct subject subject = {&one,
                                    .run = sort_case_run,
                                    .warm_ups = 1,
                                    .repeats = MOST_REPEATS,
                                    .seconds = enough_seconds,
                                    .in_one_piece = true};
    struct times times;
    char sort[256];
    TRY(sort_case_create(bench->part, &one));
    TRY(buffer_fill(one.lists.permutation, UINT32_MAX));
    TRY(buffer_fill(one.lists.cell_offsets, UINT32_MAX));
    TRY(bench_time(bench, &subject, 1, &times));
    trial->seconds = times.total.least;
    if (best && trial->seconds >= best->seconds)
        return STATUS_OK;
    TRY(device_judge_sort(bench->part, one.list, &one.lists, &one.verdict));
    sorter_plan_describe(&one.plan, sort, sizeof sort);
    return sort_is_right(&one.verdict)
               ? STATUS_OK
               : status_fail(STATUS_FAILED, "tune: a sort returned a wrong result on %s: %s",
                             bench->info->name, sort);
}

/* Times a sort that fits the device. */
static enum status try_sort(struct search *search, const struct sort_config *sort)
{
    struct trial *trial = &search->trials[search->count];
    search->is_time_up |= search->count > 0 && timer_now() >= search->ends;
    *trial = (struct trial){.sort = *sort};
    if (search->is_time_up || search->count + 1 == TRIALS_MOST ||
        sorter_plan_choose(search->bench->info, sort, search->keys.list.count, &trial->plan) != STATUS_OK ||
        trial->plan.passes != sort->passes)
        return STATUS_OK;
    TRY(bench_case(search->bench, time_trial, search));
    print_trial(search, trial);
    search->count++;
    return STATUS_OK;
}

/* The grid: the methods that are fast by default first; then the paper's, in its two passes, in one, and in
 * more with shorter digits; items of a group from the end where the device's best ones are, groups by compute
 * units, and the histogram's table in both orders. */
static enum status try_all(struct search *search, uint32_t key_bits)
{
    static const uint32_t passes[] = {2, 1, 3, 4, 5, MOST_PASSES}, items[] = {1, 16, 64, 128};
    enum { ITEMS = sizeof items / sizeof items[0] };
    const struct device_info *info = search->bench->info;
    struct sort_config sort = {.key_bits = key_bits};
    for (int method = SORT_METHOD_TILED; method <= SORT_METHOD_CHUNKED; method++)
        for (sort.passes = 1; sort.passes <= 3; sort.passes++) {
            sort.method = (enum sort_method)method;
            TRY(try_sort(search, &sort));
        }
    sort.method = SORT_METHOD_PAPER;
    for (size_t n = 0; n < MOST_PASSES * ITEMS; n++)
        for (uint32_t groups = 1; groups <= 4; groups *= 2)
            for (int table = TABLE_COLUMNS; table <= TABLE_ROWS; table++) {
                sort.passes = passes[n / ITEMS];
                sort.items_per_group = items[info->is_cpu ? n % ITEMS : ITEMS - 1 - n % ITEMS];
                sort.groups = groups * info->compute_units;
                sort.table = (enum table_kind)table;
                TRY(try_sort(search, &sort));
            }
    return STATUS_OK;
}

/* ---- what is printed at the end ---- */

ASCENDING(by_seconds, double)

/* The block of a config that holds on any grid: key_bits is auto. */
static void print_block(const struct sort_config *sort)
{
    static const char group[] = "sort.";
    struct sort_config shown = *sort;
    shown.key_bits = SORT_AUTO;
    puts("\nThe fastest, as a block of a config:\nsort:");
    for (size_t n = 0; n < config_schema.count; n++) {
        struct schema_row row = config_schema.rows[n];
        if (strncmp(row.path, group, strlen(group)) != 0)
            continue;
        row.offset -= offsetof(struct config, sort);
        printf("  %s: ", row.path + strlen(group));
        value_print(&row, &shown, stdout);
        putchar('\n');
    }
}

/* The fastest of each method and p, in the order of their times. */
static void print_fastest(struct search *search)
{
    printf(
        "\n%zu sorts tried%s\n\nTable 3 of the paper, quasi-optimal sorting parameters, on this device, the "
        "fastest sort first:\n",
        search->count, search->is_time_up ? "; the time was up before all were: --seconds gives more" : "");
    bench_head(&trial_table);
    qsort(search->trials, search->count, sizeof *search->trials, by_seconds);
    for (const struct trial *trial = search->trials; trial < search->trials + search->count; trial++)
        if (trial == best_of(search, trial->plan.method, trial->plan.passes))
            print_trial(search, trial);
    print_block(&search->trials[0].sort);
}

static enum status tune(struct bench *bench)
{
    const struct options *options = bench->options;
    const struct grid grid =
        grid_make(&(struct grid_config){.cells = {options->cells[0], options->cells[1]}, .length = {1, 1}});
    const uint32_t usual = UINT32_C(1) << (bench->info->is_cpu ? 20 : 23);
    const uint32_t count = options->particles > 0 ? options->particles : usual;
    struct search *search = NULL;
    TRY(DEVICE_NEW(bench->device, search));
    search->bench = bench;
    printf("tune: the fastest sort of %u particles in %ux%u cells (keys of b = %u bits), moved by less than "
           "a cell, on %s\n",
           count, options->cells[0], options->cells[1], grid_key_bits(&grid), bench->info->name);
    bench_head(&trial_table);
    fflush(stdout);
    TRY(pic_keys_create(bench->part, &grid, count, &search->keys));
    search->ends = timer_now() + options->seconds;
    TRY(try_all(search, grid_key_bits(&grid)));
    print_fastest(search);
    return STATUS_OK;
}

static const struct experiment experiment_tune = {
    .options = OPTION_TABLE(
        rows, NULL,
        "Find the fastest sort for a device, and print the paper's Table 3 for it and a block sort: for a "
        "config.\v"
        "Particles in PIC order (sorted, then moved by less than a cell) are sorted by every method in one "
        "and more passes (p), the paper's with many items in a group (I) and groups (G), and with the table "
        "of the histogram in both orders. The table has the best of each method and p. A config that holds "
        "the block takes the fastest sort where step.method is radix, and gives the same results as "
        "without.\n\n"
        "Examples:\n"
        "  radixpic tune\n"
        "  radixpic tune --device gpu --particles 134217728 --cells 64\n"
        "  radixpic tune --cells 128x64 --seconds 20\n"),
    .run = tune,
};

enum status command_tune(int argc, char **argv)
{
    return bench_run(&experiment_tune, argc, argv);
}
