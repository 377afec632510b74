/* Settings: walking the schema and the tree together, one segment of the dotted path at a time. */
#include "config/settings.h"

#include "config/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One --set word, and how far its path has been followed. */
struct setting {
    struct tree *tree;
    struct complaints *complaints;
    struct tree_origin origin;
    const struct schema_table *table; /* describes the struct that `row` lies in */
    const struct schema_row *row;     /* reached so far; NULL at the top of `table` */
    struct tree_node *node;           /* reached so far; NULL: not in the tree yet */
    char path[SCHEMA_PATH_LENGTH];    /* of `node`, items by number */
    bool refused;
};

/* A scalar that stands for the word itself, to place a complaint at it. */
static struct tree_node word_node(const struct setting *setting, const char *text)
{
    return (struct tree_node){
        .kind = TREE_SCALAR, .origin = setting->origin, .text = text, .length = strlen(text)};
}

static void refuse(struct setting *setting, const char *problem)
{
    const struct tree_node here = word_node(setting, "");
    complain(setting->complaints, &here, setting->path, "%s", problem);
    setting->refused = true;
}

static void lengthen_path(struct setting *setting, const char *segment)
{
    const size_t length = strlen(setting->path);
    snprintf(setting->path + length, sizeof setting->path - length, "%s%s", length > 0 ? "." : "", segment);
}

/* "names: electrons, ions" or "items 0 to 1": what a list holds. */
static void refuse_item(struct setting *setting, const char *segment)
{
    char known[512] = "";
    char shown[TEXT_SHOWN_LENGTH];
    size_t used = 0;
    const struct tree_node *list =
        setting->node && setting->node->kind == TREE_SEQUENCE ? setting->node : NULL;
    for (const struct tree_node *item = list ? list->first_child : NULL; item && used < sizeof known;
         item = item->next) {
        const struct tree_node *name = tree_value(item, "name");
        if (name && name->kind == TREE_SCALAR)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "",
                                     text_shown(name->text, name->length, shown));
    }
    char problem[1024];
    snprintf(problem, sizeof problem, "no item \"%s\"; the list has %zu%s%s",
             text_shown(segment, strlen(segment), shown), list ? tree_count(list) : 0, used > 0 ? ": " : "",
             known);
    refuse(setting, problem);
}

/* Steps into an item of the list reached so far, by number or by name. */
static void follow_item(struct setting *setting, const char *segment)
{
    struct tree_node *list = setting->node;
    const bool is_number =
        segment[0] && segment[strspn(segment, "0123456789")] == '\0' && strlen(segment) < 10;
    size_t index = is_number ? strtoul(segment, NULL, 10) : 0;
    struct tree_node *item = is_number && list ? tree_item(list, index) : NULL;
    if (!is_number && list && list->kind == TREE_SEQUENCE) {
        for (item = list->first_child; item && !tree_is_text(tree_value(item, "name"), segment);
             item = item->next)
            index++;
    }
    if (!item) {
        refuse_item(setting, segment);
        return;
    }
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    lengthen_path(setting, number);
    setting->table = setting->row->items;
    setting->row = schema_is_bare(setting->table) ? &setting->table->rows[0] : NULL;
    setting->node = item;
}

/* Gives the mapping `parent` the key `key` with `value`, which the file lacks. */
static void hang(struct setting *setting, struct tree_node *parent, const char *key, struct tree_node *value)
{
    struct tree_node *key_node = tree_new_node(setting->tree, TREE_SCALAR, key, strlen(key), setting->origin);
    if (key_node && value) {
        tree_append(parent, key_node, value);
        setting->node = value;
    } else {
        setting->complaints->out_of_memory = true;
        setting->refused = true;
    }
}

/* Steps to the key `segment` of the group reached so far. `content` is its value when the path ends here, or
 * NULL. */
static void follow_key(struct setting *setting, const char *segment, struct tree_node *content)
{
    const char *group = setting->row ? setting->row->path : "";
    const struct schema_row *row = schema_find(setting->table, group, segment);
    if (!row) {
        const struct tree_node key = word_node(setting, segment);
        complain_unknown_key(setting->complaints, &key, setting->path, setting->table, group);
        setting->refused = true;
        return;
    }
    struct tree_node *parent = setting->node;
    setting->row = row;
    setting->node = tree_value(parent, segment);
    lengthen_path(setting, segment);
    if (setting->node)
        return;
    if (parent->kind != TREE_MAPPING)
        setting->refused = true; /* the file's own mistake, complained about when it is read */
    else if (content)
        hang(setting, parent, segment, content);
    else if (row->type == TYPE_GROUP)
        hang(setting, parent, segment, tree_new_node(setting->tree, TREE_MAPPING, NULL, 0, setting->origin));
}

/* Follows `path`, which it cuts up, and puts `content` at its end. */
static void put(struct setting *setting, char *path, struct tree_node *content)
{
    char *rest = path;
    while (rest && !setting->refused) {
        const char *segment = strsep(&rest, ".");
        const enum value_type type = setting->row ? setting->row->type : TYPE_GROUP;
        if (type == TYPE_LIST)
            follow_item(setting, segment);
        else if (type == TYPE_GROUP)
            follow_key(setting, segment, rest ? NULL : content);
        else
            refuse(setting, "has no keys below it; set the whole value");
    }
    if (!setting->refused && setting->node != content)
        tree_replace(setting->node, content);
}

/* A path with items in brackets, as --keys prints lists: says how it is written here. */
static void refuse_brackets(struct setting *setting, const char *path)
{
    char dotted[SCHEMA_PATH_LENGTH], shown[TEXT_SHOWN_LENGTH], problem[2 * TEXT_SHOWN_LENGTH];
    size_t used = 0;
    for (const char *c = path; *c && used + 2 < sizeof dotted; c++) {
        if (*c != ']')
            dotted[used++] = *c == '[' ? '.' : *c;
        if (*c == '[' && c[1] == ']')
            dotted[used++] = '0';
    }
    dotted[used] = '\0';
    snprintf(problem, sizeof problem, "an item of a list stands after a dot, the first as 0: %s",
             text_shown(dotted, used, shown));
    refuse(setting, problem);
}

static enum status apply_one(struct setting *setting, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word) {
        refuse(setting, "not of the form KEY=VALUE, such as time.steps=10");
        return STATUS_OK;
    }
    struct tree_node *content = NULL;
    struct tree_problem problem;
    const enum status status = tree_parse(setting->tree, equals + 1, strlen(equals + 1),
                                          setting->origin.setting, &content, &problem);
    if (status == STATUS_USAGE) {
        refuse(setting, problem.text);
        return STATUS_OK;
    }
    TRY(status);
    if (!content)
        content = tree_new_node(setting->tree, TREE_SCALAR, "", 0, setting->origin);
    char *path = strndup(word, (size_t)(equals - word));
    if (!path || !content) {
        free(path);
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    }
    if (strpbrk(path, "[]"))
        refuse_brackets(setting, path);
    else
        put(setting, path, content);
    free(path);
    return STATUS_OK;
}

enum status settings_apply(struct tree *tree, size_t count, struct complaints *complaints)
{
    for (size_t i = 0; i < count; i++) {
        struct setting setting = {.tree = tree,
                                  .complaints = complaints,
                                  .origin = {(int)i, 1, 1},
                                  .table = schema(),
                                  .node = tree->root};
        TRY(apply_one(&setting, complaints->settings[i]));
    }
    return STATUS_OK;
}
