/* Sorted list: from the device into a file's memory, all or the particles that are chosen. */
#include "output/sorted_list.h"

#include "base/integers.h"

#include <inttypes.h>
#include <string.h>

/* Collective. */
static void count_all(struct hdf5_file *file, const struct communicator *communicator,
                      struct sorted_list *list)
{
    const uint64_t own = list->count;
    uint64_t *counts = hdf5_file_keep(file, (size_t)communicator->size * sizeof *counts);
    hdf5_file_fail(file, communicator_agree(communicator, file->status));
    list->before = list->all = 0;
    if (file->status != STATUS_OK)
        return;
    communicator_gather(communicator, sizeof own, &own, counts);
    for (int rank = 0; rank < communicator->size; rank++) {
        list->before += rank < communicator->rank ? counts[rank] : 0;
        list->all += counts[rank];
    }
}

static enum status copy_offsets(const struct particles *particles, struct sorted_list *list)
{
    const size_t cells = slab_own_cells(&list->slab);
    uint32_t *offsets = list->cell_offsets;
    if (particles->count > 0)
        TRY(buffer_read(particles->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets));
    else
        memset(offsets, 0, (cells + 1) * sizeof *offsets);
    uint32_t descents = offsets[0] != 0 || offsets[cells] != particles->count;
    for (size_t cell = 0; cell < cells; cell++) /* without an early return, for vector instructions */
        descents += offsets[cell] > offsets[cell + 1];
    if (descents == 0)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": the cells do not hold the %" PRIu32
                       " particles of the list; this state is not written",
                       list->species->name, list->step, particles->count);
}

/* data[a] <- attribute a of the particles, or of the `count` chosen ones through the spare arrays; where
 * data[a] is NULL it is left out. Blocking. */
static enum status copy_attributes(const struct selection *selection, const struct particles *particles,
                                   uint32_t count, void *const data[ATTRIBUTES])
{
    struct particles copied = *particles;
    struct particle_array arrays[ATTRIBUTES];
    const uint32_t number = selection ? particles_arrays(&copied, arrays) : 0;
    for (uint32_t n = 0; n < number; n++)
        TRY(selection_copy(selection, &copied, &arrays[n], count));
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        copied.attribute[a] = selection ? copied.spare[a] : copied.attribute[a];
        if (data[a])
            TRY(particles_copy(&copied, a, 0, count, data[a]));
    }
    return STATUS_OK;
}

/* Collective. The list gets the number and the cells of the particles that are chosen. The weight grows by
 * the sample alone: particles of the sample that fulfil a condition stand for all that fulfil it. */
static void choose(struct hdf5_file *file, const struct view *view, const struct selection *selection,
                   const struct particles *particles, struct sorted_list *list)
{
    const double whole = (double)list->all;
    if (file->status == STATUS_OK)
        hdf5_file_fail(file,
                       selection_sample(selection, particles, list->first_id, list->before, &list->count));
    count_all(file, view->communicator, list);
    list->weight *= list->all > 0 ? whole / (double)list->all : 1;
    if (selection_has_condition(selection)) {
        if (file->status == STATUS_OK)
            hdf5_file_fail(file, selection_meet(selection, particles, view->slab, &list->count));
        count_all(file, view->communicator, list);
    }
    if (file->status == STATUS_OK)
        hdf5_file_fail(file,
                       selection_cells(selection, particles, slab_own_cells(view->slab), list->cell_offsets));
}

struct sorted_list *sorted_list_copy(struct hdf5_file *file, const struct view *view, uint32_t species,
                                     const struct selection *selection)
{
    const struct particles *particles = &view->particles[species];
    struct sorted_list list = {.species = particles->species,
                               .precision = particles->precision,
                               .step = view->step,
                               .slab = *view->slab,
                               .count = particles->count};
    void *data[ATTRIBUTES] = {NULL};
    for (uint32_t s = 0; s < species; s++)
        list.first_id += view->config->species[s].particles;
    list.all = particles->species->particles;
    if (file->has_no_data)
        return hdf5_file_keep_copy(file, sizeof list, &list);
    count_all(file, view->communicator, &list);
    list.weight = particles->weight;
    list.cell_offsets =
        hdf5_file_keep(file, (slab_own_cells(view->slab) + (size_t)1) * sizeof *list.cell_offsets);
    if (list.cell_offsets)
        hdf5_file_fail(file, copy_offsets(particles, &list));
    if (selection)
        choose(file, view, selection, particles, &list);
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (attribute_present(particles->species, a))
            list.data[a] = data[a] = hdf5_file_keep(file, list.count * attribute_bytes(list.precision, a));
    if (file->status == STATUS_OK)
        hdf5_file_fail(file, copy_attributes(selection, particles, list.count, data));
    return hdf5_file_keep_copy(file, sizeof list, &list);
}

uint32_t sorted_list_cell(const struct sorted_list *list, uint64_t j)
{
    return range_at(list->cell_offsets, slab_own_cells(&list->slab), j);
}
