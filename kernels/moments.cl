/* Moments: the number of particles, the mean velocity and the variance of the velocities of every cell, from
 * the sorted list. */
#define SUM_COUNT 4

#include "shared/sum.h"

enum { DENSITY, VELOCITY_X, VELOCITY_Y, VELOCITY_Z, TEMPERATURE }; /* as in src/output/moments.c */

/* Group g owns cell first_cell + g and leaves `factor` times the quantity in result[g]; its items stride
 * through the cell's particles side by side. state: velocity pairs, that of particle p at p * state_stride +
 * state_first; w: the third component, where has_w.
 *
 * Velocities count from that of the cell's first particle: the variance is the small difference of two sums
 * otherwise, where a beam is fast and cold. The barriers stand in sum_over_group(), which all items reach. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
moments(global const real2 *restrict state, uint state_stride, uint state_first,
        global const real *restrict w, uint has_w, global const uint *restrict cell_offsets, uint first_cell,
        uint quantity, real factor, global real *restrict result)
{
    local real shared[SUM_SHARED];
    const uint group = (uint)get_group_id(0), item = (uint)get_local_id(0);
    const uint begin = cell_offsets[first_cell + group], size = cell_offsets[first_cell + group + 1] - begin;
    const uint end = quantity == DENSITY ? begin : begin + size;
    const real2 first =
        size > 0 ? state[begin * (ulong)state_stride + state_first] : (real2)((real)0, (real)0);
    const real first_w = size > 0 && has_w ? w[begin] : (real)0, count = (real)max(size, 1U);
    real total[SUM_COUNT] = {(real)0}, excess[SUM_COUNT] = {(real)0};
    for (uint p = begin + item; p < end;) {
        const uint block_end = end - p > SUM_BLOCK * GROUP_ITEMS ? p + SUM_BLOCK * GROUP_ITEMS : end;
        real block[SUM_COUNT] = {(real)0};
        for (; p < block_end; p += GROUP_ITEMS) {
            const real2 relative = state[p * (ulong)state_stride + state_first] - first;
            block[0] += relative.x;
            block[1] += relative.y;
            block[2] += relative.x * relative.x + relative.y * relative.y;
            if (has_w) {
                const real relative_w = w[p] - first_w;
                block[2] += relative_w * relative_w;
                block[3] += relative_w;
            }
        }
        sum_add_block(total, excess, block);
    }
    sum_over_group(total, shared);
    const real2 mean = (real2)(total[0], total[1]) / count;
    const real mean_w = total[3] / count;
    const real variance = total[2] / count - (mean.x * mean.x + mean.y * mean.y + mean_w * mean_w);
    if (item == 0)
        result[group] = factor * (quantity == DENSITY      ? (real)size
                                  : quantity == VELOCITY_X ? first.x + mean.x
                                  : quantity == VELOCITY_Y ? first.y + mean.y
                                  : quantity == VELOCITY_Z ? first_w + mean_w
                                                           : max(variance, (real)0));
}
