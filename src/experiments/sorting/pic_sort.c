/* PIC sort: section 4.2 and Table 7 of P. Helluy, "A portable implementation of the radix sort algorithm in
 * OpenCL", 2011. */
#include "experiments/sorting/sorting.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_KEY_BITS = 30, MOST_KEYS = 8, MOST_TABLES = SORT_CASES_MOST };

struct options {
    struct common_options common;
    uint32_t particles, cells[2];
    uint32_t radix_bits;
    struct sort_config sort;
    bool device_alone;
    const char *keys_path;
    struct option_list key_bits; /* one case each, with each of the tables */
    uint32_t tables, orders;     /* bit sets */
};

struct run {
    struct bench *bench;
    const struct options *options;
    struct grid grid;
    struct pic_keys keys;
    uint32_t table_count, case_count;
    struct sort_case cases[MOST_KEYS * MOST_TABLES]; /* table after table of one key after the other */
    bool by_qsort;                /* the host's sort is the C library's, else one by counting */
    uint32_t *permutation, *next; /* of the host's sort */
    uint64_t *pairs;              /* of key and index */
    struct sort_verdict verdict;  /* of it */
};

/* Every key with every table; refuses parameters that do not fit before anything is created. The paper's sort
 * returns sorted keys and sigma; the others what a PIC step needs, sigma and the cell offsets. */
static enum status plan_cases(struct run *run)
{
    struct options *options = run->bench->options;
    struct option_list *bits = &options->key_bits;
    const bool leaves_passes =
        options->sort.method == SORT_METHOD_AUTO && !options_given(&options->common, "radix-bits");
    const uint32_t radix_bits = leaves_passes ? 0 : options->radix_bits;
    run->grid =
        grid_make(&(struct grid_config){.cells = {options->cells[0], options->cells[1]}, .length = {1, 1}});
    const uint32_t least = grid_key_bits(&run->grid);
    if (bits->count == 0) {
        bits->items[bits->count++] = least;
        if (options->sort.method == SORT_METHOD_PAPER)
            bits->items[bits->count++] = LONG_KEY_BITS;
    }
    for (uint32_t n = 0; n < bits->count; n++) {
        if (bits->items[n] < least)
            return status_fail(STATUS_USAGE, "--key-bits %u: %u cells need keys of %u bits", bits->items[n],
                               grid_cells(&run->grid), least);
        for (uint32_t table = 0; table < MOST_TABLES; table++) {
            struct sort_case *one = &run->cases[run->case_count];
            if ((options->tables >> table & 1U) == 0)
                continue;
            one->list = &run->keys.list;
            one->wants_cells = options->sort.method != SORT_METHOD_PAPER;
            options->sort.key_bits = bits->items[n];
            options->sort.table = (enum table_kind)table;
            TRY(sort_plan_make(run->bench->info, &options->sort, radix_bits, options->particles, &one->plan));
            run->case_count++;
        }
    }
    run->table_count = run->case_count / bits->count;
    return STATUS_OK;
}

/* ---- the host's ---- */

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static enum status run_on_host(void *context)
{
    const struct run *run = context;
    const uint32_t *keys = run->keys.list.on_host, count = run->keys.list.count;
    const uint32_t cells = grid_cells(&run->grid);
    if (run->by_qsort) {
        for (uint32_t j = 0; j < count; j++)
            run->pairs[j] = (uint64_t)keys[j] << 32 | j;
        qsort(run->pairs, count, sizeof *run->pairs, ascending);
        for (uint32_t j = 0; j < count; j++)
            run->permutation[j] = (uint32_t)run->pairs[j];
        return STATUS_OK;
    }
    memset(run->next, 0, (cells + (size_t)1) * sizeof *run->next);
    host_cell_offsets(keys, count, cells, run->next);
    for (uint32_t j = 0; j < count; j++)
        run->permutation[run->next[keys[j]]++] = j;
    return STATUS_OK;
}

