/* Sum: long sums that stay accurate in single precision and run in the same order every time.
 *
 * A work-item adds up to SUM_BLOCK terms plainly, then adds that block to its total with compensation (Kahan,
 * Commun. ACM 8, 40, 1965), so the error is that of one block however many terms there are. The totals of a
 * group are then added in a tree.
 *
 * SUM_COUNT: how many sums run side by side. GROUP_ITEMS: items of a group, a power of two (device only).
 */
#ifndef SHARED_SUM_H
#define SHARED_SUM_H

#include "shared/real.h"
#ifdef __OPENCL_VERSION__
#include "shared/lanes.h"
#endif

#ifndef SUM_COUNT
#error "SUM_COUNT must be the number of sums that run side by side"
#endif

/* Short enough that even equal terms, whose rounding errors all point one way, stay within some 1e-6. */
#define SUM_BLOCK 32

/* Adds to a total. `excess` is what it holds too much, 0 at first. */
static inline void sum_add(real *total, real *excess, real value)
{
    const real addend = value - *excess;
    const real sum = *total + addend;
    *excess = (sum - *total) - addend;
    *total = sum;
}

static inline void sum_add_block(real total[SUM_COUNT], real excess[SUM_COUNT], const real block[SUM_COUNT])
{
    for (int n = 0; n < SUM_COUNT; n++)
        sum_add(&total[n], &excess[n], block[n]);
}

#ifdef __OPENCL_VERSION__

#if !defined(GROUP_ITEMS) || GROUP_ITEMS < 1 || (GROUP_ITEMS & (GROUP_ITEMS - 1)) != 0
#error "GROUP_ITEMS must be a power of two"
#endif

/* Reals of local memory that sum_over_group() needs. */
#define SUM_SHARED (GROUP_ITEMS > 1 ? SUM_COUNT * GROUP_ITEMS / 2 : 1)

/* Adds the totals of all items of the group; item 0 is left with the sums. Every item must call it, from
 * uniform control flow, once in a kernel. In each round the upper half hands its totals to the lower half:
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

/* The same, left in result[0 ... SUM_COUNT). */
static inline void sum_store(real total[SUM_COUNT], local real *shared, global real *result)
{
    sum_over_group(total, shared);
    if (get_local_id(0) == 0)
        for (uint n = 0; n < SUM_COUNT; n++)
            result[n] = total[n];
}

/* ---- sums of sixteen lanes each, in a group of one item; unrolled, or they would not stay in registers ----
 */

struct sums16 {
    real16 block[SUM_COUNT], total[SUM_COUNT], excess[SUM_COUNT];
    uint added; /* vectors in the block */
};

static inline void sums16_end_block(struct sums16 *sums)
{
#pragma unroll
    for (int n = 0; n < SUM_COUNT; n++) {
        const real16 addend = sums->block[n] - sums->excess[n];
        const real16 sum = sums->total[n] + addend;
        sums->excess[n] = (sum - sums->total[n]) - addend;
        sums->total[n] = sum;
        sums->block[n] = (real16)((real)0);
    }
    sums->added = 0;
}

/* Adds those of the lanes where `counts` is set, or with `all` of every lane, which takes fewer operations.
 */
static inline void sums16_add(struct sums16 *sums, const real16 values[SUM_COUNT], bool all, mask16 counts)
{
    if (all) {
#pragma unroll
        for (int n = 0; n < SUM_COUNT; n++)
            sums->block[n] += values[n];
    } else {
#pragma unroll
        for (int n = 0; n < SUM_COUNT; n++)
            sums->block[n] = select(sums->block[n], sums->block[n] + values[n], counts);
    }
    if (++sums->added == SUM_BLOCK)
        sums16_end_block(sums);
}

static inline void sums16_store(struct sums16 *sums, global real *result)
{
    sums16_end_block(sums);
    for (int n = 0; n < SUM_COUNT; n++)
        result[n] = sum_of_lanes(sums->total[n]);
}

#endif
#endif
