/* Random lists: section 4.1 and Tables 4 to 6 of the paper of sorting.h. */
#include "experiments/sorting/sorting.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_REPEATS = 10, LONG_REPEATS = 3, LONG_LIST = 1 << 24 };
enum { MOST_KEY_BITS = 30, RAND_BITS = 31 /* of the C library's rand() */ };

struct options {
    struct common_options common;
    struct option_list sizes;
    uint32_t methods; /* bit set */
    uint32_t radix_bits;
    struct sort_config sort;
};

/* One length: the list, and the same sorted on the host. */
struct run {
    struct bench *bench;
    const struct options *options;
    struct sort_list list;
    uint32_t *sorted;
    double reference; /* the host's seconds */
};

/* ---- the host ---- */

ASCENDING(ascending, uint32_t)

static enum status copy_keys(void *context)
{
    const struct run *run = context;
    memcpy(run->sorted, run->list.on_host, run->list.count * sizeof *run->sorted);
    return STATUS_OK;
}

static enum status sort_on_host(void *context)
{
    const struct run *run = context;
    qsort(run->sorted, run->list.count, sizeof *run->sorted, ascending);
    return STATUS_OK;
}

static enum status verify_on_host(void *context, bool *right)
{
    const struct run *run = context;
    *right = true;
    for (uint32_t j = 1; j < run->list.count; j++)
        *right = *right && run->sorted[j - 1] <= run->sorted[j];
    return STATUS_OK;
}

/* Makes the same list in every run. The high bits of rand() are the more random ones. */
static enum status make_list(struct run *run, uint32_t count)
{
    struct device *part = run->bench->part;
    TRY(sort_list_create(part, count, 0, &run->list));
    TRY(DEVICE_NEW_ARRAY(part, run->list.on_host, count));
    TRY(DEVICE_NEW_ARRAY(part, run->sorted, count));
    run->list.in_order = run->sorted;
    srand(1);
    for (uint32_t j = 0; j < count; j++)
        run->list.on_host[j] = (uint32_t)rand() >> (RAND_BITS - run->options->sort.key_bits);
    return buffer_write(run->list.keys, 0, count * sizeof(uint32_t), run->list.on_host);
}

/* ---- the whole ---- */

/* The method paper returns the list alone. */
static enum status run_method(struct run *run, enum sort_method method)
{
    const struct device_info *info = run->bench->info;
    const bool is_paper = method == SORT_METHOD_PAPER;
    const uint32_t usual = info->is_cpu ? 6 : 5; /* the paper's Table 3 */
    const uint32_t radix_bits = run->options->radix_bits > 0 ? run->options->radix_bits : usual;
    struct sort_config sort = run->options->sort;
    struct sort_case one = {.list = &run->list};
    sort.method = method;
    const enum status status =
        sort_plan_make(info, &sort, is_paper ? radix_bits : 0, run->list.count, &one.plan);
    if (status != STATUS_OK && method == SORT_METHOD_TILED) { /* which does not sort long keys */
        printf("\n%s\n", status_message());
        return STATUS_OK;
    }
    TRY(status);
    one.plan.keys_alone = is_paper;
    TRY(bench_case(run->bench, sort_cases_time, &(struct sort_cases){&one, 1}));
    sort_report(&one, run->reference);
    return STATUS_OK;
}

/* The host goes first: its sorted list judges the others, its time is the unit of their speedup. */
static enum status run_length(struct bench *bench, void *length)
{
    static const enum sort_method methods[] = {SORT_METHOD_PAPER, SORT_METHOD_CHUNKED, SORT_METHOD_TILED};
    const uint32_t count = *(const uint32_t *)length;
    struct run run = {.bench = bench, .options = bench->options};
    const struct subject subject = {&run, copy_keys, sort_on_host, verify_on_host, .on_host = true};
    struct times host;
    TRY(make_list(&run, count));
    TRY(bench_copy(bench, count * sizeof(uint32_t)));
    TRY(bench_time(bench, &subject, 1, &host));
    run.reference = host.wall.median;
    printf("\n%u random keys of b = %u bits; medians of %u\n", count, run.options->sort.key_bits,
           bench->repeats);
    bench_print_copy(bench);
    for (size_t n = 0; n < sizeof methods / sizeof methods[0]; n++)
        if ((run.options->methods >> methods[n] & 1U) != 0)
            TRY(run_method(&run, methods[n]));
    bench_words(bench, true, host.verified, "method=qsort N=%u b=%u", count, run.options->sort.key_bits);
    printf("\nqsort of the C library, on the host, one thread:\n");
    bench_head(&sort_table);
    sort_row(bench, "total", count, host.wall, 0, spread_rate(run.reference, host.wall));
    bench_print_verdict(bench, "the keys rise");
    return STATUS_OK;
}

static enum status run_random_lists(struct bench *bench)
{
    struct options *options = bench->options;
    printf("random-lists: keys from rand(), on %s\n", bench->info->name);
    for (uint32_t n = 0; n < options->sizes.count; n++) {
        if (options->common.repeats == 0)
            bench->repeats =
                bench->info->is_cpu && options->sizes.items[n] > LONG_LIST ? LONG_REPEATS : USUAL_REPEATS;
        TRY(bench_case(bench, run_length, &options->sizes.items[n]));
    }
    return STATUS_OK;
}

static const struct option_row rows[] = {
    {"sizes", 0, "N,...", OPTION_LIST, AT(sizes), 1, UINT32_C(1) << 31, .most = 16, .distinct = true,
     .usual = "1048576,8388608,33554432", .help = "Lengths of the lists (N)"},
    {"key-bits", 0, "B", OPTION_NUMBER, AT(sort.key_bits), 1, MOST_KEY_BITS, .usual = "30",
     .help = "Bits of a key (b), at most 30"},
    {"method", 0, "NAME,...", OPTION_SET, AT(methods), .choices = sort_words + 1 /* all but auto */,
     .usual = "paper,tiled,chunked",
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
    .options = OPTION_TABLE(
        rows, "method",
        "Sort lists of random keys.\v"
        "The experiment of section 4.1 and Tables 4 to 6 of P. Helluy, hal-00596730: keys from the C "
        "library's rand(), sorted by the method of the paper, which returns the sorted list alone, and by "
        "the others, which make the permutation too. Speedups are over the C library's qsort of the same "
        "list. Phases are those of one sort at a time, the total is of a sort in a row of them.\n\n"
        "Examples:\n"
        "  radixpic bench random-lists\n"
        "  radixpic bench random-lists --sizes 1048576 --method paper --device cpu\n"
        "  radixpic bench random-lists --key-bits 24 --csv random_lists.csv\n"),
    .run = run_random_lists,
    .wrong = "a list was not sorted rightly",
    .warm_ups = 2,
};
