/* Options: a command line as a table of rows. A row says what an option takes, in which range, what stands
 * without it, and its help; reading, refusing and --help walk the table. */
#ifndef RADIXPIC_EXPERIMENTS_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_OPTIONS_H

#include "base/status.h"
#include "config/schema.h"

enum option_kind {
    OPTION_SWITCH,   /* bool: takes nothing */
    OPTION_NUMBER,   /* uint32_t */
    OPTION_NUMBER64, /* uint64_t */
    OPTION_REAL,     /* double */
    OPTION_TEXT,     /* const char *, of argv */
    OPTION_CHOICE,   /* int: the value of a word */
    OPTION_WORD,     /* const char *: the word itself */
    OPTION_SET,      /* uint32_t: the values of words as bits; with commas between them, or repeated */
    OPTION_LIST,     /* struct option_list: numbers, given like a set, or words that stand for numbers */
    OPTION_CELLS     /* uint32_t[2]: N for N x N, or NXxNY */
};

enum { OPTION_LIST_MOST = 32 };

struct option_list {
    uint32_t count, items[OPTION_LIST_MOST];
};

struct option_row {
    const char *name;  /* without the dashes */
    int letter;        /* of the short option; 0: none */
    const char *value; /* what --help calls the value: a paper's letter where it has one; NULL of a switch */
    enum option_kind kind;
    size_t offset;    /* of the value in the caller's struct */
    double low, high; /* range of a number, or of each along an axis; ends included */
    const struct choice *choices;
    const char *as_in; /* instead of choices: the config's key that has the same */
    uint32_t most;     /* items of a list */
    bool distinct;     /* a number or word must not be given twice */
    uint32_t owners;   /* bit set: of these words of the table's `owner` alone; 0: always there */
    const char *usual; /* the default as it would be typed; NULL: all bits 0 */
    const char *help;  /* half a sentence; but for a set, the default is added to it */
};

/* Of a row: its place in the `struct options` of the file. */
#define AT(member) .offset = offsetof(struct options, member)

struct option_table {
    const struct option_row *rows;
    size_t count;
    const char *doc;   /* as argp has it: before \v above the options, the rest below */
    const char *owner; /* name of the choice or set that other rows may belong to */
};

/* Fills `values`, all bits 0, with the defaults and what argv says; texts belong to argv. Bit n of *given is
 * set where row n was given. *done is set where --help was printed. STATUS_USAGE names the option. */
STATUS_CHECKED enum status options_parse(const struct option_table *table, int argc, char **argv,
                                         void *values, uint64_t *given, bool *done);

/* Whether the option of that name was given. */
bool options_given(const struct option_table *table, uint64_t given, const char *name);

/* The word of `value` in the row of that name; NULL where it has none. */
const char *options_word(const struct option_table *table, const char *name, int value);

#endif
