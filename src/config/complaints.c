/* Complaints: placed, sorted and reported. */
#include "config/complaints.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes reading->path as a user writes it, species by name where they have one. Returns the node there, or
 * its nearest existing ancestor. */
static const struct tree_node *show_path(const struct reading *reading, char shown[TREE_PATH_LENGTH])
{
    const struct tree_node *node = reading->tree.root, *nearest = node;
    char copy[TREE_PATH_LENGTH];
    size_t used = 0;
    shown[0] = '\0';
    snprintf(copy, sizeof copy, "%s", reading->path);
    for (char *rest = copy; rest && used < TREE_PATH_LENGTH;) {
        const char *segment = strsep(&rest, ".");
        const bool in_list = node && node->kind == TREE_SEQUENCE;
        node = tree_child(node, segment);
        nearest = node ? node : nearest;
        const struct tree_node *name = in_list ? tree_value(node, "name") : NULL;
        if (name && name->kind == TREE_SCALAR && name->length > 0 && name->length < TEXT_SHOWN_LENGTH &&
            !text_fault(name->text, name->length, false))
            segment = name->text;
        used += (size_t)snprintf(shown + used, TREE_PATH_LENGTH - used, "%s%s", used > 0 ? "." : "", segment);
    }
    return nearest;
}

/* The file before --set, then by line and column. */
static bool is_before(struct tree_origin a, struct tree_origin b)
{
    if (a.setting != b.setting)
        return a.setting < b.setting;
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

void complain(struct reading *reading, const struct tree_node *node, const char *format, ...)
{
    if (reading->total++ >= COMPLAINTS_MAX)
        return;
    char path[TREE_PATH_LENGTH], problem[COMPLAINT_LENGTH];
    const struct tree_node *nearest = show_path(reading, path), *at = node ? node : nearest;
    const struct tree_origin origin = at ? at->origin : (struct tree_origin){TREE_FROM_FILE, 1, 1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    struct complaint *complaint = malloc(sizeof *complaint + strlen(path) + strlen(problem) + sizeof ": ");
    if (!complaint)
        return; /* it is only counted */
    complaint->origin = origin;
    strcpy(complaint->path, reading->path);
    char *last = strrchr(complaint->path, '.');
    if (last && strcmp(last, ".kind") == 0)
        *last = '\0';
    sprintf(complaint->text, "%s%s%s", path, path[0] != '\0' ? ": " : "", problem);
    struct complaint **place = &reading->complaints;
    while (*place && !is_before(origin, (*place)->origin))
        place = &(*place)->next;
    complaint->next = *place;
    *place = complaint;
    reading->count++;
}

bool is_sound(const struct reading *reading, const char *path)
{
    if (reading->total > reading->count) /* some are counted alone, and could be of this one */
        return false;
    const struct complaint *complaint = reading->complaints;
    while (complaint && !tree_path_lies_in(complaint->path, path) &&
           !tree_path_lies_in(path, complaint->path))
        complaint = complaint->next;
    return !complaint;
}

enum status complaints_report(const struct reading *reading)
{
    if (reading->total == 0)
        return STATUS_OK;
    char *report = NULL;
    size_t length = 0;
    FILE *stream = reading->complaints ? open_memstream(&report, &length) : NULL;
    if (!stream)
        return tree_no_memory();
    size_t listed = 0;
    for (const struct complaint *complaint = reading->complaints; complaint && listed < COMPLAINTS_LISTED;
         complaint = complaint->next, listed++) {
        const struct tree_origin origin = complaint->origin;
        const bool is_of_file = origin.setting == TREE_FROM_FILE;
        char *place = text_escaped(is_of_file ? reading->file : reading->settings[origin.setting], false);
        if (is_of_file)
            fprintf(stream, "%s:%zu:%zu: %s", place ? place : "?", origin.line, origin.column,
                    complaint->text);
        else
            fprintf(stream, "--set %s: %s", place ? place : "?", complaint->text);
        free(place);
        fputs(reading->total > 1 ? "\n" : "", stream);
    }
    if (reading->total > COMPLAINTS_LISTED)
        fprintf(stream, "and %zu more errors", reading->total - COMPLAINTS_LISTED);
    else if (reading->total > 1)
        fprintf(stream, "%zu errors", reading->total);
    const bool is_whole = fclose(stream) == 0;
    const enum status status = is_whole ? status_fail_lines(STATUS_USAGE, "%s", report) : tree_no_memory();
    free(report);
    return status;
}

void complaints_free(struct reading *reading)
{
    for (struct complaint *complaint = reading->complaints, *next; complaint; complaint = next) {
        next = complaint->next;
        free(complaint);
    }
    reading->complaints = NULL;
}

bool at(struct reading *reading, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reading->path, sizeof reading->path, format, arguments);
    va_end(arguments);
    return is_sound(reading, reading->path);
}

const struct tree_node *written(const struct reading *reading)
{
    const struct tree_node *node = reading->tree.root;
    char path[TREE_PATH_LENGTH];
    strcpy(path, reading->path);
    for (char *rest = path; rest;)
        node = tree_child(node, strsep(&rest, "."));
    return node;
}
