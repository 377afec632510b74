/* Step point: one point of bench step, a simulation of given size taken through timed blocks of whole steps,
 * and judged, so that a wrong step is never reported as fast. */
#ifndef RADIXPIC_EXPERIMENTS_STEP_POINT_H
#define RADIXPIC_EXPERIMENTS_STEP_POINT_H

#include "config/config.h"
#include "device/device.h"
#include "experiments/samples.h"

/* Electrons of thermal velocity 1 with a wave of k = 0.5, or as near to that as the box allows. Words are
 * those of the config's schema; they belong to the caller. */
struct step_setup {
    uint64_t particles;
    uint32_t cells[2];
    double length[2]; /* of the box */
    const char *shape, *precision, *step_method;
    const char *sort_method; /* NULL: as the schema says */
    bool hot;                /* half of the particles stand in one cell; so thin that no field moves them */
    uint32_t steps;          /* of a block; 0: as many as take a few tenths of a second */
    uint32_t repeats;        /* timed blocks */
};

struct step_point {
    uint32_t steps;      /* of a block */
    struct samples wall; /* seconds of a block, from one wait for the device to the next */
    struct samples stages[STAGE_COUNT];
    uint64_t stage_bytes[STAGE_COUNT]; /* of the last block */
    char step[32];                     /* the method taken: plain, or fused and its kind */
    char sort[256];                    /* of a plain step; "" */
    size_t bytes_held;                 /* in device arrays, after the last block */
    uint64_t steps_done;               /* with the warm-up */
    double energy_drift;
    bool verified;
    char verdict[256]; /* what was checked, or what was wrong */
};

/* The config of a point, through the config's own schema and checks: STATUS_USAGE for what they refuse. */
STATUS_CHECKED enum status step_point_config(const struct step_setup *setup, struct config *config);

/* Runs one point: a warm-up block, timed blocks in pairs, one for the wall clock without events and one for
 * the stages with them, then one step that only measures. A result that is wrong is no failure of this
 * function: see `verified`. */
STATUS_CHECKED enum status step_point_run(const struct step_setup *setup, struct device *device,
                                          struct step_point *point);

/* The relative change of the total energy that so many right steps may show. */
double step_point_allowed_drift(const struct step_setup *setup, const struct config *config, uint64_t steps);

/* Median nanoseconds that one particle takes for one step. */
double step_point_nanoseconds(const struct step_setup *setup, const struct step_point *point, double seconds);

#endif
