/* Bench: the life of an experiment, its clock and its file. */
#include "experiments/bench.h"
#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_PIECE = 1 << 20 }; /* bytes that a thread copies at a time */

/* ---- samples ---- */

void samples_add(struct samples *samples, double value)
{
    if (samples->count < SAMPLES_MAX)
        samples->seconds[samples->count++] = value;
}

ASCENDING(ascending, double)

struct spread spread_of(const struct samples *samples)
{
    double ordered[SAMPLES_MAX];
    const size_t count = samples->count;
    if (count == 0)
        return (struct spread){0};
    memcpy(ordered, samples->seconds, count * sizeof *ordered);
    qsort(ordered, count, sizeof *ordered, ascending);
    return (struct spread){.median = 0.5 * (ordered[(count - 1) / 2] + ordered[count / 2]),
                           .least = ordered[0],
                           .most = ordered[count - 1],
                           .count = (uint32_t)count};
}

struct spread spread_of_one(double value)
{
    return (struct spread){.median = value, .least = value, .most = value, .count = 1};
}

struct spread spread_scaled(struct spread values, double scale)
{
    return (struct spread){.median = scale * values.median,
                           .least = scale * values.least,
                           .most = scale * values.most,
                           .count = values.count};
}

struct spread spread_rate(double work, struct spread seconds)
{
    if (work <= 0)
        return (struct spread){0};
    return (struct spread){.median = per_second(work, seconds.median),
                           .least = per_second(work, seconds.most),
                           .most = per_second(work, seconds.least),
                           .count = seconds.count};
}

struct spread spread_over(struct spread values, double unit)
{
    return unit > 0 ? spread_scaled(values, 1 / unit) : (struct spread){0};
}

struct spread spread_bandwidth(uint64_t bytes, struct spread seconds)
{
    return spread_rate(1e-9 * (double)bytes, seconds);
}

/* ---- life ---- */

static enum status open_csv(struct bench *bench, const char *path)
{
    if (!path || bench->ranks.rank > 0)
        return STATUS_OK;
    bench->csv = fopen(path, "w");
    if (!bench->csv)
        return status_fail(STATUS_FAILED, "--csv: cannot write %s: %s", path, strerror(errno));
    fprintf(bench->csv, "bench,device,case,quantity,median,min,max,repeats,verified\n");
    return STATUS_OK;
}

static enum status close_csv(struct bench *bench, const char *path, enum status status)
{
    if (!bench->csv)
        return status;
    bool failed = ferror(bench->csv) != 0;
    failed |= fclose(bench->csv) != 0;
    return failed && status == STATUS_OK
               ? status_fail(STATUS_FAILED, "--csv: cannot write %s: %s", path, strerror(errno))
               : status;
}

static enum status open_and_run(struct bench *bench)
{
    const struct common_options *common = bench->options;
    enum status status = device_open(common->device, (uint32_t)bench->ranks.local_rank,
                                     (uint32_t)bench->ranks.processors, &bench->device);
    TRY(communicator_agree(&bench->ranks, status));
    bench->info = device_info(bench->device);
    bench->part = bench->device;
    bench->repeats = common->repeats;
    TRY(communicator_agree(&bench->ranks, open_csv(bench, common->csv)));
    status = bench->experiment->run(bench);
    if (status == STATUS_OK && bench->is_wrong)
        status = communicator_agree(&bench->ranks,
                                    status_fail(STATUS_FAILED, "%s; see above", bench->experiment->wrong));
    if (status == STATUS_OK) /* which all have, or it ends the others */
        return communicator_agree(&bench->ranks, close_csv(bench, common->csv, status));
    return close_csv(bench, common->csv, status);
}

enum status bench_blame(const char *name, enum status status)
{
    return status == STATUS_USAGE ? status_fail(status, "%s: %s", name, status_message()) : status;
}

/* Ranks of which one times more launches than another would wait for it for ever. */
static enum status require_same_words(const struct communicator *ranks, int argc, char **argv)
{
    char count[32];
    snprintf(count, sizeof count, "%d words", argc);
    TRY(communicator_require_same(ranks, "the command line", count));
    for (int n = 0; n < argc; n++)
        TRY(communicator_require_same(ranks, "the command line", argv[n]));
    return STATUS_OK;
}

