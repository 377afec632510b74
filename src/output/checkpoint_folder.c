/* Checkpoint folder: listing and retention. */
#include "output/checkpoint_folder.h"

#include "output/checkpoint_seal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a whole checkpoint, or of one being written: hdf5_file.h. */
static void name_file(uint64_t step, bool unfinished, char name[CHECKPOINT_NAME_LENGTH])
{
    snprintf(name, CHECKPOINT_NAME_LENGTH, "%scheckpoint_%" PRIu64 ".h5%s", unfinished ? "." : "", step,
             unfinished ? ".tmp" : "");
}

void checkpoint_name(uint64_t step, char name[CHECKPOINT_NAME_LENGTH])
{
    name_file(step, false, name);
}

/* Whether a file of the listing has such a name, to the letter. */
static bool parse_name(DIR *listing, const char *name, bool unfinished, uint64_t *step)
{
    char expected[CHECKPOINT_NAME_LENGTH];
    struct stat found;
    const char *bar = strchr(name, '_');
    *step = bar ? strtoull(bar + 1, NULL, 10) : 0;
    name_file(*step, unfinished, expected);
    return strcmp(name, expected) == 0 && fstatat(dirfd(listing), name, &found, 0) == 0 &&
           S_ISREG(found.st_mode);
}

static int compare_down(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

static enum status add_step(uint64_t step, uint64_t **steps, size_t *count)
{
    /* Room doubles whenever the number is a power of two. */
    if ((*count & (*count - 1)) == 0) {
        uint64_t *more = realloc(*steps, (*count ? 2 * *count : 1) * sizeof **steps);
        if (!more)
            return status_fail(STATUS_FAILED, "no memory to list checkpoints");
        *steps = more;
    }
    (*steps)[(*count)++] = step;
    return STATUS_OK;
}

static enum status list(const char *folder, bool unfinished, uint64_t **steps, size_t *count)
{
    *steps = NULL;
    *count = 0;
    DIR *listing = opendir(folder);
    if (!listing)
        return status_fail(STATUS_FAILED, "cannot read folder %s: %s", folder, strerror(errno));
    enum status status = STATUS_OK;
    uint64_t step;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(listing));)
        if (parse_name(listing, entry->d_name, unfinished, &step))
            status = add_step(step, steps, count);
    closedir(listing);
    if (status == STATUS_OK && *count)
        qsort(*steps, *count, sizeof **steps, compare_down);
    return status;
}

enum status checkpoint_folder_list(const char *folder, uint64_t **steps, size_t *count)
{
    return list(folder, false, steps, count);
}

/* FOLDER/name; the caller frees it. */
static enum status make_path(const char *folder, uint64_t step, bool unfinished, char **path)
{
    char name[CHECKPOINT_NAME_LENGTH];
    name_file(step, unfinished, name);
    if (asprintf(path, "%s/%s", folder, name) >= 0)
        return STATUS_OK;
    *path = NULL;
    return status_fail(STATUS_FAILED, "no memory for the path of %s", name);
}

static enum status remove_one(const char *folder, uint64_t step, bool unfinished)
{
    char *path;
    enum status status = make_path(folder, step, unfinished, &path);
    if (status == STATUS_OK && unlink(path) != 0 && errno != ENOENT)
        status = status_fail(STATUS_FAILED, "cannot remove %s, which a newer checkpoint replaces: %s", path,
                             strerror(errno));
    free(path);
    return status;
}

static bool is_whole_at_a_glance(const char *folder, uint64_t step)
{
    char *path;
    const bool whole =
        make_path(folder, step, false, &path) != STATUS_OK || checkpoint_seal_check(path, false) == STATUS_OK;
    free(path);
    return whole;
}

enum status checkpoint_folder_retain(const char *folder, uint64_t step, uint32_t keep)
{
    uint64_t *steps = NULL, *unfinished = NULL;
    size_t count, left;
    uint32_t kept = 1;
    enum status status;
    TRY_CLEANUP(list(folder, false, &steps, &count));
    for (size_t n = 0; n < count; n++) {
        if (steps[n] > step || (steps[n] < step && kept >= keep))
            TRY_CLEANUP(remove_one(folder, steps[n], false));
        else
            kept += steps[n] < step && is_whole_at_a_glance(folder, steps[n]);
    }
    TRY_CLEANUP(list(folder, true, &unfinished, &left));
    for (size_t n = 0; n < left; n++)
        TRY_CLEANUP(remove_one(folder, unfinished[n], true));

cleanup:
    free(steps);
    free(unfinished);
    return status;
}
