/* RadixPIC as a library: begin and end, steps, and what they leave in the history. */
#include "library/internal.h"

#include "base/stop.h"
#include "config/config_reader.h"
#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- handles: one thread at a time, in one process ---- */

const struct radixpic *handle_or_none(const struct radixpic *run)
{
    static struct radixpic none; /* no const: its lock is taken */
    return run ? run : &none;
}

bool handle_lock(const struct radixpic *run)
{
    return handle_require_process() == STATUS_OK && pthread_mutex_lock((pthread_mutex_t *)&run->lock) == 0;
}

void handle_unlock(const struct radixpic *run, bool is_locked)
{
    if (is_locked)
        pthread_mutex_unlock((pthread_mutex_t *)&run->lock);
}

/* ---- several ranks ---- */

/* The first failure stays that of all later steps. */
static enum status keep_failure(struct radixpic *run, enum status status)
{
    if ((status == STATUS_FAILED || status == STATUS_STOPPED) && !run->failure)
        run->failure = strdup(status_message());
    return status;
}

enum status handle_agreed(struct radixpic *run, enum status status)
{
    if (run->session.communicator.size > 1 && status == STATUS_FAILED)
        communicator_require_agreed(status, status_message());
    return status;
}

enum status handle_meet(struct radixpic *run, const char *sentence)
{
    const struct communicator *communicator = &run->session.communicator;
    if (communicator->size == 1)
        return STATUS_OK;
    if (run->failure)
        return status_fail_lines(STATUS_FAILED, "%s", run->failure);
    enum status status = sentence ? status_fail(STATUS_FAILED, "rank %d: %.*s", communicator->rank,
                                                (int)strcspn(sentence, "\n"), sentence)
                                  : STATUS_OK;
    status = communicator_meet(communicator, status);
    communicator_require_agreed(status, sentence);
    return keep_failure(run, status);
}

static enum status meet(struct radixpic *run, const char *failure, int *moved)
{
    const unsigned before = run->sorts;
    TRY(handle_meet(run, failure));
    TRY(handle_agreed(run, state_sort_written(run)));
    TRY(handle_agreed(run, state_step_waves(run, true)));
    *moved = run->sorts != before;
    return STATUS_OK;
}

enum radixpic_status radixpic_meet(struct radixpic *run, const char *failure, int *moved)
{
    RETURN_LOCKED(meet(run, failure, moved), run, moved);
}

void radixpic_ranks(const struct radixpic *run, int *rank, int *size)
{
    *rank = handle_or_none(run)->session.communicator.rank;
    *size = handle_or_none(run)->session.communicator.size;
}

/* ---- begin and end ---- */

/* Held while a simulation begins or ends: FFTW makes and destroys plans for one thread at a time, and what a
 * process finds once is found then. */
static pthread_mutex_t begin_and_end = PTHREAD_MUTEX_INITIALIZER;

/* Without files nothing is due but the history and the check, and no step is the last. */
static enum status begin(struct radixpic *run)
{
    struct session *session = &run->session;
    session->config = run->config;
    session->config.time.steps = UINT64_MAX;
    session->config.output = (struct output_config){.history = run->config.output.history};
    (void)history_columns(&run->config, NULL, run->history_names, NULL);
    TRY(session_begin(session));
    session->simulation.timing = TIME_NO_STEP;
    return STATUS_OK;
}

static void end_mpi(void)
{
    communicator_stop(STATUS_OK);
}

static enum status join_ranks(struct communicator *communicator)
{
    const bool starts = !communicator_runs();
    TRY(communicator_start(communicator));
    if (starts)
        atexit(end_mpi);
    communicator_meet_at_end(communicator);
    return STATUS_OK;
}

/* Of all ranks alike. */
static enum status begin_together(struct radixpic *run, enum status status)
{
    const struct communicator *communicator = &run->session.communicator;
    TRY(communicator_agree(communicator, status));
    run->config_text = config_as_text(&run->config, &(size_t){0});
    TRY(session_require_same(communicator, &run->config));
    status = begin(run);
    if (communicator->size > 1) /* also a device of one rank alone, which the config does not fit */
        communicator_require_agreed(status, status_message());
    return status;
}

