/* Migrate: the general path of particles to the ranks that own their rows, however far they go: for those
 * beyond the ghost rows, arrivals for which a list has no room, rows that change hands, and the start.
 *
 * A list that is sorted on a slab's local grid (domain/slab.h) has its leaving particles at its end, in the
 * cells of the rows beside. They come to the host, travel to the owners of their rows, and are merged there
 * into the lists, which grow where they are too short. The other particles stay on the device.
 *
 * A particle beyond the ghost rows lies in the lost row with its x counted from the first own row in dx,
 * which in single precision costs it digits, and tells where it is.
 */
#ifndef RADIXPIC_PARALLEL_MIGRATE_H
#define RADIXPIC_PARALLEL_MIGRATE_H

#include "domain/particles.h"
#include "parallel/communicator.h"
#include "parallel/partition.h"

struct migrate;
struct host_particles; /* parallel/host_particles.h */

/* For any lists of that precision, after the start of MPI. The partition is kept, and looked up when
 * particles travel. It dies with the device handle, before MPI ends. */
STATUS_CHECKED enum status migrate_create(struct device *device, const struct communicator *communicator,
                                          const struct partition *partition, enum precision precision,
                                          struct migrate **migrate);

/* Takes the leaving particles out of the sorted list of species number `species`: they wait for
 * migrate_settle(), and the list ends with its own cells. Waits for the device. */
STATUS_CHECKED enum status migrate_collect(struct migrate *migrate, const struct slab *slab, uint32_t species,
                                           struct particles *list);

/* Copies particles of one row of the local grid: counts[ny] in its cells, from number `first` of `from` on.
 * Those of an own row have arrived, the others wait. For the exchange. */
STATUS_CHECKED enum status migrate_add(struct migrate *migrate, const struct slab *slab, uint32_t species,
                                       uint32_t local_row, const uint32_t *counts,
                                       const struct host_particles *from, size_t first);

/* Collective. Waiting particles of all species travel to the owners of their rows, and all that arrived are
 * merged into lists[species_count]: within a cell in the order of the ranks they come from, then in the order
 * they had there. Bit s of *changed says that list s of this rank has got some. Where no rank has any
 * such particles, one reduction finds that out, and nothing else is done. Ranks fail together. */
STATUS_CHECKED enum status migrate_settle(struct migrate *migrate, const struct slab *slab,
                                          uint32_t species_count, struct particles *lists, uint32_t *changed);

/* Particles that the last migrate_settle() sent from this rank. */
uint64_t migrate_left(const struct migrate *migrate);

#endif
