/* PIC sort: particles, two sorts, times and tables. */
#include "experiments/pic_sort.h"

#include "experiments/csv_file.h"
#include "experiments/host_sorts.h"
#include "experiments/pic_keys.h"
#include "experiments/pic_sort_options.h"
#include "experiments/samples.h"
#include "experiments/sort_phases.h"
#include "sort/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_KEY_BITS = 30, MOST_HOST_REPEATS = 3, WARM_UPS = 2, MOST_ROW = 16 };

static const double ROW_SECONDS = 0.01; /* long enough for a row of sorts */

/* ---- particles ---- */

struct experiment {
    struct pic_sort_options options;
    struct device *device;
    struct grid grid;
    struct pic_keys list;
    uint32_t *keys; /* of the moved particles, on the host */
    struct samples copy;
    FILE *csv;
};

static uint32_t short_key_bits(const struct experiment *experiment)
{
    return grid_key_bits(&experiment->grid);
}

static enum status make_plan(const struct experiment *experiment, uint32_t key_bits, enum table_kind table,
                             struct sorter_plan *plan)
{
    const struct pic_sort_options *options = &experiment->options;
    const uint32_t radix_bits = paper_digit_bits(options->paper.radix_bits, key_bits);
    struct sort_config config = paper_sort_config(&options->paper, key_bits, radix_bits, table);
    config.method = options->method;
    if (key_bits < short_key_bits(experiment))
        return status_fail(STATUS_USAGE, "--key-bits %u: %u cells need keys of %u bits", key_bits,
                           grid_cells(&experiment->grid), short_key_bits(experiment));
    TRY(sorter_plan_default(device_info(experiment->device), &config, key_bits, options->particles, plan));
    if (options->method != SORT_METHOD_PAPER)
        return STATUS_OK;
    /* The passes that cover the key may be made with fewer bits than asked for; here r is what counts. */
    TRY(radix_plan_make_radix(device_info(experiment->device), &config, key_bits, radix_bits, &plan->radix));
    plan->passes = plan->radix.passes;
    return STATUS_OK;
}

/* Fills in the default keys and refuses parameters that do not fit, before anything is created. */
static enum status check_plans(struct experiment *experiment)
{
    struct pic_sort_options *options = &experiment->options;
    experiment->grid =
        grid_make(&(struct grid_config){.cells = {options->cells, options->cells}, .length = {1, 1}});
    if (options->case_count == 0) {
        options->key_bits[options->case_count++] = short_key_bits(experiment);
        if (options->method == SORT_METHOD_PAPER)
            options->key_bits[options->case_count++] = LONG_KEY_BITS;
    }
    if (options->table_count == 0 || options->method != SORT_METHOD_PAPER)
        options->table_count = 1; /* of the first, which is auto where none was given */
    struct sorter_plan plan;
    for (uint32_t n = 0; n < options->case_count; n++)
        TRY(make_plan(experiment, options->key_bits[n], options->tables[0], &plan));
    return STATUS_OK;
}

/* ---- one case: a kind of sort, its times and its check ---- */

struct timing {
    struct samples phase[SORT_PHASES];
    uint64_t phase_bytes[SORT_PHASES];
    struct samples total; /* of a sort in a row of them, on the device's clock */
    uint64_t total_bytes;
};

struct sort_case {
    const char *method;
    bool on_host;
    struct sorter_plan plan; /* of a device sort */
    struct timing timing;
    struct sort_verdict verdict;
};

static bool is_verified(const struct sort_case *result)
{
    return result->verdict.sorted && result->verdict.stable && result->verdict.permutation;
}

/* The time of a sort among others, as in a run: of a row of them back to back, by that number. Their launches
 * are not timed one by one, since that takes time itself. `seconds`: of a sort that was. */
static enum status time_row(struct experiment *experiment, struct sorter *sorter,
                            const struct radix_lists *lists, double seconds, double *of_one)
{
    struct device *device = experiment->device;
    const uint32_t row = seconds * MOST_ROW < ROW_SECONDS ? MOST_ROW : 1 + (uint32_t)(ROW_SECONDS / seconds);
    device_reset_timers(device);
    TRY(device_region_begin(device));
    device_weigh_times(device, 0);
    for (uint32_t n = 0; n < row; n++)
        TRY(sorter_run(sorter, experiment->list.particles.count, lists));
    device_weigh_times(device, 1);
    TRY(device_region_end(device, STAGE_OTHER, 0));
    TRY(device_finish(device));
    *of_one = device_timers(device)->stages[STAGE_OTHER].seconds / row;
    return STATUS_OK;
}

