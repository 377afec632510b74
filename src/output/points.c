/* Points: the fields at points of the box, interpolated linearly along both axes between the four nodes
 * around each, whatever the shape of the particles. The host interpolates, in double precision. A rank reads
 * the nodes of its own rows (kernels/points.cl); of the nodes of a point the two in a row have one owner, so
 * the values of all ranks, added, are the same bits as on one.
 *
 * Probes (output.probes) are rows of probes/NAME.csv; all are measured together, each is written by its own
 * `every`. Lines (output.lines) are openPMD meshes of one axis, s, the length from the first point on, whose
 * points are measured together too. */
#include "output/average.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include <inttypes.h>
#include <string.h>

enum { NODES = 4 /* around a point */ };

struct points {
    const struct config *config; /* not owned */
    uint32_t count, components;  /* how many points, and components of all fields */
    double (*at)[2];             /* [count] */
    struct slab slab;            /* the rows whose nodes `nodes` has; no rows: it has none yet */
    struct kernel *kernel;
    struct buffer *nodes;  /* uint[count][NODES]: numbers of nodes; 0 for nodes of other ranks */
    struct buffer *values; /* real[slots][components][count][NODES] */
    uint32_t *host_nodes;
    double *weights;                              /* [count][NODES]; 0 for nodes of other ranks */
    double *read;                                 /* as `values` */
    double *parts;                                /* [slots][components][count] */
    struct append_file *files[CONFIG_MAX_PROBES]; /* of probes, on rank 0 */
};

/* Creates the arrays for `count` points, whose places the caller sets, with so many slots. */
static enum status points_create(struct device *device, const struct config *config, uint32_t count,
                                 uint32_t slots, struct points **created)
{
    const uint32_t components = field_first(config->fields.solver, FIELDS);
    const size_t nodes = (size_t)count * NODES, values = nodes * components * slots;
    struct program *program = NULL;
    struct points *points;
    TRY(DEVICE_NEW(device, points));
    *created = points;
    points->config = config;
    points->count = count;
    points->components = components;
    TRY(DEVICE_NEW_ARRAY(device, points->at, count));
    TRY(DEVICE_NEW_ARRAY(device, points->host_nodes, nodes));
    TRY(DEVICE_NEW_ARRAY(device, points->weights, nodes));
    TRY(DEVICE_NEW_ARRAY(device, points->read, values));
    TRY(DEVICE_NEW_ARRAY(device, points->parts, values / NODES));
    TRY(program_build(device, "points.cl", config->precision, &program, "%s", ""));
    TRY(kernel_create(program, "points_copy", &points->kernel));
    TRY(buffer_create(device, nodes * sizeof(uint32_t), "the nodes around points", &points->nodes));
    return buffer_create(device, values * precision_bytes(config->precision), "the values around points",
                         &points->values);
}

/* The node below a place along an axis, and how far behind it the place is. */
static uint32_t node_below(const struct config *config, int axis, double place, double *behind)
{
    const uint32_t cells = config->grid.cells[axis];
    const double node = place / config->grid.length[axis] * cells;
    *behind = node - floor(node);
    return (uint32_t)floor(node) % cells;
}

/* Own nodes stand first in the local grid. */
static enum status find_nodes(struct points *points, const struct slab *slab)
{
    const uint32_t nx = slab->box.nx, ny = slab->box.ny;
    for (uint32_t p = 0; p < points->count; p++) {
        double behind[2];
        const uint32_t i = node_below(points->config, 0, points->at[p][0], &behind[0]);
        const uint32_t j = node_below(points->config, 1, points->at[p][1], &behind[1]);
        for (uint32_t n = 0; n < NODES; n++) {
            const uint32_t row = (i + n / 2 + nx - slab->first_row) % nx, column = (j + n % 2) % ny;
            const bool is_own = row < slab->rows;
            points->host_nodes[NODES * p + n] = is_own ? row * ny + column : 0;
            points->weights[NODES * p + n] =
                !is_own ? 0 : (n / 2 ? behind[0] : 1 - behind[0]) * (n % 2 ? behind[1] : 1 - behind[1]);
        }
    }
    points->slab = *slab;
    return buffer_write(points->nodes, 0, points->count * (size_t)NODES * sizeof *points->host_nodes,
                        points->host_nodes);
}

/* Copies the values of the nodes to a slot (enqueued); values of fields that nothing has asked for mean
 * nothing. All slots are read before the rank's rows change. */
static enum status points_measure(void *part, const struct view *view, uint32_t slot)
{
    struct points *points = part;
    const struct fields *fields = view->fields;
    const uint32_t nodes = NODES * points->count;
    if (points->slab.rows != view->slab->rows || points->slab.first_row != view->slab->first_row)
        TRY(find_nodes(points, view->slab));
    return KERNEL_LAUNCH(points->kernel, launch_flat(nodes, STAGE_OUTPUT, 0), fields->all, fields->stride,
                         points->components, points->nodes, nodes, points->components * nodes * slot,
                         points->values);
}

