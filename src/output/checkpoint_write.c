/* Checkpoint, writing: from the device piece by piece into the file, every number looked at on the way. */
#include "output/checkpoint.h"

#include "base/stop.h"
#include "config/config_reader.h"
#include "output/outputs.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Most bits of an offset or velocity are noise: level 1 leaves 82 to 89 % of them, at 50 MB/s and core, a
 * small part of what a disk takes. */
enum { NO_COMPRESSION = 0 };

static void write_array(struct hdf5_file *file, hid_t parent, const char *name,
                        const struct hdf5_array *array)
{
    hdf5_close(file, hdf5_dataset(file, parent, name, array));
}

/* ---- particles ---- */

/* No particle may have got lost, or the file would not be read back. */
static enum status require_all(const struct sorted_list *list)
{
    const struct species_config *species = list->particles->species;
    if (list->all == species->particles)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": %" PRIu64 " particles are there, not %" PRIu64
                       "; this state is not written as a checkpoint",
                       species->name, list->view->step, list->all, species->particles);
}

/* An attribute of a list. */
struct column {
    const struct sorted_list *list;
    enum attribute attribute;
};

static enum status refuse_value(const struct column *column, uint64_t n, double value)
{
    const struct sorted_list *list = column->list;
    const struct slab *slab = list->view->slab;
    const uint32_t components = attribute_table[column->attribute].components;
    const uint32_t cell = sorted_list_cell(list, n / components);
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": %s[%" PRIu64 "] of a particle in cell (%" PRIu32
                       ", %" PRIu32 ") is %g; this state is not written as a checkpoint",
                       list->particles->species->name, list->view->step,
                       attribute_table[column->attribute].name, n % components,
                       slab_global_row(slab, cell / slab->box.ny), cell % slab->box.ny, value);
}

static enum status fill_attribute(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    const struct attribute_info *info = &attribute_table[column->attribute];
    if (!info->is_real)
        return buffer_read(list->particles->attribute[column->attribute], first * sizeof(uint64_t),
                           count * sizeof(uint64_t), values);
    TRY(particles_read(list->particles, column->attribute, first / info->components, count / info->components,
                       list->values));
    for (size_t n = 0; n < count; n++) {
        if (!attribute_accepts(column->attribute, list->values[n]))
            return refuse_value(column, first + n, list->values[n]);
        view_store(list->view, values, n, list->values[n]);
    }
    return STATUS_OK;
}

static enum status fill_cell_counts(const void *source, uint64_t first, size_t count, void *values)
{
    const uint32_t *offsets = ((const struct sorted_list *)source)->cell_offsets + first;
    for (size_t n = 0; n < count; n++)
        ((uint32_t *)values)[n] = offsets[n + 1] - offsets[n];
    return STATUS_OK;
}

static enum status fill_row_counts(const void *source, uint64_t first, size_t count, void *values)
{
    const struct sorted_list *list = source;
    const uint32_t ny = list->view->slab->box.ny;
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] =
            list->cell_offsets[(first + n + 1) * ny] - list->cell_offsets[(first + n) * ny];
    return STATUS_OK;
}

static void write_list(struct hdf5_file *file, hid_t group, const struct sorted_list *list)
{
    const struct slab *slab = list->view->slab;
    const uint64_t nx = slab->box.nx, ny = slab->box.ny, first = slab->first_row, rows = slab->rows;
    write_array(file, group, "row_counts",
                &(struct hdf5_array){H5T_NATIVE_UINT64, {nx, 0}, first, rows, fill_row_counts, list});
    write_array(file, group, "cell_counts",
                &(struct hdf5_array){H5T_NATIVE_UINT32, {nx, ny}, first, rows, fill_cell_counts, list});
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        const struct column column = {list, a};
        const struct hdf5_array array = {attribute_type(list->view->config->precision, a),
                                         {list->all, attribute_table[a].components},
                                         list->before,
                                         list->particles->count,
                                         fill_attribute,
                                         &column};
        if (attribute_present(list->particles->species, a))
            write_array(file, group, attribute_table[a].name, &array);
    }
}

