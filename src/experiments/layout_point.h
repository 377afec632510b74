/* Layout point: the times of one operation on arrays of one number, length, type and input. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_POINT_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_POINT_H

#include "experiments/layout_kernels.h"

#include <stdbool.h>

/* What can be timed. */
enum layout_what {
    LAYOUT_TRANSPOSE,  /* row-wise arrays into column-wise ones */
    LAYOUT_ROWS,       /* the operation row-wise: the paper's (A) */
    LAYOUT_COLUMNS,    /* the operation column-wise */
    LAYOUT_TRANSPOSED, /* transpose, column-wise operation, transpose back: its (B), as one run */
    LAYOUT_HOST,       /* the serial operation on the host */
    LAYOUT_QUICKSORT,  /* quicksort on the host */
    LAYOUT_WHATS
};

/* Median, minimum and maximum of `count` timings, in seconds; count 0: not timed. */
struct layout_time {
    double median, minimum, maximum;
    uint32_t count;
    bool verified; /* every result, that of the warm-up too, had the right bits */
};

struct layout_point {
    enum layout_operation operation;
    enum layout_input input;
    enum layout_type type;
    struct layout_size size;
    bool wanted[LAYOUT_WHATS]; /* what is to be timed */
    struct layout_time times[LAYOUT_WHATS];
};

/* Times what is wanted, `repeats` times each on the device and up to three times on the host; with 0 as often
 * as half a second allows, from once to ten times. The operation works in place: its input is copied anew
 * before each launch, out of the timing. Needs four arrays of the device and three of the host
 * (STATUS_FAILED without). `kernels` are of the point's type. */
STATUS_CHECKED enum status layout_point_measure(struct device *device, struct layout_kernels *kernels,
                                                uint32_t repeats, struct layout_point *point);

#endif
