/* Cell key: where the push left a particle outside its cell, find the cell it is in now.
 *
 * One work-item owns one particle: it brings the offset back to [0, 1) and writes the particle's cell as its
 * sort key. Most particles stay in their cell, which is then spared the divisions.
 */
#include "shared/cell.h"
#include "shared/motion.h"

kernel void cell_key(global real2 *restrict offsets, global uint *restrict keys, uint count, uint nx, uint ny)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const real2 offset = offsets[n];
    const struct placement x = offset_place(offset.x), y = offset_place(offset.y);
    offsets[n] = (real2)(x.offset, y.offset);
    if (x.cells == 0 && y.cells == 0)
        return;
    const uint old = keys[n];
    const uint i = wrap_any((int)(old / ny) + x.cells, nx);
    const uint j = wrap_any((int)(old % ny) + y.cells, ny);
    keys[n] = cell_index(i, j, ny);
}
