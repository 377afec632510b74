/* Row print: values, lists of values, and lists of short mappings. */
#include "config/row_print.h"

#include "config/value.h"

#include <string.h>

/* One value, a list of them, or a list of lists. Returns the place behind it. */
static const unsigned char *print_value(const struct schema_row *row, unsigned level,
                                        const unsigned char *source, FILE *stream)
{
    const uint32_t length = level < 2 ? row->length[level] : 0;
    if (length == 0) {
        value_print(row, source, stream);
        return source + value_size(row);
    }
    fputc('[', stream);
    for (uint32_t i = 0; i < length; i++) {
        fputs(i > 0 ? ", " : "", stream);
        source = print_value(row, level + 1, source, stream);
    }
    fputc(']', stream);
    return source;
}

uint32_t row_list_count(const struct schema_row *row, const void *base)
{
    uint32_t count;
    memcpy(&count, (const unsigned char *)base + row->count_offset, sizeof count);
    return count;
}

static void print_list(const struct schema_row *row, const unsigned char *base, FILE *stream)
{
    const uint32_t count = row_list_count(row, base);
    const bool bare = schema_is_bare(row->items);
    fputc('[', stream);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *item = base + row->offset + i * row->items->size;
        fputs(i > 0 ? ", " : "", stream);
        fputs(bare ? "" : "{", stream);
        for (size_t j = 0; j < row->items->count; j++) {
            const struct schema_row *key = &row->items->rows[j];
            if (!bare)
                fprintf(stream, "%s%s: ", j > 0 ? ", " : "", key->path);
            print_value(key, 0, item + key->offset, stream);
        }
        fputs(bare ? "" : "}", stream);
    }
    fputc(']', stream);
}

bool row_is_line(const struct schema_row *row)
{
    if (row->type != TYPE_LIST)
        return row->type != TYPE_GROUP;
    for (size_t i = 0; i < row->items->count; i++)
        if (row->items->rows[i].type == TYPE_GROUP || row->items->rows[i].type == TYPE_LIST)
            return false;
    return true;
}

void row_print(const struct schema_row *row, const void *base, FILE *stream)
{
    if (row->type == TYPE_LIST)
        print_list(row, base, stream);
    else
        print_value(row, 0, (const unsigned char *)base + row->offset, stream);
}
