/* Checkpoint, writing: a copy of the state, every number of a particle looked at on the way into the file. */
#include "base/stop.h"
#include "config/config_reader.h"
#include "folder/checkpoint_seal.h"
#include "output/checkpoints.h"
#include "output/outputs.h"
#include "output/provenance.h"
#include "output/sorted_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- particles ---- */

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
    for (uint64_t n = first; n < first + count && attribute_table[a].is_real; n++) {
        const double value = load_real(list->precision, list->data[a], n);
        if (!attribute_accepts(a, value))
            return refuse_value(column, n, value);
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
    const uint32_t ny = list->slab.box.ny;
    for (size_t n = 0; n < count; n++)
        ((uint64_t *)values)[n] =
            list->cell_offsets[(first + n + 1) * ny] - list->cell_offsets[(first + n) * ny];
    return STATUS_OK;
}

/* An array of one dimension (shape[1] is 0) or two: the rank has `count` elements from `first` on. */
static void write_array(struct hdf5_object *group, const char *name, enum hdf5_type type,
                        const uint64_t shape[2], uint64_t first, uint64_t count, hdf5_fill *fill,
                        const void *source)
{
    const struct hdf5_array array = {.type = type,
                                     .dimensions = shape[1] ? 2 : 1,
                                     .shape = {shape[0], shape[1]},
                                     .first = first,
                                     .count = count,
                                     .fill = fill,
                                     .source = source};
    hdf5_dataset(group, name, &array);
}

static void write_list(struct hdf5_object *group, const struct sorted_list *list)
{
    const uint64_t ny = list->slab.box.ny, shape[2] = {list->slab.box.nx, ny}, rows = list->slab.rows;
    const uint64_t first = list->slab.first_row;
    write_array(group, "row_counts", HDF5_UINT64, (uint64_t[]){shape[0], 0}, first, rows, fill_row_counts,
                list);
    write_array(group, "cell_counts", HDF5_UINT32, shape, first * ny, rows * ny, fill_cell_counts, list);
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        const uint64_t components = attribute_table[a].components;
        const struct column column = {list, a};
        if (attribute_present(list->species, a))
            write_array(
                group, attribute_table[a].name, hdf5_number(list->precision, attribute_table[a].is_real),
                (uint64_t[]){list->all, components}, list->before * components, list->count * components,
                fill_attribute, hdf5_file_keep_copy(group->file, sizeof column, &column));
    }
}

/* ---- the rest of the state ---- */

/* An array of one dimension, of which all ranks have the same and rank 0 writes it. */
static void write_common(struct hdf5_object *group, const struct view *view, const char *name,
                         enum hdf5_type type, uint64_t length, const void *values)
{
    const uint64_t count = view->communicator->rank == 0 ? length : 0;
    write_array(group, name, type, (uint64_t[]){length, 0}, 0, count, NULL, values);
}

struct kept_waves {
    struct waves waves;
    size_t real; /* bytes */
    const char *modes;
};

static enum status fill_waves(const void *source, uint64_t first, size_t count, void *values)
{
    const struct kept_waves *kept = source;
    for (size_t n = 0; n < count; n++) {
        const size_t place = waves_place(&kept->waves, first + n);
        memcpy((char *)values + n * kept->real, kept->modes + place * kept->real, kept->real);
    }
    return STATUS_OK;
}

/* Rank 0 writes what all ranks have, or each rank its own columns. */
static void write_waves(struct hdf5_file *file, const struct view *view)
{
    const struct config *config = view->config;
    const struct waves *waves = view->fields->waves;
    const uint64_t shape[2] = {config->grid.cells[1] / 2 + 1,
                               2 * WAVE_COMPONENTS * (uint64_t)config->grid.cells[0]};
    struct kept_waves kept = {.real = precision_bytes(config->precision)};
    if (config->fields.solver != SOLVER_ELECTROMAGNETIC)
        return;
    if (waves && (waves->columns < shape[0] || view->communicator->rank == 0)) {
        void *const modes = hdf5_file_room(file, buffer_bytes(waves->modes));
        if (modes && !file->has_no_data)
            hdf5_file_fail(file, buffer_read(waves->modes, 0, buffer_bytes(waves->modes), modes));
        kept.modes = modes;
        kept.waves = *waves;
    }
    write_array(&file->root, "waves", hdf5_real(config->precision), shape, kept.waves.first_column * shape[1],
                kept.waves.columns * shape[1], fill_waves, hdf5_file_keep_copy(file, sizeof kept, &kept));
}

