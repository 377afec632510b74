/* openPMD: the file, its root, meshes, records of particles, and the sorted list of each species. */
#include "output/openpmd.h"

#include "base/integers.h"
#include "output/average.h"
#include "output/provenance.h"

#include <float.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

struct openpmd openpmd_begin(struct hdf5_file *file, const struct view *view, const char *prefix,
                             uint32_t extensions)
{
    struct openpmd openpmd = {.file = file, .view = view, .units = units_make(&view->config->units)};
    const struct passwd *account = getpwuid(getuid());
    struct hdf5_object *root = &file->root;
    char step[24], format[64];
    snprintf(format, sizeof format, "%s%%T.h5", prefix);
    hdf5_text(root, "openPMD", "1.1.0");
    hdf5_numbers(root, "openPMDextension", HDF5_UINT32, 0, &extensions);
    hdf5_text(root, "basePath", "/data/%T/");
    hdf5_text(root, "meshesPath", "fields/");
    hdf5_text(root, "particlesPath", "particles/");
    hdf5_text(root, "iterationEncoding", "fileBased");
    hdf5_text(root, "iterationFormat", format);
    hdf5_text(root, "author", account ? account->pw_name : "unknown");
    if (view->config->title[0])
        hdf5_text(root, "comment", view->config->title);
    provenance_record(file, view);
    snprintf(step, sizeof step, "%" PRIu64, view->step);
    struct hdf5_object *iteration = hdf5_group(hdf5_group(root, "data"), step);
    hdf5_double(iteration, "time", view->time);
    hdf5_double(iteration, "dt", view->config->time.step);
    hdf5_double(iteration, "timeUnitSI", openpmd.units.time);
    if (view->average)
        openpmd.states = average_ended(view->average, view);
    openpmd.window = (struct mesh_window){
        .stride = {1, 1}, .count = {view->config->grid.cells[0], view->config->grid.cells[1]}};
    openpmd.meshes = hdf5_group(iteration, "fields");
    openpmd.particles = hdf5_group(iteration, "particles");
    return openpmd;
}

/* ---- records ---- */

static struct hdf5_object *write_component(struct hdf5_object *parent, const char *name, double unit,
                                           const struct hdf5_array *array, const double *position)
{
    struct hdf5_object *dataset = hdf5_dataset(parent, name, array);
    hdf5_double(dataset, "unitSI", unit);
    if (position)
        hdf5_doubles(dataset, "position", (size_t)array->dimensions, position);
    return dataset;
}

/* Records the components, arrays with the shape and range of `part`, with unitSI and, where it is not NULL,
 * the position in a cell along each axis; then unitDimension. Returns the record for more attributes. */
static struct hdf5_object *write_components(struct hdf5_object *parent, const struct openpmd_record *record,
                                            const struct hdf5_array *part, const double *position)
{
    static const char *const names[OPENPMD_COMPONENTS] = {"x", "y", "z", "xx", "xy", "yy", "xz", "yz", "zz"};
    struct hdf5_array array = *part;
    array.type = record->type;
    array.fill = record->fill;
    array.source = record->source[0];
    const bool is_one = record->source[0] && !record->source[1];
    struct hdf5_object *object =
        is_one ? write_component(parent, record->name, record->unit[0], &array, position)
               : hdf5_group(parent, record->name);
    for (uint32_t n = 0; n < OPENPMD_COMPONENTS && !is_one; n++) {
        array.source = record->source[n];
        if (array.source)
            write_component(object, names[n], record->unit[n < OPENPMD_AXES ? n : 0], &array, position);
    }
    hdf5_doubles(object, "unitDimension", OPENPMD_DIMENSIONS, record->dimension);
    return object;
}

static void write_time(struct hdf5_object *object, const struct openpmd_record *record)
{
    hdf5_double(object, "timeOffset", record->time_offset);
    if (record->comment)
        hdf5_text(object, "comment", record->comment);
}

/* ---- meshes ---- */

struct openpmd_record openpmd_field(const struct openpmd *openpmd, enum field field, enum hdf5_type type,
                                    hdf5_fill *fill)
{
    const struct field_row *row = &field_table[field];
    const double unit = *(const double *)((const char *)&openpmd->units + row->unit);
    struct openpmd_record record = {.name = row->record,
                                    .unit = {unit, unit, unit},
                                    .fill = fill,
                                    .type = type,
                                    .time_offset = row->time_level * openpmd->view->config->time.step};
    memcpy(record.dimension, row->dimension, sizeof record.dimension);
    return record;
}

uint32_t openpmd_filter_passes(const struct openpmd *openpmd, enum field field)
{
    return field_table[field].provider == FIELD_OF_DEPOSIT ? openpmd->view->config->deposit.filter_passes : 0;
}

