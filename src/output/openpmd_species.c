/* openPMD species: the particles, in the order of the sort. */
#include "output/openpmd.h"
#include "output/sorted_list.h"

#include <math.h>

static const char *const axis_names[2] = {"x", "y"};

/* ---- columns: what a component of a record is filled with ---- */

struct column {
    const struct sorted_list *list;
    unsigned axis;
    uint64_t first_id; /* of this species, so that ids are unique among all */
};

/* Where a cell begins and ends along an axis. */
struct interval {
    double low, high;
};

static struct interval cell_interval(const struct slab *slab, uint32_t cell, unsigned axis)
{
    const struct grid *box = &slab->box;
    const uint32_t index = axis == 0 ? slab_global_row(slab, cell / box->ny) : cell % box->ny;
    const uint32_t size = axis == 0 ? box->nx : box->ny;
    const double spacing = axis == 0 ? box->dx : box->dy;
    const double end = axis == 0 ? box->lx : box->ly;
    return (struct interval){index * spacing, index + 1 == size ? end : (index + 1) * spacing};
}

/* The cell of particle j; `cell` is that of an earlier one. */
static uint32_t next_cell(const struct sorted_list *list, uint32_t cell, uint64_t j)
{
    while (list->cell_offsets[cell + 1] <= j)
        cell++;
    return cell;
}

static enum status fill_position(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    const struct slab *slab = list->view->slab;
    const double spacing = column->axis == 0 ? slab->box.dx : slab->box.dy;
    uint32_t cell = sorted_list_cell(list, first);
    TRY(sorted_list_read(list, ATTRIBUTE_OFFSET, first, count));
    for (size_t n = 0; n < count; n++) {
        cell = next_cell(list, cell, first + n);
        const struct interval interval = cell_interval(slab, cell, column->axis);
        /* In double precision a reader's sum could round to the far end of the cell, and of the box. A float
         * below 1 stays further away than that. */
        const double most = nextafter(interval.high, 0) - interval.low;
        const double way = list->values[2 * n + column->axis] * spacing;
        view_store(list->view, values, n, way > most ? most : way);
    }
    return STATUS_OK;
}

static enum status fill_position_offset(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    uint32_t cell = sorted_list_cell(column->list, first);
    for (size_t n = 0; n < count; n++) {
        cell = next_cell(column->list, cell, first + n);
        ((double *)values)[n] = cell_interval(column->list->view->slab, cell, column->axis).low;
    }
    return STATUS_OK;
}

static enum status fill_momentum(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    TRY(sorted_list_read(list, ATTRIBUTE_VELOCITY, first, count));
    for (size_t n = 0; n < count; n++)
        view_store(list->view, values, n,
                   list->particles->species->mass * list->values[2 * n + column->axis]);
    return STATUS_OK;
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    uint64_t *ids = values;
    TRY(sorted_list_read_integers(column->list, ATTRIBUTE_ID, first, count, ids));
    for (size_t n = 0; n < count; n++)
        ids[n] += column->first_id;
    return STATUS_OK;
}

/* ---- records ---- */

struct record {
    const char *name;
    double dimension[OPENPMD_DIMENSIONS];
    double unit; /* unitSI of its components */
    double time_offset;
    uint32_t macro_weighted; /* 1: of the macro-particle, 0: of one real particle */
    double weighting_power;
    uint32_t components; /* 2: a vector; 0: a constant, an empty group with the value */
    hid_t type;
    hdf5_fill *fill;
    double value;
    const char *comment; /* NULL: none */
};

/* A component of a record, with its attribute; the caller closes it. */
static hid_t write_column(struct hdf5_file *file, hid_t parent, const char *name, const struct record *record,
                          const struct column *column)
{
    const struct sorted_list *list = column->list;
    const hid_t dataset = hdf5_dataset(
        file, parent, name,
        &(struct hdf5_array){
            record->type, 1, {list->all, 0}, list->before, list->particles->count, record->fill, column});
    hdf5_double(file, dataset, "unitSI", record->unit);
    return dataset;
}

static void write_record(struct hdf5_file *file, hid_t group, struct column column,
                         const struct record *record)
{
    const hid_t object = record->components == 1 ? write_column(file, group, record->name, record, &column)
                                                 : hdf5_group(file, group, record->name);
    for (column.axis = 0; column.axis < record->components && record->components > 1; column.axis++)
        hdf5_close(file, write_column(file, object, axis_names[column.axis], record, &column));
    hdf5_doubles(file, object, "unitDimension", OPENPMD_DIMENSIONS, record->dimension);
    hdf5_double(file, object, "timeOffset", record->time_offset);
    hdf5_uint32(file, object, "macroWeighted", record->macro_weighted);
    hdf5_double(file, object, "weightingPower", record->weighting_power);
    if (record->components == 0) {
        hdf5_double(file, object, "value", record->value);
        hdf5_uint64s(file, object, "shape", 1, &column.list->all);
        hdf5_double(file, object, "unitSI", record->unit);
    }
    if (record->comment)
        hdf5_text(file, object, "comment", record->comment);
    hdf5_close(file, object);
}

/* ---- patches, one for each rank ---- */

static hid_t write_patch(struct hdf5_file *file, hid_t parent, const char *name, hid_t type, const void *own,
                         double unit)
{
    const uint64_t ranks = (uint64_t)file->communicator->size, rank = (uint64_t)file->communicator->rank;
    const hid_t dataset =
        hdf5_dataset(file, parent, name, &(struct hdf5_array){type, 1, {ranks, 0}, rank, 1, NULL, own});
    hdf5_double(file, dataset, "unitSI", unit);
    return dataset;
}