/* ---- the rest of the state ---- */

static void write_config(struct hdf5_file *file, const struct view *view)
{
    size_t length = 0;
    struct config resolved = *view->config; /* what was measured once is not measured again */
    resolved.fields.decomposition = view->decomposition;
    char *text = config_as_text(&resolved, &length);
    if (!text)
        hdf5_file_fail(file, STATUS_FAILED);
    const uint64_t own = view->communicator->rank == 0 ? length : 0;
    if (hdf5_file_agree(file)) /* the length, too */
        write_array(file, file->id, "config",
                    &(struct hdf5_array){H5T_NATIVE_UINT8, {length, 0}, 0, own, NULL, text});
    free(text);
}

static void write_frame(struct hdf5_file *file, const struct view *view)
{
    const uint32_t ranks = (uint32_t)view->partition->ranks, rank = (uint32_t)view->communicator->rank;
    const uint32_t species = view->config->species_count;
    const uint64_t ends = ranks + UINT64_C(1), own = rank == 0 ? ends : 0;
    const uint32_t *first_rows = view->partition->first;
    hdf5_numbers(file, file->id, "version", H5T_NATIVE_UINT32, 0, &(uint32_t){CHECKPOINT_VERSION});
    hdf5_numbers(file, file->id, "step", H5T_NATIVE_UINT64, 1, &view->step);
    hdf5_double(file, file->id, "first_energy", view->first_energy);
    hdf5_numbers(file, file->id, "ranks", H5T_NATIVE_UINT32, 0, &ranks);
    hdf5_numbers(file, file->id, "ghost", H5T_NATIVE_UINT32, 0, &view->ghost);
    write_config(file, view);
    write_array(file, file->id, "first_rows",
                &(struct hdf5_array){H5T_NATIVE_UINT32, {ends, 0}, 0, own, NULL, first_rows});
    uint32_t capacities[CONFIG_MAX_SPECIES];
    for (uint32_t n = 0; n < species; n++)
        capacities[n] = view->particles[n].capacity;
    write_array(file, file->id, "capacities",
                &(struct hdf5_array){H5T_NATIVE_UINT32, {ranks, species}, rank, 1, NULL, capacities});
}

static void write_content(struct hdf5_file *file, const struct view *view)
{
    write_frame(file, view);
    const hid_t particles = hdf5_group(file, file->id, "particles");
    for (uint32_t s = 0; s < view->config->species_count && hdf5_file_agree(file); s++) {
        struct sorted_list list;
        const hid_t group = hdf5_group(file, particles, view->config->species[s].name);
        hdf5_file_fail(file, sorted_list_create(view, s, &list));
        if (file->status == STATUS_OK)
            hdf5_file_fail(file, require_all(&list));
        if (hdf5_file_agree(file))
            write_list(file, group, &list);
        sorted_list_destroy(&list);
        hdf5_close(file, group);
    }
    hdf5_close(file, particles);
}

/* ---- the file ---- */

/* Once the checkpoint of `step` is safe: see checkpoint.h for what stays. */
static enum status remove_others(const char *folder, uint64_t step, uint32_t keep)
{
    struct numbered_file *files;
    size_t count;
    uint32_t kept = 1;
    enum status status = numbered_files_list(folder, CHECKPOINT_PREFIX, &files, &count);
    for (size_t n = 0; n < count && status == STATUS_OK; n++) {
        const struct numbered_file *file = &files[n];
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, file->name);
        if (file->unfinished || file->step > step || (file->step < step && kept >= keep))
            status = file_remove(folder, file->name, "which a newer checkpoint replaces");
        else if (file->step < step && checkpoint_seal_check(path, false) == STATUS_OK)
            kept++;
    }
    free(files);
    return status;
}

