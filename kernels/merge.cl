/* Merge: one sorted list of particles into another, cell by cell. In a cell of the merged list those of
 * `into` stand first, then those of `from`.
 *
 *   merge_BYTES    the elements of an attribute (shared/element.h), a group for each cell
 *   merge_offsets  where the cells of the merged list start, after that
 */
#include "shared/element.h"

#define DEFINE_MERGE(bytes)                                                                                  \
    kernel void merge_##bytes(                                                                               \
        global const uint *restrict into_offsets, global const uint *restrict from_offsets, uint stride,     \
        uint first, global const ELEMENT(bytes) *restrict into, global const ELEMENT(bytes) *restrict from,  \
        global ELEMENT(bytes) *restrict merged)                                                              \
    {                                                                                                        \
        const uint cell = (uint)get_group_id(0), items = (uint)get_local_size(0);                            \
        const uint before = from_offsets[cell], behind = into_offsets[cell + 1];                             \
        for (uint p = into_offsets[cell] + (uint)get_local_id(0); p < behind; p += items)                    \
            merged[(ulong)stride * (p + before) + first] = into[(ulong)stride * p + first];                  \
        for (uint p = before + (uint)get_local_id(0); p < from_offsets[cell + 1]; p += items)                \
            merged[(ulong)stride * (behind + p) + first] = from[p];                                          \
    }
FOR_ELEMENTS(DEFINE_MERGE)

/* One item per cell, and one more. */
kernel void merge_offsets(global const uint *restrict from_offsets, uint cells,
                          global uint *restrict into_offsets)
{
    const uint cell = (uint)get_global_id(0);
    if (cell <= cells)
        into_offsets[cell] += from_offsets[cell];
}
