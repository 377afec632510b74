/* Stop: signals, as a request that the run checks between steps, or as errors of the write that met them. */
#ifndef RADIXPIC_BASE_STOP_H
#define RADIXPIC_BASE_STOP_H

#include <stddef.h>

/* The program starts: notes which signals are ignored, before libraries set handlers of their own, as LLVM
 * does. From now on a write to a closed pipe, or beyond the limit of a file's size, fails with its errno:
 * SIGPIPE and SIGXFSZ end the process no more. */
void stop_begin(void);

/* From now on the first of these signals is only noted; one that was ignored when the program started stays
 * so. A second SIGTERM or SIGINT ends the process at once, unless it comes within half a second of the first
 * of the two: timeout, mpirun and terminals send one request as two signals. No other signal ends it after
 * the first: SIGXCPU comes every second, and batch systems announce a SIGTERM by another one. */
void stop_watch(const int *signals, size_t count);

/* All those that the config may name, for what leaves nothing to go on with. */
void stop_watch_all(void);

/* The signal that came since, or 0. */
int stop_signal(void);

/* "TERM", "INT", ... */
const char *stop_name(int number);

#endif