/* How many rows of the window lie before a row of the box. */
static uint32_t rows_before(const struct mesh_window *window, uint32_t row)
{
    const uint32_t first = window->first[0], stride = window->stride[0];
    return row <= first ? 0 : (uint32_t)at_most((row - first - 1) / stride + 1, window->count[0]);
}

static bool is_whole(const struct openpmd *openpmd)
{
    const struct grid *box = &openpmd->view->slab->box;
    return openpmd->window.count[0] == box->nx && openpmd->window.count[1] == box->ny;
}

void openpmd_pick(const struct openpmd *openpmd, enum precision precision, void *values)
{
    const struct mesh_window *window = &openpmd->window;
    const struct slab *slab = openpmd->view->slab;
    const size_t bytes = precision_bytes(precision), ny = slab->box.ny;
    const uint32_t begin = rows_before(window, slab->first_row);
    const uint32_t end = rows_before(window, slab->first_row + slab->rows);
    char *next = values;
    for (uint32_t i = begin; i < end && !is_whole(openpmd); i++) {
        const size_t row = window->first[0] + (size_t)i * window->stride[0] - slab->first_row;
        for (uint32_t j = 0; j < window->count[1]; j++, next += bytes) {
            const size_t column = window->first[1] + (size_t)j * window->stride[1];
            memmove(next, (const char *)values + (row * ny + column) * bytes, bytes);
        }
    }
}

void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_record *mesh, double position,
                        uint32_t filter_passes)
{
    const struct slab *slab = openpmd->view->slab;
    const struct mesh_window *window = &openpmd->window;
    const uint32_t begin = rows_before(window, slab->first_row);
    const uint32_t end = rows_before(window, slab->first_row + slab->rows);
    const uint64_t columns = window->count[1];
    const double side[2] = {slab->box.dx, slab->box.dy};
    struct hdf5_array part = {.dimensions = 2,
                              .shape = {window->count[0], columns},
                              .first = begin * columns,
                              .count = (end - begin) * columns};
    struct openpmd_axes axes = {.labels = {"x", "y"}};
    for (int axis = 0; axis < 2; axis++) {
        axes.spacing[axis] = window->stride[axis] * side[axis];
        axes.position[axis] = position / window->stride[axis];
        axes.offset[axis] = window->first[axis] * side[axis];
    }
    struct hdf5_object *record = openpmd_write_mesh_along(openpmd, mesh, &part, &axes, filter_passes);
    if (!is_whole(openpmd)) /* or it would be taken for the box */
        hdf5_numbers(record, "boxCells", HDF5_UINT32, 2, (const uint32_t[]){slab->box.nx, slab->box.ny});
}

struct hdf5_object *openpmd_write_mesh_along(struct openpmd *openpmd, const struct openpmd_record *mesh,
                                             const struct hdf5_array *part, const struct openpmd_axes *axes,
                                             uint32_t filter_passes)
{
    const size_t count = (size_t)part->dimensions;
    struct hdf5_object *record = write_components(openpmd->meshes, mesh, part, axes->position);
    hdf5_text(record, "geometry", "cartesian");
    hdf5_text(record, "dataOrder", "C");
    hdf5_texts(record, "axisLabels", count, axes->labels);
    hdf5_doubles(record, "gridSpacing", count, axes->spacing);
    hdf5_doubles(record, "gridGlobalOffset", count, axes->offset);
    hdf5_double(record, "gridUnitSI", openpmd->units.length);
    struct openpmd_record timed = *mesh;
    if (openpmd->states > 0) { /* the time is in the middle of the times of the states */
        const double last = openpmd->view->time + mesh->time_offset;
        const double length = (double)(openpmd->states - 1) * openpmd->view->config->time.step;
        timed.time_offset -= length / 2;
        hdf5_numbers(record, "averagedStates", HDF5_UINT64, 0, &openpmd->states);
        hdf5_doubles(record, "averagedInterval", 2, (const double[]){last - length, last});
    }
    write_time(record, &timed);
    hdf5_text(record, "fieldSmoothing", filter_passes ? "Binomial" : "none");
    if (filter_passes) {
        char parameters[80];
        snprintf(parameters, sizeof parameters, "period=1;numPasses=%" PRIu32 ";compensator=%s",
                 filter_passes, openpmd->view->config->deposit.filter_compensator ? "true" : "false");
        hdf5_text(record, "fieldSmoothingParameters", parameters);
    }
    return record;
}

static enum status fill_rounded(const void *nodes, uint64_t first, size_t count, void *values)
{
    for (size_t n = 0; n < count; n++)
        ((float *)values)[n] = (float)((const double *)nodes)[first + n];
    return STATUS_OK;
}

hdf5_fill *openpmd_rounding(enum precision from, enum precision to)
{
    return from == to ? NULL : fill_rounded;
}

/* ---- particles: what a component of a record is filled with ---- */

