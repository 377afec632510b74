/* History: the CSV file. */
#include "output/history.h"

#include "output/outputs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct history {
    const struct history_config *config; /* not owned */
    char *path;
    FILE *file;
    off_t whole; /* bytes of whole lines written */
};

static enum status cannot_write(const char *path)
{
    return status_fail(STATUS_FAILED, "cannot write %s: %s", path, strerror(errno));
}

/* Ends a line. One of which only a part fitted on the disk is taken back, also from the stream's buffer. */
static enum status flush(struct history *history)
{
    if (fflush(history->file) == 0 && !ferror(history->file)) {
        history->whole = ftello(history->file);
        return STATUS_OK;
    }
    const enum status status = cannot_write(history->path);
    __fpurge(history->file);
    /* Where that fails too, a part of a line is all that is lost. */
    const int taken_back = ftruncate(fileno(history->file), history->whole);
    (void)taken_back;
    return status;
}

static void print_head(const struct history_config *config, FILE *file)
{
    fprintf(file, "step,time,field_energy,kinetic_energy,total_energy,momentum_x,momentum_y,charge");
    for (uint32_t n = 0; n < config->mode_count; n++) {
        const int mx = config->modes[n][0], my = config->modes[n][1];
        fprintf(file, ",density_%d_%d_re,density_%d_%d_im", mx, my, mx, my);
    }
    fprintf(file, "\n");
}

static enum status begin(struct history *history)
{
    history->file = fopen(history->path, "w");
    if (!history->file)
        return cannot_write(history->path);
    print_head(history->config, history->file);
    return flush(history);
}

/* ---- going on with an older file ---- */

enum { FIXED_COLUMNS = 8 };

static uint32_t columns(const struct history_config *config)
{
    return FIXED_COLUMNS + 2 * config->mode_count;
}

/* A line that begins with a step and has all columns. */
static bool parse_row(const char *line, uint32_t expected, uint64_t *step)
{
    char *end = NULL;
    uint32_t found = 1;
    for (const char *comma = strchr(line, ','); comma; comma = strchr(comma + 1, ','))
        found++;
    errno = 0;
    *step = strtoull(line, &end, 10);
    return isdigit((unsigned char)line[0]) && *end == ',' && errno == 0 && found == expected;
}

/* The first line of `old`, which must be the head that this config asks for. */
static enum status require_head(const struct history *history, FILE *old, char **line, size_t *room)
{
    char *head = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&head, &length);
    if (!stream)
        return status_fail(STATUS_FAILED, "no memory for the head of the history");
    print_head(history->config, stream);
    fclose(stream);
    enum status status = STATUS_OK;
    if (getline(line, room, old) < 0 || strcmp(*line, head) != 0)
        status = status_fail(STATUS_USAGE,
                             "%s has other columns than output.history.modes asks for; go on with the modes "
                             "it was begun with, or write elsewhere by --output",
                             history->path);
    free(head);
    return status;
}

/* Copies the head of `old` and its rows before `step`. */
static enum status copy_rows(struct history *history, FILE *old, uint64_t step)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    enum status status = STATUS_OK;
    TRY_CLEANUP(require_head(history, old, &line, &room));
    fputs(line, history->file);
    for (unsigned long number = 2; (length = getline(&line, &room, old)) > 0; number++) {
        uint64_t row;
        if (line[length - 1] != '\n')
            break; /* the process ended in the middle of it */
        if (!parse_row(line, columns(history->config), &row)) {
            status = status_fail(STATUS_FAILED, "%s:%lu: this is no row of a history", history->path, number);
            goto cleanup;
        }
        if (row < step)
            fputs(line, history->file);
    }
    if (ferror(old))
        status = status_fail(STATUS_FAILED, "cannot read %s: %s", history->path, strerror(errno));

cleanup:
    free(line);
    return status;
}

/* Puts the file that was written under a name of its own in the place of the old one. */
static enum status replace(struct history *history, const char *folder, const char *temporary)
{
    const bool written = fflush(history->file) == 0 && !ferror(history->file) &&
                         fsync(fileno(history->file)) == 0 && rename(temporary, history->path) == 0;
    if (!written)
        return cannot_write(history->path);
    history->whole = ftello(history->file);
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) { /* else the rename reaches the disk a little later */
        (void)fsync(directory);
        close(directory);
    }
    return STATUS_OK;
}

static enum status go_on(struct history *history, const struct run_folder *folder, uint64_t step)
{
    char *temporary = NULL;
    enum status status = STATUS_OK;
    FILE *old = fopen(history->path, "r");
    if (!old)
        return status_fail(STATUS_FAILED, "cannot read %s: %s", history->path, strerror(errno));
    TRY_CLEANUP(run_folder_path(folder, ".history.csv.tmp", &temporary));
    history->file = fopen(temporary, "w");
    TRY_CLEANUP(history->file ? copy_rows(history, old, step) : cannot_write(history->path));
    TRY_CLEANUP(replace(history, folder->path, temporary));

cleanup:
    if (status != STATUS_OK && history->file) {
        __fpurge(history->file);
        unlink(temporary);
    }
    fclose(old);
    free(temporary);
    return status;
}

enum status history_open(const struct run_folder *folder, const struct config *config, uint64_t step,
                         void **part)
{
    struct history *history = calloc(1, sizeof *history);
    *part = history;
    if (!history)
        return status_fail(STATUS_FAILED, "no memory for the history");
    history->config = &config->output.history;
    TRY(run_folder_path(folder, "history.csv", &history->path));
    return folder->use == RUN_FOLDER_CONTINUE ? go_on(history, folder, step) : begin(history);
}

/* ---- rows ---- */

enum status history_write(void *part, const char *folder, const struct view *view, uint64_t *bytes)
{
    struct history *history = part;
    const struct history_row *row = view->measured;
    (void)folder;
    *bytes = 0;
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

enum status history_sync(void *part)
{
    struct history *history = part;
    /* A pipe or a device in the place of the file has nothing to sync. */
    if (history && fsync(fileno(history->file)) != 0 && errno != EINVAL && errno != EROFS)
        return cannot_write(history->path);
    return STATUS_OK;
}

enum status history_close(void **part)
{
    struct history *history = *part;
    enum status status = STATUS_OK;
    if (!history)
        return STATUS_OK;
    if (history->file && fclose(history->file) != 0)
        status = cannot_write(history->path);
    free(history->path);
    free(history);
    *part = NULL;
    return status;
}

void history_print_size(const struct config *config)
{
    const struct history_config *history = &config->output.history;
    const uint64_t rows = outputs_times_due(config, history->every);
    const double row_bytes = 8 + 24.0 * (7 + 2 * history->mode_count);
    printf("history                   %llu rows, about %.3g MB\n", (unsigned long long)rows,
           1e-6 * row_bytes * (double)rows);
}
