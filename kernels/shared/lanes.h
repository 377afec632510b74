/* Lanes: masks, reductions and prefetching for vectors of sixteen reals, for CPU devices. Device only. */
#ifndef SHARED_LANES_H
#define SHARED_LANES_H

#include "shared/fold.h"
#include "shared/real.h"

#define LANES 16u /* particles of a vector */

/* What comparing vectors of reals gives: 0 or -1 a lane. */
#if REAL_IS_DOUBLE
typedef long16 mask16;
#define convert_real16 convert_double16
#define convert_mask16 convert_long16
#define bits_of_real   as_ulong
#define bits_of_real16 as_ulong16
#else
typedef int16 mask16;
#define convert_real16 convert_float16
#define convert_mask16 convert_int16
#define bits_of_real   as_uint
#define bits_of_real16 as_uint16
#endif

/* a b + c, rounded once where the device is fast at that. Written out, so that every kernel rounds alike:
 * compilers may fuse a plain expression in one kernel and not in another. */
#if defined(__FMA__) || (REAL_IS_DOUBLE && defined(FP_FAST_FMA)) || (!REAL_IS_DOUBLE && defined(FP_FAST_FMAF))
#define MULTIPLY_ADD(a, b, c) fma((real16)(a), (real16)(b), (real16)(c))
#else
#define MULTIPLY_ADD(a, b, c) ((real16)(a) * (real16)(b) + (real16)(c))
#endif

DEFINE_FOLD(all_lanes, int, AND) /* whether a mask is set in all lanes: not 0 */
DEFINE_FOLD(sum_of_words, ulong, ADD)
DEFINE_FOLD(sum_of_lanes, real, ADD)

/* Which lanes are in [0, 1): positive reals are in the order of the words that hold them, and what is
 * negative or not a number has greater words. -0 is left out. */
static inline mask16 is_fraction(real16 v)
{
    return bits_of_real16(v) < bits_of_real((real)1);
}

/* Prefetch of memory that will be read, or written, soon: hardware prefetching ends with the page, and it
 * does not cover the stores to the places of particles. OpenCL's prefetch() does nothing on PoCL. Results do
 * not depend on it. */
#if defined(__x86_64__)
#define WILL_READ(address)  __builtin_prefetch((const void *)(size_t)(address), 0)
#define WILL_WRITE(address) __builtin_prefetch((const void *)(size_t)(address), 1)
#else
#define WILL_READ(address)  ((void)0)
#define WILL_WRITE(address) ((void)0)
#endif
#define PREFETCH_AHEAD 256u /* particles */

/* Moves of lanes between two vectors. They are spelled out, since oclgrind 21.10 takes lane b of a.s89ab for
 * uninitialised, and ends at the lanes that a.even leaves open in (real16)(a.even, b.even).
 *
 *   even_lanes, odd_lanes    a0 a2 a4 ... b0 b2 ..., and a1 a3 ... b1 b3 ...
 *   low_pairs, high_pairs    a0 b0 a1 b1 ... a7 b7, and a8 b8 ... */
#define DEFINE_MOVE(name, lanes)                                                                             \
    static inline real16 name(real16 a, real16 b)                                                            \
    {                                                                                                        \
        return (real16)lanes;                                                                                \
    }
DEFINE_MOVE(even_lanes,
            (a.s0, a.s2, a.s4, a.s6, a.s8, a.sa, a.sc, a.se, b.s0, b.s2, b.s4, b.s6, b.s8, b.sa, b.sc, b.se))
DEFINE_MOVE(odd_lanes,
            (a.s1, a.s3, a.s5, a.s7, a.s9, a.sb, a.sd, a.sf, b.s1, b.s3, b.s5, b.s7, b.s9, b.sb, b.sd, b.sf))
DEFINE_MOVE(low_pairs,
            (a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7))
DEFINE_MOVE(high_pairs,
            (a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf))

/* Adds neighbouring lanes of a, then of b. */
static inline real16 add_neighbours(real16 a, real16 b)
{
    return even_lanes(a, b) + odd_lanes(a, b);
}

/* Four of the sums, each over its lanes, in the first lanes of what it returns. */
static inline real16 sum_lanes(const real16 *of)
{
    const real16 four = add_neighbours(add_neighbours(of[0], of[1]), add_neighbours(of[2], of[3]));
    const real16 two = add_neighbours(four, four);
    return add_neighbours(two, two);
}

#endif
