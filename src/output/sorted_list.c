/* Sorted list: counts over ranks, and the cells of its particles. */
#include "output/sorted_list.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_COMPONENTS = 2 }; /* of a real attribute */

static enum status create(struct sorted_list *list, uint64_t **counts)
{
    const struct particles *particles = list->particles;
    const size_t cells = slab_own_cells(list->view->slab);
    const size_t piece = particles->count < HDF5_PIECE ? particles->count : HDF5_PIECE;
    uint32_t *offsets = list->cell_offsets = calloc(cells + 1, sizeof *offsets);
    *counts = malloc((size_t)list->view->communicator->size * sizeof **counts);
    list->values = malloc((piece + 1) * MOST_COMPONENTS * sizeof *list->values);
    if (!offsets || !*counts || !list->values)
        return status_fail(STATUS_FAILED, "species %s: no memory to write its particles",
                           particles->species->name);
    if (particles->count > 0)
        TRY(buffer_read(particles->cell_offsets, 0, (cells + 1) * sizeof *offsets, offsets));
    bool is_sorted = offsets[0] == 0 && offsets[cells] == particles->count;
    for (size_t cell = 0; cell < cells && is_sorted; cell++)
        is_sorted = offsets[cell] <= offsets[cell + 1];
    if (is_sorted)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": the cells do not hold the %" PRIu32
                       " particles of the list; this state is not written",
                       particles->species->name, list->view->step, particles->count);
}

enum status sorted_list_create(const struct view *view, uint32_t species, struct sorted_list *list)
{
    const struct communicator *communicator = view->communicator;
    *list = (struct sorted_list){.view = view, .species = species, .particles = &view->particles[species]};
    uint64_t *counts = NULL;
    const enum status status = communicator_agree(communicator, create(list, &counts));
    if (status == STATUS_OK)
        communicator_gather_count(communicator, list->particles->count, counts);
    for (int rank = 0; rank < communicator->size && status == STATUS_OK; rank++) {
        list->before += rank < communicator->rank ? counts[rank] : 0;
        list->all += counts[rank];
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
    return range_at(list->cell_offsets, slab_own_cells(list->view->slab), j);
}
