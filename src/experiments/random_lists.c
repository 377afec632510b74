/* Random lists: the keys, the sorts, and one table for every length. */
#include "experiments/random_lists.h"

#include "experiments/csv_file.h"
#include "experiments/host_sorts.h"
#include "experiments/random_lists_options.h"
#include "experiments/samples.h"
#include "experiments/sort_phases.h"
#include "sort/chunked_sort.h"
#include "sort/tiled_sort.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2, USUAL_REPEATS = 10, FEW_REPEATS = 3, LONG_LIST = 1 << 24, MOST_HOST_REPEATS = 3 };
enum { RAND_BITS = 31 }; /* of the C library's rand() */

/* One row of a table. */
struct result {
    const char *name;
    bool on_host, ran, verified;
    char note[512]; /* parameters, or why the method did not run */
    struct samples phase[SORT_PHASES];
    struct samples total; /* from before the first kernel to after the last, on the device's clock */
    uint64_t bytes;
};

/* What is timed now. */
struct experiment {
    struct random_lists_options options;
    struct device *device;
    uint32_t count, repeats;
    uint32_t *keys, *sorted;                         /* the list, and the same sorted on the host */
    struct buffer *list, *sorted_list, *permutation; /* of the device */
    struct samples copy;
    struct result results[RANDOM_METHODS + 1]; /* the last one is the host's */
    bool verified;
    FILE *csv;
};

/* One of the three; the others are NULL. */
struct any_sort {
    struct radix_sort *paper;
    struct chunked_sort *chunked;
    struct tiled_sort *tiled;
};

/* ---- the list ---- */

/* The same list in every run. The high bits of rand() are the more random ones. */
static void make_keys(struct experiment *experiment)
{
    srand(1);
    for (uint32_t j = 0; j < experiment->count; j++)
        experiment->keys[j] = (uint32_t)rand() >> (RAND_BITS - experiment->options.key_bits);
}