static enum status verify_on_host(void *context, bool *right)
{
    struct run *run = context;
    TRY(host_judge_sort(run->bench->part, run->keys.list.on_host, NULL, run->permutation,
                        run->keys.list.count, &run->verdict));
    *right = sort_is_right(&run->verdict);
    return STATUS_OK;
}

/* ---- tables ---- */

static void print_row(const struct run *run, const char *name, struct spread seconds, uint64_t bytes)
{
    const double bandwidth = spread_bandwidth(bytes, seconds).median;
    printf("  %-14s", name);
    spread_print(seconds, 1e3, 10, 3);
    printf(" %10.1f", per_second(1e-6 * run->keys.list.count, seconds.median));
    if (bytes > 0)
        printf(" %9.2f %8.1f %%", bandwidth, bench_copy_share(run->bench, bandwidth));
    printf("\n");
}

static void print_verdict(const struct sort_verdict *verdict)
{
    printf(" %s, %s, %s\n", verdict->sorted ? "sorted" : "NOT SORTED",
           verdict->stable ? "stable" : "NOT STABLE",
           verdict->permutation ? "a permutation" : "NOT A PERMUTATION");
    printf("  %-14s %10s  [%9s, %9s] %10s", "phase", "median ms", "min", "max", "Mkeys/s");
}

static void report_case(const struct run *run, const struct sort_case *one)
{
    char sort[256];
    sorter_plan_describe(&one->plan, sort, sizeof sort);
    printf("\nradix sort, %s:", sort);
    print_verdict(&one->verdict);
    printf(" %9s %10s\n", "GB/s", "of a copy");
    for (enum stage phase = first_sort_phase; phase <= last_sort_phase; phase++)
        if (one->times.bytes[phase] > 0)
            print_row(run, sort_phase_name(phase), one->times.stages[phase], one->times.bytes[phase]);
    print_row(run, "total", one->times.total, times_bytes(&one->times));
    sort_write(one);
}

static enum status run_host_sorts(struct bench *bench, void *context)
{
    struct run *run = context;
    const uint32_t count = run->keys.list.count;
    const struct subject subject = {run, NULL, run_on_host, verify_on_host, .on_host = true};
    struct times times;
    TRY(DEVICE_NEW_ARRAY(bench->part, run->permutation, count));
    TRY(DEVICE_NEW_ARRAY(bench->part, run->next, grid_cells(&run->grid) + (size_t)1));
    TRY(DEVICE_NEW_ARRAY(bench->part, run->pairs, count));
    for (int by_qsort = 1; by_qsort >= 0; by_qsort--) {
        const char *method = by_qsort ? "qsort" : "counting sort";
        run->by_qsort = by_qsort;
        TRY(bench_time(bench, &subject, 1, &times));
        printf("\n%s on the host, one thread, with permutation:", method);
        print_verdict(&run->verdict);
        printf("\n");
        print_row(run, "total", times.wall, 0);
        bench_words(bench, true, times.verified, "method=%s N=%u", method, count);
        bench_row(bench, times.wall, 1e3, "total_ms");
    }
    return STATUS_OK;
}

/* The paper's Table 7: its columns, for the case with the most passes and the one with the fewest. */
static void print_table(const struct run *run)
{
    const struct sort_case *most = run->cases, *fewest = run->cases;
    const int width = (int)strlen(run->bench->info->name);
    char slow[SPREAD_TEXT], fast[SPREAD_TEXT];
    for (uint32_t n = 1; n < run->case_count; n++) {
        if (run->cases[n].plan.passes > most->plan.passes)
            most = &run->cases[n];
        if (run->cases[n].plan.passes < fewest->plan.passes)
            fewest = &run->cases[n];
    }
    if (most == fewest)
        return;
    printf("\nTable 7 of the paper, on this device:\n");
    printf("  %-*s  time p = %u, ms%12s  time p = %u, ms%12s  ratio\n", width, "device", most->plan.passes,
           "", fewest->plan.passes, "");
    printf("  %-*s  %-26s  %-26s  %.2f\n", width, run->bench->info->name,
           spread_text(most->times.total, 1e3, slow), spread_text(fewest->times.total, 1e3, fast),
           per_second(most->times.total.median, fewest->times.total.median));
}

