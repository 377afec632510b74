/* Average: launches of kernels/average.cl, and the way of means to other ranks and into checkpoints. */
#include "output/average.h"

#include <stdio.h>
#include <string.h>

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
    const uint64_t known = view->means ? (uint64_t)view->means[window] : 0;
    return view->step < begin ? 0 : view->step - (begin < known ? known : begin) + 1;
}

struct average {
    struct device *device; /* not owned */
    enum precision precision;
    struct average_keys keys;
    uint32_t meshes, windows;
    struct kernel *add;
    struct slab slab;     /* the means are of its own rows */
    uint32_t *first_rows; /* [ranks + 1], of all ranks; NULL: there is no room yet */
    struct buffer *means; /* real[windows][meshes][2][own cells]: a mean, and what it holds too much */
};

enum status average_create(struct device *device, const struct config *config, struct average_keys keys,
                           uint32_t meshes, struct average **created)
{
    struct program *program = NULL;
    TRY(DEVICE_NEW(device, *created));
    **created = (struct average){.device = device,
                                 .precision = config->precision,
                                 .keys = keys,
                                 .meshes = meshes,
                                 .windows = average_windows(config, keys)};
    TRY(program_build(device, "average.cl", config->precision, &program, "%s", ""));
    return kernel_create(program, "average_add", &(*created)->add);
}

/* box[of a plane] <- of the rank's rows as they are now: what a checkpoint has, or the ranks had together. */
static enum status fetch_plane(const struct average *average, const struct view *view,
                               const struct hdf5_source *source, const char *name, uint32_t plane,
                               double *box)
{
    const struct slab *slab = view->slab, *old = &average->slab;
    const size_t ny = slab->box.ny, before = slab_own_cells(old);
    const struct hdf5_rows own = {
        H5T_NATIVE_DOUBLE, {slab->box.nx, slab->box.ny}, slab->first_row, slab->rows};
    char path[2 * CONFIG_NAME_LENGTH];
    snprintf(path, sizeof path, "/%s/%u", name, plane);
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

/* Whether rows have changed hands all ranks know alike. */
enum status average_settle(struct average *average, const struct view *view, const struct hdf5_source *source,
                           uint32_t windows, const char *name)
{
    const size_t ends = (size_t)view->partition->ranks + 1, bytes = ends * sizeof *average->first_rows;
    const size_t own = slab_own_cells(view->slab), real = precision_bytes(average->precision);
    const uint32_t planes = 2 * average->meshes * average->windows, known = 2 * average->meshes * windows;
    struct average now = *average;
    struct device *branch = NULL;
    double *box = NULL;
    if (average->means && memcmp(average->first_rows, view->partition->first, bytes) == 0)
        return STATUS_OK;
    now.slab = *view->slab;
    TRY(device_branch(average->device, &branch));
    enum status status = DEVICE_NEW_ARRAY(branch, box, grid_cells(&view->slab->box));
    if (status == STATUS_OK && !average->means)
        status = DEVICE_NEW_ARRAY(average->device, now.first_rows, ends);
    if (status == STATUS_OK)
        status = buffer_create(average->device, planes * own * real, "means over steps", &now.means);
    status = communicator_agree(view->communicator, status);
    for (uint32_t plane = 0; plane < planes && status == STATUS_OK; plane++) {
        status = fetch_plane(average, view, plane < known ? source : NULL, name, plane, box);
        if (status == STATUS_OK)
            status = buffer_write_reals(now.means, average->precision, plane * own, own,
                                        box + view->slab->first_row * view->slab->box.ny);
        status = communicator_agree(view->communicator, status);
    }
    device_close(&branch);
    TRY(status);
    buffer_destroy(&average->means);
    memcpy(now.first_rows, view->partition->first, bytes);
    *average = now;
    return STATUS_OK;
}

enum status average_take(const struct average *average, const struct view *view, uint32_t mesh,
                         struct buffer *buffer, uint32_t first, uint32_t cell, uint32_t cells, void *values)
{
    const uint32_t own = slab_own_cells(&average->slab);
    const size_t bytes = own * precision_bytes(average->precision);
    const size_t plane = 2 * (average_ending(view, average->keys) * average->meshes + mesh);
    for (uint32_t w = 0; w < average->windows; w++) {
        const uint64_t states = average_states(view, average->keys, w);
        const uint64_t place = 2 * (uint64_t)(w * average->meshes + mesh) * own + cell;
        if (states > 0)
            TRY(KERNEL_LAUNCH(average->add, launch_flat(cells, STAGE_OUTPUT, 0), buffer, first, cells, states,
                              place, own, average->means));
    }
    const bool is_wanted = values && cell + cells == own;
    return is_wanted ? buffer_read(average->means, plane * bytes, bytes, values) : STATUS_OK;
}

uint64_t average_ended(const struct average *average, const struct view *view)
{
    return average_states(view, average->keys, average_ending(view, average->keys));
}

void average_save(const struct average *average, uint32_t planes, struct hdf5_object *group,
                  const struct view *view)
{
    const struct slab *slab = view->slab;
    const size_t own = slab_own_cells(slab);
    for (uint32_t plane = 0; plane < planes && group; plane++) {
        char number[16];
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
}
