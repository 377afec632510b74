/* Phase space, the file: a mesh for each item, summed over ranks chunk by chunk.
 *
 * openPMD 1.1.0 has one gridUnitSI for all axes of a mesh, which x and u cannot share. So gridSpacing and
 * gridGlobalOffset are in SI units here and gridUnitSI is 1; attributes of our own, axisLow, axisHigh and
 * axisUnitSI, have the normalised numbers.
 */
#include "output/phase_space.h"

#include "config/phase_axes.h"
#include "output/hdf5_array.h"
#include "output/openpmd.h"
#include "output/outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)CONFIG_PHASE_AXES <= (int)HDF5_DIMENSIONS, "a phase space is a dataset");

void phase_space_name(const struct config *config, uint32_t index, char *name, size_t size)
{
    const struct phase_space_config *space = &config->output.phase_space[index];
    char earlier[CONFIG_NAME_LENGTH + 16];
    size_t used = (size_t)snprintf(name, size, "%s_", space->species);
    for (uint32_t k = 0; k < space->axis_count && used < size; k++)
        used +=
            (size_t)snprintf(name + used, size - used, "%c", phase_axis_name(phase_axis_written(space, k)));
    for (uint32_t i = 0; i < index && used < size; i++) {
        phase_space_name(config, i, earlier, sizeof earlier);
        if (strcmp(earlier, name) != 0)
            continue;
        snprintf(name + used, size - used, "_%" PRIu32, index);
        return;
    }
}

/* ---- the numbers ---- */

/* One axis of the written array: a normalised range, the width of a bin, and the rest of its attributes. */
struct written_axis {
    enum phase_axis axis;
    double low, high, width;
    double unit, spacing, offset; /* in SI units */
    double time_offset, centre;
};

/* One item while it is written. */
struct item {
    const struct view *view;
    const struct phase_space_config *space;
    struct phase_volume volume;
    struct units units;
    struct written_axis axes[CONFIG_PHASE_AXES];
    double weight;              /* of a macro-particle */
    double size;                /* of a bin */
    double space_axes;          /* how many of the axes are x or y */
    uint32_t *counts;           /* owned: of this rank */
    uint64_t *sums;             /* owned: of all ranks, for a piece of the file */
    uint64_t particles, inside; /* of all ranks */
};

static struct written_axis written_axis(const struct item *item, const struct phase_axis_config *axis)
{
    const struct grid_config *grid = &item->view->config->grid;
    struct written_axis written = {
        .axis = axis->axis, .low = axis->range[0], .high = axis->range[1], .centre = 0.5};
    if (phase_axis_is_space(axis->axis)) { /* where the edges of the cells are, to the last digit */
        const double spacing = grid->length[axis->axis] / grid->cells[axis->axis];
        written.low = phase_axis_edge(grid, axis->axis, written.low) * spacing;
        written.high = phase_axis_edge(grid, axis->axis, written.high) * spacing;
        written.unit = item->units.length;
    } else {
        written.unit = item->units.velocity;
        written.time_offset = -item->view->config->time.step / 2;
    }
    written.width = (written.high - written.low) / axis->bins;
    written.spacing = written.width * written.unit;
    written.offset = written.low * written.unit;
    return written;
}

static void fill_chunks(const void *source, uint64_t first, size_t count, void *values)
{
    const struct item *item = source;
    const size_t elements = phase_volume_chunk_elements(&item->volume);
    const double unit = item->weight / item->size; /* f where one macro-particle is in a bin */
    for (size_t n = 0; n < count; n++)
        phase_volume_read_chunk(&item->volume, item->counts, first + n, item->sums + n * elements);
    communicator_sum_counts(item->view->communicator, count * elements, item->sums);
    for (size_t n = 0; n < count * elements; n++)
        view_store(item->view, values, n, (double)item->sums[n] * unit);
}

