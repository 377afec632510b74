/* Timer: stage sums and the wall clock. */
#include "base/timer.h"

#include <time.h>

static const char *const stage_names[STAGE_COUNT] = {
    [STAGE_LOAD] = "load",
    [STAGE_COUNT_CELLS] = "count",
    [STAGE_SORT_TRANSPOSE] = "sort: transpose",
    [STAGE_SORT_HISTOGRAM] = "sort: histogram",
    [STAGE_SORT_SCAN] = "sort: scan",
    [STAGE_SORT_REORDER] = "sort: reorder",
    [STAGE_SORT_OFFSETS] = "sort: cell offsets",
    [STAGE_PERMUTE] = "permute",
    [STAGE_EXCHANGE] = "exchange",
    [STAGE_DEPOSIT] = "deposit",
    [STAGE_HALO] = "halo",
    [STAGE_FIELD] = "field",
    [STAGE_COLLISIONS] = "collisions",
    [STAGE_PUSH] = "push",
    [STAGE_OUTPUT] = "output",
    [STAGE_WAIT] = "wait for files",
    [STAGE_OTHER] = "other",
    [STAGE_START_MPI] = "start: MPI",
    [STAGE_START_DEVICE] = "start: device",
    [STAGE_START_KERNELS] = "start: kernels",
    [STAGE_START_OTHER] = "start: other",
};

static double begin;

const char *stage_name(enum stage stage)
{
    return stage_names[stage];
}

void timers_add(struct timers *timers, enum stage stage, double seconds, uint64_t bytes, uint32_t weight)
{
    struct stage_time *time = &timers->stages[stage];
    time->seconds += weight * seconds;
    time->bytes += weight * bytes;
    time->launches += weight;
}

double timer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void timer_begin(void)
{
    begin = timer_now();
}

double timer_since_begin(void)
{
    return timer_now() - begin;
}
