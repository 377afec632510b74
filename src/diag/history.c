/* History: the CSV file. */
#include "diag/history.h"

#include <errno.h>
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

enum status history_open(const char *folder, const struct history_config *config, struct history **history)
{
    *history = calloc(1, sizeof **history);
    if (!*history || asprintf(&(*history)->path, "%s/history.csv", folder) < 0) {
        free(*history);
        *history = NULL;
        return status_fail(STATUS_FAILED, "no memory for the history");
    }
    struct history *opened = *history;
    opened->config = *config;
    opened->file = fopen(opened->path, "w");
    if (!opened->file)
        return cannot_write(opened->path);
    fprintf(opened->file, "step,time,field_energy,kinetic_energy,total_energy,momentum_x,momentum_y,charge");
    for (uint32_t n = 0; n < config->mode_count; n++) {
        const int mx = config->modes[n][0], my = config->modes[n][1];
        fprintf(opened->file, ",density_%d_%d_re,density_%d_%d_im", mx, my, mx, my);
    }
    fprintf(opened->file, "\n");
    return flush(opened);
}

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
