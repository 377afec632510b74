/* Simulation: owns every part of a run and takes it through its steps. simulation_step() is the table of
 * contents of the program. */
#ifndef RADIXPIC_SIMULATION_H
#define RADIXPIC_SIMULATION_H

#include "field/deposit.h"
#include "field/energy.h"
#include "field/external.h"
#include "field/field_solver.h"
#include "input/checkpoint.h"
#include "output/outputs.h"
#include "parallel/exchange.h"
#include "parallel/migrate.h"
#include "particles/collisions.h"
#include "step/stepper.h"

/* Which steps' launches are timed (device_weigh_times()). */
enum simulation_timing {
    TIME_SAMPLES, /* one in SIMULATION_TIMED_EVERY stands for all, where timing costs and the run is long */
    TIME_EVERY_STEP,
    TIME_NO_STEP
};

enum { SIMULATION_TIMED_EVERY = 7 }; /* no divisor or multiple of how often people write a history */

/* A step's sums until they are read, checked and, where a row is due, written. */
struct pending_sums {
    unsigned to_do; /* bits of simulation_sums.c; 0: nothing */
    struct history_row row;
};

struct simulation {
    const struct config *config; /* not owned */
    struct device *device;       /* owned: a handle for all that follows */
    struct log *log;             /* set by the caller; for what happens on the way: rows that change hands */
    enum simulation_timing timing; /* may be set between steps */
    _Atomic int stop_signal; /* may be set at any time, from any thread or handler: a signal as which the run
                                is to end, with a checkpoint; 0: none */
    bool reads_late; /* sums, up to SUM_SLOTS steps, so that no step waits for the device; on all ranks */
    struct outputs *outputs; /* written once the caller opens them: outputs_open() */
    unsigned needs;          /* of the outputs of this step: enum output_need */
    uint64_t step;   /* n: the next simulation_step() starts with positions at n and velocities at n-1/2 */
    bool is_solved;  /* rho and E are those of the positions at n */
    bool is_restart; /* the first step is not step 0 from loaded particles */
    uint64_t first_step;
    double started; /* timer_now() at its begin */

    struct communicator communicator;
    struct partition partition; /* the rows of every rank */
    struct slab slab;           /* those of this one */
    uint32_t ghost; /* rows that the slabs of all ranks were to have; where they are too many, one is whole */

    /* Each species: one list, sorted on the slab's local grid, of this rank's own particles. */
    struct particles particles[CONFIG_MAX_SPECIES];

    struct device *grid_parts; /* what is made for the slab: */
    struct fields fields;
    struct external *external;
    struct fields felt; /* with the external ones: what the particles feel */
    struct field_solver *field_solver;
    enum decomposition_kind decomposition; /* of the field; once measured, it stays */
    struct energy *energy;
    struct migrate *migrate;   /* of several ranks; and */
    struct exchange *exchange; /* for their slabs; else NULL */

    struct device *list_parts; /* what is made for the slab and the lengths of the lists: */
    struct stepper stepper;
    struct deposit *deposit;
    struct deposit *deposit_sources; /* rho and J; electromagnetic, else NULL */
    struct collisions *collisions;

    uint32_t changed; /* lists that the general path changed in the last step, a bit each */
    uint64_t left;    /* particles that this rank has sent to others */
    struct pending_sums pending[SUM_SLOTS];   /* of step n in n % SUM_SLOTS */
    struct history_row row;                   /* that was written last; at first its energies are NaN */
    double first_energy;                      /* total energy at step 0 */
    double drive_work;                        /* of the drives from then until the row that was added last */
    double drive_modes[CONFIG_MAX_DRIVES][2]; /* of rho in that row, a mode for each drive */
    double work[CONFIG_MAX_SPECIES]; /* of external fields on each, until half a step after that row */
};

/* Builds every part on the device and loads the particles, on one rank. The caller destroys it, also after a
 * failure, and keeps config and device alive until then. */
STATUS_CHECKED enum status simulation_create(const struct config *config, struct device *device,
                                             struct simulation *simulation);

/* Creates the simulation on all ranks of a communicator, each with its share, and where `restart` is not NULL
 * with the state of that checkpoint, which checkpoint_require_same() accepted; it may be closed afterwards.
 * Collective, but a failure is that of one rank alone until the caller's communicator_meet(). */
STATUS_CHECKED enum status simulation_create_on(const struct communicator *communicator,
                                                const struct config *config, struct device *device,
                                                const struct checkpoint *restart,
                                                struct simulation *simulation);
void simulation_destroy(struct simulation *simulation);

/* One step n -> n+1 with its outputs; the last step (n = time.steps) measures and moves nothing.
 * STATUS_FAILED also when an energy is not finite. STATUS_STOPPED after a signal (base/stop.h) to any rank,
 * once a checkpoint of step n is written. Collective. */
STATUS_CHECKED enum status simulation_step(struct simulation *simulation);

/* Room for the charge density of each species that snapshots of the config have, once on each grid. */
STATUS_CHECKED enum status simulation_make_species_rho(struct simulation *simulation);

/* What a step does first, once for each n: rho and E at n, of the positions at n. Between steps a caller may
 * read them afterwards, and write E, by which the next step pushes. Collective. */
STATUS_CHECKED enum status simulation_solve(struct simulation *simulation);

/* Between steps, after the offsets of a list were written anew in the cells `keys` of the box, uint[count] of
 * the host: every particle comes to the rank of its row, the lists are sorted again, and rho and E are to be
 * found anew. Collective. */
STATUS_CHECKED enum status simulation_sort_again(struct simulation *simulation, uint32_t species,
                                                 const uint32_t *keys);

/* Whether the last step is done: time.steps + 1 calls of simulation_step() were made. */
bool simulation_done(const struct simulation *simulation);

/* Whether the timers of this run come from one step in SIMULATION_TIMED_EVERY. */
bool simulation_samples_times(const struct simulation *simulation);

/* Relative change of the energy, less the drives' work, since step 0, in the last row written; NaN: none. */
double simulation_energy_drift(const struct simulation *simulation);

/* Particles on this rank now. */
uint64_t simulation_own_particles(const struct simulation *simulation);

/* Macro-particles of all species, on all ranks. */
uint64_t simulation_particles(const struct config *config);

/* What a run of a config on one rank takes, found by creating its parts on a counting device. */
struct simulation_plan {
    const struct stepper_kind *stepper;
    struct sorter_plan sort;
    uint64_t bytes;               /* the most that it holds on the device at a time */
    char why[STEPPER_WHY_LENGTH]; /* stepper_explain() */
};

/* STATUS_USAGE where the stepper or the sort's parameters do not fit the device. */
STATUS_CHECKED enum status simulation_plan(const struct config *config, const struct device_info *info,
                                           struct simulation_plan *plan);

/* Starts processes that build the programs of a run (device_start_builders()), of several ranks but for those
 * by which ranks exchange. */
void simulation_build_ahead(const struct config *config, const struct communicator *communicator,
                            const struct device *device);

#endif
