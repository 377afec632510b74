/* Output: what the files of a run cost beside its steps: copying them from the device, packing, writing, and
 * how much of that passes while the steps go on; held against a plain write of the same disk. */
#include "base/pool.h"
#include "base/stop.h"
#include "experiments/steps/step_point.h"
#include "output/chunk_pack.h"
#include "output/hdf5_read.h"
#include "simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct common_options common;
    struct step_setup setup;
    uint32_t compression;
    const char *folder;
};

static const struct kind {
    const char *name;
    const struct output_row *row; /* NULL: no files */
    bool is_compressed;
} kinds[] = {
    {"none", NULL, false},
    {"snapshot", &snapshot_output, true},
    {"snapshot", &snapshot_output, false},
    {"checkpoint", &checkpoint_output, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* What is measured of a kind: seconds of a run, of its copies, of packing its chunks once more, and of
 * writing its files, of which the steps waited for a part. */
enum clock { WALL, COPY, PACK, WRITE, WAIT, CLOCKS };

struct case_of {
    struct bench *bench;
    const struct kind *kind;
    uint32_t compression;
    char folder[PATH_MAX];
    struct run_folder run;
    struct config config;
    struct simulation simulation;
    struct samples samples[CLOCKS];
    uint64_t files, raw_bytes, file_bytes; /* of a run */
    bool verified;
};

/* ---- the disk alone ---- */

enum { PIECE = 1 << 23 };

/* Seconds of a write of so many bytes, PIECE by PIECE, to a new file, to the disk and no cache. */
static enum status write_plainly(const char *path, uint64_t bytes, char *piece, double *seconds)
{
    const double begin = timer_now();
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool done = descriptor >= 0;
    for (uint64_t written = 0; done && written < bytes; written += PIECE) {
        const size_t count = at_most(bytes - written, PIECE);
        memset(piece, (int)(written / PIECE), count);
        errno = ENOSPC; /* where a part of it is written */
        done = write(descriptor, piece, count) == (ssize_t)count;
    }
    done = done && fsync(descriptor) == 0;
    *seconds = timer_now() - begin;
    const int error_number = errno;
    if (descriptor >= 0)
        close(descriptor);
    unlink(path);
    return done ? STATUS_OK : status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(error_number));
}

static enum status time_disk(struct bench *bench, const char *folder, uint64_t bytes, double *rate)
{
    char path[PATH_MAX + 16];
    char *piece = NULL;
    struct samples samples = {0};
    TRY(DEVICE_NEW_ARRAY(bench->device, piece, PIECE));
    snprintf(path, sizeof path, "%s/.disk", folder);
    for (uint32_t n = 0; n < bench->repeats; n++) {
        double seconds = 0;
        TRY(write_plainly(path, bytes, piece, &seconds));
        samples_add(&samples, seconds);
    }
    const struct spread spread = spread_rate(1e-9 * (double)bytes, spread_of(&samples));
    bench_words(bench, true, NOT_COMPARED, "of=disk bytes=%llu", (unsigned long long)bytes);
    bench_write(bench, &(struct bench_table){.columns = {IN_FILE("write_GB/s", 1)}}, NULL, &spread);
    printf("disk: %.3g GB/s for %.1f MB in one piece, brought to the disk\n\n", spread.median,
           1e-6 * (double)bytes);
    *rate = spread.median;
    return STATUS_OK;
}

/* ---- packing alone ---- */

enum { CHUNK = 1 << 16 /* floats */ };

struct packing {
    const float *values;
    uint32_t compression;
};

static enum status pack_chunk(void *context, size_t n, void *scratch)
{
    const struct packing *packing = context;
    char *packed = (char *)scratch + CHUNK * sizeof(float);
    size_t bytes = 0;
    return chunk_pack(packing->values + n * CHUNK, CHUNK, sizeof(float), packing->compression, scratch,
                      packed, &bytes);
}

/* Seconds a byte of packing velocities, whose numbers are those of the file, by all processors. */
static enum status time_pack(struct case_of *c)
{
    const struct particles *list = &c->simulation.particles[0];
    const size_t count = 2 * (size_t)list->count / CHUNK * CHUNK;
    float *values = NULL;
    TRY(DEVICE_NEW_ARRAY(c->bench->part, values, 2 * (size_t)list->count));
    TRY(particles_copy(list, ATTRIBUTE_VELOCITY, 0, list->count, values));
    struct packing packing = {values, c->compression};
    const struct pool_work work = {pack_chunk, NULL, &packing,
                                   CHUNK * sizeof(float) + chunk_pack_room(CHUNK, sizeof(float))};
    const double begin = timer_now();
    TRY(pool_run(&work, count / CHUNK));
    if (count > 0)
        samples_add(&c->samples[PACK], (timer_now() - begin) / (double)(count * sizeof *values));
    return STATUS_OK;
}

/* ---- the file, read back ---- */

/* Whether the velocities in the file are those on the device; the masses of electrons are 1. */
static bool holds(const struct case_of *c, const struct hdf5_source *source, uint64_t step,
                  const float *velocities, float *read)
{
    static const char axes[2] = {'x', 'y'};
    const uint32_t count = c->simulation.particles[0].count;
    struct hdf5_rows all = {H5T_NATIVE_FLOAT, {count, 2}, 0, count};
    char name[128];
    if (c->kind->row == &checkpoint_output)
        return hdf5_read_rows(source, "/particles/electrons/velocity", &all, read) == STATUS_OK &&
               memcmp(read, velocities, 2 * (size_t)count * sizeof *read) == 0;
    all.shape[1] = 0;
    for (int axis = 0; axis < 2; axis++) {
        snprintf(name, sizeof name, "/data/%llu/particles/electrons/momentum/%c", (unsigned long long)step,
                 axes[axis]);
        if (hdf5_read_rows(source, name, &all, read) != STATUS_OK)
            return false;
        for (uint32_t n = 0; n < count; n++)
            if (read[n] != velocities[2 * (size_t)n + (size_t)axis])
                return false;
    }
    return true;
}

/* The last file has the state of the last step, which moves nothing. */
static enum status verify(struct case_of *c)
{
    const struct particles *list = &c->simulation.particles[0];
    const uint64_t step = c->config.time.steps;
    char path[PATH_MAX + 64];
    const size_t values = 2 * (size_t)list->count;
    float *velocities = NULL;
    TRY(DEVICE_NEW_ARRAY(c->bench->part, velocities, 2 * values));
    TRY(particles_copy(list, ATTRIBUTE_VELOCITY, 0, list->count, velocities));
    snprintf(path, sizeof path,
             c->kind->row == &checkpoint_output ? "%s/checkpoints/checkpoint_%llu.h5"
                                                : "%s/snapshots/data_%llu.h5",
             c->folder, (unsigned long long)step);
    struct hdf5_source source;
    c->verified = hdf5_source_open(path, STATUS_FAILED, &source) == STATUS_OK && c->verified &&
                  holds(c, &source, step, velocities, velocities + values);
    hdf5_source_close(&source);
    return STATUS_OK;
}

/* ---- a run ---- */

static enum status take_steps(struct case_of *c)
{
    struct simulation *simulation = &c->simulation;
    struct device *device = c->bench->device;
    device_reset_timers(device);
    const double begin = timer_now();
    while (!simulation_done(simulation))
        TRY(simulation_step(simulation));
    TRY(device_finish(device));
    TRY(outputs_finish(simulation->outputs));
    samples_add(&c->samples[WALL], timer_now() - begin);
    const struct written written = outputs_written(simulation->outputs);
    const struct stage_time *stages = device_timers(device)->stages;
    samples_add(&c->samples[COPY], stages[STAGE_OUTPUT].seconds);
    samples_add(&c->samples[WAIT], stages[STAGE_WAIT].seconds);
    samples_add(&c->samples[WRITE], written.seconds);
    c->files = written.files;
    c->file_bytes = written.bytes;
    return STATUS_OK;
}

static enum status run_steps(struct case_of *c)
{
    c->run = (struct run_folder){.path = c->folder, .use = RUN_FOLDER_REPLACE};
    TRY(simulation_create(&c->config, c->bench->part, &c->simulation));
    TRY(outputs_open(c->simulation.outputs, &c->bench->ranks, &c->run));
    TRY(take_steps(c));
    if (c->kind->row)
        TRY(verify(c));
    return c->kind->row == &snapshot_output ? time_pack(c) : STATUS_OK;
}

static enum status run_once(struct bench *bench, void *context)
{
    struct case_of *c = context;
    (void)bench;
    c->simulation = (struct simulation){0};
    const enum status status = run_steps(c), closed = outputs_close(c->simulation.outputs);
    simulation_destroy(&c->simulation);
    run_folder_unlock(&c->run);
    return status == STATUS_OK ? closed : status;
}

/* ---- the whole ---- */

static enum status prepare(struct bench *bench, const struct kind *kind, const char *folder,
                           struct case_of *c)
{
    const struct options *options = bench->options;
    const uint64_t steps = options->setup.steps, half = (steps + 1) / 2;
    *c = (struct case_of){.bench = bench, .kind = kind, .verified = true};
    TRY(step_point_config(&options->setup, &c->config));
    snprintf(c->folder, sizeof c->folder, "%s", folder);
    c->compression = kind->is_compressed ? options->compression : 0;
    c->config.time.steps = steps;
    c->config.output.snapshots.compression = c->compression;
    c->config.output.snapshots.every = kind->row == &snapshot_output ? half : 0;
    c->config.output.checkpoints.every = kind->row == &checkpoint_output ? half : 0;
    c->raw_bytes = kind->row ? outputs_size(kind->row, &c->config).bytes : 0;
    return STATUS_OK;
}

static const struct bench_table report_table = {
    .columns = {WORD("output", "output", 10), WORD("compression", "level", 5), SPREAD("wall s", "wall_s", 1),
                IN_FILE("copy_s", 1), IN_FILE("write_s", 1), IN_FILE("wait_s", 1), NUMBER("files", NULL, 1),
                NUMBER("MB", NULL, 1), NUMBER("ratio", "ratio", 1), NUMBER("copy GB/s", "copy_GB/s", 1),
                NUMBER("pack GB/s", "pack_GB/s", 1), NUMBER("write GB/s", "write_GB/s", 1),
                NUMBER("% of the disk", NULL, 1), NUMBER("beside", "beside", 1)}};
enum { CLOCK_COLUMNS = 4 /* the only ones of a run without files */ };

static void report(const struct case_of *c, double disk)
{
    const struct options *options = c->bench->options;
    const double raw = (double)(c->raw_bytes * c->files), written = (double)c->file_bytes;
    struct spread seconds[CLOCKS];
    for (int clock = 0; clock < CLOCKS; clock++)
        seconds[clock] = spread_of(&c->samples[clock]);
    const struct spread rate = spread_rate(1e-9 * written, seconds[WRITE]);
    /* The wait for the last file ends a little later than its writing. */
    const double beside = fmax(0, 1 - per_second(seconds[WAIT].median, seconds[WRITE].median));
    struct spread values[COLUMNS_MOST] = {seconds[WALL],
                                          seconds[COPY],
                                          seconds[WRITE],
                                          seconds[WAIT],
                                          spread_of_one((double)c->files),
                                          spread_of_one(1e-6 * raw),
                                          spread_of_one(per_second(written, raw)),
                                          spread_rate(1e-9 * raw, seconds[COPY]),
                                          spread_rate(1e-9, seconds[PACK]),
                                          rate,
                                          spread_of_one(100 * per_second(rate.median, disk)),
                                          spread_of_one(beside)};
    if (!c->kind->row)
        memset(&values[CLOCK_COLUMNS], 0, sizeof values - CLOCK_COLUMNS * sizeof values[0]);
    bench_words(c->bench, false, c->verified, "output=%s compression=%u N=%llu cells=%ux%u steps=%u",
                c->kind->name, c->compression, (unsigned long long)options->setup.particles,
                options->setup.cells[0], options->setup.cells[1], options->setup.steps);
    bench_row(c->bench, &report_table, NULL, values, NULL);
}

static enum status run_kinds(struct bench *bench, struct case_of *c, const char *folder)
{
    double disk = 0;
    TRY(prepare(bench, &kinds[1], folder, c));
    TRY(time_disk(bench, folder, c->raw_bytes, &disk));
    bench_head(&report_table);
    for (int kind = 0; kind < KINDS; kind++) {
        TRY(prepare(bench, &kinds[kind], folder, c));
        for (uint32_t n = 0; n < bench->repeats; n++)
            TRY(bench_case(bench, run_once, c));
        bench->is_wrong = bench->is_wrong || !c->verified;
        report(c, disk);
    }
    printf("\nMB: numbers before compression; ratio: bytes written to theirs; of the disk: write against the "
           "disk alone; beside: the part of the\nwriting that passed while the run went on\n");
    return STATUS_OK;
}

static enum status run_output(struct bench *bench)
{
    const struct options *options = bench->options;
    struct case_of *c = NULL;
    char folder[PATH_MAX];
    TRY(DEVICE_NEW(bench->device, c));
    snprintf(folder, sizeof folder, "%s/radixpic-bench-%ld", options->folder, (long)getpid());
    stop_watch_all(); /* from here on there is a folder to remove */
    TRY(run_folder_make(folder));
    printf("output: %llu particles on %ux%u cells, %u steps, on %s, %zu processors of the host\n",
           (unsigned long long)options->setup.particles, options->setup.cells[0], options->setup.cells[1],
           options->setup.steps, bench->info->name, pool_threads());
    enum status status = run_kinds(bench, c, folder);
    if (status == STATUS_STOPPED)
        status = status_fail(status, "stopped by SIG%s; nothing of it is kept", stop_name(stop_signal()));
    char *sentence = status_take();
    return status_keep(status, sentence, run_folder_remove(folder));
}

static const struct option_row rows[] = {
    SIZE_ROWS,
    {"method", 0, "NAME", OPTION_WORD, AT(setup.step_method), .as_in = "step.method", .usual = "auto",
     .help = "Of the step, as the config's step.method"},
    {"steps", 0, "K", OPTION_NUMBER, AT(setup.steps), 2, 1000000, .usual = "100", .help = "Steps of a run"},
    {"compression", 0, "L", OPTION_NUMBER, AT(compression), 1, 9, .usual = "4",
     .help = "Deflate level of the first snapshots"},
    {"folder", 0, "DIR", OPTION_TEXT, AT(folder), .usual = ".",
     .help = "Where the files are written, and removed afterwards"},
    COMMON_ROWS("5", "Runs of each kind"),
};

const struct experiment experiment_output = {
    .name = "output",
    .summary = "files beside the steps: copy, pack, write, overlap",
    .options = OPTION_TABLE(
        rows, NULL,
        "Time whole runs without files, with snapshots of all particles at both ends and in the middle, "
        "compressed and not, and with checkpoints in the middle and at the end.\v"
        "Every run's last file is read back by HDF5 and compared with the device. The disk is timed by "
        "writing as many bytes in one piece, with a wait until they are on it.\n\n"
        "Examples:\n"
        "  radixpic bench output\n"
        "  radixpic bench output --device gpu --particles 33554432 --folder /scratch --csv output.csv\n"),
    .run = run_output,
    .wrong = "a file does not hold the state of the run",
};
