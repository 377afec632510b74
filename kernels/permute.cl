/* Permute: apply the sort's permutation to particle arrays, sorted[j] = original[sigma(j)].
 *
 * One work-item owns one place of the sorted list. Writes are contiguous; reads follow sigma, which after one
 * step's motion still runs through few, nearly contiguous pieces of the list.
 */
#include "shared/real.h"

kernel void permute_particles(global const uint *permutation, global const real2 *offsets,
                              global real2 *sorted_offsets, global const real2 *velocities,
                              global real2 *sorted_velocities, uint count)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint source = permutation[n];
    sorted_offsets[n] = offsets[source];
    sorted_velocities[n] = velocities[source];
}

kernel void permute_ids(global const uint *permutation, global const ulong *ids, global ulong *sorted_ids,
                        uint count)
{
    const uint n = (uint)get_global_id(0);
    if (n < count)
        sorted_ids[n] = ids[permutation[n]];
}
