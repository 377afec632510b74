/* Layout arrays: values of the inputs, and the operations for each type, on the host. */
#include "experiments/layout/layout.h"
#include "shared/random.h"

enum { SHIFT_COUNT = 1021 /* arrays next to one another differ; a prime */ };

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
        return (double)(random_mix((uint64_t)i * size.length + j) >> 11) * 0x1p-21 - 0x1p31;
    default:
        return 1;
    }
}

void layout_set(enum layout_type type, void *elements, size_t n, double value)
{
    if (type == LAYOUT_INT)
        ((int32_t *)elements)[n] = (int32_t)value;
    else if (type == LAYOUT_FLOAT)
        ((float *)elements)[n] = (float)value;
    else
        ((double *)elements)[n] = value;
}

void layout_fill(enum layout_type type, enum layout_input input, struct layout_size size, void *elements)
{
    for (uint32_t i = 0; i < size.arrays; i++)
        for (uint32_t j = 0; j < size.length; j++)
            layout_set(type, elements, (size_t)i * size.length + j, value_at(input, size, i, j));
}

#define ARRAY               ELEMENT *elements
#define PLACE(j)            elements[j]
#define JOIN(name, type)    name##_##type
#define OF_TYPE(name, type) JOIN(name, type)
#define SERIAL(name)        OF_TYPE(name, ELEMENT)

#define ELEMENT int32_t
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#define ELEMENT float
#include "experiments/layout/layout_host_type.h"
#undef ELEMENT
#define ELEMENT double
#include "experiments/layout/layout_host_type.h"

void layout_apply(enum layout_type type, enum layout_operation operation, struct layout_size size,
                  void *elements)
{
    static void (*const of_types[LAYOUT_TYPES])(enum layout_operation, struct layout_size, void *) = {
        [LAYOUT_INT] = apply_int32_t, [LAYOUT_FLOAT] = apply_float, [LAYOUT_DOUBLE] = apply_double};
    of_types[type](operation, size, elements);
}
