/* Run folder: what is there, creation, and its checkpoints. */
#include "folder/run_folder.h"

#include "base/below.h"
#include "base/replace.h"
#include "folder/checkpoint_seal.h"
#include "folder/file_list.h"
#include "folder/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* ---- what is there ---- */

/* A file that cannot be looked at may be there. */
static bool holds(const struct run_folder *folder, const char *name)
{
    struct stat found;
    return in_folder_look(folder->descriptor, name, &found) || (errno != ENOENT && errno != ENOTDIR);
}

enum status run_folder_fail(const struct run_folder *folder, const char *doing, const char *name)
{
    return status_fail(STATUS_FAILED, "cannot %s %s/%s: %s", doing, folder->path, name,
                       in_folder_text(errno));
}

/* ---- lock and manifest ---- */

/* Opens the folder, whose path may have links, unless it is open. */
static bool open_folder(struct run_folder *folder)
{
    const int descriptor = folder->descriptor > 0 ? folder->descriptor : in_folder_begin(folder->path, 0);
    folder->descriptor = descriptor > 0 ? descriptor : 0;
    return descriptor > 0;
}

static enum status commit(const struct run_folder *folder)
{
    if (folder_lock_is_on(folder->path, folder->lock))
        return manifest_write(folder->descriptor, folder->path, &folder->manifest);
    return status_fail(STATUS_FAILED, "folder %s was removed or replaced while this run wrote to it",
                       folder->path);
}

void run_folder_unlock(struct run_folder *folder)
{
    if (folder->lock > 0)
        close(folder->lock);
    if (folder->descriptor > 0)
        close(folder->descriptor);
    folder->lock = folder->descriptor = 0;
    manifest_clear(&folder->manifest);
}

/* ---- what an earlier run left ---- */

enum status run_folder_refuse(const struct run_folder *folder, enum status status, const char *name)
{
    return status_fail(
        status,
        "%s/%s is there already and is not a file of this run, so it is not overwritten; move it, "
        "and start again",
        folder->path, name);
}

/* Nothing is written through a link or to a pipe. A run writes its manifest before anything else, so a folder
 * with a run's names but without one is of another origin. */
static enum status refuse_foreign_files(const struct run_folder *folder, bool has_manifest)
{
    enum { FILES = 6 };
    const char *names[STEP_FILES + FILES] = {"history.csv", "config.yaml",  "log.txt",
                                             "timers.csv",  FILE_LIST_NAME, MANIFEST_NAME};
    for (size_t n = 0; n < STEP_FILES; n++)
        names[n + FILES] = step_files_table[n]->folder;
    for (size_t n = 0; n < STEP_FILES + FILES && folder->descriptor > 0; n++) {
        struct stat found = {0};
        if (!in_folder_look(folder->descriptor, names[n], &found) && errno == ENOENT)
            continue;
        if (!has_manifest)
            return status_fail(STATUS_USAGE,
                               "folder %s holds %s but no " MANIFEST_NAME
                               ": it is not a run's, or of an older version, and "
                               "nothing in it is overwritten; choose another --output",
                               folder->path, names[n]);
        if (S_ISLNK(found.st_mode) || S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode))
            return status_fail(
                STATUS_USAGE,
                "%s/%s is %s, to which a run does not write; remove it, or choose another --output",
                folder->path, names[n], S_ISLNK(found.st_mode) ? "a symbolic link" : "a pipe or device");
    }
    return STATUS_OK;
}

enum status run_folder_look(struct run_folder *folder)
{
    if (folder->lock > 0 || !open_folder(folder) || !holds(folder, MANIFEST_NAME))
        return STATUS_OK;
    TRY(refuse_foreign_files(folder, true));
    TRY(folder_lock_take(folder->descriptor, folder->path, &folder->lock, &folder->has_no_locks));
    return manifest_read(folder->path, &folder->manifest);
}

/* STATUS_USAGE where a file of the list is something else by now: a link, a pipe or a folder. */
static enum status require_listed_files(const struct run_folder *folder)
{
    struct listed_file *files;
    size_t count;
    struct stat found;
    enum status status = file_list_read(folder->descriptor, folder->path, &files, &count);
    for (size_t n = 0; n < count && status == STATUS_OK; n++)
        if (in_folder_look(folder->descriptor, files[n].name, &found) && !S_ISREG(found.st_mode))
            status = status_fail(
                STATUS_USAGE,
                "%s/%s is no regular file, as the run made it; remove it, or choose another --output",
                folder->path, files[n].name);
    free(files);
    return status;
}

