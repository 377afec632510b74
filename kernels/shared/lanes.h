/* Lanes: the particles that an item has side by side: 1, or 16 as vectors on CPU devices.
 * Formulas are written over `reals`, `ints` and `uints`, which are numbers or vectors of them, in code that
 * both the OpenCL and the host compiler read. Conditions are ?: in either.
 *
 * FUSE_PRODUCTS is for programs with kernels that must agree in every bit, where the device is fast at
 * rounding once. Such a program has FP_CONTRACT OFF, since a compiler may fuse products and sums in one
 * kernel and not in the other.
 */
#ifndef SHARED_LANES_H
#define SHARED_LANES_H

#include "shared/real.h"

#define CPU_LANES 16 /* LANES on CPU devices */
#ifndef LANES
#error "LANES must be set: 1, or CPU_LANES"
#endif

#if LANES == 1

typedef real reals;
typedef int ints, masks; /* masks: what comparing reals gives */
typedef uint uints;
#define LANE_NUMBERS         0
#define TO_REALS(v)          ((real)(v))
#define TO_INTS(v)           ((int)(v))
#define TO_UINTS(v)          ((uint)(v))
#define ONE_WHERE(mask)      (mask) /* ints: 1, or 0 */
#define REAL_MASK(mask)      (mask) /* of one that comparing ints gives */
#define INT_MASK(mask)       (mask) /* of masks */
#define LOAD(values)         (*(values))
#define STORE(value, values) (*(values) = (value))
#define SUM_OF_LANES(v)      (v)

#else

#include "shared/fold.h"

typedef real16 reals;
typedef int16 ints;
typedef uint16 uints;
#define LANE_NUMBERS (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#if REAL_IS_DOUBLE
typedef long16 masks;
#define TO_REALS(v)     convert_double16(v)
#define REAL_MASK(mask) convert_long16(mask)
#ifdef FP_FAST_FMA
#define HAS_FAST_FUSE 1
#endif
#else
typedef int16 masks;
#define TO_REALS(v)     convert_float16(v)
#define REAL_MASK(mask) (mask)
#ifdef FP_FAST_FMAF
#define HAS_FAST_FUSE 1
#endif
#endif
#define TO_INTS(v)           convert_int16(v)
#define TO_UINTS(v)          as_uint16(v)
#define INT_MASK(mask)       convert_int16(mask)
#define ONE_WHERE(mask)      (-convert_int16(mask))
#define LOAD(values)         vload16(0, (values))
#define STORE(value, values) vstore16((value), 0, (values))
#define SUM_OF_LANES(v)      sum_of_lanes(v)

DEFINE_FOLD(all_lanes, int, AND) /* whether a mask of ints is set in all lanes: not 0 */
DEFINE_FOLD(sum_of_words, ulong, ADD)
DEFINE_FOLD(sum_of_lanes, real, ADD)

#endif

/* a b + c, of programs that set FUSE_PRODUCTS. Vectors are written out, so that every kernel rounds alike. */
#ifndef FUSE_PRODUCTS
#elif FUSE_PRODUCTS || (LANES > 1 && (defined(__FMA__) || defined(HAS_FAST_FUSE)))
#define PRODUCT_SUM(a, b, c) fma((reals)(a), (reals)(b), (reals)(c))
#else
#define PRODUCT_SUM(a, b, c) ((reals)(a) * (reals)(b) + (reals)(c))
#endif

/* Prefetch of memory that will soon be read or written: hardware stops at the end of a page, and does not
 * cover stores to places of particles. OpenCL's prefetch() does nothing on PoCL. */
#if defined(__x86_64__)
#define WILL_READ(address)  __builtin_prefetch((const void *)(size_t)(address), 0)
#define WILL_WRITE(address) __builtin_prefetch((const void *)(size_t)(address), 1)
#else
#define WILL_READ(address)  ((void)0)
#define WILL_WRITE(address) ((void)0)
#endif
#define PREFETCH_AHEAD 256 /* particles */

#if LANES > 1

/* In which lanes both v and w are in [0, 1): positive reals are in the order of the words that hold them, and
 * what is negative or not a number has greater words. -0 is left out. One comparison, since masks of two are
 * slow to join without AVX-512. */
static inline masks are_fractions(reals v, reals w)
{
#if REAL_IS_DOUBLE
    return max(as_ulong16(v), as_ulong16(w)) < as_ulong((real)1);
#else
    return max(as_uint16(v), as_uint16(w)) < as_uint((real)1);
#endif
}

/* Moves of lanes between two vectors. They are spelled out, since oclgrind 21.10 takes lane b of a.s89ab for
 * uninitialised, and ends at the lanes that a.even leaves open in (reals)(a.even, b.even).
 *
 *   even_lanes, odd_lanes    a0 a2 a4 ... b0 b2 ..., and a1 a3 ... b1 b3 ... */
#define DEFINE_MOVE(name, lanes)                                                                             \
    static inline reals name(reals a, reals b)                                                               \
    {                                                                                                        \
        return (reals)lanes;                                                                                 \
    }
DEFINE_MOVE(even_lanes,
            (a.s0, a.s2, a.s4, a.s6, a.s8, a.sa, a.sc, a.se, b.s0, b.s2, b.s4, b.s6, b.s8, b.sa, b.sc, b.se))
DEFINE_MOVE(odd_lanes,
            (a.s1, a.s3, a.s5, a.s7, a.s9, a.sb, a.sd, a.sf, b.s1, b.s3, b.s5, b.s7, b.s9, b.sb, b.sd, b.sf))

/* Adds neighbouring lanes of a, then of b. */
static inline reals add_neighbours(reals a, reals b)
{
    return even_lanes(a, b) + odd_lanes(a, b);
}

/* Four of the sums, each over its lanes, in the first lanes of what it returns. */
static inline reals sum_lanes(const reals *of)
{
    const reals four = add_neighbours(add_neighbours(of[0], of[1]), add_neighbours(of[2], of[3]));
    const reals two = add_neighbours(four, four);
    return add_neighbours(two, two);
}

#endif
#endif
