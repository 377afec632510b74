/* Numbered files: listing by name, removal. */
#include "output/numbered_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether `name` is UNFINISHED-NUMBER.lock, which MPI leaves beside a file that it wrote when it is killed.
 */
static bool is_lock_of(const char *name, const char *unfinished)
{
    static const char end[] = ".lock";
    const size_t length = strlen(unfinished), all = strlen(name);
    return strncmp(name, unfinished, length) == 0 && name[length] == '-' &&
           strcmp(name + all - strlen(end), end) == 0;
}

/* Whether the folder's entry `name` is a numbered file. */
static bool parse(const char *folder, const char *prefix, const char *name, struct numbered_file *file)
{
    char path[PATH_MAX];
    struct stat found;
    file->step = strtoull(name + strcspn(name, "0123456789"), NULL, 10);
    file->unfinished = name[0] == '.';
    snprintf(file->name, sizeof file->name, file->unfinished ? ".%s%" PRIu64 ".h5.tmp" : "%s%" PRIu64 ".h5",
             prefix, file->step);
    if (file->unfinished && is_lock_of(name, file->name))
        snprintf(file->name, sizeof file->name, "%s", name);
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
