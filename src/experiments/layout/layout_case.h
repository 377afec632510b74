/* Layout case: the words of the row-wise and column-wise experiment, for host and device alike. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_CASE_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_CASE_H

#include <stddef.h>
#include <stdint.h>

/* What is done to every array, in place. */
enum layout_operation { LAYOUT_PREFIX_SUM, LAYOUT_BUBBLE_SORT, LAYOUT_BITONIC_SORT, LAYOUT_OPERATIONS };

/* Of the elements. */
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

static inline size_t layout_type_bytes(enum layout_type type)
{
    return type == LAYOUT_INT ? sizeof(int32_t) : type == LAYOUT_FLOAT ? sizeof(float) : sizeof(double);
}

static inline size_t layout_bytes(enum layout_type type, struct layout_size size)
{
    return (size_t)size.arrays * size.length * layout_type_bytes(type);
}

static const char *const layout_type_names[LAYOUT_TYPES] = {
    [LAYOUT_INT] = "int", [LAYOUT_FLOAT] = "float", [LAYOUT_DOUBLE] = "double"};

#endif
