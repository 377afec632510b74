/* Clear: of what an earlier run left in a run folder, what the run does not go on with. */
#include "base/below.h"
#include "base/replace.h"
#include "folder/file_list.h"
#include "folder/run_folder.h"
#include "hdf5/hdf5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct append_mark *run_folder_kept(struct run_folder *folder, const char *name)
{
    const uint32_t number = manifest_appended(&folder->manifest, name, false);
    const bool is_kept = folder->use == RUN_FOLDER_CONTINUE && number < MANIFEST_APPENDED;
    return is_kept && folder->kept[number].bytes > 0 ? &folder->kept[number] : NULL;
}

/* Whether the run goes on with a listed file: what was there at its checkpoint, and files of its step. */
static bool stays(struct run_folder *folder, const struct listed_file *file, bool *is_later)
{
    uint64_t step;
    const struct step_files *among = step_files_find(file->name, &step);
    const struct append_mark *list = run_folder_kept(folder, FILE_LIST_NAME);
    *is_later = !list || file->begin >= list->bytes;
    if (among == &checkpoint_files)
        return manifest_find(&folder->manifest, step) != NULL;
    return !*is_later || (folder->use == RUN_FOLDER_CONTINUE && among && step <= folder->from_step);
}

/* CSV files are removed where the run does not go on with them, and other texts replaced later. */
static enum status clear(struct run_folder *folder, const struct listed_file *file, FILE *again)
{
    char line[FILE_LIST_LINE];
    bool is_later;
    if (stays(folder, file, &is_later)) {
        file_list_line(line, file->name, file->has_digest ? &file->digest : NULL);
        if (is_later)
            fputs(line, again);
        return STATUS_OK;
    }
    return run_folder_kept(folder, file->name) || !strchr(file->name, '/')
               ? STATUS_OK
               : run_folder_remove_file(folder, file->name);
}

static enum status clear_all(struct run_folder *folder, FILE *again)
{
    struct listed_file *files;
    size_t count;
    char name[STEP_FILES_NAME];
    TRY(file_list_read(folder->descriptor, folder->path, &files, &count));
    enum status status = run_folder_remove_file(folder, "timers.csv");
    for (size_t n = 0; n < count && status == STATUS_OK; n++)
        status = clear(folder, &files[n], again);
    free(files);
    for (size_t n = 0; n < STEP_FILES && status == STATUS_OK; n++) {
        const char *inner = step_files_table[n]->folder;
        snprintf(name, sizeof name, "%s/" HDF5_UNFINISHED, inner);
        status = run_folder_remove_file(folder, name);
        /* A loss of power must not bring the files back, which the list will not name. */
        if (!in_folder_remove(folder->descriptor, inner, AT_REMOVEDIR) && errno == ENOTEMPTY &&
            !in_folder_sync(folder->descriptor, name))
            status = run_folder_fail(folder, "bring to the disk", inner);
    }
    if (status == STATUS_OK && !in_folder_sync(folder->descriptor, FILE_LIST_NAME))
        status = run_folder_fail(folder, "bring to the disk", "");
    return status;
}

static enum status cut(const struct run_folder *folder)
{
    for (uint32_t n = 0; n < MANIFEST_APPENDED && folder->use == RUN_FOLDER_CONTINUE; n++) {
        if (n > 0 && folder->kept[n].bytes == 0)
            continue;
        const int file = in_folder_open(folder->descriptor, folder->manifest.appended[n], O_WRONLY);
        /* Without the sync a loss of power could leave new lines over parts of old ones. */
        const bool is_cut =
            file >= 0 && ftruncate(file, (off_t)folder->kept[n].bytes) == 0 && sync_file(file);
        in_folder_end(file);
        if (!is_cut)
            return run_folder_fail(folder, "cut", folder->manifest.appended[n]);
    }
    return STATUS_OK;
}

enum status run_folder_clear(struct run_folder *folder, char **again)
{
    size_t length;
    FILE *stream = open_memstream(again, &length);
    if (!stream)
        return status_fail(STATUS_FAILED, "no memory to clear %s", folder->path);
    const enum status status = clear_all(folder, stream);
    fclose(stream);
    return status == STATUS_OK ? cut(folder) : status;
}
