/* Echo: the struct as YAML again, every key with what the schema says about it. */
#include "config/config_reader.h"
#include "config/schema.h"
#include "config/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 56, INDENT = 2 };

struct echo {
    FILE *stream;
    const struct schema_table *table;
    const unsigned char *base; /* the struct that `table` describes */
    int indent;
    bool is_item; /* of a list: a dash goes before its first key */
    bool comments;
    bool *failed; /* set when memory runs out */
};

static void echo_group(const struct echo *echo, const char *group);

/* One value, a list of them, or a list of lists, on one line. Returns the place behind it. */
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

static uint32_t list_count(const struct schema_row *row, const unsigned char *base)
{
    uint32_t count;
    memcpy(&count, base + row->count_offset, sizeof count);
    return count;
}

/* "[[1, 0], [2, 0]]" or "[{axis: x, mode: 1}]": items whose tables have no groups. */
static void print_short_list(const struct schema_row *row, const unsigned char *base, FILE *stream)
{
    const uint32_t count = list_count(row, base);
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

static bool is_short_list(const struct schema_row *row)
{
    for (size_t i = 0; i < row->items->count; i++)
        if (row->items->rows[i].type == TYPE_GROUP || row->items->rows[i].type == TYPE_LIST)
            return false;
    return true;
}

/* Writes `line`, then in a column of their own unit and help. */
static void print_line(const struct echo *echo, const struct schema_row *row, const char *line)
{
    if (echo->comments && row->unit)
        fprintf(echo->stream, "%-*s # [%s] %s\n", COMMENT_COLUMN, line, row->unit, row->help);
    else if (echo->comments)
        fprintf(echo->stream, "%-*s # %s\n", COMMENT_COLUMN, line, row->help);
    else
        fprintf(echo->stream, "%s\n", line);
}

/* The items of a list of mappings, the first key of each behind its dash. Comments stand at the first item
 * only. */
static void echo_items(const struct echo *echo, const struct schema_row *row)
{
    const uint32_t count = list_count(row, echo->base);
    for (uint32_t i = 0; i < count; i++) {
        struct echo item = *echo;
        item.table = row->items;
        item.base += row->offset + i * row->items->size;
        item.indent += 2 * INDENT;
        item.is_item = true;
        item.comments = echo->comments && i == 0;
        echo_group(&item, "");
    }
}

static void echo_row(const struct echo *echo, const struct schema_row *row, const char *key, bool dash)
{
    char *line = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&line, &length);
    if (!stream) {
        *echo->failed = true;
        return;
    }
    const bool is_long_list = row->type == TYPE_LIST && !is_short_list(row);
    fprintf(stream, "%*s%s:", echo->indent, dash ? "- " : "", key);
    if (row->type == TYPE_LIST && !is_long_list) {
        fputc(' ', stream);
        print_short_list(row, echo->base, stream);
    } else if (row->type != TYPE_GROUP && !is_long_list) {
        fputc(' ', stream);
        print_value(row, 0, echo->base + row->offset, stream);
    }
    if (fclose(stream) == 0)
        print_line(echo, row, line);
    else
        *echo->failed = true;
    free(line);
    if (row->type == TYPE_GROUP) {
        struct echo inner = *echo;
        inner.indent += INDENT;
        inner.is_item = false;
        echo_group(&inner, row->path);
    } else if (is_long_list) {
        echo_items(echo, row);
    }
}

static void echo_group(const struct echo *echo, const char *group)
{
    bool dash = echo->is_item;
    for (size_t i = 0; i < echo->table->count; i++) {
        const struct schema_row *row = &echo->table->rows[i];
        const char *key = schema_child_key(row, group);
        if (!key || !schema_belongs(echo->table, row, echo->base))
            continue;
        echo_row(echo, row, key, dash);
        dash = false;
    }
}

enum status config_echo(const struct config *config, FILE *stream)
{
    bool failed = false;
    const struct echo echo = {.stream = stream,
                              .table = schema(),
                              .base = (const unsigned char *)config,
                              .comments = true,
                              .failed = &failed};
    fputs("# RadixPIC: every key of this run, resolved. Comments: [unit] meaning\n", stream);
    echo_group(&echo, "");
    if (failed)
        return status_fail(STATUS_FAILED, "out of memory while writing the resolved config");
    if (fflush(stream) != 0 || ferror(stream))
        return status_fail(STATUS_FAILED, "cannot write the resolved config: %s", strerror(errno));
    return STATUS_OK;
}
