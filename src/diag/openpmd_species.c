/* openPMD species: the particles, in the order of the sort. */
#include "diag/openpmd.h"

#include <math.h>
#include <stdlib.h>

static const double dimensionless[OPENPMD_DIMENSIONS] = {0};
static const double length[OPENPMD_DIMENSIONS] = {1, 0, 0, 0, 0, 0, 0};
static const double momentum[OPENPMD_DIMENSIONS] = {1, 1, -1, 0, 0, 0, 0};
static const double charge[OPENPMD_DIMENSIONS] = {0, 0, 1, 1, 0, 0, 0};
static const double mass[OPENPMD_DIMENSIONS] = {0, 1, 0, 0, 0, 0, 0};

static const char *const axis_names[2] = {"x", "y"};

/* ---- columns: pieces of the arrays, from the device ---- */

/* What the columns of one species are computed from. */
struct columns {
    const struct snapshot *snapshot;
    const struct particles *particles;
    uint32_t *cell_offsets; /* owned: a copy of the device's */
    double *pairs;          /* owned: room for a piece of real2 */
    uint64_t first_id;      /* of this species, so that ids are unique among all */
};

/* One component of a vector. */
struct component {
    const struct columns *columns;
    unsigned axis;
};

static enum status columns_create(const struct snapshot *snapshot, uint32_t species, struct columns *columns)
{
    const struct particles *particles = &snapshot->particles[species];
    *columns = (struct columns){.snapshot = snapshot, .particles = particles};
    for (uint32_t before = 0; before < species; before++)
        columns->first_id += snapshot->config->species[before].particles;

    const size_t offsets_bytes = buffer_bytes(particles->cell_offsets);
    const size_t piece = particles->count < HDF5_PIECE ? particles->count : HDF5_PIECE;
    columns->cell_offsets = malloc(offsets_bytes);
    columns->pairs = malloc((piece + 1) * 2 * sizeof *columns->pairs);
    if (!columns->cell_offsets || !columns->pairs)
        return status_fail(STATUS_FAILED, "species %s: no memory to write a snapshot",
                           particles->species->name);
    return buffer_read(particles->cell_offsets, 0, offsets_bytes, columns->cell_offsets);
}

static void columns_destroy(struct columns *columns)
{
    free(columns->cell_offsets);
    free(columns->pairs);
}

static void store(const struct columns *columns, void *values, size_t n, double value)
{
    if (columns->snapshot->config->precision == PRECISION_SINGLE)
        ((float *)values)[n] = (float)value;
    else
        ((double *)values)[n] = value;
}

/* The cell of particle j, searched upwards from `cell`, that of an earlier particle or 0. */
static uint32_t cell_of(const struct columns *columns, uint32_t cell, uint64_t j)
{
    const uint32_t last = grid_cells(&columns->snapshot->slab->box) - 1;
    while (cell < last && columns->cell_offsets[cell + 1] <= j)
        cell++;
    return cell;
}

/* Where a cell begins and ends along an axis. */
struct interval {
    double low, high;
};

static struct interval cell_interval(const struct grid *grid, uint32_t cell, unsigned axis)
{
    const uint32_t index = axis == 0 ? cell / grid->ny : cell % grid->ny;
    const uint32_t size = axis == 0 ? grid->nx : grid->ny;
    const double spacing = axis == 0 ? grid->dx : grid->dy;
    const double box = axis == 0 ? grid->lx : grid->ly;
    return (struct interval){index * spacing, index + 1 == size ? box : (index + 1) * spacing};
}

static enum status fill_position(const void *source, uint64_t first, size_t count, void *values)
{
    const struct component *component = source;
    const struct columns *columns = component->columns;
    const struct grid *grid = &columns->snapshot->slab->box;
    const double spacing = component->axis == 0 ? grid->dx : grid->dy;
    TRY(particles_read_offsets(columns->particles, columns->snapshot->config->precision, (size_t)first, count,
                               columns->pairs));
    uint32_t cell = 0;
    for (size_t n = 0; n < count; n++) {
        cell = cell_of(columns, cell, first + n);
        const struct interval interval = cell_interval(grid, cell, component->axis);
        /* In double precision a reader's sum could round to the far end of the cell, and of the box. A float
         * below 1 stays further away than that. */
        const double most = nextafter(interval.high, 0) - interval.low;
        const double way = columns->pairs[2 * n + component->axis] * spacing;
        store(columns, values, n, way > most ? most : way);
    }
    return STATUS_OK;
}

static enum status fill_position_offset(const void *source, uint64_t first, size_t count, void *values)
{
    const struct component *component = source;
    const struct columns *columns = component->columns;
    double *lows = values;
    uint32_t cell = 0;
    for (size_t n = 0; n < count; n++) {
        cell = cell_of(columns, cell, first + n);
        lows[n] = cell_interval(&columns->snapshot->slab->box, cell, component->axis).low;
    }
    return STATUS_OK;
}

static enum status fill_momentum(const void *source, uint64_t first, size_t count, void *values)
{
    const struct component *component = source;
    const struct columns *columns = component->columns;
    TRY(particles_read_velocities(columns->particles, columns->snapshot->config->precision, (size_t)first,
                                  count, columns->pairs));
    for (size_t n = 0; n < count; n++)
        store(columns, values, n,
              columns->particles->species->mass * columns->pairs[2 * n + component->axis]);
    return STATUS_OK;
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct columns *columns = source;
    uint64_t *ids = values;
    TRY(buffer_read(columns->particles->id, (size_t)first * sizeof *ids, count * sizeof *ids, ids));
    for (size_t n = 0; n < count; n++)
        ids[n] += columns->first_id;
    return STATUS_OK;
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
                         enum status (*fill)(const void *, uint64_t, size_t, void *))
{
    const hid_t vector = hdf5_group(file, group, record->name);
    write_record_attributes(file, vector, record);
    for (unsigned axis = 0; axis < 2; axis++) {
        const struct component component = {columns, axis};
        const struct hdf5_array array = {type, 1, {columns->particles->count, 0}, fill, &component};
        const hid_t dataset = hdf5_dataset(file, vector, axis_names[axis], &array);
        hdf5_double(file, dataset, "unitSI", record->unit);
        hdf5_close(file, dataset);
    }
    hdf5_close(file, vector);
}

