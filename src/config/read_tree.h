/* Read tree: walks a tree along the schema and fills the struct. */
#ifndef RADIXPIC_CONFIG_READ_TREE_H
#define RADIXPIC_CONFIG_READ_TREE_H

#include "config/complaints.h"
#include "config/config.h"

/* Fills `config` (all zero before) from `root`, which is complaints->root: unknown, duplicate, missing and
 * mistyped keys and numbers out of their range become complaints, and leave their fields zero. `directory` is
 * the default of output.directory. */
void read_tree(const struct tree_node *root, const char *directory, struct config *config,
               struct complaints *complaints);

#endif
