/* Run folder: creation, and clearing of what an earlier run left. */
#include "diag/run_folder.h"

#include <dirent.h>
#include <errno.h>
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

/* data_DIGITS.h5, the name of a snapshot, or .data_DIGITS.h5.tmp, which a killed run was writing. */
static bool is_snapshot(const char *name)
{
    const bool unfinished = name[0] == '.';
    name += unfinished;
    if (strncmp(name, "data_", 5) != 0)
        return false;
    const size_t digits = strspn(name + 5, "0123456789");
    return digits > 0 && strcmp(name + 5 + digits, unfinished ? ".h5.tmp" : ".h5") == 0;
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

static enum status remove_snapshots(const struct run_folder *folder)
{
    DIR *listing = opendir(folder->snapshots);
    if (!listing)
        return status_fail(STATUS_FAILED, "cannot read folder %s: %s", folder->snapshots, strerror(errno));
    enum status status = STATUS_OK;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(listing));) {
        if (!is_snapshot(entry->d_name))
            continue;
        if (unlinkat(dirfd(listing), entry->d_name, 0) != 0)
            status = status_fail(STATUS_FAILED, "cannot remove %s/%s: %s", folder->snapshots, entry->d_name,
                                 strerror(errno));
    }
    closedir(listing);
    return status;
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
    static const char *const names[] = {"config.yaml", "log.txt", "timers.csv", "snapshots"};
    for (size_t n = 0; n < sizeof names / sizeof names[0] && !folder->replaced; n++)
        if (holds(folder, names[n]))
            return status_fail(
                STATUS_USAGE,
                "folder %s holds %s but no history.csv: it is not a run's, and nothing in it is "
                "overwritten; choose another --output",
                folder->path, names[n]);
    return STATUS_OK;
}

enum status run_folder_create(const char *path, struct run_folder *folder)
{
    *folder = (struct run_folder){.path = strdup(path)};
    if (!folder->path || asprintf(&folder->snapshots, "%s/snapshots", path) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of the run folder");
    folder->replaced = holds(folder, "history.csv");
    TRY(refuse_foreign_files(folder));
    TRY(make_folders(folder->path));
    return STATUS_OK;
}

enum status run_folder_clear(const struct run_folder *folder)
{
    TRY(make_folder(folder->snapshots));
    TRY(remove_timers(folder));
    return remove_snapshots(folder);
}

void run_folder_destroy(struct run_folder *folder)
{
    free(folder->path);
    free(folder->snapshots);
    *folder = (struct run_folder){0};
}

enum status run_folder_open(const struct run_folder *folder, const char *name, FILE **file)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder->path, name) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of %s", name);
    *file = fopen(path, "w");
    const enum status status =
        *file ? STATUS_OK : status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
    free(path);
    return status;
}