/* From a text, or where that is NULL from a file. */
static enum status create(const char *path, const char *text, const char *const *settings, size_t count,
                          bool on_ranks, struct radixpic **result)
{
    IN_C_LOCALE;
    const char *const config = text ? text : path;
    TRY(GIVEN(result));
    *result = NULL;
    TRY(GIVEN(config));
    for (size_t n = 0; n < count; n++) {
        const char *const setting = settings ? settings[n] : NULL;
        TRY(GIVEN(setting));
    }
    TRY(handle_require_process());
    TRY(thread_require_limits());
    struct radixpic *run = *result = calloc(1, sizeof *run);
    if (!run)
        return status_fail(STATUS_FAILED, "no memory for the simulation");
    run->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    run->session.communicator = (struct communicator){.size = 1, .local_size = 1};
    enum status status = on_ranks ? join_ranks(&run->session.communicator) : STATUS_OK;
    TRY_IF_OK(text ? config_read_text("config", text, strlen(text), settings, count, &run->config)
                   : config_read(path, settings, count, &run->config));
    pthread_mutex_lock(&begin_and_end);
    stop_guard(true);
    status = begin_together(run, status);
    stop_guard(false);
    pthread_mutex_unlock(&begin_and_end);
    if (status != STATUS_OK)
        radixpic_destroy(result);
    return status;
}

enum radixpic_status radixpic_create(const char *path, const char *const *settings, size_t count,
                                     struct radixpic **run)
{
    return (enum radixpic_status)create(path, NULL, settings, count, false, run);
}

enum radixpic_status radixpic_create_from_text(const char *text, const char *const *settings, size_t count,
                                               struct radixpic **run)
{
    return (enum radixpic_status)create(NULL, text, settings, count, false, run);
}

enum radixpic_status radixpic_create_on_ranks(const char *path, const char *text, const char *const *settings,
                                              size_t count, struct radixpic **run)
{
    return (enum radixpic_status)create(path, text, settings, count, true, run);
}

/* Keeps the sentence of what failed before. */
void radixpic_destroy(struct radixpic **handle)
{
    struct radixpic *run = handle ? *handle : NULL;
    const bool needs_mpi = run && run->session.communicator.size > 1;
    if (run)
        *handle = NULL;
    /* what a forked process has of it ends with that process, and what ranks have with MPI */
    if (!run || (needs_mpi && !communicator_runs()) || !handle_lock(run))
        return;
    IN_C_LOCALE;
    char *sentence = status_take();
    state_forget(run);
    pthread_mutex_lock(&begin_and_end);
    const enum status status = session_end(&run->session, STATUS_OK);
    pthread_mutex_unlock(&begin_and_end);
    if (sentence)
        (void)status_keep(STATUS_FAILED, sentence, status);
    config_free(&run->config);
    free(run->config_text);
    free(run->failure);
    free(run->history);
    handle_unlock(run, true);
    pthread_mutex_destroy(&run->lock);
    free(run);
}

/* ---- files ---- */

static enum status open_files(struct session *session, bool replaces)
{
    TRY(session_choose_folder(session, replaces));
    TRY(outputs_create(session->simulation.device, &session->config, &session->simulation.outputs));
    TRY(simulation_make_species_rho(&session->simulation));
    return session_open_outputs(session);
}

static enum status write_into(struct radixpic *run, const char *folder, bool replaces)
{
    struct session *session = &run->session;
    const struct schema_row *row = schema_find(&config_schema, "output.directory");
    const struct output_config no_files = session->config.output;
    const uint64_t no_end = session->config.time.steps;
    struct outputs *none = session->simulation.outputs;
    char why[VALUE_WHY_LENGTH], directory[sizeof run->config.output.directory];
    if (run->writes || session->simulation.step > 0)
        return status_fail(STATUS_USAGE, "files are to be asked for once, and before the first step");
    if (!value_parse(row, folder, strlen(folder), true, NULL, directory, why))
        return status_fail(STATUS_USAGE, "folder: %s", why);
    session->config.time.steps = run->config.time.steps;
    session->config.output = run->config.output;
    memcpy(session->config.output.directory, directory, sizeof directory);
    enum status status = open_files(session, replaces);
    run->writes = status == STATUS_OK;
    if (run->writes)
        return STATUS_OK;
    status = session_close_files(session, status); /* another folder may be asked for, or none */
    session->folder = (struct run_folder){0};
    session->simulation.outputs = none;
    memset(session->simulation.fields.species_rho, 0, sizeof session->simulation.fields.species_rho);
    session->config.time.steps = no_end;
    session->config.output = no_files;
    return status;
}

