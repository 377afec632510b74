/* Input: the config of a run: from the file, --set, then --output, --device and --steps; and the checkpoint
 * that `run --restart` means. */
#include "commands/input.h"

#include "config/config_reader.h"
#include "folder/run_check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status overrides_require(const char *name, const struct overrides *overrides)
{
    return overrides->config_path
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: expected a CONFIG; see %s --help", name, name);
}

/* Gives keys the values of their own options, as strictly as the reader does, which reads them again. */
static enum status apply_options(const struct overrides *overrides, struct config *config)
{
    const char *const given[][3] = {{"--output", "output.directory", overrides->output_directory},
                                    {"--device", "device", overrides->device},
                                    {"--steps", "time.steps", overrides->steps}};
    for (size_t n = 0; n < sizeof given / sizeof given[0]; n++) {
        const struct schema_row *row = schema_find(&config_schema, given[n][1]);
        const char *text = given[n][2];
        char why[VALUE_WHY_LENGTH];
        if (text && !value_parse(row, text, strlen(text), true, (char *)config + row->offset, why))
            return status_fail(STATUS_USAGE, "%s: %s", given[n][0], why);
    }
    if (config->output.directory[strspn(config->output.directory, "/.")] == '\0' &&
        config->output.directory[0] == '/')
        return status_fail(STATUS_USAGE, "output.directory: expected a folder below /, found \"%s\"",
                           config->output.directory);
    return STATUS_OK;
}

/* The config.yaml of a run folder means this folder, wherever that is by now and however it is named. */
static void stay_in_folder(const struct overrides *overrides, struct config *config)
{
    static const char key[] = "output.directory=";
    const char *path = overrides->config_path, *name = strrchr(path, '/');
    const size_t length = name ? (size_t)(name - path) : 0;
    char folder[CONFIG_TEXT_LENGTH], manifest[CONFIG_TEXT_LENGTH + sizeof MANIFEST_NAME];
    if (strcmp(name ? name + 1 : path, "config.yaml") != 0 || length >= sizeof folder)
        return;
    for (uint32_t n = 0; n < overrides->settings.count; n++)
        if (strncmp(overrides->settings.items[n], key, strlen(key)) == 0)
            return;
    snprintf(folder, sizeof folder, "%.*s", name ? (int)(length + (length == 0)) : 1, name ? path : ".");
    snprintf(manifest, sizeof manifest, "%s/" MANIFEST_NAME, folder);
    if (access(manifest, F_OK) == 0)
        strcpy(config->output.directory, folder);
}

enum status overrides_read(const struct overrides *overrides, struct config *config)
{
    TRY(config_read(overrides->config_path, overrides->settings.items, overrides->settings.count, config));
    stay_in_folder(overrides, config);
    return apply_options(overrides, config);
}

/* ---- whatever is there ---- */

/* The config that the run in the folder was begun with. */
static enum status require_same_run(const struct run_folder *folder, const struct config *config)
{
    char path[PATH_MAX];
    struct config old;
    snprintf(path, sizeof path, "%s/config.yaml", folder->path);
    TRY(config_read(path, NULL, 0, &old));
    const enum status status = checkpoint_require_same(path, &old, config);
    config_free(&old);
    return status;
}

static enum status choose(const struct config *config, struct run_folder *folder, enum resume *choice)
{
    const struct manifest *manifest = &folder->manifest;
    TRY(run_folder_look(folder));
    const bool is_complete = manifest->state == MANIFEST_COMPLETE;
    const uint32_t count = manifest->checkpoint_count;
    const uint64_t made = is_complete ? manifest->complete_step
                          : count > 0 ? manifest->checkpoints[count - 1].step
                                      : 0;
    if (made > config->time.steps)
        return status_fail(
            STATUS_USAGE,
            "time.steps: the run in folder %s has made %llu steps, more than the %llu asked for",
            folder->path, (unsigned long long)made, (unsigned long long)config->time.steps);
    *choice = is_complete && manifest->complete_step >= config->time.steps ? RESUME_NOTHING
              : count > 0                                                  ? RESUME_LATEST
                                                                           : RESUME_FRESH;
    if (*choice == RESUME_FRESH && manifest->from_run != 0)
        return status_fail(
            STATUS_USAGE,
            "the run in folder %s went on from step %llu of another folder and has no checkpoint "
            "yet; go on from that one by --restart FILE --force",
            folder->path, (unsigned long long)manifest->from_step);
    if (manifest->state <= MANIFEST_STARTING || *choice == RESUME_LATEST)
        return STATUS_OK; /* a checkpoint has its own config */
    TRY(require_same_run(folder, config));
    if (*choice == RESUME_NOTHING)
        TRY(run_folder_require(folder));
    if (!is_complete || *choice == RESUME_NOTHING)
        return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "folder %s holds a complete run of %llu steps, without a checkpoint to go on from; "
                       "--force replaces it, --output DIR writes elsewhere",
                       folder->path, (unsigned long long)manifest->complete_step);
}

