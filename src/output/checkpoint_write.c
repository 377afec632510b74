/* Checkpoint, writing: from the device piece by piece into the file, every number looked at on the way. */
#include "output/checkpoint.h"

#include "config/config_reader.h"
#include "output/checkpoint_folder.h"
#include "output/checkpoint_format.h"
#include "output/checkpoint_seal.h"
#include "output/hdf5_array.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most bits of an offset or velocity are noise: level 1 leaves 82 to 89 % of them, at 50 MB/s and core, a
 * small part of what a disk takes. */
enum { NO_COMPRESSION = 0 };

/* ---- where each list of each rank stands in the file ---- */

enum { MOST_LISTS = CONFIG_MAX_SPECIES * CHECKPOINT_LISTS };

struct extents {
    uint64_t first[MOST_LISTS]; /* particles of the lower ranks, list CHECKPOINT_LISTS * species + which */
    uint64_t total[MOST_LISTS]; /* of all ranks */
};

static const struct particles *list_of(const struct view *view, uint32_t species, unsigned which)
{
    const struct particles *lists = which == CHECKPOINT_MAIN ? view->particles : view->guests;
    return lists ? &lists[species] : NULL;
}

static uint32_t count_of(const struct particles *particles)
{
    return particles ? particles->count : 0;
}

/* No particle may have got lost, or the file would not be read back. */
static enum status check_totals(const struct view *view, const struct extents *extents)
{
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        const struct species_config *species = &view->config->species[s];
        uint64_t total = 0;
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            total += extents->total[CHECKPOINT_LISTS * s + which];
        if (total != species->particles)
            return status_fail(STATUS_FAILED,
                               "species %s, step %" PRIu64 ": %" PRIu64 " particles are there, not %" PRIu64
                               "; this state is not written as a checkpoint",
                               species->name, view->step, total, species->particles);
    }
    return STATUS_OK;
}

/* Collective; the result is the same on all ranks. */
static enum status measure_extents(const struct view *view, struct extents *extents)
{
    const struct communicator *communicator = view->communicator;
    uint64_t counts[MOST_LISTS] = {0};
    *extents = (struct extents){{0}, {0}};
    for (uint32_t s = 0; s < view->config->species_count; s++)
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            counts[CHECKPOINT_LISTS * s + which] = count_of(list_of(view, s, which));

    uint64_t *all = malloc((size_t)communicator->size * sizeof counts);
    TRY(communicator_agree(communicator,
                           all ? STATUS_OK : status_fail(STATUS_FAILED, "no memory to write a checkpoint")));
    communicator_gather_counts(communicator, MOST_LISTS, counts, all);
    for (int rank = 0; rank < communicator->size; rank++) {
        for (unsigned n = 0; n < MOST_LISTS; n++) {
            const uint64_t count = all[(size_t)rank * MOST_LISTS + n];
            extents->first[n] += rank < communicator->rank ? count : 0;
            extents->total[n] += count;
        }
    }
    free(all);
    return check_totals(view, extents);
}

/* ---- one list ---- */

struct list {
    const struct view *view;
    const struct particles *particles; /* NULL: an empty list */
    uint32_t *offsets;                 /* owned: of the rank's own cells, and their end */
    double *pairs;                     /* owned: room for a piece */
};

static enum status read_cell_offsets(const struct list *list, size_t cells)
{
    const struct particles *particles = list->particles;
    TRY(buffer_read(particles->cell_offsets, 0, (cells + 1) * sizeof *list->offsets, list->offsets));
    bool sorted = list->offsets[0] == 0 && list->offsets[cells] == particles->count;
    for (size_t cell = 0; cell < cells && sorted; cell++)
        sorted = list->offsets[cell] <= list->offsets[cell + 1];
    return sorted ? STATUS_OK
                  : status_fail(STATUS_FAILED,
                                "species %s, step %" PRIu64 ": the cells do not hold the %" PRIu32
                                " particles of the list; this state is not written as a checkpoint",
                                particles->species->name, list->view->step, particles->count);
}

static enum status list_create(const struct view *view, uint32_t species, unsigned which, struct list *list)
{
    const size_t cells = slab_own_cells(view->slab);
    const uint32_t count = count_of(list_of(view, species, which));
    const size_t piece = count < HDF5_PIECE / 2 ? count : HDF5_PIECE / 2;
    *list = (struct list){.view = view, .particles = list_of(view, species, which)};
    list->offsets = calloc(cells + 1, sizeof *list->offsets);
    list->pairs = malloc((piece + 1) * 2 * sizeof *list->pairs);
    if (!list->offsets || !list->pairs)
        return status_fail(STATUS_FAILED, "species %s: no memory to write a checkpoint",
                           view->config->species[species].name);
    return count ? read_cell_offsets(list, cells) : STATUS_OK;
}

