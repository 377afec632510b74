/* Box array: an array of a file that repeats with the box. */
#ifndef RADIXPIC_INPUT_BOX_ARRAY_H
#define RADIXPIC_INPUT_BOX_ARRAY_H

#include "config/config.h"
#include "input/columns.h"

/* values[intervals[0] + more][intervals[1] + more] <- the array, which repeats with the box, at nodes from
 * the origin on, with that many intervals between them in the box: linear between its numbers. */
STATUS_CHECKED enum status box_array_at_nodes(const struct columns_array *array, const uint32_t intervals[2],
                                              uint32_t more, double *values);

/* The array is as long as the box where its mesh says that: in m, or in the config's unit. */
STATUS_CHECKED enum status box_array_check_length(const struct config *config,
                                                  const struct columns_array *array);

#endif