static void write_patch_count(struct hdf5_file *file, hid_t patches, const char *name, uint64_t value)
{
    const hid_t dataset = write_patch(file, patches, name, H5T_NATIVE_UINT64, &value, 1);
    hdf5_doubles(file, dataset, "unitDimension", OPENPMD_DIMENSIONS, (const double[OPENPMD_DIMENSIONS]){0});
    hdf5_close(file, dataset);
}

static void write_patch_lengths(struct hdf5_file *file, hid_t patches, const char *name,
                                const double values[2], double unit)
{
    const hid_t vector = hdf5_group(file, patches, name);
    hdf5_doubles(file, vector, "unitDimension", OPENPMD_DIMENSIONS, (const double[OPENPMD_DIMENSIONS]){1});
    for (unsigned axis = 0; axis < 2; axis++)
        hdf5_close(file, write_patch(file, vector, axis_names[axis], H5T_NATIVE_DOUBLE, &values[axis], unit));
    hdf5_close(file, vector);
}

/* The rows of a slab along x. The sum of low and extent, as a reader takes it, is never below its high end,
 * so that every particle is within its patch. */
static double slab_extent(const struct slab *slab, double low)
{
    const uint32_t end = slab->first_row + slab->rows;
    const double high = end == slab->box.nx ? slab->box.lx : end * slab->box.dx;
    const double extent = high - low;
    return low + extent < high ? nextafter(extent, high) : extent;
}

static void write_patches(struct hdf5_file *file, hid_t group, const struct sorted_list *list, double unit)
{
    const struct slab *slab = list->view->slab;
    const double low = slab->first_row * slab->box.dx;
    const hid_t patches = hdf5_group(file, group, "particlePatches");
    write_patch_count(file, patches, "numParticles", list->particles->count);
    write_patch_count(file, patches, "numParticlesOffset", list->before);
    write_patch_lengths(file, patches, "offset", (const double[]){low, 0}, unit);
    write_patch_lengths(file, patches, "extent", (const double[]){slab_extent(slab, low), slab->box.ly},
                        unit);
    hdf5_close(file, patches);
}

/* ---- a species ---- */

static void write_method_attributes(struct hdf5_file *file, hid_t group, const struct config *config)
{
    hdf5_double(file, group, "particleShape", (double)config->deposit.shape);
    hdf5_text(file, group, "currentDeposition", "none"); /* electrostatic: only charge is deposited */
    hdf5_text(file, group, "particlePush", "Boris");
    hdf5_text(file, group, "particleInterpolation", "uniform");
    hdf5_text(file, group, "particleSmoothing", "none");
}

static void write_one_species(struct openpmd *openpmd, const struct sorted_list *list)
{
    struct hdf5_file *file = &openpmd->file;
    const struct units *units = &openpmd->units;
    const struct config *config = openpmd->view->config;
    const struct species_config *species = list->particles->species;
    const hid_t real = hdf5_real(config->precision),
                group = hdf5_group(file, openpmd->particles, species->name);
    const struct record records[] = {
        {"position", {1}, units->length, 0, 0, 0, 2, real, fill_position, 0, NULL},
        {"positionOffset", {1}, units->length, 0, 0, 0, 2, H5T_NATIVE_DOUBLE, fill_position_offset, 0, NULL},
        {"momentum",
         {1, 1, -1},
         units->momentum,
         -config->time.step / 2,
         0,
         1,
         2,
         real,
         fill_momentum,
         0,
         NULL},
        {"charge", {0, 0, 1, 1}, units->charge, 0, 0, 1, 0, 0, NULL, species->charge, NULL},
        {"mass", {0, 1}, units->mass, 0, 0, 1, 0, 0, NULL, species->mass, NULL},
        {"weighting",
         {0},
         1,
         0,
         1,
         1,
         0,
         0,
         NULL,
         list->particles->weight * units->particles,
         "real particles in a box one Debye length (gridUnitSI) deep along z"},
        {"id",
         {0},
         1,
         0,
         0,
         0,
         1,
         H5T_NATIVE_UINT64,
         fill_id,
         0,
         "index in the species, after the particles of the species before it in the config"},
    };
    struct column column = {.list = list};
    for (uint32_t before = 0; before < list->species; before++)
        column.first_id += config->species[before].particles;
    write_method_attributes(file, group, config);
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        if (records[n].fill != fill_id || species->ids)
            write_record(file, group, column, &records[n]);
    write_patches(file, group, list, units->length);
    hdf5_close(file, group);
}

void openpmd_write_species(struct openpmd *openpmd)
{
    for (uint32_t s = 0; s < openpmd->view->config->species_count; s++) {
        struct sorted_list list;
        if (!hdf5_file_agree(&openpmd->file))
            return;
        hdf5_file_fail(&openpmd->file, sorted_list_create(openpmd->view, s, &list));
        if (openpmd->file.status == STATUS_OK)
            write_one_species(openpmd, &list);
        sorted_list_destroy(&list);
    }
}

uint64_t openpmd_species_bytes(const struct config *config)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        uint64_t each = 2 * sizeof(double); /* positionOffset */
        for (enum attribute a = 0; a < ATTRIBUTES; a++)
            each += attribute_present(&config->species[s], a) ? attribute_bytes(config->precision, a) : 0;
        bytes += hdf5_stored_elements(1, (const uint64_t[2]){config->species[s].particles, 0}) * each;
    }
    return bytes;
}
