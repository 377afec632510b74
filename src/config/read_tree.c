/* Read tree: one function for each of the shapes a value can have. */
#include "base/suggest.h"
#include "config/stages.h"
#include "config/text.h"
#include "config/value.h"

#include <stdio.h>
#include <string.h>

struct reader {
    struct complaints *complaints;
    const char *directory;
    char path[TREE_PATH_LENGTH]; /* of the key being read */
};

static void read_table(struct reader *reader, const struct schema_table *table, const struct tree_node *node,
                       unsigned char *base);

/* Lengthens the path by a segment, as it may be shown; returns its old length, for leave(). */
static size_t enter(struct reader *reader, const char *segment)
{
    const size_t length = strlen(reader->path);
    char shown[TEXT_SHOWN_LENGTH];
    snprintf(reader->path + length, sizeof reader->path - length, "%s%s", length > 0 ? "." : "",
             text_shown(segment, strlen(segment), shown));
    return length;
}

static void leave(struct reader *reader, size_t length)
{
    reader->path[length] = '\0';
}

/* ---- values ---- */

/* What is allowed for the whole value of a row: the words of one scalar, and the lists around it. */
static void allowed_shape(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    char each[VALUE_WHY_LENGTH], lists[64] = "";
    value_allowed(row, each);
    if (row->type == TYPE_LIST)
        snprintf(lists, sizeof lists, "a list of ");
    else if (row->length[1] > 0)
        snprintf(lists, sizeof lists, "a list of %u lists of %u, each ", row->length[0], row->length[1]);
    else if (row->length[0] > 0)
        snprintf(lists, sizeof lists, "a list of %u, each ", row->length[0]);
    snprintf(words, VALUE_WHY_LENGTH, "%s%.*s", lists, VALUE_WHY_LENGTH - (int)sizeof lists, each);
}

/* Complains that `node` has another shape than what is allowed. */
static void complain_shape(struct reader *reader, const char *allowed, const struct tree_node *node)
{
    char list[48];
    snprintf(list, sizeof list, "a list of %zu", tree_count(node));
    complain(reader->complaints, node, reader->path, "expected %s, found %s", allowed,
             node->kind == TREE_SEQUENCE ? list
             : node->kind == TREE_SCALAR ? "one value"
                                         : "a mapping");
}

/* Reads one value, a list of them or a list of lists; `level` counts the lists around `node`. */
static void read_value(struct reader *reader, const struct schema_row *row, const struct tree_node *node,
                       unsigned level, unsigned char *target)
{
    char words[VALUE_WHY_LENGTH];
    const uint32_t length = level < 2 ? row->length[level] : 0;
    if (length == 0 && node->kind == TREE_SCALAR) {
        if (!value_parse(row, node->text, node->length, node->plain, target, words))
            complain(reader->complaints, node, reader->path, "%s", words);
        return;
    }
    if (length == 0 || node->kind != TREE_SEQUENCE || tree_count(node) != length) {
        allowed_shape(row, words);
        complain_shape(reader, words, node);
        return;
    }
    const size_t stride = value_size(row) * (level == 0 && row->length[1] > 0 ? row->length[1] : 1);
    for (const struct tree_node *item = node->first_child; item; item = item->next, target += stride)
        read_value(reader, row, item, level + 1, target);
}

/* The default: a word, or a flat list of words "[a, b]". */
static void read_fallback(struct reader *reader, const struct schema_row *row, unsigned char *target)
{
    static const char separators[] = "[], ";
    const char *text = row->fallback == schema_directory_fallback ? reader->directory : row->fallback;
    const bool is_list = row->length[0] > 0;
    do {
        text += is_list ? strspn(text, separators) : 0;
        char word[CONFIG_TEXT_LENGTH + 1], why[VALUE_WHY_LENGTH];
        snprintf(word, sizeof word, "%.*s", (int)(is_list ? strcspn(text, separators) : strlen(text)), text);
        if (!value_parse(row, word, strlen(word), true, target,
                         why)) /* the folder, from a long name of file */
            complain(reader->complaints, NULL, reader->path, "%s by default; give the key", why);
        target += value_size(row);
        text += strlen(word);
    } while (is_list && strcmp(text, "]") != 0);
}

