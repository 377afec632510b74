/* Relocate: new cell offsets, and the arrays rotated to where the new slab's rows begin. */
#include "parallel/relocate.h"

#include <stdlib.h>

/* The offsets of own cells, with their end. The caller frees them. */
static enum status read_offsets(const struct slab *slab, const struct particles *list, uint32_t **offsets)
{
    const size_t bytes = (slab_own_cells(slab) + (size_t)1) * sizeof **offsets;
    *offsets = malloc(bytes);
    if (!*offsets)
        return status_fail(STATUS_FAILED, "species %s: no memory for its cell offsets", list->species->name);
    return buffer_read(list->cell_offsets, 0, bytes, *offsets);
}

/* Particles before the first row of `to`, which come last there. */
static uint32_t rotated_particles(const struct slab *from, const struct slab *to, const uint32_t *offsets)
{
    const uint32_t begin = from->first_row, end = from->first_row + from->rows;
    if (to->first_row <= begin || to->first_row >= end)
        return 0;
    return offsets[(size_t)(to->first_row - begin) * from->box.ny];
}

/* Moves the first `rotated` elements of an array behind the others, into its spare. */
static enum status rotate(const struct particles *list, uint32_t rotated, size_t element,
                          struct buffer **array, struct buffer **spare)
{
    if (!*array)
        return STATUS_OK;
    const size_t first = rotated * element, all = list->count * element;
    TRY(buffer_copy_part(*array, first, *spare, 0, all - first, STAGE_EXCHANGE));
    TRY(buffer_copy_part(*array, 0, *spare, all - first, first, STAGE_EXCHANGE));
    buffer_swap(*array, *spare);
    return STATUS_OK;
}

static enum status rotate_list(enum precision precision, uint32_t rotated, struct particles *list)
{
    const size_t pair = 2 * precision_bytes(precision);
    if (rotated == 0)
        return STATUS_OK;
    TRY(rotate(list, rotated, pair, &list->offset, &list->offset_spare));
    TRY(rotate(list, rotated, pair, &list->velocity, &list->velocity_spare));
    TRY(rotate(list, rotated, 2 * pair, &list->quad, &list->quad_spare));
    return rotate(list, rotated, sizeof(uint64_t), &list->id, &list->id_spare);
}

static bool has_row(const struct slab *slab, uint32_t row)
{
    return row >= slab->first_row && row - slab->first_row < slab->rows;
}

/* The offsets on the local grid of `to`: rows of `from` keep their cells' counts, others are empty. */
static void new_offsets(const struct slab *from, const struct slab *to, const uint32_t *offsets,
                        uint32_t *made)
{
    const uint32_t ny = to->box.ny;
    uint32_t sum = 0;
    for (uint32_t row = 0; row < to->local.nx; row++) {
        const bool lost = !slab_is_whole(to) && row == slab_lost_row(to);
        const uint32_t global = lost ? 0 : slab_global_row(to, row);
        const bool held = !lost && has_row(from, global) && (slab_is_whole(to) || row < to->rows);
        const uint32_t *counts = held ? offsets + (size_t)(global - from->first_row) * ny : NULL;
        for (uint32_t column = 0; column < ny; column++) {
            made[(size_t)row * ny + column] = sum;
            sum += counts ? counts[column + 1] - counts[column] : 0;
        }
    }
    made[grid_cells(&to->local)] = sum;
}

static enum status replace_offsets(struct device *device, const struct slab *from, const struct slab *to,
                                   const uint32_t *offsets, struct particles *list)
{
    const size_t bytes = (grid_cells(&to->local) + (size_t)1) * sizeof *offsets;
    uint32_t *made = malloc(bytes);
    if (!made)
        return status_fail(STATUS_FAILED, "species %s: no memory for its cell offsets", list->species->name);
    new_offsets(from, to, offsets, made);
    buffer_destroy(&list->cell_offsets);
    enum status status = buffer_create(device, bytes, "cell offsets", &list->cell_offsets);
    if (status == STATUS_OK)
        status = buffer_write(list->cell_offsets, 0, bytes, made);
    free(made);
    return status;
}

enum status relocate_list(struct device *device, enum precision precision, const struct slab *from,
                          const struct slab *to, struct particles *list)
{
    uint32_t *offsets = NULL;
    enum status status = STATUS_OK;
    TRY_CLEANUP(read_offsets(from, list, &offsets));
    TRY_CLEANUP(rotate_list(precision, rotated_particles(from, to, offsets), list));
    TRY_CLEANUP(replace_offsets(device, from, to, offsets, list));
cleanup:
    free(offsets);
    return status;
}

enum status relocate_count_rows(const struct slab *slab, const struct particles *list, uint64_t *loads)
{
    uint32_t *offsets = NULL;
    const enum status status = read_offsets(slab, list, &offsets);
    for (uint32_t row = 0; row < slab->rows && status == STATUS_OK; row++)
        loads[slab->first_row + row] +=
            offsets[(size_t)(row + 1) * slab->box.ny] - offsets[(size_t)row * slab->box.ny];
    free(offsets);
    return status;
}
