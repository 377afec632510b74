/* PIC sort experiment: the motion between its two sorts (P. Helluy 2011, section 4.2).
 *
 * x' = x + u h, y' = y + v h with cells of side h: in units of a cell the offset grows by the velocity. With
 * u, v in [0, 1) a particle stays in its cell or goes to a neighbouring one. One work-item owns one particle;
 * the cell key stage brings the offsets back to [0, 1).
 */
#include "shared/real.h"

kernel void pic_sort_move(global real2 *offsets, global const real2 *velocities, uint count)
{
    const uint n = (uint)get_global_id(0);
    if (n < count)
        offsets[n] += velocities[n];
}
