/* Outputs: the table, and what walks it. */
#include "output/outputs.h"

#include "base/below.h"
#include "base/replace.h"
#include "folder/file_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct output_row check_output = {.name = "check",
                                               .every = offsetof(struct config, time.check_every)};

const struct output_row *const output_table[OUTPUTS] = {
    &history_output,  &probes_output,      &check_output,   &tracks_output, &checkpoint_output,
    &snapshot_output, &phase_space_output, &moments_output, &lines_output};

/* What is to do for an output in a step: bits. */
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
    bool checkpoint_due;               /* one of an output whose files are kept */
    double seconds[OUTPUTS];           /* that the steps waited for it */
    double asked[OUTPUT_QUESTIONS];    /* in this step, by any rank */
};

/* The manifest names the files from which a run goes on, and they have digests of their own. */
static bool is_checkpoint(const struct output_row *row)
{
    return row->files == &checkpoint_files;
}

/* ---- the keys of outputs ---- */

const char *outputs_item(const struct output_row *row, const struct config *config, uint32_t n)
{
    const char *base = (const char *)config;
    const uint32_t count = row->items.size > 0 ? *(const uint32_t *)(base + row->items.count) : 1;
    const char *first = row->items.size > 0 ? *(const char *const *)(base + row->items.first) : base;
    return n < count ? first + n * row->items.size : NULL;
}

struct average_keys outputs_keys(const struct output_row *row, const struct config *config, uint32_t n)
{
    const char *item = outputs_item(row, config, n);
    return (struct average_keys){row->every ? *(const uint64_t *)(item + row->every) : 0,
                                 row->average ? *(const uint64_t *)(item + row->average) : 0};
}

uint64_t outputs_every(const struct output_row *row, const struct config *config)
{
    uint64_t least = 0;
    for (uint32_t n = 0; outputs_item(row, config, n); n++) {
        const uint64_t every = outputs_keys(row, config, n).every;
        least = every > 0 && (least == 0 || every < least) ? every : least;
    }
    return least;
}

/* What the fields of an item need. */
static unsigned needs_of(const struct output_row *row, const char *item)
{
    const struct field_list *fields = (const struct field_list *)(item + row->fields);
    return row->fields == 0 ? 0
                            : (fields_hold(fields, FIELD_PHI) ? OUTPUT_NEEDS_POTENTIAL : 0u) |
                                  (fields_hold(fields, FIELD_SPECIES_RHO) ? OUTPUT_NEEDS_SPECIES : 0u);
}

/* ---- birth and death ---- */

enum status outputs_create(struct device *device, const struct config *config, struct outputs **outputs)
{
    TRY(DEVICE_NEW(device, *outputs));
    (*outputs)->device = device;
    (*outputs)->config = config;
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
    for (size_t n = 0; n < OUTPUTS; n++)
        if (outputs->averages[n])
            TRY(average_begin(outputs->averages[n], view, old, source));
    return STATUS_OK;
}

