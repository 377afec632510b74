/* Describe: the schema as a table for people. */
#include "config/config_reader.h"
#include "config/schema.h"
#include "config/value.h"

#include <string.h>

enum { MOST_COLUMN_BYTES = 160 };

/* One line of the table. */
struct line {
    char key[MOST_COLUMN_BYTES];
    char type[MOST_COLUMN_BYTES];
    const char *fallback;
    char allowed[VALUE_WHY_LENGTH];
    const char *unit;
    const char *help;
};

static const char *type_name(const struct schema_row *row)
{
    switch (row->type) {
    case TYPE_GROUP:
        return "group";
    case TYPE_LIST:
        return "list";
    case TYPE_BOOL:
        return "bool";
    case TYPE_COUNT32:
    case TYPE_COUNT64:
        return "count";
    case TYPE_INTEGER:
        return "integer";
    case TYPE_REAL:
        return "number";
    case TYPE_CHOICE:
        return "choice";
    case TYPE_TEXT:
        return "text";
    case TYPE_NAME:
        break;
    }
    return "name";
}

static void fill_type(const struct schema_row *row, char type[MOST_COLUMN_BYTES])
{
    const char *name = type_name(row);
    if (row->length[1] > 0)
        snprintf(type, MOST_COLUMN_BYTES, "%u x %u %ss", row->length[0], row->length[1], name);
    else if (row->length[0] > 0)
        snprintf(type, MOST_COLUMN_BYTES, "%u %ss", row->length[0], name);
    else
        snprintf(type, MOST_COLUMN_BYTES, "%s", name);
}

/* " (kind maxwellian, uniform)" for a key that belongs to some kinds only. */
static void append_kinds(const struct schema_table *table, const struct schema_row *row, char *words,
                         size_t size)
{
    const struct schema_row *kind_row = schema_kind_row(table, row);
    if (!kind_row)
        return;
    const char *joint = " (kind ";
    for (const struct choice *choice = kind_row->choices; choice->word; choice++) {
        if (!(row->kinds >> choice->value & 1U))
            continue;
        const size_t used = strlen(words);
        snprintf(words + used, size - used, "%s%s", joint, choice->word);
        joint = ", ";
    }
    const size_t used = strlen(words);
    snprintf(words + used, size - used, ")");
}

static void print_line(const struct line *line, FILE *stream)
{
    fprintf(stream, "%-42s %-14s %-15s %-58s %-13s %s\n", line->key, line->type, line->fallback,
            line->allowed, line->unit, line->help);
}

static void describe(const struct schema_table *table, const char *prefix, FILE *stream)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i];
        if (row->type == TYPE_GROUP)
            continue;
        struct line line = {.fallback = row->fallback ? row->fallback : "required",
                            .unit = row->unit ? row->unit : "-",
                            .help = row->help};
        snprintf(line.key, sizeof line.key, "%s%s", prefix, row->path);
        fill_type(row, line.type);
        value_allowed(row, line.allowed);
        append_kinds(table, row, line.allowed, sizeof line.allowed);
        print_line(&line, stream);
        if (row->type == TYPE_LIST) {
            char items[MOST_COLUMN_BYTES];
            snprintf(items, sizeof items, "%.100s[]%s", line.key, schema_is_bare(row->items) ? "" : ".");
            describe(row->items, items, stream);
        }
    }
}

void config_describe(FILE *stream)
{
    const struct line head = {"key", "type", "default", "allowed", "unit", "meaning"};
    print_line(&head, stream);
    describe(schema(), "", stream);
}
