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

static int end_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
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
    return end_of(child);
}

TEST(a_later_request_ends_the_process)
{
    static const struct {
        int first, echo, later, end;              /* 0: none; of -end the process dies */
    } cases[] = {{SIGTERM, SIGTERM, 0, SURVIVED}, /* the first is noted, and so is its echo; */
                 {SIGINT, SIGTERM, 0, SURVIVED},        {SIGTERM, SIGINT, 0, SURVIVED},
                 {SIGTERM, SIGTERM, SIGTERM, -SIGTERM}, /* a later one ends the process; */
                 {SIGTERM, SIGTERM, SIGINT, -SIGINT},   {SIGINT, SIGTERM, SIGTERM, -SIGTERM},
                 {SIGTERM, SIGTERM, SIGKILL, -SIGKILL}, /* others are not watched; */
                 {SIGUSR1, SIGTERM, 0, -SIGUSR1},       {SIGQUIT, SIGTERM, 0, -SIGQUIT},
                 {SIGXCPU, SIGXCPU, SIGXCPU, SURVIVED}, /* what comes after an announcement */
                 {SIGHUP, SIGXCPU, SIGTERM, SURVIVED},  /* is the first request */
                 {SIGHUP, SIGTERM, SIGHUP, SURVIVED}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        assert_int_equal(end_of_child(cases[n].first, cases[n].echo, cases[n].later), cases[n].end);
}

TEST(aborts_are_explained_until_that_ends)
{
    static const int numbers[] = {SIGABRT, SIGBUS};
    for (int n = 0; n < 4; n++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const bool has_begun = stop_begin() == STATUS_OK;
            stop_explain("a library ended the program\n");
            if (n >= 2)
                stop_explain_end();
            stop_explain(NULL); /* of a kernel that is made later */
            raise(has_begun ? numbers[n % 2] : SIGKILL);
        }
        assert_int_equal(end_of(child), n < 2 ? STATUS_NO_DEVICE : -numbers[n % 2]);
    }
}

static void end_with_seven(int number)
{
    (void)number;
    _exit(7);
}

/* In a process that has not begun: its handler comes after the sentence, which is printed in a guard alone.
 */
TEST(aborts_of_another_process_are_explained_in_a_guard)
{
    static const char sentence[] = "a library ended the process\n";
    for (int n = 0; n < 6; n++) {
        const int number = n % 2 ? SIGABRT : SIGBUS;
        char said[sizeof sentence] = "";
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            dup2(ends[1], STDERR_FILENO);
            signal(number, end_with_seven);
            stop_guard(true);
            stop_guard(true);
            stop_explain(sentence);
            stop_guard(false);
            if (n >= 4)
                stop_guard(false);
            if (n >= 2)
                stop_explain(NULL); /* of a kernel that is made later */
            raise(number);
        }
        assert_int_equal(end_of(child), 7);
        close(ends[1]);
        assert_true(read(ends[0], said, sizeof said - 1) >= 0);
        close(ends[0]);
        assert_string_equal(said, n < 4 ? sentence : "");
    }
}

TEST(what_was_ignored_stays_ignored)
{
    signal(SIGHUP, SIG_IGN);
    stop_note_ignored();
    set_handlers_of_a_library();
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
