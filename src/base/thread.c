/* Thread: a new one takes the mask of signals from the thread that creates it. */
#include "base/thread.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

enum {
    LEAST_STACK = 1 << 20, /* bytes; the threads of PoCL, which compile, have the same */
    LEAST_FILES = 64,      /* the link of a kernel takes 16; MPI and the outputs need more */
    MORE_THREADS = 4       /* than PoCL: of MPI and of this program */
};

int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static enum status require(__rlimit_resource_t resource, rlim_t least, const char *what)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur >= least)
        return STATUS_OK;
    return status_fail(STATUS_FAILED, "the limit of %s is %llu, and at least %llu are needed", what,
                       (unsigned long long)limit.rlim_cur, (unsigned long long)least);
}

/* One thread starts the next and waits for it, until *left is 0 or no more can be started. */
static void *start_next(void *left)
{
    pthread_t next;
    if (--*(int *)left > 0 && thread_start(&next, start_next, left) == 0)
        pthread_join(next, NULL);
    return NULL;
}

enum status thread_require_limits(void)
{
    const char *most = getenv("POCL_MAX_PTHREAD_COUNT");
    const int processors = get_nprocs(), chosen = most ? atoi(most) : 0;
    const int wanted = MORE_THREADS + (chosen > 0 && chosen < processors ? chosen : processors);
    int left = wanted + 1;
    TRY(require(RLIMIT_STACK, LEAST_STACK, "the stack in bytes (ulimit -s)"));
    TRY(require(RLIMIT_NOFILE, LEAST_FILES, "open files (ulimit -n)"));
    start_next(&left);
    return left == 0 ? STATUS_OK
                     : status_fail(STATUS_FAILED,
                                   "only %d threads can be started, and %d are needed (ulimit -u bounds how "
                                   "many a user has, ulimit -v their memory)",
                                   wanted - left, wanted);
}