/* A record with the same value for every particle: an empty group with the value. */
static void write_constant(struct hdf5_file *file, hid_t group, const struct columns *columns,
                           const struct record *record, double value, const char *comment)
{
    const uint64_t count = columns->particles->count;
    const hid_t constant = hdf5_group(file, group, record->name);
    write_record_attributes(file, constant, record);
    hdf5_double(file, constant, "value", value);
    hdf5_uint64s(file, constant, "shape", 1, &count);
    hdf5_double(file, constant, "unitSI", record->unit);
    if (comment)
        hdf5_text(file, constant, "comment", comment);
    hdf5_close(file, constant);
}

static void write_ids(struct hdf5_file *file, hid_t group, const struct columns *columns)
{
    const struct record record = {"id", dimensionless, 1, 0, 0, 0};
    const struct hdf5_array array = {H5T_NATIVE_UINT64, 1, {columns->particles->count, 0}, fill_id, columns};
    const hid_t dataset = hdf5_dataset(file, group, record.name, &array);
    write_record_attributes(file, dataset, &record);
    hdf5_double(file, dataset, "unitSI", record.unit);
    hdf5_text(file, dataset, "comment",
              "index in the species, after the particles of the species before it in the config");
    hdf5_close(file, dataset);
}

/* ---- the one patch ---- */

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

static void write_patch_count(struct hdf5_file *file, hid_t patches, const char *name, uint64_t value)
{
    const struct hdf5_array array = {H5T_NATIVE_UINT64, 1, {1, 0}, fill_one_count, &value};
    const hid_t dataset = hdf5_dataset(file, patches, name, &array);
    hdf5_doubles(file, dataset, "unitDimension", OPENPMD_DIMENSIONS, dimensionless);
    hdf5_double(file, dataset, "unitSI", 1);
    hdf5_close(file, dataset);
}

static void write_patch_lengths(struct hdf5_file *file, hid_t patches, const char *name,
                                const double values[2], double unit)
{
    const hid_t vector = hdf5_group(file, patches, name);
    hdf5_doubles(file, vector, "unitDimension", OPENPMD_DIMENSIONS, length);
    for (unsigned axis = 0; axis < 2; axis++) {
        const struct hdf5_array array = {H5T_NATIVE_DOUBLE, 1, {1, 0}, fill_one_length, &values[axis]};
        const hid_t dataset = hdf5_dataset(file, vector, axis_names[axis], &array);
        hdf5_double(file, dataset, "unitSI", unit);
        hdf5_close(file, dataset);
    }
    hdf5_close(file, vector);
}

/* All particles of the box are one patch. */
static void write_patches(struct hdf5_file *file, hid_t group, const struct columns *columns, double unit)
{
    const struct grid *grid = &columns->snapshot->slab->box;
    const hid_t patches = hdf5_group(file, group, "particlePatches");
    write_patch_count(file, patches, "numParticles", columns->particles->count);
    write_patch_count(file, patches, "numParticlesOffset", 0);
    write_patch_lengths(file, patches, "offset", (const double[]){0, 0}, unit);
    write_patch_lengths(file, patches, "extent", (const double[]){grid->lx, grid->ly}, unit);
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
    const struct snapshot *snapshot = columns->snapshot;
    const struct particles *particles = columns->particles;
    const hid_t real = openpmd_real_type(snapshot->config->precision);
    const double half_step_back = -snapshot->config->time.step / 2;

    write_vector(file, group, columns, &(struct record){"position", length, units->length, 0, 0, 0}, real,
                 fill_position);
    write_vector(file, group, columns, &(struct record){"positionOffset", length, units->length, 0, 0, 0},
                 H5T_NATIVE_DOUBLE, fill_position_offset);
    write_vector(file, group, columns,
                 &(struct record){"momentum", momentum, units->momentum, half_step_back, 0, 1}, real,
                 fill_momentum);
    write_constant(file, group, columns, &(struct record){"charge", charge, units->charge, 0, 0, 1},
                   particles->species->charge, NULL);
    write_constant(file, group, columns, &(struct record){"mass", mass, units->mass, 0, 0, 1},
                   particles->species->mass, NULL);
    write_constant(file, group, columns, &(struct record){"weighting", dimensionless, 1, 0, 1, 1},
                   particles->weight * units->particles,
                   "real particles in a box one Debye length (gridUnitSI) deep along z");
    if (particles->id)
        write_ids(file, group, columns);
    write_patches(file, group, columns, units->length);
}

void openpmd_write_species(struct hdf5_file *file, hid_t species, const struct snapshot *snapshot,
                           const struct units *units)
{
    for (uint32_t s = 0; s < snapshot->config->species_count && file->status == STATUS_OK; s++) {
        struct columns columns;
        file->status = columns_create(snapshot, s, &columns);
        const hid_t group = hdf5_group(file, species, snapshot->config->species[s].name);
        write_method_attributes(file, group, snapshot->config);
        write_records(file, group, &columns, units);
        hdf5_close(file, group);
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
