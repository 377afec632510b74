/* PIC sort experiment: the motion between its two sorts (P. Helluy 2011, section 4.2).
 *
 * x' = x + u h, y' = y + v h with cells of side h: in units of a cell the offset grows by the velocity. With
 * u, v in [0, 1) a particle stays in its cell or goes to a neighbouring one. Both ways, u and v are stretched
 * to [-1, 1). A work-item writes the key of the cell that a particle of a sorted list comes to.
 */
#define LANES           1
#define FUSE_PRODUCTS   0
#define ELECTROMAGNETIC 0
#define VELOCITIES      3
#define MAGNETIC        0
#define PUSHER          0
#define FELT            2
#define DITHERS         0
#include "shared/cell.h"
#include "shared/motion.h"
#include "shared/search.h"

kernel void pic_sort_move(global const uint *cell_offsets, uint nx, uint ny, global const real2 *offsets,
                          global const real2 *velocities, uint both_ways, uint count, global uint *keys)
{
    const uint n = (uint)get_global_id(0);
    if (n >= count)
        return;
    const uint cell = find_segment(cell_offsets, 0, nx * ny - 1, n), i = cell / ny;
    const real2 moved = offsets[n] + (both_ways ? 2 * velocities[n] - 1 : velocities[n]);
    const struct placement x = offset_place(moved.x), y = offset_place(moved.y);
    keys[n] = cell_index(wrap_any((int)i + x.cells, nx), wrap_any((int)(cell - i * ny) + y.cells, ny), ny);
}
