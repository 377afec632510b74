#!/usr/bin/env python3
"""Van der Corput elements from exact fractions, for test_van_der_corput.c.

Prints one line `BASE INDEX VALUE` per element, the value as a hexadecimal double. The digits are taken from the
most significant end and summed as big fractions, so nothing is shared with the code under test; Python rounds a
fraction to the nearest double.
"""
import random
from fractions import Fraction

BASES = [2, 3, 5, 7, 11, 13, 17, 19, 10, 16, 64, 255, 257, 4099, 9741, 9742, 10007, 10321, 10322, 65521, 65535]
RANDOM_INDICES = 1000
LAST = 2**40


def element(index, base):
    place = 1
    while place * base <= index:
        place *= base
    digits = []  # from the most significant
    while place:
        digits.append(index // place)
        index %= place
        place //= base
    return sum(Fraction(digit, base**power) for power, digit in enumerate(reversed(digits), start=1))


def indices(base):
    chosen = random.Random(base)
    yield from (chosen.randint(1, 2**32) for _ in range(RANDOM_INDICES))
    yield from (chosen.randint(2**32, LAST) for _ in range(RANDOM_INDICES))
    # Where float arithmetic gives 1.0 or 0.0, where 31 and 32 bits end, the first and the last of the documented range.
    yield from (1, 2, 2**24 - 1, 2**24, 2**25 - 1, 2**25, 2**26 - 1, 2**31 - 1, 2**31, 2**31 + 1)
    yield from (2**32 - 1, 2**32, 2**32 + 1, 2**33 - 1, 2**33, LAST - 1, LAST)
    # All digits base - 1, the largest element of each length, and the smallest that follows it.
    power = base
    while power <= LAST:
        yield from (power - 1, power)
        power *= base


for base in BASES:
    for index in indices(base):
        print(base, index, float(element(index, base)).hex())
