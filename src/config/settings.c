/* Settings: each dotted path is followed through the tree, one segment at a time. */
#include "config/reading.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

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

enum status apply_settings(struct reading *reading)
{
    for (size_t i = 0; i < reading->setting_count; i++) {
        reading->path[0] = '\0';
        TRY(apply(reading, (int)i));
    }
    reading->path[0] = '\0';
    return STATUS_OK;
}
