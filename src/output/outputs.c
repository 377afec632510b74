/* Outputs: the table, and what walks it. */
#include "output/outputs.h"

#include "output/checkpoint.h"
#include "output/history.h"
#include "output/moments.h"
#include "output/phase_space.h"
#include "output/snapshot.h"

#include <stddef.h>
#include <stdlib.h>

#define EVERY(member) offsetof(struct config, member)

/* In the order of writing: a run that a signal stops writes its checkpoint and nothing after it. */
static const struct output_row table[] = {
    {.name = "history",
     .every = EVERY(output.history.every),
     .needs = OUTPUT_NEEDS_MEASURED,
     .open = history_open,
     .sync = history_sync,
     .close = history_close,
     .write = history_write,
     .print_size = history_print_size},
    {.name = "check", .every = EVERY(time.check_every)},
    {.name = "checkpoints",
     .folder = "checkpoints",
     .prefix = "checkpoint_",
     .every = EVERY(output.checkpoints.every),
     .needs = OUTPUT_NEEDS_SYNC,
     .is_due = checkpoints_are_due,
     .create = checkpoints_create,
     .write = checkpoints_write,
     .print_size = checkpoints_print_size},
    {.name = "snapshots",
     .folder = "snapshots",
     .prefix = "data_",
     .every = EVERY(output.snapshots.every),
     .needs = OUTPUT_NEEDS_POTENTIAL,
     .write = snapshot_write,
     .bytes = snapshot_bytes},
    {.name = "phase space",
     .folder = "phase_space",
     .prefix = "data_",
     .is_due = phase_spaces_are_due,
     .create = phase_spaces_create,
     .write = phase_spaces_write,
     .print_size = phase_spaces_print_size},
    {.name = "moments",
     .folder = "moments",
     .prefix = "moments_",
     .every = EVERY(output.moments.every),
     .create = moments_create,
     .write = moments_write,
     .bytes = moments_bytes},
};
enum { ROWS = sizeof table / sizeof table[0] };

struct outputs {
    struct device *device;           /* owns the parts and this */
    const struct config *config;     /* not owned */
    const struct run_folder *folder; /* NULL: nothing is written */
    void *parts[ROWS];
    bool due[ROWS]; /* in this step */
};

const struct output_row *outputs_table(size_t *count)
{
    *count = ROWS;
    return table;
}

/* ---- birth and death ---- */

enum status outputs_create(struct device *device, const struct config *config, struct outputs **outputs)
{
    TRY(DEVICE_NEW(device, *outputs));
    (*outputs)->device = device;
    (*outputs)->config = config;
    for (size_t n = 0; n < ROWS; n++)
        if (table[n].create)
            TRY(table[n].create(device, config, &(*outputs)->parts[n]));
    return STATUS_OK;
}

enum status outputs_open(struct outputs *outputs, const struct communicator *communicator,
                         const struct run_folder *folder, uint64_t step)
{
    outputs->folder = folder;
    if (communicator->rank > 0)
        return STATUS_OK;
    for (size_t n = 0; n < ROWS; n++)
        if (table[n].open)
            TRY(table[n].open(folder, outputs->config, step, &outputs->parts[n]));
    return run_folder_clear(folder);
}

enum status outputs_close(struct outputs *outputs)
{
    enum status status = STATUS_OK;
    for (size_t n = 0; outputs && n < ROWS; n++) {
        const enum status closed = table[n].close ? table[n].close(&outputs->parts[n]) : STATUS_OK;
        status = status == STATUS_OK ? closed : status;
    }
    return status;
}

/* ---- one step ---- */

static uint64_t every_of(const struct output_row *row, const struct config *config)
{
    return row->every ? *(const uint64_t *)((const char *)config + row->every) : 0;
}

unsigned outputs_due(struct outputs *outputs, const struct view *view)
{
    unsigned needs = 0;
    for (size_t n = 0; n < ROWS; n++) {
        const struct output_row *row = &table[n];
        outputs->due[n] = row->is_due && outputs->folder ? row->is_due(outputs->parts[n], view)
                                                         : view_is_due(view, every_of(row, view->config));
        needs |= outputs->due[n] ? OUTPUT_NEEDS_CHECK | row->needs : 0;
    }
    return needs;
}

/* On rank 0, of whose failure all ranks know before any of them waits in the collective writing. */
static enum status prepare(const struct outputs *outputs, const struct output_row *row, const char *folder)
{
    for (size_t n = 0; n < ROWS; n++)
        if (row->needs & OUTPUT_NEEDS_SYNC && table[n].sync && outputs->parts[n])
            TRY(table[n].sync(outputs->parts[n]));
    return run_folder_make(folder);
}

/* An output with a folder of its own. */
static enum status write_into_folder(struct outputs *outputs, size_t n, const struct view *view)
{
    char *folder = NULL;
    uint64_t bytes = 0;
    TRY(device_finish(outputs->device));
    const double start = timer_now();
    device_weigh_times(outputs->device, 0); /* the kernels of an output are within the time added here */
    TRY(run_folder_path(outputs->folder, table[n].folder, &folder));
    enum status status = view->communicator->rank == 0 ? prepare(outputs, &table[n], folder) : STATUS_OK;
    status = communicator_agree(view->communicator, status);
    if (status == STATUS_OK)
        status = table[n].write(outputs->parts[n], folder, view, &bytes);
    free(folder);
    device_add_time(outputs->device, STAGE_OUTPUT, timer_now() - start, bytes);
    return status;
}

enum status outputs_write(struct outputs *outputs, const struct view *view)
{
    for (size_t n = 0; n < ROWS && outputs->folder; n++) {
        const bool is_measured = (table[n].needs & OUTPUT_NEEDS_MEASURED) != 0;
        uint64_t bytes;
        if (!outputs->due[n] || !table[n].write || is_measured != (view->measured != NULL))
            continue;
        TRY(table[n].folder ? write_into_folder(outputs, n, view)
                            : table[n].write(outputs->parts[n], outputs->folder->path, view, &bytes));
    }
    return STATUS_OK;
}

/* ---- what `check` says ---- */

uint64_t outputs_times_due(const struct config *config, uint64_t every)
{
    return every > 0 ? config->time.steps / every + 1 + (config->time.steps % every != 0) : 0;
}

void outputs_print_files(const char *name, uint64_t times, const char *what, uint64_t bytes)
{
    printf("%-25s %llu%s, at most %.3g MB each before compression, %.3g MB in all\n", name,
           (unsigned long long)times, what, 1e-6 * (double)bytes, 1e-6 * (double)bytes * (double)times);
}

void outputs_print_sizes(const struct config *config)
{
    for (size_t n = 0; n < ROWS; n++) {
        if (table[n].print_size)
            table[n].print_size(config);
        else if (table[n].bytes)
            outputs_print_files(table[n].name, outputs_times_due(config, every_of(&table[n], config)), "",
                                table[n].bytes(config));
    }
}