static hid_t write_dataset(struct hdf5_file *file, hid_t meshes, const char *name, const struct item *item)
{
    struct hdf5_chunks chunks = {.type = hdf5_real(item->view->config->precision),
                                 .dimensions = (int)item->volume.dimensions,
                                 .fill = fill_chunks,
                                 .source = item};
    for (uint32_t k = 0; k < item->volume.dimensions; k++) {
        chunks.shape[k] = item->volume.shape[k];
        chunks.chunk[k] = item->volume.chunk[k];
    }
    return hdf5_chunked(file, meshes, name, &chunks);
}

/* ---- an item ---- */

static enum status item_create(struct phase_spaces *spaces, const struct view *view, uint32_t index,
                               struct item *item)
{
    const struct config *config = view->config;
    const struct particles *list = &view->particles[phase_space_species(config, index)];
    *item = (struct item){.view = view,
                          .space = &config->output.phase_space[index],
                          .volume = phase_volume_make(&config->output.phase_space[index]),
                          .units = units_make(&config->units),
                          .weight = list->weight,
                          .size = 1,
                          .particles = list->count};
    for (uint32_t k = 0; k < item->volume.dimensions; k++) {
        item->axes[k] = written_axis(item, &item->space->axes[item->volume.axes[k]]);
        item->size *= item->axes[k].width;
        item->space_axes += phase_axis_is_space(item->axes[k].axis);
    }
    const uint64_t elements = phase_volume_elements(&item->volume);
    item->counts = malloc((size_t)elements * sizeof *item->counts);
    item->sums =
        malloc(HDF5_CHUNKS_PIECE * (size_t)phase_volume_chunk_elements(&item->volume) * sizeof *item->sums);
    if (!item->counts || !item->sums)
        return status_fail(STATUS_FAILED, "no memory to write %" PRIu64 " bins of phase space", elements);
    TRY(phase_spaces_count(spaces, view, index, item->counts));
    for (uint64_t n = 0; n < elements; n++)
        item->inside += item->counts[n];
    return STATUS_OK;
}

/* Adds up all ranks. What is outside is in no bin: the log tells of it while the run goes on. */
static void count_outside(struct item *item, const char *name, bool is_first)
{
    static const double many = 0.1;
    uint64_t totals[2] = {item->particles, item->inside};
    communicator_sum_counts(item->view->communicator, 2, totals);
    item->particles = totals[0];
    item->inside = totals[1];
    const double outside = (double)(item->particles - item->inside) / (double)item->particles;
    if (is_first && item->view->log && outside > many)
        log_line(item->view->log, LOG_NORMAL, "%s: %.0f %% of the particles lie outside its ranges", name,
                 100 * outside);
}

/* ---- attributes ---- */

/* f is a density in space, summed over the axes of space that are missing, and per volume in velocity. */
static void write_units(struct hdf5_file *file, hid_t mesh, const struct item *item)
{
    const double space = item->space_axes, velocity = item->volume.dimensions - space;
    const double density = item->units.particles / pow(item->units.length, 3);
    hdf5_doubles(file, mesh, "unitDimension", OPENPMD_DIMENSIONS,
                 (const double[OPENPMD_DIMENSIONS]){-3 + (2 - space) - velocity, 0, velocity});
    hdf5_double(file, mesh, "unitSI",
                density * pow(item->units.length, 2 - space) / pow(item->units.velocity, velocity));
}

static void write_axes(struct hdf5_file *file, hid_t mesh, const struct item *item)
{
    static const char *const letters[] = {"x", "y", "u", "v"};
    static const struct {
        const char *name;
        size_t member; /* of struct written_axis */
    } rows[] = {
        {"gridSpacing", offsetof(struct written_axis, spacing)},
        {"gridGlobalOffset", offsetof(struct written_axis, offset)},
        {"position", offsetof(struct written_axis, centre)},
        {"axisLow", offsetof(struct written_axis, low)},
        {"axisHigh", offsetof(struct written_axis, high)},
        {"axisUnitSI", offsetof(struct written_axis, unit)},
        {"axisTimeOffset", offsetof(struct written_axis, time_offset)},
    };
    const uint32_t dimensions = item->volume.dimensions;
    const char *labels[CONFIG_PHASE_AXES];
    for (uint32_t k = 0; k < dimensions; k++)
        labels[k] = letters[item->axes[k].axis];
    hdf5_texts(file, mesh, "axisLabels", dimensions, labels);
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        double values[CONFIG_PHASE_AXES];
        for (uint32_t k = 0; k < CONFIG_PHASE_AXES; k++)
            memcpy(&values[k], (const char *)&item->axes[k] + rows[n].member, sizeof values[k]);
        hdf5_doubles(file, mesh, rows[n].name, dimensions, values);
    }
    hdf5_double(file, mesh, "gridUnitSI", 1);
    hdf5_double(file, mesh, "timeOffset", item->space_axes > 0 ? 0 : -item->view->config->time.step / 2);
}

