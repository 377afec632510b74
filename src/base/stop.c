/* Stop: the handler, and the one flag it sets. */
#include "base/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;

static const int watched[] = {SIGTERM, SIGINT};

static void note(int number)
{
    noted = number;
}

void stop_watch(void)
{
    noted = 0;
    /* SA_RESETHAND: the next one does what it always did, and ends the process. */
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    sigemptyset(&action.sa_mask);
    for (size_t n = 0; n < sizeof watched / sizeof watched[0]; n++)
        sigaction(watched[n], &action, NULL);
}

int stop_signal(void)
{
    return noted;
}

void stop_unwatch(void)
{
    for (size_t n = 0; n < sizeof watched / sizeof watched[0]; n++)
        signal(watched[n], SIG_DFL);
}
