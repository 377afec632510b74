/* Config support: whether two configs are the same. */
#ifndef RADIXPIC_TEST_CONFIG_SUPPORT_H
#define RADIXPIC_TEST_CONFIG_SUPPORT_H

#include "config/config_reader.h"
#include "config/schema.h"

#include <string.h>

/* Whether all values that two structs of a table have from their keys are the same bits. */
static inline bool config_table_is_same(const struct schema_table *table, const char *a, const char *b)
{
    bool is_same = true;
    for (const struct schema_row *row = table->rows; row < table->rows + table->count && is_same; row++) {
        const bool is_list = row->type == TYPE_LIST, is_pair = row->length[1] > 0;
        const size_t values = (row->length[0] > 0 ? row->length[0] : 1) * (is_pair ? row->length[1] : 1);
        const uint32_t count = is_list ? schema_item_count(row, a) : 0;
        if (row->type != TYPE_GROUP && !is_list)
            is_same = memcmp(a + row->offset, b + row->offset, values * value_size(row)) == 0;
        else if (is_list)
            is_same = schema_item_count(row, b) == count;
        for (uint32_t n = 0; n < count && is_same; n++)
            is_same =
                config_table_is_same(row->items, (const char *)schema_items(row, a) + n * row->items->size,
                                     (const char *)schema_items(row, b) + n * row->items->size);
    }
    return is_same;
}

static inline bool config_is_same(const struct config *a, const struct config *b)
{
    return config_table_is_same(&config_schema, (const char *)a, (const char *)b);
}

#endif
