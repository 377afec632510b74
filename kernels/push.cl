/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1 in the field interpolated to each particle, and the
 * sums at n on the way.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h) and
 *   GROUP_ITEMS  items of a group, a power of two.
 */
#define SUM_COUNT 3 /* |v|^2, u, v */

#include "shared/interpolate.h"
#include "shared/motion.h"
#include "shared/sum.h"

/* Velocities at 0 -> -1/2; one item per particle. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
push_start(global const real *restrict ex, global const real *restrict ey, uint nx, uint ny, real half_kick,
           real tangent, real cosine, uint count, global const uint *restrict key,
           global const real2 *restrict offset, global real2 *restrict velocity)
{
    const uint p = (uint)get_global_id(0);
    if (p >= count)
        return;
    const struct cell_field around = cell_field_read(ex, ey, nx, ny, key[p]);
    const real2 field = interpolate(&around, offset[p]);
    const real2 loaded = velocity[p];
    const struct velocity_pair start =
        velocity_start(loaded.x, loaded.y, field.x, field.y, half_kick, tangent, cosine);
    velocity[p] = (real2)(start.u, start.v);
}

/* What push_step() and push_measure() do: a group owns the particles [g chunk, (g + 1) chunk) and its items
 * stride through them side by side, so that reads and writes coalesce. Group g leaves the sums of |v|^2, u
 * and v at n in sums[3 g ...]. The barriers stand in sum_over_group(), which all items reach whatever the
 * number of particles. (step_x, step_y) = (dt/dx, dt/dy). `moves` is a constant of each kernel. */
static inline void push_chunk(global const real *restrict ex, global const real *restrict ey, uint nx,
                              uint ny, real half_kick, real tangent, real sine, real step_x, real step_y,
                              uint count, uint chunk, global const uint *restrict key,
                              global real2 *restrict offset, global real2 *restrict velocity,
                              global real *restrict sums, local real *shared, const bool moves)
{
    const uint group = (uint)get_group_id(0);
    const uint item = (uint)get_local_id(0);
    const uint begin = group * chunk, end = begin + min(chunk, count - begin);
    real total[SUM_COUNT] = {(real)0, (real)0, (real)0}, excess[SUM_COUNT] = {(real)0, (real)0, (real)0};
    for (uint p = begin + item; p < end;) {
        const uint block_end = min(end, p + SUM_BLOCK * GROUP_ITEMS);
        real block[SUM_COUNT] = {(real)0, (real)0, (real)0};
        for (; p < block_end; p += GROUP_ITEMS) {
            const real2 place = offset[p], before = velocity[p];
            const struct cell_field around = cell_field_read(ex, ey, nx, ny, key[p]);
            const real2 field = interpolate(&around, place);
            const struct velocity_step step =
                velocity_push(before.x, before.y, field.x, field.y, half_kick, tangent, sine);
            block[0] += step.square;
            block[1] += step.mean_u;
            block[2] += step.mean_v;
            if (moves) {
                velocity[p] = (real2)(step.u, step.v);
                offset[p] = (real2)(place.x + step.u * step_x, place.y + step.v * step_y);
            }
        }
        sum_add_block(total, excess, block);
    }
    sum_over_group(total, shared);
    if (item == 0)
        for (uint n = 0; n < SUM_COUNT; n++)
            sums[group * SUM_COUNT + n] = total[n];
}

/* One step. Afterwards offsets may lie outside [0, 1). */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
push_step(global const real *restrict ex, global const real *restrict ey, uint nx, uint ny, real half_kick,
          real tangent, real sine, real step_x, real step_y, uint count, uint chunk,
          global const uint *restrict key, global real2 *restrict offset, global real2 *restrict velocity,
          uint first_sum, global real *restrict sums)
{
    local real shared[SUM_SHARED];
    push_chunk(ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y, count, chunk, key, offset, velocity,
               sums + first_sum, shared, true);
}

/* The sums of push_step() alone: nothing moves. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
push_measure(global const real *restrict ex, global const real *restrict ey, uint nx, uint ny, real half_kick,
             real tangent, real sine, uint count, uint chunk, global const uint *restrict key,
             global real2 *restrict offset, global real2 *restrict velocity, uint first_sum,
             global real *restrict sums)
{
    local real shared[SUM_SHARED];
    push_chunk(ex, ey, nx, ny, half_kick, tangent, sine, (real)0, (real)0, count, chunk, key, offset,
               velocity, sums + first_sum, shared, false);
}
