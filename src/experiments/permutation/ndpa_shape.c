/* NDPA shape: checks, index maps, and the permutation on the host. */
#include "experiments/permutation/ndpa_shape.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

uint64_t ndpa_elements(const struct ndpa_shape *shape)
{
    uint64_t elements = 1;
    for (uint32_t k = 0; k < shape->dimensions; k++)
        if (__builtin_mul_overflow(elements, shape->sides[k], &elements))
            return UINT64_MAX;
    return elements;
}

static void cell_sides(const struct ndpa_shape *shape, uint32_t sides[NDPA_MAX_DIMENSIONS])
{
    for (uint32_t k = 0; k < shape->dimensions; k++)
        sides[k] = shape->cell_side;
}

uint64_t ndpa_cell_elements(const struct ndpa_shape *shape)
{
    struct ndpa_shape cell = *shape;
    cell_sides(shape, cell.sides);
    return ndpa_elements(&cell);
}

size_t ndpa_bytes(const struct ndpa_shape *shape)
{
    return ndpa_elements(shape) * sizeof(uint32_t);
}

static enum status check_axes(uint32_t dimensions, const uint32_t *axes)
{
    bool met[NDPA_MAX_DIMENSIONS] = {false};
    for (uint32_t k = 0; k < dimensions; k++) {
        if (axes[k] >= dimensions)
            return status_fail(STATUS_USAGE,
                               "axis %" PRIu32 " is not among those of %" PRIu32 " dimensions, 0 to %" PRIu32,
                               axes[k], dimensions, dimensions - 1);
        if (met[axes[k]])
            return status_fail(STATUS_USAGE, "axis %" PRIu32 " stands twice among the permuted axes",
                               axes[k]);
        met[axes[k]] = true;
    }
    return STATUS_OK;
}

enum status ndpa_check(const struct ndpa_shape *shape, const uint32_t *axes)
{
    if (shape->dimensions < 2 || shape->dimensions > NDPA_MAX_DIMENSIONS)
        return status_fail(STATUS_USAGE, "a volume to permute has 2 to %d dimensions, not %" PRIu32,
                           NDPA_MAX_DIMENSIONS, shape->dimensions);
    if (shape->cell_side < 2)
        return status_fail(STATUS_USAGE, "the side of a cell is 2 or more, not %" PRIu32, shape->cell_side);
    for (uint32_t k = 0; k < shape->dimensions; k++)
        if (shape->sides[k] == 0 || shape->sides[k] % shape->cell_side != 0)
            return status_fail(STATUS_USAGE,
                               "side %" PRIu32 " of the volume's axis %" PRIu32
                               " is not a multiple of the cell's side %" PRIu32 ": pad the volume",
                               shape->sides[k], k, shape->cell_side);
    if (ndpa_elements(shape) > UINT32_MAX)
        return status_fail(STATUS_USAGE, "a volume to permute has at most %" PRIu32 " elements", UINT32_MAX);
    return check_axes(shape->dimensions, axes);
}

/* ---- index maps ---- */

uint64_t ndpa_index(uint32_t dimensions, const uint32_t *sides, const uint32_t *subscript)
{
    uint64_t index = 0;
    for (uint32_t k = 0; k < dimensions; k++)
        index = index * sides[k] + subscript[k];
    return index;
}

void ndpa_subscript(uint32_t dimensions, const uint32_t *sides, uint64_t index, uint32_t *subscript)
{
    for (uint32_t k = dimensions; k-- > 0;) {
        subscript[k] = (uint32_t)(index % sides[k]);
        index /= sides[k];
    }
}

uint64_t ndpa_place(const struct ndpa_shape *shape, const uint32_t *axes, const uint32_t *subscript)
{
    const uint32_t p = shape->cell_side;
    uint32_t place[NDPA_MAX_DIMENSIONS];
    for (uint32_t k = 0; k < shape->dimensions; k++)
        place[axes[k]] = subscript[k] / p * p;
    for (uint32_t k = 0; k < shape->dimensions; k++)
        place[k] += subscript[k] % p;
    return ndpa_index(shape->dimensions, shape->sides, place);
}

uint32_t ndpa_source_in_cell(const struct ndpa_shape *shape, const uint32_t *axes, uint32_t e)
{
    uint32_t sides[NDPA_MAX_DIMENSIONS], to[NDPA_MAX_DIMENSIONS], from[NDPA_MAX_DIMENSIONS];
    cell_sides(shape, sides);
    ndpa_subscript(shape->dimensions, sides, e, to);
    for (uint32_t k = 0; k < shape->dimensions; k++)
        from[axes[k]] = to[k];
    return (uint32_t)ndpa_index(shape->dimensions, sides, from);
}

uint32_t ndpa_place_in_cell(const struct ndpa_shape *shape, uint32_t e)
{
    uint32_t sides[NDPA_MAX_DIMENSIONS], subscript[NDPA_MAX_DIMENSIONS];
    cell_sides(shape, sides);
    ndpa_subscript(shape->dimensions, sides, e, subscript);
    return (uint32_t)ndpa_index(shape->dimensions, shape->sides, subscript);
}

/* ---- on the host ---- */

/* To the next subscript in steps of `step`, the last axis fastest; false after the last one. */
static bool step_on(uint32_t dimensions, const uint32_t *sides, uint32_t step, uint32_t *subscript)
{
    for (uint32_t k = dimensions; k-- > 0;) {
        subscript[k] += step;
        if (subscript[k] < sides[k])
            return true;
        subscript[k] = 0;
    }
    return false;
}

/* Tables of a cell say where its elements lie in the volume, and where those lie that replace them. */
enum status ndpa_permute_host(const struct ndpa_shape *shape, const uint32_t *axes, uint32_t *volume)
{
    const uint32_t count = (uint32_t)ndpa_cell_elements(shape);
    uint32_t first[NDPA_MAX_DIMENSIONS] = {0};
    TRY(ndpa_check(shape, axes));
    uint32_t *const places = calloc(count, 3 * sizeof *places);
    if (!places)
        return status_fail(STATUS_FAILED, "no memory for a cell of %" PRIu32 " elements", count);
    uint32_t *const sources = places + count, *const copy = sources + count;
    for (uint32_t e = 0; e < count; e++)
        places[e] = ndpa_place_in_cell(shape, e);
    for (uint32_t e = 0; e < count; e++)
        sources[e] = places[ndpa_source_in_cell(shape, axes, e)];
    do {
        uint32_t *elements = volume + ndpa_index(shape->dimensions, shape->sides, first);
        for (uint32_t e = 0; e < count; e++)
            copy[e] = elements[sources[e]];
        for (uint32_t e = 0; e < count; e++)
            elements[places[e]] = copy[e];
    } while (step_on(shape->dimensions, shape->sides, shape->cell_side, first));
    free(places);
    return STATUS_OK;
}
