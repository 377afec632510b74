/* Outputs: the table, and what walks it. */
#include "output/outputs.h"

#include "folder/commit.h"
#include "folder/file_list.h"
#include "output/average.h"
#include "output/checkpoints.h"

#include <stdlib.h>
#include <string.h>

static const struct output_row check_output = {.name = "check",
                                               .every = offsetof(struct config, time.check_every)};

const struct output_row *const output_table[OUTPUTS] = {
    &history_output,  &probes_output,      &check_output,   &tracks_output, &checkpoint_output,
    &snapshot_output, &phase_space_output, &moments_output, &lines_output};

/* The work for an output in a step: bits. */
enum { WRITE = 1, AVERAGE = 2 };

struct outputs {
    struct device *device;       /* owns the parts and this */
    const struct config *config; /* not owned */
    struct run_folder *folder;   /* NULL: nothing is written */
    struct writer *writer;       /* owned; with the folder */
    struct append_files appended;
    void *parts[OUTPUTS];
    struct average *averages[OUTPUTS]; /* NULL: it does not average */
    unsigned work[OUTPUTS];            /* in this step */
    double seconds[OUTPUTS];           /* that the steps waited for it */
    struct checkpoints checkpoints;
    bool checkpoint_due; /* in this step */
    bool has_failed;     /* a file could not be written, by any rank */
};

static bool is_checkpoint(const struct output_row *row)
{
    return row->files == &checkpoint_files;
}

/* ---- birth and death ---- */

enum status outputs_create(struct device *device, const struct config *config, struct outputs **outputs)
{
    TRY(DEVICE_NEW(device, *outputs));
    (*outputs)->device = device;
    (*outputs)->config = config;
    (*outputs)->checkpoints.last = timer_now();
    for (size_t n = 0; n < OUTPUTS; n++)
        if (output_table[n]->create && outputs_is_ever_due(output_table[n], config))
            TRY(output_table[n]->create(device, config, &(*outputs)->parts[n]));
    for (size_t n = 0; n < OUTPUTS; n++)
        TRY(average_create(device, output_table[n], config, &(*outputs)->averages[n]));
    return STATUS_OK;
}

enum status outputs_begin(struct outputs *outputs, const struct view *view, const struct config *old,
                          const struct hdf5_source *source)
{
    for (size_t n = 0; n < OUTPUTS; n++) {
        if (outputs->averages[n])
            TRY(average_begin(outputs->averages[n], view, old, source));
        if (outputs->parts[n] && output_table[n]->begin)
            TRY(output_table[n]->begin(outputs->parts[n], old, source));
    }
    return STATUS_OK;
}

void outputs_save(const struct outputs *outputs, struct hdf5_file *file, const struct view *view)
{
    for (size_t n = 0; n < OUTPUTS; n++) {
        average_save(outputs ? outputs->averages[n] : NULL, output_table[n], file, view);
        if (output_table[n]->save)
            output_table[n]->save(outputs ? outputs->parts[n] : NULL, file, view);
    }
}

enum status outputs_open(struct outputs *outputs, const struct communicator *communicator,
                         struct run_folder *folder)
{
    /* Collective, so before anything in which one rank alone may fail. */
    TRY(writer_create(communicator, &outputs->writer));
    outputs->folder = folder;
    if (communicator->rank > 0)
        return STATUS_OK;
    struct append_file *list;
    outputs->appended.folder = folder;
    TRY(append_files_add(&outputs->appended, FILE_LIST_NAME, FILE_LIST_HEAD, "the run", &list));
    for (size_t n = 0; n < OUTPUTS; n++)
        if (output_table[n]->open)
            TRY(output_table[n]->open(&outputs->appended, outputs->config, &outputs->parts[n]));
    TRY(run_folder_begin(folder));
    char *again = NULL;
    enum status status = run_folder_clear(folder, &again);
    TRY_IF_OK(append_files_begin(&outputs->appended, again));
    free(again);
    return status;
}

enum status outputs_complete(struct outputs *outputs, uint64_t step)
{
    TRY(append_files_sync(&outputs->appended));
    return run_folder_set(outputs->folder, MANIFEST_COMPLETE, step);
}

static void add_wait(const struct outputs *outputs, double start)
{
    device_add_time(outputs->device, STAGE_WAIT, timer_now() - start, 0);
}

