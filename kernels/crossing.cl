/* Crossing: particles from other ranks take the places that a fused step left for them, and the list ends
 * with its own cells again.
 *
 * They come in rows of cells, one behind the other; a row may come from more than one rank. Compile-time
 * parameters: REAL_IS_DOUBLE (shared/real.h).
 */
#include "shared/real.h"
#include "shared/search.h"

/* Where arrival n goes. A piece is a cell of a row that comes: own_rows[row] is the row of the grid, begins[]
 * where the piece's particles begin among the arrivals, behind[] how far from the end of their cell. */
static inline uint place_of(global const uint *restrict cell_offsets, global const uint *restrict own_rows,
                            global const uint *restrict begins, global const uint *restrict behind, uint rows,
                            uint ny, uint n)
{
    const uint piece = find_segment(begins, 0, rows * ny - 1, n), row = piece / ny;
    const uint cell = own_rows[row] * ny + (piece - row * ny);
    return cell_offsets[cell + 1] - behind[piece] + (n - begins[piece]);
}

/* One item per arrival. */
kernel void crossing_insert(global const uint *restrict cell_offsets, global const uint *restrict own_rows,
                            global const uint *restrict announced, uint begins, uint behind, uint rows,
                            uint ny, uint count, global const real2 *restrict arrived_offset,
                            global const real2 *restrict arrived_velocity, global real2 *restrict offset,
                            global real2 *restrict velocity)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint place = place_of(cell_offsets, own_rows, announced + begins, announced + behind, rows, ny, n);
    offset[place] = arrived_offset[n];
    velocity[place] = arrived_velocity[n];
}

kernel void crossing_insert_ids(global const uint *restrict cell_offsets,
                                global const uint *restrict own_rows, global const uint *restrict announced,
                                uint begins, uint behind, uint rows, uint ny, uint count,
                                global const ulong *restrict arrived_id, global ulong *restrict id)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    id[place_of(cell_offsets, own_rows, announced + begins, announced + behind, rows, ny, n)] = arrived_id[n];
}

/* One item per cell behind the own ones, and one more: the list ends with its own particles. */
kernel void crossing_cut(global uint *restrict cell_offsets, uint own, uint cells, uint count)
{
    const uint cell = own + (uint)get_global_id(0);
    if (cell <= cells)
        cell_offsets[cell] = count;
}
