/* Communicator: start and end of MPI. */
#include "parallel/communicator.h"

#include <mpi.h>

enum status communicator_start(struct communicator *communicator)
{
    *communicator = (struct communicator){.rank = 0, .size = 1};
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return status_fail(STATUS_FAILED, "MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &communicator->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &communicator->size);
    if (communicator->size > 1)
        return status_fail(STATUS_USAGE, "mpirun started %d ranks; this version of RadixPIC runs on one",
                           communicator->size);
    return STATUS_OK;
}

void communicator_stop(void)
{
    int started = 0, stopped = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&stopped);
    if (started && !stopped)
        MPI_Finalize();
}