enum status outputs_finish(struct outputs *outputs)
{
    const double start = timer_now();
    if (!outputs || !outputs->writer)
        return STATUS_OK;
    const enum status status = writer_wait(outputs->writer);
    add_wait(outputs, start);
    return status;
}

enum status outputs_close(struct outputs *outputs)
{
    if (!outputs)
        return STATUS_OK;
    const enum status status = outputs_finish(outputs);
    writer_destroy(&outputs->writer);
    const enum status closed = append_files_close(&outputs->appended);
    return status == STATUS_OK ? closed : status;
}

struct written outputs_written(const struct outputs *outputs)
{
    return writer_totals(outputs->writer);
}

enum status outputs_list(const struct outputs *outputs, const char *name)
{
    return append_files_list_text(&outputs->appended, name);
}

double outputs_seconds(const struct outputs *outputs, const char **cheaper_by)
{
    double sum = 0, most = -1;
    for (size_t n = 0; n < OUTPUTS; n++) {
        sum += outputs->seconds[n];
        if (outputs->seconds[n] > most && output_table[n]->cheaper_by) {
            most = outputs->seconds[n];
            *cheaper_by = output_table[n]->cheaper_by;
        }
    }
    return sum;
}

/* ---- one step ---- */

/* The needs of the fields of an item. */
static unsigned needs_of(const struct output_row *row, const char *item)
{
    const struct field_list *fields = (const struct field_list *)(item + row->fields);
    return row->fields == 0 ? 0
                            : (fields_hold(fields, FIELD_PHI) ? OUTPUT_NEEDS_POTENTIAL : 0u) |
                                  (fields_hold(fields, FIELD_SPECIES_RHO) ? OUTPUT_NEEDS_SPECIES : 0u);
}

/* *needs <- what the lists of fields need for it. */
static unsigned work_of(const struct outputs *outputs, size_t n, const struct view *view, unsigned *needs)
{
    const struct output_row *row = output_table[n];
    unsigned all = 0;
    const char *item;
    *needs = 0;
    if (is_checkpoint(row) && outputs->folder)
        return outputs->checkpoint_due ? WRITE : 0;
    for (uint32_t k = 0;
         (outputs->folder || row->items.size == 0) && (item = outputs_item(row, view->config, k)); k++) {
        const struct average_keys keys = outputs_keys(row, view->config, k);
        const bool averages = average_states(view, keys, 0) > 0 || average_states(view, keys, 1) > 0;
        const unsigned work = (view_is_due(view, keys.every) ? WRITE : 0u) | (averages ? AVERAGE : 0u);
        *needs |= work ? needs_of(row, item) : 0;
        all |= work;
    }
    return all;
}

/* Collective, once in a step: all ranks agree by the largest number that any of them has. */
static void agree(struct outputs *outputs, const struct view *view)
{
    double most[] = {writer_failed(outputs->writer), checkpoints_signal(view),
                     checkpoints_are_late(&outputs->checkpoints, view)};
    communicator_max(view->communicator, sizeof most / sizeof most[0], most);
    outputs->has_failed = most[0] > 0;
    outputs->checkpoint_due = checkpoints_are_due(&outputs->checkpoints, view, (int)most[1], most[2] > 0);
}

unsigned outputs_due(struct outputs *outputs, const struct view *view)
{
    unsigned needs = 0, of_fields;
    if (outputs->folder)
        agree(outputs, view);
    for (size_t n = 0; n < OUTPUTS; n++) {
        const struct output_row *row = output_table[n];
        const unsigned work = outputs->work[n] = work_of(outputs, n, view, &of_fields);
        if (work)
            needs |= OUTPUT_NEEDS_SUMS | row->needs | of_fields |
                     (row->record && work & WRITE ? OUTPUT_NEEDS_CHECK : 0u);
    }
    return needs | (needs && outputs->has_failed ? OUTPUT_NEEDS_CHECK : 0);
}

/* Whether files of the step are there from which the run goes on in this folder. */
static bool is_again(const struct outputs *outputs, const struct view *view)
{
    return outputs->folder->use == RUN_FOLDER_CONTINUE && view->step == view->first_step;
}

