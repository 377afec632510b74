/* Local memory: the ladder of S. Vialle's lecture "Advanced CUDA programming", part 1: filters and transposes
 * through local memory, 2D kernels with and without a loop over tiles, atomic functions, and a grid whose
 * cells launch child grids. */
#ifndef RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H
#define RADIXPIC_EXPERIMENTS_LOCAL_MEMORY_H

#include "base/status.h"

/* radixpic bench local-memory; argv[0] is "radixpic bench local-memory". STATUS_FAILED when a result is not
 * that of the host. */
STATUS_CHECKED enum status experiment_local_memory(int argc, char **argv);

#endif
