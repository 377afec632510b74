/* Settings: following each dotted path through the tree, one segment at a time. */
#include "config/stages.h"
#include "config/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One --set word, and how far its path has been followed. */
struct setting {
    struct tree *tree;
    struct complaints *complaints;
    struct tree_origin origin;
    char path[TREE_PATH_LENGTH]; /* followed so far */
};

/* Complains; returns STATUS_OK. */
static enum status refuse(const struct setting *setting, const char *problem)
{
    const struct tree_node here = {.origin = setting->origin};
    complain(setting->complaints, &here, setting->path, "%s", problem);
    return STATUS_OK;
}

/* no item "3"; the list has 2: electrons, ions */
static enum status refuse_item(const struct setting *setting, const struct tree_node *list,
                               const char *segment)
{
    char known[512] = "", shown[TEXT_SHOWN_LENGTH], problem[640];
    size_t used = 0;
    for (const struct tree_node *item = list->first_child; item && used < sizeof known; item = item->next) {
        const struct tree_node *name = tree_value(item, "name");
        if (name && name->kind == TREE_SCALAR)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : ": ",
                                     text_shown(name->text, name->length, shown));
    }
    snprintf(problem, sizeof problem, "no item \"%s\"; the list has %zu%s",
             text_shown(segment, strlen(segment), shown), tree_count(list), known);
    return refuse(setting, problem);
}

/* Gives the mapping `parent` the key `key`, with `content`, or with an empty mapping where that is NULL. */
static struct tree_node *add_key(const struct setting *setting, struct tree_node *parent, const char *key,
                                 struct tree_node *content)
{
    struct tree_node *name = tree_new_node(setting->tree, TREE_SCALAR, key, strlen(key), setting->origin);
    if (!content)
        content = tree_new_node(setting->tree, TREE_MAPPING, NULL, 0, setting->origin);
    if (name && content)
        tree_append(parent, name, content);
    return name ? content : NULL;
}

/* Follows `path`, which it cuts up, and puts `content` at its end; makes the keys that the tree lacks. Keys
 * that the schema lacks are complained about when the tree is read. */
static enum status put(struct setting *setting, char *path, struct tree_node *content)
{
    struct tree_node *node = setting->tree->root;
    for (char *rest = path; rest;) {
        const char *segment = strsep(&rest, ".");
        struct tree_node *parent = node;
        if (parent->kind == TREE_SCALAR)
            return refuse(setting, "has no keys below it; set the whole value");
        if (!parent->first_child && strspn(segment, "0123456789") > 0)
            parent->kind = TREE_SEQUENCE; /* a list that the file lacks */
        node = tree_child(parent, segment);
        if (!node && parent->kind == TREE_SEQUENCE)
            return refuse_item(setting, parent, segment);
        if (!node)
            node = add_key(setting, parent, segment, rest ? NULL : content);
        if (!node)
            return tree_no_memory();
        const size_t used = strlen(setting->path);
        snprintf(setting->path + used, sizeof setting->path - used, "%s%s", used > 0 ? "." : "", segment);
    }
    if (node != content)
        tree_replace(node, content);
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

static enum status apply(struct setting *setting, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return refuse(setting, "expected KEY=VALUE, such as time.steps=10");
    struct tree_node *content = NULL;
    struct tree_problem problem;
    const enum status parsed = tree_parse(setting->tree, equals + 1, strlen(equals + 1),
                                          setting->origin.setting, &content, &problem);
    if (parsed == STATUS_USAGE)
        return refuse(setting, problem.text);
    TRY(parsed);
    if (!content)
        content = tree_new_node(setting->tree, TREE_SCALAR, "", 0, setting->origin);
    char *path = content ? strndup(word, (size_t)(equals - word)) : NULL;
    if (!path)
        return tree_no_memory();
    replace_brackets(path);
    const enum status status = put(setting, path, content);
    free(path);
    return status;
}

enum status settings_apply(struct tree *tree, size_t count, struct complaints *complaints)
{
    for (size_t i = 0; i < count; i++) {
        struct setting setting = {.tree = tree, .complaints = complaints, .origin = {(int)i, 1, 1}};
        TRY(apply(&setting, complaints->settings[i]));
    }
    return STATUS_OK;
}
