/* Restart: from the request to the file, and from its config to that of the run. */
#include "commands/restart.h"

#include "output/checkpoint_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether anything is there that could be a checkpoint. */
static enum status require_there(const struct restart *restart, const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return status_fail(STATUS_USAGE, "--restart %s: there is no checkpoint: %s: %s", restart->request,
                           path, strerror(errno));
    if (!S_ISDIR(found.st_mode))
        return STATUS_OK;
    uint64_t *steps = NULL;
    size_t count = 0;
    const enum status status = checkpoint_folder_list(path, &steps, &count);
    free(steps);
    if (status == STATUS_OK && count == 0)
        return status_fail(STATUS_USAGE, "--restart %s: there is no checkpoint in folder %s",
                           restart->request, path);
    return status;
}

/* The path for checkpoint_open(): of a run folder its checkpoints. The caller frees it. */
static enum status find_path(const struct overrides *overrides, const struct restart *restart,
                             const struct config *config, char **path)
{
    const bool is_latest = strcmp(restart->request, "latest") == 0;
    const char *run = overrides->config_path ? config->output.directory : overrides->output_directory;
    const char *folder = is_latest ? run : restart->request;
    struct stat found;
    if (!folder)
        return status_fail(STATUS_USAGE,
                           "--restart latest: expected the run's CONFIG, or its folder by --output DIR");
    if (asprintf(path, "%s/checkpoints", folder) < 0)
        return status_fail(STATUS_FAILED, "no memory for the path of a checkpoint");
    if (!is_latest && (stat(*path, &found) != 0 || !S_ISDIR(found.st_mode)))
        (*path)[strlen(folder)] = '\0';
    return STATUS_OK;
}

static void keep_warning(void *context, const char *sentence)
{
    struct restart *restart = context;
    char *longer = NULL;
    if (asprintf(&longer, "%s%swarning: %s", restart->warnings ? restart->warnings : "",
                 restart->warnings ? "\n" : "", sentence) < 0)
        return;
    free(restart->warnings);
    restart->warnings = longer;
}

/* The config of this run, when the checkpoint is known. */
static enum status settle_config(const struct overrides *overrides, struct restart *restart,
                                 struct config *config)
{
    const struct checkpoint *checkpoint = restart->checkpoint;
    if (!overrides->config_path) {
        *config = *checkpoint_config(checkpoint);
        TRY(overrides_apply(overrides, checkpoint_path(checkpoint), config));
    }
    TRY(checkpoint_require_same(checkpoint, config));
    struct checkpoint_header header;
    TRY(checkpoint_header(checkpoint, 0, &header));
    restart->step = header.step;
    if (restart->step > config->time.steps)
        return status_fail(STATUS_USAGE, "time.steps: %s is of step %llu, beyond the %llu steps asked for",
                           checkpoint_path(checkpoint), (unsigned long long)restart->step,
                           (unsigned long long)config->time.steps);
    return STATUS_OK;
}

enum status restart_open(const struct communicator *communicator, const struct overrides *overrides,
                         struct restart *restart, struct config *config)
{
    char *path = NULL;
    enum status status = overrides->config_path ? overrides_read(overrides, config) : STATUS_OK;
    if (status == STATUS_OK)
        status = find_path(overrides, restart, config, &path);
    if (status == STATUS_OK && communicator->rank == 0)
        status = require_there(restart, path);
    TRY_CLEANUP(communicator_agree(communicator, status));
    TRY_CLEANUP(checkpoint_open(communicator, path, keep_warning, restart, &restart->checkpoint));
    TRY_CLEANUP(communicator_agree(communicator, settle_config(overrides, restart, config)));

cleanup:
    free(path);
    return status;
}

void restart_free(struct restart *restart)
{
    checkpoint_close(&restart->checkpoint);
    free(restart->warnings);
    *restart = (struct restart){0};
}

/* A word as a shell reads it back. */
static void print_word(FILE *stream, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=,:@%";
    if (word[0] != '\0' && word[strspn(word, safe)] == '\0') {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, stream);
    fputc('\'', stream);
}

char *restart_command(const struct overrides *overrides, int ranks, const char *folder)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return NULL;
    if (ranks > 1)
        fprintf(stream, "mpirun -n %d ", ranks);
    fputs("radixpic run ", stream);
    if (overrides->config_path && !overrides_any(overrides)) {
        print_word(stream, overrides->config_path);
        fputs(" --restart latest", stream);
    } else { /* the checkpoint's config has the overrides in it */
        fputs("--restart latest --output ", stream);
        print_word(stream, folder);
    }
    fclose(stream);
    return text;
}