static int ascending(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void sort_on_host(struct experiment *experiment)
{
    struct result *result = &experiment->results[RANDOM_METHODS];
    const uint32_t repeats =
        experiment->repeats < MOST_HOST_REPEATS ? experiment->repeats : MOST_HOST_REPEATS;
    *result = (struct result){.name = "qsort", .on_host = true, .ran = true, .verified = true};
    snprintf(result->note, sizeof result->note, "of the C library, on the host, one thread");
    for (uint32_t n = 0; n < repeats; n++) {
        memcpy(experiment->sorted, experiment->keys, experiment->count * sizeof *experiment->sorted);
        const double start = timer_now();
        qsort(experiment->sorted, experiment->count, sizeof *experiment->sorted, ascending);
        samples_add(&result->total, timer_now() - start);
    }
    for (uint32_t j = 1; j < experiment->count; j++)
        if (experiment->sorted[j - 1] > experiment->sorted[j])
            result->verified = false;
}

static enum status create_list(struct experiment *experiment, uint32_t count)
{
    const size_t bytes = count * sizeof(uint32_t);
    const bool is_long = device_info(experiment->device)->is_cpu && count > LONG_LIST;
    const uint32_t wanted = experiment->options.repeats;
    experiment->count = count;
    experiment->repeats = wanted > 0 ? wanted : is_long ? FEW_REPEATS : USUAL_REPEATS;
    experiment->keys = malloc(bytes);
    experiment->sorted = malloc(bytes);
    if (!experiment->keys || !experiment->sorted)
        return status_fail(STATUS_FAILED, "no memory for two lists of %u keys on the host", count);
    TRY(buffer_create(experiment->device, bytes, "keys", &experiment->list));
    TRY(buffer_create(experiment->device, bytes, "sorted keys", &experiment->sorted_list));
    TRY(buffer_create(experiment->device, bytes, "permutation", &experiment->permutation));
    make_keys(experiment);
    return buffer_write(experiment->list, 0, bytes, experiment->keys);
}

static void destroy_list(struct experiment *experiment)
{
    buffer_destroy(&experiment->list);
    buffer_destroy(&experiment->sorted_list);
    buffer_destroy(&experiment->permutation);
    free(experiment->keys);
    free(experiment->sorted);
    experiment->keys = experiment->sorted = NULL;
}

/* ---- the sorts ---- */

static enum status create_paper(struct experiment *experiment, struct any_sort *sort, struct result *result)
{
    const struct random_lists_options *options = &experiment->options;
    const struct device_info *info = device_info(experiment->device);
    const uint32_t usual = info->is_cpu ? 6 : 5; /* the paper's Table 3 */
    const uint32_t wanted = options->paper.radix_bits > 0 ? options->paper.radix_bits : usual;
    const uint32_t radix_bits = paper_digit_bits(wanted, options->key_bits);
    const struct sort_config config =
        paper_sort_config(&options->paper, options->key_bits, radix_bits, options->table);
    struct radix_plan plan;
    TRY(radix_plan_make_radix(info, &config, options->key_bits, radix_bits, &plan));
    snprintf(result->note, sizeof result->note,
             "r = %u, p = %u; I = %u, G = %u, s = %u, table %s; keys alone", plan.radix_bits, plan.passes,
             plan.items_per_group, plan.groups, plan.histogram_splits, radix_plan_table_name(&plan));
    return radix_sort_create(experiment->device, &plan, experiment->count, false, false, &sort->paper);
}

static enum status create_chunked(struct experiment *experiment, struct any_sort *sort, struct result *result)
{
    TRY(chunked_sort_create(experiment->device, experiment->options.key_bits, experiment->count, NULL,
                            &sort->chunked));
    snprintf(result->note, sizeof result->note, "p = %u; with permutation",
             chunked_sort_passes(sort->chunked));
    return STATUS_OK;
}

static enum status create_tiled(struct experiment *experiment, struct any_sort *sort, struct result *result)
{
    TRY(tiled_sort_create(experiment->device, experiment->options.key_bits, 0, experiment->count, NULL,
                          &sort->tiled));
    snprintf(result->note, sizeof result->note, "as few passes as can be; with permutation");
    return STATUS_OK;
}

static enum status run_sort(const struct experiment *experiment, const struct any_sort *sort)
{
    struct radix_lists lists = {.keys = experiment->list, .sorted_keys = experiment->sorted_list};
    if (sort->paper)
        return radix_sort_run(sort->paper, experiment->count, &lists);
    lists.permutation = experiment->permutation;
    return sort->chunked ? chunked_sort_run(sort->chunked, experiment->count, &lists)
                         : tiled_sort_run(sort->tiled, experiment->count, &lists);
}

static enum status time_sort(struct experiment *experiment, const struct any_sort *sort,
                             struct result *result)
{
    struct device *device = experiment->device;
    for (uint32_t n = 0; n < experiment->repeats + WARM_UPS; n++) {
        device_reset_timers(device);
        TRY(device_region_begin(device));
        TRY(run_sort(experiment, sort));
        TRY(device_region_end(device, STAGE_OTHER, 0));
        TRY(device_finish(device));
        if (n < WARM_UPS)
            continue;
        const struct timers *timers = device_timers(device);
        result->bytes = 0;
        for (size_t p = 0; p < SORT_PHASES; p++) {
            samples_add(&result->phase[p], timers->stages[sort_phases[p].stage].seconds);
            result->bytes += timers->stages[sort_phases[p].stage].bytes;
        }
        samples_add(&result->total, timers->stages[STAGE_OTHER].seconds);
    }
    return STATUS_OK;
}

/* The sorted list must be the host's, and a permutation the stable one. */
static enum status verify(const struct experiment *experiment, bool with_permutation, struct result *result)
{
    const size_t bytes = experiment->count * sizeof(uint32_t);
    uint32_t *keys = malloc(bytes), *sigma = malloc(bytes);
    struct sort_verdict verdict = {true, true, true};
    enum status status = keys && sigma ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to verify a sort");
    if (status == STATUS_OK)
        status = buffer_read(experiment->sorted_list, 0, bytes, keys);
    if (status == STATUS_OK && with_permutation)
        status = buffer_read(experiment->permutation, 0, bytes, sigma);
    if (status == STATUS_OK && with_permutation)
        status = host_judge_sort(experiment->keys, keys, sigma, experiment->count, &verdict);
    result->verified = status == STATUS_OK && memcmp(keys, experiment->sorted, bytes) == 0 &&
                       verdict.sorted && verdict.stable && verdict.permutation;
    free(keys);
    free(sigma);
    return status;
}

static enum status run_method(struct experiment *experiment, enum random_method method, struct result *result)
{
    static enum status (*const create[RANDOM_METHODS])(struct experiment *, struct any_sort *,
                                                       struct result *) = {
        [RANDOM_PAPER] = create_paper, [RANDOM_CHUNKED] = create_chunked, [RANDOM_TILED] = create_tiled};
    const uint32_t key_bits = experiment->options.key_bits;
    struct any_sort sort = {0};
    enum status status = STATUS_OK;
    *result = (struct result){.name = random_method_name(method)};
    if (method == RANDOM_TILED && key_bits > TILED_SORT_MAX_KEY_BITS) {
        snprintf(result->note, sizeof result->note, "not for b = %u: its keys have at most %d bits", key_bits,
                 TILED_SORT_MAX_KEY_BITS);
        return STATUS_OK;
    }
    if (method == RANDOM_TILED && !tiled_sort_supports(device_info(experiment->device), key_bits)) {
        snprintf(result->note, sizeof result->note, "not for b = %u on this device", key_bits);
        return STATUS_OK;
    }
    TRY_CLEANUP(buffer_fill(experiment->sorted_list, UINT32_MAX)); /* no result of the sort before this one */
    TRY_CLEANUP(buffer_fill(experiment->permutation, UINT32_MAX));
    TRY_CLEANUP(create[method](experiment, &sort, result));
    TRY_CLEANUP(time_sort(experiment, &sort, result));
    TRY_CLEANUP(verify(experiment, method != RANDOM_PAPER, result));
    result->ran = true;
cleanup:
    radix_sort_destroy(&sort.paper);
    chunked_sort_destroy(&sort.chunked);
    tiled_sort_destroy(&sort.tiled);
    return status;
}

/* ---- tables ---- */

static double copy_bandwidth(const struct experiment *experiment)
{
    const double seconds = samples_median(&experiment->copy);
    return seconds > 0 ? 2e-9 * (double)(experiment->count * sizeof(uint32_t)) / seconds : 0;
}

static void print_head(const struct experiment *experiment)
{
    static const char *const tables[][2] = {{"1048576", "4"}, {"8388608", "5"}, {"33554432", "6"}};
    char count[16], table[32] = "";
    snprintf(count, sizeof count, "%u", experiment->count);
    for (size_t n = 0; n < sizeof tables / sizeof tables[0]; n++)
        if (strcmp(count, tables[n][0]) == 0 && experiment->options.key_bits == RANDOM_LISTS_KEY_BITS)
            snprintf(table, sizeof table, ", Table %s of the paper", tables[n][1]);
    printf("\n%s random keys of b = %u bits%s; ms, medians of %u, copy on the device %.2f GB/s:\n", count,
           experiment->options.key_bits, table, experiment->repeats, copy_bandwidth(experiment));
    printf("  %-8s", "method");
    for (size_t p = 0; p < SORT_PHASES; p++)
        printf(" %10s", sort_phases[p].name);
    printf(" %10s  [%10s, %10s] %8s %9s %9s\n", "total", "min", "max", "speedup", "Mkeys/s", "of a copy");
}

static void print_result(const struct experiment *experiment, const struct result *result)
{
    const double total = samples_median(&result->total);
    const double reference = samples_median(&experiment->results[RANDOM_METHODS].total);
    printf("  %-8s", result->name);
    if (!result->ran) {
        printf(" %s\n", result->note);
        return;
    }
    for (size_t p = 0; p < SORT_PHASES; p++)
        if (samples_maximum(&result->phase[p]) > 0)
            printf(" %10.3f", 1e3 * samples_median(&result->phase[p]));
        else
            printf(" %10s", "-");
    printf(" %10.3f  [%10.3f, %10.3f] %8.2f %9.1f", 1e3 * total, 1e3 * samples_minimum(&result->total),
           1e3 * samples_maximum(&result->total), total > 0 ? reference / total : 0,
           total > 0 ? 1e-6 * experiment->count / total : 0);
    if (result->bytes > 0 && total > 0)
        printf(" %7.1f %%", 100 * 1e-9 * (double)result->bytes / total / copy_bandwidth(experiment));
    else
        printf(" %9s", "-");
    printf("  %s: %s\n", result->verified ? "verified" : "NOT SORTED", result->note);
}

static const char csv_header[] =
    "device,method,keys,key_bits,phase,median_ms,min_ms,max_ms,repeats,speedup,verified";

static void write_csv_row(const struct experiment *experiment, const struct result *result, const char *phase,
                          const struct samples *samples)
{
    const double seconds = samples_median(samples);
    const double reference = samples_median(&experiment->results[RANDOM_METHODS].total);
    const char *device = result->on_host ? "host" : device_info(experiment->device)->name;
    fprintf(experiment->csv, "\"%s\",%s,%u,%u,%s,%.6f,%.6f,%.6f,%zu,", device, result->name,
            experiment->count, experiment->options.key_bits, phase, 1e3 * seconds,
            1e3 * samples_minimum(samples), 1e3 * samples_maximum(samples), samples->count);
    if (samples == &result->total && seconds > 0)
        fprintf(experiment->csv, "%.4f", reference / seconds);
    fprintf(experiment->csv, ",%s\n", result->verified ? "yes" : "no");
}

static void write_csv(const struct experiment *experiment, const struct result *result)
{
    for (size_t p = 0; p < SORT_PHASES && !result->on_host; p++)
        write_csv_row(experiment, result, sort_phases[p].name, &result->phase[p]);
    write_csv_row(experiment, result, "total", &result->total);
}

/* ---- the whole ---- */

/* The host goes first: its sorted list judges the others, its time is the unit of their speedup. */
static enum status run_size(struct experiment *experiment)
{
    TRY(samples_of_copy(experiment->device, experiment->count * sizeof(uint32_t), experiment->repeats,
                        &experiment->copy));
    sort_on_host(experiment);
    print_head(experiment);
    for (int n = 0; n <= RANDOM_METHODS; n++) {
        struct result *result = &experiment->results[n];
        if (n < RANDOM_METHODS && !experiment->options.methods[n])
            continue;
        if (n < RANDOM_METHODS)
            TRY(run_method(experiment, (enum random_method)n, result));
        print_result(experiment, result);
        fflush(stdout);
        if (experiment->csv && result->ran)
            write_csv(experiment, result);
        experiment->verified = experiment->verified && (result->verified || !result->ran);
    }
    return STATUS_OK;
}

static enum status run(struct experiment *experiment)
{
    const struct random_lists_options *options = &experiment->options;
    TRY(device_open(options->device, &experiment->device));
    TRY(csv_file_open(options->csv_path, csv_header, &experiment->csv));
    printf("random-lists: keys from rand(), on %s\n", device_info(experiment->device)->name);
    for (uint32_t n = 0; n < options->size_count; n++) {
        enum status status = create_list(experiment, options->sizes[n]);
        if (status == STATUS_OK)
            status = run_size(experiment);
        destroy_list(experiment);
        TRY(status);
    }
    return experiment->verified ? STATUS_OK
                                : status_fail(STATUS_FAILED, "a list was not sorted rightly; see above");
}

enum status experiment_random_lists(int argc, char **argv)
{
    struct experiment *experiment = calloc(1, sizeof *experiment);
    bool done = false;
    if (!experiment)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    experiment->verified = true;
    enum status status = random_lists_options_parse(argc, argv, &experiment->options, &done);
    if (status == STATUS_OK && !done)
        status = run(experiment);
    status = csv_file_close(experiment->options.csv_path, &experiment->csv, status);
    device_close(&experiment->device);
    free(experiment);
    return status;
}
