/* Read tree: one function for each of the shapes a value can have. */
#include "config/read_tree.h"

#include "config/value.h"

#include <stdio.h>
#include <string.h>

struct reader {
    struct complaints *complaints;
    const char *directory;
    char path[SCHEMA_PATH_LENGTH]; /* of the key being read */
};

static void read_group(struct reader *reader, const struct schema_table *table, const char *group,
                       const struct tree_node *node, unsigned char *base);

/* Lengthens the path by a segment; returns its old length, for leave(). */
static size_t enter(struct reader *reader, const char *segment)
{
    const size_t length = strlen(reader->path);
    snprintf(reader->path + length, sizeof reader->path - length, "%s%s", length > 0 ? "." : "", segment);
    return length;
}

static void leave(struct reader *reader, size_t length)
{
    reader->path[length] = '\0';
}

/* What is allowed for the whole value of a row: the words of one scalar, and the lists around it. */
static void allowed_shape(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    char each[VALUE_WHY_LENGTH];
    char lists[64] = "";
    value_allowed(row, each);
    if (row->type == TYPE_LIST)
        snprintf(lists, sizeof lists, "a list of ");
    else if (row->length[1] > 0)
        snprintf(lists, sizeof lists, "a list of %u lists of %u, each ", row->length[0], row->length[1]);
    else if (row->length[0] > 0)
        snprintf(lists, sizeof lists, "a list of %u, each ", row->length[0]);
    snprintf(words, VALUE_WHY_LENGTH, "%s%.*s", lists, VALUE_WHY_LENGTH - (int)sizeof lists, each);
}

/* Complains that `node` has the wrong shape for `row`. */
static void complain_shape(struct reader *reader, const struct schema_row *row, const struct tree_node *node)
{
    char allowed[VALUE_WHY_LENGTH];
    char found[48];
    allowed_shape(row, allowed);
    if (node->kind == TREE_SEQUENCE)
        snprintf(found, sizeof found, "a list of %zu", tree_count(node));
    else
        snprintf(found, sizeof found, "%s", node->kind == TREE_SCALAR ? "one value" : "a mapping");
    complain(reader->complaints, node, reader->path, "%s stands here; allowed: %s", found, allowed);
}

/* Reads one value, a list of them or a list of lists; `level` counts the lists around `node`. */
static void read_value(struct reader *reader, const struct schema_row *row, const struct tree_node *node,
                       unsigned level, unsigned char *target)
{
    const uint32_t length = level < 2 ? row->length[level] : 0;
    if (length == 0 && node->kind == TREE_SCALAR) {
        char why[VALUE_WHY_LENGTH];
        if (!value_parse(row, node->text, node->length, node->plain, target, why))
            complain(reader->complaints, node, reader->path, "%s", why);
        return;
    }
    if (length == 0 || node->kind != TREE_SEQUENCE || tree_count(node) != length) {
        complain_shape(reader, row, node);
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
    while (*text) {
        text += is_list ? strspn(text, separators) : 0;
        const size_t length = is_list ? strcspn(text, separators) : strlen(text);
        if (length == 0)
            return;
        char word[CONFIG_TEXT_LENGTH];
        char why[VALUE_WHY_LENGTH];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length >= sizeof word || !value_parse(row, word, length, true, target, why))
            complain(reader->complaints, NULL, reader->path, "the default \"%s\" does not do; give the key",
                     word);
        target += value_size(row);
        text += length;
    }
}

static void read_list(struct reader *reader, const struct schema_row *row, const struct tree_node *node,
                      unsigned char *base)
{
    const size_t found = node->kind == TREE_SEQUENCE ? tree_count(node) : 0;
    if (node->kind != TREE_SEQUENCE || (double)found < row->low || (double)found > row->high) {
        complain_shape(reader, row, node);
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
            read_group(reader, row->items, "", item, target);
        leave(reader, length);
        target += row->items->size;
    }
    memcpy(base + row->count_offset, &count, sizeof count);
}