struct column {
    const struct openpmd_particles *particles;
    enum particle_value value;
};

/* Fills offsets. A double must not round to a float of 1, the far end of the cell, and in double precision
 * the reader's sum with the cell's index must not round to the next one. A float below 1 is not that near. */
static double in_folder_end(enum precision precision, double offset, double index)
{
    const double most =
        precision == PRECISION_DOUBLE ? nextafter(index + 1, 0) - index : 1 - FLT_EPSILON / 2.0;
    return offset > most ? most : offset;
}

static enum status fill(const void *source, uint64_t first, size_t count, void *values)
{
    enum { PIECE = 1024 };
    const struct column *column = source;
    const struct openpmd_particles *list = column->particles;
    const bool is_cell = column->value < VALUE_OFFSET, is_offset = !is_cell && column->value < VALUE_VELOCITY;
    const double factor = is_offset ? 1 : column->value == VALUE_WEIGHT ? list->weight : list->species->mass;
    double piece[PIECE], cells[PIECE] = {0};
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t some = count - done < PIECE ? count - done : PIECE;
        list->read(list->source, column->value, first + done, some, piece);
        if (is_offset && list->precision == PRECISION_DOUBLE)
            list->read(list->source, column->value - VALUE_OFFSET, first + done, some, cells);
        for (size_t n = 0; n < some && is_cell; n++)
            ((double *)values)[done + n] = piece[n];
        for (size_t n = 0; n < some && is_offset; n++)
            piece[n] = in_folder_end(list->precision, piece[n], cells[n]);
        for (size_t n = 0; n < some && !is_cell; n++)
            store_real(list->precision, values, done + n, factor * piece[n]);
    }
    return STATUS_OK;
}

/* ---- records ---- */

static void write_record(struct hdf5_object *group, const struct particle_record *record,
                         const struct hdf5_array *part)
{
    struct hdf5_object *object = write_components(group, &record->common, part, NULL);
    write_time(object, &record->common);
    hdf5_numbers(object, "macroWeighted", HDF5_UINT32, 0, &record->is_macro);
    hdf5_double(object, "weightingPower", record->weighting_power);
    if (!record->common.source[0]) {
        hdf5_double(object, "value", record->value);
        hdf5_numbers(object, "shape", HDF5_UINT64, 1, part->shape);
        hdf5_double(object, "unitSI", record->common.unit[0]);
    }
}