static void write_attributes(struct hdf5_file *file, hid_t mesh, const struct item *item)
{
    const uint64_t outside = item->particles - item->inside;
    hdf5_text(file, mesh, "geometry", "other");
    hdf5_text(file, mesh, "geometryParameters",
              "phase space;u and v: velocities along x and y;axisLow, axisHigh: of the axes, in units of "
              "axisUnitSI");
    hdf5_text(file, mesh, "dataOrder", "C");
    write_units(file, mesh, item);
    write_axes(file, mesh, item);
    hdf5_text(file, mesh, "species", item->space->species);
    hdf5_double(file, mesh, "weight", item->weight);
    hdf5_uint64s(file, mesh, "particlesInside", 0, &item->inside);
    hdf5_uint64s(file, mesh, "particlesOutside", 0, &outside);
    hdf5_double(file, mesh, "weightOutside", (double)outside * item->weight);
    hdf5_text(file, mesh, "comment",
              "number density in phase space: weight times the macro-particles in a bin, by its volume; "
              "positions are at the iteration's time, velocities half a time step earlier (axisTimeOffset); "
              "particles outside the ranges are counted in particlesOutside alone");
}

/* ---- the file ---- */

static void write_item(struct openpmd *openpmd, struct phase_spaces *spaces, uint32_t index)
{
    char name[CONFIG_NAME_LENGTH + 16];
    struct hdf5_file *file = &openpmd->file;
    struct item item = {0};
    phase_space_name(openpmd->view->config, index, name, sizeof name);
    if (file->status == STATUS_OK) /* else the sentence of that failure is to stay */
        hdf5_file_fail(file, item_create(spaces, openpmd->view, index, &item));
    if (hdf5_file_agree(file)) {
        count_outside(&item, name, phase_spaces_is_first(spaces, index));
        const hid_t mesh = write_dataset(file, openpmd->meshes, name, &item);
        write_attributes(file, mesh, &item);
        hdf5_close(file, mesh);
    }
    free(item.counts);
    free(item.sums);
}

enum status phase_spaces_write(void *spaces, const char *folder, const struct view *view, uint64_t *bytes)
{
    const struct output_config *output = &view->config->output;
    struct openpmd openpmd;
    *bytes = 0;
    TRY(openpmd_create(view, folder, "data", OPENPMD_BASE, &openpmd));
    for (uint32_t i = 0; i < output->phase_space_count; i++)
        if (view_is_due(view, output->phase_space[i].every))
            write_item(&openpmd, spaces, i);
    return openpmd_finish(&openpmd, bytes);
}

uint64_t phase_space_bytes(const struct config *config, uint32_t index)
{
    /* Groups and attributes; then, for each chunk, its index and checksum. */
    const uint64_t frame = 16384, each = 128;
    const struct phase_volume volume = phase_volume_make(&config->output.phase_space[index]);
    const uint64_t chunk = phase_volume_chunk_elements(&volume) * precision_bytes(config->precision);
    return frame + phase_volume_chunks(&volume) * (chunk + each);
}

void phase_spaces_print_size(const struct config *config)
{
    for (uint32_t i = 0; i < config->output.phase_space_count; i++) {
        char name[CONFIG_NAME_LENGTH + 16], what[CONFIG_NAME_LENGTH + 32];
        phase_space_name(config, i, name, sizeof name);
        snprintf(what, sizeof what, " of %s", name);
        outputs_print_files("phase space", outputs_times_due(config, config->output.phase_space[i].every),
                            what, phase_space_bytes(config, i));
    }
}
