/* openPMD meshes: the fields on the nodes. */
#include "output/openpmd.h"

#include <inttypes.h>
#include <string.h>

hid_t openpmd_real_type(enum precision precision)
{
    return precision == PRECISION_DOUBLE ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

static const double electric_field[OPENPMD_DIMENSIONS] = {1, 1, -3, -1, 0, 0, 0};
static const double potential[OPENPMD_DIMENSIONS] = {2, 1, -3, -1, 0, 0, 0};
static const double charge_density[OPENPMD_DIMENSIONS] = {-3, 0, 1, 1, 0, 0, 0};

/* One array of the nodes, on the device; the nodes of the own rows come first. */
struct node_array {
    const struct buffer *buffer;
    enum precision precision;
};

static enum status read_nodes(const void *source, uint64_t first, size_t count, void *values)
{
    const struct node_array *nodes = source;
    const size_t size = precision_bytes(nodes->precision);
    return buffer_read(nodes->buffer, (size_t)first * size, count * size, values);
}

/* Writes one component with the attributes of a component; the caller closes it. */
static hid_t write_nodes(struct hdf5_file *file, hid_t parent, const char *name, const struct view *view,
                         const struct buffer *buffer, double unit)
{
    const enum precision precision = view->config->precision;
    const struct slab *slab = view->slab;
    const struct node_array nodes = {buffer, precision};
    const struct hdf5_array array = {
        .type = openpmd_real_type(precision),
        .dimensions = 2,
        .shape = {slab->box.nx, slab->box.ny},
        .first_row = slab->first_row,
        .rows = slab->rows,
        .fill = read_nodes,
        .source = &nodes,
    };
    const hid_t dataset = hdf5_dataset(file, parent, name, &array);
    hdf5_double(file, dataset, "unitSI", unit);
    hdf5_doubles(file, dataset, "position", 2, (const double[]){0, 0}); /* on the node */
    return dataset;
}

static void write_record_attributes(struct hdf5_file *file, hid_t record, const struct view *view,
                                    const struct units *units, const double dimension[OPENPMD_DIMENSIONS],
                                    uint32_t filter_passes)
{
    const struct grid *grid = &view->slab->box;
    hdf5_text(file, record, "geometry", "cartesian");
    hdf5_text(file, record, "dataOrder", "C");
    hdf5_texts(file, record, "axisLabels", 2, (const char *const[]){"x", "y"});
    hdf5_doubles(file, record, "gridSpacing", 2, (const double[]){grid->dx, grid->dy});
    hdf5_doubles(file, record, "gridGlobalOffset", 2, (const double[]){0, 0});
    hdf5_double(file, record, "gridUnitSI", units->length);
    hdf5_doubles(file, record, "unitDimension", OPENPMD_DIMENSIONS, dimension);
    hdf5_double(file, record, "timeOffset", 0);
    hdf5_text(file, record, "fieldSmoothing", filter_passes ? "Binomial" : "none");
    if (filter_passes) {
        char parameters[80];
        snprintf(parameters, sizeof parameters, "period=1;numPasses=%" PRIu32 ";compensator=false",
                 filter_passes);
        hdf5_text(file, record, "fieldSmoothingParameters", parameters);
    }
}

static void write_solver_attributes(struct hdf5_file *file, hid_t meshes, const struct config *config)
{
    static const char *const periodic[] = {"periodic", "periodic", "periodic", "periodic"};
    hdf5_text(file, meshes, "fieldSolver", "other");
    hdf5_text(
        file, meshes, "fieldSolverParameters",
        config->fields.gradient == GRADIENT_SPECTRAL
            ? "electrostatic;Poisson by FFT: phi_k = rho_k/(eps0 k^2), phi_0 = 0;E = -grad phi, spectral"
            : "electrostatic;Poisson by FFT: phi_k = rho_k/(eps0 k^2), phi_0 = 0;E = -grad phi, centred "
              "differences");
    hdf5_texts(file, meshes, "fieldBoundary", 4, periodic);
    hdf5_texts(file, meshes, "particleBoundary", 4, periodic);
    hdf5_text(file, meshes, "currentSmoothing", "none");
    hdf5_text(file, meshes, "chargeCorrection", "none");
}

void openpmd_write_meshes(struct hdf5_file *file, hid_t meshes, const struct view *view,
                          const struct units *units)
{
    const struct fields *fields = view->fields;
    write_solver_attributes(file, meshes, view->config);

    const hid_t e = hdf5_group(file, meshes, "E");
    write_record_attributes(file, e, view, units, electric_field, 0);
    hdf5_close(file, write_nodes(file, e, "x", view, fields->ex, units->electric_field));
    hdf5_close(file, write_nodes(file, e, "y", view, fields->ey, units->electric_field));
    hdf5_close(file, e);

    const hid_t phi = write_nodes(file, meshes, "phi", view, fields->phi, units->potential);
    write_record_attributes(file, phi, view, units, potential, 0);
    hdf5_close(file, phi);

    const hid_t rho = write_nodes(file, meshes, "chargeDensity", view, fields->rho, units->charge_density);
    write_record_attributes(file, rho, view, units, charge_density, view->config->deposit.filter_passes);
    hdf5_text(file, rho, "comment", "of all species, without the neutralising background");
    hdf5_close(file, rho);
}

uint64_t openpmd_meshes_bytes(const struct config *config)
{
    const uint64_t shape[2] = {config->grid.cells[0], config->grid.cells[1]};
    return 4 * hdf5_stored_elements(2, shape) * precision_bytes(config->precision);
}
