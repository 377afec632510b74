/* Van der Corput: the low-discrepancy sequence of a base, in code that both the OpenCL and the host compiler
 * read.
 *
 * Element j of base b is the number whose digits after the point are the digits of j before it, mirrored
 * (van der Corput 1935): in base 2, 1, 10, 11, 100 give .1, .01, .11, .001. Always in double precision,
 * whatever `real` is: in float the element 2^25 - 1 of base 2 is exactly 1, and the inverse distribution
 * functions turn that into infinity.
 */
#ifndef SHARED_VAN_DER_CORPUT_H
#define SHARED_VAN_DER_CORPUT_H

#include "shared/real.h"

#ifdef __OPENCL_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

/* Element `index` of base `base`, 1 <= index <= 2^40 and 2 <= base <= 65535. The denominator, the smallest
 * power of the base above index, is below 2^54: it fits 64 bits, and so does the numerator. Up to 2^53 both
 * are exact in double, so the one division returns the double nearest to the element. Beyond 2^53 are only
 * the fourth powers of bases from 9,742 to 10,321, for indices above 9e11: there the three roundings may be
 * off by 2^-51 of the element. It is always between 2^-54 and 1 - 2^-40. */
static inline double van_der_corput(ulong index, uint base)
{
    const ulong largest_short = 0xffffffff;
    ulong mirrored = 0;
    ulong power = 1;
    for (; index > largest_short; index /= base) {
        mirrored = mirrored * base + index % base;
        power *= base;
    }
    /* In 32 bits a product with the reciprocal is several times faster than a division. It is off by less
     * than 1, since reciprocal and 2^32/base differ by at most 1: the quotient is right or one too small. */
    const uint reciprocal = 0xffffffffu / base;
    for (uint rest = (uint)index; rest > 0;) {
        uint quotient = (uint)(((ulong)rest * reciprocal) >> 32);
        uint digit = rest - quotient * base;
        if (digit >= base) {
            digit -= base;
            quotient += 1;
        }
        mirrored = mirrored * base + digit;
        power *= base;
        rest = quotient;
    }
    return (double)mirrored / (double)power;
}

#endif
