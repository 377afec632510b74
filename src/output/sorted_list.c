/* Sorted list: from the device into the memory of a file. */
#include "output/sorted_list.h"

#include "base/pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Collective. */
static enum status count_all(const struct view *view, struct sorted_list *list)
{
    const struct communicator *communicator = view->communicator;
    const uint64_t own = list->count;
    uint64_t *counts = malloc((size_t)communicator->size * sizeof *counts);
    if (!counts) /* a few bytes: without them this rank cannot take part */
        return status_fail(STATUS_FAILED, "no memory for the counts of all ranks");
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
    bool is_sorted = offsets[0] == 0 && offsets[cells] == particles->count;
    for (size_t cell = 0; cell < cells && is_sorted; cell++)
        is_sorted = offsets[cell] <= offsets[cell + 1];
    if (is_sorted)
        return STATUS_OK;
    return status_fail(STATUS_FAILED,
                       "species %s, step %" PRIu64 ": the cells do not hold the %" PRIu32
                       " particles of the list; this state is not written",
                       list->species->name, list->step, particles->count);
}

struct cells_of_chosen {
    const uint32_t *chosen;
    uint32_t count;
    uint32_t *cell_offsets;
    size_t cells; /* and one more offset */
};

enum { CELLS = 1 << 14 /* of a piece */ };

/* cell_offsets[cell] <- how many of the chosen ones stand before it. */
static enum status count_piece(void *context, size_t n, void *scratch)
{
    const struct cells_of_chosen *of = context;
    const size_t first = n * CELLS, end = first + CELLS <= of->cells ? first + CELLS : of->cells + 1;
    uint32_t before = 0;
    (void)scratch;
    for (uint32_t after = of->count; before < after;) {
        const uint32_t middle = before + (after - before) / 2;
        if (of->chosen[middle] < of->cell_offsets[first])
            before = middle + 1;
        else
            after = middle;
    }
    for (size_t cell = first; cell < end; cell++) {
        while (before < of->count && of->chosen[before] < of->cell_offsets[cell])
            before++;
        of->cell_offsets[cell] = before;
    }
    return STATUS_OK;
}

/* What is left of the list are the chosen particles. */
static enum status keep_chosen(struct sorted_list *list, const uint32_t *chosen)
{
    struct cells_of_chosen of = {chosen, list->count, list->cell_offsets, slab_own_cells(&list->slab)};
    const struct pool_work work = {.make = count_piece, .context = &of};
    return pool_run(&work, of.cells / CELLS + 1);
}

const struct sorted_list *sorted_list_copy(struct hdf5_file *file, const struct view *view, uint32_t species,
                                           const struct selection *selection)
{
    const struct particles *particles = &view->particles[species];
    struct sorted_list list = {.species = particles->species,
                               .precision = particles->precision,
                               .step = view->step,
                               .slab = *view->slab,
                               .count = particles->count};
    const uint32_t *chosen = NULL;
    void *data[ATTRIBUTES] = {NULL};
    for (uint32_t s = 0; s < species; s++)
        list.first_id += view->config->species[s].particles;
    hdf5_file_fail(file, count_all(view, &list));
    const double whole = (double)list.all;
    list.cell_offsets =
        hdf5_file_keep(file, (slab_own_cells(view->slab) + (size_t)1) * sizeof *list.cell_offsets);
    if (list.cell_offsets)
        hdf5_file_fail(file, copy_offsets(particles, &list));
    if (selection) {
        chosen = selection_choose(selection, file, particles, list.before, list.first_id, &list.count);
        if (chosen)
            hdf5_file_fail(file, keep_chosen(&list, chosen));
        hdf5_file_fail(file, count_all(view, &list));
    }
    list.weight = particles->weight * (list.all > 0 ? whole / (double)list.all : 1);
    for (enum attribute a = 0; a < ATTRIBUTES; a++)
        if (attribute_present(particles->species, a))
            list.data[a] = data[a] = hdf5_file_keep(file, list.count * attribute_bytes(list.precision, a));
    if (chosen)
        hdf5_file_fail(file, selection_copy(selection, particles, chosen, list.count, data));
    for (enum attribute a = 0; a < ATTRIBUTES && !chosen; a++)
        if (data[a])
            hdf5_file_fail(file, particles_copy(particles, a, data[a]));
    return hdf5_file_keep_copy(file, sizeof list, &list);
}

uint32_t sorted_list_cell(const struct sorted_list *list, uint64_t j)
{
    return range_at(list->cell_offsets, slab_own_cells(&list->slab), j);
}
