/* Random lists: section 4.1 of P. Helluy, "A portable implementation of the radix sort algorithm in OpenCL",
 * 2011: sorting lists of random keys of 30 bits without a permutation, its Tables 4 to 6. */
#ifndef RADIXPIC_EXPERIMENTS_RANDOM_LISTS_H
#define RADIXPIC_EXPERIMENTS_RANDOM_LISTS_H

#include "base/status.h"

/* radixpic bench random-lists; argv[0] is "radixpic bench random-lists". STATUS_FAILED when a list is not
 * sorted. */
STATUS_CHECKED enum status experiment_random_lists(int argc, char **argv);

#endif
