/* openPMD species: the particles, in the order of the sort. */
#include "output/openpmd.h"

#include <math.h>
#include <stdlib.h>

static const double dimensionless[OPENPMD_DIMENSIONS] = {0};
static const double length[OPENPMD_DIMENSIONS] = {1, 0, 0, 0, 0, 0, 0};
static const double momentum[OPENPMD_DIMENSIONS] = {1, 1, -1, 0, 0, 0, 0};
static const double charge[OPENPMD_DIMENSIONS] = {0, 0, 1, 1, 0, 0, 0};
static const double mass[OPENPMD_DIMENSIONS] = {0, 1, 0, 0, 0, 0, 0};

static const char *const axis_names[2] = {"x", "y"};

/* ---- columns: pieces of the arrays, from the device ---- */

/* Particles of one species on this rank that are sorted together. */
struct list {
    const struct particles *particles;
    uint32_t *cell_offsets; /* owned: a copy of the device's; NULL for no particles */
};

enum { MAIN, GUESTS, LISTS };

/* What the columns of one species are computed from. */
struct columns {
    const struct view *view;
    const struct species_config *species;
    double weight; /* of a macro-particle */
    struct list lists[LISTS];
    double *pairs;     /* owned: room for a piece of real2 */
    uint64_t *counts;  /* owned: [ranks], particles of each rank */
    uint64_t first_id; /* of this species, so that ids are unique among all */

    uint64_t all, before, own; /* particles of all ranks, of those before this one, and of this one */
};

/* One column, of all particles, or one component of it. */
struct column {
    const struct columns *columns;
    unsigned axis;
    size_t value_bytes;
    /* Fills values[count] with those of particles first, first+1, ... of a list. */
    enum status (*fill)(const struct column *column, const struct list *list, uint64_t first, size_t count,
                        void *values);
};

static enum status no_memory(const struct columns *columns)
{
    return status_fail(STATUS_FAILED, "species %s: no memory to write a snapshot", columns->species->name);
}

static enum status list_create(const struct columns *columns, const struct particles *particles,
                               struct list *list)
{
    list->particles = particles;
    if (!particles || particles->count == 0)
        return STATUS_OK;
    const size_t bytes = buffer_bytes(particles->cell_offsets);
    list->cell_offsets = malloc(bytes);
    return list->cell_offsets ? buffer_read(particles->cell_offsets, 0, bytes, list->cell_offsets)
                              : no_memory(columns);
}

static uint64_t list_count(const struct list *list)
{
    return list->particles ? list->particles->count : 0;
}

/* Not collective. */
static enum status columns_create(const struct view *view, uint32_t species, struct columns *columns)
{
    const struct particles *particles = &view->particles[species];
    *columns = (struct columns){.view = view, .species = particles->species, .weight = particles->weight};
    for (uint32_t before = 0; before < species; before++)
        columns->first_id += view->config->species[before].particles;
    TRY(list_create(columns, particles, &columns->lists[MAIN]));
    TRY(list_create(columns, view->guests ? &view->guests[species] : NULL, &columns->lists[GUESTS]));
    columns->own = list_count(&columns->lists[MAIN]) + list_count(&columns->lists[GUESTS]);

    const size_t piece = columns->own < HDF5_PIECE ? (size_t)columns->own : HDF5_PIECE;
    columns->pairs = malloc((piece + 1) * 2 * sizeof *columns->pairs);
    columns->counts = malloc((size_t)view->communicator->size * sizeof *columns->counts);
    return columns->pairs && columns->counts ? STATUS_OK : no_memory(columns);
}

static void columns_destroy(struct columns *columns)
{
    for (unsigned which = 0; which < LISTS; which++)
        free(columns->lists[which].cell_offsets);
    free(columns->pairs);
    free(columns->counts);
}

/* Collective, once the columns are created on all ranks. */
static void count_particles(struct columns *columns)
{
    const struct communicator *communicator = columns->view->communicator;
    communicator_gather_counts(communicator, 1, &columns->own, columns->counts);
    for (int rank = 0; rank < communicator->size; rank++) {
        columns->before += rank < communicator->rank ? columns->counts[rank] : 0;
        columns->all += columns->counts[rank];
    }
}

