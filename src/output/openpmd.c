/* openPMD: the file, its root, and meshes. */
#include "output/openpmd.h"

#include <inttypes.h>
#include <pwd.h>
#include <time.h>
#include <unistd.h>

static void write_root(struct hdf5_file *file, const struct config *config, const char *prefix,
                       uint32_t extensions)
{
    const hid_t root = file->id;
    const struct passwd *account = getpwuid(getuid());
    const time_t now = time(NULL);
    struct tm local;
    char date[64], format[64];
    snprintf(format, sizeof format, "%s_%%T.h5", prefix);
    hdf5_text(file, root, "openPMD", "1.1.0");
    hdf5_uint32(file, root, "openPMDextension", extensions);
    hdf5_text(file, root, "basePath", "/data/%T/");
    hdf5_text(file, root, "meshesPath", "fields/");
    hdf5_text(file, root, "particlesPath", "particles/");
    hdf5_text(file, root, "iterationEncoding", "fileBased");
    hdf5_text(file, root, "iterationFormat", format);
    hdf5_text(file, root, "author", account ? account->pw_name : "unknown");
    hdf5_text(file, root, "software", "RadixPIC");
    hdf5_text(file, root, "softwareVersion", RADIXPIC_VERSION);
    if (localtime_r(&now, &local) && strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &local))
        hdf5_text(file, root, "date", date);
    if (config->title[0])
        hdf5_text(file, root, "comment", config->title);
}

enum status openpmd_create(const struct view *view, const char *folder, const char *prefix,
                           uint32_t extensions, struct openpmd *openpmd)
{
    struct hdf5_file *file = &openpmd->file;
    char name[64];
    openpmd->view = view;
    openpmd->units = units_make(&view->config->units);
    snprintf(name, sizeof name, "%s_%" PRIu64 ".h5", prefix, view->step);
    TRY(hdf5_file_create(view->communicator, folder, name, view->config->output.snapshots.compression, 0,
                         file));
    write_root(file, view->config, prefix, extensions);
    snprintf(name, sizeof name, "%" PRIu64, view->step);
    const hid_t data = hdf5_group(file, file->id, "data");
    openpmd->iteration = hdf5_group(file, data, name);
    hdf5_close(file, data);
    hdf5_double(file, openpmd->iteration, "time", view->time);
    hdf5_double(file, openpmd->iteration, "dt", view->config->time.step);
    hdf5_double(file, openpmd->iteration, "timeUnitSI", openpmd->units.time);
    openpmd->meshes = hdf5_group(file, openpmd->iteration, "fields");
    openpmd->particles = hdf5_group(file, openpmd->iteration, "particles");
    return STATUS_OK;
}

enum status openpmd_finish(struct openpmd *openpmd, uint64_t *bytes)
{
    hdf5_close(&openpmd->file, openpmd->meshes);
    hdf5_close(&openpmd->file, openpmd->particles);
    hdf5_close(&openpmd->file, openpmd->iteration);
    return hdf5_file_finish(&openpmd->file, bytes);
}

/* ---- meshes ---- */

/* Writes one component with the attributes of a component; the caller closes it. */
static hid_t write_component(struct openpmd *openpmd, hid_t parent, const char *name,
                             const struct openpmd_mesh *mesh, uint32_t component)
{
    const struct slab *slab = openpmd->view->slab;
    const struct hdf5_array array = {
        .type = hdf5_real(openpmd->view->config->precision),
        .dimensions = 2,
        .shape = {slab->box.nx, slab->box.ny},
        .first_row = slab->first_row,
        .rows = slab->rows,
        .fill = mesh->fill,
        .source = mesh->source[component],
    };
    const hid_t dataset = hdf5_dataset(&openpmd->file, parent, name, &array);
    hdf5_double(&openpmd->file, dataset, "unitSI", mesh->unit);
    hdf5_doubles(&openpmd->file, dataset, "position", 2, (const double[]){mesh->position, mesh->position});
    return dataset;
}

static void write_attributes(struct hdf5_file *file, hid_t record, const struct grid *grid,
                             const struct units *units, const struct openpmd_mesh *mesh)
{
    hdf5_text(file, record, "geometry", "cartesian");
    hdf5_text(file, record, "dataOrder", "C");
    hdf5_texts(file, record, "axisLabels", 2, (const char *const[]){"x", "y"});
    hdf5_doubles(file, record, "gridSpacing", 2, (const double[]){grid->dx, grid->dy});
    hdf5_doubles(file, record, "gridGlobalOffset", 2, (const double[]){0, 0});
    hdf5_double(file, record, "gridUnitSI", units->length);
    hdf5_doubles(file, record, "unitDimension", OPENPMD_DIMENSIONS, mesh->dimension);
    hdf5_double(file, record, "timeOffset", mesh->time_offset);
    hdf5_text(file, record, "fieldSmoothing", mesh->filter_passes ? "Binomial" : "none");
    if (mesh->filter_passes) {
        char parameters[80];
        snprintf(parameters, sizeof parameters, "period=1;numPasses=%" PRIu32 ";compensator=false",
                 mesh->filter_passes);
        hdf5_text(file, record, "fieldSmoothingParameters", parameters);
    }
    if (mesh->comment)
        hdf5_text(file, record, "comment", mesh->comment);
}

void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_mesh *mesh)
{
    struct hdf5_file *file = &openpmd->file;
    hid_t record;
    if (mesh->components == 1) {
        record = write_component(openpmd, openpmd->meshes, mesh->name, mesh, 0);
    } else {
        record = hdf5_group(file, openpmd->meshes, mesh->name);
        hdf5_close(file, write_component(openpmd, record, "x", mesh, 0));
        hdf5_close(file, write_component(openpmd, record, "y", mesh, 1));
    }
    write_attributes(file, record, &openpmd->view->slab->box, &openpmd->units, mesh);
    hdf5_close(file, record);
}

uint64_t openpmd_mesh_bytes(const struct config *config, uint32_t components)
{
    const uint64_t shape[2] = {config->grid.cells[0], config->grid.cells[1]};
    return components * hdf5_stored_elements(2, shape) * precision_bytes(config->precision);
}
