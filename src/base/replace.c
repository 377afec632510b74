/* Replace: write beside it, sync, rename, sync the folder. */
#include "base/replace.h"

#include "base/below.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static enum status fail(const struct replacement *replacement)
{
    return status_fail(STATUS_FAILED, "cannot write %s: %s", replacement->path, in_folder_text(errno));
}

enum status replace_begin(int folder, const char *path, const char *name, struct replacement *replacement)
{
    const char *last;
    replacement->file = NULL;
    snprintf(replacement->path, sizeof replacement->path, "%s/%s", path, name);
    replacement->folder = in_folder_enter(folder, name, &last);
    snprintf(replacement->name, sizeof replacement->name, "%s", last);
    snprintf(replacement->temporary, sizeof replacement->temporary, ".%s.tmp", replacement->name);
    if (replacement->folder < 0)
        return fail(replacement);
    unlinkat(replacement->folder, replacement->temporary, 0); /* of a killed run */
    const int file = in_folder_open(replacement->folder, replacement->temporary, O_WRONLY | O_CREAT | O_EXCL);
    replacement->file = file >= 0 ? fdopen(file, "w") : NULL;
    if (replacement->file)
        return STATUS_OK;
    const enum status status = fail(replacement);
    in_folder_end(file);
    in_folder_end(replacement->folder);
    return status;
}

enum status replace_end(struct replacement *replacement, enum status status)
{
    FILE *file = replacement->file;
    const int folder = replacement->folder;
    if (ferror(file) || (status == STATUS_OK && (fflush(file) != 0 || fsync(fileno(file)) != 0)))
        status = fail(replacement);
    if (fclose(file) != 0 && status == STATUS_OK)
        status = fail(replacement);
    if (status == STATUS_OK && renameat(folder, replacement->temporary, folder, replacement->name) != 0)
        status = fail(replacement);
    if (status != STATUS_OK)
        unlinkat(folder, replacement->temporary, 0);
    else if (!in_folder_sync(folder, replacement->name))
        status = fail(replacement);
    in_folder_end(folder);
    return status;
}
