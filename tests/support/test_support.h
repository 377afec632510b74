/* Test support: what every cmocka test of this project needs. Include it first: it brings cmocka and its
 * headers in order. */
#ifndef RADIXPIC_TEST_SUPPORT_H
#define RADIXPIC_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "base/status.h"

/* The device the tests run on: RADIXPIC_TEST_DEVICE, or "auto". */
static inline const char *test_device_spec(void)
{
    const char *chosen = getenv("RADIXPIC_TEST_DEVICE");
    return chosen && chosen[0] ? chosen : "auto";
}

/* A call that must succeed; its sentence is shown when it does not. */
#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        if ((call) != STATUS_OK)                                                                             \
            fail_msg("%s: %s", #call, status_message());                                                     \
    } while (0)

/* |value - expected| <= tolerance; not-a-number fails. */
#define assert_near(value, expected, tolerance)                                                              \
    do {                                                                                                     \
        const double near_value = (value), near_expected = (expected), near_tolerance = (tolerance);         \
        if (!(fabs(near_value - near_expected) <= near_tolerance))                                           \
            fail_msg("%s = %.17g, expected %.17g within %.3g (differs by %.3g)", #value, near_value,         \
                     near_expected, near_tolerance, fabs(near_value - near_expected));                       \
    } while (0)

#endif