static void write_frame(struct hdf5_file *file, const struct view *view)
{
    struct hdf5_object *root = &file->root;
    const uint32_t ranks = (uint32_t)view->partition->ranks, rank = (uint32_t)view->communicator->rank;
    const uint32_t species = view->config->species_count;
    const size_t ends = ranks + (size_t)1;
    size_t length = 0;
    struct config resolved = *view->config; /* what was measured once is not measured again */
    resolved.fields.decomposition = view->decomposition;
    char *text = config_as_text(&resolved, &length);
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
    if (text)
        write_common(root, view, "config", HDF5_UINT8, length, hdf5_file_keep_copy(file, length, text));
    else
        hdf5_file_fail(file, STATUS_FAILED);
    free(text);
    write_common(root, view, "first_rows", HDF5_UINT32, ends,
                 hdf5_file_keep_copy(file, ends * sizeof(uint32_t), view->partition->first));
    if (view->config->output.history.work)
        write_common(root, view, "external_work", HDF5_DOUBLE, species,
                     hdf5_file_keep_copy(file, species * sizeof *view->work, view->work));
    for (uint32_t n = 0; n < species; n++)
        capacities[n] = view->particles[n].capacity;
    write_array(root, "capacities", HDF5_UINT32, (uint64_t[]){ranks, species}, (uint64_t)rank * species,
                species, NULL, hdf5_file_keep_copy(file, sizeof capacities, capacities));
}

/* ---- when one is due ---- */

int checkpoints_signal(const struct view *view)
{
    return view->stop_signal ? view->stop_signal : stop_signal();
}

bool checkpoints_are_late(const struct checkpoints *checkpoints, const struct view *view)
{
    const double wanted = view->config->output.checkpoints.minutes;
    return wanted > 0 && (timer_now() - checkpoints->last) / 60 >= wanted;
}

bool checkpoints_are_due(struct checkpoints *checkpoints, const struct view *view, int signal, bool is_late)
{
    const struct checkpoints_config *config = &view->config->output.checkpoints;
    const uint64_t every = config->every == 0 && config->minutes > 0 ? UINT64_MAX : config->every;
    checkpoints->signal = view->step >= view->config->time.steps ? 0 : signal;
    const bool are_due =
        checkpoints->signal != 0 || is_late || (view->step != view->first_step && view_is_due(view, every));
    checkpoints->last = are_due ? timer_now() : checkpoints->last;
    return are_due;
}

enum status checkpoints_stop(const struct checkpoints *checkpoints, const struct view *view,
                             const char *folder)
{
    return status_fail(STATUS_STOPPED, "stopped by SIG%s at step %llu (t = %g), with a checkpoint in %s/%s",
                       stop_name(checkpoints->signal), (unsigned long long)view->step, view->time, folder,
                       checkpoint_files.folder);
}

/* ---- the file, and what `check` says of it ---- */

/* Fails when a particle is lost or holds a non-finite value: the sentence names species, step and cell. */
static void record_checkpoint(void *part, struct hdf5_file *file, const struct view *view)
{
    (void)part;
    file->is_plain = true;
    file->user_block = CHECKPOINT_BLOCK;
    file->seal = checkpoint_seal;
    write_frame(file, view);
    write_waves(file, view);
    outputs_save(view->outputs, file, view);
    struct hdf5_object *particles = hdf5_group(&file->root, "particles");
    for (uint32_t s = 0; s < view->config->species_count; s++) {
        struct hdf5_object *group = hdf5_group(particles, view->config->species[s].name);
        const struct species_facts *facts = &view->config->species[s].read.facts;
        const struct sorted_list *list = sorted_list_copy(file, view, s, NULL);
        if (species_file(&view->config->species[s])[0])
            write_common(group, view, "file", HDF5_UINT64, SPECIES_FACTS,
                         hdf5_file_keep_copy(file, sizeof *facts, facts));
        if (list && list->all != list->species->particles) /* the file would not be read back */
            hdf5_file_fail(file,
                           status_fail(STATUS_FAILED,
                                       "species %s, step %" PRIu64 ": %" PRIu64
                                       " particles are there, not %" PRIu64
                                       "; this state is not written as a checkpoint",
                                       list->species->name, list->step, list->all, list->species->particles));
        if (group && list)
            write_list(group, list);
    }
}

static void print_size(const struct config *config)
{
    const struct checkpoints_config *checkpoints = &config->output.checkpoints;
    const uint64_t every = checkpoints->every, steps = config->time.steps;
    const double megabytes = 1e-6 * (double)outputs_size(&checkpoint_output, config).bytes;
    printf("checkpoints               ");
    if (every > 0) /* none of the loaded state, one of the last */
        printf("%llu, ", (unsigned long long)(steps / every + (steps % every != 0)));
    if (checkpoints->minutes > 0)
        printf("one every %g minutes and at the end, ", checkpoints->minutes);
    printf("%s; each has about %.3g MB, and the newest %u are kept: %.3g MB at most\n",
           checkpoints->signal_count > 0 ? "one when a signal stops the run" : "none at a signal", megabytes,
           checkpoints->keep, checkpoints->keep * megabytes);
}

const struct output_row checkpoint_output = {.name = "checkpoints",
                                             .files = &checkpoint_files,
                                             .cheaper_by = "a larger output.checkpoints.every",
                                             .every = offsetof(struct config, output.checkpoints.every),
                                             .record = record_checkpoint,
                                             .print_size = print_size};
