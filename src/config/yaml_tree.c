/* YAML tree: the nodes, and libyaml's events, which become nodes. */
#include "config/yaml_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct tree_block {
    struct tree_block *next;
    struct tree_node node;
    char text[];
};

struct tree_node *tree_new_node(struct tree *tree, enum tree_kind kind, const char *text, size_t length,
                                struct tree_origin origin)
{
    struct tree_block *block = calloc(1, sizeof *block + length + 1);
    if (!block)
        return NULL;
    block->next = tree->blocks;
    tree->blocks = block;
    if (length > 0)
        memcpy(block->text, text, length);
    block->node = (struct tree_node){
        .kind = kind, .origin = origin, .plain = true, .text = block->text, .length = length};
    return &block->node;
}

void tree_append(struct tree_node *parent, struct tree_node *key, struct tree_node *child)
{
    child->key = key;
    if (parent->last_child)
        parent->last_child->next = child;
    else
        parent->first_child = child;
    parent->last_child = child;
}

bool tree_is_text(const struct tree_node *node, const char *text)
{
    return node && text && node->kind == TREE_SCALAR && node->length == strlen(text) &&
           memcmp(node->text, text, node->length) == 0;
}

struct tree_node *tree_value(const struct tree_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != TREE_MAPPING)
        return NULL;
    for (struct tree_node *child = mapping->first_child; child; child = child->next)
        if (tree_is_text(child->key, key))
            return child;
    return NULL;
}

struct tree_node *tree_child(const struct tree_node *node, const char *segment)
{
    if (!node || node->kind != TREE_SEQUENCE)
        return tree_value(node, segment);
    const bool is_number = segment[0] != '\0' && segment[strspn(segment, "0123456789")] == '\0';
    size_t left = is_number ? strtoul(segment, NULL, 10) : 0;
    for (struct tree_node *child = node->first_child; child; child = child->next)
        if (is_number ? left-- == 0 : tree_is_text(tree_value(child, "name"), segment))
            return child;
    return NULL;
}

size_t tree_count(const struct tree_node *node)
{
    size_t count = 0;
    for (const struct tree_node *child = node->first_child; child; child = child->next)
        count++;
    return count;
}

bool tree_path_lies_in(const char *inner, const char *outer)
{
    const size_t length = strlen(outer);
    return length > 0 && strncmp(inner, outer, length) == 0 && strchr(".[", inner[length]);
}

enum status tree_no_memory(void)
{
    return status_fail(STATUS_FAILED, "out of memory while reading the config");
}

void tree_free(struct tree *tree)
{
    while (tree->blocks) {
        struct tree_block *next = tree->blocks->next;
        free(tree->blocks);
        tree->blocks = next;
    }
    tree->root = NULL;
}

/* ---- parsing ---- */

struct parse {
    struct tree *tree;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    const char *text;
    size_t length;
    int setting;
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
    snprintf(parse->problem->text, TREE_PROBLEM_LENGTH, "%s", text);
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

/* Whether the line at `mark` is indented with a tab. */
static bool has_tab(const struct parse *parse, yaml_mark_t mark)
{
    const char *at = parse->text, *end = parse->text + parse->length;
    for (size_t line = 0; line < mark.line && at < end; at++)
        line += *at == '\n';
    while (at < end && *at == ' ')
        at++;
    return at < end && *at == '\t';
}

static enum status refuse_syntax(struct parse *parse)
{
    const yaml_parser_t *parser = &parse->parser;
    char text[TREE_PROBLEM_LENGTH];
    if (parser->error == YAML_MEMORY_ERROR)
        return tree_no_memory();
    const char *problem = parser->problem ? parser->problem : "unreadable";
    if (parser->error == YAML_READER_ERROR) {
        snprintf(text, sizeof text, "not a text in UTF-8: %s", problem);
        return refuse(parse, origin_of_byte(parse, parser->problem_offset), text);
    }
    if (has_tab(parse, parser->problem_mark))
        snprintf(text, sizeof text, "YAML syntax: a tab; indent with spaces");
    else
        snprintf(text, sizeof text, "YAML syntax: %s%s%s", parser->context ? parser->context : "",
                 parser->context ? ", " : "", problem);
    return refuse(parse, origin_of(parse, parser->problem_mark), text);
}

/* Steps to the next event. */
static enum status advance(struct parse *parse)
{
    yaml_event_t *event = &parse->event;
    yaml_event_delete(event);
    if (!yaml_parser_parse(&parse->parser, event))
        return refuse_syntax(parse);
    const struct tree_origin origin = origin_of(parse, event->start_mark);
    if ((event->type == YAML_SCALAR_EVENT && event->data.scalar.tag) ||
        (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.tag) ||
        (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.tag))
        return refuse(parse, origin, "tags (!...) are not used in a config");
    if (event->type == YAML_ALIAS_EVENT)
        return refuse(parse, origin, "aliases (*...) are not used in a config; write the value again");
    if (event->type == YAML_DOCUMENT_START_EVENT && parse->documents++ > 0)
        return refuse(parse, origin, "expected one document, found a second");
    return STATUS_OK;
}

/* The node that begins with the current event. Steps behind it. */
static enum status read_node(struct parse *parse, int depth, struct tree_node **node)
{
    const yaml_event_t *event = &parse->event;
    const struct tree_origin origin = origin_of(parse, event->start_mark);
    if (event->type == YAML_SCALAR_EVENT) {
        *node = tree_new_node(parse->tree, TREE_SCALAR, (const char *)event->data.scalar.value,
                              event->data.scalar.length, origin);
        if (!*node)
            return tree_no_memory();
        (*node)->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return advance(parse);
    }
    const bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
    if (depth == TREE_MAX_DEPTH)
        return refuse(parse, origin, "nested too deeply for a config");
    *node = tree_new_node(parse->tree, is_mapping ? TREE_MAPPING : TREE_SEQUENCE, NULL, 0, origin);
    if (!*node)
        return tree_no_memory();
    TRY(advance(parse));
    while (event->type != YAML_SEQUENCE_END_EVENT && event->type != YAML_MAPPING_END_EVENT) {
        struct tree_node *key = NULL, *value = NULL;
        if (is_mapping && event->type != YAML_SCALAR_EVENT)
            return refuse(parse, origin_of(parse, event->start_mark),
                          "expected a key, found a list or mapping");
        if (is_mapping)
            TRY(read_node(parse, depth + 1, &key));
        TRY(read_node(parse, depth + 1, &value));
        tree_append(*node, key, value);
    }
    return advance(parse);
}

enum status tree_parse(struct tree *tree, const char *text, size_t length, int setting,
                       struct tree_node **root, struct tree_problem *problem)
{
    /* Some editors begin with a byte order mark; libyaml then sees no key. */
    const size_t skipped = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct parse parse = {.tree = tree,
                          .text = text + skipped,
                          .length = length - skipped,
                          .setting = setting,
                          .problem = problem};
    if (!yaml_parser_initialize(&parse.parser))
        return tree_no_memory();
    yaml_parser_set_encoding(&parse.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parse.parser, (const unsigned char *)parse.text, parse.length);
    struct tree_node *found = NULL;
    enum status status = advance(&parse);
    while (status == STATUS_OK && parse.event.type != YAML_STREAM_END_EVENT) {
        const yaml_event_type_t type = parse.event.type;
        const bool is_node = type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                             type == YAML_MAPPING_START_EVENT;
        status = is_node ? read_node(&parse, 0, &found) : advance(&parse);
    }
    yaml_event_delete(&parse.event);
    yaml_parser_delete(&parse.parser);
    if (status == STATUS_OK)
        *root = found;
    return status;
}
