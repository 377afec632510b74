/* Options: a command line as a table of rows. A row says what an option takes, in which range, what stands
 * without it, and its help; reading, refusing and --help walk the table. Values are read as a config's. */
#ifndef RADIXPIC_CONFIG_OPTIONS_H
#define RADIXPIC_CONFIG_OPTIONS_H

#include "base/status.h"
#include "config/schema.h"

enum option_kind {
    OPTION_SWITCH,   /* bool: takes nothing */
    OPTION_VALUE,    /* int: takes nothing and stands for `low`; of those with one offset one may be given */
    OPTION_ARGUMENT, /* const char *, of argv: the word that is no option, at most one */
    OPTION_NUMBER,   /* uint32_t */
    OPTION_NUMBER64, /* uint64_t */
    OPTION_REAL,     /* double */
    OPTION_TEXT,     /* const char *, of argv */
    OPTION_TEXTS,    /* struct option_texts: repeated */
    OPTION_CHOICE,   /* int: the value of a word */
    OPTION_WORD,     /* const char *: the word itself */
    OPTION_SET,      /* uint32_t: the values of words as bits; with commas between them, or repeated */
    OPTION_LIST,     /* struct option_list: numbers, given like a set, or words that stand for numbers */
    OPTION_CELLS     /* uint32_t[2]: N for N x N, or NXxNY */
};

enum { OPTION_LIST_MOST = 32, OPTION_TEXTS_MOST = 256 };

struct option_list {
    uint32_t count, items[OPTION_LIST_MOST];
};

/* The greatest of its numbers, 0 of none. */
static inline uint32_t option_list_greatest(const struct option_list *list)
{
    uint32_t greatest = 0;
    for (uint32_t n = 0; n < list->count; n++)
        greatest = list->items[n] > greatest ? list->items[n] : greatest;
    return greatest;
}

struct option_texts {
    uint32_t count;
    const char *items[OPTION_TEXTS_MOST];
};

struct option_row {
    const char *name;  /* without the dashes; of an argument as --help calls it */
    int letter;        /* of the short option; 0: none */
    const char *value; /* what --help calls the value: a paper's letter where it has one; NULL of a switch */
    enum option_kind kind;
    size_t offset;    /* of the value in the caller's struct */
    double low, high; /* range of a number, or of each along an axis; ends included */
    const struct choice *choices;
    const char *as_in; /* instead of choices: the config's key that has the same */
    uint32_t most;     /* items of a list */
    bool distinct;     /* a number or word must not be given twice */
    int group;         /* groups stand in --help in ascending order */
    uint32_t owners;   /* bit set: of these words of the table's `owner` alone; 0: always there */
    const char *usual; /* the default as it would be typed; NULL: all bits 0 */
    const char *help;  /* half a sentence, to which the default is added but for a set; NULL: the words */
};

struct option_table {
    const struct option_row *rows;
    size_t count, size;    /* of rows; of the caller's struct */
    const char *doc;       /* as argp has it: before \v above the options, the rest below */
    const char *owner;     /* name of the choice or set that other rows may belong to */
    const char *arguments; /* what is no option, as --help shows it; NULL: nothing */
};

enum { SAMPLES_MAX = 1000 }; /* repeats of one timing */

/* What the struct of every table begins with, as its member `common`; the last three are of benches. */
struct common_options {
    const struct option_table *table;
    uint64_t given; /* bit n: the option of row n was */
    bool is_help_shown;
    const char *device, *csv;
    uint32_t repeats;
};

/* Of a row: its place in the `struct options` of the file; one that stands in a macro; the rows of the common
 * options, where `usual_repeats` may be NULL if the experiment chooses the repeats itself. */
#define AT(member) .offset = offsetof(struct options, member)
#define OPTION_ROW(...)                                                                                      \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define DEVICE_ROW                                                                                           \
    OPTION_ROW("device", 'd', "SPEC", OPTION_TEXT, AT(common.device), .usual = "auto",                       \
               .help = "cpu, gpu, auto, P:D, or part of a name; see radixpic devices")
#define COMMON_ROWS(usual_repeats, repeat_help)                                                              \
    OPTION_ROW("repeat", 'r', "K", OPTION_NUMBER, AT(common.repeats), 1, SAMPLES_MAX,                        \
               .usual = (usual_repeats), .help = (repeat_help)),                                             \
        DEVICE_ROW,                                                                                          \
        OPTION_ROW("csv", 0, "FILE", OPTION_TEXT, AT(common.csv),                                            \
                   .help = "Write everything measured as rows of FILE")
#define OPTION_TABLE(table_rows, table_owner, ...)                                                           \
    OPTION_ROW(.rows = (table_rows), .count = sizeof(table_rows) / sizeof((table_rows)[0]),                  \
               .size = sizeof(struct options), .owner = (table_owner), .doc = __VA_ARGS__)

/* Fills `options`, all bits 0, with the defaults and what argv says; texts belong to argv. `is_help_shown` is
 * set where --help was printed. STATUS_USAGE names the option. */
STATUS_CHECKED enum status options_parse(const struct option_table *table, int argc, char **argv,
                                         struct common_options *options);

/* Whether --help prints, as it does by default: under mpirun only one process prints it. */
void options_show_help(bool shown);

/* Whether the option of that name was given. */
bool options_given(const struct common_options *options, const char *name);

/* The word of `value` in the row of that name; NULL where it has none. */
const char *options_word(const struct common_options *options, const char *name, int value);

#endif
