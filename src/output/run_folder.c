/* Run folder: its names, creation, and clearing of what an earlier run left; listing of numbered files. */
#include "output/run_folder.h"

#include "base/replace.h"
#include "output/checkpoint.h"
#include "output/folder_lock.h"
#include "output/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is there ---- */

/* FOLDER/name, in a buffer of PATH_MAX. */
static const char *path_of(const struct run_folder *folder, const char *name, char *path)
{
    snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
    return path;
}

/* What cannot be looked at now may be there. */
static bool holds(const struct run_folder *folder, const char *name)
{
    char path[PATH_MAX];
    return access(path_of(folder, name, path), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* ---- lock and manifest ---- */

static enum status commit(const struct run_folder *folder)
{
    if (folder_lock_is_on(folder->path, folder->lock))
        return manifest_write(folder->path, &folder->manifest);
    return status_fail(STATUS_FAILED, "folder %s was removed or replaced while this run wrote to it",
                       folder->path);
}

void run_folder_unlock(struct run_folder *folder)
{
    if (folder->lock > 0)
        close(folder->lock);
    folder->lock = 0;
}

/* ---- what an earlier run left ---- */

/* A run writes its manifest before anything else, so a folder with such names but without one is of another
 * origin. */
static enum status refuse_foreign_files(const struct run_folder *folder)
{
    const char *names[OUTPUTS + 4] = {"history.csv", "config.yaml", "log.txt", "timers.csv"};
    for (size_t n = 0; n < OUTPUTS; n++)
        names[n + 4] = output_table[n]->folder;
    for (size_t n = 0; n < OUTPUTS + 4; n++)
        if (names[n] && holds(folder, names[n]))
            return status_fail(STATUS_USAGE,
                               "folder %s holds %s but no " MANIFEST_NAME
                               ": it is not a run's, or of an older version, and "
                               "nothing in it is overwritten; choose another --output",
                               folder->path, names[n]);
    return STATUS_OK;
}

enum status run_folder_look(struct run_folder *folder)
{
    if (folder->lock > 0 || !holds(folder, MANIFEST_NAME))
        return STATUS_OK;
    TRY(folder_lock_take(folder->path, &folder->lock, &folder->has_no_locks));
    return manifest_read(folder->path, &folder->manifest);
}

enum status run_folder_check(struct run_folder *folder)
{
    const struct manifest *manifest = &folder->manifest;
    if (manifest->state == MANIFEST_NONE)
        return refuse_foreign_files(folder);
    folder->held_run = manifest->state > MANIFEST_STARTING;
    if (folder->use != RUN_FOLDER_NEW || !folder->held_run)
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE, "folder %s holds a run already; %s--force replaces it, --output DIR writes elsewhere",
        folder->path, manifest->checkpoint_count > 0 ? "--restart latest goes on with it, " : "");
}

enum status run_folder_continue(struct run_folder *folder)
{
    const struct manifest_checkpoint *checkpoint = manifest_find(&folder->manifest, folder->from_step);
    if (folder->manifest.state == MANIFEST_NONE)
        TRY(refuse_foreign_files(folder));
    if (!checkpoint || checkpoint->run != folder->from_run)
        return status_fail(STATUS_USAGE,
                           "%s/" MANIFEST_NAME " does not name the checkpoint of step %" PRIu64
                           ", which is of another run; go on from it elsewhere, by --output DIR",
                           folder->path, folder->from_step);
    folder->use = RUN_FOLDER_CONTINUE;
    if (folder->manifest.state == MANIFEST_COMPLETE)
        folder->repeated = folder->manifest.complete_step - folder->from_step;
    memcpy(folder->kept, checkpoint->growing, sizeof folder->kept);
    return STATUS_OK;
}

bool run_folder_keeps(const struct run_folder *folder, const char *file)
{
    char path[PATH_MAX], above[PATH_MAX];
    struct stat own, other;
    snprintf(above, sizeof above, "%s", file); /* dirname() writes into it */
    return stat(path_of(folder, "checkpoints", path), &own) == 0 && stat(dirname(above), &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* ---- creation ---- */

/* Brings the names in a folder to the disk. */
static enum status sync_names(const char *path)
{
    if (sync_folder(path))
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot bring folder %s to the disk: %s", path, strerror(errno));
}

/* The same of the folder above. */
static enum status sync_parent(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path); /* dirname() writes into it */
    return sync_names(dirname(copy));
}

/* A user's path may be the mistake of the user. */
static enum status make(const char *path, bool is_users)
{
    struct stat found;
    if (mkdir(path, 0777) == 0)
        return sync_parent(path);
    const int error = errno;
    if (error == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return STATUS_OK;
    return status_fail(is_users ? folder_status_of(error) : STATUS_FAILED, "cannot create folder %s: %s",
                       path, error == EEXIST ? "there is a file of that name" : strerror(error));
}

enum status run_folder_make(const char *path)
{
    return make(path, false);
}

static enum status create(const struct run_folder *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder->path);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TRY(make(path, true));
        *slash = '/';
    }
    TRY(make(path, true));
    return sync_parent(path); /* a folder that is there already may have been made a moment ago */
}

enum { CHECKPOINT_NAME = 64 };

/* Below the run folder. */
static const char *checkpoint_name(uint64_t step, char name[CHECKPOINT_NAME])
{
    snprintf(name, CHECKPOINT_NAME, "checkpoints/" CHECKPOINT_PREFIX "%" PRIu64 ".h5", step);
    return name;
}

/* A file that was removed by hand is named no longer. */
static void forget_missing(const struct run_folder *folder, struct manifest *manifest)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < manifest->checkpoint_count; n++) {
        char name[CHECKPOINT_NAME];
        if (holds(folder, checkpoint_name(manifest->checkpoints[n].step, name)))
            manifest->checkpoints[kept++] = manifest->checkpoints[n];
    }
    manifest->checkpoint_count = kept;
}