static enum status read_options(struct bench *bench, int argc, char **argv)
{
    const struct experiment *experiment = bench->experiment;
    struct common_options *common = bench->options;
    TRY(options_parse(&experiment->options, argc, argv, common));
    if (common->is_help_shown)
        return STATUS_OK;
    if (communicator_is_parallel() && !experiment->on_ranks)
        return status_fail(STATUS_USAGE,
                           "%s: runs on one rank, or ranks would slow one another down; of the experiments "
                           "only scaling runs on several. Start it without mpirun",
                           argv[0]);
    return experiment->resolve ? bench_blame(argv[0], experiment->resolve(bench)) : STATUS_OK;
}

static enum status start(struct bench *bench, int argc, char **argv)
{
    const struct common_options *common = bench->options;
    if (bench->experiment->on_ranks && communicator_is_parallel())
        TRY(communicator_start(&bench->ranks));
    TRY(require_same_words(&bench->ranks, argc, argv));
    TRY(communicator_agree(&bench->ranks, read_options(bench, argc, argv)));
    return common->is_help_shown ? STATUS_OK : open_and_run(bench);
}

enum status bench_run(const struct experiment *experiment, int argc, char **argv)
{
    struct bench bench = {.experiment = experiment, .ranks = {.size = 1, .local_size = 1}};
    bench.options = calloc(1, experiment->options.size);
    if (!bench.options)
        return status_fail(STATUS_FAILED, "no memory for the options");
    const enum status status = start(&bench, argc, argv);
    device_close(&bench.device);
    free(bench.options);
    return status;
}

enum status bench_case(struct bench *bench, enum status (*run)(struct bench *bench, void *context),
                       void *context)
{
    struct device *outer = bench->part;
    TRY(device_branch(outer, &bench->part));
    const enum status status = run(bench, context);
    device_close(&bench->part);
    bench->part = outer;
    return status;
}

/* ---- timing ---- */

enum { WALL = STAGE_COUNT, CLOCKS };

/* Without `samples` it is a warm-up. */
static enum status time_once(const struct bench *bench, const struct subject *subject,
                             struct samples samples[CLOCKS], struct times *times)
{
    struct device *device = bench->device;
    if (subject->prepare)
        TRY(subject->prepare(subject->context));
    if (!subject->on_host)
        TRY(device_finish(device));
    device_reset_timers(device);
    const double start = timer_now();
    if (subject->in_one_piece)
        TRY(device_region_begin(device));
    TRY(subject->run(subject->context));
    if (subject->in_one_piece)
        TRY(device_region_end(device, STAGE_OTHER, 0, STATUS_OK));
    if (!subject->on_host)
        TRY(device_finish(device));
    if (samples)
        samples_add(&samples[WALL], timer_now() - start);
    for (int stage = 0; stage < STAGE_COUNT && samples; stage++) {
        const struct stage_time *time = &device_timers(device)->stages[stage];
        samples_add(&samples[stage], time->seconds); /* 0 of a stage that this run does without */
        times->bytes[stage] = time->bytes;
    }
    return STATUS_OK;
}

static bool goes_on(const struct subject *subject, const struct samples *done)
{
    double spent = 0;
    for (size_t n = 0; n < done->count; n++)
        spent += done->seconds[n];
    const bool is_enough = subject->seconds > 0 && done->count > 0 && spent >= subject->seconds;
    return done->count < subject->repeats && !is_enough;
}

static struct subject with_usual_repeats(const struct bench *bench, struct subject subject)
{
    if (subject.warm_ups == 0 && !subject.on_host)
        subject.warm_ups = bench->experiment->warm_ups;
    if (subject.repeats == 0)
        subject.repeats = subject.on_host && bench->repeats > HOST_REPEATS ? HOST_REPEATS : bench->repeats;
    return subject;
}

