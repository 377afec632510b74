/* openPMD species: the particles, in the order of the sort. */
#include "output/openpmd.h"
#include "output/sorted_list.h"
#include "shared/motion.h"

#include <float.h>
#include <math.h>

/* ---- columns: what a component of a record is filled with ---- */

struct column {
    const struct sorted_list *list;
    unsigned axis;
    enum precision precision; /* of what is filled */
};

/* The index along the column's axis of the cell that particle j is in; `cell` is that of an earlier one, and
 * then its own. */
static uint32_t next_index(const struct column *column, uint64_t j, uint32_t *cell)
{
    const struct slab *slab = &column->list->slab;
    while (column->list->cell_offsets[*cell + 1] <= j)
        ++*cell;
    return column->axis == 0 ? slab_global_row(slab, *cell / slab->box.ny) : *cell % slab->box.ny;
}

static enum status fill_position(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    uint32_t cell = sorted_list_cell(list, first);
    /* A double must not round to a float of 1, the far end of the cell. */
    const double most = column->precision == PRECISION_SINGLE ? 1 - FLT_EPSILON / 2.0 : 1;
    for (size_t n = 0; n < count; n++) {
        const double offset = sorted_list_real(list, ATTRIBUTE_OFFSET, 2 * (first + n) + column->axis);
        store_real(column->precision, values, n, offset > most ? most : offset);
    }
    /* In double precision a reader's sum could round to it too, and to that of the box. A float below 1 stays
     * further away than that. */
    for (size_t n = 0; column->precision == PRECISION_DOUBLE && n < count; n++) {
        const double index = next_index(column, first + n, &cell);
        ((double *)values)[n] = fmin(((double *)values)[n], nextafter(index + 1, 0) - index);
    }
    return STATUS_OK;
}

static enum status fill_position_offset(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    uint32_t cell = sorted_list_cell(column->list, first);
    for (size_t n = 0; n < count; n++)
        ((uint32_t *)values)[n] = next_index(column, first + n, &cell);
    return STATUS_OK;
}

static enum status fill_momentum(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    const bool is_w = column->axis == 2;
    const enum attribute attribute = is_w ? ATTRIBUTE_W : ATTRIBUTE_VELOCITY;
    const uint32_t components = attribute_table[attribute].components, component = is_w ? 0 : column->axis;
    for (size_t n = 0; n < count; n++)
        store_real(column->precision, values, n,
                   list->species->mass *
                       sorted_list_real(list, attribute, components * (first + n) + component));
    return STATUS_OK;
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const uint64_t *ids = column->list->data[ATTRIBUTE_ID];
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] = ids[first + n] + column->list->first_id;
    return STATUS_OK;
}

/* ---- patches, one for each rank, in cells as the positions are ---- */

static void write_patches(struct openpmd *openpmd, struct hdf5_object *group, const struct sorted_list *list)
{
    const struct slab *slab = &list->slab;
    const struct grid *box = &slab->box;
    const double unit = openpmd->units.length, cell[2] = {box->dx * unit, box->dy * unit};
    struct hdf5_array one = {.dimensions = 1,
                             .shape = {(uint64_t)openpmd->view->communicator->size},
                             .first = (uint64_t)openpmd->view->communicator->rank,
                             .count = 1};
    const struct {
        uint64_t count, before;
        double low[2], extent[2];
    } patch = {list->count, list->before, {slab->first_row, 0}, {slab->rows, box->ny}};
    hdf5_choose_chunks(&one);
    const __typeof__(patch) *kept = hdf5_file_keep_copy(openpmd->file, sizeof patch, &patch);
    if (!kept)
        return;
    const struct openpmd_record records[] = {
        {"numParticles", {0}, {1}, {&kept->count}, NULL, HDF5_UINT64, 0, NULL},
        {"numParticlesOffset", {0}, {1}, {&kept->before}, NULL, HDF5_UINT64, 0, NULL},
        {"offset", {1}, {cell[0], cell[1]}, {&kept->low[0], &kept->low[1]}, NULL, HDF5_DOUBLE, 0, NULL},
        {"extent", {1}, {cell[0], cell[1]}, {&kept->extent[0], &kept->extent[1]}, NULL, HDF5_DOUBLE, 0, NULL},
    };
    struct hdf5_object *patches = hdf5_group(group, "particlePatches");
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        openpmd_write_components(patches, &records[n], &one, NULL);
}

/* ---- a species ---- */

