/* Permutation: Tables 1 to 5 of M. E. Ali, S. El-shehaby, M. S. Abougabal, "NDPA: A generalized efficient
 * parallel in-place N-Dimensional Permutation Algorithm", Alexandria Engineering Journal 54, 2015: speed-up
 * of in-place permutations of 3D to 7D volumes over a serial kernel of the host and over an out-of-place one.
 */
#ifndef RADIXPIC_EXPERIMENTS_PERMUTATION_H
#define RADIXPIC_EXPERIMENTS_PERMUTATION_H

#include "base/status.h"

/* radixpic bench permutation; argv[0] is "radixpic bench permutation". STATUS_FAILED when a volume is not
 * permuted rightly. */
STATUS_CHECKED enum status experiment_permutation(int argc, char **argv);

#endif
