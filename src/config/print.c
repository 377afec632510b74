/* Print: walks of the schema that write a config as YAML, differences of two, and the schema itself. */
#include "base/text.h"
#include "config/config_reader.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 56, INDENT = 2, MOST_COLUMN_BYTES = 160 };

/* ---- values ---- */

/* Without quotes where no YAML rule can change the meaning. */
static void print_text(const char *text, FILE *stream)
{
    if (isalpha((unsigned char)text[0]) && text[strspn(text, NAME_BYTES "./-")] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (size_t left = strlen(text), bytes = 1; left > 0; text += bytes, left -= bytes) {
        uint32_t code;
        bytes = text_character(text, left, &code);
        if (bytes == 0) /* not UTF-8: no reader lets it in */
            break;
        if (text_is_hidden(code))
            fprintf(stream, "\\u%04" PRIX32, code);
        else
            fprintf(stream, "%s%.*s", *text == '"' || *text == '\\' ? "\\" : "", (int)bytes, text);
    }
    fputc('"', stream);
}

static void print_scalar(const struct schema_row *row, const void *source, FILE *stream)
{
    const double value = !row->choices            ? 0
                         : row->type == TYPE_REAL ? *(const double *)source
                                                  : *(const int *)source;
    const char *word = value_word(row->choices, value);
    if (word)
        fputs(word, stream);
    else if (row->type == TYPE_BOOL)
        fputs(*(const bool *)source ? "true" : "false", stream);
    else if (row->type == TYPE_COUNT32)
        fprintf(stream, "%" PRIu32, *(const uint32_t *)source);
    else if (row->type == TYPE_COUNT64)
        fprintf(stream, "%" PRIu64, *(const uint64_t *)source);
    else if (row->type == TYPE_INTEGER)
        fprintf(stream, "%" PRId32, *(const int32_t *)source);
    else if (row->type == TYPE_REAL)
        fputs(text_number(*(const double *)source, (char[TEXT_NUMBER_LENGTH]){0}), stream);
    else
        print_text(source, stream);
}

/* Whether a number of a list is not 0 but for the last one. */
static bool any_before_last(const struct schema_row *row, const char *source)
{
    bool any = false;
    for (uint32_t n = 0; n + 1 < row->length[0]; n++)
        any |= ((const double *)(const void *)source)[n] != 0;
    return any;
}

/* One value, a list of them, or a list of lists. Returns the place behind it. */
static const char *print_level(const struct schema_row *row, unsigned level, const char *source, FILE *stream)
{
    const uint32_t length = level < 2 ? row->length[level] : 0;
    if (length == 0) {
        print_scalar(row, source, stream);
        return source + value_size(row);
    }
    if (level == 0 && row->last_alone && !any_before_last(row, source)) {
        source += (length - 1) * value_size(row);
        return print_level(row, 1, source, stream);
    }
    for (uint32_t i = 0; i < length; i++) {
        fputs(i > 0 ? ", " : "[", stream);
        source = print_level(row, level + 1, source, stream);
    }
    fputc(']', stream);
    return source;
}

void value_print(const struct schema_row *row, const void *base, FILE *stream)
{
    if (row->type != TYPE_LIST) {
        const struct schema_row sized = schema_sized(row, base);
        print_level(&sized, 0, (const char *)base + row->offset, stream);
        return;
    }
    const char *source = schema_items(row, base);
    fputc('[', stream);
    for (uint32_t i = 0; i < schema_item_count(row, base); i++, source += row->items->size) {
        fputs(i > 0 ? ", " : "", stream);
        print_level(&row->items->rows[0], 0, source, stream);
    }
    fputc(']', stream);
}

/* ---- the config as YAML ---- */

static void echo_constants(const struct config *config, const char *help, FILE *stream)
{
    if (config->constant_count > 0)
        fprintf(stream, "%-*s # %s\n", COMMENT_COLUMN, "constants:", help);
    for (uint32_t n = 0; n < config->constant_count; n++) {
        char digits[TEXT_NUMBER_LENGTH];
        fprintf(stream, "%*s%s: %s\n", INDENT, "", config->constants[n].name,
                text_number(config->constants[n].value, digits));
    }
}

/* Writes the rows of the struct at `base`, the first one behind a dash where it is the item of a list.
 * Comments stand at the first item only. `memory` tells its place. */
static void echo(const struct schema_table *table, const char *base, int indent, bool is_item, bool comments,
                 FILE *memory)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i];
        const char *key = row->path;
        int depth = indent;
        if (row->type == TYPE_CONSTANTS)
            echo_constants((const struct config *)(const void *)base, row->help, memory);
        if (row->type == TYPE_CONSTANTS || !schema_belongs(row, base))
            continue;
        for (const char *dot; (dot = strchr(key, '.')); key = dot + 1)
            depth += INDENT;
        const uint32_t count = row->type == TYPE_LIST ? schema_item_count(row, base) : 0;
        const long begin = ftell(memory);
        fprintf(memory, "%*s%s:", depth, is_item && i == 0 ? "- " : "", key);
        if (schema_is_line(row) || (row->type == TYPE_LIST && count == 0)) {
            fputc(' ', memory);
            value_print(row, base, memory);
        }
        const int left = COMMENT_COLUMN - (int)(ftell(memory) - begin);
        if (comments)
            fprintf(memory, row->unit ? "%*s # [%s] " : "%*s # ", left > 0 ? left : 0, "", row->unit);
        fprintf(memory, "%s\n", comments ? row->help : "");
        for (uint32_t n = 0; n < count && !schema_is_line(row); n++)
            echo(row->items, (const char *)schema_items(row, base) + n * row->items->size, depth + 2 * INDENT,
                 true, comments && n == 0, memory);
    }
}