static void store(const struct columns *columns, void *values, size_t n, double value)
{
    if (columns->view->config->precision == PRECISION_SINGLE)
        ((float *)values)[n] = (float)value;
    else
        ((double *)values)[n] = value;
}

/* The cell of the local grid of particle j, searched upwards from `cell`, that of an earlier particle or 0.
 */
static uint32_t cell_of(const struct columns *columns, const struct list *list, uint32_t cell, uint64_t j)
{
    const uint32_t last = grid_cells(&columns->view->slab->local) - 1;
    while (cell < last && list->cell_offsets[cell + 1] <= j)
        cell++;
    return cell;
}

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

static enum status fill_position(const struct column *column, const struct list *list, uint64_t first,
                                 size_t count, void *values)
{
    const struct columns *columns = column->columns;
    const struct slab *slab = columns->view->slab;
    const double spacing = column->axis == 0 ? slab->box.dx : slab->box.dy;
    TRY(particles_read_offsets(list->particles, columns->view->config->precision, (size_t)first, count,
                               columns->pairs));
    uint32_t cell = 0;
    for (size_t n = 0; n < count; n++) {
        cell = cell_of(columns, list, cell, first + n);
        const struct interval interval = cell_interval(slab, cell, column->axis);
        /* In double precision a reader's sum could round to the far end of the cell, and of the box. A float
         * below 1 stays further away than that. */
        const double most = nextafter(interval.high, 0) - interval.low;
        const double way = columns->pairs[2 * n + column->axis] * spacing;
        store(columns, values, n, way > most ? most : way);
    }
    return STATUS_OK;
}

static enum status fill_position_offset(const struct column *column, const struct list *list, uint64_t first,
                                        size_t count, void *values)
{
    const struct columns *columns = column->columns;
    double *lows = values;
    uint32_t cell = 0;
    for (size_t n = 0; n < count; n++) {
        cell = cell_of(columns, list, cell, first + n);
        lows[n] = cell_interval(columns->view->slab, cell, column->axis).low;
    }
    return STATUS_OK;
}

static enum status fill_momentum(const struct column *column, const struct list *list, uint64_t first,
                                 size_t count, void *values)
{
    const struct columns *columns = column->columns;
    TRY(particles_read_velocities(list->particles, columns->view->config->precision, (size_t)first, count,
                                  columns->pairs));
    for (size_t n = 0; n < count; n++)
        store(columns, values, n, columns->species->mass * columns->pairs[2 * n + column->axis]);
    return STATUS_OK;
}

static enum status fill_id(const struct column *column, const struct list *list, uint64_t first, size_t count,
                           void *values)
{
    uint64_t *ids = values;
    TRY(buffer_read(list->particles->id, (size_t)first * sizeof *ids, count * sizeof *ids, ids));
    for (size_t n = 0; n < count; n++)
        ids[n] += column->columns->first_id;
    return STATUS_OK;
}

/* A piece of the rank's part: the lists one after the other. */
static enum status fill_column(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    uint64_t begin = 0; /* of the list within the part */
    for (unsigned which = 0; which < LISTS; which++) {
        const struct list *list = &column->columns->lists[which];
        const uint64_t end = begin + list_count(list);
        const uint64_t from = first > begin ? first : begin;
        const uint64_t to = first + count < end ? first + count : end;
        char *const place = (char *)values + (from - first) * column->value_bytes;
        if (from < to)
            TRY(column->fill(column, list, from - begin, (size_t)(to - from), place));
        begin = end;
    }
    return STATUS_OK;
}

/* Writes a column as a dataset, for its attributes; the caller closes it. */
static hid_t write_column(struct hdf5_file *file, hid_t parent, const char *name, hid_t type,
                          struct column column)
{
    column.value_bytes = H5Tget_size(type);
    const struct hdf5_array array = {
        .type = type,
        .dimensions = 1,
        .shape = {column.columns->all, 0},
        .first_row = column.columns->before,
        .rows = column.columns->own,
        .fill = fill_column,
        .source = &column,
    };
    return hdf5_dataset(file, parent, name, &array);
}

