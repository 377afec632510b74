/* Sorted list: from the device into the memory of a file. */
#include "output/sorted_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Collective. */
static enum status count_all(const struct view *view, struct sorted_list *list)
{
    const struct communicator *communicator = view->communicator;
    const uint64_t own = list->count;
    uint64_t *counts = malloc((size_t)communicator->size * sizeof *counts);
    const enum status status = communicator_agree(
        communicator,
        counts ? STATUS_OK : status_fail(STATUS_FAILED, "no memory for the counts of all ranks"));
    if (status != STATUS_OK) {
        free(counts);
        return status;
    }
    communicator_gather(communicator, sizeof own, &own, counts);
    list->before = list->all = 0;
    for (int rank = 0; rank < communicator->size; rank++) {
        list->before += rank < communicator->rank ? counts[rank] : 0;
        list->all += counts[rank];
    }
    free(counts);
    return STATUS_OK;
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
    for (size_t cell = 0; cell < cells; cell++) /* without a way out, for the sake of vectors */
        descents += offsets[cell] > offsets[cell + 1];
    if (descents == 0)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": the cells do not hold the %" PRIu32
                       " particles of the list; this state is not written",
                       list->species->name, list->step, particles->count);
}

/* What is left of the list are the chosen particles. */
static enum status choose(const struct selection *selection, const struct particles *particles,
                          struct sorted_list *list)
{
    TRY(selection_choose(selection, particles, list->before, list->first_id, &list->count));
    return particles->count > 0
               ? selection_cells(selection, particles, slab_own_cells(&list->slab), list->cell_offsets)
               : STATUS_OK;
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
    hdf5_file_fail(file, count_all(view, &list));
    const double whole = (double)list.all;
    list.cell_offsets =
        hdf5_file_keep(file, (slab_own_cells(view->slab) + (size_t)1) * sizeof *list.cell_offsets);
    if (list.cell_offsets)
        hdf5_file_fail(file, copy_offsets(particles, &list));
    if (selection) {
        if (file->status == STATUS_OK)
            hdf5_file_fail(file, choose(selection, particles, &list));
        hdf5_file_fail(file, count_all(view, &list));
    }
    list.weight = particles->weight * (list.all > 0 ? whole / (double)list.all : 1);
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (attribute_present(particles->species, a))
            list.data[a] = data[a] = hdf5_file_keep(file, list.count * attribute_bytes(list.precision, a));
    if (selection && file->status == STATUS_OK)
        hdf5_file_fail(file, selection_copy(selection, particles, list.count, data));
    for (enum attribute a = 0; a < ATTRIBUTES && !selection; a++)
        if (data[a])
            hdf5_file_fail(file, particles_copy(particles, a, data[a]));
    return hdf5_file_keep_copy(file, sizeof list, &list);
}

uint32_t sorted_list_cell(const struct sorted_list *list, uint64_t j)
{
    return range_at(list->cell_offsets, slab_own_cells(&list->slab), j);
}
