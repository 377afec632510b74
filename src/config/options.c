/* Options: reading a value by its row. */
#include "config/options.h"

#include "base/suggest.h"
#include "base/text.h"
#include "config/config.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { WITHOUT_LETTER = 1000, MOST_ROWS = 24, WORD = 32 };

static bool prints_help = true;

void options_show_help(bool shown)
{
    prints_help = shown;
}

static const struct option_row *find(const struct option_table *table, const char *name)
{
    const struct option_row *row = table->rows;
    while (strcmp(row->name, name) != 0)
        row++;
    return row;
}

static const struct choice *choices_of(const struct option_row *row)
{
    return row->as_in ? schema_find(&config_schema, row->as_in)->choices : row->choices;
}

/* ---- values ---- */

/* One number or word of the option's `text`, as a config would read it. */
static enum status read_scalar(const char *command, const struct option_row *row, const char *word,
                               const char *text, void *target)
{
    static const enum value_type types[] = {
        [OPTION_NUMBER] = TYPE_COUNT32, [OPTION_NUMBER64] = TYPE_COUNT64, [OPTION_REAL] = TYPE_REAL,
        [OPTION_CHOICE] = TYPE_CHOICE,  [OPTION_WORD] = TYPE_CHOICE,      [OPTION_SET] = TYPE_CHOICE,
        [OPTION_LIST] = TYPE_COUNT32,   [OPTION_CELLS] = TYPE_COUNT32};
    const struct schema_row scalar = {
        .type = types[row->kind], .low = row->low, .high = row->high, .choices = choices_of(row)};
    const bool is_part = strcmp(word, text) != 0;
    char why[VALUE_WHY_LENGTH];
    return value_parse(&scalar, word, strlen(word), true, target, why)
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: --%s: %s%s%s", command, row->name, why, is_part ? " in " : "",
                             is_part ? text : "");
}

static enum status read_cells(const char *command, const struct option_row *row, const char *text,
                              uint32_t cells[2])
{
    const char *cross = strchr(text, 'x');
    char first[WORD];
    snprintf(first, sizeof first, "%.*s", cross ? (int)(cross - text) : WORD - 1, text);
    TRY(read_scalar(command, row, first, text, &cells[0]));
    TRY(read_scalar(command, row, cross ? cross + 1 : text, text, &cells[1]));
    const uint64_t count = (uint64_t)cells[0] * cells[1];
    return count <= CONFIG_MAX_CELLS
               ? STATUS_OK
               : status_fail(STATUS_USAGE, "%s: --%s: expected at most %u cells, found %ux%u = %llu", command,
                             row->name, CONFIG_MAX_CELLS, cells[0], cells[1], (unsigned long long)count);
}

/* A word of a set or a list. */
static enum status add_item(const char *command, const struct option_row *row, const char *word,
                            const char *text, void *value)
{
    uint32_t *set = row->kind == OPTION_SET ? value : NULL, item = 0;
    struct option_list *list = value;
    TRY(read_scalar(command, row, word, text, &item));
    bool is_there = set && (*set >> item & 1U) != 0;
    for (uint32_t n = 0; !set && n < list->count; n++)
        is_there = is_there || list->items[n] == item;
    if (row->distinct && is_there)
        return status_fail(STATUS_USAGE, "%s: --%s: %s is given twice", command, row->name, word);
    if (!set && list->count == row->most)
        return status_fail(STATUS_USAGE, "%s: --%s: expected at most %u numbers, found more", command,
                           row->name, row->most);
    if (set)
        *set |= 1U << item;
    else
        list->items[list->count++] = item;
    return STATUS_OK;
}

static enum status read_items(const char *command, const struct option_row *row, const char *text,
                              void *value)
{
    char *copy = strdup(text), *rest = copy;
    enum status status = copy ? STATUS_OK : status_fail(STATUS_FAILED, "%s: no memory", command);
    while (status == STATUS_OK && rest)
        status = add_item(command, row, strsep(&rest, ","), text, value);
    free(copy);
    return status;
}

