/* Dither: sums in single precision that keep their mean.
 *
 * Increments below half the last bit of what they are added to are lost, in every step again, and others are
 * rounded to the same side again. So a dither, uniform in half a last bit to either side, is added to them
 * before they are rounded to whole last bits: the mean is the exact sum, and 0 stays 0. It is a function of
 * the place in the list and two numbers of the step, so all kernels that push a particle have the same one.
 * The factor is another in every step: no two particles are rounded alike for long. Where DITHERS is 0, as in
 * double precision, sums are plain ones and leave the dither out.
 */
#ifndef SHARED_DITHER_H
#define SHARED_DITHER_H

#include "shared/lanes.h"

#ifndef DITHERS
#error "DITHERS must be set"
#endif

#ifndef __OPENCL_VERSION__
union real_bits {
    real number;
    uint word;
};
#define as_uint(v)     ((union real_bits){.number = (v)}.word)
#define as_float(bits) ((union real_bits){.word = (bits)}.number)
#endif

/* 2^-23 times 2/3, rounded down: a rounder has 3 2^22 last bits. */
#define DITHER_WIDTH 0x1.555554p-24f

/* The dither of particle number `first` of the list, and of those after it in other lanes, in units of a
 * rounder, up to DITHER_WIDTH/2 in size. The upper bits of the words are as good as random. */
static inline reals dither_of(uint factor, uint start, uint first, ints lane)
{
    const uint odd = factor | 1u;
    const uints word = TO_UINTS(lane) * odd + (first * odd + start);
#if LANES == 1
    return PRODUCT_SUM(as_float((word >> 9) | 0x3f800000u), DITHER_WIDTH, -1.5f * DITHER_WIDTH);
#else
    return TO_REALS(as_int16(word)) * (0x1p-32f * DITHER_WIDTH);
#endif
}

#if DITHERS

/* 1.5 times the power of two below |v|: a number with the last bit of v, far from powers of two. What is
 * added to it and taken away again is rounded to that bit. Numbers that are next to nothing are slow on CPUs:
 * there it is 1.5 * 2^-60 or more. */
static inline reals rounder_of(reals v)
{
#if LANES == 1
    return as_float((as_uint(v) & 0x7f800000u) | 0x00400000u);
#else
    return as_float16(max((as_uint16(v) & 0x7f800000u) | 0x00400000u, (uints)0x21c00000u));
#endif
}

/* v + increment, to which the dither times the rounder was added. */
static inline reals add_rounded(reals v, reals increment, reals rounder)
{
    return v + ((rounder + increment) - rounder);
}

#endif
#endif
