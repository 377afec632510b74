/* History: history.csv, one row for every step that is measured. */
#include "output/outputs.h"

#include <stdarg.h>

_Static_assert((int)HISTORY_MOST <= APPEND_COLUMNS && (int)HISTORY_HEAD_LENGTH < APPEND_HEAD_LENGTH,
               "a history is an append file");

/* Columns that are added one by one; `head` and `values` may be NULL. */
struct columns {
    char *head;
    size_t used; /* bytes of it */
    double *values;
    uint32_t count;
};

__attribute__((format(printf, 3, 4))) static void add(struct columns *columns, double value, const char *name,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, name);
    if (columns->head) {
        if (columns->count > 0)
            columns->head[columns->used++] = ',';
        columns->used += (size_t)vsnprintf(columns->head + columns->used, HISTORY_HEAD_LENGTH - columns->used,
                                           name, arguments);
    }
    va_end(arguments);
    if (columns->values)
        columns->values[columns->count] = value;
    columns->count++;
}

/* "density_1_0_re" and "Ex_1_0_re" and so on, of mode number n. */
static void add_mode(struct columns *columns, const struct config *config, const struct history_row *row,
                     uint32_t n)
{
    const struct history_config *history = &config->output.history;
    const enum solver_name solver = config->fields.solver;
    const int mx = history->modes[n][0], my = history->modes[n][1];
    for (uint32_t f = 0; f < history->mode_fields.count; f++) {
        const enum field field = history->mode_fields.items[f];
        const char *word = field == FIELD_RHO ? "density" : field_table[field].word;
        for (uint32_t c = 0; c < field_components(solver, field); c++) {
            const double *parts = field == FIELD_RHO
                                      ? row->modes[n]
                                      : row->fields[n][field_first(SOLVER_ELECTROMAGNETIC, field) + c];
            add(columns, parts[0], "%s%s_%d_%d_re", word, field_axis(solver, field, c), mx, my);
            add(columns, parts[1], "%s%s_%d_%d_im", word, field_axis(solver, field, c), mx, my);
        }
    }
}

uint32_t history_columns(const struct config *config, const struct history_row *row, char *head,
                         double *values)
{
    static const char *const of_species[] = {"kinetic_energy", "momentum_x", "momentum_y", "momentum_z"};
    static const struct history_row none;
    const struct history_config *history = &config->output.history;
    struct columns columns = {.head = head, .values = values};
    bool has_z = false;
    for (uint32_t s = 0; s < config->species_count; s++)
        has_z |= species_has_w(&config->species[s]);
    row = row ? row : &none;
    add(&columns, (double)row->step, "step");
    add(&columns, (double)row->step * config->time.step, "time");
    add(&columns, row->field_energy, "field_energy");
    add(&columns, row->kinetic_energy, "kinetic_energy");
    add(&columns, history_total_energy(row), "total_energy");
    add(&columns, row->momentum[0], "momentum_x");
    add(&columns, row->momentum[1], "momentum_y");
    if (has_z)
        add(&columns, row->momentum[2], "momentum_z");
    add(&columns, row->charge, "charge");
    if (config->fields.solver == SOLVER_ELECTROMAGNETIC) {
        add(&columns, row->magnetic_energy, "magnetic_energy");
        for (int axis = 0; axis < 3; axis++)
            add(&columns, row->field_momentum[axis], "field_momentum_%c", "xyz"[axis]);
    }
    if (config->fields.drive_count > 0)
        add(&columns, row->drive_work, "drive_work");
    for (uint32_t n = 0; n < history->mode_count; n++)
        add_mode(&columns, config, row, n);
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const bool is_named = species_are_named(&history->species, species->name);
        for (size_t n = 0; n < 1 + species_dimensions(species) && is_named; n++)
            add(&columns, row->species[s][n], "%s_%s", species->name, of_species[n]);
        if (is_named && history->work)
            add(&columns, row->work[s][0], "%s_external_work", species->name);
    }
    return columns.count;
}

/* ---- the file ---- */

static enum status open_history(struct append_files *files, const struct config *config, void **part)
{
    char head[HISTORY_HEAD_LENGTH];
    struct append_file *file = NULL;
    (void)history_columns(config, NULL, head, NULL);
    TRY(append_files_add(files, "history.csv", head, "output.history.modes, mode_fields, species and work",
                         &file));
    *part = file;
    return STATUS_OK;
}

static enum status write_row(void *file, const struct view *view)
{
    double values[HISTORY_MOST];
    return file ? append_file_write(file, history_columns(view->config, view->measured, NULL, values), values)
                : STATUS_OK;
}

static void print_size(const struct config *config)
{
    const uint64_t rows = outputs_times_due(config, config->output.history.every);
    const double row_bytes = 8 + 24.0 * (history_columns(config, NULL, NULL, NULL) - 1);
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
