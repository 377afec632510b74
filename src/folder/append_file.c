/* Append file: opening, rows, and going on with an older one. */
#include "folder/append_file.h"

#include "base/below.h"
#include "folder/digest.h"
#include "folder/file_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static enum status fail(const struct append_file *file, const char *what)
{
    return status_fail(STATUS_FAILED, "cannot %s %s/%s: %s", what, file->folder->path, file->name,
                       below_text(errno));
}

/* ---- lines ---- */

static enum status write_line(struct append_file *file, const char *line)
{
    const size_t length = strlen(line);
    if (!below_append(file->descriptor, line, length, file->whole))
        return fail(file, "write");
    file->whole += length;
    XXH3_64bits_update(file->digest, line, length);
    return STATUS_OK;
}

enum status append_file_write(struct append_file *file, uint32_t count, const double *values)
{
    enum { NUMBER = 26 };
    char line[NUMBER * APPEND_COLUMNS];
    int used = 0;
    for (uint32_t n = 0; n < count; n++)
        used += snprintf(line + used, NUMBER, "%.17g%c", values[n], n + 1 < count ? ',' : '\n');
    return write_line(file, line);
}

struct append_mark append_file_mark(const struct append_file *file)
{
    return (struct append_mark){file->whole, XXH3_64bits_digest(file->digest)};
}

/* ---- the list ---- */

static enum status list_lines(const struct append_files *files, const char *lines)
{
    struct append_file *list = files->list;
    if (!list || lines[0] == '\0')
        return STATUS_OK;
    TRY(write_line(list, lines));
    return sync_file(list->descriptor) ? STATUS_OK : fail(list, "write");
}

enum status append_files_list(const struct append_files *files, const char *name, int descriptor)
{
    char path[PATH_MAX], line[FILE_LIST_LINE];
    uint64_t digest = 0;
    snprintf(path, sizeof path, "%s/%s", files->folder->path, name);
    if (descriptor >= 0 && files->list)
        TRY(digest_file(path, descriptor, UINT64_MAX, &digest));
    file_list_line(line, name, descriptor >= 0 ? &digest : NULL);
    return list_lines(files, line);
}

enum status append_files_list_text(const struct append_files *files, const char *name)
{
    const int file = below_open(files->folder->descriptor, name, O_RDONLY);
    const enum status status = append_files_list(files, name, file);
    below_end(file);
    return status;
}

/* ---- going on with an older file ---- */

static enum status refuse_rows(const struct append_file *file)
{
    return status_fail(STATUS_USAGE,
                       "%s/%s does not hold the rows that it had at the checkpoint; go on elsewhere, by "
                       "--output DIR, or from an older checkpoint",
                       file->folder->path, file->name);
}

/* Opens the file; false with errno. */
static bool open_file(struct append_file *file, int flags)
{
    file->descriptor = below_open(file->folder->descriptor, file->name, O_RDWR | flags);
    return file->descriptor >= 0;
}

/* Reads what was there at the checkpoint, and goes on behind it. */
static enum status go_on(struct append_file *file, const char *keys, const struct append_mark *kept)
{
    const size_t length = strlen(file->head);
    char head[APPEND_HEAD_LENGTH];
    if (!open_file(file, 0))
        return errno == ENOENT ? refuse_rows(file) : fail(file, "read");
    const ssize_t read = pread(file->descriptor, head, length, 0);
    if (read < 0)
        return fail(file, "read");
    if (read > 0 &&
        (read != (ssize_t)length || memcmp(head, file->head, length) != 0)) /* else it lacks rows */
        return status_fail(
            STATUS_USAGE,
            "%s/%s has other columns than %s ask for; go on with those it was begun with, or write "
            "elsewhere by --output",
            file->folder->path, file->name, keys);
    file->whole = kept->bytes;
    if (!below_digest(file->descriptor, &file->whole, file->digest))
        return fail(file, "read");
    const struct append_mark found = append_file_mark(file);
    if (found.bytes != kept->bytes || found.digest != kept->digest)
        return refuse_rows(file);
    return lseek(file->descriptor, (off_t)kept->bytes, SEEK_SET) < 0 ? fail(file, "read") : STATUS_OK;
}

