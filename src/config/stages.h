/* Stages: what config_reader.c does with a parsed tree, one after the other. Errors of the user become
 * complaints; each stage leaves out what a complaint was made about already. */
#ifndef RADIXPIC_CONFIG_STAGES_H
#define RADIXPIC_CONFIG_STAGES_H

#include "config/complaints.h"
#include "config/config.h"

/* Applies complaints->settings[0..count), `--set dotted.path=value`, in order to the tree, whose root is a
 * mapping. Items of lists are named by number, species also by name. The value is YAML and replaces that of
 * the file. STATUS_FAILED: out of memory. */
STATUS_CHECKED enum status settings_apply(struct tree *tree, size_t count, struct complaints *complaints);

/* Fills `config` (all zero before) from `root`: unknown, duplicate, missing and mistyped keys and numbers out
 * of their range become complaints, and leave their fields zero. `directory` is the default of
 * output.directory. */
void read_tree(const struct tree_node *root, const char *directory, struct config *config,
               struct complaints *complaints);

/* The rules that tie several keys together. */
void check_config(const struct config *config, struct complaints *complaints);

#endif
