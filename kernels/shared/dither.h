/* Dither: sums in single precision that keep their mean.
 *
 * A float has 24 bits. What is less than half the last bit of the number that it is added to is lost, and in
 * every step again; what is more is rounded to the same side again. So a sum is rounded up or down by chance:
 * to increments a dither is added, a number that is uniform in half a last bit to either side, before they
 * are rounded to whole last bits. Over the dithers the mean is the exact sum, and an increment of 0 stays 0.
 * In double precision sums are plain ones.
 *
 * The dither is a function of a particle's place in the list and of two numbers of the step, so every kernel
 * that pushes a particle has the same one. The factor is another in every step, so that no two particles
 * are rounded alike for long.
 */
#ifndef SHARED_DITHER_H
#define SHARED_DITHER_H

#include "shared/lanes.h"

#define DITHERS (!REAL_IS_DOUBLE)

#if DITHERS

#ifndef __OPENCL_VERSION__
static inline uint as_uint(real v)
{
    const union {
        real number;
        uint word;
    } both = {v};
    return both.word;
}

static inline real as_float(uint word)
{
    union {
        real number;
        uint word;
    } both;
    both.word = word;
    return both.number;
}
#endif
#if LANES == 1
#define REAL_OF_BITS(word) as_float(word)
#define BITS_OF_REAL(v)    as_uint(v)
#else
#define REAL_OF_BITS(word) as_float16(word)
#define BITS_OF_REAL(v)    as_uint16(v)
#endif

/* 2^-23 times 2/3, rounded down: a rounder has 3 2^22 last bits. */
#define DITHER_WIDTH 0x1.555554p-24f

/* Of particles at those places in the list, as a share of a rounder, below DITHER_WIDTH/2 in size. */
static inline reals dither_of(uint factor, uint start, uints particle)
{
    const uints word = particle * (factor | 1u) + start; /* its upper bits are as good as random */
    const reals from_one = REAL_OF_BITS((word >> 9) | 0x3f800000u); /* uniform in [1, 2) */
    return PRODUCT_SUM(from_one, DITHER_WIDTH, -1.5f * DITHER_WIDTH);
}

/* 1.5 times the power of two below |v|: a number with the last bit of v, far from powers of two. What is
 * added to it and taken away again is rounded to that bit. Numbers that are next to nothing are slow on CPUs.
 */
static inline reals rounder_of(reals v)
{
    const reals rounder = REAL_OF_BITS((BITS_OF_REAL(v) & 0x7f800000u) | 0x00400000u);
    return LANES == 1 ? rounder : (reals)fmax(rounder, (reals)0x1.8p-60f);
}

/* v + increment, to which the dither times the rounder was added. */
static inline reals add_rounded(reals v, reals increment, reals rounder)
{
    return v + ((rounder + increment) - rounder);
}

#else

static inline reals dither_of(uint factor, uint start, uints particle)
{
    (void)factor;
    (void)start;
    (void)particle;
    return (reals)0;
}

#endif
#endif
