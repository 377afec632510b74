/* Migration: particles go to the ranks that own the rows they are in.
 *
 * A list that was sorted on a slab's local grid (domain/slab.h) has those who left at its end, in the cells
 * of the rows beside; they come to the host, travel by one message per pair of ranks and species, and come
 * back to a device as a short sorted list. How far they went does not matter. Nobody else crosses to the
 * host.
 *
 * A particle beyond the ghost rows lies in the lost row with its x counted from the first own row in dx,
 * which in single precision costs it digits, and tells where it is.
 */
#ifndef RADIXPIC_PARALLEL_MIGRATION_H
#define RADIXPIC_PARALLEL_MIGRATION_H

#include "domain/particles.h"
#include "domain/slab.h"
#include "parallel/communicator.h"
#include "parallel/partition.h"

struct migration;

/* For any lists of particles of that precision on the device. The communicator is kept. The caller destroys
 * it. */
STATUS_CHECKED enum status migration_create(const struct communicator *communicator, struct device *device,
                                            enum precision precision, struct migration **migration);
void migration_destroy(struct migration **migration);

/* Takes those who left out of a list: they wait here, the list's count is that of the particles in own cells,
 * and the cell offsets of the other rows say so. To be called for every list of species number `species`.
 * Waits for the device. */
STATUS_CHECKED enum status migration_collect(struct migration *migration, const struct slab *slab,
                                             const struct partition *partition, uint32_t species,
                                             struct particles *list);

/* Particles on the host, in the order of their cells in one row: real2 offsets and velocities of the device's
 * precision, and ulong ids or NULL. Nothing is owned. */
struct migrants {
    const uint32_t *counts; /* [ny] of each cell of the row */
    const void *offsets, *velocities, *ids;
};

/* Particles of the lost row, taken out of a list elsewhere, wait here with the others. */
STATUS_CHECKED enum status migration_add_lost(struct migration *migration, const struct slab *slab,
                                              const struct partition *partition, uint32_t species,
                                              const struct migrants *lost);

/* Particles that came another way to own row `row` of the box are with those who arrived, before those of the
 * next exchange. */
STATUS_CHECKED enum status migration_add_arrived(struct migration *migration, const struct grid *box,
                                                 uint32_t row, uint32_t species,
                                                 const struct migrants *arrived);

/* Collective: sends who waits to the owners of their rows, and receives. */
STATUS_CHECKED enum status migration_exchange(struct migration *migration, uint32_t species_count);

/* Particles of a species that arrived and are not yet in a list, and that left in the last exchange. */
uint64_t migration_arrived(const struct migration *migration, uint32_t species);
uint64_t migration_left(const struct migration *migration, uint32_t species);

/* Particles of a species that are in no list now: they wait, or arrived. */
uint64_t migration_held(const struct migration *migration, uint32_t species);

/* Writes those who arrived, with their keys on the slab's local grid, behind the particles of `list` (pairs,
 * with keys and room for all of them), which is to be sorted then: in the order of the ranks they came from,
 * then in the order they had there. Blocking. */
STATUS_CHECKED enum status migration_append(struct migration *migration, const struct slab *slab,
                                            uint32_t species, struct particles *list);

/* Writes those who arrived into `list` (pairs, room for all of them) as a list sorted on the slab's local
 * grid, with its cell offsets: within a cell in the order of the ranks they came from, then in the order they
 * had there. Blocking. */
STATUS_CHECKED enum status migration_deliver(struct migration *migration, const struct slab *slab,
                                             uint32_t species, struct particles *list);

#endif
