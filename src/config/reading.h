/* Reading: the stages before the rules, which config_reader.c takes one after the other. */
#ifndef RADIXPIC_CONFIG_READING_H
#define RADIXPIC_CONFIG_READING_H

#include "config/complaints.h"

/* Puts the values of the --set words into the tree, whose root is a mapping. STATUS_FAILED: no memory. */
STATUS_CHECKED enum status apply_settings(struct reading *reading);

/* Fills reading->constants and the config's own, for read_tree(). Of one with a complaint the value is 1. */
void read_constants(struct reading *reading);

/* Complains about constants of --set that nothing uses, where nothing else is wrong: on a restart all values
 * of the config are numbers already. */
void check_constants(struct reading *reading);

/* Fills the config from the tree: unknown, duplicate, missing and mistyped keys and numbers out of their
 * range become complaints, and leave their fields zero. */
void read_tree(struct reading *reading);

#endif
