/* Compare: a walk of the schema over two structs at once. */
#include "config/config_reader.h"

#include "config/value.h"
#include "config/yaml_tree.h"

#include <string.h>

struct comparison {
    const char *names[2];
    const char *const *but;
    FILE *stream;
    size_t count;
};

/* Whether `path` is one of the keys passed over, or lies below one. */
static bool is_passed_over(const struct comparison *comparison, const char *path)
{
    const char *const *key = comparison->but;
    while (*key && !tree_path_lies_in(path, *key))
        key++;
    return *key != NULL;
}

/* Whether a row differs; of a list whose items are more than values, whether their number does. */
static bool differs(const struct schema_row *row, const char *left, const char *right)
{
    const uint32_t count = value_count(row, left);
    size_t size = row->type != TYPE_LIST ? value_size(row)
                  : schema_is_line(row)  ? count * row->items->size
                                         : 0;
    for (int level = 0; level < 2; level++)
        size *= row->length[level] > 0 ? row->length[level] : 1;
    if (row->type == TYPE_TEXT || row->type == TYPE_NAME)
        return strcmp(left + row->offset, right + row->offset) != 0;
    return count != value_count(row, right) || memcmp(left + row->offset, right + row->offset, size) != 0;
}

static void report(struct comparison *comparison, const char *prefix, const struct schema_row *row,
                   const char *const bases[2])
{
    FILE *stream = comparison->stream;
    fprintf(stream, "%s%s: ", prefix, row->path);
    for (int side = 0; side < 2; side++) {
        fprintf(stream, side == 0 ? "%s has " : ", %s ", comparison->names[side]);
        if (schema_is_line(row))
            value_print(row, bases[side], stream);
        else
            fprintf(stream, side == 0 ? "%u of them" : "%u", value_count(row, bases[side]));
    }
    fputc('\n', stream);
    comparison->count++;
}

/* Compares two structs that `table` describes; `prefix` ("" or "species.electrons.") goes before its keys. */
static void compare(struct comparison *comparison, const struct schema_table *table,
                    const char *const bases[2], const char *prefix)
{
    for (size_t n = 0; n < table->count; n++) {
        const struct schema_row *row = &table->rows[n];
        if (row->type == TYPE_GROUP || (!prefix[0] && is_passed_over(comparison, row->path)) ||
            !schema_belongs(row, bases[0]) || !schema_belongs(row, bases[1]))
            continue;
        if (differs(row, bases[0], bases[1]))
            report(comparison, prefix, row, bases);
        if (schema_is_line(row))
            continue;
        const struct schema_row *name = schema_find(row->items, "name");
        for (uint32_t i = 0; i < value_count(row, bases[0]) && i < value_count(row, bases[1]); i++) {
            const size_t begin = row->offset + i * row->items->size;
            const char *const items[2] = {bases[0] + begin, bases[1] + begin};
            char inner[2 * TREE_PATH_LENGTH];
            snprintf(inner, sizeof inner, "%s%s.%u.", prefix, row->path, i);
            if (name && strcmp(items[0] + name->offset, items[1] + name->offset) == 0)
                snprintf(inner, sizeof inner, "%s%s.%s.", prefix, row->path, items[0] + name->offset);
            compare(comparison, row->items, items, inner);
        }
    }
}

size_t config_compare(const struct config_side *left, const struct config_side *right, const char *const *but,
                      FILE *stream)
{
    struct comparison comparison = {{left->name, right->name}, but, stream, 0};
    const char *const bases[2] = {(const char *)left->config, (const char *)right->config};
    compare(&comparison, schema(), bases, "");
    return comparison.count;
}