/* One sort of each kind of timing; `timing` is NULL for a warm-up. */
static enum status time_sort(struct experiment *experiment, struct sorter *sorter,
                             const struct radix_lists *lists, struct timing *timing)
{
    struct device *device = experiment->device;
    device_reset_timers(device);
    TRY(sorter_run(sorter, experiment->list.particles.count, lists));
    TRY(device_finish(device));
    if (!timing)
        return STATUS_OK;
    const struct timers *timers = device_timers(device);
    double seconds = 0, of_one = 0;
    timing->total_bytes = 0;
    for (size_t p = 0; p < SORT_PHASES; p++) {
        const struct stage_time *time = &timers->stages[sort_phases[p].stage];
        samples_add(&timing->phase[p], time->seconds); /* 0 for a phase that this sort does without */
        timing->phase_bytes[p] = time->bytes;
        timing->total_bytes += time->bytes;
        seconds += time->seconds;
    }
    TRY(time_row(experiment, sorter, lists, seconds, &of_one));
    samples_add(&timing->total, of_one);
    return STATUS_OK;
}

/* Whether offsets[c] is the number of keys below c, for c = 0..cells. */
static bool offsets_are_right(const struct experiment *experiment, const uint32_t *offsets)
{
    const uint32_t cells = grid_cells(&experiment->grid);
    uint32_t *counts = calloc((size_t)cells + 1, sizeof *counts);
    bool right = counts != NULL;
    for (uint32_t j = 0; right && j < experiment->list.particles.count; j++)
        counts[experiment->keys[j] + 1]++;
    for (uint32_t c = 0; right && c <= cells; c++) {
        counts[c] += c > 0 ? counts[c - 1] : 0;
        right = offsets[c] == counts[c];
    }
    free(counts);
    return right;
}

/* Judges the permutation, with the sorted keys where the sort made them and the keys it stands for where not,
 * and the cell offsets where they were asked for. */
static enum status verify(const struct experiment *experiment, const struct radix_lists *lists,
                          struct sort_verdict *verdict)
{
    const uint32_t count = experiment->list.particles.count;
    const size_t bytes = count * sizeof(uint32_t),
                 offset_bytes = (lists->cells + (size_t)1) * sizeof(uint32_t);
    uint32_t *keys = malloc(bytes), *sigma = malloc(bytes), *offsets = malloc(offset_bytes);
    enum status status =
        keys && sigma && offsets ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to verify a sort");
    if (status == STATUS_OK)
        status = buffer_read(lists->permutation, 0, bytes, sigma);
    if (status == STATUS_OK && lists->sorted_keys)
        status = buffer_read(lists->sorted_keys, 0, bytes, keys);
    if (status == STATUS_OK && lists->cell_offsets)
        status = buffer_read(lists->cell_offsets, 0, offset_bytes, offsets);
    for (uint32_t j = 0; status == STATUS_OK && !lists->sorted_keys && j < count; j++)
        keys[j] = sigma[j] < count ? experiment->keys[sigma[j]] : UINT32_MAX;
    if (status == STATUS_OK)
        status = host_judge_sort(experiment->keys, keys, sigma, count, verdict);
    if (status == STATUS_OK && lists->cell_offsets)
        verdict->sorted = verdict->sorted && offsets_are_right(experiment, offsets);
    free(keys);
    free(sigma);
    free(offsets);
    return status;
}

/* Sorts once more, where nothing of the sorts before can pass for the result. */
static enum status check_sort(const struct experiment *experiment, struct sorter *sorter,
                              const struct radix_lists *lists, struct sort_verdict *verdict)
{
    TRY(buffer_fill(lists->permutation, UINT32_MAX));
    TRY(sorter_run(sorter, experiment->list.particles.count, lists));
    return verify(experiment, lists, verdict);
}

/* One case for each of the tables, timed in turns, so that what else the machine does falls on none of them
 * alone. The paper's sort returns sorted keys and sigma; the others what a PIC step needs, sigma and the cell
 * offsets. */
