/* Tracks: finds particles by their ids in a list, and copies what is written of them. */
#include "shared/real.h"
#include "shared/search.h"

#define NOWHERE 0xffffffffU /* as in src/output/tracks.c */

/* place[k] <- the index of the particle with id wanted[k], where the list has it; wanted[] ascends. */
kernel void tracks_find(global const ulong *restrict ids, uint count, global const uint *restrict filter,
                        global const ulong *restrict wanted, uint wanted_count, global uint *restrict place)
{
    const uint p = (uint)get_global_id(0);
    if (p >= count)
        return;
    const ulong id = ids[p];
    const uint bit = (uint)(id % FILTER_BITS);
    if ((filter[bit / 32] >> bit % 32 & 1U) == 0)
        return;
    uint low = 0, high = wanted_count;
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        if (wanted[middle] <= id)
            low = middle;
        else
            high = middle;
    }
    if (wanted[low] == id)
        place[low] = p;
}

/* values[7 k ...] <- cell, offset and velocity of particle place[k]: 1 + row and column of the cell in the
 * local grid, then (dx, dy) and (u, v), and w with `has_w`; else any buffer stands in for it. */
kernel void tracks_copy(global const real2 *restrict offsets, uint offset_stride, uint offset_first,
                        global const real2 *restrict velocities, uint velocity_stride, uint velocity_first,
                        global const real *restrict w, uint has_w, global const uint *restrict cell_offsets,
                        uint cells, uint ny, global const uint *restrict place, uint count,
                        global real *restrict values)
{
    const uint k = (uint)get_global_id(0);
    if (k >= count || place[k] == NOWHERE)
        return;
    const uint p = place[k], cell = find_segment(cell_offsets, 0, cells - 1, p);
    const real2 offset = offsets[p * (ulong)offset_stride + offset_first];
    const real2 velocity = velocities[p * (ulong)velocity_stride + velocity_first];
    values[7 * k] = (real)(cell / ny + 1);
    values[7 * k + 1] = (real)(cell % ny);
    values[7 * k + 2] = offset.x;
    values[7 * k + 3] = offset.y;
    values[7 * k + 4] = velocity.x;
    values[7 * k + 5] = velocity.y;
    if (has_w)
        values[7 * k + 6] = w[p];
}
