/* Simulation: owns every part of a run and takes it through its steps. simulation_step() is the table of
 * contents of the program. */
#ifndef RADIXPIC_SIMULATION_H
#define RADIXPIC_SIMULATION_H

#include "base/log.h"
#include "config/config.h"
#include "device/device.h"
#include "domain/fields.h"
#include "domain/particles.h"
#include "domain/slab.h"
#include "field/deposit.h"
#include "field/field_solver.h"
#include "output/checkpoint.h"
#include "output/energy.h"
#include "output/history.h"
#include "output/outputs.h"
#include "parallel/communicator.h"
#include "parallel/crossing.h"
#include "parallel/migration.h"
#include "parallel/partition.h"
#include "push/advance.h"
#include "push/push.h"
#include "sort/cell_key.h"
#include "sort/merge.h"
#include "sort/permute.h"
#include "sort/sorter.h"

/* Which steps' launches are timed (device_weigh_times()). */
enum simulation_timing {
    TIME_SAMPLES, /* one in SIMULATION_TIMED_EVERY stands for all, where timing costs and the run is long */
    TIME_EVERY_STEP,
    TIME_NO_STEP
};

enum { SIMULATION_TIMED_EVERY = 7 }; /* no divisor or multiple of how often people write a history */

struct simulation {
    const struct config *config;            /* not owned */
    struct device *device;                  /* not owned */
    struct device *grid_parts, *list_parts; /* branches of it: what is built anew with the slab or lists */
    struct log *log; /* set by the caller; for what happens on the way: rows that change hands */
    enum simulation_timing timing; /* may be set between steps */
    uint64_t step;   /* n: the next simulation_step() starts with positions at n and velocities at n-1/2 */
    bool is_restart; /* the first step is not step 0 from loaded particles */
    uint64_t first_step;

    struct communicator communicator;
    struct partition partition; /* the rows of every rank */
    struct slab slab;           /* those of this one */
    uint32_t ghost; /* rows that the slabs of all ranks were to have; where they are too many, one is whole */

    /* Each species in config->species_count lists: the main one; and on several ranks the guests, who came
     * from other ranks lately and live in a short list of their own until there are enough of them to be
     * worth merging into the long one. Both are sorted on the slab's local grid. */
    struct particles particles[CONFIG_MAX_SPECIES];
    struct particles guests[CONFIG_MAX_SPECIES];
    uint32_t capacity[CONFIG_MAX_SPECIES]; /* particles of a main list that the parts are made for */
    struct migration *migration;
    struct merge *merge;
    struct crossing *crossing; /* of fused steps, where all ranks can leave room; else NULL */
    bool has_crossed; /* nobody in the main lists is outside the own rows, since the last step saw to it */
    uint64_t left;    /* particles that this rank has sent to others */

    struct fields fields; /* of the local grid */

    /* Of every plain step, and of guests. */
    struct cell_key *cell_key;
    struct permute *permute;

    /* Of the main lists: in every plain step; a fused run needs them for the first order only. */
    struct sorter_plan plan;
    struct sorter *sorter;
    struct buffer *permutation;

    /* Of guests. */
    struct sorter *guest_sorter;
    struct buffer *guest_permutation;
    struct push *guest_push;

    enum advance_kind advance_kind; /* ADVANCE_NONE: plain steps */
    struct advance *advance;        /* NULL in plain steps */
    bool is_handed_over;            /* the advance has the main lists, in order, from the plain parts */
    bool may_go_plain; /* on several ranks, once the run began: rows and lists change, and may leave a rank
                          without the fused step that was asked for */

    struct deposit *deposit;
    struct field_solver *field_solver;
    enum decomposition_kind decomposition; /* that was taken; auto: not yet */
    struct push *push;
    struct energy *energy;
    struct outputs *outputs; /* written once the caller opens them: outputs_open() */

    unsigned needs;               /* of the outputs of this step: enum output_need */
    struct field_sums field_sums; /* of the last step that needed them */
    struct history_row row;       /* the last measured step */
    double first_energy;          /* total energy at step 0 */
};

/* Builds every part on the device and loads the particles, on one rank. The caller destroys it, also after a
 * failure, and keeps config and device alive until then. */
STATUS_CHECKED enum status simulation_create(const struct config *config, struct device *device,
                                             struct simulation *simulation);

/* The same on all ranks of a communicator, each with its share, and where `restart` is not NULL with the
 * state of that checkpoint, which checkpoint_require_same() accepted; it may be closed afterwards.
 * Collective, but a failure is that of one rank alone until the caller's communicator_meet(). */
STATUS_CHECKED enum status simulation_create_on(const struct communicator *communicator,
                                                const struct config *config, struct device *device,
                                                struct checkpoint *restart, struct simulation *simulation);
void simulation_destroy(struct simulation *simulation);

/* One step n -> n+1 with its diagnostics; the last step (n = time.steps) measures and moves nothing.
 * STATUS_FAILED also when an energy is not a number. STATUS_STOPPED after a signal (base/stop.h) to any rank,
 * once a checkpoint of step n is written. Collective. */
STATUS_CHECKED enum status simulation_step(struct simulation *simulation);

/* Whether the last step is done: time.steps + 1 calls of simulation_step() were made. */
bool simulation_done(const struct simulation *simulation);

/* Whether the timers of this run come from one step in SIMULATION_TIMED_EVERY. */
bool simulation_samples_times(const struct simulation *simulation);

/* Relative change of the total energy since step 0, in the step just made; NaN when that was not measured. */
double simulation_energy_drift(const struct simulation *simulation);

/* Particles on this rank now. */
uint64_t simulation_own_particles(const struct simulation *simulation);

/* How a run of this config on one rank steps on this device: the kind of the fused step, or ADVANCE_NONE for
 * the plain one. STATUS_USAGE where a fused step is asked for that there is not. */
STATUS_CHECKED enum status simulation_plan_step(const struct config *config, const struct device_info *info,
                                                enum advance_kind *kind);

/* Macro-particles of all species, on all ranks. */
uint64_t simulation_particles(const struct config *config);

/* How the particles will be sorted: one sorter serves all species, planned for the largest. */
STATUS_CHECKED enum status simulation_plan_sort(const struct config *config, const struct device_info *info,
                                                struct sorter_plan *plan);

/* The most device bytes that a run on one rank holds at a time, beside what VkFFT allocates for itself.
 * STATUS_USAGE when the sort's parameters do not fit the device. */
STATUS_CHECKED enum status simulation_bytes(const struct config *config, const struct device_info *info,
                                            uint64_t *bytes);

#endif
