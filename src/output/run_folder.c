/* Run folder: its names, creation, and clearing of what an earlier run left; listing of numbered files. */
#include "output/run_folder.h"

#include "output/checkpoint.h"
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

/* ---- numbered files ---- */

/* Whether the folder's entry `name` is a numbered file. */
static bool parse(const char *folder, const char *prefix, const char *name, struct numbered_file *file)
{
    char path[PATH_MAX];
    struct stat found;
    file->step = strtoull(name + strcspn(name, "0123456789"), NULL, 10);
    file->unfinished = name[0] == '.';
    snprintf(file->name, sizeof file->name, file->unfinished ? ".%s%" PRIu64 ".h5.tmp" : "%s%" PRIu64 ".h5",
             prefix, file->step);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return strcmp(name, file->name) == 0 && stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

static int compare_down(const void *left, const void *right)
{
    const uint64_t a = ((const struct numbered_file *)left)->step;
    const uint64_t b = ((const struct numbered_file *)right)->step;
    return a < b ? 1 : a > b ? -1 : 0;
}

enum status numbered_files_list(const char *folder, const char *prefix, struct numbered_file **files,
                                size_t *count)
{
    struct dirent **entries;
    const int all = scandir(folder, &entries, NULL, NULL);
    *files = NULL;
    *count = 0;
    if (all < 0)
        return errno == ENOENT
                   ? STATUS_OK
                   : status_fail(STATUS_FAILED, "cannot read folder %s: %s", folder, strerror(errno));
    *files = calloc((size_t)all + 1, sizeof **files);
    for (int n = 0; n < all; n++) {
        if (*files && parse(folder, prefix, entries[n]->d_name, *files + *count))
            ++*count;
        free(entries[n]);
    }
    free(entries);
    if (!*files)
        return status_fail(STATUS_FAILED, "no memory to list folder %s", folder);
    qsort(*files, *count, sizeof **files, compare_down);
    return STATUS_OK;
}

enum status file_remove(const char *folder, const char *name, const char *what)
{
    char path[PATH_MAX + NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (unlink(path) == 0 || errno == ENOENT)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot remove %s, %s: %s", path, what, strerror(errno));
}

/* ---- what is there ---- */

/* FOLDER/name, in a buffer of PATH_MAX. */
static const char *path_of(const struct run_folder *folder, const char *name, char *path)
{
    snprintf(path, PATH_MAX, "%s/%s", folder->path, name);
    return path;
}

static bool holds(const struct run_folder *folder, const char *name)
{
    char path[PATH_MAX];
    return access(path_of(folder, name, path), F_OK) == 0;
}

/* A run writes history.csv before anything else, so a folder with such names but without it is of another
 * origin. */
static enum status refuse_foreign_files(const struct run_folder *folder)
{
    const char *names[OUTPUTS + 3] = {"config.yaml", "log.txt", "timers.csv"};
    for (size_t n = 0; n < OUTPUTS; n++)
        names[n + 3] = output_table[n]->folder;
    for (size_t n = 0; n < OUTPUTS + 3; n++)
        if (names[n] && holds(folder, names[n]))
            return status_fail(
                STATUS_USAGE,
                "folder %s holds %s but no history.csv: it is not a run's, and nothing in it is "
                "overwritten; choose another --output",
                folder->path, names[n]);
    return STATUS_OK;
}

static bool has_checkpoint(const struct run_folder *folder)
{
    char path[PATH_MAX];
    struct numbered_file *files;
    size_t count;
    bool found = false;
    if (numbered_files_list(path_of(folder, "checkpoints", path), CHECKPOINT_PREFIX, &files, &count) ==
        STATUS_OK)
        for (size_t n = 0; n < count; n++)
            found |= !files[n].unfinished;
    free(files);
    return found;
}

enum status run_folder_check(struct run_folder *folder)
{
    folder->held_run = holds(folder, "history.csv");
    if (!folder->held_run)
        return refuse_foreign_files(folder);
    if (folder->use != RUN_FOLDER_NEW)
        return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "folder %s holds a run already; %s--force replaces it, --output DIR writes elsewhere",
                       folder->path, has_checkpoint(folder) ? "--restart latest goes on with it, " : "");
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

enum status run_folder_make(const char *path)
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

enum status run_folder_create(struct run_folder *folder)
{
    char path[PATH_MAX];
    TRY(run_folder_check(folder));
    snprintf(path, sizeof path, "%s", folder->path);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        TRY(run_folder_make(path));
        *slash = '/';
    }
    return run_folder_make(path);
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

/* ---- clearing ---- */

static enum status remove_numbered(const char *path, const char *prefix)
{
    struct numbered_file *files;
    size_t count;
    enum status status = numbered_files_list(path, prefix, &files, &count);
    for (size_t n = 0; n < count && status == STATUS_OK; n++)
        status = file_remove(path, files[n].name, "which is of an earlier run");
    free(files);
    return status;
}

enum status run_folder_clear(const struct run_folder *folder)
{
    TRY(file_remove(folder->path, "timers.csv", "which is of an earlier run"));
    for (size_t n = 0; n < OUTPUTS && folder->use != RUN_FOLDER_CONTINUE; n++) {
        char path[PATH_MAX];
        if (!output_table[n]->folder)
            continue;
        TRY(remove_numbered(path_of(folder, output_table[n]->folder, path), output_table[n]->prefix));
        (void)rmdir(path); /* stays where it holds anything else */
    }
    return STATUS_OK;
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
