/* Run check: the digests of files against those in the file list, in checkpoints, and in the manifest. */
#include "folder/run_check.h"

#include "base/below.h"
#include "folder/checkpoint_seal.h"
#include "folder/digest.h"
#include "folder/file_list.h"
#include "folder/folder_lock.h"
#include "folder/step_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct check {
    const char *path;
    int folder; /* open */
    struct log *log;
    struct manifest manifest;
    struct listed_file *files; /* owned */
    size_t count;
    uint64_t whole, wrong; /* files */
};

static void note(struct check *check, const char *name, const char *what)
{
    *(what ? &check->wrong : &check->whole) += 1;
    if (what)
        log_line(check->log, LOG_QUIET, "%s/%s: %s", check->path, name, what);
}

/* Words for what keeps a file from being read, else NULL. Of its first own->bytes bytes *own <- the digest
 * as in the list, or as in the manifest, there with the number of bytes that there are. */
static const char *digest(const struct check *check, const char *name, bool as_listed,
                          struct append_mark *own)
{
    const int file = in_folder_open(check->folder, name, O_RDONLY);
    XXH3_state_t *rows = as_listed ? NULL : XXH3_createState();
    if (rows)
        XXH3_64bits_reset(rows);
    const bool is_read =
        file >= 0 && (rows ? in_folder_digest(file, &own->bytes, rows)
                           : as_listed && digest_file(name, file, own->bytes, &own->digest) == STATUS_OK);
    if (rows)
        own->digest = XXH3_64bits_digest(rows);
    XXH3_freeState(rows);
    in_folder_end(file);
    if (!is_read && file >= 0 && as_listed)
        return status_message();
    return is_read ? NULL : errno == ENOENT ? "missing" : in_folder_text(errno);
}

/* Whether a later line says what the file is, or any line has this digest. */
static bool is_superseded(const struct check *check, const struct listed_file *file, uint64_t digest)
{
    for (const struct listed_file *other = check->files; other < check->files + check->count; other++)
        if (other->has_digest && (other > file || other->digest == digest) &&
            strcmp(other->name, file->name) == 0)
            return true;
    return false;
}

/* Notes a listed file. Where a run goes back to an earlier step, files of later steps and those that it adds
 * to do not count; and where it was killed, the file that it was about to name. */
static void check_file(struct check *check, const struct listed_file *file, bool may_miss)
{
    const enum manifest_state state = check->manifest.state;
    struct append_mark own = {strcmp(file->name, FILE_LIST_NAME) == 0 ? file->begin : UINT64_MAX, 0};
    struct stat found;
    uint64_t step;
    if (!file->has_digest || state == MANIFEST_STARTING ||
        (state == MANIFEST_RESTARTING &&
         (!step_files_find(file->name, &step) || step > check->manifest.from_step)) ||
        (may_miss && !in_folder_look(check->folder, file->name, &found)))
        return;
    const char *what = digest(check, file->name, true, &own);
    if (!what && own.digest != file->digest)
        what = "damaged: its bytes do not match their digest in " FILE_LIST_NAME;
    if (!what || !is_superseded(check, file, own.digest))
        note(check, file->name, what);
}

/* The rows that the newest checkpoint has of a file that may have got more of them. */
static void check_rows(struct check *check, const char *name, const struct append_mark *mark)
{
    struct append_mark own = *mark;
    const char *what = mark->bytes > 0 ? digest(check, name, false, &own) : NULL;
    if (!what && (own.bytes != mark->bytes || own.digest != mark->digest))
        what = "damaged: it does not hold the rows that it had at the newest checkpoint";
    if (what)
        note(check, name, what);
}

