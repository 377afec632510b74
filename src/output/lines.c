/* Lines: E, phi and rho at equidistant points from one place of the box to another (output.lines), as openPMD
 * meshes of one axis, s, the length from the first point on. The points of all lines are measured together.
 */
#include "output/openpmd.h"
#include "output/outputs.h"
#include "output/points.h"

#include <math.h>
#include <string.h>

struct lines {
    struct points *points;
    uint32_t count; /* of points, of all lines one after the other */
};

static enum status create_lines(struct device *device, const struct config *config, void **part)
{
    const struct output_config *output = &config->output;
    struct lines *lines;
    double(*at)[2];
    *part = NULL;
    if (outputs_every(&lines_output, config) == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, lines));
    *part = lines;
    for (uint32_t n = 0; n < output->line_count; n++)
        lines->count += output->lines[n].points;
    TRY(DEVICE_NEW_ARRAY(device, at, lines->count));
    const double(*all)[2] = (const double(*)[2])at;
    for (uint32_t n = 0; n < output->line_count; n++)
        for (uint32_t p = 0; p < output->lines[n].points; p++, at++)
            for (int axis = 0; axis < 2; axis++) {
                const struct line_config *line = &output->lines[n];
                const double share = p / (line->points - 1.0);
                (*at)[axis] = line->from[axis] * (1 - share) + line->to[axis] * share;
            }
    return points_create(device, config, lines->count, all, 1, &lines->points);
}

/* ---- the file ---- */

/* `values`: those of its points on rank 0, which writes them; of the next component `stride` behind. */
static void write_line(struct openpmd *openpmd, const struct line_config *line, const double *values,
                       size_t stride)
{
    const struct view *view = openpmd->view;
    const enum solver_name solver = view->config->fields.solver;
    const struct hdf5_array part = {
        .dimensions = 1, .shape = {line->points}, .count = view->communicator->rank == 0 ? line->points : 0};
    const double length = hypot(line->to[0] - line->from[0], line->to[1] - line->from[1]);
    const struct openpmd_axes axes = {{"s"}, {length / (line->points - 1)}, 0};
    for (enum field f = 0; f < FIELDS; f++) {
        char name[CONFIG_NAME_LENGTH + 16];
        struct openpmd_record mesh = 
            openpmd_field(openpmd, f, HDF5_DOUBLE, openpmd_rounding(PRECISION_DOUBLE, PRECISION_DOUBLE));
        snprintf(name, sizeof name, "%s_%s", line->name, mesh.name);
        mesh.name = name;
        mesh.comment = NULL;
        for (uint32_t axis = 0; axis < field_components(solver, f); axis++)
            mesh.source[axis] = values + (field_first(solver, f) + axis) * stride;
        if (!fields_hold(&line->fields, f))
            continue;
        struct hdf5_object *object =
            openpmd_write_mesh_along(openpmd, &mesh, &part, &axes, openpmd_filter_passes(openpmd, f));
        hdf5_doubles(object, "lineFrom", 2, line->from);
        hdf5_doubles(object, "lineTo", 2, line->to);
    }
}

/* values[count] <- those of all ranks. Collective. */
static enum status take_values(struct points *points, const struct view *view, size_t count, double *values)
{
    enum status status = points_measure(points, view, 0);
    if (status == STATUS_OK)
        status = points_read(points, 0, 1);
    TRY(communicator_agree(view->communicator, status));
    memcpy(values, points_values(points, 0), count * sizeof *values);
    communicator_sum(view->communicator, count, values);
    return STATUS_OK;
}

static enum status record_lines(void *part, const char *folder, const struct view *view,
                                struct hdf5_file **file)
{
    const struct lines *lines = part;
    const struct output_config *output = &view->config->output;
    struct openpmd openpmd;
    size_t points = 0;
    TRY(openpmd_create(view, folder, "data", OPENPMD_BASE, &openpmd));
    *file = openpmd.file;
    for (uint32_t n = 0; n < output->line_count; n++)
        points += output->lines[n].points;
    const size_t count = field_first(view->config->fields.solver, FIELDS) * points;
    double *values = hdf5_file_keep(*file, count * sizeof *values);
    TRY(communicator_agree(view->communicator, (*file)->status));
    if (lines)
        TRY(take_values(lines->points, view, count, values));
    for (uint32_t n = 0; n < output->line_count; n++) {
        if (view_is_due(view, output->lines[n].every))
            write_line(&openpmd, &output->lines[n], values, points);
        values += output->lines[n].points;
    }
    return (*file)->status;
}

const struct output_row lines_output = {
    .name = "lines",
    .folder = "lines",
    .prefix = "data_",
    .cheaper_by = "a larger `every`, or fewer points, of output.lines",
    .items = OUTPUT_ITEMS(line_config, lines, line_count, .fields = offsetof(struct line_config, fields)),
    .create = create_lines,
    .record = record_lines};
