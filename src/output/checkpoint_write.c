/* Checkpoint, writing: a copy of the state, every number of which is looked at on the way into the file. */
#include "output/checkpoint.h"

#include "base/stop.h"
#include "config/config_reader.h"
#include "output/outputs.h"
#include "output/provenance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- particles ---- */

/* No particle may have got lost, or the file would not be read back. */
static enum status require_all(const struct sorted_list *list)
{
    if (list->all == list->species->particles)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": %" PRIu64 " particles are there, not %" PRIu64
                       "; this state is not written as a checkpoint",
                       list->species->name, list->step, list->all, list->species->particles);
}

/* An attribute of a list. */
struct column {
    const struct sorted_list *list;
    enum attribute attribute;
};

static enum status refuse_value(const struct column *column, uint64_t n, double value)
{
    const struct sorted_list *list = column->list;
    const uint32_t components = attribute_table[column->attribute].components, ny = list->slab.box.ny;
    const uint32_t cell = sorted_list_cell(list, n / components);
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": %s[%" PRIu64 "] of a particle in cell (%" PRIu32
                       ", %" PRIu32 ") is %g; this state is not written as a checkpoint",
                       list->species->name, list->step, attribute_table[column->attribute].name,
                       n % components, slab_global_row(&list->slab, cell / ny), cell % ny, value);
}

static enum status fill_attribute(const void *source, uint64_t first, size_t count, void *values)
{
    const struct column *column = source;
    const struct sorted_list *list = column->list;
    const enum attribute a = column->attribute;
    const size_t bytes = attribute_bytes(list->precision, a) / attribute_table[a].components;
    memcpy(values, (const char *)list->data[a] + first * bytes, count * bytes);
    for (uint64_t n = first; n < first + count && attribute_table[a].is_real; n++)
        if (!attribute_accepts(a, sorted_list_real(list, a, n)))
            return refuse_value(column, n, sorted_list_real(list, a, n));
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
    const uint32_t ny = list->slab.box.ny;
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] =
            list->cell_offsets[(first + n + 1) * ny] - list->cell_offsets[(first + n) * ny];
    return STATUS_OK;
}

static void write_list(struct hdf5_object *group, const struct sorted_list *list)
{
    const uint64_t nx = list->slab.box.nx, ny = list->slab.box.ny, first = list->slab.first_row,
                   rows = list->slab.rows;
    hdf5_dataset(group, "row_counts",
                 &(struct hdf5_array){HDF5_UINT64, 1, {nx}, {0}, first, rows, fill_row_counts, list});
    hdf5_dataset(
        group, "cell_counts",
        &(struct hdf5_array){HDF5_UINT32, 2, {nx, ny}, {0}, first * ny, rows * ny, fill_cell_counts, list});
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        const uint64_t components = attribute_table[a].components;
        const struct column column = {list, a};
        if (attribute_present(list->species, a))
            hdf5_dataset(group, attribute_table[a].name,
                         &(struct hdf5_array){attribute_type(list->precision, a),
                                              2,
                                              {list->all, components},
                                              {0},
                                              list->before * components,
                                              list->count * components,
                                              fill_attribute,
                                              hdf5_file_keep_copy(group->file, sizeof column, &column)});
    }
}

/* ---- the rest of the state ---- */

/* An array of one dimension, of which all ranks have the same and rank 0 writes it. */
static void write_common(struct hdf5_file *file, const struct view *view, const char *name,
                         enum hdf5_type type, uint64_t length, const void *values)
{
    const void *kept = hdf5_file_keep_copy(file, length * hdf5_size(type), values);
    const uint64_t count = view->communicator->rank == 0 ? length : 0;
    hdf5_dataset(&file->root, name, &(struct hdf5_array){type, 1, {length}, {0}, 0, count, NULL, kept});
}

static void write_config(struct hdf5_file *file, const struct view *view)
{
    size_t length = 0;
    struct config resolved = *view->config; /* what was measured once is not measured again */
    resolved.fields.decomposition = view->decomposition;
    char *text = config_as_text(&resolved, &length);
    if (text)
        write_common(file, view, "config", HDF5_UINT8, length, text);
    else
        hdf5_file_fail(file, STATUS_FAILED);
    free(text);
}

