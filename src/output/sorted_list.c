/* Sorted list: from the device into a file's memory, all or the particles chosen by kernels/selection.cl. */
#include "output/sorted_list.h"

#include "base/integers.h"

#include <inttypes.h>
#include <string.h>

/* ---- selection ---- */

enum {
    WORD = 32,         /* particles, a bit each */
    BLOCK = 64,        /* words, as in the kernels */
    ELEMENT_SIZES = 4, /* of elements, as in kernels/shared/element.h */
    LEAST_ELEMENT = 4  /* bytes; each size is twice the last */
};

struct selection {
    const struct snapshots_config *snapshots; /* not owned */
    struct kernel *mark, *count, *cells, *copy[ELEMENT_SIZES];
    struct buffer *marks;        /* of the longest species */
    struct buffer *begins;       /* uint[blocks + 1]: chosen particles before those of each block */
    struct buffer *cell_offsets; /* uint[cells + 1], of the chosen particles */
    uint32_t *host_begins;
};

enum status selection_create(struct device *device, const struct config *config, struct selection **created)
{
    const struct snapshots_config *snapshots = &config->output.snapshots;
    const size_t cells = (size_t)config->grid.cells[0] * config->grid.cells[1], word = sizeof(uint32_t);
    struct selection *selection;
    struct program *program = NULL;
    char name[32];
    uint64_t most = 0;
    void *memory = NULL;
    *created = NULL;
    if (snapshots->every == 0 || snapshots->particles.kind < PARTICLES_EVERY_NTH)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, selection));
    *created = selection;
    selection->snapshots = snapshots;
    for (uint32_t n = 0; n < config->species_count; n++)
        most = at_least(most, at_most(config->species[n].particles, CONFIG_MAX_PARTICLES));
    const size_t words = divide_up(most, WORD), begins = divide_up(words, BLOCK) + (size_t)1;
    TRY(program_build(device, "selection.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "selection_mark", &selection->mark));
    TRY(kernel_create(program, "selection_count", &selection->count));
    TRY(kernel_create(program, "selection_cells", &selection->cells));
    for (int n = 0; n < ELEMENT_SIZES; n++) {
        snprintf(name, sizeof name, "selection_copy_%d", LEAST_ELEMENT << n);
        TRY(kernel_create(program, name, &selection->copy[n]));
    }
    TRY(buffer_create(device, words * word, "the marks of chosen particles", &selection->marks));
    TRY(buffer_create(device, begins * word, "the numbers of chosen particles", &selection->begins));
    TRY(buffer_create(device, (cells + 1) * word, "the cells of chosen particles", &selection->cell_offsets));
    TRY(host_memory_create(device, begins * word, &memory));
    selection->host_begins = memory;
    return STATUS_OK;
}

/* Marks the chosen particles of a rank's list, which are what is left of it: their number and cells. */
static enum status choose(const struct selection *selection, const struct particles *particles,
                          struct sorted_list *list)
{
    const uint32_t cells = slab_own_cells(&list->slab);
    const struct snapshots_config *snapshots = selection->snapshots;
    const bool by_ids = snapshots->particles.kind == PARTICLES_FRACTION;
    const uint32_t words = divide_up(particles->count, WORD), blocks = divide_up(words, BLOCK);
    uint32_t *const begins = selection->host_begins;
    list->count = 0;
    if (particles->count == 0)
        return STATUS_OK;
    TRY(KERNEL_LAUNCH(
        selection->mark, launch_flat(words, STAGE_OUTPUT, by_ids ? particles->count * sizeof(uint64_t) : 0),
        particles->attribute[by_ids ? ATTRIBUTE_ID : ATTRIBUTE_OFFSET], list->first_id,
        (uint64_t)ldexp(snapshots->particles.fraction, 53), by_ids ? 0 : snapshots->particles.every_nth,
        list->before, particles->count, selection->marks));
    TRY(KERNEL_LAUNCH(selection->count, launch_flat(blocks, STAGE_OUTPUT, 0), selection->marks, words,
                      selection->begins));
    TRY(buffer_read(selection->begins, 0, blocks * sizeof *begins, begins));
    for (uint32_t block = 0; block < blocks; block++) {
        const uint32_t chosen = begins[block];
        begins[block] = list->count;
        list->count += chosen;
    }
    begins[blocks] = list->count;
    TRY(buffer_write(selection->begins, 0, (blocks + (size_t)1) * sizeof *begins, begins));
    TRY(KERNEL_LAUNCH(selection->cells, launch_flat(cells + UINT64_C(1), STAGE_OUTPUT, 0), selection->marks,
                      selection->begins, particles->cell_offsets, cells, selection->cell_offsets));
    return buffer_read(selection->cell_offsets, 0, (cells + (size_t)1) * sizeof *list->cell_offsets,
                       list->cell_offsets);
}

/* data[a] <- attribute a of the particles, or of the `count` chosen ones through the spare arrays; where
 * data[a] is NULL it is left out. Blocking. */
static enum status copy_attributes(const struct selection *selection, const struct particles *particles,
                                   uint32_t count, void *const data[ATTRIBUTES])
{
    struct particles copied = *particles;
    struct particle_array arrays[ATTRIBUTES];
    const uint32_t number = selection ? particles_arrays(&copied, arrays) : 0;
    const uint32_t words = divide_up(particles->count, WORD);
    for (uint32_t n = 0; n < number; n++) {
        int size = 0;
        while (size < ELEMENT_SIZES - 1 && (size_t)LEAST_ELEMENT << size < arrays[n].bytes)
            size++;
        TRY(KERNEL_LAUNCH(selection->copy[size],
                          launch_flat(words, STAGE_OUTPUT, 2 * count * arrays[n].bytes), selection->marks,
                          selection->begins, words, *arrays[n].now, *arrays[n].spare));
    }
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        copied.attribute[a] = selection ? copied.spare[a] : copied.attribute[a];
        if (data[a])
            TRY(particles_copy(&copied, a, 0, count, data[a]));
    }
    return STATUS_OK;
}

uint64_t selection_most(const struct snapshots_config *snapshots, uint64_t particles)
{
    const double all = (double)particles, fraction = snapshots->particles.fraction;
    if (snapshots->particles.kind == PARTICLES_EVERY_NTH)
        return (particles - 1) / snapshots->particles.every_nth + 1;
    if (snapshots->particles.kind == PARTICLES_FRACTION)
        return (uint64_t)fmin(ceil(all * fraction + 6 * sqrt(all * fraction * (1 - fraction))), all);
    return particles;
}

/* ---- the list ---- */

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
    const double whole = (double)list.all;
    list.cell_offsets =
        hdf5_file_keep(file, (slab_own_cells(view->slab) + (size_t)1) * sizeof *list.cell_offsets);
    if (list.cell_offsets)
        hdf5_file_fail(file, copy_offsets(particles, &list));
    if (selection) {
        if (file->status == STATUS_OK)
            hdf5_file_fail(file, choose(selection, particles, &list));
        count_all(file, view->communicator, &list);
    }
    list.weight = particles->weight * (list.all > 0 ? whole / (double)list.all : 1);
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
