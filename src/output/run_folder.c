/* Run folder: creation, and clearing of what an earlier run left. */
#include "output/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status make_folder(const char *path)
{
    struct stat found;
    if (mkdir(path, 0777) == 0)
        return STATUS_OK;
    const int error = errno;
    if (error == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot create folder %s: %s", path,
                       error == EEXIST ? "there is a file of that name" : strerror(error));
}

static enum status make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const enum status status = make_folder(path);
        *slash = '/';
        TRY(status);
    }
    return make_folder(path);
}

/* Files that are numbered by the step. */
static const char snapshot_prefix[] = "data_", checkpoint_prefix[] = "checkpoint_";

/* PREFIX_DIGITS.h5, whole, or .PREFIX_DIGITS.h5.tmp, which a killed run was writing. */
static bool is_numbered(const char *name, const char *prefix)
{
    const bool unfinished = name[0] == '.';
    name += unfinished;
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    name += strlen(prefix);
    const size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, unfinished ? ".h5.tmp" : ".h5") == 0;
}

static enum status remove_timers(const struct run_folder *folder)
{
    char *path = NULL;
    if (asprintf(&path, "%s/timers.csv", folder->path) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of timers.csv");
    const bool failed = unlink(path) != 0 && errno != ENOENT;
    const enum status status =
        failed ? status_fail(STATUS_FAILED, "cannot remove %s: %s", path, strerror(errno)) : STATUS_OK;
    free(path);
    return status;
}

static enum status remove_numbered(const char *path, const char *prefix)
{
    DIR *listing = opendir(path);
    if (!listing && errno == ENOENT)
        return STATUS_OK;
    if (!listing)
        return status_fail(STATUS_FAILED, "cannot read folder %s: %s", path, strerror(errno));
    enum status status = STATUS_OK;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(listing));) {
        if (!is_numbered(entry->d_name, prefix))
            continue;
        if (unlinkat(dirfd(listing), entry->d_name, 0) != 0)
            status =
                status_fail(STATUS_FAILED, "cannot remove %s/%s: %s", path, entry->d_name, strerror(errno));
    }
    closedir(listing);
    return status;
}

bool run_folder_has_checkpoint(const struct run_folder *folder)
{
    DIR *listing = opendir(folder->checkpoints);
    bool found = false;
    for (const struct dirent *entry; listing && !found && (entry = readdir(listing));)
        found = entry->d_name[0] != '.' && is_numbered(entry->d_name, checkpoint_prefix);
    if (listing)
        closedir(listing);
    return found;
}

bool run_folder_keeps(const struct run_folder *folder, const char *file)
{
    struct stat own, other;
    char *above = strdup(file); /* dirname() writes into it */
    const bool same = above && stat(folder->checkpoints, &own) == 0 && stat(dirname(above), &other) == 0 &&
                      own.st_dev == other.st_dev && own.st_ino == other.st_ino;
    free(above);
    return same;
}

/* Whether FOLDER/name is there. */
static bool holds(const struct run_folder *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder->path, name) < 0)
        return false;
    const bool found = access(path, F_OK) == 0;
    free(path);
    return found;
}

/* A run writes history.csv before anything else, so a folder with such names but without it is somebody's
 * own. */
static enum status refuse_foreign_files(const struct run_folder *folder)
{
    static const char *const names[] = {"config.yaml", "log.txt",     "timers.csv",
                                        "snapshots",   "phase_space", "checkpoints"};
    for (size_t n = 0; n < sizeof names / sizeof names[0] && !folder->held_run; n++)
        if (holds(folder, names[n]))
            return status_fail(
                STATUS_USAGE,
                "folder %s holds %s but no history.csv: it is not a run's, and nothing in it is "
                "overwritten; choose another --output",
                folder->path, names[n]);
    return STATUS_OK;
}

static enum status refuse_earlier_run(const struct run_folder *folder)
{
    if (!folder->held_run || folder->use != RUN_FOLDER_NEW)
        return STATUS_OK;
    return status_fail(
        STATUS_USAGE, "folder %s holds a run already; %s--force replaces it, --output DIR writes elsewhere",
        folder->path, run_folder_has_checkpoint(folder) ? "--restart latest goes on with it, " : "");
}

enum status run_folder_name(const char *path, enum run_folder_use use, struct run_folder *folder)
{
    *folder = (struct run_folder){.path = strdup(path), .use = use};
    if (!folder->path || asprintf(&folder->snapshots, "%s/snapshots", path) < 0 ||
        asprintf(&folder->phase_space, "%s/phase_space", path) < 0 ||
        asprintf(&folder->checkpoints, "%s/checkpoints", path) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of the run folder");
    return STATUS_OK;
}

enum status run_folder_check(struct run_folder *folder)
{
    folder->held_run = holds(folder, "history.csv");
    TRY(refuse_foreign_files(folder));
    return refuse_earlier_run(folder);
}

enum status run_folder_create(struct run_folder *folder)
{
    TRY(run_folder_check(folder));
    return make_folders(folder->path);
}

enum status run_folder_clear(const struct run_folder *folder, bool has_snapshots, bool has_phase_space)
{
    if (has_snapshots)
        TRY(make_folder(folder->snapshots));
    if (has_phase_space)
        TRY(make_folder(folder->phase_space));
    TRY(remove_timers(folder));
    if (folder->use == RUN_FOLDER_CONTINUE)
        return STATUS_OK;
    TRY(remove_numbered(folder->snapshots, snapshot_prefix));
    TRY(remove_numbered(folder->phase_space, snapshot_prefix));
    TRY(remove_numbered(folder->checkpoints, checkpoint_prefix));
    if (!has_snapshots)
        (void)rmdir(folder->snapshots); /* stays where it holds anything else */
    if (!has_phase_space)
        (void)rmdir(folder->phase_space);
    (void)rmdir(folder->checkpoints);
    return STATUS_OK;
}

void run_folder_destroy(struct run_folder *folder)
{
    free(folder->path);
    free(folder->snapshots);
    free(folder->phase_space);
    free(folder->checkpoints);
    *folder = (struct run_folder){0};
}

enum status run_folder_open(const struct run_folder *folder, const char *name, const char *mode, FILE **file)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder->path, name) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of %s", name);
    *file = fopen(path, mode);
    const enum status status =
        *file ? STATUS_OK : status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return status;
}
