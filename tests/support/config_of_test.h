/* Config of a test: read from a text, it ends with the test. */
#ifndef RADIXPIC_TEST_CONFIG_OF_TEST_H
#define RADIXPIC_TEST_CONFIG_OF_TEST_H

#include "support/test_support.h"

#include "config/config_reader.h"
#include "config/schema.h"

#include <string.h>

/* The config of a YAML text with settings. Its lists are test_array()s, so that nothing is to be freed. */
static inline struct config test_config(const char *yaml, const char *const *settings, size_t count)
{
    struct config config, read;
    assert_ok(config_read_text("test", yaml, strlen(yaml), settings, count, &read));
    config = read;
    for (size_t n = 0; n < config_schema.count; n++) {
        const struct schema_row *row = &config_schema.rows[n];
        if (!row->is_allocated)
            continue;
        const size_t size = row->items->size, items = schema_item_count(row, &read);
        void *own = test_array(items, size);
        if (items > 0)
            memcpy(own, schema_items(row, &read), items * size);
        memcpy((char *)&config + row->offset, &own, sizeof own);
    }
    config.blocks = NULL;
    config_free(&read);
    return config;
}

#endif
