/* Replace: write beside it, sync, rename, sync the folder. */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool sync_path(const char *path, int flags)
{
    const int descriptor = open(path, flags | O_CLOEXEC);
    /* A file system that cannot sync a folder says EINVAL, and one may write to a folder where one must not
     * read: their renames are as safe as they get. */
    const bool synced = descriptor >= 0 ? fsync(descriptor) == 0 || errno == EINVAL
                                        : errno == EACCES && (flags & O_DIRECTORY);
    const int error_number = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = error_number;
    return synced;
}

bool sync_folder(const char *path)
{
    return sync_path(path, O_RDONLY | O_DIRECTORY);
}

static enum status fail(const struct replacement *replacement)
{
    return status_fail(STATUS_FAILED, "cannot write %s: %s", replacement->path, strerror(errno));
}

enum status replace_begin(const char *folder, const char *name, struct replacement *replacement)
{
    replacement->file = NULL;
    snprintf(replacement->folder, sizeof replacement->folder, "%s", folder);
    snprintf(replacement->path, sizeof replacement->path, "%s/%s", folder, name);
    const int length =
        snprintf(replacement->temporary, sizeof replacement->temporary, "%s/.%s.tmp", folder, name);
    if (length < 0 || (size_t)length >= sizeof replacement->temporary)
        errno = ENAMETOOLONG;
    else
        replacement->file = fopen(replacement->temporary, "we");
    return replacement->file ? STATUS_OK : fail(replacement);
}

enum status replace_end(struct replacement *replacement, enum status status)
{
    FILE *file = replacement->file;
    if (ferror(file) || (status == STATUS_OK && (fflush(file) != 0 || fsync(fileno(file)) != 0)))
        status = fail(replacement);
    if (fclose(file) != 0 && status == STATUS_OK)
        status = fail(replacement);
    if (status == STATUS_OK && rename(replacement->temporary, replacement->path) != 0)
        status = fail(replacement);
    if (status != STATUS_OK)
        unlink(replacement->temporary);
    else if (!sync_folder(replacement->folder))
        status = fail(replacement);
    return status;
}