enum status run_folder_require(const struct run_folder *folder)
{
    const struct manifest *manifest = &folder->manifest;
    const uint32_t count = manifest->checkpoint_count;
    char path[PATH_MAX], name[CHECKPOINT_NAME];
    struct stat found;
    for (uint32_t n = 0; n < count; n++)
        if (!holds(folder, checkpoint_name(manifest->checkpoints[n].step, name)))
            return status_fail(STATUS_USAGE, "%s/" MANIFEST_NAME " names %s, which is not there",
                               folder->path, name);
    for (uint32_t n = 0; n < MANIFEST_GROWING; n++) {
        const uint64_t bytes = count > 0 ? manifest->checkpoints[count - 1].growing[n].bytes : 0;
        if ((n == 0 || bytes > 0) && (stat(path_of(folder, manifest->growing[n], path), &found) != 0 ||
                                      (uint64_t)found.st_size < bytes))
            return status_fail(STATUS_USAGE, "%s does not hold the rows that belong to the run", path);
    }
    return STATUS_OK;
}

enum status run_folder_begin(struct run_folder *folder)
{
    struct manifest *manifest = &folder->manifest;
    if (folder->lock == 0) {
        TRY(create(folder));
        TRY(folder_lock_take(folder->path, &folder->lock, &folder->has_no_locks));
        TRY(manifest_read(folder->path, manifest));
        TRY(run_folder_check(folder));
    }
    if (folder->use == RUN_FOLDER_CONTINUE) {
        manifest_cut(manifest, folder->from_step);
        forget_missing(folder, manifest);
        manifest->state = MANIFEST_RUNNING;
    } else {
        *manifest = (struct manifest){.state = MANIFEST_STARTING};
    }
    manifest->run = manifest_new_run();
    manifest->from_run = folder->from_run;
    manifest->from_step = folder->from_step;
    return commit(folder);
}

enum status run_folder_set(struct run_folder *folder, enum manifest_state state, uint64_t step)
{
    folder->manifest.state = state;
    folder->manifest.complete_step = step;
    return commit(folder);
}

enum status run_folder_open(const struct run_folder *folder, const char *name, const char *mode, FILE **file)
{
    char path[PATH_MAX];
    *file = fopen(path_of(folder, name, path), mode);
    return *file ? STATUS_OK : status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
}

enum status run_folder_close(const struct run_folder *folder, const char *name, FILE *file)
{
    const bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot write %s/%s: %s", folder->path, name, strerror(errno));
}

/* ---- what belongs to the run ---- */

static const char not_of_run[] = "which does not belong to the run any more";

static bool is_named(const struct run_folder *folder, const struct output_row *row,
                     const struct numbered_file *file)
{
    struct manifest *manifest = (struct manifest *)&folder->manifest;
    const struct manifest_output *output = manifest_output(manifest, row->folder, false);
    if (file->unfinished)
        return false;
    return row == &checkpoint_output ? manifest_find(manifest, file->step) != NULL
                                     : output && file->step <= output->last;
}

enum { SERIES_NAME = 64 };

/* "PREFIX.pmd", without the "_" of the row's prefix. */
static const char *series_name(const struct output_row *row, char name[SERIES_NAME])
{
    snprintf(name, SERIES_NAME, "%.*s.pmd", (int)strlen(row->prefix) - 1, row->prefix);
    return name;
}

/* Where it is not there, that file: a line with the pattern of the files' names, by which ParaView opens
 * them. */
