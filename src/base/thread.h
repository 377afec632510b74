/* Thread: one of this program's own, and whether the system grants those of libraries; the locale of a
 * thread. */
#ifndef RADIXPIC_BASE_THREAD_H
#define RADIXPIC_BASE_THREAD_H

#include "base/status.h"

#include <locale.h>
#include <pthread.h>

/* Starts a thread in which every signal is blocked: they are for the caller's threads. 0, or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Fails where the limits of the stack, of open files or of threads are too low. OpenCL drivers and MPI report
 * that by the end of the process. */
STATUS_CHECKED enum status thread_require_limits(void);

static inline void thread_set_locale(const locale_t *locale)
{
    uselocale(*locale);
}

/* From here to the end of the block numbers of this thread have a decimal point, whatever the host has set.
 * Public functions and threads of the library begin so. The C locale takes no memory. */
#define IN_C_LOCALE                                                                                          \
    locale_t of_host __attribute__((cleanup(thread_set_locale), unused)) =                                   \
        uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0))

#endif