enum status resume_choose(const struct communicator *communicator, const struct config *config,
                          struct run_folder *folder, enum resume *choice)
{
    folder->path = config->output.directory;
    *choice = RESUME_FRESH;
    TRY(communicator_agree(communicator,
                           communicator->rank == 0 ? choose(config, folder, choice) : STATUS_OK));
    communicator_broadcast(communicator, sizeof *choice, choice);
    return STATUS_OK;
}

/* ---- from a checkpoint ---- */

/* The path for checkpoint_find(): of a run folder its checkpoints. */
static enum status find_path(const struct overrides *overrides, const char *request,
                             const struct config *config, struct run_folder *locked, char path[PATH_MAX])
{
    const bool is_latest = strcmp(request, "latest") == 0;
    const char *run = overrides->config_path ? config->output.directory : overrides->output_directory;
    const char *folder = is_latest ? run : request;
    struct stat found;
    if (!folder)
        return status_fail(STATUS_USAGE,
                           "--restart latest: expected the run's CONFIG, or its folder by --output DIR");
    if (strlen(folder) + sizeof "/checkpoints" > PATH_MAX)
        return status_fail(STATUS_USAGE, "--restart: the path is longer than %d bytes", PATH_MAX);
    snprintf(path, PATH_MAX, "%s/checkpoints", folder);
    if (!is_latest && (stat(path, &found) != 0 || !S_ISDIR(found.st_mode)))
        snprintf(path, PATH_MAX, "%s", folder);
    locked->path = is_latest ? folder : NULL;
    return STATUS_OK;
}

/* Puts the overrides onto the checkpoint's config. */
static enum status override_config(const struct overrides *overrides, const struct checkpoint *checkpoint,
                                   struct config *config)
{
    size_t length = 0;
    char *text = config_as_text(&checkpoint->config, &length);
    if (!text)
        return STATUS_FAILED;
    const enum status status = config_read_text(checkpoint->path, text, length, overrides->settings.items,
                                                overrides->settings.count, config);
    free(text);
    TRY(status);
    return apply_options(overrides, config);
}

/* The config of this run, when the checkpoint is known. */
static enum status resolve_config(const struct overrides *overrides, const struct checkpoint *checkpoint,
                                  struct config *config)
{
    if (!overrides->config_path)
        TRY(override_config(overrides, checkpoint, config));
    TRY(checkpoint_require_same(checkpoint->path, &checkpoint->config, config));
    if (checkpoint->step <= config->time.steps)
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "time.steps: %s is of step %llu, beyond the %llu steps asked for",
                       checkpoint->path, (unsigned long long)checkpoint->step,
                       (unsigned long long)config->time.steps);
}

/* Without CONFIG the latest checkpoint of a folder goes on by the config.yaml there: what the run was told
 * last, which may be after the checkpoint. */
static void choose_own_config(const char *request, struct overrides *overrides, char path[PATH_MAX])
{
    if (overrides->config_path || !overrides->output_directory || strcmp(request, "latest") != 0)
        return;
    snprintf(path, PATH_MAX, "%s/config.yaml", overrides->output_directory);
    overrides->config_path = access(path, F_OK) == 0 ? path : NULL;
}

enum status restart_open(const struct communicator *communicator, const struct overrides *given,
                         const char *request, bool resumes, struct run_folder *folder,
                         struct checkpoint **checkpoint, struct config *config)
{
    char path[PATH_MAX], own_config[PATH_MAX];
    struct overrides own = *given, *overrides = &own;
    choose_own_config(request, overrides, own_config);
    const bool checks = overrides->config_path != given->config_path && communicator->rank == 0;
    TRY(communicator_agree(communicator,
                           checks ? run_check_file(overrides->output_directory, "config.yaml") : STATUS_OK));
    enum status status = overrides->config_path ? overrides_read(overrides, config) : STATUS_OK;
    TRY_IF_OK(find_path(overrides, request, config, folder, path));
    if (status == STATUS_OK && folder->path && communicator->rank == 0)
        status = run_folder_look(folder);
    TRY(communicator_agree(communicator, status));
    status = checkpoint_find(communicator, path, checkpoint);
    if (status == STATUS_USAGE)
        return resumes ? status_fail(status, "--resume: %s", status_message())
                       : status_fail(status, "--restart %s: %s", request, status_message());
    TRY(status);
    status = resolve_config(overrides, *checkpoint, config);
    if (status == STATUS_USAGE && given->config_path)
        status = status_fail_lines(status, "%s; --restart latest --output DIR takes the run's own config",
                                   status_message());
    return communicator_agree(communicator, status);
}
