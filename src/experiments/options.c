/* Options: reading a value by its row. */
#include "experiments/options.h"

#include "base/arguments.h"
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

enum { WITHOUT_LETTER = 1000, MOST_ROWS = 24, WORD = 32, NAME = 40 };

struct reader {
    const struct option_table *table;
    void *values;
    uint64_t given;
};

static const struct option_row *find(const struct option_table *table, const char *name)
{
    const struct option_row *row = table->rows;
    while (strcmp(row->name, name) != 0)
        row++;
    return row;
}

static const struct choice *choices_of(const struct option_row *row)
{
    const struct schema_row *rows = schema()->rows;
    for (size_t n = 0; row->as_in && n < schema()->count; n++)
        if (strcmp(rows[n].path, row->as_in) == 0)
            return rows[n].choices;
    return row->choices;
}

/* ---- values ---- */

/* The words of the values in the bit set `values`, with `between` between them. */
static void list_words(const struct choice *choices, uint32_t values, const char *between, size_t size,
                       char *text)
{
    size_t length = 0;
    text[0] = '\0';
    for (; choices->word; choices++)
        if ((values >> choices->value & 1U) != 0 && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", length ? between : "", choices->word);
}

static const struct choice *find_word(const struct choice *choices, const char *word)
{
    for (; choices && choices->word; choices++)
        if (strcmp(choices->word, word) == 0)
            return choices;
    return NULL;
}

static error_t read_choice(const struct argp_state *state, const struct option_row *row, const char *text,
                           const struct choice **choice)
{
    char known[256];
    *choice = find_word(choices_of(row), text);
    if (*choice)
        return 0;
    list_words(choices_of(row), UINT32_MAX, ", ", sizeof known, known);
    return arguments_refuse(state, "--%s: '%s' is none of %s", row->name, text, known);
}

static error_t read_real(const struct argp_state *state, const struct option_row *row, const char *text,
                         double *real)
{
    char *end = NULL;
    *real = strtod(text, &end);
    return end != text && *end == '\0' && *real >= row->low && *real <= row->high
               ? 0
               : arguments_refuse(state, "--%s: '%s' is not a number from %g to %g", row->name, text,
                                  row->low, row->high);
}

static error_t read_number(const struct argp_state *state, const struct option_row *row, const char *text,
                           uint64_t *number)
{
    char name[NAME];
    snprintf(name, sizeof name, "--%s", row->name);
    return arguments_number(state, name, text, (uint64_t)row->low, (uint64_t)row->high, number);
}

static error_t read_number32(const struct argp_state *state, const struct option_row *row, const char *text,
                             uint32_t *number)
{
    uint64_t value = *number;
    const error_t error = read_number(state, row, text, &value);
    *number = (uint32_t)value;
    return error;
}

static error_t read_cells(const struct argp_state *state, const struct option_row *row, const char *text,
                          uint32_t cells[2])
{
    const char *cross = strchr(text, 'x');
    char first[WORD];
    snprintf(first, sizeof first, "%.*s", cross ? (int)(cross - text) : WORD - 1, text);
    error_t error = read_number32(state, row, first, &cells[0]);
    cells[1] = cells[0];
    if (error == 0 && cross)
        error = read_number32(state, row, cross + 1, &cells[1]);
    const uint64_t count = (uint64_t)cells[0] * cells[1];
    if (error == 0 && count > CONFIG_MAX_CELLS)
        error = arguments_refuse(state, "--%s: %ux%u are %llu cells, more than %u", row->name, cells[0],
                                 cells[1], (unsigned long long)count, CONFIG_MAX_CELLS);
    return error;
}

static error_t add_item(const struct argp_state *state, const struct option_row *row, const char *word,
                        struct option_list *list)
{
    const struct choice *choice = find_word(choices_of(row), word);
    uint32_t item = choice ? (uint32_t)choice->value : 0;
    const error_t error = choice ? 0 : read_number32(state, row, word, &item);
    if (error != 0)
        return error;
    if (list->count == row->most)
        return arguments_refuse(state, "--%s: more than %u numbers", row->name, row->most);
    for (uint32_t n = 0; row->distinct && n < list->count; n++)
        if (list->items[n] == item)
            return arguments_refuse(state, "--%s: %s is given twice", row->name, word);
    list->items[list->count++] = item;
    return 0;
}

static error_t add_bit(const struct argp_state *state, const struct option_row *row, const char *word,
                       uint32_t *set)
{
    const struct choice *choice = NULL;
    const error_t error = read_choice(state, row, word, &choice);
    if (error != 0)
        return error;
    if (row->distinct && (*set >> choice->value & 1U) != 0)
        return arguments_refuse(state, "--%s: %s is given twice", row->name, word);
    *set |= 1U << choice->value;
    return 0;
}

/* Word after word of a set or a list. A long word is cut and ends in "...", which none takes. */
static error_t read_words(const struct argp_state *state, const struct option_row *row, const char *text,
                          void *value)
{
    error_t error = 0;
    for (const char *next = text; error == 0 && next;) {
        const size_t length = strcspn(next, ",");
        char word[WORD];
        snprintf(word, sizeof word, length < WORD ? "%.*s" : "%.*s...",
                 (int)(length < WORD ? length : WORD - 4), next);
        next = next[length] == ',' ? next + length + 1 : NULL;
        if (length == 0 && text[0] != '\0')
            return arguments_refuse(state, "--%s: '%s': a %s is missing %s the comma", row->name, text,
                                    row->kind == OPTION_LIST ? "number" : "word", next ? "before" : "after");
        error =
            row->kind == OPTION_LIST ? add_item(state, row, word, value) : add_bit(state, row, word, value);
    }
    return error;
}

static error_t read_value(const struct argp_state *state, const struct option_row *row, const char *text,
                          void *values)
{
    void *value = (char *)values + row->offset;
    const struct choice *choice = NULL;
    error_t error = 0;
    switch (row->kind) {
    case OPTION_SWITCH:
        *(bool *)value = true;
        return 0;
    case OPTION_NUMBER:
        return read_number32(state, row, text, value);
    case OPTION_NUMBER64:
        return read_number(state, row, text, value);
    case OPTION_REAL:
        return read_real(state, row, text, value);
    case OPTION_CELLS:
        return read_cells(state, row, text, value);
    case OPTION_TEXT:
        *(const char **)value = text;
        return 0;
    case OPTION_CHOICE:
        error = read_choice(state, row, text, &choice);
        *(int *)value = choice ? choice->value : 0;
        return error;
    case OPTION_WORD:
        error = read_choice(state, row, text, &choice);
        *(const char **)value = choice ? choice->word : NULL;
        return error;
    default:
        return read_words(state, row, text, value);
    }
}

/* ---- the table ---- */

static int key_of(const struct option_table *table, size_t n)
{
    return table->rows[n].letter ? table->rows[n].letter : WITHOUT_LETTER + (int)n;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct reader *reader = state->input;
    const struct option_table *table = reader->table;
    for (size_t n = 0; n < table->count; n++) {
        const struct option_row *row = &table->rows[n];
        if (key != key_of(table, n))
            continue;
        if (row->kind == OPTION_CHOICE && row->distinct && (reader->given >> n & 1U) != 0)
            return arguments_refuse(state, "--%s is given twice", row->name);
        reader->given |= UINT64_C(1) << n;
        return read_value(state, row, argument, reader->values);
    }
    return ARGP_ERR_UNKNOWN;
}

/* What was not given takes its default. */
static error_t fill_defaults(const struct option_table *table, struct reader *reader)
{
    const struct argp_state nameless = {.name = "default"};
    error_t error = 0;
    for (size_t n = 0; n < table->count; n++)
        if (table->rows[n].usual && (reader->given >> n & 1U) == 0)
            error |= read_value(&nameless, &table->rows[n], table->rows[n].usual, reader->values);
    return error;
}

/* Refuses what would have no effect: an option of words that were left out. */
static enum status check_owners(const char *name, const struct option_table *table,
                                const struct reader *reader)
{
    if (!table->owner)
        return STATUS_OK;
    const struct option_row *owner = find(table, table->owner);
    uint32_t chosen;
    memcpy(&chosen, (const char *)reader->values + owner->offset, sizeof chosen);
    if (owner->kind == OPTION_CHOICE)
        chosen = 1U << chosen;
    for (size_t n = 0; n < table->count; n++) {
        const struct option_row *row = &table->rows[n];
        if ((reader->given >> n & 1U) == 0 || row->owners == 0 || (row->owners & chosen) != 0)
            continue;
        char words[128];
        list_words(choices_of(owner), row->owners, " and ", sizeof words, words);
        return status_fail(STATUS_USAGE, "%s: --%s is of the %s%s %s, which --%s leaves out", name, row->name,
                           owner->name, strstr(words, " and ") ? "s" : "", words, owner->name);
    }
    return STATUS_OK;
}

enum status options_parse(const struct option_table *table, int argc, char **argv, void *values,
                          uint64_t *given, bool *done)
{
    struct argp_option options[MOST_ROWS + 1] = {{0}};
    char help[MOST_ROWS][320];
    for (size_t n = 0; n < table->count && n < MOST_ROWS; n++) {
        const struct option_row *row = &table->rows[n];
        const bool says_usual = row->usual && row->kind != OPTION_SET;
        snprintf(help[n], sizeof help[n], "%s%s%s%s", row->help, says_usual ? "; " : "",
                 says_usual ? row->usual : "", says_usual ? " without it" : "");
        options[n] = (struct argp_option){
            .name = row->name, .key = key_of(table, n), .arg = row->value, .doc = help[n]};
    }
    const struct argp argp = {.options = options, .parser = parse, .doc = table->doc};
    struct reader reader = {.table = table, .values = values};
    TRY(arguments_parse(&argp, argc, argv, &reader, done));
    *given = reader.given;
    if (*done)
        return STATUS_OK;
    return fill_defaults(table, &reader) == 0 ? check_owners(argv[0], table, &reader) : STATUS_USAGE;
}

bool options_given(const struct option_table *table, uint64_t given, const char *name)
{
    return (given >> (find(table, name) - table->rows) & 1U) != 0;
}

const char *options_word(const struct option_table *table, const char *name, int value)
{
    const struct choice *choice = choices_of(find(table, name));
    while (choice->word && choice->value != value)
        choice++;
    return choice->word;
}
