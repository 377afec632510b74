/* Stop: the thread that receives signals, and what it notes. */
#include "base/stop.h"

#include "base/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU, SIGQUIT};
enum { ALL = sizeof all / sizeof all[0] };
static sigset_t received; /* all of them */
static sigset_t ignored;  /* when the program started */
static bool has_begun;

static const double same_request = 0.5; /* seconds */

static atomic_ullong watched; /* bit n: signal n */
static atomic_int noted;

/* Ends the process as the system does by default. A library may set a handler again between the two calls. */
static _Noreturn void end_by(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    for (;;) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* Whether a SIGTERM or SIGINT came before, and is no part of the same request. */
static bool is_second(void)
{
    static struct timespec first; /* of the one thread that comes here */
    static bool is_asked;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!is_asked)
        first = now;
    is_asked = true;
    return (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) >= same_request;
}

static void *receive(void *unused)
{
    for (int number;;) {
        if (sigwait(&received, &number) != 0 || sigismember(&ignored, number))
            continue;
        if ((atomic_load(&watched) >> number & 1) == 0)
            end_by(number);
        int none = 0;
        atomic_compare_exchange_strong(&noted, &none, number);
        if ((number == SIGTERM || number == SIGINT) && is_second())
            end_by(number);
    }
    return unused;
}

void stop_note_ignored(void)
{
    struct sigaction action;
    sigemptyset(&ignored);
    for (size_t n = 0; n < ALL; n++)
        if (sigaction(all[n], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            sigaddset(&ignored, all[n]);
}

enum status stop_begin(void)
{
    pthread_t thread;
    sigemptyset(&received);
    for (size_t n = 0; n < ALL; n++)
        sigaddset(&received, all[n]);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    has_begun = true;
    sigset_t blocked = received;
    sigaddset(&blocked, SIGPIPE); /* for which a library may set a handler, too */
    sigaddset(&blocked, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    const int error = thread_start(&thread, receive, NULL);
    return error == 0 ? STATUS_OK : status_fail(STATUS_FAILED, "cannot start a thread: %s", strerror(error));
}

void stop_watch(const int *signals, size_t count)
{
    unsigned long long bits = 0;
    for (size_t n = 0; n < count; n++)
        bits |= 1ULL << signals[n];
    atomic_store(&watched, bits);
}

void stop_watch_all(void)
{
    stop_watch(all, ALL - 1); /* SIGQUIT always ends the process */
}

static const char *explanation;
static const int explained[] = {SIGABRT, SIGBUS};
enum { EXPLAINED = sizeof explained / sizeof explained[0] };

static pthread_mutex_t guarding = PTHREAD_MUTEX_INITIALIZER;
static unsigned guards;
static struct sigaction of_process[EXPLAINED]; /* before the first guard */

static void give_back_signals(void)
{
    for (size_t n = 0; n < EXPLAINED; n++)
        sigaction(explained[n], &of_process[n], NULL);
}

static void explain(int number)
{
    const bool is_written = write(STDERR_FILENO, explanation, strlen(explanation)) >= 0;
    if (has_begun && is_written)
        _exit(STATUS_NO_DEVICE);
    if (has_begun)
        end_by(number);
    give_back_signals();
    raise(number); /* it comes when this handler has returned */
}

/* With `guarding` locked: or a guard might end in between, and the handler stay. */
static void install(const char *sentence)
{
    explanation = sentence ? sentence : explanation;
    for (size_t n = 0; explanation && (has_begun || guards > 0) && n < EXPLAINED; n++)
        signal(explained[n], explain);
}

void stop_explain(const char *sentence)
{
    pthread_mutex_lock(&guarding);
    install(sentence);
    pthread_mutex_unlock(&guarding);
}

void stop_guard(bool begins)
{
    pthread_mutex_lock(&guarding);
    for (size_t n = 0; begins && guards == 0 && n < EXPLAINED; n++)
        sigaction(explained[n], NULL, &of_process[n]);
    guards = begins ? guards + 1 : guards - 1;
    if (guards == 0)
        give_back_signals();
    else
        install(NULL);
    pthread_mutex_unlock(&guarding);
}

void stop_explain_end(void)
{
    for (size_t n = 0; has_begun && explanation && n < EXPLAINED; n++)
        signal(explained[n], SIG_DFL);
    explanation = NULL;
}

int stop_signal(void)
{
    return atomic_load(&noted);
}

const char *stop_name(int number)
{
    return sigabbrev_np(number);
}
