/* History: history.csv, one row for every step that is measured. Where a run goes on, what the file was at
 * the checkpoint must be there to the byte, with the columns of the config, else it is STATUS_USAGE; the rest
 * run_folder_clear() cuts. */
#include "output/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

struct history {
    const struct config *config; /* not owned */
    char path[PATH_MAX];
    int file;                           /* descriptor; below 0: not open */
    uint64_t whole;                     /* bytes of whole lines written */
    XXH3_state_t *digest;               /* of them */
    char head[HISTORY_HEAD_LENGTH + 1]; /* the names of the columns, as a line */
};

static enum status fail(const struct history *history, const char *what)
{
    return status_fail(STATUS_FAILED, "cannot %s %s: %s", what, history->path, strerror(errno));
}

/* ---- columns ---- */

/* The columns of a species, in the order of history_row.species. */
static const char *const species_columns[] = {"kinetic_energy", "momentum_x", "momentum_y"};

enum { SPECIES_COLUMNS = sizeof species_columns / sizeof species_columns[0] };

static bool is_named(const struct config *config, uint32_t species)
{
    return species_are_named(&config->output.history.species, config->species[species].name);
}

uint32_t history_columns(const struct config *config)
{
    uint32_t columns = HISTORY_SUMS + 2 * config->output.history.mode_count;
    for (uint32_t s = 0; s < config->species_count; s++)
        columns += is_named(config, s) ? SPECIES_COLUMNS : 0;
    return columns;
}

void history_head(const struct config *config, char head[HISTORY_HEAD_LENGTH])
{
    const struct history_config *history = &config->output.history;
    int used = snprintf(head, HISTORY_HEAD_LENGTH,
                        "step,time,field_energy,kinetic_energy,total_energy,momentum_x,momentum_y,charge");
    for (uint32_t n = 0; n < history->mode_count; n++) {
        const int mx = history->modes[n][0], my = history->modes[n][1];
        used += snprintf(head + used, HISTORY_HEAD_LENGTH - (size_t)used,
                         ",density_%d_%d_re,density_%d_%d_im", mx, my, mx, my);
    }
    for (uint32_t s = 0; s < config->species_count; s++)
        for (size_t n = 0; is_named(config, s) && n < SPECIES_COLUMNS; n++)
            used += snprintf(head + used, HISTORY_HEAD_LENGTH - (size_t)used, ",%s_%s",
                             config->species[s].name, species_columns[n]);
}

void history_values(const struct config *config, const struct history_row *row, double time, double *values)
{
    const uint32_t modes = config->output.history.mode_count;
    const double sums[HISTORY_SUMS] = {(double)row->step,
                                       time,
                                       row->field_energy,
                                       row->kinetic_energy,
                                       row->field_energy + row->kinetic_energy,
                                       row->momentum[0],
                                       row->momentum[1],
                                       row->charge};
    memcpy(values, sums, sizeof sums);
    memcpy(values += HISTORY_SUMS, row->modes, modes * sizeof *row->modes);
    values += 2 * modes;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (is_named(config, s)) {
            memcpy(values, row->species[s], sizeof row->species[s]);
            values += SPECIES_COLUMNS;
        }
}

/* ---- lines ---- */

/* Hands a line to the system, so that a killed run keeps it. One of which only a part fitted on the disk is
 * taken back. */
static enum status write_line(struct history *history, const char *line)
{
    const size_t length = strlen(line);
    for (size_t done = 0; done < length;) {
        const ssize_t more = write(history->file, line + done, length - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0) {
            const enum status status = fail(history, "write");
            /* Where that fails too, a part of a line is all that is lost. */
            const int taken_back = ftruncate(history->file, (off_t)history->whole);
            (void)taken_back;
            return status;
        }
        done += (size_t)more;
    }
    history->whole += length;
    XXH3_64bits_update(history->digest, line, length);
    return STATUS_OK;
}

struct history_mark history_mark(const void *part)
{
    const struct history *history = part;
    if (!history)
        return (struct history_mark){0};
    return (struct history_mark){history->whole, XXH3_64bits_digest(history->digest)};
}

/* ---- going on with an older file ---- */

static enum status require_columns(const struct history *history, const char *bytes, size_t count)
{
    const size_t length = strlen(history->head);
    if (count >= length && memcmp(bytes, history->head, length) == 0)
        return STATUS_OK;
    return status_fail(STATUS_USAGE,
                       "%s has other columns than output.history.modes and output.history.species ask for; "
                       "go on with those it was begun with, or write elsewhere by --output",
                       history->path);
}

