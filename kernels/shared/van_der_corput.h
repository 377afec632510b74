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

/* Element `index` >= 1 of base 2 <= base <= 65535. For index <= 2^33 the denominator, the smallest power of
 * the base above index, is at most 2^49: both integers are exact in double, so the one division returns the
 * double nearest to the element, at least 2^-49 and at most 1 - 2^-49. */
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
