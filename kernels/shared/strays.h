/* Strays: the kernels of tiled_step.cl for the particles that leave their chunk's window (shared/windows.h).
 * They stand in their cell behind the others, in the order of their old places. They were listed in no order:
 * first each takes any place of its cell's, in `order`, then its rank is counted there.
 */
#ifndef SHARED_STRAYS_H
#define SHARED_STRAYS_H

#include "shared/arrivals.h"
#include "shared/push.h"

static inline struct pushed push_stray(const struct arrays *arrays, const struct motion *motion, uint source)
{
    struct walk walk = walk_start();
    walk_to(&walk, motion, arrays->cell_offsets, source, 0, motion->nx * motion->ny - 1);
    const struct velocity_step step =
        push_velocity(motion, &walk, arrays->offset[source], arrays->velocity[source]);
    struct pushed pushed = push_position(motion, &walk, arrays->offset[source], &step);
    pushed.offset = pushed_offset(motion, &pushed);
    return pushed;
}

/* Leaves stray_counts at 0, for the next count. */
kernel void step_order_strays(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict stray_number,
                              global const uint *restrict stray_list,
                              volatile global uint *restrict stray_counts,
                              global const uint *restrict stray_begins, global uint *restrict order)
{
    const struct motion motion = MOTION;
    const struct arrays arrays = {cell_offsets, offset, velocity, 0, 0, 0};
    for (uint n = (uint)get_global_id(0); n < *stray_number; n += (uint)get_global_size(0)) {
        const struct pushed pushed = push_stray(&arrays, &motion, stray_list[n]);
        const uint cell = pushed_cell(&motion, &pushed);
        order[stray_begins[cell] + atomic_dec(&stray_counts[cell]) - 1] = stray_list[n];
    }
}

kernel void step_move_strays(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict stray_number,
                             global const uint *restrict stray_list, global const uint *restrict stray_begins,
                             global const uint *restrict order, ARRIVAL_ARGUMENTS,
                             global const uint *restrict new_offsets, NEW_LIST_ARGUMENTS)
{
    const struct motion motion = MOTION;
    const struct arrays arrays = {cell_offsets, offset, velocity, new_offset, new_velocity, origin};
    for (uint n = (uint)get_global_id(0); n < *stray_number; n += (uint)get_global_size(0)) {
        const uint source = stray_list[n];
        const struct pushed pushed = push_stray(&arrays, &motion, source);
        const uint cell = pushed_cell(&motion, &pushed);
        uint target = stray_begins[cell];
        const uint end = new_offsets[cell + 1] - arrivals_of(arrival_rows, arrival_counts, cell, ny);
        for (uint other = stray_begins[cell]; other < end; other++)
            target += order[other] < source;
        store_pushed(&arrays, &pushed, source, target);
    }
}

#endif