/* The rank's part of the values in a slot that was read: [components][count], of all fields (field_first()).
 */
static double *points_values(struct points *points, uint32_t slot)
{
    return points->parts + (size_t)slot * points->components * points->count;
}

/* Brings the slots from `first` to before first + count to the host. Blocking. */
static enum status points_read(void *part, uint32_t first, uint32_t count)
{
    struct points *points = part;
    const size_t nodes = (size_t)NODES * points->count, slot = points->components * nodes;
    TRY(buffer_read_reals(points->values, points->config->precision, first * slot, count * slot,
                          points->read + first * slot));
    for (size_t v = first * points->components; v < (first + (size_t)count) * points->components; v++)
        for (size_t p = 0; p < points->count; p++) {
            double rows[2] = {0, 0};
            for (size_t n = 0; n < NODES; n++)
                rows[n / 2] += points->weights[NODES * p + n] * points->read[v * nodes + NODES * p + n];
            points->parts[v * points->count + p] = rows[0] + rows[1];
        }
    return STATUS_OK;
}

/* Adds values of all ranks to the means of an item, which has `count` points from number `first` on; where it
 * is due, they become the means. The means of each window are as all values. */
static void average_item(const struct points *points, const struct view *view, struct average_keys keys,
                         uint32_t first, uint32_t count, double *values)
{
    for (uint32_t k = 1; k <= AVERAGE_WINDOWS && average_windows(view->config, keys) > 0; k++) {
        const uint32_t ending = average_ending(view, keys), w = (ending + k) % AVERAGE_WINDOWS;
        const uint64_t states = average_states(view, keys, w);
        double *means =
            average_numbers(view->average) + AVERAGE_WINDOWS + (size_t)w * points->components * points->count;
        for (size_t c = 0; c < points->components * (size_t)count && states > 0; c++) {
            const size_t n = c / count * points->count + first + c % count;
            means[n] = states > 1 ? means[n] + (values[n] - means[n]) / (double)states : values[n];
            if (w == ending && view_is_due(view, keys.every))
                values[n] = means[n];
        }
    }
}

/* ---- probes ---- */

static enum status create_probes(struct device *device, const struct config *config, void **part)
{
    struct points *points;
    TRY(points_create(device, config, config->output.probe_count, SUM_SLOTS, &points));
    *part = points;
    for (uint32_t n = 0; n < points->count; n++)
        memcpy(points->at[n], config->output.probes[n].at, sizeof points->at[n]);
    return STATUS_OK;
}

/* The columns of probe n behind step and time. Returns their number. Where they are not NULL, their names are
 * added to `head`, and row <- its values among those of all fields and probes. */
static uint32_t columns_of(const struct config *config, uint32_t n, const double *values, char *head,
                           double *row)
{
    const enum solver_name solver = config->fields.solver;
    const struct field_list *fields = &config->output.probes[n].fields;
    uint32_t count = 0;
    for (enum field f = 0; f < FIELDS; f++)
        for (uint32_t axis = 0; axis < field_components(solver, f) && fields_hold(fields, f); axis++) {
            if (head)
                strcat(strcat(strcat(head, ","), field_table[f].word), field_axis(solver, f, axis));
            if (row)
                row[count] = values[(field_first(solver, f) + axis) * config->output.probe_count + n];
            count++;
        }
    return count;
}

static enum status open_probes(struct append_files *files, const struct config *config, void **part)
{
    struct points *points = *part;
    for (uint32_t n = 0; n < config->output.probe_count; n++) {
        const struct probe_config *probe = &config->output.probes[n];
        char name[MANIFEST_NAME_LENGTH], keys[CONFIG_NAME_LENGTH + 32], head[128] = "step,time";
        snprintf(name, sizeof name, "probes/%s.csv", probe->name);
        snprintf(keys, sizeof keys, "output.probes.%s.fields", probe->name);
        columns_of(config, n, NULL, head, NULL);
        TRY(append_files_add(files, name, head, keys, &points->files[n]));
    }
    return STATUS_OK;
}

/* Collective. */
static enum status write_rows(void *part, const struct view *view)
{
    struct points *points = part;
    const struct output_config *output = &view->config->output;
    double *values = points_values(points, (uint32_t)(view->step % SUM_SLOTS));
    communicator_sum(view->communicator, points->components * (size_t)points->count, values);
    for (uint32_t n = 0; n < output->probe_count; n++) {
        double row[2 + FIELD_COMPONENTS] = {(double)view->step, view->time};
        average_item(points, view, outputs_keys(&probes_output, view->config, n), n, 1, values);
        const uint32_t count = columns_of(view->config, n, values, NULL, row + 2);
        if (points->files[n] && view_is_due(view, output->probes[n].every))
            TRY(append_file_write(points->files[n], 2 + count, row));
    }
    return STATUS_OK;
}