enum status run_folder_check(struct run_folder *folder)
{
    const struct manifest *manifest = &folder->manifest;
    if (manifest->state == MANIFEST_NONE)
        return refuse_foreign_files(folder, false);
    folder->held_run = manifest->state > MANIFEST_STARTING;
    if (folder->use == RUN_FOLDER_REPLACE)
        return require_listed_files(folder);
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
        TRY(refuse_foreign_files(folder, false));
    if (!checkpoint || checkpoint->run != folder->from_run)
        return status_fail(STATUS_USAGE,
                           "%s/" MANIFEST_NAME " does not name the checkpoint of step %" PRIu64
                           ", which is of another run; go on from it elsewhere, by --output DIR",
                           folder->path, folder->from_step);
    folder->use = RUN_FOLDER_CONTINUE;
    if (folder->manifest.state == MANIFEST_COMPLETE)
        folder->repeated = folder->manifest.complete_step - folder->from_step;
    memcpy(folder->kept, checkpoint->appended, sizeof folder->kept);
    return STATUS_OK;
}

bool run_folder_keeps(const struct run_folder *folder, const char *file)
{
    char path[PATH_MAX], above[PATH_MAX];
    struct stat own, other;
    snprintf(path, sizeof path, "%s/%s", folder->path, checkpoint_files.folder);
    snprintf(above, sizeof above, "%s", file); /* dirname() writes into it */
    return stat(path, &own) == 0 && stat(dirname(above), &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

bool run_folder_holds(const struct run_folder *folder, const char *file)
{
    char path[PATH_MAX];
    struct stat own, above;
    if (!realpath(file, path) || stat(folder->path, &own) != 0)
        return false;
    do
        dirname(path); /* in place: realpath() left no slash at the end */
    while ((stat(path, &above) != 0 || own.st_dev != above.st_dev || own.st_ino != above.st_ino) && path[1]);
    return own.st_dev == above.st_dev && own.st_ino == above.st_ino;
}

/* ---- creation ---- */

/* Brings the name of a new folder to the disk. */
static enum status sync_parent(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path); /* dirname() writes into it */
    const char *parent = dirname(copy);
    const int folder = in_folder_begin(parent, 0);
    const bool is_synced = folder >= 0 && in_folder_sync(folder, "");
    in_folder_end(folder);
    return is_synced ? STATUS_OK
                     : status_fail(STATUS_FAILED, "cannot bring folder %s to the disk: %s", parent,
                                   strerror(errno));
}

/* Creates one folder, whose parent is there, unless it exists. */
static enum status make(const char *path)
{
    struct stat found;
    if (mkdir(path, 0777) == 0)
        return sync_parent(path);
    const int error = errno;
    if (error == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return STATUS_OK;
    return status_fail(folder_status_of(error), "cannot create folder %s: %s", path,
                       error == EEXIST ? "there is a file of that name" : strerror(error));
}

enum status run_folder_make_inner(const struct run_folder *folder, const char *name)
{
    struct stat found;
    if (mkdirat(folder->descriptor, name, 0777) == 0)
        return in_folder_sync(folder->descriptor, name) ? STATUS_OK
                                                        : run_folder_fail(folder, "bring to the disk", name);
    const bool is_there = errno == EEXIST && in_folder_look(folder->descriptor, name, &found);
    if (is_there && S_ISDIR(found.st_mode))
        return STATUS_OK;
    if (is_there)
        errno = S_ISLNK(found.st_mode) ? ELOOP : ENOTDIR;
    return run_folder_fail(folder, "create folder", name);
}

static enum status create(const struct run_folder *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", folder->path);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TRY(make(path));
        *slash = '/';
    }
    TRY(make(path));
    return sync_parent(path); /* a folder that is there already may have been made a moment ago */
}

enum status run_folder_require(const struct run_folder *folder)
{
    const struct manifest *manifest = &folder->manifest;
    const uint32_t count = manifest->checkpoint_count;
    char name[STEP_FILES_NAME];
    struct stat found;
    for (uint32_t n = 0; n < count; n++)
        if (!holds(folder, step_files_name(&checkpoint_files, manifest->checkpoints[n].step, name)))
            return status_fail(STATUS_USAGE, "%s/" MANIFEST_NAME " names %s, which is not there",
                               folder->path, name);
    for (uint32_t n = 0; n < MANIFEST_APPENDED; n++) {
        const uint64_t bytes = count > 0 ? manifest->checkpoints[count - 1].appended[n].bytes : 0;
        if ((n == 0 || bytes > 0) && (!in_folder_look(folder->descriptor, manifest->appended[n], &found) ||
                                      (uint64_t)found.st_size < bytes))
            return status_fail(STATUS_USAGE, "%s/%s does not hold the rows that belong to the run",
                               folder->path, manifest->appended[n]);
    }
    return STATUS_OK;
}

/* The id of a new run; never 0. */
static uint64_t new_run(void)
{
    uint64_t run = 0;
    if (getrandom(&run, sizeof run, 0) != sizeof run || run == 0)
        run = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid() ^ 1;
    return run;
}

enum status run_folder_begin(struct run_folder *folder)
{
    struct manifest *manifest = &folder->manifest;
    if (folder->lock == 0) {
        TRY(create(folder));
        if (!open_folder(folder))
            return run_folder_fail(folder, "open", "");
        TRY(folder_lock_take(folder->descriptor, folder->path, &folder->lock, &folder->has_no_locks));
        TRY(manifest_read(folder->path, manifest));
        TRY(run_folder_check(folder));
    }
    if (folder->use == RUN_FOLDER_CONTINUE) {
        manifest_cut(manifest, folder->from_step);
        const uint32_t count = manifest->checkpoint_count;
        manifest->checkpoint_count = 0;
        for (uint32_t n = 0; n < count; n++) { /* a file that was removed by hand is named no longer */
            char name[STEP_FILES_NAME];
            if (holds(folder, step_files_name(&checkpoint_files, manifest->checkpoints[n].step, name)))
                manifest->checkpoints[manifest->checkpoint_count++] = manifest->checkpoints[n];
        }
        manifest->state = MANIFEST_RESTARTING;
    } else {
        manifest_clear(manifest);
        manifest->state = MANIFEST_STARTING;
        manifest_appended(manifest, "history.csv", true);
    }
    manifest->run = new_run();
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

enum status run_folder_open(const struct run_folder *folder, const char *name, bool appends, FILE **file)
{
    const int descriptor =
        in_folder_open(folder->descriptor, name, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC));
    *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    return *file ? STATUS_OK : run_folder_fail(folder, "write", name);
}

enum status run_folder_close(const struct run_folder *folder, const char *name, FILE *file)
{
    const bool failed = ferror(file) != 0 || fflush(file) != 0 || !sync_file(fileno(file));
    return fclose(file) == 0 && !failed ? STATUS_OK : run_folder_fail(folder, "write", name);
}

/* ---- checkpoints, and removal ---- */

enum status run_folder_remove_file(const struct run_folder *folder, const char *name)
{
    return in_folder_remove(folder->descriptor, name, 0) || errno == ENOENT
               ? STATUS_OK
               : run_folder_fail(folder, "remove", name);
}

enum status run_folder_add(struct run_folder *folder, const struct manifest_checkpoint *file, uint32_t keep)
{
    struct manifest *manifest = &folder->manifest;
    uint64_t gone[MANIFEST_CHECKPOINTS];
    char name[STEP_FILES_NAME], path[PATH_MAX];
    bool is_damaged;
    uint32_t first = manifest->checkpoint_count;
    for (uint32_t kept = 1; first > 0 && kept < keep; first--) {
        step_files_name(&checkpoint_files, manifest->checkpoints[first - 1].step, name);
        snprintf(path, sizeof path, "%s/%s", folder->path, name);
        kept += checkpoint_seal_check(path, false, &is_damaged) == STATUS_OK;
    }
    for (uint32_t n = 0; n < first; n++)
        gone[n] = manifest->checkpoints[n].step;
    manifest_drop(manifest, first);
    TRY(manifest_add(manifest, file));
    TRY(commit(folder));
    for (uint32_t n = 0; n < first; n++)
        if (!manifest_find(manifest, gone[n]))
            TRY(run_folder_remove_file(folder, step_files_name(&checkpoint_files, gone[n], name)));
    return first == 0 || in_folder_sync(folder->descriptor, name)
               ? STATUS_OK
               : run_folder_fail(folder, "bring to the disk", checkpoint_files.folder);
}

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