static void list_destroy(struct list *list)
{
    free(list->offsets);
    free(list->pairs);
}

/* The cell of particle j: the last one that begins at or before it. */
static uint32_t cell_of(const struct list *list, uint64_t j)
{
    uint32_t low = 0, high = slab_own_cells(list->view->slab); /* the cell is in [low, high) */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->offsets[middle] <= j)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static enum status refuse_value(const struct list *list, const char *name, uint64_t j, double value)
{
    const struct slab *slab = list->view->slab;
    const uint32_t cell = cell_of(list, j);
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": %s of a particle in cell (%" PRIu32 ", %" PRIu32
                       ") is %g; this state is not written as a checkpoint",
                       list->particles->species->name, list->view->step, name,
                       slab_global_row(slab, cell / slab->box.ny), cell % slab->box.ny, value);
}

/* Looks at and stores `count` pairs, of particles from `first` on. */
static enum status store_pairs(const struct list *list, const char *const names[2], bool are_offsets,
                               uint64_t first, size_t count, void *values)
{
    const bool is_single = list->view->config->precision == PRECISION_SINGLE;
    for (size_t n = 0; n < 2 * count; n++) {
        const double value = list->pairs[n];
        if (!(are_offsets ? checkpoint_is_offset(value) : isfinite(value)))
            return refuse_value(list, names[n % 2], first + n / 2, value);
        if (is_single)
            ((float *)values)[n] = (float)value;
        else
            ((double *)values)[n] = value;
    }
    return STATUS_OK;
}

static enum status fill_offset(const void *source, uint64_t first, size_t count, void *values)
{
    static const char *const names[2] = {"offset dx", "offset dy"};
    const struct list *list = source;
    TRY(particles_read_offsets(list->particles, list->view->config->precision, (size_t)first / 2, count / 2,
                               list->pairs));
    return store_pairs(list, names, true, first / 2, count / 2, values);
}

static enum status fill_velocity(const void *source, uint64_t first, size_t count, void *values)
{
    static const char *const names[2] = {"velocity u", "velocity v"};
    const struct list *list = source;
    TRY(particles_read_velocities(list->particles, list->view->config->precision, (size_t)first / 2,
                                  count / 2, list->pairs));
    return store_pairs(list, names, false, first / 2, count / 2, values);
}

static enum status fill_id(const void *source, uint64_t first, size_t count, void *values)
{
    const struct list *list = source;
    return buffer_read(list->particles->id, (size_t)first * sizeof(uint64_t), count * sizeof(uint64_t),
                       values);
}

static enum status fill_cell_counts(const void *source, uint64_t first, size_t count, void *values)
{
    const uint32_t *offsets = ((const struct list *)source)->offsets + first;
    for (size_t n = 0; n < count; n++)
        ((uint32_t *)values)[n] = offsets[n + 1] - offsets[n];
    return STATUS_OK;
}

static void write_array(struct hdf5_file *file, hid_t parent, const char *name,
                        const struct hdf5_array *array)
{
    hdf5_close(file, hdf5_dataset(file, parent, name, array));
}

static void write_list(struct hdf5_file *file, hid_t parent, const struct view *view,
                       const struct extents *extents, uint32_t species, unsigned which)
{
    const struct slab *slab = view->slab;
    const hid_t real = checkpoint_real(view->config->precision);
    struct list list;
    hdf5_file_fail(file, list_create(view, species, which, &list));
    const uint64_t total = extents->total[CHECKPOINT_LISTS * species + which];
    const uint64_t first = extents->first[CHECKPOINT_LISTS * species + which];
    const uint64_t count = count_of(list.particles);

    const hid_t group = hdf5_group(file, parent, checkpoint_list_names[which]);
    write_array(file, group, "cell_counts",
                &(struct hdf5_array){H5T_NATIVE_UINT32,
                                     2,
                                     {slab->box.nx, slab->box.ny},
                                     slab->first_row,
                                     slab->rows,
                                     fill_cell_counts,
                                     &list});
    write_array(file, group, "offset",
                &(struct hdf5_array){real, 2, {total, 2}, first, count, fill_offset, &list});
    write_array(file, group, "velocity",
                &(struct hdf5_array){real, 2, {total, 2}, first, count, fill_velocity, &list});
    if (view->config->species[species].ids)
        write_array(file, group, "id",
                    &(struct hdf5_array){H5T_NATIVE_UINT64, 1, {total, 0}, first, count, fill_id, &list});
    hdf5_close(file, group);
    list_destroy(&list);
}

/* ---- the rest of the state ---- */

static enum status fill_bytes(const void *source, uint64_t first, size_t count, void *values)
{
    memcpy(values, (const char *)source + first, count);
    return STATUS_OK;
}