static enum status read_value(const char *command, const struct option_row *row, const char *text,
                              void *value)
{
    struct option_texts *texts = value;
    int number = 0;
    switch (row->kind) {
    case OPTION_SWITCH:
        *(bool *)value = true;
        return STATUS_OK;
    case OPTION_VALUE:
        *(int *)value = (int)row->low;
        return STATUS_OK;
    case OPTION_ARGUMENT:
        if (*(const char **)value)
            return status_fail(STATUS_USAGE, "%s: expected one %s, found \"%s\" too", command, row->name,
                               text);
        *(const char **)value = text;
        return STATUS_OK;
    case OPTION_TEXT:
        *(const char **)value = text;
        return STATUS_OK;
    case OPTION_TEXTS:
        if (texts->count == OPTION_TEXTS_MOST)
            return status_fail(STATUS_USAGE, "%s: expected at most %d --%s, found more", command,
                               OPTION_TEXTS_MOST, row->name);
        texts->items[texts->count++] = text;
        return STATUS_OK;
    case OPTION_WORD:
        TRY(read_scalar(command, row, text, text, &number));
        *(const char **)value = value_word(choices_of(row), number);
        return STATUS_OK;
    case OPTION_CELLS:
        return read_cells(command, row, text, value);
    case OPTION_SET:
    case OPTION_LIST:
        return read_items(command, row, text, value);
    default:
        return read_scalar(command, row, text, text, value);
    }
}

static bool is_given(const struct common_options *options, size_t n)
{
    return (options->given >> n & 1U) != 0;
}

/* The value of row number n as the command line has it. */
static enum status read_option(const char *command, struct common_options *options, size_t n,
                               const char *text)
{
    const struct option_table *table = options->table;
    const struct option_row *row = &table->rows[n];
    if (row->kind == OPTION_CHOICE && row->distinct && is_given(options, n))
        return status_fail(STATUS_USAGE, "%s: --%s is given twice", command, row->name);
    for (size_t m = 0; m < table->count; m++)
        if (row->kind == OPTION_VALUE && m != n && is_given(options, m) &&
            table->rows[m].offset == row->offset)
            return status_fail(STATUS_USAGE, "%s: --%s does not go with --%s", command, row->name,
                               table->rows[m].name);
    options->given |= UINT64_C(1) << n;
    return read_value(command, row, text, (char *)options + row->offset);
}

/* ---- words of the command line ---- */

/* The option of number n: a row of the table, or --help behind the last one. */
static const struct option_row *option_at(const struct option_table *table, size_t n)
{
    static const struct option_row help = {
        "help", 'h', NULL, OPTION_SWITCH, .group = -1, .help = "Show this help and do nothing else"};
    return n < table->count ? &table->rows[n] : &help;
}

/* The number of the option with that name, or the only one whose name begins so, or of that letter; where
 * there is none, a number behind that of --help. */
static size_t find_option(const struct option_table *table, bool is_long, const char *name, size_t length)
{
    size_t begun = 0, found = 0;
    for (size_t n = 0; n <= table->count; n++) {
        const struct option_row *row = option_at(table, n);
        const bool begins = is_long && strncmp(row->name, name, length) == 0;
        if (row->kind == OPTION_ARGUMENT)
            continue;
        if (is_long ? begins && row->name[length] == '\0' : row->letter == name[0])
            return n;
        begun += begins;
        found = begins ? n : found;
    }
    return begun == 1 ? found : table->count + 1;
}

static enum status refuse_unknown(const char *command, const struct option_table *table, const char *shown)
{
    char names[MOST_ROWS + 1][WORD], what[128];
    const char *known[MOST_ROWS + 1];
    size_t count = 0;
    for (size_t n = 0; n <= table->count; n++) {
        if (option_at(table, n)->kind == OPTION_ARGUMENT)
            continue;
        snprintf(names[count], WORD, "--%s", option_at(table, n)->name);
        known[count] = names[count];
        count++;
    }
    snprintf(what, sizeof what, "%s: option", command);
    return suggest_unknown(what, shown, known, count);
}

static void show_help(const char *command, struct common_options *options)
{
    const struct option_table *table = options->table;
    struct argp_option shown[MOST_ROWS + 2] = {{0}}, *next = shown;
    char help[MOST_ROWS + 1][VALUE_WHY_LENGTH + 64], name[128];
    for (size_t n = 0; n <= table->count; n++) {
        const struct option_row *row = option_at(table, n);
        const bool says_usual = row->usual && (row->kind != OPTION_SET || !row->help);
        char words[VALUE_WHY_LENGTH];
        if (row->kind == OPTION_ARGUMENT)
            continue;
        if (!row->help)
            value_choices(choices_of(row), UINT32_MAX, words);
        snprintf(help[n], sizeof help[n], "%s%s%s%s", row->help ? row->help : words, says_usual ? "; " : "",
                 says_usual ? row->usual : "", says_usual ? " without it" : "");
        *next++ = (struct argp_option){.name = row->name,
                                       .key = row->letter ? row->letter : WITHOUT_LETTER + (int)n,
                                       .arg = row->value,
                                       .doc = help[n],
                                       .group = row->group};
    }
    const struct argp argp = {.options = shown, .args_doc = table->arguments, .doc = table->doc};
    options->is_help_shown = true;
    snprintf(name, sizeof name, "%s", command);
    if (prints_help)
        argp_help(&argp, stdout, ARGP_HELP_LONG | ARGP_HELP_USAGE | ARGP_HELP_DOC, name);
}