void outputs_save(const struct outputs *outputs, struct hdf5_file *file, const struct view *view)
{
    for (size_t n = 0; n < OUTPUTS; n++)
        average_save(outputs ? outputs->averages[n] : NULL, output_table[n], file, view);
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

/* *needs <- what the lists of fields need for it. */
static unsigned work_of(const struct outputs *outputs, size_t n, const struct view *view, unsigned *needs)
{
    const struct output_row *row = output_table[n];
    unsigned all = 0;
    const char *item;
    *needs = 0;
    if (row->is_due && outputs->folder)
        return row->is_due(outputs->parts[n], view, outputs->asked) ? WRITE : 0;
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

/* Collective, once in a step. */
static void ask(struct outputs *outputs, const struct view *view)
{
    memset(outputs->asked, 0, sizeof outputs->asked);
    outputs->asked[OUTPUT_FAILED] = writer_failed(outputs->writer);
    for (size_t n = 0; n < OUTPUTS; n++)
        if (output_table[n]->ask)
            output_table[n]->ask(outputs->parts[n], view, outputs->asked);
    communicator_max(view->communicator, OUTPUT_QUESTIONS, outputs->asked);
}

unsigned outputs_due(struct outputs *outputs, const struct view *view)
{
    unsigned needs = 0, of_fields;
    outputs->checkpoint_due = false;
    if (outputs->folder)
        ask(outputs, view);
    for (size_t n = 0; n < OUTPUTS; n++) {
        const struct output_row *row = output_table[n];
        const unsigned work = outputs->work[n] = work_of(outputs, n, view, &of_fields);
        outputs->checkpoint_due |= is_checkpoint(row) && work;
        if (work)
            needs |= OUTPUT_NEEDS_SUMS | row->needs | of_fields |
                     (row->record && work & WRITE ? OUTPUT_NEEDS_CHECK : 0u);
    }
    if (needs == 0 || !outputs->folder)
        return needs;
    return needs | (outputs->asked[OUTPUT_FAILED] > 0 ? OUTPUT_NEEDS_CHECK : 0);
}

enum status outputs_record(const struct output_row *row, void *part, const char *folder,
                           const struct view *view, struct hdf5_file **file)
{
    char name[STEP_FILES_NAME];
    snprintf(name, sizeof name, "%s%" PRIu64 ".h5", row->files->prefix, view->step);
    TRY(hdf5_file_create(view->communicator, folder, name, file));
    (*file)->log = view->log;
    (*file)->has_no_data = view->has_no_data;
    (*file)->compression = view->config->output.snapshots.compression;
    row->record(part, *file, view);
    return (*file)->status;
}

/* Whether files of the step are there from which the run goes on in this folder. */
static bool is_again(const struct outputs *outputs, const struct view *view)
{
    return outputs->folder->use == RUN_FOLDER_CONTINUE && view->step == view->first_step;
}

/* On rank 0, of whose failure all ranks know before any of them waits in the collective writing. A file of
 * the step that a run goes on from may be written again. */
static enum status prepare(const struct outputs *outputs, const struct output_row *row,
                           const struct view *view)
{
    const struct run_folder *folder = outputs->folder;
    char name[STEP_FILES_NAME];
    struct stat found;
    if (is_checkpoint(row)) /* what the other outputs wrote earlier is on the disk */
        TRY(append_files_sync(&outputs->appended));
    TRY(run_folder_make_inner(folder, row->files->folder));
    return is_again(outputs, view) ||
                   !below_look(folder->descriptor, step_files_name(row->files, view->step, name), &found)
               ? STATUS_OK
               : run_folder_refuse(folder, STATUS_FAILED, name);
}

/* A file that the list names before it is there, and a checkpoint counts once the manifest names it. */
struct commit {
    const struct append_files *appended;
    const struct output_row *row;
    struct manifest_checkpoint file;
    uint32_t keep;
};

static enum status list(const struct hdf5_file *file, int descriptor)
{
    const struct commit *commit = file->context;
    char name[STEP_FILES_NAME];
    return append_files_list(commit->appended, step_files_name(commit->row->files, commit->file.step, name),
                             is_checkpoint(commit->row) ? -1 : descriptor);
}

/* Where it is not there, FOLDER/PREFIX.pmd: a line with the pattern of the files' names, for ParaView. */
static enum status name_series(const struct commit *commit)
{
    const struct run_folder *folder = commit->appended->folder;
    const char *prefix = commit->row->files->prefix;
    char name[STEP_FILES_NAME];
    struct replacement replacement;
    struct stat found;
    snprintf(name, sizeof name, "%s/%.*s.pmd", commit->row->files->folder, (int)strlen(prefix) - 1, prefix);
    if (below_look(folder->descriptor, name, &found))
        return STATUS_OK;
    TRY(append_files_list(commit->appended, name, -1));
    TRY(replace_begin(folder->descriptor, folder->path, name, &replacement));
    fprintf(replacement.file, "%s%%T.h5\n", prefix);
    TRY(replace_end(&replacement, STATUS_OK));
    return append_files_list_text(commit->appended, name);
}

static enum status commit(const struct hdf5_file *file)
{
    struct commit *commit = file->context;
    struct run_folder *folder = commit->appended->folder;
    if (!is_checkpoint(commit->row))
        return name_series(commit);
    const uint32_t list = manifest_appended(&folder->manifest, FILE_LIST_NAME, false);
    commit->file.appended[list] = append_file_mark(commit->appended->list);
    return run_folder_add(folder, &commit->file, commit->keep);
}

static enum status plan_commit(struct outputs *outputs, size_t n, const struct view *view,
                               struct hdf5_file *file)
{
    struct commit *planned = hdf5_file_keep(file, sizeof *planned);
    if (!planned)
        return file->status;
    *planned = (struct commit){.appended = &outputs->appended,
                               .row = output_table[n],
                               .file = {.step = view->step, .run = view->run},
                               .keep = view->config->output.checkpoints.keep};
    append_files_mark(&outputs->appended, planned->file.appended);
    file->context = planned;
    file->before = list;
    file->after = commit;
    return STATUS_OK;
}

/* STATUS_STOPPED, once all files are written, where the run ends with this one. */
static enum status stop(struct outputs *outputs, size_t n, const char *folder, const struct view *view)
{
    const struct output_row *row = output_table[n];
    if (!row->stop || row->stop(outputs->parts[n], folder, view) == STATUS_OK)
        return STATUS_OK;
    TRY(outputs_finish(outputs));
    return row->stop(outputs->parts[n], folder, view);
}

static enum status write_into_folder(struct outputs *outputs, size_t n, const struct view *view)
{
    const struct output_row *row = output_table[n];
    struct hdf5_file *file = NULL;
    char folder[PATH_MAX];
    TRY(device_finish(outputs->device));
    snprintf(folder, sizeof folder, "%s/%s", outputs->folder->path, row->files->folder);
    /* A checkpoint is not written again: while it took the place of the old file the manifest would name a
     * file that is not there. */
    if (is_checkpoint(row) && is_again(outputs, view))
        return stop(outputs, n, folder, view);
    const double start = timer_now();
    writer_make_room(outputs->writer);
    add_wait(outputs, start);
    const double begin = timer_now();
    device_weigh_times(outputs->device, 0); /* the kernels of an output are within the time added here */
    enum status status = view->communicator->rank == 0 ? prepare(outputs, row, view) : STATUS_OK;
    status = communicator_agree(view->communicator, status);
    if (status == STATUS_OK) {
        status = outputs_record(row, outputs->parts[n], folder, view, &file);
        if (status == STATUS_OK && view->communicator->rank == 0)
            status = plan_commit(outputs, n, view, file);
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
    return stop(outputs, n, folder, view);
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
    if (!view->measured && outputs->asked[OUTPUT_FAILED] > 0)
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
            TRY(average_settle(outputs->averages[n], view, NULL, 0));
        if (row->write && work)
            TRY(row->write(outputs->parts[n], view));
        if (row->wants_file ? row->wants_file(outputs->parts[n], view, outputs->checkpoint_due)
                            : row->record && work & WRITE)
            TRY(write_into_folder(outputs, n, view));
        else if (work & AVERAGE && !row->write)
            TRY(add_state(outputs, n, view));
        outputs->seconds[n] += timer_now() - start;
    }
    return STATUS_OK;
}
