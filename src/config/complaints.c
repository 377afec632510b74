/* Complaints: collecting and reporting. */
#include "config/complaints.h"

#include "base/suggest.h"
#include "config/config.h"
#include "config/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path as a person writes it: species by name where it has one. */
static void display_path(const struct tree_node *root, const char *path, char shown[SCHEMA_PATH_LENGTH])
{
    const struct tree_node *node = root;
    size_t used = 0;
    shown[0] = '\0';
    while (*path && used < SCHEMA_PATH_LENGTH) {
        const int length = (int)strcspn(path, ".");
        char segment[SCHEMA_PATH_LENGTH];
        snprintf(segment, sizeof segment, "%.*s", length, path);
        const bool in_list = node && node->kind == TREE_SEQUENCE;
        node = in_list ? tree_item(node, strtoul(segment, NULL, 10)) : tree_value(node, segment);
        const struct tree_node *name = in_list ? tree_value(node, "name") : NULL;
        const bool named = name && name->kind == TREE_SCALAR && name->length > 0 &&
                           name->length < CONFIG_NAME_LENGTH &&
                           !text_trouble(name->text, name->length, false);
        used += (size_t)snprintf(shown + used, SCHEMA_PATH_LENGTH - used, "%s%s", used > 0 ? "." : "",
                                 named ? name->text : segment);
        path += length;
        path += *path == '.';
    }
}

static void keep(struct complaints *complaints, struct tree_origin origin, const char *path,
                 const char *format, va_list arguments)
{
    if (complaints->total++ >= COMPLAINTS_MAX)
        return;
    char shown[SCHEMA_PATH_LENGTH];
    display_path(complaints->root, path, shown);
    struct complaint complaint = {.origin = origin, .path = strdup(path)};
    char *what = NULL;
    if (vasprintf(&what, format, arguments) < 0)
        what = NULL;
    if (!what || asprintf(&complaint.text, "%s%s%s", shown, shown[0] ? ": " : "", what) < 0)
        complaint.text = NULL;
    free(what);
    if (!complaint.path || !complaint.text)
        complaints->out_of_memory = true;
    complaints->items[complaints->count++] = complaint;
}

void complain(struct complaints *complaints, const struct tree_node *node, const char *path,
              const char *format, ...)
{
    const struct tree_node *at = node ? node : tree_nearest(complaints->root, path);
    const struct tree_origin origin = at ? at->origin : (struct tree_origin){TREE_FROM_FILE, 1, 1};
    va_list arguments;
    va_start(arguments, format);
    keep(complaints, origin, path, format, arguments);
    va_end(arguments);
}

/* What stands now for a key of earlier versions, or the path of a key of that name anywhere in the table: for
 * a right key in a wrong place. NULL where there is none. */
static const char *path_elsewhere(const struct schema_table *table, const char *key)
{
    static const char axes[] = "axes: [{axis: x, bins: 32, range: [0, 1]}]";
    static const struct {
        const char *key, *now;
    } former[] = {{"bins", axes}, {"ranges", axes}};
    for (size_t i = 0; i < sizeof former / sizeof former[0]; i++)
        if (strcmp(former[i].key, key) == 0)
            return former[i].now;
    for (size_t i = 0; i < table->count; i++) {
        const char *dot = strrchr(table->rows[i].path, '.');
        if (strcmp(dot ? dot + 1 : table->rows[i].path, key) == 0)
            return table->rows[i].path;
    }
    return NULL;
}

void complain_unknown_key(struct complaints *complaints, const struct tree_node *key, const char *path,
                          const struct schema_table *table, const char *group)
{
    const char *keys[SCHEMA_MAX_ROWS];
    const size_t count = schema_keys(table, group, keys);
    char known[1024] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", keys[i]);
    char word[TEXT_SHOWN_LENGTH];
    text_shown(key->text, key->length, word);
    /* The right word in the wrong place is likelier than a wrong word that is nearly one of this place. */
    const char *nearest = path_elsewhere(table, word);
    if (!nearest)
        nearest = suggest_nearest(word, keys, count);
    char full[SCHEMA_PATH_LENGTH];
    snprintf(full, sizeof full, "%s%s%s", path, path[0] ? "." : "", word);
    if (nearest)
        complain(complaints, key, full, "unknown key; did you mean \"%s\"? Known here: %s", nearest, known);
    else
        complain(complaints, key, full, "unknown key; known here: %s", known);
}

/* Whether `inner` is `outer` or lies below it. */
static bool lies_in(const char *inner, const char *outer)
{
    const size_t length = strlen(outer);
    return length > 0 && strncmp(inner, outer, length) == 0 &&
           (inner[length] == '\0' || inner[length] == '.');
}

bool complaints_sound(const struct complaints *complaints, const char *path)
{
    for (size_t i = 0; i < complaints->count; i++) {
        const char *other = complaints->items[i].path;
        if (other && (lies_in(other, path) || lies_in(path, other)))
            return false;
    }
    return true;
}

/* The file before --set, then by place; of one place, in the order they were made (their texts lie in an
 * array). */
static int compare_places(const void *left, const void *right)
{
    const struct complaint *const *a = left;
    const struct complaint *const *b = right;
    const struct tree_origin p = (*a)->origin;
    const struct tree_origin q = (*b)->origin;
    if (p.setting != q.setting)
        return p.setting < q.setting ? -1 : 1;
    if (p.line != q.line)
        return p.line < q.line ? -1 : 1;
    if (p.column != q.column)
        return p.column < q.column ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static void print_complaint(const struct complaints *complaints, const struct complaint *complaint,
                            FILE *stream)
{
    const struct tree_origin origin = complaint->origin;
    if (origin.setting == TREE_FROM_FILE)
        fprintf(stream, "%s:%zu:%zu: %s", complaints->file, origin.line, origin.column, complaint->text);
    else
        fprintf(stream, "--set %s: %s", complaints->settings[origin.setting], complaint->text);
}

enum status complaints_report(struct complaints *complaints)
{
    if (complaints->out_of_memory)
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    if (complaints->total == 0)
        return STATUS_OK;
    const struct complaint *sorted[COMPLAINTS_MAX];
    for (size_t i = 0; i < complaints->count; i++)
        sorted[i] = &complaints->items[i];
    qsort(sorted, complaints->count, sizeof(sorted[0]), compare_places);

    char *report = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&report, &length);
    if (!stream)
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    for (size_t i = 0; i < complaints->count; i++) {
        print_complaint(complaints, sorted[i], stream);
        if (complaints->total > 1)
            fputc('\n', stream);
    }
    if (complaints->total > complaints->count)
        fprintf(stream, "%zu errors, of which the first %zu found are shown", complaints->total,
                complaints->count);
    else if (complaints->total > 1)
        fprintf(stream, "%zu errors", complaints->total);
    const bool complete = fclose(stream) == 0;
    const enum status status = complete
                                   ? status_fail(STATUS_USAGE, "%s", report)
                                   : status_fail(STATUS_FAILED, "out of memory while reading the config");
    free(report);
    return status;
}

void complaints_free(struct complaints *complaints)
{
    for (size_t i = 0; i < complaints->count; i++) {
        free(complaints->items[i].path);
        free(complaints->items[i].text);
    }
    complaints->count = 0;
    complaints->total = 0;
}
