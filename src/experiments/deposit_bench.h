/* Deposit bench: what a deposit costs by the particles in a cell, cell by cell from a sorted list against
 * atomic additions, to lists in order and shuffled: where sorting pays. */
#ifndef RADIXPIC_EXPERIMENTS_DEPOSIT_BENCH_H
#define RADIXPIC_EXPERIMENTS_DEPOSIT_BENCH_H

#include "base/status.h"

/* radixpic bench deposit; argv[0] is "radixpic bench deposit". STATUS_FAILED when a density is not the host's
 * to round-off. */
STATUS_CHECKED enum status experiment_deposit(int argc, char **argv);

#endif
