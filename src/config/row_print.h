/* Row print: what a row of the schema holds in a struct, as YAML on one line. */
#ifndef RADIXPIC_CONFIG_ROW_PRINT_H
#define RADIXPIC_CONFIG_ROW_PRINT_H

#include "config/schema.h"

#include <stdio.h>

/* Items that the list of `row` has in the struct at `base`. */
uint32_t row_list_count(const struct schema_row *row, const void *base);

/* Whether `row` fits one line: it is no group, and no list whose items have groups or lists. */
bool row_is_line(const struct schema_row *row);

/* Writes what `row` is in the struct at `base`: a value, "[64, 32]", "[[1, 0], [2, 0]]" or
 * "[{axis: x, mode: 1}]". Only where row_is_line(). */
void row_print(const struct schema_row *row, const void *base, FILE *stream);

#endif
