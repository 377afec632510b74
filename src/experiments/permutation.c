/* Permutation: the tables of the paper, and the times behind them. */
#include "experiments/permutation.h"

#include "experiments/csv_file.h"
#include "experiments/permutation_case.h"
#include "experiments/permutation_numpy.h"
#include "experiments/permutation_options.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_REPEATS = 10, FEW_REPEATS = 3, LARGE_VOLUME = 1 << 24, LARGE_VOLUME_OF_CPU = 1 << 20 };

/* What is measured now. The cases of one table stand volume after volume. */
struct experiment {
    struct permutation_options options;
    struct device *device;
    uint32_t axes[PERMUTATION_MAX_DIMENSIONS];
    struct permutation_case *cases; /* [volume_count * cell_count] */
    bool verified;
    FILE *csv;
};

static const enum permutation_kernel references[] = {PERMUTATION_SERIAL, PERMUTATION_NUMPY};

static struct permutation_case *case_of(const struct experiment *experiment,
                                        const struct permutation_table *table, uint32_t volume, uint32_t cell)
{
    return &experiment->cases[(size_t)volume * table->cell_count + cell];
}

/* ---- the paper's table ---- */

/* "2097152" as "2,097,152", as the paper has it. */
static const char *with_commas(uint64_t number, char text[32])
{
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *next = text;
    for (int n = 0; n < length; n++) {
        if (n > 0 && (length - n) % 3 == 0)
            *next++ = ',';
        *next++ = digits[n];
    }
    *next = '\0';
    return text;
}

/* "128x128x128", or with another character between. */
static const char *joined(uint32_t count, const uint32_t *numbers, char between, char text[96])
{
    size_t length = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (k > 0)
            text[length++] = between;
        length += (size_t)snprintf(text + length, 96 - length, "%u", numbers[k]);
    }
    return text;
}

static void print_head(const struct experiment *experiment, const struct permutation_table *table)
{
    char axes[96];
    const int width = 24 * (int)table->cell_count;
    if (table->number > 0)
        printf("\nTable %u: ", table->number);
    else
        printf("\n");
    printf("%uD speedup of parallel kernels, axes %s\n", table->dimensions,
           joined(table->dimensions, experiment->axes, ',', axes));
    printf("  %-12s | %-*s | %s\n", "Speed up", width, "vs. serial kernel", "vs. serial numpy");
    printf("  %-12s", "Block size");
    for (int of = 0; of < 2; of++)
        for (uint32_t cell = 0; cell < table->cell_count; cell++) {
            struct ndpa_shape shape = {.dimensions = table->dimensions, .cell_side = table->cell_sides[cell]};
            printf("%s%8llu%16s", cell == 0 ? " | " : "", (unsigned long long)ndpa_cell_elements(&shape), "");
        }
    printf("\n  %-12s", "Volume size");
    for (int of = 0; of < 2; of++)
        for (uint32_t cell = 0; cell < table->cell_count; cell++)
            printf("%s%8s%8s%8s", cell == 0 ? " | " : "", "CB", "BB", "RLBB");
    printf("\n");
}

static void print_row(const struct experiment *experiment, const struct permutation_table *table,
                      uint32_t volume)
{
    char text[32];
    const uint64_t elements = permutation_elements(table->dimensions, table->sides[volume]);
    printf("  %12s", with_commas(elements, text));
    for (size_t of = 0; of < sizeof references / sizeof references[0]; of++)
        for (uint32_t cell = 0; cell < table->cell_count; cell++) {
            const struct permutation_case *one = case_of(experiment, table, volume, cell);
            printf("%s", cell == 0 ? " | " : "");
            for (int kernel = PERMUTATION_CB; kernel < PERMUTATION_KERNELS; kernel++)
                if (one->results[references[of]].ran)
                    printf("%8.2f",
                           permutation_speedup(one, references[of], (enum permutation_kernel)kernel));
                else
                    printf("%8s", "-");
        }
    printf("\n");
    fflush(stdout);
}

/* ---- times ---- */

static void print_kernel(const struct permutation_case *one, enum permutation_kernel kernel)
{
    const struct permutation_result *result = &one->results[kernel];
    const double speed = permutation_bandwidth(one, kernel), copy = permutation_copy_bandwidth(one);
    if (!result->ran)
        return;
    printf("    %-8s %11.4f  [%11.4f, %11.4f]", permutation_kernel_name(kernel),
           1e3 * samples_median(&result->wall), 1e3 * samples_minimum(&result->wall),
           1e3 * samples_maximum(&result->wall));
    if (result->device.count > 0)
        printf(" %11.4f", 1e3 * samples_median(&result->device));
    else
        printf(" %11s", "-");
    printf(" %9.2f %7.1f %%  %s\n", speed, copy > 0 ? 100 * speed / copy : 0,
           kernel == PERMUTATION_NUMPY ? "into another array"
           : result->verified          ? "verified"
                                       : "NOT PERMUTED");
}

