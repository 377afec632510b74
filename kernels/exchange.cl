/* Exchange: arrivals from other ranks take the places that a step left for them, and the list ends with its
 * own cells again.
 *
 * Arrivals come in rows of cells, one behind the other; a row may come from more than one rank. */
#include "shared/element.h"
#include "shared/search.h"

/* The place in the list of arrival n. Arrivals come by pieces: a piece is the particles for one cell of a row
 * that comes, and own_rows[row] is that row of the grid. begins[piece] is the first arrival of the piece,
 * back[piece] how far behind its place the end of its cell lies: a step has left the gaps at the ends of
 * cells. */
static inline uint place_of(global const uint *cell_offsets, global const uint *restrict own_rows,
                            global const uint *restrict begins, global const uint *restrict back, uint rows,
                            uint ny, uint n)
{
    const uint piece = find_segment(begins, 0, rows * ny - 1, n), row = piece / ny;
    const uint cell = own_rows[row] * ny + (piece - row * ny);
    return cell_offsets[cell + 1] - back[piece] + n;
}

/* An item for each arrival, and for each cell behind the own ones. Those cells become empty: the particles
 * that were in them have left, so each begins and ends where the own particles end. */
#define DEFINE_INSERT(bytes)                                                                                 \
    kernel void exchange_insert_##bytes(global uint *cell_offsets, global const uint *restrict own_rows,     \
                                        global const uint *restrict announced, uint begins, uint back,       \
                                        uint rows, uint ny, uint count, uint own, uint cells, uint stride,   \
                                        uint first, global const ELEMENT(bytes) *restrict arrived,           \
                                        global ELEMENT(bytes) *restrict array)                               \
    {                                                                                                        \
        const uint n = (uint)get_global_id(0);                                                               \
        if (n < cells - own)                                                                                 \
            cell_offsets[own + 1 + n] = cell_offsets[own];                                                   \
        if (n < count)                                                                                       \
            array[(ulong)stride *                                                                            \
                      place_of(cell_offsets, own_rows, announced + begins, announced + back, rows, ny, n) +  \
                  first] = arrived[n];                                                                       \
    }
FOR_ELEMENTS(DEFINE_INSERT)
