/* Van der Corput: against exact fractions, the borders that must never come out, and how evenly it fills. */
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

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* N times the star discrepancy of the first N elements: for sorted x_1 <= ... <= x_N it is
 * max_i max(i - N x_i, N x_i - (i - 1)) (Niederreiter 1992, theorem 2.6). */
static double scaled_discrepancy(uint base, size_t count)
{
    double *sorted = test_array(count, sizeof *sorted);
    for (size_t n = 0; n < count; n++)
        sorted[n] = van_der_corput(n + 1, base);
    qsort(sorted, count, sizeof *sorted, ascending);
    double largest = 0;
    for (size_t n = 0; n < count; n++) {
        const double scaled = (double)count * sorted[n];
        largest = fmax(largest, fmax((double)(n + 1) - scaled, scaled - (double)n));
    }
    return largest;
}

/* Computed values of an independent implementation, given to two digits: half a unit of the last. Random
 * numbers would give about 0.87 sqrt(N) = 870. */
TEST(fills_evenly)
{
    assert_near(scaled_discrepancy(2, 1 << 16), 1.0, 1e-3);
    assert_near(scaled_discrepancy(2, 1000000), 4.23, 0.005);
    assert_near(scaled_discrepancy(3, 1000000), 5.97, 0.005);
    assert_near(scaled_discrepancy(5, 1000000), 3.46, 0.005);
    assert_near(scaled_discrepancy(7, 1000000), 9.83, 0.005);
}

TEST_MAIN(NULL, NULL)
