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

static const char prefix[] = "checkpoint_";

void checkpoint_name(uint64_t step, char name[CHECKPOINT_NAME_LENGTH])
{
    snprintf(name, CHECKPOINT_NAME_LENGTH, "%s%" PRIu64 ".h5", prefix, step);
}

/* Whether `name` is that of a checkpoint, to the letter. */
static bool parse_name(const char *name, uint64_t *step)
{
    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return false;
    char expected[CHECKPOINT_NAME_LENGTH];
    *step = strtoull(name + strlen(prefix), NULL, 10);
    checkpoint_name(*step, expected);
    return strcmp(name, expected) == 0;
}

/* Whether `name` is that of a checkpoint being written: hdf5_file.h. */
static bool is_unfinished(const char *name)
{
    char inner[CHECKPOINT_NAME_LENGTH];
    const size_t length = strlen(name);
    uint64_t step;
    if (name[0] != '.' || length < 5 || length > sizeof inner || strcmp(name + length - 4, ".tmp") != 0)
        return false;
    snprintf(inner, sizeof inner, "%.*s", (int)(length - 5), name + 1);
    return parse_name(inner, &step);
}

static bool is_file(DIR *listing, const char *name)
{
    struct stat found;
    return fstatat(dirfd(listing), name, &found, 0) == 0 && S_ISREG(found.st_mode);
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

enum status checkpoint_folder_list(const char *folder, uint64_t **steps, size_t *count)
{
    *steps = NULL;
    *count = 0;
    DIR *listing = opendir(folder);
    if (!listing)
        return status_fail(STATUS_FAILED, "cannot read folder %s: %s", folder, strerror(errno));
    enum status status = STATUS_OK;
    uint64_t step;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(listing));)
        if (parse_name(entry->d_name, &step) && is_file(listing, entry->d_name))
            status = add_step(step, steps, count);
    closedir(listing);
    if (status == STATUS_OK && *count)
        qsort(*steps, *count, sizeof **steps, compare_down);
    return status;
}

static enum status remove_file(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "cannot remove %s, which a newer checkpoint replaces: %s", path,
                       strerror(errno));
}

static enum status remove_named(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of %s", name);
    const enum status status = remove_file(path);
    free(path);
    return status;
}

static enum status remove_unfinished(const char *folder)
{
    DIR *listing = opendir(folder);
    if (!listing)
        return status_fail(STATUS_FAILED, "cannot read folder %s: %s", folder, strerror(errno));
    enum status status = STATUS_OK;
    for (const struct dirent *entry; status == STATUS_OK && (entry = readdir(listing));)
        if (is_unfinished(entry->d_name))
            status = remove_named(folder, entry->d_name);
    closedir(listing);
    return status;
}

static bool is_whole_at_a_glance(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return true;
    const bool whole = checkpoint_seal_glance(path) == STATUS_OK;
    free(path);
    return whole;
}

/* `others`: largest first. */
static enum status remove_superseded(const char *folder, uint64_t step, uint32_t keep, const uint64_t *others,
                                     size_t count)
{
    uint32_t kept = 1;
    for (size_t n = 0; n < count; n++) {
        char name[CHECKPOINT_NAME_LENGTH];
        checkpoint_name(others[n], name);
        if (others[n] == step)
            continue;
        if (others[n] > step || kept >= keep)
            TRY(remove_named(folder, name));
        else if (is_whole_at_a_glance(folder, name))
            kept++;
    }
    return STATUS_OK;
}

enum status checkpoint_folder_retain(const char *folder, uint64_t step, uint32_t keep)
{
    uint64_t *steps;
    size_t count;
    enum status status = checkpoint_folder_list(folder, &steps, &count);
    if (status == STATUS_OK)
        status = remove_superseded(folder, step, keep, steps, count);
    if (status == STATUS_OK)
        status = remove_unfinished(folder);
    free(steps);
    return status;
}
