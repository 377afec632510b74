/* MPI support: the main() of a test program in tests/mpi, which every rank of an mpirun runs, by
 * MPI_TEST_MAIN(setup, teardown) at its end. Include it first: it brings test_support.h.
 *
 * Each rank runs all tests, in step with the others through their collective calls, and finds
 * its place in `ranks`. A test must be right for any number of ranks; ctest runs it on 1 to 4.
 *
 * Rank 0 alone prints the course of the tests, every rank its result. The first check that fails, on any
 * rank, prints its file and line and ends all ranks at once with a failure: a rank that left a test early
 * would leave the others waiting in a collective call.
 */
#ifndef RADIXPIC_MPI_SUPPORT_H
#define RADIXPIC_MPI_SUPPORT_H

#include "support/test_support.h"

#include "parallel/communicator.h"
#include "parallel/partition.h"

#include <mpi.h>

#include <signal.h>

static struct communicator ranks;

/* Even ranges of rows among `count` ranks, until the test ends. */
static inline struct partition test_partition(int count, uint32_t rows)
{
    struct partition made, kept;
    assert_ok(partition_even(count, rows, &made));
    kept = made;
    kept.first = test_array((size_t)count + 1, sizeof *kept.first);
    memcpy(kept.first, made.first, ((size_t)count + 1) * sizeof *kept.first);
    partition_destroy(&made);
    return kept;
}

/* For the SIGABRT that cmocka raises, at a place where MPI may be called. An OpenCL compiler may take the
 * signal away; then mpirun sees the rank die and ends the others. */
static void mpi_end_all_ranks(int number)
{
    (void)number;
    fprintf(stderr, "\non rank %d of %d\n", ranks.rank, ranks.size);
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* MPI runs without a launcher too, for these tests and what they test may call it themselves. */
static inline void mpi_tests_begin(void)
{
    if (communicator_start_mpi() != STATUS_OK || communicator_start(&ranks) != STATUS_OK) {
        fprintf(stderr, "%s\n", status_message());
        exit(EXIT_FAILURE);
    }
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failed check aborts rather than goes on with the next test */
    signal(SIGABRT, mpi_end_all_ranks);
    if (ranks.rank > 0 && !freopen("/dev/null", "w", stdout)) {
        fprintf(stderr, "/dev/null cannot be opened\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* What aborts nowhere, like a setup that fails, ends all ranks here. */
static inline int mpi_tests_end(int failed)
{
    if (failed != 0)
        mpi_end_all_ranks(0);
    MPI_Finalize();
    return EXIT_SUCCESS;
}

#define MPI_TEST_MAIN(setup, teardown)                                                                       \
    int main(void)                                                                                           \
    {                                                                                                        \
        mpi_tests_begin();                                                                                   \
        return mpi_tests_end(run_listed_tests(setup, teardown));                                             \
    }

#endif
