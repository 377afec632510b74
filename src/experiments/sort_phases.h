/* Sort phases: those of the paper's sort, as its tables name them. */
#ifndef RADIXPIC_EXPERIMENTS_SORT_PHASES_H
#define RADIXPIC_EXPERIMENTS_SORT_PHASES_H

#include "base/timer.h"

enum { SORT_PHASES = 4 };

static const struct {
    const char *name;
    enum stage stage;
} sort_phases[SORT_PHASES] = {{"transpose", STAGE_SORT_TRANSPOSE},
                              {"histogram", STAGE_SORT_HISTOGRAM},
                              {"scan", STAGE_SORT_SCAN},
                              {"reorder", STAGE_SORT_REORDER}};

#endif
