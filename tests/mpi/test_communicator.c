/* Communicator: one rank's failure is that of all, and sums are those of the order of the ranks. */
#include "support/mpi_support.h"

#include "base/integers.h"
#include "base/pool.h"
#include "base/timer.h"

#include <float.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

TEST(the_place_among_the_ranks_is_that_of_mpi)
{
    int rank = -1, size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    assert_int_equal(ranks.rank, rank);
    assert_int_equal(ranks.size, size);
    assert_int_equal(ranks.local_rank, rank); /* ctest starts all on one machine */
    assert_int_equal(ranks.local_size, size);
    assert_true(communicator_is_parallel() == (size > 1));
    assert_true(communicator_is_first() == (rank == 0));
    struct communicator again;
    assert_ok(communicator_start(&again)); /* a second start is the same */
    assert_memory_equal(&again, &ranks, sizeof again);
}

TEST(ranks_of_a_machine_share_its_processors)
{
    uint64_t all = (uint64_t)ranks.processors;
    assert_in_range(ranks.processors, 1, pool_processors());
    communicator_sum_counts(&ranks, 1, &all);
    assert_in_range(all, ranks.size, at_least((uint64_t)get_nprocs(), (uint64_t)ranks.size));
}

/* ---- agreement ---- */

/* The codes and messages of a rank differ from those of any other. */
static enum status fail_as(int rank)
{
    static const enum status codes[] = {STATUS_FAILED, STATUS_USAGE, STATUS_NO_DEVICE, STATUS_STOPPED};
    return status_fail(codes[rank % 4], "rank %d cannot write %.*s", rank, 100 * rank,
                       "................................................................................"
                       "................................................................................"
                       "................................................................................"
                       "................................................................................");
}

/* `failing`: a bit for each rank. */
static void check_agreement(unsigned failing, int lowest)
{
    char expected_message[600];
    const enum status expected = fail_as(lowest);
    snprintf(expected_message, sizeof expected_message, "%s", status_message());
    (void)status_fail(STATUS_FAILED, "an older message");

    const enum status mine = failing >> ranks.rank & 1U ? fail_as(ranks.rank) : STATUS_OK;
    assert_int_equal(communicator_agree(&ranks, mine), expected);
    assert_string_equal(status_message(), expected_message);
    if (ranks.size > 1)
        assert_true(communicator_speaks(STATUS_FAILED) == (ranks.rank == lowest));
}

TEST(the_lowest_failure_is_that_of_all)
{
    assert_int_equal(communicator_agree(&ranks, STATUS_OK), STATUS_OK);
    for (unsigned failing = 1; failing < 1U << ranks.size; failing++) {
        int lowest = 0;
        while (!(failing >> lowest & 1U))
            lowest++;
        check_agreement(failing, lowest);
    }
}

/* ---- sums and the like ---- */

/* Numbers whose sum depends on the order: rank 0 has one, the last rank has the same with the other sign, and
 * those between have some that are lost beside it, or not. */
static double summand(int rank, size_t n)
{
    if (rank == 0)
        return 1.0;
    if (rank == ranks.size - 1)
        return n % 2 == 0 ? -1.0 : 0.25 * DBL_EPSILON * (double)n;
    return 0.75 * DBL_EPSILON * (double)(rank + (int)n);
}

TEST(sums_are_taken_in_the_order_of_the_ranks)
{
    enum { COUNT = 7 };
    double values[COUNT + 1], expected[COUNT];
    for (size_t n = 0; n < COUNT; n++) {
        values[n] = summand(ranks.rank, n);
        expected[n] = summand(0, n);
        for (int rank = 1; rank < ranks.size; rank++)
            expected[n] += summand(rank, n);
    }
    values[COUNT] = ranks.rank; /* beyond the count: stays */
    communicator_sum(&ranks, COUNT, values);
    assert_memory_equal(values, expected, sizeof expected);
    assert_true(values[COUNT] == ranks.rank);
    communicator_sum(&ranks, 0, values);
    assert_memory_equal(values, expected, sizeof expected);
}

TEST(counts_add_up_beyond_what_a_double_holds)
{
    const uint64_t large = (UINT64_C(1) << 60) + 1, size = (uint64_t)ranks.size;
    uint64_t counts[3] = {large, (uint64_t)ranks.rank, 5};
    communicator_sum_counts(&ranks, 2, counts);
    assert_true(counts[0] == large * size);
    assert_true(counts[1] == size * (size - 1) / 2);
    assert_true(counts[2] == 5);
}

TEST(who_waits_sleeps_until_the_last_has_come)
{
    const bool is_last = ranks.rank == ranks.size - 1;
    const double began = timer_now();
    const clock_t used = clock();
    if (is_last)
        usleep(300000);
    double came = is_last ? timer_now() : 0; /* the clock is the machine's, and so that of all ranks */
    assert_ok(communicator_meet(&ranks, STATUS_OK));
    const double left = timer_now();
    assert_true((double)(clock() - used) / CLOCKS_PER_SEC < 0.3 * (left - began));
    communicator_max(&ranks, 1, &came);
    assert_true(left >= came);
}

MPI_TEST_MAIN(NULL, NULL)