/* ---- all of a run ---- */

enum status append_files_add(struct append_files *files, const char *name, const char *head, const char *keys,
                             struct append_file **added)
{
    struct append_file *file = &files->files[files->count];
    const struct append_mark *kept = run_folder_kept(files->folder, name);
    if (files->count == MANIFEST_APPENDED)
        return status_fail(STATUS_FAILED, "more than %d files that grow", MANIFEST_APPENDED);
    files->count++;
    file->descriptor = -1;
    file->folder = files->folder;
    snprintf(file->name, sizeof file->name, "%s", name);
    file->digest = XXH3_createState();
    if (!file->digest)
        return status_fail(STATUS_FAILED, "no memory for %s/%s", files->folder->path, name);
    XXH3_64bits_reset(file->digest);
    snprintf(file->head, sizeof file->head, "%s\n", head);
    *added = file;
    return kept ? go_on(file, keys, kept) : STATUS_OK;
}

/* A file in a folder of its output that is not listed, and so not removed, is not the run's. */
static enum status begin(struct append_files *files, struct append_file *file)
{
    const bool is_inner = strchr(file->name, '/') != NULL;
    if (manifest_appended(&files->folder->manifest, file->name, true) == MANIFEST_APPENDED)
        return status_fail(
            STATUS_USAGE,
            "%s holds %d files of earlier probes, as many as there can be; go on elsewhere, by "
            "--output DIR",
            files->folder->path, MANIFEST_APPENDED);
    if (file != files->list)
        TRY(append_files_list(files, file->name, -1));
    if (file->descriptor >= 0)
        return STATUS_OK;
    if (is_inner) {
        char inner[MANIFEST_NAME_LENGTH];
        snprintf(inner, sizeof inner, "%.*s", (int)strcspn(file->name, "/"), file->name);
        TRY(run_folder_make_inner(files->folder, inner));
    }
    if (open_file(file, O_CREAT | (is_inner ? O_EXCL : O_TRUNC)) &&
        below_sync(files->folder->descriptor, file->name))
        return write_line(file, file->head);
    return errno == EEXIST ? run_folder_refuse(files->folder, STATUS_USAGE, file->name) : fail(file, "write");
}

enum status append_files_begin(struct append_files *files, const char *listed)
{
    if (strcmp(files->files[0].name, FILE_LIST_NAME) == 0)
        files->list = files->files;
    for (uint32_t n = 0; n < files->count; n++)
        TRY(begin(files, &files->files[n]));
    return list_lines(files, listed);
}

enum status append_files_sync(const struct append_files *files)
{
    for (uint32_t n = 0; n < files->count; n++) {
        const struct append_file *file = &files->files[n];
        struct stat found;
        if (fstat(file->descriptor, &found) == 0 && found.st_nlink == 0)
            return status_fail(STATUS_FAILED, "%s/%s was removed while this run wrote to it",
                               file->folder->path, file->name);
        if (!sync_file(file->descriptor))
            return fail(file, "write");
    }
    return STATUS_OK;
}

void append_files_mark(const struct append_files *files, struct append_mark marks[MANIFEST_APPENDED])
{
    memcpy(marks, files->folder->kept, sizeof files->folder->kept);
    for (uint32_t n = 0; n < files->count; n++) {
        if (&files->files[n] == files->list)
            continue;
        const uint32_t number = manifest_appended(&files->folder->manifest, files->files[n].name, false);
        if (number < MANIFEST_APPENDED)
            marks[number] = append_file_mark(&files->files[n]);
    }
}

enum status append_files_close(struct append_files *files)
{
    enum status status = files->list ? append_files_sync(files) : STATUS_OK;
    for (uint32_t n = files->list ? files->count : 0; n-- > 0 && status == STATUS_OK;) /* the list last */
        status = append_files_list(files, files->files[n].name, files->files[n].descriptor);
    for (uint32_t n = 0; n < files->count; n++) {
        struct append_file *file = &files->files[n];
        if (file->descriptor >= 0 && close(file->descriptor) != 0 && status == STATUS_OK)
            status = fail(file, "write");
        XXH3_freeState(file->digest);
    }
    files->count = 0;
    files->list = NULL;
    return status;
}
