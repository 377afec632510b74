/* Options: reading a value by its row. */
#include "config/options.h"

#include "base/arguments.h"
#include "config/config.h"
#include "config/schema.h"

#include <stdlib.h>
#include <string.h>

enum { HELP = 'h', WITHOUT_LETTER = 1000, MOST_ROWS = 24, WORD = 32 };

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

static const char *word_of(const struct option_row *row, int value)
{
    const struct choice *choice = choices_of(row);
    while (choice->word && choice->value != value)
        choice++;
    return choice->word;
}

/* ---- values ---- */

/* One number or word of the option's `text`, as a config would read it. */
static error_t read_scalar(const struct argp_state *state, const struct option_row *row, const char *word,
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
               ? 0
               : arguments_refuse(state, "--%s: %s%s%s", row->name, why, is_part ? " in " : "",
                                  is_part ? text : "");
}

static error_t read_cells(const struct argp_state *state, const struct option_row *row, const char *text,
                          uint32_t cells[2])
{
    const char *cross = strchr(text, 'x');
    char first[WORD];
    snprintf(first, sizeof first, "%.*s", cross ? (int)(cross - text) : WORD - 1, text);
    error_t error = read_scalar(state, row, first, text, &cells[0]);
    if (error == 0)
        error = read_scalar(state, row, cross ? cross + 1 : text, text, &cells[1]);
    const uint64_t count = (uint64_t)cells[0] * cells[1];
    return error != 0 || count <= CONFIG_MAX_CELLS
               ? error
               : arguments_refuse(state, "--%s: expected at most %u cells, found %ux%u = %llu", row->name,
                                  CONFIG_MAX_CELLS, cells[0], cells[1], (unsigned long long)count);
}

/* A word of a set or a list. */
static error_t add_item(const struct argp_state *state, const struct option_row *row, const char *word,
                        const char *text, void *value)
{
    uint32_t *set = row->kind == OPTION_SET ? value : NULL, item = 0;
    struct option_list *list = value;
    const error_t error = read_scalar(state, row, word, text, &item);
    if (error != 0)
        return error;
    bool is_there = set && (*set >> item & 1U) != 0;
    for (uint32_t n = 0; !set && n < list->count; n++)
        is_there = is_there || list->items[n] == item;
    if (row->distinct && is_there)
        return arguments_refuse(state, "--%s: %s is given twice", row->name, word);
    if (!set && list->count == row->most)
        return arguments_refuse(state, "--%s: expected at most %u numbers, found more", row->name, row->most);
    if (set)
        *set |= 1U << item;
    else
        list->items[list->count++] = item;
    return 0;
}

static error_t read_items(const struct argp_state *state, const struct option_row *row, const char *text,
                          void *value)
{
    char *copy = strdup(text), *rest = copy;
    error_t error = copy ? 0 : arguments_refuse(state, "--%s: no memory for its words", row->name);
    while (error == 0 && rest)
        error = add_item(state, row, strsep(&rest, ","), text, value);
    free(copy);
    return error;
}

static error_t read_value(const struct argp_state *state, const struct option_row *row, const char *text,
                          void *value)
{
    struct option_texts *texts = value;
    int number = 0;
    error_t error = 0;
    switch (row->kind) {
    case OPTION_SWITCH:
        *(bool *)value = true;
        return 0;
    case OPTION_VALUE:
        *(int *)value = (int)row->low;
        return 0;
    case OPTION_ARGUMENT:
        if (*(const char **)value)
            return arguments_refuse(state, "expected one %s, found \"%s\" too", row->name, text);
        *(const char **)value = text;
        return 0;
    case OPTION_TEXT:
        *(const char **)value = text;
        return 0;
    case OPTION_TEXTS:
        if (texts->count == OPTION_TEXTS_MOST)
            return arguments_refuse(state, "expected at most %d --%s, found more", OPTION_TEXTS_MOST,
                                    row->name);
        texts->items[texts->count++] = text;
        return 0;
    case OPTION_WORD:
        error = read_scalar(state, row, text, text, &number);
        *(const char **)value = error == 0 ? word_of(row, number) : NULL;
        return error;
    case OPTION_CELLS:
        return read_cells(state, row, text, value);
    case OPTION_SET:
    case OPTION_LIST:
        return read_items(state, row, text, value);
    default:
        return read_scalar(state, row, text, text, value);
    }
}

