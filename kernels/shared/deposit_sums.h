/* Deposit sums: the weights of particles of one cell, summed for the nodes around it (kernels/deposit.cl):
 * plainly for the charge, times a component of the velocity for the current.
 *
 * Loops over the sums of an item are unrolled, so that the sums stay in registers.
 */
#ifndef SHARED_DEPOSIT_SUMS_H
#define SHARED_DEPOSIT_SUMS_H

#include "shared/motion.h"
#include "shared/shape.h"

/* Nodes that the particles of a cell touch along an axis, and the first of them. */
#if CURRENT
#include "shared/wide_shape.h"
#define DEPOSIT_NODES               SHAPE_WIDE_NODES_OF(SHAPE_ORDER)
#define DEPOSIT_FIRST               SHAPE_WIDE_FIRST_OF(SHAPE_ORDER)
#define deposit_weights(d, weights) shape_wide_weights_of(SHAPE_ORDER, d, weights)
#else
#define DEPOSIT_NODES               SHAPE_NODES
#define DEPOSIT_FIRST               SHAPE_FIRST
#define deposit_weights(d, weights) shape_weights(d, weights)
#endif
#define SUM_COUNT (DEPOSIT_NODES * DEPOSIT_NODES)

#include "shared/sum.h"

/* What is deposited of particles: at which offset, and how much. */
struct samples {
    reals x, y, amount;
};

#if CURRENT

/* The current at n-1/2 of particles at n: each is deposited half a step before, at x - v dt/2, with one
 * component of its velocity v = u/gamma. */
struct half_step {
    real x, y; /* dt/2 dx, dt/2 dy */
    real per_c_squared;
};

static inline struct samples sample_current(const struct half_step *back, uint component, reals x, reals y,
                                            struct velocity u)
{
    const struct pusher pusher = {.per_c_squared = back->per_c_squared};
    const struct velocity v = velocity_of(u, &pusher);
    const struct samples samples = {x - back->x * v.u, y - back->y * v.v,
                                    component == 0   ? v.u
                                    : component == 1 ? v.v
                                                     : v.w};
    return samples;
}

#endif

/* The weights of particles, of all lanes or of those where `counts` is set, added to the sums of their cell.
 */
static inline void add_particles(const struct samples *samples, const bool all, masks counts,
                                 reals sums[SUM_COUNT])
{
    reals along_x[DEPOSIT_NODES], along_y[DEPOSIT_NODES];
    deposit_weights(samples->x, along_x);
    deposit_weights(samples->y, along_y);
    for (uint a = 0; CURRENT && a < DEPOSIT_NODES; a++)
        along_x[a] *= samples->amount;
    for (uint a = 0; !all && a < DEPOSIT_NODES; a++) { /* both: the others' may be non-finite */
        along_x[a] = counts ? along_x[a] : (reals)0;
        along_y[a] = counts ? along_y[a] : (reals)0;
    }
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[n] += along_x[n / DEPOSIT_NODES] * along_y[n % DEPOSIT_NODES];
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
