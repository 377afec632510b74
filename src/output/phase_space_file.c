/* Phase space file: a mesh for each item, summed over ranks piece by piece, and written by the first one.
 *
 * openPMD 1.1.0 has one gridUnitSI for all axes of a mesh, which x and u cannot have in common. So
 * gridSpacing and gridGlobalOffset are in SI units here and gridUnitSI is 1; attributes of our own, axisLow,
 * axisHigh and axisUnitSI, have the normalised numbers. */
#include "output/phase_space.h"

#include "base/integers.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)CONFIG_PHASE_AXES <= (int)HDF5_DIMENSIONS, "a phase space is a dataset");

enum {
    MOST_SPECIES = CONFIG_MAX_SPECIES + 1,
    NAMES_LENGTH = MOST_SPECIES * (CONFIG_NAME_LENGTH + 3),
    NAME_LENGTH = NAMES_LENGTH + 32,
    SUMMED_AT_ONCE = 1 << 18
};

/* The names of all species of f. */
static void join_species(const struct phase_space_config *space, const char *between,
                         char names[NAMES_LENGTH])
{
    const char *name;
    size_t used = 0;
    for (uint32_t n = 0; (name = phase_space_species(space, n)); n++)
        used += (size_t)snprintf(names + used, NAMES_LENGTH - used, "%s%s", n > 0 ? between : "", name);
}

