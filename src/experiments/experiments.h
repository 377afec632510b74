/* Experiments: those that `radixpic bench` knows, in the order of its help. */
#ifndef RADIXPIC_EXPERIMENTS_EXPERIMENTS_H
#define RADIXPIC_EXPERIMENTS_EXPERIMENTS_H

#include "experiments/bench.h"

extern const struct experiment experiment_pic_sort, experiment_random_lists, experiment_deposit,
    experiment_layout, experiment_permutation, experiment_local_memory, experiment_step, experiment_scaling;

#endif
