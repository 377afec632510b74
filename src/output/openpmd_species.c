/* openPMD species: the particles, in the order of the sort. */
#include "output/openpmd.h"
#include "output/sorted_list.h"

#include <math.h>

/* ---- columns: what a component of a record is filled with ---- */

struct column {
    const struct sorted_list *list;
    unsigned axis;
    uint64_t first_id; /* of this species, so that ids are unique among all */
};

/* Where a cell begins and ends along the column's axis. */
struct interval {
    double low, high;
};

/* That of particle j; `cell` is that of an earlier one, and then its own. */
static struct interval next_interval(const struct column *column, uint64_t j, uint32_t *cell)
{
    const struct slab *slab = column->list->view->slab;
    const struct grid *box = &slab->box;
    while (column->list->cell_offsets[*cell + 1] <= j)
        ++*cell;
    const uint32_t row = slab_global_row(slab, *cell / box->ny), place = *cell % box->ny;
    if (column->axis == 0)
        return (struct interval){row * box->dx, row + 1 == box->nx ? box->lx : (row + 1) * box->dx};
    return (struct interval){place * box->dy, place + 1 == box->ny ? box->ly : (place + 1) * box->dy};
}

static enum status fill_position(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    const struct grid *box = &list->view->slab->box;
    uint32_t cell = sorted_list_cell(list, first);
    TRY(particles_read(list->particles, ATTRIBUTE_OFFSET, first, count, list->values));
    for (size_t n = 0; n < count; n++) {
        const struct interval interval = next_interval(column, first + n, &cell);
        /* In double precision a reader's sum could round to the far end of the cell, and of the box. A float
         * below 1 stays further away than that. */
        const double most = nextafter(interval.high, 0) - interval.low;
        const double way = list->values[2 * n + column->axis] * (column->axis == 0 ? box->dx : box->dy);
        view_store(list->view, values, n, way > most ? most : way);
    }
    return STATUS_OK;
}

static enum status fill_position_offset(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    uint32_t cell = sorted_list_cell(column->list, first);
    for (size_t n = 0; n < count; n++)
        ((double *)values)[n] = next_interval(column, first + n, &cell).low;
    return STATUS_OK;
}

static enum status fill_momentum(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    const double mass = list->particles->species->mass;
    TRY(particles_read(list->particles, ATTRIBUTE_VELOCITY, first, count, list->values));
    for (size_t n = 0; n < count; n++)
        view_store(list->view, values, n, mass * list->values[2 * n + column->axis]);
    return STATUS_OK;
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    uint64_t *ids = values;
    TRY(buffer_read(column->list->particles->attribute[ATTRIBUTE_ID], first * sizeof *ids,
                    count * sizeof *ids, ids));
    for (size_t n = 0; n < count; n++)
        ids[n] += column->first_id;
    return STATUS_OK;
}

/* ---- patches, one for each rank ---- */

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
    const struct hdf5_array one = {.shape = {(uint64_t)file->communicator->size},
                                   .first_row = (uint64_t)file->communicator->rank,
                                   .rows = 1};
    const uint64_t count = list->particles->count;
    const double low[2] = {slab->first_row * slab->box.dx, 0};
    const double extent[2] = {slab_extent(slab, low[0]), slab->box.ly};
    const hid_t whole = H5T_NATIVE_UINT64, wide = H5T_NATIVE_DOUBLE;
    const struct openpmd_record records[] = {
        {"numParticles", {0}, 1, {&count}, NULL, whole, 0, NULL},
        {"numParticlesOffset", {0}, 1, {&list->before}, NULL, whole, 0, NULL},
        {"offset", {1}, unit, {&low[0], &low[1]}, NULL, wide, 0, NULL},
        {"extent", {1}, unit, {&extent[0], &extent[1]}, NULL, wide, 0, NULL},
    };
    const hid_t patches = hdf5_group(file, group, "particlePatches");
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        hdf5_close(file, openpmd_write_components(file, patches, &records[n], &one, NULL));
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

/* One without sources is a constant. */
struct particle_record {
    struct openpmd_record common;
    uint32_t is_macro; /* 1: of the macro-particle, not of one real particle */
    double weighting_power;
    double value; /* of a constant */
};

static void write_record(struct hdf5_file *file, hid_t group, const struct sorted_list *list,
                         const struct particle_record *record)
{
    const struct hdf5_array part = {
        .shape = {list->all}, .first_row = list->before, .rows = list->particles->count};
    const hid_t object = openpmd_write_components(file, group, &record->common, &part, NULL);
    openpmd_write_time(file, object, &record->common);
    hdf5_numbers(file, object, "macroWeighted", H5T_NATIVE_UINT32, 0, &record->is_macro);
    hdf5_double(file, object, "weightingPower", record->weighting_power);
    if (!record->common.source[0]) {
        hdf5_double(file, object, "value", record->value);
        hdf5_numbers(file, object, "shape", H5T_NATIVE_UINT64, 1, &list->all);
        hdf5_double(file, object, "unitSI", record->common.unit);
    }
    hdf5_close(file, object);
}

static void write_one_species(struct openpmd *openpmd, const struct sorted_list *list)
{
    static const char of_weighting[] = "real particles in a box one Debye length (gridUnitSI) deep along z";
    static const char of_id[] =
        "index in the species, after the particles of the species before it in the config";
    struct hdf5_file *file = &openpmd->file;
    const struct units *units = &openpmd->units;
    const struct config *config = openpmd->view->config;
    const struct species_config *species = list->particles->species;
    const hid_t real = hdf5_real(config->precision), whole = H5T_NATIVE_UINT64, wide = H5T_NATIVE_DOUBLE;
    const double length = units->length, back = -config->time.step / 2; /* half a step */
    const double weighting = list->particles->weight * units->particles;
    struct column x = {list, 0, 0}, y = {list, 1, 0};
    for (uint32_t before = 0; before < list->species; before++)
        x.first_id += config->species[before].particles;
    const struct particle_record records[] = {
        {{"position", {1}, length, {&x, &y}, fill_position, real, 0, NULL}, 0, 0, 0},
        {{"positionOffset", {1}, length, {&x, &y}, fill_position_offset, wide, 0, NULL}, 0, 0, 0},
        {{"momentum", {1, 1, -1}, units->momentum, {&x, &y}, fill_momentum, real, back, NULL}, 0, 1, 0},
        {{"charge", {0, 0, 1, 1}, units->charge, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->charge},
        {{"mass", {0, 1}, units->mass, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->mass},
        {{"weighting", {0}, 1, {NULL}, NULL, 0, 0, of_weighting}, 1, 1, weighting},
        {{"id", {0}, 1, {&x}, fill_id, whole, 0, of_id}, 0, 0, 0},
    };
    const hid_t group = hdf5_group(file, openpmd->particles, species->name);
    write_method_attributes(file, group, config);
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        if (records[n].common.fill != fill_id || species->ids)
            write_record(file, group, list, &records[n]);
    write_patches(file, group, list, length);
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
        bytes += hdf5_stored_elements((const uint64_t[2]){config->species[s].particles, 0}) * each;
    }
    return bytes;
}
