/* Stage table: how long each stage of a run took, on the terminal and in timers.csv.
 *
 * With several ranks the seconds of a stage are the mean over the ranks, and beside it stand the least, the
 * most, and the imbalance: the most over the mean, 1 where all ranks take equally long. Bytes, launches,
 * particles, and so rates, are of all ranks together. */
#ifndef RADIXPIC_OUTPUT_STAGE_TABLE_H
#define RADIXPIC_OUTPUT_STAGE_TABLE_H

#include "base/log.h"
#include "base/timer.h"
#include "folder/run_folder.h"
#include "parallel/communicator.h"

/* The counts and times of a run as a whole. */
struct run_cost {
    uint64_t steps;
    uint64_t advances;      /* the last step of a run does not advance the particles that it measures */
    uint64_t particles;     /* of all species and ranks */
    uint64_t own_particles; /* of all species, with this rank at the end */
    double step_seconds;    /* of this rank's step loop; the table has the loop of the slowest rank */
    double wall_seconds;    /* since this process began; the table has the slowest rank's */
    uint32_t timed_every;   /* one in so many steps is timed, and stands for all of them */
};

/* Collective. Rank 0 prints one line a stage, the stages of the start first: seconds, share of the wall
 * clock, for stages of the steps GB/s of the bytes that had to move and million particles/s; with several
 * ranks also how stages and particles spread over them. Below the stages stand `other`, what is left of the
 * wall clock (launching, waiting between stages); the sum of all these; the step loop with its rate; and the
 * wall clock of the whole process. The logs of the other ranks stay as they are. Then it writes
 * FOLDER/timers.csv with the same rows. STATUS_FAILED, on all ranks, names path and errno text. */
STATUS_CHECKED enum status stage_table_write(struct log *log, const struct run_folder *folder,
                                             const struct communicator *communicator,
                                             const struct timers *timers, const struct run_cost *cost);

#endif
