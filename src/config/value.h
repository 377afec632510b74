/* Value: one scalar of the config, from text and back. Strict: a whole number is digits, a number is decimal
 * and finite, neither may be quoted, and nothing may follow. */
#ifndef RADIXPIC_CONFIG_VALUE_H
#define RADIXPIC_CONFIG_VALUE_H

#include "config/schema.h"

#include <stdio.h>

enum { VALUE_WHY_LENGTH = 512 };

/* Bytes of one scalar of `row` in the struct. */
size_t value_size(const struct schema_row *row);

/* Parses `length` bytes of `text` (ended by a NUL beyond them) and stores the value at `target`. `plain`:
 * written without quotes. On failure returns false, stores nothing, and says in `why` what is wrong and what
 * is allowed. */
bool value_parse(const struct schema_row *row, const char *text, size_t length, bool plain, void *target,
                 char why[VALUE_WHY_LENGTH]);

/* Writes the scalar at `source` as YAML that value_parse() reads back to the same bits. */
void value_print(const struct schema_row *row, const void *source, FILE *stream);

/* What is allowed for one scalar (or for the number of items of a list), in words. */
void value_allowed(const struct schema_row *row, char words[VALUE_WHY_LENGTH]);

#endif
