/* Dithers for tests of the push on the host. Include test_support.h first. */
#ifndef RADIXPIC_TEST_ANY_DITHER_H
#define RADIXPIC_TEST_ANY_DITHER_H

#include "shared/dither.h"

/* That of another particle each time, and after 64 of them of another step. */
static inline reals any_dither(void)
{
    static uint drawn;
    const uint n = drawn++;
    return dither_of(0x9E3779B9, 0x85EBCA6B * (n / 64), n, 0);
}

#endif
