/* Read tree: one function for each of the shapes a value can have. */
#include "base/suggest.h"
#include "base/text.h"
#include "config/reading.h"
#include "config/schema.h"

#include <string.h>

static void read_table(struct reading *reading, const struct schema_table *table,
                       const struct tree_node *node, unsigned char *base);

/* Lengthens the path by a segment, as it may be shown. Returns its old length, for the caller to cut it. */
static size_t enter(struct reading *reading, const char *segment)
{
    const size_t length = strlen(reading->path);
    char shown[TEXT_SHOWN_LENGTH];
    snprintf(reading->path + length, sizeof reading->path - length, "%s%s", length > 0 ? "." : "",
             text_shown(segment, strlen(segment), shown));
    return length;
}

/* ---- values ---- */

/* What is allowed for the whole value of a row: the words of one scalar, and the lists around it. */
static void allowed_shape(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    const char *why = row->length_at ? " (`dimensions`)" : "";
    char each[VALUE_WHY_LENGTH], lists[64] = "";
    value_allowed(row, each);
    if (row->type == TYPE_LIST)
        snprintf(lists, sizeof lists, "a list of ");
    else if (row->length[1] > 0)
        snprintf(lists, sizeof lists, "a list of %u%s lists of %u, each ", row->length[0], why,
                 row->length[1]);
    else if (row->length[0] > 0)
        snprintf(lists, sizeof lists, "a list of %u%s, each ", row->length[0], why);
    if (row->last_alone)
        snprintf(words, VALUE_WHY_LENGTH, "%.*s, or a list of %u", VALUE_WHY_LENGTH - (int)sizeof lists, each,
                 row->length[0]);
    else
        snprintf(words, VALUE_WHY_LENGTH, "%s%.*s", lists, VALUE_WHY_LENGTH - (int)sizeof lists, each);
}

/* Complains that `node` has another shape than what is allowed. */
static void complain_shape(struct reading *reading, const char *allowed, const struct tree_node *node)
{
    if (node->kind == TREE_SEQUENCE)
        complain(reading, node, "expected %s, found a list of %zu", allowed, tree_count(node));
    else
        complain(reading, node, "expected %s, found %s", allowed,
                 node->kind == TREE_SCALAR ? "one value" : "a mapping");
}

/* Reads one value, a list of them or a list of lists; `level` counts the lists around `node`. */
static void read_value(struct reading *reading, const struct schema_row *row, const struct tree_node *node,
                       unsigned level, unsigned char *target)
{
    char words[VALUE_WHY_LENGTH];
    if (level == 0 && row->last_alone && node->kind == TREE_SCALAR) {
        level = 1;
        target += (row->length[0] - 1) * value_size(row);
    }
    const uint32_t length = level < 2 ? row->length[level] : 0;
    if (length == 0 && node->kind == TREE_SCALAR) {
        if (!value_parse(row, node->text, node->length, node->plain, &reading->constants, target, words))
            complain(reading, node, "%s", words);
        return;
    }
    if (length == 0 || node->kind != TREE_SEQUENCE || tree_count(node) != length) {
        allowed_shape(row, words);
        complain_shape(reading, words, node);
        return;
    }
    const size_t stride = value_size(row) * (level == 0 && row->length[1] > 0 ? row->length[1] : 1);
    for (const struct tree_node *item = node->first_child; item; item = item->next, target += stride)
        read_value(reading, row, item, level + 1, target);
}

/* The default: a word, or a flat list of words "[a, b]", of which the row may take the first alone. */
static void read_fallback(struct reading *reading, const struct schema_row *row, unsigned char *base)
{
    static const char separators[] = "[], ";
    const bool has_items = row->type == TYPE_LIST, is_list = has_items || row->length[0] > 0;
    const struct schema_row *each = has_items ? row->items->rows : row;
    unsigned char *target = base + row->offset;
    const uint32_t most = row->length_at ? row->length[0] : UINT32_MAX;
    uint32_t count = 0;
    /* "output/" and the name of the file without folders and ending */
    const char *slash = strrchr(reading->file, '/'), *name = slash ? slash + 1 : reading->file;
    const char *dot = strrchr(name, '.');
    const size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    const bool is_shown = !text_fault(name, length, true); /* it is in UTF-8 */
    char directory[CONFIG_TEXT_LENGTH];
    snprintf(directory, sizeof directory, "output/%.*s", is_shown ? (int)length : 3, is_shown ? name : "run");
    const char *text = row->fallback == schema_directory_fallback ? directory : row->fallback;
    for (; text += is_list ? strspn(text, separators) : 0, *text != '\0' && count != most; count++) {
        char word[CONFIG_TEXT_LENGTH + 1], why[VALUE_WHY_LENGTH];
        snprintf(word, sizeof word, "%.*s", (int)(is_list ? strcspn(text, separators) : strlen(text)), text);
        /* A folder may have too long a name. */
        if (!value_parse(each, word, strlen(word), true, NULL, target, why))
            complain(reading, NULL, "%s by default; give the key", why);
        target += value_size(each);
        text += strlen(word);
    }
    if (has_items)
        memcpy(base + row->count_offset, &count, sizeof count);
}

