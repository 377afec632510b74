/* Phase space file: a mesh for each item, summed over ranks piece by piece, and written by the first one.
 *
 * openPMD 1.1.0 has one gridUnitSI for all axes of a mesh, which x and u cannot have in common. So
 * gridSpacing and gridGlobalOffset are in SI units here and gridUnitSI is 1; attributes of our own, axisLow,
 * axisHigh and axisUnitSI, have the normalised numbers. */
#include "output/phase_space.h"

#include "output/openpmd.h"
#include "output/outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)CONFIG_PHASE_AXES <= (int)HDF5_DIMENSIONS, "a phase space is a dataset");

enum { NAME_LENGTH = CONFIG_NAME_LENGTH + 16, SUMMED_AT_ONCE = 1 << 18 };

/* "electrons_uvxy": species and written axes, f for each formula. */
static void name_alone(const struct phase_space_config *space, char name[NAME_LENGTH])
{
    char axes[CONFIG_PHASE_AXES + 1] = "";
    for (uint32_t k = 0; k < space->axis_count; k++)
        axes[k] = phase_axis_name(phase_axis_written(space, k));
    snprintf(name, NAME_LENGTH, "%s_%s", space->species, axes);
}

/* The same, with "_N" behind it where an item before item N has it too. */
static void name_of(const struct config *config, uint32_t index, char name[NAME_LENGTH])
{
    char earlier[NAME_LENGTH];
    name_alone(&config->output.phase_space[index], name);
    for (uint32_t i = 0; i < index; i++) {
        name_alone(&config->output.phase_space[i], earlier);
        if (strcmp(earlier, name) == 0) {
            const size_t length = strlen(name);
            snprintf(name + length, NAME_LENGTH - length, "_%" PRIu32, index);
            return;
        }
    }
}

/* An item while it is written. */
struct item {
    const struct view *view;
    const struct phase_space_config *space;
    const struct phase_volume *volume;
    double density;             /* f where one macro-particle is in a bin */
    uint32_t *counts;           /* owned: of this rank */
    uint64_t *sums;             /* owned: of all ranks, in SUMMED_AT_ONCE bins */
    uint64_t particles, inside; /* of all ranks */
    uint32_t space_axes;        /* how many of the axes are x or y */
    uint32_t velocity_axes;     /* u, v or w */
};

static const struct phase_axis_config *axis_of(const struct item *item, uint32_t k)
{
    return &item->space->axes[item->volume->axes[k]];
}

/* f, in memory of the file on rank 0. Collective. */
static void *sum_counts(struct hdf5_file *file, const struct item *item)
{
    const struct view *view = item->view;
    const enum precision precision = view->config->precision;
    const uint64_t bins = item->volume->elements;
    char *values =
        view->communicator->rank == 0 ? hdf5_file_room(file, bins * precision_bytes(precision)) : NULL;
    for (uint64_t first = 0; first < bins && !file->has_no_data; first += SUMMED_AT_ONCE) {
        const size_t count = (size_t)(bins - first < SUMMED_AT_ONCE ? bins - first : SUMMED_AT_ONCE);
        for (size_t n = 0; n < count; n++)
            item->sums[n] = item->counts[first + n];
        communicator_sum_counts(view->communicator, count, item->sums);
        for (size_t n = 0; values && n < count; n++)
            store_real(precision, values, first + n, (double)item->sums[n] * item->density);
    }
    return values;
}

/* An end of the range of axis k, normalised; of x and y where the edge of the cells is, to the last digit. */
static double end_of(const struct item *item, uint32_t k, unsigned end)
{
    const struct grid_config *grid = &item->view->config->grid;
    const struct phase_axis_config *axis = axis_of(item, k);
    const enum phase_axis n = axis->axis;
    return phase_axis_is_space(n)
               ? phase_axis_edge(grid, n, axis->range[end]) * (grid->length[n] / grid->cells[n])
               : axis->range[end];
}

static double bin_width(const struct item *item, uint32_t k)
{
    return (end_of(item, k, 1) - end_of(item, k, 0)) / axis_of(item, k)->bins;
}

