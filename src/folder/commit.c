/* Commit: the lines of the file list, the names for ParaView, and the manifest. */
#include "folder/commit.h"

#include "base/below.h"
#include "base/replace.h"
#include "folder/file_list.h"

#include <string.h>

struct commit {
    const struct append_files *appended;
    const struct step_files *files;
    struct manifest_checkpoint checkpoint; /* of any file the step */
    uint32_t keep;
};

enum status commit_prepare(const struct append_files *appended, const struct step_files *files, uint64_t step,
                           bool is_again)
{
    const struct run_folder *folder = appended->folder;
    char name[STEP_FILES_NAME];
    struct stat found;
    if (files == &checkpoint_files)
        TRY(append_files_sync(appended));
    TRY(run_folder_make_inner(folder, files->folder));
    return is_again || !in_folder_look(folder->descriptor, step_files_name(files, step, name), &found)
               ? STATUS_OK
               : run_folder_refuse(folder, STATUS_FAILED, name);
}

/* A checkpoint has a digest of its own. */
static enum status list(const struct hdf5_file *file, int descriptor)
{
    const struct commit *commit = file->context;
    char name[STEP_FILES_NAME];
    return append_files_list(commit->appended, step_files_name(commit->files, commit->checkpoint.step, name),
                             commit->files == &checkpoint_files ? -1 : descriptor);
}

/* Writes FOLDER/PREFIX.pmd, unless it is there: a line with the pattern of the files' names, for ParaView. */
static enum status name_series(const struct commit *commit)
{
    const struct run_folder *folder = commit->appended->folder;
    const char *prefix = commit->files->prefix;
    char name[STEP_FILES_NAME];
    struct replacement replacement;
    struct stat found;
    snprintf(name, sizeof name, "%s/%.*s.pmd", commit->files->folder, (int)strlen(prefix) - 1, prefix);
    if (in_folder_look(folder->descriptor, name, &found))
        return STATUS_OK;
    TRY(append_files_list(commit->appended, name, -1));
    TRY(replace_begin(folder->descriptor, folder->path, name, &replacement));
    fprintf(replacement.file, "%s%%T.h5\n", prefix);
    TRY(replace_end(&replacement, STATUS_OK));
    return append_files_list_text(commit->appended, name);
}

static enum status finish(const struct hdf5_file *file)
{
    struct commit *commit = file->context;
    struct run_folder *folder = commit->appended->folder;
    if (commit->files != &checkpoint_files)
        return name_series(commit);
    const uint32_t list = manifest_appended(&folder->manifest, FILE_LIST_NAME, false);
    commit->checkpoint.appended[list] = append_file_mark(commit->appended->list);
    return run_folder_add(folder, &commit->checkpoint, commit->keep);
}

enum status commit_plan(const struct append_files *appended, const struct step_files *files, uint64_t step,
                        uint32_t keep, struct hdf5_file *file)
{
    struct commit *commit = hdf5_file_keep(file, sizeof *commit);
    if (!commit)
        return file->status;
    *commit = (struct commit){.appended = appended,
                              .files = files,
                              .checkpoint = {.step = step, .run = appended->folder->manifest.run},
                              .keep = keep};
    append_files_mark(appended, commit->checkpoint.appended);
    file->context = commit;
    file->before = list;
    file->after = finish;
    return STATUS_OK;
}
