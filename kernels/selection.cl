/* Selection: which particles of a list are chosen by their ids. */
#include "shared/random.h"

/* Bit k of marks[n]: whether particle first + 32 n + k, below `count`, is chosen, which is so where the upper
 * 53 bits of the hash of its id in the file are below `below`. */
kernel void selection_mark(global const ulong *restrict ids, ulong first_id, ulong below, uint first,
                           uint count, global uint *restrict marks)
{
    const uint n = (uint)get_global_id(0), begin = first + 32 * n;
    uint mark = 0;
    if (begin >= count)
        return;
    for (uint k = 0; k < 32 && k < count - begin; k++)
        mark |= (uint)(random_mix(first_id + ids[begin + k]) >> 11 < below) << k;
    marks[n] = mark;
}
