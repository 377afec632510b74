/* openPMD species: records of particles, and the list of each species in the order of the sort. */
#include "output/openpmd.h"
#include "output/sorted_list.h"
#include "shared/motion.h"

#include <float.h>
#include <math.h>

/* ---- what a component of a record is filled with ---- */

struct column {
    const struct openpmd_particles *particles;
    enum particle_value value;
};

/* Of an offset. A double must not round to a float of 1, the far end of the cell, and in double precision the
 * reader's sum with the cell's index must not round to the next one. A float below 1 stays further away than
 * that. */
static double below_end(enum precision precision, double offset, double index)
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
    double piece[PIECE], cells[PIECE] = {0};
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t some = count - done < PIECE ? count - done : PIECE;
        list->read(list->source, column->value, first + done, some, piece);
        if (is_offset && list->precision == PRECISION_DOUBLE)
            list->read(list->source, column->value - VALUE_OFFSET, first + done, some, cells);
        for (size_t n = 0; n < some && is_cell; n++)
            ((uint32_t *)values)[done + n] = (uint32_t)piece[n];
        for (size_t n = 0; n < some && is_offset; n++)
            piece[n] = below_end(list->precision, piece[n], cells[n]);
        for (size_t n = 0; n < some && !is_cell; n++)
            store_real(list->precision, values, done + n, (is_offset ? 1 : list->species->mass) * piece[n]);
    }
    return STATUS_OK;
}

/* ---- records ---- */

static void write_record(struct hdf5_object *group, const struct particle_record *record,
                         const struct hdf5_array *part)
{
    struct hdf5_object *object = openpmd_write_components(group, &record->common, part, NULL);
    openpmd_write_time(object, &record->common);
    hdf5_numbers(object, "macroWeighted", HDF5_UINT32, 0, &record->is_macro);
    hdf5_double(object, "weightingPower", record->weighting_power);
    if (!record->common.source[0]) {
        hdf5_double(object, "value", record->value);
        hdf5_numbers(object, "shape", HDF5_UINT64, 1, part->shape);
        hdf5_double(object, "unitSI", record->common.unit[0]);
    }
}

static void write_patches(struct hdf5_object *group, const double cell[2],
                          const struct openpmd_particles *list)
{
    const double *const *low = list->low, *const *extent = list->extent;
    const struct openpmd_record records[] = {
        {"numParticles", {0}, {1}, {list->counts}, NULL, HDF5_UINT64, 0, NULL},
        {"numParticlesOffset", {0}, {1}, {list->before}, NULL, HDF5_UINT64, 0, NULL},
        {"offset", {1}, {cell[0], cell[1]}, {low[0], low[1]}, NULL, HDF5_DOUBLE, 0, NULL},
        {"extent", {1}, {cell[0], cell[1]}, {extent[0], extent[1]}, NULL, HDF5_DOUBLE, 0, NULL},
    };
    struct hdf5_object *patches = hdf5_group(group, "particlePatches");
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        openpmd_write_components(patches, &records[n], &list->patches, NULL);
}

static void write_method(struct hdf5_object *group, const struct config *config,
                         const struct species_config *species)
{
    hdf5_double(group, "particleShape", (double)config->deposit.shape);
    hdf5_text(group, "currentDeposition", "none"); /* electrostatic: only charge is deposited */
    hdf5_text(group, "particlePush", species->push ? PUSHER_NAME : "other");
    hdf5_text(group, "particleInterpolation", "uniform");
    hdf5_text(group, "particleSmoothing", "none");
}

void openpmd_write_particles(struct openpmd *openpmd, const struct openpmd_particles *particles)
{
    const struct openpmd_particles *list = hdf5_file_keep_copy(openpmd->file, sizeof *particles, particles);
    struct column columns[PARTICLE_VALUES], *of;
    for (enum particle_value value = 0; value < PARTICLE_VALUES; value++)
        columns[value] = (struct column){list, value};
    of = hdf5_file_keep_copy(openpmd->file, sizeof columns, columns);
    if (!of)
        return;
    const struct units *units = &openpmd->units;
    const struct config *config = openpmd->view->config;
    const struct species_config *species = list->species;
    const struct grid *box = &openpmd->view->slab->box;
    const enum hdf5_type kind = hdf5_real(list->precision);
    const double cell[2] = {box->dx * units->length, box->dy * units->length};
    const double momentum = units->momentum, back = -config->time.step / 2; /* half a step */
    const double weight = list->weight * units->particles;
    const struct column *w = species_has_w(species) ? of + 6 : NULL;
    const struct particle_record records[] = {
        {{"position", {1}, {cell[0], cell[1]}, {of + 2, of + 3}, fill, kind, 0, NULL}, 0, 0, 0},
        {{"positionOffset", {1}, {cell[0], cell[1]}, {of, of + 1}, fill, HDF5_UINT32, 0, NULL}, 0, 0, 0},
        {{"momentum",
          {1, 1, -1},
          {momentum, momentum, momentum},
          {of + 4, of + 5, w},
          fill,
          kind,
          back,
          NULL},
         0,
         1,
         0},
        {{"charge", {0, 0, 1, 1}, {units->charge}, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->charge},
        {{"mass", {0, 1}, {units->mass}, {NULL}, NULL, 0, 0, NULL}, 0, 1, species->mass},
        {{"weighting", {0}, {1}, {NULL}, NULL, 0, 0, list->of_weighting}, 1, 1, weight},
    };
    struct hdf5_object *group = hdf5_group(openpmd->particles, species->name);
    write_method(group, config, species);
    for (size_t n = 0; n < sizeof records / sizeof records[0]; n++)
        write_record(group, &records[n], &list->part);
    for (size_t n = 0; n < list->more_count; n++)
        write_record(group, &list->more[n], &list->part);
    write_patches(group, cell, list);
}

/* ---- the list of a species ---- */

static void read_list(const void *source, enum particle_value value, uint64_t first, size_t count,
                      double *values)
{
    const struct sorted_list *list = source;
    const struct slab *slab = &list->slab;
    const enum attribute a = value < VALUE_VELOCITY ? ATTRIBUTE_OFFSET
                             : value < 6            ? ATTRIBUTE_VELOCITY
                                                    : ATTRIBUTE_W;
    uint32_t cell = value < VALUE_OFFSET && count > 0 ? sorted_list_cell(list, first) : 0;
    for (size_t n = 0; n < count && value < VALUE_OFFSET; n++) {
        while (list->cell_offsets[cell + 1] <= first + n)
            cell++;
        values[n] = value == VALUE_CELL ? slab_global_row(slab, cell / slab->box.ny) : cell % slab->box.ny;
    }
    const uint32_t step = attribute_table[a].components;
    const size_t begin = step * first + value % 2u;
    const float *singles = list->data[a];
    const double *doubles = list->data[a];
    for (size_t n = 0; n < count && value >= VALUE_OFFSET; n++)
        values[n] = list->precision == PRECISION_SINGLE ? (double)singles[begin + step * n]
                                                        : doubles[begin + step * n];
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
            list->all = selection_most(&config->output.snapshots, list->all);
        if (list)
            write_list(openpmd, list);
    }
}
