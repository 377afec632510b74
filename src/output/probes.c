/* Probes: probes/NAME.csv, the fields at a place of the box as rows of a growing file (output.probes). All
 * probes are measured together, each is written by its own `every`. */
#include "output/outputs.h"
#include "output/points.h"

#include <inttypes.h>
#include <string.h>

struct probes {
    struct points *points;
    double at[CONFIG_MAX_PROBES][2];
    struct growing_file *files[CONFIG_MAX_PROBES]; /* of rank 0 */
};

static enum status create_probes(struct device *device, const struct config *config, void **part)
{
    const uint32_t count = config->output.probe_count;
    struct probes *probes;
    *part = NULL;
    if (count == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, probes));
    *part = probes;
    for (uint32_t n = 0; n < count; n++)
        memcpy(probes->at[n], config->output.probes[n].at, sizeof probes->at[n]);
    return points_create(device, config, count, (const double(*)[2])probes->at, SUM_SLOTS, &probes->points);
}

static enum status open_probes(struct growing_files *files, const struct config *config, void **part)
{
    const enum solver_name solver = config->fields.solver;
    struct probes *probes = *part;
    for (uint32_t n = 0; n < config->output.probe_count; n++) {
        const struct probe_config *probe = &config->output.probes[n];
        char name[MANIFEST_NAME_LENGTH], keys[CONFIG_NAME_LENGTH + 32], head[128] = "step,time";
        snprintf(name, sizeof name, "probes/%s.csv", probe->name);
        snprintf(keys, sizeof keys, "output.probes.%s.fields", probe->name);
        for (enum field f = 0; f < FIELDS; f++)
            for (uint32_t axis = 0; axis < field_components(solver, f) && fields_hold(&probe->fields, f);
                 axis++)
                strcat(strcat(strcat(head, ","), field_table[f].word), field_axis(solver, f, axis));
        TRY(growing_files_add(files, name, head, keys, &probes->files[n]));
    }
    return STATUS_OK;
}

static enum status measure_probes(void *part, const struct view *view, uint32_t slot)
{
    return points_measure(((struct probes *)part)->points, view, slot);
}

static enum status read_probes(void *part, uint32_t first, uint32_t count)
{
    return points_read(((struct probes *)part)->points, first, count);
}

/* Collective. */
static enum status write_rows(void *part, const struct view *view)
{
    struct probes *probes = part;
    const enum solver_name solver = view->config->fields.solver;
    const struct output_config *output = &view->config->output;
    double *values = points_values(probes->points, (uint32_t)(view->step % SUM_SLOTS));
    communicator_sum(view->communicator, field_first(solver, FIELDS) * (size_t)output->probe_count, values);
    for (uint32_t n = 0; n < output->probe_count; n++) {
        double row[2 + FIELD_COMPONENTS] = {(double)view->step, view->time};
        uint32_t count = 2;
        for (enum field f = 0; f < FIELDS; f++)
            for (uint32_t axis = 0; axis < field_components(solver, f); axis++)
                if (fields_hold(&output->probes[n].fields, f))
                    row[count++] = values[(field_first(solver, f) + axis) * output->probe_count + n];
        if (probes->files[n] && view_is_due(view, output->probes[n].every))
            TRY(growing_file_write(probes->files[n], count, row));
    }
    return STATUS_OK;
}

static void print_size(const struct config *config)
{
    for (uint32_t n = 0; n < config->output.probe_count; n++) {
        const struct probe_config *probe = &config->output.probes[n];
        const uint64_t rows = outputs_times_due(config, probe->every);
        double row_bytes = 32;
        for (enum field f = 0; f < FIELDS; f++)
            row_bytes += fields_hold(&probe->fields, f) ? 24 * field_components(config->fields.solver, f) : 0;
        printf("probe %-19s %" PRIu64 " rows, about %.3g MB\n", probe->name, rows,
               1e-6 * row_bytes * (double)rows);
    }
}

const struct output_row probes_output = {
    .name = "probes",
    .folder = "probes",
    .cheaper_by = "a larger `every` of output.probes",
    .needs = OUTPUT_NEEDS_NODES,
    .items = OUTPUT_ITEMS(probe_config, probes, probe_count, .fields = offsetof(struct probe_config, fields)),
    .create = create_probes,
    .open = open_probes,
    .measure = measure_probes,
    .read = read_probes,
    .write = write_rows,
    .print_size = print_size};
