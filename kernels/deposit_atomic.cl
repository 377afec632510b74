/* Deposit atomic: the charge density of one species on the nodes, one work-item a particle, by atomic
 * additions in fixed point (src/field/deposit_atomic.h).
 *
 * Integers have the same sum in any order. The weights must be the same for a particle wherever the compiler
 * computes them: hence FP_CONTRACT OFF.
 *
 * Arguments that several kernels share:
 *   offset  the offsets (dx, dy), `stride` real2 from one particle to the next: 1 in SoA, 2 in AoS
 *   scale   2^F: what a weight of 1 adds
 *   sums    ulong[nodes], each as two words; they stay below 2^63, and the top bit marks a non-finite one
 */
#pragma OPENCL FP_CONTRACT OFF

#define LANES         1
#define FUSE_PRODUCTS 0
#include "shared/shape.h"

#include "shared/cell.h"

#if !defined(ADD_64_BITS) || ADD_64_BITS < 0 || ADD_64_BITS > 1
#error "ADD_64_BITS must be 0 or 1"
#endif
#if ADD_64_BITS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#ifdef __ENDIAN_LITTLE__
#define LOW_WORD  0
#define HIGH_WORD 1
#else
#define LOW_WORD  1
#define HIGH_WORD 0
#endif

#define NON_FINITE 0x80000000u /* in the high word */

/* Marks a sum as non-finite, by atomics as wide as those that add: of widths mixed on one address OpenCL
 * promises nothing. An addition cannot undo the mark, since the sum without it stays below 2^63. */
static inline void mark_non_finite(volatile global uint *sum)
{
#if ADD_64_BITS
    const ulong mark = (ulong)NON_FINITE << 32;
    volatile global ulong *const whole = (volatile global ulong *)sum;
    ulong met = atom_cmpxchg(whole, 0, mark), expected = 0; /* a guess: the exchange tells what is there */
    while (met != expected && met >> 63 == 0) {
        expected = met;
        met = atom_cmpxchg(whole, expected, expected | mark);
    }
#else
    (void)atomic_or(sum + HIGH_WORD, NON_FINITE);
#endif
}

/* Adds to a sum of two words. The low one is at times behind the high one, but all additions together carry
 * as often as the low word overflows. */
static inline void add_integer(volatile global uint *sum, ulong addend)
{
#if ADD_64_BITS
    (void)atom_add((volatile global ulong *)sum, addend);
#else
    const uint low = (uint)addend;
    const uint old = atomic_add(sum + LOW_WORD, low);
    const uint high = (uint)(addend >> 32) + (old + low < old ? 1u : 0u);
    if (high != 0)
        (void)atomic_add(sum + HIGH_WORD, high);
#endif
}

/* Most weights of the lowest order are 0 and not added. One outside [0, 1] is of a non-finite particle. */
static inline void add_weight(volatile global uint *sum, real weight, real scale)
{
    const real scaled = weight * scale;
    if (!(scaled >= (real)0 && scaled <= scale))
        mark_non_finite(sum);
    else if (scaled > (real)0)
        add_integer(sum, (ulong)rint(scaled));
}

/* nx and ny are at least 2, so that the nodes of a cell are within wrap_near(). */
static inline void add_particle(real2 offset, uint cell, uint nx, uint ny, real scale,
                                volatile global uint *sums)
{
    real along_x[SHAPE_NODES], along_y[SHAPE_NODES];
    const int i = (int)(cell / ny), j = (int)(cell % ny);
    shape_weights(offset.x, along_x);
    shape_weights(offset.y, along_y);
#pragma unroll
    for (int a = 0; a < SHAPE_NODES; a++) {
        const uint row = wrap_near(i + SHAPE_FIRST + a, nx);
#pragma unroll
        for (int b = 0; b < SHAPE_NODES; b++) {
            const uint node = cell_index(row, wrap_near(j + SHAPE_FIRST + b, ny), ny);
            add_weight(sums + 2 * (size_t)node, along_x[a] * along_y[b], scale);
        }
    }
}

/* One item a particle, in any order. Its key is its cell. */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_atomic_particles(global const uint *restrict keys, global const real2 *restrict offset, uint stride,
                         uint count, uint nx, uint ny, real scale, volatile global uint *sums)
{
    const uint p = (uint)get_global_id(0);
    if (p < count)
        add_particle(offset[(size_t)p * stride], keys[p], nx, ny, scale, sums);
}

/* One item a node: the sum becomes a real, and is 0 for the next deposit. unit: 2^-F. factor: charge per area
 * of one macro-particle, q w/(dx dy). */
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
deposit_atomic_nodes(global ulong *restrict sums, uint nodes, real unit, real factor,
                     global real *restrict rho)
{
    const uint node = (uint)get_global_id(0);
    if (node >= nodes)
        return;
    const ulong sum = sums[node];
    sums[node] = 0;
    rho[node] = factor * (sum >> 63 ? (real)NAN : (real)sum * unit);
}
