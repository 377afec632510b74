/* Fast searches: find_segment() of shared/search.h for an item that has found a segment near by, and for the
 * items of a group together. Device only. */
#ifndef SHARED_FAST_SEARCH_H
#define SHARED_FAST_SEARCH_H

#include "shared/real.h"

/* find_segment() of `count` segments, from one on that begins at or before p and is likely to be near: in
 * growing steps, then in shrinking ones. */
static inline uint find_segment_near(global const uint *restrict begins, uint count, uint from, uint p)
{
    uint segment = from, step = 1;
    for (; segment + step < count && begins[segment + step] <= p; step *= 2)
        segment += step;
    for (step /= 2; step > 0; step /= 2)
        if (segment + step < count && begins[segment + step] <= p)
            segment += step;
    return segment;
}

/* Place p lies in one of the segments from `low` to before `high`. */
static inline bool segments_hold(global const uint *restrict begins, uint count, uint low, uint high, uint p)
{
    return low < count && begins[low] <= p && (high >= count || begins[high] > p);
}

/* find_segment() of `count` segments by all items of a group: first each item looks at one segment around
 * `guess`, then, in each further round, at one part of those left. Every item must call it, from uniform
 * control flow; `found` is one word of local memory. */
static inline uint find_segment_by_group(global const uint *restrict begins, uint count, uint p, uint guess,
                                         local uint *found)
{
    const uint items = (uint)get_local_size(0), item = (uint)get_local_id(0);
    const uint near = guess + item - items / 2; /* or beyond `count` */
    if (item == 0)
        *found = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (segments_hold(begins, count, near, near + 1, p))
        *found = near;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint begin = *found;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (begin < count) /* for all items, or for none */
        return begin;
    begin = 0;
    for (uint left = count; left > 1;) {
        const uint part = (left + items - 1) / items, low = begin + item * part;
        if (segments_hold(begins, count, low, low + part, p))
            *found = low;
        barrier(CLK_LOCAL_MEM_FENCE);
        begin = *found;
        left = part;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return begin;
}

#endif
