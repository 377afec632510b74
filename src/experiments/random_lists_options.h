/* Random lists options: the command line of radixpic bench random-lists. */
#ifndef RADIXPIC_EXPERIMENTS_RANDOM_LISTS_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_RANDOM_LISTS_OPTIONS_H

#include "config/config.h"
#include "experiments/paper_options.h"

enum { RANDOM_LISTS_MAX_SIZES = 16, RANDOM_LISTS_KEY_BITS = 30 };

enum random_method { RANDOM_PAPER, RANDOM_CHUNKED, RANDOM_TILED, RANDOM_METHODS };

struct random_lists_options {
    const char *device, *csv_path;
    uint32_t sizes[RANDOM_LISTS_MAX_SIZES];
    uint32_t size_count;
    uint32_t key_bits, repeats; /* repeats 0: fewer for long lists */
    struct paper_options paper;
    enum table_kind table;
    bool has_table; /* as given */
    bool methods[RANDOM_METHODS];
};

const char *random_method_name(enum random_method method);

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. */
STATUS_CHECKED enum status random_lists_options_parse(int argc, char **argv,
                                                      struct random_lists_options *options, bool *done);

#endif