static enum status fill_first_rows(const void *source, uint64_t first, size_t count, void *values)
{
    memcpy(values, ((const struct partition *)source)->first + first, count * sizeof(uint32_t));
    return STATUS_OK;
}

static enum status fill_capacities(const void *source, uint64_t first, size_t count, void *values)
{
    const uint32_t *capacity = (const uint32_t *)source + first;
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] = capacity[n];
    return STATUS_OK;
}

/* The config as text, which the caller frees. */
static enum status echo_to_memory(const struct config *config, char **text, size_t *length)
{
    *text = NULL;
    FILE *stream = open_memstream(text, length);
    enum status status = STATUS_FAILED;
    if (stream) {
        status = config_echo(config, stream);
        if (fclose(stream) == 0)
            return status;
    }
    return status_fail(STATUS_FAILED, "no memory for the config of a checkpoint");
}

static void write_config(struct hdf5_file *file, const struct view *view)
{
    struct config resolved = *view->config; /* what was measured once is not measured again */
    resolved.fields.decomposition = view->decomposition;
    char *text;
    size_t length = 0;
    hdf5_file_fail(file, echo_to_memory(&resolved, &text, &length));
    const uint64_t own = view->communicator->rank == 0 ? length : 0;
    if (hdf5_file_agree(file)) /* the length, too */
        write_array(file, file->id, "config",
                    &(struct hdf5_array){H5T_NATIVE_UINT8, 1, {length, 0}, 0, own, fill_bytes, text});
    free(text);
}

static void write_frame(struct hdf5_file *file, const struct view *view)
{
    const uint32_t ranks = (uint32_t)view->partition->ranks, rank = (uint32_t)view->communicator->rank;
    hdf5_uint32(file, file->id, "version", CHECKPOINT_VERSION);
    hdf5_uint64s(file, file->id, "step", 1, &view->step);
    hdf5_double(file, file->id, "first_energy", view->first_energy);
    hdf5_uint32(file, file->id, "ranks", ranks);
    hdf5_uint32(file, file->id, "ghost", view->ghost);
    write_config(file, view);
    write_array(file, file->id, "first_rows",
                &(struct hdf5_array){H5T_NATIVE_UINT32,
                                     1,
                                     {ranks + UINT64_C(1), 0},
                                     0,
                                     rank == 0 ? ranks + UINT64_C(1) : 0,
                                     fill_first_rows,
                                     view->partition});
    write_array(file, file->id, "capacities",
                &(struct hdf5_array){H5T_NATIVE_UINT64,
                                     2,
                                     {ranks, view->config->species_count},
                                     rank,
                                     1,
                                     fill_capacities,
                                     view->capacity});
}

static void write_content(struct hdf5_file *file, const struct view *view, const struct extents *extents)
{
    write_frame(file, view);
    const hid_t particles = hdf5_group(file, file->id, "particles");
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        const hid_t group = hdf5_group(file, particles, view->config->species[s].name);
        for (unsigned which = 0; which < CHECKPOINT_LISTS; which++)
            write_list(file, group, view, extents, s, which);
        hdf5_close(file, group);
    }
    hdf5_close(file, particles);
}

/* ---- the file ---- */

static void seal(struct hdf5_file *file)
{
    if (hdf5_file_close(file) == STATUS_OK && file->communicator->rank == 0 &&
        checkpoint_seal(file->temporary) != 0)
        hdf5_file_fail(
            file, status_fail(STATUS_FAILED, "%s: cannot write its digest: %s", file->path, strerror(errno)));
}

enum status checkpoint_write(const char *folder, const struct view *view, uint32_t keep, uint64_t *bytes)
{
    const bool is_first = view->communicator->rank == 0;
    *bytes = 0;
    struct extents extents;
    TRY(measure_extents(view, &extents));

    char name[CHECKPOINT_NAME_LENGTH];
    checkpoint_name(view->step, name);
    struct hdf5_file file;
    TRY(hdf5_file_create(view->communicator, folder, name, NO_COMPRESSION, CHECKPOINT_BLOCK, &file));
    write_content(&file, view, &extents);
    seal(&file);
    TRY(hdf5_file_finish(&file, bytes));
    return communicator_agree(view->communicator,
                              is_first ? checkpoint_folder_retain(folder, view->step, keep) : STATUS_OK);
}

uint64_t checkpoint_bytes(const struct config *config)
{
    const uint64_t cells = (uint64_t)config->grid.cells[0] * config->grid.cells[1];
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        const struct species_config *species = &config->species[s];
        const uint64_t each = 4 * precision_bytes(config->precision) + (species->ids ? sizeof(uint64_t) : 0);
        bytes += species->particles * each + CHECKPOINT_LISTS * sizeof(uint32_t) * cells;
    }
    return bytes;
}
