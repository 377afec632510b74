/* Restart: from the request to the file, and from its config to that of the run. */
#include "commands/restart.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The path for checkpoint_open(): of a run folder its checkpoints. */
static enum status find_path(const struct overrides *overrides, const char *request,
                             const struct config *config, char path[PATH_MAX])
{
    const bool is_latest = strcmp(request, "latest") == 0;
    const char *run = overrides->config_path ? config->output.directory : overrides->output_directory;
    const char *folder = is_latest ? run : request;
    struct stat found;
    if (!folder)
        return status_fail(STATUS_USAGE,
                           "--restart latest: expected the run's CONFIG, or its folder by --output DIR");
    snprintf(path, PATH_MAX, "%s/checkpoints", folder);
    if (!is_latest && (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)))
        snprintf(path, PATH_MAX, "%s", folder);
    return STATUS_OK;
}

/* The config of this run, when the checkpoint is known. */
static enum status settle_config(const struct overrides *overrides, const struct checkpoint *checkpoint,
                                 struct config *config)
{
    if (!overrides->config_path) {
        *config = checkpoint->config;
        TRY(overrides_apply(overrides, checkpoint->path, config));
    }
    TRY(checkpoint_require_same(checkpoint, config));
    if (checkpoint->step <= config->time.steps)
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "time.steps: %s is of step %llu, beyond the %llu steps asked for",
                       checkpoint->path, (unsigned long long)checkpoint->step,
                       (unsigned long long)config->time.steps);
}

enum status restart_open(const struct communicator *communicator, const struct overrides *overrides,
                         const char *request, struct checkpoint **checkpoint, struct config *config)
{
    char path[PATH_MAX];
    enum status status = overrides->config_path ? overrides_read(overrides, config) : STATUS_OK;
    if (status == STATUS_OK)
        status = find_path(overrides, request, config, path);
    TRY(communicator_agree(communicator, status));
    status = checkpoint_open(communicator, path, checkpoint);
    if (status == STATUS_USAGE)
        return status_fail(status, "--restart %s: %s", request, status_message());
    TRY(status);
    return communicator_agree(communicator, settle_config(overrides, *checkpoint, config));
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
