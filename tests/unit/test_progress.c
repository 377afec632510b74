/* Progress: rates and ETAs, by a clock of the test's own. */
#include "support/test_support.h"

#include "base/progress.h"

#include <time.h>

static long now; /* milliseconds */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){now / 1000, now % 1000 * 1000000};
    return 0;
}

/* A start of 60 s; then 40 steps of 0.1 s, every fourth with an output of 1.6 s; from half way on twice that.
 */
TEST(rates_are_of_the_last_interval_and_the_start_is_in_no_eta)
{
    char text[2048] = "";
    struct log log = {.file = fmemopen(text, sizeof text, "w")};
    struct progress progress = progress_begin(&log, 0, 40, 1000000);
    now += 60000;
    for (uint64_t step = 0; step <= 40; step++) {
        progress_update(&progress, step, step == 24 ? 1e-3 : (double)NAN);
        now += (step >= 20 ? 2 : 1) * (step % 4 == 3 ? 1700 : 100);
    }
    fclose(log.file);
    assert_ptr_equal(strstr(text, "step 4/40  10 % 2.0 M particles/s elapsed 1:02 ETA 0:18\n"), text);
    assert_non_null(strstr(text, "step 20/40  50 % 2.0 M particles/s elapsed 1:10 ETA 0:10\n"));
    assert_non_null(
        strstr(text, "step 24/40  60 % 1.0 M particles/s elapsed 1:14 ETA 0:09 energy drift +1.00e-03\n"));
    assert_non_null(strstr(text, "step 40/40 100 % 1.0 M particles/s elapsed 1:30 ETA 0:00\n"));
}

TEST_MAIN(NULL, NULL)