/* ---- the table ---- */

static int key_of(const struct option_table *table, size_t n)
{
    return table->rows[n].letter ? table->rows[n].letter : WITHOUT_LETTER + (int)n;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct common_options *options = state->input;
    const struct option_table *table = options->table;
    if (key == HELP) {
        options->is_help_shown = true;
        arguments_help(state);
        return 0;
    }
    for (size_t n = 0; n < table->count; n++) {
        const struct option_row *row = &table->rows[n];
        if (key != (row->kind == OPTION_ARGUMENT ? ARGP_KEY_ARG : key_of(table, n)))
            continue;
        if (row->kind == OPTION_CHOICE && row->distinct && (options->given >> n & 1U) != 0)
            return arguments_refuse(state, "--%s is given twice", row->name);
        for (size_t m = 0; m < table->count; m++)
            if (row->kind == OPTION_VALUE && m != n && (options->given >> m & 1U) != 0 &&
                table->rows[m].offset == row->offset)
                return arguments_refuse(state, "--%s does not go with --%s", row->name, table->rows[m].name);
        options->given |= UINT64_C(1) << n;
        return read_value(state, row, argument, (char *)options + row->offset);
    }
    return ARGP_ERR_UNKNOWN;
}

/* Fills in the defaults, and refuses what would have no effect: an option of words that were left out. */
static enum status settle(const char *name, struct common_options *options)
{
    const struct option_table *table = options->table;
    const struct argp_state state = {.name = "default"};
    const struct option_row *owner = table->owner ? find(table, table->owner) : NULL;
    uint32_t chosen = 0;
    for (size_t n = 0; n < table->count; n++)
        if (table->rows[n].usual && (options->given >> n & 1U) == 0 &&
            read_value(&state, &table->rows[n], table->rows[n].usual,
                       (char *)options + table->rows[n].offset) != 0)
            return STATUS_USAGE;
    if (owner)
        memcpy(&chosen, (const char *)options + owner->offset, sizeof chosen);
    if (owner && owner->kind == OPTION_CHOICE)
        chosen = 1U << chosen;
    for (size_t n = 0; n < table->count; n++) {
        const struct option_row *row = &table->rows[n];
        char words[VALUE_WHY_LENGTH];
        if ((options->given >> n & 1U) == 0 || row->owners == 0 || (row->owners & chosen) != 0)
            continue;
        value_choices(choices_of(owner), row->owners, words);
        return status_fail(STATUS_USAGE, "%s: --%s is of --%s %s alone, which is left out", name, row->name,
                           owner->name, words);
    }
    return STATUS_OK;
}

enum status options_parse(const struct option_table *table, int argc, char **argv,
                          struct common_options *options)
{
    struct argp_option shown[MOST_ROWS + 2] = {{0}}, *next = shown;
    char help[MOST_ROWS][VALUE_WHY_LENGTH + 64];
    for (size_t n = 0; n < table->count && n < MOST_ROWS; n++) {
        const struct option_row *row = &table->rows[n];
        const bool says_usual = row->usual && (row->kind != OPTION_SET || !row->help);
        char words[VALUE_WHY_LENGTH];
        if (row->kind == OPTION_ARGUMENT)
            continue;
        if (!row->help)
            value_choices(choices_of(row), UINT32_MAX, words);
        snprintf(help[n], sizeof help[n], "%s%s%s%s", row->help ? row->help : words, says_usual ? "; " : "",
                 says_usual ? row->usual : "", says_usual ? " without it" : "");
        *next++ = (struct argp_option){.name = row->name,
                                       .key = key_of(table, n),
                                       .arg = row->value,
                                       .doc = help[n],
                                       .group = row->group};
    }
    *next = (struct argp_option){"help", HELP, NULL, 0, "Show this help and do nothing else", -1};
    const struct argp argp = {
        .options = shown, .parser = parse, .args_doc = table->arguments, .doc = table->doc};
    options->table = table;
    TRY(arguments_parse(&argp, argc, argv, options));
    return options->is_help_shown ? STATUS_OK : settle(argv[0], options);
}

bool options_given(const struct common_options *options, const char *name)
{
    return (options->given >> (find(options->table, name) - options->table->rows) & 1U) != 0;
}

const char *options_word(const struct common_options *options, const char *name, int value)
{
    return word_of(find(options->table, name), value);
}
