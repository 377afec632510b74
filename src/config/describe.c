/* Describe: the schema as a table for people. */
#include "config/config_reader.h"
#include "config/value.h"

#include <string.h>

enum { MOST_COLUMN_BYTES = 160 };

static const char *const formats[] = {
    [DESCRIBE_TEXT] = "%-42s %-14s %-15s %-58s %-13s %s\n",
    [DESCRIBE_MARKDOWN] = "| `%s` | %s | %s | %s | %s | %s |\n",
};

static void describe(const struct schema_table *table, const char *prefix, enum describe_form form,
                     FILE *stream)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i];
        char key[MOST_COLUMN_BYTES], type[MOST_COLUMN_BYTES], allowed[2 * VALUE_WHY_LENGTH];
        if (row->type == TYPE_GROUP)
            continue;
        snprintf(key, sizeof key, "%s%s", prefix, row->path);
        const char *name = value_type(row);
        if (row->length[1] > 0)
            snprintf(type, sizeof type, "%u x %u %ss", row->length[0], row->length[1], name);
        else if (row->length[0] > 0)
            snprintf(type, sizeof type, "%u %ss", row->length[0], name);
        else
            snprintf(type, sizeof type, "%s", name);
        value_allowed(row, allowed);
        if (schema_kind_row(row)) {
            char kinds[VALUE_WHY_LENGTH];
            const size_t used = strlen(allowed);
            value_choices(schema_kind_row(row)->choices, row->kinds, kinds);
            snprintf(allowed + used, sizeof allowed - used, " (kind %s)", kinds);
        }
        fprintf(stream, formats[form], key, type, row->fallback ? row->fallback : "required", allowed,
                row->unit ? row->unit : "-", row->help);
        if (row->type == TYPE_LIST) {
            char items[MOST_COLUMN_BYTES + 4];
            snprintf(items, sizeof items, "%s[]%s", key, schema_is_bare(row->items) ? "" : ".");
            describe(row->items, items, form, stream);
        }
    }
}

void config_describe(enum describe_form form, FILE *stream)
{
    if (form == DESCRIBE_MARKDOWN)
        fputs("# The keys of a config\n\nPrinted by `radixpic check --keys --markdown`. `species[].mass` is "
              "the key "
              "`mass` of any item of the list `species`; `--set`\nnames an item by its number from 0, a "
              "species "
              "also by its name: `--set species.electrons.mass=1`.\n\n"
              "| key | type | default | allowed | unit | meaning |\n|---|---|---|---|---|---|\n",
              stream);
    else
        fprintf(stream, formats[form], "key", "type", "default", "allowed", "unit", "meaning");
    describe(schema(), "", form, stream);
}
