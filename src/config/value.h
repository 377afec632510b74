/* Value: the values of a row, from text and back. Strict: a whole number is digits, a number is decimal and
 * finite, neither may be quoted, and nothing may follow. */
#ifndef RADIXPIC_CONFIG_VALUE_H
#define RADIXPIC_CONFIG_VALUE_H

#include "config/schema.h"

#include <stdio.h>

enum { VALUE_WHY_LENGTH = 512 };

/* Bytes of one scalar of `row` in the struct. */
size_t value_size(const struct schema_row *row);

/* "count", "number", ... */
const char *value_type(const struct schema_row *row);

/* Parses `length` bytes of `text` (ended by a NUL beyond them) and stores the scalar at `target`. `plain`:
 * written without quotes. On failure returns false, stores nothing, and `why` is "expected ..., found ...".
 */
bool value_parse(const struct schema_row *row, const char *text, size_t length, bool plain, void *target,
                 char why[VALUE_WHY_LENGTH]);

/* Writes what `row` is in the struct at `base` as YAML on one line that is read back to the same bits: a
 * value, "[64, 32]" or "[[1, 0], [2, 0]]". Only where schema_is_line(), and for empty lists. */
void value_print(const struct schema_row *row, const void *base, FILE *stream);

/* Items that the list of `row` has in the struct at `base`; 1 for another row. */
uint32_t value_count(const struct schema_row *row, const void *base);

/* What is allowed for one scalar (or for the number of items of a list), in words. */
void value_allowed(const struct schema_row *row, char words[VALUE_WHY_LENGTH]);

/* "a, b or c": the words whose values are bits of `among`. */
void value_choices(const struct choice *choices, uint32_t among, char words[VALUE_WHY_LENGTH]);

#endif