/* Counts the rank's particles. */
static enum status item_count(struct phase_spaces *spaces, uint32_t index, struct item *item)
{
    const uint64_t elements = item->volume->elements;
    item->counts = malloc((size_t)elements * sizeof *item->counts);
    item->sums = malloc(SUMMED_AT_ONCE * sizeof *item->sums);
    if (!item->counts || !item->sums)
        return status_fail(STATUS_FAILED, "no memory to write %" PRIu64 " bins of phase space", elements);
    TRY(phase_space_count(spaces, item->view, index, item->counts));
    for (uint64_t n = 0; n < elements; n++)
        item->inside += item->counts[n];
    return STATUS_OK;
}

/* Adds up all ranks. What is outside is in no bin: the log tells of it while the run goes on. */
static void count_outside(struct item *item, const char *name, bool *is_known)
{
    static const double many = 0.1;
    uint64_t totals[2] = {item->particles, item->inside};
    communicator_sum_counts(item->view->communicator, 2, totals);
    item->particles = totals[0];
    item->inside = totals[1];
    const double outside = (double)(item->particles - item->inside) / (double)item->particles;
    if (!*is_known && item->view->log && outside > many)
        log_line(item->view->log, LOG_NORMAL, "%s: %.0f %% of the particles lie outside its ranges", name,
                 100 * outside);
    *is_known = true;
}

static void write_axes(struct hdf5_object *mesh, const struct units *units, const struct item *item)
{
    enum { SPACING, OFFSET, POSITION, LOW, HIGH, UNIT, TIME, COLUMNS };
    static const char *const names[COLUMNS] = {"gridSpacing", "gridGlobalOffset", "position",      "axisLow",
                                               "axisHigh",    "axisUnitSI",       "axisTimeOffset"};
    const double half_step_back = -item->view->config->time.step / 2;
    const uint32_t count = item->space->axis_count;
    const char *labels[CONFIG_PHASE_AXES], *formulas[CONFIG_PHASE_AXES];
    uint32_t formula_count = 0;
    double columns[COLUMNS][CONFIG_PHASE_AXES];
    for (uint32_t k = 0; k < count; k++) {
        const enum phase_axis axis = axis_of(item, k)->axis;
        const double unit = axis == PHASE_AXIS_FORMULA  ? 1
                            : phase_axis_is_space(axis) ? units->length
                                                        : units->velocity;
        labels[k] = axis_of(item, k)->formula;
        if (axis == PHASE_AXIS_FORMULA)
            formulas[formula_count++] = labels[k];
        columns[SPACING][k] = bin_width(item, k) * unit;
        columns[OFFSET][k] = end_of(item, k, 0) * unit;
        columns[POSITION][k] = 0.5; /* the centre */
        columns[LOW][k] = end_of(item, k, 0);
        columns[HIGH][k] = end_of(item, k, 1);
        columns[UNIT][k] = unit;
        columns[TIME][k] = phase_axis_is_space(axis) ? 0 : half_step_back;
    }
    hdf5_texts(mesh, "axisLabels", count, labels);
    if (formula_count > 0)
        hdf5_texts(mesh, "axisFormulas", formula_count, formulas);
    for (int n = 0; n < COLUMNS; n++)
        hdf5_doubles(mesh, names[n], count, columns[n]);
    hdf5_double(mesh, "gridUnitSI", 1);
    hdf5_double(mesh, "timeOffset", item->space_axes > 0 ? 0 : half_step_back);
}

static void write_attributes(const struct openpmd *openpmd, struct hdf5_object *mesh, const struct item *item,
                             const struct particles *list)
{
    const struct units *units = &openpmd->units;
    const uint64_t outside = item->particles - item->inside;
    /* f is a density in space, summed over the axes of space that are missing, and per volume in velocity. */
    const double space = item->space_axes, velocity = item->velocity_axes;
    const double density = units->particles / pow(units->length, 3);
    hdf5_text(mesh, "geometry", "cartesian");
    hdf5_text(mesh, "dataOrder", "C");
    hdf5_doubles(mesh, "unitDimension", OPENPMD_DIMENSIONS,
                 (const double[OPENPMD_DIMENSIONS]){-3 + (2 - space) - velocity, 0, velocity});
    hdf5_double(mesh, "unitSI", density * pow(units->length, 2 - space) / pow(units->velocity, velocity));
    write_axes(mesh, units, item);
    hdf5_text(mesh, "species", item->space->species);
    hdf5_numbers(mesh, "velocityComponents", HDF5_UINT32, 0, &(uint32_t){species_dimensions(list->species)});
    hdf5_double(mesh, "weight", list->weight);
    hdf5_numbers(mesh, "particlesInside", HDF5_UINT64, 0, &item->inside);
    hdf5_numbers(mesh, "particlesOutside", HDF5_UINT64, 0, &outside);
    hdf5_double(mesh, "weightOutside", (double)outside * list->weight);
    hdf5_text(mesh, "comment",
              "number density in phase space, u and v being the velocities along x and y: weight times the "
              "macro-particles in a bin, by its volume; axisLow and axisHigh are in units of axisUnitSI; "
              "positions are at the iteration's time, velocities half a time step earlier (axisTimeOffset); "
              "particles outside the ranges are counted in particlesOutside alone; axes of axisFormulas are "
              "formulas of normalised numbers and have no unit");
}

