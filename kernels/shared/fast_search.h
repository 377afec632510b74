/* Fast searches: find_segment() of shared/search.h for an item that knows a segment near by, and for a group
 * whose items search together. Device only.
 */
#ifndef SHARED_FAST_SEARCH_H
#define SHARED_FAST_SEARCH_H

#include "shared/real.h"

/* find_segment() of `count` segments, from one on that begins at or before p and is likely to be near: in
 * growing steps, then in shrinking ones. */
static inline uint find_segment_near(__global const uint *restrict begins, uint count, uint from, uint p)
{
    uint segment = from, step = 1;
    for (; segment + step < count && begins[segment + step] <= p; step *= 2)
        segment += step;
    for (step /= 2; step > 0; step /= 2)
        if (segment + step < count && begins[segment + step] <= p)
            segment += step;
    return segment;
}

/* Whether find_segment_by_group() of `target` is one of the segments from `low` to before `high`. */
static inline bool group_meets(__global const uint *restrict begins, uint count, uint shift, uint each,
                               uint target, uint low, uint high)
{
    return low < count && (begins[low] >> shift) + each * low <= target &&
           (high >= count || (begins[high] >> shift) + each * high > target);
}

/* Where `target`, which counts up to `size`, would be if all of `count` segments were as long. */
static inline uint even_guess(uint target, uint count, uint size)
{
    return (uint)((ulong)target * count / size);
}

/* The last of `count` segments with (begins[n] >> shift) + each n at or before `target`, searched by all
 * items of a group together: with shift and each 0 as find_segment(). First each item looks at one segment
 * around `guess`, then, in each further round, at one part of those left. Every item must call it, from
 * uniform control flow; `found` is one word of local memory. */
static inline uint find_segment_by_group(__global const uint *restrict begins, uint count, uint shift,
                                         uint each, uint target, uint guess, local uint *found)
{
    const uint items = (uint)get_local_size(0), item = (uint)get_local_id(0);
    const uint near = guess + item - items / 2; /* or beyond `count` */
    if (item == 0)
        *found = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (group_meets(begins, count, shift, each, target, near, near + 1))
        *found = near;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = *found;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (begin < count) /* for all items, or for none */
        return begin;
    begin = 0;
    for (uint left = count; left > 1;) {
        const uint part = (left + items - 1) / items, low = begin + item * part;
        if (group_meets(begins, count, shift, each, target, low, low + part))
            *found = low;
        barrier(CLK_LOCAL_MEM_FENCE);
        begin = *found;
        left = part;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return begin;
}

#endif
