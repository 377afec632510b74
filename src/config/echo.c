/* Echo: the struct as YAML again, every key with what the schema says about it. */
#include "config/config_reader.h"
#include "config/row_print.h"
#include "config/schema.h"

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

/* Whether the row's value stands behind its key, as an empty list always does. */
static bool is_line(const struct echo *echo, const struct schema_row *row)
{
    return row_is_line(row) || (row->type == TYPE_LIST && row_list_count(row, echo->base) == 0);
}

/* The items of a list of mappings, the first key of each behind its dash. Comments stand at the first item
 * only. */
static void echo_items(const struct echo *echo, const struct schema_row *row)
{
    const uint32_t count = row_list_count(row, echo->base);
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
    fprintf(stream, "%*s%s:", echo->indent, dash ? "- " : "", key);
    if (is_line(echo, row)) {
        fputc(' ', stream);
        row_print(row, echo->base, stream);
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
    } else if (!is_line(echo, row)) {
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