/* Where every key was sorted with two tables: what the second costs of the first. */
static void print_table_orders(const struct run *run)
{
    if (run->table_count < 2)
        return;
    printf("\nThe histogram's table in two orders:\n");
    printf("  %2s  %2s  %-7s  %-26s  %-7s  %-26s  %s\n", "b", "p", "table", "time, ms", "table", "time, ms",
           "ratio");
    for (uint32_t n = 1; n < run->case_count; n++) {
        const struct sort_case *first = &run->cases[n - 1], *second = &run->cases[n];
        char one[SPREAD_TEXT], other[SPREAD_TEXT];
        if (n % run->table_count > 0)
            printf("  %2u  %2u  %-7s  %-26s  %-7s  %-26s  %.3f\n", first->plan.key_bits, first->plan.passes,
                   radix_plan_table_name(&first->plan.radix), spread_text(first->times.total, 1e3, one),
                   radix_plan_table_name(&second->plan.radix), spread_text(second->times.total, 1e3, other),
                   per_second(second->times.total.median, first->times.total.median));
    }
}

/* ---- the whole ---- */

/* The keys as they lie in memory, for another program to sort; with several orders one file of each. */
static enum status write_keys(const struct run *run, const char *order)
{
    const uint32_t orders = run->options->orders;
    const struct sort_list *list = &run->keys.list;
    char path[PATH_MAX];
    const bool is_one = (orders & (orders - 1)) == 0;
    snprintf(path, sizeof path, "%s%s%s", run->options->keys_path, is_one ? "" : ".", is_one ? "" : order);
    FILE *file = fopen(path, "wb");
    bool failed = !file || fwrite(list->on_host, sizeof(uint32_t), list->count, file) != list->count;
    if (file)
        failed |= fclose(file) != 0;
    return failed ? status_fail(STATUS_FAILED, "--write-keys: cannot write %s: %s", path, strerror(errno))
                  : STATUS_OK;
}

static enum status run_order(struct run *run, enum key_order order)
{
    struct bench *bench = run->bench;
    const struct options *options = run->options;
    const char *word = options_word(&options->common, "order", (int)order);
    TRY(pic_keys_fill(&run->keys, &run->grid, order));
    if (options->keys_path)
        TRY(write_keys(run, word));
    printf("\norder of the keys: %s\n", word);
    for (uint32_t n = 0; n < run->case_count; n++) {
        struct sort_cases of_key = {&run->cases[n], run->table_count};
        run->cases[n].order = word;
        run->cases[n].row = 0;
        if (n % run->table_count == 0)
            TRY(bench_case(bench, sort_cases_time, &of_key));
        report_case(run, &run->cases[n]);
    }
    if (!options->device_alone)
        TRY(bench_case(bench, run_host_sorts, run));
    print_table(run);
    print_table_orders(run);
    return STATUS_OK;
}

static enum status run_pic_sort(struct bench *bench)
{
    const struct options *options = bench->options;
    const uint32_t *cells = options->cells;
    struct run *run = NULL;
    TRY(DEVICE_NEW(bench->device, run));
    run->bench = bench;
    run->options = options;
    TRY(plan_cases(run));
    TRY(pic_keys_create(bench->part, &run->grid, options->particles, &run->keys));
    TRY(bench_copy(bench, buffer_bytes(run->keys.particles.attribute[ATTRIBUTE_OFFSET])));
    printf("pic-sort: %u particles in %ux%u cells, moved by u/%u and v/%u, on %s\n", options->particles,
           cells[0], cells[1], cells[0], cells[1], bench->info->name);
    printf("phases of one sort at a time; the total, of a sort in a row of them\n");
    bench_print_copy(bench);
    for (int order = 0; order < KEY_ORDERS; order++)
        if ((options->orders >> order & 1U) != 0)
            TRY(run_order(run, (enum key_order)order));
    return STATUS_OK;
}

