/* Sorted list: counts over ranks, and the cells of its particles. */
#include "output/sorted_list.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_COMPONENTS = 2 }; /* of a real attribute */

static enum status allocate(struct sorted_list *list, uint64_t **counts)
{
    const size_t cells = slab_own_cells(list->view->slab);
    const size_t piece = list->particles->count < HDF5_PIECE ? list->particles->count : HDF5_PIECE;
    *counts = malloc((size_t)list->view->communicator->size * sizeof **counts);
    list->cell_offsets = calloc(cells + 1, sizeof *list->cell_offsets);
    list->values = malloc((piece + 1) * MOST_COMPONENTS * sizeof *list->values);
    return *counts && list->cell_offsets && list->values
               ? STATUS_OK
               : status_fail(STATUS_FAILED, "species %s: no memory to write its particles",
                             list->particles->species->name);
}

static enum status read_cell_offsets(struct sorted_list *list)
{
    const struct particles *particles = list->particles;
    const size_t cells = slab_own_cells(list->view->slab);
    uint32_t *offsets = list->cell_offsets;
    if (particles->count == 0)
        return STATUS_OK;
    TRY(buffer_read(particles->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets));
    bool sorted = offsets[0] == 0 && offsets[cells] == particles->count;
    for (size_t cell = 0; cell < cells && sorted; cell++)
        sorted = offsets[cell] <= offsets[cell + 1];
    if (sorted)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": the cells do not hold the %" PRIu32
                       " particles of the list; this state is not written",
                       particles->species->name, list->view->step, particles->count);
}

enum status sorted_list_create(const struct view *view, uint32_t species, struct sorted_list *list)
{
    const struct communicator *communicator = view->communicator;
    uint64_t *counts = NULL;
    *list = (struct sorted_list){.view = view, .species = species, .particles = &view->particles[species]};
    enum status status = allocate(list, &counts);
    if (status == STATUS_OK)
        status = read_cell_offsets(list);
    status = communicator_agree(communicator, status);
    if (status == STATUS_OK) {
        communicator_gather_counts(communicator, 1, &(uint64_t){list->particles->count}, counts);
        for (int rank = 0; rank < communicator->size; rank++) {
            list->before += rank < communicator->rank ? counts[rank] : 0;
            list->all += counts[rank];
        }
    }
    free(counts);
    return status;
}

void sorted_list_destroy(struct sorted_list *list)
{
    free(list->cell_offsets);
    free(list->values);
}

uint32_t sorted_list_cell(const struct sorted_list *list, uint64_t j)
{
    uint32_t low = 0, high = slab_own_cells(list->view->slab); /* the cell is in [low, high) */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->cell_offsets[middle] <= j)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum status sorted_list_read(const struct sorted_list *list, enum attribute attribute, uint64_t first,
                             size_t count)
{
    return particles_read(list->particles, attribute, (size_t)first, count, list->values);
}

enum status sorted_list_read_integers(const struct sorted_list *list, enum attribute attribute,
                                      uint64_t first, size_t count, uint64_t *values)
{
    return buffer_read(list->particles->attribute[attribute], (size_t)first * sizeof *values,
                       count * sizeof *values, values);
}
