/* Start: velocities at 0 -> -1/2, so that the first step leads exactly through the loaded ones at 0.
 *
 * One item per particle of the sorted list.
 */
#define LANES         1
#define FUSE_PRODUCTS 0
#define MAGNETIC      1
#define DITHERS       0
#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/search.h"

/* Particle p has its offset in element stride * p, its velocity in stride * p + first, any w in element p. */
kernel void start_velocities(global const real *restrict e, uint field_stride, uint nx, uint ny, uint count,
                             global const uint *restrict cell_offsets, global const real2 *offset,
                             global real2 *velocity, uint stride, uint first, global real *w,
                             struct pusher pusher)
{
    const uint p = (uint)get_global_id(0);
    if (p >= count)
        return;
    const uint cell = find_segment(cell_offsets, 0, nx * ny - 1, p);
    struct cell_field around;
    cell_field_enter(&around, e, field_stride, nx, ny, cell / ny, cell % ny);
    const real2 place = offset[stride * p];
    real field[FELT];
    interpolate(&around, place.x, place.y, field);
    const real2 pair = velocity[stride * p + first];
    const struct velocity loaded = {pair.x, pair.y, HAS_W ? w[p] : (real)0};
    const struct velocity start = velocity_start(loaded, field, &pusher);
    velocity[stride * p + first] = (real2)(start.u, start.v);
    if (HAS_W)
        w[p] = start.w;
}