/* ---- the file ---- */

static void write_item(struct openpmd *openpmd, struct phase_spaces *spaces, uint32_t index)
{
    char name[NAME_LENGTH];
    struct hdf5_file *file = openpmd->file;
    const struct view *view = openpmd->view;
    const struct particles *list = phase_space_list(view, index);
    const struct phase_volume volume = phase_volume_make(&view->config->output.phase_space[index]);
    struct item item = {.view = view,
                        .space = &view->config->output.phase_space[index],
                        .volume = &volume,
                        .particles = list->count};
    double bin_size = 1;
    name_of(view->config, index, name);
    for (uint32_t k = 0; k < item.space->axis_count; k++) {
        item.space_axes += phase_axis_is_space(axis_of(&item, k)->axis);
        item.velocity_axes +=
            axis_of(&item, k)->axis >= PHASE_AXIS_U && axis_of(&item, k)->axis <= PHASE_AXIS_W;
        bin_size *= bin_width(&item, k);
    }
    item.density = list->weight / bin_size;
    if (file->status == STATUS_OK && spaces) /* else the sentence of that failure is to stay */
        hdf5_file_fail(file, item_count(spaces, index, &item));
    hdf5_file_fail(file, communicator_agree(view->communicator, file->status));
    if (file->status == STATUS_OK) {
        struct hdf5_array array = {.type = hdf5_real(view->config->precision),
                                   .dimensions = (int)volume.dimensions,
                                   .count = view->communicator->rank == 0 ? volume.elements : 0};
        for (uint32_t k = 0; k < volume.dimensions; k++)
            array.shape[k] = volume.bins[k];
        if (spaces)
            count_outside(&item, name, &spaces->items[index].is_known);
        array.source = sum_counts(file, &item);
        write_attributes(openpmd, hdf5_dataset(openpmd->meshes, name, &array), &item, list);
    }
    free(item.counts);
    free(item.sums);
}

/* The items that are due. */
static void record_due(void *spaces, struct hdf5_file *file, const struct view *view)
{
    const struct output_config *output = &view->config->output;
    struct openpmd openpmd = openpmd_begin(file, view, phase_space_files.prefix, OPENPMD_BASE);
    for (uint32_t i = 0; i < output->phase_space_count; i++)
        if (view_is_due(view, output->phase_space[i].every))
            write_item(&openpmd, spaces, i);
}

static void print_size(const struct config *config)
{
    for (uint32_t i = 0; i < config->output.phase_space_count; i++) {
        char name[NAME_LENGTH], what[NAME_LENGTH + 16];
        struct config alone = *config;
        alone.output.phase_space = &config->output.phase_space[i];
        alone.output.phase_space_count = 1;
        name_of(config, i, name);
        snprintf(what, sizeof what, " of %s", name);
        outputs_print_files("phase space", outputs_times_due(config, config->output.phase_space[i].every),
                            what, outputs_size(&phase_space_output, &alone).bytes);
    }
}

const struct output_row phase_space_output = {.name = "phase space",
                                              .files = &phase_space_files,
                                              .cheaper_by =
                                                  "a larger `every`, or fewer bins, of output.phase_space",
                                              .items = OUTPUT_ITEMS(phase_space, phase_space_count),
                                              .every = offsetof(struct phase_space_config, every),
                                              .create = phase_spaces_create,
                                              .record = record_due,
                                              .print_size = print_size};
