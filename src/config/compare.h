/* Compare: the keys that two configs do not agree on. */
#ifndef RADIXPIC_CONFIG_COMPARE_H
#define RADIXPIC_CONFIG_COMPARE_H

#include "config/config.h"

#include <stddef.h>

/* A config, and what to call it: "the checkpoint". */
struct config_side {
    const char *name;
    const struct config *config;
};

/* Writes a line "KEY: NAME has VALUE, NAME VALUE" to `stream` for each key whose values differ, and returns
 * their number. Keys, and groups of keys, in `but` (NULL ends it) are passed over. Species are compared in
 * their order; a key of one kind of positions or velocities only where both sides are of that kind, for else
 * the kinds differ. */
size_t config_compare(const struct config_side *left, const struct config_side *right, const char *const *but,
                      FILE *stream);

#endif
