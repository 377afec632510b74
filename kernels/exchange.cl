/* Exchange: arrivals from other ranks take the places that a step left for them, and the list ends with its
 * own cells again.
 *
 * Arrivals come in rows of cells, one behind the other; a row may come from more than one rank. */
#include "shared/element.h"
#include "shared/search.h"

/* Where arrival n goes. A piece is a cell of a row that comes: own_rows[row] is the row of the grid, begins[]
 * where the piece's particles begin among the arrivals, back[] how far that is from the end of their cell. */
static inline uint place_of(global const uint *cell_offsets, global const uint *restrict own_rows,
                            global const uint *restrict begins, global const uint *restrict back, uint rows,
                            uint ny, uint n)
{
    const uint piece = find_segment(begins, 0, rows * ny - 1, n), row = piece / ny;
    const uint cell = own_rows[row] * ny + (piece - row * ny);
    return cell_offsets[cell + 1] - back[piece] + n;
}

/* An item for each arrival, and for each cell behind the own ones, which ends with the own particles as the
 * first of them begins. */
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
