/* Gaps: places for arrivals, behind those of their cell, in cell offsets and a permutation that were made
 * without.
 *
 * The numbers of arrivals are those of shared/arrivals.h.
 */
#include "shared/arrivals.h"
#include "shared/search.h"

/* One item per row of the grid: its arrivals. */
kernel void gaps_count_rows(global const uint *restrict rows, global const uint *restrict counts, uint nx,
                            uint ny, global uint *restrict row_totals)
{
    const uint i = (uint)get_global_id(0);
    uint total = 0;
    if (i >= nx)
        return;
    if (rows[i] != NO_ARRIVALS)
        for (uint j = 0; j < ny; j++)
            total += counts[rows[i] * ny + j];
    row_totals[i] = total;
}

/* One item per row: with_gaps[cell] = offsets[cell] and the arrivals in the cells before. */
kernel void gaps_move_offsets(ARRIVAL_ARGUMENTS, global const uint *restrict row_totals, uint nx, uint ny,
                              global const uint *restrict offsets, global uint *restrict with_gaps)
{
    const uint i = (uint)get_global_id(0);
    uint before = 0;
    if (i >= nx)
        return;
    for (uint row = 0; row < i; row++)
        before += row_totals[row];
    for (uint j = 0; j < ny; j++) {
        const uint cell = i * ny + j;
        with_gaps[cell] = offsets[cell] + before;
        before += arrivals_of(ARRIVALS, cell, ny);
    }
    if (i == nx - 1)
        with_gaps[nx * ny] = offsets[nx * ny] + before;
}

/* One item per place of the permutation, which moves with its cell. */
kernel void gaps_move_permutation(global const uint *restrict offsets, global const uint *restrict with_gaps,
                                  uint cells, uint count, global const uint *restrict permutation,
                                  global uint *restrict moved)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint cell = find_segment(offsets, 0, cells - 1, n);
    moved[n + (with_gaps[cell] - offsets[cell])] = permutation[n];
}
