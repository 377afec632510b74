/* Pool: threads that live for one list of pieces. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 };

struct run {
    const struct pool_work *work;
    size_t count;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t turned;
    size_t next; /* piece to make */
    size_t turn; /* piece to take */
    enum status status;
    char *message;
};

size_t pool_threads(void)
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof processors, &processors) == 0 ? (size_t)CPU_COUNT(&processors) : 1;
}

/* Takes piece n, whose making ended with `status`, when all pieces before it are taken. Holds the lock, but
 * not while the piece is taken. */
static void take_in_turn(struct run *run, size_t n, enum status status, void *scratch)
{
    while (run->turn != n && run->status == STATUS_OK)
        pthread_cond_wait(&run->turned, &run->lock);
    if (run->status != STATUS_OK)
        return;
    if (status == STATUS_OK && run->work->take) {
        pthread_mutex_unlock(&run->lock);
        status = run->work->take(run->work->context, n, scratch);
        pthread_mutex_lock(&run->lock);
    }
    if (status != STATUS_OK) {
        run->status = status;
        run->message = strdup(status_message()); /* of this thread */
    }
    run->turn++;
    pthread_cond_broadcast(&run->turned);
}

static void *make_pieces(void *argument)
{
    struct run *run = argument;
    void *scratch = malloc(run->work->scratch_bytes + 1);
    pthread_mutex_lock(&run->lock);
    while (run->next < run->count && run->status == STATUS_OK) {
        const size_t n = run->next++;
        pthread_mutex_unlock(&run->lock);
        const enum status status = scratch ? run->work->make(run->work->context, n, scratch)
                                           : status_fail(STATUS_FAILED, "no memory for a thread's work");
        pthread_mutex_lock(&run->lock);
        take_in_turn(run, n, status, scratch);
    }
    pthread_mutex_unlock(&run->lock);
    free(scratch);
    return NULL;
}

enum status pool_run(const struct pool_work *work, size_t count)
{
    struct run run = {.work = work, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MOST_THREADS];
    const size_t wanted = pool_threads() < count ? pool_threads() : count;
    size_t started = 0;
    sigset_t all, before;
    pthread_cond_init(&run.turned, NULL);
    sigfillset(&all); /* signals are for the thread that runs the steps */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (started + 1 < wanted && started < MOST_THREADS &&
           pthread_create(&threads[started], NULL, make_pieces, &run) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    make_pieces(&run);
    for (size_t n = 0; n < started; n++)
        pthread_join(threads[n], NULL);
    pthread_cond_destroy(&run.turned);
    if (run.status != STATUS_OK)
        run.status = status_fail(run.status, "%s", run.message ? run.message : "");
    free(run.message);
    return run.status;
}