static enum status refuse_rows(const struct history *history)
{
    return status_fail(
        STATUS_USAGE,
        "%s does not hold the rows that it had at the checkpoint; go on elsewhere, by --output "
        "DIR, or from an older checkpoint",
        history->path);
}

/* Reads what was there at the checkpoint, and goes on behind it. */
static enum status go_on(struct history *history, const struct history_mark *kept)
{
    char bytes[1 << 15]; /* more than the head has */
    while (history->whole < kept->bytes) {
        const uint64_t left = kept->bytes - history->whole;
        const ssize_t more =
            pread(history->file, bytes, left < sizeof bytes ? left : sizeof bytes, (off_t)history->whole);
        if (more < 0)
            return fail(history, "read");
        if (more == 0)
            break;
        if (history->whole == 0)
            TRY(require_columns(history, bytes, (size_t)more));
        history->whole += (uint64_t)more;
        XXH3_64bits_update(history->digest, bytes, (size_t)more);
    }
    const struct history_mark found = history_mark(history);
    if (found.bytes == kept->bytes && found.digest == kept->digest)
        return lseek(history->file, (off_t)kept->bytes, SEEK_SET) < 0 ? fail(history, "read") : STATUS_OK;
    return refuse_rows(history);
}

static enum status open_history(const struct run_folder *folder, const struct config *config, void **part)
{
    const bool is_older = folder->use == RUN_FOLDER_CONTINUE;
    struct history *history = calloc(1, sizeof *history);
    *part = history;
    if (!history)
        return status_fail(STATUS_FAILED, "no memory for the history");
    history->config = config;
    history->digest = XXH3_createState();
    history->file = -1;
    if (!history->digest)
        return status_fail(STATUS_FAILED, "no memory for the history");
    XXH3_64bits_reset(history->digest);
    history_head(history->config, history->head);
    strcat(history->head, "\n");
    snprintf(history->path, sizeof history->path, "%s/history.csv", folder->path);
    history->file = open(history->path, O_RDWR | O_CLOEXEC | (is_older ? 0 : O_CREAT | O_TRUNC), 0666);
    if (history->file < 0 && is_older && errno == ENOENT)
        return refuse_rows(history);
    if (history->file < 0)
        return fail(history, is_older ? "read" : "write");
    return is_older ? go_on(history, &folder->kept) : write_line(history, history->head);
}

/* ---- rows ---- */

/* With 17 significant digits, by which a step is a whole number. */
static enum status write_row(void *part, const struct view *view)
{
    enum {
        NUMBER = 26,
        COLUMNS = HISTORY_SUMS + 2 * CONFIG_MAX_MODES + SPECIES_COLUMNS * CONFIG_MAX_SPECIES
    };
    struct history *history = part;
    double values[COLUMNS];
    char line[COLUMNS * NUMBER + 1];
    int used = 0;
    if (!history)
        return STATUS_OK;
    const uint32_t columns = history_columns(history->config);
    history_values(history->config, view->measured, view->time, values);
    for (uint32_t n = 0; n < columns; n++)
        used += snprintf(line + used, NUMBER, "%.17g%c", values[n], n + 1 < columns ? ',' : '\n');
    return write_line(history, line);
}

/* Returns when every row is on the disk, so that a checkpoint written after it never knows of steps whose
 * rows a power loss took. */
static enum status sync_rows(void *part)
{
    struct history *history = part;
    struct stat found;
    if (history && fstat(history->file, &found) == 0 && found.st_nlink == 0)
        return status_fail(STATUS_FAILED, "%s was removed while this run wrote to it", history->path);
    /* A pipe or a device in the place of the file has nothing to sync. */
    if (history && fsync(history->file) != 0 && errno != EINVAL && errno != EROFS)
        return fail(history, "write");
    return STATUS_OK;
}

static enum status close_history(void **part)
{
    struct history *history = *part;
    enum status status = STATUS_OK;
    if (!history)
        return STATUS_OK;
    if (history->file >= 0 && close(history->file) != 0)
        status = fail(history, "write");
    XXH3_freeState(history->digest);
    free(history);
    *part = NULL;
    return status;
}

static void print_size(const struct config *config)
{
    const struct history_config *history = &config->output.history;
    const uint64_t rows = outputs_times_due(config, history->every);
    const double row_bytes = 8 + 24.0 * (history_columns(config) - 1);
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
