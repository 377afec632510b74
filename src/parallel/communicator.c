/* Communicator: start and end of MPI, agreement, and sums in the order of the ranks. */
#include "parallel/communicator.h"

#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How the last failure stands among the ranks; main() asks for it when everything else is gone. */
static struct {
    bool agreed;   /* all ranks have it */
    bool silenced; /* ... and a lower one prints it */
} failure;

enum { WAIT_FOR_LOWER_RANK = 200000 /* microseconds */, LONGEST_WAIT = 2000000, WAIT_AGAIN = 2000 };

static bool is_running(void)
{
    int started = 0, stopped = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&stopped);
    return started && !stopped;
}

bool communicator_is_parallel(void)
{
    if (is_running()) {
        int size = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        return size > 1;
    }
    /* What Open MPI, and the PMI of MPICH and its kin, tell a process that they start. */
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        const char *size = getenv(names[n]);
        if (size && atoi(size) > 1)
            return true;
    }
    return false;
}

enum status communicator_start(struct communicator *communicator)
{
    *communicator = (struct communicator){.size = 1, .local_size = 1};
    if (!is_running() && MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return status_fail(STATUS_FAILED, "MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &communicator->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &communicator->size);
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, communicator->rank, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &communicator->local_rank);
    MPI_Comm_size(here, &communicator->local_size);
    MPI_Comm_free(&here);
    return STATUS_OK;
}

/* The message of `speaker`, on all ranks. */
static void share_message(const struct communicator *communicator, int speaker, enum status code)
{
    int length = (int)strlen(status_message()) + 1;
    MPI_Bcast(&length, 1, MPI_INT, speaker, MPI_COMM_WORLD);
    char *message = malloc((size_t)length);
    if (!message)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    if (communicator->rank == speaker)
        memcpy(message, status_message(), (size_t)length);
    MPI_Bcast(message, length, MPI_CHAR, speaker, MPI_COMM_WORLD);
    if (communicator->rank != speaker)
        (void)status_fail(code, "%s", message);
    free(message);
}

enum status communicator_agree(const struct communicator *communicator, enum status status)
{
    if (communicator->size == 1)
        return status;
    int mine = status == STATUS_OK ? communicator->size : communicator->rank, lowest = 0;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == communicator->size)
        return STATUS_OK;
    int code = (int)status;
    MPI_Bcast(&code, 1, MPI_INT, lowest, MPI_COMM_WORLD);
    share_message(communicator, lowest, (enum status)code);
    failure.agreed = true;
    failure.silenced = communicator->rank != lowest;
    return (enum status)code;
}

bool communicator_speaks(void)
{
    if (!is_running() || failure.agreed)
        return !failure.silenced;
    /* Several ranks may fail for the same cause; the lowest then ends the others before they speak. */
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int wait = rank * WAIT_FOR_LOWER_RANK;
    usleep((useconds_t)(wait < LONGEST_WAIT ? wait : LONGEST_WAIT));
    return true;
}

void communicator_stop(enum status status)
{
    if (!is_running())
        return;
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* After a failed write MPI's end can crash on the file that HDF5 could not close. */
    if (status != STATUS_FAILED &&
        (failure.agreed || status == STATUS_OK || status == STATUS_STOPPED || size == 1))
        MPI_Finalize();
    else if (failure.agreed)
        MPI_Barrier(MPI_COMM_WORLD); /* so that mpirun ends no rank before the message is out */
    else if (size > 1)
        MPI_Abort(MPI_COMM_WORLD, (int)status);
}

void communicator_wait(const struct communicator *communicator)
{
    if (communicator->size == 1)
        return;
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        usleep(WAIT_AGAIN);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* ---- sums ---- */

void communicator_gather(const struct communicator *communicator, size_t count, const double *values,
                         double *all)
{
    if (communicator->size == 1)
        memcpy(all, values, count * sizeof *all);
    else
        MPI_Allgather(values, (int)count, MPI_DOUBLE, all, (int)count, MPI_DOUBLE, MPI_COMM_WORLD);
}

void communicator_gather_counts(const struct communicator *communicator, size_t count, const uint64_t *values,
                                uint64_t *all)
{
    if (communicator->size == 1)
        memcpy(all, values, count * sizeof *all);
    else
        MPI_Allgather(values, (int)count, MPI_UINT64_T, all, (int)count, MPI_UINT64_T, MPI_COMM_WORLD);
}

/* A reduction of MPI may take any order; this takes that of the ranks. */
void communicator_sum(const struct communicator *communicator, size_t count, double *values)
{
    if (communicator->size == 1 || count == 0)
        return;
    const size_t ranks = (size_t)communicator->size;
    double *all = malloc(ranks * count * sizeof *all);
    if (!all)
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    communicator_gather(communicator, count, values, all);
    for (size_t n = 0; n < count; n++) {
        values[n] = 0;
        for (size_t rank = 0; rank < ranks; rank++)
            values[n] += all[rank * count + n];
    }
    free(all);
}

void communicator_sum_counts(const struct communicator *communicator, size_t count, uint64_t *values)
{
    if (communicator->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

void communicator_max(const struct communicator *communicator, size_t count, double *values)
{
    if (communicator->size > 1)
        MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

void communicator_broadcast(const struct communicator *communicator, size_t bytes, void *values)
{
    if (communicator->size > 1)
        MPI_Bcast(values, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
