/* Scaling: what a step on all ranks costs beside a step on one. */
#ifndef RADIXPIC_EXPERIMENTS_SCALING_H
#define RADIXPIC_EXPERIMENTS_SCALING_H

#include "base/status.h"

/* radixpic bench scaling, on every rank; argv[0] is "radixpic bench scaling". STATUS_FAILED, on all ranks,
 * when a step's result is wrong. */
STATUS_CHECKED enum status experiment_scaling(int argc, char **argv);

#endif