enum status checkpoint_write(const char *folder, const struct view *view, uint32_t keep, uint64_t *bytes)
{
    char name[64];
    struct hdf5_file file;
    *bytes = 0;
    snprintf(name, sizeof name, CHECKPOINT_PREFIX "%" PRIu64 ".h5", view->step);
    TRY(hdf5_file_create(view->communicator, folder, name, NO_COMPRESSION, CHECKPOINT_BLOCK, &file));
    file.seal = checkpoint_seal;
    write_content(&file, view);
    TRY(hdf5_file_finish(&file, bytes));
    return communicator_agree(view->communicator, view->communicator->rank == 0
                                                      ? remove_others(folder, view->step, keep)
                                                      : STATUS_OK);
}

/* ---- when one is due: by steps, but not in the first one of a run; by the clock; or for a signal to any
 * rank, unless the run ends of itself: then it ends with STATUS_STOPPED ---- */

struct checkpoints {
    double last; /* timer_now() of the last one, or of the start */
    int signal;  /* that asks for the one that is due, or 0 */
};

static enum status create_checkpoints(struct device *device, const struct config *config, void **part)
{
    struct checkpoints *checkpoints;
    (void)config;
    TRY(DEVICE_NEW(device, checkpoints));
    checkpoints->last = timer_now();
    *part = checkpoints;
    return STATUS_OK;
}

static bool are_due(void *part, const struct view *view)
{
    struct checkpoints *checkpoints = part;
    const struct checkpoints_config *config = &view->config->output.checkpoints;
    const double minutes = (timer_now() - checkpoints->last) / 60;
    double wishes[2] = {(double)stop_signal(), config->minutes > 0 && minutes >= config->minutes};
    communicator_max(view->communicator, 2, wishes);
    checkpoints->signal = view->step >= view->config->time.steps ? 0 : (int)wishes[0];
    return checkpoints->signal != 0 || wishes[1] > 0 ||
           (view->step != view->first_step && view_is_due(view, config->every));
}

static enum status write_due(void *part, const char *folder, const struct view *view, uint64_t *bytes)
{
    struct checkpoints *checkpoints = part;
    TRY(checkpoint_write(folder, view, view->config->output.checkpoints.keep, bytes));
    checkpoints->last = timer_now();
    if (checkpoints->signal == 0)
        return STATUS_OK;
    return status_fail(STATUS_STOPPED, "stopped by %s at step %llu (t = %g), with a checkpoint in %s",
                       checkpoints->signal == SIGINT ? "SIGINT" : "SIGTERM", (unsigned long long)view->step,
                       view->time, folder);
}

/* Of the state, to which the file adds some kilobytes. */
static uint64_t bytes_of(const struct config *config)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < config->species_count; s++) {
        bytes += sizeof(uint32_t) * config->grid.cells[0] * (uint64_t)config->grid.cells[1];
        for (enum attribute a = 0; a < ATTRIBUTES; a++)
            if (attribute_present(&config->species[s], a))
                bytes += config->species[s].particles * attribute_bytes(config->precision, a);
    }
    return bytes;
}

static void print_size(const struct config *config)
{
    const struct checkpoints_config *checkpoints = &config->output.checkpoints;
    const uint64_t every = checkpoints->every, steps = config->time.steps;
    const double megabytes = 1e-6 * (double)bytes_of(config);
    printf("checkpoints               ");
    if (every > 0) /* none of the loaded state, one of the last */
        printf("%llu, ", (unsigned long long)(steps / every + (steps % every != 0)));
    if (checkpoints->minutes > 0)
        printf("one every %g minutes, ", checkpoints->minutes);
    printf("one when a signal stops the run; about %.3g MB each, the newest %u kept: %.3g MB\n", megabytes,
           checkpoints->keep, checkpoints->keep * megabytes);
}

const struct output_row checkpoint_output = {.name = "checkpoints",
                                             .folder = "checkpoints",
                                             .prefix = CHECKPOINT_PREFIX,
                                             .every = offsetof(struct config, output.checkpoints.every),
                                             .needs = OUTPUT_NEEDS_SYNC,
                                             .is_due = are_due,
                                             .create = create_checkpoints,
                                             .write = write_due,
                                             .print_size = print_size};
