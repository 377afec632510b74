/* YAML tree: the nodes. */
#include "config/yaml_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree_block {
    struct tree_block *next;
    struct tree_node node;
    char text[];
};

struct tree_node *tree_new_node(struct tree *tree, enum tree_kind kind, const char *text, size_t length,
                                struct tree_origin origin)
{
    struct tree_block *block = calloc(1, sizeof *block + length + 1);
    if (!block)
        return NULL;
    block->next = tree->blocks;
    tree->blocks = block;
    if (length > 0)
        memcpy(block->text, text, length);
    block->node = (struct tree_node){
        .kind = kind, .origin = origin, .plain = true, .text = block->text, .length = length};
    return &block->node;
}

void tree_append(struct tree_node *parent, struct tree_node *key, struct tree_node *child)
{
    child->key = key;
    if (parent->last_child)
        parent->last_child->next = child;
    else
        parent->first_child = child;
    parent->last_child = child;
}

void tree_replace(struct tree_node *node, const struct tree_node *content)
{
    struct tree_node *key = node->key;
    struct tree_node *next = node->next;
    *node = *content;
    node->key = key;
    node->next = next;
}

bool tree_is_text(const struct tree_node *node, const char *text)
{
    return node && text && node->kind == TREE_SCALAR && node->length == strlen(text) &&
           memcmp(node->text, text, node->length) == 0;
}

struct tree_node *tree_value(const struct tree_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != TREE_MAPPING)
        return NULL;
    for (struct tree_node *child = mapping->first_child; child; child = child->next)
        if (tree_is_text(child->key, key))
            return child;
    return NULL;
}

struct tree_node *tree_child(const struct tree_node *node, const char *segment)
{
    if (!node || node->kind != TREE_SEQUENCE)
        return tree_value(node, segment);
    const bool is_number = segment[0] != '\0' && segment[strspn(segment, "0123456789")] == '\0';
    size_t left = is_number ? strtoul(segment, NULL, 10) : 0;
    for (struct tree_node *child = node->first_child; child; child = child->next)
        if (is_number ? left-- == 0 : tree_is_text(tree_value(child, "name"), segment))
            return child;
    return NULL;
}

size_t tree_count(const struct tree_node *node)
{
    size_t count = 0;
    for (const struct tree_node *child = node->first_child; child; child = child->next)
        count++;
    return count;
}

const struct tree_node *tree_nearest(const struct tree_node *root, const char *path)
{
    const struct tree_node *node = root, *nearest = root;
    char copy[TREE_PATH_LENGTH];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *rest = copy; node && rest && *rest;) {
        node = tree_child(node, strsep(&rest, "."));
        nearest = node ? node : nearest;
    }
    return nearest;
}

bool tree_path_lies_in(const char *inner, const char *outer)
{
    const size_t length = strlen(outer);
    return length > 0 && strncmp(inner, outer, length) == 0 &&
           (inner[length] == '\0' || inner[length] == '.');
}

enum status tree_no_memory(void)
{
    return status_fail(STATUS_FAILED, "out of memory while reading the config");
}

void tree_free(struct tree *tree)
{
    while (tree->blocks) {
        struct tree_block *next = tree->blocks->next;
        free(tree->blocks);
        tree->blocks = next;
    }
    tree->root = NULL;
}