/* ---- records ---- */

/* What a record is, beside its numbers. */
struct record {
    const char *name;
    const double *dimension; /* [OPENPMD_DIMENSIONS] */
    double unit;             /* unitSI of its components */
    double time_offset;
    uint32_t macro_weighted; /* 1: of the macro-particle, 0: of one real particle */
    double weighting_power;
};

static void write_record_attributes(struct hdf5_file *file, hid_t object, const struct record *record)
{
    hdf5_doubles(file, object, "unitDimension", OPENPMD_DIMENSIONS, record->dimension);
    hdf5_double(file, object, "timeOffset", record->time_offset);
    hdf5_uint32(file, object, "macroWeighted", record->macro_weighted);
    hdf5_double(file, object, "weightingPower", record->weighting_power);
}

static void write_vector(struct hdf5_file *file, hid_t group, const struct columns *columns,
                         const struct record *record, hid_t type,
                         enum status (*fill)(const struct column *, const struct list *, uint64_t, size_t,
                                             void *))
{
    const hid_t vector = hdf5_group(file, group, record->name);
    write_record_attributes(file, vector, record);
    for (unsigned axis = 0; axis < 2; axis++) {
        const struct column column = {.columns = columns, .axis = axis, .fill = fill};
        const hid_t dataset = write_column(file, vector, axis_names[axis], type, column);
        hdf5_double(file, dataset, "unitSI", record->unit);
        hdf5_close(file, dataset);
    }
    hdf5_close(file, vector);
}

/* A record with the same value for every particle: an empty group with the value. */
static void write_constant(struct hdf5_file *file, hid_t group, const struct columns *columns,
                           const struct record *record, double value, const char *comment)
{
    const hid_t constant = hdf5_group(file, group, record->name);
    write_record_attributes(file, constant, record);
    hdf5_double(file, constant, "value", value);
    hdf5_uint64s(file, constant, "shape", 1, &columns->all);
    hdf5_double(file, constant, "unitSI", record->unit);
    if (comment)
        hdf5_text(file, constant, "comment", comment);
    hdf5_close(file, constant);
}

static void write_ids(struct hdf5_file *file, hid_t group, const struct columns *columns)
{
    const struct record record = {"id", dimensionless, 1, 0, 0, 0};
    const struct column column = {.columns = columns, .fill = fill_id};
    const hid_t dataset = write_column(file, group, record.name, H5T_NATIVE_UINT64, column);
    write_record_attributes(file, dataset, &record);
    hdf5_double(file, dataset, "unitSI", record.unit);
    hdf5_text(file, dataset, "comment",
              "index in the species, after the particles of the species before it in the config");
    hdf5_close(file, dataset);
}

/* ---- patches, one for each rank ---- */

static enum status fill_one_count(const void *source, uint64_t first, size_t count, void *values)
{
    (void)first;
    (void)count;
    *(uint64_t *)values = *(const uint64_t *)source;
    return STATUS_OK;
}

static enum status fill_one_length(const void *source, uint64_t first, size_t count, void *values)
{
    (void)first;
    (void)count;
    *(double *)values = *(const double *)source;
    return STATUS_OK;
}

/* An array of one number of each rank. */
static struct hdf5_array patch_array(const struct columns *columns, hid_t type,
                                     enum status (*fill)(const void *, uint64_t, size_t, void *),
                                     const void *own)
{
    const struct communicator *communicator = columns->view->communicator;
    return (struct hdf5_array){
        .type = type,
        .dimensions = 1,
        .shape = {(uint64_t)communicator->size, 0},
        .first_row = (uint64_t)communicator->rank,
        .rows = 1,
        .fill = fill,
        .source = own,
    };
}

