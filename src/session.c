/* Session: begin and end of a run. */
#include "session.h"

#include "base/replace.h"
#include "config/config_reader.h"
#include "input/field_files.h"
#include "input/species_files.h"
#include "output/provenance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool session_is_first(const struct session *session)
{
    return session->communicator.rank == 0;
}

enum status session_agree(const struct session *session, enum status status)
{
    return communicator_agree(&session->communicator, status);
}

/* `text` is the config of rank 0. */
static enum status compare_with_first(const struct communicator *communicator, const struct config *config,
                                      const char *text, size_t length)
{
    static const char *const own[] = {"device", NULL};
    struct config first;
    char name[32];
    TRY(config_read_text("the config of rank 0", text, length, NULL, 0, &first));
    snprintf(name, sizeof name, "rank %d", communicator->rank);
    const enum status status = config_require_same((const struct config *const[]){&first, config},
                                                   (const char *const[]){"rank 0", name}, own,
                                                   "all ranks of a run need the same value of");
    config_free(&first);
    return status;
}

enum status session_require_same(const struct communicator *communicator, const struct config *config)
{
    const bool is_first = communicator->rank == 0;
    size_t length = 0;
    char *text = is_first ? config_as_text(config, &length) : NULL;
    TRY(communicator_agree(communicator, is_first && !text ? STATUS_FAILED : STATUS_OK));
    communicator_broadcast(communicator, sizeof length, &length);
    if (!is_first)
        text = malloc(length);
    enum status status = text ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to compare configs");
    status = communicator_agree(communicator, status);
    if (status == STATUS_OK) {
        communicator_broadcast(communicator, length, text);
        status = communicator_agree(
            communicator, is_first ? STATUS_OK : compare_with_first(communicator, config, text, length));
    }
    free(text);
    return status;
}

/* ---- the simulation ---- */

/* Opens the device, and notes how long that and MPI took. */
static enum status open_device(struct session *session)
{
    const double start = timer_now();
    TRY(device_open(session->config.device, (uint32_t)session->communicator.local_rank,
                    (uint32_t)session->communicator.processors, &session->device));
    device_add_time(session->device, STAGE_START_DEVICE, timer_now() - start, 0);
    device_add_time(session->device, STAGE_START_MPI, session->mpi_seconds, 0);
    return STATUS_OK;
}

enum status session_begin(struct session *session)
{
    char kernels[32];
    TRY(session_agree(session, open_device(session)));
    snprintf(kernels, sizeof kernels, "digest %016" PRIx64, device_info(session->device)->kernels);
    TRY(communicator_require_same(&session->communicator, "kernels (RADIXPIC_KERNELS)", kernels));
    if (!session->checkpoint)
        TRY(species_files_read(&session->communicator, &session->config));
    TRY(field_files_read(&session->communicator, &session->config,
                         session->checkpoint ? &session->checkpoint->config : NULL));
    for (uint32_t s = 0; session->checkpoint && s < session->config.species_count; s++)
        session->config.species[s].read = session->checkpoint->config.species[s].read;
    /* To go on needs no program that loads. */
    if (session->builds_ahead && !session->checkpoint && session->communicator.local_rank == 0)
        simulation_build_ahead(&session->config, &session->communicator, session->device);
    const enum status status = simulation_create_on(&session->communicator, &session->config, session->device,
                                                    session->checkpoint, &session->simulation);
    device_end_builders(false);
    species_files_free(&session->config);
    TRY(communicator_meet(&session->communicator, status));
    session->simulation.log = &session->log;
    return STATUS_OK;
}

/* ---- its folder ---- */

static enum status require_elsewhere(const struct session *session, const char *file, const char *what,
                                     const char *name)
{
    if (!*file || !run_folder_holds(&session->folder, file))
        return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "--force replaces the run in folder %s, but %s, which %s%s reads, is "
                       "of that run; copy the file, or write elsewhere by --output DIR",
                       session->folder.path, file, what, name);
}

/* A run that replaces another reads nothing of it: that would be gone, and the run could not be repeated. One
 * that goes on reads its external fields alone. */
static enum status require_files_elsewhere(const struct session *session)
{
    const struct config *config = &session->config;
    for (uint32_t s = 0; s < config->species_count && !session->checkpoint; s++) {
        const struct species_config *species = &config->species[s];
        TRY(require_elsewhere(session, species->positions.file, "species ", species->name));
        TRY(require_elsewhere(session, species->profile.file, "species ", species->name));
    }
    if (!session->checkpoint)
        TRY(require_elsewhere(session, config->fields.file[FIELDS_INITIAL].path, "fields.", "initial"));
    return require_elsewhere(session, config->fields.file[FIELDS_EXTERNAL].path, "fields.", "external");
}