static void complain_kind(struct reader *reader, const struct schema_table *table,
                          const struct schema_row *row, const struct tree_node *node, const void *base)
{
    const struct schema_row *kind_row = schema_kind_row(table, row);
    char belongs[VALUE_WHY_LENGTH] = "";
    const char *chosen = "";
    int kind;
    memcpy(&kind, (const char *)base + kind_row->offset, sizeof kind);
    for (const struct choice *choice = kind_row->choices; choice->word; choice++) {
        if (choice->value == kind)
            chosen = choice->word;
        if (row->kinds >> choice->value & 1U) {
            const size_t used = strlen(belongs);
            snprintf(belongs + used, sizeof belongs - used, "%s%s", used > 0 ? " or " : "", choice->word);
        }
    }
    complain(reader->complaints, node, reader->path, "does not belong to kind %s, only to %s", chosen,
             belongs);
}

/* Whether the kind that decides about `row` was read without complaint: otherwise nothing can be said. */
static bool kind_is_sound(const struct reader *reader, const struct schema_table *table,
                          const struct schema_row *row)
{
    const char *dot = strrchr(reader->path, '.');
    if (!schema_kind_row(table, row) || !dot)
        return true;
    char path[SCHEMA_PATH_LENGTH + sizeof ".kind"];
    snprintf(path, sizeof path, "%.*s.kind", (int)(dot - reader->path), reader->path);
    return complaints_sound(reader->complaints, path);
}

/* Reads the key of one row; `node` is its value, or NULL when it was not given. */
static void read_row(struct reader *reader, const struct schema_table *table, const struct schema_row *row,
                     const struct tree_node *node, unsigned char *base)
{
    const bool decided = kind_is_sound(reader, table, row);
    const bool belongs = !decided || schema_belongs(table, row, base);
    if (row->type == TYPE_GROUP) {
        read_group(reader, table, row->path, node, base);
    } else if (node && !belongs) {
        complain_kind(reader, table, row, node->key, base);
    } else if (node && row->type == TYPE_LIST) {
        read_list(reader, row, node, base);
    } else if (node) {
        read_value(reader, row, node, 0, base + row->offset);
    } else if (belongs && decided && row->fallback) {
        if (row->type != TYPE_LIST) /* a list's default is empty */
            read_fallback(reader, row, base + row->offset);
    } else if (belongs && decided) {
        char allowed[VALUE_WHY_LENGTH];
        allowed_shape(row, allowed);
        complain(reader->complaints, NULL, reader->path, "missing; needed: %s", allowed);
    }
}

/* Sorts the children of a mapping to the rows of their keys. */
static void find_rows(struct reader *reader, const struct schema_table *table, const char *group,
                      const struct tree_node *node, const struct tree_node *found[SCHEMA_MAX_ROWS])
{
    for (const struct tree_node *child = node->first_child; child; child = child->next) {
        const struct schema_row *row = schema_find(table, group, child->key->text);
        if (!row || !tree_is_text(child->key, schema_child_key(row, group))) {
            complain_unknown_key(reader->complaints, child->key, reader->path, table, group);
            continue;
        }
        const struct tree_node **place = &found[row - table->rows];
        if (*place) {
            const size_t length = enter(reader, child->key->text);
            complain(reader->complaints, child->key, reader->path, "given twice; first at line %zu",
                     (*place)->key->origin.line);
            leave(reader, length);
        } else {
            *place = child;
        }
    }
}

/* Reads the keys directly below `group` of `table`; `node` is NULL when the whole group was not given. */
static void read_group(struct reader *reader, const struct schema_table *table, const char *group,
                       const struct tree_node *node, unsigned char *base)
{
    const struct tree_node *found[SCHEMA_MAX_ROWS] = {NULL};
    if (node && node->kind != TREE_MAPPING) {
        const char *keys[SCHEMA_MAX_ROWS];
        const size_t count = schema_keys(table, group, keys);
        complain(reader->complaints, node, reader->path,
                 "%s stands here; allowed: a mapping with keys such as %s%s%s",
                 node->kind == TREE_SCALAR ? "one value" : "a list", keys[0], count > 1 ? " and " : "",
                 count > 1 ? keys[1] : "");
        return;
    }
    if (node)
        find_rows(reader, table, group, node, found);
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i];
        const char *key = schema_child_key(row, group);
        if (!key)
            continue;
        const size_t length = enter(reader, key);
        read_row(reader, table, row, found[i], base);
        leave(reader, length);
    }
}

void read_tree(const struct tree_node *root, const char *directory, struct config *config,
               struct complaints *complaints)
{
    struct reader reader = {.complaints = complaints, .directory = directory};
    read_group(&reader, schema(), "", root, (unsigned char *)config);
}
