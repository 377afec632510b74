/* Local memory: the device, its copy, and the parts one after another. */
#include "experiments/local_memory.h"

#include "experiments/csv_file.h"
#include "experiments/local_memory_parts.h"

#include <stdlib.h>

enum { COPY_BYTES = 1 << 26 };

static const char csv_header[] =
    "device,part,version,size,scope,addresses,median_ms,min_ms,max_ms,repeats,rate,unit,verified";

enum status ladder_time(struct ladder *ladder, ladder_run *run, void *context, struct rung *rung)
{
    rung->times.count = 0;
    for (uint32_t n = 0; n < ladder->options.repeats + 1; n++) {
        device_reset_timers(ladder->device);
        TRY(run(ladder, context));
        TRY(device_finish(ladder->device));
        if (n > 0)
            samples_add(&rung->times, device_timers(ladder->device)->stages[STAGE_OTHER].seconds);
    }
    return STATUS_OK;
}

double rung_rate(const struct rung *rung)
{
    const double seconds = samples_median(&rung->times);
    return seconds > 0 ? 1e-9 * rung->work / seconds : 0;
}

void ladder_print_head(const struct ladder *ladder, const char *title)
{
    printf("\n%s; ms, medians of %u:\n", title, ladder->options.repeats);
    printf("  %-40s %18s %10s  [%10s, %10s] %19s %9s\n", "version", "size", "median", "min", "max", "rate",
           "of a copy");
}

void ladder_print(const struct ladder *ladder, const struct rung *rung)
{
    const double rate = rung_rate(rung);
    printf("  %-40s %18s %10.4f  [%10.4f, %10.4f] %10.2f %-8s", rung->version, rung->size,
           1e3 * samples_median(&rung->times), 1e3 * samples_minimum(&rung->times),
           1e3 * samples_maximum(&rung->times), rate, rung->unit);
    if (rung->unit[1] == 'B' && ladder->copy > 0)
        printf(" %7.1f %%", 100 * rate / ladder->copy);
    else
        printf(" %9s", "-");
    printf("  %s\n", rung->verified ? "verified" : "WRONG");
    fflush(stdout);
}

void ladder_note(struct ladder *ladder, const struct rung *rung)
{
    ladder->verified = ladder->verified && rung->verified;
    if (!ladder->csv)
        return;
    fprintf(ladder->csv, "\"%s\",%s,\"%s\",%s,%s,", device_info(ladder->device)->name, rung->part,
            rung->version, rung->size, rung->scope);
    if (rung->addresses > 0)
        fprintf(ladder->csv, "%u", rung->addresses);
    fprintf(ladder->csv, ",%.6f,%.6f,%.6f,%zu,%.6g,%s,%s\n", 1e3 * samples_median(&rung->times),
            1e3 * samples_minimum(&rung->times), 1e3 * samples_maximum(&rung->times), rung->times.count,
            rung_rate(rung), rung->unit, rung->verified ? "yes" : "no");
}

enum status ladder_array(struct ladder *ladder, size_t count, const void *numbers, struct buffer **array)
{
    TRY(buffer_create(ladder->device, count * sizeof(uint32_t), "numbers of an experiment", array));
    return numbers ? buffer_write(*array, 0, count * sizeof(uint32_t), numbers) : STATUS_OK;
}

/* What every table is held against. */
static enum status time_copy(struct ladder *ladder)
{
    struct rung copy = {.part = "copy",
                        .version = "of the device",
                        .scope = "",
                        .work = 2.0 * COPY_BYTES,
                        .unit = "GB/s",
                        .verified = true};
    snprintf(copy.size, sizeof copy.size, "%d", COPY_BYTES / 4);
    TRY(samples_of_copy(ladder->device, COPY_BYTES, ladder->options.repeats, &copy.times));
    char size[SAMPLES_SIZE_TEXT];
    ladder->copy = rung_rate(&copy);
    printf("copy of %s on the device: %.2f GB/s; shorter lists stay in caches and can beat it\n",
           samples_size(COPY_BYTES, size), ladder->copy);
    ladder_note(ladder, &copy);
    return STATUS_OK;
}

static enum status run(struct ladder *ladder)
{
    static enum status (*const parts[LOCAL_PARTS])(struct ladder *) = {
        [PART_FILTER] = ladder_filter,   [PART_TRANSPOSE] = ladder_transpose, [PART_STENCIL] = ladder_stencil,
        [PART_ATOMICS] = ladder_atomics, [PART_REFINE] = ladder_refine,
    };
    const struct local_memory_options *options = &ladder->options;
    TRY(device_open(options->device, &ladder->device));
    TRY(local_shape_of(device_info(ladder->device), options->block, &ladder->shape));
    TRY(csv_file_open(options->csv_path, csv_header, &ladder->csv));
    TRY(local_kernels_create(ladder->device, ladder->shape, &ladder->kernels));
    printf("local-memory: groups that stage what they share, on %s\n", device_info(ladder->device)->name);
    TRY(time_copy(ladder));
    for (int part = 0; part < LOCAL_PARTS; part++)
        if (options->parts[part])
            TRY(parts[part](ladder));
    return ladder->verified ? STATUS_OK
                            : status_fail(STATUS_FAILED, "a result is not that of the host; see above");
}

enum status experiment_local_memory(int argc, char **argv)
{
    struct ladder ladder = {.verified = true};
    bool done = false;
    enum status status = local_memory_options_parse(argc, argv, &ladder.options, &done);
    if (status == STATUS_OK && !done)
        status = run(&ladder);
    status = csv_file_close(ladder.options.csv_path, &ladder.csv, status);
    local_kernels_destroy(&ladder.kernels);
    device_close(&ladder.device);
    return status;
}
