/* Stop: a signal ends the process until it is watched, then the first is noted, its echo too, and a later
 * request to end does end the process; what was ignored stays ignored; handlers of libraries never run. The
 * clock is the test's own. */
#include "support/test_support.h"

#include "base/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ECHO = 499, LATER = 501 /* milliseconds after the first */, SURVIVED = 17 };

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
static atomic_long now = 3700; /* milliseconds */
static atomic_int asked;       /* how often the time was asked for */

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){now / 1000, now % 1000 * 1000000};
    asked++;
    return 0;
}

static void handle(int number)
{
    (void)number;
    _exit(1);
}

/* As LLVM does it. */
static void set_handlers_of_a_library(void)
{
    for (int number = 1; number < NSIG; number++)
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, handle);
}

/* Sends a signal to the process, and waits until it is dealt with. */
static void send(int number)
{
    const int before = asked;
    const bool asks = number == SIGINT || number == SIGTERM;
    sigset_t pending;
    kill(getpid(), number);
    do {
        usleep(1000);
        sigpending(&pending);
    } while (sigismember(&pending, number) || (asks && asked == before));
    usleep(5000);
}

/* How a child ends that watches, gets `first`, soon `echo` and after a while `later` (0: none). */
static int end_of_child(int first, int echo, int later)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool right = stop_begin() == STATUS_OK;
        stop_watch(watched, sizeof watched / sizeof watched[0]);
        set_handlers_of_a_library();
        right &= stop_signal() == 0;
        send(first);
        right &= stop_signal() == first;
        now += ECHO;
        send(echo);
        right &= stop_signal() == first;
        if (later) {
            now += LATER - ECHO;
            send(later);
        }
        _exit(right ? SURVIVED : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(the_first_is_noted_and_so_is_its_echo)
{
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, 0), SURVIVED);
    assert_int_equal(end_of_child(SIGINT, SIGTERM, 0), SURVIVED);
    assert_int_equal(end_of_child(SIGTERM, SIGINT, 0), SURVIVED);
}

TEST(a_later_one_ends_the_process)
{
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, SIGTERM), -SIGTERM);
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, SIGINT), -SIGINT);
    assert_int_equal(end_of_child(SIGINT, SIGTERM, SIGTERM), -SIGTERM);
}

TEST(others_are_not_watched)
{
    assert_int_equal(end_of_child(SIGTERM, SIGTERM, SIGKILL), -SIGKILL);
    assert_int_equal(end_of_child(SIGUSR1, SIGTERM, 0), -SIGUSR1);
    assert_int_equal(end_of_child(SIGQUIT, SIGTERM, 0), -SIGQUIT);
}

TEST(what_comes_after_an_announcement_is_the_first_request)
{
    assert_int_equal(end_of_child(SIGXCPU, SIGXCPU, SIGXCPU), SURVIVED);
    assert_int_equal(end_of_child(SIGHUP, SIGXCPU, SIGTERM), SURVIVED);
    assert_int_equal(end_of_child(SIGHUP, SIGTERM, SIGHUP), SURVIVED);
}

TEST(what_was_ignored_stays_ignored)
{
    signal(SIGHUP, SIG_IGN);
    assert_int_equal(stop_begin(), STATUS_OK);
    stop_watch(watched, sizeof watched / sizeof watched[0]);
    set_handlers_of_a_library();
    send(SIGHUP);
    assert_int_equal(stop_signal(), 0);
    send(SIGXCPU);
    assert_int_equal(stop_signal(), SIGXCPU);
    assert_string_equal(stop_name(SIGXCPU), "XCPU");
}

TEST_MAIN(NULL, NULL)
