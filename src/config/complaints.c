/* Complaints: collecting and reporting. */
#include "config/complaints.h"

#include "config/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path as a user writes it: species by name where they have one. */
static void display_path(const struct tree_node *root, const char *path, char shown[TREE_PATH_LENGTH])
{
    const struct tree_node *node = root;
    char copy[TREE_PATH_LENGTH];
    size_t used = 0;
    shown[0] = '\0';
    snprintf(copy, sizeof copy, "%s", path);
    for (char *rest = copy; rest && used < TREE_PATH_LENGTH;) {
        const char *segment = strsep(&rest, ".");
        const bool in_list = node && node->kind == TREE_SEQUENCE;
        node = tree_child(node, segment);
        const struct tree_node *name = in_list ? tree_value(node, "name") : NULL;
        if (name && name->kind == TREE_SCALAR && name->length > 0 && name->length < TEXT_SHOWN_LENGTH &&
            !text_fault(name->text, name->length, false))
            segment = name->text;
        used += (size_t)snprintf(shown + used, TREE_PATH_LENGTH - used, "%s%s", used > 0 ? "." : "", segment);
    }
}

void complain(struct complaints *complaints, const struct tree_node *node, const char *path,
              const char *format, ...)
{
    if (complaints->total++ >= COMPLAINTS_MAX)
        return;
    const struct tree_node *at = node ? node : tree_nearest(complaints->root, path);
    struct complaint *complaint = &complaints->items[complaints->count++];
    complaint->origin = at ? at->origin : (struct tree_origin){TREE_FROM_FILE, 1, 1};
    snprintf(complaint->path, sizeof complaint->path, "%s", path);
    display_path(complaints->root, path, complaint->text);
    size_t used = strlen(complaint->text);
    if (used > 0)
        used += (size_t)snprintf(complaint->text + used, COMPLAINT_LENGTH - used, ": ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint->text + used, COMPLAINT_LENGTH - used, format, arguments);
    va_end(arguments);
}

bool complaints_sound(const struct complaints *complaints, const char *path)
{
    for (size_t i = 0; i < complaints->count; i++) {
        const char *other = complaints->items[i].path;
        if (tree_path_lies_in(other, path) || tree_path_lies_in(path, other))
            return false;
    }
    return true;
}

/* The file before --set, then by place; at one place, in the order in which they were made. */
static int compare_places(const void *left, const void *right)
{
    const struct complaint *const a = *(const struct complaint *const *)left;
    const struct complaint *const b = *(const struct complaint *const *)right;
    const size_t places[2][4] = {
        {(size_t)(a->origin.setting - TREE_FROM_FILE), a->origin.line, a->origin.column, (size_t)(a > b)},
        {(size_t)(b->origin.setting - TREE_FROM_FILE), b->origin.line, b->origin.column, (size_t)(b > a)}};
    int n = 0;
    while (n < 3 && places[0][n] == places[1][n])
        n++;
    return places[0][n] < places[1][n] ? -1 : places[0][n] > places[1][n];
}

enum status complaints_report(struct complaints *complaints)
{
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
        return tree_no_memory();
    for (size_t i = 0; i < complaints->count && i < COMPLAINTS_LISTED; i++) {
        const struct tree_origin origin = sorted[i]->origin;
        if (origin.setting == TREE_FROM_FILE)
            fprintf(stream, "%s:%zu:%zu: %s", complaints->file, origin.line, origin.column, sorted[i]->text);
        else
            fprintf(stream, "--set %s: %s", complaints->settings[origin.setting], sorted[i]->text);
        fputs(complaints->total > 1 ? "\n" : "", stream);
    }
    if (complaints->total > COMPLAINTS_LISTED)
        fprintf(stream, "and %zu more errors", complaints->total - COMPLAINTS_LISTED);
    else if (complaints->total > 1)
        fprintf(stream, "%zu errors", complaints->total);
    const bool is_whole = fclose(stream) == 0;
    const enum status status = is_whole ? status_fail(STATUS_USAGE, "%s", report) : tree_no_memory();
    free(report);
    return status;
}
