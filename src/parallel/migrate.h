/* Migrate: the general path of particles to the ranks that own their rows, however far they go: for those
 * beyond the ghost rows, arrivals for which a list has no room, rows that change hands, and the start.
 *
 * Particles that are taken out of a list come to the host, travel to the owners of their rows, and are merged
 * there into the lists, which grow where they are too short. The other particles stay on the device.
 *
 * A particle beyond the ghost rows lies in the lost row. Its dx is all of its x, counted from the first own
 * row: that says where it is, and costs it digits in single precision.
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

/* Rows change hands: the list of species number `species` (either layout), sorted on the local grid of `from`
 * with particles in own cells only, becomes one of `to`, with new cell offsets. Particles of rows that `to`
 * does not own wait for migrate_deliver(). Waits for the device. */
STATUS_CHECKED enum status migrate_change_slab(struct migrate *migrate, const struct slab *from,
                                               const struct slab *to, uint32_t species,
                                               struct particles *list);

/* Copies particles of rows[row_count] of the local grid, all own ones or one beside them:
 * counts[row_count][ny] in their cells, from number `first` of `from` on. Those of own rows have arrived, the
 * others wait. */
STATUS_CHECKED enum status migrate_add(struct migrate *migrate, const struct slab *slab, uint32_t species,
                                       uint32_t row_count, const uint32_t *rows, const uint32_t *counts,
                                       const struct host_particles *from, size_t first);

/* migrate_holds(): this rank holds particles. Before migrate_deliver() the ranks need to learn whether any of
 * them does: migrate_ask(), which is collective, asks without waiting for the answer; migrate_answer() gives
 * it where the caller has it already. Without either call migrate_deliver() asks, and waits. */
bool migrate_holds(const struct migrate *migrate);
void migrate_ask(struct migrate *migrate);
void migrate_answer(struct migrate *migrate, bool any);

/* Collective. Waiting particles of all species travel to the owners of their rows, and all that arrived are
 * merged into lists[species_count]: within a cell in the order of the ranks they come from, then in the order
 * they had there. Bit s of *changed says that list s of this rank has got some; *left grows by the particles
 * that this rank sent. Where no rank has any such particles nothing else is done. Ranks fail together. */
STATUS_CHECKED enum status migrate_deliver(struct migrate *migrate, const struct slab *slab,
                                           uint32_t species_count, struct particles *lists, uint32_t *changed,
                                           uint64_t *left);

#endif