/* An option, or letters of several ones, in argv[*next]; a value may be in the word behind it. */
static enum status read_options(struct common_options *options, int argc, char **argv, int *next)
{
    const struct option_table *table = options->table;
    const char *word = argv[*next];
    const bool is_long = word[1] == '-';
    for (const char *name = word + 1 + is_long, *end; *name != '\0'; name = end) {
        const size_t length = is_long ? strcspn(name, "=") : 1;
        const size_t n = find_option(table, is_long, name, length);
        const char letter[] = {'-', *name}, *value = NULL;
        char shown[TEXT_SHOWN_LENGTH];
        end = name + length;
        text_shown(is_long ? word : letter, is_long ? length + 2 : sizeof letter, shown);
        if (n > table->count)
            return refuse_unknown(argv[0], table, shown);
        if (n == table->count) {
            show_help(argv[0], options);
            return STATUS_OK;
        }
        if (table->rows[n].value) {
            value = *end != '\0' ? end + is_long : ++*next < argc ? argv[*next] : NULL;
            end = "";
            if (!value)
                return status_fail(STATUS_USAGE, "%s: option \"%s\" needs a value, %s", argv[0], shown,
                                   table->rows[n].value);
        } else if (is_long && *end != '\0') {
            return status_fail(STATUS_USAGE, "%s: option \"%s\" takes no value", argv[0], shown);
        }
        TRY(read_option(argv[0], options, n, value));
    }
    return STATUS_OK;
}

static enum status read_argument(struct common_options *options, const char *command, const char *text)
{
    for (size_t n = 0; n < options->table->count; n++)
        if (options->table->rows[n].kind == OPTION_ARGUMENT)
            return read_option(command, options, n, text);
    return status_fail(STATUS_USAGE, "%s: unexpected argument \"%s\"", command, text);
}

/* ---- the table ---- */

/* Fills in the defaults, and refuses what would have no effect: an option of words that were left out. */
static enum status apply_defaults(const char *command, struct common_options *options)
{
    const struct option_table *table = options->table;
    const struct option_row *owner = table->owner ? find(table, table->owner) : NULL;
    uint32_t chosen = 0;
    for (size_t n = 0; n < table->count; n++)
        if (table->rows[n].usual && !is_given(options, n))
            TRY(read_value(command, &table->rows[n], table->rows[n].usual,
                           (char *)options + table->rows[n].offset));
    if (owner)
        memcpy(&chosen, (const char *)options + owner->offset, sizeof chosen);
    if (owner && owner->kind == OPTION_CHOICE)
        chosen = 1U << chosen;
    for (size_t n = 0; n < table->count; n++) {
        const struct option_row *row = &table->rows[n];
        char words[VALUE_WHY_LENGTH];
        if (!is_given(options, n) || row->owners == 0 || (row->owners & chosen) != 0)
            continue;
        value_choices(choices_of(owner), row->owners, words);
        return status_fail(STATUS_USAGE, "%s: --%s is of --%s %s alone, which is left out", command,
                           row->name, owner->name, words);
    }
    return STATUS_OK;
}

enum status options_parse(const struct option_table *table, int argc, char **argv,
                          struct common_options *options)
{
    bool takes_options = true;
    options->table = table;
    for (int n = 1; n < argc && !options->is_help_shown; n++) {
        const bool is_option = takes_options && argv[n][0] == '-' && argv[n][1] != '\0';
        if (is_option && strcmp(argv[n], "--") == 0)
            takes_options = false;
        else
            TRY(is_option ? read_options(options, argc, argv, &n) : read_argument(options, argv[0], argv[n]));
    }
    return options->is_help_shown ? STATUS_OK : apply_defaults(argv[0], options);
}

bool options_given(const struct common_options *options, const char *name)
{
    return is_given(options, (size_t)(find(options->table, name) - options->table->rows));
}

const char *options_word(const struct common_options *options, const char *name, int value)
{
    return value_word(choices_of(find(options->table, name)), value);
}
