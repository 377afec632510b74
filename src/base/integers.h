/* Integers: small helpers of plans. The callers see to it that results fit 32 bits. */
#ifndef RADIXPIC_BASE_INTEGERS_H
#define RADIXPIC_BASE_INTEGERS_H

#include <stdint.h>

static inline uint32_t at_most(uint64_t value, uint64_t most)
{
    return (uint32_t)(value < most ? value : most);
}

static inline uint32_t at_least(uint64_t value, uint64_t least)
{
    return (uint32_t)(value > least ? value : least);
}

/* Parts of up to `each` that `whole` is cut into; no sum in it may pass 64 bits. */
static inline uint32_t divide_up(uint64_t whole, uint64_t each)
{
    return (uint32_t)((whole + each - 1) / each);
}

static inline uint32_t round_up(uint64_t value, uint32_t multiple)
{
    return divide_up(value, multiple) * multiple;
}

/* A function for qsort() of numbers of a type. */
#define ASCENDING(name, type)                                                                                \
    static int name(const void *left, const void *right)                                                     \
    {                                                                                                        \
        const type a = *(const type *)left, b = *(const type *)right;                                        \
        return (a > b) - (a < b);                                                                            \
    }

/* Bits of the numbers 0..count-1; count is 2^63 at most. */
static inline uint32_t bits_below(uint64_t count)
{
    uint32_t bits = 0;
    while (UINT64_C(1) << bits < count)
        bits++;
    return bits;
}

#endif
