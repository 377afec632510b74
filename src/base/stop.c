/* Stop: the handler, and the one flag it sets. */
#include "base/stop.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
static sigset_t ignored; /* when the program started */

static const double same_request = 0.5; /* seconds */

static volatile sig_atomic_t noted;
static volatile sig_atomic_t is_asked; /* a SIGTERM or SIGINT came */
static struct timespec asked_at;       /* of the handler alone, which none of its signals interrupts */

static void note(int number)
{
    struct timespec now;
    if (noted == 0)
        noted = number;
    if (number != SIGTERM && number != SIGINT)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!is_asked) {
        asked_at = now;
        is_asked = 1;
        return;
    }
    const double since =
        (double)(now.tv_sec - asked_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - asked_at.tv_nsec);
    if (since < same_request)
        return;
    signal(number, SIG_DFL);
    raise(number); /* which comes when this function returns */
}

static void survive_writes(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void stop_begin(void)
{
    struct sigaction action;
    sigemptyset(&ignored);
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        if (sigaction(all[n], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            sigaddset(&ignored, all[n]);
    survive_writes();
}

void stop_watch(const int *signals, size_t count)
{
    noted = is_asked = 0;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t n = 0; n < count; n++)
        sigaddset(&action.sa_mask, signals[n]);
    for (size_t n = 0; n < count; n++)
        sigaction(signals[n], &action, NULL);
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        if (sigismember(&ignored, all[n]))
            signal(all[n], SIG_IGN);
    survive_writes();
}

void stop_watch_all(void)
{
    stop_watch(all, sizeof all / sizeof all[0]);
}

int stop_signal(void)
{
    return noted;
}

const char *stop_name(int number)
{
    return sigabbrev_np(number);
}