static void write_frame(struct hdf5_file *file, const struct view *view)
{
    struct hdf5_object *root = &file->root;
    const uint32_t ranks = (uint32_t)view->partition->ranks, rank = (uint32_t)view->communicator->rank;
    const uint32_t species = view->config->species_count;
    uint32_t capacities[CONFIG_MAX_SPECIES];
    hdf5_numbers(root, "version", HDF5_UINT32, 0, &(uint32_t){CHECKPOINT_VERSION});
    hdf5_numbers(root, "run", HDF5_UINT64, 0, &view->run);
    hdf5_numbers(root, "step", HDF5_UINT64, 1, &view->step);
    hdf5_double(root, "first_energy", view->first_energy);
    if (view->config->fields.drive_count > 0)
        hdf5_double(root, "drive_work", view->drive_work);
    hdf5_numbers(root, "ranks", HDF5_UINT32, 0, &ranks);
    hdf5_numbers(root, "ghost", HDF5_UINT32, 0, &view->ghost);
    provenance_record(file, view);
    write_config(file, view);
    write_common(file, view, "first_rows", HDF5_UINT32, ranks + UINT64_C(1), view->partition->first);
    for (uint32_t n = 0; n < species; n++)
        capacities[n] = view->particles[n].capacity;
    hdf5_dataset(root, "capacities",
                 &(struct hdf5_array){HDF5_UINT32,
                                      2,
                                      {ranks, species},
                                      {0},
                                      (uint64_t)rank * species,
                                      species,
                                      NULL,
                                      hdf5_file_keep_copy(file, sizeof capacities, capacities)});
}

/* ---- when one is due: by steps, but not in the first one of a run; by the clock, and then at the end; or
 * for a signal to any rank, unless the run ends of itself: then it ends with STATUS_STOPPED ---- */

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
    const uint64_t every = config->every == 0 && config->minutes > 0 ? UINT64_MAX : config->every;
    const double minutes = (timer_now() - checkpoints->last) / 60;
    double wishes[2] = {(double)stop_signal(), config->minutes > 0 && minutes >= config->minutes};
    communicator_max(view->communicator, 2, wishes);
    checkpoints->signal = view->step >= view->config->time.steps ? 0 : (int)wishes[0];
    return checkpoints->signal != 0 || wishes[1] > 0 ||
           (view->step != view->first_step && view_is_due(view, every));
}

/* Recording or writing fails when a particle is lost or holds a non-finite value: the sentence names species,
 * step and cell. */
static void record_checkpoint(void *part, struct hdf5_file *file, const struct view *view)
{
    struct checkpoints *checkpoints = part;
    if (checkpoints)
        checkpoints->last = timer_now();
    file->is_plain = true;
    file->user_block = CHECKPOINT_BLOCK;
    file->seal = checkpoint_seal;
    write_frame(file, view);
    struct hdf5_object *particles = hdf5_group(&file->root, "particles");
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        struct hdf5_object *group = hdf5_group(particles, view->config->species[s].name);
        const struct sorted_list *list = sorted_list_copy(file, view, s, NULL);
        if (list)
            hdf5_file_fail(file, require_all(list));
        if (group && list)
            write_list(group, list);
    }
}

static enum status stop(void *part, const char *folder, const struct view *view)
{
    const struct checkpoints *checkpoints = part;
    if (checkpoints->signal == 0)
        return STATUS_OK;
    return status_fail(STATUS_STOPPED, "stopped by SIG%s at step %llu (t = %g), with a checkpoint in %s",
                       stop_name(checkpoints->signal), (unsigned long long)view->step, view->time, folder);
}

static void print_size(const struct config *config)
{
    const struct checkpoints_config *checkpoints = &config->output.checkpoints;
    const uint64_t every = checkpoints->every, steps = config->time.steps;
    const double megabytes = 1e-6 * (double)outputs_bytes(&checkpoint_output, config);
    printf("checkpoints               ");
    if (every > 0) /* none of the loaded state, one of the last */
        printf("%llu, ", (unsigned long long)(steps / every + (steps % every != 0)));
    if (checkpoints->minutes > 0)
        printf("one every %g minutes and at the end, ", checkpoints->minutes);
    printf("%s; about %.3g MB each, the newest %u kept: %.3g MB\n",
           checkpoints->signal_count > 0 ? "one when a signal stops the run" : "none at a signal", megabytes,
           checkpoints->keep, checkpoints->keep * megabytes);
}

const struct output_row checkpoint_output = {.name = "checkpoints",
                                             .folder = "checkpoints",
                                             .prefix = CHECKPOINT_PREFIX,
                                             .cheaper_by = "a larger output.checkpoints.every",
                                             .every = offsetof(struct config, output.checkpoints.every),
                                             .keep = offsetof(struct config, output.checkpoints.keep),
                                             .needs = OUTPUT_NEEDS_SYNC,
                                             .is_due = are_due,
                                             .create = create_checkpoints,
                                             .record = record_checkpoint,
                                             .stop = stop,
                                             .print_size = print_size};
