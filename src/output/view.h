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
            double magnetic_energy;   /* electromagnetic: of the waves; */
            double field_momentum[3]; /* E x B */
        };
        double of_fields[6]; /* the same */
    };
    union {
        struct {
            double kinetic_energy;
            double momentum[3]; /* that along z of species that have it */
        };
        double of_particles[4]; /* the same */
    };
    double species[CONFIG_MAX_SPECIES][4];                 /* kinetic energy and momentum of each */
    double drive_work;                                     /* of the drives since step 0 */
    double modes[CONFIG_MAX_MODES + CONFIG_MAX_DRIVES][2]; /* of the config, then of its drives: real and
                                                              imaginary part of each */
};

/* Of fields and particles. */
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
    struct log *log; /* NULL: nothing is said */

    struct device *device;           /* whose kernels and times are written; NULL: none are */
    const char *stepper;             /* the name of the one that takes the particles on, */
    const struct sorter_plan *sort;  /* and how it sorts them; known where the device is */
    int stop_signal;                 /* as which the run is to end, beside those that came; 0: none */
    double started;                  /* timer_now() at the first step of this run */
    uint64_t run;                    /* its id in the manifest; 0: none */
    const struct run_folder *folder; /* that is written into */
    const struct outputs *outputs;   /* by which; NULL: not known */
    const struct average *average;   /* of the output in hand; NULL: it is of the state itself */

    /* What a restart needs beside. */
    double first_energy;                   /* total energy at step 0, for the drift */
    double drive_work;                     /* since then, at n */
    enum decomposition_kind decomposition; /* that was taken, where the config leaves it open */
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