static enum status run_device_cases(struct experiment *experiment, uint32_t key_bits, struct sort_case *cases)
{
    const struct pic_sort_options *options = &experiment->options;
    const uint32_t count = experiment->list.particles.count, tables = options->table_count;
    const bool paper = options->method == SORT_METHOD_PAPER;
    struct sorter *sorters[PIC_SORT_MAX_TABLES] = {NULL};
    struct buffer *permutation = NULL;
    enum status status = STATUS_OK;
    for (uint32_t t = 0; t < tables; t++) {
        cases[t].method = sort_method_name(options->method);
        TRY_CLEANUP(make_plan(experiment, key_bits, options->tables[t], &cases[t].plan));
        TRY_CLEANUP(sorter_create(experiment->device, &cases[t].plan, count, &sorters[t]));
    }
    TRY_CLEANUP(buffer_create(experiment->device, count * sizeof(uint32_t), "permutation", &permutation));
    const struct radix_lists lists = {.keys = experiment->list.particles.key,
                                      .sorted_keys = paper ? experiment->list.particles.key_spare : NULL,
                                      .permutation = permutation,
                                      .cell_offsets = paper ? NULL : experiment->list.particles.cell_offsets,
                                      .cells = grid_cells(&experiment->grid)};
    for (uint32_t n = 0; n < options->repeats + WARM_UPS; n++)
        for (uint32_t t = 0; t < tables; t++)
            TRY_CLEANUP(time_sort(experiment, sorters[t], &lists, n < WARM_UPS ? NULL : &cases[t].timing));
    for (uint32_t t = 0; t < tables; t++)
        TRY_CLEANUP(check_sort(experiment, sorters[t], &lists, &cases[t].verdict));
cleanup:
    for (uint32_t t = 0; t < tables; t++)
        sorter_destroy(&sorters[t]);
    buffer_destroy(&permutation);
    return status;
}

static enum status run_host_case(struct experiment *experiment, bool by_qsort, struct sort_case *result)
{
    const uint32_t count = experiment->list.particles.count;
    const uint32_t repeats =
        experiment->options.repeats < MOST_HOST_REPEATS ? experiment->options.repeats : MOST_HOST_REPEATS;
    uint32_t *permutation = malloc(count * sizeof *permutation), *sorted = malloc(count * sizeof *sorted);
    enum status status =
        permutation && sorted ? STATUS_OK : status_fail(STATUS_FAILED, "no memory for a sort on the host");
    result->method = by_qsort ? "qsort" : "counting sort";
    result->on_host = true;
    for (uint32_t n = 0; n < repeats && status == STATUS_OK; n++) {
        const double start = timer_now();
        status = by_qsort ? host_qsort(experiment->keys, count, permutation)
                          : host_counting_sort(experiment->keys, count, grid_cells(&experiment->grid),
                                               permutation);
        samples_add(&result->timing.total, timer_now() - start);
    }
    if (status == STATUS_OK) {
        for (uint32_t j = 0; j < count; j++)
            sorted[j] = experiment->keys[permutation[j]];
        status = host_judge_sort(experiment->keys, sorted, permutation, count, &result->verdict);
    }
    free(permutation);
    free(sorted);
    return status;
}

/* ---- tables ---- */

static double gigabytes_per_second(uint64_t bytes, const struct samples *samples)
{
    const double seconds = samples_median(samples);
    return seconds > 0 ? 1e-9 * (double)bytes / seconds : 0;
}

static double copy_bandwidth(const struct experiment *experiment)
{
    return gigabytes_per_second(2 * buffer_bytes(experiment->list.particles.offset), &experiment->copy);
}

static void print_row(const struct experiment *experiment, const char *name, const struct samples *samples,
                      uint64_t bytes)
{
    const double seconds = samples_median(samples), bandwidth = gigabytes_per_second(bytes, samples);
    printf("  %-14s %10.3f  [%9.3f, %9.3f] %10.1f", name, 1e3 * seconds, 1e3 * samples_minimum(samples),
           1e3 * samples_maximum(samples), 1e-6 * experiment->list.particles.count / seconds);
    if (bytes > 0)
        printf(" %9.2f %8.1f %%", bandwidth, 100 * bandwidth / copy_bandwidth(experiment));
    printf("\n");
}

static void print_case(const struct experiment *experiment, const struct sort_case *result)
{
    char sort[256];
    sorter_plan_describe(&result->plan, sort, sizeof sort);
    if (result->on_host)
        printf("\n%s on the host, one thread, with permutation:", result->method);
    else
        printf("\nradix sort, %s:", sort);
    printf(" %s, %s, %s\n", result->verdict.sorted ? "sorted" : "NOT SORTED",
           result->verdict.stable ? "stable" : "NOT STABLE",
           result->verdict.permutation ? "a permutation" : "NOT A PERMUTATION");
    printf("  %-14s %10s  [%9s, %9s] %10s", "phase", "median ms", "min", "max", "Mkeys/s");
    printf(result->on_host ? "\n" : " %9s %10s\n", "GB/s", "of a copy");
    for (size_t p = 0; p < SORT_PHASES; p++)
        if (result->timing.phase_bytes[p] > 0)
            print_row(experiment, sort_phases[p].name, &result->timing.phase[p],
                      result->timing.phase_bytes[p]);
    print_row(experiment, "total", &result->timing.total, result->timing.total_bytes);
}

