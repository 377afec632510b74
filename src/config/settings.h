/* Settings: `--set dotted.path=value` words are merged into the tree of the file, so that they go through the
 * same schema. */
#ifndef RADIXPIC_CONFIG_SETTINGS_H
#define RADIXPIC_CONFIG_SETTINGS_H

#include "config/complaints.h"

/* Applies complaints->settings[0..count) in order to the tree complaints->root, a mapping. Items of lists are
 * named by number, species also by name. The value is YAML. A value replaces what the file says; groups that
 * the file lacks are made. Words that cannot be applied become complaints. STATUS_FAILED: out of memory. */
STATUS_CHECKED enum status settings_apply(struct tree *tree, size_t count, struct complaints *complaints);

#endif
