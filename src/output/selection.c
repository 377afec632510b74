/* Selection: launches of kernels/selection.cl. */
#include "output/selection.h"

#include "base/integers.h"

#include <math.h>

enum {
    ITEMS = 64,
    WORD = 32,         /* particles, a bit each */
    BLOCK = 64,        /* words, as in the kernels */
    ELEMENT_SIZES = 4, /* of kernels/shared/element.h: */
    LEAST_ELEMENT = 4  /* bytes; each size is twice the last */
};

struct selection {
    const struct snapshots_config *snapshots; /* not owned */
    size_t items;                             /* of a group */
    struct kernel *mark, *count, *cells, *take[ELEMENT_SIZES];
    struct buffer *marks;        /* of the longest species */
    struct buffer *begins;       /* uint[blocks + 1]: chosen particles before those of each block */
    struct buffer *cell_offsets; /* uint[cells + 1], of the chosen particles */
    uint32_t *host_begins;
};

static enum status create_kernels(struct device *device, struct selection *selection)
{
    struct program *program = NULL;
    char name[32];
    TRY(program_build(device, "selection.cl", PRECISION_SINGLE, &program, "%s", ""));
    TRY(kernel_create(program, "selection_mark", &selection->mark));
    TRY(kernel_create(program, "selection_count", &selection->count));
    TRY(kernel_create(program, "selection_cells", &selection->cells));
    for (int n = 0; n < ELEMENT_SIZES; n++) {
        snprintf(name, sizeof name, "selection_take_%d", LEAST_ELEMENT << n);
        TRY(kernel_create(program, name, &selection->take[n]));
    }
    return STATUS_OK;
}

enum status selection_create(struct device *device, const struct config *config, struct selection **created)
{
    const struct snapshots_config *snapshots = &config->output.snapshots;
    const size_t cells = (size_t)config->grid.cells[0] * config->grid.cells[1], word = sizeof(uint32_t);
    struct selection *selection;
    uint64_t most = 0;
    void *memory = NULL;
    *created = NULL;
    if (snapshots->every == 0 || snapshots->particles.kind < PARTICLES_EVERY_NTH)
        return STATUS_OK;
    TRY(DEVICE_NEW(device, selection));
    *created = selection;
    selection->snapshots = snapshots;
    selection->items = device_group_items(device, ITEMS);
    for (uint32_t n = 0; n < config->species_count; n++)
        most = at_least(most, at_most(config->species[n].particles, CONFIG_MAX_PARTICLES));
    const size_t words = divide_up(most, WORD), begins = divide_up(words, BLOCK) + (size_t)1;
    TRY(create_kernels(device, selection));
    TRY(buffer_create(device, words * word, "the marks of chosen particles", &selection->marks));
    TRY(buffer_create(device, begins * word, "the numbers of chosen particles", &selection->begins));
    TRY(buffer_create(device, (cells + 1) * word, "the cells of chosen particles", &selection->cell_offsets));
    TRY(host_memory_create(device, begins * word, &memory));
    selection->host_begins = memory;
    return STATUS_OK;
}

enum status selection_choose(const struct selection *selection, const struct particles *particles,
                             uint64_t before, uint64_t first_id, uint32_t *count)
{
    const struct snapshots_config *snapshots = selection->snapshots;
    const bool by_ids = snapshots->particles.kind == PARTICLES_FRACTION;
    const uint32_t words = divide_up(particles->count, WORD), blocks = divide_up(words, BLOCK);
    uint32_t *const begins = selection->host_begins;
    *count = 0;
    TRY(KERNEL_LAUNCH(selection->mark,
                      launch_covering(words, selection->items, STAGE_OUTPUT,
                                      by_ids ? particles->count * sizeof(uint64_t) : 0),
                      particles->attribute[by_ids ? ATTRIBUTE_ID : ATTRIBUTE_OFFSET], first_id,
                      (uint64_t)ldexp(snapshots->particles.fraction, 53),
                      by_ids ? 0 : snapshots->particles.every_nth, before, particles->count,
                      selection->marks));
    TRY(KERNEL_LAUNCH(selection->count, launch_covering(blocks, selection->items, STAGE_OUTPUT, 0),
                      selection->marks, words, selection->begins));
    TRY(buffer_read(selection->begins, 0, blocks * sizeof *begins, begins));
    for (uint32_t block = 0; block < blocks; block++) {
        const uint32_t chosen = begins[block];
        begins[block] = *count;
        *count += chosen;
    }
    begins[blocks] = *count;
    return buffer_write(selection->begins, 0, (blocks + (size_t)1) * sizeof *begins, begins);
}

enum status selection_cells(const struct selection *selection, const struct particles *particles,
                            uint32_t cells, uint32_t *cell_offsets)
{
    TRY(KERNEL_LAUNCH(
        selection->cells, launch_covering(cells + UINT64_C(1), selection->items, STAGE_OUTPUT, 0),
        selection->marks, selection->begins, particles->cell_offsets, cells, selection->cell_offsets));
    return buffer_read(selection->cell_offsets, 0, (cells + (size_t)1) * sizeof *cell_offsets, cell_offsets);
}

enum status selection_copy(const struct selection *selection, const struct particles *particles,
                           uint32_t count, void *const data[ATTRIBUTES])
{
    struct particles taken = *particles;
    struct particle_array arrays[ATTRIBUTES];
    const uint32_t number = particles_arrays(&taken, arrays), words = divide_up(particles->count, WORD);
    for (uint32_t n = 0; n < number; n++) {
        int size = 0;
        while (size < ELEMENT_SIZES - 1 && (size_t)LEAST_ELEMENT << size < arrays[n].bytes)
            size++;
        TRY(KERNEL_LAUNCH(selection->take[size],
                          launch_covering(words, selection->items, STAGE_OUTPUT, 2 * count * arrays[n].bytes),
                          selection->marks, selection->begins, words, *arrays[n].now, *arrays[n].spare));
    }
    taken.count = count;
    for (enum attribute a = 0; a < ATTRIBUTES; a++) {
        taken.attribute[a] = taken.spare[a];
        if (data[a])
            TRY(particles_copy(&taken, a, data[a]));
    }
    return STATUS_OK;
}

uint64_t selection_most(const struct snapshots_config *snapshots, uint64_t particles)
{
    const double all = (double)particles, share = snapshots->particles.fraction;
    if (snapshots->particles.kind == PARTICLES_EVERY_NTH)
        return (particles - 1) / snapshots->particles.every_nth + 1;
    if (snapshots->particles.kind == PARTICLES_FRACTION)
        return (uint64_t)fmin(ceil(all * share + 6 * sqrt(all * share * (1 - share))), all);
    return particles;
}
