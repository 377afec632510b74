/* Stop: SIGTERM and SIGINT as a wish that the run looks at between steps. The second one ends the process at
 * once. */
#ifndef RADIXPIC_BASE_STOP_H
#define RADIXPIC_BASE_STOP_H

/* From now on the first SIGTERM or SIGINT is only noted. */
void stop_watch(void);

/* The signal that came since, or 0. */
int stop_signal(void);

/* Back to what the system does with signals. */
void stop_unwatch(void);

#endif
