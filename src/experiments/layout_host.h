/* Layout host: inputs, and the serial versions of what kernels/layout.cl does, on arrays that lie row-wise.
 * They are what the device is compared with, in speed and bit by bit in result. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_HOST_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_HOST_H

#include "experiments/layout_case.h"

/* The same values in every run. Random ones are truncated in int and rounded in float; the other inputs, and
 * sums of ones, are exact in each type for lengths below 2^23. None is a negative zero: equal values have
 * equal bits. */
void layout_host_fill(enum layout_input input, enum layout_type type, struct layout_size size,
                      void *elements);

/* The operation on every array, in place, by the algorithm of the kernels. */
void layout_host_apply(enum layout_operation operation, enum layout_type type, struct layout_size size,
                       void *elements);

/* Sorts every array by quicksort, in place. */
void layout_host_quicksort(enum layout_type type, struct layout_size size, void *elements);

/* The same by the C library's qsort(), to judge the other sorts by. */
void layout_host_library_sort(enum layout_type type, struct layout_size size, void *elements);

/* to[c][r] = from[r][c] of a matrix of `rows` times `columns`. */
void layout_host_transpose(enum layout_type type, uint32_t rows, uint32_t columns, const void *from,
                           void *to);

#endif
