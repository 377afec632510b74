/* Paper options: parsing, and the config that comes of them. */
#include "experiments/paper_options.h"

enum { MOST_RADIX_BITS = 16, MOST_ITEMS = 65536, MOST_GROUPS = 65536, MOST_SPLITS = 65536 };

static error_t parse_transpose(const struct argp_state *state, const char *text,
                               enum transpose_kind *transpose)
{
    bool on = false;
    const error_t error = arguments_switch(state, "--transpose", text, &on);
    *transpose = on ? TRANSPOSE_ON : TRANSPOSE_OFF;
    return error;
}

error_t paper_option_parse(int key, const char *argument, const struct argp_state *state,
                           struct paper_options *paper)
{
    switch (key) {
    case KEY_RADIX_BITS:
        return arguments_number32(state, "--radix-bits", argument, 1, MOST_RADIX_BITS, &paper->radix_bits);
    case KEY_ITEMS:
        return arguments_number32(state, "--items", argument, 1, MOST_ITEMS, &paper->items);
    case KEY_GROUPS:
        return arguments_number32(state, "--groups", argument, 1, MOST_GROUPS, &paper->groups);
    case KEY_SPLITS:
        return arguments_number32(state, "--splits", argument, 1, MOST_SPLITS, &paper->splits);
    case KEY_TRANSPOSE:
        return parse_transpose(state, argument, &paper->transpose);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const char *paper_option_given(const struct paper_options *paper)
{
    return paper->items > 0                     ? "--items"
           : paper->groups > 0                  ? "--groups"
           : paper->splits > 0                  ? "--splits"
           : paper->transpose != TRANSPOSE_AUTO ? "--transpose"
                                                : NULL;
}

error_t paper_table_parse(const struct argp_state *state, const char *text, enum table_kind *table)
{
    static const char *const words[] = {"auto", "columns", "rows", NULL};
    static const enum table_kind tables[] = {TABLE_AUTO, TABLE_COLUMNS, TABLE_ROWS};
    size_t which = 0;
    const error_t error = arguments_choice(state, "--table", text, words, &which);
    *table = tables[which];
    return error;
}

uint32_t paper_digit_bits(uint32_t radix_bits, uint32_t key_bits)
{
    return radix_bits < key_bits ? radix_bits : key_bits;
}

struct sort_config paper_sort_config(const struct paper_options *paper, uint32_t key_bits,
                                     uint32_t radix_bits, enum table_kind table)
{
    return (struct sort_config){.method = SORT_METHOD_PAPER,
                                .key_bits = key_bits,
                                .passes = (key_bits + radix_bits - 1) / radix_bits,
                                .items_per_group = paper->items,
                                .groups = paper->groups,
                                .histogram_splits = paper->splits,
                                .transpose = paper->transpose,
                                .table = table};
}
