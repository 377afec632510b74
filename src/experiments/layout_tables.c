/* Layout tables: the list of the paper's tables. */
#include "experiments/layout_tables.h"

#include <stdio.h>
#include <string.h>

#define PREFIX   LAYOUT_PREFIX_SUM, LAYOUT_ONES
#define BUBBLE_S LAYOUT_BUBBLE_SORT, LAYOUT_DESCENDING
#define BUBBLE_D LAYOUT_BUBBLE_SORT, LAYOUT_BY_TURNS
#define BITONIC  LAYOUT_BITONIC_SORT, LAYOUT_RANDOM

const struct layout_table layout_tables[LAYOUT_TABLES] = {
    {"I", LAYOUT_AGAINST_HOST, PREFIX, LAYOUT_ROWS},
    {"II", LAYOUT_AGAINST_HOST, BUBBLE_S, LAYOUT_ROWS},
    {"III", LAYOUT_AGAINST_HOST, BUBBLE_D, LAYOUT_ROWS},
    {"IV", LAYOUT_AGAINST_HOST, BITONIC, LAYOUT_ROWS},
    {"V", LAYOUT_BY_TYPE, PREFIX, LAYOUT_ROWS},
    {"VI", LAYOUT_BY_TYPE, PREFIX, LAYOUT_COLUMNS},
    {"VII", LAYOUT_BY_TYPE, BUBBLE_S, LAYOUT_ROWS},
    {"VIII", LAYOUT_BY_TYPE, BUBBLE_S, LAYOUT_COLUMNS},
    {"IX", LAYOUT_BY_TYPE, BUBBLE_D, LAYOUT_ROWS},
    {"X", LAYOUT_BY_TYPE, BUBBLE_D, LAYOUT_COLUMNS},
    {"XI", LAYOUT_BY_TYPE, BITONIC, LAYOUT_ROWS},
    {"XII", LAYOUT_BY_TYPE, BITONIC, LAYOUT_COLUMNS},
    {"XIII", LAYOUT_WITH_TRANSPOSITION, PREFIX, LAYOUT_ROWS},
    {"XIV", LAYOUT_WITH_TRANSPOSITION, BUBBLE_S, LAYOUT_ROWS},
    {"XV", LAYOUT_WITH_TRANSPOSITION, BUBBLE_D, LAYOUT_ROWS},
    {"XVI", LAYOUT_WITH_TRANSPOSITION, BITONIC, LAYOUT_ROWS},
    {"XVII", LAYOUT_AGAINST_QUICKSORT, BITONIC, LAYOUT_ROWS},
};

static size_t columns_by_type(enum layout_what what, struct layout_column *columns)
{
    for (enum layout_type type = LAYOUT_INT; type < LAYOUT_TYPES; type++)
        columns[type] = (struct layout_column){layout_type_names[type], (int)what, type};
    return LAYOUT_TYPES;
}

size_t layout_table_columns(const struct layout_table *table, enum layout_type type,
                            struct layout_column columns[LAYOUT_MOST_COLUMNS])
{
    const struct layout_column rows = {"row-wise", LAYOUT_ROWS, type};
    const struct layout_column by_column = {"column-wise", LAYOUT_COLUMNS, type};
    switch (table->kind) {
    case LAYOUT_BY_TYPE:
        return columns_by_type(table->what, columns);
    case LAYOUT_WITH_TRANSPOSITION:
        columns[0] = (struct layout_column){"(A) row-wise", LAYOUT_ROWS, type};
        columns[1] = (struct layout_column){"(B)", LAYOUT_TRANSPOSED, type};
        columns[2] = by_column;
        columns[3] = (struct layout_column){"transpose", LAYOUT_TRANSPOSE, type};
        return 4;
    case LAYOUT_AGAINST_QUICKSORT:
        columns[0] = rows;
        columns[1] = by_column;
        columns[2] = (struct layout_column){"host, bitonic sort", LAYOUT_HOST, type};
        columns[3] = (struct layout_column){"host, quicksort", LAYOUT_QUICKSORT, type};
        return 4;
    default:
        columns[0] = rows;
        columns[1] = by_column;
        columns[2] = (struct layout_column){"R/C", LAYOUT_RATIO, type};
        columns[3] = (struct layout_column){"host", LAYOUT_HOST, type};
        return 4;
    }
}

size_t layout_table_find(const char *text)
{
    char figures[8];
    for (size_t n = 0; n < LAYOUT_TABLES; n++) {
        snprintf(figures, sizeof figures, "%zu", n + 1);
        if (strcmp(text, layout_tables[n].number) == 0 || strcmp(text, figures) == 0)
            return n;
    }
    return LAYOUT_TABLES;
}
