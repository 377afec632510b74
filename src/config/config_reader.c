/* Config reader: file -> tree -> settings -> struct -> checks -> report. */
#include "config/config_reader.h"

#include "base/regular.h"
#include "base/text.h"
#include "config/reading.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20 };

/* ---- complaints ---- */

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
    struct complaint *complaint = &reading->items[reading->count++];
    for (; complaint > reading->items && is_before(origin, complaint[-1].origin); complaint--)
        complaint[0] = complaint[-1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    complaint->origin = origin;
    strcpy(complaint->path, reading->path);
    char *last = strrchr(complaint->path, '.');
    if (last && strcmp(last, ".kind") == 0)
        *last = '\0';
    snprintf(complaint->text, COMPLAINT_LENGTH, "%s%s%.*s", path, path[0] != '\0' ? ": " : "",
             COMPLAINT_LENGTH - TREE_PATH_LENGTH - 2, problem);
}

bool is_sound(const struct reading *reading, const char *path)
{
    if (reading->total > reading->count) /* some are counted alone, and could be of this one */
        return false;
    for (size_t i = 0; i < reading->count; i++) {
        const char *other = reading->items[i].path;
        if (tree_path_lies_in(other, path) || tree_path_lies_in(path, other))
            return false;
    }
    return true;
}

/* STATUS_OK without complaints; otherwise records the first of them by place as the status message, with the
 * number of all, and returns STATUS_USAGE (STATUS_FAILED when out of memory). */
static enum status complaints_report(const struct reading *reading)
{
    if (reading->total == 0)
        return STATUS_OK;
    char *report = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&report, &length);
    if (!stream)
        return tree_no_memory();
    for (size_t i = 0; i < reading->count && i < COMPLAINTS_LISTED; i++) {
        const struct complaint *complaint = &reading->items[i];
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

/* ---- for rules ---- */

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

void check_name(struct reading *reading, const char *list, const char *what, const void *items, size_t size,
                uint32_t index)
{
    const char *name = (const char *)items + size * index;
    for (uint32_t j = 0; j < index; j++)
        if (strcmp(name, (const char *)items + size * j) == 0 && at(reading, "%s.%u.name", list, index))
            complain(reading, NULL, "expected one %s of a name, found %s twice", what, name);
}

bool check_ends(struct reading *reading, const double range[2], bool may_be_equal)
{
    if ((range[0] < range[1] || (may_be_equal && range[0] == range[1])) && isfinite(range[1] - range[0]))
        return true;
    complain(reading, NULL, "expected [low, high], low %s high and their difference finite, found [%g, %g]",
             may_be_equal ? "at most" : "below", range[0], range[1]);
    return false;
}

void check_species_name(struct reading *reading, const char *name, const char *others)
{
    const struct config *config = reading->config;
    if (species_find(config, name) == config->species_count && is_sound(reading, "species") &&
        is_sound(reading, reading->path))
        complain(reading, NULL, "expected the name of a species, such as %s%s, found %s",
                 config->species[0].name, others, name);
}

/* ---- settings: each dotted path is followed through the tree, one segment at a time ---- */

/* Complains about the path followed so far; returns STATUS_OK. */
static enum status refuse(struct reading *reading, struct tree_origin origin, const char *problem)
{
    complain(reading, &(struct tree_node){.origin = origin}, "%s", problem);
    return STATUS_OK;
}

/* no item "3"; the list has 2: electrons, ions */
static enum status refuse_item(struct reading *reading, struct tree_origin origin,
                               const struct tree_node *list, const char *segment)
{
    char known[512] = "", shown[TEXT_SHOWN_LENGTH], problem[640];
    size_t used = 0;
    for (const struct tree_node *item = list->first_child; item && used < sizeof known; item = item->next) {
        const struct tree_node *name = tree_value(item, "name");
        if (name && name->kind == TREE_SCALAR)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : ": ",
                                     text_shown(name->text, name->length, shown));
    }
    snprintf(problem, sizeof problem, "no item \"%s\"; the list has %zu%s%s",
             text_shown(segment, strlen(segment), shown), tree_count(list), known,
             list->first_child ? "" : "; set it as a whole");
    return refuse(reading, origin, problem);
}

/* Follows `path`, which it cuts up, and puts `content` at its end; makes the keys that the tree lacks. Keys
 * that the schema lacks are complained about when the tree is read. */