void openpmd_write_particles(struct openpmd *openpmd, const struct openpmd_particles *particles)
{
    struct openpmd_particles *list = hdf5_file_keep_copy(openpmd->file, sizeof *particles, particles);
    struct column columns[PARTICLE_VALUES], *of;
    for (enum particle_value value = 0; value < PARTICLE_VALUES; value++)
        columns[value] = (struct column){list, value};
    of = hdf5_file_keep_copy(openpmd->file, sizeof columns, columns);
    if (!of)
        return;
    const struct units *units = &openpmd->units;
    const struct config *config = openpmd->view->config;
    list->weight *= units->particles;
    const struct species_config *species = list->species;
    const struct grid *box = &openpmd->view->slab->box;
    const enum hdf5_type kind = hdf5_real(list->precision);
    const double cell[2] = {box->dx * units->length, box->dy * units->length};
    const double p = units->momentum, back = -config->time.step / 2; /* half a step */
    const struct column *w = species_has_w(species) ? of + 6 : NULL;
    const struct column *weights = species->weights != WEIGHTS_EQUAL ? of + VALUE_WEIGHT : NULL;
    const struct particle_record records[] = {
        {{"position", {1}, {cell[0], cell[1]}, {of + 2, of + 3}, fill, kind, 0, NULL}, 0, 0, 0},
        {{"positionOffset", {1}, {cell[0], cell[1]}, {of, of + 1}, fill, HDF5_DOUBLE, 0, NULL}, 0, 0, 0},
        {{"momentum", {1, 1, -1}, {p, p, p}, {of + 4, of + 5, w}, fill, kind, back, NULL}, 0, 1, 0},
        {{"charge", {0, 0, 1, 1}, {units->charge}, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->charge},
        {{"mass", {0, 1}, {units->mass}, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->mass},
        {{"weighting", {0}, {1}, {weights}, fill, kind, 0, list->of_weighting}, 1, 1, list->weight},
    };
    static const char *const pushers[] = {
        [PUSHER_BORIS] = "Boris", [PUSHER_VAY] = "Vay", [PUSHER_HIGUERA_CARY] = "other"}; /* as the standard
                                                                                             has it */
    struct hdf5_object *group = hdf5_group(openpmd->particles, species->name);
    hdf5_double(group, "particleShape", (double)config->deposit.shape);
    hdf5_text(group, "currentDeposition",
              config->fields.solver == SOLVER_ELECTROMAGNETIC ? "directMorseNielson" : "none");
    hdf5_text(group, "particlePush", species->push ? pushers[config->step.pusher] : "other");
    hdf5_text(group, "particleInterpolation", "uniform");
    hdf5_text(group, "particleSmoothing", "none");
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        write_record(group, &records[n], &list->part);
    for (size_t n = 0; n < list->more_count; n++)
        write_record(group, &list->more[n], &list->part);
    const struct openpmd_record patches[] = {
        {"numParticles", {0}, {1}, {list->counts}, NULL, HDF5_UINT64, 0, NULL},
        {"numParticlesOffset", {0}, {1}, {list->before}, NULL, HDF5_UINT64, 0, NULL},
        {"offset", {1}, {cell[0], cell[1]}, {list->low[0], list->low[1]}, NULL, HDF5_DOUBLE, 0, NULL},
        {"extent", {1}, {cell[0], cell[1]}, {list->extent[0], list->extent[1]}, NULL, HDF5_DOUBLE, 0, NULL},
    };
    struct hdf5_object *of_patches = hdf5_group(group, "particlePatches");
    for (size_t n = 0; n < sizeof patches / sizeof patches[0]; n++)
        write_components(of_patches, &patches[n], &list->patches, NULL);
}

/* ---- the list of a species ---- */

static void read_list(const void *source, enum particle_value value, uint64_t first, size_t count,
                      double *values)
{
    const struct sorted_list *list = source;
    const struct slab *slab = &list->slab;
    const enum attribute a = value < VALUE_VELOCITY ? ATTRIBUTE_OFFSET
                             : value < 6            ? ATTRIBUTE_VELOCITY
                             : value < VALUE_WEIGHT ? ATTRIBUTE_W
                                                    : ATTRIBUTE_WEIGHT;
    uint32_t cell = value < VALUE_OFFSET && count > 0 ? sorted_list_cell(list, first) : 0;
    for (size_t n = 0; n < count && value < VALUE_OFFSET; n++) {
        while (list->cell_offsets[cell + 1] <= first + n)
            cell++;
        values[n] = value == VALUE_CELL ? slab_global_row(slab, cell / slab->box.ny) : cell % slab->box.ny;
    }
    const uint32_t step = attribute_table[a].components;
    for (size_t n = 0; n < count && value >= VALUE_OFFSET; n++)
        values[n] =
            load_real(list->precision, list->data[a], step * (first + n) + (step > 1 ? value % 2u : 0));
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct sorted_list *list = source;
    const uint64_t *ids = list->data[ATTRIBUTE_ID];
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] = ids[first + n] + list->first_id;
    return STATUS_OK;
}

static void write_list(struct openpmd *openpmd, const struct sorted_list *list)
{
    static const char of_id[] =
        "index in the species, after the particles of the species before it in the config";
    const struct communicator *communicator = openpmd->view->communicator;
    const struct slab *slab = &list->slab;
    const struct particle_record id = {{"id", {0}, {1}, {list}, fill_id, HDF5_UINT64, 0, of_id}, 0, 0, 0};
    const struct {
        uint64_t count, before;
        double low[2], extent[2];
    } patch = {list->count, list->before, {slab->first_row, 0}, {slab->rows, slab->box.ny}};
    const __typeof__(patch) *kept = hdf5_file_keep_copy(openpmd->file, sizeof patch, &patch);
    if (kept)
        openpmd_write_particles(
            openpmd,
            &(struct openpmd_particles){
                .species = list->species,
                .precision = snapshots_precision(openpmd->view->config),
                .weight = list->weight,
                .of_weighting = "real particles in a box one Debye length (gridUnitSI) deep along z",
                .read = read_list,
                .source = list,
                .part = {.dimensions = 1, .shape = {list->all}, .first = list->before, .count = list->count},
                .patches = {.dimensions = 1,
                            .shape = {(uint64_t)communicator->size},
                            .first = (uint64_t)communicator->rank,
                            .count = 1},
                .counts = &kept->count,
                .before = &kept->before,
                .low = {&kept->low[0], &kept->low[1]},
                .extent = {&kept->extent[0], &kept->extent[1]},
                .more = &id,
                .more_count = list->species->ids});
}

void openpmd_write_species(struct openpmd *openpmd, const struct selection *selection)
{
    const struct config *config = openpmd->view->config;
    for (uint32_t s = 0; s < config->species_count; s++) {
        if (!snapshots_hold(&config->output.snapshots, config->species[s].name))
            continue;
        struct sorted_list *list = sorted_list_copy(openpmd->file, openpmd->view, s, selection);
        if (list && openpmd->file->has_no_data)
            list->all = selection_most(&config->output.snapshots.particles, list->all);
        if (list)
            write_list(openpmd, list);
    }
}