static const struct choice order_words[] = {{"one-way", KEYS_ONE_WAY},   {"both-ways", KEYS_BOTH_WAYS},
                                            {"random", KEYS_RANDOM},     {"sorted", KEYS_SORTED},
                                            {"reversed", KEYS_REVERSED}, {NULL, 0}};

static const struct option_row rows[] = {
    {"particles", 'N', "N", OPTION_NUMBER, AT(particles), 1, UINT32_C(1) << 31, .usual = "8388608",
     .help = "Particles (N)"},
    {"cells", 0, "C|NXxNY", OPTION_CELLS, AT(cells), 2, 16384, .usual = "32",
     .help = "Cells along each side of the unit square"},
    {"key-bits", 0, "B,...", OPTION_LIST, AT(key_bits), 1, 32, .most = MOST_KEYS, .distinct = true,
     .help = "Bits of the key (b), one sort each. Without it the short key, ceil(log2 C^2) bits, and 30"},
    {"radix-bits", 0, "R", OPTION_NUMBER, AT(radix_bits), 1, 16, .usual = "5",
     .help = "Bits of a digit (r); the passes are p = ceil(b/r). Without it auto chooses the passes"},
    PAPER_ROWS,
    {"table", 0, "auto|columns|rows,...", OPTION_SET, AT(tables), .as_in = "sort.table", .distinct = true,
     .owners = OF_PAPER, .usual = "auto",
     .help = "How the histogram of paper lies: a column an item or a row; one sort of every key each. auto, "
             "by the device, without it"},
    {"method", 0, "NAME", OPTION_CHOICE, AT(sort.method), .choices = sort_words, .distinct = true,
     .usual = "paper",
     .help = "paper, tiled (for GPUs), chunked (for CPUs), or auto: what a run takes by default"},
    {"order", 0, "NAME,...", OPTION_SET, AT(orders), .choices = order_words, .distinct = true,
     .usual = "one-way",
     .help = "Orders of the keys, one sort each: one-way and both-ways, where u and v are in [0, 1) or "
             "[-1, 1); random; sorted; reversed"},
    COMMON_ROWS("10", "Timed sorts of each kind, after two to warm up"),
    {"no-host", 0, NULL, OPTION_SWITCH, AT(device_alone),
     .help = "Leave out the sorts on the host, which take long for many keys"},
    {"write-keys", 0, "FILE", OPTION_TEXT, AT(keys_path),
     .help = "Write the keys that are sorted, the cells of the moved particles, to FILE: raw 32-bit numbers, "
             "for another program to sort; with several orders FILE.one-way and so on"},
};

const struct experiment experiment_pic_sort = {
    .name = "pic-sort",
    .summary = "the paper's Table 7: sorting particles in p=2 against p=6",
    .options =
        OPTION_TABLE(rows, "method",
                     "Sort particles that have moved by up to one cell, by a short key and by a long one.\v"
                     "The experiment of section 4.2 and Table 7 of P. Helluy, hal-00596730: positions and "
                     "velocities from four van der Corput sequences in the unit square, a first sort, a move "
                     "by u/C and v/C modulo 1, then the sort that is timed, with its permutation. Beside it, "
                     "on the host, the C library's qsort and a serial counting sort of the same keys.\n\n"
                     "Examples:\n"
                     "  radixpic bench pic-sort\n"
                     "  radixpic bench pic-sort --particles 1048576 --radix-bits 10 --device cpu\n"
                     "  radixpic bench pic-sort --key-bits 10,20 --csv pic_sort.csv\n"
                     "  radixpic bench pic-sort --table columns,rows\n"),
    .run = run_pic_sort,
    .wrong = "a sort returned a wrong result",
    .warm_ups = 2,
};
