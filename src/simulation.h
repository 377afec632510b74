/* Simulation: owns every part of a run and takes it through its steps. simulation_step() is the table of
 * contents of the program. */
#ifndef RADIXPIC_SIMULATION_H
#define RADIXPIC_SIMULATION_H

#include "config/config.h"
#include "device/device.h"
#include "diag/energy.h"
#include "diag/history.h"
#include "domain/fields.h"
#include "domain/particles.h"
#include "domain/slab.h"
#include "field/deposit.h"
#include "field/filter.h"
#include "field/poisson.h"
#include "push/advance.h"
#include "push/push.h"
#include "sort/cell_key.h"
#include "sort/permute.h"
#include "sort/sorter.h"

/* Where the diagnostics of a run go. Nothing is owned; what is NULL is not written. */
struct simulation_output {
    struct history *history;
    const char *snapshot_folder;
};

/* Which steps' launches are timed (device_weigh_times()). */
enum simulation_timing {
    TIME_SAMPLES, /* one in SIMULATION_TIMED_EVERY stands for all, where timing costs and the run is long */
    TIME_EVERY_STEP,
    TIME_NO_STEP
};

enum { SIMULATION_TIMED_EVERY = 7 }; /* no divisor or multiple of how often people write a history */

struct simulation {
    const struct config *config;     /* not owned */
    struct device *device;           /* not owned */
    struct simulation_output output; /* set by the caller before the first step */
    enum simulation_timing timing;   /* may be set between steps */
    struct slab slab;
    struct grid grid;
    uint64_t step; /* n: the next simulation_step() starts with positions at n and velocities at n-1/2 */

    struct particles particles[CONFIG_MAX_SPECIES]; /* config->species_count of them */
    struct fields fields;
    struct buffer *permutation; /* of the species being sorted */

    /* Of every plain step; a fused run needs them for its first order only. */
    struct sorter_plan plan;
    struct cell_key *cell_key;
    struct sorter *sorter;
    struct permute *permute;

    enum advance_kind advance_kind; /* ADVANCE_NONE: plain steps */
    struct advance *advance;        /* NULL in plain steps */

    struct deposit *deposit;
    struct filter *filter;
    struct poisson *poisson;
    struct push *push;
    struct energy *energy;

    struct field_sums field_sums; /* of the last step that needed them */
    struct history_row row;       /* the last measured step */
    double first_energy;          /* total energy at step 0 */
};

/* Builds every part on the device and loads the particles. The caller destroys it, also after a failure, and
 * keeps config and device alive until then. */
STATUS_CHECKED enum status simulation_create(const struct config *config, struct device *device,
                                             struct simulation *simulation);
void simulation_destroy(struct simulation *simulation);

/* One step n -> n+1 with its diagnostics; the last step (n = time.steps) measures and moves nothing.
 * STATUS_FAILED also when an energy is not a number. */
STATUS_CHECKED enum status simulation_step(struct simulation *simulation);

/* Whether the last step is done: time.steps + 1 calls of simulation_step() were made. */
bool simulation_done(const struct simulation *simulation);

/* Whether the timers of this run come from one step in SIMULATION_TIMED_EVERY. */
bool simulation_samples_times(const struct simulation *simulation);

/* Relative change of the total energy since step 0, in the step just made; NaN when that was not measured. */
double simulation_energy_drift(const struct simulation *simulation);

/* How a run of this config steps on this device: the kind of the fused step, or ADVANCE_NONE for the plain
 * one. STATUS_USAGE where a fused step is asked for that there is not. */
STATUS_CHECKED enum status simulation_plan_step(const struct config *config, const struct device_info *info,
                                                enum advance_kind *kind);

/* Macro-particles of all species. */
uint64_t simulation_particles(const struct config *config);

/* How the particles will be sorted: one sorter serves all species, planned for the largest. */
STATUS_CHECKED enum status simulation_plan_sort(const struct config *config, const struct device_info *info,
                                                struct sorter_plan *plan);

/* The most device bytes that a run holds at a time. STATUS_USAGE when the sort's parameters do not fit the
 * device.
 */
STATUS_CHECKED enum status simulation_bytes(const struct config *config, const struct device_info *info,
                                            uint64_t *bytes);

#endif
