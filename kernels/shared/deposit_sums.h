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

/* Reads of an item that are under way at once. */
#define READ_AHEAD 8

/* The sums over particles begin, begin + step, ... before `end`, added to `total`. */
static inline void sum_particles(global const real2 *restrict offset, uint stride, uint begin, uint end,
                                 uint step, real total[SUM_COUNT])
{
    real excess[SUM_COUNT] = {(real)0};
    for (uint p = begin; p < end;) {
        real block[SUM_COUNT] = {(real)0};
        for (uint part = 0; part < SUM_BLOCK / READ_AHEAD && p < end; part++, p += READ_AHEAD * step) {
            real2 ahead[READ_AHEAD];
#pragma unroll
            for (uint k = 0; k < READ_AHEAD; k++)
                ahead[k] = offset[(size_t)min(p + k * step, end - 1) * stride];
#pragma unroll
            for (uint k = 0; k < READ_AHEAD; k++)
                if (p + k * step < end)
                    add_particle(ahead[k], block);
        }
        sum_add_block(total, excess, block);
    }
}

#endif
