/* Layout host: values of the inputs, and the table of the types. */
#include "experiments/layout/layout.h"

#include <stdlib.h>

enum {
    SHORT_PART = 16,   /* what quicksort leaves to insertion sort */
    SHIFT_COUNT = 1021 /* arrays next to one another differ; a prime */
};

/* Marsaglia's xorshift64* of a number that differs for every element, multiplied first so that neighbours
 * have nothing in common. */
static uint64_t scrambled(uint64_t number)
{
    uint64_t bits = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    bits ^= bits >> 12;
    bits ^= bits << 25;
    bits ^= bits >> 27;
    return bits * UINT64_C(2685821657736338717);
}

/* Element j of array i. Random ones are multiples of 2^-21 within the range of int. */
static double value_at(enum layout_input input, struct layout_size size, uint32_t i, uint32_t j)
{
    const double shift = i % SHIFT_COUNT;
    switch (input) {
    case LAYOUT_DESCENDING:
        return shift + (size.length - j);
    case LAYOUT_BY_TURNS:
        return shift + (i % 2 == 0 ? size.length - j : j + 1);
    case LAYOUT_RANDOM:
        return (double)(scrambled((uint64_t)i * size.length + j) >> 11) * 0x1p-21 - 0x1p31;
    default:
        return 1;
    }
}

#define ELEMENT     int32_t
#define TYPED(name) name##_int
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#undef TYPED

#define ELEMENT     float
#define TYPED(name) name##_float
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#undef TYPED

#define ELEMENT     double
#define TYPED(name) name##_double
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#undef TYPED

#define HOST(name)                                                                                           \
    {                                                                                                        \
        fill_##name, apply_##name, transpose_##name                                                          \
    }
const struct layout_host layout_hosts[LAYOUT_TYPES] = {
    [LAYOUT_INT] = HOST(int), [LAYOUT_FLOAT] = HOST(float), [LAYOUT_DOUBLE] = HOST(double)};
