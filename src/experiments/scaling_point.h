/* Scaling point: one run of bench scaling, a simulation on some ranks taken through timed blocks of whole
 * steps, and judged. */
#ifndef RADIXPIC_EXPERIMENTS_SCALING_POINT_H
#define RADIXPIC_EXPERIMENTS_SCALING_POINT_H

#include "experiments/step_point.h"
#include "parallel/communicator.h"

/* Of a step: seconds over the ranks, each rank's the median of its blocks, and the bytes of a rank, the mean
 * over the ranks. */
struct stage_spread {
    double least, mean, most, bytes;
};

/* The same on every rank. */
struct scaling_point {
    int ranks;
    uint64_t particles, particles_most; /* of all ranks; of the fullest */
    uint32_t cells[2], rows_most, ghost_rows;
    enum decomposition_kind decomposition; /* that was taken; replicated on one rank, which keeps all */
    char method[32];                       /* of the step on rank 0: plain, or fused and its kind */
    uint32_t steps;                        /* of a block */
    struct samples wall;                   /* seconds of a block on the slowest rank */
    struct stage_spread stages[STAGE_OTHER];
    double leavers;            /* particles that leave a rank in a step, the mean */
    uint64_t steps_done;       /* with the warm-up */
    double early_field_energy; /* after a few steps, when round-off has not grown yet */
    double energy_drift;
    bool verified;
    char verdict[256]; /* what was checked, or what was wrong */
};

/* Collective over the ranks of `communicator`, which may be rank 0 alone. `alone` is the run of the same
 * config on one rank, which the field must agree with, or NULL. A result that is wrong is no failure of this
 * function: see `verified`. */
STATUS_CHECKED enum status scaling_point_run(const struct step_setup *setup,
                                             enum decomposition_kind decomposition,
                                             const struct communicator *communicator, struct device *device,
                                             const struct scaling_point *alone, struct scaling_point *point);

/* Median seconds of a step. */
double scaling_point_seconds(const struct scaling_point *point);

/* Particle-steps a second, of all ranks. */
double scaling_point_rate(const struct scaling_point *point);

/* Most particles of a rank over the mean. */
double scaling_point_imbalance(const struct scaling_point *point);

#endif
