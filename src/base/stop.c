/* Stop: the handler, and the one flag it sets. */
#include "base/stop.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static const int watched[] = {SIGTERM, SIGINT};
static const double same_request = 0.5; /* seconds */

static volatile sig_atomic_t noted;
static struct timespec noted_at; /* of the handler alone, which nothing interrupts */

static void note(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (noted == 0) {
        noted_at = now;
        noted = number;
        return;
    }
    const double since =
        (double)(now.tv_sec - noted_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - noted_at.tv_nsec);
    if (since < same_request)
        return;
    signal(number, SIG_DFL);
    raise(number); /* which comes when this function returns */
}

void stop_watch(void)
{
    noted = 0;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t n = 0; n < sizeof watched / sizeof watched[0]; n++)
        sigaddset(&action.sa_mask, watched[n]);
    for (size_t n = 0; n < sizeof watched / sizeof watched[0]; n++)
        sigaction(watched[n], &action, NULL);
}

int stop_signal(void)
{
    return noted;
}