char *config_as_text(const struct config *config, size_t *length)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, length);
    if (memory) {
        fputs("# RadixPIC: every key of this run, resolved. Comments: [unit] meaning\n", memory);
        echo(&config_schema, (const char *)config, 0, false, true, memory);
        if (fclose(memory) == 0)
            return text;
    }
    free(text);
    (void)status_fail(STATUS_FAILED, "out of memory while writing the resolved config");
    return NULL;
}

enum status config_echo(const struct config *config, FILE *stream)
{
    size_t length = 0;
    char *text = config_as_text(config, &length);
    if (!text)
        return STATUS_FAILED;
    const bool is_written = fwrite(text, 1, length, stream) == length && fflush(stream) == 0;
    free(text);
    return is_written ? STATUS_OK
                      : status_fail(STATUS_FAILED, "cannot write the resolved config: %s", strerror(errno));
}

/* ---- what differs between two configs ---- */

struct comparison {
    const char *const *names, *const *but;
    FILE *stream;
    size_t count;
};

/* Whether `path` is one of the keys passed over, or lies below one. */
static bool is_passed_over(const struct comparison *comparison, const char *path)
{
    const char *const *key = comparison->but;
    while (*key && !tree_path_lies_in(path, *key))
        key++;
    return *key != NULL;
}

/* The value of a row, which the caller frees, or how many items it has; NULL when memory runs out. */
static char *make_text(const struct schema_row *row, const char *base)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return NULL;
    if (schema_is_line(row))
        value_print(row, base, memory);
    else
        fprintf(memory, "%u", schema_item_count(row, base));
    fclose(memory);
    return text;
}

/* Two values with the same text are the same to the bit. */
static void compare_row(struct comparison *comparison, const char *prefix, const struct schema_row *row,
                        const char *const bases[2])
{
    char *const left = make_text(row, bases[0]), *const right = make_text(row, bases[1]);
    if (!left || !right || strcmp(left, right) != 0) {
        fprintf(comparison->stream, "%s%s: %s has %s%s, %s %s\n", prefix, row->path, comparison->names[0],
                left ? left : "?", schema_is_line(row) ? "" : " of them", comparison->names[1],
                right ? right : "?");
        comparison->count++;
    }
    free(left);
    free(right);
}

