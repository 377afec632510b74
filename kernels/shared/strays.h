/* Strays: the kernels of tiled_step.cl for the particles that leave their tile's window (shared/windows.h).
 * They stand in their cell behind the others, in the order of their old places. They were listed in no order:
 * first each takes any place of its cell's, in `order`. Then, in a cell with up to MOST_COMPARED of them,
 * each is compared with all of its cell; in a dense one they are sorted by a group.
 *
 * stray_number   how many strays there are, and how many cells are dense, listed in `dense`
 */
#ifndef SHARED_STRAYS_H
#define SHARED_STRAYS_H

#include "shared/arrivals.h"
#include "shared/merge_sort.h"
#include "shared/push.h"

static inline struct pushed push_stray(const struct arrays *arrays, const struct motion *motion, uint source)
{
    struct walk walk = walk_start();
    walk_to(&walk, motion, arrays->cell_offsets, source, 0, motion->nx * motion->ny - 1);
    return push_one(motion, &walk, source, arrays->offset[source],
                    read_velocity(arrays->velocity, arrays->w, source));
}

#if HAS_KERNEL(4)

/* Leaves stray_counts at 0, for the next count. */
kernel void step_order_strays(MOTION_ARGUMENTS, LIST_ARGUMENTS, volatile global uint *restrict stray_number,
                              global const uint *restrict stray_list,
                              volatile global uint *restrict stray_counts,
                              global const uint *restrict stray_begins, global uint *restrict order,
                              global uint *restrict dense)
{
    const struct motion motion = MOTION;
    const struct arrays arrays = {cell_offsets, offset, velocity, w, 0, 0, 0, 0, false};
    const uint strays = stray_number[0];
    for (uint n = (uint)get_global_id(0); n < strays; n += (uint)get_global_size(0)) {
        const struct pushed pushed = push_stray(&arrays, &motion, stray_list[n]);
        const uint cell = pushed_cell(&motion, &pushed), left = atomic_dec(&stray_counts[cell]);
        order[stray_begins[cell] + left - 1] = stray_list[n];
        if (left == MOST_COMPARED + 1) /* one of the cell's finds that, if it has as many */
            dense[atomic_inc(&stray_number[1])] = cell;
    }
}

#endif

#if HAS_KERNEL(5)

/* Sorts the strays of a dense cell and moves them, by all items of a group. Their new places hold the list
 * between the passes. */
static inline void move_dense(const struct arrays *arrays, const struct motion *motion, global uint *order,
                              uint begin, uint count)
{
    const uint t = (uint)get_local_id(0), items = (uint)get_local_size(0);
    global uint *list = order + begin, *spare = (global uint *)(arrays->new_offset + begin);
    for (uint run = 1; run < count; run *= 4) {
        merge_runs(list, spare, count, run, t, items);
        barrier(CLK_GLOBAL_MEM_FENCE);
        merge_runs(spare, list, count, 2 * run, t, items);
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    for (uint n = t; n < count; n += items) {
        const struct pushed pushed = push_stray(arrays, motion, list[n]);
        store_pushed(arrays, &pushed, list[n], begin + n);
    }
}

kernel void step_move_strays(MOTION_ARGUMENTS, LIST_ARGUMENTS, global const uint *restrict stray_number,
                             global const uint *restrict stray_list, global const uint *restrict stray_begins,
                             global uint *restrict order, global const uint *restrict dense,
                             ARRIVAL_ARGUMENTS, global const uint *restrict new_offsets, NEW_LIST_ARGUMENTS)
{
    const struct motion motion = MOTION;
    const struct arrays arrays = NEW_ARRAYS;
    for (uint n = (uint)get_global_id(0); n < stray_number[0]; n += (uint)get_global_size(0)) {
        const uint source = stray_list[n];
        const struct pushed pushed = push_stray(&arrays, &motion, source);
        const uint cell = pushed_cell(&motion, &pushed), begin = stray_begins[cell];
        const uint end = new_offsets[cell + 1] - arrivals_of(ARRIVALS, cell, motion.ny);
        if (end - begin > MOST_COMPARED)
            continue;
        uint target = begin;
        for (uint other = begin; other < end; other++)
            target += order[other] < source;
        store_pushed(&arrays, &pushed, source, target);
    }
    for (uint n = (uint)get_group_id(0); n < stray_number[1]; n += (uint)get_num_groups(0)) {
        const uint cell = dense[n], begin = stray_begins[cell];
        const uint end = new_offsets[cell + 1] - arrivals_of(ARRIVALS, cell, motion.ny);
        move_dense(&arrays, &motion, order, begin, end - begin);
    }
}

#endif

#endif
