/* Thread: one of this program's own. */
#ifndef RADIXPIC_BASE_THREAD_H
#define RADIXPIC_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread in which every signal is blocked: signals are for the threads of the caller. 0, or an
 * errno. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
