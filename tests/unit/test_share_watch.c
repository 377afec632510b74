/* Share watch: what takes more than half of an interval is told of, once. */
#include "support/test_support.h"

#include "base/share_watch.h"

/* Steps of one second, of which `share` is spent from second `from` on; the second in which it is told of, or
 * -1. */
static int told_at(struct share_watch *watch, int from, double share)
{
    int told = -1;
    double spent = 7;
    *watch = (struct share_watch){.began = 100, .spent = 7};
    for (int second = 1; second <= 200; second++) {
        spent += second > from ? share : 0;
        if (share_watch_is_most(watch, 100 + second, spent)) {
            assert_int_equal(told, -1);
            told = second;
        }
    }
    return told;
}

TEST(more_than_half_of_an_interval_is_told_of_once)
{
    struct share_watch watch;
    assert_int_equal(told_at(&watch, 0, 0.51), SHARE_WATCH_SECONDS);
    assert_int_equal(told_at(&watch, 0, 0.49), -1);
    assert_int_equal(told_at(&watch, SHARE_WATCH_SECONDS, 0.9), 2 * SHARE_WATCH_SECONDS);
    assert_int_equal(told_at(&watch, SHARE_WATCH_SECONDS - 10, 1), 2 * SHARE_WATCH_SECONDS);
}

TEST_MAIN(NULL, NULL)
