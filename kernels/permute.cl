/* Permute: apply the sort's permutation to particle arrays, sorted[j] = original[sigma(j)].
 *
 * One work-item owns one place of the sorted list. Writes are contiguous; reads follow sigma, which after one
 * step's motion still runs through few, nearly contiguous pieces of the list.
 */
#include "shared/real.h"

__kernel void permute_particles(__global const uint *permutation, __global const real2 *offsets,
                                __global real2 *sorted_offsets, __global const real2 *velocities,
                                __global real2 *sorted_velocities, uint count)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint source = permutation[n];
    sorted_offsets[n] = offsets[source];
    sorted_velocities[n] = velocities[source];
}

__kernel void permute_ids(__global const uint *permutation, __global const ulong *ids,
                          __global ulong *sorted_ids, uint count)
{
    const uint n = (uint)get_global_id(0);
    if (n < count)
        sorted_ids[n] = ids[permutation[n]];
}