static enum status name_series(const struct run_folder *folder, const struct output_row *row)
{
    char path[PATH_MAX], name[SERIES_NAME], below[SERIES_NAME * 2];
    struct replacement replacement;
    snprintf(below, sizeof below, "%s/%s", row->folder, series_name(row, name));
    if (holds(folder, below))
        return STATUS_OK;
    TRY(replace_begin(path_of(folder, row->folder, path), name, &replacement));
    fprintf(replacement.file, "%s%%T.h5\n", row->prefix);
    return replace_end(&replacement, STATUS_OK);
}

/* Ends a removal of files: removes their folder too, or, where that holds anything else, brings the removal
 * to the disk, so that a loss of power does not bring the files back. */
static enum status settle(const char *path, bool removed)
{
    return rmdir(path) == 0 || !removed ? STATUS_OK : sync_names(path);
}

static enum status clear(const struct run_folder *folder, const struct output_row *row)
{
    char path[PATH_MAX], series[SERIES_NAME];
    struct numbered_file *files;
    size_t count, kept = 0;
    enum status status = numbered_files_list(path_of(folder, row->folder, path), row->prefix, &files, &count);
    for (size_t n = 0; n < count && status == STATUS_OK; n++) {
        if (is_named(folder, row, &files[n]))
            kept++;
        else
            status = file_remove(path, files[n].name, not_of_run);
    }
    free(files);
    if (kept == 0 && status == STATUS_OK)
        status = file_remove(path, series_name(row, series), not_of_run);
    return status == STATUS_OK ? settle(path, kept < count) : status;
}

static int is_csv(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && end && strcmp(end, ".csv") == 0;
}

/* The same of an output whose files grow: FOLDER/NAME.csv. */
static enum status clear_growing(const struct run_folder *folder, const char *inner)
{
    char path[PATH_MAX], name[PATH_MAX];
    struct dirent **entries;
    const int count = scandir(path_of(folder, inner, path), &entries, is_csv, NULL);
    enum status status = STATUS_OK;
    for (int n = 0; n < count; n++) {
        snprintf(name, sizeof name, "%s/%s", inner, entries[n]->d_name);
        if (status == STATUS_OK &&
            manifest_growing((struct manifest *)&folder->manifest, name, false) == MANIFEST_GROWING)
            status = file_remove(folder->path, name, not_of_run);
        free(entries[n]);
    }
    if (count >= 0)
        free(entries);
    return status == STATUS_OK ? settle(path, count > 0) : status;
}

static enum status cut(const struct run_folder *folder)
{
    char path[PATH_MAX];
    for (uint32_t n = 0; n < MANIFEST_GROWING && folder->use == RUN_FOLDER_CONTINUE; n++)
        if ((n == 0 || folder->kept[n].bytes > 0) &&
            truncate(path_of(folder, folder->manifest.growing[n], path), (off_t)folder->kept[n].bytes) != 0)
            return status_fail(STATUS_FAILED, "cannot cut %s: %s", path, strerror(errno));
    return STATUS_OK;
}

enum status run_folder_clear(const struct run_folder *folder)
{
    TRY(cut(folder));
    TRY(file_remove(folder->path, "timers.csv", "which is of an earlier run"));
    for (size_t n = 0; n < OUTPUTS; n++) {
        const struct output_row *row = output_table[n];
        if (row->folder)
            TRY(row->prefix ? clear(folder, row) : clear_growing(folder, row->folder));
    }
    return STATUS_OK;
}

/* Whether the checkpoint is whole at a glance. */
static bool is_whole(const struct run_folder *folder, uint64_t step)
{
    char name[CHECKPOINT_NAME], path[PATH_MAX];
    bool is_damaged;
    return checkpoint_seal_check(path_of(folder, checkpoint_name(step, name), path), false, &is_damaged) ==
           STATUS_OK;
}

enum status run_folder_add(struct run_folder *folder, const struct output_row *row,
                           const struct manifest_checkpoint *file, uint32_t keep)
{
    struct manifest *manifest = &folder->manifest;
    if (row != &checkpoint_output) {
        struct manifest_output *output = manifest_output(manifest, row->folder, true);
        output->last = file->step;
        TRY(name_series(folder, row));
        return commit(folder);
    }
    uint32_t first = manifest->checkpoint_count;
    for (uint32_t kept = 1; first > 0 && kept < keep; first--)
        kept += is_whole(folder, manifest->checkpoints[first - 1].step);
    manifest->checkpoint_count -= first;
    memmove(manifest->checkpoints, manifest->checkpoints + first,
            manifest->checkpoint_count * sizeof *manifest->checkpoints);
    manifest_add(manifest, file);
    TRY(commit(folder));
    return clear(folder, row);
}

/* ---- removal of a whole folder ---- */

static int remove_entry(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)found, (void)kind, (void)place;
    return remove(path);
}

enum status run_folder_remove(const char *path)
{
    enum { DESCRIPTORS = 16 };
    if (nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot remove %s: %s", path, strerror(errno));
}