void openpmd_write_method(struct hdf5_object *group, const struct config *config,
                          const struct species_config *species)
{
    hdf5_double(group, "particleShape", (double)config->deposit.shape);
    hdf5_text(group, "currentDeposition", "none"); /* electrostatic: only charge is deposited */
    hdf5_text(group, "particlePush", species->push ? PUSHER_NAME : "other");
    hdf5_text(group, "particleInterpolation", "uniform");
    hdf5_text(group, "particleSmoothing", "none");
}

void openpmd_write_particle_record(struct hdf5_object *group, const struct particle_record *record,
                                   uint64_t all, uint64_t before, uint64_t count)
{
    struct hdf5_array part = {.dimensions = 1, .shape = {all}, .first = before, .count = count};
    hdf5_choose_chunks(&part);
    struct hdf5_object *object = openpmd_write_components(group, &record->common, &part, NULL);
    openpmd_write_time(object, &record->common);
    hdf5_numbers(object, "macroWeighted", HDF5_UINT32, 0, &record->is_macro);
    hdf5_double(object, "weightingPower", record->weighting_power);
    if (!record->common.source[0]) {
        hdf5_double(object, "value", record->value);
        hdf5_numbers(object, "shape", HDF5_UINT64, 1, &all);
        hdf5_double(object, "unitSI", record->common.unit[0]);
    }
}

static void write_one_species(struct openpmd *openpmd, const struct sorted_list *list)
{
    static const char of_weighting[] = "real particles in a box one Debye length (gridUnitSI) deep along z";
    static const char of_id[] =
        "index in the species, after the particles of the species before it in the config";
    const struct units *units = &openpmd->units;
    const struct config *config = openpmd->view->config;
    const struct species_config *species = list->species;
    const struct grid *box = &list->slab.box;
    const enum precision precision = snapshots_precision(config);
    const enum hdf5_type kind = hdf5_real(precision);
    const double cell[2] = {box->dx * units->length, box->dy * units->length};
    const double momentum = units->momentum, back = -config->time.step / 2; /* half a step */
    const double weighting = list->weight * units->particles;
    const struct column columns[3] = {{list, 0, precision}, {list, 1, precision}, {list, 2, precision}};
    const struct column *x = hdf5_file_keep_copy(openpmd->file, sizeof columns, columns),
                        *y = x ? x + 1 : NULL, *z = x && species_has_w(species) ? x + 2 : NULL;
    const struct particle_record records[] = {
        {{"position", {1}, {cell[0], cell[1]}, {x, y}, fill_position, kind, 0, NULL}, 0, 0, 0},
        {{"positionOffset", {1}, {cell[0], cell[1]}, {x, y}, fill_position_offset, HDF5_UINT32, 0, NULL},
         0,
         0,
         0},
        {{"momentum", {1, 1, -1}, {momentum, momentum, momentum}, {x, y, z}, fill_momentum, kind, back, NULL},
         0,
         1,
         0},
        {{"charge", {0, 0, 1, 1}, {units->charge}, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->charge},
        {{"mass", {0, 1}, {units->mass}, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->mass},
        {{"weighting", {0}, {1}, {NULL}, NULL, 0, 0, of_weighting}, 1, 1, weighting},
        {{"id", {0}, {1}, {x}, fill_id, HDF5_UINT64, 0, of_id}, 0, 0, 0},
    };
    struct hdf5_object *group = hdf5_group(openpmd->particles, species->name);
    openpmd_write_method(group, config, species);
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        if (records[n].common.fill != fill_id || species->ids)
            openpmd_write_particle_record(group, &records[n], list->all, list->before, list->count);
    write_patches(openpmd, group, list);
}

void openpmd_write_species(struct openpmd *openpmd, const struct selection *selection)
{
    const struct config *config = openpmd->view->config;
    for (uint32_t s = 0; s < config->species_count; s++) {
        if (!snapshots_hold(&config->output.snapshots, config->species[s].name))
            continue;
        const struct sorted_list *list = sorted_list_copy(openpmd->file, openpmd->view, s, selection);
        if (list)
            write_one_species(openpmd, list);
    }
}

uint64_t openpmd_species_bytes(const struct config *config)
{
    const uint64_t frame = 16384; /* groups, attributes and first chunk indices, measured and rounded up */
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        if (!snapshots_hold(&config->output.snapshots, config->species[s].name))
            continue;
        uint64_t each = 2 * sizeof(uint32_t); /* positionOffset */
        for (enum attribute a = 0; a < ATTRIBUTES; a++)
            each += attribute_present(&config->species[s], a)
                        ? attribute_bytes(snapshots_precision(config), a)
                        : 0;
        const uint64_t most = selection_most(&config->output.snapshots, config->species[s].particles);
        bytes += frame + hdf5_stored_elements((const uint64_t[2]){most, 0}) * each;
    }
    return bytes;
}
