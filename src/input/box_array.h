/* Box array: an array of a file that repeats with the box. */
#ifndef RADIXPIC_INPUT_BOX_ARRAY_H
#define RADIXPIC_INPUT_BOX_ARRAY_H

#include "config/config.h"
#include "input/columns.h"

/* The array at a place of the box, from 0 to 1 along each axis: linear between its numbers. */
double box_array_at(const struct columns_array *array, double x, double y);

/* The array is as long as the box where its mesh says that: in m, or in the config's unit. */
STATUS_CHECKED enum status box_array_check_length(const struct config *config,
                                                  const struct columns_array *array);

#endif