static enum status write_into_folder(struct outputs *outputs, size_t n, const struct view *view)
{
    const struct output_row *row = output_table[n];
    const bool is_first = view->communicator->rank == 0;
    struct hdf5_file *file = NULL;
    char folder[PATH_MAX];
    TRY(device_finish(outputs->device));
    snprintf(folder, sizeof folder, "%s/%s", outputs->folder->path, row->files->folder);
    /* A checkpoint is not written again: while it replaced the old file the manifest would name a file that
     * is not there. */
    if (is_checkpoint(row) && is_again(outputs, view))
        return STATUS_OK;
    const double start = timer_now();
    writer_wait_for_place(outputs->writer);
    add_wait(outputs, start);
    const double begin = timer_now();
    device_weigh_times(outputs->device, 0); /* the kernels of an output are within the time added here */
    enum status status = STATUS_OK;
    if (is_first) /* a failure is known on all ranks before any of them waits in the collective writing */
        status = commit_prepare(&outputs->appended, row->files, view->step, is_again(outputs, view));
    status = communicator_agree(view->communicator, status);
    if (status == STATUS_OK) {
        status = outputs_record(row, outputs->parts[n], folder, view, &file);
        if (status == STATUS_OK && is_first)
            status = commit_plan(&outputs->appended, row->files, view->step,
                                 view->config->output.checkpoints.keep, file);
        status = communicator_agree(view->communicator, status);
    }
    device_add_time(outputs->device, STAGE_OUTPUT, timer_now() - begin, 0);
    if (status != STATUS_OK) {
        hdf5_file_free(&file);
        return status;
    }
    const double put = timer_now();
    writer_put(outputs->writer, file); /* which writes it at once where MPI allows no threads */
    add_wait(outputs, put);
    return STATUS_OK;
}

/* Adds the state to the means of an output: it is recorded without data, which nothing is written of. */
static enum status add_state(const struct outputs *outputs, size_t n, const struct view *view)
{
    struct view added = *view;
    struct hdf5_file *file = NULL;
    added.has_no_data = true;
    added.device = NULL; /* to read its times would wait for the device */
    const enum status status = outputs_record(output_table[n], outputs->parts[n], "", &added, &file);
    hdf5_file_free(&file);
    return communicator_agree(view->communicator, status);
}

enum status outputs_measure(struct outputs *outputs, const struct view *view, uint32_t slot)
{
    for (size_t n = 0; n < OUTPUTS; n++)
        if (outputs->work[n] && output_table[n]->measure)
            TRY(output_table[n]->measure(outputs->parts[n], view, slot));
    return STATUS_OK;
}

enum status outputs_read(struct outputs *outputs, uint32_t first, uint32_t count)
{
    for (size_t n = 0; n < OUTPUTS && count > 0; n++)
        if (output_table[n]->read)
            TRY(output_table[n]->read(outputs->parts[n], first, count));
    return STATUS_OK;
}

enum status outputs_write(struct outputs *outputs, const struct view *state)
{
    unsigned needs;
    if (!outputs->folder)
        return STATUS_OK;
    struct view own = *state;
    const struct view *view = &own;
    own.run = outputs->folder->manifest.run;
    own.folder = outputs->folder;
    own.outputs = outputs;
    if (!view->measured && outputs->has_failed)
        return communicator_agree(view->communicator, writer_wait(outputs->writer));
    for (size_t n = 0; n < OUTPUTS; n++) {
        const struct output_row *row = output_table[n];
        const bool is_after = (row->needs & OUTPUT_AFTER) != 0;
        const unsigned work = is_after ? work_of(outputs, n, view, &needs) : outputs->work[n];
        if (is_after != (view->measured != NULL) || (!work && !row->wants_file))
            continue;
        const double start = timer_now();
        own.average = outputs->averages[n];
        if (work & AVERAGE)
            TRY(average_follow_rows(outputs->averages[n], view, NULL, 0));
        if (row->write && work)
            TRY(row->write(outputs->parts[n], view));
        if (row->wants_file ? row->wants_file(outputs->parts[n], view, outputs->checkpoint_due)
                            : row->record && work & WRITE)
            TRY(write_into_folder(outputs, n, view));
        else if (work & AVERAGE && !row->write)
            TRY(add_state(outputs, n, view));
        outputs->seconds[n] += timer_now() - start;
        if (is_checkpoint(row) && outputs->checkpoints.signal != 0) {
            TRY(outputs_finish(outputs));
            return checkpoints_stop(&outputs->checkpoints, view, outputs->folder->path);
        }
    }
    return STATUS_OK;
}
