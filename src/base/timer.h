/* Timer: how long each stage of a run took and how many bytes it had to move.
 *
 * Device stages are fed from OpenCL events (see device/device.h), host stages from the wall clock.
 */
#ifndef RADIXPIC_BASE_TIMER_H
#define RADIXPIC_BASE_TIMER_H

#include <stdint.h>

/* In the order of one step, which is the order of the printed table; those of the start stand above them. */
enum stage {
    STAGE_LOAD,
    STAGE_COUNT_CELLS, /* of a fused step: the push that only counts */
    STAGE_SORT_TRANSPOSE,
    STAGE_SORT_HISTOGRAM,
    STAGE_SORT_SCAN,
    STAGE_SORT_REORDER,
    STAGE_SORT_OFFSETS,
    STAGE_PERMUTE,
    STAGE_EXCHANGE, /* particles to other ranks; neither this nor the halo on one rank */
    STAGE_DEPOSIT,
    STAGE_HALO, /* node rows and field between ranks */
    STAGE_FIELD,
    STAGE_COLLISIONS,
    STAGE_PUSH,
    STAGE_OUTPUT, /* copies of what is written beside the steps */
    STAGE_WAIT,   /* for files that are being written */
    STAGE_OTHER,  /* what is timed but not part of the table: a copy, a transfer */
    STAGE_START_MPI,
    STAGE_START_DEVICE,
    STAGE_START_KERNELS, /* reading and building them, also later than at the start */
    STAGE_START_OTHER,   /* config, memory, plans, folders */
    STAGE_COUNT
};

struct stage_time {
    double seconds;
    uint64_t bytes;    /* that the algorithm must move, not what the hardware moved */
    uint64_t launches; /* kernels, transforms or files */
};

struct timers {
    struct stage_time stages[STAGE_COUNT];
};

/* "sort: transpose", "sort: histogram", ...; a static string. */
const char *stage_name(enum stage stage);

/* Adds `weight` launches that took `seconds` and moved `bytes` each. */
void timers_add(struct timers *timers, enum stage stage, double seconds, uint64_t bytes, uint32_t weight);

/* Seconds of a monotonic clock, for differences. */
double timer_now(void);

/* The process begins now; and the seconds since then. */
void timer_begin(void);
double timer_since_begin(void);

#endif