static void format_spread(const struct samples *samples, char *text, size_t size)
{
    snprintf(text, size, "%.3f [%.3f, %.3f]", 1e3 * samples_median(samples), 1e3 * samples_minimum(samples),
             1e3 * samples_maximum(samples));
}

/* The paper's Table 7: its columns, for the case with the most passes and the one with the fewest. */
static void print_table(const struct experiment *experiment, const struct sort_case *cases, uint32_t count)
{
    const struct sort_case *most = &cases[0], *fewest = &cases[0];
    for (uint32_t n = 1; n < count; n++) {
        if (cases[n].plan.passes > most->plan.passes)
            most = &cases[n];
        if (cases[n].plan.passes < fewest->plan.passes)
            fewest = &cases[n];
    }
    if (most == fewest)
        return;
    char slow[64], fast[64], slow_head[32], fast_head[32];
    format_spread(&most->timing.total, slow, sizeof slow);
    format_spread(&fewest->timing.total, fast, sizeof fast);
    snprintf(slow_head, sizeof slow_head, "time p = %u, ms", most->plan.passes);
    snprintf(fast_head, sizeof fast_head, "time p = %u, ms", fewest->plan.passes);
    printf("\nTable 7 of the paper, on this device:\n");
    const char *device = device_info(experiment->device)->name;
    const int width = (int)strlen(device);
    printf("  %-*s  %-26s  %-26s  %s\n", width, "device", slow_head, fast_head, "ratio");
    printf("  %-*s  %-26s  %-26s  %.2f\n", width, device, slow, fast,
           samples_median(&most->timing.total) / samples_median(&fewest->timing.total));
}

/* Where every key was sorted with two tables: what the second costs of the first. */
static void print_table_orders(const struct experiment *experiment, const struct sort_case *cases,
                               uint32_t count)
{
    if (experiment->options.table_count < 2)
        return;
    printf("\nThe histogram's table in two orders:\n");
    printf("  %2s  %2s  %-7s  %-26s  %-7s  %-26s  %s\n", "b", "p", "table", "time, ms", "table", "time, ms",
           "ratio");
    for (uint32_t n = 0; n + 1 < count; n += 2) {
        const struct sort_case *first = &cases[n], *second = &cases[n + 1];
        char one[64], other[64];
        format_spread(&first->timing.total, one, sizeof one);
        format_spread(&second->timing.total, other, sizeof other);
        printf("  %2u  %2u  %-7s  %-26s  %-7s  %-26s  %.3f\n", first->plan.key_bits, first->plan.passes,
               radix_plan_table_name(&first->plan.radix), one, radix_plan_table_name(&second->plan.radix),
               other, samples_median(&second->timing.total) / samples_median(&first->timing.total));
    }
}

static const char csv_header[] =
    "device,method,particles,key_bits,radix_bits,passes,items,groups,splits,transpose,table,phase,"
    "median_ms,min_ms,max_ms,repeats,verified";

static void write_csv_row(const struct experiment *experiment, const struct sort_case *result,
                          const char *phase, const struct samples *samples)
{
    const struct radix_plan *radix = &result->plan.radix; /* zeros for what has no such parameters */
    const char *device = result->on_host ? "host" : device_info(experiment->device)->name;
    fprintf(experiment->csv, "\"%s\",%s,%u,%u,%u,%u,%u,%u,%u,%s,%s,%s,%.6f,%.6f,%.6f,%zu,%s\n", device,
            result->method, experiment->list.particles.count, result->plan.key_bits, radix->radix_bits,
            result->plan.passes, radix->items_per_group, radix->groups, radix->histogram_splits,
            radix->transpose ? "on" : "off", radix_plan_table_name(radix), phase,
            1e3 * samples_median(samples), 1e3 * samples_minimum(samples), 1e3 * samples_maximum(samples),
            samples->count, is_verified(result) ? "yes" : "no");
}

static void write_csv_case(const struct experiment *experiment, const struct sort_case *result)
{
    for (size_t p = 0; p < SORT_PHASES && !result->on_host; p++)
        write_csv_row(experiment, result, sort_phases[p].name, &result->timing.phase[p]);
    write_csv_row(experiment, result, "total", &result->timing.total);
}