static void read_list(struct reader *reader, const struct schema_row *row, const struct tree_node *node,
                      unsigned char *base)
{
    const size_t found = node->kind == TREE_SEQUENCE ? tree_count(node) : 0;
    if (node->kind != TREE_SEQUENCE || (double)found < row->low || (double)found > row->high) {
        char allowed[VALUE_WHY_LENGTH];
        allowed_shape(row, allowed);
        complain_shape(reader, allowed, node);
        return;
    }
    unsigned char *target = base + row->offset;
    uint32_t count = 0;
    for (const struct tree_node *item = node->first_child; item; item = item->next) {
        char segment[16];
        snprintf(segment, sizeof segment, "%u", count++);
        const size_t length = enter(reader, segment);
        if (schema_is_bare(row->items))
            read_value(reader, &row->items->rows[0], item, 0, target);
        else
            read_table(reader, row->items, item, target);
        leave(reader, length);
        target += row->items->size;
    }
    memcpy(base + row->count_offset, &count, sizeof count);
}

/* ---- keys ---- */

/* The key of `row` below `group` ("" is the top), or NULL where the row does not lie directly below it. */
static const char *child_key(const struct schema_row *row, const char *group)
{
    const size_t length = strlen(group);
    const bool lies_in = length == 0 || (strncmp(row->path, group, length) == 0 && row->path[length] == '.');
    const char *key = row->path + length + (length > 0);
    return lies_in && !strchr(key, '.') ? key : NULL;
}

/* "cells, length": the keys below `group`, which also go into `keys`. Returns their number. */
static size_t list_keys(const struct schema_table *table, const char *group,
                        const char *keys[SCHEMA_MAX_ROWS], char words[VALUE_WHY_LENGTH])
{
    size_t count = 0, used = 0;
    for (size_t i = 0; i < table->count; i++) {
        const char *key = child_key(&table->rows[i], group);
        if (!key || used >= VALUE_WHY_LENGTH)
            continue;
        keys[count++] = key;
        used += (size_t)snprintf(words + used, VALUE_WHY_LENGTH - used, "%s%s", used > 0 ? ", " : "", key);
    }
    return count;
}

/* What replaces a key of earlier versions, or the path of a key of that name anywhere in the table: a
 * right key in a wrong place. NULL where there is none. */
static const char *find_elsewhere(const struct schema_table *table, const char *key)
{
    static const char axes[] = "axes: [{axis: x, bins: 32, range: [0, 1]}]";
    static const char *const former[][2] = {{"bins", axes}, {"ranges", axes}, {"guard_rows", "ghost_rows"}};
    for (size_t i = 0; i < sizeof former / sizeof former[0]; i++)
        if (strcmp(former[i][0], key) == 0)
            return former[i][1];
    for (size_t i = 0; i < table->count; i++) {
        const char *dot = strrchr(table->rows[i].path, '.');
        if (strcmp(dot ? dot + 1 : table->rows[i].path, key) == 0)
            return table->rows[i].path;
    }
    return NULL;
}

static void complain_unknown_key(struct reader *reader, const struct schema_table *table, const char *group,
                                 const struct tree_node *key)
{
    const char *keys[SCHEMA_MAX_ROWS];
    char known[VALUE_WHY_LENGTH], word[TEXT_SHOWN_LENGTH];
    const size_t count = list_keys(table, group, keys, known);
    text_shown(key->text, key->length, word);
    /* The right word in the wrong place is likelier than a wrong word that is nearly one of this place. */
    const char *nearest = find_elsewhere(table, word);
    if (!nearest)
        nearest = suggest_nearest(word, keys, count);
    complain(reader->complaints, key, reader->path, "unknown key; %s%s%s here: %s",
             nearest ? "did you mean \"" : "", nearest ? nearest : "", nearest ? "\"? Known" : "known",
             known);
}

