/* Thread: one of this program's own, and whether the system grants those of libraries. */
#ifndef RADIXPIC_BASE_THREAD_H
#define RADIXPIC_BASE_THREAD_H

#include "base/status.h"

#include <pthread.h>

/* Starts a thread in which every signal is blocked, for they are for the caller's threads, and which is in
 * the C locale. 0, or an errno. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Fails where the limits of the stack, of open files or of threads are too low. OpenCL drivers and MPI report
 * that by the end of the process. */
STATUS_CHECKED enum status thread_require_limits(void);

#endif
