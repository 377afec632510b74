/* Cells option: the --cells of an experiment. */
#ifndef RADIXPIC_EXPERIMENTS_CELLS_OPTION_H
#define RADIXPIC_EXPERIMENTS_CELLS_OPTION_H

#include "base/arguments.h"

/* In a parser: "N" or "NXxNY", each at least `least`, as many cells in all as a config may have. */
error_t cells_option_parse(struct argp_state *state, const char *text, uint32_t least, uint32_t cells[2]);

#endif