/* Complains where `node` is no mapping, and about keys that are unknown below `group`, or there twice. */
static void check_keys(struct reader *reader, const struct schema_table *table, const char *group,
                       const struct tree_node *node)
{
    if (node->kind != TREE_MAPPING) {
        const char *keys[SCHEMA_MAX_ROWS];
        char known[VALUE_WHY_LENGTH], allowed[VALUE_WHY_LENGTH];
        list_keys(table, group, keys, known);
        snprintf(allowed, sizeof allowed, "a mapping with the keys %.400s", known);
        complain_shape(reader, allowed, node);
        return;
    }
    for (const struct tree_node *child = node->first_child; child; child = child->next) {
        size_t i = 0;
        while (i < table->count && !tree_is_text(child->key, child_key(&table->rows[i], group)))
            i++;
        const size_t length = enter(reader, child->key->text);
        if (i == table->count)
            complain_unknown_key(reader, table, group, child->key);
        else if (tree_value(node, child->key->text) != child)
            complain(reader->complaints, child->key, reader->path, "given twice; first at line %zu",
                     tree_value(node, child->key->text)->key->origin.line);
        leave(reader, length);
    }
}

/* Whether the kind that decides about `row` was read without complaint: otherwise it is not known whether the
 * row belongs. */
static bool kind_is_sound(const struct reader *reader, const struct schema_row *row)
{
    const struct schema_row *kind_row = schema_kind_row(row);
    const int outer = (int)(strlen(reader->path) - strlen(row->path));
    char path[2 * TREE_PATH_LENGTH];
    snprintf(path, sizeof path, "%.*s%s", outer, reader->path, kind_row ? kind_row->path : "");
    return !kind_row || complaints_sound(reader->complaints, path);
}

static void complain_kind(struct reader *reader, const struct schema_row *row, const struct tree_node *key,
                          const void *base)
{
    const struct schema_row *kind_row = schema_kind_row(row);
    char kinds[VALUE_WHY_LENGTH], chosen[VALUE_WHY_LENGTH];
    int kind;
    memcpy(&kind, (const char *)base + kind_row->offset, sizeof kind);
    value_choices(kind_row->choices, row->kinds, kinds);
    value_choices(kind_row->choices, UINT32_C(1) << kind, chosen);
    complain(reader->complaints, key, reader->path, "is a key of kind %.99s, found with kind %.99s", kinds,
             chosen);
}

/* Reads the key of one row; `node` is its value, or NULL when it was not given. */
static void read_row(struct reader *reader, const struct schema_row *row, const struct tree_node *node,
                     unsigned char *base)
{
    char words[VALUE_WHY_LENGTH];
    const bool decided = kind_is_sound(reader, row);
    if (decided && !schema_belongs(row, base)) {
        if (node)
            complain_kind(reader, row, node->key, base);
    } else if (node && row->type == TYPE_LIST) {
        read_list(reader, row, node, base);
    } else if (node) {
        read_value(reader, row, node, 0, base + row->offset);
    } else if (decided && !row->fallback) {
        allowed_shape(row, words);
        complain(reader->complaints, NULL, reader->path, "missing; expected %s", words);
    } else if (decided && row->type != TYPE_LIST) { /* a list's default is empty */
        read_fallback(reader, row, base + row->offset);
    }
}

/* Reads the rows of `table`. Nodes of groups are looked up before those of the keys below them. */
static void read_table(struct reader *reader, const struct schema_table *table, const struct tree_node *node,
                       unsigned char *base)
{
    const struct tree_node *nodes[SCHEMA_MAX_ROWS];
    check_keys(reader, table, "", node);
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i], *group = schema_group(row);
        const struct tree_node *parent = group ? nodes[group - table->rows] : node;
        nodes[i] = parent;
        if (parent && parent->kind != TREE_MAPPING)
            continue; /* complained about */
        nodes[i] =
            parent ? tree_value(parent, group ? row->path + strlen(group->path) + 1 : row->path) : NULL;
        const size_t length = enter(reader, row->path);
        if (row->type != TYPE_GROUP)
            read_row(reader, row, nodes[i], base);
        else if (nodes[i])
            check_keys(reader, table, row->path, nodes[i]);
        leave(reader, length);
    }
}

void read_tree(const struct tree_node *root, const char *directory, struct config *config,
               struct complaints *complaints)
{
    struct reader reader = {.complaints = complaints, .directory = directory};
    read_table(&reader, schema(), root, (unsigned char *)config);
}
