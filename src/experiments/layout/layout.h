/* Layout: many arrays at once, on the device and on the host, compared in speed and bit by bit. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_H

#include "experiments/bench.h"

/* What is done to every array, in place. */
enum layout_operation {
    LAYOUT_PREFIX_SUM,
    LAYOUT_BUBBLE_SORT,
    LAYOUT_BITONIC_SORT, /* of a power of two */
    LAYOUT_OPERATIONS,
    /* those above run on the device */ LAYOUT_QUICKSORT =
        LAYOUT_OPERATIONS /* on the host alone, to judge the others by */
};

/* The type of the elements. */
enum layout_type { LAYOUT_INT, LAYOUT_FLOAT, LAYOUT_DOUBLE, LAYOUT_TYPES };

/* Row-wise: an array in one piece after the other. Column-wise: element j of all arrays in one piece. */
enum layout_order { LAYOUT_ROW_WISE, LAYOUT_COLUMN_WISE, LAYOUT_ORDERS };

/* What the arrays hold at first. */
enum layout_input {
    LAYOUT_ONES,       /* 1 */
    LAYOUT_DESCENDING, /* the paper's type S */
    LAYOUT_BY_TURNS,   /* its type D: even arrays descending, odd ones ascending */
    LAYOUT_RANDOM,
    LAYOUT_INPUTS
};

/* `arrays` (L) of `length` (N) elements each, fewer than 2^32 in all. */
struct layout_size {
    uint32_t arrays, length;
};

/* An int has as many bytes as a float. */
static inline size_t layout_bytes(enum layout_type type, struct layout_size size)
{
    return (size_t)size.arrays * size.length * (type == LAYOUT_DOUBLE ? sizeof(double) : sizeof(float));
}

static const char *const layout_type_names[LAYOUT_TYPES] = {
    [LAYOUT_INT] = "int", [LAYOUT_FLOAT] = "float", [LAYOUT_DOUBLE] = "double"};

/* ---- the host: inputs, and the serial versions of what kernels/layout.cl does, on arrays that lie row-wise
 * ---- */

/* Fills the arrays with values that are the same in every run. Random ones are truncated in int and rounded
 * in float; the other inputs, and sums of ones, are exact in each type for lengths below 2^23. None is -0:
 * equal values have equal bits. */
void layout_fill(enum layout_type type, enum layout_input input, struct layout_size size, void *elements);

/* elements[n] = value, converted. */
void layout_set(enum layout_type type, void *elements, size_t n, double value);

/* On every array, in place. */
void layout_apply(enum layout_type type, enum layout_operation operation, struct layout_size size,
                  void *elements);

/* ---- measuring: on the device one work-item per array ---- */

/* What can be timed. */
enum layout_what {
    TRANSPOSE,  /* row-wise arrays into column-wise ones */
    ROWS,       /* the operation row-wise: the paper's (A) */
    COLUMNS,    /* the operation column-wise */
    TRANSPOSED, /* transpose, column-wise operation, transpose back: its (B), as one run */
    HOST,       /* the serial operation on the host */
    QUICKSORT,  /* quicksort on the host */
    WHATS
};
static inline bool layout_is_on_host(enum layout_what what)
{
    return what == HOST || what == QUICKSORT;
}

/* One operation on arrays of one input, type, number and length, and its times. */
struct layout_point {
    enum layout_operation operation;
    enum layout_input input_kind;
    enum layout_type type;
    struct layout_size size;
    uint32_t wanted; /* bit set of what is to be timed */
    double seconds;  /* that timings of one thing may take; 0: as long as they need */
    struct times times[WHATS];
    enum layout_what what;               /* the one that is timed now */
    size_t bytes;                        /* of all arrays */
    size_t group_items, tile, tile_rows; /* of the launches */
    struct kernel *operations[LAYOUT_ORDERS], *transpose;
    char *arrays[LAYOUT_ORDERS], *work; /* on the host: the input, later the result */
    struct buffer *input[LAYOUT_ORDERS], *first, *second;
};

/* Times what is wanted, a bench_case() of the point, and judges every result and what lies behind it. The
 * operation works in place: its input is copied anew before each launch, out of the timing. STATUS_FAILED
 * where the device lacks double. */
STATUS_CHECKED enum status layout_point_measure(struct bench *bench, void *layout_point);

#endif