/* Items for the list of a row in the struct at `base`, all zero; NULL where memory runs out. */
static unsigned char *new_items(struct reading *reading, const struct schema_row *row, size_t count,
                                unsigned char *base)
{
    unsigned char *items = base + row->offset;
    if (!row->is_allocated)
        return items;
    void *const allocated = config_new_items(reading->config, count, row->items->size);
    if (!allocated)
        complain(reading, NULL, "no memory for a list of %zu", count);
    memcpy(items, &allocated, sizeof allocated);
    return allocated;
}

static void read_list(struct reading *reading, const struct schema_row *row, const struct tree_node *node,
                      unsigned char *base)
{
    const size_t found = node->kind == TREE_SEQUENCE ? tree_count(node) : 0;
    if (node->kind != TREE_SEQUENCE || (double)found < row->low || (double)found > row->high) {
        char allowed[VALUE_WHY_LENGTH];
        allowed_shape(row, allowed);
        complain_shape(reading, allowed, node);
        return;
    }
    const struct schema_row *each = &row->items->rows[0];
    const bool is_bare = schema_is_bare(row->items);
    const struct tree_node *const one = node->first_child;
    if (is_bare && each->length[0] == 2 && found == 2 && one->kind == TREE_SCALAR &&
        one->next->kind == TREE_SCALAR) {
        char words[2][TEXT_SHOWN_LENGTH];
        complain(reading, node, "expected a list of lists of 2, found one list of 2; write [[%s, %s]]",
                 text_shown(one->text, one->length, words[0]),
                 text_shown(one->next->text, one->next->length, words[1]));
        return;
    }
    const bool is_word = is_bare && (each->type == TYPE_CHOICE || each->type == TYPE_NAME);
    unsigned char *const items = new_items(reading, row, found, base), *target = items;
    uint32_t count = 0;
    for (const struct tree_node *item = node->first_child; item && items; item = item->next) {
        const unsigned char *first = items;
        char segment[16];
        snprintf(segment, sizeof segment, "%u", count++);
        const size_t length = enter(reading, segment);
        if (is_bare)
            read_value(reading, each, item, 0, target);
        else
            read_table(reading, row->items, item, target);
        for (; is_word && first < target && is_sound(reading, reading->path); first += row->items->size)
            if (memcmp(first, target, row->items->size) == 0)
                complain(reading, item, "expected each word once, found %s again", item->text);
        reading->path[length] = '\0';
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

/* The path of a key of that name anywhere in the table: a right key in a wrong place. NULL: there is none. */
static const char *find_elsewhere(const struct schema_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *dot = strrchr(table->rows[i].path, '.');
        if (strcmp(dot ? dot + 1 : table->rows[i].path, key) == 0)
            return table->rows[i].path;
    }
    return NULL;
}

static void complain_unknown_key(struct reading *reading, const struct schema_table *table, const char *group,
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
    complain(reading, key, "unknown key; %s%s%s here: %s", nearest ? "did you mean \"" : "",
             nearest ? nearest : "", nearest ? "\"? Known" : "known", known);
}

/* Keys of earlier versions. A file of such a version, as the config in a checkpoint, may hold one with the
 * value that every run has now. */
static const struct {
    const char *path, *value, *instead;
} removed_keys[] = {
    {"deposit.method", "sorted",
     "every run deposits cell by cell from the sorted list, and radixpic bench deposit compares that with "
     "atomic additions"},
};

/* Whether the key in hand is one of these; complains about another value. */
static bool is_removed_key(struct reading *reading, const struct tree_node *node)
{
    for (size_t n = 0; n < sizeof removed_keys / sizeof removed_keys[0]; n++) {
        if (strcmp(reading->path, removed_keys[n].path) != 0)
            continue;
        if (node->kind != TREE_SCALAR || !tree_is_text(node, removed_keys[n].value))
            complain(reading, node, "this key no longer exists: %s", removed_keys[n].instead);
        return true;
    }
    return false;
}

/* Complains where `node` is no mapping, and about keys that are unknown below `group`, or there twice. */
static void check_keys(struct reading *reading, const struct schema_table *table, const char *group,
                       const struct tree_node *node)
{
    if (node->kind != TREE_MAPPING) {
        const char *keys[SCHEMA_MAX_ROWS];
        char known[VALUE_WHY_LENGTH], allowed[VALUE_WHY_LENGTH];
        list_keys(table, group, keys, known);
        snprintf(allowed, sizeof allowed, "a mapping with the keys %.400s", known);
        complain_shape(reading, allowed, node);
        return;
    }
    for (const struct tree_node *child = node->first_child; child; child = child->next) {
        size_t i = 0;
        while (i < table->count && !tree_is_text(child->key, child_key(&table->rows[i], group)))
            i++;
        const size_t length = enter(reading, child->key->text);
        if (i == table->count && !is_removed_key(reading, child))
            complain_unknown_key(reading, table, group, child->key);
        else if (tree_value(node, child->key->text) != child)
            complain(reading, child->key, "given twice; first at line %zu",
                     tree_value(node, child->key->text)->key->origin.line);
        reading->path[length] = '\0';
    }
}

static void complain_kind(struct reading *reading, const struct schema_row *row, const struct tree_node *key,
                          const void *base)
{
    const struct schema_row *kind_row = schema_kind_row(row);
    while (!schema_belongs(kind_row, base)) {
        row = kind_row;
        kind_row = schema_kind_row(row);
    }
    const char *name = strrchr(kind_row->path, '.') + 1;
    char kinds[VALUE_WHY_LENGTH];
    int kind;
    memcpy(&kind, (const char *)base + kind_row->offset, sizeof kind);
    value_choices(kind_row->choices, row->kinds, kinds);
    const char *chosen = value_word(kind_row->choices, kind);
    const struct choice *named = kind_row->choices;
    while (named->word && !tree_is_text(key, named->word))
        named++;
    if (!named->word) {
        complain(reading, key, "is a key of %s %.99s, found with %s %.99s", name, kinds, name, chosen);
        return;
    }
    complain(
        reading, key,
        "is a key of kind %.99s, found with kind %.99s; give one of them alone, as by --set '%s={%s: ...}'",
        kinds, chosen, schema_group(row)->path, named->word);
}

/* Reads the key of one row; `node` is its value, or NULL when it was not given. `decided`: the kind of the
 * group is known, and so whether the row belongs to it. */
static void read_row(struct reading *reading, const struct schema_row *row, const struct tree_node *node,
                     bool decided, unsigned char *base)
{
    char words[VALUE_WHY_LENGTH];
    const struct schema_row sized = schema_sized(row, base);
    if (row->length_at && sized.length[0] == 0)
        return; /* the length was complained about */
    if (decided && !schema_belongs(row, base)) {
        if (node)
            complain_kind(reading, row, node->key, base);
    } else if (row->type == TYPE_CONSTANTS) {
        return; /* they were read before */
    } else if (node && row->type == TYPE_LIST) {
        read_list(reading, row, node, base);
    } else if (node) {
        read_value(reading, &sized, node, 0, base + row->offset);
    } else if (decided && !row->fallback) {
        allowed_shape(&sized, words);
        complain(reading, NULL, "missing; expected %s", words);
    } else if (decided) {
        read_fallback(reading, &sized, base);
    }
}

/* Whether the value of a group is one word, which stands for its kind. */
static bool is_kind_alone(const struct schema_row *group, const struct tree_node *node)
{
    return node && node->kind == TREE_SCALAR && schema_kind_of(group);
}

/* The kind of a group with the value `node`: that word, its key's value, or a key named as a kind. */
static const struct tree_node *find_kind(const struct schema_row *kind, const struct tree_node *node)
{
    const struct tree_node *found = is_kind_alone(kind - 1, node) ? node : tree_value(node, "kind");
    for (const struct choice *choice = kind->choices; !found && choice->word; choice++) {
        const struct tree_node *value = tree_value(node, choice->word);
        found = value ? value->key : NULL;
    }
    return found;
}

/* Reads the rows of `table`. Nodes of groups are looked up before those of the keys below them, and a group's
 * kind is read before the keys that belong to one kind. */
static void read_table(struct reading *reading, const struct schema_table *table,
                       const struct tree_node *node, unsigned char *base)
{
    const struct tree_node *nodes[SCHEMA_MAX_ROWS];
    bool kind_is_sound = true;
    check_keys(reading, table, "", node);
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i], *group = schema_group(row);
        const struct tree_node *parent = nodes[i] = group ? nodes[group - table->rows] : node;
        if (parent && parent->kind != TREE_MAPPING && !is_kind_alone(group, parent))
            continue; /* complained about */
        nodes[i] = tree_value(parent, group ? row->path + strlen(group->path) + 1 : row->path);
        if (row == schema_kind_of(group))
            nodes[i] = find_kind(row, parent);
        const size_t length = enter(reading, row->path);
        if (row->type != TYPE_GROUP)
            read_row(reading, row, nodes[i], !row->kinds || kind_is_sound, base);
        else if (nodes[i] && !is_kind_alone(row, nodes[i]))
            check_keys(reading, table, row->path, nodes[i]);
        if (row == schema_kind_of(group))
            kind_is_sound = is_sound(reading, reading->path);
        reading->path[length] = '\0';
    }
}

void read_tree(struct reading *reading)
{
    read_table(reading, &config_schema, reading->tree.root, (unsigned char *)reading->config);
}
