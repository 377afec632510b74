/* Layout: many arrays at once, row-wise against column-wise (D. Takafuji, Y. Ito and K. Nakano, Tables I to
 * XVII). */
#ifndef RADIXPIC_EXPERIMENTS_LAYOUT_H
#define RADIXPIC_EXPERIMENTS_LAYOUT_H

#include "base/status.h"

/* radixpic bench layout [OPTIONS]: prints the paper's tables, measured on one device and its host; --csv
 * writes their times. STATUS_FAILED when a result is not the host's. */
STATUS_CHECKED enum status experiment_layout(int argc, char **argv);

#endif
