/* Relocate: new cell offsets, and the arrays rotated to where the new slab's rows begin. */
#include "parallel/relocate.h"

/* The offsets of own cells, with their end, owned by the handle. */
static enum status read_offsets(struct device *branch, const struct slab *slab, const struct particles *list,
                                uint32_t **offsets)
{
    const size_t count = slab_own_cells(slab) + (size_t)1;
    TRY(DEVICE_NEW_ARRAY(branch, *offsets, count));
    return buffer_read(list->cell_offsets, 0, count * sizeof **offsets, *offsets);
}

/* Moves particles before the first row of `to` behind the others. */
static enum status rotate(const struct slab *from, const struct slab *to, const uint32_t *offsets,
                          struct particles *list)
{
    struct particle_array arrays[ATTRIBUTES];
    if (to->first_row <= from->first_row || to->first_row >= from->first_row + from->rows)
        return STATUS_OK;
    const uint32_t rotated = offsets[(size_t)(to->first_row - from->first_row) * from->box.ny];
    for (uint32_t n = particles_arrays(list, arrays); n-- > 0;) {
        const size_t first = rotated * arrays[n].bytes, rest = list->count * arrays[n].bytes - first;
        TRY(buffer_copy_part(*arrays[n].now, first, *arrays[n].spare, 0, rest, STAGE_EXCHANGE));
        TRY(buffer_copy_part(*arrays[n].now, 0, *arrays[n].spare, rest, first, STAGE_EXCHANGE));
    }
    particles_swap(list);
    return STATUS_OK;
}

/* The offsets on the local grid of `to`: rows of `from` keep their cells' counts, others are empty. */
static void new_offsets(const struct slab *from, const struct slab *to, const uint32_t *offsets,
                        uint32_t *made)
{
    const uint32_t ny = to->box.ny, nx = to->box.nx;
    const uint32_t rows = slab_is_whole(to) ? nx : to->rows; /* of `to` that may have particles */
    uint32_t sum = 0;
    for (uint32_t row = 0; row < to->local.nx; row++) {
        const uint32_t place = row < rows ? (slab_global_row(to, row) + nx - from->first_row) % nx : nx;
        const uint32_t *counts = place < from->rows ? offsets + (size_t)place * ny : NULL;
        for (uint32_t column = 0; column < ny; column++) {
            made[(size_t)row * ny + column] = sum;
            sum += counts ? counts[column + 1] - counts[column] : 0;
        }
    }
    made[grid_cells(&to->local)] = sum;
}

static enum status relocate(struct device *branch, const struct slab *from, const struct slab *to,
                            struct particles *list)
{
    const size_t count = grid_cells(&to->local) + (size_t)1;
    uint32_t *offsets = NULL, *made = NULL;
    TRY(read_offsets(branch, from, list, &offsets));
    TRY(DEVICE_NEW_ARRAY(branch, made, count));
    TRY(rotate(from, to, offsets, list));
    new_offsets(from, to, offsets, made);
    buffer_destroy(&list->cell_offsets);
    TRY(buffer_create(list->device, count * sizeof *made, "cell offsets", &list->cell_offsets));
    return buffer_write(list->cell_offsets, 0, count * sizeof *made, made);
}

enum status relocate_list(const struct slab *from, const struct slab *to, struct particles *list)
{
    struct device *branch = NULL;
    TRY(device_branch(list->device, &branch));
    const enum status status = relocate(branch, from, to, list);
    device_close(&branch);
    return status;
}

enum status relocate_count_rows(const struct slab *slab, const struct particles *list, uint64_t *loads)
{
    struct device *branch = NULL;
    uint32_t *offsets = NULL;
    TRY(device_branch(list->device, &branch));
    const enum status status = read_offsets(branch, slab, list, &offsets);
    for (uint32_t row = 0; row < slab->rows && status == STATUS_OK; row++)
        loads[slab->first_row + row] +=
            offsets[(size_t)(row + 1) * slab->box.ny] - offsets[(size_t)row * slab->box.ny];
    device_close(&branch);
    return status;
}
