/* Stop: the first signal is noted, its echo too, a later one ends the process. */
#include "support/test_support.h"

#include "base/stop.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LATER = 700000 /* microseconds: more than an echo takes */, SURVIVED = 17 };

/* How a child ends that watches, gets `first` and `echo` at once, and `later` after a while (0: none). */
static int end_of_child(int first, int echo, int later)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        stop_watch();
        bool right = stop_signal() == 0;
        raise(first);
        right &= stop_signal() == first;
        raise(echo);
        right &= stop_signal() == first;
        if (later) {
            usleep(LATER);
            raise(later);
        }
        _exit(right ? SURVIVED : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void the_first_is_noted_and_so_is_its_echo(void **state)
{
    (void)state;
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, 0), SURVIVED);
    assert_int_equal(end_of_child(SIGINT, SIGTERM, 0), SURVIVED);
    assert_int_equal(end_of_child(SIGTERM, SIGINT, 0), SURVIVED);
}

static void a_later_one_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, SIGTERM), -SIGTERM);
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, SIGINT), -SIGINT);
    assert_int_equal(end_of_child(SIGINT, SIGTERM, SIGTERM), -SIGTERM);
}

static void others_are_not_watched(void **state)
{
    (void)state;
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, SIGKILL), -SIGKILL);
    assert_int_equal(end_of_child(SIGHUP, SIGTERM, 0), -SIGHUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_noted_and_so_is_its_echo),
        cmocka_unit_test(a_later_one_ends_the_process),
        cmocka_unit_test(others_are_not_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