enum radixpic_status radixpic_write_into(struct radixpic *run, const char *folder, int replaces)
{
    RETURN_TOGETHER(write_into(run, folder, replaces != 0), run, folder);
}

/* ---- steps ---- */

static enum status note_row(struct radixpic *run)
{
    const uint32_t columns = history_columns(&run->config, NULL, NULL, NULL);
    if (run->rows == run->row_capacity) {
        const size_t capacity = 2 * run->row_capacity + 64;
        double *longer = realloc(run->history, capacity * columns * sizeof *longer);
        if (!longer)
            return status_fail(STATUS_FAILED, "no memory for the history");
        run->history = longer;
        run->row_capacity = capacity;
    }
    (void)history_columns(&run->config, &run->session.simulation.row, NULL,
                          run->history + run->rows++ * columns);
    return STATUS_OK;
}

static enum status take_step(struct radixpic *run)
{
    struct simulation *simulation = &run->session.simulation;
    const bool is_first = simulation->step == simulation->first_step; /* with kernels of its own */
    if (is_first)
        stop_guard(true);
    enum status status = simulation_step(simulation);
    if (is_first) {
        TRY_IF_OK(device_finish(run->session.device));
        stop_guard(false);
    }
    TRY(status);
    return simulation->needs & OUTPUT_NEEDS_MEASURED ? note_row(run) : STATUS_OK;
}

/* The step that moves nothing, and the end of the run folder. */
static enum status finish(struct radixpic *run)
{
    TRY(take_step(run));
    TRY(outputs_finish(run->session.simulation.outputs));
    TRY(session_complete(&run->session));
    return session_close_files(&run->session, STATUS_OK);
}

static enum status step(struct radixpic *run, uint64_t steps)
{
    const uint64_t last = run->session.config.time.steps, now = radixpic_steps(run);
    if (run->failure)
        return status_fail_lines(STATUS_FAILED, "the simulation failed in an earlier step: %s", run->failure);
    if (steps > last - now)
        return status_fail(STATUS_USAGE,
                           "time.steps: %llu steps more go beyond step %llu, with which the run in %s ends",
                           (unsigned long long)steps, (unsigned long long)last, run->session.folder.path);
    TRY(state_sort_written(run));
    enum status status = STATUS_OK;
    for (uint64_t n = 0; n < steps && status == STATUS_OK; n++)
        status = take_step(run);
    if (status == STATUS_STOPPED)
        status = session_close_files(&run->session, status);
    TRY(status);
    return steps > 0 && now + steps == last ? finish(run) : STATUS_OK;
}

enum radixpic_status radixpic_step(struct radixpic *run, uint64_t steps)
{
    RETURN_TOGETHER(keep_failure(run, step(run, steps)), run);
}

void radixpic_stop(struct radixpic *run, int signal)
{
    if (run)
        run->session.simulation.stop_signal = signal;
}

/* ---- what there is ---- */

uint64_t radixpic_steps(const struct radixpic *run)
{
    run = handle_or_none(run);
    const bool is_locked = handle_lock(run);
    const uint64_t step = run->session.simulation.step, last = run->session.config.time.steps;
    handle_unlock(run, is_locked);
    return step < last ? step : last;
}

double radixpic_time(const struct radixpic *run)
{
    return (double)radixpic_steps(run) * handle_or_none(run)->config.time.step;
}

void radixpic_grid(const struct radixpic *run, uint32_t cells[2], double length[2])
{
    const struct grid_config *grid = &handle_or_none(run)->config.grid;
    memcpy(cells, grid->cells, sizeof grid->cells);
    memcpy(length, grid->length, sizeof grid->length);
}

const char *radixpic_config(struct radixpic *run)
{
    return handle_or_none(run)->config_text;
}

/* ---- the history ---- */

size_t radixpic_history_rows(const struct radixpic *run)
{
    run = handle_or_none(run);
    const bool is_locked = handle_lock(run);
    const size_t rows = run->rows;
    handle_unlock(run, is_locked);
    return rows;
}

const char *radixpic_history_names(const struct radixpic *run)
{
    return handle_or_none(run)->history_names;
}

void radixpic_read_history(const struct radixpic *run, double *values)
{
    run = handle_or_none(run);
    const size_t columns = history_columns(&run->config, NULL, NULL, NULL);
    const bool is_locked = handle_lock(run);
    if (run->rows > 0) /* else both may be NULL */
        memcpy(values, run->history, run->rows * columns * sizeof *values);
    handle_unlock(run, is_locked);
}
