/* Field table: the rows. */
#include "config/field_table.h"

#include "config/units.h"

#define ROW(name, word, components, record, length, mass, time, current, unit, level, provider, noun)        \
    {word,                                                                                                   \
     {components},                                                                                           \
     record,                                                                                                 \
     {length, mass, time, current},                                                                          \
     offsetof(struct units, unit),                                                                           \
     level,                                                                                                  \
     provider,                                                                                               \
     noun},

const struct field_row field_table[FIELDS] = {FIELD_TABLE(ROW)};