/* The volumes that numpy has no times of. */
static void print_silent_numpy(const struct experiment *experiment, const struct permutation_table *table)
{
    const char *python = experiment->options.python ? experiment->options.python : "python3";
    uint32_t found = 0;
    char sides[96];
    for (uint32_t volume = 0; volume < table->volume_count && !experiment->options.without_numpy; volume++) {
        if (case_of(experiment, table, volume, 0)->results[PERMUTATION_NUMPY].ran)
            continue;
        if (found++ == 0)
            printf("  numpy: %s gave no times, for want of numpy or of memory, of", python);
        printf("%s %s", found > 1 ? "," : "", joined(table->dimensions, table->sides[volume], 'x', sides));
    }
    printf("%s", found > 0 ? "\n" : "");
}

static void print_times(const struct experiment *experiment, const struct permutation_table *table)
{
    printf("\n  %-10s %11s  [%11s, %11s] %11s %9s %9s\n", "ms", "median", "min", "max", "on device", "GB/s",
           "of a copy");
    for (uint32_t volume = 0; volume < table->volume_count; volume++)
        for (uint32_t cell = 0; cell < table->cell_count; cell++) {
            const struct permutation_case *one = case_of(experiment, table, volume, cell);
            char sides[96];
            printf("  %s in cells of %u^%u = %llu; medians of %u, copy on the device %.4f ms, %.2f GB/s\n",
                   joined(table->dimensions, table->sides[volume], 'x', sides), one->shape.cell_side,
                   table->dimensions, (unsigned long long)ndpa_cell_elements(&one->shape), one->repeats,
                   1e3 * samples_median(&one->copy), permutation_copy_bandwidth(one));
            for (int kernel = 0; kernel < PERMUTATION_KERNELS; kernel++)
                print_kernel(one, (enum permutation_kernel)kernel);
        }
    print_silent_numpy(experiment, table);
}

/* ---- CSV ---- */

static const char csv_header[] =
    "device,table,dimensions,sides,axes,elements,cell_side,block,kernel,median_ms,min_ms,max_ms,device_ms,"
    "gigabytes_per_second,copy_gigabytes_per_second,speedup_serial,speedup_numpy,repeats,verified";

static void write_speedup(FILE *csv, const struct permutation_case *one, enum permutation_kernel over,
                          enum permutation_kernel kernel)
{
    if (one->results[over].ran)
        fprintf(csv, "%.4f,", permutation_speedup(one, over, kernel));
    else
        fprintf(csv, ",");
}

static void write_csv(const struct experiment *experiment, const struct permutation_table *table,
                      const struct permutation_case *one, enum permutation_kernel kernel)
{
    const struct permutation_result *result = &one->results[kernel];
    char sides[96], axes[96];
    fprintf(experiment->csv, "\"%s\",%u,%u,%s,%s,%llu,%u,%llu,%s,%.6f,%.6f,%.6f,",
            permutation_on_host(kernel) ? "host" : device_info(experiment->device)->name, table->number,
            table->dimensions, joined(table->dimensions, one->shape.sides, 'x', sides),
            joined(table->dimensions, one->axes, ' ', axes), (unsigned long long)ndpa_elements(&one->shape),
            one->shape.cell_side, (unsigned long long)ndpa_cell_elements(&one->shape),
            permutation_kernel_name(kernel), 1e3 * samples_median(&result->wall),
            1e3 * samples_minimum(&result->wall), 1e3 * samples_maximum(&result->wall));
    if (result->device.count > 0)
        fprintf(experiment->csv, "%.6f", 1e3 * samples_median(&result->device));
    fprintf(experiment->csv, ",%.4f,%.4f,", permutation_bandwidth(one, kernel),
            permutation_copy_bandwidth(one));
    write_speedup(experiment->csv, one, PERMUTATION_SERIAL, kernel);
    write_speedup(experiment->csv, one, PERMUTATION_NUMPY, kernel);
    fprintf(experiment->csv, "%zu,%s\n", result->wall.count,
            kernel == PERMUTATION_NUMPY ? ""
            : result->verified          ? "yes"
                                        : "no");
}

/* ---- the whole ---- */

static uint32_t repeats_of(const struct experiment *experiment, uint64_t elements)
{
    const uint64_t large = device_info(experiment->device)->is_cpu ? LARGE_VOLUME_OF_CPU : LARGE_VOLUME;
    if (experiment->options.repeats > 0)
        return experiment->options.repeats;
    return elements > large ? FEW_REPEATS : USUAL_REPEATS;
}

/* Before the silence of a large volume. */
static void announce(const struct experiment *experiment, uint64_t elements)
{
    char text[32];
    if (elements <= LARGE_VOLUME)
        return;
    printf("  %s elements: %s some tens of seconds\n", with_commas(elements, text),
           experiment->options.without_numpy ? "the kernels take" : "numpy and the serial kernel take");
    fflush(stdout);
}

