/* Schema: how to find one's way in the table. */
#include "config/schema.h"

#include <string.h>

const struct schema_row *schema_find(const struct schema_table *table, const char *path)
{
    for (const struct schema_row *row = table->rows; row < table->rows + table->count; row++) {
        const size_t length = strlen(row->path);
        const bool begins = strncmp(path, row->path, length) == 0, ends = begins && path[length] == '\0';
        if (ends || (begins && row->items && strncmp(path + length, "[].", 3) == 0))
            return ends ? row : schema_find(row->items, path + length + 3);
    }
    return NULL;
}

const struct schema_row *schema_group(const struct schema_row *row)
{
    const char *dot = strrchr(row->path, '.');
    const size_t length = dot ? (size_t)(dot - row->path) : 0;
    const struct schema_row *group = row;
    while (dot && (strncmp(group->path, row->path, length) != 0 || group->path[length] != '\0'))
        group--;
    return dot ? group : NULL;
}

const struct schema_row *schema_kind_of(const struct schema_row *group)
{
    const struct schema_row *first = group ? group + 1 : NULL;
    return first && schema_group(first) == group && strcmp(strrchr(first->path, '.'), ".kind") == 0 ? first
                                                                                                    : NULL;
}

const struct schema_row *schema_kind_row(const struct schema_row *row)
{
    if (row->kinds && !row->of_previous)
        return schema_group(row) + 1;
    const struct schema_row *chosen = row;
    while (chosen->of_previous)
        chosen--;
    return chosen == row ? NULL : chosen;
}

const void *schema_items(const struct schema_row *row, const void *base)
{
    const char *const first = (const char *)base + row->offset;
    return row->is_allocated ? *(const void *const *)(const void *)first : first;
}

uint32_t schema_item_count(const struct schema_row *row, const void *base)
{
    return *(const uint32_t *)(const void *)((const char *)base + row->count_offset);
}

struct schema_row schema_sized(const struct schema_row *row, const void *base)
{
    struct schema_row sized = *row;
    if (row->length_at)
        memcpy(&sized.length[0], (const char *)base + row->length_at, sizeof sized.length[0]);
    return sized;
}

bool schema_belongs(const struct schema_row *row, const void *base)
{
    const struct schema_row *kind_row = schema_kind_row(row);
    if (!kind_row)
        return true;
    int kind;
    memcpy(&kind, (const char *)base + kind_row->offset, sizeof kind);
    return (row->kinds >> kind & 1U) && schema_belongs(kind_row, base);
}