static void check_files(struct check *check)
{
    const struct manifest *manifest = &check->manifest;
    const bool is_closed =
        check->count > 0 && strcmp(check->files[check->count - 1].name, FILE_LIST_NAME) == 0;
    const uint32_t checkpoints = manifest->checkpoint_count;
    char path[PATH_MAX], name[STEP_FILES_NAME];
    bool is_damaged;
    uint64_t step;
    size_t last = 0;
    if (check->count == 0 && checkpoints == 0 && manifest->state >= MANIFEST_RUNNING)
        note(check, FILE_LIST_NAME, "missing or empty");
    for (size_t n = 0; n < check->count; n++)
        last = step_files_find(check->files[n].name, &step) ? n : last;
    for (size_t n = 0; n < check->count; n++)
        check_file(check, &check->files[n], n == last && manifest->state != MANIFEST_COMPLETE);
    for (uint32_t n = 0; n < checkpoints; n++) {
        snprintf(path, sizeof path, "%s/%s", check->path,
                 step_files_name(&checkpoint_files, manifest->checkpoints[n].step, name));
        const bool is_whole = checkpoint_seal_check(path, true, &is_damaged) == STATUS_OK;
        *(is_whole ? &check->whole : &check->wrong) += 1;
        if (!is_whole)
            log_line(check->log, LOG_QUIET, "%s", status_message());
    }
    for (uint32_t n = 0; n < MANIFEST_APPENDED && checkpoints > 0 && !is_closed; n++)
        check_rows(check, manifest->appended[n], &manifest->checkpoints[checkpoints - 1].appended[n]);
}

static enum status check_folder(struct check *check)
{
    TRY(folder_lock_look(check->folder, check->path));
    TRY(manifest_read(check->path, &check->manifest));
    if (check->manifest.state == MANIFEST_NONE)
        return status_fail(STATUS_USAGE, "folder %s holds no " MANIFEST_NAME ", so it is no run's",
                           check->path);
    TRY(file_list_read(check->folder, check->path, &check->files, &check->count));
    check_files(check);
    free(check->files);
    TRY(folder_lock_look(check->folder, check->path)); /* a run that began meanwhile changes files */
    if (check->wrong > 0)
        return status_fail(STATUS_FAILED, "%" PRIu64 " of %" PRIu64 " files in %s are damaged or missing",
                           check->wrong, check->wrong + check->whole, check->path);
    log_line(check->log, LOG_NORMAL, "%s: %" PRIu64 " files of %s run are whole", check->path, check->whole,
             check->manifest.state == MANIFEST_COMPLETE ? "a complete" : "an unfinished");
    return STATUS_OK;
}

enum status run_check(const char *path, struct log *log)
{
    struct check check = {.path = path, .folder = in_folder_begin(path, 0), .log = log};
    const enum status status =
        check.folder >= 0 ? check_folder(&check)
                          : status_fail(STATUS_USAGE, "cannot open folder %s: %s", path, strerror(errno));
    manifest_clear(&check.manifest);
    in_folder_end(check.folder);
    return status;
}

enum status run_check_file(const char *path, const char *name)
{
    struct listed_file *files = NULL;
    size_t count = 0;
    uint64_t digest = 0;
    bool is_listed = false, is_known = false;
    const int folder = in_folder_begin(path, 0), file = in_folder_open(folder, name, O_RDONLY);
    enum status status =
        file < 0 ? status_fail(STATUS_USAGE, "cannot open %s/%s: %s", path, name, in_folder_text(errno))
                 : file_list_read(folder, path, &files, &count);
    TRY_IF_OK(digest_file(name, file, UINT64_MAX, &digest));
    for (size_t n = 0; n < count; n++)
        if (files[n].has_digest && strcmp(files[n].name, name) == 0) {
            is_listed = true;
            is_known |= files[n].digest == digest;
        }
    free(files);
    in_folder_end(file);
    in_folder_end(folder);
    if (status != STATUS_OK || !is_listed || is_known)
        return status;
    return status_fail(
        STATUS_USAGE,
        "%s/%s was changed or damaged after the run wrote it; to go on by it, name it as CONFIG", path, name);
}