/* On rank 0. */
static enum status use_folder(struct session *session, bool replaces)
{
    struct run_folder *folder = &session->folder;
    TRY(run_folder_look(folder));
    folder->use = replaces ? RUN_FOLDER_REPLACE : RUN_FOLDER_NEW;
    if (replaces)
        TRY(require_files_elsewhere(session));
    if (session->checkpoint) {
        folder->from_run = session->checkpoint->run;
        folder->from_step = session->checkpoint->step;
        if (run_folder_keeps(folder, session->checkpoint->path))
            return replaces ? status_fail(STATUS_USAGE,
                                          "--force replaces a run, but this one goes on in folder %s; leave "
                                          "out --force, or write elsewhere by --output DIR",
                                          folder->path)
                            : run_folder_continue(folder);
    }
    return run_folder_check(folder);
}

enum status session_choose_folder(struct session *session, bool replaces)
{
    struct run_folder *folder = &session->folder;
    folder->path = session->config.output.directory;
    TRY(session_agree(session, session_is_first(session) ? use_folder(session, replaces) : STATUS_OK));
    communicator_broadcast(&session->communicator, sizeof folder->use, &folder->use);
    return STATUS_OK;
}

static enum status write_resolved_config(const struct session *session, const char *provenance)
{
    struct replacement replacement;
    struct config resolved = session->config;
    /* On one rank there is nothing to choose, and the next run may be on more. */
    if (session->communicator.size > 1)
        resolved.fields.decomposition = session->simulation.decomposition;
    const struct run_folder *folder = &session->folder;
    TRY(replace_begin(folder->descriptor, folder->path, "config.yaml", &replacement));
    for (const char *line = provenance, *end; (end = strchr(line, '\n')); line = end + 1)
        fprintf(replacement.file, "# %.*s\n", (int)(end - line), line);
    return replace_end(&replacement, config_echo(&resolved, replacement.file));
}

/* All files are rank 0's, but for those that all ranks write together. */
static enum status open_outputs(struct session *session)
{
    const bool appends = session->folder.use == RUN_FOLDER_CONTINUE;
    TRY(outputs_open(session->simulation.outputs, &session->communicator, &session->folder));
    if (!session_is_first(session))
        return STATUS_OK;
    TRY(run_folder_open(&session->folder, "log.txt", appends, &session->log.file));
    char *provenance = provenance_text(device_info(session->device));
    if (!provenance)
        return status_fail(STATUS_FAILED, "no memory to say what made %s", session->folder.path);
    const enum status status = write_resolved_config(session, provenance);
    char *rest = provenance;
    for (char *line; (line = strsep(&rest, "\n")) && rest;)
        log_line(&session->log, LOG_VERBOSE, "%s", line);
    free(provenance);
    TRY(status);
    TRY(outputs_list(session->simulation.outputs, "config.yaml"));
    return run_folder_set(&session->folder, MANIFEST_RUNNING, 0);
}

enum status session_open_outputs(struct session *session)
{
    return session_agree(session, open_outputs(session));
}

enum status session_complete(struct session *session)
{
    const uint64_t steps = session->config.time.steps;
    return session_agree(session, session_is_first(session)
                                      ? outputs_complete(session->simulation.outputs, steps)
                                      : STATUS_OK);
}

/* ---- the end ---- */

/* Closes the log, with the reason in it where the run failed. */
static enum status close_log(struct session *session, enum status status)
{
    FILE *file = session->log.file;
    if (!file)
        return status;
    session->log.file = NULL;
    if (status != STATUS_OK)
        fprintf(file, "%s%s\n", status == STATUS_STOPPED ? "" : "stopped: ", status_message());
    char *first = status_take();
    enum status closed = run_folder_close(&session->folder, "log.txt", file);
    if (closed == STATUS_OK)
        closed = outputs_list(session->simulation.outputs, "log.txt");
    return status_keep(status, first, closed);
}

enum status session_close_files(struct session *session, enum status status)
{
    char *first = status_take();
    status = status_keep(status, first, outputs_finish(session->simulation.outputs));
    status = close_log(session, status);
    first = status_take();
    status = status_keep(status, first, outputs_close(session->simulation.outputs));
    run_folder_unlock(&session->folder);
    return status;
}

enum status session_end(struct session *session, enum status status)
{
    status = session_close_files(session, status);
    simulation_destroy(&session->simulation);
    checkpoint_close(&session->checkpoint);
    species_files_free(&session->config);
    for (int group = 0; group < FIELD_GROUPS; group++)
        field_file_free(&session->config.fields.file[group]);
    device_close(&session->device);
    device_end_builders(status == STATUS_OK);
    return status;
}
