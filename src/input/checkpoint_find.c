/* Checkpoint find: on rank 0, by the manifest and by digests. */
#include "input/checkpoint.h"

#include "folder/checkpoint_seal.h"
#include "folder/manifest.h"
#include "folder/step_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line about a broken file; a warning that finds no memory is left out. */
static void warn(char **warnings, const char *sentence)
{
    char *longer = NULL;
    const char *before = *warnings ? *warnings : "";
    if (asprintf(&longer, "%s%swarning: %s", before, before[0] ? "\n" : "", sentence) < 0)
        return;
    free(*warnings);
    *warnings = longer;
}

static void set_path(const char *folder, uint64_t step, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s%" PRIu64 ".h5", folder, checkpoint_files.prefix, step);
}

/* The step in the name of a checkpoint, and whether it is that of one, to the letter. */
static uint64_t step_of(const char *name)
{
    return strtoull(name + strcspn(name, "0123456789"), NULL, 10);
}

static int is_checkpoint(const struct dirent *entry)
{
    char same[64];
    snprintf(same, sizeof same, "%s%" PRIu64 ".h5", checkpoint_files.prefix, step_of(entry->d_name));
    return strcmp(same, entry->d_name) == 0 && entry->d_type != DT_DIR;
}

/* The manifest beside a folder of checkpoints, or where there is none the steps in the names of its files. */
static enum status find_steps(const char *folder, struct manifest *manifest)
{
    char above[PATH_MAX];
    struct dirent **entries;
    snprintf(above, sizeof above, "%s", folder); /* dirname() writes into it */
    TRY(manifest_read(dirname(above), manifest));
    if (manifest->state == MANIFEST_NONE) { /* the path may be ".", or have a link in it */
        snprintf(above, sizeof above, "%s/..", folder);
        TRY(manifest_read(above, manifest));
    }
    if (manifest->state != MANIFEST_NONE)
        return STATUS_OK;
    const int count = scandir(folder, &entries, is_checkpoint, versionsort);
    if (count < 0)
        return status_fail(STATUS_FAILED, "cannot read folder %s: %s", folder, strerror(errno));
    enum status status = STATUS_OK;
    for (int n = 0; n < count; n++) {
        TRY_IF_OK(manifest_add(manifest, &(struct manifest_checkpoint){.step = step_of(entries[n]->d_name)}));
        free(entries[n]);
    }
    free(entries);
    return status;
}

static enum status require_all(const char *folder, const struct manifest *manifest)
{
    char path[PATH_MAX];
    for (uint32_t n = manifest->checkpoint_count; n-- > 0;) {
        set_path(folder, manifest->checkpoints[n].step, path);
        if (access(path, F_OK) != 0)
            return status_fail(
                STATUS_USAGE,
                "the manifest of the run names %s, which is not there: %s; --restart FILE goes on "
                "from another checkpoint",
                path, strerror(errno));
    }
    return manifest->checkpoint_count > 0
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s holds no checkpoint of a run", folder);
}

/* `path` becomes that of the newest whole checkpoint of a folder. One that cannot be read for another reason
 * than damage may be good, and to go on from an older one would remove it. */
static enum status find_newest(const char *folder, struct manifest *manifest, char path[PATH_MAX],
                               char **warnings)
{
    bool is_damaged = true;
    TRY(find_steps(folder, manifest));
    TRY(require_all(folder, manifest));
    for (uint32_t n = manifest->checkpoint_count; n-- > 0 && is_damaged;) {
        set_path(folder, manifest->checkpoints[n].step, path);
        if (checkpoint_seal_check(path, true, &is_damaged) == STATUS_OK)
            return STATUS_OK;
        if (is_damaged)
            warn(warnings, status_message());
    }
    return is_damaged ? status_fail(STATUS_FAILED, "%s holds no whole checkpoint; the oldest: %s", folder,
                                    status_message())
                      : STATUS_FAILED;
}

enum status checkpoint_find(const struct communicator *communicator, const char *path,
                            struct checkpoint **checkpoint)
{
    char found[PATH_MAX], *warnings = NULL;
    struct stat there = {0};
    struct manifest manifest = {0};
    enum status status = STATUS_OK;
    *checkpoint = NULL;
    snprintf(found, sizeof found, "%s", path);
    if (communicator->rank == 0 && stat(path, &there) != 0)
        status = status_fail(STATUS_USAGE, "there is no checkpoint: %s: %s", path, strerror(errno));
    else if (S_ISDIR(there.st_mode))
        status = find_newest(path, &manifest, found, &warnings);
    manifest_clear(&manifest);
    status = communicator_agree(communicator, status);
    if (status == STATUS_OK) {
        communicator_broadcast(communicator, sizeof found, found);
        status = checkpoint_open(communicator, found, S_ISDIR(there.st_mode), checkpoint);
    }
    if (status == STATUS_OK)
        (*checkpoint)->warnings = warnings;
    else
        free(warnings);
    return status;
}