static enum status put(struct reading *reading, char *path, const struct tree_node *content)
{
    const struct tree_origin origin = content->origin;
    struct tree_node *node = reading->tree.root;
    for (char *rest = path; rest;) {
        const char *segment = strsep(&rest, ".");
        struct tree_node *parent = node;
        if (parent->kind == TREE_SCALAR)
            return refuse(reading, origin, "has no keys below it; set the whole value");
        if (!parent->first_child && strspn(segment, "0123456789") > 0)
            parent->kind = TREE_SEQUENCE; /* a list that the file lacks */
        node = tree_child(parent, segment);
        if (!node && parent->kind == TREE_SEQUENCE)
            return refuse_item(reading, origin, parent, segment);
        if (!node) {
            struct tree_node *key =
                tree_new_node(&reading->tree, TREE_SCALAR, segment, strlen(segment), origin);
            node = tree_new_node(&reading->tree, TREE_MAPPING, NULL, 0, origin);
            if (!key || !node)
                return tree_no_memory();
            tree_append(parent, key, node);
        }
        const size_t used = strlen(reading->path);
        snprintf(reading->path + used, sizeof reading->path - used, "%s%s", used > 0 ? "." : "", segment);
    }
    const struct tree_node place = *node;
    *node = *content;
    node->key = place.key;
    node->next = place.next;
    return STATUS_OK;
}

/* "species[0].mass" means species.0.mass. */
static void replace_brackets(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++)
        if (*from != ']')
            *to++ = *from == '[' ? '.' : *from;
    *to = '\0';
}

/* Applies a setting, `--set dotted.path=value`, to the tree; its root is a mapping. Items of lists are named
 * by number, species also by name. The value is YAML and replaces the file's. STATUS_FAILED: no memory. */
static enum status apply(struct reading *reading, int number)
{
    const char *word = reading->settings[number], *equals = strchr(word, '=');
    const struct tree_origin origin = {number, 1, 1};
    if (!equals || equals == word)
        return refuse(reading, origin, "expected KEY=VALUE, such as time.steps=10");
    struct tree_node *content = NULL;
    struct tree_problem problem;
    const enum status parsed =
        tree_parse(&reading->tree, equals + 1, strlen(equals + 1), number, &content, &problem);
    if (parsed == STATUS_USAGE)
        return refuse(reading, origin, problem.text);
    TRY(parsed);
    if (!content)
        content = tree_new_node(&reading->tree, TREE_SCALAR, "", 0, origin);
    char *path = content ? strndup(word, (size_t)(equals - word)) : NULL;
    if (!path)
        return tree_no_memory();
    replace_brackets(path);
    const enum status status = put(reading, path, content);
    free(path);
    return status;
}

/* ---- the stages ---- */

static enum status read_into(struct reading *reading, const char *text, size_t length)
{
    struct tree_problem problem;
    const enum status parsed =
        tree_parse(&reading->tree, text, length, TREE_FROM_FILE, &reading->tree.root, &problem);
    if (parsed == STATUS_FAILED)
        return parsed;
    const struct tree_node *root = reading->tree.root;
    if (parsed != STATUS_OK) {
        complain(reading, &(struct tree_node){.origin = problem.origin}, "%s", problem.text);
    } else if (!root || root->kind != TREE_MAPPING) {
        complain(reading, root, "expected a mapping with the keys grid, time and species, found %s",
                 !root                         ? "nothing"
                 : root->kind == TREE_SEQUENCE ? "a list"
                                               : "one value");
    } else {
        for (size_t i = 0; i < reading->setting_count; i++) {
            reading->path[0] = '\0';
            TRY(apply(reading, (int)i));
        }
        reading->path[0] = '\0';
        read_tree(reading);
        check_config(reading);
        for (uint32_t s = 0; s < reading->config->species_count; s++)
            reading->config->species[s].random_key = reading->config->seed | (uint64_t)s << 32;
    }
    return complaints_report(reading);
}

enum status config_read_text(const char *name, const char *text, size_t length, const char *const *settings,
                             size_t setting_count, struct config *config)
{
    struct reading *reading = calloc(1, sizeof *reading);
    struct config *result = calloc(1, sizeof *result); /* all zero: what is not read */
    enum status status = reading && result ? STATUS_OK : tree_no_memory();
    if (status == STATUS_OK) {
        reading->file = name;
        reading->settings = settings;
        reading->setting_count = setting_count;
        reading->config = result;
        status = read_into(reading, text, length);
        tree_free(&reading->tree);
    }
    if (status == STATUS_OK)
        memcpy(config, result, sizeof *config);
    else if (result)
        config_free(result);
    free(reading);
    free(result);
    return status;
}

enum status config_read(const char *path, const char *const *settings, size_t setting_count,
                        struct config *config)
{
    size_t length = 0;
    const char *why = "";
    char *bytes = regular_read(path, MOST_FILE_BYTES, &length, &why);
    if (!bytes)
        return status_fail(STATUS_USAGE, "%s: cannot read the config: %s", path, why);
    const enum status status =
        length > MOST_FILE_BYTES
            ? status_fail(STATUS_USAGE, "%s: expected a config of at most %d bytes, found more", path,
                          MOST_FILE_BYTES)
            : config_read_text(path, bytes, length, settings, setting_count, config);
    free(bytes);
    return status;
}
