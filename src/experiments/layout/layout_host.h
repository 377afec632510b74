/* Layout host: inputs, and the serial versions of what kernels/layout.cl does, on arrays that lie row-wise.
 * They are what the device is compared with, in speed and bit by bit in result. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_HOST_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_HOST_H

#include "experiments/layout/layout_case.h"

/* The operations of the kernels, by the same algorithms, and two more ways to sort. */
enum layout_host_operation {
    HOST_PREFIX_SUM = LAYOUT_PREFIX_SUM,
    HOST_BUBBLE_SORT = LAYOUT_BUBBLE_SORT,
    HOST_BITONIC_SORT = LAYOUT_BITONIC_SORT,
    HOST_QUICKSORT,
    HOST_LIBRARY_SORT /* the C library's qsort(), to judge the others by */
};

struct layout_host {
    /* The same values in every run. Random ones are truncated in int and rounded in float; the other inputs,
     * and sums of ones, are exact in each type for lengths below 2^23. None is a negative zero: equal values
     * have equal bits.
     */
    void (*fill)(enum layout_input input, struct layout_size size, void *elements);

    /* On every array, in place. */
    void (*apply)(enum layout_host_operation operation, struct layout_size size, void *elements);

    /* to[c][r] = from[r][c] of a matrix of `rows` times `columns`. */
    void (*transpose)(uint32_t rows, uint32_t columns, const void *from, void *to);
};

extern const struct layout_host layout_hosts[LAYOUT_TYPES];

#endif
