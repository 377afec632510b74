/* Average: launches of kernels/average.cl, and the transfer of means to other ranks and into checkpoints. */
#include "output/average.h"

#include <string.h>

struct average {
    const struct output_row *row;
    struct device *device; /* not owned */
    enum precision precision;
    size_t count;
    double *numbers;          /* [count]: see average_numbers() */
    struct average_keys keys; /* of meshes; none of an output with a list */
    uint32_t meshes, windows;
    struct kernel *add;
    struct slab slab;     /* the means are of its own rows */
    uint32_t *first_rows; /* [ranks + 1], of all ranks; NULL: there is no memory for means yet */
    struct buffer *means; /* real[windows][meshes][2][own cells]: a mean, and what it holds too much */
};

uint32_t average_windows(const struct config *config, struct average_keys keys)
{
    const bool is_asked_for = keys.every > 0 && keys.states > 1;
    return !is_asked_for ? 0 : config->time.steps % keys.every == 0 ? 1 : 2;
}

uint64_t average_states(const struct view *view, struct average_keys keys, uint32_t window)
{
    if (window >= average_windows(view->config, keys))
        return 0;
    const uint64_t next = (view->step + keys.every - 1) / keys.every * keys.every;
    const uint64_t end = window == 0 ? next : view->config->time.steps;
    const uint64_t begin = end < keys.states ? 0 : end - keys.states + 1;
    const uint64_t known = view->average ? (uint64_t)view->average->numbers[window] : 0;
    return view->step < begin ? 0 : view->step - (begin < known ? known : begin) + 1;
}

/* 0: the output does not average. */
static size_t count_numbers(const struct output_row *row, const struct config *config)
{
    uint32_t windows = 0;
    size_t points = 0;
    const char *item;
    for (uint32_t n = 0; (item = outputs_item(row, config, n)); n++) {
        windows |= average_windows(config, outputs_keys(row, config, n));
        points += row->points ? *(const uint32_t *)(item + row->points) : row->items.size > 0;
    }
    return windows ? AVERAGE_WINDOWS * (1 + points * field_first(config->fields.solver, FIELDS)) : 0;
}

static struct average_keys mesh_keys(const struct output_row *row, const struct config *config)
{
    return row->items.size > 0 ? (struct average_keys){0} : outputs_keys(row, config, 0);
}

enum status average_create(struct device *device, const struct output_row *row, const struct config *config,
                           struct average **created)
{
    struct average *average;
    struct program *program = NULL;
    const size_t count = count_numbers(row, config);
    const struct average_keys keys = mesh_keys(row, config);
    *created = NULL;
    if (count == 0)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, average));
    *created = average;
    *average = (struct average){.row = row,
                                .device = device,
                                .precision = config->precision,
                                .count = count,
                                .keys = keys,
                                .windows = average_windows(config, keys)};
    TRY(DEVICE_NEW_ARRAY(device, average->numbers, count));
    if (average->windows == 0)
        return STATUS_OK;
    average->meshes = outputs_size(row, config).meshes;
    TRY(program_build(device, "average.cl", config->precision, &program, "%s", ""));
    return kernel_create(program, "average_add", &average->add);
}

double *average_numbers(const struct average *average)
{
    return average->numbers;
}

/* box[of a plane] <- of the rank's rows as they are now: what a checkpoint has, or the ranks had together. */
static enum status fetch_plane(const struct average *average, const struct view *view,
                               const struct hdf5_source *source, uint32_t plane, double *box)
{
    const struct slab *slab = view->slab, *old = &average->slab;
    const size_t ny = slab->box.ny, before = slab_own_cells(old);
    const struct hdf5_rows own = {
        H5T_NATIVE_DOUBLE, {slab->box.nx, slab->box.ny}, slab->first_row, slab->rows};
    char path[2 * CONFIG_NAME_LENGTH];
    snprintf(path, sizeof path, "/%s/%u", average->row->name, plane);
    memset(box, 0, grid_cells(&slab->box) * sizeof *box);
    if (source)
        return hdf5_read_rows(source, path, &own, box + slab->first_row * ny);
    if (!average->means)
        return STATUS_OK;
    const enum status status = buffer_read_reals(average->means, average->precision, plane * before, before,
                                                 box + old->first_row * ny);
    communicator_sum(view->communicator, grid_cells(&slab->box), box);
    return status;
}

/* All ranks have the same partition, so all of them return early or none does. */
enum status average_follow_rows(struct average *average, const struct view *view,
                                const struct hdf5_source *source, uint32_t windows)
{
    const size_t ends = (size_t)view->partition->ranks + 1, bytes = ends * sizeof *average->first_rows;
    const size_t own = slab_own_cells(view->slab), real = precision_bytes(average->precision);
    const uint32_t planes = 2 * average->meshes * average->windows, known = 2 * average->meshes * windows;
    struct average now = *average;
    struct device *branch = NULL;
    double *box = NULL;
    if (average->windows == 0 ||
        (average->means && memcmp(average->first_rows, view->partition->first, bytes) == 0))
        return STATUS_OK;
    now.slab = *view->slab;
    TRY(device_branch(average->device, &branch));
    enum status status = DEVICE_NEW_ARRAY(branch, box, grid_cells(&view->slab->box));
    if (status == STATUS_OK && !average->means)
        status = DEVICE_NEW_ARRAY(average->device, now.first_rows, ends);
    TRY_IF_OK(buffer_create(average->device, planes * own * real, "means over steps", &now.means));
    status = communicator_agree(view->communicator, status);
    for (uint32_t plane = 0; plane < planes && status == STATUS_OK; plane++) {
        status = fetch_plane(average, view, plane < known ? source : NULL, plane, box);
        TRY_IF_OK(buffer_write_reals(now.means, average->precision, plane * own, own,
                                     box + view->slab->first_row * view->slab->box.ny));
        status = communicator_agree(view->communicator, status);
    }
    device_close(&branch);
    TRY(status);
    buffer_destroy(&average->means);
    memcpy(now.first_rows, view->partition->first, bytes);
    *average = now;
    return STATUS_OK;
}