/* ---- the whole ---- */

/* The keys as they lie in memory, for another program to sort. */
static enum status write_keys(const struct experiment *experiment)
{
    const char *path = experiment->options.keys_path;
    const size_t count = experiment->list.particles.count;
    if (!path)
        return STATUS_OK;
    FILE *file = fopen(path, "wb");
    bool failed = !file || fwrite(experiment->keys, sizeof *experiment->keys, count, file) != count;
    if (file)
        failed |= fclose(file) != 0;
    return failed ? status_fail(STATUS_FAILED, "--write-keys: cannot write %s: %s", path, strerror(errno))
                  : STATUS_OK;
}

static enum status prepare(struct experiment *experiment)
{
    TRY(device_open(experiment->options.device, &experiment->device));
    TRY(check_plans(experiment));
    TRY(csv_file_open(experiment->options.csv_path, csv_header, &experiment->csv));
    struct sorter_plan plan;
    TRY(make_plan(experiment, short_key_bits(experiment), TABLE_AUTO, &plan));
    TRY(pic_keys_create(experiment->device, &experiment->grid, experiment->options.particles, &plan,
                        &experiment->list));
    const struct particles *particles = &experiment->list.particles;
    const size_t bytes = particles->count * sizeof *experiment->keys;
    experiment->keys = malloc(bytes);
    if (!experiment->keys)
        return status_fail(STATUS_FAILED, "no memory for %u keys on the host", particles->count);
    TRY(buffer_read(particles->key, 0, bytes, experiment->keys));
    TRY(write_keys(experiment));
    return samples_of_copy(experiment->device, buffer_bytes(experiment->list.particles.offset),
                           experiment->options.repeats, &experiment->copy);
}

/* Prints and writes a case, and says whether its result was right. */
static bool report(const struct experiment *experiment, const struct sort_case *result)
{
    print_case(experiment, result);
    if (experiment->csv)
        write_csv_case(experiment, result);
    return is_verified(result);
}

static enum status run_cases(struct experiment *experiment, struct sort_case *cases)
{
    const struct pic_sort_options *options = &experiment->options;
    const uint32_t tables = options->table_count, on_device = options->case_count * tables,
                   on_host = options->device_alone ? 0 : 2;
    bool verified = true;
    for (uint32_t n = 0; n < on_device; n++) {
        if (n % tables == 0)
            TRY(run_device_cases(experiment, options->key_bits[n / tables], &cases[n]));
        verified &= report(experiment, &cases[n]);
    }
    for (uint32_t n = 0; n < on_host; n++) {
        TRY(run_host_case(experiment, n == 0, &cases[on_device + n]));
        verified &= report(experiment, &cases[on_device + n]);
    }
    print_table(experiment, cases, on_device);
    print_table_orders(experiment, cases, on_device);
    if (experiment->csv)
        write_csv_row(experiment, &(struct sort_case){.method = "copy", .verdict = {true, true, true}},
                      "copy", &experiment->copy);
    return verified ? STATUS_OK : status_fail(STATUS_FAILED, "a sort returned a wrong result; see above");
}

enum status experiment_pic_sort(int argc, char **argv)
{
    struct experiment experiment = {0};
    struct pic_sort_options *options = &experiment.options;
    bool done = false;
    TRY(pic_sort_options_parse(argc, argv, options, &done));
    if (done)
        return STATUS_OK;

    struct sort_case *cases = calloc(PIC_SORT_MAX_CASES * PIC_SORT_MAX_TABLES + 2, sizeof *cases);
    enum status status =
        cases ? prepare(&experiment) : status_fail(STATUS_FAILED, "no memory for the timings");
    if (status == STATUS_OK) {
        printf("pic-sort: %u particles in %ux%u cells, moved by u/%u and v/%u, on %s\n",
               experiment.list.particles.count, options->cells, options->cells, options->cells,
               options->cells, device_info(experiment.device)->name);
        printf("phases of one sort at a time; the total, of a sort in a row of them\n");
        char size[SAMPLES_SIZE_TEXT];
        printf("copy of %s on the device: %.2f GB/s, median of %u\n",
               samples_size(buffer_bytes(experiment.list.particles.offset), size),
               copy_bandwidth(&experiment), options->repeats);
        status = run_cases(&experiment, cases);
    }
    status = csv_file_close(options->csv_path, &experiment.csv, status);
    free(cases);
    free(experiment.keys);
    pic_keys_destroy(&experiment.list);
    device_close(&experiment.device);
    return status;
}