static void print_probes(const struct config *config)
{
    for (uint32_t n = 0; n < config->output.probe_count; n++) {
        const struct probe_config *probe = &config->output.probes[n];
        const uint64_t rows = outputs_times_due(config, probe->every);
        const double row_bytes = 32 + 24 * columns_of(config, n, NULL, NULL, NULL);
        printf("probe %-19s %" PRIu64 " rows, about %.3g MB\n", probe->name, rows,
               1e-6 * row_bytes * (double)rows);
    }
}

const struct output_row probes_output = {.name = "probes",
                                         .files = &probes_files,
                                         .cheaper_by = "a larger `every` of output.probes",
                                         .needs = OUTPUT_NEEDS_NODES,
                                         .items = OUTPUT_ITEMS(probes, probe_count),
                                         .every = offsetof(struct probe_config, every),
                                         .fields = offsetof(struct probe_config, fields),
                                         .average = offsetof(struct probe_config, average),
                                         .create = create_probes,
                                         .open = open_probes,
                                         .measure = points_measure,
                                         .read = points_read,
                                         .write = write_rows,
                                         .print_size = print_probes};

/* ---- lines ---- */

/* Counts the points of all lines, which stand one line after the other. */
static uint32_t count_points(const struct config *config)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < config->output.line_count; n++)
        count += config->output.lines[n].points;
    return count;
}

static enum status create_lines(struct device *device, const struct config *config, void **part)
{
    struct points *points;
    TRY(points_create(device, config, count_points(config), 1, &points));
    *part = points;
    double(*at)[2] = points->at;
    for (uint32_t n = 0; n < config->output.line_count; n++)
        for (uint32_t p = 0; p < config->output.lines[n].points; p++, at++)
            for (int axis = 0; axis < 2; axis++) {
                const struct line_config *line = &config->output.lines[n];
                const double fraction = p / (line->points - 1.0);
                (*at)[axis] = line->from[axis] * (1 - fraction) + line->to[axis] * fraction;
            }
    return STATUS_OK;
}

/* Records a line. `values` are of its points on rank 0, which writes them; the values of the next component
 * are `stride` behind. */
static void write_line(struct openpmd *openpmd, const struct line_config *line, const double *values,
                       size_t stride)
{
    const struct view *view = openpmd->view;
    const enum solver_name solver = view->config->fields.solver;
    const struct hdf5_array part = {
        .dimensions = 1, .shape = {line->points}, .count = view->communicator->rank == 0 ? line->points : 0};
    const double length = hypot(line->to[0] - line->from[0], line->to[1] - line->from[1]);
    const struct openpmd_axes axes = {.labels = {"s"}, .spacing = {length / (line->points - 1)}};
    for (enum field f = 0; f < FIELDS; f++) {
        char name[CONFIG_NAME_LENGTH + 16];
        struct openpmd_record mesh = openpmd_field(openpmd, f, HDF5_DOUBLE, NULL);
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

/* Leaves the values of all ranks, or of a line that averages their means, in slot 0. Collective. */
static enum status read_values(void *part, const struct view *view)
{
    struct points *points = part;
    const struct output_config *output = &view->config->output;
    double *values = points_values(points, 0);
    enum status status = points_measure(points, view, 0);
    TRY_IF_OK(points_read(points, 0, 1));
    TRY(communicator_agree(view->communicator, status));
    communicator_sum(view->communicator, points->components * (size_t)points->count, values);
    for (uint32_t n = 0, first = 0; n < output->line_count; first += output->lines[n++].points)
        average_item(points, view, outputs_keys(&lines_output, view->config, n), first,
                     output->lines[n].points, values);
    return STATUS_OK;
}

static void record_lines(void *part, struct hdf5_file *file, const struct view *view)
{
    const struct output_config *output = &view->config->output;
    struct openpmd openpmd = openpmd_begin(file, view, lines_files.prefix, OPENPMD_BASE);
    const size_t points = count_points(view->config);
    const size_t count = field_first(view->config->fields.solver, FIELDS) * points;
    double *values = hdf5_file_keep(file, count * sizeof *values);
    if (part && values)
        memcpy(values, points_values(part, 0), count * sizeof *values);
    for (uint32_t n = 0; n < output->line_count && values; values += output->lines[n++].points) {
        const struct average_keys keys = outputs_keys(&lines_output, view->config, n);
        if (!view_is_due(view, keys.every))
            continue;
        openpmd.states = average_states(view, keys, average_ending(view, keys));
        write_line(&openpmd, &output->lines[n], values, points);
    }
}

const struct output_row lines_output = {.name = "lines",
                                        .files = &lines_files,
                                        .cheaper_by = "a larger `every`, or fewer points, of output.lines",
                                        .items = OUTPUT_ITEMS(lines, line_count),
                                        .every = offsetof(struct line_config, every),
                                        .fields = offsetof(struct line_config, fields),
                                        .average = offsetof(struct line_config, average),
                                        .points = offsetof(struct line_config, points),
                                        .create = create_lines,
                                        .write = read_values,
                                        .record = record_lines};