static void write_patch_count(struct hdf5_file *file, hid_t patches, const char *name,
                              const struct columns *columns, uint64_t value)
{
    const struct hdf5_array array = patch_array(columns, H5T_NATIVE_UINT64, fill_one_count, &value);
    const hid_t dataset = hdf5_dataset(file, patches, name, &array);
    hdf5_doubles(file, dataset, "unitDimension", OPENPMD_DIMENSIONS, dimensionless);
    hdf5_double(file, dataset, "unitSI", 1);
    hdf5_close(file, dataset);
}

static void write_patch_lengths(struct hdf5_file *file, hid_t patches, const char *name,
                                const struct columns *columns, const double values[2], double unit)
{
    const hid_t vector = hdf5_group(file, patches, name);
    hdf5_doubles(file, vector, "unitDimension", OPENPMD_DIMENSIONS, length);
    for (unsigned axis = 0; axis < 2; axis++) {
        const struct hdf5_array array =
            patch_array(columns, H5T_NATIVE_DOUBLE, fill_one_length, &values[axis]);
        const hid_t dataset = hdf5_dataset(file, vector, axis_names[axis], &array);
        hdf5_double(file, dataset, "unitSI", unit);
        hdf5_close(file, dataset);
    }
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

static void write_patches(struct hdf5_file *file, hid_t group, const struct columns *columns, double unit)
{
    const struct slab *slab = columns->view->slab;
    const double low = slab->first_row * slab->box.dx;
    const hid_t patches = hdf5_group(file, group, "particlePatches");
    write_patch_count(file, patches, "numParticles", columns, columns->own);
    write_patch_count(file, patches, "numParticlesOffset", columns, columns->before);
    write_patch_lengths(file, patches, "offset", columns, (const double[]){low, 0}, unit);
    write_patch_lengths(file, patches, "extent", columns,
                        (const double[]){slab_extent(slab, low), slab->box.ly}, unit);
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

static void write_records(struct hdf5_file *file, hid_t group, const struct columns *columns,
                          const struct units *units)
{
    const struct view *view = columns->view;
    const hid_t real = openpmd_real_type(view->config->precision);
    const double half_step_back = -view->config->time.step / 2;

    write_vector(file, group, columns, &(struct record){"position", length, units->length, 0, 0, 0}, real,
                 fill_position);
    write_vector(file, group, columns, &(struct record){"positionOffset", length, units->length, 0, 0, 0},
                 H5T_NATIVE_DOUBLE, fill_position_offset);
    write_vector(file, group, columns,
                 &(struct record){"momentum", momentum, units->momentum, half_step_back, 0, 1}, real,
                 fill_momentum);
    write_constant(file, group, columns, &(struct record){"charge", charge, units->charge, 0, 0, 1},
                   columns->species->charge, NULL);
    write_constant(file, group, columns, &(struct record){"mass", mass, units->mass, 0, 0, 1},
                   columns->species->mass, NULL);
    write_constant(file, group, columns, &(struct record){"weighting", dimensionless, 1, 0, 1, 1},
                   columns->weight * units->particles,
                   "real particles in a box one Debye length (gridUnitSI) deep along z");
    if (columns->species->ids)
        write_ids(file, group, columns);
    write_patches(file, group, columns, units->length);
}

static void write_one_species(struct hdf5_file *file, hid_t species, struct columns *columns,
                              const struct units *units)
{
    count_particles(columns);
    const hid_t group = hdf5_group(file, species, columns->species->name);
    write_method_attributes(file, group, columns->view->config);
    write_records(file, group, columns, units);
    hdf5_close(file, group);
}

void openpmd_write_species(struct hdf5_file *file, hid_t species, const struct view *view,
                           const struct units *units)
{
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        struct columns columns;
        hdf5_file_fail(file, columns_create(view, s, &columns));
        if (hdf5_file_agree(file))
            write_one_species(file, species, &columns, units);
        columns_destroy(&columns);
    }
}

uint64_t openpmd_species_bytes(const struct config *config)
{
    const uint64_t real = precision_bytes(config->precision);
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const uint64_t each = 4 * real + 2 * sizeof(double) + (species->ids ? sizeof(uint64_t) : 0);
        bytes += hdf5_stored_elements(1, (const uint64_t[2]){species->particles, 0}) * each;
    }
    return bytes;
}
