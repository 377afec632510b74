/* Pool: every piece is made once and taken in order, and the first failure in that order is the one that
 * counts. */
#include "support/test_support.h"

#include "base/pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PIECES = 1000, NONE = PIECES };

struct record {
    atomic_int made[PIECES];
    size_t taken; /* pieces 0 to taken-1 */
    size_t fail_make, fail_take;
};

/* The earlier of two pieces takes longer, so that threads come in another order. */
static enum status make(void *context, size_t n, void *scratch)
{
    struct record *record = context;
    atomic_fetch_add(&record->made[n], 1);
    if (n % 2 == 0)
        usleep(10);
    memcpy(scratch, &n, sizeof n);
    return n == record->fail_make ? status_fail(STATUS_FAILED, "piece %zu is not made", n) : STATUS_OK;
}

static enum status take(void *context, size_t n, void *scratch)
{
    struct record *record = context;
    size_t made;
    memcpy(&made, scratch, sizeof made);
    if (made != n || record->taken != n)
        return status_fail(STATUS_USAGE, "piece %zu is taken as number %zu, where %zu was made", n,
                           record->taken, made);
    record->taken++;
    return n == record->fail_take ? status_fail(STATUS_STOPPED, "piece %zu is not taken", n) : STATUS_OK;
}

static enum status run(struct record *record, size_t count, size_t fail_make, size_t fail_take)
{
    *record = (struct record){.fail_make = fail_make, .fail_take = fail_take};
    const struct pool_work work = {make, take, record, sizeof(size_t)};
    return pool_run(&work, count);
}

TEST(all_pieces_are_made_once_and_taken_in_order)
{
    static const size_t counts[] = {0, 1, 2, PIECES};
    struct record record;
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        assert_ok(run(&record, counts[k], NONE, NONE));
        assert_int_equal(record.taken, counts[k]);
        for (size_t n = 0; n < PIECES; n++)
            assert_int_equal(record.made[n], n < counts[k]);
    }
}

TEST(the_first_failure_in_order_is_returned)
{
    struct record record;
    assert_int_equal(run(&record, PIECES, 301, 300), STATUS_STOPPED);
    assert_string_equal(status_message(), "piece 300 is not taken");
    assert_int_equal(record.taken, 301);
    assert_int_equal(run(&record, PIECES, 300, 301), STATUS_FAILED);
    assert_string_equal(status_message(), "piece 300 is not made");
    assert_int_equal(record.taken, 300);
}

struct shared_record {
    atomic_int made[PIECES];
    atomic_bool is_seen[2];
};

static void share_one(const void *context, size_t n)
{
    atomic_fetch_add(&((struct shared_record *)(uintptr_t)context)->made[n], 1);
}

/* Two pieces of which each waits for the other: only two threads end them. */
static void meet(const void *context, size_t n)
{
    struct shared_record *record = (struct shared_record *)(uintptr_t)context;
    record->is_seen[n] = true;
    while (!record->is_seen[1 - n])
        sched_yield();
}

static void share_within(const void *context, size_t n)
{
    (void)n;
    pool_share(2, PIECES, share_one, context);
}

TEST(short_pieces_are_made_once_by_any_number_of_threads)
{
    static const size_t threads[] = {0, 1, 2, 7, 1000}, counts[] = {0, 1, 2, 9, PIECES};
    for (size_t k = 0; k < 25; k++) {
        struct shared_record record = {0};
        pool_share(threads[k / 5], counts[k % 5], share_one, &record);
        for (size_t n = 0; n < PIECES; n++)
            assert_int_equal(record.made[n], n < counts[k % 5]);
    }
}

TEST(short_pieces_are_made_at_the_same_time)
{
    cpu_set_t processors;
    assert_int_equal(sched_getaffinity(0, sizeof processors, &processors), 0);
    if (CPU_COUNT(&processors) < 2)
        skip();
    for (int n = 0; n < 100; n++)
        pool_share(2, 2, meet, &(struct shared_record){0});
}

TEST(a_list_that_comes_while_one_is_shared_is_made_too)
{
    struct shared_record record = {0};
    pool_share(7, 9, share_within, &record);
    for (size_t n = 0; n < PIECES; n++)
        assert_int_equal(record.made[n], 9);
}

TEST_MAIN(NULL, NULL)
