/* openPMD: units, the file, its root, and meshes. */
#include "output/openpmd.h"

#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <time.h>
#include <unistd.h>

/* ---- units ---- */

/* CODATA 2018; e and k are exact by the definition of the SI, and a temperature in eV needs no k. */
static const double elementary_charge = 1.602176634e-19;    /* C */
static const double electron_mass = 9.1093837015e-31;       /* kg */
static const double vacuum_permittivity = 8.8541878128e-12; /* F/m */

struct units units_make(const struct units_config *config)
{
    const double n = config->density_per_m3;
    const double e = elementary_charge;
    const double omega_p = e * sqrt(n / (vacuum_permittivity * electron_mass));
    /* With T in volts, kT = e T. */
    const double lambda_d = sqrt(vacuum_permittivity * config->temperature_eV / (n * e));
    const double v_th = lambda_d * omega_p;
    return (struct units){
        .length = lambda_d,
        .time = 1 / omega_p,
        .velocity = v_th,
        .charge = e,
        .mass = electron_mass,
        .momentum = electron_mass * v_th,
        .electric_field = electron_mass * omega_p * v_th / e,
        .potential = config->temperature_eV,
        .charge_density = n * e,
        .particles = n * lambda_d * lambda_d * lambda_d,
    };
}

/* ---- the file ---- */

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
    hdf5_numbers(file, root, "openPMDextension", H5T_NATIVE_UINT32, 0, &extensions);
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

/* ---- records ---- */

static hid_t write_component(struct hdf5_file *file, hid_t parent, const char *name, double unit,
                             const struct hdf5_array *array, const double *position)
{
    const hid_t dataset = hdf5_dataset(file, parent, name, array);
    hdf5_double(file, dataset, "unitSI", unit);
    if (position)
        hdf5_doubles(file, dataset, "position", 2, position);
    return dataset;
}

hid_t openpmd_write_components(struct hdf5_file *file, hid_t parent, const struct openpmd_record *record,
                               const struct hdf5_array *part, const double *position)
{
    static const char *const axes[OPENPMD_AXES] = {"x", "y", "z"};
    struct hdf5_array array = {record->type,    {part->shape[0], part->shape[1]},
                               part->first_row, part->rows,
                               record->fill,    record->source[0]};
    const bool is_one = record->source[0] && !record->source[1];
    const hid_t object = is_one ? write_component(file, parent, record->name, record->unit, &array, position)
                                : hdf5_group(file, parent, record->name);
    for (uint32_t n = 0; n < OPENPMD_AXES && record->source[n] && !is_one; n++) {
        array.source = record->source[n];
        hdf5_close(file, write_component(file, object, axes[n], record->unit, &array, position));
    }
    hdf5_doubles(file, object, "unitDimension", OPENPMD_DIMENSIONS, record->dimension);
    return object;
}

void openpmd_write_time(struct hdf5_file *file, hid_t object, const struct openpmd_record *record)
{
    hdf5_double(file, object, "timeOffset", record->time_offset);
    if (record->comment)
        hdf5_text(file, object, "comment", record->comment);
}

/* ---- meshes ---- */

void openpmd_write_mesh(struct openpmd *openpmd, const struct openpmd_record *mesh, double position,
                        uint32_t filter_passes)
{
    struct hdf5_file *file = &openpmd->file;
    const struct slab *slab = openpmd->view->slab;
    const struct hdf5_array part = {
        .shape = {slab->box.nx, slab->box.ny}, .first_row = slab->first_row, .rows = slab->rows};
    const hid_t record =
        openpmd_write_components(file, openpmd->meshes, mesh, &part, (double[]){position, position});
    hdf5_text(file, record, "geometry", "cartesian");
    hdf5_text(file, record, "dataOrder", "C");
    hdf5_texts(file, record, "axisLabels", 2, (const char *const[]){"x", "y"});
    hdf5_doubles(file, record, "gridSpacing", 2, (const double[]){slab->box.dx, slab->box.dy});
    hdf5_doubles(file, record, "gridGlobalOffset", 2, (const double[]){0, 0});
    hdf5_double(file, record, "gridUnitSI", openpmd->units.length);
    openpmd_write_time(file, record, mesh);
    hdf5_text(file, record, "fieldSmoothing", filter_passes ? "Binomial" : "none");
    if (filter_passes) {
        char parameters[80];
        snprintf(parameters, sizeof parameters, "period=1;numPasses=%" PRIu32 ";compensator=false",
                 filter_passes);
        hdf5_text(file, record, "fieldSmoothingParameters", parameters);
    }
    hdf5_close(file, record);
}

uint64_t openpmd_mesh_bytes(const struct config *config, uint32_t components)
{
    const uint64_t shape[2] = {config->grid.cells[0], config->grid.cells[1]};
    return components * hdf5_stored_elements(shape) * precision_bytes(config->precision);
}
