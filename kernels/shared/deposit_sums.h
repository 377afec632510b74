/* Deposit sums: the weights of particles of one cell, summed for the nodes around it (kernels/deposit.cl):
 * plainly for the charge, which is component 0, and times the velocity for the current.
 *
 * Loops over the sums of an item are unrolled, so that the sums stay in registers.
 */
#ifndef SHARED_DEPOSIT_SUMS_H
#define SHARED_DEPOSIT_SUMS_H

#include "shared/motion.h"
#include "shared/shape.h"
#include "shared/weight.h"

/* Nodes that a cell has sums for along an axis, and the first of them. */
#if CURRENT && !BESIDE
#define DEPOSIT_NODES               SHAPE_WIDE_NODES_OF(SHAPE_ORDER)
#define DEPOSIT_FIRST               SHAPE_WIDE_FIRST_OF(SHAPE_ORDER)
#define deposit_weights(d, weights) shape_wide_weights_of(SHAPE_ORDER, d, weights)
#else
#define DEPOSIT_NODES               SHAPE_NODES
#define DEPOSIT_FIRST               SHAPE_FIRST
#define deposit_weights(d, weights) shape_weights(d, weights)
#endif
#if CURRENT
#include "shared/wide_shape.h"
#define COMPONENTS 4
typedef real4 amounts; /* of a node: rho and J */
#else
#define COMPONENTS 1
typedef real amounts;
#endif
#define NODE_COUNT (DEPOSIT_NODES * DEPOSIT_NODES)
#define SUM_COUNT  (COMPONENTS * NODE_COUNT)

#include "shared/sum.h"

/* What the deposit takes of particles: their offset, for the current their velocity, and their weight. */
struct samples {
    reals x, y;
#if CURRENT
    reals velocity[3];
#endif
#if WEIGHTS
    reals weight;
#endif
};

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
#if WEIGHTS
    global const real *weight;
#endif
};
#if CURRENT
#define LIST_ARGUMENTS                                                                                       \
    global const real2 *restrict offset, uint stride, global const real2 *restrict velocity, uint first,     \
        global const real *restrict w, struct half_step back, volatile global long *restrict beside,         \
        uint copies, uint nx, uint ny, real scale
#define LIST(stride) ((struct list){offset, stride, velocity + first, w, back WEIGHT_MEMBER})
#else
#define LIST_ARGUMENTS global const real2 *restrict offset, uint stride
#define LIST(stride)   ((struct list){offset, stride WEIGHT_MEMBER})
#endif

#if CURRENT

/* v = u/gamma. */
static inline struct samples sample_velocity(const struct list *list, reals x, reals y, struct velocity u)
{
    const struct pusher pusher = {.per_c_squared = list->back.per_c_squared};
    const struct velocity v = velocity_of(u, &pusher);
    const struct samples samples = {x, y, {v.u, v.v, v.w}};
    return samples;
}

/* The current is that of half a step before, of particles at x - v dt/2; v is times the weight afterwards. */
static inline struct samples half_step_before(const struct samples *at, struct half_step back)
{
    struct samples before = *at;
    before.x -= back.x * at->velocity[0];
    before.y -= back.y * at->velocity[1];
#if WEIGHTS
    for (uint c = 0; c < 3; c++)
        before.velocity[c] *= at->weight;
#endif
    return before;
}

#endif

/* Sum number n of a piece is component n % COMPONENTS of a node. GPUs have the sums of a piece side by side,
 * and store few words apart. CPUs have planes of all `places`, so that they read vectors of cells. */
#define SUM_PLACE(places, place, n)                                                                          \
    (LANES == 1 ? (size_t)(place)*SUM_COUNT + (n) : (size_t)(places) * (n) + (place))

/* CPUs leave out what is always 0: the charge reaches fewer nodes than the current. */
#define NODE_OF(n)     ((n) / COMPONENTS)
#define IS_INNER(node) ((uint)(node) - (SHAPE_FIRST - DEPOSIT_FIRST) < SHAPE_NODES)
#define HAS_SUM(n)                                                                                           \
    (LANES == 1 || (n) % COMPONENTS > 0 ||                                                                   \
     (IS_INNER(NODE_OF(n) / DEPOSIT_NODES) && IS_INNER(NODE_OF(n) % DEPOSIT_NODES)))

static inline void store_sums(global real *restrict sums, uint places, uint place,
                              const real total[SUM_COUNT])
{
#pragma unroll
    for (uint n = 0; n < SUM_COUNT; n++)
        if (HAS_SUM(n))
            sums[SUM_PLACE(places, place, n)] = total[n];
}

/* Segments, from the first to the last, that have a piece of a cell which is not empty. */
static inline uint2 segments_of(global const uint *restrict cell_offsets, uint segment_bits, uint cell)
{
    return (uint2)(cell_offsets[cell] >> segment_bits, (cell_offsets[cell + 1] - 1) >> segment_bits);
}

#endif
