/* Table option: how the histogram's table of the method paper lies, of an experiment's command line. */
#ifndef RADIXPIC_EXPERIMENTS_TABLE_OPTION_H
#define RADIXPIC_EXPERIMENTS_TABLE_OPTION_H

#include "base/arguments.h"
#include "config/config.h"

/* In a parser: the word of --table, "auto", "columns" or "rows"; anything else is refused. */
error_t table_option_parse(const struct argp_state *state, const char *text, enum table_kind *table);

#endif
