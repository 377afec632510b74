/* History: history.csv, one row for every step that is measured. */
#include "output/outputs.h"

#include <string.h>

/* ---- columns ---- */

/* The columns of a species, in the order of history_row.species. */
static const char *const species_columns[] = {"kinetic_energy", "momentum_x", "momentum_y", "momentum_z"};

enum { MOST_SPECIES_COLUMNS = sizeof species_columns / sizeof species_columns[0] };

/* Those that a species has: without w none of momentum_z. */
static uint32_t columns_of(const struct species_config *species)
{
    return 1 + species_dimensions(species);
}

static bool has_z(const struct config *config)
{
    bool has = false;
    for (uint32_t s = 0; s < config->species_count; s++)
        has |= species_has_w(&config->species[s]);
    return has;
}

static bool is_named(const struct config *config, uint32_t species)
{
    return species_are_named(&config->output.history.species, config->species[species].name);
}

static bool has_work(const struct config *config)
{
    return config->fields.drive_count > 0;
}

uint32_t history_columns(const struct config *config)
{
    uint32_t columns =
        HISTORY_SUMS + 2 * config->output.history.mode_count + has_work(config) + has_z(config);
    for (uint32_t s = 0; s < config->species_count; s++)
        columns += is_named(config, s) ? columns_of(&config->species[s]) : 0;
    return columns;
}

void history_head(const struct config *config, char head[HISTORY_HEAD_LENGTH])
{
    const struct history_config *history = &config->output.history;
    int used = snprintf(head, HISTORY_HEAD_LENGTH,
                        "step,time,field_energy,kinetic_energy,total_energy,momentum_x,momentum_y%s,charge%s",
                        has_z(config) ? ",momentum_z" : "", has_work(config) ? ",drive_work" : "");
    for (uint32_t n = 0; n < history->mode_count; n++) {
        const int mx = history->modes[n][0], my = history->modes[n][1];
        used += snprintf(head + used, HISTORY_HEAD_LENGTH - (size_t)used,
                         ",density_%d_%d_re,density_%d_%d_im", mx, my, mx, my);
    }
    for (uint32_t s = 0; s < config->species_count; s++)
        for (size_t n = 0; is_named(config, s) && n < columns_of(&config->species[s]); n++)
            used += snprintf(head + used, HISTORY_HEAD_LENGTH - (size_t)used, ",%s_%s",
                             config->species[s].name, species_columns[n]);
}

void history_values(const struct config *config, const struct history_row *row, double time, double *values)
{
    const uint32_t modes = config->output.history.mode_count;
    const double sums[] = {(double)row->step,
                           time,
                           row->field_energy,
                           row->kinetic_energy,
                           row->field_energy + row->kinetic_energy,
                           row->momentum[0],
                           row->momentum[1]};
    memcpy(values, sums, sizeof sums);
    values += sizeof sums / sizeof sums[0];
    if (has_z(config))
        *values++ = row->momentum[2];
    *values++ = row->charge;
    if (has_work(config))
        *values++ = row->drive_work;
    memcpy(values, row->modes, modes * sizeof *row->modes);
    values += 2 * modes;
    for (uint32_t s = 0; s < config->species_count; s++)
        if (is_named(config, s)) {
            const uint32_t columns = columns_of(&config->species[s]);
            memcpy(values, row->species[s], columns * sizeof *row->species[s]);
            values += columns;
        }
}

/* ---- the file ---- */

static enum status open_history(struct growing_files *files, const struct config *config, void **part)
{
    char head[HISTORY_HEAD_LENGTH];
    struct growing_file *file = NULL;
    history_head(config, head);
    TRY(growing_files_add(files, "history.csv", head, "output.history.modes and output.history.species",
                          &file));
    *part = file;
    return STATUS_OK;
}

static enum status write_row(void *file, const struct view *view)
{
    double values[HISTORY_SUMS + 2 + 2 * CONFIG_MAX_MODES + MOST_SPECIES_COLUMNS * CONFIG_MAX_SPECIES];
    if (!file)
        return STATUS_OK;
    history_values(view->config, view->measured, view->time, values);
    return growing_file_write(file, history_columns(view->config), values);
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
                                          .cheaper_by = "a larger output.history.every",
                                          .needs = OUTPUT_NEEDS_MEASURED,
                                          .open = open_history,
                                          .write = write_row,
                                          .print_size = print_size};
