/* Config support: whether two configs are the same. */
#ifndef RADIXPIC_TEST_CONFIG_SUPPORT_H
#define RADIXPIC_TEST_CONFIG_SUPPORT_H

#include "config/config_reader.h"
#include "config/schema.h"

#include <string.h>

/* Whether all bytes of two configs are the same, those of their lists for the pointers to these. Constants
 * are passed over: the other values have theirs put in. */
static inline bool config_is_same(const struct config *a, const struct config *b)
{
    struct config rest[2];
    memcpy(&rest[0], a, sizeof *a); /* the padding too */
    memcpy(&rest[1], b, sizeof *b);
    bool is_same = true;
    for (const struct schema_row *row = config_schema.rows; row < config_schema.rows + config_schema.count;
         row++) {
        if (!row->is_allocated)
            continue;
        const uint32_t count = schema_item_count(row, a);
        is_same =
            is_same && schema_item_count(row, b) == count &&
            (count == 0 || memcmp(schema_items(row, a), schema_items(row, b), count * row->items->size) == 0);
        for (int n = 0; n < 2; n++)
            memset((char *)&rest[n] + row->offset, 0, sizeof(void *));
    }
    for (int n = 0; n < 2; n++) {
        rest[n].blocks = NULL;
        rest[n].constants = NULL;
        rest[n].constant_count = 0;
    }
    return is_same && memcmp(&rest[0], &rest[1], sizeof rest[0]) == 0;
}

#endif