/* "electrons_uvxy": species and written axes, f for each formula; with weights "_weighted" behind them. */
static void name_alone(const struct phase_space_config *space, char name[NAME_LENGTH])
{
    char names[NAMES_LENGTH], axes[CONFIG_PHASE_AXES + 1] = "";
    for (uint32_t k = 0; k < space->axis_count; k++)
        axes[k] = phase_axis_name(phase_axis_written(space, k));
    join_species(space, "_", names);
    snprintf(name, NAME_LENGTH, "%s_%s%s", names, axes, space->weight[0] ? "_weighted" : "");
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

/* What is counted of one species. */
struct part {
    const struct particles *list;
    uint32_t *counts;     /* owned: of this rank */
    uint64_t *sums;       /* owned: of weights of this rank; NULL: there are none */
    double density;       /* f where 1 is counted or summed in a bin */
    uint64_t all, inside; /* particles of all ranks */
};

/* An item while it is written. */
struct item {
    const struct view *view;
    const struct phase_space_config *space;
    const struct phase_volume *volume;
    double bin_size;
    uint32_t part_count;
    struct part parts[MOST_SPECIES];
    uint64_t *piece;            /* owned: of all ranks, in SUMMED_AT_ONCE bins */
    double *total;              /* owned: over the species */
    uint64_t particles, inside; /* of all ranks and species */
    double weight_outside;
    uint32_t space_axes;    /* how many of the axes are x or y */
    uint32_t velocity_axes; /* u, v or w */
};

static const struct phase_axis_config *axis_of(const struct item *item, uint32_t k)
{
    return &item->space->axes[item->volume->axes[k]];
}

/* total[] += what a species has in `count` bins from `first` on. Collective. */
static void add_part(const struct item *item, const struct part *part, uint64_t first, size_t count)
{
    for (size_t n = 0; n < count; n++)
        item->piece[n] = part->sums ? part->sums[first + n] : part->counts[first + n];
    communicator_sum_counts(item->view->communicator, count, item->piece);
    for (size_t n = 0; n < count; n++)
        item->total[n] +=
            (part->sums ? (double)(int64_t)item->piece[n] : (double)item->piece[n]) * part->density;
}

/* Of f in the file: sums of a formula may be beyond single precision. */
static enum precision precision_of(const struct item *item)
{
    return item->space->weight[0] ? PRECISION_DOUBLE : item->view->config->precision;
}

/* f, in memory of the file on rank 0. Collective. */
static void *sum_counts(struct hdf5_file *file, const struct item *item)
{
    const struct view *view = item->view;
    const enum precision precision = precision_of(item);
    const uint64_t bins = item->volume->elements;
    char *values =
        view->communicator->rank == 0 ? hdf5_file_room(file, bins * precision_bytes(precision)) : NULL;
    for (uint64_t first = 0; first < bins && !file->has_no_data; first += SUMMED_AT_ONCE) {
        const size_t count = (size_t)at_most(bins - first, SUMMED_AT_ONCE);
        memset(item->total, 0, count * sizeof *item->total);
        for (uint32_t s = 0; s < item->part_count; s++)
            add_part(item, &item->parts[s], first, count);
        for (size_t n = 0; values && n < count; n++)
            store_real(precision, values, first + n, item->total[n]);
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

static enum status no_memory(const struct item *item)
{
    return status_fail(STATUS_FAILED, "no memory to write %" PRIu64 " bins of phase space",
                       item->volume->elements);
}

/* Counts the rank's particles. */
static enum status count_part(struct phase_spaces *spaces, uint32_t index, const struct item *item,
                              struct part *part, int *exponent)
{
    const uint64_t elements = item->volume->elements;
    part->counts = malloc((size_t)elements * sizeof *part->counts);
    if (!part->counts)
        return no_memory(item);
    TRY(phase_space_count(spaces, item->view, index, part->list, part->counts, exponent));
    for (uint64_t n = 0; n < elements; n++)
        part->inside += part->counts[n];
    return STATUS_OK;
}

static enum status sum_part(struct phase_spaces *spaces, uint32_t index, const struct item *item,
                            struct part *part, int shift)
{
    part->sums = malloc((size_t)item->volume->elements * sizeof *part->sums);
    if (!part->sums)
        return no_memory(item);
    return phase_space_sum(spaces, item->view, index, part->list, shift, part->sums);
}

/* Counts the particles of a species, and sums their weights in a unit that suits those of all ranks.
 * Collective.
 */
static enum status measure_part(struct phase_spaces *spaces, uint32_t index, struct item *item,
                                struct part *part)
{
    const struct communicator *communicator = item->view->communicator;
    int exponent = 0;
    TRY(communicator_agree(communicator, count_part(spaces, index, item, part, &exponent)));
    uint64_t totals[2] = {part->list->count, part->inside};
    communicator_sum_counts(communicator, 2, totals);
    part->all = totals[0];
    part->inside = totals[1];
    item->particles += part->all;
    item->inside += part->inside;
    item->weight_outside += (double)(part->all - part->inside) * part->list->weight;
    if (item->space->weight[0] == '\0')
        return STATUS_OK;
    double most = exponent;
    communicator_max(communicator, 1, &most);
    const int shift = phase_space_shift((int)most, part->all);
    part->density = ldexp(part->density, -shift);
    return communicator_agree(communicator, sum_part(spaces, index, item, part, shift));
}

static enum status measure(struct phase_spaces *spaces, uint32_t index, struct item *item)
{
    item->piece = malloc(SUMMED_AT_ONCE * sizeof *item->piece);
    item->total = malloc(SUMMED_AT_ONCE * sizeof *item->total);
    TRY(communicator_agree(item->view->communicator,
                           item->piece && item->total ? STATUS_OK : no_memory(item)));
    for (uint32_t s = 0; s < item->part_count; s++)
        TRY(measure_part(spaces, index, item, &item->parts[s]));
    return STATUS_OK;
}

/* What is outside is in no bin: the log has a line of it while the run goes on. */
static void log_outside(const struct item *item, const char *name, bool *is_known)
{
    static const double many = 0.1;
    const double outside = (double)(item->particles - item->inside) / (double)item->particles;
    if (!*is_known && item->view->log && outside > many)
        log_line(item->view->log, LOG_NORMAL, "%s: %.0f %% of the particles are in none of its bins", name,
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

static void write_attributes(const struct openpmd *openpmd, struct hdf5_object *mesh, const struct item *item)
{
    const struct units *units = &openpmd->units;
    char names[NAMES_LENGTH];
    double weights[MOST_SPECIES];
    uint32_t dimensions = 0;
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
    for (uint32_t s = 0; s < item->part_count; s++) {
        weights[s] = item->parts[s].list->weight;
        dimensions = (uint32_t)at_least(dimensions, species_dimensions(item->parts[s].list->species));
    }
    join_species(item->space, " + ", names);
    hdf5_text(mesh, "species", names);
    hdf5_numbers(mesh, "velocityComponents", HDF5_UINT32, 0, &dimensions);
    if (item->part_count > 1)
        hdf5_doubles(mesh, "weight", item->part_count, weights);
    else
        hdf5_double(mesh, "weight", weights[0]);
    if (item->space->weight[0])
        hdf5_text(mesh, "weightFormula", item->space->weight);
    hdf5_numbers(mesh, "particlesInside", HDF5_UINT64, 0, &item->inside);
    hdf5_numbers(mesh, "particlesOutside", HDF5_UINT64, 0, &outside);
    hdf5_double(mesh, "weightOutside", item->weight_outside);
    hdf5_text(
        mesh, "comment",
        "number density in phase space, u and v being the velocities along x and y: weight times the "
        "macro-particles in a bin, by its volume; axisLow and axisHigh are in units of axisUnitSI; "
        "positions are at the iteration's time, velocities half a time step earlier (axisTimeOffset); "
        "particles outside the ranges are counted in particlesOutside alone; axes of axisFormulas are "
        "formulas of normalised numbers and have no unit; with weightFormula each macro-particle counts "
        "by this formula of normalised numbers, which has no unit: unitSI is that of the number density, and "
        "one whose weight is not finite counts as outside");
}

/* ---- the file ---- */

static void write_item(struct openpmd *openpmd, struct phase_spaces *spaces, uint32_t index)
{
    char name[NAME_LENGTH];
    struct hdf5_file *file = openpmd->file;
    const struct view *view = openpmd->view;
    const struct phase_volume volume = phase_volume_make(&view->config->output.phase_space[index]);
    const struct particles *list;
    struct item item = {
        .view = view, .space = &view->config->output.phase_space[index], .volume = &volume, .bin_size = 1};
    name_of(view->config, index, name);
    for (uint32_t k = 0; k < item.space->axis_count; k++) {
        item.space_axes += phase_axis_is_space(axis_of(&item, k)->axis);
        item.velocity_axes +=
            axis_of(&item, k)->axis >= PHASE_AXIS_U && axis_of(&item, k)->axis <= PHASE_AXIS_W;
        item.bin_size *= bin_width(&item, k);
    }
    while ((list = phase_space_list(view, index, item.part_count)))
        item.parts[item.part_count++] = (struct part){.list = list, .density = list->weight / item.bin_size};
    hdf5_file_fail(file, communicator_agree(view->communicator, file->status));
    if (file->status == STATUS_OK && spaces) /* else the sentence of that failure is to stay */
        hdf5_file_fail(file, measure(spaces, index, &item));
    if (file->status == STATUS_OK) {
        struct hdf5_array array = {.type = hdf5_real(precision_of(&item)),
                                   .dimensions = (int)volume.dimensions,
                                   .count = view->communicator->rank == 0 ? volume.elements : 0};
        for (uint32_t k = 0; k < volume.dimensions; k++)
            array.shape[k] = volume.bins[k];
        if (spaces)
            log_outside(&item, name, &spaces->items[index].is_known);
        array.source = sum_counts(file, &item);
        write_attributes(openpmd, hdf5_dataset(openpmd->meshes, name, &array), &item);
    }
    for (uint32_t s = 0; s < item.part_count; s++) {
        free(item.parts[s].counts);
        free(item.parts[s].sums);
    }
    free(item.piece);
    free(item.total);
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
        char name[NAME_LENGTH], what[NAME_LENGTH + 8];
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
