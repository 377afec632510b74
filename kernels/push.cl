/* Push: velocities n-1/2 -> n+1/2 and positions n -> n+1 in the field interpolated to each particle, the key
 * of the cell that it comes to, and the sums at n on the way.
 *
 * A group owns the particles [g chunk, (g + 1) chunk) of the sorted list. Its items stride through them side
 * by side, so that reads and writes coalesce; the cell of a particle follows from the cell offsets.
 *
 * Compile-time parameters: REAL_IS_DOUBLE (shared/real.h), SHAPE_ORDER (shared/shape.h), GHOST_ROWS
 * (shared/cell.h) and
 *   GROUP_ITEMS  items of a group, a power of two.
 */
#define SUM_COUNT 3 /* |v|^2, u, v */

#include "shared/push.h"
#include "shared/sum.h"

#define MOTION_ARGUMENTS                                                                                     \
    global const real *restrict ex, global const real *restrict ey, uint nx, uint ny, real half_kick,        \
        real tangent, real sine, real step_x, real step_y, uint count, uint chunk,                           \
        global const uint *restrict cell_offsets, global real2 *restrict offset,                             \
        global real2 *restrict velocity

/* `moves` and `measures` are constants of each kernel. Group g leaves the sums of |v|^2, u and v at n in
 * sums[3 g ...]. */
static inline void push_chunk(MOTION_ARGUMENTS, global uint *restrict key, global real *restrict sums,
                              local real *shared, const bool moves, const bool measures)
{
    const struct motion motion = {nx, ny, half_kick, tangent, sine, step_x, step_y};
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0), last_cell = nx * ny - 1;
    const uint begin = group * chunk, end = begin + min(chunk, count - begin);
    struct walk walk = walk_start();
    real total[SUM_COUNT] = {(real)0, (real)0, (real)0}, excess[SUM_COUNT] = {(real)0, (real)0, (real)0};
    for (uint p = begin + item; p < end;) {
        const uint block_end = min(end, p + SUM_BLOCK * GROUP_ITEMS);
        real block[SUM_COUNT] = {(real)0, (real)0, (real)0};
        for (; p < block_end; p += GROUP_ITEMS) {
            walk_to(&walk, p, 0, last_cell, cell_offsets, ex, ey, nx, ny);
            const real2 place = offset[p];
            const struct velocity_step step = push_velocity(&motion, &walk, place, velocity[p]);
            if (measures) {
                block[0] += step.square;
                block[1] += step.mean_u;
                block[2] += step.mean_v;
            }
            if (moves) {
                const struct pushed pushed = push_position(&motion, &walk, place, &step);
                velocity[p] = pushed.velocity;
                offset[p] = pushed_offset(&motion, &pushed);
                key[p] = pushed_cell(&motion, &pushed);
            }
        }
        if (measures)
            sum_add_block(total, excess, block);
    }
    if (!measures)
        return;
    sum_over_group(total, shared);
    if (item == 0)
        for (uint n = 0; n < SUM_COUNT; n++)
            sums[group * SUM_COUNT + n] = total[n];
}

/* One step. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void push_step(MOTION_ARGUMENTS,
                                                                               global uint *restrict key)
{
    push_chunk(ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y, count, chunk, cell_offsets, offset,
               velocity, key, 0, 0, true, false);
}

/* The same, and the sums at n. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
push_step_and_measure(MOTION_ARGUMENTS, global uint *restrict key, uint first_sum, global real *restrict sums)
{
    local real shared[SUM_SHARED];
    push_chunk(ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y, count, chunk, cell_offsets, offset,
               velocity, key, sums + first_sum, shared, true, true);
}

/* The sums alone: nothing moves. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
push_measure(MOTION_ARGUMENTS, uint first_sum, global real *restrict sums)
{
    local real shared[SUM_SHARED];
    push_chunk(ex, ey, nx, ny, half_kick, tangent, sine, step_x, step_y, count, chunk, cell_offsets, offset,
               velocity, 0, sums + first_sum, shared, false, true);
}
