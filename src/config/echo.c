/* Echo: the struct as YAML again, every key with its unit and help. */
#include "config/config_reader.h"
#include "config/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 56, INDENT = 2 };

/* "KEY:", and the value where it stands on the same line. NULL when memory runs out; the caller frees it. */
static char *make_line(const struct schema_row *row, const char *base, int indent, bool dash)
{
    const char *dot = strrchr(row->path, '.');
    char *line = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&line, &length);
    if (!stream)
        return NULL;
    fprintf(stream, "%*s%s:", indent, dash ? "- " : "", dot ? dot + 1 : row->path);
    if (schema_is_line(row) || (row->type == TYPE_LIST && value_count(row, base) == 0)) {
        fputc(' ', stream);
        value_print(row, base, stream);
    }
    if (fclose(stream) == 0)
        return line;
    free(line);
    return NULL;
}

/* Writes the rows of the struct at `base`, the first one behind a dash where it is the item of a list.
 * Comments stand at the first item only. */
static enum status echo(const struct schema_table *table, const char *base, int indent, bool is_item,
                        bool comments, FILE *stream)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i];
        if (!schema_belongs(row, base))
            continue;
        int depth = indent;
        for (const char *dot = row->path; (dot = strchr(dot, '.')); dot++)
            depth += INDENT;
        char *line = make_line(row, base, depth, is_item && i == 0);
        if (!line)
            return status_fail(STATUS_FAILED, "out of memory while writing the resolved config");
        if (comments && row->unit)
            fprintf(stream, "%-*s # [%s] %s\n", COMMENT_COLUMN, line, row->unit, row->help);
        else if (comments)
            fprintf(stream, "%-*s # %s\n", COMMENT_COLUMN, line, row->help);
        else
            fprintf(stream, "%s\n", line);
        free(line);
        for (uint32_t n = 0; !schema_is_line(row) && row->type == TYPE_LIST && n < value_count(row, base);
             n++)
            TRY(echo(row->items, base + row->offset + n * row->items->size, depth + 2 * INDENT, true,
                     comments && n == 0, stream));
    }
    return STATUS_OK;
}

enum status config_echo(const struct config *config, FILE *stream)
{
    fputs("# RadixPIC: every key of this run, resolved. Comments: [unit] meaning\n", stream);
    TRY(echo(schema(), (const char *)config, 0, false, true, stream));
    if (fflush(stream) != 0 || ferror(stream))
        return status_fail(STATUS_FAILED, "cannot write the resolved config: %s", strerror(errno));
    return STATUS_OK;
}
