/* Deposit sums: the weights of particles of one cell, summed for the nodes around it (kernels/deposit.cl).
 *
 * Loops over the sums of an item are unrolled, so that the sums stay in registers.
 */
#ifndef SHARED_DEPOSIT_SUMS_H
#define SHARED_DEPOSIT_SUMS_H

#include "shared/shape.h"

#define SUM_COUNT (SHAPE_NODES * SHAPE_NODES)

#include "shared/sum.h"

/* The weights of one particle, added to the sums of its cell. */
static inline void add_particle(real2 offset, real sums[SUM_COUNT])
{
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(offset.x, along_x);
    shape_weights(offset.y, along_y);
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] += along_x[n / SHAPE_NODES] * along_y[n % SHAPE_NODES];
}

static inline void store_sums(global real *restrict sums, uint place, const real total[SUM_COUNT])
{
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[(size_t)place * SUM_COUNT + n] = total[n];
}

/* Segments, from the first to the last, that have a piece of a cell which is not empty. */
static inline uint2 segments_of(global const uint *restrict cell_offsets, uint segment_bits, uint cell)
{
    return (uint2)(cell_offsets[cell] >> segment_bits, (cell_offsets[cell + 1] - 1) >> segment_bits);
}

#endif
