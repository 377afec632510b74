/* View: the state of a rank in the middle of a step, for everything that is written of it.
 *
 * Positions and fields are at n, velocities at n-1/2; lists are sorted, and every particle is with the owner
 * of its row. Nothing is owned. */
#ifndef RADIXPIC_OUTPUT_VIEW_H
#define RADIXPIC_OUTPUT_VIEW_H

#include "base/log.h"
#include "domain/fields.h"
#include "domain/particles.h"
#include "domain/slab.h"
#include "parallel/communicator.h"
#include "parallel/partition.h"
#include "sort/sorter.h"

/* The sums of a step, all at n: energies, momentum and charge over the box. */
struct history_row {
    uint64_t step;
    union {
        struct {
            double field_energy, charge;
            double magnetic_energy;   /* of the waves of an electromagnetic run */
            double field_momentum[3]; /* E x B */
        };
        double of_fields[6]; /* these six */
    };
    union {
        struct {
            double kinetic_energy;
            double momentum[3]; /* that along z of species that have it */
        };
        double of_particles[4]; /* these four */
    };
    double species[CONFIG_MAX_SPECIES][4];                 /* kinetic energy and momentum of each */
    double drive_work;                                     /* of the drives since step 0 */
    double modes[CONFIG_MAX_MODES + CONFIG_MAX_DRIVES][2]; /* of the config, then of its drives: real and
                                                              imaginary part of rho in each */
    /* of E and B in each, where they are followed */
    double fields[CONFIG_MAX_MODES + CONFIG_MAX_DRIVES][WAVE_COMPONENTS][2];
    /* Of external fields on each: in the half steps to n and from n on; once they are added up, from step 0
     * until n and until half a step later. */
    double work[CONFIG_MAX_SPECIES][2];
};

/* The energy of fields and particles. */
static inline double history_total_energy(const struct history_row *row)
{
    return row->field_energy + row->magnetic_energy + row->kinetic_energy;
}

struct average;
struct outputs;
struct run_folder;

struct view {
    const struct config *config;
    const struct communicator *communicator;
    const struct slab *slab;           /* the rank's rows: what it writes of the fields */
    const struct partition *partition; /* the rows of all ranks */
    const struct fields *fields;       /* of the slab's local grid: own rows first */
    const struct particles *particles; /* [config->species_count] */
    uint64_t step;                     /* n */
    uint64_t first_step;               /* of this run: not 0 after a restart */
    double time;
    struct log *log; /* NULL: no lines are logged */

    struct device *device;           /* whose kernels and times are written; NULL: none are */
    const char *stepper;             /* the name of the stepper */
    const struct sorter_plan *sort;  /* how the stepper sorts; set where the device is */
    int stop_signal;                 /* as which the run is to end, beside those that came; 0: none */
    double started;                  /* timer_now() at the first step of this run */
    uint64_t run;                    /* its id in the manifest; 0: none */
    const struct run_folder *folder; /* that is written into */
    const struct outputs *outputs;   /* that write; NULL: none do */
    const struct average *average;   /* of the output in hand; NULL: it is of the state itself */

    /* More that a restart needs. */
    double first_energy;                   /* total energy at step 0, for the drift */
    double drive_work;                     /* of the drives from step 0 to n */
    double work[CONFIG_MAX_SPECIES];       /* of external fields on each, from step 0 to n - 1/2 */
    enum decomposition_kind decomposition; /* that was chosen, where the config leaves it open */
    uint32_t ghost;                        /* rows that the slabs of all ranks were to have */

    bool has_no_data; /* only the sizes of files are asked for: there is no device, and one rank has all; or
                         the state is only added to the average */

    const struct history_row *measured; /* by the advance, at n; NULL before it */
};

/* Whether the step is one of every `every` steps, or the last one; never where that is 0. */
static inline bool view_is_due(const struct view *view, uint64_t every)
{
    return every > 0 && (view->step % every == 0 || view->step >= view->config->time.steps);
}

#endif
