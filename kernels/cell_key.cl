/* Cell key: where the push left a particle outside its cell, find the cell it is in now.
 *
 * One work-item owns one particle: it brings the offset back to [0, 1) and writes the particle's cell as its
 * sort key.
 */
#include "shared/cell.h"
#include "shared/motion.h"

__kernel void cell_key(__global real2 *offsets, __global uint *keys, uint count, uint nx, uint ny)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint old = keys[n];
    const real2 offset = offsets[n];
    const struct placement x = offset_place(offset.x), y = offset_place(offset.y);
    const uint i = wrap_any((int)(old / ny) + x.cells, nx);
    const uint j = wrap_any((int)(old % ny) + y.cells, ny);
    offsets[n] = (real2)(x.offset, y.offset);
    keys[n] = cell_index(i, j, ny);
}
