/* YAML tree: libyaml's events become nodes. */
#include "config/yaml_tree.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* One parse: the open lists and mappings, outermost first. */
struct parse {
    struct tree *tree;
    yaml_parser_t parser;
    const char *text;
    size_t length;
    int setting;
    struct tree_node *open[TREE_MAX_DEPTH];
    struct tree_node *key; /* of the innermost mapping: read, its value still to come */
    size_t depth;
    struct tree_node *root;
    size_t documents;
    struct tree_problem *problem;
};

static struct tree_origin origin_of(const struct parse *parse, yaml_mark_t mark)
{
    return (struct tree_origin){parse->setting, mark.line + 1, mark.column + 1};
}

static enum status refuse(struct parse *parse, struct tree_origin origin, const char *text)
{
    parse->problem->origin = origin;
    snprintf(parse->problem->text, sizeof parse->problem->text, "%s", text);
    return STATUS_USAGE;
}

/* Line and column of a byte: libyaml gives no mark where the bytes themselves are wrong. */
static struct tree_origin origin_of_byte(const struct parse *parse, size_t offset)
{
    struct tree_origin origin = {parse->setting, 1, 1};
    for (size_t i = 0; i < offset && i < parse->length; i++) {
        if (parse->text[i] == '\n') {
            origin.line++;
            origin.column = 1;
        } else if (((unsigned char)parse->text[i] & 0xC0) != 0x80) {
            origin.column++;
        }
    }
    return origin;
}

/* Whether the character at `mark` is a tab. */
static bool is_tab(const struct parse *parse, yaml_mark_t mark)
{
    const char *at = parse->text;
    const char *end = parse->text + parse->length;
    for (size_t line = 0; at && line < mark.line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    for (size_t column = 0; at && at < end && column < mark.column; column++)
        do
            at++;
        while (at < end && ((unsigned char)*at & 0xC0) == 0x80);
    return at && at < end && *at == '\t';
}

static enum status refuse_syntax(struct parse *parse)
{
    const yaml_parser_t *parser = &parse->parser;
    char text[TREE_PROBLEM_LENGTH];
    if (parser->error == YAML_MEMORY_ERROR)
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    const char *problem = parser->problem ? parser->problem : "unreadable";
    if (parser->error == YAML_READER_ERROR) {
        snprintf(text, sizeof text, "not a text in UTF-8: %s", problem);
        return refuse(parse, origin_of_byte(parse, parser->problem_offset), text);
    }
    if (is_tab(parse, parser->problem_mark))
        snprintf(text, sizeof text, "YAML syntax: a tab; indent with spaces");
    else
        snprintf(text, sizeof text, "YAML syntax: %s%s%s", parser->context ? parser->context : "",
                 parser->context ? ", " : "", problem);
    return refuse(parse, origin_of(parse, parser->problem_mark), text);
}

/* Puts a finished or just opened node where it belongs: the root, a key, the value of a key, an item. */
static enum status place(struct parse *parse, struct tree_node *node)
{
    if (parse->depth == 0) {
        parse->root = node;
        return STATUS_OK;
    }
    struct tree_node *parent = parse->open[parse->depth - 1];
    if (parent->kind == TREE_MAPPING && !parse->key) {
        if (node->kind != TREE_SCALAR)
            return refuse(parse, node->origin, "a list or mapping stands where a key is expected");
        parse->key = node;
        return STATUS_OK;
    }
    tree_append(parent, parse->key, node);
    parse->key = NULL;
    return STATUS_OK;
}

static enum status open_node(struct parse *parse, const yaml_event_t *event, enum tree_kind kind)
{
    const struct tree_origin origin = origin_of(parse, event->start_mark);
    if (parse->depth == TREE_MAX_DEPTH)
        return refuse(parse, origin, "nested too deeply for a config");
    struct tree_node *node = tree_new_node(parse->tree, kind, NULL, 0, origin);
    if (!node)
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    TRY(place(parse, node));
    parse->open[parse->depth++] = node;
    return STATUS_OK;
}

static enum status add_scalar(struct parse *parse, const yaml_event_t *event)
{
    struct tree_node *node = tree_new_node(parse->tree, TREE_SCALAR, (const char *)event->data.scalar.value,
                                           event->data.scalar.length, origin_of(parse, event->start_mark));
    if (!node)
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return place(parse, node);
}

static bool has_tag(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag != NULL;
    default:
        return false;
    }
}

static enum status take(struct parse *parse, const yaml_event_t *event)
{
    const struct tree_origin origin = origin_of(parse, event->start_mark);
    if (has_tag(event))
        return refuse(parse, origin, "tags (!...) are not used in a config");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (parse->documents++ > 0)
            return refuse(parse, origin, "a second document; a config is one");
        return STATUS_OK;
    case YAML_ALIAS_EVENT:
        return refuse(parse, origin, "aliases (*...) are not used in a config; write the value again");
    case YAML_SCALAR_EVENT:
        return add_scalar(parse, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(parse, event, TREE_SEQUENCE);
    case YAML_MAPPING_START_EVENT:
        return open_node(parse, event, TREE_MAPPING);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        parse->depth--;
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

static enum status take_all(struct parse *parse)
{
    for (bool done = false; !done;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parse->parser, &event))
            return refuse_syntax(parse);
        const enum status status = take(parse, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status tree_parse(struct tree *tree, const char *text, size_t length, int setting,
                       struct tree_node **root, struct tree_problem *problem)
{
    static const char byte_order_mark[] =
        "\xef\xbb\xbf"; /* some editors begin with it; libyaml then sees no key */
    const size_t skipped = length >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? 3 : 0;
    struct parse parse = {.tree = tree,
                          .text = text + skipped,
                          .length = length - skipped,
                          .setting = setting,
                          .problem = problem};
    if (!yaml_parser_initialize(&parse.parser))
        return status_fail(STATUS_FAILED, "out of memory while reading the config");
    yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parse.parser, (const unsigned char *)parse.text, parse.length);
    const enum status status = take_all(&parse);
    yaml_parser_delete(&parse.parser);
    if (status == STATUS_OK)
        *root = parse.root;
    return status;
}
