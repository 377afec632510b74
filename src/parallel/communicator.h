/* Communicator: the ranks of this run, through MPI. */
#ifndef RADIXPIC_PARALLEL_COMMUNICATOR_H
#define RADIXPIC_PARALLEL_COMMUNICATOR_H

#include "base/status.h"

struct communicator {
    int rank, size;
};

/* Starts MPI. STATUS_USAGE when there is more than one rank: this version runs on one. */
STATUS_CHECKED enum status communicator_start(struct communicator *communicator);

/* Ends MPI where it was started. */
void communicator_stop(void);

#endif
