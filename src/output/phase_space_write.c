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

/* One axis of the written array, in normalised units. */
struct written_axis {
    enum phase_axis axis;
    double low, high, width; /* width: of a bin */
};

/* One item while it is written. */
struct item {
    const struct view *view;
    const struct phase_space_config *space;
    struct phase_volume volume;
    struct written_axis axes[CONFIG_PHASE_AXES];
    double weight;              /* of a macro-particle */
    double unit;                /* f where one macro-particle is in a bin */
    uint32_t *counts;           /* owned: of this rank */
    uint64_t *sums;             /* owned: of all ranks, for a piece of the file */
    uint64_t particles, inside; /* of all ranks */
};

static struct written_axis written_axis(const struct config *config, const struct phase_space_config *space,
                                        uint32_t k)
{
    struct written_axis written = {space->axes[k].axis, space->axes[k].range[0], space->axes[k].range[1], 0};
    if (phase_axis_is_space(written.axis)) { /* where the edges of the cells are, to the last digit */
        const double spacing = config->grid.length[written.axis] / config->grid.cells[written.axis];
        written.low = phase_axis_edge(&config->grid, written.axis, written.low) * spacing;
        written.high = phase_axis_edge(&config->grid, written.axis, written.high) * spacing;
    }
    written.width = (written.high - written.low) / space->axes[k].bins;
    return written;
}

static void fill_chunks(const void *source, uint64_t first, size_t count, void *values)
{
    const struct item *item = source;
    const size_t elements = phase_volume_chunk_elements(&item->volume);
    for (size_t n = 0; n < count; n++)
        phase_volume_read_chunk(&item->volume, item->counts, first + n, item->sums + n * elements);
    communicator_sum_counts(item->view->communicator, count * elements, item->sums);
    for (size_t n = 0; n < count * elements; n++)
        view_store(item->view, values, n, (double)item->sums[n] * item->unit);
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
    *item = (struct item){.view = view,
                          .space = &config->output.phase_space[index],
                          .volume = phase_volume_make(&config->output.phase_space[index])};
    const uint32_t s = phase_space_species(config, index);
    double size = 1;
    for (uint32_t k = 0; k < item->volume.dimensions; k++) {
        item->axes[k] = written_axis(config, item->space, item->volume.axes[k]);
        size *= item->axes[k].width;
    }
    item->weight = view->particles[s].weight;
    item->unit = item->weight / size;
    item->particles = view->particles[s].count;
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

static void item_destroy(struct item *item)
{
    free(item->counts);
    free(item->sums);
}

/* Those of all ranks. */
static void add_totals(struct item *item)
{
    uint64_t totals[2] = {item->particles, item->inside};
    communicator_sum_counts(item->view->communicator, 2, totals);
    item->particles = totals[0];
    item->inside = totals[1];
}

/* What is outside is in no bin: whoever chose the ranges should know while the run goes on. */
static void tell_outside(const struct item *item, const char *name)
{
    static const double many = 0.1;
    const double outside = (double)(item->particles - item->inside) / (double)item->particles;
    if (item->view->log && outside > many)
        log_line(item->view->log, LOG_NORMAL, "%s: %.0f %% of the particles lie outside its ranges", name,
                 100 * outside);
}

/* ---- attributes ---- */

static const char *const axis_labels[] = {"x", "y", "u", "v"};

static bool is_space(const struct item *item, uint32_t k)
{
    return phase_axis_is_space(item->axes[k].axis);
}

static uint32_t space_axes(const struct item *item)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < item->volume.dimensions; k++)
        count += is_space(item, k);
    return count;
}

/* f is a density in space, summed over the axes of space that are missing, and per volume in velocity. */
static void write_units(struct hdf5_file *file, hid_t mesh, const struct item *item,
                        const struct units *units)
{
    const double space = space_axes(item), velocity = item->volume.dimensions - space;
    const double dimension[OPENPMD_DIMENSIONS] = {-3 + (2 - space) - velocity, 0, velocity, 0, 0, 0, 0};
    const double density = units->particles / pow(units->length, 3);
    hdf5_doubles(file, mesh, "unitDimension", OPENPMD_DIMENSIONS, dimension);
    hdf5_double(file, mesh, "unitSI",
                density * pow(units->length, 2 - space) / pow(units->velocity, velocity));
}

static void write_axes(struct hdf5_file *file, hid_t mesh, const struct item *item, const struct units *units)
{
    const uint32_t dimensions = item->volume.dimensions;
    const double half_step_back = -item->view->config->time.step / 2;
    const char *labels[CONFIG_PHASE_AXES];
    double spacing[CONFIG_PHASE_AXES], offset[CONFIG_PHASE_AXES], low[CONFIG_PHASE_AXES],
        high[CONFIG_PHASE_AXES], unit[CONFIG_PHASE_AXES], time_offset[CONFIG_PHASE_AXES],
        centre[CONFIG_PHASE_AXES];
    for (uint32_t k = 0; k < dimensions; k++) {
        const struct written_axis *axis = &item->axes[k];
        labels[k] = axis_labels[axis->axis];
        low[k] = axis->low;
        high[k] = axis->high;
        unit[k] = is_space(item, k) ? units->length : units->velocity;
        spacing[k] = axis->width * unit[k];
        offset[k] = axis->low * unit[k];
        time_offset[k] = is_space(item, k) ? 0 : half_step_back;
        centre[k] = 0.5;
    }
    hdf5_texts(file, mesh, "axisLabels", dimensions, labels);
    hdf5_doubles(file, mesh, "gridSpacing", dimensions, spacing);
    hdf5_doubles(file, mesh, "gridGlobalOffset", dimensions, offset);
    hdf5_double(file, mesh, "gridUnitSI", 1);
    hdf5_doubles(file, mesh, "position", dimensions, centre);
    hdf5_double(file, mesh, "timeOffset", space_axes(item) > 0 ? 0 : half_step_back);
    hdf5_doubles(file, mesh, "axisLow", dimensions, low);
    hdf5_doubles(file, mesh, "axisHigh", dimensions, high);
    hdf5_doubles(file, mesh, "axisUnitSI", dimensions, unit);
    hdf5_doubles(file, mesh, "axisTimeOffset", dimensions, time_offset);
}

static void write_attributes(struct hdf5_file *file, hid_t mesh, const struct item *item)
{
    const struct units units = units_make(&item->view->config->units);
    const uint64_t outside = item->particles - item->inside;
    hdf5_text(file, mesh, "geometry", "other");
    hdf5_text(file, mesh, "geometryParameters",
              "phase space;u and v: velocities along x and y;axisLow, axisHigh: of the axes, in units of "
              "axisUnitSI");
    hdf5_text(file, mesh, "dataOrder", "C");
    write_units(file, mesh, item, &units);
    write_axes(file, mesh, item, &units);
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
        add_totals(&item);
        if (phase_spaces_is_first(spaces, index))
            tell_outside(&item, name);
        const hid_t mesh = write_dataset(file, openpmd->meshes, name, &item);
        write_attributes(file, mesh, &item);
        hdf5_close(file, mesh);
    }
    item_destroy(&item);
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
