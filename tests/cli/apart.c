/* Makes each rank the only one of its machine, and sets a handler for SIGHUP before main() begins, as UCX
 * does, which Open MPI may bring (LD_PRELOAD). */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

static void end(int number)
{
    _exit(number);
}

__attribute__((constructor)) static void set_handler(void)
{
    signal(SIGHUP, end);
}

int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm *machine)
{
    int rank;
    (void)type;
    (void)info;
    MPI_Comm_rank(all, &rank);
    return MPI_Comm_split(all, rank, key, machine);
}