/* Compares two structs that `table` describes; `prefix` ("" or "species.electrons.") goes before its keys. */
static void compare(struct comparison *comparison, const struct schema_table *table,
                    const char *const bases[2], const char *prefix)
{
    for (size_t n = 0; n < table->count; n++) {
        const struct schema_row *row = &table->rows[n];
        if (row->type <= TYPE_CONSTANTS || (!prefix[0] && is_passed_over(comparison, row->path)) ||
            !schema_belongs(row, bases[0]) || !schema_belongs(row, bases[1]))
            continue;
        compare_row(comparison, prefix, row, bases);
        if (schema_is_line(row))
            continue;
        const struct schema_row *name = schema_find(row->items, "name");
        for (uint32_t i = 0; i < schema_item_count(row, bases[0]) && i < schema_item_count(row, bases[1]);
             i++) {
            const size_t begin = i * row->items->size;
            const char *const items[2] = {(const char *)schema_items(row, bases[0]) + begin,
                                          (const char *)schema_items(row, bases[1]) + begin};
            char inner[2 * TREE_PATH_LENGTH];
            snprintf(inner, sizeof inner, "%s%s.%u.", prefix, row->path, i);
            if (name && strcmp(items[0] + name->offset, items[1] + name->offset) == 0)
                snprintf(inner, sizeof inner, "%s%s.%s.", prefix, row->path, items[0] + name->offset);
            compare(comparison, row->items, items, inner);
        }
    }
}

enum status config_require_same(const struct config *const configs[2], const char *const names[2],
                                const char *const *but, const char *rule)
{
    char *lines = NULL;
    size_t length = 0;
    struct comparison comparison = {names, but, open_memstream(&lines, &length), 0};
    if (!comparison.stream)
        return status_fail(STATUS_FAILED, "no memory to compare two configs");
    compare(&comparison, &config_schema,
            (const char *const[]){(const char *)configs[0], (const char *)configs[1]}, "");
    fprintf(comparison.stream, "%s %s", rule, comparison.count > 1 ? "these keys" : "this key");
    fclose(comparison.stream);
    const enum status status =
        comparison.count > 0 ? status_fail_lines(STATUS_USAGE, "%s", lines) : STATUS_OK;
    free(lines);
    return status;
}

/* ---- the schema as a table ---- */

static const char text_format[] = "%-42s %-18s %-15s %-58s %-13s %s\n";

/* The words of a value's type: "2 or 3 numbers". */
static void print_type(const struct schema_row *row, char type[MOST_COLUMN_BYTES])
{
    const uint32_t *length = row->length;
    const char *before = row->length_at ? "2 or " : row->last_alone ? "1 or " : "";
    if (length[1] > 0)
        snprintf(type, MOST_COLUMN_BYTES, "%s%u x %u %ss", before, length[0], length[1], value_type(row));
    else if (length[0] > 0)
        snprintf(type, MOST_COLUMN_BYTES, "%s%u %ss", before, length[0], value_type(row));
    else
        snprintf(type, MOST_COLUMN_BYTES, "%s", value_type(row));
}

static bool is_bare_list(const struct schema_row *row)
{
    return row->type == TYPE_LIST && schema_is_bare(row->items);
}

/* What the page says of a value: the type and the bounds of numbers, the choices of words. The page's head
 * has the bounds of formulas, names and texts. */
static void print_allowed(const struct schema_row *row, const char *type, FILE *stream)
{
    char words[VALUE_WHY_LENGTH] = "";
    switch (row->type) {
    case TYPE_BOOL:
    case TYPE_CHOICE:
    case TYPE_LIST:
        value_allowed(row, words);
        break;
    case TYPE_COUNT32:
    case TYPE_COUNT64:
    case TYPE_INTEGER:
    case TYPE_REAL:
        fputs(type, stream);
        value_range(row, words);
        break;
    default:
        fputs(type, stream);
    }
    fputs(words, stream);
}

/* A row of the page. A list of values without keys has what they may be in its own row. */
static void print_markdown(const struct schema_row *row, const char *key, const char *type, const char *kinds,
                           FILE *stream)
{
    const struct schema_row *const item = is_bare_list(row) ? row->items->rows : NULL;
    fprintf(stream, "`%s` | %s | ", key, row->fallback ? row->fallback : "required");
    print_allowed(row, type, stream);
    if (item) {
        char item_type[MOST_COLUMN_BYTES];
        print_type(item, item_type);
        fputs(": ", stream);
        print_allowed(item, item_type, stream);
    }
    if (row->unit)
        fprintf(stream, " [%s]", row->unit);
    fprintf(stream, "%s | %s%s%s\n", kinds, row->help, item ? "; " : "", item ? item->help : "");
}

