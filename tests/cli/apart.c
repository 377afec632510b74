/* Makes each rank the only one of its machine (LD_PRELOAD). */
#include <mpi.h>

int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm *machine)
{
    int rank;
    (void)type;
    (void)info;
    MPI_Comm_rank(all, &rank);
    return MPI_Comm_split(all, rank, key, machine);
}
