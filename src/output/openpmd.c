/* openPMD: units, the file, its root, and meshes. */
#include "output/openpmd.h"

#include "output/provenance.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

static void write_root(struct hdf5_object *root, const struct config *config, const char *prefix,
                       uint32_t extensions)
{
    const struct passwd *account = getpwuid(getuid());
    char format[64];
    snprintf(format, sizeof format, "%s%%T.h5", prefix);
    hdf5_text(root, "openPMD", "1.1.0");
    hdf5_numbers(root, "openPMDextension", HDF5_UINT32, 0, &extensions);
    hdf5_text(root, "basePath", "/data/%T/");
    hdf5_text(root, "meshesPath", "fields/");
    hdf5_text(root, "particlesPath", "particles/");
    hdf5_text(root, "iterationEncoding", "fileBased");
    hdf5_text(root, "iterationFormat", format);
    hdf5_text(root, "author", account ? account->pw_name : "unknown");
    if (config->title[0])
        hdf5_text(root, "comment", config->title);
}

struct openpmd openpmd_begin(struct hdf5_file *file, const struct view *view, const char *prefix,
                             uint32_t extensions)
{
    struct openpmd openpmd = {.file = file, .view = view, .units = units_make(&view->config->units)};
    char step[24];
    write_root(&file->root, view->config, prefix, extensions);
    provenance_record(file, view);
    snprintf(step, sizeof step, "%" PRIu64, view->step);
    struct hdf5_object *iteration = hdf5_group(hdf5_group(&file->root, "data"), step);
    hdf5_double(iteration, "time", view->time);
    hdf5_double(iteration, "dt", view->config->time.step);
    hdf5_double(iteration, "timeUnitSI", openpmd.units.time);
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

struct hdf5_object *openpmd_write_components(struct hdf5_object *parent, const struct openpmd_record *record,
                                             const struct hdf5_array *part, const double *position)
{
    static const char *const axes[OPENPMD_AXES] = {"x", "y", "z"};
    struct hdf5_array array = *part;
    array.type = record->type;
    array.fill = record->fill;
    array.source = record->source[0];
    const bool is_one = record->source[0] && !record->source[1];
    struct hdf5_object *object =
        is_one ? write_component(parent, record->name, record->unit[0], &array, position)
               : hdf5_group(parent, record->name);
    for (uint32_t n = 0; n < OPENPMD_AXES && record->source[n] && !is_one; n++) {
        array.source = record->source[n];
        write_component(object, axes[n], record->unit[n], &array, position);
    }
    hdf5_doubles(object, "unitDimension", OPENPMD_DIMENSIONS, record->dimension);
    return object;
}

void openpmd_write_time(struct hdf5_object *object, const struct openpmd_record *record)
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

void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_record *mesh, double position,
                        uint32_t filter_passes)
{
    const struct slab *slab = openpmd->view->slab;
    struct hdf5_array part = {.dimensions = 2,
                              .shape = {slab->box.nx, slab->box.ny},
                              .first = slab->first_row * (uint64_t)slab->box.ny,
                              .count = slab_own_cells(slab)};
    openpmd_write_mesh_along(openpmd, mesh, &part,
                             &(struct openpmd_axes){{"x", "y"}, {slab->box.dx, slab->box.dy}, position},
                             filter_passes);
}

struct hdf5_object *openpmd_write_mesh_along(struct openpmd *openpmd, const struct openpmd_record *mesh,
                                             const struct hdf5_array *part, const struct openpmd_axes *axes,
                                             uint32_t filter_passes)
{
    const size_t count = (size_t)part->dimensions;
    struct hdf5_object *record =
        openpmd_write_components(openpmd->meshes, mesh, part, (double[]){axes->position, axes->position});
    hdf5_text(record, "geometry", "cartesian");
    hdf5_text(record, "dataOrder", "C");
    hdf5_texts(record, "axisLabels", count, axes->labels);
    hdf5_doubles(record, "gridSpacing", count, axes->spacing);
    hdf5_doubles(record, "gridGlobalOffset", count, (const double[]){0, 0});
    hdf5_double(record, "gridUnitSI", openpmd->units.length);
    openpmd_write_time(record, mesh);
    hdf5_text(record, "fieldSmoothing", filter_passes ? "Binomial" : "none");
    if (filter_passes) {
        char parameters[80];
        snprintf(parameters, sizeof parameters, "period=1;numPasses=%" PRIu32 ";compensator=false",
                 filter_passes);
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
