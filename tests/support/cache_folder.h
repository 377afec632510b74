/* Cache folder: a folder of its own for the tuned sorts of one test. */
#ifndef RADIXPIC_TEST_CACHE_FOLDER_H
#define RADIXPIC_TEST_CACHE_FOLDER_H

#include "support/test_folder.h"

#include "sort/tuning.h"

static struct folder cache; /* and in it the file of tuned sorts */

/* cmocka setup and teardown: an empty folder that RADIXPIC_CACHE names; fails where a test left anything
 * else. */
static int open_cache(void **state)
{
    (void)state;
    cache = folder_make();
    folder_file(&cache, "tuning.yaml");
    return setenv("RADIXPIC_CACHE", cache.path, 1);
}

static int close_cache(void **state)
{
    (void)state;
    return folder_remove_with_file(&cache);
}

static const struct device_info cache_device = {.name = "A \"GPU\", of sorts: #1",
                                                .driver = "1.2.3",
                                                .is_gpu = true,
                                                .compute_units = 12,
                                                .local_memory = 48 << 10,
                                                .group_limit = 1024};

/* An entry for lists of 2^20 keys of 10 bits on that device. */
static inline struct tuning_entry cache_entry(enum sort_method method, uint32_t passes)
{
    struct tuning_entry entry = tuning_entry_of(&cache_device, 1u << 20);
    entry.sort = (struct sort_config){.method = method, .passes = passes, .key_bits = 10};
    strcpy(entry.date, "2026-11-21");
    return entry;
}

static inline void write_entries(struct tuning_entry *entries, size_t count)
{
    char found[TUNING_PROBLEM_LENGTH];
    assert_ok(tuning_write(&(struct tuning){.entries = entries, .count = count}, found));
}

#endif