/* A Python that was asked for must work; a first, tiny volume tells. */
static enum status check_python(const struct permutation_options *options)
{
    static const uint32_t sides[] = {2, 2}, axes[] = {1, 0};
    bool timed = false;
    if (!options->python || options->without_numpy)
        return STATUS_OK;
    struct samples *samples = calloc(1, sizeof *samples);
    if (!samples)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    const enum status status = permutation_by_numpy(options->python, 2, sides, axes, 1, samples, &timed);
    free(samples);
    TRY(status);
    return timed ? STATUS_OK
                 : status_fail(STATUS_USAGE,
                               "--python: %s does not run or has no numpy; --python none leaves numpy out",
                               options->python);
}

/* The cells that nobody asked for must fit local memory. */
static void leave_out_cells(const struct experiment *experiment, struct permutation_table *table)
{
    const size_t local_memory = device_info(experiment->device)->local_memory;
    const uint32_t side =
        experiment->options.cells_are_given ? 0 : permutation_fit_cells(table, local_memory);
    if (side > 0)
        printf(
            "\nleft out: cells of %u^%u elements and more, which the %zu bytes of local memory do not hold\n",
            side, table->dimensions, local_memory);
}

/* numpy has no cells: one timing serves all. */
static enum status run_volume(struct experiment *experiment, const struct permutation_table *table,
                              uint32_t volume)
{
    const uint32_t *sides = table->sides[volume];
    struct permutation_result numpy = {0};
    const uint32_t repeats = repeats_of(experiment, permutation_elements(table->dimensions, sides));
    announce(experiment, permutation_elements(table->dimensions, sides));
    if (!experiment->options.without_numpy)
        TRY(permutation_by_numpy(experiment->options.python, table->dimensions, sides, experiment->axes,
                                 repeats, &numpy.wall, &numpy.ran));
    for (uint32_t cell = 0; cell < table->cell_count; cell++) {
        struct permutation_case *one = case_of(experiment, table, volume, cell);
        one->repeats = repeats;
        one->shape = (struct ndpa_shape){.dimensions = table->dimensions,
                                         .cell_side = table->cell_sides[cell],
                                         .element_bytes = sizeof(uint32_t)};
        memcpy(one->shape.sides, sides, table->dimensions * sizeof *sides);
        memcpy(one->axes, experiment->axes, sizeof one->axes);
        one->results[PERMUTATION_NUMPY] = numpy;
        TRY(permutation_case_run(experiment->device, one));
        for (int kernel = 0; kernel < PERMUTATION_KERNELS; kernel++) {
            const struct permutation_result *result = &one->results[kernel];
            if (experiment->csv && result->ran)
                write_csv(experiment, table, one, (enum permutation_kernel)kernel);
            if (kernel != PERMUTATION_NUMPY)
                experiment->verified = experiment->verified && result->verified;
        }
    }
    return STATUS_OK;
}

static enum status run_table(struct experiment *experiment, const struct permutation_table *table)
{
    const struct permutation_options *options = &experiment->options;
    enum status status = STATUS_OK;
    for (uint32_t k = 0; k < table->dimensions; k++)
        experiment->axes[k] = options->axes_count > 0 ? options->axes[k] : table->dimensions - 1 - k;
    experiment->cases = calloc((size_t)table->volume_count * table->cell_count, sizeof *experiment->cases);
    if (!experiment->cases)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    print_head(experiment, table);
    for (uint32_t volume = 0; volume < table->volume_count; volume++) {
        TRY_CLEANUP(run_volume(experiment, table, volume));
        print_row(experiment, table, volume);
    }
    print_times(experiment, table);
cleanup:
    free(experiment->cases);
    experiment->cases = NULL;
    return status;
}

static enum status run(struct experiment *experiment)
{
    struct permutation_options *options = &experiment->options;
    TRY(check_python(options));
    TRY(device_open(options->device, &experiment->device));
    TRY(csv_file_open(options->csv_path, csv_header, &experiment->csv));
    printf("permutation: in place, elements of 4 bytes, on %s\n", device_info(experiment->device)->name);
    for (uint32_t n = 0; n < options->table_count; n++) {
        leave_out_cells(experiment, &options->tables[n]);
        TRY(run_table(experiment, &options->tables[n]));
    }
    return experiment->verified ? STATUS_OK
                                : status_fail(STATUS_FAILED, "a volume was not permuted rightly; see above");
}

enum status experiment_permutation(int argc, char **argv)
{
    struct experiment *experiment = calloc(1, sizeof *experiment);
    bool done = false;
    if (!experiment)
        return status_fail(STATUS_FAILED, "no memory for the timings");
    experiment->verified = true;
    enum status status = permutation_options_parse(argc, argv, &experiment->options, &done);
    if (status == STATUS_OK && !done)
        status = run(experiment);
    status = csv_file_close(experiment->options.csv_path, &experiment->csv, status);
    device_close(&experiment->device);
    free(experiment);
    return status;
}
