/* Table option: parsing. */
#include "experiments/table_option.h"

error_t table_option_parse(const struct argp_state *state, const char *text, enum table_kind *table)
{
    static const char *const words[] = {"auto", "columns", "rows", NULL};
    static const enum table_kind tables[] = {TABLE_AUTO, TABLE_COLUMNS, TABLE_ROWS};
    size_t which = 0;
    const error_t error = arguments_choice(state, "--table", text, words, &which);
    *table = tables[which];
    return error;
}
