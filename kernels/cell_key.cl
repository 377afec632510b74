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
    if (x.cells == 0 && y.cells == 0) {
        offsets[n] = (real2)(x.offset, y.offset);
        return;
    }
    const uint old = keys[n];
    const int i = (int)(old / ny) + x.cells, j = (int)(old % ny) + y.cells;
    offsets[n] = (real2)(row_offset(x.offset, i, nx), y.offset);
    keys[n] = cell_index(wrap_row(i, nx), wrap_any(j, ny), ny);
}
