/* Sum: long sums that stay accurate in single precision and run in the same order every time.
 *
 * A work-item adds up to SUM_BLOCK terms plainly, then adds that block to its total with compensation (Kahan,
 * Commun. ACM 8, 40, 1965), so the error is that of one block however many terms there are. The totals of a
 * group are then added in a tree.
 *
 * SUM_COUNT: how many sums run side by side, set by the kernel. */
#ifndef SHARED_SUM_H
#define SHARED_SUM_H

#include "shared/lanes.h"

#ifndef SUM_COUNT
#error "SUM_COUNT must be the number of sums that run side by side"
#endif

/* Short enough that even equal terms, whose rounding errors all point one way, stay within some 1e-6. */
#define SUM_BLOCK 32

/* add() adds to a total. `excess` is what it holds too much, 0 at first. */
#define DEFINE_SUM(add, add_block, type)                                                                     \
    static inline void add(type *total, type *excess, type value)                                            \
    {                                                                                                        \
        const type addend = value - *excess;                                                                 \
        const type sum = *total + addend;                                                                    \
        *excess = (sum - *total) - addend;                                                                   \
        *total = sum;                                                                                        \
    }                                                                                                        \
    static inline void add_block(type total[SUM_COUNT], type excess[SUM_COUNT], const type block[SUM_COUNT]) \
    {                                                                                                        \
        for (int n = 0; n < SUM_COUNT; n++)                                                                  \
            add(&total[n], &excess[n], block[n]);                                                            \
    }
DEFINE_SUM(sum_add, sum_add_block, real)
DEFINE_SUM(sum_add_lanes, sum_add_block_of_lanes, reals)

#ifdef __OPENCL_VERSION__

#if !defined(GROUP_ITEMS) || GROUP_ITEMS < 1 || (GROUP_ITEMS & (GROUP_ITEMS - 1)) != 0
#error "GROUP_ITEMS must be a power of two"
#endif

/* Reals of local memory that sum_over_group() needs. Of kernels that share a function, those that sum declare
 * them by SUM_MEMORY_true; the others pass a null pointer, SUM_MEMORY_false (kernels/README.md says why). */
#define SUM_SHARED       (GROUP_ITEMS > 1 ? SUM_COUNT * GROUP_ITEMS / 2 : 1)
#define SUM_MEMORY_true  local real shared[SUM_SHARED]
#define SUM_MEMORY_false local real *const shared = 0

/* Adds the totals of all items of the group; item 0 is left with the sums. Every item must call it, from
 * uniform control flow. In each round the upper half hands its totals to the lower half:
 * the first barrier is between writing and reading them, the second before the next round overwrites them. */
static inline void sum_over_group(real total[SUM_COUNT], local real *shared)
{
    const uint item = (uint)get_local_id(0);
    for (uint width = GROUP_ITEMS / 2; width > 0; width /= 2) {
        if (item >= width && item < 2 * width)
            for (uint n = 0; n < SUM_COUNT; n++)
                shared[n * width + item - width] = total[n];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            for (uint n = 0; n < SUM_COUNT; n++)
                total[n] += shared[n * width + item];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Adds the totals of all lanes and items of the group, and leaves them in result[0 ... SUM_COUNT). */
static inline void sum_store(const reals lanes[SUM_COUNT], local real *shared, global real *result)
{
    real total[SUM_COUNT];
    for (uint n = 0; n < SUM_COUNT; n++)
        total[n] = SUM_OF_LANES(lanes[n]);
    sum_over_group(total, shared);
    if (get_local_id(0) == 0)
        for (uint n = 0; n < SUM_COUNT; n++)
            result[n] = total[n];
}

#endif
#endif
