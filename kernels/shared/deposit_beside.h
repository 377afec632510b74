/* Deposit beside: the current of particles that were beside their cell half a step before, in fixed point
 * (shared/deposit_sums.h), for GPUs. They are few where half a step is short beside a cell. Integers have the
 * same sum in any order, so atomic additions give the same bits in every run.
 */
#ifndef SHARED_DEPOSIT_BESIDE_H
#define SHARED_DEPOSIT_BESIDE_H

#include "shared/deposit_sums.h"
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

/* False for a non-finite one, which shows in the sums of its cell. */
static inline bool was_beside(const struct samples *before)
{
    return isfinite(before->x + before->y) &&
           (fmin(before->x, before->y) < (real)0 || fmax(before->x, before->y) >= (real)1);
}

/* Adds a particle at offsets from its cell that may be in a cell beside. */
static inline void add_beside(struct samples before, uint cell, uint nx, uint ny, real scale,
                              volatile global long *sums)
{
    const real right = floor(before.x), above = floor(before.y);
    const int i = (int)(cell / ny) + (int)right, j = (int)(cell % ny) + (int)above;
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(before.x - right, along_x);
    shape_weights(before.y - above, along_y);
#pragma unroll
    for (int n = 0; n < NODE_COUNT; n++) {
        const uint row = wrap_near(i + SHAPE_FIRST + n / SHAPE_NODES, nx);
        const uint node = cell_index(row, wrap_near(j + SHAPE_FIRST + n % SHAPE_NODES, ny), ny);
        const real weight = scale * along_x[n / SHAPE_NODES] * along_y[n % SHAPE_NODES];
#pragma unroll
        for (uint c = 0; c < 3; c++)
            (void)atom_add(sums + (size_t)c * nx * ny + node, (long)rint(weight * before.velocity[c]));
    }
}

/* total += what lane number `lane` takes of the sums of a node. */
static inline void read_beside(global const long *sums, uint copies, uint nodes, uint node, uint lane,
                               uint lanes, long total[3])
{
    for (uint copy = lane; copy < copies; copy += lanes)
#pragma unroll
        for (uint c = 0; c < 3; c++)
            total[c] += sums[(3 * (size_t)copy + c) * nodes + node];
}

/* These sums are 0 for the next species. */
static inline void clear_beside(global long *sums, uint copies, uint nodes, uint node, uint lane, uint lanes)
{
    for (uint copy = lane; copy < copies; copy += lanes)
#pragma unroll
        for (uint c = 0; c < 3; c++)
            sums[(3 * (size_t)copy + c) * nodes + node] = 0;
}

#endif
