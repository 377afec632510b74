/* Deposit sums: the weights of particles of one cell, summed for the nodes around it (kernels/deposit.cl):
 * plainly for the charge, times the components of the velocity for the current.
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
#define COMPONENTS                  3
#define DEPOSIT_NODES               SHAPE_WIDE_NODES_OF(SHAPE_ORDER)
#define DEPOSIT_FIRST               SHAPE_WIDE_FIRST_OF(SHAPE_ORDER)
#define deposit_weights(d, weights) shape_wide_weights_of(SHAPE_ORDER, d, weights)
#else
#define COMPONENTS                  1
#define DEPOSIT_NODES               SHAPE_NODES
#define DEPOSIT_FIRST               SHAPE_FIRST
#define deposit_weights(d, weights) shape_weights(d, weights)
#endif
#define NODE_COUNT (DEPOSIT_NODES * DEPOSIT_NODES)
#define SUM_COUNT  (COMPONENTS * NODE_COUNT)

#include "shared/sum.h"

/* What is deposited of particles: at which offset, and how much of each component. */
struct samples {
    reals x, y;
#if CURRENT
    reals amount[COMPONENTS];
#endif
};
/* What component c gets with a weight. */
#if CURRENT
#define AMOUNT(samples, c, weight) ((samples)->amount[c] * (weight))
#else
#define AMOUNT(samples, c, weight) (weight)
#endif

/* Where a species' particles are: arguments of the kernels that sum them, `offset` and `stride` those of
 * kernels/deposit.cl. The current at n-1/2 of particles at n needs more: velocity and w, and how far back
 * half a step leads. */
struct list {
    global const real2 *offset;
    uint stride;
#if CURRENT
    global const real2 *velocity; /* `stride` apart, too */
    global const real *w;
    struct half_step {
        real x, y; /* dt/2 dx, dt/2 dy */
        real per_c_squared;
    } back;
#endif
};
#if CURRENT
#define LIST_ARGUMENTS                                                                                       \
    global const real2 *restrict offset, uint stride, global const real2 *restrict velocity, uint first,     \
        global const real *restrict w, struct half_step back
#define LIST(stride)                                                                                         \
    {                                                                                                        \
        offset, stride, velocity + first, w, back                                                            \
    }
#else
#define LIST_ARGUMENTS global const real2 *restrict offset, uint stride
#define LIST(stride)                                                                                         \
    {                                                                                                        \
        offset, stride                                                                                       \
    }
#endif

#if CURRENT

/* Particles are deposited half a step before, at x - v dt/2, with v = u/gamma. */
static inline struct samples sample_current(const struct list *list, reals x, reals y, struct velocity u)
{
    const struct half_step back = list->back;
    const struct pusher pusher = {.per_c_squared = back.per_c_squared};
    const struct velocity v = velocity_of(u, &pusher);
    const struct samples samples = {x - back.x * v.u, y - back.y * v.v, {v.u, v.v, v.w}};
    return samples;
}

#endif

/* Where sum number n of the piece at a place is: in planes of all `places`, so that pieces of neighbouring
 * cells are neighbours. A plane has a row of nodes on GPUs, which stores few words apart, and one sum on
 * CPUs, which then read vectors. */
#define SUM_CHUNK (LANES == 1 ? DEPOSIT_NODES : 1)
#define SUM_PLACE(places, place, n)                                                                          \
    (((size_t)(places) * ((n) / SUM_CHUNK) + (place)) * SUM_CHUNK + (n) % SUM_CHUNK)

static inline void store_sums(global real *restrict sums, uint places, uint place,
                              const real total[SUM_COUNT])
{
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        sums[SUM_PLACE(places, place, n)] = total[n];
}

/* Segments, from the first to the last, that have a piece of a cell which is not empty. */
static inline uint2 segments_of(global const uint *restrict cell_offsets, uint segment_bits, uint cell)
{
    return (uint2)(cell_offsets[cell] >> segment_bits, (cell_offsets[cell + 1] - 1) >> segment_bits);
}

#endif