struct average_place average_place(const struct average *average, const struct view *view, uint32_t window,
                                   uint32_t mesh)
{
    const uint32_t own = slab_own_cells(&average->slab);
    return (struct average_place){
        .means = average->means,
        .states = average_states(view, average->keys, window),
        .first = 2 * (uint64_t)(window * average->meshes + mesh) * own,
        .plane = own,
    };
}

enum status average_add(const struct average *average, const struct view *view, uint32_t mesh,
                        struct buffer *values)
{
    for (uint32_t w = 0; w < average->windows; w++) {
        const struct average_place to = average_place(average, view, w, mesh);
        if (to.states > 0)
            TRY(KERNEL_LAUNCH(average->add, launch_flat(to.plane, STAGE_OUTPUT, 0), values, to.plane,
                              to.states, to.first, to.means));
    }
    return STATUS_OK;
}

enum status average_read(const struct average *average, const struct view *view, uint32_t mesh, void *values)
{
    const size_t size = precision_bytes(average->precision);
    const struct average_place from = average_place(average, view, average_ending(view, average->keys), mesh);
    return values ? buffer_read(from.means, from.first * size, from.plane * size, values) : STATUS_OK;
}

uint64_t average_ended(const struct average *average, const struct view *view)
{
    return average_states(view, average->keys, average_ending(view, average->keys));
}

/* ---- in checkpoints ---- */

/* Whether the items of an output, or what it has of meshes and when, are as they were. */
static bool goes_on(const struct output_row *row, const struct config *config, const struct config *old)
{
    const char *now, *before;
    if (count_numbers(row, config) != count_numbers(row, old))
        return false;
    if (row->items.size == 0)
        return memcmp((const char *)config + row->every, (const char *)old + row->every, row->same) == 0;
    for (uint32_t n = 0; (now = outputs_item(row, config, n)); n++) {
        before = outputs_item(row, old, n);
        if (!before || memcmp(now, before, row->items.size) != 0)
            return false;
    }
    return true;
}

enum status average_begin(struct average *average, const struct view *view, const struct config *old,
                          const struct hdf5_source *source)
{
    const struct config *config = view->config;
    const struct hdf5_rows all = {H5T_NATIVE_DOUBLE, {average->count}, 0, average->count};
    const bool is_known = old && goes_on(average->row, config, old);
    const bool is_as_long = is_known && config->time.steps == old->time.steps;
    const uint32_t windows = is_as_long ? AVERAGE_WINDOWS : is_known;
    char path[STEP_FILES_NAME];
    snprintf(path, sizeof path, "/%s/means", average->row->name);
    if (is_known)
        TRY(hdf5_read_rows(source, path, &all, average->numbers));
    for (uint32_t w = windows; w < AVERAGE_WINDOWS; w++)
        average->numbers[w] = (double)view->step;
    return average_follow_rows(average, view, is_known ? source : NULL, windows);
}

static void save_plane(const struct average *average, uint32_t plane, struct hdf5_object *group,
                       const struct slab *slab)
{
    char number[16];
    const size_t own = slab_own_cells(slab);
    double *values = hdf5_file_room(group->file, own * sizeof *values);
    if (values && average)
        hdf5_file_fail(group->file,
                       buffer_read_reals(average->means, average->precision, plane * own, own, values));
    snprintf(number, sizeof number, "%u", plane);
    hdf5_dataset(group, number,
                 &(struct hdf5_array){.type = HDF5_DOUBLE,
                                      .dimensions = 2,
                                      .shape = {slab->box.nx, slab->box.ny},
                                      .first = slab->first_row * (uint64_t)slab->box.ny,
                                      .count = own,
                                      .source = values});
}

void average_save(struct average *average, const struct output_row *row, struct hdf5_file *file,
                  const struct view *view)
{
    const uint64_t count = count_numbers(row, view->config), bytes = count * sizeof(double);
    const uint32_t windows = average_windows(view->config, mesh_keys(row, view->config));
    const uint32_t planes = windows > 0 ? 2 * windows * outputs_size(row, view->config).meshes : 0;
    if (count == 0 || (!average && !view->has_no_data))
        return;
    struct hdf5_object *group = hdf5_group(&file->root, row->name);
    hdf5_dataset(
        group, "means",
        &(struct hdf5_array){.type = HDF5_DOUBLE,
                             .dimensions = 1,
                             .shape = {count},
                             .count = view->communicator->rank == 0 ? count : 0,
                             .source = average ? hdf5_file_keep_copy(file, bytes, average->numbers) : NULL});
    if (average)
        hdf5_file_fail(file, average_follow_rows(average, view, NULL, 0));
    for (uint32_t plane = 0; plane < planes && group; plane++)
        save_plane(average, plane, group, view->slab);
}
