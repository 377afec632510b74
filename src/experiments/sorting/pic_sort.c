/* PIC sort: section 4.2 and Table 7 of the paper of sorting.h. */
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
    uint32_t *permutation;                           /* found by the host's sort */
    uint64_t *pairs;                                 /* of key and index */
    struct sort_verdict verdict;                     /* on the host's sort */
    double reference;                                /* seconds of the host's sort; 0: it does not run */
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

ASCENDING(ascending, uint64_t)

static enum status run_on_host(void *context)
{
    const struct run *run = context;
    const uint32_t *keys = run->keys.list.on_host, count = run->keys.list.count;
    for (uint32_t j = 0; j < count; j++)
        run->pairs[j] = (uint64_t)keys[j] << 32 | j;
    qsort(run->pairs, count, sizeof *run->pairs, ascending);
    for (uint32_t j = 0; j < count; j++)
        run->permutation[j] = (uint32_t)run->pairs[j];
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

static enum status run_host_sort(struct bench *bench, void *context)
{
    struct run *run = context;
    const uint32_t count = run->keys.list.count;
    const struct subject subject = {run, NULL, run_on_host, verify_on_host, .on_host = true};
    struct times times;
    TRY(DEVICE_NEW_ARRAY(bench->part, run->permutation, count));
    TRY(DEVICE_NEW_ARRAY(bench->part, run->pairs, count));
    TRY(bench_time(bench, &subject, 1, &times));
    run->reference = times.wall.median;
    bench_words(bench, true, times.verified, "method=qsort N=%u", count);
    printf("\nqsort on the host, one thread, with permutation:\n");
    bench_head(&sort_table);
    sort_row(bench, "total", count, times.wall, 0, spread_rate(run->reference, times.wall));
    sort_print_verdict(bench, &run->verdict);
    return STATUS_OK;
}

/* Table 7 of the paper, and its own rows: the total of each sort, over that of the first key with the same
 * table, and over that with the first table of the same key. */
static void print_totals(const struct run *run)
{
    static const struct bench_table totals_table = {
        .columns = {WORD("device", "device", 34), WORD("b", "b", 2), WORD("p", "p", 2),
                    WORD("table", "table", 7), SPREAD("ms", NULL, 1e3), NUMBER("over the first b", NULL, 1),
                    NUMBER("over the first table", NULL, 1)}};
    static const struct {
        const char *device;
        double p2, p6; /* seconds */
    } paper[] = {{"NV 320M", 1.423, 6.708},
                 {"GTX 470", 45.0e-3, 68.0e-3},
                 {"HD 5850", 109.1e-3, 181.4e-3},
                 {"Phenom II X4, 4 cores", 83.9e-3, 175.1e-3},
                 {"Phenom II X4, 1 core", 169.6e-3, 499.2e-3}};
    struct bench *bench = run->bench;
    printf("\nTable 7 of the paper, whose own rows are of 8388608 keys:\n");
    bench_head(&totals_table);
    for (uint32_t n = 0; n < run->case_count; n++) {
        const struct sort_case *one = &run->cases[n];
        const struct spread total = one->times.total;
        const uint32_t table = n % run->table_count;
        const struct spread values[] = {
            total, spread_over(spread_of_one(total.median), run->cases[table].times.total.median),
            spread_over(spread_of_one(total.median), run->cases[n - table].times.total.median)};
        bench_words(bench, false, one->times.verified, "device=%s b=%u p=%u table=%s", bench->info->name,
                    one->plan.key_bits, one->plan.passes, radix_plan_table_name(&one->plan.radix));
        bench_print(bench, &totals_table, NULL, values, NULL);
    }
    for (size_t n = 0; n < 2 * sizeof paper / sizeof paper[0]; n++) {
        const double p2 = paper[n / 2].p2, seconds = n % 2 == 0 ? p2 : paper[n / 2].p6;
        const struct spread values[] = {spread_of_one(seconds), spread_of_one(seconds / p2), {.count = 0}};
        bench_words(bench, false, NOT_COMPARED, "device=the paper: %s b=%u p=%u", paper[n / 2].device,
                    n % 2 == 0 ? 10 : 30, n % 2 == 0 ? 2 : 6);
        bench_print(bench, &totals_table, NULL, values, NULL);
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
    if (!options->device_alone)
        TRY(bench_case(bench, run_host_sort, run));
    for (uint32_t n = 0; n < run->case_count; n++) {
        struct sort_cases of_key = {&run->cases[n], run->table_count};
        run->cases[n].order = word;
        run->cases[n].row = 0;
        if (n % run->table_count == 0)
            TRY(bench_case(bench, sort_cases_time, &of_key));
        sort_report(&run->cases[n], run->reference);
    }
    if (run->case_count > 1)
        print_totals(run);
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
     .help = "Leave out the sort on the host, which takes long for many keys"},
    {"write-keys", 0, "FILE", OPTION_TEXT, AT(keys_path),
     .help = "Write the keys that are sorted, the cells of the moved particles, to FILE: raw 32-bit numbers, "
             "for another program to sort; with several orders FILE.one-way and so on"},
};

const struct experiment experiment_pic_sort = {
    .name = "pic-sort",
    .summary = "the paper's Table 7: sorting particles in p=2 against p=6",
    .options = OPTION_TABLE(
        rows, "method",
        "Sort particles that have moved by up to one cell, by a short key and by a long one.\v"
        "The experiment of section 4.2 and Table 7 of P. Helluy, hal-00596730: particles from van "
        "der Corput sequences are sorted, moved by u/C and v/C, and sorted again, which is "
        "timed. Speedups are over the C library's qsort of the same keys.\n\n"
        "Examples:\n"
        "  radixpic bench pic-sort\n"
        "  radixpic bench pic-sort --particles 1048576 --radix-bits 10 --device cpu\n"
        "  radixpic bench pic-sort --key-bits 10,20 --csv pic_sort.csv\n"
        "  radixpic bench pic-sort --table columns,rows\n"),
    .run = run_pic_sort,
    .wrong = "a sort returned a wrong result",
    .warm_ups = 2,
};
