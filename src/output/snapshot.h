/* Snapshot: fields and particles at one step as an openPMD 1.1.0 + ED-PIC file, fileBased.
 *
 * Written under a temporary name, checked at every close, fsynced and renamed: a file named data_N.h5 is
 * whole.
 */
#ifndef RADIXPIC_OUTPUT_SNAPSHOT_H
#define RADIXPIC_OUTPUT_SNAPSHOT_H

#include "domain/fields.h"
#include "domain/particles.h"
#include "domain/slab.h"
#include "parallel/communicator.h"

/* What one snapshot shows. Nothing is owned. Particles are sorted, positions and fields at `time`, velocities
 * half a time step earlier. */
struct snapshot {
    const struct config *config;
    const struct communicator *communicator;
    const struct slab *slab;           /* the rank's rows: what it writes of the fields */
    const struct fields *fields;       /* of the slab's local grid: own rows first */
    const struct particles *particles; /* config->species_count of them */
    const struct particles *guests;    /* the rest of each species; NULL: none */
    uint64_t step;
    double time;
};

/* Writes FOLDER/data_STEP.h5, all ranks into the one file, and sets *bytes to its size. Each rank's particles
 * are a patch: its main list, then its guests. STATUS_FAILED, on all ranks, names path and errno text; then
 * no file of that name is left behind, and an older one stays whole. Collective, blocking. */
STATUS_CHECKED enum status snapshot_write(const char *folder, const struct snapshot *snapshot,
                                          uint64_t *bytes);

/* An upper estimate of the bytes of one snapshot, before compression. */
uint64_t snapshot_bytes(const struct config *config);

#endif
