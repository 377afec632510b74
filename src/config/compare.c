/* Compare: a walk of the schema over two structs at once. Values are the same when they print the same, for
 * what is printed is read back to the same bits. */
#include "config/compare.h"

#include "config/row_print.h"

#include <stdlib.h>
#include <string.h>

/* Where the walk stands: a struct of each side that `table` describes. */
struct place {
    const struct schema_table *table;
    const unsigned char *bases[2];
    const char *prefix; /* of the keys here: "" or "species.electrons." */
};

struct comparison {
    const struct config_side *sides[2];
    const char *const *but;
    FILE *stream;
    size_t *count;
};

static enum status compare_table(const struct comparison *comparison, const struct place *place);

/* Whether `path` is one of the keys passed over, or lies below one. */
static bool is_passed_over(const struct comparison *comparison, const char *path)
{
    for (const char *const *key = comparison->but; *key; key++) {
        const size_t length = strlen(*key);
        if (strncmp(path, *key, length) == 0 && (path[length] == '\0' || path[length] == '.'))
            return true;
    }
    return false;
}

/* The value as text, which the caller frees; NULL when memory runs out. */
static char *printed(const struct schema_row *row, const unsigned char *base)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return NULL;
    row_print(row, base, stream);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static void report(const struct comparison *comparison, const char *prefix, const char *path,
                   const char *left, const char *right)
{
    fprintf(comparison->stream, "%s%s: %s has %s, %s %s\n", prefix, path, comparison->sides[0]->name, left,
            comparison->sides[1]->name, right);
    ++*comparison->count;
}

static enum status compare_line(const struct comparison *comparison, const struct place *place,
                                const struct schema_row *row)
{
    char *left = printed(row, place->bases[0]);
    char *right = printed(row, place->bases[1]);
    const enum status status =
        left && right ? STATUS_OK : status_fail(STATUS_FAILED, "out of memory while comparing two configs");
    if (status == STATUS_OK && strcmp(left, right) != 0)
        report(comparison, place->prefix, row->path, left, right);
    free(left);
    free(right);
    return status;
}

/* "species.electrons." where both call the item so, else by its number. */
static void name_item(const struct place *place, const struct schema_row *row, uint32_t item,
                      const unsigned char *const bases[2], char prefix[SCHEMA_PATH_LENGTH])
{
    const struct schema_row *name = schema_find(row->items, "", "name");
    const char *left = name ? (const char *)bases[0] + name->offset : "";
    const char *right = name ? (const char *)bases[1] + name->offset : "";
    if (left[0] && strcmp(left, right) == 0)
        snprintf(prefix, SCHEMA_PATH_LENGTH, "%s%s.%s.", place->prefix, row->path, left);
    else
        snprintf(prefix, SCHEMA_PATH_LENGTH, "%s%s.%u.", place->prefix, row->path, item);
}

/* A list whose items have groups: item by item, as far as both have them. */
static enum status compare_items(const struct comparison *comparison, const struct place *place,
                                 const struct schema_row *row)
{
    const uint32_t left = row_list_count(row, place->bases[0]);
    const uint32_t right = row_list_count(row, place->bases[1]);
    if (left != right) {
        char left_words[32], right_words[32];
        snprintf(left_words, sizeof left_words, "%u of them", left);
        snprintf(right_words, sizeof right_words, "%u", right);
        report(comparison, place->prefix, row->path, left_words, right_words);
    }
    for (uint32_t i = 0; i < left && i < right; i++) {
        const size_t begin = row->offset + i * row->items->size;
        char prefix[SCHEMA_PATH_LENGTH];
        const struct place item = {
            row->items, {place->bases[0] + begin, place->bases[1] + begin}, .prefix = prefix};
        name_item(place, row, i, item.bases, prefix);
        TRY(compare_table(comparison, &item));
    }
    return STATUS_OK;
}

static enum status compare_table(const struct comparison *comparison, const struct place *place)
{
    for (size_t i = 0; i < place->table->count; i++) {
        const struct schema_row *row = &place->table->rows[i];
        if (row->type == TYPE_GROUP || (!place->prefix[0] && is_passed_over(comparison, row->path)))
            continue;
        if (!schema_belongs(place->table, row, place->bases[0]) ||
            !schema_belongs(place->table, row, place->bases[1]))
            continue;
        TRY(row_is_line(row) ? compare_line(comparison, place, row) : compare_items(comparison, place, row));
    }
    return STATUS_OK;
}

enum status config_compare(const struct config_side *left, const struct config_side *right,
                           const char *const *but, FILE *stream, size_t *count)
{
    const struct comparison comparison = {{left, right}, but, stream, count};
    const struct place top = {
        schema(), {(const unsigned char *)left->config, (const unsigned char *)right->config}, .prefix = ""};
    return compare_table(&comparison, &top);
}
