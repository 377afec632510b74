/* Random lists: section 4.1 and Tables 4 to 6 of P. Helluy, "A portable implementation of the radix sort
 * algorithm in OpenCL", 2011. */
#include "experiments/sorting/sorting.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2, USUAL_REPEATS = 10, FEW_REPEATS = 3, LONG_LIST = 1 << 24, MOST_HOST_REPEATS = 3 };
enum { MOST_KEY_BITS = 30, RAND_BITS = 31 /* of the C library's rand() */ };

struct options {
    struct common_options common;
    struct option_list sizes;
    uint32_t methods; /* bit set */
    uint32_t radix_bits;
    struct sort_config sort;
};

/* One length: the list, the same sorted on the host, and the device's sort at hand. */
struct run {
    struct bench *bench;
    const struct options *options;
    uint32_t count, repeats;
    uint32_t *keys, *sorted, *found; /* on the host */
    struct radix_lists lists;
    double reference; /* the host's seconds */
    enum sort_method method;
    struct sorter_plan plan;
    struct radix_sort *paper; /* which returns the list alone; of the other methods NULL */
    struct sorter *sorter;    /* of the others */
    struct times times;
};

/* ---- the host ---- */

static int ascending(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static enum status copy_keys(void *context)
{
    const struct run *run = context;
    memcpy(run->sorted, run->keys, run->count * sizeof *run->sorted);
    return STATUS_OK;
}

static enum status sort_on_host(void *context)
{
    const struct run *run = context;
    qsort(run->sorted, run->count, sizeof *run->sorted, ascending);
    return STATUS_OK;
}

static enum status verify_on_host(void *context, bool *right)
{
    const struct run *run = context;
    *right = true;
    for (uint32_t j = 1; j < run->count; j++)
        *right = *right && run->sorted[j - 1] <= run->sorted[j];
    return STATUS_OK;
}

/* The same list in every run. The high bits of rand() are the more random ones. */
static enum status make_list(struct run *run)
{
    struct device *part = run->bench->part;
    const size_t bytes = run->count * sizeof(uint32_t);
    struct buffer *keys = NULL;
    TRY(DEVICE_NEW_ARRAY(part, run->keys, run->count));
    TRY(DEVICE_NEW_ARRAY(part, run->sorted, run->count));
    TRY(DEVICE_NEW_ARRAY(part, run->found, run->count));
    TRY(buffer_create(part, bytes, "keys", &keys));
    TRY(buffer_create(part, bytes, "sorted keys", &run->lists.sorted_keys));
    TRY(buffer_create(part, bytes, "permutation", &run->lists.permutation));
    srand(1);
    for (uint32_t j = 0; j < run->count; j++)
        run->keys[j] = (uint32_t)rand() >> (RAND_BITS - run->options->sort.key_bits);
    run->lists.keys = keys;
    return buffer_write(keys, 0, bytes, run->keys);
}

/* ---- the device ---- */

/* No result of the sort before this one. */
static enum status clear_results(void *context)
{
    const struct run *run = context;
    TRY(buffer_fill(run->lists.sorted_keys, UINT32_MAX));
    return buffer_fill(run->lists.permutation, UINT32_MAX);
}

static enum status run_sort(void *context)
{
    const struct run *run = context;
    struct radix_lists lists = run->lists;
    if (!run->paper)
        return sorter_run(run->sorter, run->count, &lists);
    lists.permutation = NULL;
    return radix_sort_run(run->paper, run->count, &lists);
}

/* The sorted list must be the host's, and a permutation the stable one. */
static enum status verify_sort(void *context, bool *right)
{
    const struct run *run = context;
    const size_t bytes = run->count * sizeof *run->found;
    struct sort_verdict verdict = {true, true, true};
    TRY(buffer_read(run->lists.sorted_keys, 0, bytes, run->found));
    if (!run->paper)
        TRY(device_judge_sort(run->bench->part, run->keys, run->count, &run->lists, &verdict));
    *right = sort_is_right(&verdict) && memcmp(run->found, run->sorted, bytes) == 0;
    return STATUS_OK;
}

static enum status time_sort(struct bench *bench, void *context)
{
    struct run *run = context;
    const uint32_t usual = bench->info->is_cpu ? 6 : 5; /* the paper's Table 3 */
    const uint32_t radix_bits = run->options->radix_bits > 0 ? run->options->radix_bits : usual;
    const bool is_paper = run->method == SORT_METHOD_PAPER;
    struct sort_config sort = run->options->sort;
    const struct subject subject = {.context = run,
                                    .prepare = clear_results,
                                    .run = run_sort,
                                    .verify = verify_sort,
                                    .warm_ups = WARM_UPS,
                                    .repeats = run->repeats,
                                    .in_one_piece = true};
    run->paper = NULL;
    sort.method = run->method;
    TRY(sort_plan_make(bench->info, &sort, is_paper ? radix_bits : 0, run->count, &run->plan));
    if (is_paper)
        TRY(radix_sort_create(bench->part, &run->plan.radix, run->count, false, false, &run->paper));
    else
        TRY(sorter_create(bench->part, &run->plan, run->count, &run->sorter));
    return bench_time(bench, &subject, 1, &run->times);
}

/* ---- tables ---- */

static void print_head(const struct run *run)
{
    static const uint32_t tables[][2] = {{1048576, 4}, {8388608, 5}, {33554432, 6}};
    char table[32] = "";
    for (size_t n = 0; n < sizeof tables / sizeof tables[0]; n++)
        if (run->count == tables[n][0] && run->options->sort.key_bits == MOST_KEY_BITS)
            snprintf(table, sizeof table, ", Table %u of the paper", tables[n][1]);
    printf("\n%u random keys of b = %u bits%s; ms, medians of %u, copy on the device %.2f GB/s:\n",
           run->count, run->options->sort.key_bits, table, run->repeats, bench_copy_rate(run->bench));
    printf("  %-8s", "method");
    for (enum stage phase = first_sort_phase; phase <= last_sort_phase; phase++)
        printf(" %10s", sort_phase_name(phase));
    printf(" %10s  [%10s, %10s] %8s %9s %9s\n", "total", "min", "max", "speedup", "Mkeys/s", "of a copy");
}

static void print_row(const struct run *run, const char *name, const char *note)
{
    const struct times *times = &run->times;
    const struct spread total = times->total;
    const double moved = per_second(1e-9 * (double)times_bytes(times), total.median);
    printf("  %-8s", name);
    for (enum stage phase = first_sort_phase; phase <= last_sort_phase; phase++)
        if (times->stages[phase].most > 0)
            printf(" %10.3f", 1e3 * times->stages[phase].median);
        else
            printf(" %10s", "-");
    printf(" %10.3f  [%10.3f, %10.3f] %8.2f %9.1f", 1e3 * total.median, 1e3 * total.least, 1e3 * total.most,
           per_second(run->reference, total.median), per_second(1e-6 * run->count, total.median));
    if (moved > 0)
        printf(" %7.1f %%", 100 * per_second(moved, bench_copy_rate(run->bench)));
    else
        printf(" %9s", "-");
    printf("  %s: %s\n", times->verified ? "verified" : "NOT SORTED", note);
    fflush(stdout);
    bench_row(run->bench, spread_rate(run->reference, total), 1, "speedup");
}

/* ---- the whole ---- */

static enum status run_method(struct run *run, enum sort_method method)
{
    const char *name = sort_method_name(method);
    const uint32_t key_bits = run->options->sort.key_bits;
    struct tiled_options tiles = {0};
    char sort[256], note[300];
    if (method == SORT_METHOD_TILED && tiled_sort_resolve(run->bench->info, key_bits, &tiles) != STATUS_OK) {
        printf("  %-8s not for b = %u", name, key_bits);
        if (key_bits > TILED_SORT_MAX_KEY_BITS)
            printf(": its keys have at most %d bits\n", TILED_SORT_MAX_KEY_BITS);
        else
            printf(" on this device\n");
        return STATUS_OK;
    }
    run->method = method;
    TRY(bench_case(run->bench, time_sort, run));
    sorter_plan_describe(&run->plan, sort, sizeof sort);
    snprintf(note, sizeof note, "%s; %s", sort, run->paper ? "keys alone" : "with permutation");
    sort_write(run->bench, &run->plan, run->count, &run->times);
    print_row(run, name, note);
    return STATUS_OK;
}

/* The host goes first: its sorted list judges the others, its time is the unit of their speedup. */
static enum status run_length(struct bench *bench, void *context)
{
    static const enum sort_method methods[] = {SORT_METHOD_PAPER, SORT_METHOD_CHUNKED, SORT_METHOD_TILED};
    struct run *run = context;
    const struct subject subject = {.context = run,
                                    .prepare = copy_keys,
                                    .run = sort_on_host,
                                    .verify = verify_on_host,
                                    .repeats =
                                        run->repeats < MOST_HOST_REPEATS ? run->repeats : MOST_HOST_REPEATS,
                                    .on_host = true};
    TRY(make_list(run));
    TRY(bench_copy(bench, run->count * sizeof(uint32_t), run->repeats));
    TRY(bench_time(bench, &subject, 1, &run->times));
    const struct times host = run->times;
    run->reference = host.wall.median;
    print_head(run);
    for (size_t n = 0; n < sizeof methods / sizeof methods[0]; n++)
        if ((run->options->methods >> methods[n] & 1U) != 0)
            TRY(run_method(run, methods[n]));
    run->times = host;
    bench_words(bench, true, host.verified, "method=qsort N=%u b=%u", run->count,
                run->options->sort.key_bits);
    bench_row(bench, host.wall, 1e3, "total_ms");
    print_row(run, "qsort", "of the C library, on the host, one thread");
    return STATUS_OK;
}

static enum status run_random_lists(struct bench *bench)
{
    const struct options *options = bench->options;
    printf("random-lists: keys from rand(), on %s\n", bench->info->name);
    for (uint32_t n = 0; n < options->sizes.count; n++) {
        struct run run = {.bench = bench, .options = options, .count = options->sizes.items[n]};
        run.repeats = options->common.repeats;
        if (run.repeats == 0)
            run.repeats = bench->info->is_cpu && run.count > LONG_LIST ? FEW_REPEATS : USUAL_REPEATS;
        TRY(bench_case(bench, run_length, &run));
    }
    return STATUS_OK;
}

static const struct option_row rows[] = {
    {"sizes", 0, "N,...", OPTION_LIST, AT(sizes), 1, UINT32_C(1) << 31, .most = 16, .distinct = true,
     .usual = "1048576,8388608,33554432", .help = "Lengths of the lists (N)"},
    {"key-bits", 0, "B", OPTION_NUMBER, AT(sort.key_bits), 1, MOST_KEY_BITS, .usual = "30",
     .help = "Bits of a key (b), at most 30"},
    {"method", 0, "NAME,...", OPTION_SET, AT(methods), .choices = sort_words, .usual = "paper,tiled,chunked",
     .help = "paper, chunked (for CPUs) or tiled (for GPUs, up to 24 bits); all without it"},
    {"radix-bits", 0, "R", OPTION_NUMBER, AT(radix_bits), 1, 16, .owners = OF_PAPER,
     .help = "Bits of a digit (r) of paper; as in the paper's Table 3 6 for CPUs and 5 for GPUs without it"},
    PAPER_ROWS,
    {"table", 0, "auto|columns|rows", OPTION_CHOICE, AT(sort.table), .as_in = "sort.table", .distinct = true,
     .owners = OF_PAPER,
     .help = "How the histogram of paper lies: a column an item or a row; auto, by the device, without it"},
    COMMON_ROWS(NULL,
                "Timed sorts of each kind, after two to warm up; 10 without it, on CPUs 3 of long lists"),
};

const struct experiment experiment_random_lists = {
    .name = "random-lists",
    .summary = "the paper's Tables 4 to 6: sorting random keys of 30 bits",
    .options =
        OPTION_TABLE(rows, "method",
                     "Sort lists of random keys.\v"
                     "The experiment of section 4.1 and Tables 4 to 6 of P. Helluy, hal-00596730: keys from "
                     "the C library's rand(), sorted by the method of the paper, which returns the sorted "
                     "list alone, and by the others of this program, which always make the permutation too. "
                     "\"Speedup\" is over the C library's qsort of the same list on the host, one thread, "
                     "timed in the same run; the paper's was over an unoptimised sort of the C++ library.\n\n"
                     "Examples:\n"
                     "  radixpic bench random-lists\n"
                     "  radixpic bench random-lists --sizes 1048576 --method paper --device cpu\n"
                     "  radixpic bench random-lists --key-bits 24 --csv random_lists.csv\n"),
    .options_size = sizeof(struct options),
    .run = run_random_lists,
    .wrong = "a list was not sorted rightly",
};
