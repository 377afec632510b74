/* Schema: the one table of keys. The reader, the checks of ranges, the echo and the documentation all walk
 * it; a new key is a new row here and a new field in config.h. The row of a group stands before those of
 * its keys; where some of these belong to one kind only, `kind` is the first of them. */
#ifndef RADIXPIC_CONFIG_SCHEMA_H
#define RADIXPIC_CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum value_type {
    TYPE_GROUP,     /* a mapping that only holds other keys */
    TYPE_CONSTANTS, /* a mapping of names to numbers, for the values of all other rows; of struct config alone
                     */
    TYPE_LIST,      /* items, each described by the table `items` */
    TYPE_BOOL,      /* bool */
    TYPE_COUNT32,   /* uint32_t */
    TYPE_COUNT64,   /* uint64_t */
    TYPE_INTEGER,   /* int32_t */
    TYPE_REAL,      /* double */
    TYPE_CHOICE,    /* an enum: one of the words in `choices` */
    TYPE_TEXT,      /* char[capacity] */
    TYPE_FORMULA,   /* char[capacity]: of `variables`, lx and ly (formula.h) */
    TYPE_NAME       /* char[capacity]: letters, digits and _, not beginning with a digit */
};

enum { SCHEMA_MAX_ROWS = 112 };

struct choice {
    const char *word; /* NULL ends a list of choices */
    int value;
};

/* The words of a row of a table. */
#define WORDS(...)                                                                                           \
    .choices = (const struct choice[])                                                                       \
    {                                                                                                        \
        __VA_ARGS__,                                                                                         \
        {                                                                                                    \
            NULL, 0                                                                                          \
        }                                                                                                    \
    }

struct schema_table;
struct constants;

struct schema_row {
    const char *path; /* dotted, within the struct of its table; "" is the bare value of a list's item */
    enum value_type type;
    size_t offset;      /* of the value in that struct */
    uint32_t length[2]; /* {}: one value; {n}: a list of n; {n, m}: a list of n lists of m */
    size_t length_at;   /* of the uint32_t, from 2 on, that is the first length here; 0: `length` is */
    bool last_alone;    /* one number stands for a list of it behind zeros, and is written so */
    size_t capacity;    /* bytes of a text with its end */
    double low, high;   /* range of a number, of the items of a list, or of a text's bytes, ends included */
    bool open;          /* the ends of the range are not included */
    const char *variables;        /* of a formula: a letter each */
    bool is_path;                 /* a text that may hold what file names may: line breaks and controls too */
    const struct choice *choices; /* the words of a choice, or words allowed beside a number */
    uint32_t kinds;       /* bit set of values of the group's `kind` that the key exists for; 0: all */
    bool of_previous;     /* `kinds` are values of the choice in the last row before that has it not */
    const char *fallback; /* the default, as YAML; NULL: required */
    const char *unit;     /* NULL: a pure number, word or text */
    const char *help;     /* half a sentence */
    const struct schema_table *items; /* of a list */
    size_t count_offset;              /* of a list's uint32_t number of items */
    bool is_allocated;                /* list: a pointer to the items is in the struct, not they themselves */
};

struct schema_table {
    const struct schema_row *rows;
    size_t count;
    size_t size; /* bytes of the struct it describes */
};

/* The default of output.directory: stands for a text that the reader knows. */
extern const char schema_directory_fallback[];

/* The table of struct config. */
extern const struct schema_table config_schema;

/* The row of `path`, as "grid.cells" or, of the items of a list, "collisions[].model"; or NULL. */
const struct schema_row *schema_find(const struct schema_table *table, const char *path);

/* The row of the group that `row`, of a table, is a key of; NULL at the top. */
const struct schema_row *schema_group(const struct schema_row *row);

/* Whether the rows of `table` describe one bare value, not a mapping. */
static inline bool schema_is_bare(const struct schema_table *table)
{
    return table->count == 1 && table->rows[0].path[0] == '\0';
}

/* Whether `row` is written on one line: a value, or a list of bare values. */
static inline bool schema_is_line(const struct schema_row *row)
{
    return row->type > TYPE_CONSTANTS && (row->type != TYPE_LIST || schema_is_bare(row->items));
}

/* The first item of the list of `row` in the struct at `base`, and how many there are. */
const void *schema_items(const struct schema_row *row, const void *base);
uint32_t schema_item_count(const struct schema_row *row, const void *base);

/* The row of a group's key `kind`, or NULL where it has none; NULL is fine. */
const struct schema_row *schema_kind_of(const struct schema_row *group);

/* The row of the key, `kind` or another, that decides whether `row` is allowed, or NULL when it always is. */
const struct schema_row *schema_kind_row(const struct schema_row *row);

/* The row with the lengths that it has in the struct at `base`; no place in a table. */
struct schema_row schema_sized(const struct schema_row *row, const void *base);

/* Whether `row` belongs to what is chosen in the struct at `base`. */
bool schema_belongs(const struct schema_row *row, const void *base);

/* ---- values: from text and back ---- */

enum { VALUE_WHY_LENGTH = 512 };

/* Of a name. */
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Bytes of one scalar of `row` in the struct. */
size_t value_size(const struct schema_row *row);

/* "count", "number", ... */
const char *value_type(const struct schema_row *row);

/* Strict: a whole number is digits, or has an exponent (1e6); a number is decimal or a formula of numbers
 * such as 2*pi/0.5, and finite, with the values of `constants` (NULL: none) put in; neither may be quoted,
 * and nothing may follow. Parses `length` bytes of `text` (ended by a NUL beyond them) and stores the scalar
 * at `target`. `plain`: written without quotes. On failure returns false, stores nothing, and `why` is
 * "expected ..., found ...". */
bool value_parse(const struct schema_row *row, const char *text, size_t length, bool plain,
                 const struct constants *constants, void *target, char why[VALUE_WHY_LENGTH]);

/* Writes what `row` is in the struct at `base` as YAML on one line that is read back to the same bits: a
 * value, "[64, 32]" or "[[1, 0], [2, 0]]". Only where schema_is_line(), and for empty lists. */
void value_print(const struct schema_row *row, const void *base, FILE *stream);

/* The bounds of a row of numbers, to stand behind the word for its type: " above 0, or auto". */
void value_range(const struct schema_row *row, char words[VALUE_WHY_LENGTH]);

/* What is allowed for one scalar (or for the number of items of a list), in words. */
void value_allowed(const struct schema_row *row, char words[VALUE_WHY_LENGTH]);

/* The word of a value; NULL where it has none, or `choices` is NULL. */
const char *value_word(const struct choice *choices, double value);

/* "a, b or c": the words whose values are bits of `among`. */
void value_choices(const struct choice *choices, uint32_t among, char words[VALUE_WHY_LENGTH]);

#endif
