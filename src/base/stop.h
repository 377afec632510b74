/* Stop: SIGTERM and SIGINT as a request that the run checks between steps. A second one ends the process at
 * once, unless it comes within half a second: timeout, mpirun and terminals send one request as two signals.
 */
#ifndef RADIXPIC_BASE_STOP_H
#define RADIXPIC_BASE_STOP_H

/* From now on the first SIGTERM or SIGINT is only noted. */
void stop_watch(void);

/* The signal that came since, or 0. */
int stop_signal(void);

#endif