/* The kinds of its group that a row belongs to: " (kind cold or file)", or nothing. */
static void print_kinds(const struct schema_row *row, char words[VALUE_WHY_LENGTH])
{
    const struct schema_row *const kind_row = schema_kind_row(row);
    char kinds[VALUE_WHY_LENGTH];
    words[0] = '\0';
    if (!kind_row)
        return;
    value_choices(kind_row->choices, row->kinds, kinds);
    snprintf(words, VALUE_WHY_LENGTH, " (%s %.*s)", strrchr(kind_row->path, '.') + 1, VALUE_WHY_LENGTH / 2,
             kinds);
}

/* Of `wanted` and what lies below it, or of all if NULL. Returns how many rows were printed. */
static size_t describe(const struct schema_table *table, const char *prefix, const char *wanted,
                       enum describe_form form, FILE *stream)
{
    size_t printed = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct schema_row *row = &table->rows[i];
        char key[MOST_COLUMN_BYTES], type[MOST_COLUMN_BYTES];
        char allowed[2 * VALUE_WHY_LENGTH], kinds[VALUE_WHY_LENGTH];
        if (row->type == TYPE_GROUP)
            continue;
        snprintf(key, sizeof key, "%s%s", prefix, row->path);
        print_type(row, type);
        value_allowed(row, allowed);
        print_kinds(row, kinds);
        if (!wanted || wanted[0] == '\0' || tree_path_lies_in(key, wanted)) {
            printed++;
            if (form == DESCRIBE_MARKDOWN)
                print_markdown(row, key, type, kinds, stream);
            else
                fprintf(stream, text_format, key, type, row->fallback ? row->fallback : "required",
                        strcat(allowed, kinds), row->unit ? row->unit : "-", row->help);
        }
        if (row->type == TYPE_LIST && !(form == DESCRIBE_MARKDOWN && is_bare_list(row))) {
            char items[MOST_COLUMN_BYTES + 4];
            snprintf(items, sizeof items, "%s[]%s", key, schema_is_bare(row->items) ? "" : ".");
            printed += describe(row->items, items, wanted, form, stream);
        }
    }
    return printed;
}

static const char page_begin[] =
    "# The keys of a config\n\n"
    "`radixpic check --keys --markdown` prints this page. `species[].mass` is the key `mass` of any\n"
    "item of the list `species`. A count is a whole number. Brackets have the unit of a value. A text has\n"
    "at most 1023 bytes, a formula 511, and a name 63 letters, digits and _, the first no digit.\n\n"
    "A group with a key `kind` may be written as one word, its kind: `particles: none`. A key that has\n"
    "the name of a kind chooses this kind: `particles: {every_nth: 10}`.\n\n"
    "A number may be a formula of `constants` and the box `lx`, `ly`: `2*pi/lx`. A formula of the place has\n"
    "`x`, `y` too, one of velocities `u`, `v`, `w`, one in `fields.external` the time `t`. Known are `pi`, "
    "`e`,\n"
    "`+ - * / ^`, `< <= > >= == != && || ?:` and the functions of muParser: `sin`, `cos`, `exp`, `ln`,\n"
    "`log10`, `sqrt`, `abs`, `min`, `max`, ...\n\n"
    "key | default | value | meaning\n---|---|---|---\n";

enum status config_describe(enum describe_form form, const char *wanted, FILE *stream)
{
    if (form == DESCRIBE_MARKDOWN)
        fputs(page_begin, stream);
    else
        fprintf(stream, text_format, "key", "type", "default", "allowed", "unit", "meaning");
    if (describe(&config_schema, "", wanted, form, stream) > 0)
        return STATUS_OK;
    return status_fail(STATUS_USAGE, "no key is \"%s\" or lies below it; check --keys lists all", wanted);
}
