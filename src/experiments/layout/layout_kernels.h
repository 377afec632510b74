/* Layout kernels: prefix sum, bubble sort and bitonic sort of many arrays, one work-item per array, and the
 * transposition between the two layouts (kernels/layout.cl). */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_KERNELS_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_KERNELS_H

#include "device/device.h"
#include "experiments/layout/layout_case.h"

struct layout_kernels;

/* The kernels for elements of one type. STATUS_FAILED where the device lacks double. */
STATUS_CHECKED enum status layout_kernels_create(struct device *device, enum layout_type type,
                                                 struct layout_kernels **kernels);

/* Enqueues the operation on every array of `elements`, in place, timed as `stage`. Bitonic sort needs a power
 * of two as the length. */
STATUS_CHECKED enum status layout_kernels_apply(struct layout_kernels *kernels,
                                                enum layout_operation operation, enum layout_order order,
                                                struct layout_size size, struct buffer *elements,
                                                enum stage stage);

/* Enqueues to[c][r] = from[r][c] of a matrix of `rows` times `columns`, timed as `stage`. */
STATUS_CHECKED enum status layout_kernels_transpose(struct layout_kernels *kernels, uint32_t rows,
                                                    uint32_t columns, const struct buffer *from,
                                                    struct buffer *to, enum stage stage);

#endif
