/* Paper options: the parameters of the sort method paper on an experiment's command line. */
#ifndef RADIXPIC_EXPERIMENTS_PAPER_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_PAPER_OPTIONS_H

#include "base/arguments.h"
#include "config/config.h"

/* Of --radix-bits, --items, --groups, --splits, --transpose and --table. */
enum { KEY_RADIX_BITS = 2100, KEY_ITEMS, KEY_GROUPS, KEY_SPLITS, KEY_TRANSPOSE, KEY_TABLE };

/* r, I, G and s of P. Helluy's Table 1; 0 where the experiment or the device is to choose. */
struct paper_options {
    uint32_t radix_bits, items, groups, splits;
    enum transpose_kind transpose;
};

/* In a parser: the value of one of the keys above but KEY_TABLE; ARGP_ERR_UNKNOWN for others. */
error_t paper_option_parse(int key, const char *argument, const struct argp_state *state,
                           struct paper_options *paper);

/* The name of one of --items, --groups, --splits and --transpose that was given, which only the method paper
 * has; NULL where none was. */
const char *paper_option_given(const struct paper_options *paper);

/* In a parser: the word of --table, "auto", "columns" or "rows". */
error_t paper_table_parse(const struct argp_state *state, const char *text, enum table_kind *table);

/* The smaller of `radix_bits` and b: a digit is no longer than the key of `key_bits`. */
uint32_t paper_digit_bits(uint32_t radix_bits, uint32_t key_bits);

/* The config of a sort of keys of b = `key_bits` bits by digits of `radix_bits`. */
struct sort_config paper_sort_config(const struct paper_options *paper, uint32_t key_bits,
                                     uint32_t radix_bits, enum table_kind table);

#endif
