/* Permutation options: the command line of radixpic bench permutation. */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_OPTIONS_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_OPTIONS_H

#include "base/status.h"
#include "experiments/permutation_tables.h"

#include <stdbool.h>

struct permutation_options {
    const char *device, *csv_path;
    const char *python; /* NULL: python3, wherever it has numpy */
    bool without_numpy;
    uint32_t repeats;                                      /* 0: fewer for large volumes */
    uint32_t axes[PERMUTATION_MAX_DIMENSIONS], axes_count; /* 0: reversed */
    struct permutation_table tables[PERMUTATION_TABLES];   /* to run, as the other options leave them */
    uint32_t table_count;
    bool cells_are_given; /* by --block */
};

/* Fills `options` with the defaults and what argv says; the texts belong to argv. *done is set where --help
 * was printed. */
STATUS_CHECKED enum status permutation_options_parse(int argc, char **argv,
                                                     struct permutation_options *options, bool *done);

#endif
