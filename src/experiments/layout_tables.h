/* Layout tables: which of the paper's tables are to be printed, and what each shows. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_TABLES_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_TABLES_H

#include "experiments/layout_point.h"

enum { LAYOUT_TABLES = 17 };

enum layout_table_kind {
    LAYOUT_AGAINST_HOST,       /* I to IV: row-wise, column-wise, their ratio, host */
    LAYOUT_BY_TYPE,            /* V to XII: one layout, the three types side by side */
    LAYOUT_WITH_TRANSPOSITION, /* XIII to XVI: (A), (B), column-wise, transposition */
    LAYOUT_AGAINST_QUICKSORT   /* XVII: row-wise, column-wise, bitonic sort and quicksort on the host */
};

/* One of the paper's tables. */
struct layout_table {
    const char *number; /* "I" to "XVII" */
    enum layout_table_kind kind;
    enum layout_operation operation;
    enum layout_input input;
    enum layout_what what; /* of LAYOUT_BY_TYPE alone: LAYOUT_ROWS or LAYOUT_COLUMNS */
};

extern const struct layout_table layout_tables[LAYOUT_TABLES];

/* A column of times, LAYOUT_RATIO that of row-wise over column-wise. */
enum { LAYOUT_RATIO = LAYOUT_WHATS, LAYOUT_MOST_COLUMNS = 4 };
struct layout_column {
    const char *title;
    int what; /* an enum layout_what, or LAYOUT_RATIO */
    enum layout_type type;
};

/* Fills `columns` with those of the table, in the paper's order, for elements of `type` where the table is
 * not one of all types; returns how many. */
size_t layout_table_columns(const struct layout_table *table, enum layout_type type,
                            struct layout_column columns[LAYOUT_MOST_COLUMNS]);

/* The table whose number is `text`, as in the paper or in figures ("13"); LAYOUT_TABLES where none is. */
size_t layout_table_find(const char *text);

#endif
