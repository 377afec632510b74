/* History: history.csv, one row for every step that is measured. In a folder that a run goes on in, the rows
 * from its first step on are cut, and a last line that was written by half, which takes no room on the disk.
 * Its columns must be those of the config, else it is STATUS_USAGE. */
#include "output/outputs.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the head, with two columns for each mode. */
enum { HEAD_LENGTH = 128 + 80 * CONFIG_MAX_MODES };

struct history {
    const struct history_config *config; /* not owned */
    char path[PATH_MAX];
    FILE *file;
    off_t whole;            /* bytes of whole lines written */
    char head[HEAD_LENGTH]; /* the names of the columns, as a line */
};

static enum status fail(const struct history *history, const char *what)
{
    return status_fail(STATUS_FAILED, "cannot %s %s: %s", what, history->path, strerror(errno));
}

static void make_head(const struct history_config *config, char head[HEAD_LENGTH])
{
    int used = snprintf(head, HEAD_LENGTH,
                        "step,time,field_energy,kinetic_energy,total_energy,momentum_x,momentum_y,charge");
    for (uint32_t n = 0; n < config->mode_count; n++) {
        const int mx = config->modes[n][0], my = config->modes[n][1];
        used += snprintf(head + used, HEAD_LENGTH - (size_t)used, ",density_%d_%d_re,density_%d_%d_im", mx,
                         my, mx, my);
    }
    strcpy(head + used, "\n");
}

/* Ends a line. One of which only a part fitted on the disk is taken back, also from the stream's buffer. */
static enum status flush(struct history *history)
{
    if (fflush(history->file) == 0 && !ferror(history->file)) {
        history->whole = ftello(history->file);
        return STATUS_OK;
    }
    const enum status status = fail(history, "write");
    __fpurge(history->file);
    /* Where that fails too, a part of a line is all that is lost. */
    const int taken_back = ftruncate(fileno(history->file), history->whole);
    (void)taken_back;
    return status;
}

/* ---- going on with an older file ---- */

static uint32_t count_columns(const char *line)
{
    uint32_t columns = 1;
    for (; *line; line++)
        columns += *line == ',';
    return columns;
}

/* A line that begins with a step and has all columns. */
static bool parse_row(const char *line, uint32_t columns, uint64_t *step)
{
    char *end = NULL;
    errno = 0;
    *step = strtoull(line, &end, 10);
    return isdigit((unsigned char)line[0]) && *end == ',' && errno == 0 && count_columns(line) == columns;
}

/* Finds the end of the head and the rows before `step`, and sees that all lines are rows. */
static enum status find_end(struct history *history, uint64_t step, char **line, size_t *room)
{
    const uint32_t columns = count_columns(history->head);
    ssize_t length = getline(line, room, history->file);
    if (length < 0 || strcmp(*line, history->head) != 0)
        return status_fail(STATUS_USAGE,
                           "%s has other columns than output.history.modes asks for; go on with the modes "
                           "it was begun with, or write elsewhere by --output",
                           history->path);
    history->whole = length;
    for (unsigned long number = 2; (length = getline(line, room, history->file)) > 0; number++) {
        uint64_t row;
        if ((*line)[length - 1] != '\n')
            break; /* the process ended in the middle of it */
        if (!parse_row(*line, columns, &row))
            return status_fail(STATUS_FAILED, "%s:%lu: this is no row of a history", history->path, number);
        history->whole += row < step ? length : 0;
    }
    return ferror(history->file) ? fail(history, "read") : STATUS_OK;
}

static enum status go_on(struct history *history, uint64_t step)
{
    char *line = NULL;
    size_t room = 0;
    const enum status status = find_end(history, step, &line, &room);
    free(line);
    TRY(status);
    if (fseeko(history->file, history->whole, SEEK_SET) != 0 ||
        ftruncate(fileno(history->file), history->whole) != 0)
        return fail(history, "write");
    return STATUS_OK;
}

static enum status open_history(const struct run_folder *folder, const struct config *config, uint64_t step,
                                void **part)
{
    const bool is_older = folder->use == RUN_FOLDER_CONTINUE;
    struct history *history = calloc(1, sizeof *history);
    *part = history;
    if (!history)
        return status_fail(STATUS_FAILED, "no memory for the history");
    history->config = &config->output.history;
    make_head(history->config, history->head);
    snprintf(history->path, sizeof history->path, "%s/history.csv", folder->path);
    history->file = fopen(history->path, is_older ? "r+" : "w");
    if (!history->file)
        return fail(history, is_older ? "read" : "write");
    if (is_older)
        return go_on(history, step);
    fputs(history->head, history->file);
    return flush(history);
}

/* ---- rows ---- */

/* With 17 significant digits, handed to the system, so that a killed run keeps it. */
static enum status write_row(void *part, const struct view *view)
{
    struct history *history = part;
    const struct history_row *row = view->measured;
    if (!history)
        return STATUS_OK;
    FILE *file = history->file;
    fprintf(file, "%llu,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", (unsigned long long)view->step,
            view->time, row->field_energy, row->kinetic_energy, row->field_energy + row->kinetic_energy,
            row->momentum[0], row->momentum[1], row->charge);
    for (uint32_t n = 0; n < history->config->mode_count; n++)
        fprintf(file, ",%.17g,%.17g", row->modes[n][0], row->modes[n][1]);
    fprintf(file, "\n");
    return flush(history);
}

/* Returns when every row is on the disk, so that a checkpoint written after it never knows of steps whose
 * rows a power loss took. */
static enum status sync_rows(void *part)
{
    struct history *history = part;
    /* A pipe or a device in the place of the file has nothing to sync. */
    if (history && fsync(fileno(history->file)) != 0 && errno != EINVAL && errno != EROFS)
        return fail(history, "write");
    return STATUS_OK;
}

static enum status close_history(void **part)
{
    struct history *history = *part;
    enum status status = STATUS_OK;
    if (!history)
        return STATUS_OK;
    if (history->file && fclose(history->file) != 0)
        status = fail(history, "write");
    free(history);
    *part = NULL;
    return status;
}

static void print_size(const struct config *config)
{
    const struct history_config *history = &config->output.history;
    const uint64_t rows = outputs_times_due(config, history->every);
    const double row_bytes = 8 + 24.0 * (7 + 2 * history->mode_count);
    printf("history                   %llu rows, about %.3g MB\n", (unsigned long long)rows,
           1e-6 * row_bytes * (double)rows);
}

const struct output_row history_output = {.name = "history",
                                          .every = offsetof(struct config, output.history.every),
                                          .thrift = "a larger output.history.every",
                                          .needs = OUTPUT_NEEDS_MEASURED,
                                          .open = open_history,
                                          .sync = sync_rows,
                                          .close = close_history,
                                          .write = write_row,
                                          .print_size = print_size};
