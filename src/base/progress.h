/* Progress: where a run stands. On a terminal one live line, elsewhere a line every tenth of the way. A
 * line's rate is that since the line before. Its ETA is from the mean of all steps but the first, outputs
 * included: that step builds what is built late, and stands for a start that does not come again. */
#ifndef RADIXPIC_BASE_PROGRESS_H
#define RADIXPIC_BASE_PROGRESS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* When so many steps were done. */
struct progress_mark {
    uint64_t step;
    double time; /* seconds of timer_now() */
};

struct progress {
    struct log *log;                          /* not owned */
    bool live;                                /* one line, rewritten in place */
    uint64_t first;                           /* step that it began with */
    uint64_t steps;                           /* of the whole run */
    uint64_t particles;                       /* moved in each step */
    double started;                           /* seconds of timer_now() */
    struct progress_mark warm, shown, logged; /* after the first step; of the last live and logged lines */
    uint64_t next_tenth;                      /* 1..10: the next line to log */
};

/* Live where the log's terminal is one and shows normal lines. */
struct progress progress_begin(struct log *log, uint64_t first, uint64_t steps, uint64_t particles);

/* Whether progress_update() has something to do, for which the device must have done its steps. */
bool progress_is_due(const struct progress *progress, uint64_t step);

/* Step number `step` is done; the first one of the run only starts the clocks. `drift` is the relative change
 * of the total energy since step 0 (NaN: not known, not shown). */
void progress_update(struct progress *progress, uint64_t step, double drift);

/* Ends the live line, so that what follows starts a line of its own. */
void progress_end(struct progress *progress);

#endif
