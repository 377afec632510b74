/* Deposit sums: the weights of particles of one cell, summed for the nodes around it (kernels/deposit.cl).
 *
 * Loops over the sums of an item are unrolled, so that the sums stay in registers.
 */
#ifndef SHARED_DEPOSIT_SUMS_H
#define SHARED_DEPOSIT_SUMS_H

#include "shared/shape.h"

#define SUM_COUNT (SHAPE_NODES * SHAPE_NODES)

#include "shared/sum.h"

/* The weights of particles, of all lanes or of those where `counts` is set, added to the sums of their cell.
 */
static inline void add_particles(reals x, reals y, const bool all, masks counts, reals sums[SUM_COUNT])
{
    reals along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    shape_weights(x, along_x);
    shape_weights(y, along_y);
    for (uint a = 0; !all && a < SHAPE_NODES; a++) { /* both: the others' may be non-finite */
        along_x[a] = counts ? along_x[a] : (reals)0;
        along_y[a] = counts ? along_y[a] : (reals)0;
    }
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
