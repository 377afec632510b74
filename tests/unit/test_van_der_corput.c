/* Van der Corput: against exact fractions, and the borders that must never come out. */
#include "support/test_support.h"

#include "shared/van_der_corput.h"

/* Indices that become 1 or 0 when the digits pass through float arithmetic, and the last of all. */
static const ulong traps[] = {
    1,         (1ul << 24) - 1, 1ul << 24, (1ul << 25) - 1, 1ul << 25, (1ul << 26) - 1, (1ul << 32) - 1,
    1ul << 32, (1ul << 33) - 1, 1ul << 33, (1ul << 40) - 1, 1ul << 40};

/* The one case in which more than the division rounds: the fourth power of the base, beyond 2^53, is the
 * denominator. */
static bool is_rounded(ulong index, uint base)
{
    const ulong cube = (ulong)base * base * base;
    return index >= cube && (double)cube * base > 0x1p53;
}

/* The division is the only rounding, so the oracle's nearest double must come out to the last bit. */
TEST(equals_exact_fractions)
{
    FILE *oracle = popen("/usr/bin/python3 tests/unit/van_der_corput_oracle.py", "r");
    assert_non_null(oracle);
    unsigned int base = 0, count = 0;
    unsigned long index = 0;
    double expected = 0;
    while (fscanf(oracle, "%u %lu %la", &base, &index, &expected) == 3) {
        const double element = van_der_corput(index, base);
        if (!(element == expected ||
              (is_rounded(index, base) && fabs(element - expected) <= 0x1p-51 * expected)))
            fail_msg("base %u, index %lu: %a, expected %a", base, index, element, expected);
        count++;
    }
    assert_int_equal(pclose(oracle), 0);
    assert_true(count > 21 * 2000); /* 21 bases, at least 2,000 indices each */
}

/* 2^-54 and 2^-40 are the documented distances from the borders. */
TEST(never_reaches_zero_or_one)
{
    for (uint base = 2; base <= 65535; base++)
        for (size_t n = 0; n < sizeof traps / sizeof traps[0]; n++) {
            const double element = van_der_corput(traps[n], base);
            if (!(element >= 0x1p-54 && element <= 1 - 0x1p-40))
                fail_msg("base %u, index %lu: %a", base, traps[n], element);
        }
    assert_true(van_der_corput((1ul << 25) - 1, 2) == 1 - 0x1p-25); /* in float exactly 1 */
    assert_true(van_der_corput((1ul << 40) - 1, 2) == 1 - 0x1p-40);
    assert_near(van_der_corput(10321ul * 10321 * 10321, 10321), 0x1.966aeeb4dc2b4p-54, 1e-31); /* 10321^-4 */
}

TEST_MAIN(NULL, NULL)
