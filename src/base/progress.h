/* Progress: where a run stands. On a terminal one live line, elsewhere a line every tenth of the way. */
#ifndef RADIXPIC_BASE_PROGRESS_H
#define RADIXPIC_BASE_PROGRESS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct progress {
    struct log *log;     /* not owned */
    bool live;           /* one line, rewritten in place */
    uint64_t first;      /* step that it began with */
    uint64_t steps;      /* of the whole run */
    uint64_t particles;  /* moved in each step */
    double started;      /* seconds of timer_now() */
    double shown;        /* when the live line was last written */
    uint64_t next_tenth; /* 1..10: the next line to log */
};

/* Live where the log's terminal is one and shows normal lines. */
struct progress progress_begin(struct log *log, uint64_t first, uint64_t steps, uint64_t particles);

/* `step` steps are done, those before the first one by an earlier run; `drift` is the relative change of the
 * total energy since step 0 (NaN: not known, not shown). */
void progress_update(struct progress *progress, uint64_t step, double drift);

/* Ends the live line, so that what follows starts a line of its own. */
void progress_end(struct progress *progress);

#endif
