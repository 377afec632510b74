/* Step bench: what whole simulation steps cost, for one size or for a sweep over particles and grids. */
#ifndef RADIXPIC_EXPERIMENTS_STEP_BENCH_H
#define RADIXPIC_EXPERIMENTS_STEP_BENCH_H

#include "base/status.h"

/* radixpic bench step; argv[0] is "radixpic bench step". STATUS_FAILED when a step's result is wrong. */
STATUS_CHECKED enum status experiment_step(int argc, char **argv);

#endif
