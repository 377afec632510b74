/* Layout options: the command line of radixpic bench layout. */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_OPTIONS_H

#include "experiments/layout_tables.h"

enum { LAYOUT_MAX_SIZES = 16, LAYOUT_GROUP = 64, LAYOUT_MOST_LENGTH = 1 << 20 };

struct layout_options {
    const char *device, *csv_path;
    uint32_t arrays[LAYOUT_MAX_SIZES]; /* numbers of arrays, multiples of LAYOUT_GROUP */
    uint32_t array_count;              /* 0: few of a short sweep, see layout_options_arrays() */
    uint32_t length, repeats;          /* repeats 0: as many as take half a second */
    enum layout_type type;             /* of the tables that are not of all types */
    bool tables[LAYOUT_TABLES];        /* to print */
};

/* The numbers of arrays for an operation; returns how many. */
uint32_t layout_options_arrays(const struct layout_options *options, enum layout_operation operation,
                               uint32_t arrays[LAYOUT_MAX_SIZES]);

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. STATUS_USAGE where nothing is left to print or a length does not suit an operation. */
STATUS_CHECKED enum status layout_options_parse(int argc, char **argv, struct layout_options *options,
                                                bool *done);

#endif
