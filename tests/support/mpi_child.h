/* MPI child: an mpirun within a test, for what no test can outlive. After a failed write on several ranks
 * HDF5 holds a file that MPI_Finalize() would wait for, so such a program must end as main() does after a
 * failure. Includes mpi_support.h. */
#ifndef RADIXPIC_TEST_MPI_CHILD_H
#define RADIXPIC_TEST_MPI_CHILD_H

#include "support/mpi_support.h"

#include <string.h>
#include <unistd.h>

/* The first word of a child's arguments; the second is the name of a file. */
static const char mpi_child_word[] = "--child";

static inline bool mpi_is_child(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], mpi_child_word) == 0;
}

/* Collective: runs this program once more on as many ranks. It must come to mpi_child_end(). What it says is
 * in the file `passed`.log, and is shown where it does not. */
static inline void mpi_run_child(const char *passed)
{
    char command[1024];
    /* A second mpirun must not find the variables of the first, but what CTest gave it. */
    snprintf(command, sizeof command,
             "unset $(env | grep -oE '^(OMPI_|PMIX_|ORTE_|PRTE_)[A-Za-z_0-9]*'); "
             "export $(grep '^[A-Z]' tests/support/mpi_environment.txt); timeout 900 mpirun -n %d "
             "/proc/$PPID/exe %s %s >%s.log 2>&1",
             ranks.size, mpi_child_word, passed, passed);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0) {
        (void)!system(command); /* ends with a failure, as a failed run does */
        if (access(passed, F_OK) != 0) {
            snprintf(command, sizeof command, "cat %s.log", passed);
            (void)!system(command);
            fail_msg("the program on %d ranks failed, as shown above", ranks.size);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The end of a child in which no check failed. */
static inline void mpi_child_end(const char *passed)
{
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *stream = ranks.rank == 0 ? fopen(passed, "w") : NULL;
    if (stream)
        fclose(stream);
    MPI_Barrier(MPI_COMM_WORLD); /* the first rank to stop ends all */
    communicator_stop(STATUS_FAILED);
    _exit(EXIT_FAILURE);
}

#endif
