/* Stage table: how long each stage of a run took, on the terminal and in timers.csv. */
#ifndef RADIXPIC_DIAG_STAGE_TABLE_H
#define RADIXPIC_DIAG_STAGE_TABLE_H

#include "base/log.h"
#include "base/status.h"
#include "base/timer.h"

/* A run as a whole. */
struct run_cost {
    uint64_t steps;
    uint64_t particles;   /* of all species */
    double wall_seconds;  /* of the step loop */
    uint32_t timed_every; /* steps, of which one is timed and stands for all */
};

/* One line a stage: seconds, share of the loop's wall time, GB/s of the bytes that had to move, million
 * particles/s. */
void stage_table_print(struct log *log, const struct timers *timers, const struct run_cost *cost);

/* FOLDER/timers.csv: stage,seconds,launches,bytes,gigabytes_per_second,particles_per_second, and a row for
 * the wall time. STATUS_FAILED names path and errno text. */
STATUS_CHECKED enum status stage_table_write(const char *folder, const struct timers *timers,
                                             const struct run_cost *cost);

#endif
