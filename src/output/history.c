/* History: the CSV file. */
#include "output/history.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct history {
    struct history_config config;
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

static enum status create(const char *folder, const struct history_config *config, struct history **history)
{
    *history = calloc(1, sizeof **history);
    if (!*history || asprintf(&(*history)->path, "%s/history.csv", folder) < 0) {
        free(*history);
        *history = NULL;
        return status_fail(STATUS_FAILED, "no memory for the history");
    }
    (*history)->config = *config;
    return STATUS_OK;
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

enum status history_open(const char *folder, const struct history_config *config, struct history **history)
{
    TRY(create(folder, config, history));
    struct history *opened = *history;
    opened->file = fopen(opened->path, "w");
    if (!opened->file)
        return cannot_write(opened->path);
    print_head(config, opened->file);
    return flush(opened);
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
    print_head(&history->config, stream);
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
        if (!parse_row(line, columns(&history->config), &row)) {
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

enum status history_continue(const char *folder, const struct history_config *config, uint64_t step,
                             struct history **history)
{
    char *temporary = NULL;
    FILE *old = NULL;
    TRY(create(folder, config, history));
    struct history *opened = *history;
    enum status status = STATUS_OK;
    if (asprintf(&temporary, "%s/.history.csv.tmp", folder) < 0)
        return status_fail(STATUS_FAILED, "no memory for the history");
    old = fopen(opened->path, "r");
    opened->file = old ? fopen(temporary, "w") : NULL;
    if (!old)
        status = status_fail(STATUS_FAILED, "cannot read %s: %s", opened->path, strerror(errno));
    else if (!opened->file)
        status = cannot_write(opened->path);
    if (status == STATUS_OK)
        status = copy_rows(opened, old, step);
    if (status == STATUS_OK)
        status = replace(opened, folder, temporary);
    if (status != STATUS_OK && opened->file) {
        __fpurge(opened->file);
        unlink(temporary);
    }
    if (old)
        fclose(old);
    free(temporary);
    return status;
}

/* ---- rows ---- */

enum status history_append(struct history *history, const struct history_row *row)
{
    FILE *file = history->file;
    fprintf(file, "%llu,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g", (unsigned long long)row->step, row->time,
            row->field_energy, row->kinetic_energy, row->field_energy + row->kinetic_energy, row->momentum[0],
            row->momentum[1], row->charge);
    for (uint32_t n = 0; n < history->config.mode_count; n++)
        fprintf(file, ",%.17g,%.17g", row->modes[n][0], row->modes[n][1]);
    fprintf(file, "\n");
    return flush(history);
}

enum status history_sync(struct history *history)
{
    /* A pipe or a device in the place of the file has nothing to sync. */
    if (history && fsync(fileno(history->file)) != 0 && errno != EINVAL && errno != EROFS)
        return cannot_write(history->path);
    return STATUS_OK;
}

enum status history_close(struct history **history)
{
    if (!*history)
        return STATUS_OK;
    enum status status = STATUS_OK;
    if ((*history)->file && fclose((*history)->file) != 0)
        status = cannot_write((*history)->path);
    free((*history)->path);
    free(*history);
    *history = NULL;
    return status;
}