enum status bench_time(struct bench *bench, const struct subject *subjects, size_t count, struct times *times)
{
    const struct subject first = with_usual_repeats(bench, subjects[0]);
    struct samples(*samples)[CLOCKS] = NULL;
    TRY(DEVICE_NEW_ARRAY(bench->part, samples, count));
    for (size_t s = 0; s < count; s++)
        times[s] = (struct times){.verified = true};
    for (uint32_t n = 0; n < first.warm_ups; n++)
        for (size_t s = 0; s < count; s++)
            TRY(time_once(bench, &subjects[s], NULL, &times[s]));
    while (goes_on(&first, &samples[0][first.on_host ? WALL : STAGE_OTHER]))
        for (size_t s = 0; s < count; s++)
            TRY(time_once(bench, &subjects[s], samples[s], &times[s]));
    for (size_t s = 0; s < count; s++) {
        for (int stage = 0; stage < STAGE_COUNT; stage++)
            times[s].stages[stage] = spread_of(&samples[s][stage]);
        times[s].wall = spread_of(&samples[s][WALL]);
        times[s].total = subjects[s].on_host ? times[s].wall : times[s].stages[STAGE_OTHER];
        if (subjects[s].verify)
            TRY(subjects[s].verify(subjects[s].context, &times[s].verified));
        bench->is_wrong = bench->is_wrong || !times[s].verified;
    }
    return STATUS_OK;
}

uint64_t times_bytes(const struct times *times)
{
    uint64_t bytes = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        bytes += times->bytes[stage];
    return bytes;
}

struct copy {
    struct buffer *from, *to;
    size_t bytes, threads;
    void *from_memory, *to_memory; /* of a CPU, mapped */
};

static enum status run_copy(void *context)
{
    const struct copy *copy = context;
    return buffer_copy(copy->from, 0, copy->to, 0, copy->bytes, STAGE_OTHER);
}

static void copy_piece(const void *context, size_t n)
{
    const struct copy *copy = context;
    const size_t begin = n * COPY_PIECE;
    memcpy((char *)copy->to_memory + begin, (const char *)copy->from_memory + begin,
           at_most(copy->bytes - begin, COPY_PIECE));
}

/* PoCL copies by one thread, and kernels run on all: so does this copy of a CPU device's own memory. */
static enum status run_copy_by_threads(void *context)
{
    struct copy *copy = context;
    TRY(buffer_map(copy->from, &copy->from_memory));
    TRY(buffer_map(copy->to, &copy->to_memory));
    pool_share(copy->threads, divide_up(copy->bytes, COPY_PIECE), copy_piece, copy);
    TRY(buffer_unmap(copy->from, copy->from_memory));
    return buffer_unmap(copy->to, copy->to_memory);
}

static const struct bench_table copy_table = {.columns = {IN_FILE("copy_GB/s", 1)}};

static enum status time_copy(struct bench *bench, void *copy_bytes)
{
    const size_t bytes = bench->copy_bytes = *(const size_t *)copy_bytes;
    const bool by_threads = bench->info->is_cpu;
    struct copy copy = {.bytes = bytes, .threads = bench->info->compute_units};
    const struct subject subject = {&copy, NULL,          by_threads ? run_copy_by_threads : run_copy,
                                    NULL,  .warm_ups = 1, .on_host = by_threads};
    struct times times;
    TRY(buffer_create(bench->part, bytes, "the source of a copy", &copy.from));
    TRY(buffer_create(bench->part, bytes, "the target of a copy", &copy.to));
    TRY(buffer_fill(copy.from, 1)); /* both arrays are touched before anything is timed */
    TRY(buffer_fill(copy.to, 0));
    TRY(bench_time(bench, &subject, 1, &times));
    bench->copy = times.total;
    const struct spread rate = spread_rate(2e-9 * (double)bytes, bench->copy);
    bench_words(bench, false, NOT_COMPARED, "of=copy bytes=%zu", bytes);
    bench_write(bench, &copy_table, NULL, &rate);
    return STATUS_OK;
}

enum status bench_copy(struct bench *bench, size_t bytes)
{
    return bench_case(bench, time_copy, &bytes);
}

enum status bench_copy_like(struct bench *bench, uint64_t particles, size_t real_bytes)
{
    return bench_copy(bench, at_least(at_most(2 * particles * real_bytes, 1 << 30), 1 << 26));
}

double bench_copy_rate(const struct bench *bench)
{
    return per_second(2e-9 * (double)bench->copy_bytes, bench->copy.median);
}

void bench_print_copy(const struct bench *bench)
{
    static const char *const units[] = {"B", "KB", "MB", "GB"};
    double amount = (double)bench->copy_bytes;
    int unit = 0;
    for (; unit < 3 && amount >= 999.95; unit++) /* which would be printed as 1000.0 */
        amount *= 1e-3;
    printf("copy of %.*f %s on the device: %.2f GB/s, median of %u; what caches hold can beat it\n", unit > 0,
           amount, units[unit], bench_copy_rate(bench), bench->copy.count);
}
