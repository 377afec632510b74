/* YAML tree: a text as a tree of nodes that each know where they were written. Our own small tree, so that
 * `--set` words can be merged into it before the schema reads it.
 *
 * Only what a config needs: scalars, lists, mappings with words as keys. Aliases (which can make a document
 * endless), tags, several documents and nesting beyond TREE_MAX_DEPTH are refused. */
#ifndef RADIXPIC_CONFIG_YAML_TREE_H
#define RADIXPIC_CONFIG_YAML_TREE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { TREE_MAX_DEPTH = 16, TREE_PATH_LENGTH = 128, TREE_PROBLEM_LENGTH = 256, TREE_FROM_FILE = -1 };

enum tree_kind { TREE_SCALAR, TREE_SEQUENCE, TREE_MAPPING };

/* Where a node was written. */
struct tree_origin {
    int setting;         /* index of the --set word, or TREE_FROM_FILE */
    size_t line, column; /* from 1, in characters */
};

struct tree_node {
    enum tree_kind kind;
    struct tree_origin origin;
    bool plain;             /* scalar: written without quotes */
    const char *text;       /* scalar: ended by a NUL, may hold others */
    size_t length;          /* scalar: bytes of text */
    struct tree_node *key;  /* in a mapping: the scalar before the colon */
    struct tree_node *next; /* the next child of the same parent */
    struct tree_node *first_child;
    struct tree_node *last_child;
};

/* Owns the nodes of any number of texts. */
struct tree {
    struct tree_node *root;    /* of the first text; NULL until parsed */
    struct tree_block *blocks; /* all memory of the nodes */
};

/* What stopped a parse. */
struct tree_problem {
    struct tree_origin origin;
    char text[TREE_PROBLEM_LENGTH];
};

/* Parses `length` bytes of `text` into nodes owned by `tree`; `*root` is NULL when the text holds nothing.
 * `setting` goes into every origin. STATUS_USAGE: `problem` says what and where (the status message is left
 * alone). STATUS_FAILED: out of memory, recorded. */
STATUS_CHECKED enum status tree_parse(struct tree *tree, const char *text, size_t length, int setting,
                                      struct tree_node **root, struct tree_problem *problem);

/* A new node; `text` (scalars only) is copied. NULL when out of memory. */
struct tree_node *tree_new_node(struct tree *tree, enum tree_kind kind, const char *text, size_t length,
                                struct tree_origin origin);

/* Appends `child` to the children of `parent`; `key` is NULL in a list. */
void tree_append(struct tree_node *parent, struct tree_node *key, struct tree_node *child);

/* The value of `key` in a mapping (of two the first), or NULL; NULL too for another kind of node. */
struct tree_node *tree_value(const struct tree_node *mapping, const char *key);

/* The value of key `segment` of a mapping; of a list the item of that number, from 0, or name. NULL: none. */
struct tree_node *tree_child(const struct tree_node *node, const char *segment);

/* The number of children. */
size_t tree_count(const struct tree_node *node);

/* Whether the node is a scalar with exactly this text. Neither is one that is NULL. */
bool tree_is_text(const struct tree_node *node, const char *text);

/* Whether the dotted path `inner` is `outer` or lies below it; none lies in "". */
bool tree_path_lies_in(const char *inner, const char *outer);

/* Records that memory ran out; STATUS_FAILED. */
STATUS_CHECKED enum status tree_no_memory(void);

/* Frees every node. */
void tree_free(struct tree *tree);

#endif
